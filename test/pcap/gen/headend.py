# SPDX-License-Identifier: BSD-3-Clause
"""H.Encaps.Red: lists of every kind of length, fields of the outer header, MTU, choice of path."""

from scapy.compat import raw
from scapy.layers.inet import IP, IPOption
from scapy.packet import Raw

from gen.case import Case, from_node
from gen.node import neighbor, over, policy, port, sid, vrf
from gen.topology import GATE_A, GATE_A4, NET_B, NET_B4, P1_PEER, core, headend, to_p1
from gen.wire import (
    FLOW_LABEL, HOST_A, HOST_A4, HOST_B, HOST_B4, echo6, echo_reply6, encaps, encaps_red, fragments4, hop, hop_limit,
    ip4, ip6, roce4, roce6, set4, set_tos, time_exceeded, too_big, tunnel,
)

SHORT_LIST = ["5f00:0:500::", "5f00:0:300::", "5f00:0:e102::"]
ECN_OF_FRAME = (0, 1, 2, 3)


def usids(n):
    """n uSIDs, no two alike, the last one a function."""
    return [f"5f00:0:{0x100 + i:x}::" for i in range(n - 1)] + ["5f00:0:e102::"]


def list_lengths():
    """Six to a container; from 37 on the headers are longer than a buffer's headroom; 96 is the most there can be."""
    for n in (1, 2, 3, 6, 7, 12, 13, 37, 96):
        case = Case(
            f"encap_red_{n}",
            f"H.Encaps.Red, {n} uSIDs, IPv6 and IPv4 inside",
            "RFC 8986 5.2; RFC 8754 4.1.1; RFC 9800 6.2",
            headend(usids(n)),
        )
        for inner in (roce6(), roce4(), roce6(size=0), roce4(size=333)):
            case.passes("p0", inner, "p1", encaps_red(inner, usids(n)))
        yield case


def odd_lists():
    """Elements of a list other than uSIDs of the block."""
    lists = {
        "outside": ("SIDs of another block stand alone", ["5f00:1:2:1::", "5f00:0:300::", "5f00:0:e102::"]),
        "between": ("a SID of another block ends a container", ["5f00:0:500::", "5f00:1:2:1::", "5f00:0:e102::"]),
        "two_ids": ("locator and function in one segment", ["5f00:0:500::", "5f00:0:300:e102::"]),
        "two_ids_split": (
            "two ids that belong together do not part",
            [f"5f00:0:{i}00::" for i in range(1, 6)] + ["5f00:0:300:e102::"],
        ),
    }
    for name, (title, segments) in lists.items():
        case = Case(f"encap_list_{name}", f"H.Encaps.Red: {title}", "RFC 9800 6.2", headend(segments))
        for inner in (roce6(), roce4()):
            case.passes("p0", inner, "p1", encaps_red(inner, segments))
        yield case


def own_sids_first():
    """A list that begins with SIDs of the node itself: they are done with before the packet leaves."""
    own = [sid("5f00:0:100::/48", "uN"), sid("5f00:0:e005::/48", "uA", port="p1", nexthop=P1_PEER)]
    for name, first in (("un", ["5f00:0:100::"]), ("ua", ["5f00:0:e005::"]), ("un_ua", ["5f00:0:100:e005::"])):
        routes = None if name == "un" else []  # a uA needs no route
        config = headend(first + SHORT_LIST, wan_side=own, routes=routes)
        case = Case(f"encap_own_{name}_first", f"a list that begins with the own {name}", "RFC 8986 5.2", config)
        case.passes("p0", roce6(), "p1", encaps_red(roce6(), SHORT_LIST))
        yield case


def traffic_class():
    copied = Case(
        "encap_dscp_copy",
        "every DSCP is copied, but 48 to 63 become 40; ECN is copied",
        "RFC 2983 uniform model; RFC 6040 4.1; docs/design.md 4",
        headend(SHORT_LIST),
    )
    fixed = Case(
        "encap_dscp_set",
        "DSCP of the policy, ECN of the packet",
        "RFC 2983 pipe model; RFC 6040 4.1",
        headend(SHORT_LIST, dscp="set", dscp_value=46),
    )
    for dscp in range(64):
        tos = dscp << 2 | ECN_OF_FRAME[dscp % 4]
        for inner in (ip6(HOST_A, HOST_B, tc=tos), ip4(HOST_A4, HOST_B4, tos=tos)):
            outer = dscp if dscp < 48 else 40
            copied.passes("p0", inner, "p1", encaps_red(inner, SHORT_LIST, dscp=outer))
            fixed.passes("p0", inner, "p1", encaps_red(inner, SHORT_LIST, dscp=46))
    yield copied
    yield fixed


def outer_header():
    case = Case(
        "encap_source_hop_limit",
        "outer source and hop limit of the policy",
        "RFC 8986 5.1 S02, S06",
        headend(SHORT_LIST, source="2001:db8:f::77", hop_limit=9),
    )
    for inner in (roce6(), roce4()):
        case.passes("p0", inner, "p1", encaps_red(inner, SHORT_LIST, src="2001:db8:f::77", hlim=9))
    yield case
    case = Case(
        "encap_flow_label",
        "without a fixed one the outer flow label is some hash of the inner flow, never 0",
        "RFC 8754 5.5; RFC 6437 3",
        headend(SHORT_LIST, flow_label=0),
        mask=["outer_flow_label"],
    )
    for sport in range(49152, 49152 + 32):
        for inner in (roce6(sport=sport), roce4(sport=sport)):
            case.passes("p0", inner, "p1", encaps_red(inner, SHORT_LIST))
    yield case


def hop_limits():
    case = Case(
        "encap_hop_limit",
        "the headend is a hop of the inner packet: 0 and 1 end there, 2 goes on",
        "RFC 8986 5.1 S05; RFC 4443 3.3; RFC 1812 5.3.1",
        headend(SHORT_LIST),
    )
    for n in (0, 1):
        for inner in (roce6(hlim=n), roce4(ttl=n)):
            case.dropped("p0", inner, "hop_limit", time_exceeded(inner, GATE_A4))
    for inner in (roce6(hlim=2), roce4(ttl=2)):
        case.passes("p0", inner, "p1", encaps_red(inner, SHORT_LIST))
    yield case


def sized(make, size):
    """A RoCEv2 packet of exactly `size` bytes."""
    return make(size=size - len(make(size=0)))


def mtu():
    """Overhead 40, or 40 + 8 + 16 for each further container; the error has the remaining MTU."""
    for n, overhead in ((6, 40), (7, 64), (13, 80)):
        case = Case(
            f"encap_too_big_{n}",
            f"{n} uSIDs take {overhead} of 1500 bytes: Packet Too Big says {1500 - overhead}",
            "docs/protocol.md 3.4; RFC 8200 5; RFC 1191 4",
            headend(usids(n)),
        )
        for make in (roce6, roce4):
            fits, long = sized(make, 1500 - overhead), sized(make, 1500 - overhead + 1)
            case.passes("p0", fits, "p1", encaps_red(fits, usids(n)))
            case.dropped("p0", long, "too_big", too_big(long, 1500 - overhead, GATE_A4))
        yield case
    case = Case(
        "encap_too_big_least",
        "no IPv6 node hears of an MTU below 1280",
        "RFC 8200 5; RFC 2473 7.1",
        headend(usids(3), mtu=1300),
    )
    for make, mtu_said in ((roce6, 1280), (roce4, 1260)):
        fits, long = sized(make, 1260), sized(make, 1261)
        case.passes("p0", fits, "p1", encaps_red(fits, usids(3)))
        case.dropped("p0", long, "too_big", too_big(long, mtu_said, GATE_A4))
    yield case


def fragmented():
    """IPv4 that may be fragmented is fragmented before the tunnel; docs/protocol.md 3.4, D29."""
    sizes = ([1420], [1421, 1436, 1437, 2000, 2804, 4000, 9000])
    for name, segments, mtu in (("1", usids(13), 1420), ("2", usids(3), 1460)):
        case = Case(
            f"encap_fragment_{name}",
            "IPv4 without DF that is too large goes on in fragments, each in a tunnel of its own; DF: the sender hears of it",
            "docs/protocol.md 3.4; RFC 791 3.2; RFC 2473 7.2",
            headend(segments, tenant_mtu=9100),
        )
        for size in sizes[0] + sizes[1]:
            packet = sized(lambda **k: roce4(flags=0, **k), size)
            if size <= mtu:
                case.passes("p0", packet, "p1", encaps_red(packet, segments))
                continue
            case.rx("p0", packet)
            case.count("p0", "fragmented")
            case.tx("p1", *(encaps_red(f, segments) for f in fragments4(packet, mtu)), origin="fragments")
        # a fragment is cut further; its offset and its own "more" stay true
        for flags, frag in (("MF", 0), ("MF", 185), (0, 370)):
            packet = ip4(HOST_A4, HOST_B4, bytes(i & 0xFF for i in range(1480)), 17, flags=flags, frag=frag)
            case.rx("p0", packet)
            case.count("p0", "fragmented")
            case.tx("p1", *(encaps_red(f, segments) for f in fragments4(packet, mtu)), origin="fragments")
        packet = sized(roce4, 1500)
        case.dropped("p0", packet, "too_big", too_big(packet, mtu, GATE_A4))
        packet = set4(sized(lambda **k: roce4(flags=0, **k), 1500), ttl=1)
        case.dropped("p0", packet, "hop_limit", time_exceeded(packet, GATE_A4))
        case.about["unordered"] = ["p1"]
        yield case
    case = Case(
        "forward_fragment",
        "the same without a tunnel, out of one, and with options: those that are copied go along",
        "RFC 1812 4.2.2.7, 5.2.1; RFC 791 3.1, 3.2; RFC 6040 5.3",
        core(sid("5f00:0:e101::/48", "uDT46"), mtu=1500),
        unordered=["p1"],
    )
    case.config["ports"][1]["mtu"] = 1280
    for size in (1281, 1300, 1500):
        packet = sized(lambda **k: roce4(flags=0, **k), size)
        case.rx("p0", packet)
        case.count("p0", "fragmented")
        case.tx("p1", *(hop(f) for f in fragments4(packet, 1280)), origin="fragments")
        if size + 40 <= 1500:
            case.rx("p0", tunnel("5f00:0:e101::", packet, tc=0x6B))
            case.count("p0", "fragmented")
            case.tx("p1", *(hop(set_tos(f, 0x6B)) for f in fragments4(packet, 1280)), origin="fragments")
    # router alert (copied) and record route (not copied); the first fragment has both
    options = [IPOption(b"\x94\x04\x00\x00"), IPOption(b"\x07\x07\x04\x00\x00\x00\x00"), IPOption(b"\x00")]
    packet = raw(IP(src=HOST_A4, dst=HOST_B4, ttl=64, id=7, proto=253, options=options) / Raw(bytes(1400)))
    first = (1280 - 32) // 8 * 8
    case.rx("p0", packet)
    case.count("p0", "fragmented")
    one = IP(src=HOST_A4, dst=HOST_B4, ttl=63, id=7, proto=253, options=options, flags="MF") / Raw(bytes(first))
    two = IP(src=HOST_A4, dst=HOST_B4, ttl=63, id=7, proto=253, options=options[:1], frag=first // 8) / Raw(bytes(1400 - first))
    case.tx("p1", raw(one), raw(two), origin="fragments")
    yield case


def tenants():
    """Two tenants with the same addresses, each with a policy of its own."""
    other = ["5f00:0:600::", "5f00:0:e103::"]
    config = headend(SHORT_LIST)
    config["ports"].append(port("p2", "dc", f"{GATE_A}/64", f"{GATE_A4}/24", vrf="other"))
    config["neighbors"] += [neighbor("p2", HOST_A), neighbor("p2", HOST_A4)]
    config["vrfs"].append(vrf("other", *over("elsewhere", NET_B, NET_B4)))
    config["policies"].append(policy("elsewhere", other, flow_label=FLOW_LABEL))
    case = Case(
        "encap_tenants",
        "two tenants with the same addresses: each has its own policy, errors and gateway",
        "RFC 8986 5; RFC 4364 3",
        config,
    )
    for in_port, segments in (("p0", SHORT_LIST), ("p2", other)):
        for inner in (roce6(), roce4()):
            case.passes(in_port, inner, "p1", encaps_red(inner, segments))
            late = hop_limit(inner, 1)
            case.dropped(in_port, late, "hop_limit", time_exceeded(late, GATE_A4))
        case.answered(in_port, echo6(HOST_A, GATE_A), "echo", echo_reply6(echo6(HOST_A, GATE_A)))
    yield case


def nowhere():
    yield Case(
        "encap_no_route",
        "the first SID of the list leads nowhere: a path that would drop everything is refused",
        "RFC 8986 5.1",
        headend(SHORT_LIST, routes=[]),
        status=1,
        stderr="segments: no route leads to the first hop, 5f00:0:500:300:e102::, so no packet would leave by this path",
    )


def paths():
    """Flows are spread over the paths of a policy, and all packets of one go one way."""
    lists = [SHORT_LIST, ["5f00:0:600::", "5f00:0:300::", "5f00:0:e102::"]]
    flows = [make(sport=s) for s in range(49152, 49152 + 16) for make in (roce6, roce4)] * 2
    for name, weights, title in (("paths", (1, 1), "two paths"), ("weights", (3, 1), "two paths of different weight")):
        case = Case(
            f"encap_{name}",
            f"flows are spread over {title}; none is split",
            "RFC 8986 5; RFC 9256 2.11",
            headend(*zip(weights, lists)),
            spread={"p1": 2},
        )
        case.rx("p0", *flows)
        for segments in lists:
            case.tx("p1", *(encaps_red(f, segments) for f in flows))
        yield case
    routes = to_p1("5f00:0:500::/48") + [{"prefix": "5f00:0:500::/48", "port": "p1", "nexthop": "2001:db8:b::5"}]
    config = headend(SHORT_LIST, routes=routes)
    other = {"port": "p1", "address": "2001:db8:b::5", "mac": "02:00:00:00:b0:05"}
    config["neighbors"].append(other)
    case = Case("encap_ecmp", "flows are spread over the next hops of the first SID", "RFC 8986 7", config)
    case.about["spread"] = {"p1": 2}
    case.rx("p0", *flows)
    for mac in (None, other["mac"]):
        case.tx("p1", *(from_node("p1", encaps_red(f, SHORT_LIST), mac) for f in flows))
    yield case


def full_lists():
    for n in (1, 6, 7, 13, 37, 96):
        case = Case(
            f"encap_full_{n}",
            f"H.Encaps, {n} uSIDs: the SRH lists all containers, one needs no SRH",
            "RFC 8986 5.1; RFC 8754 4.1; RFC 9800 6.2",
            headend(usids(n), encap="H.Encaps", mtu=1500),
        )
        for inner in (roce6(), roce4(), roce6(size=0), roce4(size=333)):
            case.passes("p0", inner, "p1", encaps(inner, usids(n)))
        overhead = 40 + (8 + 16 * -(-n // 6) if n > 6 else 0)
        for make in (roce6, roce4):
            fits, long = sized(make, 1500 - overhead), sized(make, 1500 - overhead + 1)
            case.passes("p0", fits, "p1", encaps(fits, usids(n)))
            case.dropped("p0", long, "too_big", too_big(long, max(1500 - overhead, 1280 if make is roce6 else 0), GATE_A4))
        yield case


def blocks():
    segments = ["5f00:0:500::", "5f00:0:300::", "5f00:1:7::", "5f00:1:8:e100::", "5f00:2:1::", "5f00:2:2::", "5f00:0:e102::"]
    known = ("5f00::", "5f00:1::")
    for encap_, build in (("H.Encaps", encaps), ("H.Encaps.Red", encaps_red)):
        config = headend(segments, encap=encap_)
        config["node"]["usid"]["more-blocks"] = ["5f00:1::/32"]
        case = Case(
            f"encap_blocks{'_red' if 'Red' in encap_ else ''}",
            f"{encap_}: each block of known structure fills containers of its own, SIDs of unknown structure stand alone",
            "RFC 9800 6.1, 6.2",
            config,
        )
        for inner in (roce6(), roce4()):
            case.passes("p0", inner, "p1", build(inner, segments, blocks=known))
        yield case


def path_sources():
    lists = [SHORT_LIST, ["5f00:0:600::", "5f00:0:300::", "5f00:0:e102::"]]
    case = Case(
        "encap_source_prefix",
        "an outer source for each path",
        "docs/protocol.md 6.2 D39; RFC 8986 5.1",
        headend(*lists, source_prefix="2001:db8:f:ff::/64"),
        spread={"p1": 2},
    )
    flows = [make(sport=s) for s in range(49152, 49152 + 16) for make in (roce6, roce4)] * 2
    case.rx("p0", *flows)
    for n, segments in enumerate(lists):
        case.tx("p1", *(encaps_red(f, segments, src=f"2001:db8:f:ff::{n + 1}") for f in flows))
    yield case
    case = Case(
        "encap_backup",
        "a backup path carries nothing, but its MTU counts: no packet may become too big when it must",
        "docs/design.md 4; RFC 9256 2.9",
        headend(SHORT_LIST, ({"backup": True, "weight": 9}, usids(13))),
    )
    for sport in range(49152, 49152 + 8):
        for inner in (roce6(sport=sport), roce4(sport=sport)):
            case.passes("p0", inner, "p1", encaps_red(inner, SHORT_LIST))
    for make in (roce6, roce4):
        fits, long = sized(make, 1500 - 80), sized(make, 1500 - 80 + 1)
        case.passes("p0", fits, "p1", encaps_red(fits, SHORT_LIST))
        case.dropped("p0", long, "too_big", too_big(long, 1500 - 80, GATE_A4))
    yield case


def cases():
    for family in (
        full_lists,
        blocks,
        path_sources,
        list_lengths,
        odd_lists,
        own_sids_first,
        traffic_class,
        outer_header,
        hop_limits,
        mtu,
        fragmented,
        tenants,
        nowhere,
        paths,
    ):
        yield from family()
