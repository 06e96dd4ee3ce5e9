#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""sluice and the Linux kernel as each other's SRv6 peers, in network namespaces. As root. Prints TAP."""

import argparse
import pathlib
import re
import signal
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from cases import GROUPS  # noqa: E402
from checks import Failure  # noqa: E402
from features import missing  # noqa: E402
from net import CommandFailed  # noqa: E402
from node import NodeFailed  # noqa: E402

PROBLEMS = (Failure, CommandFailed, NodeFailed, OSError, KeyError, StopIteration, ValueError)


class Tap:
    def __init__(self, total):
        self.number, self.failed = 0, 0
        print(f"1..{total}", flush=True)

    def result(self, name, problems):
        self.number += 1
        self.failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.number} - {name}")
        for line in problems:
            print(f"# {line}")
        sys.stdout.flush()

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


def stop(t):
    """How the nodes ended: all packets accounted for."""
    return [line for node in t.nodes.values() for line in node.stop()]


def run_group(tap, options, name, build, tests):
    t, broken, lacking = None, [], missing(name)
    if lacking:
        for title, _ in (*tests, ("nodes end, every packet accounted for", None)):
            tap.skip(f"{name}: {title}", lacking)
        return
    try:
        try:
            t = build(options)
            t.start()
        except PROBLEMS as e:
            broken = lines_of(e)
        for title, test in tests:
            tap.result(f"{name}: {title}", broken or check(test, t))
        tap.result(f"{name}: nodes end, every packet accounted for", broken or stop(t))
    finally:
        if t:
            t.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", type=pathlib.Path, default=HERE.parent.parent / "build/app/sluice/sluice")
    parser.add_argument("--out", help="where configurations, logs and reports are kept; default: nowhere")
    parser.add_argument("-k", dest="pattern", default="", help="only networks whose name has this regular expression")
    options = parser.parse_args()
    options.sluice = options.sluice.resolve()
    # an end by signal is an end by exception: everything is cleaned up
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    groups = [g for g in GROUPS if re.search(options.pattern, g[0])]
    tap = Tap(sum(len(tests) + 1 for _, _, tests in groups))
    with tempfile.TemporaryDirectory(prefix="sluice-netns-") as folder:
        options.out = options.out or folder
        for group in groups:
            run_group(tap, options, *group)
    return 1 if tap.failed or not groups else 0


if __name__ == "__main__":
    sys.exit(main())
