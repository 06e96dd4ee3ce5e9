#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every show command on a large node: the management thread is back long before systemd's watchdog ends it; and a reload of it.

20,000 policies, 100,000 routes, 7,000 SIDs. Prints TAP.
"""
import argparse
import itertools
import os
import re
import socket
import sys
import tempfile
import threading
import time

from live_node import LiveNode
from tap_main import TOP, expect, machine, report

POLICIES, ROUTES, SIDS = 20000, 100000, 7000
LINK = 'port: p0, nexthop: "2001:db8:a::3"'


def configuration():
    lines = ["neighbors:", '  - {port: p0, address: "2001:db8:a::3", mac: "02:00:00:00:a0:03"}',
             "routes:", f'  - {{prefix: "5f00:0:200::/48", {LINK}}}', "sids:"]
    lines += [f'  - {{sid: "5f00:0:{0xe000 + i:x}::/48", behavior: uA, {LINK}}}' for i in range(SIDS)]
    lines += ["vrfs:", "  - name: ai", "    routes:"]
    lines += [f'      - {{prefix: "2001:db8:{0x1000 + i // 65536:x}:{i % 65536:x}::/64", policy: p{i % POLICIES}}}'
              for i in range(ROUTES)]
    lines += ["policies:"]
    lines += [f'  - {{name: p{i}, paths: [{{name: a, segments: ["5f00:0:200::"]}}]}}' for i in range(POLICIES)]
    return "\n".join(lines) + "\n"


def show_commands():
    with open(os.path.join(TOP, "docs", "commands.md")) as f:
        usages = re.findall(r"^## `(show .*)`$", f.read(), re.M)
    for usage in usages:
        words = [word for word in usage.split() if not word.startswith("[")]
        yield " ".join("p0" if word.startswith("PORT") else "::1" if word == "ADDRESS" else word for word in words)


def watchdog_seconds():
    with open(os.path.join(TOP, "config", "sluice@.service.in")) as f:
        return int(re.search(r"^WatchdogSec=(\d+)$", f.read(), re.M).group(1))


def answers_in_time(node, command, seconds):
    for line in (command, command + " -j"):
        deadline = machine.Deadline(seconds)
        code, out = node.sluicectl(line)
        expect(code == 0, f"{line} ended with {code}: {out[:400]}")
        expect(not deadline.passed(), f"{line} took {deadline.elapsed():.1f} s")


def page_in_time(node, seconds):
    deadline = machine.Deadline(seconds)
    page = node.metrics()
    expect(page.count("sluice_sid_packets_total{") == SIDS, "SIDs are missing")
    expect(not deadline.passed(), f"took {deadline.elapsed():.1f} s")


class Manager:
    """What the service manager is told (sd_notify(3)), with the time at which it is read."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.fed, self.ends = [], False
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        self.socket.settimeout(0.1)
        while not self.ends:
            try:
                if b"WATCHDOG=1" in self.socket.recv(4096):
                    self.fed.append(time.monotonic())
            except TimeoutError:
                pass

    def stop(self):
        self.ends = True
        self.thread.join()
        self.socket.close()


def cpu_seconds(pid):
    """Of the management thread, user and system."""
    with open(f"/proc/{pid}/task/{pid}/stat") as f:
        fields = f.read().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def reload_in_time(node, manager, limit):
    """A hundredth of the routes change: the rest costs little more than reading it."""
    text = node.text()
    node.write(re.sub(r"policy: p7\d\d}", "policy: p1}", text))
    before, began = cpu_seconds(node.process.pid), time.monotonic()
    code, out = node.sluicectl("reload")
    took, ended = cpu_seconds(node.process.pid) - before, time.monotonic()
    print(f"# reload: {took:.2f} s of CPU, {ended - began:.2f} s", flush=True)
    expect(code == 0, f"reload ended with {code}: {out[:400]}")
    expect(took < limit, f"reload took {took:.2f} s of CPU")
    times = [began, *(t for t in manager.fed if began < t < ended), ended]
    longest = max(b - a for a, b in itertools.pairwise(times))
    print(f"# reload: fed {len(times) - 2} times, at most {longest:.2f} s apart", flush=True)
    expect(longest < (ended - began) * 0.7, f"the watchdog was not fed for {longest:.2f} of {ended - began:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", required=True)
    args = parser.parse_args()
    limit = watchdog_seconds() / 2
    with tempfile.TemporaryDirectory() as folder:
        manager = Manager(folder)
        try:
            with LiveNode([os.path.abspath(args.sluice)], more=configuration(),
                          env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "30000"}) as node:
                tests = [(command, lambda command=command: answers_in_time(node, command, limit)) for command in show_commands()]
                # the policies and SIDs cost as much again as the routes
                return report([*tests, ("metrics", lambda: page_in_time(node, limit)),
                               ("reload", lambda: reload_in_time(node, manager, machine.patience(1)))])
        finally:
            manager.stop()


if __name__ == "__main__":
    sys.exit(main())
