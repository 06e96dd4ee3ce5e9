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
    config["credit"] = {"mode": "ext", "data": "free", "integrity": "off", "pool": POOL, "buffer": BUFFER, "paths": 2048,
                        "neighbors": [{"address": loopback(net, n)} for n in adjacent(net, name)], **credit}
    config["memory"]["buffers"] = config["memory"]["buffers"] + POOL


def begins(net, config, sessions, through=tuple(itertools.product(NEAR, SPINES, FAR))):
    """The sessions of gw1, each over all paths."""
    paths = [{"name": "-".join(hops), "segments": [uid(net.nodes[n]["id"]) for n in (*hops, "gw2")]} for hops in through]
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


@scenario(short=[{"sessions": 4}], long=[{"sessions": n} for n in (4, 10)], seeds=0.3,
          expect=lambda sessions, **_: [committed(0, sessions), committed(1, sessions), *ends_expect(sessions, 2)])
def rsvp_refresh_under_loss(sessions, seed=1):
    """A tenth of all messages is lost, some are doubled and overtake others: sessions stay for a hundred refreshes. After their
    end nothing is left at any node."""
    r = random.Random(seed)
    net = figure("rsvp-loss", "265s", sessions, FAST)
    for link in net.links:
        link.update(loss=0.1, duplication=0.02, reordering=0.02, jitter=f"{r.choice([10, 100, 1000])}us", faulty="both")
    return schedule(net, (60000, "gw1", "show rsvp sessions"), (200000, "gw1", "show rsvp sessions"), *ends(net, sessions, 200500))


@scenario(short=[{"node": n} for n in ("gw1", "s1", "l1", "gw2")], long=[{"node": n} for n in ("gw1", "l1", "l3", "s1", "gw2")], seeds=0.2,
          expect=lambda node, **_: [committed(0, 4), committed(1, 4), *ends_expect(4, 2)])
def rsvp_restart(node, seed=1):
    """A node dies for a second: its sessions come back, and end without a trace."""
    net = figure("rsvp-restart", "185s", 4, FAST)
    schedule(net, (4000, "gw1", "show rsvp sessions"), (100000, "gw1", "show rsvp sessions"), *ends(net, 4, 120000))
    net.extra["schedule"].append({"at": f"{random.Random(seed).randrange(5000, 9000)}ms", "node": node, "restart": "1s"})
    return net


@scenario(short=[{"seed": n} for n in (1, 2, 3)], long=[{}], seeds=0.3,
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


@scenario(short=[{"silent": "s1"}, {"silent": "l3"}, {"silent": "s1", "hops": 1}],
          expect=lambda silent, hops=2: [committed(0, 4), f"(count(1, 'refused_hop_limit') > 0) == {hops == 1}",
                                         f"('-{silent}' in command(2).output) == {hops == 2}"])
def rsvp_without_the_function(silent, hops=2):
    """A node that takes no part passes the messages on; its neighbours are two hops from each other. Where they are configured
    as one hop away, they do not hear each other, and sessions take the other node's paths."""
    other = {"s1": "s2", "l3": "l4"}[silent]
    at = 2500 if hops == 2 else 45000  # every path through the silent node is given up first
    net = figure("rsvp-silent", f"{at + 500}ms", 4, silent=(silent,), buffers={other: BUFFER // 2})
    around = {n: [m for m in adjacent(net, silent) if m != n] for n in adjacent(net, silent)}
    for n, more in around.items():
        net.tune(n, lambda c, more=more: beyond(net, c, silent, more, hops))
    return schedule(net, (at, "gw1", "show rsvp sessions"), (at, adjacent(net, silent)[0], "show rsvp counters"), (at, "gw1", "show rsvp sessions"))


def beyond(net, config, silent, more, hops):
    hop = next(r for r in config["routes"] if r["prefix"] == uid(net.nodes[silent]["id"]) + "/48")
    for other in more:
        config["routes"].append({"prefix": loopback(net, other) + "/128", "port": hop["port"], "nexthop": hop["nexthop"]})
        config["credit"]["neighbors"].append({"address": loopback(net, other), "hops": hops})


def drawn(name, run, r, sessions=1):
    """A figure with any number of leaves and spines, and links of any delay that their nodes know. Nodes offer little choice of
    buffers, so that the delay decides at times. Returns the network and the best candidate, found by search."""
    near, spines, far = ([f"{letter}{i}" for i in range(r.randrange(1, 4))] for letter in "lst")
    while len(near) * len(spines) * len(far) > 16:
        r.choice([g for g in (near, spines, far) if len(g) > 1]).pop()
    net = Net(name, run)
    for n in ("gw1", *near, *spines, *far, "gw2"):
        net.node(n)
    for a, b in [("gw1", n) for n in near] + list(itertools.product(near, spines)) + list(itertools.product(spines, far)) + \
            [(n, "gw2") for n in far]:
        net.link(f"{a}.{b}", f"{b}.{a}", delay=f"{r.randrange(1, 5000)}us")
    delay = {frozenset((x["a"].split(".")[0], x["b"].split(".")[0])): int(x["delay"][:-2]) for x in net.links}
    buffers = {n: r.choice((8, 9, 10, 11)) for n in net.nodes}
    for n in net.nodes:
        net.tune(n, lambda c, n=n: know(net, n, c))
        net.tune(n, lambda c, n=n: take_part(net, n, c, {"buffer": buffers[n], **({"accept": [{"sources": "fd00:1::/64"}]} if n == "gw2" else {})}))
        net.tune(n, lambda c, n=n: tell_delays(c, n, delay))
    hops = list(itertools.product(near, spines, far))
    net.tune("gw1", lambda c: begins(net, c, sessions, hops))
    across = {h: sum(delay[frozenset(pair)] for pair in itertools.pairwise(("gw1", *h, "gw2"))) for h in hops}
    return net, min(hops, key=lambda h: (-min(buffers[n] for n in (*h, "gw2")), across[h], hops.index(h)))


def tell_delays(config, name, delay):
    for port in config["ports"]:
        port["link-delay"] = delay[frozenset((name, port["name"]))]


@scenario(short=[{"seed": n} for n in range(1, 7)], long=[{}])
def rsvp_largest(seed=1):
    """Of a figure drawn at random, the path with the largest least buffer carries the session; of several, the one with the
    smallest delay, then the one listed first."""
    net, best = drawn("rsvp-largest", "3s", random.Random(seed))
    schedule(net, (2500, "gw1", "show rsvp sessions -j"))
    net.expect = [f"""'"path": "{'-'.join(best)}"' in command(0).output and '"state": "committed"' in command(0).output"""]
    return net


ROADS = 8


def more(counter):
    """Between the two commands. What was under way during the handshake counts as replayed before the first one."""
    return f"count(1, '{counter}') - count(0, '{counter}')"


@scenario(short=[{"window": 8192}, {"window": 32}], long=[{"window": 8192}, {"window": 32}], seeds=0.1,
          expect=lambda window, **_: [f"{more('messages_rx')} > 18000 or {window == 32}", f"{more('refused_integrity_replayed')} == 0 or {window == 32}",
                                      f"({more('refused_integrity_window')} > 0) == {window == 32}",
                                      f"(count(1, 'window_used') > 31) == {window > 32}"])
def rsvp_reordered(window, seed=1):
    """10,000 signed messages a second of one sender arrive over eight roads whose delays differ by 20 ms: none is taken for a
    replay. With a window of 32, as in RFC 2747's example, some are, and sessions end."""
    r = random.Random(seed)
    net = Net("rsvp-reordered", "4s")
    roads = [f"m{i}" for i in range(ROADS)]
    for n in ("gw1", *roads, "gw2"):
        net.node(n)
    delays = [1, 21000] + [r.randrange(1, 21000) for _ in roads[2:]]
    for n, delay in zip(roads, r.sample(delays, ROADS)):
        net.link(f"gw1.{n}", f"{n}.gw1", delay=f"{delay}us")
        net.link(f"{n}.gw2", f"gw2.{n}", delay="10us")
    for n in net.nodes:
        net.tune(n, lambda c, n=n: know(net, n, c))
    for n, far in (("gw1", "gw2"), ("gw2", "gw1")):
        more = {"integrity": "required", "keys": [{"id": 5}], "window": window, "refresh": 100, "rapid": 20, "rapid-copies": 2, "idle": 50,
                "neighbors": [{"address": loopback(net, far), "hops": 2, "rate": "100K"}],
                **({"accept": [{"sources": "fd00:1::/64"}]} if n == "gw2" else {})}
        net.tune(n, lambda c, far=far: c["routes"].append(
            {"prefix": loopback(net, far) + "/128", **{k: c["routes"][0][k] for k in ("port", "nexthop")}}))
        net.tune(n, lambda c, n=n, more=more: take_part(net, n, c, more))
        net.tune(n, lambda c: c.update(hmac={"keys": "keys"}))
        net.tune(n, lambda c: c["memory"].update(buffers=c["memory"]["buffers"] + POOL))
    net.files["keys"] = "5 000102030405060708090a0b0c0d0e0f\n"
    net.tune("gw1", lambda c: begins(net, c, 150, [(n,) for n in roads]))
    return schedule(net, (2000, "gw2", "show rsvp counters"), (3900, "gw2", "show rsvp counters"))


@scenario(short=[{"sessions": 4}], long=[{"sessions": 4}, {"sessions": 1000}], seeds=0.01,
          expect=lambda sessions, **_: [committed(0, sessions), committed(1, sessions), committed(2, sessions), *ends_expect(sessions, 3)])
def rsvp_hour(sessions, seed=1):
    """An hour with R of 30 s, a tenth of all messages lost, some doubled or overtaken; a gateway, a leaf and a spine restart."""
    r = random.Random(seed)
    net = figure("rsvp-hour", "3600s", sessions, {"paths": max(2048, 9 * sessions)})
    for link in net.links:
        link.update(loss=0.1, duplication=0.02, reordering=0.02, jitter=f"{r.choice([10, 100, 1000])}us", faulty="both")
    schedule(net, (600000, "gw1", "show rsvp sessions"), (2600000, "gw1", "show rsvp sessions"), (3100000, "gw1", "show rsvp sessions"),
             *((at, node, what) for at, node, what in ends(net, sessions, 3100500)))
    # without a word L, 158 s, passes until a path has ended, and it is remembered for as long again
    for row in net.extra["schedule"][-len(net.nodes):]:
        row["at"] = "3595000ms"
    for node, at in (("gw1", 700), ("l3", 1200), ("s1", 1700)):
        net.extra["schedule"].append({"at": f"{at * 1000 + r.randrange(60000)}ms", "node": node, "restart": "1s"})
    return net


@scenario(short=[{"sessions": 2000}], long=[{"sessions": 65536}], seeds=0.001,
          expect=lambda sessions: [f"count({i}, 'committed') == {sessions}" for i in (0, 1)] + [f"count(0, 'paths') == {sessions}"])
def rsvp_many(sessions):
    """As many sessions as a node may have come up between two gateways as fast as they begin, 5,000 a second, and stay."""
    net = Net("rsvp-many", f"{sessions // 5000 + 8}s")
    for n in ("gw1", "gw2"):
        net.node(n)
    net.link("gw1.gw2", "gw2.gw1", delay="1ms")
    for n in net.nodes:
        net.tune(n, lambda c, n=n: know(net, n, c))
        net.tune(n, lambda c, n=n: take_part(net, n, c, {"pool": sessions, "buffer": 1, "paths": sessions, "refresh": 300000,
                                                         **({"accept": [{"sources": "fd00:1::/64"}]} if n == "gw2" else {})}))
        net.tune(n, lambda c: c["memory"].update(buffers=c["memory"]["buffers"] - POOL + sessions))
    net.tune("gw1", lambda c: begins(net, c, sessions, [()]))
    net.tune("gw1", lambda c: c["policies"][0]["paths"][0].update(name="direct"))
    at = sessions // 5 + 1500
    return schedule(net, (at, "gw2", "show rsvp counters"), (at + 5000, "gw2", "show rsvp counters"))
