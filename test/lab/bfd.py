# SPDX-License-Identifier: BSD-3-Clause
"""BFD over a link that fails without a loss of carrier (docs/bfd.md): with a next hop, along a path, by echo packets.

    nic0 - n0 === n1 - nic1     a session over the link between the nodes
"""
import random

from net import Net, uid
from suite import scenario

FAILS, LASTS = 3_000_000, 200_000  # us
LATER = 2_500_000  # by which time sessions are up again: two slow intervals


def profile(interval, multiplier):
    return [{"name": "wan", "transmit": interval, "receive": interval, "multiplier": multiplier}]


def tune(config, profiles):
    config["bfd-profiles"] = profiles
    next(p for p in config["ports"] if p["name"] == "w")["bfd"] = "wan"


def bfd_expect(**_):
    """Sessions of n0 and n1: before the earliest possible end (commands 0 and 1), after the latest (2 and 3) and when the link
    has returned (5 and 6); next hops of n0 (4 and 7)."""
    up = [f"' Up ' in command({i}).output and ' Down ' not in command({i}).output" for i in (0, 1, 5, 6)]
    # one end hears nothing, and tells the other
    down = [f"' Down ' in command({i}).output or ' Init ' in command({i}).output" for i in (2, 3)]
    return [*up, *down, "'BFD down' in command(4).output", "'BFD down' not in command(7).output"]


GRID = [{"direction": d, "interval": i, "multiplier": m}
        for d, i, m in (("a-to-b", 10000, 3), ("b-to-a", 10000, 3), ("both", 10000, 3), ("a-to-b", 3300, 3), ("b-to-a", 50000, 4))]


@scenario(short=GRID, long=[{"direction": d, "interval": i, "multiplier": m} for d in ("a-to-b", "b-to-a", "both")
                            for i in (3300, 10000, 50000) for m in (2, 3, 5)], expect=bfd_expect, seeds=0.1)
def bfd_one_direction(direction, interval, multiplier, seed=1):
    """A link loses everything in one direction, and no device says so: the end that hears nothing is down within the detection
    time, not before, and tells the other."""
    km = random.Random(seed).choice([1, 10, 100])
    away = km * 5  # us
    net = Net("bfd", f"{FAILS + LASTS + LATER + 1000}us")
    for i in (0, 1):
        net.node(f"n{i}")
        net.host(f"nic{i}", i + 1)
    net.link("nic0.eth0", "n0.h").link("n1.h", "nic1.eth0")
    net.link("n0.w", "n1.w", km=km,
             failures=[{"at": f"{FAILS}us", "for": f"{LASTS}us", "direction": direction, "detect": "never"}])
    net.flow("nic0", "nic1", **{"rate": "1M", "message": 4096, "timeout": 8, "retries": 1000})
    for n in ("n0", "n1"):
        net.tune(n, lambda c: tune(c, profile(interval, multiplier)))
    # the last packet was heard an interval before the failure at the earliest, and a way after it at the latest
    before = FAILS + (multiplier - 1) * interval - 100
    after = FAILS + multiplier * interval + 2 * away + 100
    returned = FAILS + LASTS + LATER
    net.extra["schedule"] = [{"at": f"{int(at)}us", "node": n, "command": what} for at, n, what in (
        (before, "n0", "show bfd sessions"), (before, "n1", "show bfd sessions"),
        (after, "n0", "show bfd sessions"), (after, "n1", "show bfd sessions"), (after, "n0", "show nexthops"),
        (returned, "n0", "show bfd sessions"), (returned, "n1", "show bfd sessions"), (returned, "n0", "show nexthops"))]
    return net


def port_w(config):
    return next(p for p in config["ports"] if p["name"] == "w")


def along_a_path(config, number):
    """A path from n0 to n1 with an S-BFD session: the uN of n1 decapsulates, and its answer takes the underlay."""
    config["bfd-profiles"] = profile(10000, 3)
    config["sbfd-reflector"] = {"discriminator": 0x1000 + number}
    far = 1 - number
    config["routes"].append({"prefix": f"fd00::{0x100 * (far + 1):x}/128", "port": "w", "nexthop": config["routes"][0]["nexthop"]})
    if not number:
        config.setdefault("policies", []).append({"name": "probe", "paths": [
            {"name": "p", "segments": [uid(0x200)], "bfd": "wan", "reflector": "fd00::200", "reflector-discriminator": 0x1001}]})


@scenario(short=[{"direction": d} for d in ("a-to-b", "b-to-a")], seeds=0.1, expect=[
    "' Up ' in command(0).output", "' Down ' in command(1).output", "'BFD down' in command(2).output", "' Up ' in command(3).output",
    "'BFD down' not in command(4).output", "'reflected:                     0' not in command(5).output"])
def bfd_along_a_path(direction, seed=1):
    """S-BFD along the segments of a path: either direction that fails takes the path down."""
    net = Net("bfd-path", f"{FAILS + LASTS + LATER + 1000}us")
    for i in (0, 1):
        net.node(f"n{i}")
        net.host(f"nic{i}", i + 1)
        net.tune(f"n{i}", lambda c, i=i: along_a_path(c, i))
    net.link("nic0.eth0", "n0.h").link("n1.h", "nic1.eth0")
    net.link("n0.w", "n1.w", km=random.Random(seed).choice([1, 100, 2000]),
             failures=[{"at": f"{FAILS}us", "for": f"{LASTS}us", "direction": direction, "detect": "never"}])
    net.flow("nic0", "nic1", **{"rate": "1M", "message": 4096, "timeout": 8, "retries": 1000})
    # the last answer is on the way for a round trip of 20 ms at most
    failed, returned = FAILS + 51_000, FAILS + LASTS + LATER
    net.extra["schedule"] = [{"at": f"{at}us", "node": n, "command": what} for at, n, what in (
        (FAILS - 1000, "n0", "show bfd sessions"), (failed, "n0", "show bfd sessions"), (failed, "n0", "show paths"),
        (returned, "n0", "show bfd sessions"), (returned, "n0", "show paths"), (returned, "n1", "show bfd counters"))]
    return net


def with_echo(config, number):
    config["bfd-profiles"] = [{"name": "wan", "echo": 5000, "echo-receive": 5000}]
    w = port_w(config)
    w["addresses"].append(f"fd00:77::{number + 1}/64")
    config["routes"].append({"prefix": "fd00:99::/64", "port": "w", "nexthop": f"fd00:77::{2 - number}", "bfd": "wan"})


@scenario(short=[{}], seeds=0.1, expect=[
    "' Up ' in command(0).output and ' 5000 ' in command(0).output", "'echo function failed' in command(1).output",
    "' Up ' in command(2).output"])
def bfd_echo(seed=1):
    """The echo function between two nodes: each forwards the other's packets. A link that loses all is found out by it."""
    net = Net("bfd-echo", f"{FAILS + LASTS + 2 * LATER}us")
    for i in (0, 1):
        net.node(f"n{i}")
        net.host(f"nic{i}", i + 1)
        net.tune(f"n{i}", lambda c, i=i: with_echo(c, i))
    net.link("nic0.eth0", "n0.h").link("n1.h", "nic1.eth0")
    net.link("n0.w", "n1.w", km=random.Random(seed).choice([1, 10, 100]),
             failures=[{"at": f"{FAILS}us", "for": f"{LASTS}us", "detect": "never"}])
    net.flow("nic0", "nic1", **{"rate": "1M", "message": 4096, "timeout": 8, "retries": 1000})
    net.extra["schedule"] = [{"at": f"{at}us", "node": "n0", "command": "show bfd sessions"}
                             for at in (FAILS - 1000, FAILS + 17_000, FAILS + LASTS + 2 * LATER - 1000)]
    return net
