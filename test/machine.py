#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
How busy others keep the machine while a test runs, and what a failure means then.

A small process of its own watches: how late its timer wakes it, how many runnable threads belong to others, and how much
time the hypervisor steals. The CPU time that the tests and their nodes use themselves does not count: a node that spins
is a fault, not a busy machine.

On a quiet machine a failure is a failure at once, and no time-out changes. On a busy one time-outs grow with the measured
slow-down, and a failed test is repeated. A failure that repeats is reported as a failure, unless each attempt met more load
than the suites are known to pass under; then the test is skipped as 'machine too busy', with the figures.
"""
import atexit
import collections
import os
import subprocess
import sys
import tempfile
import threading
import time

TICK = 0.01  # seconds between two wake-ups; a tenth of the shortest time that a live test relies on
SAMPLE = 0.5  # seconds between two looks at the run queue, which cost a few milliseconds each

# On an idle machine the slow-down measures up to 1.1. At 1.25 one of two CPUs does something else for half of the time,
# and a node whose lcore is bound to that CPU gets two thirds of it.
BUSY_SLOWDOWN = 1.25
# Live tests rely on times of 100 ms and more (neighbor discovery, watchdogs). A timer that fires later than that, but for
# others' load, breaks them; on an idle machine it is late by less than 5 ms.
BUSY_LATE = 0.1
# The live suites pass beside `stress-ng --cpu 4` on two CPUs, a slow-down of 3. Below 4 load explains no failure that repeats.
HOPELESS_SLOWDOWN = 4.0
# The machine stood still for longer than TCP's and ND's first retransmission.
HOPELESS_LATE = 1.0

MOST_PATIENCE = 10.0  # no time-out grows by more; at a slow-down of 10 a run takes hours
TRIES = 3  # times that a test is run on a busy machine
CALM_SECONDS = 20  # time to wait for a calmer moment before a test is repeated
CALM_TOTAL = 180  # the same for all tests of one suite, so that a suite ends under lasting load
KERNEL_THREAD = 0x00200000  # PF_KTHREAD of the kernel

Sample = collections.namedtuple("Sample", "when worst_late lost others steal total pressure")


class Load(collections.namedtuple("Load", "seconds cpus others steal worst_late lost pressure")):
    """
    What others did to the machine in an interval. others: runnable threads that are not ours, on average; steal: share of
    the CPU time that the hypervisor took; worst_late: seconds, of one wake-up; lost: seconds, of all; pressure: share of
    the time in which a thread, ours or not, waited for a CPU (None: the kernel does not say).
    """

    @property
    def slowdown(self):
        """How many times longer a thread that needs a CPU takes, if all threads get the same."""
        return (1 + self.others / self.cpus) / (1 - min(self.steal, 0.9))

    @property
    def busy(self):
        return self.slowdown >= BUSY_SLOWDOWN or self.worst_late >= BUSY_LATE

    @property
    def hopeless(self):
        return self.slowdown >= HOPELESS_SLOWDOWN or self.worst_late >= HOPELESS_LATE

    def patience(self, seconds):
        """The length of a time-out of so many seconds on this machine."""
        if not self.busy:
            return seconds
        return seconds * min(self.slowdown, MOST_PATIENCE) + self.lost

    def __str__(self):
        words = [f"slow-down {self.slowdown:.1f}", f"{self.others:.1f} runnable threads of others on {self.cpus} CPUs",
                 f"steal {self.steal:.0%}", f"latest wake-up {self.worst_late * 1000:.0f} ms late"]
        if self.pressure is not None:
            words.append(f"CPU pressure {self.pressure:.0%}")
        return ", ".join(words) + f", over {self.seconds:.1f} s"


def load_of(samples, seconds, cpus):
    """samples: Sample, oldest first, the one before the interval included."""
    if not samples:
        return Load(seconds, cpus, 0.0, 0.0, 0.0, 0.0, None)
    first, last = samples[0], samples[-1]
    inside = samples[1:] or samples
    total = last.total - first.total
    pressure = None
    if last.pressure is not None and last.when > first.when:
        pressure = min(1.0, (last.pressure - first.pressure) / (last.when - first.when) / 1e6)
    # our own threads come and go between the two looks that a sample takes, so one sample may be below 0: the mean counts
    others = max(0.0, sum(s.others for s in inside) / len(inside))
    return Load(seconds, cpus, others, (last.steal - first.steal) / total if total else 0.0,
                max(s.worst_late for s in inside), sum(s.lost for s in inside), pressure)


# --- handling of a failure

PASS, FAIL, REPEAT, SKIP = "passed", "failed", "repeat", "machine too busy"


def decide(loads, certain=False):
    """
    After a failure. loads: of each attempt so far, the last one included; certain: no load explains this failure (a
    node crashed, a packet is unaccounted for).
    """
    if certain or not loads[-1].busy:
        return FAIL
    if len(loads) < TRIES:
        return REPEAT
    return SKIP if all(load.hopeless for load in loads) else FAIL


class Result(collections.namedtuple("Result", "outcome problems remarks")):
    """outcome: PASS, FAIL or SKIP; problems: lines, of the last attempt; remarks: lines about attempts that were repeated."""

    def print(self, number, name):
        """As TAP."""
        if self.outcome == SKIP:
            print(f"ok {number} - {name} # SKIP {self.problems[0]}")
        else:
            print(f"{'not ok' if self.outcome == FAIL else 'ok'} {number} - {name}")
        lines = self.problems[1:] if self.outcome == SKIP else self.problems
        for line in [*self.remarks, *lines]:
            print(f"# {line}")
        sys.stdout.flush()


class Trial:
    """The attempts at one test. Call failed() or passed() after each; None from failed() means: repeat it."""

    def __init__(self):
        self.loads, self.remarks = [], []
        self.begin()

    def begin(self):
        self.began = time.monotonic()

    def passed(self):
        return Result(PASS, [], self.remarks)

    def failed(self, problems, certain=False):
        load = watch().since(self.began)
        self.loads.append(load)
        verdict = decide(self.loads, certain)
        if verdict == REPEAT:
            self.remarks += [f"repeated: attempt {len(self.loads)}: {load}", *(f"  {line}" for line in problems)]
            return None
        if verdict == SKIP:
            worst = max(self.loads, key=lambda l: l.slowdown)
            return Result(SKIP, [f"{SKIP}: {len(self.loads)} attempts, at the worst {worst}", *problems], self.remarks)
        return Result(FAIL, [*problems, f"machine: {load}; attempts: {len(self.loads)}"], self.remarks)


def attempt(test):
    """
    Run a test until its result is certain. test() returns (problems, certain): lines about what is wrong, and whether no
    load explains them.
    """
    trial = Trial()
    while True:
        trial.begin()
        problems, certain = test()
        result = trial.failed(problems, certain) if problems else trial.passed()
        if result:
            return result
        watch().calm()


# --- time-outs


def patience(seconds):
    """A time-out for an action that begins now: longer if the machine has been busy for the last seconds."""
    return watch().since(time.monotonic() - 2).patience(seconds)


class Deadline:
    """Seconds from now; more while others keep the machine busy."""

    def __init__(self, seconds):
        self.seconds, self.began = seconds, time.monotonic()
        watch()

    def elapsed(self):
        return time.monotonic() - self.began

    def passed(self):
        elapsed = self.elapsed()
        return elapsed > self.seconds and elapsed > watch().since(self.began).patience(self.seconds)


# --- the watcher: this file as a program


def stat_of(path):
    """State, parent and flags from a stat file of /proc; None: the process has ended."""
    try:
        with open(path, "rb") as f:
            words = f.read().rsplit(b")", 1)[1].split()
    except OSError:
        return None
    return words[0], int(words[1]), int(words[6]), int(words[17])


def excluded(root):
    """Runnable threads of a process and all its descendants, and of the kernel: softirqs work for the tests' packets too."""
    found = {int(name): stat_of(f"/proc/{name}/stat") for name in os.listdir("/proc") if name.isdigit()}
    found = {pid: stat for pid, stat in found.items() if stat}
    ours, count = {}, 0

    def is_ours(pid):
        if pid not in ours:
            ours[pid] = pid == root or pid in found and found[pid][1] != 0 and is_ours(found[pid][1])
        return ours[pid]

    for pid, (state, _, flags, threads) in found.items():
        if flags & KERNEL_THREAD:
            count += state == b"R"
        elif is_ours(pid):
            count += (state == b"R") if threads == 1 else runnable_threads(pid)
    return count


def runnable_threads(pid):
    try:
        stats = [stat_of(f"/proc/{pid}/task/{tid}/stat") for tid in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return 0
    return sum(stat is not None and stat[0] == b"R" for stat in stats)


def totals():
    """Jiffies stolen, jiffies of all CPUs, runnable threads of the machine."""
    running, steal, total = 0, 0, 0
    with open("/proc/stat", encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[0] == "cpu":
                steal, total = int(words[8]), sum(map(int, words[1:9]))
            elif words[0] == "procs_running":
                running = int(words[1])
    return steal, total, running


def pressure():
    """Microseconds in which some thread waited for a CPU; None: the kernel does not count them."""
    try:
        with open("/proc/pressure/cpu", encoding="ascii") as f:
            return int(f.readline().rsplit("total=", 1)[1])
    except (OSError, IndexError, ValueError):
        return None


def program():
    """Print samples until the parent has ended."""
    root = os.getppid()
    while os.getppid() == root:
        worst = lost = 0.0
        until = time.monotonic() + SAMPLE
        while (now := time.monotonic()) < until:
            time.sleep(TICK)
            late = time.monotonic() - now - TICK
            worst, lost = max(worst, late), lost + late
        steal, total, running = totals()
        others = running - excluded(root)
        print(time.monotonic(), round(worst, 5), round(lost, 5), others, steal, total, pressure(), flush=True)


class Watch:
    """The tests' end of the watcher. Any thread may use it."""

    def __init__(self):
        self.file, self.offset = tempfile.TemporaryFile(), 0
        self.samples, self.calm_left = [], CALM_TOTAL
        self.lock = threading.Lock()
        self.cpus = len(os.sched_getaffinity(0))
        self.process = subprocess.Popen([sys.executable, "-I", "-S", os.path.abspath(__file__)], stdin=subprocess.DEVNULL,
                                        stdout=self.file)
        atexit.register(self.close)

    def close(self):
        self.process.kill()
        self.process.wait()

    def read(self):
        with self.lock:
            data = os.pread(self.file.fileno(), 1 << 20, self.offset)
            whole = data[:data.rfind(b"\n") + 1]
            self.offset += len(whole)
            for line in whole.decode().splitlines():
                words = line.split()
                self.samples.append(Sample(*map(float, words[:6]), None if words[6] == "None" else float(words[6])))
            return list(self.samples)

    def since(self, began):
        """Load from then to now, and at least of the last sample."""
        samples = self.read()
        first = next((i for i, s in enumerate(samples) if s.when > began), len(samples) - 1)
        return load_of(samples[max(0, first - 1):], time.monotonic() - began, self.cpus)

    def calm(self):
        """Wait for a calmer moment, if there is time left for it."""
        until = time.monotonic() + min(CALM_SECONDS, self.calm_left)
        began = time.monotonic()
        while time.monotonic() < until:
            time.sleep(2)
            if not self.since(time.monotonic() - 2).busy:
                break
        self.calm_left -= time.monotonic() - began


WATCH = []


def watch():
    """The one watcher of this process."""
    if not WATCH:
        WATCH.append(Watch())
    return WATCH[0]


if __name__ == "__main__":
    program()
