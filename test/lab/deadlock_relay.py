# SPDX-License-Identifier: BSD-3-Clause
"""Deadlock through PFC relays: data centres in a ring, each sending to one further on, past the gateways between.

    h0 - g0 - a0 === b0 - g1 - a1 === b1 - g2 - ...      and around again

Gateways stop each other across the WAN: bi relays the PFC of its gateway to ai (draft-he), and ai pauses its own gateway. All in one
class they come to wait for each other for ever; if nothing passes through one of them there is a way out, and all arrives.
"""
import random

from net import Net, uid
from suite import scenario
from wan import DX2

RATE, CLASS, MESSAGES, UDP = 10, 3, 600, 4794
RING = 64
PORT = {"mtu": 4400, "descriptors": {"rx": 256, "tx": RING}, "buffer-limit": 64, "queue-limit": 64, "control-limit": 64}


class Ring(Net):
    """km: of each part of the WAN."""

    def __init__(self, name, km, **relay):
        super().__init__(name, "3ms", drain="200ms")
        self.relay, self.size, self.km = relay, len(km), km
        for i in range(self.size):
            self.node(f"g{i}", pfc=[CLASS], port=PORT, memory={"ring": 128})
            self.tune(f"g{i}", lambda c, i=i: self._gateway(c, i))
        for i in range(self.size):
            for end, other, tune in (("a", "b", self._near), ("b", "a", self._far)):
                self.node(f"{end}{i}", port=PORT, memory={"ring": 128})
                self.tune(f"{end}{i}", lambda c, i=i, other=other, tune=tune: tune(c, i, f"{other}{i}"))
        for i in range(self.size):
            self.host(f"h{i}", i + 1, pfc=[CLASS])
            self.link(f"h{i}.eth0", f"g{i}.host", rate=f"{RATE}G")
        for i in range(self.size):
            self.link(f"g{i}.east", f"a{i}.dc", rate=f"{RATE}G", plain=True)
            self.link(f"a{i}.wan", f"b{i}.wan", rate=f"{4 * RATE}G", km=km[i])
            self.link(f"b{i}.dc", f"g{(i + 1) % self.size}.west", rate=f"{RATE}G", plain=True)

    def _everywhere(self, config, node, port):
        """All hosts are behind a port, except those of the node itself."""
        routes = [r for r in config["vrfs"][0]["routes"] if r["prefix"].endswith("/32")]
        config["vrfs"][0]["routes"] = routes + [
            {"prefix": f"10.{i + 1}.0.0/24", "port": port, "nexthop": self.plain[f"{node}.{port}"][1]}
            for i in range(self.size) if not any(r["prefix"].startswith(f"10.{i + 1}.") for r in routes)]

    def _gateway(self, config, i):
        self._everywhere(config, f"g{i}", "east")
        config["buffer-profiles"].append({"name": "wan", "min-frame": 1024, "response": 60})
        west = next(p for p in config["ports"] if p["name"] == "west")
        west["pfc"].update({"buffer": "wan", "length": self.km[i - 1] * 1000 + 400, "peer-descriptors": 3 * RING})
        config["memory"]["buffers"] = 16384

    def _pe(self, config, peer):
        """The port to the gateway, which is paused through a relay."""
        port = next(p for p in config["ports"] if p["name"] == "dc")
        port.update(speed=f"{RATE}G", pfc={"priorities": [CLASS], "peers": [self._mac(peer)], "buffer": "near", "length": self._meters(peer)})
        config["buffer-profiles"] = [{"name": "near", "xoff": "256K", "min-frame": 1024, "response": 100}]
        config["memory"]["buffers"] = 16384
        relay = {"name": "gw", "port": "dc", "from-speed": f"{RATE}G", **self.relay}
        if "carrier" in self.relay:
            relay["udp-port"] = UDP
        config["pfc-relays"] = [relay]
        return relay

    def _near(self, config, i, far):
        relay = self._pe(config, f"g{i}.east")
        if "carrier" not in self.relay:
            relay["sid"] = DX2 + "/48"
            config["sids"].append({"sid": DX2 + "/48", "behavior": "uDX2", "port": "dc"})
        config["policies"] = [{"name": "over", "paths": [
            {"name": "only", "segments": [uid(self.nodes[far]["id"]), "5f00:0:e001::"]}]}]
        config["vrfs"][0]["routes"] = [{"prefix": f"10.{k + 1}.0.0/24", "policy": "over"} for k in range(self.size)]

    def _far(self, config, i, near):
        relay = self._pe(config, f"g{(i + 1) % self.size}.west")
        at = self.nodes[near]["id"]
        relay["segments"] = [uid(at), f"fd00::{at:x}" if "carrier" in self.relay else DX2]
        self._everywhere(config, f"b{i}", "dc")
        config.pop("policies", None)


def ring(seed, closed, **relay):
    r = random.Random(seed)
    size = r.randint(3, 5)
    net = Ring("relay-ring", [r.randint(1, 10) for _ in range(size)], **relay)
    hops = r.randint(2, size - 1)
    for i in range(size):
        if closed or not 0 < -i % size < hops:  # those pass through g0
            net.flow(f"h{i}", f"h{(i + hops) % size}", name=f"flow{i}", transport="datagram", message=4096, messages=MESSAGES,
                     rate=f"{RATE}G")
    return net


RELAYS = [{"mode": "regenerate"}, {"mode": "transparent"}, {"carrier": "state"}]


@scenario(short=[{"seed": 1 + n, **relay} for n, relay in enumerate(RELAYS)], long=RELAYS, expect=[], violates="deadlock")
def deadlock_relayed(seed, **relay):
    """The gateways wait for each other across the WAN, and the wait-for graph shows it, whatever a relay carries."""
    return ring(seed, True, **relay)


@scenario(short=[{"seed": 1, "mode": "regenerate"}], long=RELAYS, expect=[
    "lost == 0", f"all(f['received'] == {MESSAGES} for f in report['flows'])", "sum(h['pauses_received'] for h in report['hosts']) > 0",
    "sum(p['pauses'] for n in report['nodes'] for p in n['pauses'] if p['direction'] == 'relayed') > 0"])
def deadlock_relayed_open(seed, **relay):
    """The same without what passes through g0: they wait, but not in a circle, and the graph does not mistake it for one."""
    return ring(seed, False, **relay)
