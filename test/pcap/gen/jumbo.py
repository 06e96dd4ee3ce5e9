# SPDX-License-Identifier: BSD-3-Clause
"""Packets longer than a buffer, which are chains of buffers inside."""

from gen.case import Case
from gen.headend import sized, usids
from gen.node import sid
from gen.topology import GATE_A4, MANY_ERRORS, P0_OWN, P0_OWN4, core, headend, tail
from gen.usid import FAR, UN
from gen.wire import (
    PEER, ROUTING, decap, dest_options, echo4, echo6, echo_reply4, echo_reply6, encaps_red, hop, hop_limit, ip6,
    next_segment, pop_srh, roce4, roce6, shift, srh, time_exceeded, too_big, tunnel,
)

MTU = 9100
BUFFER = 2048  # bytes of a frame in its first buffer, and in each further one
LARGE = (4096, 9000)
# sizes of the whole frame about the ends of the first two buffers
EDGES = tuple(BUFFER + d for d in (-1, 0, 1, 14, 40)) + (2 * BUFFER, 2 * BUFFER + 1)


def through():
    case = Case(
        "jumbo_forward",
        "4 KB and 9000 bytes and the edges of buffers in transit, with padding that goes",
        "RFC 8200 3; docs/design.md 2 rule 7",
        core(mtu=MTU),
    )
    for make in (roce6, roce4):
        for size in LARGE + tuple(e - 14 for e in EDGES):
            packet = sized(make, size)
            case.passes("p0", packet + bytes(size % 100), "p1", hop(packet))
    yield case
    case = Case("jumbo_shift", "the same through a uN", "RFC 9800 4.1.1", core(UN, mtu=MTU))
    for make in (roce6, roce4):
        for size in LARGE + tuple(e - 54 for e in EDGES):
            packet = tunnel("5f00:0:100:500::", sized(make, size))
            case.passes("p0", packet, "p1", shift(packet))
    yield case
    case = Case(
        "jumbo_next_container",
        "the same with an SRH that is popped, options in front of it or not",
        "RFC 8986 4.16.1.2",
        core(UN, mtu=MTU),
    )
    for size in (8900, *EDGES):
        packet = tunnel("5f00:0:100::", sized(roce6, size), segments=FAR[:1])
        case.passes("p0", packet, "p1", pop_srh(next_segment(packet)))
        packet = ip6(PEER, "5f00:0:100::", dest_options(ROUTING, 72) + srh(FAR[:1]) + sized(roce6, size), 60)
        case.passes("p0", packet, "p1", pop_srh(next_segment(packet)))
    yield case
    # the SRH ends where the buffer does
    case = Case(
        "jumbo_srh_at_edge",
        "an SRH that reaches to the end of the first buffer",
        "RFC 8754 2; docs/design.md 2 rule 7",
        core(UN, mtu=MTU),
    )
    for options in (BUFFER - 54 - 24 - n for n in (10, 18)):
        for size in (200, 4000):
            packet = ip6(PEER, "5f00:0:100::", dest_options(ROUTING, options) + srh(FAR[:1]) + sized(roce6, size), 60)
            case.passes("p0", packet, "p1", pop_srh(next_segment(packet)))
    yield case


def encapsulated():
    for n in (3, 13, 96):
        case = Case(
            f"jumbo_encap_{n}",
            f"{n} uSIDs in front of long packets",
            "RFC 8986 5.2",
            headend(usids(n), mtu=9400, tenant_mtu=MTU),
        )
        for make in (roce6, roce4):
            for size in LARGE + tuple(e - 14 for e in EDGES):
                packet = sized(make, size)
                case.passes("p0", packet, "p1", encaps_red(packet, usids(n)))
        yield case
    case = Case(
        "jumbo_encap_too_big",
        "a long packet that does not fit: the error quotes 1280 bytes of it, 576 of IPv4",
        "RFC 4443 2.4 c, 3.2; RFC 1191 4",
        headend(usids(7), mtu=9000, tenant_mtu=MTU),
    )
    for make in (roce6, roce4):
        fits, long = sized(make, 9000 - 64), sized(make, 9000 - 63)
        case.passes("p0", fits, "p1", encaps_red(fits, usids(7)))
        case.dropped("p0", long, "too_big", too_big(long, 9000 - 64, GATE_A4))
    yield case


def decapsulated():
    case = Case(
        "jumbo_decap",
        "long packets out of tunnels, with trailers of several buffers",
        "RFC 8986 4.8; RFC 8200 3",
        tail(sid("5f00:0:e101::/48", "uDT46", vrf="tenant"), mtu=MTU, tenant_mtu=MTU),
    )
    for make in (roce6, roce4):
        for size in LARGE + tuple(e - 54 for e in EDGES):
            packet = tunnel("5f00:0:e101::", sized(make, size))
            case.passes("p0", packet, "p1", decap(packet))
        for size, trailer in ((100, 5000), (BUFFER - 54, 1), (BUFFER - 55, 3000), (3000, 3000)):
            inner = sized(make, size)
            case.passes("p0", tunnel("5f00:0:e101::", inner) + bytes(trailer), "p1", hop(inner))
            case.passes("p0", tunnel("5f00:0:e101::", inner + bytes(trailer)), "p1", hop(inner))
    yield case


def local():
    case = Case(
        "jumbo_ping",
        "pings of 4 KB and 9000 bytes are answered whole",
        "RFC 4443 4.2; RFC 792",
        core(mtu=MTU),
    )
    for size in (1500, 2034, 2035, 4096, 9000):
        ping = echo6(PEER, P0_OWN, bytes(i & 0xFF for i in range(size - 48)))
        case.answered("p0", ping, "echo", echo_reply6(ping))
        ping = echo4("10.0.0.1", P0_OWN4, bytes(i & 0xFF for i in range(size - 28)))
        case.answered("p0", ping, "echo", echo_reply4(ping))
    yield case
    case = Case(
        "jumbo_time_exceeded",
        "an error about a long packet quotes its beginning",
        "RFC 4443 2.4 c, 3.3",
        core(mtu=MTU, icmp=MANY_ERRORS),
    )
    for packet in (hop_limit(sized(roce6, 9000), 1), hop_limit(sized(roce4, 9000), 1)):
        case.dropped("p0", packet, "hop_limit", time_exceeded(packet, P0_OWN4))
    yield case


def cases():
    for family in (through, encapsulated, decapsulated, local):
        yield from family()
