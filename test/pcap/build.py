#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the pcap cases below this directory, or check that they are up to date."""

import argparse
import hashlib
import importlib
import logging
import pathlib
import pkgutil
import shutil
import sys

logging.getLogger("scapy").setLevel(logging.ERROR)

import gen  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def families():
    """Modules of gen that make cases."""
    modules = (importlib.import_module(f"gen.{m.name}") for m in pkgutil.iter_modules(gen.__path__))
    return [m for m in modules if hasattr(m, "cases")]


def all_cases():
    cases = [case for family in families() for case in family.cases()]
    names = [c.name for c in cases]
    twice = {n for n in names if names.count(n) > 1}
    assert not twice, f"two cases have one name: {twice}"
    return {c.name: c for c in cases}


def existing():
    """Case directories, by name."""
    return {p.parent.name: p.parent for p in HERE.glob("*/case.json")}


def differences(cases):
    """Paths that are missing, superfluous or different."""
    for name in existing().keys() - cases.keys():
        yield f"{name}: no such case"
    for name, case in cases.items():
        directory, files = HERE / name, case.files()
        for path in directory.glob("*"):
            if path.name not in files and path.name not in case.fixed:
                yield f"{name}/{path.name}: superfluous"
        for file, content in files.items():
            path = directory / file
            if not path.exists() or path.read_bytes() != content:
                yield f"{name}/{file}: differs"
        for file, digest in case.fixed.items():
            path = directory / file
            if not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
                yield f"{name}/{file}: not the fixed file"


def write(cases):
    for name, directory in existing().items():
        if name not in cases:
            shutil.rmtree(directory)
    for name, case in cases.items():
        directory, files = HERE / name, case.files()
        directory.mkdir(exist_ok=True)
        for path in directory.glob("*"):
            if path.name not in files and path.name not in case.fixed:
                path.unlink()
        for file, content in files.items():
            (directory / file).write_bytes(content)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the tree differs")
    check = parser.parse_args().check
    cases = all_cases()
    if not check:
        write(cases)
    wrong = sorted(differences(cases))
    print("\n".join(wrong + [f"{len(cases)} cases, {len(wrong)} differences"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
