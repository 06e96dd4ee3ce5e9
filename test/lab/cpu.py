# SPDX-License-Identifier: BSD-3-Clause
"""A gateway whose lcores are too slow for the line: its receive rings are part of the buffer, and the sender is paused.

    a - n0 === n1 - b        n1 is slow

The seed draws rate, distance, frame size, the share of the line rate that the CPU is able to do, and when flows begin.
"""
import random

from net import Net
from suite import scenario

HZ = 3e9
RUN = 10  # ms
LAYOUTS = {
    "one": {"control": 0, "rx": [1], "worker": [1]},
    "all": {"control": 0, "rx": [0], "worker": [0]},
    "split": {"control": 0, "rx": [1], "worker": [2]},
    "workers": {"control": 0, "rx": [1], "worker": [2, 3]},
    "queues": {"control": 0, "rx": [1, 2], "worker": [3]},
    "four": {"control": 0, "rx": [1, 2], "worker": [3, 4]},
    "mixed": {"control": 0, "rx": [1, 2], "worker": [1, 2]},
}
# Units of work (`cycles`) of the busiest lcore: a packet received, taken from a ring, or sent
UNITS = {"one": "rx + tx", "all": "rx + tx", "split": "2 * tx", "queues": "2 * tx"}


def busy(layout):
    """Of the run, the part in which that lcore worked: it has nothing else to do."""
    if layout not in UNITS:
        return []
    count = UNITS[layout].replace("rx", "sum(p['rx_packets'] for p in node('n1').ports)").replace(
        "tx", "sum(p['tx_packets'] for p in node('n1').ports)")
    return [f"({count}) * cycles('n1') / {HZ} > 0.95 * {RUN}e-3"]


def slow(layout, seed):
    r = random.Random(seed)
    rate, mtu = r.choice([10, 25, 40, 100, 200, 400]), r.choice([256, 512, 1024, 2048, 4096])
    km, share = r.choice([0.01, 0.1, 1, r.uniform(1, 20)]), r.uniform(0.15, 0.7)
    pps = rate * 1e9 / 8 / (mtu + 122)
    cycles = max(int(HZ / (2 * share * pps)), 40)
    round_trip = int(rate / 8 * km * 1e4)  # bytes
    net = Net("busy-cpu", f"{RUN}ms", drain="200ms", memory="4G")
    queues = {"rx-queues": 2} if layout in ("queues", "four", "mixed") else {}
    port = {"descriptors": {"tx": r.choice([64, 128, 256])}, **queues}
    net.node("n0", pfc=[3], port=port, cycles=1, memory={"buffers": 262144})
    net.node("n1", pfc=[3], port=port, cycles=cycles, lcores=LAYOUTS[layout], memory={"buffers": 262144})
    net.host("a", 1, pfc=[3])
    net.host("b", 2, pfc=[3])
    net.link("a.eth0", "n0.h", rate=f"{rate}G").link("n1.h", "b.eth0", rate=f"{rate}G")
    net.link("n0.w", "n1.w", rate=f"{rate}G", delay=f"{int(km * 5000)}ns")
    for i in range(r.randrange(1, 4)):
        net.flow("a", "b", **{"queue-pairs": 4, "message": r.choice(["64K", "256K", "1M"]), "mtu": mtu, "timeout": 0,
                              "start": f"{r.randrange(200)}us", "name": f"f{i}"})

    def buffers(config):
        config["buffer-profiles"][0].update({"min-frame": min(mtu, 1024), "response": 20, "xon": round_trip + 65536,
                                             "xoff": round_trip + 262144})
    return net.tune("n0", buffers).tune("n1", buffers)


@scenario(short=[{"layout": "one"}, {"layout": "split"}, {"layout": "mixed"}], long=[{"layout": x} for x in LAYOUTS],
          expect=lambda layout: ["lost == 0", "missed('n1') == 0", "host('a').pauses_received > 0", *busy(layout)])
def pfc_busy_cpu(layout, seed=1):
    """Whatever the rate, the frames and the lcores: nothing is lost, and the busiest lcore works 95 % of the time."""
    return slow(layout, seed)
