# SPDX-License-Identifier: BSD-3-Clause
"""Credit sessions signalled by RSVP (docs/rsvp.md) through the figure of draft-hu: two gateways, leaves, spines, leaves.

            l1 -- s1 -- l3
    gw1 ==     ><    ><     == gw2      8 candidate paths: one leaf, one spine, one leaf
            l2 -- s2 -- l4
"""
import itertools
import random

from net import Net, uid
from suite import scenario

NEAR, SPINES, FAR = ("l1", "l2"), ("s1", "s2"), ("l3", "l4")
POOL = 16384
BUFFER = 8  # units that a node offers to a session


def adjacent(net, name):
    return [far.split(".")[0] for _, far in net._neighbours(name) if far.split(".")[0] in net.nodes]


def loopback(net, name):
    return f"fd00::{net.nodes[name]['id']:x}"


def know(net, name, config):
    """Routes to the loopbacks of the nodes next to this one."""
    routes = config["routes"]
    for other in adjacent(net, name):
        hop = next(r for r in routes if r["prefix"] == uid(net.nodes[other]["id"]) + "/48")
        routes.append({"prefix": loopback(net, other) + "/128", "port": hop["port"], "nexthop": hop["nexthop"]})


def take_part(net, name, config, credit):
    config["credit"] = {"mode": "ext", "integrity": "off", "pool": POOL, "buffer": BUFFER, "paths": 2048,
                        "neighbors": [{"address": loopback(net, n)} for n in adjacent(net, name)], **credit}
    config["memory"]["buffers"] = config["memory"]["buffers"] + POOL


def begins(net, config, sessions):
    """The sessions of gw1, each over all eight paths."""
    paths = [{"name": "-".join(hops), "segments": [uid(net.nodes[n]["id"]) for n in (*hops, "gw2")]}
             for hops in itertools.product(NEAR, SPINES, FAR)]
    config["policies"] = [{"name": "fig3", "source-prefix": "fd00:1::/64", "paths": paths}]
    config["credit"]["sessions"] = [{"name": f"s{i}", "policy": "fig3", "to": loopback(net, "gw2"), "class": 3}
                                    for i in range(sessions)]


def figure(name, run, sessions, credit=None, silent=(), buffers=None, buffer=BUFFER):
    """`silent`: nodes without the function. `buffers`: units that some nodes offer, instead of `buffer`."""
    net = Net(name, run)
    for n in ("gw1", *NEAR, *SPINES, *FAR, "gw2"):
        net.node(n)
    pairs = [("gw1", n) for n in NEAR] + list(itertools.product(NEAR, SPINES)) + list(itertools.product(SPINES, FAR)) + \
        [(n, "gw2") for n in FAR]
    for a, b in pairs:
        net.link(f"{a}.{b}", f"{b}.{a}", delay="1ms")
    for n in net.nodes:
        more = {**(credit or {}), "buffer": (buffers or {}).get(n, buffer), **({"accept": [{"sources": "fd00:1::/64"}]} if n == "gw2" else {})}
        net.tune(n, lambda c, n=n: know(net, n, c))
        if n not in silent:
            net.tune(n, lambda c, n=n, more=more: take_part(net, n, c, more))
    net.tune("gw1", lambda c: begins(net, c, sessions))
    return net


def schedule(net, *rows):
    net.extra["schedule"] = [{"at": f"{at}ms", "node": node, "command": what} for at, node, what in rows]
    return net


def committed(i, sessions, what=" committed "):
    return f"command({i}).output.count({what!r}) == {sessions}"


@scenario(short=[{"sessions": 8}, {"sessions": 100}, {"sessions": 1000}], long=[{"sessions": n} for n in (1, 30, 200)], seeds=0.1,
          expect=lambda sessions: [committed(0, sessions), committed(1, sessions)])
def rsvp_comes_up(sessions):
    """Sessions over eight candidate paths come up; each gets one of them. A thousand of them do within 2.5 s."""
    net = figure("rsvp", "3s", sessions, {"paths": max(2048, 9 * sessions)})
    return schedule(net, (2500, "gw1", "show rsvp sessions"), (2500, "gw2", "show rsvp paths"))


def ends(net, sessions, at):
    """Every session is stopped, and after L every node has forgotten it."""
    rows = [(at + 20 * i, "gw1", f"session stop s{i}") for i in range(sessions)]
    return rows + [(at + 60000, n, "show rsvp counters") for n in net.nodes]


def ends_expect(sessions, first, nodes=8):
    """Of `show rsvp counters`: no session, path or unit is left."""
    return [f"{{'sessions: 0', 'paths: 0', 'committed: 0', 'promised: 0'}} <= "
            f"{{' '.join(line.split()) for line in command({first + sessions + i}).output.splitlines()}}" for i in range(nodes)]


FAST = {"refresh": 2000, "rapid": 200}


@scenario(short=[{"sessions": 4}], long=[{"sessions": n, "seed": 7} for n in (10, 50)], seeds=0.3,
          expect=lambda sessions, **_: [committed(0, sessions), committed(1, sessions), *ends_expect(sessions, 2)])
def rsvp_refresh_under_loss(sessions, seed=1):
    """A tenth of all messages is lost, some are doubled and overtake others: sessions stay for a hundred refreshes. After their
    end nothing is left at any node."""
    r = random.Random(seed)
    net = figure("rsvp-loss", "265s", sessions, FAST)
    for link in net.links:
        link.update(loss=0.1, duplication=0.02, reordering=0.02, jitter=f"{r.choice([10, 100, 1000])}us", faulty="both")
    return schedule(net, (60000, "gw1", "show rsvp sessions"), (200000, "gw1", "show rsvp sessions"), *ends(net, sessions, 200500))


@scenario(short=[{"node": n} for n in ("gw1", "s1", "l1", "gw2")], long=[{"node": n, "seed": 3} for n in ("gw1", "l1", "l3", "s1", "gw2")], seeds=0.2,
          expect=lambda node, **_: [committed(0, 4), committed(1, 4), *ends_expect(4, 2)])
def rsvp_restart(node, seed=1):
    """A node dies for a second: its sessions come back, and end without a trace."""
    net = figure("rsvp-restart", "185s", 4, FAST)
    schedule(net, (4000, "gw1", "show rsvp sessions"), (100000, "gw1", "show rsvp sessions"), *ends(net, 4, 120000))
    net.extra["schedule"].append({"at": f"{random.Random(seed).randrange(5000, 9000)}ms", "node": node, "restart": "1s"})
    return net


@scenario(short=[{"seed": n} for n in (1, 2, 3)], long=[{"seed": n} for n in range(4, 12)], seeds=0.3,
          expect=lambda **_: [committed(0, 4), committed(1, 4), committed(2, 4), *ends_expect(4, 3)])
def rsvp_failover(seed=1):
    """Links fail behind one leaf, all that it has to the spines or to the gateway: 200 ms later, at the latest, every session
    has credit along another path. Links have any delay, nodes offer any buffer. The links return, and those of the other leaf
    fail. After the end nothing is left."""
    r = random.Random(seed)
    net = figure("rsvp-failover", "185s", 4, FAST, buffers={n: r.randrange(4, 64) for n in (*NEAR, *SPINES, *FAR, "gw2")})
    first = r.choice(NEAR)
    for link in net.links:
        link["delay"] = f"{r.randrange(10, 5000)}us"
    for leaf, at in ((first, 4000), (next(n for n in NEAR if n != first), 60000)):
        side = r.choice(("a", "b"))  # links to the spines, or that to the gateway
        for link in net.links:
            if link[side].startswith(leaf + "."):
                link.setdefault("failures", []).append({"at": f"{at}ms", "for": "30s", "detect": f"{r.randrange(1, 10000)}us"})
    return schedule(net, (3900, "gw1", "show rsvp sessions"), (4200, "gw1", "show rsvp sessions"), (60200, "gw1", "show rsvp sessions"),
                    *ends(net, 4, 100000))


@scenario(short=[{"silent": "s1"}, {"silent": "l3"}], expect=lambda silent: [committed(0, 4)])
def rsvp_without_the_function(silent):
    """A node that takes no part passes the messages on; its neighbours are two hops from each other."""
    net = figure("rsvp-silent", "3s", 4, silent=(silent,))
    around = {n: [m for m in adjacent(net, silent) if m != n] for n in adjacent(net, silent)}
    for n, more in around.items():
        net.tune(n, lambda c, more=more: beyond(net, c, silent, more))
    return schedule(net, (2500, "gw1", "show rsvp sessions"))


def beyond(net, config, silent, more):
    hop = next(r for r in config["routes"] if r["prefix"] == uid(net.nodes[silent]["id"]) + "/48")
    for other in more:
        config["routes"].append({"prefix": loopback(net, other) + "/128", "port": hop["port"], "nexthop": hop["nexthop"]})
        config["credit"]["neighbors"].append({"address": loopback(net, other), "hops": 2})
