# SPDX-License-Identifier: BSD-3-Clause
"""Chaos: networks that nobody has drawn, with faults that nobody has timed. A lossless class loses nothing in any of them, unless a
link, a host or a restart took it (lab_loss.h says whose fault is what), or a link lost the PFC that would have saved it (excuse.py).

    mesh    2 to 20 nodes in a tree, some links doubled; PFC on every link
    relay, hosts, tunnel    two data centres over a WAN (wan.py)

Rates, distances, frame sizes, lcores, thresholds, flows, receivers and instants are the seed's. Trees, because PFC in one class
deadlocks in rings, whatever a node does (deadlock.py)."""
import random

from net import Net
from suite import scenario
from wan import Wan, refresh_us

RATES = [10, 25, 40, 50, 100, 200, 400]
FRAMES = [256, 512, 1024, 1500, 2048, 4096, 8192]
LCORES = [{"control": 0, "rx": [1], "worker": [1]}, {"control": 0, "rx": [0], "worker": [0]}, {"control": 0, "rx": [1], "worker": [2]},
          {"control": 0, "rx": [1, 2], "worker": [3]}, {"control": 0, "rx": [1], "worker": [2, 3]},
          {"control": 0, "rx": [1, 2], "worker": [1, 2]}]
BUDGET = 80000  # packet hops of a run, about: short, so that many networks can be tried
DESCRIPTORS = 64

# none: receivers are slow or stop. cpu: nodes have too few cycles. flap: a link goes down and up, seen by both ends. one-way: in one
# direction. way-back: PFC frames alone are lost. restart: a node dies. mixed: two of these
FAULTS = ["none", "cpu", "flap", "one-way", "way-back", "restart", "mixed"]


def between(r, low, high):
    """Evenly distributed by magnitude."""
    return low * (high / low) ** r.random()


class Mesh:
    def __init__(self, r, fault):
        self.r, self.fault = r, fault
        self.nodes = [f"n{i}" for i in range(r.choice([2, 2, 3, 3, 4, 5, 6, 8, 12, 20]))]
        self.mtu = r.choice(FRAMES)
        self.net = Net("chaos", "1ms", drain="3s", memory="32G", sample="50us")
        self.hosts, self.trunks = {}, []
        for n in self.nodes:
            self._node(n)
        for i, n in enumerate(self.nodes[1:], 1):
            self._trunk(self.nodes[r.randrange(i)] if r.random() < 0.6 else self.nodes[i - 1], n)
        self._hosts()
        self._flows()
        for n in self.nodes:
            self.net.tune(n, self._profile(n))

    def _cycles(self):
        slow = self.fault == "cpu"
        return int(between(self.r, 200, 2000) if slow else between(self.r, 20, 60))

    def _node(self, name):
        r = self.r
        lcores = r.choice(LCORES)
        # Rings are as long as the defaults make them: --check warns of shorter ones, with the figure.
        port = {"descriptors": {"tx": DESCRIPTORS}, "rx-queues": min(2, len(lcores["rx"]))}
        self.net.node(name, lcores=lcores, pfc=[3], port=port, memory={"buffers": 65536}, cycles=self._cycles())

    def _length(self, rate):
        """In metres: mostly in a building, sometimes as far as 200 KB at this rate."""
        return int(between(self.r, 10, 200e3 * 8 / rate / 5 if self.r.random() < 0.3 else 500))

    def _link(self, a, b, rate, metres):
        self.net.link(a, b, rate=f"{rate}G", delay=f"{5 * metres}ns")
        return self.net.links[-1]

    def _trunk(self, a, b):
        rate = self.r.choice(RATES)
        metres = self._length(rate)
        for k in range(2 if self.r.random() < 0.2 else 1):
            self.trunks.append(self._link(f"{a}.{b}{'ab'[k]}", f"{b}.{a}{'ab'[k]}", rate, metres))

    def _hosts(self):
        r = self.r
        for i in range(r.randrange(2, min(9, 2 + 2 * len(self.nodes)))):
            name, rate = f"h{i}", r.choice(RATES)
            node = self.nodes[0] if i == 0 else self.nodes[-1] if i == 1 else r.choice(self.nodes)
            sink = {}
            if r.random() < 0.6:
                xoff = r.randrange(64, 1024) << 10
                # the host answers for the round trip, the node's time to stop, and what is in the node's descriptors
                sink = {"drain": f"{int(rate * 1000 * r.uniform(0.1, 0.95))}M", "xoff": xoff, "xon": xoff // r.randrange(2, 5),
                        "buffer": xoff + (6 << 20) + 2 * DESCRIPTORS * 9234, "quanta": r.choice([65535, 65535, r.randrange(2000, 65535)])}
            self.hosts[name] = rate
            self.net.host(name, i + 1, pfc=[3], **({"sink": sink} if sink else {}), **({"pipeline": "0"}))
            self._link(f"{name}.eth0", f"{node}.{name}", rate, int(between(r, 2, 200)))

    def _flows(self):
        r, names = self.r, list(self.hosts)
        pairs = [(names[0], names[1])] + [tuple(r.sample(names, 2)) for _ in range(r.randrange(0, 6))]
        for i, (a, b) in enumerate(pairs):
            self.net.flow(a, b, name=f"f{i}", mtu=self.mtu, message=self.mtu * r.choice([1, 3, 16, 100]), **{
                "queue-pairs": r.choice([1, 2, 4]), "timeout": 0, "ack-every": r.choice([1, 4, 16, 64]),
                "window": f"{int(between(r, 64, 8192))}K" if r.random() < 0.5 else "0"})
        # as long as the budget of hops allows, and not longer than three milliseconds
        pps = sum(min(self.hosts[a], self.hosts[b]) * 1e9 / 8 / (self.mtu + 100) for a, b in pairs)
        self.run_us = int(min(3000, max(300, BUDGET / pps / 3 * 1e6)))
        self.net.lab["run"] = f"{self.run_us}us"

    def _profile(self, name):
        # an owner that looks less often than the default response takes longer to say XOFF
        keys = {"name": "lab", "xoff": f"{self.r.choice([64, 96, 128, 256, 512])}K", "xon": "auto", "min-frame": 128, "response": 20 if self.fault != "cpu" else 200}

        def change(config):
            config["buffer-profiles"] = [dict(keys)]
            bits = sum(int(p["speed"][:-1]) * 1e9 for p in config["ports"])
            config["memory"]["buffers"] = 16384 + 50000 * len(config["ports"]) + int(bits / 8 * keys["response"] / 1e6 / keys["min-frame"])
        return change

    def apply(self, fault):
        """Add one fault."""
        r = self.r
        link = r.choice(self.trunks)
        at = f"{r.randrange(self.run_us)}us"
        if r.random() < 0.5:
            port = r.choice([link["a"], link["b"]])
            at = {"after": r.choice(["xoff", "paused", "xon"]), "port": port, "delay": f"{int(between(r, 10, 100000))}ns"}
        lasts = f"{int(between(r, 1, 1000))}us"
        if fault == "flap":
            link.setdefault("failures", []).append({"at": at, "for": lasts, "detect": f"{r.randrange(100, 20000)}ns"})
        elif fault == "one-way":
            link.setdefault("failures", []).append({"at": at, "for": lasts, "detect": f"{r.randrange(100, 20000)}ns",
                                                    "direction": r.choice(["a-to-b", "b-to-a"])})
        elif fault == "way-back":
            link.setdefault("failures", []).append({"at": at, "for": lasts, "traffic": "control", "direction": r.choice(["a-to-b", "b-to-a"])})
        elif fault == "restart":
            self.net.extra.setdefault("schedule", []).append({"at": at, "node": r.choice(self.nodes), "restart": lasts})
        else:
            self._stalls()

    def _stalls(self):
        r = self.r
        for name in self.hosts:
            sink = self.net.hosts[name]["keys"].get("sink")
            if sink and r.random() < 0.5:
                sink["stalls"] = [{"at": f"{r.randrange(self.run_us)}us", "for": f"{int(between(r, 10, 5000))}us"}]


def mesh(r, fault):
    m = Mesh(r, fault)
    for f in (r.sample(FAULTS[2:-1], 2) if fault == "mixed" else [fault]):
        m.apply(f)
    return m.net


def wan(r, fault, scheme):
    """Two data centres; the receiver is slow or stops, as long as it takes the pause to go all the way."""
    rate, most = r.choice([(10, 500), (25, 300), (40, 200), (100, 80)])
    km = int(between(r, 1, most))
    begin = r.randrange(500, 3000)
    stall = int(10 * km + 5e6 * 8 / rate / 1e3 + r.randrange(0, 5000))
    run = begin + stall + 20 * km + 5000
    keys = {"jitter_us": 50 + 3 * refresh_us(rate)} if scheme == "tunnel" else {}
    net = Wan("chaos", scheme, rate=rate, km=km, stall=(f"{begin}us", f"{stall}us"), run=f"{run}us", sample="1ms",
              drain=f"{int(rate * 1000 * r.uniform(0.4, 1))}M" if r.random() < 0.5 else None,
              mode="regenerate", flow={"mtu": r.choice(FRAMES[2:])}, **keys).net
    trunk = next(link for link in net.links if link.get("km") == km)
    for f in (r.sample(FAULTS[2:-1], 2) if fault == "mixed" else [fault]):
        at, lasts = f"{begin + r.randrange(-400, stall + 10 * km)}us", f"{int(between(r, 10, 20000))}us"
        if f == "restart":
            net.extra.setdefault("schedule", []).append({"at": at, "node": r.choice(list(net.nodes)), "restart": f"{int(between(r, 10, 2000))}us"})
        elif f == "cpu":
            # nobody can stop the WAN: the PE that the data comes to must keep up with it
            for name, n in net.nodes.items():
                n["lab"]["cycles"] = 20 if name == "pe2" else int(between(r, 100, 400))
        elif f != "none":
            trunk.setdefault("failures", []).append({"at": at, "for": lasts, **{
                "flap": {"detect": "10us"}, "one-way": {"direction": r.choice(["a-to-b", "b-to-a"])},
                "way-back": {"direction": "b-to-a", "traffic": "control"}}[f]})
    return net


@scenario(short=[{"fault": "none", "seed": s} for s in (2, 3, 14)] + [{"fault": f, "seed": s} for f, s in (
    ("restart", 2), ("way-back", 1), ("flap", 4), ("one-way", 11), ("mixed", 1))],
          long=[{"fault": f} for f in FAULTS], expect=["all(f['failed'] == 0 for f in report['flows'])", "sum(f['received'] for f in report['flows']) > 0"],
          excused="excused(False)")
def chaos_mesh(fault, seed=1):
    """PFC hop by hop in any tree."""
    return mesh(random.Random(f"{fault} {seed}"), fault)


@scenario(short=[{"fault": "none", "scheme": s} for s in ("relay", "hosts", "tunnel")] + [{"fault": "one-way", "scheme": "relay"}],
          long=[{"fault": f, "scheme": s} for f in FAULTS for s in ("relay", "hosts", "tunnel")],
          expect=["sum(f['received'] for f in report['flows']) > 0 or lost > 0"],
          excused="excused(True)")
def chaos_wan(fault, scheme, seed=1):
    """PFC carried over a WAN, in each way."""
    return wan(random.Random(f"{fault} {scheme} {seed}"), fault, scheme)
