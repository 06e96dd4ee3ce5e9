#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""test/bench/windows.py: which windows count; and scripts/bench on three paths, for a moment. Prints TAP."""
import os
import re
import subprocess
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(TOP, "test")]
import windows  # noqa: E402
from tap import tell  # noqa: E402

PATHS = ["uN", "uA, queue in use", "PFC frame, until its gate is closed"]


def sample(ns, packets, waited=0, steal=0):
    return types.SimpleNamespace(ns=ns, packets=packets, waited=[0, waited], steal=[0, steal])


def which_windows_count():
    cost, start = windows.Cost(), sample(0, 0)
    for after, counts in ((sample(1000, 100), True), (sample(1000, 100, waited=9), True), (sample(1000, 100, waited=11), False),
                          (sample(1000, 100, steal=1), False), (sample(1000, 0), False)):
        before = len(cost.windows), cost.disturbed
        cost.add(start, after)
        if (len(cost.windows) - before[0], cost.disturbed - before[1]) != (int(counts), int(not counts)):
            yield f"{after}: it {'does not count' if counts else 'counts'}"


def what_a_packet_costs():
    cost, start = windows.Cost(), sample(0, 0)
    for ns in (500, 1000, 1000, 4000):
        cost.add(start, sample(ns, 100))
    try:
        yield f"{cost.ns} of four windows"
    except windows.Disturbed:
        pass
    cost.add(start, sample(2000, 100))
    if cost.ns != 10:
        yield f"{cost.ns} is not the median"


def three_paths():
    done = subprocess.run([sys.executable, os.path.join(TOP, "scripts", "bench"), "--quick", "--rounds", "1", "--seconds", "0.3",
                           "--no-instructions", *PATHS], capture_output=True, text=True, check=False)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line.startswith("| ")]
    if done.returncode or [row[0] for row in rows[1:]] != PATHS:
        yield f"status {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}"
    for row in rows[1:]:
        cells = dict(zip(rows[0], row))
        figures = [re.match(r"\**(-?\d+)|disturbed|\*\*-", cells[name]) for name in ("sluice", "floor", "over the floor", "testpmd io")]
        if not all(figures):
            yield f"not a figure: {cells}"
        elif all(f[1] for f in figures) and abs(int(figures[0][1]) - int(figures[1][1]) - int(figures[2][1])) > 1:
            yield f"over the floor: {cells}"
    if not re.search(r"^\d+ of \d+ windows were disturbed", done.stdout, re.M):
        yield "disturbed windows are not counted"


if __name__ == "__main__":
    sys.exit(tell([("which windows count", which_windows_count()), ("what a packet costs", what_a_packet_costs()),
                   ("scripts/bench on three paths", three_paths())]))
