#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run all unit test programs of a build folder; their TAP goes through, a program that dies is a failure."""
import glob
import os
import re
import subprocess
import sys

TIMEOUT = 600


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    programs = sorted(p for p in glob.glob(os.path.join(build, "test", "unit", "test_*")) if os.access(p, os.X_OK)
                      and os.path.isfile(p))
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP")
    status = 0
    for program in programs:
        name = os.path.basename(program)
        try:
            done = subprocess.run([program], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", timeout=TIMEOUT, check=False)
            output, code = done.stdout, done.returncode
        except subprocess.TimeoutExpired as e:
            output, code = (e.stdout or b"").decode(errors="replace"), "timeout"
        print(output, end="", flush=True)
        planned = sum(int(n) for n in re.findall(r"^1\.\.(\d+)", output, re.M))
        reported = len(re.findall(r"^(?:not )?ok\b", output, re.M))
        if not planned or reported < planned or (code and not re.search(r"^not ok", output, re.M)):
            print(f"1..1\nnot ok 1 - {name} ended with {code} after {reported} of {planned} tests", flush=True)
        status = status or code
    if not programs:
        print(f"1..1\nnot ok 1 - no unit tests in {build}")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
