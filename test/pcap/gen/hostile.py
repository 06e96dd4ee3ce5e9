# SPDX-License-Identifier: BSD-3-Clause
"""Frames that are broken, forged or meant for others. Behind each lot a good one shows that the node still works."""

from scapy.layers.inet import IPOption

from gen.case import Case, Frame, to_node
from gen.node import LOOPBACK, mac_of, sid
from gen.topology import P0_OWN, P0_OWN4, P0_PEER4, core, to_p0
from gen.wire import (
    HOST_A, HOST_A4, HOST_B, HOST_B4, IPPROTO_IPV4, IPPROTO_IPV6, PEER, decap, dest_options, echo4, echo6, hop,
    ip4, ip6, resize, roce4, roce6, set4, set6, too_big, tunnel,
)

UN = sid("5f00:0:300::/48", "uN")
UDT = sid("5f00:0:e101::/48", "uDT46")
UDT_DST = "5f00:0:e101::"
LINK_LOCAL = "fe80::ff:fe00:d000"
BROADCAST = "ff:ff:ff:ff:ff:ff"
IPV6_GROUP, IPV4_GROUP = "33:33:00:00:00:01", "01:00:5e:00:00:01"


def still_works(case):
    for packet in (roce6(), roce4()):
        case.passes("p0", packet, "p1", hop(packet))
    return case


def reject(case, packets, reason):
    for packet in packets:
        case.dropped("p0", packet, reason)


def stations():
    case = Case(
        "eth_stations",
        "frames for other stations, from nobody, from ourselves; group frames that carry no ND or ARP",
        "IEEE 802.3 3.2.3; RFC 1812 4.2.3.1, 5.3.4; RFC 4443 2.4 e",
        core(UN),
    )
    both = (roce6(), roce4())
    for dst in ("02:00:00:00:d0:01", "02:00:00:00:d0:10", "00:00:00:00:00:00", "fe:ff:ff:ff:ff:ff"):
        reject(case, [to_node("p0", p, dst=dst) for p in both], "mac_not_ours")
    for src in (mac_of("p0"), BROADCAST, IPV6_GROUP, "03:00:00:00:a0:00"):
        reject(case, [to_node("p0", p, src=src) for p in both], "mac_source")
    for dst in (BROADCAST, IPV6_GROUP, IPV4_GROUP):
        reject(case, [to_node("p0", p, dst=dst) for p in both], "multicast")
        # neither an answer nor an error
        for p in (echo6(PEER, P0_OWN), echo4(P0_PEER4, P0_OWN4), roce6(hlim=1), roce6(dst="2001:db8:dead::1")):
            case.dropped("p0", to_node("p0", p, dst=dst), "multicast")
        case.dropped("p0", to_node("p0", tunnel("5f00:0:300::", roce6()), dst=dst), "multicast")
    yield still_works(case)


def ether_types():
    case = Case(
        "eth_types",
        "ether types that are not handled, VLAN tags, MAC control",
        "IEEE 802.1Q 9.3; IEEE 802.3 31; docs/design.md 7",
        core(UN),
    )
    body = roce6()
    for kind in (0x0000, 0x002E, 0x05DC, 0x0801, 0x0842, 0x8035, 0x86DC, 0x8847, 0x88CC, 0x88E5, 0x8915, 0xFFFF):
        case.dropped("p0", to_node("p0", body, kind=kind), "ether_type")
    for kind in (0x8100, 0x88A8):
        case.dropped("p0", to_node("p0", b"\x00\x05\x86\xdd" + body, kind=kind), "vlan")
        case.dropped("p0", to_node("p0", b"", kind=kind), "truncated")
    pause = bytes.fromhex("0101 0008" + "ffff" * 8) + bytes(26)
    for dst in ("01:80:c2:00:00:01", mac_of("p0"), "02:00:00:00:d0:77"):
        case.dropped("p0", to_node("p0", pause, dst=dst, kind=0x8808), "mac_control")
    yield still_works(case)


def addresses():
    case = Case(
        "ip6_addresses",
        "IPv6 sources that no host has, destinations that are not forwarded",
        "RFC 4291 2.5.2, 2.5.3, 2.5.6, 2.7; RFC 8200 3",
        core(UN, routes=to_p0("::/0")),
    )
    for dst in (HOST_B, P0_OWN, "5f00:0:300::", LINK_LOCAL):
        reject(case, [roce6(src=src, dst=dst) for src in ("ff02::1", "ff0e::77", "::", "::1")], "ip_source")
        case.dropped("p0", roce6(src=LOOPBACK, dst=dst), "own_source")
    reject(case, [roce6(src=P0_OWN, dst=dst) for dst in (HOST_B, P0_OWN, LOOPBACK, LINK_LOCAL)], "own_source")
    case.dropped("p0", roce6(src=LINK_LOCAL, dst=LINK_LOCAL), "own_source")
    reject(case, [roce6(src="fe80::1", dst=dst) for dst in (HOST_B, "5f00:0:300::", "fe80::2")], "link_local")
    reject(case, [roce6(dst=dst) for dst in ("fe80::1", "febf::1", "::1", "::")], "link_local")
    reject(case, [roce6(dst=dst) for dst in ("ff02::1", "ff02::2", "ff0e::1", "ff02::1:ff00:2")], "multicast")
    case.dropped("p0", to_node("p0", echo6(PEER, "ff02::1"), dst=IPV6_GROUP), "multicast")
    yield still_works(case)
    case = Case(
        "ip6_own_sources",
        "an address of the port as source, whatever its last byte is",
        "RFC 8200 3; docs/counters.md own_source",
        core(UN, routes=to_p0("::/0")),
    )
    own = [f"2001:db8:a::{last:x}" for last in (0x1f, 0x20, 0x22, 0x3f, 0x40, 0x82, 0xff)]
    case.config["ports"][0]["addresses"] += [f"{a}/64" for a in own]
    reject(case, [roce6(src=src, dst=dst) for src in own for dst in (HOST_B, P0_OWN)], "own_source")
    for last in (0x1e, 0x21, 0x42, 0x60, 0xfe):
        case.passes("p0", roce6(src=f"2001:db8:a::{last:x}"), "p1", hop(roce6(src=f"2001:db8:a::{last:x}")))
    yield still_works(case)
    case = Case(
        "ip4_addresses",
        "IPv4 sources that no host has, destinations that are not forwarded",
        "RFC 1812 5.3.7, 4.2.2.11; RFC 1122 3.2.1.3; RFC 3927 2.6.2",
        core(routes=to_p0("0.0.0.0/0")),
    )
    for dst in (HOST_B4, P0_OWN4):
        sources = ("0.0.0.0", "127.0.0.1", "127.255.255.255", "224.0.0.1", "239.255.255.255", "255.255.255.255")
        reject(case, [roce4(src=src, dst=dst) for src in sources], "ip_source")
        case.dropped("p0", roce4(src=P0_OWN4, dst=dst), "own_source")
    reject(case, [roce4(dst=dst) for dst in ("224.0.0.1", "239.1.1.1", "255.255.255.255")], "multicast")
    case.dropped("p0", roce4(src="169.254.1.1"), "link_local")
    reject(case, [roce4(dst=dst) for dst in ("169.254.1.1", "127.0.0.1", "0.0.0.1", "0.0.0.0")], "link_local")
    yield still_works(case)


def headers():
    case = Case(
        "ip_headers",
        "versions, lengths and checksums that are wrong",
        "RFC 8200 3; RFC 791 3.1; RFC 1812 5.2.2",
        core(),
    )
    six, four = roce6(), roce4()
    for version in (0, 4, 5, 7, 15):
        case.dropped("p0", to_node("p0", bytes([version << 4]) + six[1:], kind=0x86DD), "ip_version")
    for version in (0, 5, 6, 15):
        case.dropped("p0", to_node("p0", bytes([version << 4 | 5]) + four[1:], kind=0x0800), "ip_version")
    reject(case, [set6(six, plen=n) for n in (57, 58, 1460, 65535)], "ip_length")
    reject(case, [set4(four, len=n) for n in (77, 78, 1500, 65535)], "ip_length")
    reject(case, [set4(four, len=n) for n in (0, 19)], "ip_header")
    reject(case, [to_node("p0", bytes([0x40 | n]) + four[1:]) for n in range(5)], "ip_header")
    reject(case, [set4(four, chksum=n) for n in (0, 0xFFFF, 1)], "ip_header")
    # the length is right, but the options are not there
    case.dropped("p0", set4(ip4(HOST_A4, HOST_B4, options=[IPOption(b"\x01" * 20)]), len=39), "ip_header")
    yield still_works(case)


def longest():
    case = Case(
        "ip_longest",
        "the longest packets that a port takes, eight buffers full, and one in the other: too big for any port",
        "RFC 8200 3, 5; RFC 4443 3.2; RFC 791 3.1",
        core(UN, mtu=16000),
    )
    room = 8 * 2048 - 14
    packet = ip6(HOST_A, HOST_B, bytes(room - 40))
    case.dropped("p0", packet, "too_big", too_big(packet, 16000))
    inner = ip4(HOST_A4, HOST_B4, bytes(room - 40 - 20), flags="DF")
    case.dropped("p0", tunnel("5f00:0:300::", inner), "too_big", too_big(inner, 16000, P0_OWN4))
    yield still_works(case)


def _lengths(frame, until=121):
    return [Frame(frame[:n]) for n in range(min(until, len(frame)))]


def _cut_behind_outer(packet):
    """The frame of a tunnelled packet cut to each length from the end of its outer header on, as if it were meant."""
    return {14 + n: to_node("p0", resize(packet[:n])) for n in range(40, 107)}


def truncated():
    """
    Frames of 0 to 120 bytes. The Ethernet header ends at 14, the IPv6 header at 54, that of IPv4 at 34; once a
    header is there, so is the length in it.
    """
    case = Case(
        "truncated_v6",
        "a tunnelled packet cut to every length from 0 to 120: first no headers, then too few bytes",
        "docs/design.md 2 rule 7; RFC 8200 3",
        core(UDT),
    )
    for n, frame in enumerate(_lengths(to_node("p0", tunnel(UDT_DST, roce6(size=64))))):
        case.dropped("p0", frame, "truncated" if n < 54 else "ip_length")
    yield still_works(case)
    case = Case(
        "truncated_v4",
        "an IPv4 packet with options cut to every length: Ethernet, IPv4, options, payload",
        "docs/design.md 2 rule 7; RFC 791 3.1",
        core(),
    )
    with_options = ip4(HOST_A4, HOST_B4, bytes(80), options=[IPOption(b"\x01" * 12)])
    for n, frame in enumerate(_lengths(to_node("p0", with_options))):
        case.dropped("p0", frame, "truncated" if n < 46 else "ip_length")
    yield still_works(case)
    case = Case(
        "truncated_inner_v6",
        "the inner IPv6 packet cut, the outer length fits: inner header until 94, then inner length",
        "docs/design.md 2 rule 7; RFC 8200 3",
        core(UDT),
    )
    for n, frame in _cut_behind_outer(tunnel(UDT_DST, roce6(size=64))).items():
        case.dropped("p0", frame, "truncated" if n < 94 else "ip_length")
    yield still_works(case)
    case = Case(
        "truncated_inner_v4",
        "the inner IPv4 packet cut, the outer length fits: inner header until 74, then inner length",
        "docs/design.md 2 rule 7; RFC 791 3.1",
        core(UDT),
    )
    for n, frame in _cut_behind_outer(tunnel(UDT_DST, roce4(size=64))).items():
        case.dropped("p0", frame, "truncated" if n < 74 else "ip_length")
    yield still_works(case)
    case = Case(
        "truncated_srh",
        "a packet with SRH cut, the outer length fits: SRH until 78, inner header until 98 or 118",
        "docs/design.md 2 rule 7; RFC 8754 2",
        core(UDT),
    )
    for inner, header_end in ((roce6(size=64), 118), (roce4(size=64), 98)):
        for n, frame in _cut_behind_outer(tunnel(UDT_DST, inner, segments=[UDT_DST], left=0)).items():
            case.dropped("p0", frame, "ext_chain" if n < 78 else "truncated" if n < header_end else "ip_length")
    yield still_works(case)


def split():
    """A buffer takes 2048 bytes of a frame; headers must lie in the first one."""
    case = Case(
        "headers_split",
        "the inner header begins in the first buffer of a long frame and ends in the second",
        "docs/design.md 2 rule 7",
        core(UDT, mtu=9100),
    )
    for inner in (roce6(size=500), roce4(size=500)):
        for options in (1944, 1952, 1960, 1968, 1976, 1984, 1992):
            nh = IPPROTO_IPV6 if inner[0] >> 4 == 6 else IPPROTO_IPV4
            packet = ip6(PEER, UDT_DST, dest_options(nh, options) + inner, 60)
            fits = 14 + 40 + options + (40 if inner[0] >> 4 == 6 else 20) <= 2048
            if fits:
                case.passes("p0", packet, "p1", decap(packet))
            else:
                case.dropped("p0", packet, "headers_split")
    yield case


def cases():
    for family in (stations, ether_types, addresses, headers, longest, truncated, split):
        yield from family()
