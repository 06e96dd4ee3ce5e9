# SPDX-License-Identifier: BSD-3-Clause
"""Cycles a packet of a DPDK program, from outside and while it forwards.

The packets come from DPDK's telemetry (/ethdev/stats of the port that sends), which sluice, testpmd, bench_floor and l3fwd
have alike. Time is cut into windows. A forwarding lcore polls without a pause, so in a window in which nothing else ran on its
CPU, the cycles that passed are its own. A window is disturbed, and thrown away, if a forwarding thread had to wait for its CPU
or the hypervisor took the CPU away. Start and stop of the program lie outside all windows. Forwarding threads, and what asks
them for their packets, have real-time priority, so that other programs disturb fewer windows.
"""
import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import time

WINDOW = 0.05  # seconds
MOMENT = 0.02  # seconds that each of two alternating programs gets at a time
PATIENCE = 3  # a run lasts at most so many times its time, until it has enough undisturbed windows
ENOUGH = 5  # undisturbed windows without which a run says nothing
WAITED = 0.01  # share of a window that a forwarding thread may wait, as it does when it is asked for its packets
START = 60  # seconds that a program has until it forwards


class Disturbed(Exception):
    """Too few undisturbed windows."""


class Telemetry:
    """DPDK's telemetry socket of the process with a file prefix."""

    def __init__(self, prefix):
        base = "/var/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "/tmp")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(10)
        self.socket.connect(os.path.join(base, "dpdk", prefix, "dpdk_telemetry.v2"))
        self.socket.recv(1024)

    def ask(self, what):
        self.socket.send(what.encode())
        return json.loads(self.socket.recv(65536))[what.split(",")[0]]

    def close(self):
        self.socket.close()


class Sample:
    """Where a program is at a moment: packets sent, time, and what disturbs its forwarding threads."""

    def __init__(self, program):
        self.waited = [program.waited(t) for t in program.threads]
        self.steal = [steal_of(cpu) for cpu in program.cpus]
        before = time.monotonic_ns()
        self.packets = program.packets()
        self.ns = (before + time.monotonic_ns()) // 2


def steal_of(cpu):
    for line in open("/proc/stat"):
        if line.startswith(f"cpu{cpu} "):
            return int(line.split()[8])
    return 0


class Program:
    """A process that forwards, and the lcores that do it; `counted` says which packets count: of which port, and its counter."""

    def __init__(self, command, prefix, lcores=(1,), counted=(1, "opackets"), cwd=None, stdin=None):
        self.prefix, self.lcores, self.counted, self.telemetry = prefix, lcores, counted, None
        self.process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.threads, self.cpus = [], []
        if stdin:
            self.process.stdin.write(stdin)
            self.process.stdin.flush()
        try:
            self.wait()
        except BaseException:
            self.process.kill()
            raise

    def wait(self):
        """Until packets are sent."""
        until = time.monotonic() + START
        while time.monotonic() < until:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.process.args[0]} failed:\n{self.process.communicate()[0][-2000:]}")
            try:
                self.telemetry = self.telemetry or Telemetry(self.prefix)
                self.find_threads()
                if len(self.threads) == len(self.lcores) and self.packets():
                    self.prioritise()
                    return
            except (OSError, ValueError, KeyError, TypeError):
                pass
            time.sleep(0.02)
        raise RuntimeError(f"{self.process.args[0]} forwards nothing")

    def find_threads(self):
        # DPDK 22.11.0 has lcore-worker-1, later ones rte-worker-1
        self.threads = [t for n in self.lcores for name, t in self.tasks() if name.endswith(f"-worker-{n}")]
        stats = (open(f"/proc/{self.process.pid}/task/{t}/stat").read() for t in self.threads)
        self.cpus = [int(stat.rsplit(") ", 1)[1].split()[36]) for stat in stats]

    def prioritise(self):
        """The forwarding lcores before all other programs, and the threads that are asked for packets before these."""
        with contextlib.suppress(PermissionError, ProcessLookupError):
            for name, task in self.tasks():
                if name.startswith("telemetry"):
                    os.sched_setscheduler(task, os.SCHED_FIFO, os.sched_param(2))
            for task in self.threads:
                os.sched_setscheduler(task, os.SCHED_FIFO, os.sched_param(1))

    def tasks(self):
        tasks = f"/proc/{self.process.pid}/task"
        return [(open(f"{tasks}/{t}/comm").read().strip(), int(t)) for t in os.listdir(tasks)]

    def waited(self, thread):
        """Nanoseconds for which it waited for a CPU."""
        return int(open(f"/proc/{self.process.pid}/task/{thread}/schedstat").read().split()[1])

    def packets(self):
        port, counter = self.counted
        return self.telemetry.ask(f"/ethdev/stats,{port}")[counter]

    def run(self, seconds):
        """Cost of a packet, in undisturbed windows."""
        # where all CPUs forward, its own questions disturb it for a millisecond
        window = WINDOW if len(self.cpus) < len(os.sched_getaffinity(0)) else 4 * WINDOW
        return measure([self], max(seconds, 2 * ENOUGH * window), window)[0]

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self, words=None):
        """End it, by a signal or by words on its standard input; what it printed."""
        if self.telemetry:
            self.telemetry.close()
        for task in self.threads if self.process.poll() is None else ():
            with contextlib.suppress(PermissionError, ProcessLookupError):
                os.sched_setscheduler(task, os.SCHED_OTHER, os.sched_param(0))
        if words is None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        out, _ = self.process.communicate(words, timeout=60)
        if self.process.returncode:
            raise RuntimeError(f"{self.process.args[0]} failed:\n{out[-2000:]}")
        return out


class Cost:
    """Nanoseconds of a packet in each undisturbed window, and how many windows were disturbed."""

    def __init__(self):
        self.windows, self.disturbed = [], 0

    def add(self, before, after):
        took = after.ns - before.ns
        waited = max(b - a for a, b in zip(before.waited, after.waited))
        if waited > took * WAITED or after.steal != before.steal or after.packets == before.packets:
            self.disturbed += 1
        else:
            self.windows.append(took / (after.packets - before.packets))

    @property
    def ns(self):
        if len(self.windows) < ENOUGH:
            raise Disturbed(f"other programs disturbed {self.disturbed} of {self.disturbed + len(self.windows)} windows")
        return statistics.median(self.windows)


def measure(programs, seconds, window):
    """
    The cost of each. Several programs take turns of one window each, a b b a, and are stopped meanwhile, so that whatever makes
    the machine slow concerns all alike. `seconds` is for each of them.
    """
    costs = [Cost() for _ in programs]
    alternate = len(programs) > 1
    for program in programs if alternate else ():
        program.pause()
    n, least, most = 0, seconds / window, PATIENCE * seconds / window
    own = os.sched_getscheduler(0), os.sched_getparam(0)
    may = os.sched_getaffinity(0)
    os.sched_setaffinity(0, may - {cpu for p in programs for cpu in p.cpus} or {min(may)})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))
    try:
        while n < least or (n < most and any(len(c.windows) < ENOUGH for c in costs)):
            order = list(zip(programs, costs))
            for program, cost in reversed(order) if n % 2 else order:
                if alternate:
                    program.resume()
                    time.sleep(0.002)  # its caches are warm again
                before = Sample(program)
                time.sleep(window)
                cost.add(before, Sample(program))
                if alternate:
                    program.pause()
            n += 1
    finally:
        os.sched_setscheduler(0, *own)
        os.sched_setaffinity(0, may)
        for program in programs if alternate else ():
            program.resume()
    return costs
