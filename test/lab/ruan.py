# SPDX-License-Identifier: BSD-3-Clause
"""draft-ruan's figures 2 and 3: End.X.PFC tunnels along a chain, and two congested nodes behind one interface."""
import random

from net import BLOCK, Net, uid
from suite import scenario

XPFC = f"{BLOCK}:e0f1::"
RATE, FRAME, RING = 10, 4400 + 18, 64
PORT = {"mtu": 4400, "descriptors": {"rx": 256, "tx": RING}}
SINK = {"drain": f"{RATE}G", "buffer": "2M", "xoff": "128K", "xon": "64K"}
REACTION_US = 60


class Ruan(Net):
    """Nodes in a row or a fork, every link of RATE; capable ones are joined by tunnels against the data."""

    def __init__(self, name, nodes, run, **lab):
        super().__init__(name, run, drain="200ms", **lab)
        for n in nodes:
            self.node(n, port=PORT, memory={"buffers": 16384, "ring": 128})

    def edge(self, node, host, subnet, **keys):
        """A host with PFC behind a node's port of its name."""
        self.host(host, subnet, pfc=[3], **keys)
        self.link(f"{node}.{host}", f"{host}.eth0", rate=f"{RATE}G")
        return self.tune(node, lambda c: self._lossless(c, host, f"{host}.eth0", {"name": "edge", "xoff": "256K", "xon": "128K"}))

    def _lossless(self, config, port, peer, profile):
        entry = next(p for p in config["ports"] if p["name"] == port)
        entry.update(speed=f"{RATE}G", pfc={"priorities": [3], "peers": [self._mac(peer)], "buffer": profile["name"],
                                              "length": self._meters(peer)})
        profiles = config.setdefault("buffer-profiles", [])
        if not any(p["name"] == profile["name"] for p in profiles):
            profiles.append({"min-frame": 1024, **profile})

    def tunnel(self, down, port, up, to, via, us, xoff="128K"):
        """The traffic received on down.port that fills its buffer is paused at up.to, the nearest capable node before it. `via`: the
        node between; us: one way."""
        peer = self.nodes[down]["ports"][port]
        room = int(RATE * 125 * (2 * us + REACTION_US)) + (3 if via else 2) * RING * FRAME

        def head(config):
            self._lossless(config, port, peer, {"name": "wan", "xoff": xoff, "xon": "64K", "headroom": room, "forced": True})
            config["pfc-tunnels"] = [{"name": f"to-{up}", "port": port, "priorities": [3],
                                      "segments": [uid(self.nodes[n]["id"]) for n in [*via, up]] + [XPFC]}]

        def end(config):
            next(p for p in config["ports"] if p["name"] == to)["speed"] = f"{RATE}G"
            if not any(s["behavior"] == "uA.PFC" for s in config["sids"]):
                config["sids"].append({"sid": XPFC + "/48", "behavior": "uA.PFC", "port": to,
                                       "nexthop": self._local(self.nodes[up]["ports"][to])})
        return self.tune(down, head).tune(up, end)


def chain_expect(stall, **_):
    always = ["lost == 0", "flow().received == flow().sent", "reason('r2', 'pfc') == 0", "gate('r3', 'east').pauses > 0",
              "pause('r4', 'tunnel', 'to-r3').pauses > 0",
              # step d: a node sends PFC if, and only if, its own buffer has crossed its threshold
              *(f"(buffer('{n}', '{port}').xoffs > 0) == ({said}.pauses > 0)" for n, port, said in (
                  ("r4", "west", "pause('r4', 'tunnel', 'to-r3')"), ("r3", "west", "pause('r3', 'tunnel', 'to-r1')"),
                  ("r1", "h1", "pause('r1', 'said', 'h1')")))]
    if stall == "short":
        return [*always, "buffer('r3', 'west').most_bytes > 0", "gate('r1', 'east').pauses == 0", "reason('r1', 'pfc') == 0",
                "host('h1').pauses_received == 0"]
    return [*always, "gate('r1', 'east').pauses > 0", "host('h1').pauses_received > 0",
            # hop by hop, each when the one in front of it has been stopped, and as fast as the way is long
            "pause('r4', 'tunnel', 'to-r3').last_began_ns < gate('r3', 'east').since_ns < "
            "pause('r3', 'tunnel', 'to-r1').last_began_ns < gate('r1', 'east').since_ns < pause('r1', 'said', 'h1').last_began_ns",
            "0 <= gate('r3', 'east').since_ns - pause('r4', 'tunnel', 'to-r3').last_began_ns - delay('r3.east') <= 20e3",
            "0 <= gate('r1', 'east').since_ns - pause('r3', 'tunnel', 'to-r1').last_began_ns - delay('r1.east') - "
            "delay('r2.east') <= 30e3"]


@scenario(short=[{"stall": "short"}, {"stall": "long"}], expect=chain_expect)
def pfc_ruan_chain(stall, seed=1):
    """Figures 2 and 3: h1 - r1 - r2 - r3 - r4 - h2, all but r2 capable. A pause of r4 reaches r3, the nearest one, and goes on
    to r1, past r2, only when r3's own buffer crosses its threshold; and to the data centre when r1's does."""
    r = random.Random(seed)
    km = [r.randint(1, 20) for _ in range(3)]
    # r3 buffers 1 MB, which takes at least 0.8 ms, before it sends XOFF
    length = r.randint(50, 250) if stall == "short" else r.randint(4000, 8000)
    net = Ruan("ruan-chain", ("r1", "r2", "r3", "r4"), f"{length + 3000}us", sample="100us")
    begin = f"{r.randint(500, 1000)}us"
    net.edge("r1", "h1", 1).edge("r4", "h2", 2, sink={**SINK, "stalls": [{"at": begin, "for": f"{length + 200}us"}]})
    net.link("r1.east", "r2.west", rate=f"{RATE}G", km=km[0]).link("r2.east", "r3.west", rate=f"{RATE}G", km=km[1])
    net.link("r3.east", "r4.west", rate=f"{RATE}G", km=km[2])
    net.tunnel("r4", "west", "r3", "east", [], 5 * km[2]).tunnel("r3", "west", "r1", "east", ["r2"], 5 * (km[0] + km[1]), xoff="1M")
    return net.flow("h1", "h2", transport="datagram", message=4096, rate=f"{RATE * 950}M")


@scenario(short=[{"later": "r3"}, {"later": "r4"}],
          expect=lambda later: ["lost == 0", "flow('f3').received == flow('f3').sent", "flow('f4').received == flow('f4').sent",
                                "pause('r3', 'tunnel', 'to-r1').pauses == 1", "pause('r4', 'tunnel', 'to-r1').pauses == 1",
                                # they overlap; the longer one determines the pause
                                "pause('r3', 'tunnel', 'to-r1').last_began_ns < pause('r4', 'tunnel', 'to-r1').ended_ns",
                                "pause('r4', 'tunnel', 'to-r1').last_began_ns < pause('r3', 'tunnel', 'to-r1').ended_ns",
                                "gate('r1', 'east').pauses == 1",
                                f"0 <= gate('r1', 'east').ended_ns - pause('{later}', 'tunnel', 'to-r1').ended_ns - "
                                f"delay('r1.east') - delay('{later}.west') <= 30e3",
                                f"gate('r1', 'east').ended_ns - pause('{'r3' if later == 'r4' else 'r4'}', 'tunnel', 'to-r1').ended_ns > "
                                "300e3"])
def pfc_ruan_two_behind_one(later, seed=1):
    """D42: r3 and r4 are congested at the same time and hold one queue of r1. The XON of the one comes while the other's XOFF
    is in force, and opens nothing."""
    r = random.Random(seed)
    km = [r.randint(10, 20) for _ in range(3)]
    net = Ruan("ruan-two", ("r1", "r2", "r3", "r4"), "16ms", sample="100us")
    # the data in flight when the first XOFF has paused r1 must suffice to cause the other XOFF
    begin = r.randint(500, 800)
    stalls = {n: [begin + r.randint(0, 40), 4000] for n in ("r3", "r4")}
    stalls[later][1] += r.randint(500, 3000)
    net.edge("r1", "h1", 1)
    for n in (3, 4):
        at, length = stalls[f"r{n}"]
        net.edge(f"r{n}", f"h{n}", n, sink={**SINK, "stalls": [{"at": f"{at}us", "for": f"{length}us"}]})
    net.link("r1.east", "r2.west", rate=f"{RATE}G", km=km[0])
    for n in (3, 4):
        net.link(f"r2.r{n}", f"r{n}.west", rate=f"{RATE}G", km=km[n - 2])
        net.tunnel(f"r{n}", "west", "r1", "east", ["r2"], 5 * (km[0] + km[n - 2]))
        net.flow("h1", f"h{n}", name=f"f{n}", transport="datagram", message=4096, rate=f"{RATE * 450}M")
    return net
