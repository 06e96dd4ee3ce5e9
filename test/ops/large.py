#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every show command on a large node: the management thread is back long before systemd's watchdog ends it.

20,000 policies, 100,000 routes, 7,000 SIDs. Prints TAP.
"""
import argparse
import os
import re
import sys

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
        yield " ".join("p0" if word.startswith("PORT") else word for word in words)


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", required=True)
    args = parser.parse_args()
    limit = watchdog_seconds() / 2
    with LiveNode([os.path.abspath(args.sluice)], more=configuration()) as node:
        tests = [(command, lambda command=command: answers_in_time(node, command, limit)) for command in show_commands()]
        return report([*tests, ("metrics", lambda: page_in_time(node, limit))])


if __name__ == "__main__":
    sys.exit(main())
