# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the suites of this folder: run a list of named tests in order and print TAP."""
import os
import re
import subprocess
import sys
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "test"))
import machine  # noqa: E402


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


def expect_match(pattern, text):
    expect(re.search(pattern, text), f"expected /{pattern}/ in:\n{text}")


def run(command, timeout=60, **more):
    """Exit status and both outputs together."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=machine.patience(timeout), check=False, **more)
    return done.returncode, done.stdout


def run_once(test):
    """The reason for a failure. An exception is a failure of the test, whatever the load."""
    try:
        test()
        return [], False
    except Failure as e:
        return str(e).splitlines() or ["failed"], False
    except Exception as e:
        timed_out = isinstance(e, (subprocess.TimeoutExpired, OSError))
        return traceback.format_exc().splitlines(), not timed_out


def report(tests):
    """Run (name, function) pairs. Exit status."""
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        result = machine.attempt(lambda test=test: run_once(test))
        failed += result.outcome == machine.FAIL
        result.print(number, name)
    return 1 if failed else 0
