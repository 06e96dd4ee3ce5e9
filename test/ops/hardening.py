#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a default build does against overflows that somebody finds: readelf's view of the programs. Prints TAP."""
import argparse
import json
import os
import re
import sys

from tap_main import expect, report, run

PROGRAMS = ("sluice/sluice", "sluicectl/sluicectl", "sluice-lab/sluice-lab")


def readelf(option, program):
    status, text = run(["readelf", option, program])
    expect(status == 0, text)
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    build = parser.parse_args().build

    def every(look):
        def test():
            for name in PROGRAMS:
                look(name, os.path.join(build, "app", name))
        return test

    def addresses(name, program):
        expect(re.search(r"Type:\s+DYN", readelf("-hW", program)), f"{name} is not position independent (-pie)")
        expect(re.search(r"FLAGS_1\).*\bPIE\b", readelf("-dW", program)), f"{name} is a library, not a PIE")

    def tables(name, program):
        expect("GNU_RELRO" in readelf("-lW", program), f"{name} has no RELRO segment (-z relro)")
        expect(re.search(r"FLAGS_1\).*\bNOW\b", readelf("-dW", program)), f"{name} binds late (-z now): its RELRO is partial")

    def segments(name, program):
        text = readelf("-lW", program)
        stack = re.search(r"GNU_STACK(?:\s+0x[0-9a-f]+){5}\s+(\S+)", text)
        expect(stack and stack[1] == "RW", f"{name}: its stack can be executed")
        expect(not re.search(r"LOAD.*\bRWE\b", text), f"{name}: a segment can be written and executed")

    def canaries(name, program):
        expect("__stack_chk_fail" in readelf("-sW", program), f"{name} has no canaries (-fstack-protector-strong)")

    def copies(name, program):
        found = set(re.findall(r"\b__(?:mem|str|v?s?n?printf|v?f?printf)\w*_chk\b", readelf("-sW", program)))
        expect(found, f"{name} has no checked copies (_FORTIFY_SOURCE)")

    def arguments(_name, _program):
        """Canaries and checked copies are asked for in every file, not only in those that need them by chance."""
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
            for entry in json.load(f):
                for flag in ("-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"):
                    expect(flag in entry["command"].split(), f"{entry['file']} is compiled without {flag}")

    return report([
        ("the programs are at another address at each start", every(addresses)),
        ("the linker's tables are read-only", every(tables)),
        ("nothing that is written can be executed", every(segments)),
        ("functions with arrays have canaries", every(canaries)),
        ("copies into objects of known size are checked", every(copies)),
        ("every file is compiled so", every(arguments)),
    ])


if __name__ == "__main__":
    sys.exit(main())
