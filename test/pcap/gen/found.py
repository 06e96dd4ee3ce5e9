# SPDX-License-Identifier: BSD-3-Clause
"""Faults that random packets against the model of test/diff have found, a case for each."""

from gen.case import Case
from gen.node import sid
from gen.topology import MANY_ERRORS, core, to_p1
from gen.wire import (
    DEST_OPTIONS, HOP_BY_HOP, IPPROTO_IPV4, IPPROTO_IPV6, ROUTING, dest_options, hop, hop_by_hop, ip6, next_segment,
    param_problem, roce4, roce6, routing, set_tos, srh, time_exceeded, tunnel,
)

UN, UN2 = sid("5f00:0:100::/48", "uN"), sid("5f00:0:300::/48", "uN")
END, END2 = sid("5f00:1:1::/64", "End"), sid("5f00:1:2::/64", "End")
NOT_ECT, ECT1, ECT0, CE = range(4)


def segments():
    case = Case(
        "segment_no_destination",
        "segments that no packet may be sent to, though a default route leads everywhere",
        "RFC 8200 4.4; RFC 4291 2.5.2, 2.5.3, 2.5.6, 2.7",
        core(END, UN, routes=to_p1("::/0", "ff00::/8", "fe80::/10")),
    )
    for segment, reason in (
        ("ff02::1", "multicast"),
        ("ff0e::5f00", "multicast"),
        ("fe80::1", "link_local"),
        ("febf:ffff::1", "link_local"),
        ("::", "link_local"),
        ("::1", "link_local"),
    ):
        for first in ("5f00:1:1::", "5f00:0:100::"):
            for left in (1, 2):
                list_ = [segment] if left == 1 else [segment, "5f00:0:500::"]
                case.dropped("p0", tunnel(first, roce6(), segments=list_), reason)
    # next to them, where packets may go
    for segment in ("fec0::1", "::2", "fe7f::1", "5f00:0:500::"):
        packet = tunnel("5f00:1:1::", roce6(), segments=[segment])
        case.passes("p0", packet, "p1", next_segment(packet))
    yield case


def marks():
    case = Case(
        "decap_ecn_twice",
        "two tunnels that end here: the mark of the outer one comes through the middle one, or ends the packet",
        "RFC 6040 4.2; RFC 8986 4.16.3",
        core(UN2, UN),
    )
    for outer in range(4):
        for middle in range(4):
            for inner in range(4):
                for make in (roce6, roce4):
                    payload = set_tos(make(), 0x68 | inner)
                    packet = tunnel("5f00:0:300::", tunnel("5f00:0:100::", payload, tc=middle), tc=outer)
                    first = through(outer, middle)
                    last = None if first is None else through(first, inner)
                    if last is None:
                        case.dropped("p0", packet, "ecn_ce_not_ect")
                    else:
                        case.passes("p0", packet, "p1", hop(set_tos(payload, 0x68 | last)))
    yield case


def through(outer, inner):
    """RFC 6040 figure 4; None: dropped."""
    if inner == NOT_ECT:
        return None if outer == CE else NOT_ECT
    if outer == CE:
        return CE
    return ECT1 if (inner, outer) == (ECT0, ECT1) else inner


def behind():
    """A node that takes the last segment and is that segment, too: it is the destination of the packet after the SRH."""
    case = Case(
        "behind_used_up_srh",
        "options and routing headers behind an SRH whose last segment is a SID of the same node",
        "RFC 8200 4.1, 4.2, 4.4; RFC 8986 4.1",
        core(UN, UN2, END),
    )
    inner = roce6()
    for first in ("5f00:0:100::", "5f00:1:1::"):
        def made(header, kind, then=first):
            body = srh(["5f00:0:300::"], 1, kind) + header + inner
            return ip6("2001:db8:a::1", then, body, ROUTING, fl=7)

        good = made(dest_options(IPPROTO_IPV6), DEST_OPTIONS)
        case.passes("p0", good, "p1", hop(inner))
        # an unknown option of the type "drop and report to the sender"
        for kind, told in ((0x9E, True), (0x5E, False)):
            bad = made(bytes([IPPROTO_IPV6, 0, kind, 4]) + bytes(4), DEST_OPTIONS)
            # the pointer is into the packet as it came; uN takes the SRH out on the way, and puts nothing back
            case.dropped("p0", bad, "option", param_problem(bad, 40 + 24 + 2, 2) if told else None)
        bad = made(routing(2, 1), ROUTING)
        case.dropped("p0", bad, "routing_type", param_problem(bad, 40 + 24 + 2))
    yield case


def two_srhs():
    """The last segment of the first SRH is here, and so is the SID that finds the second one."""
    case = Case(
        "second_srh",
        "the first SRH is used up on this node, which then executes the second one",
        "RFC 8200 4.1; RFC 8986 4.1 S12-S15, 4.16.1",
        core(UN, UN2, END, END2, routes=to_p1("5f00::/32"), icmp=MANY_ERRORS),
    )
    far = ["5f00:0:900::", "5f00:0:a00::", "5f00:0:b00::"]
    for first, pops in (("5f00:0:100::", True), ("5f00:1:1::", False)):
        for second, pops2 in (("5f00:0:300::", True), ("5f00:1:2::", False)):
            for n in (1, 2, 3):
                for left in range(1, n + 1):
                    for before, between, tlvs in ((b"", b"", b""), (hop_by_hop(ROUTING), dest_options(ROUTING, 16), bytes([4, 6]) + bytes(6))):
                        inner = roce6() if n != 2 else roce4()
                        proto = IPPROTO_IPV6 if n != 2 else IPPROTO_IPV4

                        def packet(dst, hops, lefts, kept):
                            """With the SRHs in `kept`, Segments Left of each in `lefts`."""
                            kind, body = proto, inner
                            if kept[1]:
                                kind, body = ROUTING, srh(far[:n], lefts[1], kind, tlvs) + body
                            if between:
                                kind, body = DEST_OPTIONS, dest_options(kind, 16) + body
                            if kept[0]:
                                kind, body = ROUTING, srh([second], lefts[0], kind, tlvs) + body
                            if before:
                                kind, body = HOP_BY_HOP, hop_by_hop(kind) + body
                            return ip6("2001:db8:a::1", dst, body, kind, fl=9, hlim=hops)

                        case.passes("p0", packet(first, 64, (1, left), (True, True)), "p1",
                                    packet(far[n - left], 62, (0, left - 1), (not pops, left > 1 or not pops2)))
    # the second SRH has two segments here: it is used up as well
    made = ip6("2001:db8:a::1", "5f00:1:1::", srh(["5f00:1:2::"], 1, ROUTING) + srh(["5f00:1:1::", "5f00:0:900::"], 2) + roce6(), ROUTING)
    gone = ip6("2001:db8:a::1", "5f00:0:900::", srh(["5f00:1:2::"], 0, ROUTING) + srh(["5f00:1:1::", "5f00:0:900::"], 0) + roce6(), ROUTING,
               hlim=61)
    case.passes("p0", made, "p1", gone)
    # both are used up, and the tunnel ends here
    made = ip6("2001:db8:a::1", "5f00:1:1::", srh(["5f00:1:2::"], 1, ROUTING) + srh(["5f00:0:100::"], 1) + roce6(), ROUTING)
    case.passes("p0", made, "p1", hop(roce6()))
    # a used-up SRH in front stays as it is
    made = ip6("2001:db8:a::1", "5f00:1:1::", srh(["5f00:0:800::"], 0, ROUTING) + srh(["5f00:0:300::"], 1, ROUTING) + srh(far, 2) + roce6(),
               ROUTING)
    gone = ip6("2001:db8:a::1", far[1], srh(["5f00:0:800::"], 0, ROUTING) + srh(["5f00:0:300::"], 0, ROUTING) + srh(far, 1) + roce6(),
               ROUTING, hlim=62)
    case.passes("p0", made, "p1", gone)
    # the node changes two SRHs of a packet; on its way to another node the third one passes
    thrice = srh(["5f00:1:2::"], 1, ROUTING) + srh(["5f00:1:1::"], 1, ROUTING) + srh(far, 3) + roce6()
    made = ip6("2001:db8:a::1", "5f00:1:1::", thrice, ROUTING)
    case.dropped("p0", made, "routing_type", param_problem(made, 40 + 24 + 24 + 2))
    # a hop limit for each of the two
    made = ip6("2001:db8:a::1", "5f00:1:1::", srh(["5f00:1:2::"], 1, ROUTING) + srh(far, 3) + roce6(), ROUTING, hlim=2)
    case.dropped("p0", made, "hop_limit", time_exceeded(made))
    # Segments Left of the second beyond its list
    made = ip6("2001:db8:a::1", "5f00:1:1::", srh(["5f00:1:2::"], 1, ROUTING) + srh(far, 5) + roce6(), ROUTING)
    case.dropped("p0", made, "srh_bounds", param_problem(made, 40 + 24 + 3))
    yield case


def cases():
    for family in (segments, marks, behind, two_srhs):
        yield from family()
