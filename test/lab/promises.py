# SPDX-License-Identifier: BSD-3-Clause
"""The promises of a valid configuration: default buffers at any distance, pauses between ports of different speed."""
import random

from net import Net
from suite import scenario
from wan import TX, Wan, longest_us, refresh_us

NOTHING_LOST = ["lost == 0", "flow().retransmitted == 0", "flow().failed == 0"]
SLOW_KM = (10, 100, 500, 2000)


def slow_expect(reserved=True, **_):
    waits = "host('b').starved_ns / report['run_ns']"
    return [*NOTHING_LOST, "buffer('n1', 'w').xoffs > 2", "gate('n0', 'w').pauses > 1", f"{waits} <= 0.01" if reserved else f"{waits} > 0.1"]


@scenario(short=[*({"km": k} for k in SLOW_KM), {"km": 500, "reserved": False}], long=[*({"km": k} for k in SLOW_KM), {"km": 500, "reserved": False}],
          expect=slow_expect)
def pfc_slow_receiver(km, reserved=True, seed=1):
    """A receiver that takes less than is sent, behind a long link with PFC and the default buffer profile: it never waits (1 % of
    the time at most), because XON is sent while what is left lasts for a round trip. With XON at 32 KB, right for a short cable,
    it waits long. Rate, frame size and what it takes are drawn."""
    r = random.Random(seed)
    # a flight of 2 to 25 MB, so that a run is short
    rate = r.choice({10: (40, 100), 100: (25, 40), 500: (10, 25), 2000: (5, 10)}[km])
    mtu = r.choice((1024, 4096)) if reserved else 4096
    carried = rate * mtu / (mtu + 82)  # payload
    drain, flight = carried * (r.uniform(0.45, 0.9) if reserved else 0.6), rate * 125 * 10 * km
    # a first flight fills the buffer, then some turns of a pause and what follows it
    turn = (flight + 8e6) / ((carried - drain) * 125) + (flight + 8e6) / (drain * 125) + 20 * km
    net = Net("pfc-slow-receiver", f"{int(3 * turn + 20 * km)}us", drain="4s", memory="8G", sample="2ms")
    for name in ("n0", "n1"):
        net.node(name, pfc=[3], port={"descriptors": {"tx": TX}}, memory={"buffers": 40000 + 5 * flight // 1024})
    net.host("a", 1, pfc=[3])
    net.host("b", 2, pfc=[3], sink={"drain": f"{int(drain * 1000)}M", "buffer": "8M", "xoff": "512K", "xon": "256K"})
    net.link("a.eth0", "n0.h", rate=f"{rate}G").link("n1.h", "b.eth0", rate=f"{rate}G").link("n0.w", "n1.w", rate=f"{rate}G", km=km)
    net.flow("a", "b", **{"queue-pairs": 4, "message": "1M", "mtu": mtu, "timeout": 0})
    if not reserved:
        for name in ("n0", "n1"):
            net.tune(name, lambda c: c["buffer-profiles"][0].update(xoff="64K", xon="32K"))
    return net


@scenario(short=[{"far": f, "rate": n} for f, n in ((400, 100), (100, 25))],
          long=[{"far": f, "rate": n} for f, n in ((25, 10), (40, 10), (100, 10), (100, 25), (100, 40), (200, 100), (400, 100), (800, 100))],
          expect=[*NOTHING_LOST, "host('gpu2').pauses_sent > 2", "host('gpu1').paused_ns[3] > 1e6"])
def pfc_scaled_to_faster(rate, far, seed=1):
    """Mode `scaled` towards a port that is faster: one pause there is shorter than what was asked for, so that the far PE renews
    it until the time asked for is over. Distance, jitter and stall are drawn."""
    r = random.Random(seed)
    late = longest_us(rate) * r.uniform(0, 0.25)
    km = r.randrange(20, {10: 1000, 25: 400, 40: 250, 100: 300}[rate])
    begin, stall = r.randrange(2000, 8000), 10 * km + 20 * longest_us(rate) + r.randrange(0, 20000)
    wan = Wan("pfc-scaled-to-faster", "hosts", rate=rate, far_rate=far, km=km, mode="scaled", more_us=late + refresh_us(rate, "scaled"),
              stall=(f"{begin}us", f"{int(stall)}us"), run=f"{int(begin + stall + 20 * km + 5000)}us", sample="1ms",
              wan={"jitter": f"{int(late * 1000)}ns", "faulty": "b-to-a"})
    # the faster a port, the more its ring and its headroom hold
    return wan.net.tune("pe1", lambda c: c["memory"].update(buffers=c["memory"]["buffers"] + 8 * far))
