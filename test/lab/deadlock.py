# SPDX-License-Identifier: BSD-3-Clause
"""Deadlock hunt: random topologies with a cycle, all hosts sending as fast as they can over ways of at least two hops.

In one class PFC lets the nodes of the cycle wait for each other for ever, and the wait-for graph (lib/lab/lab_waitfor.c)
must say so. Remapped, a tunnel ends where its way would climb again after it has descended (nodes are numbered), and the next
one has a class of its own: then every class only climbs and then descends, classes follow upon each other, and nothing can
wait for itself (Dally and Seitz, Deadlock-Free Message Routing, 1987; Autonet's up*/down* routes).
"""
import random

from net import BLOCK, Net, uid
from suite import scenario

EDGE = 3  # class of hosts, at the edge
LEGS = [4, 5, 2, 1]  # classes of the first tunnel, the second ...
PAUSE = 0xe300  # End.X.PFC of the first port, the second ...
SHORT = [{"seed": n} for n in (1, 2, 3)] + [{"seed": 4, "tunnels": True}, {"seed": 5, "alpha": True}]
LONG = [{}, {"tunnels": True}, {"alpha": True}]
PORT = {"mtu": 4400, "descriptors": {"rx": 256, "tx": 64}, "buffer-limit": 64, "queue-limit": 64, "control-limit": 64}
MESSAGES = 400  # of each flow
# thresholds from shares of common buffers alone: XOFF at a quarter of what is left of them, far below xoff and xon
SHARED, ALPHA = 128, {"name": "lab", "alpha": "1/4", "xoff": "1M", "min-frame": 1024, "response": 5}


class Maze(Net):
    """ways: host -> (host, names of the nodes on the way). Every host receives from one other. alpha: buffers are shared."""

    def __init__(self, name, run, ways, remap, tunnels=False, alpha=False, **lab):
        super().__init__(name, run, **lab)
        self.ways, self.remap, self.tunnels, self.alpha = ways, remap, tunnels, alpha

    def legs(self, way):
        """The way in parts that climb and then descend; the whole one without remapping."""
        parts, descending = [[way[0]]], False
        for near, far in zip(way, way[1:]):
            down = self.nodes[far]["id"] < self.nodes[near]["id"]
            if descending and not down and self.remap:
                parts.append([near])
            descending = down
            parts[-1].append(far)
        return parts

    def config(self, name):
        c = super().config(name)
        policies, routes = {}, []
        for to, way in self.ways.values():
            legs = self.legs(way)
            at = next((i for i, leg in enumerate(legs) if leg[0] == name), None)
            if at is None:
                continue
            leg, klass = legs[at], LEGS[at] if self.remap else EDGE
            policy = f"p{len(policies)}"
            policies[policy] = {"name": policy, "paths": [
                {"name": "only", "segments": [uid(self.nodes[n]["id"]) for n in leg[1:]] + [f"{BLOCK}:e001::"]}]}
            if self.remap:
                policies[policy].update({"class-map": f"into{klass}", "dscp": "set", "dscp-value": 8 * klass})
            routes.append({"prefix": self.hosts[to]["address"] + "/32", "policy": policy})
        c.pop("policies", None)
        if "vrfs" in c:
            vrf = c["vrfs"][0]
            vrf["routes"] = [r for r in vrf["routes"] if "port" in r] + routes
            c["policies"] = list(policies.values())
        if self.remap:
            c["class-maps"] = [{"name": f"into{k}", "classes": [{"from": EDGE, "class": k}]} for k in LEGS]
            c["class-maps"].append({"name": "out", "classes": [{"from": k, "class": EDGE} for k in LEGS]})
            next(s for s in c["sids"] if s["behavior"] == "uDT46")["class-map"] = "out"
        used = max(len(self.legs(way)) for _, way in self.ways.values())
        for p in c["ports"]:
            p["pfc"]["priorities"] = LEGS[:used] if self.remap and p["side"] == "wan" else [EDGE]
        if self.tunnels:
            self._tunnels(name, c)
        # the budget of PORT and the profile, and a reserve: a run allocates all of them at the start
        classes = sum(len(p["pfc"]["priorities"]) for p in c["ports"])
        c["memory"]["buffers"] = 3072 + 704 * len(c["ports"]) + 800 * classes
        if self.alpha:
            c["memory"]["lossless"], c["buffer-profiles"] = SHARED, [ALPHA]
        return c

    def _tunnels(self, name, c):
        """Back-pressure between nodes by tunnels of one hop instead of frames on the link."""
        wan = [p["name"] for p in c["ports"] if p["side"] == "wan"]
        c["sids"] += [{"sid": f"{BLOCK}:{PAUSE + i:x}::/48", "behavior": "uA.PFC", "port": port,
                       "nexthop": self._local(self.nodes[name]["ports"][port])} for i, port in enumerate(wan)]
        c["pfc-tunnels"] = []
        for port in wan:
            other, back = self.nodes[name]["ports"][port].split(".")
            theirs = [p for p, far in self.nodes[other]["ports"].items() if far.split(".")[0] in self.nodes]
            c["pfc-tunnels"].append({"name": f"to-{other}", "port": port, "priorities": next(
                p["pfc"]["priorities"] for p in c["ports"] if p["name"] == port), "segments": [
                    uid(self.nodes[other]["id"]), f"{BLOCK}:{PAUSE + theirs.index(back):x}::"]})


def maze(seed, remap, tunnels=False, alpha=False, run="2ms"):
    rng = random.Random(seed)
    size = rng.randint(3, 6)
    nodes = [f"n{i}" for i in range(size)]
    order = nodes[:]
    rng.shuffle(order)
    links = [(a, b) for a, b in zip(order, order[1:] + order[:1])]
    chords = [(a, b) for a in nodes for b in nodes if a < b and (a, b) not in links and (b, a) not in links]
    links += rng.sample(chords, rng.randint(0, min(2, len(chords))))
    far = {n: sorted({b for a, b in links if a == n} | {a for a, b in links if b == n}) for n in nodes}
    ways = {}
    # around the cycle, every way over the same number of hops, at least two
    hops = rng.randint(2, size - 1)
    for i, n in enumerate(order):
        ways[f"h{n}"] = (f"h{order[(i + hops) % size]}", [order[(i + k) % size] for k in range(hops + 1)])
    # and others anywhere
    for k in range(rng.randint(0, 2)):
        way = [rng.choice(nodes)]
        while len(way) < 5 and (further := [n for n in far[way[-1]] if n not in way]):
            way.append(rng.choice(further))
        ways[f"from{k}"] = (f"to{k}", way)
    net = Maze("maze", run, ways, remap, tunnels, alpha, drain="200ms")
    for n in nodes:
        net.node(n, pfc=[EDGE], port=PORT, memory={"ring": 128})
    for number, (source, (to, way)) in enumerate(ways.items()):
        for host, node in ((source, way[0]), (to, way[-1])):
            if host not in net.hosts:
                net.host(host, len(net.hosts) + 1, pfc=[EDGE])
                net.link(f"{host}.eth0", f"{node}.{host}", rate="10G")
        net.flow(source, to, name=f"flow{number}", transport="datagram", message=4096, messages=MESSAGES, rate="10G")
    for a, b in links:
        net.link(f"{a}.{b}", f"{b}.{a}", rate="10G", delay=f"{rng.choice((100, 500, 2000))}ns")
    return net


@scenario(short=SHORT, long=LONG, expect=[], violates="deadlock")
def deadlock_one_class(seed, tunnels=False, alpha=False):
    """All in one class: the nodes of the cycle wait for each other for ever, and the wait-for graph shows them, be it that PFC
    is on the links or in End.X.PFC tunnels, and that thresholds are fixed or shares of common buffers."""
    return maze(seed, False, tunnels, alpha)


@scenario(short=SHORT, long=LONG, expect=["lost == 0", f"all(f['received'] == {MESSAGES} for f in report['flows'])",
                              "all(n['reasons'].get('headroom_exceeded', 0) == 0 for n in report['nodes'])",
                              "sum(h['pauses_received'] for h in report['hosts']) > 0"])
def deadlock_remapped(seed, tunnels=False, alpha=False):
    """The same topologies, classes remapped from tunnel to tunnel: all arrives, and nothing is lost."""
    return maze(seed, True, tunnels, alpha)


@scenario(short=[{}], expect=["lost == 0", "flow('there').received == flow('there').sent", "flow('back').received == flow('back').sent",
                              "host('h1').pauses_received > 0", "host('h2').pauses_received > 0"])
def deadlock_hairpin(seed=1):
    """Traffic that leaves a node by its ingress port, in both nodes of a link: in its own class each queue would hold the
    buffer that holds the other. It waits in the bounce class, which nobody pauses."""
    rng = random.Random(seed)
    ways = {"h1": ("d1", ["s1", "n1", "n2", "n1", "t1"]), "h2": ("d2", ["s2", "n2", "n1", "n2", "t2"])}
    net = Maze("hairpin", "2ms", ways, False, drain="200ms")
    for n in ("s1", "t1", "n1", "n2", "s2", "t2"):
        net.node(n, pfc=[EDGE], port=PORT, memory={"ring": 128})
        net.tune(n, lambda c: c["buffer-profiles"][0].update(xoff="24K", xon="12K"))
    for host, node in (("h1", "s1"), ("d1", "t1"), ("h2", "s2"), ("d2", "t2")):
        net.host(host, len(net.hosts) + 1, pfc=[EDGE])
        net.link(f"{host}.eth0", f"{node}.{host}", rate="10G")
    for a, b in (("s1", "n1"), ("n1", "t1"), ("n1", "n2"), ("s2", "n2"), ("n2", "t2")):
        net.link(f"{a}.{b}", f"{b}.{a}", rate="10G", delay=f"{rng.choice((100, 500, 2000, 10000))}ns")
    for name, source, to in (("there", "h1", "d1"), ("back", "h2", "d2")):
        net.flow(source, to, name=name, transport="datagram", message=4096, messages=MESSAGES, rate=f"{rng.randint(8, 10)}G")
    return net
