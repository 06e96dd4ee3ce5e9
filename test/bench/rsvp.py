# SPDX-License-Identifier: BSD-3-Clause
"""What RSVP messages cost: the steps of bench_rsvp, timed, and counted by callgrind."""
import os
import re
import subprocess
import sys
import tempfile

STEPS = {"init": "28, a new path", "offer": "29, offer", "commit": "29, commit", "update": "29, update of one session",
         "updates": "29, update of 26 sessions", "endack": "31", "refresh": "Srefresh of 32 paths"}
KINDS = ("plain", "signed")
SESSIONS, REFRESHES = 5200, 100_000  # SESSIONS: a multiple of 26


class Rsvp:
    def __init__(self, build):
        self.program = os.path.join(build, "test/bench/bench_rsvp")

    def run(self, step, n, kind, under=(), more=()):
        """What the program prints, name -> number; its messages."""
        done = subprocess.run([*under, self.program, step, str(n), kind, *more], capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            sys.exit(f"{step} {n} {kind} failed: {done.returncode}\n" + done.stderr[-2000:])
        return {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}, done.stderr

    def ns(self, step, kind, rounds):
        """Of a message; the round that took the least."""
        return min(shown["ns"] / shown["messages"] for shown in (self.run(step, SESSIONS, kind)[0] for _ in range(rounds)))

    def count(self, step, kind, n=260):
        """Instructions of a message."""
        with tempfile.TemporaryDirectory() as folder:
            under = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.out", "--toggle-collect=measured"]
            shown, errors = self.run(step, n, kind, under)
        return int(re.search(r"Collected : (\d+)", errors).group(1)) / shown["messages"]

    def load(self, step, kind, rounds):
        """100,000 refreshes of 10,000 sessions."""
        return min((self.run(step, REFRESHES, kind, more=["load"])[0] for _ in range(rounds)), key=lambda shown: shown["ns"])


def table(steps, rounds, counts):
    """The rows of docs/performance.md."""
    lines = ["| a message is read, handled and answered | ns | instructions | ns, signed | instructions, signed |", "|---|---|---|---|---|"]
    for step, what in STEPS.items():
        cells = [f"{steps.ns(step, kind, rounds):,.0f} | {f'{steps.count(step, kind):,.0f}' if counts else ''}" for kind in KINDS]
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    lines += ["", "| refreshes a second beside 10,000 sessions | share of the control lcore | longest pass |", "|---|---|---|"]
    for step, what in (("refresh", "by id, 32 in a message"), ("commit", "whole 29s")):
        for kind in KINDS:
            shown = steps.load(step, kind, rounds)
            lines.append(f"| {REFRESHES:,}, {what}, {kind} | {shown['ns'] / 1e7:.1f} % | {shown['longest'] / 1000:.0f} us |")
    return "\n".join(lines)
