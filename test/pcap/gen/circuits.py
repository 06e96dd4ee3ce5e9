# SPDX-License-Identifier: BSD-3-Clause
"""Attachment circuits: Ethernet frames of a port or a VLAN into a tunnel; out of it see behaviors.py."""

from scapy.compat import raw
from scapy.layers.l2 import ARP

from gen.behaviors import frame
from gen.case import Case, Frame
from gen.headend import SHORT_LIST, usids
from gen.node import mac_of, neighbor, node, over, policy, port, sid, vrf
from gen.topology import GATE_A, GATE_A4, NET_B, NET_B4, P1_OWN, P1_PEER, to_p1
from gen.wire import (
    DEST_OPTIONS, ETHERNET, FLOW_LABEL, HOST_A, HOST_A4, dest_options, encaps_l2, encaps_red, ip6, roce4, roce6,
)

VLAN100, VLAN200, VLAN300 = (0x8100, 100, 3), (0x8100, 200, 5), (0x8100, 300, 0)
ARP_REQUEST = raw(ARP(pdst="192.0.2.1", psrc="192.0.2.2", hwsrc="02:aa:00:00:00:01"))
DSCP = 0x6A & ~3  # of the RoCE packets; no ECN is copied from a frame


def circuit(name, policy_name="pw", **more):
    return {"name": name, "port": "p0", "policy": policy_name, **more}


def with_circuits(*circuits, encap="H.Encaps.L2", lists=(SHORT_LIST,), mtu=1600, p0_mtu=1500, **policy_keys):
    """p0 outside with a tenant's addresses and circuits, p1 inside; frames go through the policy "pw"."""
    pw = policy("pw", *lists, **{"flow_label": FLOW_LABEL, "encap": encap, **policy_keys})
    other = policy("other", ["5f00:0:600::", "5f00:0:e1ff::"], flow_label=FLOW_LABEL, encap="H.Encaps.L2.Red")
    far = policy("far", SHORT_LIST, flow_label=FLOW_LABEL)
    return node(
        [
            port("p0", "dc", f"{GATE_A}/64", f"{GATE_A4}/24", vrf="tenant", mtu=p0_mtu),
            port("p1", "wan", f"{P1_OWN}/64", mtu=mtu),
        ],
        neighbors=[neighbor("p0", HOST_A), neighbor("p0", HOST_A4), neighbor("p1", P1_PEER)],
        routes=to_p1("5f00::/16"),
        vrfs=[vrf("tenant", *over("far", NET_B, NET_B4))],
        sids=[sid("5f00:0:e1aa::/48", "uDX2", port="p0")],
        policies=[pw, other, far],
        circuits=list(circuits),
    )


def kinds():
    """Frames of every kind, and the traffic class of the packet that carries them."""
    for tags in ((), (VLAN100,), (VLAN200,), ((0x88A8, 7, 6), VLAN100), ((0x88A8, 100, 0), VLAN200)):
        yield frame(tags=tags), DSCP
        yield frame(roce4(), tags=tags, type=0x0800), DSCP
        yield frame(ARP_REQUEST, tags=tags, type=0x0806, dst="ff:ff:ff:ff:ff:ff"), 0
        yield frame(bytes(46), tags=tags, type=0x88B5), 0
    yield frame(b"\x42\x42\x03" + bytes(43), type=46, dst="01:80:c2:00:00:00"), 0
    yield frame(bytes(46), type=0x88CC, dst="01:80:c2:00:00:0e"), 0
    yield frame(roce6(), dst=mac_of("p0")), DSCP
    yield frame(b""), 0  # IPv6 is announced, none is there
    yield frame(roce6() + bytes(20)), DSCP  # padding is the frame's


def whole_port():
    for name, encap, n in (("l2_1", "H.Encaps.L2", 3), ("l2_7", "H.Encaps.L2", 7), ("l2_red_7", "H.Encaps.L2.Red", 7)):
        case = Case(
            f"circuit_{name}",
            f"{encap}, {n} uSIDs: all frames of a port, tags and padding and all",
            "RFC 8986 5.3, 5.4; docs/protocol.md 3.4",
            with_circuits(circuit("pw1"), encap=encap, lists=[usids(n)]),
        )
        for f, tc in kinds():
            case.passes("p0", Frame(f), "p1", encaps_l2(f, usids(n), tc, "Red" in encap))
        yield case
    case = Case(
        "circuit_refused",
        "frames that no circuit carries: PAUSE, forged sources, too long ones",
        "IEEE 802.1Q; docs/protocol.md 3.4",
        with_circuits(circuit("pw1"), mtu=1554, p0_mtu=2000),
    )
    f = frame(bytes(1500), type=0x88B5)
    case.passes("p0", Frame(f), "p1", encaps_l2(f, SHORT_LIST))
    case.dropped("p0", Frame(frame(bytes(1501), type=0x88B5)), "too_big")
    case.dropped("p0", Frame(frame(bytes(1497), tags=[VLAN100], type=0x88B5)), "too_big")
    case.dropped("p0", Frame(frame(bytes(46), type=0x8808, dst="01:80:c2:00:00:01")), "mac_control")
    case.dropped("p0", Frame(frame(src="03:00:00:00:00:01")), "mac_source")
    case.dropped("p0", Frame(frame(b"", type=0x8100)), "truncated")
    case.dropped("p0", Frame(frame()[:13]), "truncated")
    yield case


def by_vlan():
    case = Case(
        "circuit_vlans",
        "VLANs of a port to different tunnels; untagged ones stay with the tenant, others are nobody's",
        "RFC 8986 5.3; IEEE 802.1Q 9.6",
        with_circuits(circuit("a", vlan=100), circuit("b", "other", vlan=200)),
    )
    other = ["5f00:0:600::", "5f00:0:e1ff::"]
    for tags, segments in (
        ((VLAN100,), SHORT_LIST),
        ((VLAN200,), other),
        (((0x88A8, 100, 1), VLAN300), SHORT_LIST),
        (((0x88A8, 200, 1), VLAN100), other),
    ):
        for payload, kind in ((roce6(), 0x86DD), (roce4(), 0x0800)):
            f = frame(payload, tags=tags, type=kind)
            case.passes("p0", Frame(f), "p1", encaps_l2(f, segments, DSCP))
    for inner in (roce6(), roce4()):
        case.passes("p0", inner, "p1", encaps_red(inner, SHORT_LIST))
    priority_tagged = frame(tags=[(0x8100, 0, 3)], dst=mac_of("p0"))
    case.passes("p0", Frame(priority_tagged), "p1", encaps_red(roce6(), SHORT_LIST))
    for tags in ((VLAN300,), ((0x88A8, 300, 1), VLAN100)):
        case.dropped("p0", Frame(frame(tags=tags, dst=mac_of("p0"))), "vlan")
    yield case
    case = Case(
        "circuit_rest",
        "one VLAN apart, untagged and priority-tagged frames apart, and all the rest",
        "RFC 8986 5.3; IEEE 802.1Q 9.6",
        with_circuits(circuit("rest"), circuit("a", "other", vlan=100), circuit("u", "other", vlan=0)),
    )
    for tags, segments in (
        ((), other),
        (((0x8100, 0, 3),), other),
        ((VLAN100,), other),
        ((VLAN200,), SHORT_LIST),
        (((0x8100, 4095, 3),), SHORT_LIST),
        (((0x88A8, 7, 1), VLAN100), SHORT_LIST),
    ):
        f = frame(tags=tags)
        case.passes("p0", Frame(f), "p1", encaps_l2(f, segments, DSCP))
    yield case


def classes():
    case = Case(
        "circuit_dscp",
        "outer DSCP from the packet in the frame, tenants' 48 to 63 lowered; no ECN, the far end could not hand it on",
        "RFC 2983; RFC 6040 4.1; docs/design.md 4",
        with_circuits(circuit("pw1")),
    )
    fixed = Case(
        "circuit_dscp_set",
        "outer DSCP of the policy, ECN Not-ECT",
        "RFC 2983; RFC 6040 4.1",
        with_circuits(circuit("pw1"), dscp="set", dscp_value=46),
    )
    for dscp in range(64):
        for tags in ((), (VLAN100,)):
            tos = dscp << 2 | dscp % 4
            for payload, kind in ((roce6(tc=tos), 0x86DD), (roce4(tos=tos), 0x0800)):
                f = frame(payload, tags=tags, type=kind)
                case.passes("p0", Frame(f), "p1", encaps_l2(f, SHORT_LIST, (dscp if dscp < 48 else 40) << 2))
                fixed.passes("p0", Frame(f), "p1", encaps_l2(f, SHORT_LIST, 46 << 2))
    yield case
    yield fixed


def long_ones():
    case = Case(
        "circuit_jumbo",
        "frames longer than a buffer, and headers longer than a headroom",
        "RFC 8986 5.3; docs/design.md 2 rule 7",
        with_circuits(circuit("pw1"), lists=[usids(37)], mtu=9500, p0_mtu=9216),
    )
    for size in (46, 1900, 2033, 2034, 2035, 4000, 9000):
        f = frame(bytes(i & 0xFF for i in range(size)), type=0x88B5)
        case.passes("p0", Frame(f), "p1", encaps_l2(f, usids(37)))
    f = frame(roce6(size=3000), tags=[VLAN100])
    case.passes("p0", Frame(f), "p1", encaps_l2(f, usids(37), DSCP))
    yield case


def there_and_back():
    """Frames that enter on one side leave on the other; both ends are this node."""
    case = Case(
        "circuit_back",
        "frames out of the tunnel to the port of the circuits, whatever their tags",
        "RFC 8986 4.9, 5.3",
        with_circuits(circuit("pw1")),
    )
    for f, _ in kinds():
        packet = ip6("2001:db8:b::1", "5f00:0:e1aa::", f, ETHERNET)
        case.passes("p1", packet, "p0", Frame(f))
        packet = ip6("2001:db8:b::1", "5f00:0:e1aa::", dest_options(ETHERNET) + f, DEST_OPTIONS)
        case.passes("p1", packet, "p0", Frame(f))
    yield case


def cases():
    for family in (whole_port, by_vlan, classes, long_ones, there_and_back):
        yield from family()
