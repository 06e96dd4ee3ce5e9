# SPDX-License-Identifier: BSD-3-Clause
"""Decapsulation: into a tenant's table and into the underlay, congestion marks, lengths, what is inside."""

from gen.case import Case
from gen.node import LOOPBACK, sid
from gen.topology import BACK, GATE_B, GATE_B4, P0_OWN4, core, tail
from gen.wire import (
    HOST_A, HOST_A4, IPPROTO_IPV4, IPPROTO_IPV6, PEER, decap, echo4, echo6, echo_reply4, echo_reply6, encaps_red,
    hop, ip6, no_route, roce4, roce6, set4, set6, set_tos, time_exceeded, too_big, tos_of, tunnel,
)

UDT = "5f00:0:e101::"
UDT46 = sid("5f00:0:e101::/48", "uDT46", vrf="tenant")
UN = sid("5f00:0:300::/48", "uN")
NOT_ECT, ECT1, ECT0, CE = range(4)
# RFC 6040 figure 4: inner, then the result for outer Not-ECT, ECT(0), ECT(1), CE; None: dropped
ECN_TABLE = {
    NOT_ECT: {NOT_ECT: NOT_ECT, ECT0: NOT_ECT, ECT1: NOT_ECT, CE: None},
    ECT0: {NOT_ECT: ECT0, ECT0: ECT0, ECT1: ECT1, CE: CE},
    ECT1: {NOT_ECT: ECT1, ECT0: ECT1, ECT1: ECT1, CE: CE},
    CE: {NOT_ECT: CE, ECT0: CE, ECT1: CE, CE: CE},
}


def back(made):
    """A packet that the node made, on its way through the tenant's policy."""
    return encaps_red(made, BACK, transit=False, dscp=min(tos_of(made) >> 2, 40))


def tenants():
    case = Case(
        "udt_vrf",
        "uDT4, uDT6, uDT46 into a tenant's table, with and without SRH",
        "RFC 8986 4.6-4.8",
        tail(
            UDT46,
            sid("5f00:0:e104::/48", "uDT4", vrf="tenant"),
            sid("5f00:0:e106::/48", "uDT6", vrf="tenant"),
            sid("5f00:0:300:e102::/64", "uDT46", vrf="tenant"),
        ),
    )
    for dst, inners in (
        (UDT, (roce6(), roce4())),
        ("5f00:0:e104::", (roce4(),)),
        ("5f00:0:e106::", (roce6(),)),
        ("5f00:0:300:e102::", (roce6(), roce4())),
    ):
        for inner in inners:
            for segments in ((), [dst], [dst, "5f00:0:600::"]):
                packet = tunnel(dst, inner, segments=segments, left=0)
                case.passes("p0", packet, "p1", decap(packet))
    yield case
    case = Case(
        "udt_underlay",
        "uDT46 without a VRF and uN: into the underlay's table",
        "RFC 8986 4.8, 4.16.3",
        core(sid("5f00:0:e101::/48", "uDT46"), UN),
    )
    for dst in (UDT, "5f00:0:300::"):
        for inner in (roce6(), roce4()):
            for segments in ((), [dst]):
                packet = tunnel(dst, inner, segments=segments, left=0)
                case.passes("p0", packet, "p1", decap(packet))
    yield case
    case = Case(
        "udt_vrf_apart",
        "a tenant's packets do not find their way in the underlay, nor the other way round",
        "RFC 8986 4.8",
        tail(UDT46, UN, tenant_routes=[]),
    )
    for inner in (roce6(dst=PEER), roce4(dst="10.0.0.1")):
        case.dropped("p0", tunnel(UDT, inner), "no_route", back(no_route(inner, GATE_B4)), out="p0")
    lost = roce6()
    case.dropped("p0", tunnel("5f00:0:300::", lost), "no_route")
    case.count("(local)", "no_route")  # the underlay cannot reach host A either
    yield case


def ecn():
    for name, make in (("v6", roce6), ("v4", roce4)):
        case = Case(
            f"decap_ecn_{name}",
            f"every cell of the table of congestion marks, IP{name} inside; the DSCP inside stays",
            "RFC 6040 4.2 figure 4; RFC 2983 pipe model",
            tail(UDT46),
        )
        for inner_ecn, row in ECN_TABLE.items():
            for outer_ecn, result in row.items():
                inner = set_tos(make(psn=inner_ecn << 4 | outer_ecn), 26 << 2 | inner_ecn)
                packet = tunnel(UDT, inner, tc=46 << 2 | outer_ecn)
                if result is None:
                    case.dropped("p0", packet, "ecn_ce_not_ect")
                else:
                    case.passes("p0", packet, "p1", set_tos(hop(inner), 26 << 2 | result))
        yield case


def nested():
    case = Case(
        "decap_nested",
        "a tunnel in a tunnel, both ending here; marks go from each to the next",
        "RFC 8986 4.16.3; RFC 6040 4.2",
        core(UN, sid("5f00:0:e101::/48", "uDT46")),
    )
    middle = tunnel(UDT, set_tos(roce6(), ECT0), src=PEER, tc=CE)
    case.passes("p0", tunnel("5f00:0:300::", middle), "p1", set_tos(hop(roce6()), CE))
    yield case


def lengths():
    case = Case(
        "decap_lengths",
        "the outer length bounds what is inside; what is behind the inner packet goes",
        "RFC 8200 3; docs/design.md 2 rule 7",
        tail(UDT46),
    )
    for inner in (roce6(), roce4()):
        for rest in (b"\xee", b"\xee" * 33):
            packet = tunnel(UDT, inner + rest)
            case.passes("p0", packet, "p1", hop(inner))
            case.passes("p0", tunnel(UDT, inner) + rest, "p1", hop(inner))
        whole = tunnel(UDT, inner)
        case.dropped("p0", tunnel(UDT, inner[:-1]), "ip_length")
        case.dropped("p0", set6(whole, plen=len(inner) - 1), "ip_length")
        case.dropped("p0", set6(whole, plen=8), "truncated")
        case.dropped("p0", set6(whole, plen=0), "truncated")
    yield case


def _bad_inners():
    """Inner packet (with the outer header's idea of it) and the reason it goes no further."""
    for src in ("ff02::1", "::", "::1"):
        yield roce6(src=src), "ip_source"
    for src in ("0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255"):
        yield roce4(src=src), "ip_source"
    yield roce6(src=LOOPBACK), "own_source"
    yield roce6(src="fe80::1"), "link_local"
    yield roce6(dst="fe80::1"), "link_local"
    yield roce6(dst="ff0e::1"), "multicast"
    yield roce4(dst="239.1.1.1"), "multicast"
    yield roce4(dst="255.255.255.255"), "multicast"
    yield set4(roce4(), chksum=0xBAD), "ip_header"
    yield set4(roce4(), len=20000), "ip_length"
    yield set4(roce4(), len=19), "ip_header"
    yield set6(roce6(), plen=20000), "ip_length"


def inside():
    case = Case(
        "decap_bad_inner",
        "an inner packet is looked at like any other",
        "RFC 8200 3; RFC 4291 2.5.3, 2.5.6, 2.7; RFC 1812 5.2.2, 5.3.7",
        tail(UDT46),
    )
    for inner, reason in _bad_inners():
        case.dropped("p0", tunnel(UDT, inner), reason)
    case.dropped("p0", ip6(PEER, UDT, roce4(), IPPROTO_IPV6), "ip_version")
    case.dropped("p0", ip6(PEER, UDT, roce6(), IPPROTO_IPV4), "ip_version")
    case.passes("p0", tunnel(UDT, roce6()), "p1", hop(roce6()))
    yield case
    case = Case(
        "decap_to_sid",
        "an inner packet to an own SID: only from infrastructure sources",
        "RFC 8754 5.1",
        core(UN),
    )
    case.dropped("p0", tunnel("5f00:0:300::", tunnel("5f00:0:300::", roce6(), src=HOST_A)), "boundary_source")
    yield case


def errors():
    """Errors about a tenant's packet are the tenant's, and take its policy back."""
    config = tail(UDT46, tenant_mtu=1280)
    config["ports"][0]["addresses"].append(f"{P0_OWN4}/24")  # of the underlay: never a source in the tenant's table
    case = Case(
        "decap_hop_limit",
        "inner hop limit 0 and 1 end here: time exceeded to the inner source, through its policy; 2 goes on",
        "RFC 8986 4.8; RFC 4443 3.3; RFC 1812 5.3.1",
        config,
    )
    for n in (0, 1):
        for inner in (roce6(hlim=n), roce4(ttl=n)):
            case.dropped("p0", tunnel(UDT, inner), "hop_limit", back(time_exceeded(inner, GATE_B4)))
    for inner in (roce6(hlim=2), roce4(ttl=2)):
        case.passes("p0", tunnel(UDT, inner), "p1", hop(inner))
    yield case
    case = Case(
        "decap_too_big",
        "inner packet larger than the tenant's MTU: the error names it, and takes the policy back",
        "RFC 4443 3.2; RFC 1191 4",
        config,
    )
    for make in (roce6, roce4):
        fits = make(size=1280 - len(make(size=0)))
        long = make(size=1281 - len(make(size=0)))
        case.passes("p0", tunnel(UDT, fits), "p1", hop(fits))
        case.dropped("p0", tunnel(UDT, long), "too_big", back(too_big(long, 1280, GATE_B4)))
    yield case
    case = Case(
        "decap_hop_limit_underlay",
        "the same without a tenant: the error takes the route back",
        "RFC 4443 3.3; RFC 1812 4.3.2.4",
        core(UN),
    )
    for inner in (roce6(hlim=1), roce4(ttl=1)):
        case.dropped("p0", tunnel("5f00:0:300::", inner), "hop_limit", time_exceeded(inner, P0_OWN4))
    yield case


def pings():
    case = Case(
        "decap_ping",
        "a tenant pings the gateway of the far side through the tunnel",
        "RFC 4443 4.2; RFC 792",
        tail(UDT46),
    )
    for ping, reply in (
        (echo6(HOST_A, GATE_B), echo_reply6(echo6(HOST_A, GATE_B))),
        (echo4(HOST_A4, GATE_B4), echo_reply4(echo4(HOST_A4, GATE_B4))),
    ):
        case.answered("p0", tunnel(UDT, ping), "echo", back(reply))
    yield case


def cases():
    for family in (tenants, ecn, nested, lengths, inside, errors, pings):
        yield from family()
