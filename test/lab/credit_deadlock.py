# SPDX-License-Identifier: BSD-3-Clause
"""The deadlock hunt of deadlock.py with credit: in the same topologies, whose one class makes PFC wait for itself, each session has
buffers of its own in each node, and nothing can. Where sessions are joined by links with PFC, it can again, and the wait-for
graph has both: a session's queue waits for credit, credit for the reserved buffer, and that for the queues in which it is.
"""
from credit import SOURCES, without_pfc
from deadlock import EDGE, MESSAGES, PORT, Maze, maze
from net import Net
from rsvp import know, loopback
from suite import scenario

UNITS = 48  # of a session in each node
FEW = 6     # two packets: most often both of them are on their way to another link


def take_part(net, name, config, units=UNITS):
    """Between nodes there is no PFC. Each policy has a session to its last node."""
    without_pfc(config)
    far = [f.split(".")[0] for p, f in net._neighbours(name) if f"{name}.{p}" not in net.plain]
    config["credit"] = {"mode": "ext", "integrity": "off", "pool": 64 * units, "buffer": units, "paths": 64, "idle": 50, "data-of": [{"sources": SOURCES}],
                        "accept": [{"sources": SOURCES}], "neighbors": [{"address": loopback(net, n)} for n in far]}
    config["memory"]["buffers"] += 65 * units
    ends = {}
    for policy in config.get("policies", ()):
        policy["source-prefix"] = SOURCES
        last = policy["paths"][0]["segments"][-2]
        ends[policy["name"]] = next(n for n in net.nodes if last == f"5f00:0:{net.nodes[n]['id']:x}::")
    config["credit"]["sessions"] = [{"name": f"s{i}", "policy": p, "to": loopback(net, end), "class": EDGE} for i, (p, end) in enumerate(ends.items())]


class Credited(Maze):
    def config(self, name):
        config = super().config(name)
        know(self, name, config)
        take_part(self, name, config)
        return config


@scenario(short=[{"seed": n} for n in (1, 2, 3)], long=[{}], expect=[
    "lost == 0", f"all(f['received'] == {MESSAGES} for f in report['flows'])", "sum(h['pauses_received'] for h in report['hosts']) > 0"])
def credit_no_deadlock(seed):
    """The topologies of deadlock_one_class, whose hosts send as fast as they can: sessions wait, hosts are paused, and all arrives."""
    net = maze(seed, False, run="402ms")
    net.__class__ = Credited
    net.lab["name"] = "credit-maze"
    for flow in net.flows:
        flow["start"] = "400ms"
    return net


@scenario(short=[{}], violates="deadlock", expect=[])
def credit_deadlock_with_pfc():
    """A ring of sessions of one hop, and of links with PFC between them. Each flow crosses a session, a link and a session. Each
    session's buffer is full of packets that wait for a link, and each link's of packets that wait for a session."""
    net = Net("credit-pfc-ring", "450ms", drain="200ms")
    nodes = [f"n{i}" for i in range(1, 7)]
    for n in nodes:
        net.node(n, pfc=[EDGE], port=PORT, memory={"ring": 128})
    for i in (0, 2, 4):
        net.link(f"{nodes[i]}.east", f"{nodes[i + 1]}.west", rate="10G")
    for i in (1, 3, 5):
        net.link(f"{nodes[i]}.east", f"{nodes[(i + 1) % 6]}.west", rate="10G", plain=True)
    for i in (0, 2, 4):
        net.host(f"a{i}", 1 + i, pfc=[EDGE])
        net.host(f"b{i}", 2 + i, pfc=[EDGE])
        net.link(f"a{i}.eth0", f"{nodes[i]}.a", rate="10G").link(f"{nodes[(i + 3) % 6]}.b", f"b{i}.eth0", rate="10G")
        net.flow(f"a{i}", f"b{i}", name=f"f{i}", transport="datagram", message=4096, rate="10G", start="400ms")
    for n in nodes:
        net.tune(n, lambda c, n=n: joins(net, n, c))
    return net


def joins(net, name, config):
    """Routes to the loopbacks of the node that sessions lead to."""
    for port, far in net._neighbours(name):
        if f"{name}.{port}" not in net.plain:
            config["routes"].append({"prefix": loopback(net, far.split(".")[0]) + "/128", "port": port, "nexthop": net._local(far)})
    take_part(net, name, config, FEW)
    config["memory"]["buffers"] = 16384
