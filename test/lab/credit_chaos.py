# SPDX-License-Identifier: BSD-3-Clause
"""Credit in networks that nobody has drawn, with the default timers: a chain of gateways and nodes between them, with one or two
senders, sessions in both directions, and a fault.

    a -- gw1 ==== t0 ==== t1 .. ==== gw2 -- b
    c -- gw3 =====//

Rates, delays, frame sizes, lcores, pools, flows, receivers and instants are the seed's."""
import random

from chaos import LCORES, between
from credit import asked, chain, without_pfc
from net import Net, loses
from rsvp import know, loopback
from suite import scenario

FAULTS = ["none", "data", "messages", "doubled", "reordered", "flap", "one-way", "restart"]
HOPS = 250000  # packet hops of a run, about
START = 400  # ms: sessions are up
AFTER = 2000  # ms after the last packet of a sender

# What congestion would take, had a packet found no room for which it had credit.
CONGESTION = ("queue_full", "no_buffer", "rx_overload", "headroom_exceeded", "control_full", "punt_full")
NO_CONGESTION = f"sum(n['reasons'].get(r, 0) for n in report['nodes'] for r in {CONGESTION}) == 0"


def source(of, to):
    """Prefix of the outer sources of the sessions from one gateway to another."""
    return f"fd00:{of[-1]}{to[-1]}::/64"


class Chain:
    def __init__(self, r, fault):
        self.r = r
        self.rate = r.choice([1, 10, 25, 40, 100])
        self.mtu = r.choice([256, 1024, 1500, 4096, 8192])
        self.middle = [f"t{i}" for i in range(r.choice([0, 1, 1, 2, 3, 4]) if fault != "restart" else r.choice([1, 1, 2, 3]))]
        self.senders = {"a": "gw1", **({"c": "gw3"} if self.middle and r.random() < 0.4 else {})}
        pps = self.rate * 1e9 / 8 / (self.mtu + 100)
        self.ms = int(min(1000, max(60, HOPS / pps / (len(self.middle) + 2) * 1000)))
        # what a restarted node gets before its neighbour has noticed is lost, and counted
        self.net = Net("credit-chaos", f"{START + self.ms + AFTER}ms", drain="30s", memory="32G", **loses(fault in ("restart", "data", "flap", "one-way")))
        for n in ("gw1", *self.middle, "gw2", *(["gw3"] if "c" in self.senders else [])):
            self.net.node(n, pfc=[3], lcores=r.choice(LCORES))
        self._hosts()
        self._links()
        self._flows()
        self.pool = int(between(r, 1200, 200000))
        self.buffer = max(50, int(self.pool * r.uniform(0.05, 0.2)))
        for n in self.net.nodes:
            self._take_part(n)
        self.fault(fault)

    def _bits(self, *factors):
        return f"{int(self.rate * 1000 * self.r.choice(factors))}M"

    def _hosts(self):
        r, sink = self.r, {}
        self.receiver = self.rate * r.choice([0.5, 1, 2])
        if r.random() < 0.5:
            xoff = r.randrange(64, 1024) << 10
            sink = {"drain": f"{int(self.receiver * 1000 * r.uniform(0.1, 0.95))}M", "xoff": xoff, "xon": xoff // 2, "buffer": xoff + (8 << 20)}
            if r.random() < 0.3:
                sink["stalls"] = [{"at": f"{START + r.randrange(self.ms)}ms", "for": f"{int(between(r, 100, 50000))}us"}]
        self.net.host("a", 1, pfc=[3])
        if "c" in self.senders:
            self.net.host("c", 3, pfc=[3])
        self.net.host("b", 2, pfc=[3], **({"sink": sink} if sink else {}))

    def _links(self):
        for host, gateway in self.senders.items():
            self.net.link(f"{host}.eth0", f"{gateway}.dc", self._bits(1, 2))
        self.wan = []
        nodes = ["gw1", *self.middle, "gw2"]
        for left, right in [*zip(nodes, nodes[1:]), *([("gw3", "t0")] if "c" in self.senders else [])]:
            self.net.link(f"{left}.{right}", f"{right}.{left}", self._bits(0.5, 1, 1, 2), delay=f"{int(between(self.r, 2, 5000))}us")
            self.wan.append(self.net.links[-1])
        self.net.link("gw2.dc", "b.eth0", f"{int(self.receiver * 1000)}M")
        for gateway in self.senders.values():
            self.net.path(gateway, "gw2", self.middle)
            self.net.path("gw2", gateway, self.middle[::-1])

    def _flows(self):
        r = self.r
        for host in self.senders:
            pairs, rate = r.choice([1, 2, 4, 16]), self.rate
            flow = {"mtu": self.mtu, "message": self.mtu * r.choice([1, 3, 16, 100]), "timeout": 0}
            if r.random() < 0.3:
                rate *= r.uniform(0.3, 1.5)
                flow = {"transport": "datagram", "message": min(self.mtu, 4096), "rate": f"{int(rate * 1000 / pairs)}M"}
            messages = max(1, int(rate * 1e6 / 8 * self.ms / pairs / flow["message"]))
            self.net.flow(host, "b", name=f"from-{host}", start=f"{START}ms", messages=messages, **{"queue-pairs": pairs, **flow})

    def _take_part(self, name):
        net = self.net
        far = ["gw2"] if name in ("gw1", "gw3") else list(self.senders.values()) if name == "gw2" else []
        pairs = [(g, "gw2") for g in self.senders.values()] + [("gw2", g) for g in self.senders.values()]

        def change(config):
            config["credit"] = {"mode": "ext", "integrity": "off", "pool": self.pool, "buffer": self.buffer, "paths": 64,
                                "neighbors": [{"address": loopback(net, end.split(".")[0])} for _, end in net._neighbours(name)],
                                "data-of": [{"sources": source(*pair)} for pair in pairs],
                                **({"accept": [{"sources": source(g, name)} for g in far]} if far else {}),
                                "sessions": [{"name": f"to-{g}", "policy": f"to-{g}", "to": loopback(net, g), "class": 3} for g in far]}
            config["memory"]["buffers"] += self.pool + 64
            for policy in config.get("policies", []):
                policy["source-prefix"] = source(name, policy["name"][3:])
        net.tune(name, without_pfc)
        net.tune(name, lambda c: know(net, name, c))
        net.tune(name, change)

    def fault(self, fault):
        r, net = self.r, self.net
        link = r.choice(self.wan)
        at, lasts = f"{START + r.randrange(self.ms)}ms", f"{int(between(r, 1000, 300000))}us"
        rare = r.choice([1e-4, 1e-3, 1e-2])
        if fault == "data":
            link.update(loss=rare, faulty="a-to-b")
        elif fault == "messages":
            link.update(loss=r.choice([1e-3, 1e-2, 0.1]), faulty="b-to-a")
        elif fault == "doubled":
            link.update(duplication=rare, faulty=r.choice(["both", "a-to-b", "b-to-a"]))
        elif fault == "reordered":
            # of messages: data that overtakes a fence of its own queue is not what fences are for
            link.update(reordering=rare, jitter=f"{r.choice([1, 10, 100])}us", faulty=r.choice(["both", "a-to-b", "b-to-a"]), faults="control")
        elif fault == "flap":
            link["failures"] = [{"at": at, "for": lasts, "detect": "10us"}]
        elif fault == "one-way":
            link["failures"] = [{"at": at, "for": lasts, "detect": r.choice(["never", "10us"]), "direction": r.choice(["a-to-b", "b-to-a"])}]
        end = START + self.ms + AFTER - 10
        net.extra["schedule"] = [{"at": f"{at}ms", "node": n, "command": "show credit"} for at in (START - 10, end)
                                 for n in ("gw1", "gw2", *(["gw3"] if "c" in self.senders else []))]
        if fault == "restart":
            net.extra["schedule"].append({"at": at, "node": r.choice(self.middle), "restart": lasts})


def flows_again(*_, **__):
    """Every session has credit, at first and at the end."""
    return [NO_CONGESTION, "all(f['received'] > 0 for f in report['flows'])",
            "all(' no credit' not in c['output'] and ' without credit' not in c['output'] for c in report['commands'])"]


@scenario(short=[{"fault": f, "seed": s} for f, s in (("none", 1), ("messages", 2), ("reordered", 3), ("flap", 4), ("restart", 5), ("restart", 6))],
          long=[{"fault": f} for f in FAULTS], expect=flows_again)
def credit_chaos(fault, seed=1):
    """Nothing is lost to congestion, whatever the fault, and every session has credit afterwards."""
    return Chain(random.Random(f"{fault} {seed}"), fault).net


@scenario(short=[{}], expect=[NO_CONGESTION, "node('t1').reasons['credit'] > 10"])
def credit_fences_have_room():
    """The link after a node is slower than the one before it: what has credit there fills the queue of its class far beyond the limit of
    packets without credit. Fences are in the same queue, and none is dropped."""
    net = chain("credit-fences", "600ms", receiver="10G")
    net.links[2]["rate"] = "5G"
    return asked(net, (595, "t1", "show credit"))


MANY = 150


@scenario(short=[{}], expect=[NO_CONGESTION, f"command(0).output.count(' sends ') == {MANY}", "' no credit' in command(1).output",
                              f"command(2).output.count(' sends ') == {MANY}"])
def credit_many_silent():
    """A neighbour is silent for longer than its credit lasts. All its sessions begin a new epoch as soon as it is heard again,
    although each of its heartbeats names one session only: with 150 of them it takes 750 ms until each was named."""
    net = chain("credit-many-silent", "1s", nodes=("gw1", "gw2"), buffer=16, paths=2 * MANY, idle=50,
                flow={"queue-pairs": 1, "message": 4096, "messages": 1}, lossless=False)

    def many(config):
        policy = config["policies"][0]
        config["policies"] = [{**policy, "name": f"p{i}"} for i in range(MANY)] + [policy]
        config["credit"]["sessions"] = [{**config["credit"]["sessions"][0], "name": f"s{i}", "policy": f"p{i}"} for i in range(MANY)]
    net.tune("gw1", many)
    net.links[1]["failures"] = [{"at": "500ms", "for": "60ms", "detect": "never", "direction": "b-to-a"}]
    net.extra["schedule"] = [{"at": f"{at}ms", "node": "gw1", "command": "show credit"} for at in (490, 555, 800)]
    return net
