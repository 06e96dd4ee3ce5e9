#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run all unit test programs of a build folder; their TAP goes through, a program that dies is a failure."""
import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import machine  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 600


def tests_of(program):
    """The names of a program's tests, as its source lists them: cmocka neither lists tests nor runs one by its name."""
    with open(os.path.join(HERE, os.path.basename(program) + ".c"), encoding="utf-8") as f:
        return re.findall(r"cmocka_unit_test\w*\((\w+)", f.read())


def run_one(program):
    """Output and exit status of a program. It runs in a folder of its own, where it may leave files."""
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP")
    with tempfile.TemporaryDirectory(prefix="sluice-unit-") as folder:
        try:
            done = subprocess.run([os.path.abspath(program)], cwd=folder, env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace", timeout=machine.patience(TIMEOUT),
                                  check=False)
            return done.stdout, done.returncode
        except subprocess.TimeoutExpired as e:
            return (e.stdout or b"").decode(errors="replace"), "timeout"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", default="build", help="build folder")
    parser.add_argument("name", nargs="?", help="only the program of this name")
    parser.add_argument("-k", dest="pattern", default="",
                        help="only programs whose name, or the name of one of whose tests, matches this regular expression")
    parser.add_argument("--list", action="store_true", help="print the names of the tests, with that of their program")
    args = parser.parse_args()
    build = args.build
    programs = sorted(p for p in glob.glob(os.path.join(build, "test", "unit", args.name or "test_*")) if os.access(p, os.X_OK)
                      and os.path.isfile(p))
    if args.list and not programs:  # not built yet
        programs = sorted(p.removesuffix(".c") for p in glob.glob(os.path.join(HERE, "test_*.c")))
    names = {p: [f"{os.path.basename(p)}: {test}" for test in tests_of(p) or ["(all)"]] for p in programs}
    programs = [p for p in programs if any(re.search(args.pattern, name, re.IGNORECASE) for name in names[p])]
    if args.list:
        print("\n".join(name for p in programs for name in names[p]))
        return 0
    status = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for program, run in [(p, pool.submit(run_one, p)) for p in programs]:
            output, code = run.result()
            print(output, end="", flush=True)
            planned = sum(int(n) for n in re.findall(r"^1\.\.(\d+)", output, re.M))
            reported = len(re.findall(r"^(?:not )?ok\b", output, re.M))
            if not planned or reported < planned or (code and not re.search(r"^not ok", output, re.M)):
                name = os.path.basename(program)
                print(f"1..1\nnot ok 1 - {name} ended with {code} after {reported} of {planned} tests", flush=True)
            status = status or code
    if not programs:
        print(f"1..1\nnot ok 1 - no unit tests in {build}")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
