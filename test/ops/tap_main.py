# SPDX-License-Identifier: BSD-3-Clause
"""What the suites of this folder share: a list of named tests, run one after the other, told as TAP."""
import os
import re
import subprocess
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


def expect_match(pattern, text):
    expect(re.search(pattern, text), f"expected /{pattern}/ in:\n{text}")


def run(command, timeout=60, **more):
    """Exit status and both outputs together."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout,
                          check=False, **more)
    return done.returncode, done.stdout


def report(tests):
    """Run (name, function) pairs. Exit status."""
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except Exception as e:  # a test that stumbles has failed
            failed += 1
            text = str(e) if isinstance(e, Failure) else traceback.format_exc()
            print(f"not ok {number} - {name}", flush=True)
            print("\n".join("# " + line for line in text.splitlines()), flush=True)
    return 1 if failed else 0
