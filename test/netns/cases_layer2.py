# SPDX-License-Identifier: BSD-3-Clause
"""
Ethernet frames through tunnels: H.Encaps.L2 and H.Encaps.L2.Red against End.DX2 (RFC 8986 5.3, 5.4, 4.9).

    layer2    A -- k1 == s1 -- B       one side Linux, the other side sluice: a circuit, and a DX2 SID for the way back
    circuit   A -- s1 == r == s2 -- B  stations and a kernel router in the core: frames of every kind, by VLAN
"""

import struct

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, LLC, STP, Dot1AD, Dot1Q, Dot3, Ether
from scapy.packet import Raw

from cases_pfc import MAC_A, MAC_B
from checks import MLD, Lossless, eventually, expect, pings, reaches, roce, transfer
from net import make_router
from node import port, via
from pfc import FULL, pfc
from topology import (
    A4, A6, B4, B6, GATE_A4, GATE_A6, GATE_B4, GATE_B6, NET_B4, NET_B6, NEXT_CSID, U1, U2, WAN_MTU, Topology, beside,
    encaps, kernel_edge, seg6local, sid,
)

K_END, K_DX2, S_END, S_DX2 = "5f00:1:1:1::", "5f00:1:1:d2::", "5f00:1:2:1::", "5f00:1:2:d2::"
SHORT, LONG = [sid("100"), sid("e102")], [K_END, K_DX2]  # one container; two SIDs of another block, so with an SRH


def pseudowire(encap, *segments):
    return [{"name": "pw", "encap": encap, "paths": [{"name": "only", "segments": list(segments)}]}]


def layer2(options):
    t, k1, s1 = beside(options)
    # Linux encapsulates whole frames that it routes: it has B's MAC address towards A; B in turn knows A by its own
    k1.ip(f"link set hosts0 address {t.b.mac('eth0')}")
    t.b.ip(*(f"neigh replace {gate} lladdr {t.a.mac('eth0')} dev eth0" for gate in (GATE_B4, GATE_B6)))
    kernel_edge(k1, "fd00:0:1::1", "wan0", "fd00:a::1/64", GATE_A4, GATE_A6)
    k1.ip("route add 5f00::/16 via fd00:a::2", "route add fd00::/16 via fd00:a::2")
    seg6local(k1, U1, f"End {NEXT_CSID}", "wan0")
    seg6local(k1, f"{K_END}/64", "End", "wan0")
    for prefix in ("5f00:0:e102::/48", f"{K_DX2}/64"):
        seg6local(k1, prefix, "End.DX2 oif hosts0", "hosts0")
    t.node(s1, "fd00:0:2::1", [port(0, "wan0", "wan", "fd00:a::2/64", mtu=WAN_MTU), port(1, "dc0", "dc")],
           routes=via("wan0", "fd00:a::1", "5f00::/16", "fd00::/16"),
           sids=[{"sid": U2, "behavior": "uN"}, {"sid": "5f00:0:e2d2::/48", "behavior": "uDX2", "port": "dc0"},
                 {"sid": f"{S_END}/64", "behavior": "End"}, {"sid": f"{S_DX2}/64", "behavior": "End.DX2", "port": "dc0"}],
           policies=pseudowire("H.Encaps.L2.Red", *SHORT), circuits=[{"name": "pw", "port": "dc0", "policy": "pw"}])
    t.s1 = t.nodes["s1"]
    return t


def both_ways(t, linux_mode, linux_segments, sluice_encap, sluice_segments):
    encaps(t.k1, linux_mode, linux_segments, NET_B4, NET_B6)
    t.s1.reload(policies=pseudowire(sluice_encap, *sluice_segments))
    reaches(t.a, B4)
    with Lossless(t, MLD):
        for target in (B4, B6):
            pings(t.a, target, count=2, size=1400)
        for target in (A4, A6):
            pings(t.b, target, count=2)


def bulk(t):
    with Lossless(t, MLD):
        transfer(t.a, t.b, B4, size=20_000_000)
        transfer(t.b, t.a, A6, size=20_000_000)
        roce(t.a, t.b, B6, count=100)


LAYER2 = [
    ("l2encap.red to uDX2, H.Encaps.L2.Red to End.DX2: one container, no SRH",
     lambda t: both_ways(t, "l2encap.red", ["5f00:0:200:e2d2::"], "H.Encaps.L2.Red", SHORT)),
    ("the same: TCP both ways and RoCEv2, no drop", bulk),
    ("l2encap to uDX2, H.Encaps.L2 to End.DX2: one container",
     lambda t: both_ways(t, "l2encap", ["5f00:0:200:e2d2::"], "H.Encaps.L2", SHORT)),
    ("l2encap.red to End and End.DX2, H.Encaps.L2.Red to both of Linux: reduced SRH",
     lambda t: both_ways(t, "l2encap.red", [S_END, S_DX2], "H.Encaps.L2.Red", LONG)),
    ("l2encap to End and End.DX2, H.Encaps.L2 to both of Linux: full SRH",
     lambda t: both_ways(t, "l2encap", [S_END, S_DX2], "H.Encaps.L2", LONG)),
]

# --- circuit

MARK = b"live circuit "


def circuit(options):
    """
    A to B: VLAN 10 through a container, VLAN 20 with an SRH to a port of its own, what is untagged through its own
    circuit, and the rest. B to A: everything through one.
    """
    t = Topology(options)
    a, s1, r, s2, b = t.spaces("a", "s1", "r", "s2", "b")
    t.net.link(a, "eth0", s1, "dc0", mtu=1508)
    t.net.link(s1, "wan0", r, "west", mtu=1700)
    t.net.link(r, "east", s2, "wan0", mtu=1700)
    for n in range(2):
        t.net.link(s2, f"dc{n}", b, f"eth{n}", mtu=1508)
    t.a, t.b, t.core = t.station(a, MAC_A, "eth0"), t.station(b, MAC_B, "eth0", "eth1"), t.watch(r, "west")
    make_router(r)
    r.ip("addr add fd00:a::2/64 dev west nodad", "addr add fd00:b::1/64 dev east nodad",
         "route add 5f00:0:100::/48 via fd00:a::1", "route add fd00:0:1::/48 via fd00:a::1",
         "route add 5f00:0:300::/48 via fd00:b::2", "route add 5f00:1:3::/48 via fd00:b::2")
    seg6local(r, U2, f"End {NEXT_CSID}", "west")
    t.node(s1, "fd00:0:1::1", [port(0, "wan0", "wan", "fd00:a::1/64", mtu=1700), port(1, "dc0", "dc", mtu=1508)],
           routes=via("wan0", "fd00:a::2", "5f00::/16", "fd00::/16"),
           sids=[{"sid": U1, "behavior": "uN"}, {"sid": "5f00:0:e1d0::/48", "behavior": "uDX2", "port": "dc0"}],
           policies=[{**pseudowire("H.Encaps.L2.Red", sid("200"), sid("300"), last)[0], "name": name}
                     for name, last in (("ten", sid("e3d0")), ("plain", sid("e3d0")), ("rest", sid("e3d1")))] +
           [{**pseudowire("H.Encaps.L2", sid("200"), "5f00:1:3:1::", "5f00:1:3:d1::")[0], "name": "twenty"}],
           circuits=[{"name": name, "port": "dc0", "policy": name, **({"vlan": vlan} if vlan is not None else {})}
                     for name, vlan in (("ten", 10), ("twenty", 20), ("plain", 0), ("rest", None))])
    t.node(s2, "fd00:0:3::1",
           [port(0, "wan0", "wan", "fd00:b::2/64", mtu=1700),
            *(port(1 + n, f"dc{n}", "dc", mtu=1508) for n in range(2))],
           routes=via("wan0", "fd00:b::1", "5f00::/16", "fd00::/16"),
           sids=[{"sid": "5f00:0:300::/48", "behavior": "uN"}, {"sid": "5f00:1:3:1::/64", "behavior": "End"},
                 {"sid": "5f00:0:e3d0::/48", "behavior": "uDX2", "port": "dc0"},
                 {"sid": "5f00:0:e3d1::/48", "behavior": "uDX2", "port": "dc1"},
                 {"sid": "5f00:1:3:d1::/64", "behavior": "End.DX2", "port": "dc1"}],
           policies=pseudowire("H.Encaps.L2.Red", sid("200"), sid("100"), sid("e1d0")),
           circuits=[{"name": "back", "port": "dc0", "policy": "pw"}])
    return t


def payloads():
    yield "IPv4", IP(src="192.0.2.1", dst="192.0.2.2") / UDP(sport=1, dport=2)
    yield "IPv6, 1500 bytes", IPv6(src="2001:db8::1", dst="2001:db8::2") / UDP(sport=1, dport=2) / Raw(bytes(1435))
    yield "ARP", ARP(psrc="192.0.2.1", pdst="192.0.2.2")
    yield "unknown to everybody", None


def frames(*tags):
    """(name, frame) of every kind with these tags; each frame has a unique mark."""
    for n, (name, payload) in enumerate(payloads()):
        frame = Ether(src=MAC_A, dst="ff:ff:ff:ff:ff:ff" if name == "ARP" else MAC_B)
        for tag in tags:
            frame = frame / tag.copy()
        if payload is None:
            frame.lastlayer().type = 0x88B5
        yield name, bytes((frame / payload if payload is not None else frame) / Raw(MARK + struct.pack("!I", n)))


def marked(station, interface):
    return [f for f in station.take(interface) if MARK in f]


def tpid_of_af_packet(frame):
    """Linux removes the outer tag of frames that it passes to af_packet, and DPDK 22.11 puts it back as one of 802.1Q."""
    return frame[:12] + b"\x81\0" + frame[14:] if frame[12:14] == b"\x88\xa8" else frame


def carried(t, sender, sent, receiver, interface, mask=lambda f: f):
    """These frames, in order, and nothing else; byte for byte but for a deviation that has a name."""
    found = []
    receiver.forget()
    sender.send(*sent)
    eventually(lambda: found.extend(marked(receiver, interface)) or len(found) >= len(sent), f"{len(sent)} frames come")
    for was, now in zip(sent, found, strict=True):
        expect(mask(was) == now, f"sent {was[:40].hex()}... of {len(was)} bytes, came {now[:40].hex()}... of {len(now)}")
    expect(mask is not tpid_of_af_packet or sent != found, "802.1ad is kept: the mask is no longer needed")
    others = [i for i in receiver.interfaces if i != interface and marked(receiver, i)]
    expect(not others, f"came by {others}, too")


def crosses(t, interface, *tags, container, **how):
    """By this circuit: out of that interface, with this destination on the wan."""
    t.core.forget()
    with Lossless(t, MLD):
        carried(t, t.a, [f for _, f in frames(*tags)], t.b, interface, **how)
    outer = {IPv6(f[14:]).dst for f in marked(t.core, "west")}
    expect(outer == {container}, f"on the wan to {outer}")


def back(t):
    with Lossless(t, MLD):
        for tags in ((), (Dot1Q(vlan=10, prio=3),), (Dot1Q(vlan=30, prio=7), Dot1Q(vlan=1))):
            carried(t, t.b, [f for _, f in frames(*tags)], t.a, "eth0")


def link_protocols(t):
    """STP and LLDP are the far end's business; PFC and PAUSE are not."""
    t.b.forget()
    stp = Dot3(src=MAC_A, dst="01:80:c2:00:00:00") / LLC() / STP() / Raw(MARK)
    drops = t.nodes["s1"].drops().get("mac_control", 0)
    t.a.send(pfc(MAC_A, {3: FULL}), pfc(MAC_A, {3: FULL})[:14] + b"\0\1\xff\xff" + bytes(42),
             bytes(stp), bytes(Ether(src=MAC_A, dst="01:80:c2:00:00:0e", type=0x88CC) / Raw(MARK)))
    found = []
    eventually(lambda: found.extend(t.b.take("eth0")) or len([f for f in found if MARK in f]) == 2, "STP and LLDP come")
    expect(all(f[12:14] != b"\x88\x08" for f in found), "MAC control crosses the circuit")
    expect(t.nodes["s1"].drops().get("mac_control", 0) == drops + 2, f"{t.nodes['s1'].drops()}")


CIRCUIT = [
    ("VLAN 10: one container", lambda t: crosses(t, "eth0", Dot1Q(vlan=10, prio=3), container="5f00:0:200:300:e3d0::")),
    ("VLAN 20: SRH, another port", lambda t: crosses(t, "eth1", Dot1Q(vlan=20, prio=5), container="5f00:0:200::")),
    ("untagged", lambda t: crosses(t, "eth0", container="5f00:0:200:300:e3d0::")),
    ("priority-tagged", lambda t: crosses(t, "eth0", Dot1Q(vlan=0, prio=5), container="5f00:0:200:300:e3d0::")),
    ("the rest: VLAN 30, tags inside kept",
     lambda t: crosses(t, "eth1", Dot1Q(vlan=30, id=1), Dot1Q(vlan=10, prio=1), container="5f00:0:200:300:e3d1::")),
    ("802.1ad outside, 802.1Q inside (af_packet: outer one becomes 802.1Q)",
     lambda t: crosses(t, "eth0", Dot1AD(vlan=10, prio=4), Dot1Q(vlan=20), container="5f00:0:200:300:e3d0::",
                       mask=tpid_of_af_packet)),
    ("802.1ad inside 802.1Q",
     lambda t: crosses(t, "eth0", Dot1Q(vlan=10, prio=4), Dot1AD(vlan=20), container="5f00:0:200:300:e3d0::")),
    ("the way back", back),
    ("STP and LLDP cross, PFC and PAUSE do not", link_protocols),
]

GROUPS = [("layer2", layer2, LAYER2), ("circuit", circuit, CIRCUIT)]
