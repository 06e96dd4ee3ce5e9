# SPDX-License-Identifier: BSD-3-Clause
"""Plain IP forwarding, and the border of the SRv6 domain."""

from scapy.layers.inet import IPOption

from gen.case import Case
from gen.node import neighbor, node, port, sid, via
from gen.topology import P0_OWN4, P0_PEER, P1_PEER, core, headend, to_p0, to_p1
from gen.wire import (
    HOST_A, HOST_A4, HOST_B, HOST_B4, PEER, fragment, header, hop, ip4, ip6, no_route, roce4, roce6,
    shift, too_big, tunnel,
)

UN = sid("5f00:0:100::/48", "uN")


def transit():
    case = Case(
        "forward",
        "IPv6 and IPv4 by the underlay's table, on the link, over next hops, IPv4 over one of IPv6 too",
        "RFC 8200 3; RFC 1812 5.2; RFC 8950 3",
        core(routes=to_p1("203.0.113.0/24")),
    )
    for packet in (roce6(), roce4(), roce6(dst=P1_PEER), roce4(dst="10.1.0.1"), roce4(dst="203.0.113.9")):
        case.passes("p0", packet, "p1", hop(packet))
    for packet in (roce6(HOST_B, HOST_A), roce4(HOST_B4, HOST_A4)):
        case.passes("p1", packet, "p0", hop(packet))
        case.passes("p0", packet, "p0", hop(packet))
    yield case
    case = Case(
        "forward_default",
        "default routes, and longer prefixes beside them",
        "RFC 4291 2.3; RFC 4632 5.1",
        core(routes=to_p0("::/0", "0.0.0.0/0") + to_p1("2001:db8:1::11/128", "192.0.2.11/32", "128.0.0.0/1")),
    )
    for dst, out in (("2001:db8:ffff::1", "p0"), ("2001:db8:1::11", "p1"), ("2001:db8:1::12", "p0"), ("8000::", "p0")):
        case.passes("p0", roce6(dst=dst), out, hop(roce6(dst=dst)))
    for dst, out in (("203.0.113.1", "p1"), ("9.9.9.9", "p0"), ("192.0.2.11", "p1"), ("192.0.2.12", "p0")):
        case.passes("p0", roce4(dst=dst), out, hop(roce4(dst=dst)))
    yield case


def ttl_checksums():
    case = Case(
        "forward_ttl_checksum",
        "the IPv4 header checksum after the TTL fell, at the edges of the arithmetic",
        "RFC 1071; RFC 1624 3",
        core(),
    )
    base = header(ip4(HOST_A4, HOST_B4, id=0)).chksum
    for wanted in (0xFEFF, 0xFEFE, 0xFF00, 0xFF01, 0xFFFE, 0x0000, 0x0001, 0x00FF, 0x7FFF):
        # the checksum falls as the identification grows, in one's complement
        ident = (base - wanted) % 0xFFFF
        packet = ip4(HOST_A4, HOST_B4, id=ident)
        assert header(packet).chksum in (wanted, wanted ^ 0xFFFF), hex(header(packet).chksum)
        case.passes("p0", packet, "p1", hop(packet))
    yield case


def unusual():
    case = Case(
        "forward_unusual",
        "options, fragments, any protocol, any traffic class: not a router's business",
        "RFC 8200 4; RFC 1812 5.2.4, 5.3.2",
        core(),
    )
    for packet in (
        ip4(HOST_A4, HOST_B4, options=[IPOption(b"\x94\x04\0\0")]),
        ip4(HOST_A4, HOST_B4, bytes(100), options=[IPOption(b"\x01" * 40)]),
        ip4(HOST_A4, HOST_B4, bytes(64), flags="MF", frag=0),
        ip4(HOST_A4, HOST_B4, bytes(64), frag=8),
        ip4(HOST_A4, HOST_B4, tos=0xFF),
        ip6(HOST_A, HOST_B, tc=0xFF, fl=0xFFFFF),
        ip6(HOST_A, HOST_B, fragment(17, 8) + bytes(64), 44),
        ip6(HOST_A, HOST_B, bytes([59, 255]) + bytes(6), 0),
    ):
        case.passes("p0", packet, "p1", hop(packet))
    yield case
    case = Case(
        "forward_padding",
        "padding behind a short packet does not travel on",
        "RFC 894; RFC 2464 3",
        core(UN),
    )
    for packet in (ip6(HOST_A, HOST_B), ip4(HOST_A4, HOST_B4), ip4(HOST_A4, HOST_B4, b"x")):
        for padding in (1, 6, 26, 1000):
            case.passes("p0", packet + bytes(padding), "p1", hop(packet))
    packet = ip6(PEER, "5f00:0:100:500::")
    case.passes("p0", packet + b"\xff" * 60, "p1", shift(packet))
    yield case


def nowhere():
    case = Case(
        "forward_no_route",
        "no route: destination unreachable, from the loopback and from the port's address",
        "RFC 4443 3.1; RFC 792; docs/protocol.md 3.5",
        core(),
    )
    for packet in (roce6(dst="2001:db8:dead::1"), roce4(dst="203.0.113.1")):
        case.dropped("p0", packet, "no_route", no_route(packet, P0_OWN4))
    yield case
    case = Case(
        "forward_no_way_back",
        "no route to the source either: the error itself is dropped and counted",
        "docs/design.md 2 rule 8",
        core(),
    )
    for packet in (roce6("2001:db8:dead::2", "2001:db8:dead::1"), roce4("203.0.113.2", "203.0.113.1")):
        case.dropped("p0", packet, "no_route")
        case.count("(local)", "no_route")
    yield case


def too_large():
    case = Case(
        "forward_too_big",
        "larger than the MTU: Packet Too Big; IPv4 that may not be fragmented: fragmentation needed",
        "RFC 4443 3.2; RFC 1191 4; RFC 8200 5",
        core(UN),
    )
    for make in (roce6, roce4):
        fits = make(size=1500 - len(make(size=0)))
        long = make(size=1501 - len(make(size=0)))
        case.passes("p0", fits, "p1", hop(fits))
        case.dropped("p0", long, "too_big", too_big(long, 1500, P0_OWN4))
    fits = tunnel("5f00:0:100:500::", roce6(size=1460 - len(roce6(size=0))))
    long = tunnel("5f00:0:100:500::", roce6(size=1461 - len(roce6(size=0))))
    case.passes("p0", fits, "p1", shift(fits))
    case.dropped("p0", long, "too_big", too_big(long, 1500))
    yield case


def ecmp():
    """Two ports, and on each all packets of some flows."""
    routes = to_p0("2001:db8:9::/64", "203.0.113.0/24") + to_p1("2001:db8:9::/64", "203.0.113.0/24")
    flows = [roce6(dst="2001:db8:9::1", sport=s) for s in range(49152, 49152 + 24)]
    flows += [roce4(dst="203.0.113.1", sport=s) for s in range(49152, 49152 + 24)]
    case = Case(
        "forward_ecmp",
        "equal next hops: flows are spread, and none is split",
        "RFC 2992; RFC 8200 3",
        core(routes=routes),
        spread={"p0": 1, "p1": 1},
    )
    case.rx("p0", *flows, *flows)
    for out in ("p0", "p1"):
        case.tx(out, *map(hop, flows * 2))
    yield case
    routes = [r for n in ("p0", "p1") for r in via(n, P0_PEER if n == "p0" else P1_PEER, "5f00:0:a00::/48")]
    tunnels = [tunnel("5f00:0:100:a00::", roce6(), fl=0x10000 + 77 * n) for n in range(24)]
    case = Case(
        "un_ecmp",
        "tunnelled flows are told apart by the outer flow label",
        "RFC 8986 7; RFC 6438 3",
        core(UN, routes=routes),
        spread={"p0": 1, "p1": 1},
    )
    case.rx("p0", *tunnels, *tunnels)
    for out in ("p0", "p1"):
        case.tx(out, *map(shift, tunnels * 2))
    yield case


def boundary():
    """p0 and p2 inside, p1 outside the domain."""
    ports = [
        port("p0", "wan", "2001:db8:a::2/64"),
        port("p1", "dc", "2001:db8:3::1/64"),
    ]
    config = node(
        ports,
        block="fcbb:bb00::/32",
        neighbors=[neighbor("p0", P0_PEER), neighbor("p1", HOST_B)],
        routes=to_p0("fcbb:bb00::/32", "5f00::/16", "2001:db8:1::/64", "fcbb::/16"),
        sids=[sid("fcbb:bb00:100::/48", "uN")],
    )
    case = Case(
        "boundary_outside",
        "from outside nothing goes to SIDs: not to the block, not to 5f00::/16, own or not",
        "RFC 8754 5.1; RFC 9602 7; docs/protocol.md 3.6",
        config,
    )
    for dst in ("fcbb:bb00:100:200::", "fcbb:bb00:100::", "fcbb:bb00:200::", "5f00:0:100::", "5f00:ffff::1"):
        for src in (HOST_B, PEER):
            case.dropped("p1", tunnel(dst, roce6(), src=src), "boundary_drop")
            case.dropped("p1", tunnel(dst, roce6(), src=src, hlim=1), "boundary_drop")
    for dst in ("fcbb:bb01::1", "2001:db8:1::1"):
        case.passes("p1", roce6(HOST_B, dst), "p0", hop(roce6(HOST_B, dst)))
    yield case
    case = Case(
        "boundary_inside",
        "from inside own SIDs only for infrastructure sources; other SIDs are just destinations",
        "RFC 8754 5.1; docs/protocol.md 3.6",
        config,
    )
    for src in (HOST_A, HOST_B, "2001:db8:c::1", "2001:db8:e:ffff::1"):
        for dst in ("fcbb:bb00:100:200::", "fcbb:bb00:100::"):
            case.dropped("p0", tunnel(dst, roce6(), src=src), "boundary_source")
            case.dropped("p0", tunnel(dst, roce6(), src=src, hlim=1), "boundary_source")
        for dst in ("fcbb:bb00:200::", "5f00:0:100::"):
            packet = tunnel(dst, roce6(), src=src)
            case.passes("p0", packet, "p0", hop(packet))
    for src in (PEER, "2001:db8:f::1"):
        packet = tunnel("fcbb:bb00:100:200::", roce6(), src=src)
        case.passes("p0", packet, "p0", shift(packet))
    yield case
    case = Case(
        "boundary_tenant",
        "a tenant's packet to a SID does not even reach its policy",
        "RFC 8754 5.1",
        headend(["5f00:0:500::"], tenant_routes=[{"prefix": "::/0", "policy": "far"}]),
    )
    case.dropped("p0", roce6(dst="5f00:0:500::"), "boundary_drop")
    yield case


def cases():
    for family in (transit, ttl_checksums, unusual, nowhere, too_large, ecmp, boundary):
        yield from family()
