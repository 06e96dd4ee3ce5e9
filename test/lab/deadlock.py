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
SHORT = [{"seed": n} for n in (1, 2, 3)]
MESSAGES = 400  # of each flow


class Maze(Net):
    """ways: host -> (host, names of the nodes on the way). Every host receives from one other."""

    def __init__(self, name, run, ways, remap, **lab):
        super().__init__(name, run, **lab)
        self.ways, self.remap = ways, remap

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
        vrf = c["vrfs"][0]
        vrf["routes"] = [r for r in vrf["routes"] if "port" in r] + routes
        c.pop("policies", None)
        c["policies"] = list(policies.values())
        if self.remap:
            c["class-maps"] = [{"name": f"into{k}", "classes": [{"from": EDGE, "class": k}]} for k in LEGS]
            c["class-maps"].append({"name": "out", "classes": [{"from": k, "class": EDGE} for k in LEGS]})
            next(s for s in c["sids"] if s["behavior"] == "uDT46")["class-map"] = "out"
        used = max(len(self.legs(way)) for _, way in self.ways.values())
        for p in c["ports"]:
            p["pfc"]["priorities"] = LEGS[:used] if self.remap and p["side"] == "wan" else [EDGE]
        return c


def maze(seed, remap, run="2ms"):
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
    net = Maze("maze", run, ways, remap, drain="200ms")
    port = {"mtu": 4400, "descriptors": {"rx": 256, "tx": 64}, "buffer-limit": 64, "queue-limit": 64, "control-limit": 64}
    for n in nodes:
        net.node(n, pfc=[EDGE], port=port, memory={"buffers": 15360, "ring": 128})
    for number, (source, (to, way)) in enumerate(ways.items()):
        for host, node in ((source, way[0]), (to, way[-1])):
            if host not in net.hosts:
                net.host(host, len(net.hosts) + 1, pfc=[EDGE])
                net.link(f"{host}.eth0", f"{node}.{host}", rate="10G")
        net.flow(source, to, name=f"flow{number}", transport="datagram", message=4096, messages=MESSAGES, rate="10G")
    for a, b in links:
        net.link(f"{a}.{b}", f"{b}.{a}", rate="10G", delay=f"{rng.choice((100, 500, 2000))}ns")
    return net


@scenario(short=SHORT, long=[{}], expect=[], violates="deadlock")
def deadlock_one_class(seed):
    """All in one class: the nodes of the cycle wait for each other for ever, and the wait-for graph shows them."""
    return maze(seed, remap=False)


@scenario(short=SHORT, long=[{}], expect=["lost == 0", f"all(f['received'] == {MESSAGES} for f in report['flows'])",
                              "all(n['reasons'].get('headroom_exceeded', 0) == 0 for n in report['nodes'])",
                              "sum(h['pauses_received'] for h in report['hosts']) > 0"])
def deadlock_remapped(seed):
    """The same topologies, classes remapped from tunnel to tunnel: all arrives, and nothing is lost."""
    return maze(seed, remap=True)
