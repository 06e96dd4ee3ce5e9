# SPDX-License-Identifier: BSD-3-Clause
"""Neighbor Discovery and ARP: answers, resolution, hold and release, silence, forgeries."""

from scapy.compat import raw
from scapy.layers.inet6 import (
    ICMPv6NDOptDstLLAddr, ICMPv6NDOptSrcLLAddr, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6ND_RA, ICMPv6ND_RS,
)
from scapy.layers.l2 import ARP
from scapy.packet import Raw

from gen.case import Case, from_node, to_node
from gen.node import LOOPBACK, ONE_LCORE, PEER_MAC, mac_of, neighbor, node, port, sid, via
from gen.topology import (
    GATE_B, MANY_ERRORS, NET_A, NET_A4, P0_OWN, P0_OWN4, P0_PEER, P0_PEER4, P1_OWN, P1_OWN4, core, tail,
    to_p0,
)
from gen.wire import (
    HOST_B, IPPROTO_ICMPV6, decap, hop, hop_by_hop, packed, roce4, roce6, set6, text, tunnel,
    upper6, address_unreachable,
)

BURST = 32  # frames that a port gives in one pass
BROADCAST, NO_MAC = "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00"
MAC1, MAC2, MAC3 = "02:00:00:00:77:01", "02:00:00:00:77:02", "02:00:00:00:77:03"
HOST, HOST4 = "2001:db8:b::77", "10.1.0.77"  # on p1's link
LINK_LOCAL0, LINK_LOCAL1 = "fe80::ff:fe00:d000", "fe80::ff:fe00:d001"
NETWORK_CONTROL = 0xC0
PATIENCE = {"retransmit": 50, "probes": 2}


# --- messages


def group_of(address):
    """Solicited-node multicast address, RFC 4291 section 2.7.1."""
    return text(packed("ff02::1:ff00:0")[:13] + packed(address)[13:])


def group_mac(address):
    """RFC 2464 section 7."""
    return "33:33:" + packed(address)[12:].hex(":")


def solicit(src, target, mac, dst=None, **fields):
    layer = ICMPv6ND_NS(tgt=target)
    if mac:
        layer = layer / ICMPv6NDOptSrcLLAddr(lladdr=mac)
    return upper6(src, dst or group_of(target), layer, **{"hlim": 255, **fields})


def advert(src, dst, mac, target=None, r=0, s=1, o=1, **fields):
    layer = ICMPv6ND_NA(tgt=target or src, R=r, S=s, O=o)
    if mac:
        layer = layer / ICMPv6NDOptDstLLAddr(lladdr=mac)
    return upper6(src, dst, layer, **{"hlim": 255, **fields})


def multicast_to(port_name, packet, src=None):
    """A packet to a group as it arrives."""
    return to_node(port_name, packet, group_mac(text(packet[24:40])), src)


def own_solicit(port_name, src, target):
    packet = solicit(src, target, mac_of(port_name), tc=NETWORK_CONTROL)
    return from_node(port_name, packet, group_mac(group_of(target)))


def own_advert(port_name, target, dst, to, s=1):
    return from_node(port_name, advert(target, dst, mac_of(port_name), r=1, s=s, tc=NETWORK_CONTROL), to)


def arp(op, sender_mac, sender, target_mac, target):
    return raw(ARP(op=op, hwsrc=sender_mac, psrc=sender, hwdst=target_mac, pdst=target))


def arp_in(port_name, payload, dst=BROADCAST):
    return to_node(port_name, payload, dst, kind=0x0806)


def arp_out(port_name, payload, dst):
    """Frames of ARP are as short as Ethernet allows."""
    return from_node(port_name, payload + bytes(46 - len(payload)), dst, kind=0x0806)


def own_arp_request(port_name, own, target):
    return arp_out(port_name, arp(1, mac_of(port_name), own, NO_MAC, target), BROADCAST)


# --- time


class Timeline:
    """
    With one lcore for everything a pass takes a burst of every port, and what the control role learns in one pass
    is known to the worker two bursts later. So bursts are a clock: each port's file is filled up with frames that
    are dropped.
    """

    def __init__(self, case):
        self.case = case
        self.events = {}

    def at(self, burst, port_name, *packets):
        self.events.setdefault(port_name, {}).setdefault(burst, []).extend(packets)

    def fill(self):
        for port_name, bursts in self.events.items():
            for burst in range(max(bursts) + 1):
                packets = bursts.get(burst, [])
                last = burst == max(bursts)
                filler = 0 if last else BURST - len(packets)
                self.case.rx(port_name, *packets, *[to_node(port_name, b"", kind=0x0842)] * filler)
                if filler:
                    self.case.count(port_name, "ether_type", filler)


def link_node(discovery=None, routes=()):
    """p0 with a static neighbour; p1 with none. One lcore."""
    ports = [
        port("p0", "wan", f"{P0_OWN}/64", f"{P0_OWN4}/24"),
        port("p1", "wan", f"{P1_OWN}/64", f"{P1_OWN4}/24"),
    ]
    return node(
        ports,
        neighbors=[neighbor("p0", P0_PEER), neighbor("p0", P0_PEER4)],
        routes=to_p0(NET_A, NET_A4) + list(routes),
        lcores=ONE_LCORE,
        neighbor_discovery=discovery,
        icmp=MANY_ERRORS,
    )


def unanswered(case, *packets):
    """Packets that waited in vain: their senders hear of it."""
    case.count("p0", "neighbor_failed", len(packets))
    case.tx("p0", *(address_unreachable(p, P0_OWN4) for p in packets))


# --- cases


def answers():
    peer_mac = PEER_MAC["p0"]
    case = Case(
        "nd_answer",
        "solicitations of own addresses, by multicast and by unicast, from global and link-local addresses",
        "RFC 4861 7.2.3, 7.2.4",
        core(),
    )
    for sender, target in (
        (P0_PEER, P0_OWN),
        ("fe80::1", LINK_LOCAL0),
        ("fe80::1", P0_OWN),
        (P0_PEER, LINK_LOCAL0),
    ):
        asked = multicast_to("p0", solicit(sender, target, peer_mac))
        case.answered("p0", asked, "nd", own_advert("p0", target, sender, peer_mac))
        for mac in (peer_mac, None):
            probe = solicit(sender, target, mac, dst=target)
            case.answered("p0", probe, "nd", own_advert("p0", target, sender, peer_mac))
    # others' addresses, and the node's own on another port
    for target in ("2001:db8:a::99", P1_OWN, LOOPBACK):
        case.rx("p0", multicast_to("p0", solicit(P0_PEER, target, peer_mac)))
        case.count("p0", "nd")
    yield case
    case = Case(
        "nd_dad",
        "somebody tries an address of ours: told to all nodes",
        "RFC 4862 5.4.3; RFC 4861 7.2.4",
        core(),
    )
    for target in (P0_OWN, LINK_LOCAL0):
        probe = multicast_to("p0", solicit("::", target, None))
        case.answered("p0", probe, "nd", own_advert("p0", target, "ff02::1", group_mac("ff02::1"), s=0))
    case.rx("p0", multicast_to("p0", solicit("::", "2001:db8:a::99", None)))
    case.count("p0", "nd")
    yield case
    case = Case(
        "nd_other",
        "router solicitations and advertisements are heard and left at that",
        "RFC 4861 6.1",
        core(),
    )
    for dst, layer in (("ff02::2", ICMPv6ND_RS()), ("ff02::1", ICMPv6ND_RA())):
        case.rx("p0", multicast_to("p0", upper6("fe80::1", dst, layer, hlim=255)))
        case.count("p0", "nd")
    yield case
    case = Case("arp_answer", "ARP for own addresses, and probes of them", "RFC 826; RFC 5227 2.1", core())
    for sender in (P0_PEER4, "0.0.0.0"):
        request = arp(1, peer_mac, sender, NO_MAC, P0_OWN4)
        reply = arp_out("p0", arp(2, mac_of("p0"), P0_OWN4, peer_mac, sender), peer_mac)
        case.answered("p0", arp_in("p0", request), "arp", reply)
        case.answered("p0", arp_in("p0", request + bytes(18), mac_of("p0")), "arp", reply)
    for sender, target in ((P0_PEER4, "10.0.0.99"), (P0_PEER4, P1_OWN4), (P0_PEER4, P0_PEER4), ("0.0.0.0", "10.0.0.9")):
        case.rx("p0", arp_in("p0", arp(1, peer_mac, sender, NO_MAC, target)))
        case.count("p0", "arp")
    yield case


def _forged_nd():
    """Messages that RFC 4861 requires to be discarded."""
    mac = PEER_MAC["p0"]
    good = solicit(P0_PEER, P0_OWN, mac)
    short = ICMPv6ND_NS(tgt=P0_OWN)
    yield from (solicit(P0_PEER, P0_OWN, mac, hlim=n) for n in (0, 64, 254))
    yield good[:-1] + b"\xff"
    yield upper6(P0_PEER, group_of(P0_OWN), ICMPv6ND_NS(tgt=P0_OWN, code=1), hlim=255)
    yield upper6(P0_PEER, group_of(P0_OWN), Raw(raw(short)[:16]), nh=IPPROTO_ICMPV6, hlim=255)
    for target in ("ff02::1", "::"):
        yield solicit(P0_PEER, target, mac, dst=P0_OWN)
    for option in (b"\1\0" + bytes(6), b"\1\2" + bytes(6), b"\1", b"\1\1" + bytes.fromhex("330000000001")):
        yield upper6(P0_PEER, group_of(P0_OWN), short / Raw(option), hlim=255)
    # duplicate address detection goes to the group and names no MAC
    yield solicit("::", P0_OWN, mac)
    yield solicit("::", P0_OWN, None, dst="ff02::1")
    # senders that are not on the link, or are ourselves
    for sender in ("2001:db8:dead::1", "2001:db8:b::1", P0_OWN, LINK_LOCAL0):
        yield solicit(sender, P0_OWN, mac)
    # advertisements
    yield advert(P0_PEER, "ff02::1", mac, s=1)
    yield from (advert(P0_PEER, "ff02::1", mac, s=0, target=t) for t in ("ff02::2", P0_OWN, "2001:db8:dead::1"))
    yield advert(P0_PEER, "ff02::1", mac, s=0, hlim=254)
    yield upper6("fe80::1", "ff02::1", ICMPv6ND_RA(), hlim=254)
    yield upper6("fe80::1", "ff02::2", ICMPv6ND_RS(code=1), hlim=255)


def forgeries():
    case = Case(
        "nd_forged",
        "ND messages that are not to be believed: no answer, nothing learnt",
        "RFC 4861 6.1, 7.1, 11.2",
        core(),
    )
    for packet in _forged_nd():
        group = packet[24] == 0xFF
        case.dropped("p0", multicast_to("p0", packet) if group else packet, "nd_invalid")
    good = solicit(P0_PEER, P0_OWN, PEER_MAC["p0"])
    behind = set6(good, nh=0, plen=len(good) - 32)[:40] + hop_by_hop(IPPROTO_ICMPV6) + good[40:]
    case.dropped("p0", multicast_to("p0", behind), "multicast")
    yield case
    case = Case(
        "nd_in_tunnel",
        "ND that comes out of a tunnel has not come over the link, hop limit 255 or not",
        "RFC 4861 3.1, 7.1",
        core(sid("5f00:0:300::/48", "uN")),
    )
    forged = (
        solicit(P0_PEER, P0_OWN, MAC1, dst=P0_OWN),
        advert(P0_PEER, P0_OWN, MAC1),
        solicit("2001:db8:a::66", LOOPBACK, MAC1, dst=LOOPBACK),
    )
    for packet in forged:
        case.dropped("p0", tunnel("5f00:0:300::", packet), "nd_invalid")
    case.dropped("p0", tunnel("5f00:0:300::", solicit(P0_PEER, P0_OWN, MAC1)), "multicast")
    case.passes("p1", roce6(HOST_B, P0_PEER), "p0", hop(roce6(HOST_B, P0_PEER)))
    yield case
    mac = PEER_MAC["p0"]
    case = Case("arp_forged", "ARP packets that are not to be believed", "RFC 826; RFC 5227; RFC 1812 3.3.2", core())
    good = arp(1, mac, P0_PEER4, NO_MAC, P0_OWN4)
    # hardware type, protocol, their address lengths
    for at, value in ((1, 6), (3, 1), (4, 8), (5, 16)):
        case.dropped("p0", arp_in("p0", good[:at] + bytes([value]) + good[at + 1 :]), "nd_invalid")
    for op in (0, 3, 8):
        case.dropped("p0", arp_in("p0", arp(op, mac, P0_PEER4, NO_MAC, P0_OWN4)), "nd_invalid")
    for sender_mac, sender in (
        (NO_MAC, P0_PEER4),
        (BROADCAST, P0_PEER4),
        ("01:00:5e:00:00:01", P0_PEER4),
        (mac, "203.0.113.1"),
        (mac, "10.1.0.1"),
        (mac, P0_OWN4),
    ):
        case.dropped("p0", arp_in("p0", arp(1, sender_mac, sender, NO_MAC, P0_OWN4)), "nd_invalid")
    for n in range(28):
        case.dropped("p0", arp_in("p0", good[:n]), "nd_invalid")
    yield case


class Protocol:
    """Common to ND and ARP: a station on p1's link, solicitations for it, its answers, packets to it."""

    def __init__(self, name, host, far, own, request, make):
        self.name, self.host, self.far, self.own, self.request, self.make = name, host, far, own, request, make

    def tells(self, mac, **flags):
        """The station advertises its MAC."""
        if self.name == "nd":
            return to_node("p1", advert(self.host, self.own, mac, **flags), src=mac)
        return to_node("p1", arp(2, mac, self.host, mac_of("p1"), self.own), src=mac, kind=0x0806)

    def asks(self, mac):
        """The station asks for ours; and our answer."""
        if self.name == "nd":
            asked = multicast_to("p1", solicit(self.host, self.own, mac), mac)
            return asked, own_advert("p1", self.own, self.host, mac)
        asked = to_node("p1", arp(1, mac, self.host, NO_MAC, self.own), BROADCAST, mac, 0x0806)
        return asked, arp_out("p1", arp(2, mac_of("p1"), self.own, mac, self.host), mac)

    def to_host(self, n):
        return self.make(dst=self.host, psn=n)

    def to_far(self, n):
        """A packet to a network behind the station."""
        return self.make(dst=self.far, psn=n)


ND = Protocol("nd", HOST, "2001:db8:9::9", P1_OWN, own_solicit("p1", P1_OWN, HOST), roce6)
ARP4 = Protocol("arp", HOST4, "203.0.113.9", P1_OWN4, own_arp_request("p1", P1_OWN4, HOST4), roce4)
BEHIND = {"nd": via("p1", HOST, "2001:db8:9::/64"), "arp": via("p1", HOST4, "203.0.113.0/24")}


def sent_to(case, mac, *packets):
    case.tx("p1", *(from_node("p1", hop(p), mac) for p in packets), origin="p0")


def resolution(p):
    """A packet waits for its neighbour and goes on when that is known."""
    case = Case(
        f"{p.name}_next_hop",
        "a configured next hop is asked for at start; packets wait for it and go on in order",
        "RFC 4861 7.2.2, 7.2.5; RFC 826",
        link_node(routes=BEHIND[p.name]),
    )
    packets = [p.to_far(n) for n in range(5)]
    case.rx("p0", *packets)
    case.answered("p1", p.tells(MAC1), p.name, p.request)
    sent_to(case, MAC1, *packets)
    yield case
    case = Case(
        f"{p.name}_on_link",
        "a destination on the link is asked for by the first packet; three wait, the fourth need not",
        "RFC 4861 7.2.2; RFC 1122 2.3.2.2",
        link_node(),
    )
    packets = [p.to_host(n) for n in range(4)]
    time = Timeline(case)
    time.at(0, "p0", *packets[:3])
    time.at(3, "p1", p.tells(MAC1))
    time.at(6, "p0", packets[3])
    time.fill()
    case.count("p1", p.name)
    case.tx("p1", p.request)
    sent_to(case, MAC1, *packets)
    yield case
    case = Case(
        f"{p.name}_learnt",
        "a station that asked for us need not be asked",
        "RFC 4861 7.2.3; RFC 826",
        link_node(),
    )
    asked, answer = p.asks(MAC1)
    time = Timeline(case)
    time.at(0, "p1", asked)
    time.at(3, "p0", p.to_host(0))
    time.fill()
    case.count("p1", p.name)
    case.tx("p1", answer)
    sent_to(case, MAC1, p.to_host(0))
    yield case


def silence(p):
    """Nobody answers."""
    case = Case(
        f"{p.name}_silence",
        "a neighbour that does not answer: asked twice, then what waited is dropped",
        "RFC 4861 7.2.2, 10; RFC 1122 2.3.2.2",
        link_node(PATIENCE),
    )
    case.rx("p0", *(p.to_host(n) for n in range(3)))
    unanswered(case, *(p.to_host(n) for n in range(3)))
    case.tx("p1", p.request, p.request)
    yield case
    case = Case(
        f"{p.name}_silence_next_hop",
        "the same with a configured next hop",
        "RFC 4861 7.2.2, 10",
        link_node(PATIENCE, routes=BEHIND[p.name]),
        real_time=True,
    )
    case.rx("p0", p.to_far(0))
    unanswered(case, p.to_far(0))
    case.tx("p1", p.request, p.request)
    yield case
    for hold in (16, 3):
        case = Case(
            f"{p.name}_hold_{hold}",
            f"{hold} packets wait for a neighbour, the next ones are dropped",
            "RFC 4861 7.2.2; config/reference.yaml neighbor-discovery.hold",
            link_node({**PATIENCE, "hold": hold} if hold != 16 else PATIENCE),
        )
        case.rx("p0", *(p.to_host(n) for n in range(20)))
        case.count("p0", "neighbor_hold", 20 - hold)
        unanswered(case, *(p.to_host(n) for n in range(hold)))
        case.tx("p1", p.request, p.request)
        yield case


def link_local():
    case = Case(
        "nd_link_local_next_hop",
        "a link-local next hop is asked for from the link-local address",
        "RFC 4861 7.2.2; RFC 6724 5",
        link_node(routes=via("p1", "fe80::5", "2001:db8:9::/64")),
    )
    case.rx("p0", ND.to_far(0))
    known = to_node("p1", advert("fe80::5", LINK_LOCAL1, MAC1), src=MAC1)
    case.answered("p1", known, "nd", own_solicit("p1", LINK_LOCAL1, "fe80::5"))
    sent_to(case, MAC1, ND.to_far(0))
    yield case


def holds():
    case = Case(
        "nd_hold_total",
        "a port holds no more than is left for others, and the oldest question gives way",
        "RFC 4861 7.2.2; RFC 6583 6.2; config/reference.yaml neighbor-discovery.hold-total",
        link_node({**PATIENCE, "hold-total": 5}),
    )
    hosts = [f"2001:db8:b::{n}" for n in (71, 72, 73)]
    case.rx("p0", *(roce6(dst=h, psn=n) for h in hosts for n in range(3)))
    case.count("p0", "neighbor_hold", 6)
    unanswered(case, *(roce6(dst=hosts[2], psn=n) for n in range(3)))
    case.tx("p1", *(own_solicit("p1", P1_OWN, h) for h in hosts * 2))
    yield case
    case = Case(
        "nd_table_full",
        "no more neighbours are learnt than neighbor-discovery.max",
        "RFC 4861 7.2.2; RFC 6583 7.1",
        link_node({**PATIENCE, "probes": 1, "max": 16}),
    )
    hosts = [f"2001:db8:b::{n:x}" for n in range(0x100, 0x112)]
    case.rx("p0", *(roce6(dst=h) for h in hosts))
    case.count("p0", "neighbor_hold", 2)
    unanswered(case, *(roce6(dst=h) for h in hosts[:16]))
    case.tx("p1", *(own_solicit("p1", P1_OWN, h) for h in hosts[:16]))
    yield case


def adverts():
    """Effects of an advertisement."""
    case = Case(
        "nd_override",
        "a new MAC counts with the override flag only",
        "RFC 4861 7.2.5",
        link_node(),
    )
    time = Timeline(case)
    time.at(0, "p0", ND.to_host(0))
    for burst, mac, flags in ((3, MAC1, {}), (9, MAC2, {"s": 0, "o": 0}), (15, MAC3, {"s": 0, "o": 1})):
        time.at(burst, "p1", ND.tells(mac, **flags))
        case.count("p1", "nd")
        time.at(burst + 3, "p0", ND.to_host(burst))
    time.fill()
    case.tx("p1", ND.request)
    for n, mac in ((0, MAC1), (3, MAC1), (9, MAC1), (15, MAC3)):
        sent_to(case, mac, ND.to_host(n))
    yield case
    case = Case(
        "nd_unsolicited",
        "an unsolicited advertisement helps whoever was asked for, and makes nobody known who was not",
        "RFC 4861 7.2.5, 7.2.6",
        link_node(PATIENCE),
    )
    time = Timeline(case)
    time.at(0, "p0", ND.to_host(0))
    time.at(3, "p1", ND.tells(MAC1, s=0))
    stranger = "2001:db8:b::88"
    time.at(3, "p1", to_node("p1", advert(stranger, P1_OWN, MAC2, s=0), src=MAC2))
    time.at(6, "p0", roce6(dst=stranger))
    time.fill()
    case.count("p1", "nd", 2)
    unanswered(case, roce6(dst=stranger))
    case.tx("p1", ND.request)
    sent_to(case, MAC1, ND.to_host(0))
    case.tx("p1", *[own_solicit("p1", P1_OWN, stranger)] * 2)
    yield case
    case = Case(
        "nd_no_address",
        "an advertisement without a MAC resolves nothing",
        "RFC 4861 7.2.5",
        link_node(PATIENCE),
    )
    time = Timeline(case)
    time.at(0, "p0", ND.to_host(0))
    time.at(3, "p1", to_node("p1", advert(HOST, P1_OWN, None), src=MAC1))
    time.fill()
    case.count("p1", "nd")
    unanswered(case, ND.to_host(0))
    case.tx("p1", ND.request, ND.request)
    yield case


def tenants():
    """A decapsulated packet waits for the tenant's host."""
    config = tail(sid("5f00:0:e101::/48", "uDT46", vrf="tenant"), lcores=ONE_LCORE)
    config["neighbors"] = [n for n in config["neighbors"] if n["port"] != "p1"]
    case = Case(
        "nd_tenant",
        "a decapsulated packet waits for the tenant's host",
        "RFC 4861 7.2.2; RFC 8986 4.8",
        config,
    )
    packets = [tunnel("5f00:0:e101::", roce6(psn=n)) for n in range(2)]
    time = Timeline(case)
    time.at(0, "p0", *packets)
    time.at(3, "p1", to_node("p1", advert(HOST_B, GATE_B, MAC1), src=MAC1))
    time.fill()
    case.count("p1", "nd")
    case.tx("p1", own_solicit("p1", GATE_B, HOST_B))
    case.tx("p1", *(from_node("p1", decap(p), MAC1) for p in packets), origin="p0")
    yield case


def cases():
    for family in (answers, forgeries, link_local, holds, adverts, tenants):
        yield from family()
    for protocol in (ND, ARP4):
        yield from resolution(protocol)
        yield from silence(protocol)
