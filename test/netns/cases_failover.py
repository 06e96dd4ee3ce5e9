# SPDX-License-Identifier: BSD-3-Clause
"""
Links and neighbours that fail and return under numbered traffic from A to B. Two paths from gw to pe, with half of the flows
each; a case prints how long B received nothing, and how many packets were lost: all of them on the link itself, none from a
queue, none out of order.

    cable     A -- gw ====== pe -- B           sluice at both ends of two veth pairs. One cable is pulled at pe; its pair is
                   gw ====== pe                deleted and made again
    process   A -- gw ~ n1 ~ pe -- B           ~: memif, with gw as client of n1, and pe as server of n1. n1 is killed and
                   gw ====== pe                started again
    dead      A -- gw = n1 = pe -- B           the links of n1 stay up when it stands still, and when it is stopped: BFD
                   gw ====== pe                says so
"""

import json
import os
import signal
import tempfile
import time

from checks import eventually, expect, machine, program, reaches
from net import make_port
from node import over, port
from topology import B6, GATE_A4, GATE_A6, GATE_B4, GATE_B6, NET_A4, NET_A6, NET_B4, NET_B6, WAN_MTU, Topology, sid

FLOWS, RATE, SIZE = 16, 1000, 512
SECONDS = 120  # that a stream lasts at most
HOLD = {"hold": 50}  # ms
DETECT = {"name": "fast", "transmit": 100000, "receive": 100000}  # other tests may keep the CPUs busy


class Stream:
    """Numbered packets from A to B."""

    def __init__(self, t, rate=RATE):
        self.began = time.monotonic()
        self.receiver = program(t.b, "numbered-receive", B6, machine.patience(SECONDS), stdin=True)
        expect(self.receiver.stdout.readline() == "ready\n", "nobody listens")
        self.sender = program(t.a, "numbered-send", B6, FLOWS, rate, machine.patience(SECONDS), SIZE, stdin=True)
        expect(self.sender.stdout.readline() == "ready\n", "nobody sends")
        time.sleep(0.5)

    def end(self):
        """Packets that were lost, and (length, time) of the longest times in which B received nothing."""
        sent = self.finish(self.sender)
        time.sleep(machine.patience(0.5))
        got = self.finish(self.receiver)
        # a receiver that does not get the CPU empties the ring of one port before that of the other: no order of ours
        expect(not got["twice"] and (not got["late"] or machine.watch().since(self.began).busy), f"packets out of order or twice: {got}")
        return sent["packets"] - got["packets"], got["gaps"]

    @staticmethod
    def finish(process):
        return json.loads(process.communicate("\n", timeout=machine.patience(20))[0].splitlines()[-1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.sender, self.receiver):
            process.kill()
            process.wait()


class Failover(Topology):
    def __init__(self, options):
        super().__init__(options)
        self.files = tempfile.TemporaryDirectory(prefix="sluice-memif-")

    def memif(self, number, name, socket, role, address):
        """A port that is joined with another process. By a file: abstract sockets belong to a namespace."""
        device = f"net_memif{number},role={role},socket={self.files.name}/{socket},socket-abstract=no"
        return {"name": name, "side": "wan", "addresses": [address], "device": device}

    def close(self):
        super().close()
        self.files.cleanup()


BLUE = {"vrf": "blue"}


def network(options, middle=None):
    """
    gw and pe with two ports each. middle(t): the ports of gw, pe and n1 on the first way, and what the port of gw has besides;
    without it both ways are veth pairs.
    """
    t = Failover(options)
    a, gw, pe, b = t.spaces("a", "gw", "pe", "b")
    t.a, t.b = a, b
    t.net.link(a, "eth0", gw, "dc0")
    t.net.link(pe, "dc0", b, "eth0")
    t.hosts()
    t.net.link(gw, "wan1", pe, "wan1", mtu=WAN_MTU)
    if middle:
        near, far, ports = middle(t, gw, pe)
        t.node(t.net.spaces["n1"], "fd00:0:2::1", ports, bfd_profiles=[DETECT], failover=HOLD,
               routes=[{"prefix": "5f00:0:400::/48", "port": "east", "nexthop": "fd00:c::2"},
                       {"prefix": "5f00:0:100::/48", "port": "west", "nexthop": "fd00:a::1"}],
               sids=[{"sid": "5f00:0:200::/48", "behavior": "uN"}])
    else:
        t.net.link(gw, "wan0", pe, "wan0", mtu=WAN_MTU)
        near = port(0, "wan0", "wan", "fd00:a::1/64", mtu=WAN_MTU)
        far = port(0, "wan0", "wan", "fd00:a::2/64", mtu=WAN_MTU)
    north = [sid("200"), sid("400"), sid("e446")] if middle else [sid("400"), sid("e446")]
    t.node(gw, "fd00:0:1::1",
           [near, port(1, "wan1", "wan", "fd00:b::1/64", mtu=WAN_MTU),
            port(2, "dc0", "dc", f"{GATE_A4}/24", f"{GATE_A6}/64", **BLUE)],
           failover=HOLD, bfd_profiles=[DETECT],
           routes=[{"prefix": north[0] + "/48", "port": near["name"], "nexthop": "fd00:a::2"},
                   {"prefix": "5f00:0:500::/48", "port": "wan1", "nexthop": "fd00:b::2"}],
           sids=[{"sid": "5f00:0:100::/48", "behavior": "uN"}, {"sid": "5f00:0:e146::/48", "behavior": "uDT46", **BLUE}],
           vrfs=[{"name": "blue", "routes": over("east", NET_B4, NET_B6)}],
           policies=[{"name": "east", "paths": [{"name": "north", "segments": north},
                                                {"name": "south", "segments": [sid("500"), sid("e446")]}]}])
    t.node(pe, "fd00:0:4::1",
           [far, port(1, "wan1", "wan", "fd00:b::2/64", mtu=WAN_MTU),
            port(2, "dc0", "dc", f"{GATE_B4}/24", f"{GATE_B6}/64", **BLUE)],
           failover=HOLD,
           routes=[{"prefix": "5f00:0:100::/48", "port": "wan1", "nexthop": "fd00:b::1"}],
           vrfs=[{"name": "blue", "routes": over("west", NET_A4, NET_A6)}],
           policies=[{"name": "west", "paths": [{"name": "only", "segments": [sid("100"), sid("e146")]}]}],
           sids=[*({"sid": f"5f00:0:{k}::/48", "behavior": "uN"} for k in ("400", "500")),
                 {"sid": "5f00:0:e446::/48", "behavior": "uDT46", **BLUE}])
    return t


def cable(options):
    return network(options)


def process(options):
    def middle(t, *_):
        t.spaces("n1")
        return (t.memif(0, "mem0", "west", "client", "fd00:a::1/64"), t.memif(0, "mem0", "east", "server", "fd00:c::2/64"),
                [t.memif(0, "west", "west", "server", "fd00:a::2/64"), t.memif(1, "east", "east", "client", "fd00:c::1/64")])

    return network(options, middle)


def dead(options):
    def middle(t, gw, pe):
        n1, = t.spaces("n1")
        t.net.link(gw, "wan0", n1, "west", mtu=WAN_MTU)
        t.net.link(n1, "east", pe, "wan0", mtu=WAN_MTU)
        return (port(0, "wan0", "wan", "fd00:a::1/64", mtu=WAN_MTU, bfd="fast"),
                port(0, "wan0", "wan", "fd00:c::2/64", mtu=WAN_MTU),
                [port(0, "west", "wan", "fd00:a::2/64", mtu=WAN_MTU, bfd="fast"),
                 port(1, "east", "wan", "fd00:c::1/64", mtu=WAN_MTU)])

    return network(options, middle)


# --- what happens ---


def carries(t, *names):
    eventually(lambda: {p["path"] for p in t.nodes["gw"].show("paths") if p["carries"]} == set(names), f"{names} carry traffic")


def both_carry(t):
    """What is lost from here on is lost by a failure: every next hop is resolved, also those behind gw that no packet has used yet."""
    reaches(t.a, B6)
    carries(t, "north", "south")
    for name, node in t.nodes.items():
        eventually(lambda n=node: all(e["state"] in ("resolved", "stale") for e in n.show("neighbors")), f"{name} knows its neighbours")


def drops(t):
    """
    What the nodes drop of the stream. Linux multicasts on an interface that is new; nodes solicit just when a link fails, or
    when it is up for a moment only.
    """
    others = ("multicast", "mac_source", "mac_not_ours", "port_down")
    return {name: {r: n for r, n in t.nodes[name].drops().items() if r not in others} for name in ("gw", "pe")}


def returned(t):
    """All flows pass, by both paths."""
    with Stream(t) as stream:
        return not stream.end()[0]


def flows_move(t, what, fail, mend, limit, under_traffic=True):
    """
    Half of the flows move when their way fails, and return when it is mended. limit: ms of those flows that may be lost, in
    addition to those that fail() returns, if any.
    under_traffic: they return without loss, for nothing behind the next hop must come up as well.
    """
    both_carry(t)
    dropped = drops(t)
    with Stream(t) as stream:
        limit += fail() or 0
        carries(t, "south")
        time.sleep(0.5)
        if under_traffic:
            mend()
            carries(t, "north", "south")
            time.sleep(0.5)
        lost, gaps = stream.end()
    if not under_traffic:
        mend()
        carries(t, "north", "south")
        eventually(lambda: returned(t), "all flows pass")
    # the other flows fill the silence of those that fail, so the loss says more than the gap
    ms = lost / (RATE / 2) * 1000
    print(f"# {what}: {lost} packets lost, {ms:.0f} ms of the flows that moved; B received nothing for {gaps[-1][0] * 1000:.0f} ms at most",
          flush=True)
    expect(ms <= machine.patience(limit), f"{lost} packets lost")
    expect(drops(t) == dropped, f"dropped by a node: {dropped} became {drops(t)}")


def pulled(t):
    """The peer's end goes down: no carrier here."""
    pe = t.net.spaces["pe"]
    flows_move(t, "cable pulled", lambda: pe.ip("link set wan0 down"), lambda: pe.ip("link set wan0 up"), 50)


def queued(t):
    """
    A queue that holds most of a second stands behind the link that fails: it leaves by the other way, and only what the
    device had accepted is lost.
    """
    gw, pe = t.nodes["gw"], t.net.spaces["pe"]
    both_carry(t)
    bits = (SIZE + 100) * 8
    vrf = gw.config["vrfs"][0]
    gw.reload(slices=[{"name": "slow", "id": 1, "max-rate": max(RATE // 4 * bits, 10**6)}], vrfs=[{**vrf, "slice": "slow"}])
    dropped, rebound = drops(t), rebound_of(gw)
    with Stream(t) as stream:
        eventually(lambda: queued_at(gw, "wan0") > 100, "packets are queued")
        had = queued_at(gw, "wan0")
        pe.ip("link set wan0 down")
        carries(t, "south")
        gw.reload(slices=[{"name": "slow", "id": 1}])
        eventually(lambda: not queued_at(gw, "wan0") and not queued_at(gw, "wan1"), "the queues are empty")
        lost, gaps = stream.end()
    print(f"# link failed with {had} packets queued: {lost} packets lost", flush=True)
    pe.ip("link set wan0 up")
    expect(rebound_of(gw) - rebound >= had, f"{rebound_of(gw) - rebound} packets left elsewhere, {had} were queued")
    expect(drops(t) == dropped, f"dropped by a node: {dropped} became {drops(t)}")
    expect(lost <= machine.patience(50) / 1000 * RATE / 4, f"{lost} packets lost")


def queued_at(node, name):
    return sum(p["queued_now"] for p in node.show("queues")["ports"] if p["port"] == name)


def rebound_of(node):
    return sum(p["rebound"] for p in node.show("queues")["ports"])


def made_again(t):
    """The interfaces of both ports are deleted, and others of the same names appear."""
    gw, pe = t.net.spaces["gw"], t.net.spaces["pe"]
    was = gw.mac("wan0")

    def make():
        t.net.link(gw, "wan0", pe, "wan0", mtu=WAN_MTU)
        for space in (gw, pe):
            make_port(space, "wan0")

    flows_move(t, "interface deleted and made again", lambda: gw.ip("link del wan0"), make, 50)
    for name in ("gw", "pe"):
        log = t.nodes[name].log()
        expect("wan0: out of use: its kernel interface was deleted" in log and "wan0: restarted after" in log, f"{name}: {log}")
        stats = next(p for p in t.nodes[name].show("port stats all") if p["port"] == "wan0")
        expect(stats["restarts"] == 1, f"{stats}")
    expect(gw.mac("wan0") == was, "the port has another MAC address")


def killed(t):
    """The process at the other end of two memif links dies, as server of gw and as client of pe, and is started again."""
    n1 = t.nodes["n1"]

    def kill():
        # the kernel closes the socket, by which memif notices, after it has taken the memory of the process apart; the other end
        # must then get a CPU to notice
        began = time.monotonic()
        n1.kill()
        return (time.monotonic() - began) * 1000

    flows_move(t, "process killed", kill, n1.start, 250, False)
    log = t.nodes["gw"].log()
    expect("mem0: out of use: not connected to its memif server" in log and "mem0: restarted after" in log, log)


def killed_often(t):
    for _ in range(3):
        killed(t)


def stands_still(t):
    """Its links stay up: BFD finds out."""
    process = t.nodes["n1"].process

    def child():
        # the process of ip netns exec has become sluice
        return process.pid

    began = len(t.nodes["gw"].log())
    flows_move(t, "neighbour stands still", lambda: os.kill(child(), signal.SIGSTOP), lambda: os.kill(child(), signal.SIGCONT),
               3 * DETECT["transmit"] / 1000 + 100, False)
    expect("control detection time expired" in t.nodes["gw"].log()[began:], t.nodes["gw"].log())


def is_stopped(t):
    """It says AdminDown before it stops, and forwards until its neighbours send elsewhere: nothing is lost."""
    n1 = t.nodes["n1"]
    began = len(t.nodes["gw"].log())

    def stop():
        problems = n1.stop()
        expect(not problems, f"{problems}")

    flows_move(t, "neighbour stopped", stop, n1.start, 0, False)
    log = t.nodes["gw"].log()[began:]
    expect("administratively down there" in log and "detection time expired" not in log, log)


def up_with_bfd(t):
    eventually(lambda: all(s["state"] == "Up" for s in t.nodes["gw"].show("bfd sessions")), "the session is up")
    both_carry(t)


GROUPS = [
    ("cable", cable, [("pulled and put back", pulled), ("pulled with packets queued behind it", queued),
                      ("interface deleted and made again", made_again)]),
    ("process", process, [("memif peer killed and started again", killed), ("and again", killed_often)]),
    ("dead", dead, [("BFD session comes up", up_with_bfd), ("neighbour stands still, its links up", stands_still),
                    ("neighbour is stopped and started again", is_stopped)]),
]
