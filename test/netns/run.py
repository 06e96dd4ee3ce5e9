#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""sluice and the Linux kernel as each other's SRv6 peers, in network namespaces. As root. Prints TAP."""

import argparse
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from cases import GROUPS  # noqa: E402
from checks import Failure, machine  # noqa: E402
from features import missing  # noqa: E402
from net import CommandFailed  # noqa: E402
from node import NodeFailed  # noqa: E402

PROBLEMS = (Failure, CommandFailed, NodeFailed, OSError, KeyError, StopIteration, ValueError, subprocess.TimeoutExpired)
END = "nodes end, every packet accounted for"
BEFORE = 10  # seconds before a test that its load includes: that load is left by earlier tests


class Tap:
    def __init__(self, total):
        self.number, self.failed = 0, 0
        print(f"1..{total}", flush=True)

    def result(self, name, result):
        self.number += 1
        self.failed += result.outcome == machine.FAIL
        result.print(self.number, name)

    def skip(self, name, lacking):
        self.number += 1
        print(f"ok {self.number} - {name} # SKIP without {lacking}", flush=True)


def lines_of(problem):
    return f"{type(problem).__name__}: {problem}".splitlines()


def check(test, t):
    try:
        test(t)
        return []
    except PROBLEMS as e:
        return lines_of(e)


class Group:
    """
    A network and its tests. A test starts from the state that earlier ones left, so when one of them is repeated the whole network is made
    again; tests that have passed stay passed.
    """

    def __init__(self, tap, options, name, build, tests):
        self.tap, self.options, self.name, self.build, self.tests = tap, options, name, build, tests
        self.trials = {title: machine.Trial() for title in [*(title for title, _ in tests), END]}

    def failed(self, title, problems, began, certain=False):
        """Report a failure, unless the test is to be repeated."""
        trial = self.trials.get(title)
        if trial is None:  # it has passed before, on a busy machine; a failure without load still counts
            if not machine.watch().since(began).busy:
                self.late += [f"{title}: passed, and failed when it was run again:", *problems]
            return
        trial.began = began
        result = trial.failed(problems, certain)
        if result:
            self.done(title, result)

    def done(self, title, result):
        del self.trials[title]
        self.tap.result(f"{self.name}: {title}", result)

    def passed(self, title):
        if title in self.trials:
            self.done(title, self.trials[title].passed())

    def attempt(self):
        """Make the network, run the tests as far as they are still open, and remove it."""
        t, broken, self.late, began = None, [], [], time.monotonic()
        only_end = self.trials.keys() == {END}  # how nodes end after all tests, so all of them are run
        try:
            try:
                t = self.build(self.options)
                t.start()
            except PROBLEMS as e:
                broken = lines_of(e)
            for title, test in self.tests:
                start = time.monotonic()
                problems = broken or check(test, t)
                if problems:
                    self.failed(title, problems, began if broken else max(began, start - BEFORE))
                else:
                    self.passed(title)
                if self.trials.keys() == {END} and not only_end:
                    break  # when tests are repeated: those that follow have passed
            problems = broken or [line for node in t.nodes.values() for line in node.stop()]
            certain = bool(t) and any(node.broken for node in t.nodes.values())
            if problems or self.late:
                self.failed(END, problems + self.late, began, certain or bool(self.late))
            else:
                self.passed(END)
            return certain
        finally:
            if t:
                t.close()

    def run(self):
        lacking = missing(self.name)
        if lacking:
            for title in self.trials:
                self.tap.skip(f"{self.name}: {title}", lacking)
            return
        while self.trials:
            if self.attempt():
                for title, trial in list(self.trials.items()):
                    self.done(title, machine.Result(machine.FAIL, trial.remarks, []))
            elif self.trials:
                machine.watch().calm()


def names(group):
    """Of a network's tests, as they are printed."""
    return [f"{group[0]}: {title}" for title in (*(title for title, _ in group[2]), END)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", type=pathlib.Path, default=HERE.parent.parent / "build/app/sluice/sluice")
    parser.add_argument("--out", help="where configurations, logs and reports are kept; default: nowhere")
    parser.add_argument("-k", dest="pattern", default="", 
                        help="only networks whose name, or the name of one of whose tests, matches this regular expression")
    parser.add_argument("--list", action="store_true", help="print the names of the tests")
    options = parser.parse_args()
    options.sluice = options.sluice.resolve()
    # an end by signal is an end by exception: everything is cleaned up
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    wanted = re.compile(options.pattern, re.IGNORECASE)
    groups = [g for g in GROUPS if any(wanted.search(name) for name in names(g))]
    if options.list:
        print("\n".join(name for g in groups for name in names(g)))
        return 0
    tap = Tap(sum(len(tests) + 1 for _, _, tests in groups))
    with tempfile.TemporaryDirectory(prefix="sluice-netns-") as folder:
        options.out = options.out or folder
        for group in groups:
            Group(tap, options, *group).run()
    return 1 if tap.failed or not groups else 0


if __name__ == "__main__":
    sys.exit(main())
