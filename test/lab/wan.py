# SPDX-License-Identifier: BSD-3-Clause
"""Two data centres over a WAN, with PFC carried across in every way there is (docs/pfc.md).

    best-effort  gpu1 - gw1 - pe1 === WAN === pe2 - gw2 - gpu2  PFC ends at the gateways
    relay        the same                                       draft-he: PEs hand the gateways' PFC on; gw2 has the headroom
    hosts        gpu1 - pe1 === WAN === pe2 - gpu2              draft-he again; hosts stand for gateways, gpu2 has the headroom
    tunnel       gpu1 - pe1 === WAN === pe2 - gpu2              draft-ruan: pe2 has the headroom and pauses queues of pe1
"""
from net import BLOCK, Net

DX2, XPFC = f"{BLOCK}:e1d2::", f"{BLOCK}:e0f1::"
QUANTA_MAX, QUANTUM_BITS = 65535, 512
FRAME = 9216 + 18
TX = 256  # transmit descriptors: the most frames that a PFC frame waits for


def longest_us(rate):
    """Of one pause at `rate` Gb/s."""
    return QUANTA_MAX * QUANTUM_BITS / rate / 1e3


def refresh_us(rate, mode="regenerate", hold_min=1000):
    """Time between refreshes in the tunnel. A gateway sends one every half of a pause; where the far PE regenerates, the
    near one passes the first that arrives at least a third of hold-min after the last."""
    half = longest_us(rate) / 2
    return half if mode != "regenerate" else -(-(hold_min / 3) // half) * half


REACTION_US = 50


def headroom(rate, km, more_us=0, rule="full", reaction_us=REACTION_US + 5):
    """Bytes, reckoned from the texts: by draft-he's rule, nothing leaving and one way; by the full one (D37) the round trip,
    reaction, what varies and what is lost (more_us), and frames already begun. For what nodes are not left to reckon."""
    per_us = rate * 125
    if rule == "draft-he":
        return int(per_us * km * 5)
    return int(per_us * (2 * km * 5 + reaction_us + more_us)) + (2 * TX + 2) * FRAME


def peers(config, port, mac, rate, buffer="near"):
    """PFC with the neighbour on a port; near: in the same room."""
    entry = next(p for p in config["ports"] if p["name"] == port)
    entry.update(speed=f"{rate}G", pfc={"priorities": [3], "peers": [mac], "buffer": buffer})
    profiles = config.setdefault("buffer-profiles", [])
    if buffer == "near" and not any(p["name"] == "near" for p in profiles):
        profiles.append({"name": "near", "xoff": "256K", "xon": "128K", "min-frame": 1024, "response": 20 if rate > 10 else 100})


class Wan:
    """rate: Gb/s in the data centre that is congested, far_rate: in the other one, wan_rate: between them; rule, more_us: see
    headroom(); xon: bytes left in the buffer when XON is sent; drain, stall: of the receiver; wan: keys of the WAN link;
    middle: a node halfway, with the rate of its link towards pe1; jitter_us: of the relay or of the End.X.PFC SID; outage: of that SID, in ms; hold_min,
    mode: of the relay."""

    def __init__(self, name, scheme="relay", rate=100, km=1000, wan_rate=None, rule="full", more_us=0, xon=None, drain=None,
                 stall=None, run="120ms", mode="regenerate", jitter_us=None, hold_min=1000, far_rate=None, middle=None, wan=None,
                 flow=None, sends=(), detect=None, outage=None, **lab):
        self.scheme, self.rate, self.far_rate, self.km, self.mode = scheme, rate, far_rate or rate, km, mode
        self.jitter_us, self.hold_min, self.outage = jitter_us, hold_min, outage
        self.watchdog = {"watchdog": {"detect": detect}} if detect else {}  # in ms, for stalls longer than its default
        self.rule, self.more_us, self.room = rule, more_us, headroom(rate, km, more_us, rule)
        self.xon = xon or 512 * 1024
        self.net = Net(name, run, **lab)
        sink = {"drain": drain or f"{rate}G", "buffer": 16 << 20, "xoff": 1 << 20, "xon": 512 * 1024}
        if scheme == "hosts":
            sink.update(xoff=self.xon + 512 * 1024, xon=self.xon, buffer=self.xon + 512 * 1024 + self.room)
        if stall:
            sink["stalls"] = [{"at": stall[0], "for": stall[1]}]
        self._build(sink, wan_rate or 4 * max(rate, self.far_rate), middle, wan or {}, list(sends))
        self.net.flow("gpu1", "gpu2", **{"queue-pairs": 4, "message": "4M", "timeout": 0, "rate": f"{int(rate * 240)}M", **(flow or {})})

    def _build(self, sink, wan_rate, middle, wan, sends):
        net, gateways = self.net, self.scheme in ("relay", "best-effort")
        near, far = f"{self.rate}G", f"{self.far_rate}G"
        for n in ("gw1", "pe1", "pe2", "gw2") if gateways else ("pe1", "pe2"):
            net.node(n, port={"descriptors": {"tx": TX}})
        net.host("gpu1", 1, pfc=[3])
        net.host("gpu2", 2, pfc=[3], sink=sink, **({"send": sends} if sends else {}))
        if gateways:
            net.link("gpu1.eth0", "gw1.dc", rate=far).link("gw1.pe", "pe1.dc", rate=far, plain=True)
            net.link("pe2.dc", "gw2.pe", rate=near, plain=True).link("gw2.dc", "gpu2.eth0", rate=near)
        else:
            net.link("gpu1.eth0", "pe1.dc", rate=far).link("pe2.dc", "gpu2.eth0", rate=near)
        if middle:
            net.node("p", port={"descriptors": {"tx": TX}})
            net.link("pe1.wan", "p.west", rate=f"{middle}G", km=self.km // 2, **wan)
            net.link("p.east", "pe2.wan", rate=f"{wan_rate}G", km=self.km - self.km // 2)
        else:
            net.link("pe1.wan", "pe2.wan", rate=f"{wan_rate}G", km=self.km, **wan)
        for n in net.nodes:
            net.tune(n, getattr(self, f"_{self.scheme.replace('-', '_')}_{n}", self._buffers))

    def _buffers(self, config, near=0, most=0):
        """As few packet buffers as suffice, because a run allocates all of them at the start: `near` of its ports have a lossless class and a
        neighbour in the room, another one `most` bytes."""
        config["memory"]["buffers"] = 4200 + 3100 * len(config["ports"]) + 5500 * near + most // 1024

    def _room(self, config, port, near):
        """The buffer at the end of the WAN: full headroom as the node itself reckons it, draft-he's in bytes."""
        profile = {"name": "wan", "xoff": self.xon + 512 * 1024, "xon": self.xon, "headroom": self.room, "min-frame": 1024}
        if self.rule != "full":
            profile["forced"] = True
        else:
            profile.update(headroom="auto", response=REACTION_US, jitter=int(self.more_us))
            next(p for p in config["ports"] if p["name"] == port)["pfc"].update({"length": self.km * 1000, "peer-descriptors": TX})
        config["buffer-profiles"].append(profile)
        # of tunnels, an eighth more: the threshold above which all are paused
        self._buffers(config, near, self.xon + 512 * 1024 + self.room * 9 // 8)

    def _peers(self, config, port, end, rate, buffer="near"):
        peers(config, port, self.net._mac(end), rate, buffer)
        next(p for p in config["ports"] if p["name"] == port)["pfc"]["length"] = self.net._meters(end)

    # the gateways: they obey and send PFC towards the PE and their data centre

    def _best_effort_gw1(self, config):
        self._peers(config, "dc", "gpu1.eth0", self.far_rate)
        self._buffers(config, 1)

    def _best_effort_gw2(self, config):
        self._peers(config, "dc", "gpu2.eth0", self.rate)
        self._buffers(config, 1)

    def _relay_gw1(self, config):
        self._best_effort_gw1(config)
        self._peers(config, "pe", "pe1.dc", self.far_rate)
        self._buffers(config, 2)

    def _relay_gw2(self, config):
        self._best_effort_gw2(config)
        self._peers(config, "pe", "pe2.dc", self.rate, "wan")
        self._room(config, "pe", 1)

    # the PEs of draft-he

    def _relay(self, config, far, peer, rate, from_rate):
        self._peers(config, "dc", peer, rate)
        self._buffers(config, 1)
        config["sids"].append({"sid": DX2 + "/48", "behavior": "uDX2", "port": "dc"})
        relay = {"name": "gw", "port": "dc", "sid": DX2 + "/48", "mode": self.mode, "from-speed": f"{from_rate}G",
                 "hold-min": self.hold_min, **self.watchdog,
                 "segments": [f"{BLOCK}:{self.net.nodes[far]['id']:x}::", DX2]}
        if self.jitter_us is not None:
            relay["jitter"] = int(self.jitter_us)
        config["pfc-relays"] = [relay]

    def _relay_pe1(self, config):
        self._relay(config, "pe2", "gw1.pe", self.far_rate, self.rate)

    def _relay_pe2(self, config):
        self._relay(config, "pe1", "gw2.pe", self.rate, self.far_rate)

    def _hosts_pe1(self, config):
        self._relay(config, "pe2", "gpu1.eth0", self.far_rate, self.rate)

    def _hosts_pe2(self, config):
        self._relay(config, "pe1", "gpu2.eth0", self.rate, self.far_rate)

    # draft-ruan: End.X.PFC at pe1, buffers and the tunnel's head at pe2

    def _tunnel_pe1(self, config):
        self._peers(config, "dc", "gpu1.eth0", self.far_rate)
        # replies come in by a port without PFC: they are lossy, and a start stops their queue for as long as its host may pause
        next(p for p in config["ports"] if p["name"] == "dc")["queue-limit"] = 1536
        wan = next(p for p in config["ports"] if p["name"] == "wan")
        wan["speed"] = f"{self.far_rate}G"
        if self.watchdog:
            wan["pfc"] = dict(self.watchdog)
        self._buffers(config, 1)
        nexthop = next(r["nexthop"] for r in config["routes"] if r["port"] == "wan")
        config["sids"].append({"sid": XPFC + "/48", "behavior": "uA.PFC", "port": "wan", "nexthop": nexthop,
                               **({"jitter": int(self.jitter_us)} if self.jitter_us is not None else {}),
                               **({"outage": self.outage} if self.outage is not None else {})})

    def _tunnel_pe2(self, config):
        self._peers(config, "dc", "gpu2.eth0", self.rate)
        wan = next(n for n in config["neighbors"] if n["port"] == "wan")
        peers(config, "wan", wan["mac"], self.rate, "wan")
        self._room(config, "wan", 1)
        config["pfc-tunnels"] = [{"name": "to-pe1", "port": "wan", "priorities": [3], "far-speed": f"{self.far_rate}G",
                                  "segments": [f"{BLOCK}:{self.net.nodes['pe1']['id']:x}::", XPFC]}]
