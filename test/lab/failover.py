# SPDX-License-Identifier: BSD-3-Clause
"""Links that fail while others live: networks of two to eight nodes in a row, several links between each two, over which
policies and routes distribute flows. One of them fails, once or many times, in one direction or both, noticed soon. What
was on the wire or in the device's hands is lost, and nothing else; every flow keeps its order (an invariant of the lab)."""
import random

from net import Net
from suite import scenario


def failover_net(name, seed, policies=0):
    r = random.Random(seed)
    nodes = r.choice([2, 2, 3, 4, 8])
    between = [r.randint(2, 4) for _ in range(nodes - 1)]
    # one link carries all of it, so that nothing is dropped for lack of room when all others are dead
    host_rate, rate = r.choice([("25G", "100G"), ("100G", "100G"), ("40G", "40G")])
    net = Net(name, "30ms", drain="2s", memory="4G", **{"lossless": "off"})
    for i in range(nodes):
        lcores = r.choice([{"control": 0, "rx": [1], "worker": [1]}, {"control": 0, "rx": [1], "worker": [1, 2]},
                           {"control": 0, "rx": [1], "worker": [2, 3]}, {"control": 0, "rx": [0], "worker": [0]}])
        net.node(f"n{i}", lcores=lcores, memory={"buffers": "320K"}, port={"queue-limit": "4K", "buffer-limit": "32K"})
    net.host("a", 1)
    net.host("b", 2)
    net.link("a.eth0", "n0.h", rate=host_rate).link(f"n{nodes - 1}.h", "b.eth0", rate=host_rate)
    # all links between two nodes are equally long, so that a flow that changes its link is not overtaken by itself
    bad = r.randrange(nodes - 1), None
    victim = r.randrange(between[bad[0]])
    pattern = r.choice([("1ms", 1, "20ms"), ("100us", 5, "400us"), ("100us", 3, "3ms"), ("2ms", 3, "5ms"), ("15ms", 1, "20ms")])
    for i, n in enumerate(between):
        delay = r.choice(["1us", "5us", "50us", "250us"])
        for k in range(n):
            keys = {"delay": delay}
            if i == bad[0] and k == victim:
                keys["failures"] = [{"at": f"{r.randrange(2000, 8000)}us", "for": pattern[0], "repeat": pattern[1],
                                     "every": pattern[2], "detect": r.choice(["1us", "10us", "50us"]),
                                     "direction": r.choice(["both", "a-to-b", "b-to-a"]), "remote-fault": True}]
            net.link(f"n{i}.w{k}", f"n{i + 1}.e{k}", rate=rate, **keys)
    net.flow("a", "b", **{"name": "f", "queue-pairs": r.choice([8, 32]), "message": "64K", "rate": "500M",
                          "timeout": 10})
    return net


@scenario(short=[{"seed": s} for s in (1, 2, 3, 4, 5, 6)], long=[{}], seeds=10,
          expect=["all(f.failed == 0 for f in [flow('f')])", "flow('f').goodput_gbps > 1",
                  "sum(n['dropped'] for n in report['nodes']) == 0"])
def failover(seed=1):
    """Nothing of a queue is lost with a link that fails while another one lives."""
    return failover_net("failover", seed)
