# SPDX-License-Identifier: BSD-3-Clause
"""Packet Too Big about packets of this node's tunnels: accepted, forged, and its effect."""

from scapy.layers.inet6 import ICMPv6PacketTooBig, ICMPv6TimeExceeded
from scapy.packet import Raw

from gen.case import Case
from gen.headend import SHORT_LIST, usids
from gen.neighbor import Timeline
from gen.node import LOOPBACK, ONE_LCORE
from gen.pfc_wan import told as in_slice
from gen.slices import with_slices
from gen.topology import GATE_A4, MANY_ERRORS, headend
from gen.wire import encaps, encaps_red, hop, hop_limit, next_segment, roce4, roce6, set6, shift, too_big, upper6

ROUTER = "2001:db8:b::77"  # somewhere on the path
PLAIN6, PLAIN4 = len(roce6(size=0)), len(roce4(size=0))


def told(quote, mtu, src=ROUTER, code=0, **fields):
    """The router's message about a packet as it came there."""
    return upper6(src, LOOPBACK, ICMPv6PacketTooBig(mtu=mtu, code=code, **fields) / Raw(quote[: 1280 - 48]))


def far(lists, **policy):
    node = headend(*lists, mtu=1600, tenant_mtu=1600, **policy)
    node["lcores"] = ONE_LCORE
    node["icmp"] = MANY_ERRORS
    return node


def packets(size):
    """One of each family, of `size` bytes."""
    return roce6(size=size - PLAIN6), roce4(size=size - PLAIN4)


def lowered():
    for name, segments, encap, overhead, later in (
        ("plain", SHORT_LIST, "H.Encaps.Red", 40, [shift]),
        ("red", usids(8), "H.Encaps.Red", 64, [shift] * 5 + [next_segment]),
        ("full", usids(8), "H.Encaps", 80, [shift, shift]),
        ("slice", SHORT_LIST, "H.Encaps.Red", 56, [shift]),
        ("slice_full", usids(8), "H.Encaps", 96, [shift, shift]),
    ):
        by_option = "slice" in name
        case = Case(
            f"ptb_{name}",
            f"a router on the way takes 1400 bytes: the tunnel's packets are {1400 - overhead} from then on, as far as uSIDs were used up there",
            "RFC 8201 4; RFC 2473 7, 8; RFC 9800 9.4; docs/protocol.md 3.4",
            with_slices(far([segments], encap=encap, **{"slice-by": "option"})) if by_option else far([segments], encap=encap),
        )
        without = encaps if encap == "H.Encaps" else encaps_red

        def make(packet, segments, without=without, slices=by_option):
            return in_slice(without(packet, segments), 0) if slices else without(packet, segments)

        time = Timeline(case)
        whole = packets(1600 - overhead)
        time.at(0, "p0", *whole)
        quote = make(whole[0], segments)
        for step in later:
            quote = step(quote)
        time.at(4, "p1", told(quote, 1400))
        case.count("p1", "icmp")
        fits = packets(1400 - overhead)
        time.at(8, "p0", *whole, *fits)
        case.count("p0", "too_big", 2)
        case.tx("p1", *(make(p, segments) for p in (*whole, *fits)), origin="p0")
        case.tx("p0", *(too_big(p, 1400 - overhead, GATE_A4) for p in whole), origin="errors")
        time.fill()
        yield case


def least():
    case = Case(
        "ptb_least",
        "a router that takes 1280 bytes: packets of 1280 bytes are sent all the same, for IPv6 has no smaller links",
        "RFC 8201 4; RFC 8200 5; docs/protocol.md 3.4, D29",
        far([SHORT_LIST]),
    )
    time = Timeline(case)
    time.at(0, "p1", told(hop(encaps_red(roce6(size=1400), SHORT_LIST)), 1280))
    case.count("p1", "icmp")
    fits, not_any_more = packets(1280), packets(1281)
    time.at(4, "p0", *fits, *not_any_more)
    case.count("p0", "too_big", 2)
    case.tx("p1", *(encaps_red(p, SHORT_LIST) for p in fits), origin="p0")
    case.tx("p0", *(too_big(p, 1280, GATE_A4) for p in not_any_more), origin="errors")
    time.fill()
    yield case


def hostile():
    case = Case("ptb_forged_slice", "a quote with another hop-by-hop header, or without one, is of no packet of this path", "RFC 8201 6; docs/protocol.md 4.5",
                with_slices(far([SHORT_LIST], **{"slice-by": "option"})))
    whole = roce6(size=1544 - PLAIN6)
    ours = in_slice(encaps_red(whole, SHORT_LIST), 0)
    time = Timeline(case)
    for offset, value in ((6, 43), (6, 41), (40, 43), (40, 17), (41, 2), (44, 0x3E), (45, 7), (47, 1)):
        time.at(0, "p1", told(ours[:offset] + bytes([value]) + ours[offset + 1 :], 1400))
        case.count("p1", "icmp")
    time.at(0, "p1", told(encaps_red(roce6(size=1560 - PLAIN6), SHORT_LIST), 1400))
    case.count("p1", "icmp")
    time.at(4, "p0", whole)
    case.tx("p1", ours, origin="p0")
    time.fill()
    yield case
    case = Case(
        "ptb_forged",
        "messages that quote no packet of ours, or say nothing that can be true, change nothing",
        "RFC 8201 4, 6; docs/protocol.md 3.5",
        far([SHORT_LIST]),
    )
    whole = roce6(size=1560 - PLAIN6)
    ours = encaps_red(whole, SHORT_LIST)
    good = told(ours, 1400)
    forged = [
        told(ours, 1279),  # less than any link has
        told(ours, 0),
        told(ours, 1600),  # it would have fitted
        told(ours, 0xFFFFFFFF),
        told(ours, 1560 + 40),
        told(encaps_red(roce6(size=1300 - PLAIN6), SHORT_LIST), 1400),  # so would this
        told(ours, 1400, code=1),
        told(set6(ours, src="2001:db8:f::e"), 1400),
        told(set6(ours, dst="5f00:0:501:300:e102::"), 1400),
        told(set6(ours, dst="5f00:0:300:500:e102::"), 1400),
        told(set6(ours, dst="5f00:0:e102:1::"), 1400),
        told(set6(ours, dst="5f00:1:500:300:e102::"), 1400),
        told(set6(ours, dst="5f00:0:300:e102::9"), 1400),
        told(set6(ours, fl=0x54321), 1400),
        told(set6(ours, nh=17), 1400),
        told(roce6(size=1560), 1400),
        told(ours[:39], 1400),
        told(b"\x40" + ours[1:], 1400),
        told(b"", 1400),
        upper6(ROUTER, LOOPBACK, ICMPv6TimeExceeded() / Raw(ours[:1232])),
    ]
    time = Timeline(case)
    time.at(0, "p1", *forged, good[:-1] + bytes([good[-1] ^ 1]))
    case.count("p1", "icmp", len(forged))
    case.count("p1", "icmp_checksum")
    time.at(4, "p0", whole)
    case.tx("p1", ours, origin="p0")
    # the same without a fault
    time.at(4, "p1", good)
    case.count("p1", "icmp")
    time.at(8, "p0", whole)
    case.count("p0", "too_big")
    case.tx("p0", too_big(whole, 1360), origin="errors")
    time.fill()
    yield case
    segments = usids(8)
    case = Case(
        "ptb_forged_srh",
        "the segment list and what is left of it must be the path's",
        "RFC 8201 6; RFC 8754 5.4",
        far([segments]),
    )
    whole = roce6(size=1536 - PLAIN6)
    ours = encaps_red(whole, segments)
    time = Timeline(case)
    at = 40  # of the SRH
    changed = [(at, 59), (at + 1, 4), (at + 2, 3), (at + 3, 2), (at + 3, 0), (at + 4, 1), (at + 12, 0x77), (at + 23, 1)]
    for offset, value in changed[1:]:
        time.at(0, "p1", told(ours[:offset] + bytes([value]) + ours[offset + 1 :], 1400))
        case.count("p1", "icmp")
    # cut off, behind one that has all it should have but a code: none may be taken for a part of the other
    time.at(0, "p1", told(ours, 1400, code=1), told(ours[:63], 1400), told(hop_limit(ours, 1)[:40], 1400))
    case.count("p1", "icmp", 3)
    time.at(4, "p0", whole)
    case.tx("p1", ours, origin="p0")
    time.fill()
    yield case


def cases():
    for family in (lowered, least, hostile):
        yield from family()
