# SPDX-License-Identifier: BSD-3-Clause
"""Sixteen slices share a WAN, all sending more than their share; one of them misbehaves. The others must not notice.

    s0 ... s15 - gw1 === WAN === gw2 - d0 ... d15        slice g0 ... g15, from si to di

gw1 has an End.X.PFC SID for every slice of its WAN port; with `tunnels` gw2 has PFC tunnels that end there. The seed draws how
long the WAN is, how long the datagrams of each slice are, when each begins and when the receiver stalls.
"""
import random
import struct

from net import BLOCK, Net, uid
from suite import scenario

SLICES, BAD = 16, 7
PORT = {"mtu": 4400, "descriptors": {"rx": 256, "tx": 64}, "buffer-limit": 1024, "queue-limit": 64, "control-limit": 64}
LOSSLESS = ["all(n['reasons'].get('headroom_exceeded', 0) == 0 for n in report['nodes'])"]
GOODPUT = "Goodput of hosts: payload received in order"


def unharmed(begin, end):
    """During the stall the other slices have the same goodput as without it."""
    others = [i for i in range(SLICES) if i != BAD]
    return [f"mean('{GOODPUT}', 'd{i}', {begin}, {end}) >= 0.99 * base.mean('{GOODPUT}', 'd{i}', {begin}, {end}) > 0" for i in others] + [
        f"flow('f{i}').received == flow('f{i}').sent" for i in others]


def service(i):
    return f"{BLOCK}:{0xe100 + i:x}::"


def pauses(i):
    """End.X.PFC of slice i at gw1."""
    return f"{BLOCK}:{0xe200 + i:x}::"


class Slices(Net):
    def __init__(self, run, rate, tunnels, count=SLICES, name="slices", delay="100us", **lab):
        super().__init__(name, run, **lab)
        self.tunnels, self.count = tunnels, count
        for node in ("gw1", "gw2"):
            self.node(node, pfc=[3], port=PORT, memory={"buffers": 40960, "ring": 128}, cycles=20)
            self.tune(node, self._slices)
        self.tune("gw1", self._headend).tune("gw2", self._tail)
        for i in range(self.count):
            self.host(f"s{i}", i + 1, pfc=[3]).link(f"s{i}.eth0", f"gw1.s{i}", rate=rate)
            self.host(f"d{i}", i + 101, pfc=[3], sink={"drain": rate, "buffer": "1M", "xoff": "128K", "xon": "64K"})
            self.link(f"gw2.d{i}", f"d{i}.eth0", rate=rate)
        self.link("gw1.wan", "gw2.wan", rate=rate, delay=delay)

    def host(self, name, subnet, **keys):
        super().host(name, subnet, **keys)
        return self

    def _slices(self, config):
        config["slices"] = [{"name": f"g{i}"} for i in range(self.count)]
        for p in config["ports"]:
            if p["side"] == "dc":
                p["slice"] = f"g{p['name'][1:]}"
        config.pop("policies", None)
        config["sids"] = [s for s in config["sids"] if s["behavior"] != "uDT46"]

    def _headend(self, config):
        config["policies"] = [{"name": f"p{i}", "paths": [{"name": "only", "segments": [uid(self.nodes["gw2"]["id"]), service(i)]}]}
                              for i in range(self.count)]
        config["vrfs"][0]["routes"] = [{"prefix": f"10.{101 + i}.0.0/24", "policy": f"p{i}"} for i in range(self.count)]
        config["sids"] += [{"sid": pauses(i) + "/48", "behavior": "uA.PFC", "port": "wan", "nexthop": self._local("gw2.wan"),
                            "slice": f"g{i}"} for i in range(self.count)]
        # no other slice may suffer, however long the pause lasts; the watchdog would end it
        next(p for p in config["ports"] if p["name"] == "wan").setdefault("pfc", {})["watchdog"] = {"action": "alert"}

    def _tail(self, config):
        vrf = config["vrfs"][0]
        vrf["routes"] = [r for r in vrf["routes"] if "port" in r]
        config["sids"] += [{"sid": service(i) + "/48", "behavior": "uDT46", "vrf": "ai", "slice": f"g{i}"} for i in range(self.count)]
        if self.tunnels:
            config["pfc-tunnels"] = [{"name": f"t{i}", "port": "wan", "slice": f"g{i}", "priorities": [3],
                                      "segments": [uid(self.nodes["gw1"]["id"]), pauses(i)]} for i in range(self.count)]

    def storm(self, at, every, repeat):
        """A node of the domain repeatedly sends XOFF for the bad slice to gw1."""
        self.host("mallory", 200).link("gw2.m", "mallory.eth0", rate="100M")
        self.hosts["mallory"]["keys"]["send"] = [{"at": at, "every": every, "repeat": repeat, "frame": self._xoff()}]
        self.tune("gw2", self._trusted)

    def _trusted(self, config):
        port = next(p for p in config["ports"] if p["name"] == "m")
        for key in ("vrf", "pfc", "slice"):
            port.pop(key, None)
        port.update(side="wan", addresses=["fe80::99/64"])
        config["neighbors"] = [n for n in config["neighbors"] if n["port"] != "m"]
        config["vrfs"][0]["routes"] = [r for r in config["vrfs"][0]["routes"] if r.get("port") != "m"]

    def datagram(self, dscp):
        """The shortest frame from the bad slice's host to its peer."""
        source, to = (bytes(int(x) for x in self.hosts[f"{h}{BAD}"]["address"].split(".")) for h in "sd")
        ip = struct.pack(">BBHHHBBH", 0x45, dscp << 2, 46, 0, 0, 64, 17, 0) + source + to
        total = sum(struct.unpack(">10H", ip))
        total = (total & 0xffff) + (total >> 16)
        ip = ip[:10] + struct.pack(">H", ~total & 0xffff) + ip[12:]
        macs = bytes.fromhex((self._mac(f"gw1.s{BAD}") + self._mac(f"s{BAD}.eth0")).replace(":", ""))
        return (macs + b"\x08\0" + ip + struct.pack(">4H", 7, 9, 26, 0) + bytes(18)).hex()

    def _xoff(self):
        to = bytes.fromhex(self._mac("gw2.m").replace(":", ""))
        source = bytes.fromhex("fd00" + "0" * 26 + "99")
        target = struct.pack(">8H", 0x5f00, 0, self.nodes["gw1"]["id"], 0xe200 + BAD, 0, 0, 0, 0)
        pfc = bytes.fromhex("0180c2000001" + "02000000aaaa" + "8808" + "0101" + "0008" + "0000" * 3 + "ffff").ljust(60, b"\0")
        ip = struct.pack(">IHBB", 0x6e000000, len(pfc), 143, 64) + source + target
        return (to + bytes.fromhex("02000000bbbb86dd") + ip + pfc).hex()


def slices(seed, run, rate, tunnels=False, **keys):
    r = random.Random(seed)
    net = Slices(run, rate, tunnels, drain="10s", **{"delay": f"{r.randrange(20, 200)}us", **keys})
    share = int(rate.rstrip("MG")) * {"M": 1000, "G": 1000000}[rate[-1]] // SLICES
    for i in range(SLICES):
        net.flow(f"s{i}", f"d{i}", name=f"f{i}", transport="datagram", message=r.choice([1024, 2048, 3072, 4096]),
                 start=f"{r.randrange(100)}ms", rate=f"{share * 2}K")
    return net


def stall(net, seed):
    """The receiver of the bad slice takes nothing for two seconds."""
    net.hosts[f"d{BAD}"]["keys"]["sink"]["stalls"] = [{"at": f"{random.Random(seed).randrange(400, 700)}ms", "for": "2s"}]


@scenario(short=[{"what": "storm"}], expect=[*unharmed(2000, 60000), *LOSSLESS, f"gate('gw1', 'wan', 3, {BAD + 1}).paused_ns >= 59e9",
                                            f"flow('f{BAD}').received < 0.1 * base.flow('f{BAD}').received"], against={"what": None}, seeds=0.1)
def isolation_storm(what, seed=1):
    """A pause storm of 60 s in one slice of a WAN port: the other slices lose nothing of their throughput."""
    net = slices(seed, "62s", "10M")
    if what:
        net.storm("1s", "500ms", 120)
    return net


@scenario(short=[{"what": "stall"}], expect=[*unharmed(1000, 2500), *LOSSLESS, "lost == 0", f"pause('gw2', 'tunnel', 't{BAD}').total_ns >= 15e8",
                                            f"flow('f{BAD}').received < 0.8 * base.flow('f{BAD}').received"], against={"what": None}, seeds=0.1)
def isolation_stall(what, seed=1):
    """A receiver of one slice stalls: draft-ruan's tunnels stop that slice in front of the WAN, and no other."""
    net = slices(seed, "3s", "100M", tunnels=True)
    if what:
        stall(net, seed)
    return net


@scenario(short=[{"selective": "auto"}, {"selective": "100K"}], against={"stalls": False}, seeds=0.1,
          expect=lambda selective: [
              *LOSSLESS, "lost == 0", f"pause('gw2', 'tunnel', 't{BAD}').total_ns >= 15e8",
              *(unharmed(1000, 2500) if selective == "auto" else
                [f"mean('{GOODPUT}', 'd{i}', 1500, 2400) < 0.1 * base.mean('{GOODPUT}', 'd{i}', 1500, 2400)" for i in range(SLICES)])])
def isolation_greedy(selective, stalls=True, seed=1):
    """A slice that used most of a long line stalls: by default what it had under way fits above XOFF, before all are stopped
    (`selective`), and no other slice notices; where it does not fit, all stop (negative control), but nothing is lost."""
    net = slices(seed, "3s", "100M", tunnels=True, delay="10ms")
    for i, flow in enumerate(net.flows):
        flow.update({"rate": "100M"} if i == BAD else {"rate": "2M", "message": 256})

    def room(config):
        config["buffer-profiles"].append({"name": "wan", "min-frame": 1024, "selective": selective})
        next(p for p in config["ports"] if p["name"] == "wan")["pfc"]["buffer"] = "wan"
    net.tune("gw2", room)
    if stalls:
        stall(net, seed)
    return net


def stalls_expect(count, stalled):
    """Those that stand still stop, the others do not; and all that was sent arrives in the end."""
    others = range(stalled, count)
    return [*LOSSLESS, "lost == 0", *(f"flow('f{i}').received == flow('f{i}').sent" for i in range(count)),
            *(f"pause('gw2', 'tunnel', 't{i}').total_ns >= 1e8" for i in range(stalled)),
            *(f"mean('{GOODPUT}', 'd{i}', 180, 340) >= 0.99 * base.mean('{GOODPUT}', 'd{i}', 180, 340) > 0" for i in others)]


@scenario(short=[{"count": 16, "stalled": 2}, {"count": 16, "stalled": 15}], against={"stalled": 0}, seeds=0.2, expect=stalls_expect,
          long=[{"count": n, "stalled": k} for n, k in ((16, 1), (16, 2), (16, 3), (16, 8), (16, 15), (4, 3), (7, 5), (25, 20), (31, 30))])
def isolation_stalls(count, stalled, seed=1):
    """Any number of slices stands still, with the defaults: the others keep 99 % of their throughput and more."""
    r = random.Random(seed * 1000 + count)
    gbps = r.choice([1, 2, 3]) * max(1, count // 16)
    lcores = r.choice([{"rx": [1], "worker": [1]}, {"rx": [1], "worker": [2]}, {"rx": [1, 2], "worker": [2, 3]}])
    net = Slices("400ms", f"{gbps}G", True, count, delay=f"{r.choice([20, 200, 1000, 3000]) * r.randrange(90, 110) // 100}us", drain="5s")
    for node in ("gw1", "gw2"):
        net.nodes[node].update(lcores={"control": 0, **lcores}, memory={"buffers": 262144 * max(1, count // 16), "ring": 128})
    for i in range(count):
        net.flow(f"s{i}", f"d{i}", name=f"f{i}", transport="datagram", message=r.choice([1024, 2048, 4096]), start=f"{r.randrange(20)}ms",
                 rate=f"{gbps * r.randrange(1000, 2000) // count}M")
    for i in range(count):
        begin = r.randrange(60, 140)
        if i < stalled:
            net.hosts[f"d{i}"]["keys"]["sink"]["stalls"] = [{"at": f"{begin}ms", "for": "250ms"}]
    # gw2's ports to the hosts are paused for 250 ms; their watchdog would end it

    def patient(config):
        for p in config["ports"]:
            p["pfc"]["watchdog"] = {"action": "alert"}
    net.tune("gw1", patient).tune("gw2", patient)
    return net


class Sources(Net):
    """a and b, far from g and from each other, send to hosts of g in one slice; g knows them by their addresses."""

    def __init__(self, us):
        super().__init__("sources", "400ms", drain="5s")
        for n in ("a", "b", "m", "g"):
            self.node(n, pfc=[3], port=PORT, memory={"buffers": 196608, "ring": 128})
        for n, subnet in (("a", 1), ("b", 2)):
            self.host(f"h{n}", subnet, pfc=[3])
            self.host(f"d{n}", subnet + 100, pfc=[3], sink={"drain": "10G", "buffer": "1M", "xoff": "128K", "xon": "64K"})
            self.link(f"h{n}.eth0", f"{n}.dc", rate="10G").link(f"{n}.east", f"m.{n}", rate="10G", delay=f"{us}us")
            self.link(f"g.d{n}", f"d{n}.eth0", rate="10G")
            self.tune(n, lambda c, n=n: self._stops(c, n))
        self.link("m.east", "g.west", rate="10G")
        self.us = us
        self.tune("g", self._tunnels)

    def host(self, name, subnet, **keys):
        super().host(name, subnet, **keys)
        return self

    def _stops(self, config, n):
        config["sids"].append({"sid": f"{BLOCK}:e0f1::/48", "behavior": "uA.PFC", "port": "east", "nexthop": self._local(f"m.{n}")})

    def _tunnels(self, config):
        next(p for p in config["ports"] if p["name"] == "west")["pfc"].update(length=self.us * 200 + 200, buffer="wan")
        # XOFF long before the receiver goes on; XON as it is by default would take the whole stall to fill
        config["buffer-profiles"].append({"name": "wan", "min-frame": 1024, "response": 5, "xoff": "512K", "xon": "256K"})
        config["pfc-tunnels"] = [{"name": f"to-{n}", "port": "west", "priorities": [3], "source": f"fd00::{self.nodes[n]['id']:x}",
                                  "segments": [uid(self.nodes["m"]["id"]), uid(self.nodes[n]["id"]), f"{BLOCK}:e0f1::"]} for n in "ab"]


@scenario(short=[{"stalls": True}], against={"stalls": False}, seeds=0.2,
          expect=[*LOSSLESS, "lost == 0", "pause('g', 'tunnel', 'to-a').total_ns >= 1e8", "pause('g', 'tunnel', 'to-b').pauses == 0",
                  "flow('fb').received == flow('fb').sent", "flow('fa').received == flow('fa').sent",
                  f"mean('{GOODPUT}', 'db', 120, 300) >= 0.99 * base.mean('{GOODPUT}', 'db', 120, 300) > 0"])
def isolation_far_sources(stalls, seed=1):
    """The receiver of what a sends stands still; b, far away as well, is not stopped: whether a was enough is seen when what a had
    under way has arrived, after a round trip of this line, not after a fixed time."""
    r = random.Random(seed)
    net = Sources(r.randrange(8000, 15000))
    net.flow("ha", "da", name="fa", transport="datagram", message=4096, rate=f"{r.randrange(600, 800)}M")
    net.flow("hb", "db", name="fb", transport="datagram", message=4096, rate=f"{r.randrange(200, 300)}M")
    if stalls:
        net.hosts["da"]["keys"]["sink"]["stalls"] = [{"at": f"{r.randrange(60, 100)}ms", "for": "190ms"}]
    return net


def flood_expect(what):
    """A sender that ignores pauses fills only the buffer of its own port and class; if lossy, a queue."""
    dropped = {"obeys": "lost == 0", "lossless": "reason('gw1', 'headroom_exceeded') > 1000", "lossy": "reason('gw1', 'queue_full') > 1000"}
    return [*unharmed(500, 4000), *(LOSSLESS if what == "lossy" else []), dropped[what], f"host('s{BAD}').sent > 10000",
            "reason('gw2', 'headroom_exceeded') == 0", "way('gw1.wan').delivered > 1.2 * base.way('gw1.wan').delivered"]


FLOWS = "Goodput of flows: payload received in order"
LINE = 24 + 14 + 40 + 20 + 8 + 12 + 4  # bytes of the WAN that a datagram takes beside its payload


def promised_expect(promises=True, **_):
    # long enough for what is smallest: a slice of 9 Mb/s sends 800 KB, and a round of 12 slices takes 3 ms
    gets = f"mean('{FLOWS}', f['name'], 40, 400) * 1e6"
    if not promises:
        return [*LOSSLESS, f"any({gets} < 0.7 * number(f['name']) for f in report['flows'])"]
    return [*LOSSLESS, f"all(0.97 * number(f['name']) < {gets} < 1.03 * number(f['name']) for f in report['flows'])"]


@scenario(short=[{"seed": 1}, {"seed": 2}, {"seed": 2, "promises": False}], long=[{}, {"promises": False}], seeds=5, expect=promised_expect)
def min_rate(promises=True, seed=1):
    """Slices that all send as fast as they can share a WAN: each gets its `min-rate`, and its weight's part of what the promises
    leave. Number, weights, promises and lengths of datagrams are drawn. Without `min-rate` some get much less."""
    r, rate = random.Random(seed), 1000
    count = r.choice([2, 3, 5, 8, 12])
    weights = [1] + [r.choice([1, 2, 4]) for _ in range(count - 1)]
    # the first is promised much more than its weight's part, others may be promised something
    promise = [r.uniform(0.6, 0.7) * rate] + [r.choice([0, 0, r.uniform(0.02, 0.2) * rate / count]) for _ in weights[1:]]
    promise = [int(p) for p in promise]
    net = Slices("400ms", f"{rate}M", False, count, name="min-rate", delay=f"{r.randrange(1, 200)}us", drain="10s")

    def slices_of(config):
        config["slices"] = [{**s, "weight": w, **({"min-rate": f"{p}M"} if p and promises else {})}
                            for s, w, p in zip(config["slices"], weights, promise)]
    for node in ("gw1", "gw2"):
        net.tune(node, slices_of)
    for i, (w, p) in enumerate(zip(weights, promise)):
        message = r.choice([256, 1024, 2048, 4096])
        due = (p + (rate - sum(promise)) * w / sum(weights)) * message / (message + LINE)
        net.flow(f"s{i}", f"d{i}", name=f"f{i}-{int(1000 * due)}", transport="datagram", message=message, rate=f"{rate}M")
    return net


@scenario(short=[{"what": "stall"}], against={"what": None}, seeds=0.1,
          expect=[*LOSSLESS, "lost == 0", *(f"mean('{GOODPUT}', 'd{i}', 1000, 2500) < 0.1 * base.mean('{GOODPUT}', 'd{i}', 1000, 2500)"
                                            for i in range(SLICES) if i != BAD)])
def isolation_none_on_links(what, seed=1):
    """Negative control: PFC on the WAN link itself knows no slices, and one stalled receiver stops them all."""
    net = slices(seed, "3s", "100M")
    if what:
        stall(net, seed)
    return net


@scenario(short=[{"what": w} for w in ("obeys", "lossless", "lossy")], expect=flood_expect, against={"what": None}, seeds=0.1)
def isolation_flood(what, seed=1):
    """One slice floods the WAN with the shortest frames at line rate, obeying PFC or not."""
    net = slices(seed, "4s", "100M")
    if what == "obeys":
        net.flows[BAD].update(message=64, rate="100M")
    elif what:
        net.hosts[f"s{BAD}"]["keys"]["send"] = [{"at": "0ms", "every": "7us", "repeat": 4000000 // 7,
                                                 "frame": net.datagram(26 if what == "lossless" else 0)}]
        net.flows[BAD].update(messages=1)
    return net
