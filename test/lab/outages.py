# SPDX-License-Identifier: BSD-3-Clause
"""Links that fail while they are paused, and nodes that start again: what is lossless stays so (docs/pfc.md).

    plain   a - n0 === n1 - b   PFC on every link; the long link between the nodes flaps
"""
import random

from net import BLOCK, Net, loses
from suite import scenario
from wan import Wan, longest_us, peers

FRAME = 9216 + 18
RESPONSE_US = 20


def flapping_expect(cut=True, **_):
    # what was on the wire, or in the device's hands, when the link failed is lost, and nothing else
    return ["lost == way('n0.w').cut + way('n1.w').cut", "buffer('n1', 'w').xoffs > 0",
            "host('b').goodput_bytes > 0", "host('a').pauses_received > 0"]


def flap_net(name, seed, stalls=True):
    """A chain of two nodes whose receiver stops; while it does, or without stalls while data flows, the link between them fails:
    once to five times, at times, at a speed and over a distance that the seed draws."""
    r = random.Random(seed)
    rate, km = r.choice([(25, (0, 100)), (100, (0, 100)), (400, (0, 20))])
    # 1 m to 100 km, evenly over the magnitudes
    km = round(min(10 ** r.uniform(-3, 2), km[1]), 3)
    delay = max(5, int(km * 5000))
    mtu = r.choice([1024, 2048, 4096])
    begin = r.randrange(500, 1500) + 30 * km
    flaps = r.choice([1, 5])
    first = begin + r.uniform(0.3, 4) * longest_us(rate) + 20 * km + 8e6 / rate / 1e3 * 2
    every = 1000 + r.randrange(200, 2500) + int(20 * km)
    stall = first - begin + flaps * every + r.randrange(1000, 5000)
    net = Net(name, f"{int(begin + stall + 1000)}us", drain="4s", memory="4G")
    near = f"{rate}G"
    for n in ("n0", "n1"):
        net.node(n, port={"descriptors": {"tx": 64}})
    net.host("a", 1, pfc=[3])
    net.host("b", 2, pfc=[3], sink={"drain": near, "buffer": 16 << 20, "xoff": 1 << 20, "xon": 512 * 1024,
                                    **({"stalls": [{"at": f"{int(begin)}us", "for": f"{int(stall)}us"}]} if stalls else {})})
    net.link("a.eth0", "n0.h", rate=near).link("n1.h", "b.eth0", rate=near)
    detect = r.choice(["1us", "10us", "50us"])
    net.link("n0.w", "n1.w", rate=near, delay=f"{delay}ns",
             failures=[{"at": f"{int(first)}us", "for": "1ms", "detect": detect, "repeat": flaps, "every": f"{every}us",
                        "direction": r.choice(["both", "a-to-b", "b-to-a"])}])
    net.flow("a", "b", **{"name": "f", "queue-pairs": 4, "message": "1M", "timeout": 0, "mtu": mtu})
    for n, host in (("n0", "a"), ("n1", "b")):
        net.tune(n, lambda c, n=n, host=host: with_buffers(net, c, n, host, rate, delay))
    return net


def with_buffers(net, config, node, host, rate, delay):
    """Lossless on both ports, headroom as the node reckons it."""
    far = "n1.w" if node == "n0" else "n0.w"
    peers(config, "h", net._mac(f"{host}.eth0"), rate)
    next(p for p in config["ports"] if p["name"] == "h")["pfc"]["length"] = net._meters(f"{host}.eth0")
    peers(config, "w", net._mac(far), rate, "far")
    wan = next(p for p in config["ports"] if p["name"] == "w")
    wan["pfc"].update({"length": max(1, delay // 5), "peer-descriptors": 64})
    # what a lossless class keeps for the time of the way back, so that it does not starve
    xon = max(64 * 1024, int(rate * 125 * 2 * delay / 1e3))
    config["buffer-profiles"].append({"name": "far", "xoff": xon + 256 * 1024, "xon": xon, "min-frame": 1024, "response": RESPONSE_US})
    config["memory"]["buffers"] = 16000 + int((xon + 256 * 1024 + rate * 125 * (2 * delay / 1e3 + 100) + 400 * FRAME) // 1024) + 6000


@scenario(short=[{"seed": s} for s in (1, 2, 3, 4)], long=[{}], seeds=10, expect=flapping_expect)
def flapping_link(seed=1):
    """A link fails for 1 ms, once or five times, while it is paused: what is lost was on the wire, and the buffer behind it
    never overflows, for the state of every priority is said first when it is back, and until then nothing is sent."""
    return flap_net("flapping-link", seed)


@scenario(short=[{"seed": s} for s in (1, 2, 3)], long=[{}], seeds=10,
          expect=["lost == way('n0.w').cut + way('n1.w').cut", "report['lossless']['lost_broken'] == 0", "host('a').pauses_received > 0",
                  "host('b').goodput_bytes > 0", "all(n['reasons'].get('port_down', 0) == 0 for n in report['nodes'])"])
def flap_in_flow(seed=1):
    """A link fails while data flows: what is lossless waits in front of it, and its sender is paused until the link is back."""
    return flap_net("flap-in-flow", seed, stalls=False)


def with_states(net):
    """The PEs of a relay send each other states instead of frames."""
    for near, far in (("pe1", "pe2"), ("pe2", "pe1")):
        number = net.nodes[far]["id"]

        def change(config, number=number):
            relay = config["pfc-relays"][0]
            for key in ("sid", "hold-min", "jitter"):
                relay.pop(key, None)
            relay.update({"carrier": "state", "udp-port": 4794, "allowed-sources": ["fd00::/16"],
                          "segments": [f"{BLOCK}:{number:x}::", f"fd00::{number:x}"]})
        net.tune(near, change)
    return net


def stalled(name, carrier, seed, lasts_us):
    """A relay whose receiver stops for what a fault takes (`lasts_us`) and more; rate, distance, frames and times are drawn.
    Returns the network, and a time in us at which the gateway has been paused for a while."""
    r = random.Random(seed)
    rate, most = r.choice([(10, 400), (25, 200), (100, 60)])
    km = r.randrange(2, most)
    begin = r.randrange(1000, 4000)
    # gpu2 and gw2 are full, the pause has gone to gw1 and the flight has come
    paused = begin + 20 * km + (3e6 * 8 / rate / 1e3) * 1.3 + 2000
    at = paused + r.randrange(0, 4000)
    stall = at - begin + lasts_us + r.randrange(4000, 12000) + 20 * km
    wan = Wan(name, "relay", rate=rate, km=km, stall=(f"{begin}us", f"{int(stall)}us"), sample="1ms",
              run=f"{int(begin + stall + 20 * km + 3000)}us", flow={"mtu": r.choice([1024, 4096])})
    for node in wan.net.nodes.values():  # that CPUs are busy is not the matter here
        node["lab"] = {"cycles": 20, "pass-cycles": 40}
    if carrier == "state":
        with_states(wan.net)
    return wan.net, int(at)


CARRIERS = ("frames", "state")


@scenario(short=[{"node": n, "carrier": c} for n, c in (("pe1", "frames"), ("pe1", "state"), ("pe2", "frames"), ("pe2", "state"),
                                                       ("gw1", "frames"), ("gw2", "state"))],
          long=[{"node": n, "carrier": c} for n in ("pe1", "pe2", "gw1", "gw2") for c in CARRIERS], seeds=2,
          expect=lambda node, **_: [f"node('{node}').restarts == 1", "report['lossless']['lost_broken'] == 0", "host('gpu2').pauses_sent > 0", "host('gpu2').goodput_bytes > 0"])
def restart_in_a_pause(node, carrier, seed=1):
    """A PE or a gateway is away for 2 ms while the gateway of the other side is paused through it. It knows nothing of the
    pause when it is back, and yet no buffer overflows: lost is what it held, and what came while it was away."""
    net, at = stalled("restart", carrier, seed, 2000)
    net.extra["schedule"] = [{"at": f"{at}us", "node": node, "restart": "2ms"}]
    return net


@scenario(short=[{"carrier": "frames", "lasts": 15}, {"carrier": "state", "lasts": 5}, {"carrier": "frames", "lasts": 45}],
          long=[{"carrier": c, "lasts": t} for c in CARRIERS for t in (5, 15, 45)], seeds=2,
          expect=["lost == way('pe2.wan').cut", "way('pe2.wan').cut > 0 or PARAM['lasts'] < 20", "flow().retransmitted == 0", "host('gpu2').pauses_sent > 0"])
def way_back_cut(carrier, lasts, seed=1):
    """The way back is cut while a gateway is paused, for as long as protection switching takes or less, and nobody notices: the
    pause outlives it."""
    net, at = stalled("way-back-cut", carrier, seed, lasts * 1000)
    link = next(x for x in net.links if x["a"] == "pe1.wan")
    link["failures"] = [{"at": f"{at}us", "for": f"{lasts}ms", "direction": "b-to-a", "detect": "never"}]
    return net


def tunnelled(name, seed, lasts_us):
    """As `stalled`, by End.X.PFC: the PE beside the receiver has the headroom."""
    r = random.Random(seed)
    rate, most = r.choice([(10, 400), (25, 200), (100, 60)])
    km = r.randrange(2, most)
    begin = r.randrange(1000, 4000)
    at = begin + 20 * km + (3e6 * 8 / rate / 1e3) * 1.3 + 2000 + r.randrange(0, 4000)
    stall = at - begin + lasts_us + r.randrange(4000, 12000) + 20 * km
    wan = Wan(name, "tunnel", rate=rate, km=km, stall=(f"{begin}us", f"{int(stall)}us"), sample="1ms",
              run=f"{int(begin + stall + 20 * km + 3000)}us", flow={"mtu": r.choice([1024, 4096])})
    for node in wan.net.nodes.values():
        node["lab"] = {"cycles": 20, "pass-cycles": 40}
    return wan.net, int(at)


@scenario(short=[{"node": "pe1"}, {"node": "pe1", "cut": 30}, {"node": "pe2"}],
          long=[{"node": "pe1"}, {"node": "pe1", "cut": 30}, {"node": "pe2"}], seeds=3,
          expect=lambda node, **_: ["node(PARAM['node']).restarts == 1", "report['lossless']['lost_broken'] == 0", "host('gpu2').pauses_sent > 0",
                                    "host('gpu2').goodput_bytes > 0", *(["gate('pe1', 'wan').pauses == 2"] if node == "pe2" else [])])
def restart_in_a_tunnel_pause(node, cut=0, seed=1):
    """The PE that End.X.PFC pauses, or the one that pauses it, is away for 2 ms, and the way back is cut for another `cut` ms: it
    knows nothing of the pause when it is back, and yet no buffer overflows. The one that pauses resumes the other at once, and pauses
    it again when its buffer is full."""
    net, at = tunnelled("restart-tunnel", seed, 60000 if node == "pe1" else 2000)
    net.extra["schedule"] = [{"at": f"{at}us", "node": node, "restart": "2ms"}]
    if cut:
        link = next(x for x in net.links if x["a"] == "pe1.wan")
        link["failures"] = [{"at": f"{at}us", "for": f"{2 + cut}ms", "direction": "b-to-a", "detect": "never"}]
    return net


@scenario(short=[{"lasts": 5}, {"lasts": 15}, {"lasts": 45}], long=[{"lasts": t} for t in (5, 15, 45)], seeds=3,
          expect=["lost == way('pe2.wan').cut", "way('pe2.wan').cut > 0", "flow().retransmitted == 0", "host('gpu2').pauses_sent > 0"])
def tunnel_way_back_cut(lasts, seed=1):
    """The way back is cut while a PE is paused through End.X.PFC: the pause outlives it."""
    net, at = tunnelled("tunnel-way-back-cut", seed, lasts * 1000)
    link = next(x for x in net.links if x["a"] == "pe1.wan")
    link["failures"] = [{"at": f"{at}us", "for": f"{lasts}ms", "direction": "b-to-a", "detect": "never"}]
    return net


def long_stall_expect(rate, stall, detect=200, release=1000, **_):
    # docs/pfc.md, Storms: one release time for each detection time, and the reaction of the link
    times = -(-(stall - detect) * 1000 // (detect * 1000 + release))
    most = times * rate * 125 * (release + 60)
    return [f"reason('gw2', 'headroom_exceeded') > -1 and reason('gw2', 'headroom_exceeded') * 4096 <= {most}",
            "lost == reason('gw2', 'headroom_exceeded')", f"pause('pe1', 'relayed', 'dc').pauses >= {times}",
            f"host('gpu2').goodput_bytes > {rate * 125 * 5000}"]


@scenario(short=[{"rate": 10, "stall": 150, "detect": 20}, {"rate": 10, "stall": 350}],
          long=[*({"rate": r, "stall": s, "detect": d} for r in (10, 25) for s in (60, 150) for d in (20, 50)), {"rate": 10, "stall": 350}],
          expect=long_stall_expect)
def long_stall(rate, stall, detect=None, seed=1):
    """A receiver stops for longer than the relay's watchdog allows: each release lets a bounded amount of data go, and no more
    than the page for operators says is lost."""
    r = random.Random(seed)
    km = r.randrange(10, 150)
    begin = r.randrange(1000, 4000)
    net = Wan("long-stall", "relay", rate=rate, km=km, stall=(f"{begin}us", f"{stall}ms"), sample="2ms", run=f"{begin // 1000 + stall + 25}ms",
              **loses()).net
    if detect:
        for node in ("pe1", "pe2"):
            net.tune(node, lambda c: c["pfc-relays"][0].update(watchdog={"detect": detect, "restore": detect}))
    return net
