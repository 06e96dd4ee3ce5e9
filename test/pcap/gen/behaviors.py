# SPDX-License-Identifier: BSD-3-Clause
"""
Every endpoint behaviour with every flavour, at no SRH and at every kind of Segments Left; headers in front and
behind; Ethernet frames inside.
"""

from scapy.compat import raw
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.layers.inet import UDP
from scapy.packet import Raw

from gen.case import Case, Frame, from_node
from gen.node import neighbor, port, sid, via, vrf
from gen.topology import MANY_ERRORS, NET_B, NET_B4, core, to_p1
from gen.wire import (
    DEST_OPTIONS, ETHERNET, FRAGMENT, HOP_BY_HOP, HOST_B, IPPROTO_IPV4, IPPROTO_IPV6, LOOPBACK, PEER, ROUTING, dest_options, echo6,
    echo_reply6, fragment, header, hop, hop_by_hop, ip6, next_segment, param_problem, pop_srh, port_unreachable, roce4,
    roce6, set6, shift, srh, upper6, upper_layer_error,
)
MAC5, MAC6 = "02:00:00:00:b0:05", "02:00:00:00:b0:06"
FAR = ["5f00:9:1::", "5f00:0:500:300::", "5f00:0:300:e102::"]  # segments of other nodes, in travel order
FLAVORS = [[f for i, f in enumerate(("psp", "usp", "usd")) if n >> i & 1] for n in range(8)]
ADJACENT = {"port": "p1", "nexthop": "2001:db8:b::5"}
ADJACENT4 = {"port": "p1", "nexthop": "10.1.0.6"}


def node_of(*sids, **more):
    """Stations 5 and 6 on p1's link; p2 is the port that frames leave by; tenant's networks are behind p1 too."""
    config = core(
        *sids,
        neighbors=[neighbor("p1", "2001:db8:b::5", MAC5), neighbor("p1", "10.1.0.6", MAC6)],
        routes=to_p1("5f00:9::/32"),
        vrfs=[vrf("tenant", *via("p1", "2001:db8:b::5", NET_B, NET_B4, "5f00::/16"))],
        icmp=MANY_ERRORS,
        **more,
    )
    config["ports"].append(port("p2", "dc", mtu=more.get("mtu", 1500)))
    return config


def frame(payload=None, tags=(), **fields):
    """An Ethernet frame between two stations of a tenant."""
    layer = Ether(**{"src": "02:aa:00:00:00:01", "dst": "02:bb:00:00:00:02", **fields})
    for kind, vid, prio in tags:
        layer.type = kind
        layer = layer / Dot1Q(vlan=vid, prio=prio)
    packet = raw(layer / Raw(b""))
    kind = fields.get("type", 0x86DD)
    packet = packet[:-2] + kind.to_bytes(2, "big")
    return packet + (roce6() if payload is None else payload)


def encapsulated(dst, inner, number, header_=None):
    """A tunnelled packet of any kind, with an SRH if there is one."""
    fields = {"tc": 0x6A, "fl": 0x12345, "hlim": 60}
    if header_ is None:
        return ip6(PEER, dst, inner, number, **fields)
    return ip6(PEER, dst, bytes([number]) + header_[1:] + inner, ROUTING, **fields)


def headers(dst):
    """(what it is, SRH, Segments Left if they are within bounds)."""
    yield "none", None, 0
    yield "SL 0", srh([FAR[0], dst], 0), 0
    yield "SL 1", srh(FAR[:2], 1), 1
    yield "SL 2", srh(FAR, 2), 2
    yield "SL = LE + 1", srh(FAR[:2], 2), 2
    yield "SL = LE + 1, one entry", srh(FAR[:1], 1), 1
    yield "SL = LE + 2", srh(FAR[:2], 3), None
    yield "LE beyond the header", srh(FAR[:2], 1, lastentry=2), None


INNER = ((roce6(), IPPROTO_IPV6), (roce4(), IPPROTO_IPV4), (frame(), ETHERNET))


class Behavior:
    """RFC 8986 section 4, as the generator implements it."""

    def __init__(self, address, flavors=(), mac=None, takes=(), last=False, out=None):
        self.address, self.flavors, self.mac, self.last, self.out = address, flavors, mac, last, out
        self.takes = set(takes)  # next headers that are decapsulated
        if "usd" in flavors:
            self.takes |= {IPPROTO_IPV6, IPPROTO_IPV4}

    def put(self, case, header_, left, inner, number):
        packet = encapsulated(self.address, inner, number, header_)
        if self.last and header_ is not None and left != 0:
            case.dropped("p0", packet, "srh_segments_left", param_problem(packet, 43))
        elif left is None:
            case.dropped("p0", packet, "srh_bounds", param_problem(packet, 43))
        elif left:
            expected = next_segment(packet)
            if left == 1 and "psp" in self.flavors:
                expected = pop_srh(expected)
            case.passes("p0", packet, "p1", from_node("p1", expected, self.mac))
        elif number not in self.takes:
            at = 40 + (len(header_) if header_ else 0)
            case.dropped("p0", packet, "upper_layer", upper_layer_error(packet, at))
        elif number == ETHERNET:
            case.passes("p0", packet, self.out, Frame(inner))
        else:
            case.passes("p0", packet, "p1", from_node("p1", hop(inner), self.mac))

    def all(self, case):
        for _, header_, left in headers(self.address):
            for inner, number in INNER:
                self.put(case, header_, left, inner, number)


def end_family():
    """Eight combinations of flavours, each a SID of its own; the bits of its number are the flavours."""
    for name, behavior, address, keys, mac in (
        ("end", "End", "5f00:1:2:{:x}::", {}, None),
        ("endx", "End.X", "5f00:1:3:{:x}::", ADJACENT, MAC5),
        ("endt", "End.T", "5f00:1:4:{:x}::", {"vrf": "tenant"}, MAC5),
        ("un", "uN", "5f00:0:{:x}::", {}, None),
        ("ua", "uA", "5f00:0:e{:03x}::", ADJACENT, MAC5),
        ("una", "uA", "5f00:0:100:e{:03x}::", ADJACENT, MAC5),
    ):
        bits = 48 if name in ("un", "ua") else 64
        sids, behaviors = [], []
        for n, flavors in enumerate(FLAVORS):
            at = address.format(n + 1)
            sids.append(sid(f"{at}/{bits}", behavior, flavors=flavors or ["none"], **keys))
            behaviors.append(Behavior(at, flavors, mac))
        case = Case(
            f"flavors_{name}",
            f"{behavior} with all combinations of PSP, USP and USD, at every state of the SRH",
            "RFC 8986 4.1 to 4.3, 4.16; RFC 9800 4.1; docs/protocol.md 3.2",
            node_of(*sids),
        )
        for b in behaviors:
            b.all(case)
            if behavior[0] == "u":
                case.passes("p0", *shifted(b, bits, mac))
        yield case


def shifted(b, bits, mac):
    packet = encapsulated(b.address[:-1] + "500::", roce6(), IPPROTO_IPV6, srh(FAR[:2], 200))
    return packet, "p1", from_node("p1", shift(packet, bits - 32), mac)


DECAPSULATING = (
    # name, plain and compressed, keys, MAC it leaves to, what is inside
    ("dt4", "DT4", {"vrf": "tenant"}, MAC5, [IPPROTO_IPV4]),
    ("dt6", "DT6", {"vrf": "tenant"}, MAC5, [IPPROTO_IPV6]),
    ("dt46", "DT46", {"vrf": "tenant"}, MAC5, [IPPROTO_IPV4, IPPROTO_IPV6]),
    ("dx4", "DX4", ADJACENT4, MAC6, [IPPROTO_IPV4]),
    ("dx6", "DX6", ADJACENT, MAC5, [IPPROTO_IPV6]),
    ("dx2", "DX2", {"port": "p2"}, None, [ETHERNET]),
)


def decapsulating():
    for name, what, keys, mac, takes in DECAPSULATING:
        places = (
            (f"End.{what}", "5f00:1:5:1::", 64),
            (f"u{what}", "5f00:0:e101::", 48),
            (f"u{what}", "5f00:0:100:e102::", 64),
        )
        case = Case(
            f"decap_{name}",
            f"End.{what} and u{what}, alone, behind the node's id, and at the end of a container",
            "RFC 8986 4.4 to 4.9; RFC 9800 4.1",
            node_of(*(sid(f"{a}/{n}", b, **keys) for b, a, n in places), sid("5f00:0:100::/48", "uN")),
        )
        for _, address, _ in places:
            Behavior(address, (), mac, takes, True, "p2").all(case)
        # the argument of a function without arguments has no effect; the last uSID of a container after a shift
        for dst in ("5f00:1:5:1:2:3:4:5", "5f00:0:100:e101::"):
            for inner, number in INNER:
                if number in takes:
                    Behavior(dst, (), mac, takes, True, "p2").put(case, None, 0, inner, number)
        # an adjacency asks no table
        for number, make, dst in ((41, roce6, "2001:db8:dead::1"), (4, roce4, "203.0.113.1")):
            if number in takes and what.startswith("DX"):
                Behavior("5f00:1:5:1::", (), mac, takes, True).put(case, None, 0, make(dst=dst), number)
        yield case


def frames():
    case = Case(
        "dx2_frames",
        "frames of every kind out of a tunnel, tags and all; what is behind the tunnel's length is not theirs",
        "RFC 8986 4.9; docs/protocol.md 3.2",
        node_of(sid("5f00:0:e101::/48", "uDX2", port="p2"), mtu=1600),
    )
    case.config["ports"][2]["mtu"] = 1500
    vlan, qinq = [(0x8100, 100, 3)], [(0x88A8, 7, 6), (0x8100, 100, 3)]
    arp = raw(ARP(pdst="192.0.2.1", psrc="192.0.2.2", hwsrc="02:aa:00:00:00:01"))
    inside = [
        frame(),
        frame(roce4(), type=0x0800),
        frame(arp, type=0x0806, dst="ff:ff:ff:ff:ff:ff"),
        frame(b"\x42\x42\x03" + bytes(43), type=46, dst="01:80:c2:00:00:00"),
        frame(b"", type=0x88CC, dst="01:80:c2:00:00:0e"),
        frame(bytes(1500), type=0x88B5),
        frame(tags=vlan),
        frame(bytes(1500), tags=vlan, type=0x88B5),
        frame(tags=qinq),
        frame(bytes(1500), tags=qinq, type=0x88B5),
        frame(b"", type=0x8100),
        frame(bytes(2), type=0x8100),
    ]
    for f in inside:
        packet = encapsulated("5f00:0:e101::", f, ETHERNET)
        for trailer in (b"", b"\xee" * 9):
            case.passes("p0", packet + trailer, "p2", Frame(f))
    for tags in ((), vlan, qinq):
        f = frame(bytes(1501), tags=tags, type=0x88B5)
        if len(f) + 40 <= 1600:
            case.dropped("p0", encapsulated("5f00:0:e101::", f, ETHERNET), "too_big")
    case.dropped("p0", encapsulated("5f00:0:e101::", frame(bytes(46), type=0x8808, dst="01:80:c2:00:00:01"), 143), "mac_control")
    for size in (0, 1, 13):
        case.dropped("p0", encapsulated("5f00:0:e101::", frame()[:size], ETHERNET), "truncated")
        case.dropped("p0", encapsulated("5f00:0:e101::", frame()[:size], ETHERNET) + bytes(60), "truncated")
    yield case
    case = Case(
        "dx2_jumbo",
        "frames longer than a buffer out of a tunnel",
        "RFC 8986 4.9; docs/design.md 2 rule 7",
        node_of(sid("5f00:0:e101::/48", "uDX2", port="p2"), mtu=9100),
    )
    for size in (1900, 1992, 1993, 1994, 2100, 4000, 9000):
        f = frame(bytes(i & 0xFF for i in range(size)), type=0x88B5)
        packet = encapsulated("5f00:0:e101::", f, ETHERNET)
        case.passes("p0", packet, "p2", Frame(f))
        case.passes("p0", packet + bytes(100), "p2", Frame(f))
    # the frame's header does not begin in the first buffer
    chain = b"".join(dest_options(DEST_OPTIONS, 488) for _ in range(3)) + dest_options(ETHERNET, 1992 - 3 * 488)
    case.dropped("p0", ip6(PEER, "5f00:0:e101::", chain + frame(), DEST_OPTIONS), "headers_split")
    yield case


def around():
    """Hop-by-hop and destination options and fragments, before and after an SRH."""
    sids = [
        sid("5f00:1:2:1::/64", "End", flavors=["psp", "usd"]),
        sid("5f00:1:3:1::/64", "End.X", flavors=["psp", "usp"], **ADJACENT),
        sid("5f00:1:5:1::/64", "End.DT46", vrf="tenant"),
        sid("5f00:1:5:2::/64", "End.DX2", port="p2"),
        sid("5f00:1:5:3::/64", "End.DX6", **ADJACENT),
    ]
    case = Case(
        "behaviors_headers",
        "options in front of the SRH, behind it, and without one; several SRHs; fragments",
        "RFC 8200 4.1; RFC 8986 4.1, 4.1.1; docs/protocol.md 3.2, D27",
        node_of(*sids),
    )
    fronts = (
        (HOP_BY_HOP, lambda nh: hop_by_hop(nh)),
        (DEST_OPTIONS, lambda nh: dest_options(nh, 24)),
        (HOP_BY_HOP, lambda nh: hop_by_hop(DEST_OPTIONS) + dest_options(nh)),
    )
    for first, front in fronts:
        for left in (1, 2):
            for dst, mac, psp in (("5f00:1:2:1::", None, True), ("5f00:1:3:1::", MAC5, True)):
                packet = ip6(PEER, dst, front(ROUTING) + srh(FAR[:2], left) + roce6(), first)
                expected = next_segment(packet)
                case.passes("p0", packet, "p1", from_node("p1", pop_srh(expected) if left == 1 else expected, mac))
                packet = ip6(PEER, dst, front(ROUTING) + srh(FAR[:2], left, DEST_OPTIONS) + dest_options(41) + roce6(), first)
                expected = next_segment(packet)
                case.passes("p0", packet, "p1", from_node("p1", pop_srh(expected) if left == 1 else expected, mac))
        # the same without segments left, and without SRH
        for dst, number, inner, out in (
            ("5f00:1:2:1::", 41, roce6(), ("p1", hop(roce6()))),
            ("5f00:1:2:1::", 4, roce4(), ("p1", hop(roce4()))),
            ("5f00:1:5:1::", 4, roce4(), ("p1", from_node("p1", hop(roce4()), MAC5))),
            ("5f00:1:5:2::", 143, frame(), ("p2", Frame(frame()))),
            ("5f00:1:5:3::", 41, roce6(), ("p1", from_node("p1", hop(roce6()), MAC5))),
        ):
            case.passes("p0", ip6(PEER, dst, front(number) + inner, first), *out)
            case.passes("p0", ip6(PEER, dst, front(ROUTING) + srh([FAR[0], dst], 0, number) + inner, first), *out)
            case.passes(
                "p0", ip6(PEER, dst, srh([FAR[0], dst], 0, DEST_OPTIONS) + dest_options(number, 16) + inner, ROUTING), *out
            )
            for f in (fragment(number, 0, 1), fragment(number, 9, 0)):
                case.dropped("p0", ip6(PEER, dst, front(FRAGMENT) + f + inner, first), "fragment")
    # an SRH with Segments Left 0, followed by one with segments left
    packet = ip6(PEER, "5f00:1:2:1::", srh(FAR[:2], 0, ROUTING) + srh(FAR[:2], 2) + roce6(), ROUTING)
    size = len(srh(FAR[:2]))
    second = packet[: 40 + size + 3] + bytes([1]) + packet[40 + size + 4 :]
    case.passes("p0", packet, "p1", hop(set6(second, dst=FAR[0])))
    # End.X has no USD here
    for header_ in (b"", hop_by_hop(41)):
        packet = ip6(PEER, "5f00:1:3:1::", header_ + roce6(), HOP_BY_HOP if header_ else 41)
        case.dropped("p0", packet, "upper_layer", upper_layer_error(packet, 40 + len(header_)))
    yield case


def _options(kind, size=6, nh=41, data=None):
    """A destination options header with one option of a type."""
    body = bytes([kind, size - 2]) + (data or bytes(size - 2))
    assert (2 + len(body)) % 8 == 0
    return bytes([nh, (2 + len(body)) // 8 - 1]) + body


def options():
    sids = [sid("5f00:1:2:1::/64", "End", flavors=["psp", "usd"]), sid("5f00:0:100::/48", "uN")]
    case = Case(
        "options_unknown",
        "unknown options: the two high bits of the type say skip, discard, or discard and report",
        "RFC 8200 4.2; RFC 4443 3.4",
        node_of(*sids),
    )
    for first in (HOP_BY_HOP, DEST_OPTIONS):
        for kind in (0x1E, 0x3E, 0x5E, 0x9E, 0xBE, 0xDE, 0xC2, 0xFE):
            for dst in ("5f00:1:2:1::", "5f00:0:100::"):
                # at the last segment, alone and after an SRH with Segments Left 0
                packet = ip6(PEER, dst, _options(kind) + roce6(), first)
                _option(case, packet, kind, 42, hop(roce6()))
                packet = ip6(PEER, dst, srh([dst], 0, first) + _options(kind) + roce6(), ROUTING)
                _option(case, packet, kind, 40 + 24 + 2, hop(roce6()))
                # before an SRH every segment examines them, after one only the last
                packet = ip6(PEER, dst, _options(kind, nh=ROUTING) + srh(FAR[:2], 2) + roce6(), first)
                _option(case, packet, kind, 42, next_segment(packet))
                packet = ip6(PEER, dst, srh(FAR[:2], 2, first) + _options(kind) + roce6(), ROUTING)
                case.passes("p0", packet, "p1", next_segment(packet))
            # an own address
            ping = echo6(PEER, LOOPBACK)
            packet = ip6(PEER, LOOPBACK, _options(kind, nh=58) + ping[40:], first)
            if kind >> 6 == 0:
                case.answered("p0", packet, "echo", echo_reply6(ping))
            else:
                case.dropped("p0", packet, "option", _option_error(packet, kind, 42))
        # a shift and a hop on the way look at none
        packet = ip6(PEER, "5f00:0:100:500::", _options(0xDE) + roce6(), first)
        case.passes("p0", packet, "p1", shift(packet))
        packet = ip6(PEER, HOST_B, _options(0xDE) + roce6(), first)
        case.passes("p0", packet, "p1", hop(packet))
        # padding before, a second option after; the first bad one is reported
        chain = bytes([41, 1, 0, 1, 1, 0, 0x1E, 0, 0x9E, 2, 0, 0, 0xDE, 0, 0, 0])
        packet = ip6(PEER, "5f00:0:100::", chain + roce6(), first)
        case.dropped("p0", packet, "option", _option_error(packet, 0x9E, 48))
        # an option that runs past its header
        for chain in (bytes([41, 0, 1, 5, 0, 0, 0, 0]), bytes([41, 0, 0, 0, 0, 0, 0, 1])):
            case.dropped("p0", ip6(PEER, "5f00:0:100::", chain + roce6(), first), "ext_chain")
    yield case


def _option_error(packet, kind, pointer):
    return None if kind >> 6 == 1 else param_problem(packet, pointer, 2)


def _option(case, packet, kind, pointer, expected):
    if kind >> 6 == 0:
        case.passes("p0", packet, "p1", expected)
    else:
        case.dropped("p0", packet, "option", _option_error(packet, kind, pointer))


def delivered():
    """Packets that a SID delivers to the node itself."""
    sids = [
        sid("5f00:0:100::/48", "uN"),
        sid("5f00:0:200::/48", "uN", allow=["ping", "traceroute"]),
        sid("5f00:0:e101::/48", "uDT46", allow=["traceroute"]),
        sid("5f00:1:5:2::/64", "End.DX2", port="p2", allow=["none"]),
        sid("5f00:1:2:1::/64", "End", flavors=["usp"], allow=["ping", "traceroute"]),
    ]
    case = Case(
        "sid_allow",
        "ping and traceroute to SIDs: what is allowed is answered, the rest is an SR Upper-layer Header Error",
        "RFC 8986 4.1.1; RFC 9259 2.2, A.1.2, A.2; docs/protocol.md 3.2, 3.5",
        node_of(*sids),
    )
    for dst, ping_, trace in (
        ("5f00:0:100::", 1, 0),
        ("5f00:0:200::", 1, 1),
        ("5f00:0:e101::", 0, 1),
        ("5f00:1:5:2::", 0, 0),
        ("5f00:1:2:1::", 1, 1),
    ):
        for header_ in (b"", srh([FAR[0], dst], 0)):
            ping = echo6(PEER, dst)
            probe = upper6(PEER, dst, UDP(sport=40000, dport=33434) / Raw(b"trace"), hlim=1)
            for whole, allowed in ((ping, ping_), (probe, trace)):
                packet = whole
                if header_:
                    packet = ip6(PEER, dst, bytes([whole[6]]) + header_[1:] + whole[40:], ROUTING, hlim=header(whole).hlim)
                if not allowed:
                    case.dropped("p0", packet, "upper_layer", upper_layer_error(packet, 40 + len(header_)))
                elif whole is ping:
                    case.answered("p0", packet, "echo", echo_reply6(ping))
                else:
                    case.dropped("p0", packet, "not_served", port_unreachable(packet))
    yield case


def limits():
    case = Case(
        "ext_headers_eight",
        "eight extension headers are walked, the ninth is too many",
        "RFC 8200 4.1; docs/design.md 2 rule 7",
        node_of(sid("5f00:0:100::/48", "uN")),
    )
    for n in range(1, 11):
        chain = b"".join(dest_options(DEST_OPTIONS) for _ in range(n - 1)) + dest_options(41)
        packet = ip6(PEER, "5f00:0:100::", chain + roce6(), DEST_OPTIONS)
        if n <= 8:
            case.passes("p0", packet, "p1", hop(roce6()))
        else:
            case.dropped("p0", packet, "ext_chain")
    yield case
    case = Case(
        "ext_headers_split",
        "headers that reach into a second buffer are counted as such; those that reach nowhere are not",
        "docs/design.md 2 rule 7",
        node_of(sid("5f00:1:2:1::/64", "End", flavors=["psp", "usd"]), mtu=9100),
    )
    front = dest_options(ROUTING, 1976)
    for segments, left in ((FAR[:2], 1), (FAR[:2], 0)):
        packet = ip6(PEER, "5f00:1:2:1::", front + srh(segments, left) + roce6(), DEST_OPTIONS)
        case.dropped("p0", packet, "headers_split")
    packet = ip6(PEER, "5f00:1:2:1::", front + srh(FAR[:2], 1, len=200) + roce6(), DEST_OPTIONS)
    case.dropped("p0", packet, "ext_chain")
    yield case


def cases():
    for family in (end_family, decapsulating, frames, around, options, delivered, limits):
        yield from family()
