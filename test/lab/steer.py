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
