# SPDX-License-Identifier: BSD-3-Clause
"""Hop limits 0, 1, 2 and 3 wherever a packet can be."""

from gen.case import Case
from gen.topology import MANY_ERRORS, P0_OWN4
from gen.usid import FAR, MAC5, MAC6, over, usid_node
from gen.wire import decap, hop, hop_limit, next_segment, roce4, roce6, shift, time_exceeded, tunnel


def _by5(changed):
    """The same, and over the adjacency of the uA e005."""
    return lambda p: over(MAC5, changed(p))


def _twice(p):
    return shift(shift(p))


# name, title, packet, outcome, hops that this takes; 0: the outer hop limit does not matter
PLACES = (
    ("transit_v6", "IPv6 in transit", roce6(), hop, 1),
    ("transit_v4", "IPv4 in transit", roce4(), hop, 1),
    ("un", "uN, shift", tunnel("5f00:0:100:500::", roce6()), shift, 1),
    ("un_un", "two own uN", tunnel("5f00:0:100:200:500::", roce6()), _twice, 2),
    ("un_next", "uN, next container", tunnel("5f00:0:100::", roce6(), segments=FAR), next_segment, 1),
    ("ua", "uA, shift", tunnel("5f00:0:e005:300::", roce6()), _by5(shift), 1),
    ("una", "uA with the node's id", tunnel("5f00:0:100:e006:3::", roce6()), lambda p: over(MAC6, shift(p, 32)), 1),
    ("un_ua", "uN, then uA", tunnel("5f00:0:100:e005:300::", roce6()), _by5(_twice), 2),
    ("ua_next", "uA, next container", tunnel("5f00:0:e005::", roce6(), segments=FAR), _by5(next_segment), 1),
    ("un_udt", "uN, then uDT46", tunnel("5f00:0:100:e101::", roce6()), decap, 1),
    ("usd", "uN, decapsulation", tunnel("5f00:0:100::", roce4()), decap, 0),
    ("udt", "uDT46", tunnel("5f00:0:e101::", roce6()), decap, 0),
    ("ua_usd", "uA, decapsulation", tunnel("5f00:0:e005::", roce6()), _by5(decap), 0),
)


def places():
    for name, title, packet, leaves, hops in PLACES:
        case = Case(
            f"hops_{name}",
            f"{title}: hop limits 0 to 3, of which it takes {hops}",
            "RFC 8200 3; RFC 8986 4.1 S05-S07; RFC 9800 4.1.1 N02-N03; RFC 1812 5.3.1",
            usid_node(),
        )
        for n in range(4):
            p = hop_limit(packet, n)
            if hops and n <= hops:
                case.dropped("p0", p, "hop_limit", time_exceeded(p, P0_OWN4))
            else:
                case.passes("p0", p, "p1", leaves(p))
        yield case


def inner():
    """A decapsulating node is a hop of the inner packet."""
    case = Case(
        "hops_inner",
        "inner hop limits 0 to 2 after uN, uA and uDT46",
        "RFC 8986 4.16.3; docs/protocol.md 3.2",
        usid_node(icmp=MANY_ERRORS),
    )
    for dst in ("5f00:0:100::", "5f00:0:e101::", "5f00:0:e005::", "5f00:0:100:e101::"):
        for n in range(3):
            for packet in (roce6(hlim=n), roce4(ttl=n)):
                if n < 2:
                    case.dropped("p0", tunnel(dst, packet), "hop_limit", time_exceeded(packet, P0_OWN4))
                else:
                    mac = MAC5 if dst == "5f00:0:e005::" else None
                    case.passes("p0", tunnel(dst, packet), "p1", over(mac, hop(packet)))
    yield case


def cases():
    yield from places()
    yield from inner()
