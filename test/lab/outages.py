# SPDX-License-Identifier: BSD-3-Clause
"""Links that fail while they are paused, and nodes that start again: what is lossless stays so (docs/pfc.md).

    plain   a - n0 === n1 - b   PFC on every link; the long link between the nodes flaps
"""
import random

from net import Net
from suite import scenario
from wan import longest_us, peers

FRAME = 9216 + 18
RESPONSE_US = 20


def flapping_expect(cut=True, **_):
    # what was on the wire, or in the device's hands, when the link failed is lost, and nothing else
    return ["lost == way('n0.w').cut + way('n1.w').cut", "buffer('n1', 'w').xoffs > 0",
            "host('b').goodput_bytes > 0", "host('a').pauses_received > 0"]


def flap_net(name, seed, fails=None):
    """A chain of two nodes whose receiver stops; while it does, the link between them fails: once to five times, at times,
    at a speed and over a distance that the seed draws."""
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
                                    "stalls": [{"at": f"{int(begin)}us", "for": f"{int(stall)}us"}]})
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
