# SPDX-License-Identifier: BSD-3-Clause
"""Two data centres over a WAN, with PFC carried across in every way there is (docs/pfc.md).

    relay   gpu1 - gw1 - pe1 === WAN === pe2 - gw2 - gpu2      draft-he: PEs hand the gateways' PFC on; gw2 has the headroom
    tunnel  gpu1 - pe1 === WAN === pe2 - gpu2                  draft-ruan: pe2 has the headroom and pauses queues of pe1
"""
from net import BLOCK, Net

DX2, XPFC = f"{BLOCK}:e1d2::", f"{BLOCK}:e0f1::"
QUANTA_MAX, QUANTUM_BITS = 65535, 512
FRAME = 9216 + 18


def longest_us(rate):
    """Of one pause at `rate` Gb/s."""
    return QUANTA_MAX * QUANTUM_BITS / rate / 1e3


def refresh_us(rate, hold_min=1000):
    """Time between refreshes that a relay which regenerates lets into the tunnel: of those its gateway says, every half of a
    pause, the first one that comes a third of hold-min or more behind the last."""
    half = longest_us(rate) / 2
    return -(-(hold_min / 3) // half) * half


def headroom(rate, km, more_us=0, rule="full", reaction_us=50, descriptors=1024):
    """Bytes, reckoned from the texts (PROTOCOL.md 5.4): draft-he's rule is that nothing leaves, one way; the full one (D37)
    takes the round trip, reaction, what varies and what is lost (more_us), and frames already begun."""
    per_us = rate * 125
    if rule == "draft-he":
        return int(per_us * km * 5)
    return int(per_us * (2 * km * 5 + reaction_us + more_us)) + (descriptors + 2) * FRAME


def near(rate):
    """Buffers of a port whose neighbour is in the same room."""
    return {"name": "near", "xoff": "256K", "xon": "128K", "min-frame": 1024, "response": 20 if rate > 10 else 100}


def lossless(config, port, peer_mac, rate, buffer="near"):
    """PFC with the neighbour on a port."""
    entry = next(p for p in config["ports"] if p["name"] == port)
    entry.update(speed=f"{rate}G", pfc={"priorities": [3], "peers": [peer_mac], "buffer": buffer})
    profiles = config.setdefault("buffer-profiles", [])
    if buffer == "near" and not any(p["name"] == "near" for p in profiles):
        profiles.append(near(rate))
    return entry


def buffers_for(profiles, ports):
    """Packet buffers that lossless classes of so many bytes need, and a node beside them."""
    return 24576 + 16384 * ports + sum(profiles) // 1024


class Wan:
    """How the WAN is and what is to be proved; see the scenarios for what is varied."""

    def __init__(self, name, scheme="relay", rate=100, km=1000, wan_rate=None, rule="full", more_us=0, xon=None, drain=None,
                 stall=None, run="120ms", mode="regenerate", jitter_us=None, hold_min=1000, far_rate=None, wan=None, flow=None,
                 **lab):
        self.scheme, self.rate, self.km, self.rule, self.mode = scheme, rate, km, rule, mode
        self.far_rate = far_rate or rate
        self.jitter_us, self.hold_min = jitter_us, hold_min
        self.room = headroom(rate, km, more_us, rule)
        self.xon = xon or 0
        self.net = Net(name, run, **lab)
        sink = {"drain": drain or f"{rate}G", "buffer": "16M", "xoff": "1M", "xon": "512K"}
        if stall:
            sink["stalls"] = [{"at": stall[0], "for": stall[1]}]
        self._build(sink, wan_rate or 4 * rate, wan or {})
        self.net.flow("gpu1", "gpu2", **{"queue-pairs": 4, "message": "4M", "timeout": 0, "rate": f"{rate * 240}M", **(flow or {})})

    def _build(self, sink, wan_rate, wan):
        net, gateways = self.net, self.scheme != "tunnel"
        for n in ("gw1", "pe1", "pe2", "gw2") if gateways else ("pe1", "pe2"):
            net.node(n, port={"descriptors": {"tx": 1024}})
        net.host("gpu1", 1, pfc=[3])
        net.host("gpu2", 2, pfc=[3], sink=sink)
        if gateways:
            net.link("gpu1.eth0", "gw1.dc", rate=f"{self.far_rate}G").link("gw1.pe", "pe1.dc", rate=f"{self.far_rate}G", plain=True)
        else:
            net.link("gpu1.eth0", "pe1.dc", rate=f"{self.far_rate}G")
        net.link("pe1.wan", "pe2.wan", rate=f"{wan_rate}G", km=self.km, **wan)
        if gateways:
            net.link("pe2.dc", "gw2.pe", rate=f"{self.rate}G", plain=True).link("gw2.dc", "gpu2.eth0", rate=f"{self.rate}G")
        else:
            net.link("pe2.dc", "gpu2.eth0", rate=f"{self.rate}G")
        for n in net.nodes:
            net.tune(n, getattr(self, f"_{self.scheme}_{n}", self._nothing) if self.scheme != "best-effort"
                     else self._best_effort(n))

    def _nothing(self, config):
        pass

    def _mac(self, end):
        return self.net._mac(end)

    def _room(self, config, ports):
        config["buffer-profiles"].append({"name": "wan", "xoff": max(self.xon, 1 << 20), "xon": self.xon or 512 * 1024,
                                          "headroom": self.room, "min-frame": 1024})
        config["memory"]["buffers"] = buffers_for([max(self.xon, 1 << 20), self.room], ports)

    # the gateways: they hear the PE and their data centre, and tell them

    def _relay_gw1(self, config):
        lossless(config, "dc", self._mac("gpu1.eth0"), self.far_rate)
        lossless(config, "pe", self._mac("pe1.dc"), self.far_rate)
        config["memory"]["buffers"] = buffers_for([], 4)

    def _relay_gw2(self, config):
        lossless(config, "dc", self._mac("gpu2.eth0"), self.rate)
        lossless(config, "pe", self._mac("pe2.dc"), self.rate, "wan")
        self._room(config, 4)

    def _relay(self, config, far, peer_mac, rate, from_rate):
        lossless(config, "dc", peer_mac, rate)
        config["memory"]["buffers"] = buffers_for([], 2)
        config["sids"].append({"sid": DX2 + "/48", "behavior": "uDX2", "port": "dc"})
        relay = {"name": "gw", "port": "dc", "sid": DX2 + "/48", "mode": self.mode, "from-speed": f"{from_rate}G",
                 "hold-min": self.hold_min, "segments": [f"{BLOCK}:{self.net.nodes[far]['id']:x}::", DX2]}
        if self.jitter_us is not None:
            relay["jitter"] = int(self.jitter_us)
        config["pfc-relays"] = [relay]

    def _relay_pe1(self, config):
        self._relay(config, "pe2", self._mac("gw1.pe"), self.far_rate, self.rate)

    def _relay_pe2(self, config):
        self._relay(config, "pe1", self._mac("gw2.pe"), self.rate, self.far_rate)

    def _best_effort(self, node):
        """PFC ends at the gateways: pauses are heard where they are said, and nobody is told in front of the WAN."""
        def tune(config):
            near_side = {"gw1": [("dc", "gpu1.eth0", self.far_rate)], "gw2": [("dc", "gpu2.eth0", self.rate)]}.get(node, ())
            for port, peer, rate in near_side:
                lossless(config, port, self._mac(peer), rate)
        return tune

    # draft-ruan: End.X.PFC at pe1, buffers and the tunnel's head at pe2

    def _tunnel_pe1(self, config):
        lossless(config, "dc", self._mac("gpu1.eth0"), self.far_rate)
        wan = next(p for p in config["ports"] if p["name"] == "wan")
        wan["speed"] = f"{self.far_rate}G"
        config["memory"]["buffers"] = buffers_for([], 2)
        config["sids"].append({"sid": XPFC + "/48", "behavior": "uA.PFC", "port": "wan", "nexthop": self.net._local("pe2.wan")})

    def _tunnel_pe2(self, config):
        lossless(config, "dc", self._mac("gpu2.eth0"), self.rate)
        lossless(config, "wan", self._mac("pe1.wan"), self.rate, "wan")
        self._room(config, 2)
        config["pfc-tunnels"] = [{"name": "to-pe1", "port": "wan", "priorities": [3], "far-speed": f"{self.far_rate}G",
                                  "segments": [f"{BLOCK}:{self.net.nodes['pe1']['id']:x}::", XPFC]}]
