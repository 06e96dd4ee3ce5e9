# SPDX-License-Identifier: BSD-3-Clause
"""Steps that the tests share, for every network."""

import json
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import machine  # noqa: E402

TRAFFIC = pathlib.Path(__file__).resolve().parent / "traffic.py"
BULK = 100 * 1000 * 1000
MLD = ("multicast",)  # packets that Linux originates when its links come up; sluice counts them under this reason
SETTLE = 10  # seconds within which something must have happened


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


def eventually(what, text, seconds=SETTLE):
    """Wait until what() is true."""
    deadline = machine.Deadline(seconds)
    while not (found := what()):
        expect(not deadline.passed(), f"{text}: not within {seconds} s")
        time.sleep(0.1)
    return found


def ping(space, to, count=3, size=56, more=()):
    """The number of replies, and the output of ping."""
    done = space.exec("ping", "-n", "-c", count, "-i", 0.05, "-W", round(machine.patience(1), 1), "-s", size, *more, to, check=False)
    answered = re.search(r"(\d+) received", done.stdout)
    return int(answered[1]) if answered else 0, done.stdout + done.stderr


def pings(space, to, count=5, size=56, more=()):
    answered, text = ping(space, to, count, size, more)
    expect(answered == count, f"{answered} of {count} pings answered:\n{text}")


def reaches(space, to):
    eventually(lambda: ping(space, to, 1)[0], f"{to} answers")


def program(space, *args, stdin=False):
    return space.popen("/usr/bin/python3", TRAFFIC, *args, stdin=subprocess.PIPE if stdin else None, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)


def result_of(process, seconds):
    try:
        out, err = process.communicate(timeout=machine.patience(seconds))
    except subprocess.TimeoutExpired:
        process.kill()
        raise Failure(f"{' '.join(process.args[4:])}: not done in {seconds} s: {process.communicate()[1]}") from None
    expect(process.returncode == 0, f"{' '.join(process.args[4:])}: {err}")
    return json.loads(out.splitlines()[-1])


def between(sender, send, receiver, receive, seconds):
    """Run two programs against each other; returns the results of sender and receiver."""
    taker = program(receiver, *receive)
    try:
        expect(taker.stdout.readline() == "ready\n", f"{receive[0]} does not listen")
        sent = result_of(program(sender, *send), seconds)
        return sent, result_of(taker, seconds)
    finally:
        if taker.poll() is None:
            taker.kill()
            taker.wait()


def transfer(sender, receiver, address, size=BULK, port=5001):
    """TCP; the same bytes at both ends."""
    sent, got = between(sender, ["tcp-send", address, port, size, 7],
                        receiver, ["tcp-receive", address, port], 60)
    expect(sent["bytes"] == got["bytes"] == size, f"{sent['bytes']} bytes sent, {got['bytes']} arrived")
    expect(sent["sha256"] == got["sha256"], "the bytes that arrived are not those sent")
    return sent


def roce(sender, receiver, address, flows=16, count=300, size=1024):
    """RoCEv2-like UDP; every packet once, in order per queue pair."""
    _, got = between(sender, ["roce-send", address, flows, count, size],
                     receiver, ["roce-receive", address, flows, count, size, machine.patience(20)], 30)
    expect(got["packets"] == flows * count and not got["wrong"], f"{flows * count} packets sent, found: {got}")
    return got


def all_drops(t):
    return {name: node.drops() for name, node in t.nodes.items()}


def quiet(t):
    """Wait until Linux has reported its multicast groups on every link (MLD); sluice counts the reports as drops."""
    last = [None]

    def same():
        before, last[0] = last[0], all_drops(t)
        time.sleep(0.5)
        return before == last[0]

    eventually(same, "drop counters come to rest")
    return last[0]


class Lossless:
    """Within, no drop counter of any node may move. but: reasons that may; the check then need not wait until Linux is quiet."""

    def __init__(self, t, but=()):
        self.t, self.but = t, but

    def drops(self):
        return {name: {r: n for r, n in drops.items() if r not in self.but} for name, drops in all_drops(self.t).items()}

    def __enter__(self):
        if not self.but:
            quiet(self.t)
        self.before = self.drops()

    def __exit__(self, kind, value, trace):
        after = self.drops()
        if kind is None:
            expect(after == self.before, f"drop counters moved: {self.before} became {after}")
