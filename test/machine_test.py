#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""test/machine.py: what counts as load; load never turns a fault into a pass. Prints TAP."""
import os
import statistics
import subprocess
import sys
import time

import machine
from machine import FAIL, PASS, REPEAT, SKIP, Load, Sample
from tap import tell


def load(others=0.0, steal=0.0, late=0.001, lost=0.0, cpus=2):
    return Load(10.0, cpus, others, steal, late, lost, None)


QUIET, LOADED, HOPELESS = load(), load(others=4.0), load(others=12.0)


def check(condition, text):
    return [] if condition else [text]


def what_is_busy():
    for one, busy, hopeless in (
            (QUIET, False, False), (load(others=0.4), False, False), (load(others=0.5), True, False),
            (load(others=0.5, cpus=16), False, False), (load(steal=0.1), False, False), (load(steal=0.25), True, False),
            (load(late=0.09), False, False), (load(late=0.11), True, False), (load(late=1.1), True, True),
            (load(others=4), True, False),  # stress-ng --cpu 4 on two CPUs, which the live suites pass
            (load(others=6), True, True), (load(others=3, steal=0.4), True, True), (load(steal=1.0), True, True)):
        yield from check((one.busy, one.hopeless) == (busy, hopeless), f"busy {one.busy}, hopeless {one.hopeless}: {one}")


def what_a_failure_means():
    for loads, certain, verdict in (
            ([QUIET], False, FAIL), ([LOADED], False, REPEAT), ([HOPELESS], False, REPEAT),
            ([LOADED, QUIET], False, FAIL), ([HOPELESS, HOPELESS, QUIET], False, FAIL),
            ([LOADED, LOADED], False, REPEAT), ([LOADED] * 3, False, FAIL), ([HOPELESS] * 3, False, SKIP),
            ([LOADED, HOPELESS, HOPELESS], False, FAIL),
            ([HOPELESS], True, FAIL), ([HOPELESS] * 3, True, FAIL), ([QUIET], True, FAIL)):
        got = machine.decide(loads, certain)
        yield from check(got == verdict, f"{verdict} expected, got {got}: certain {certain}, {[str(l) for l in loads]}")


def what_samples_say():
    samples = [Sample(0.0, 9.0, 9.0, 50, 100, 1000, 0), Sample(0.5, 0.02, 0.1, 3, 120, 1100, 4e5),
               Sample(1.0, 0.01, 0.1, -1, 150, 1200, 9e5)]
    one = machine.load_of(samples, 1.0, 2)
    yield from check((one.others, one.steal, one.worst_late, round(one.lost, 3), one.pressure) == (1.0, 0.25, 0.02, 0.2, 0.9), str(one))
    yield from check(machine.load_of([], 1.0, 2).slowdown == 1.0, "nothing was measured, and it is load")
    yield from check(machine.load_of([Sample(0.0, 0.0, 0.0, -2, 0, 0, None)] * 2, 1.0, 2).slowdown == 1.0, "less than none")


def how_long_to_wait():
    for one, seconds in ((QUIET, 10), (load(others=0.4, lost=0.5), 10), (LOADED, 30), (load(others=4, lost=2), 32),
                         (load(others=100), 100)):
        yield from check(abs(one.patience(10) - seconds) < 0.01, f"{one.patience(10)} s, {seconds} expected: {one}")


class Machine:
    """A machine with a given load in each attempt, without real waiting."""

    def __init__(self, *loads):
        self.loads, self.calms = list(loads), 0

    def since(self, _):
        return self.loads.pop(0)

    def calm(self):
        self.calms += 1


def attempts(loads, outcomes):
    """outcomes: of each attempt: None passes, else (problems, certain)."""
    outcomes, machine.WATCH[:] = list(outcomes), [Machine(*loads)]
    try:
        result = machine.attempt(lambda: outcomes.pop(0) or ([], False))
        return result, len(outcomes), machine.WATCH[0].calms
    finally:
        machine.WATCH.clear()


BAD, CRASH = (["2 of 3 pings answered"], False), (["ended with -11"], True)


def how_tests_are_repeated():
    for name, loads, outcomes, expected, left, calms in (
            ("passes at once", [], [None, BAD], PASS, 1, 0),
            ("fails on a quiet machine", [QUIET], [BAD, None], FAIL, 1, 0),
            ("passes when repeated", [LOADED], [BAD, None], PASS, 0, 1),
            ("fails three times beside a load that tests pass under", [LOADED] * 3, [BAD] * 3, FAIL, 0, 2),
            ("fails again once it is quiet", [HOPELESS, QUIET], [BAD, BAD, None], FAIL, 1, 1),
            ("fails three times beside more", [HOPELESS] * 3, [BAD] * 3, SKIP, 0, 2),
            ("crashes beside more", [HOPELESS], [CRASH, None], FAIL, 1, 0)):
        result, rest, waits = attempts(loads, outcomes)
        yield from check((result.outcome, rest, waits) == (expected, left, calms), f"{name}: {result}, {rest} attempts left, {waits} waits")
    result, _, _ = attempts([HOPELESS] * 3, [BAD] * 3)
    yield from check("machine too busy: 3 attempts" in result.problems[0] and "slow-down 7.0" in result.problems[0] and
                     BAD[0][0] in result.problems, f"{result}")


NOBODY = -1  # a process that is no one's parent


def ours():
    """Runnable threads of this process and its children, whatever the kernel's own threads do meanwhile."""
    return statistics.median(machine.excluded(os.getpid()) - machine.excluded(NOBODY) for _ in range(21))


def ours_become(expected, seconds=2):
    """The last number of our runnable threads; returns early when it is the expected one. Processes take a moment to start and end."""
    until = time.monotonic() + seconds
    while (seen := ours()) != expected and time.monotonic() < until:
        time.sleep(0.02)
    return seen


def the_watcher_tells_ours_from_others():
    """A spinning thread of this process is not load; one of another process is."""
    spin = "import time\nend = time.monotonic() + 4\nwhile time.monotonic() < end: pass"
    seen = ours_become(1)
    yield from check(seen == 1, f"{seen} threads are ours, 1 expected: this one, which looks")
    own = subprocess.Popen([sys.executable, "-c", spin])
    seen = ours_become(2)
    yield from check(seen == 2, f"{seen} threads are ours, 2 expected: a child spins")
    own.wait()
    machine.watch()
    # the shell ends at once, and the process that it started is then no child of ours
    subprocess.run(["sh", "-c", f"setsid {sys.executable} -c '{spin}' >/dev/null 2>&1 &"], check=True)
    seen = ours_become(1)
    yield from check(seen == 1, f"{seen} threads are ours, 1 expected: the one that spins is not")
    began = time.monotonic()
    time.sleep(3)
    seen = machine.watch().since(began)
    yield from check(seen.others > 0.6, f"a thread of others is not seen: {seen}")


if __name__ == "__main__":
    sys.exit(tell([(test.__name__.replace("_", " "), test()) for test in (
        what_is_busy, what_a_failure_means, what_samples_say, how_long_to_wait, how_tests_are_repeated,
        the_watcher_tells_ours_from_others)]))
