# SPDX-License-Identifier: BSD-3-Clause
"""uN, uA and the SIDs that follow them in the same node: shift, next container, lookup."""

import ipaddress

from gen.case import Case, from_node
from gen.node import neighbor, sid
from gen.topology import core, headend, to_p1
from gen.wire import (
    DEST_OPTIONS, FRAGMENT, HOP_BY_HOP, IPPROTO_IPV6, NO_NEXT, PEER, ROUTING, decap, dest_options, encaps_red, fragment, hop,
    hop_by_hop, inner_of, ip6, next_segment, no_route, pop_srh, roce4, roce6, routing, set6, shift, srh,
    time_exceeded, tunnel,
)

UN = sid("5f00:0:100::/48", "uN")
UN2 = sid("5f00:0:200::/48", "uN")
UA = sid("5f00:0:e005::/48", "uA", port="p1", nexthop="2001:db8:b::5")
UNA = sid("5f00:0:100:e006::/64", "uA", port="p1", nexthop="2001:db8:b::6")
UDT = sid("5f00:0:e101::/48", "uDT46")
MAC5, MAC6, MAC7 = "02:00:00:00:b0:05", "02:00:00:00:b0:06", "02:00:00:00:a0:07"
FAR = ["5f00:0:500:300::", "5f00:0:300:e102::"]  # containers of other nodes
TLV = bytes([4, 6]) + bytes(6)  # PadN


def usid_node(**more):
    """All kinds of SIDs; each uA has a station of its own on p1's link."""
    adjacent = [neighbor("p1", "2001:db8:b::5", MAC5), neighbor("p1", "2001:db8:b::6", MAC6)]
    return core(UN, UN2, UA, UNA, UDT, neighbors=adjacent, **more)


def over(mac, packet):
    """The frame that leaves over an adjacency."""
    return from_node("p1", packet, mac)


def shifts():
    case = Case("un_shift", "uN: shift, with one to five uSIDs behind", "RFC 9800 4.1.1 N01-N08", usid_node())
    for n in range(1, 6):
        argument = ":".join(["500", "300", "e102", "ffff", "1"][:n])
        packet = tunnel(f"5f00:0:100:{argument}" + ("::" if n < 5 else ""), roce6())
        case.passes("p0", packet, "p1", shift(packet))
    yield case
    dst = "5f00:0:100:500:300::"
    case = Case(
        "un_shift_any_packet",
        "uN: the shift does not look behind the IPv6 header",
        "RFC 9800 4.1.1; docs/protocol.md 3.2",
        usid_node(),
    )
    for nh, payload in (
        (4, roce4()),
        (NO_NEXT, b""),
        (50, bytes(8)),
        (FRAGMENT, fragment(IPPROTO_IPV6, 0, 1) + roce6()[:48]),
        (FRAGMENT, fragment(IPPROTO_IPV6, 6, 0) + roce6()[48:]),
        (HOP_BY_HOP, hop_by_hop(NO_NEXT)),
        (HOP_BY_HOP, hop_by_hop(ROUTING) + srh(FAR) + roce6()),
        (ROUTING, routing(0, 7) + roce6()),
        (ROUTING, bytes([NO_NEXT, 255, 4, 9]) + bytes(4)),
        (ROUTING, b""),
    ):
        packet = ip6(PEER, dst, payload, nh)
        case.passes("p0", packet, "p1", shift(packet))
    yield case
    case = Case(
        "un_shift_srh_unchecked",
        "uN: as long as the argument is not 0 the SRH is neither changed nor checked",
        "RFC 9800 4.1.1; docs/protocol.md 3.2",
        usid_node(),
    )
    for left, last in ((0, 1), (1, 1), (2, 1), (200, 1), (1, 200)):
        packet = ip6(PEER, dst, srh(FAR, left, lastentry=last) + roce6(), ROUTING)
        case.passes("p0", packet, "p1", shift(packet))
    yield case
    case = Case(
        "un_shift_id_zero",
        "uN: all of the argument counts, so id 0 comes up and leads nowhere",
        "RFC 9800 4.1.1, 5; docs/protocol.md D26",
        usid_node(),
    )
    packet = tunnel("5f00:0:100:0:500::", roce6())
    case.dropped("p0", packet, "no_route", no_route(packet))
    yield case


def carriers():
    """Argument 0 and Segments Left above 0: the next container comes from the SRH."""
    case = Case(
        "un_next_container",
        "uN: next container; the SRH goes with the last one (PSP)",
        "RFC 8986 4.1 S12-S15, 4.16.1.2; RFC 8754 4.1.1",
        usid_node(),
    )
    three = FAR + ["5f00:0:300:e103::"]
    for segments, left in ((FAR, 2), (FAR, 1), (three, 3), (three, 2), (three, 1), (FAR[:1], 1)):
        for inner in (roce6(), roce4()):
            packet = tunnel("5f00:0:100::", inner, segments=segments, left=left)
            expected = next_segment(packet)
            case.passes("p0", packet, "p1", pop_srh(expected) if left == 1 else expected)
    yield case
    case = Case(
        "un_headers_around_srh",
        "uN: SRH with hop-by-hop and destination options in front, with options behind, with TLVs",
        "RFC 8200 4.1; RFC 8754 2.1; RFC 8986 4.16.1.2",
        usid_node(),
    )
    for left in (2, 1):
        for nh, chain in (
            (HOP_BY_HOP, [hop_by_hop(ROUTING), srh(FAR, left)]),
            (DEST_OPTIONS, [dest_options(ROUTING, 24), srh(FAR, left)]),
            (HOP_BY_HOP, [hop_by_hop(DEST_OPTIONS), dest_options(ROUTING), srh(FAR, left)]),
            (ROUTING, [srh(FAR, left, DEST_OPTIONS), dest_options()]),
            (ROUTING, [srh(FAR, left, tlvs=TLV)]),
            (ROUTING, [srh(FAR, left, tlvs=TLV * 3)]),
            (ROUTING, [srh(FAR, left, FRAGMENT), fragment(IPPROTO_IPV6, 0, 1)]),
        ):
            packet = ip6(PEER, "5f00:0:100::", b"".join(chain) + roce6(), nh)
            expected = next_segment(packet)
            case.passes("p0", packet, "p1", pop_srh(expected) if left == 1 else expected)
    yield case


def adjacencies():
    case = Case(
        "ua_shift",
        "uA, alone (/48) and with the node's id in front (/64): shift and over the adjacency",
        "RFC 9800 4.1.2, 5.3; docs/protocol.md 3.3",
        usid_node(),
    )
    for argument in ("300::", "500:300::", "200::", "100:e005:300::", "999::"):
        packet = tunnel(f"5f00:0:e005:{argument}", roce6())
        case.passes("p0", packet, "p1", over(MAC5, shift(packet)))
        packet = tunnel(f"5f00:0:100:e006:{argument}", roce6())
        case.passes("p0", packet, "p1", over(MAC6, shift(packet, 32)))
    yield case
    case = Case(
        "ua_next_container",
        "uA: next container over the adjacency, whatever it is",
        "RFC 8986 4.2, 4.16.1.2",
        usid_node(),
    )
    for segments, left in ((FAR, 2), (FAR, 1), (["5f00:0:200::"], 1), (["5f00:0:999::"], 1)):
        for dst, mac in (("5f00:0:e005::", MAC5), ("5f00:0:100:e006::", MAC6)):
            packet = tunnel(dst, roce6(), segments=segments, left=left)
            expected = next_segment(packet)
            case.passes("p0", packet, "p1", over(mac, pop_srh(expected) if left == 1 else expected))
    yield case
    case = Case(
        "ua_usd",
        "uA at the end: the inner packet goes to the adjacency, without a lookup",
        "RFC 8986 4.16.3; docs/protocol.md 3.2",
        usid_node(),
    )
    for dst, mac in (("5f00:0:e005::", MAC5), ("5f00:0:100:e006::", MAC6)):
        for inner in (roce6(), roce4(), roce6(dst="2001:db8:dead::1"), roce4(dst="203.0.113.1")):
            for segments in ((), FAR):
                packet = tunnel(dst, inner, segments=segments, left=0)
                case.passes("p0", packet, "p1", over(mac, decap(packet)))
    yield case


def sequences():
    """Several SIDs of this node in one packet."""
    case = Case(
        "un_then_own",
        "uN, then the next own SID: each takes one off the hop limit",
        "RFC 9800 4.1.1; docs/protocol.md 3.3",
        usid_node(),
    )
    packet = tunnel("5f00:0:100:200:500:300::", roce6())
    case.passes("p0", packet, "p1", shift(shift(packet)))
    packet = tunnel("5f00:0:100:e005:500:300::", roce6())
    case.passes("p0", packet, "p1", over(MAC5, shift(shift(packet))))
    packet = tunnel("5f00:0:200:100:e006:300::", roce6())
    case.passes("p0", packet, "p1", over(MAC6, shift(shift(packet), 32)))
    for first in ("5f00:0:100:e101::", "5f00:0:100:200:e101::", "5f00:0:200:100::", "5f00:0:100:100::"):
        for inner in (roce6(), roce4()):
            packet = tunnel(first, inner)
            case.passes("p0", packet, "p1", decap(packet))
    packet = tunnel("5f00:0:100:e005::", roce6())
    case.passes("p0", packet, "p1", over(MAC5, decap(packet)))
    yield case
    case = Case(
        "un_then_own_container",
        "uN, then a container that begins with an own SID",
        "RFC 8986 4.1; RFC 9800 4.1.1",
        usid_node(),
    )
    packet = tunnel("5f00:0:100::", roce6(), segments=["5f00:0:200:500::"])
    case.passes("p0", packet, "p1", shift(pop_srh(next_segment(packet))))
    packet = tunnel("5f00:0:100::", roce6(), segments=["5f00:0:200:500::", FAR[0]])
    case.passes("p0", packet, "p1", shift(next_segment(packet)))
    packet = tunnel("5f00:0:100:200::", roce6(), segments=FAR[:1])
    case.passes("p0", packet, "p1", pop_srh(next_segment(shift(packet))))
    packet = tunnel("5f00:0:100::", roce6(), segments=["5f00:0:200::", FAR[0]])
    case.passes("p0", packet, "p1", pop_srh(next_segment(next_segment(packet))))
    packet = tunnel("5f00:0:100::", roce6(), segments=["5f00:0:e005:300::"])
    case.passes("p0", packet, "p1", over(MAC5, shift(pop_srh(next_segment(packet)))))
    for last in ("5f00:0:200::", "5f00:0:e101::", "5f00:0:200:e101::"):
        for inner in (roce6(), roce4()):
            packet = tunnel("5f00:0:100::", inner, segments=[last])
            case.passes("p0", packet, "p1", decap(packet))
    packet = tunnel("5f00:0:100::", roce6(), segments=["5f00:0:200:e005::"])
    case.passes("p0", packet, "p1", over(MAC5, decap(packet)))
    yield case
    case = Case(
        "sid_loop",
        "eight own SIDs in one packet are served, the ninth is not",
        "docs/design.md 2",
        usid_node(),
    )
    six = "5f00:0:100:200:100:200:100:200"
    packet = tunnel(six, roce6(), segments=["5f00:0:100:200::"])
    case.passes("p0", packet, "p1", decap(packet))
    case.dropped("p0", tunnel(six, roce6(), segments=["5f00:0:100:200:100::"]), "sid_loop")
    nested = roce6()
    for _ in range(9):
        nested = tunnel("5f00:0:100::", nested)
    case.dropped("p0", nested, "sid_loop")
    packet = inner_of(nested)
    expected = packet
    for _ in range(8):
        expected = inner_of(expected)
    case.passes("p0", packet, "p1", hop(expected))
    yield case


def tables():
    routes = (
        to_p1("5f00:0:a00::/40", "5f00:0:100:1::/64", "5f00:0:500:8000::/49")
        + [
            {"prefix": p, "port": "p1", "nexthop": "2001:db8:b::5"}
            for p in ("5f00:0:a01::/48", "5f00:0:500:7::/64", "5f00:0:100:e006:7::/80", "5f00:0:300:1::1/128")
        ]
    )
    case = Case(
        "usid_longest_match",
        "ids of the block: shorter, longer and overlapping prefixes beside SIDs",
        "RFC 9800 5; RFC 4291 2.3",
        usid_node(routes=routes),
    )
    for dst, mac in (
        ("5f00:0:a00::", None),
        ("5f00:0:aff:1::", None),
        ("5f00:0:a01::", MAC5),
        ("5f00:0:500:7::1", MAC5),
        ("5f00:0:500:8::1", None),
        ("5f00:0:500:8001::1", None),
        ("5f00:0:300:1::1", MAC5),
        ("5f00:0:300:1::2", None),
        ("5f00:0:100:1:2::", None),
        ("5f00:0:100:e006:7::1", MAC5),
    ):
        packet = tunnel(dst, roce6())
        case.passes("p0", packet, "p1", over(mac, hop(packet)))
    packet = tunnel("5f00:0:100:e006:8::", roce6())
    case.passes("p0", packet, "p1", over(MAC6, shift(packet, 32)))
    packet = tunnel("5f00:0:100:500::", roce6())
    case.passes("p0", packet, "p1", shift(packet))
    yield case
    case = Case(
        "usid_no_route",
        "ids that nobody has, before and after a shift: no route, quoting the packet as received",
        "RFC 4443 3.1; docs/protocol.md 3.5",
        usid_node(),
    )
    for dst in ("5f00:0:b00::", "5f00:0:e006::", "5f00:0:100:e007::", "5f00:0:100:b00::", "5f00:1:500::"):
        packet = tunnel(dst, roce6())
        case.dropped("p0", packet, "no_route", no_route(packet))
    packet = tunnel("5f00:0:100::", roce6(), segments=["5f00:0:b00::"])
    case.dropped("p0", packet, "no_route", no_route(packet))
    yield case


def several():
    """Set J of several adjacencies."""
    both = [{"port": "p0", "nexthop": "2001:db8:a::5"}, {"port": "p1", "nexthop": "2001:db8:b::6"}]
    first = {"port": "p1", "nexthop": "2001:db8:b::5"}
    stations = [neighbor("p0", "2001:db8:a::5", MAC7), neighbor("p1", "2001:db8:b::5", MAC5), neighbor("p1", "2001:db8:b::6", MAC6)]
    for name, kind, prefix, dst, then in (
        ("ua", "uA", "5f00:0:e005::/48", "5f00:0:e005:500::", shift),
        ("endx", "End.X", "5f00:1:5::/64", "5f00:1:5::", next_segment),
        ("dx6", "uDX6", "5f00:0:e106::/48", "5f00:0:e106::", decap),
    ):
        case = Case(
            f"{name}_several",
            f"{kind} with three adjacencies: flows are spread over all, by the outer flow label, and none is split",
            "RFC 8986 4.2, 4.4, 7; docs/protocol.md 3.2",
            core(sid(prefix, kind, **first, adjacencies=both), neighbors=stations),
            spread={"p0": 1, "p1": 2},
        )
        segments = ["5f00:0:500::"] if kind == "End.X" else ()
        packets = [
            tunnel(dst, roce6(sport=49152 + n), fl=0x10000 + 77 * n, segments=segments, left=1 if segments else None)
            for n in range(48)
        ]
        case.rx("p0", *packets, *packets)
        case.tx("p0", *(from_node("p0", then(p), MAC7) for p in packets * 2))
        for mac in (MAC5, MAC6):
            case.tx("p1", *(from_node("p1", then(p), mac) for p in packets * 2))
        yield case
    path = Case(
        "encap_several",
        "a list that begins with an own uA of several adjacencies uses all of them",
        "RFC 8986 4.2, 5.2; docs/protocol.md 3.4",
        headend(["5f00:0:e005::", "5f00:0:500::"], wan_side=[sid("5f00:0:e005::/48", "uA", **first, adjacencies=both[1:])]),
        spread={"p1": 2},
    )
    path.config["neighbors"] += stations[1:]
    flows = [roce6(sport=49152 + n) for n in range(24)]
    path.rx("p0", *flows, *flows)
    for mac in (MAC5, MAC6):
        path.tx("p1", *(from_node("p1", encaps_red(f, ["5f00:0:500::"]), mac) for f in flows * 2))
    yield path


class Block:
    """A locator block of any length, and addresses of ids in it."""

    def __init__(self, prefix):
        address, length = prefix.split("/")
        self.prefix, self.bits = prefix, int(length)
        self.head = int(ipaddress.IPv6Address(address))
        self.room = (128 - self.bits) // 16

    def address(self, *ids):
        value = self.head
        for n, i in enumerate(ids, 1):
            value |= i << 128 - self.bits - 16 * n
        return str(ipaddress.IPv6Address(value))

    def sid(self, *ids):
        return f"{self.address(*ids)}/{self.bits + 16 * len(ids)}"


def blocks():
    """RFC 9800 with other locator blocks than a /32, and a classic locator beside them."""
    for block in map(Block, ("2001:db8:ff::/48", "4f00::/16", "4f00:5500::/24", "2001:db8:ff:ee::/64")):
        a = block.address
        own = [
            sid(block.sid(0x100), "uN"),
            sid(block.sid(0xE005), "uA", port="p1", nexthop="2001:db8:b::5"),
            sid(block.sid(0x100, 0xE006), "uA", port="p1", nexthop="2001:db8:b::6"),
            sid(block.sid(0xE101), "uDT46"),
            sid("5f00:9:1::/64", "End"),
        ]
        away = to_p1(block.sid(0x500), block.sid(0x300))
        stations = [neighbor("p1", "2001:db8:b::5", MAC5), neighbor("p1", "2001:db8:b::6", MAC6)]
        case = Case(
            f"block_{block.bits}",
            f"uN, uA and uDT46 behind a block of {block.bits} bits, and End beside it",
            "RFC 9800 4.1, 4.1.1 N01-N08; RFC 8986 4.1, 4.8",
            core(*own, neighbors=stations, routes=away, block=block.prefix),
        )
        full = [0x500 + n for n in range(block.room - 1)]
        for left in (0, 1):
            chain = {"segments": [a(0x300, 0xE102)], "left": 1} if left else {}
            for rest in ([0x500], [0x500, 0x300], full):
                packet = tunnel(a(0x100, *rest), roce6(), **chain)
                case.passes("p0", packet, "p1", hop(set6(packet, dst=a(*rest))))
                packet = tunnel(a(0xE005, *rest), roce6(), **chain)
                case.passes("p0", packet, "p1", over(MAC5, hop(set6(packet, dst=a(*rest)))))
                packet = tunnel(a(0x100, 0xE006, *rest[:-1]), roce6(), **chain)
                if rest[:-1]:
                    case.passes("p0", packet, "p1", over(MAC6, hop(set6(packet, dst=a(*rest[:-1])))))
            # two own ids at once
            packet = tunnel(a(0x100, 0xE005, 0x500), roce6(), **chain)
            case.passes("p0", packet, "p1", over(MAC5, hop(set6(packet, dst=a(0x500)), 2)))
        for inner in (roce6(), roce4()):
            for dst in (a(0x100), a(0xE101), a(0x100, 0xE101), "5f00:9:1::"):
                segments = {"segments": [a(0x300, 0xE102)], "left": 1}
                if dst != a(0xE101):
                    if dst == a(0x100, 0xE101):
                        case.passes("p0", tunnel(dst, inner), "p1", hop(inner))
                        continue
                    packet = tunnel(dst, inner, **segments)
                    expected = next_segment(packet)
                    case.passes("p0", packet, "p1", expected if dst == "5f00:9:1::" else pop_srh(expected))
                if dst != "5f00:9:1::":
                    case.passes("p0", tunnel(dst, inner), "p1", hop(inner))
        for dst in (a(0x100, 0x500), a(0xE005, 0x500)):
            packet = tunnel(dst, roce6(), hlim=1)
            case.dropped("p0", packet, "hop_limit", time_exceeded(packet))
        for dst in (a(0x100, 0x999), a(0x999)):
            packet = tunnel(dst, roce6())
            case.dropped("p0", packet, "no_route", no_route(packet))
        yield case
        case = Case(
            f"encap_block_{block.bits}",
            f"SIDs behind a block of {block.bits} bits are packed, those of a /32 and a classic one beside them",
            "RFC 9800 6.1, 6.2; RFC 8986 5.2",
            headend(
                [a(i) for i in [*full, 0x777, 0x778]] + ["5f00:0:500::", "5f00:0:501::", "5f00:9:1::"],
                routes=to_p1(block.prefix), block=block.prefix, usid={"more-blocks": ["5f00:0::/32"]},
            ),
        )
        for inner in (roce6(), roce4()):
            containers = [a(*full, 0x777), a(0x778), "5f00:0:500:501::", "5f00:9:1::"]
            outer = encaps_red(inner, containers, blocks=())
            case.passes("p0", inner, "p1", outer)
        yield case


def cases():
    for family in (several, shifts, carriers, adjacencies, sequences, tables, blocks):
        yield from family()
