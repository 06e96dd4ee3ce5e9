# SPDX-License-Identifier: BSD-3-Clause
"""DSCP maps: of a policy (RFC 2983), of SIDs that decapsulate, of ports both ways; ECN goes its own way (RFC 6040)."""

from gen.case import Case, Frame, from_node, to_node
from gen.circuits import circuit
from gen.decap import ECN_TABLE
from gen.headend import ECN_OF_FRAME, SHORT_LIST
from gen.interfaces import AD, GREEN, Q, RED, interface, tagged, tenants
from gen.node import ONE_LCORE, neighbor, node, policy, port, sid
from gen.topology import GATE_A, GATE_A4, GATE_B, P0_OWN, P1_OWN, P1_PEER, core, headend, tail, to_p1
from gen.wire import (
    ETHERNET, FLOW_LABEL, HOST_A, HOST_A4, HOST_B, HOST_B4, PEER, decap, echo6, echo_reply6, encaps_l2, encaps_red,
    fragments4, hop, hop_limit, inner_of, ip4, ip6, next_segment, pop_srh, roce4, roce6, set_tos, shift, time_exceeded,
    tos_of, tunnel,
)

UN, UDT, UDX6, UDX4 = "5f00:0:300::", "5f00:0:e101::", "5f00:0:e106::", "5f00:0:e104::"
# by name: what is listed; the rest stays
RANGES = {
    "wan": [(0, 7, 8), (24, 31, 18), (46, 46, 34), (50, 52, 22)],
    "lan": [(18, 18, 26), (34, 34, 46), (40, 40, 0)],
    "shifted": [(d, d, d + 1) for d in range(47)] + [(48, 63, 9)],
}


def mapped(name, dscp):
    for first, last, result in RANGES[name]:
        if first <= dscp <= last:
            return result
    return dscp


def outer(dscp, name=None):
    """Outer DSCP of a policy that copies or maps: network control does not enter tunnels."""
    result = mapped(name, dscp) if name else dscp
    return result if result < 48 else 40


def maps(*names):
    ranges = {name: [{"from": a, **({"to": b} if b > a else {}), "dscp": d} for a, b, d in RANGES[name]] for name in names}
    return [{"name": name, "map": list_} for name, list_ in ranges.items()]


def remark(packet, name):
    """The same with the DSCP that the map gives."""
    tos = tos_of(packet)
    return set_tos(packet, mapped(name, tos >> 2) << 2 | tos & 3)


def with_port(config, name, **keys):
    """The configuration with more keys of a port."""
    ports = [{**p, **keys} if p["name"] == name else p for p in config["ports"]]
    return {**config, "ports": ports}


def of_policy():
    case = Case(
        "dscp_policy",
        "every DSCP through the map of a policy; 48 to 63 that are not listed become 40; ECN is copied",
        "RFC 2983 3; RFC 6040 4.1",
        headend(SHORT_LIST, dscp="map", dscp_map="wan") | {"dscp_maps": maps("wan")},
    )
    for dscp in range(64):
        tos = dscp << 2 | ECN_OF_FRAME[dscp % 4]
        for inner in (ip6(HOST_A, HOST_B, tc=tos), ip4(HOST_A4, HOST_B4, tos=tos)):
            case.passes("p0", inner, "p1", encaps_red(inner, SHORT_LIST, dscp=outer(dscp, "wan")))
    yield case
    long = [f"5f00:0:{0x100 + i:x}::" for i in range(7)] + ["5f00:0:e102::"]
    case = Case(
        "dscp_policy_tagged",
        "the same from VLANs and with an SRH",
        "RFC 2983 3; RFC 8986 5.2",
        tenants(RED, GREEN) | {
            "dscp_maps": maps("wan"),
            "policies": [policy(f"to-{name}", long, flow_label=FLOW_LABEL, dscp="map", dscp_map="wan")
                         for name in ("tenant", "red", "blue", "green")]
            + [policy("pw", SHORT_LIST, flow_label=FLOW_LABEL, encap="H.Encaps.L2")],
        },
    )
    for dscp in (0, 7, 8, 26, 46, 48, 51, 63):
        for tags in ((), ((Q, 100, 3),), ((AD, 300, 3), (Q, 7, 3))):
            for inner in (ip6(HOST_A, HOST_B, tc=dscp << 2 | 1), ip4(HOST_A4, HOST_B4, tos=dscp << 2 | 2)):
                case.passes("p0", tagged(to_node("p0", inner), *tags), "p1", encaps_red(inner, long, dscp=outer(dscp, "wan")))
    yield case


def of_frames():
    """H.Encaps.L2: by the packet in the frame; what carries no IP has DSCP 0."""
    case = Case(
        "dscp_circuit",
        "frames through a policy with a map: by the DSCP of the packet inside, never with its ECN",
        "RFC 8986 5.3; RFC 2983 3; RFC 6040 4.1",
        node(
            [port("p0", "dc"), port("p1", "wan", f"{P1_OWN}/64")],
            neighbors=[neighbor("p1", P1_PEER)],
            routes=to_p1("5f00::/16"),
            dscp_maps=maps("wan"),
            policies=[policy("pw", SHORT_LIST, flow_label=FLOW_LABEL, encap="H.Encaps.L2.Red", dscp="map", dscp_map="wan")],
            circuits=[circuit("pw")],
        ),
    )
    for dscp in (0, 26, 46, 51, 56):
        for packet in (ip6(HOST_A, HOST_B, tc=dscp << 2 | 3), ip4(HOST_A4, HOST_B4, tos=dscp << 2 | 3)):
            for tags in ((), ((Q, 5, 1),)):
                f = tagged(to_node("p0", packet, dst="02:00:00:00:99:99"), *tags)
                case.passes("p0", f, "p1", encaps_l2(f, SHORT_LIST, tc=outer(dscp, "wan") << 2, reduced=True))
    plain = Frame(to_node("p0", bytes(60), kind=0x88B5))
    case.passes("p0", plain, "p1", encaps_l2(plain, SHORT_LIST, tc=outer(0, "wan") << 2, reduced=True))
    yield case


def opened(packet, dscp):
    """The inner packet with this DSCP and the ECN of RFC 6040."""
    inner = inner_of(packet)
    return set_tos(hop(inner), dscp << 2 | ECN_TABLE[tos_of(inner) & 3][tos_of(packet) & 3])


def uniform(packet, name=None):
    """What leaves a SID with dscp: copy or map."""
    dscp = tos_of(packet) >> 2
    return opened(packet, mapped(name, dscp) if name else dscp)


def pipe(packet):
    """What leaves a SID with dscp: keep."""
    return opened(packet, tos_of(inner_of(packet)) >> 2)


def of_sids():
    for name, keys in (("copy", {"dscp": "copy"}), ("map", {"dscp": "map", "dscp_map": "lan"})):
        used = keys.get("dscp_map")
        case = Case(
            f"dscp_sid_{name}",
            f"dscp: {name}: every outer DSCP into the packet inside, with and without SRH; ECN as always",
            "RFC 2983 3 uniform model; RFC 6040 4.2 figure 4; RFC 8986 4.6-4.8, 4.16.3",
            tail(
                sid("5f00:0:e101::/48", "uDT46", vrf="tenant", **keys),
                sid("5f00:0:e104::/48", "uDX4", port="p1", nexthop=HOST_B4, **keys),
                sid("5f00:0:e106::/48", "uDX6", port="p1", nexthop=HOST_B, **keys),
                dscp_maps=maps("lan") if used else [],
            ),
        )
        for dscp in range(64):
            ecn = dscp % 4
            for n, (dst, inner) in enumerate(((UDT, roce6(tc=26 << 2 | 2)), (UDT, roce4(tos=26 << 2 | 2)),
                                              (UDX6, roce6(tc=dscp << 2 | 1)), (UDX4, roce4(tos=1)))):
                for segments in ((), [dst]) if dscp % 8 == n else ((),):
                    packet = tunnel(dst, inner, tc=dscp << 2 | ecn, segments=segments, left=0)
                    case.passes("p0", packet, "p1", uniform(packet, used))
        case.dropped("p0", tunnel(UDT, roce6(tc=26 << 2), tc=10 << 2 | 3), "ecn_ce_not_ect")
        yield case
    case = Case(
        "dscp_sid_usd",
        "the flavor USD of uN and End, also into the underlay; a uN with it still shifts",
        "RFC 2983 3; RFC 8986 4.16.3; RFC 9800 4.1.1",
        core(
            sid("5f00:0:300::/48", "uN", dscp="copy"),
            sid("5f00:1:2:1::/64", "End", flavors=["usd"], dscp="map", dscp_map="lan"),
            dscp_maps=maps("lan"),
        ),
    )
    for dscp in (0, 18, 34, 40, 48, 63):
        for inner in (roce6(), roce4()):
            for dst, used in ((UN, None), ("5f00:1:2:1::", "lan")):
                packet = tunnel(dst, inner, tc=dscp << 2 | 2)
                case.passes("p0", packet, "p1", uniform(packet, used))
    for packet in (tunnel("5f00:0:300:500::", roce6()), tunnel("5f00:0:300:500::", roce4(), tc=0)):
        case.passes("p0", packet, "p1", shift(packet))
    yield case
    case = Case(
        "dscp_nested",
        "a tunnel in a tunnel, both ending here: the DSCP goes from each header to the next",
        "RFC 2983 3; RFC 8986 4.16.3",
        core(sid("5f00:0:300::/48", "uN", dscp="copy"), sid("5f00:0:e101::/48", "uDT46", dscp="map", dscp_map="lan"),
             dscp_maps=maps("lan")),
    )
    for dscp in (0, 18, 34, 46):
        for inner in (roce6(tc=2), roce4(tos=2)):
            middle = tunnel(UDT, inner, src=PEER, tc=10 << 2 | 2)
            out = set_tos(hop(inner), mapped("lan", dscp) << 2 | 3)
            case.passes("p0", tunnel(UN, middle, tc=dscp << 2 | 3), "p1", out)
    yield case


def to_vlan():
    case = Case(
        "dscp_sid_vlan",
        "from a tunnel to a VLAN: the tag's priority is the class in the tunnel, the DSCP that of the map",
        "RFC 2983 3; IEEE 802.1Q 6.9.3",
        with_vlan_behind(
            sid("5f00:0:e101::/48", "uDT46", vrf="tenant", dscp="map", dscp_map="lan"),
            dscp_maps=maps("lan"),
        ),
    )
    for dscp in (0, 18, 34, 40):
        for inner in (roce6(), roce4()):
            packet = tunnel(UDT, inner, tc=dscp << 2 | 2)
            case.passes("p0", packet, "p1", tagged(from_node("p1", uniform(packet, "lan")), (Q, 7, dscp >> 3)))
    yield case


def with_vlan_behind(*sids, **more):
    """A tail whose tenant is behind VLAN 7 of p1."""
    config = tail(*sids, **more)
    config["ports"][1] = port("p1", "dc")
    config["interfaces"] = [interface("p1.7", 7, f"{GATE_B}/64", "198.51.100.1/24", port_name="p1", vrf="tenant")]
    config["neighbors"] = [config["neighbors"][0]] + [neighbor("p1.7", a) for a in (HOST_B, HOST_B4)]
    return config


def ports_in():
    case = Case(
        "dscp_in_headend",
        "dscp-in of a tenant's port: packet and outer header have the new DSCP, the queue is that of the old one; ICMP quotes "
        "what was received",
        "RFC 2983 3; RFC 2475 2.3.3; RFC 4443 2.4",
        with_port(headend(SHORT_LIST), "p0", dscp_in="wan") | {"dscp_maps": maps("wan"), "lcores": ONE_LCORE},
    )
    for dscp in range(64):
        for inner in (ip6(HOST_A, HOST_B, tc=dscp << 2 | dscp % 4), ip4(HOST_A4, HOST_B4, tos=dscp << 2 | dscp % 4)):
            changed = remark(inner, "wan")
            case.passes("p0", inner, "p1", encaps_red(changed, SHORT_LIST, dscp=outer(mapped("wan", dscp))))
    for packet in (hop_limit(roce6(), 1), hop_limit(roce4(), 1)):
        case.dropped("p0", packet, "hop_limit", time_exceeded(packet, GATE_A4))
    ping = echo6(HOST_A, GATE_A, tc=26 << 2)
    case.answered("p0", ping, "echo", echo_reply6(ping))
    yield case
    case = Case(
        "dscp_in_fragments",
        "the fragments of a packet have its new DSCP",
        "RFC 791 3.2; RFC 2983 3",
        with_port(headend(SHORT_LIST, mtu=1280), "p0", dscp_in="wan") | {"dscp_maps": maps("wan"), "lcores": ONE_LCORE},
    )
    inner = ip4(HOST_A4, HOST_B4, bytes(1400), tos=26 << 2)
    case.rx("p0", inner)
    case.count("p0", "fragmented")
    for part in fragments4(remark(inner, "wan"), 1240):
        case.tx("p1", encaps_red(part, SHORT_LIST, dscp=18))
    yield case
    case = Case(
        "dscp_in_vlan",
        "dscp-in holds for the VLANs of the port",
        "RFC 2983 3; IEEE 802.1Q 6.9",
        with_port(tenants(RED, GREEN), "p0", dscp_in="wan") | {"dscp_maps": maps("wan")},
    )
    for dscp in (0, 26, 46, 51):
        for tags, segments in ((((Q, 100, 3),), SHORT_LIST), (((AD, 300, 3), (Q, 7, 3)), ["5f00:0:700::", "5f00:0:e1fe::"])):
            for inner in (ip6(HOST_A, HOST_B, tc=dscp << 2 | 1), ip4(HOST_A4, HOST_B4, tos=dscp << 2 | 1)):
                changed = remark(inner, "wan")
                case.passes("p0", tagged(to_node("p0", inner), *tags), "p1",
                            encaps_red(changed, segments, dscp=tos_of(changed) >> 2))
    yield case
    for name, keys in (("keep", {}), ("copy", {"dscp": "copy"}), ("map", {"dscp": "map", "dscp_map": "lan"})):
        case = Case(
            f"dscp_in_wan_{name}",
            f"dscp-in of a wan port, with and without SRH; SIDs that decapsulate with dscp: {name} see the new DSCP",
            "RFC 2983 3; RFC 9800 4.1.1; RFC 8986 4.1, 4.16.1",
            with_port(core(sid("5f00:0:e101::/48", "uDT46", **keys), sid("5f00:0:300::/48", "uN"),
                           sid("5f00:1:2:1::/64", "End", flavors=["psp"])), "p0", dscp_in="wan")
            | {"dscp_maps": maps("wan", "lan")},
            unordered=["p1"],  # control traffic overtakes
        )
        for dscp in (0, 8, 18, 26, 46):  # of infrastructure sources, 48 to 63 are network control
            for inner in (roce6(tc=34 << 2 | 2), roce4(tos=34 << 2 | 2)):
                for segments in ((), [UDT]):
                    packet = tunnel(UDT, inner, tc=dscp << 2 | 1, segments=segments, left=0)
                    seen = remark(packet, "wan")
                    case.passes("p0", packet, "p1", uniform(seen, keys.get("dscp_map")) if keys else pipe(seen))
                packet = tunnel("5f00:0:300:500::", inner, tc=dscp << 2 | 2)
                case.passes("p0", packet, "p1", shift(remark(packet, "wan")))
                packet = tunnel("5f00:1:2:1::", inner, tc=dscp << 2 | 2, segments=["5f00:0:500::"], left=1)
                case.passes("p0", packet, "p1", pop_srh(next_segment(remark(packet, "wan"))))
        for dscp in range(64):
            for packet in (roce6(tc=dscp << 2 | 1), roce4(tos=dscp << 2 | 1)):
                case.passes("p0", packet, "p1", hop(remark(packet, "wan")))
        # control traffic of the domain keeps its DSCP, whatever the map says
        control = ip6(PEER, HOST_B, tc=51 << 2)
        case.passes("p0", control, "p1", hop(control))
        yield case


def ports_out():
    case = Case(
        "dscp_out_wan",
        "dscp-out of a wan port: the outermost header only, IPv6 and IPv4; a chain of maps is followed once; control "
        "traffic keeps its DSCP",
        "RFC 2983 3; RFC 9800 4.1.1; RFC 1624",
        with_port(core(sid("5f00:0:300::/48", "uN"), sid("5f00:0:e101::/48", "uDT46", dscp="copy"),
                       sid("5f00:1:2:1::/64", "End", flavors=["psp"])), "p1", dscp_out="shifted")
        | {"dscp_maps": maps("shifted")},
        unordered=["p1"],  # control traffic overtakes
    )
    for dscp in range(0, 64, 3):
        for inner in (roce6(tc=dscp << 2 | 2), roce4(tos=dscp << 2 | 2)):
            case.passes("p0", inner, "p1", remark(hop(inner), "shifted"))
            packet = tunnel("5f00:0:300:500::", inner, tc=dscp << 2 | dscp % 4)
            case.passes("p0", packet, "p1", remark(shift(packet), "shifted") if dscp < 48 else shift(packet))
            packet = tunnel(UDT, inner, tc=(dscp // 2) << 2 | 3)
            case.passes("p0", packet, "p1", remark(uniform(packet), "shifted"))
            packet = tunnel("5f00:1:2:1::", inner, tc=(dscp // 2) << 2 | 2, segments=["5f00:0:500::"], left=1)
            case.passes("p0", packet, "p1", remark(pop_srh(next_segment(packet)), "shifted"))
    yield case
    case = Case(
        "dscp_out_control",
        "what the node itself sends keeps its DSCP on a port with dscp-out",
        "docs/design.md 4",
        with_port(core(sid("5f00:0:300::/48", "uN")), "p0", dscp_out="shifted") | {"dscp_maps": maps("shifted"),
                                                                                   "lcores": ONE_LCORE},
    )
    late = hop_limit(roce6(), 1)
    case.dropped("p0", late, "hop_limit", time_exceeded(late))
    ping = echo6(PEER, P0_OWN, tc=26 << 2)
    case.answered("p0", ping, "echo", echo_reply6(ping))
    yield case
    case = Case(
        "dscp_out_headend",
        "dscp-out after a policy with a map: of the outer header; the packet inside stays",
        "RFC 2983 3",
        with_port(headend(SHORT_LIST, dscp="map", dscp_map="wan"), "p1", dscp_out="lan") | {"dscp_maps": maps("wan", "lan")},
    )
    for dscp in range(64):
        for inner in (ip6(HOST_A, HOST_B, tc=dscp << 2 | 2), ip4(HOST_A4, HOST_B4, tos=dscp << 2 | 2)):
            case.passes("p0", inner, "p1", encaps_red(inner, SHORT_LIST, dscp=mapped("lan", outer(dscp, "wan"))))
    yield case
    case = Case(
        "dscp_out_vlan",
        "dscp-out holds for the VLANs of the port, IPv6 and IPv4",
        "RFC 2983 3; IEEE 802.1Q 6.9.3",
        with_port(with_vlan_behind(sid("5f00:0:e101::/48", "uDT46", vrf="tenant")), "p1", dscp_out="lan")
        | {"dscp_maps": maps("lan")},
    )
    for dscp in (0, 18, 34, 40, 46):
        for make in (lambda tos: roce6(tc=tos), lambda tos: roce4(tos=tos)):
            packet = tunnel(UDT, make(dscp << 2 | 2), tc=10 << 2 | 2)
            case.passes("p0", packet, "p1", tagged(from_node("p1", remark(decap(packet), "lan")), (Q, 7, 1)))
    yield case
    case = Case(
        "dscp_out_frames",
        "a frame that leaves a tunnel whole keeps the DSCP inside",
        "RFC 8986 4.9",
        node(
            [port("p0", "wan", f"{P0_OWN}/64"), port("p1", "dc", dscp_out="lan")],
            neighbors=[neighbor("p0", PEER)],
            dscp_maps=maps("lan"),
            sids=[sid("5f00:0:e102::/48", "uDX2", port="p1")],
        ),
    )
    for packet in (roce6(tc=18 << 2), roce4(tos=18 << 2)):
        f = Frame(to_node("p1", packet, dst="02:00:00:00:99:99"))
        case.passes("p0", ip6(PEER, "5f00:0:e102::", f, ETHERNET), "p1", f)
    yield case


def cases():
    for family in (of_policy, of_frames, of_sids, to_vlan, ports_in, ports_out):
        yield from family()
