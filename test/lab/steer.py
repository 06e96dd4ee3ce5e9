# SPDX-License-Identifier: BSD-3-Clause
"""Flows that are placed on paths (docs/path-placement.md): the network of draft-filsfils-spring-srv6-ai-backend section 5.

    gpu1 - gw1 - leaf1 = spine5, spine6 ... = leaf3 - gw3 - gpu3

A queue pair is a flow of its own. The links of a spine have room for its even share of them, and no more."""
from net import Net
from suite import scenario

FLOW = "vrf=ai,src=10.1.0.10,dst=10.3.0.11,qp={}"


def clos(spines, pairs, rate, run="3ms", **lab):
    net = Net("steer", run, **lab)
    names = [f"spine{5 + i}" for i in range(spines)]
    for node in ("gw1", "leaf1", *names, "leaf3", "gw3"):
        net.node(node)
    net.host("gpu1", 1)
    net.host("gpu3", 3)
    net.link("gpu1.eth0", "gw1.dc", rate="800G").link("gw1.leaf1", "leaf1.gw1", rate="800G")
    for s in names:
        net.link(f"leaf1.{s}", f"{s}.leaf1").link(f"{s}.leaf3", f"leaf3.{s}")
    net.link("leaf3.gw3", "gw3.leaf3", rate="800G").link("gw3.dc", "gpu3.eth0", rate="800G")
    net.flow("gpu1", "gpu3", **{"queue-pairs": pairs, "rate": rate, "message": 262144})
    net.path("gw1", "gw3", *(["leaf1", s, "leaf3"] for s in names))
    return net.tune("gw1", lambda c: c["policies"][0].update({"flows": 1024, "flow-key": "queue-pair", "roce": True}))


def place(placements):
    """placements: path by queue pair."""
    return [{"flow": FLOW.format(qp), "policy": "to-gw3", "path": f"path{path}"} for qp, path in placements.items()]


def loads(spines):
    return "[" + ", ".join(f"into('spine{5 + i}.leaf1').delivered" for i in range(spines)) + "]"


@scenario(short=[{"spines": 2}, {"spines": 4}], long=[{"spines": n} for n in (2, 4, 8)],
          expect=lambda spines: ["lost == 0", "flow().retransmitted == 0", f"max({loads(spines)}) <= 1.01 * min({loads(spines)})"])
def steer_placed(spines):
    """Each spine gets the same number of queue pairs, up to 96 % of its links: nothing is lost, and all links carry the same."""
    net = clos(spines, 8 * spines, "11700M")
    return net.tune("gw1", lambda c: c.update(placements=place({qp: qp % spines for qp in range(8 * spines)})))


@scenario(short=[{"spines": 4}], long=[{"spines": n} for n in (4, 8)],
          expect=lambda spines: [f"max({loads(spines)}) > 1.1 * min({loads(spines)})", "lost > 0"])
def steer_by_hash(spines):
    """A negative control: the same by hash loads some spines more than others, and loses."""
    return clos(spines, 8 * spines, "11700M")


@scenario(short=[{"at": "1000us"}], long=[{"at": f"{t}us"} for t in (700, 1300, 2000)],
          expect=["all(command(i).ok for i in (0, 1, 2, 3, 4, 5, 6, 7, 8))", "command(9).ok == False", "lost == 0", "flow().retransmitted == 0",
                  "into('spine5.leaf1').delivered > 1000", "into('spine6.leaf1').delivered > 1000"])
def steer_moves(at):
    """All flows move from Spine5 to Spine6 under load; then one of them returns. A batch with a mistake moves none. The paths are
    alike, so nothing is reordered, and nothing is lost."""
    net = clos(2, 8, "10G").tune("gw1", lambda c: c.update(placements=place({qp: 0 for qp in range(8)})))
    net.extra["schedule"] = [
        *({"at": at, "node": "gw1", "command": f"path place {FLOW.format(qp)} to-gw3 path1"} for qp in range(8)),
        {"at": "2200us", "node": "gw1", "command": f"path place {FLOW.format(0)} to-gw3 path0"},
        {"at": "2300us", "node": "gw1", "command": 'path batch "[{\\"flow\\": \\"%s\\", \\"policy\\": \\"to-gw3\\", \\"path\\": \\"path7\\"}]"' % FLOW.format(1)}]
    return net


SLOW = "gw1.spine5"


def degraded(spines, to_percent, at="2ms", gap="20us", **keys):
    """64 queue pairs, each of which waits for the acknowledgement of a message, on 8 spines at 80 %; then one of these has less."""
    net = Net("degraded", "30ms", **keys)
    names = [f"spine{5 + i}" for i in range(spines)]
    for node in ("gw1", *names, "gw3"):
        net.node(node, memory={"buffers": "40K", "buffer-size": "5K"}, port={"descriptors": {"rx": 512, "tx": 64}})
    net.host("gpu1", 1)
    net.host("gpu3", 3)
    net.link("gpu1.eth0", "gw1.dc", rate="800G").link("gw3.dc", "gpu3.eth0", rate="800G")
    slow = {"at": at, "detect": "10us"} if not to_percent else {"at": at, "rate": f"{50 * to_percent * 10}M", "direction": "a-to-b"}
    for s in names:
        net.link(f"gw1.{s}", f"{s}.gw1", rate="50G", delay="25us", **({"failures": [slow]} if f"gw1.{s}" == SLOW else {}))
        net.link(f"{s}.gw3", f"gw3.{s}", rate="50G", delay="1us")
    net.flow("gpu1", "gpu3", **{"queue-pairs": 64, "rate": "10G", "message": 131072, "window": 131072, "ack-every": 32})
    net.path("gw1", "gw3", *([s] for s in names))
    net.tune("gw1", lambda c: c["policies"][0].update({"flows": 1024, "flow-key": "queue-pair", "feedback": True}))
    net.tune("gw1", lambda c: c.update(steering={"interval": "200us", "gap": gap, "queue-limit": "30us"},
                                       placements=place({qp: qp % spines for qp in range(64)})))
    net.extra["schedule"] = [{"at": "29900us", "node": "gw1", "command": "show paths"}, {"at": "29900us", "node": "gw1", "command": "show flows counters"}]
    return net


def balanced(spines):
    """The links to the other spines after all has settled: the most loaded one, against their mean."""
    each = [f"mean('Links: received, overhead included', 'gw1.spine{n} > spine{n}.gw1', 12, 30)" for n in range(6, 5 + spines)]
    return f"max({', '.join(each)}) <= 1.1 / {len(each)} * ({' + '.join(each)})"


def back_to(share):
    """Goodput is 95 % of what it was on so many of 8 spines."""
    goodput = "mean('Goodput of hosts: payload received in order', 'gpu3', {}, {})"
    return f"{goodput.format(12, 30)} >= {0.95 * share / 8} * {goodput.format(0.5, 2)}"


@scenario(short=[{"to_percent": 50}, {"to_percent": 0}], long=[{"to_percent": p} for p in (50, 10, 0)], expect=lambda to_percent: [
    balanced(8), back_to(7 + to_percent / 100),
    *(["count(1, 'moved') == 0", "7 <= count(1, 'rescued') <= 8"] if not to_percent else
      ["lost == 0", "flow().retransmitted == 0", "count(1, 'rescued') == 0", "1 <= count(1, 'moved') <= 8"])])
def steer_degraded(to_percent):
    """One of 8 spines has 50 %, 10 % or nothing of its rate under 64 elephants, which are told by the gateway's own queue: as many
    as too many leave, each of them once, to other spines. Nothing is reordered, which is an invariant."""
    return degraded(8, to_percent)
