# SPDX-License-Identifier: BSD-3-Clause
"""Traffic of one port spread over egresses that three workers own, each on a separate lcore that polls only at intervals.

None of them holds much; the owner of the ingress port must add it up and send XOFF in time. Data that arrives until it has
decided is part of the headroom: a frame is first seen by the rx lcore, then held by its worker, then added up.
"""
import random

from net import Net, loses
from suite import scenario

FRAME = 4400 + 18
CYCLES = 60  # of a packet, at 3 GHz
LOOKS = 3    # rx, worker, owner of the ingress port
ROUND_TRIP = f"rate('gw1.in') / 8e9 * 2 * delay('gw1.in') + {2 * FRAME}"  # headroom without the time to decide, bytes


def headroom(rate, period_us, delay_us, decision):
    """Bytes (docs/protocol.md 5.4): the round trip, frames already begun at both ends, and the time to decide."""
    return int(rate * 125 * (2 * delay_us + (LOOKS * period_us if decision else 0))) + 2 * FRAME


@scenario(short=[{"decision": True}, {"decision": False}],
          expect=lambda decision: ["buffer('gw1', 'in').xoffs > 1",
                                    *(f"flow('f{i}').received > 10" for i in range(3)),
                                   "lost == 0",
                                   *([] if decision else [f"buffer('gw1', 'in').headroom_most_bytes > {ROUND_TRIP}"])])
def pfc_several_owners(decision, seed=1):
    """With the decision period in the headroom nothing is lost; without it more than the headroom is used (what is promised to
    frames between lcores absorbs it here)."""
    r = random.Random(seed)
    rate, delay = r.choice([10, 25, 100]), r.choice([1, 2])
    # rx takes 32 frames in a pass: no longer than it can be without falling behind
    look = 32 * FRAME * 8 / rate / 1e3 * r.uniform(0.5 if decision else 0.8, 0.8) # a short look may happen to do without
    period = look + 64 * CYCLES / 3000
    net = Net("owners", f"{120 // rate + 2}ms", drain="100ms", **loses(not decision))
    net.node("gw1", pfc=[3], lcores={"control": 0, "rx": [1], "worker": [2, 3, 4]}, cycles=CYCLES, memory={"buffers": 32768},
             port={"mtu": 4400, "descriptors": {"rx": 512, "tx": 64}}, **{"pass-cycles": int(look * 3000)})
    net.host("s", 1, pfc=[3])
    net.link("s.eth0", "gw1.in", rate=f"{rate}G", delay=f"{delay}us")
    # the packets that the owner of the ingress port holds itself leave at once
    share = [0.1, r.uniform(0.3, 0.6), r.uniform(0.3, 0.6)]
    drain = [0.2, r.uniform(0.05, 0.1), r.uniform(0.05, 0.1)]
    for i in range(3):
        net.host(f"d{i}", 2 + i, pfc=[3])
        net.link(f"gw1.o{i}", f"d{i}.eth0", rate=f"{int(rate * 1000 * drain[i])}M")
        net.flow("s", f"d{i}", name=f"f{i}", transport="datagram", message=4096, rate=f"{int(rate * 1000 * share[i] / sum(share))}M")

    def owners(config):
        for p in config["ports"]:
            p["worker"] = {"in": 2, "o0": 2, "o1": 3, "o2": 4}[p["name"]]
        config["buffer-profiles"][0].update(xoff="96K", xon="48K", headroom=headroom(rate, period, delay, decision), forced=True)
    return net.tune("gw1", owners)
