# SPDX-License-Identifier: BSD-3-Clause
"""
Draft-hu figures 3 and 4 as processes that memif joins: credit sessions of gw1 to gw2 (docs/credit.md 2.8) over four candidate
paths, one leaf and one spine each.

             l1 -- s1
    gw1 ~~~     ><     ~~~ gw2      each a sluice process without hugepages, each line a memif link
             l2 -- s2

What the nodes offer makes l1-s1 the best path, and l2-s1 the best of the others.
"""

from cases_failover import Failover
from checks import Failure, eventually, expect

LINKS = [("gw1", "l1"), ("gw1", "l2"), ("l1", "s1"), ("l1", "s2"), ("l2", "s1"), ("l2", "s2"), ("s1", "gw2"), ("s2", "gw2")]
BUFFERS = {"gw1": 32, "l1": 32, "l2": 24, "s1": 32, "s2": 16, "gw2": 32}  # units that a node offers to a session
NODES = {name: number for number, name in enumerate(BUFFERS, 1)}
BEST, BACKUP, BACKUP_UNITS = "l1-s1", "l2-s1", 24
SESSIONS = 4
SOURCES = "fd00:9::/64"
REFRESH = 500  # ms, so that what nobody refreshes is over soon


def loopback(name):
    return f"fd00:0:{NODES[name]:x}::1"


def sid(name):
    return f"5f00:0:{NODES[name]:x}00::"


def node(t, name):
    ports, routes, neighbors = [], [], []
    for number, (a, b) in enumerate(LINKS, 1):
        if name not in (a, b):
            continue
        far, own = (b, 1) if name == a else (a, 2)
        ports.append(t.memif(len(ports), f"to-{far}", f"{a}-{b}", "server" if own == 2 else "client", f"fd00:{number:x}00::{own}/64"))
        routes += [{"prefix": p, "port": f"to-{far}", "nexthop": f"fd00:{number:x}00::{3 - own}"} for p in (loopback(far) + "/128", sid(far) + "/48")]
        neighbors.append({"address": loopback(far)})
    credit = {"mode": "ext", "integrity": "off", "pool": 1024, "buffer": BUFFERS[name], "paths": 64, "refresh": REFRESH, "rapid": 50,
              "select": 1000,  # all paths are in time, also on a busy machine
              "blockade": 1, "idle": 50, "neighbors": neighbors, "data-of": [{"sources": SOURCES}]}
    more = {}
    if name == "gw1":
        credit["sessions"] = [{"name": f"s{i}", "policy": "figure", "to": loopback("gw2"), "class": 3} for i in range(SESSIONS)]
        more["policies"] = [{"name": "figure", "source-prefix": SOURCES, "paths": [
            {"name": f"{leaf}-{spine}", "segments": [sid(leaf), sid(spine), sid("gw2")]} for leaf in ("l1", "l2") for spine in ("s1", "s2")]}]
    if name == "gw2":
        credit["accept"] = [{"sources": SOURCES}]
    t.node(t.net.spaces[name], loopback(name), ports, routes=routes, sids=[{"sid": sid(name) + "/48", "behavior": "uN"}], credit=credit,
           memory={"hugepages": "off", "buffers": "16K"}, **more)


def figure(options):
    t = Failover(options)
    t.spaces(*NODES)
    for name in reversed(NODES):  # servers of links before their clients
        node(t, name)
    return t


def within(what, text, shown):
    """Wait, and say what is there instead if it does not come."""
    try:
        eventually(what, text)
    except Failure as e:
        raise Failure(f"{e}; {shown()}") from None


def sessions(t):
    return t.nodes["gw1"].show("rsvp sessions")


def all_on(t, path, units):
    return len(sessions(t)) == SESSIONS and all((s["state"], s["path"], s["units"]) == ("committed", path, units) for s in sessions(t))


def committed_at(t, name):
    return sum(p["grantor"] == "committed" for p in t.nodes[name].show("rsvp paths"))


def come_up(t):
    """Each session gets the path whose least offer is the largest, and every node of that path has committed to it."""
    within(lambda: all_on(t, BEST, 32), "the sessions have credit along the best path", lambda: f"{sessions(t)}")
    for name, n in (("l1", SESSIONS), ("s1", SESSIONS), ("gw2", SESSIONS), ("l2", 0), ("s2", 0)):
        eventually(lambda name=name, n=n: committed_at(t, name) == n, f"{n} sessions at {name}")


def links_cut(t):
    """The leaf dies with both of its links: the sessions have credit along the path that was the best of the backup offers."""
    t.nodes["l1"].kill()
    within(lambda: all_on(t, BACKUP, BACKUP_UNITS), "the sessions have gone over to the backup", lambda: f"{sessions(t)}")
    expect(committed_at(t, "l2") == SESSIONS, f"{committed_at(t, 'l2')} sessions at l2")
    expect("to-l1: out of use: not connected to its memif server" in t.nodes["gw1"].log(), t.nodes["gw1"].log())


def leaf_returns(t):
    """It begins with nothing; the paths through it are offers again, and the sessions stay where they are."""
    t.nodes["l1"].start()
    within(lambda: any("l1" in p["path"] and p["user"] in ("offered", "waiting") for p in t.nodes["gw1"].show("rsvp paths")),
           "paths through the leaf are tried again", lambda: f"{t.nodes['gw1'].show('rsvp paths')}")
    expect(all_on(t, BACKUP, BACKUP_UNITS), f"{sessions(t)}")


def ended(t):
    """End along all paths: nothing is left at any node."""
    for i in range(SESSIONS):
        t.nodes["gw1"].ask("session", "stop", f"s{i}")
    for name, x in t.nodes.items():
        within(lambda x=x: not any(x.show("rsvp counters")[k] for k in ("sessions", "paths", "committed", "promised")),
               f"nothing is left at {name}", lambda x=x: f"{x.show('rsvp counters')}")
    expect(all(s["state"] == "stopped" for s in sessions(t)), f"{sessions(t)}")


GROUPS = [("figure", figure, [("sessions come up along the best path", come_up), ("links cut: the sessions move to the backup offer", links_cut),
                              ("the leaf returns", leaf_returns), ("End leaves nothing", ended)])]
