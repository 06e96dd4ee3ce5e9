# SPDX-License-Identifier: BSD-3-Clause
"""VLAN interfaces: tagged frames into VRFs and out of them, and packets of the node itself."""

from scapy.compat import raw
from scapy.layers.l2 import Dot1Q

from gen.behaviors import frame
from gen.case import Case, Frame, from_node, to_node
from gen.circuits import circuit
from gen.headend import SHORT_LIST, usids
from gen.neighbor import (
    BROADCAST, BURST, MAC1, MAC2, NETWORK_CONTROL, NO_MAC, PATIENCE, Timeline, advert, arp, arp_out, group_mac, group_of,
    solicit,
)
from gen.node import ONE_LCORE, PEER_MAC, mac_of, neighbor, node, over, policy, port, sid, via, vrf
from gen.topology import GATE_A, GATE_A4, MANY_ERRORS, NET_B, NET_B4, P0_OWN, P0_PEER, P1_OWN, P1_PEER, to_p0, to_p1
from gen.wire import (
    FLOW_LABEL, HOST_A, HOST_A4, HOST_B, HOST_B4, PEER, address_unreachable, decap, echo4, echo6, echo_reply4, echo_reply6,
    encaps_l2, encaps_red, fragments4, hop, hop_limit, no_route, roce4, roce6, set4, shift, time_exceeded, too_big, tunnel,
)

Q, AD = 0x8100, 0x88A8
OTHER_LIST = ["5f00:0:600::", "5f00:0:e1ff::"]
THIRD_LIST = ["5f00:0:700::", "5f00:0:e1fe::"]
LINK_LOCAL0 = "fe80::ff:fe00:d000"


def interface(name, vlan, *addresses, port_name="p0", **more):
    return {"name": name, "port": port_name, "vlan": vlan, "addresses": list(addresses), **more}


def tagged(f, *tags):
    """A frame with tags (type, VLAN, priority) behind its addresses, outermost first."""
    for kind, vlan, priority in reversed(tags):
        f = f[:12] + kind.to_bytes(2, "big") + raw(Dot1Q(vlan=vlan, prio=priority))[:2] + f[12:]
    return Frame(f)


def tenants(*interfaces, p0_mtu=1500, mtu=1500, circuits=(), neighbors=(), **more):
    """
    p0 is a trunk of tenants, who all use the same addresses: "red", "blue" and "green" each have a policy of their own, and
    what is not tagged belongs to "tenant".
    """
    lists = {"tenant": usids(4), "red": SHORT_LIST, "blue": OTHER_LIST, "green": THIRD_LIST}
    static = [neighbor(name, a) for name in ["p0", *(i["name"] for i in interfaces)] for a in (HOST_A, HOST_A4)]
    return node(
        [
            port("p0", "dc", f"{GATE_A}/64", f"{GATE_A4}/24", vrf="tenant", mtu=p0_mtu),
            port("p1", "wan", f"{P1_OWN}/64", mtu=mtu),
        ],
        interfaces=list(interfaces),
        neighbors=[*static, neighbor("p1", P1_PEER), *neighbors],
        routes=to_p1("5f00::/16"),
        vrfs=[vrf(name, *over(f"to-{name}", NET_B, NET_B4)) for name in lists],
        policies=[policy(f"to-{name}", segments, flow_label=FLOW_LABEL) for name, segments in lists.items()]
        + [policy("pw", SHORT_LIST, flow_label=FLOW_LABEL, encap="H.Encaps.L2")],
        circuits=list(circuits),
        **more,
    )


GATES = f"{GATE_A}/64", f"{GATE_A4}/24"
RED = interface("p0.100", 100, *GATES, vrf="red")
BLUE = interface("p0.200", 200, *GATES, vrf="blue")
GREEN = interface("p0.300.7", 300, *GATES, vrf="green", inner_vlan=7)


def into_vrfs():
    case = Case(
        "vlan_tenants",
        "tagged frames of one port, the same addresses inside, into the VRF of their VLAN; those without a tag into the port's",
        "IEEE 802.1Q 6.9; RFC 8986 5.2",
        tenants(RED, BLUE, GREEN),
    )
    for tags, segments in (
        ((), usids(4)),
        (((Q, 0, 5),), usids(4)),
        (((Q, 100, 0),), SHORT_LIST),
        (((Q, 100, 7),), SHORT_LIST),
        (((Q, 200, 3),), OTHER_LIST),
        (((AD, 300, 3), (Q, 7, 3)), THIRD_LIST),
    ):
        for inner in (roce6(), roce4()):
            case.passes("p0", tagged(to_node("p0", inner), *tags), "p1", encaps_red(inner, segments))
    yield case
    case = Case(
        "vlan_types",
        "the outer tag's type is the interface's; two tags of 802.1Q where the configuration says so; VLANs up to 4094",
        "IEEE 802.1Q 9.5; IEEE 802.1ad",
        tenants(
            {**RED, "tag": "802.1ad"},
            {**BLUE, "inner_vlan": 4094, "tag": "802.1q"},
            interface("p0.4094", 4094, *GATES, vrf="green"),
        ),
    )
    for tags, segments in (
        (((AD, 100, 0),), SHORT_LIST),
        (((Q, 200, 0), (Q, 4094, 0)), OTHER_LIST),
        (((Q, 4094, 0),), THIRD_LIST),
    ):
        case.passes("p0", tagged(to_node("p0", roce6()), *tags), "p1", encaps_red(roce6(), segments))
    for tags in (((Q, 100, 0),), ((AD, 200, 0), (Q, 4094, 0)), ((AD, 4094, 0),)):
        case.dropped("p0", tagged(to_node("p0", roce6()), *tags), "vlan")
    yield case


def refused():
    case = Case(
        "vlan_refused",
        "VLANs that nobody has, more or fewer tags than there should be, frames that end in a tag, foreign stations",
        "IEEE 802.1Q 6.9; docs/protocol.md 3.6",
        tenants(RED, GREEN),
    )
    whole = to_node("p0", roce6())
    for tags in (
        ((Q, 101, 0),),
        ((Q, 4095, 0),),
        ((Q, 300, 0),),
        ((Q, 7, 0),),
        ((AD, 300, 0), (Q, 8, 0)),
        ((AD, 300, 0), (AD, 7, 0)),
        ((Q, 300, 0), (Q, 7, 0)),
        ((Q, 100, 0), (Q, 7, 0)),
        ((AD, 100, 0),),
    ):
        case.dropped("p0", tagged(whole, *tags), "vlan")
    # another tag follows the tags of an interface or of VLAN 0
    case.dropped("p0", tagged(whole, (AD, 300, 0), (Q, 7, 0), (Q, 9, 0)), "ether_type")
    case.dropped("p0", tagged(whole, (Q, 0, 0), (Q, 100, 0)), "ether_type")
    case.dropped("p0", tagged(whole, (Q, 100, 0), (AD, 7, 0)), "ether_type")
    single, double = tagged(whole, (Q, 100, 0)), tagged(whole, (AD, 300, 0), (Q, 7, 0))
    case.dropped("p0", Frame(single[:14]), "truncated")
    case.dropped("p0", Frame(single[:17]), "truncated")
    case.dropped("p0", Frame(double[:18]), "truncated")
    case.dropped("p0", Frame(double[:21]), "truncated")
    case.dropped("p0", Frame(double[:22]), "truncated")
    case.dropped("p0", tagged(to_node("p0", roce6(), dst="02:00:00:00:99:99"), (Q, 100, 0)), "mac_not_ours")
    case.dropped("p0", tagged(to_node("p0", roce6(), src="03:00:00:00:00:01"), (Q, 100, 0)), "mac_source")
    case.dropped("p0", tagged(to_node("p0", roce6(), dst="33:33:00:00:00:01"), (Q, 100, 0)), "multicast")
    case.dropped("p0", tagged(to_node("p0", roce4(), dst=BROADCAST), (Q, 100, 0)), "multicast")
    case.dropped("p0", tagged(to_node("p0", b"", kind=0x88CC), (Q, 100, 0)), "ether_type")
    case.dropped("p0", tagged(to_node("p0", bytes(46), dst="01:80:c2:00:00:01", kind=0x8808), (Q, 100, 0)), "ether_type")
    # the port's filters are the interface's (RFC 8754 section 5.1)
    case.dropped("p0", tagged(to_node("p0", roce6(dst="5f00:0:600::")), (Q, 100, 0)), "boundary_drop")
    case.dropped("p0", tagged(to_node("p0", roce6(src=GATE_A)), (Q, 100, 0)), "own_source")
    # a tag of the one VLAN does not open the other
    case.passes("p0", single, "p1", encaps_red(roce6(), SHORT_LIST))
    yield case


def with_circuits():
    case = Case(
        "vlan_circuits",
        "of one port: VLANs into a VRF, a VLAN into a tunnel, untagged to the tenant; then all the rest into the tunnel",
        "RFC 8986 5.2, 5.3",
        tenants(RED, GREEN, circuits=[circuit("a", vlan=200)]),
    )
    rest = Case(
        "vlan_circuits_rest",
        "a circuit of all VLANs leaves those of interfaces alone",
        "RFC 8986 5.2, 5.3",
        tenants(RED, GREEN, circuits=[circuit("rest")]),
    )
    for c in (case, rest):
        for tags, segments in ((((Q, 100, 0),), SHORT_LIST), (((AD, 300, 3), (Q, 7, 3)), THIRD_LIST)):
            c.passes("p0", tagged(to_node("p0", roce6()), *tags), "p1", encaps_red(roce6(), segments))
        f = frame(tags=[(Q, 200, 0)])
        c.passes("p0", Frame(f), "p1", encaps_l2(f, SHORT_LIST, 0x68))
        c.dropped("p0", tagged(frame(), (AD, 300, 0), (Q, 8, 0)), "mac_not_ours")
    case.passes("p0", roce6(), "p1", encaps_red(roce6(), usids(4)))
    f = frame()
    rest.passes("p0", Frame(f), "p1", encaps_l2(f, SHORT_LIST, 0x68))
    case.dropped("p0", tagged(to_node("p0", roce6()), (Q, 201, 0)), "vlan")
    yield case
    yield rest


def tail_node(*sids, **more):
    """Tenants on VLANs of p1, on their links and behind routers there."""
    out = [
        interface("p1.100", 100, "2001:db8:3::1/64", "198.51.100.1/24", port_name="p1", vrf="red"),
        interface("p1.200", 200, "2001:db8:3::1/64", "198.51.100.1/24", port_name="p1", vrf="blue", inner_vlan=7),
    ]
    static = [neighbor("p0", P0_PEER)]
    for name in ("p1.100", "p1.200"):
        static += [neighbor(name, a, PEER_MAC["p1"]) for a in (HOST_B, HOST_B4)]
        static += [neighbor(name, a, MAC2) for a in ("2001:db8:3::9", "198.51.100.9")]
    routed = [
        r
        for name in ("p1.100", "p1.200")
        for r in [via(name, "2001:db8:3::9", "2001:db8:33::/64") + via(name, "198.51.100.9", "203.0.113.0/24")]
    ]
    return node(
        [port("p0", "wan", f"{P0_OWN}/64"), port("p1", "dc", "2001:db8:b::2/64")],
        interfaces=out,
        neighbors=static,
        routes=to_p0("5f00:0:700::/48"),
        vrfs=[vrf("red", *routed[0]), vrf("blue", *routed[1])],
        sids=list(sids),
        **more,
    )


def out_of_vrfs():
    case = Case(
        "vlan_out",
        "out of tunnels to VLANs: on-link and routed by DT46, by the adjacency of DX6 and DX4; priority is the class",
        "RFC 8986 4.4, 4.5, 4.8; IEEE 802.1Q 6.9",
        tail_node(
            sid("5f00:0:e101::/48", "uDT46", vrf="red"),
            sid("5f00:0:e102::/48", "uDT46", vrf="blue"),
            sid("5f00:0:e103::/48", "uDX6", port="p1.100", nexthop="2001:db8:3::9"),
            sid("5f00:0:e104::/48", "uDX4", port="p1.200", nexthop="198.51.100.9"),
            sid("5f00:0:e105::/48", "uDX6", port="p1.100", nexthop=HOST_B),
        ),
    )
    red, blue = ((Q, 100, 3),), ((AD, 200, 3), (Q, 7, 3))
    peer = PEER_MAC["p1"]
    for dst, tags, inner, mac in (
        ("e101", red, roce6(), peer),
        ("e101", red, roce4(), peer),
        ("e102", blue, roce6(), peer),
        ("e102", blue, roce4(), peer),
        ("e101", red, roce6(dst="2001:db8:33::3"), MAC2),
        ("e102", blue, roce4(dst="203.0.113.3"), MAC2),
        ("e103", red, roce6(), MAC2),
        ("e104", blue, roce4(), MAC2),
        ("e105", red, roce6(dst="2001:db8:99::9"), peer),
    ):
        packet = tunnel(f"5f00:0:{dst}::", inner)
        case.passes("p0", packet, "p1", tagged(from_node("p1", decap(packet), mac), *tags))
    for tc in range(0, 256, 4):
        # by the tunnel's DSCP; network control of the domain itself is class 7 after the tunnel
        packet = tunnel("5f00:0:e101::", roce6(), tc=tc)
        case.passes("p0", packet, "p1", tagged(from_node("p1", decap(packet)), (Q, 100, tc >> 5 if tc >> 2 < 48 else 7)))
    yield case
    case = Case(
        "vlan_underlay",
        "an underlay of VLANs: uN, uA, headend and on-link over them; the outer headers go behind the tags, long packets too",
        "RFC 9800 4.1; RFC 8986 5.2",
        node(
            [port("p0", "wan", f"{P0_OWN}/64", mtu=9500), port("p1", "wan", mtu=9500), port("p2", "dc", f"{GATE_A}/64", mtu=9216)],
            interfaces=[
                interface("p1.50", 50, f"{P1_OWN}/64", port_name="p1"),
                interface("p0.60", 60, "2001:db8:6::1/64"),
                interface("p1.51", 51, "2001:db8:51::1/64", port_name="p1", inner_vlan=5),
            ],
            neighbors=[neighbor("p1.50", P1_PEER, PEER_MAC["p1"]), neighbor("p1.51", "2001:db8:51::9", MAC2)],
            routes=via("p1.50", P1_PEER, "5f00:0:500::/48") + via("p1.51", "2001:db8:51::9", NET_B)
            + via("p1.50", None, "2001:db8:77::/64"),
            sids=[
                sid("5f00:0:300::/48", "uN"),
                sid("5f00:0:e301::/48", "uA", port="p1.51", nexthop="2001:db8:51::9"),
            ],
            policies=[policy("far", ["5f00:0:500::", *usids(36)], flow_label=FLOW_LABEL)],
            vrfs=[vrf("t", *over("far", NET_B))],
        ),
    )
    case.config["ports"][2]["vrf"] = "t"
    packet = tunnel("5f00:0:300:500::", roce6())
    out = tagged(from_node("p1", shift(packet)), (Q, 50, 3))
    case.passes("p0", packet, "p1", out)
    case.passes("p0", tagged(to_node("p0", packet), (Q, 60, 3)), "p1", out)
    packet = tunnel("5f00:0:e301:500::", roce6())
    case.passes("p0", packet, "p1", tagged(from_node("p1", shift(packet), MAC2), (AD, 51, 3), (Q, 5, 3)))
    packet = tunnel("5f00:0:300::", roce6())
    case.passes("p0", packet, "p1", tagged(from_node("p1", decap(packet), MAC2), (AD, 51, 3), (Q, 5, 3)))
    far = ["5f00:0:500::", *usids(36)]
    for size in (16, 1800, 1900, 2000, 2034, 4000, 9000):
        inner = roce6(size=size)
        case.passes("p2", inner, "p1", tagged(from_node("p1", encaps_red(inner, far)), (Q, 50, 3)))
    yield case


def long_ones():
    """The least MTU counts, tags do not: those of the frame are not in it."""
    case = Case(
        "vlan_mtu",
        "an interface's own MTU: packets that just fit and that do not, into a tunnel and out to the VLAN",
        "RFC 4443 3.2; RFC 791 3.2; docs/protocol.md 3.4",
        tail_node(
            sid("5f00:0:e101::/48", "uDT46", vrf="red"),
            sid("5f00:0:e102::/48", "uDT46", vrf="blue"),
            icmp=MANY_ERRORS,
        ),
    )
    case.config["memory"]["buffers"] = 32768
    case.config["ports"][0]["mtu"] = 9216
    case.config["ports"][1]["mtu"] = 9000
    case.config["interfaces"][0]["mtu"] = 1400
    case.config["vrfs"][0]["routes"] += over("back", "2001:db8:1::/64", "192.0.2.0/24")
    case.config["policies"] = [policy("back", THIRD_LIST, flow_label=FLOW_LABEL)]
    at6, at4 = 1400 - len(roce6(size=0)), 1400 - len(roce4(size=0))
    for inner in (roce6(size=at6), roce4(size=at4)):
        packet = tunnel("5f00:0:e101::", inner)
        case.passes("p0", packet, "p1", tagged(from_node("p1", decap(packet)), (Q, 100, 3)))
        packet = tunnel("5f00:0:e102::", inner)
        case.passes("p0", packet, "p1", tagged(from_node("p1", decap(packet)), (AD, 200, 3), (Q, 7, 3)))
    for inner in (roce6(size=at6 + 1), roce4(size=at4 + 1)):
        report = too_big(inner, 1400, "198.51.100.1")
        case.dropped("p0", tunnel("5f00:0:e101::", inner), "too_big",
                     encaps_red(report, THIRD_LIST, transit=False, dscp=40 if inner[0] >> 4 == 4 else None), out="p0")
    for inner in (roce6(size=8000), roce4(size=8000)):
        packet = tunnel("5f00:0:e102::", inner)
        case.passes("p0", packet, "p1", tagged(from_node("p1", decap(packet)), (AD, 200, 3), (Q, 7, 3)))
    inner = set4(roce4(size=1600), flags=0)
    case.rx("p0", tunnel("5f00:0:e101::", inner))
    case.count("p0", "fragmented")
    for piece in fragments4(hop(inner), 1400):
        case.tx("p1", tagged(from_node("p1", piece), (Q, 100, 3)), origin="control")
    yield case


def the_node_itself():
    """Answers and errors leave by the VLAN that the question came from, with the priority of control traffic."""
    red, green = ((Q, 100, 7),), ((AD, 300, 7), (Q, 7, 7))
    case = Case(
        "vlan_answers",
        "ping of own addresses of an interface, global and link-local, and errors about what came in there",
        "RFC 4443 2.2, 3.3; RFC 1812 4.3.2.4",
        tenants(
            RED,
            {**GREEN, "addresses": ["2001:db8:7::1/64", "192.0.7.1/24", "fe80::7/64"]},
            icmp=MANY_ERRORS,
        ),
    )
    case.config["neighbors"] = [n for n in case.config["neighbors"] if n["port"] != "p0.300.7"]
    host7, host74 = "2001:db8:7::11", "192.0.7.11"
    for address in (host7, host74, "fe80::11"):
        case.config["neighbors"].append(neighbor("p0.300.7", address, PEER_MAC["p0"]))
    case.config["neighbors"].append(neighbor("p0.100", "fe80::11", PEER_MAC["p0"]))

    def asks(tags, packet, reason, answer):
        case.answered("p0", tagged(to_node("p0", packet), *tags), reason, tagged(from_node("p0", answer), *tags))

    def fails(tags, packet, reason, answer):
        case.dropped("p0", tagged(to_node("p0", packet), *tags), reason, tagged(from_node("p0", answer), *tags))

    for src, dst in ((HOST_A, GATE_A), ("fe80::11", LINK_LOCAL0)):
        asks(red, echo6(src, dst), "echo", echo_reply6(echo6(src, dst)))
    asks(red, echo4(HOST_A4, GATE_A4), "echo", echo_reply4(echo4(HOST_A4, GATE_A4)))
    for src, dst in ((host7, "2001:db8:7::1"), ("fe80::11", "fe80::7")):
        asks(green, echo6(src, dst), "echo", echo_reply6(echo6(src, dst)))
    asks(green, echo4(host74, "192.0.7.1"), "echo", echo_reply4(echo4(host74, "192.0.7.1")))
    # a link-local address of one interface does not belong to the other
    case.dropped("p0", tagged(to_node("p0", echo6("fe80::11", "fe80::7")), *red), "link_local")
    for tags, src, src4, own4 in ((red, HOST_A, HOST_A4, GATE_A4), (green, host7, host74, "192.0.7.1")):
        for packet in (hop_limit(roce6(src), 1), hop_limit(roce4(src4), 1)):
            fails(tags, packet, "hop_limit", time_exceeded(packet, own4))
        for packet in (roce6(src, "2001:db8:dead::1"), roce4(src4, "203.0.113.99")):
            fails(tags, packet, "no_route", no_route(packet, own4))
    # a ping through a priority tag is one to the port itself, whose neighbours see no tag
    request = echo6(HOST_A, GATE_A)
    case.answered("p0", tagged(to_node("p0", request), (Q, 0, 6)), "echo", echo_reply6(request))
    yield case


def nd_node(**more):
    """p0 with a static neighbour; VLANs on p1 without any. One lcore."""
    return node(
        [port("p0", "wan", f"{P0_OWN}/64", "10.0.0.2/24"), port("p1", "wan", "2001:db8:c::2/64")],
        interfaces=[
            interface("p1.100", 100, "2001:db8:b::2/64", "10.1.0.1/24", port_name="p1"),
            interface("p1.200", 200, "2001:db8:d::2/64", port_name="p1", inner_vlan=9),
        ],
        neighbors=[neighbor("p0", P0_PEER), neighbor("p0", "10.0.0.1")],
        routes=to_p0("2001:db8:1::/64", "192.0.2.0/24"),
        lcores=ONE_LCORE,
        icmp=MANY_ERRORS,
        **more,
    )


def neighbors():
    tags, double = ((Q, 100, 7),), ((AD, 200, 7), (Q, 9, 7))
    own, host, own4, host4 = "2001:db8:b::2", "2001:db8:b::77", "10.1.0.1", "10.1.0.77"
    mac = mac_of("p1")
    request = from_node("p1", solicit(own, host, mac, tc=NETWORK_CONTROL), group_mac(group_of(host)))
    request4 = arp_out("p1", arp(1, mac, own4, NO_MAC, host4), BROADCAST)

    def told(*how, **flags):
        return tagged(to_node("p1", advert(host, own, MAC1, **flags), src=MAC1), *how)

    case = Case(
        "vlan_nd",
        "neighbours of a VLAN are asked for and answered with its tags; what other VLANs say of them does not count",
        "RFC 4861 7.2.2, 7.2.4, 7.2.5; IEEE 802.1Q 6.9",
        nd_node(),
    )
    time = Timeline(case)
    packets = [roce6(dst=host, psn=n) for n in range(4)]
    time.at(0, "p0", *packets)
    case.tx("p1", tagged(request, *tags), origin="control")
    # untagged, of the other VLAN, of one that is not there
    time.at(4, "p1", told(), told(*double), told((Q, 101, 0)))
    case.count("p1", "nd_invalid", 2)
    case.count("p1", "vlan")
    time.at(6, "p1", told((Q, 100, 0)))
    case.count("p1", "nd")
    case.tx("p1", *(tagged(from_node("p1", hop(p), MAC1), (Q, 100, 3)) for p in packets), origin="p0")
    # the same address on the other VLAN is another neighbour, which is solicited there
    asked = tagged(to_node("p1", solicit("2001:db8:d::77", "2001:db8:d::2", MAC2), group_mac(group_of("2001:db8:d::2")), MAC2), *double)
    time.at(8, "p1", asked)
    case.count("p1", "nd")
    answer = from_node("p1", advert("2001:db8:d::2", "2001:db8:d::77", mac, r=1, tc=NETWORK_CONTROL), MAC2)
    case.tx("p1", tagged(answer, *double), origin="answers")
    # the sender of a solicitation is known
    time.at(12, "p0", roce6(dst="2001:db8:d::77"))
    case.tx("p1", tagged(from_node("p1", hop(roce6(dst="2001:db8:d::77")), MAC2), (AD, 200, 3), (Q, 9, 3)), origin="p0")
    # an address of one interface is not asked for on the other
    wrong = tagged(to_node("p1", solicit("2001:db8:d::77", own, MAC2), group_mac(group_of(own)), MAC2), *double)
    time.at(14, "p1", wrong)
    case.count("p1", "nd")
    time.fill()
    yield case
    case = Case("vlan_arp", "the same with ARP, in frames as long as Ethernet asks for", "RFC 826; IEEE 802.3 4.2.3.3", nd_node())
    time = Timeline(case)
    packets = [roce4(dst=host4, psn=n) for n in range(4)]
    time.at(0, "p0", *packets)
    case.tx("p1", tagged(request4, *tags), origin="control")
    answer = to_node("p1", arp(2, MAC1, host4, mac, own4), src=MAC1, kind=0x0806)
    time.at(4, "p1", answer)
    case.count("p1", "nd_invalid")
    time.at(6, "p1", tagged(answer, (Q, 100, 5)))
    case.count("p1", "arp")
    case.tx("p1", *(tagged(from_node("p1", hop(p), MAC1), (Q, 100, 3)) for p in packets), origin="p0")
    question = to_node("p1", arp(1, MAC1, host4, NO_MAC, own4), BROADCAST, MAC1, 0x0806)
    time.at(8, "p1", tagged(question, (Q, 100, 0)))
    case.count("p1", "arp")
    case.tx("p1", tagged(arp_out("p1", arp(2, mac, own4, MAC1, host4), MAC1), *tags), origin="answers")
    time.fill()
    yield case
    case = Case(
        "vlan_nd_silence",
        "nobody answers on a VLAN: senders hear of it",
        "RFC 4861 7.2.2",
        nd_node(neighbor_discovery={"retransmit": 10, "probes": 1}),
        args=["--exit-when-idle", "600"],
    )
    for packet, asked in ((roce4(dst=host4), request4), (roce6(dst=host), request)):
        case.rx("p0", packet)
        case.count("p0", "neighbor_failed")
        case.tx("p0", address_unreachable(packet, "10.0.0.2"))
        case.tx("p1", tagged(asked, *tags))
    yield case


def cases():
    for family in (into_vrfs, refused, with_circuits, out_of_vrfs, long_ones, the_node_itself, neighbors):
        yield from family()
