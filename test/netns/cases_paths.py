# SPDX-License-Identifier: BSD-3-Clause
"""
Weighted paths and long packets through kernel routers (RFC 8986 5.1, 5.2; draft-filsfils-spring-srv6-ai-backend-00 5).

    paths     A -- gw == r1 == pe -- B     two paths, three flows of four over r1
                   gw == r2 == pe

Every packet is watched in front of r1 and r2, with the UDP source port as the flow's name.
"""

from checks import expect, reaches, roce
from net import make_router
from node import over, port
from topology import B4, B6, GATE_A4, GATE_A6, GATE_B4, GATE_B6, NET_A4, NET_A6, NET_B4, NET_B6, NEXT_CSID, WAN_MTU
from topology import Topology, seg6local, sid

SOURCES, FLOWS, EACH = "fd00:0:1:ff::/64", 64, 4
NORTH, SOUTH = "north", "south"


def towards_pe(north, south, **south_more):
    """Path n of the policy has source address ...ff::n."""
    return [{"name": "east", "source-prefix": SOURCES,
             "paths": [{"name": NORTH, "segments": [sid("200"), sid("400"), sid("e446")], "weight": north},
                       {"name": SOUTH, "segments": [sid("500"), sid("400"), sid("e446")], "weight": south, **south_more}]}]


def gw_routes(*ways):
    hops = {NORTH: ("wan0", "fd00:a::2"), SOUTH: ("wan1", "fd00:b::2")}
    ids = {"5f00:0:200::/48": NORTH, "5f00:0:500::/48": SOUTH, "fd00:0:4::/48": ways[0]}
    return [{"prefix": p, "port": hops[w][0], "nexthop": hops[w][1]} for p, w in ids.items() if w in ways]


def paths(options):
    t = Topology(options)
    a, gw, r1, r2, pe, b = t.spaces("a", "gw", "r1", "r2", "pe", "b")
    t.a, t.b = a, b
    t.net.link(a, "eth0", gw, "dc0")
    t.net.link(pe, "dc0", b, "eth0")
    t.hosts()
    t.watched = {}
    for n, (router, name, csid) in enumerate(((r1, NORTH, "200"), (r2, SOUTH, "500"))):
        t.net.link(gw, f"wan{n}", router, "west", mtu=WAN_MTU)
        t.net.link(router, "east", pe, f"wan{n}", mtu=WAN_MTU)
        make_router(router)
        near, far = (("fd00:a::", "fd00:c::"), ("fd00:b::", "fd00:d::"))[n]
        router.ip(f"addr add {near}2/64 dev west nodad", f"addr add {far}1/64 dev east nodad",
                  f"route add 5f00:0:400::/48 via {far}2", f"route add fd00:0:4::/48 via {far}2",
                  f"route add 5f00:0:100::/48 via {near}1", f"route add fd00:0:1::/48 via {near}1")
        seg6local(router, f"5f00:0:{csid}::/48", f"End {NEXT_CSID}", "west")
        t.watched[name] = t.watch(router, "west")
    tenant = {"sids": [{"sid": "5f00:0:100::/48", "behavior": "uN"},
                       {"sid": "5f00:0:e146::/48", "behavior": "uDT46", "vrf": "blue"}]}
    t.node(gw, "fd00:0:1::1",
           [port(0, "wan0", "wan", "fd00:a::1/64", mtu=WAN_MTU), port(1, "wan1", "wan", "fd00:b::1/64", mtu=WAN_MTU),
            port(2, "dc0", "dc", f"{GATE_A4}/24", f"{GATE_A6}/64", vrf="blue")],
           routes=gw_routes(NORTH, SOUTH), vrfs=[{"name": "blue", "routes": over("east", NET_B4, NET_B6)}],
           policies=towards_pe(3, 1), **tenant)
    t.node(pe, "fd00:0:4::1",
           [port(0, "wan0", "wan", "fd00:c::2/64", mtu=WAN_MTU), port(1, "wan1", "wan", "fd00:d::2/64", mtu=WAN_MTU),
            port(2, "dc0", "dc", f"{GATE_B4}/24", f"{GATE_B6}/64", vrf="blue")],
           routes=[{"prefix": p, "port": "wan0", "nexthop": "fd00:c::1"} for p in ("5f00:0:200::/48", "fd00:0:1::/48")],
           vrfs=[{"name": "blue", "routes": over("west", NET_A4, NET_A6)}],
           policies=[{"name": "west", "paths": [{"name": "only", "segments": [sid("200"), sid("100"), sid("e146")]}]}],
           sids=[{"sid": "5f00:0:400::/48", "behavior": "uN"}, {"sid": "5f00:0:e446::/48", "behavior": "uDT46", "vrf": "blue"}])
    t.gw = t.nodes["gw"]
    return t


class Packet:
    """The fields of a packet on the wan: outer source and flow label, and the inner flow."""

    def __init__(self, frame):
        self.source, self.label = frame[22:38], int.from_bytes(frame[15:18], "big") & 0xFFFFF
        inner = 54 + (20 if frame[54] >> 4 == 4 else 40)
        self.flow = int.from_bytes(frame[inner:inner + 2], "big")


def spread(t, address, flows=FLOWS):
    """Send, and return the path of each flow: flow -> path."""
    for station in t.watched.values():
        station.forget()
    roce(t.a, t.b, address, flows=flows, count=EACH, size=64)
    used, labels = {}, {}
    for n, (name, station) in enumerate(t.watched.items()):
        for frame in station.take():
            if frame[12:14] != b"\x86\xdd" or frame[20] not in (4, 41):
                continue
            packet = Packet(frame)
            used.setdefault(packet.flow, set()).add(name)
            labels.setdefault(packet.flow, set()).add(packet.label)
            expect(packet.source[:8] == bytes.fromhex("fd000000000100ff") and packet.source[8:] == (n + 1).to_bytes(8, "big"),
                   f"source {packet.source.hex(':')} on path {name}")
    expect(len(used) == flows and all(len(p) == 1 for p in used.values()), f"not one path a flow: {used}")
    expect(all(len(x) == 1 and 0 not in x for x in labels.values()), f"not one flow label a flow: {labels}")
    expect(len(set.union(*labels.values())) > flows // 2, "flows hardly differ in their flow labels")
    return {flow: next(iter(p)) for flow, p in used.items()}


def share(used):
    return sum(p == NORTH for p in used.values()) / len(used)


def by_weight(t, address):
    t.gw.reload(policies=towards_pe(3, 1))
    reaches(t.a, address)
    used = spread(t, address)
    expect(0.6 < share(used) < 0.9, f"{share(used):.0%} of the flows go north, weights are 3 to 1")
    expect(used == spread(t, address), "a flow has changed its path")


def reweighted(t):
    """Half and half: only flows that must move do."""
    before = spread(t, B6)
    t.gw.reload(policies=towards_pe(1, 1))
    after = spread(t, B6)
    expect(0.35 < share(after) < 0.65, f"{share(after):.0%} of the flows go north, weights are equal")
    expect(all(after[f] == SOUTH for f, p in before.items() if p == SOUTH), "a flow went where none had to go")


def backup(t):
    """South carries nothing while north is usable."""
    t.gw.reload(policies=towards_pe(1, 1, backup=True))
    expect(set(spread(t, B6).values()) == {NORTH}, "the backup is used")
    t.gw.reload(routes=gw_routes(SOUTH))
    expect(set(spread(t, B6).values()) == {SOUTH}, "the backup is not used")
    t.gw.reload(routes=gw_routes(NORTH, SOUTH))
    expect(set(spread(t, B6).values()) == {NORTH}, "the first path is not used again")


PATHS = [
    ("weights 3 to 1, IPv4: a path a flow, a source a path, a flow label a flow", lambda t: by_weight(t, B4)),
    ("weights 3 to 1, IPv6", lambda t: by_weight(t, B6)),
    ("weights change while it runs: only flows that must move do", reweighted),
    ("a backup carries everything once the other path leads nowhere", backup),
]

GROUPS = [("paths", paths, PATHS)]
