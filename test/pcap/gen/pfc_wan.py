# SPDX-License-Identifier: BSD-3-Clause
"""End.X.PFC (draft-ruan-spring-priority-flow-control-sid-02 2): every variant on the way, at the end, and every fault."""

import hashlib
import hmac
import struct

from scapy.compat import raw
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.packet import Raw

from gen.boundary import KEYS, signed, tlv, with_keys
from gen.case import Case, Frame, from_node
from gen.node import LOOPBACK, ONE_LCORE, PEER_MAC, mac_of, neighbor, node, port, sid, via, vrf
from gen.topology import MANY_ERRORS, core, to_p1
from gen.wire import (
    FRAGMENT, HOST_B, IPPROTO_IPV6, PEER, ROUTING, decap, echo6, echo_reply6, fragment, ip6, next_segment, packed, param_problem,
    pop_srh, port_unreachable, resize, roce6, shift, srh, time_exceeded, tunnel, upper6, upper_layer_error,
)

ETHERNET = 143
RUAN = "draft-ruan-spring-priority-flow-control-sid-02"
PFC_DA, DSCP_CS7 = "01:80:c2:00:00:01", 0xE0
TRUE = "true"
FAR = "2001:db8:f::3"  # loopback of the node that sends PFC
MAC5 = "02:00:00:00:b0:05"
ADJACENT = {"port": "p1", "nexthop": "2001:db8:b::5"}
FLAVORS = [[], ["psp"], ["usp"], ["psp", "usp"]]
PLAIN, USID = "5f00:1:1:e1::", "5f00:0:e0e1::"


def frame(times=None, dst=PFC_DA, src="02:00:00:00:33:01", kind=0x8808, opcode=0x0101, cev_hi=0, size=60):
    """A PFC frame by its definition (IEEE 802.1Q 36.2): times by priority."""
    times = {3: 65535} if times is None else times
    head = bytes.fromhex((dst + src).replace(":", "")) + struct.pack(">HH", kind, opcode)
    vector = struct.pack(">BB", cev_hi, sum(1 << p for p in times))
    quanta = b"".join(struct.pack(">H", times.get(p, 0)) for p in range(8))
    return (head + vector + quanta).ljust(60, b"\0")[:size]


def tunnelled(dst, inner, segments=(), left=0, src=FAR, **fields):
    """Packets of the congested node: CS7, fixed flow label, next header 143 (RFC 8986 5.3)."""
    fields = {"tc": DSCP_CS7, "fl": 0x12345, "hlim": 62, **fields}
    if not segments:
        return ip6(src, dst, inner, ETHERNET, **fields)
    return ip6(src, dst, srh(segments, left, nh=ETHERNET) + inner, ROUTING, **fields)


def node_of(*sids, **more):
    config = core(
        *sids,
        neighbors=[neighbor("p1", "2001:db8:b::5", MAC5)],
        routes=to_p1("5f00:1::/32"),
        icmp=MANY_ERRORS,
        **more,
    )
    for p in config["ports"]:
        p["speed"] = "10M"
    return config


def pfc_sid(prefix, behavior="End.X.PFC", flavors=(), **more):
    flavors = {"flavors": flavors} if flavors else {}
    return sid(prefix, behavior, **ADJACENT, **flavors, **more)


def _title(flavors):
    return "_".join(["endxpfc", *flavors])


def _on_the_way():
    """SRH part: End.X, with PSP where the list ends here."""
    for flavors in FLAVORS:
        case = Case(f"{_title(flavors)}_transit", f"End.X.PFC with {' and '.join(flavors) or 'no flavour'}: next segment over J",
                    f"{RUAN} 2 S01-S16; RFC 8986 4.16", node_of(pfc_sid(f"{PLAIN}/64", flavors=flavors)))
        segments = [PLAIN, "5f00:9:9::", "5f00:0:300:e102::"]
        # a PFC tunnel may pass through such a SID: with segments left its frame is payload like any other, ahead of data
        through = tunnelled(PLAIN, frame(), segments[::2], 1)
        after = next_segment(through)
        case.passes("p0", through, "p1", _to5(pop_srh(after) if "psp" in flavors else after))
        two_left = tunnel(PLAIN, roce6(), segments=segments, left=2)
        case.passes("p0", two_left, "p1", _to5(next_segment(two_left)))
        last = tunnel(PLAIN, roce6(), segments=segments[::2], left=1)
        after = next_segment(last)
        case.passes("p0", last, "p1", _to5(pop_srh(after) if "psp" in flavors else after))
        bad = tunnel(PLAIN, roce6(), segments=segments, left=4)
        case.dropped("p0", bad, "srh_bounds", param_problem(bad, 43))
        old = tunnel(PLAIN, roce6(), segments=segments, left=2, hlim=1)
        case.dropped("p0", old, "hop_limit", time_exceeded(old))
        yield case


def _to5(packet):
    return from_node("p1", packet, dst=MAC5)


def _at_the_end():
    """Upper layer 143 with and without SRH: consumed, nothing is sent."""
    for flavors in FLAVORS:
        case = Case(f"{_title(flavors)}_end", f"End.X.PFC with {' and '.join(flavors) or 'no flavour'}: PFC frames end here", f"{RUAN} 2 upper layer S01-S04",
                    node_of(pfc_sid(f"{PLAIN}/64", flavors=flavors)))
        for times in ({3: 65535}, {3: 0}, {}, {p: p * 100 for p in range(8)}):
            for packet in (tunnelled(PLAIN, frame(times)), tunnelled(PLAIN, frame(times), [PLAIN]),
                           tunnelled(PLAIN, frame(times), ["5f00:0:300::", PLAIN]), tunnelled(PLAIN, frame(times, size=34))):
                case.rx("p1", packet)
                case.count("p1", "pfc")
        yield case


def _usid():
    """Last uSID of a container: as an entry of its own (RFC 9800 4.1), and with NEXT-CSID (0x8104)."""
    for name, behavior in (("endxpfc_usid", "End.X.PFC"), ("uapfc", "uA.PFC")):
        case = Case(name, f"{behavior} as the last uSID of a container", f"{RUAN} 2; RFC 9800 4.1",
                    node_of(sid("5f00:0:100::/48", "uN"), pfc_sid(f"{USID}/48", behavior)))
        case.rx("p1", tunnelled("5f00:0:100:e0e1::", frame()), tunnelled(USID, frame()), tunnelled(USID, frame(), [USID]))
        case.count("p1", "pfc", 3)
        last = tunnel(USID, roce6(), segments=[USID, "5f00:0:300:e102::"], left=1)
        case.passes("p0", last, "p1", _to5(next_segment(last)))
        if behavior == "uA.PFC":
            onward = ip6(PEER, "5f00:0:e0e1:300:e102::", roce6(), IPPROTO_IPV6)
            case.passes("p0", onward, "p1", _to5(shift(onward)))
        yield case


def _faults():
    """docs/protocol.md 4.2, 4.4: a decapsulated frame that is not a legal PFC frame from an allowed peer is dropped, never bridged."""
    case = Case("endxpfc_faults", "End.X.PFC: every fault of a decapsulated frame", f"{RUAN} 2 S03 has no else branch",
                node_of(pfc_sid(f"{PLAIN}/64", allowed_sources=[f"{FAR}/128"])))
    tagged = frame()[:12] + bytes.fromhex("81006003") + frame()[12:]
    for reason, inner in (
        ("pfc_bad_da", frame(dst="02:00:00:00:d0:01")), ("pfc_bad_da", frame(dst="01:80:c2:00:00:0e")),
        ("pfc_bad_da", frame(dst="ff:ff:ff:ff:ff:ff", kind=0x0800)), ("pfc_bad_da", frame(size=33)), ("pfc_bad_da", b"\x01\x80"),
        ("pfc_bad_da", b""), ("pfc_bad_opcode", tagged), ("pfc_bad_opcode", frame(kind=0x88CC)),
        ("pfc_bad_opcode", frame(opcode=0x0001)), ("pfc_bad_opcode", frame(opcode=0x0102)), ("pfc_bad_cev", frame(cev_hi=1)),
    ):
        case.rx("p1", tunnelled(PLAIN, inner))
        case.count("p1", reason)
    for source in ("2001:db8:f::4", "2001:db8:b::1"):
        case.rx("p1", tunnelled(PLAIN, frame(), src=source))
        case.count("p1", "pfc_bad_peer")
    case.rx("p1", tunnelled(PLAIN, frame(), src="2001:db8:9::1"))  # from outside the domain
    case.count("p1", "boundary_source")
    yield case

    lenient = Case("endxpfc_lenient", "End.X.PFC: high octet of the vector let pass", "IEEE 802.1Q 36.2; D35",
                   node_of(pfc_sid(f"{PLAIN}/64", lenient_cev=TRUE)))
    lenient.rx("p1", tunnelled(PLAIN, frame(cev_hi=0xA5)))
    lenient.count("p1", "pfc")
    yield lenient


def _upper_layers():
    """No USD: 41 and 4 are errors; ping and traceroute are answered (draft-ruan 5)."""
    case = Case("endxpfc_upper", "End.X.PFC: other upper layers, ping, traceroute", f"{RUAN} 2 S05-S06, 5; RFC 8986 4.1.1",
                node_of(pfc_sid(f"{PLAIN}/64", allow=["ping", "traceroute"]), pfc_sid("5f00:1:1:e2::/64", allow=["none"])))
    inside = tunnel(PLAIN, roce6())
    case.dropped("p0", inside, "upper_layer", upper_layer_error(inside, 40))
    behind = tunnel(PLAIN, roce6(), segments=[PLAIN], left=0)
    case.dropped("p0", behind, "upper_layer", upper_layer_error(behind, 40 + 24))
    ping = echo6(PEER, PLAIN)
    case.answered("p0", ping, "echo", echo_reply6(ping))
    piece = ip6(PEER, PLAIN, fragment(ETHERNET, 0, 1) + frame(), FRAGMENT)
    case.dropped("p0", piece, "fragment")
    probe = upper6(PEER, PLAIN, UDP(sport=33000, dport=33434) / b"traceroute", hlim=2)
    case.dropped("p0", probe, "not_served", port_unreachable(probe))
    # a SID that does not allow them
    for packet in (echo6(PEER, "5f00:1:1:e2::"), upper6(PEER, "5f00:1:1:e2::", UDP(sport=33000, dport=33434) / b"traceroute")):
        case.dropped("p0", packet, "upper_layer", upper_layer_error(packet, 40))
    yield case


def _gateway(sids=(), pfc=None, speed="100G", **keys):
    """p2 leads to a DC gateway; the far PE is behind p1."""
    ports = [port("p1", "wan", "2001:db8:b::2/64"), port("p2", "dc", "2001:db8:c::2/64", speed=speed)]
    if pfc:
        ports[1]["pfc"] = pfc
    return node(
        ports,
        neighbors=[neighbor("p1", "2001:db8:b::1")],
        routes=via("p1", "2001:db8:b::1", "5f00:1::/32", "5f00:0:300::/48"),
        sids=list(sids),
        buffer_profiles=[{"name": "small", "xoff": 8192, "headroom": 8192, "forced": True}],
        pfc_relays=[{"name": "gw", "port": "p2", **keys}],
    )


def _outward(segments, inner, first):
    """H.Encaps.L2.Red of a frame (RFC 8986 5.4): CS7, not ECN-capable, flow label fixed."""
    fields = {"tc": DSCP_CS7, "fl": 0, "hlim": 64}
    if len(segments) == 1:
        return ip6(LOOPBACK, first, inner, ETHERNET, **fields)
    head = srh(segments[1:], len(segments) - 1, nh=ETHERNET)
    return ip6(LOOPBACK, first, head + inner, ROUTING, **fields)


def _relay_in():
    """draft-he 3.2: the gateway's legal PFC frames enter the tunnel unchanged; other frames do not."""
    own = {"priorities": [3, 4], "peers": [PEER_MAC["p2"]], "buffer": "small"}
    he = "draft-he-rtgwg-wan-pfc-00 3.2"
    for name, segments, first in (("one", [PLAIN], PLAIN), ("srh", ["5f00:1:2:1::", "5f00:1:3:2::", PLAIN], "5f00:1:2:1::"),
                                  ("usid", ["5f00:0:300::", "5f00:0:e0d2::"], "5f00:0:300:e0d2::")):
        case = Case(f"pfc_relay_in_{name}", f"PFC of a gateway into a tunnel: {name}", f"{he}; RFC 8986 5.4",
                    _gateway(pfc=own, speed="1G", mode="transparent", segments=segments))
        for times in ({3: 65535}, {3: 65535}, {3: 0, 4: 7}, {0: 1}):
            inner = frame(times, src=PEER_MAC["p2"])
            on_wire = segments if name != "usid" else [first]
            case.rx("p2", Frame(inner))
            case.tx("p1", _outward(on_wire, inner, first), origin="p2")
            case.count("p2", "pfc")
        yield case
    case = Case("pfc_relay_refused", "what is no legal PFC of the gateway does not enter the tunnel", f"{he}; docs/protocol.md 5.2",
                _gateway(pfc=own, speed="1G", mode="transparent", segments=[PLAIN]))
    for reason, inner in (
        ("pfc_bad_peer", frame(src="02:00:00:00:99:99")), ("pfc_bad_da", frame(dst="01:80:c2:00:00:0e", src=PEER_MAC["p2"])),
        ("pause_frame", frame(opcode=1, src=PEER_MAC["p2"])), ("pfc_bad_opcode", frame(opcode=2, src=PEER_MAC["p2"])),
        ("pfc_bad_cev", frame(cev_hi=1, src=PEER_MAC["p2"])), ("pfc_short", frame(size=59, src=PEER_MAC["p2"])),
        ("pfc_bad_peer", frame(src=mac_of("p2"))), ("pfc", frame({}, src=PEER_MAC["p2"])),  # nothing enabled: not tunnelled
    ):
        case.rx("p2", Frame(inner))
        case.count("p2", reason)
    yield case
    case = Case("pfc_relay_loop", "what this port has said itself comes back: never into the tunnel, whoever is a peer", "docs/protocol.md 5.5",
                _gateway(pfc={**own, "peers": [PEER_MAC["p2"], mac_of("p2")]}, speed="1G", mode="transparent", segments=[PLAIN]))
    for source, reason in ((mac_of("p2"), "mac_source"), (PEER_MAC["p2"], "pfc")):
        case.rx("p2", Frame(frame(src=source)))
        case.count("p2", reason)
    case.tx("p1", _outward([PLAIN], frame(src=PEER_MAC["p2"]), PLAIN), origin="p2")
    yield case
    # refreshes that come sooner than a third of the hold are left out; a change never is
    case = Case("pfc_relay_thinned", "regenerate: of refreshes in one burst the first one goes", "docs/protocol.md 5.5; D38",
                _gateway(pfc=own, speed="1G", segments=[PLAIN], hold_min=100000, outage=0), real_time=True)
    for times, passes in (({3: 65535}, 1), ({3: 65535}, 0), ({3: 65535}, 0), ({3: 0}, 1), ({3: 0}, 0), ({4: 9}, 1), ({3: 1, 4: 9}, 1)):
        inner = frame(times, src=PEER_MAC["p2"])
        case.rx("p2", Frame(inner))
        case.count("p2", "pfc")
        if passes:
            case.tx("p1", _outward([PLAIN], inner, PLAIN), origin="p2")
    # the last pause runs out without XON: that is said, and again after 1 and after 2 ms
    silence = _outward([PLAIN], frame({3: 0, 4: 0}, src=mac_of("p2")), PLAIN)
    case.tx("p1", silence, silence, silence, origin="p2")
    yield case


def _relay_out():
    """The far PE hands the frame on with its own source MAC, padded; pause times by mode."""
    dx2 = "5f00:1:1:d2::"
    he = "draft-he-rtgwg-wan-pfc-00 3.2 par. 4"
    for mode, speed, origin, times, handed in (
        ("transparent", "100G", "100G", {3: 1000, 4: 0}, {3: 1000, 4: 0}),
        ("transparent", "400G", "400G", {3: 1000}, {3: 1000}),
        ("scaled", "400G", "100G", {3: 1001, 4: 0, 5: 16383}, {3: 4004, 4: 0, 5: 65532}),
        ("scaled", "100G", "400G", {3: 1001}, {3: 251}),
    ):
        keys = {"sid": f"{dx2}/64", "mode": mode, "from-speed": origin}
        case = Case(f"pfc_relay_out_{mode}_{speed}", f"relay {mode}: from {origin} to {speed}", f"{he}; D38",
                    _gateway([sid(f"{dx2}/64", "End.DX2", port="p2")], speed=speed, **keys))
        for packet in (tunnelled(dx2, frame(times)), tunnelled(dx2, frame(times), [dx2])):
            case.rx("p1", packet)
            case.count("p1", "pfc")
            case.tx("p2", Frame(frame(handed, src=mac_of("p2"))), origin="p1")
        case.rx("p1", tunnelled(dx2, frame(opcode=1)), tunnelled(dx2, frame(cev_hi=3)), tunnelled(dx2, frame(dst="ff:ff:ff:ff:ff:ff")))
        case.count("p1", "pfc_bad_opcode")
        case.count("p1", "pfc_bad_cev")
        case.count("p1", "pfc_bad_da")
        yield case
    case = Case("pfc_relay_regenerate", "relay regenerate: XOFF anew, then XON; other frames are bridged", f"{he}; D38",
                _gateway([sid(f"{dx2}/64", "End.DX2", port="p2")], sid=f"{dx2}/64", **{"hold-min": 100000}))
    case.rx("p1", tunnelled(dx2, frame({3: 1})), tunnelled(dx2, frame({3: 0})), tunnelled(dx2, frame({3: 0})))
    case.count("p1", "pfc", 3)
    case.tx("p2", Frame(frame({3: 65535}, src=mac_of("p2"))), Frame(frame({3: 0}, src=mac_of("p2"))), origin="p1")
    yield case


STATE_PORT, FAR_PE = 4794, "2001:db8:f::3"


def state(stopped, sequence, epoch=0, speaks_for=0x18, lease=50000, version=1, flags=0, slice_id=0):
    """A leased state (docs/protocol.md 5.6)."""
    return struct.pack(">BBBBIIII", version, flags, speaks_for, stopped, epoch, sequence, lease, slice_id)


def _datagram(src, dst, message, segments=(), left=0, first=None, **fields):
    """UDP of a node's own; the checksum is over the last destination (RFC 8200 8.1)."""
    fields = {"tc": DSCP_CS7, "fl": 0, "hlim": 64, **fields}
    udp = bytes(raw(IPv6(src=src, dst=dst) / UDP(sport=STATE_PORT, dport=STATE_PORT) / Raw(message)))[40:]
    if not segments:
        return ip6(src, dst, udp, 17, **fields)
    return ip6(src, first or segments[0], srh(segments, left, nh=17) + udp, ROUTING, **fields)


def _carrier_in():
    """The gateway's frames as a state, at once and repeated twice; the repeats have the last change."""
    own = {"priorities": [3, 4], "peers": [PEER_MAC["p2"]], "buffer": "small"}
    for name, segments in (("one", [FAR_PE]), ("srh", ["5f00:1:2:1::", FAR_PE])):
        case = Case(f"pfc_state_out_{name}", f"carrier: state, to the far PE: {name}", "docs/protocol.md 5.6; D38",
                    _gateway(pfc=own, speed="1G", carrier="state", udp_port=STATE_PORT, lease=90000, segments=segments),
                    mask=["state_epoch"], real_time=True)
        case.config["routes"] += via("p1", "2001:db8:b::1", f"{FAR_PE}/128")
        # a node that starts has its gateway stopped, by the port's owner and by the relay, until the far PE has spoken
        case.rx("p1", _datagram(FAR_PE, LOOPBACK, state(0, 1)))
        case.count("p1", "pfc")
        own_mac = mac_of("p2")
        for told in ({3: 65535, 4: 65535}, {3: 65535, 4: 65535}, {3: 0, 4: 0}):
            case.tx("p2", Frame(frame(told, src=own_mac)), origin="p1")
        for times in ({3: 65535}, {4: 65535}, {3: 65535}, {4: 0}, {3: 0}, {3: 0}):
            case.rx("p2", Frame(frame(times, src=PEER_MAC["p2"])))
            case.count("p2", "pfc")
        listed = segments[1:] if len(segments) > 1 else ()
        for n, stopped in enumerate((0x08, 0x18, 0x08, 0, 0, 0)):
            message = state(stopped, n + 1, lease=90000)
            case.tx("p1", _datagram(LOOPBACK, FAR_PE, message, listed, len(listed), segments[0]), origin="p2")
        yield case


def _carrier_out():
    """The other end: new PFC frames; every fault has a drop reason."""
    keys = {"carrier": "state", "udp_port": STATE_PORT, "allowed_sources": [f"{FAR_PE}/128"]}
    case = Case("pfc_state_in", "carrier: state, from the far PE: XOFF and XON to the gateway", "docs/protocol.md 5.6; D38",
                _gateway([sid("5f00:0:300::/48", "uN")], **keys))
    case.config["routes"] = [r for r in case.config["routes"] if r["prefix"] != "5f00:0:300::/48"]
    own = mac_of("p2")
    for packet, told in (
        (_datagram(FAR_PE, LOOPBACK, state(0x08, 1)), {3: 65535}),
        (_datagram(FAR_PE, LOOPBACK, state(0x18, 2), [LOOPBACK, "5f00:1:2:1::"], 0, LOOPBACK), {4: 65535}),
        (_datagram(FAR_PE, LOOPBACK, state(0, 3), ["5f00:0:300::", LOOPBACK], 1), {3: 0, 4: 0}),
    ):
        case.rx("p1", packet)
        case.count("p1", "pfc")
        case.tx("p2", Frame(frame(told, src=own)), origin="p1")
    for reason, packet in (
        ("pfc_state_stale", _datagram(FAR_PE, LOOPBACK, state(0x08, 3))),
        ("pfc_state_stale", _datagram(FAR_PE, LOOPBACK, state(0x08, 2))),
        ("pfc_bad_peer", _datagram("2001:db8:f::4", LOOPBACK, state(0x08, 9))),
        ("pfc_bad_peer", _datagram("2001:db8:9::1", LOOPBACK, state(0x08, 9))),
        ("pfc_state_invalid", _datagram(FAR_PE, LOOPBACK, state(0x08, 9, version=2))),
        ("pfc_state_invalid", _datagram(FAR_PE, LOOPBACK, state(0x08, 9, flags=1))),
        ("pfc_state_invalid", _datagram(FAR_PE, LOOPBACK, state(0x08, 9, lease=0))),
        ("pfc_state_invalid", _datagram(FAR_PE, LOOPBACK, state(0x08, 9, lease=100001))),
        ("pfc_state_invalid", _datagram(FAR_PE, LOOPBACK, state(0x08, 9, slice_id=1))),
        ("pfc_state_invalid", _datagram(FAR_PE, LOOPBACK, state(0x08, 9)[:19])),
        ("pfc_state_invalid", _datagram(FAR_PE, LOOPBACK, b"")),
        ("pfc_state_invalid", _datagram(FAR_PE, LOOPBACK, state(0x08, 9))[:-1] + b"\x01"),
    ):
        case.rx("p1", packet)
        case.count("p1", reason)
    case.rx("p2", _datagram(FAR_PE, LOOPBACK, state(0x08, 9)))  # a tenant that knows the address
    case.count("p2", "pfc_bad_peer")
    yield case


LATER_NS = 4102444800 * 10**9  # the year 2100: a time of sending that no run has reached


def _digest(key_id, text, src, end):
    return hmac.new(bytes.fromhex(KEYS[key_id]), packed(src) + packed(end) + text, hashlib.sha256).digest()


def keyed_state(stopped, sequence, epoch=LATER_NS // 10**6, src=FAR_PE, end=LOOPBACK, key_id=7, lease=50000, by=None):
    """A leased state with a digest (docs/protocol.md 5.6, D64)."""
    text = struct.pack(">BBBBQIIII", 2, 0, 0x18, stopped, epoch, sequence, lease, 0, key_id)
    return text + _digest(by or key_id, text, src, end)


def sealed(inner, sent=LATER_NS, src=FAR, end=PLAIN, key_id=7, slice_id=0, version=1, by=None):
    """A PFC frame with its trailer (docs/protocol.md 5.8, D65)."""
    text = inner + struct.pack(">B3xIIQ", version, slice_id, key_id, sent)
    return text + _digest(by or key_id, text, src, end)


def _keyed_states():
    """State messages with a digest: made, and asked for."""
    own = {"priorities": [3, 4], "peers": [PEER_MAC["p2"]], "buffer": "small"}
    keys = {"carrier": "state", "udp_port": STATE_PORT, "message-keys": [7, 1]}
    for name, segments in (("one", [FAR_PE]), ("srh", ["5f00:1:2:1::", FAR_PE])):
        case = with_keys(Case(f"pfc_state_out_keyed_{name}", f"carrier: state with message-keys, to the far PE: {name}",
                              "docs/protocol.md 5.6; D64",
                              _gateway(pfc=own, speed="1G", lease=90000, segments=segments, **keys),
                              mask=["digest"], real_time=True, repeats=True))
        case.config["routes"] += via("p1", "2001:db8:b::1", f"{FAR_PE}/128")
        case.rx("p1", _datagram(FAR_PE, LOOPBACK, keyed_state(0, 1)))
        case.count("p1", "pfc")
        for told in ({3: 65535, 4: 65535}, {3: 65535, 4: 65535}, {3: 0, 4: 0}):
            case.tx("p2", Frame(frame(told, src=mac_of("p2"))), origin="p1")
        for times in ({3: 65535}, {3: 0}):
            case.rx("p2", Frame(frame(times, src=PEER_MAC["p2"])))
            case.count("p2", "pfc")
        listed = segments[1:] if len(segments) > 1 else ()
        for n, stopped in enumerate((0x08, 0, 0, 0)):
            message = keyed_state(stopped, n + 1, 0, LOOPBACK, FAR_PE, lease=90000)
            case.tx("p1", _datagram(LOOPBACK, FAR_PE, message, listed, len(listed), segments[0]), origin="p2")
        yield case
    case = with_keys(Case("pfc_state_in_keyed", "carrier: state with message-keys: only what has a right digest, and once",
                          "docs/protocol.md 5.6; D64", _gateway(allowed_sources=[f"{FAR_PE}/128"], **keys)))
    good = [keyed_state(0x08, 1), keyed_state(0x18, 2, key_id=1), keyed_state(0, 3)]
    for message, told in zip(good, ({3: 65535}, {4: 65535}, {3: 0, 4: 0})):
        case.rx("p1", _datagram(FAR_PE, LOOPBACK, message))
        case.count("p1", "pfc")
        case.tx("p2", Frame(frame(told, src=mac_of("p2"))), origin="p1")
    changed = bytearray(keyed_state(0, 9))
    changed[3] = 0x08
    for reason, message in (
        *(("pfc_state_stale", message) for message in good),
        ("pfc_state_stale", keyed_state(0x08, 9, epoch=LATER_NS // 10**6 - 1)),
        ("pfc_state_forged", state(0x08, 9)),
        ("pfc_state_forged", bytes(changed)),
        ("pfc_state_forged", keyed_state(0x08, 9, by=1)),
        ("pfc_state_forged", keyed_state(0x08, 9, key_id=0x10001)),
        ("pfc_state_forged", keyed_state(0x08, 9, src="2001:db8:f::4")),
        ("pfc_state_forged", keyed_state(0x08, 9, end=FAR_PE)),
        ("pfc_state_invalid", keyed_state(0x08, 9)[:-1]),
    ):
        case.rx("p1", _datagram(FAR_PE, LOOPBACK, message))
        case.count("p1", reason)
    yield case


def _sealed_frames():
    """PFC frames with a trailer: made, and asked for."""
    own = {"priorities": [3], "peers": [PEER_MAC["p2"]], "buffer": "small"}
    for name, segments, hmac_key in (("one", [PLAIN], 0), ("srh", ["5f00:1:2:1::", PLAIN], 0), ("hmac", ["5f00:1:2:1::", PLAIN], 7)):
        more = {"hmac-key": hmac_key} if hmac_key else {}
        case = with_keys(Case(f"pfc_sealed_made_{name}", f"PFC of a gateway with message-keys, into a tunnel: {name}",
                              "docs/protocol.md 5.8; D65",
                              _gateway(pfc=own, speed="1G", mode="transparent", segments=segments, **{"message-keys": [7]}, **more),
                              mask=["digest"]))
        listed = segments[1:]
        for times in ({3: 65535}, {3: 0}):
            inner = sealed(frame(times, src=PEER_MAC["p2"]), 0, LOOPBACK, PLAIN)
            case.rx("p2", Frame(inner[:60]))
            case.count("p2", "pfc")
            head = b"" if not listed else srh(listed, 1, ETHERNET, tlv(listed, LOOPBACK, d=1, key_id=7) if hmac_key else b"")
            case.tx("p1", ip6(LOOPBACK, segments[0], head + inner, ROUTING if listed else ETHERNET, tc=DSCP_CS7, fl=0, hlim=64),
                    origin="p2")
        yield case

    case = with_keys(Case("endxpfc_sealed", "End.X.PFC with message-keys: only frames with a right digest, and each once",
                          f"{RUAN} 4; docs/protocol.md 5.8, D65",
                          node_of(sid("5f00:0:100::/48", "uN"), pfc_sid(f"{PLAIN}/64", **{"message-keys": [7, 1]}),
                                  pfc_sid(f"{USID}/48", **{"message-keys": [7]}))))
    for dst, end, segments in ((PLAIN, PLAIN, ()), (PLAIN, PLAIN, ["5f00:1:2:1::", PLAIN]), ("5f00:0:100:e0e1::", USID, ())):
        at = LATER_NS + 100 * len(segments)
        first = sealed(frame(), at, end=end)
        xon, old = sealed(frame({3: 0}), at + 2, end=end), sealed(frame({3: 9}), at + 1, end=end)
        overtaken = sealed(frame({4: 9}), at + 1, end=end)
        for inner, reason in (
            (first, "pfc"), (first, "pfc_frame_stale"), (xon, "pfc"), (old, "pfc_frame_stale"), (first, "pfc_frame_stale"),
            (overtaken, "pfc"), (overtaken, "pfc_frame_stale"),
            (frame(), "pfc_frame_forged"),
            (sealed(frame(), at + 9, end=end, by=1), "pfc_frame_forged"),
            (sealed(frame(), at + 9, end=end, key_id=0x10001), "pfc_frame_forged"),
            (sealed(frame(), at + 9, src="2001:db8:f::4", end=end), "pfc_frame_forged"),
            (sealed(frame(), at + 9, end="5f00:1:1:e2::"), "pfc_frame_forged"),
            (sealed(frame(), at + 9, end=end, version=2), "pfc_frame_forged"),
            (sealed(frame(), at + 9, end=end) + b"\0", "pfc_frame_forged"),
            (sealed(frame(), at + 9, end=end)[:-1], "pfc_frame_forged"),
            (sealed(frame(opcode=1), at + 9, end=end), "pfc_bad_opcode"),
        ):
            case.rx("p1", tunnelled(dst, inner, segments))
            case.count("p1", reason)
    yield case

    dx2 = "5f00:1:1:d2::"
    case = with_keys(Case("pfc_relay_in_sealed", "relay with message-keys: the gateway hears genuine frames, without their trailers",
                          "docs/protocol.md 5.8; D65",
                          _gateway([sid(f"{dx2}/64", "End.DX2", port="p2")], sid=f"{dx2}/64", speed="1G", mode="transparent",
                                   **{"message-keys": [7]})))
    for n, (inner, reason) in enumerate((
        (sealed(frame({3: 65535}), end=dx2), "pfc"), (sealed(frame({3: 65535}), end=dx2), "pfc_frame_stale"),
        (frame({3: 0}), "pfc_frame_forged"), (sealed(frame({3: 0}), LATER_NS + 1, end=dx2), "pfc"),
    )):
        case.rx("p1", tunnelled(dx2, inner))
        case.count("p1", reason)
        if reason == "pfc":
            case.tx("p2", Frame(frame({3: 0 if n else 65535}, src=mac_of("p2"))), origin="p1")
    yield case


def _proven():
    """HMAC TLVs of PFC frames: made for a tunnel with an SRH, which is then always there, and asked for at its end."""
    own = {"priorities": [3], "peers": [PEER_MAC["p2"]], "buffer": "small"}
    for name, segments in (("one", [PLAIN]), ("three", ["5f00:1:2:1::", "5f00:1:3:2::", PLAIN])):
        case = with_keys(
            Case(f"pfc_hmac_made_{name}", f"PFC of a gateway into a tunnel with an HMAC TLV: {name}", "RFC 8754 2.1.2; docs/protocol.md 4.4, D25",
                 _gateway(pfc=own, speed="1G", mode="transparent", segments=segments, **{"hmac-key": 7})))
        listed = segments[1:] or segments
        left = len(segments) - 1
        for times in ({3: 65535}, {3: 0}):
            inner = frame(times, src=PEER_MAC["p2"])
            head = srh(listed, left, ETHERNET, tlv(listed, LOOPBACK, d=int(left > 0), key_id=7))
            case.rx("p2", Frame(inner))
            case.count("p2", "pfc")
            case.tx("p1", ip6(LOOPBACK, segments[0], head + inner, ROUTING, tc=DSCP_CS7, fl=0, hlim=64), origin="p2")
        yield case

    case = with_keys(
        Case("endxpfc_hmac", "End.X.PFC with pfc-hmac: PFC frames are proven, data needs no HMAC", f"{RUAN} 4; docs/protocol.md 4.4, D25",
             node_of(sid("5f00:0:100::/48", "uN"), pfc_sid(f"{PLAIN}/64", **{"pfc-hmac": "required"}),
                     pfc_sid(f"{USID}/48", **{"pfc-hmac": "required"}))))
    packed_end = "5f00:0:100:e0e1::"
    for dst, lists in ((PLAIN, ([PLAIN], ["5f00:1:2:1::", PLAIN])), (packed_end, ([packed_end],)), (USID, ([USID],))):
        for segments in lists:
            good = signed(dst, segments, 0, frame(), src=FAR, nh=ETHERNET)
            case.rx("p1", good)
            case.count("p1", "pfc")
            forged = bytearray(good)
            forged[40 + 8 + 16 * len(segments) + 8] ^= 1
            for bad in (bytes(forged), signed(dst, segments, 0, frame(), src=FAR, nh=ETHERNET, key=KEYS[7]),
                        signed(dst, segments, 0, frame(), src="2001:db8:f::4", nh=ETHERNET)[:8] + packed(FAR) + good[24:],
                        tunnelled(dst, frame(), segments), tunnelled(dst, frame())):
                if bad == good:
                    continue
                case.rx("p1", bad)
                case.count("p1", "hmac")
    last = tunnel(PLAIN, roce6(), segments=[PLAIN, "5f00:0:300:e102::"], left=1)
    case.passes("p0", last, "p1", _to5(next_segment(last)))
    yield case


SLICES = [{"name": "gold", "id": 5}, {"name": "silver", "id": 6}]
OPTION = 0x1E


def told(packet, slice_id, option=OPTION):
    """A hop-by-hop option with a slice's id in front of what follows the IPv6 header (draft-ietf-6man-enhanced-vpn-vtn-id)."""
    header = struct.pack(">BBBBBBBBIBBH", packet[6], 1, 1, 0, option, 6, 0, 0, slice_id, 1, 2, 0)
    return resize(packet[:6] + b"\0" + packet[7:40] + header + packet[40:])


def _slices():
    """docs/protocol.md 4.5: the SID's argument or a hop-by-hop option selects the slice, of a pause and of data."""
    def by_argument(packet, slice_id):
        return packet[:32] + struct.pack(">H", slice_id) + packet[34:]

    for name, say in (("argument", by_argument), ("option", told)):
        config = node_of(pfc_sid(f"{PLAIN}/64", **{"slice-by": name, "slice": "silver"}), lcores=ONE_LCORE, slices=SLICES)
        config["node"]["slice-option"] = OPTION
        case = Case(f"endxpfc_slice_{name}", f"End.X.PFC: the slice is that of the {name}", f"{RUAN} 1.1 a, 3; docs/protocol.md 4.5", config)
        # distinguished by sequence numbers, because nothing of the argument is left after the node
        gold, silver, onward = (tunnel(PLAIN, roce6(psn=psn), segments=[PLAIN, "5f00:0:300:e102::"], left=1, tc=26 << 2)
                                for psn in (5, 6, 7))
        filler = tunnel(PLAIN, roce6(psn=1), segments=[PLAIN, "5f00:0:300:e102::"], left=1)
        # 33 ms at 10 Mb/s; the filler gives it two passes of the one lcore to take effect
        case.rx("p0", say(tunnelled(PLAIN, frame({3: 655})), 5))
        case.count("p0", "pfc")
        case.rx("p0", say(tunnelled(PLAIN, frame({3: 655})), 9))
        case.count("p0", "pfc_bad_slice")
        for _ in range(78):
            case.passes("p0", filler, "p1", _to5(next_segment(filler)))
        gold, silver = say(gold, 5), say(silver, 6)
        case.rx("p0", gold, silver, onward)  # the last one says nothing: that of the SID
        case.tx("p1", *(_to5(next_segment(packet)) for packet in (silver, onward, gold)), origin="p0")
        yield case


def _learnt():
    """Scenario 2 in one node: data shows its list, p1 is paused, and the reverse list is that of docs/protocol.md 4.6."""
    remote = [{"sid": "5f00:1:1:e1::/64", "behavior": "End.X.PFC", "owner": "r1"},
              {"sid": "5f00:1:2:1::/64", "behavior": "End", "owner": "r2"},
              {"sid": "5f00:0:b01::/48", "behavior": "uN", "owner": "r1"}, {"sid": "5f00:0:e0e1::/48", "behavior": "uA.PFC", "owner": "r1"},
              {"sid": "5f00:0:b02::/48", "behavior": "uN", "owner": "r2"}]
    for name, forward, back, more in (
        ("srh", ["5f00:1:1:e1::", "5f00:1:2:1::", "5f00:1:3:d46::"], ["5f00:1:2:1::", "5f00:1:1:e1::"], {}),
        ("usid", ["5f00:0:b01:e0e1:b02::", "5f00:1:3:d46::"], ["5f00:0:b02:b01:e0e1::"], {}),
        ("hmac", ["5f00:1:1:e1::", "5f00:1:2:1::", "5f00:1:3:d46::"], ["5f00:1:2:1::", "5f00:1:1:e1::"], {"hmac-key": 7}),
        ("argument", ["5f00:1:1:e1::", "5f00:1:2:1::", "5f00:1:3:d46::"], ["5f00:1:2:1::", "5f00:1:1:e1:5::"], {"slice-by": "argument"}),
        ("option", ["5f00:1:1:e1::", "5f00:1:2:1::", "5f00:1:3:d46::"], ["5f00:1:2:1::", "5f00:1:1:e1::"], {"slice-by": "option"}),
    ):
        ports = [port("p0", "wan", "2001:db8:a::2/64", speed="1G"),
                 port("p1", "dc", "2001:db8:3::1/64", vrf="tenant", speed="1G")]
        ports[0]["pfc"] = {"priorities": [3], "learn": TRUE, "learn-tunnels": TRUE, "buffer": "small"}
        ports[1]["pfc"] = {"priorities": [3], "peers": [PEER_MAC["p1"]], "buffer": "small"}
        case = Case(f"pfc_learnt_{name}", f"a PFC tunnel learnt from the segment list of data: {name}", f"{RUAN} 3 scenario 2; docs/protocol.md 4.6",
                    node(ports, lcores=ONE_LCORE, neighbors=[neighbor("p0", "2001:db8:a::1"), neighbor("p1", HOST_B)],
                         routes=via("p0", "2001:db8:a::1", "5f00::/16"), slices=SLICES,
                         vrfs=[{"slice": "gold", **vrf("tenant", {"prefix": "2001:db8:3::/64", "port": "p1"})}],
                         sids=[sid("5f00:1:3:d46::/64", "End.DT46", vrf="tenant")], remote_sids=remote,
                         # so slow that no refresh is due before the pause is over
                         pfc_learning={"far-speed": "1M", "outage": 0, **more},
                         buffer_profiles=[{"name": "small", "xoff": 2048, "headroom": 65536, "forced": True}]))
        case.config["node"]["slice-option"] = OPTION
        # one lcore takes 32 of p0, then the pause, then the rest, which waits
        data = tunnel("5f00:1:3:d46::", roce6(tc=26 << 2), src=FAR, segments=forward, left=0, tc=26 << 2)
        for _ in range(80):
            case.passes("p0", data, "p1", decap(data))
        case.rx("p1", Frame(frame({3: 65535}, src=PEER_MAC["p1"])))
        case.count("p1", "pfc")
        for times in ({3: 65535}, {3: 0}):
            inner = frame(times, src=mac_of("p0"))
            if name == "hmac":
                head = srh(back[1:], 1, ETHERNET, tlv(back[1:], LOOPBACK, d=1, key_id=7))
                out = ip6(LOOPBACK, back[0], head + inner, ROUTING, tc=DSCP_CS7, fl=0, hlim=64)
            else:
                out = _outward(back, inner, back[0])
            if name == "option":
                out = told(out, 5)
            case.tx("p0", out, origin="p1")
        yield with_keys(case) if name == "hmac" else case


def cases():
    yield from _carrier_in()
    yield from _carrier_out()
    yield from _proven()
    yield from _keyed_states()
    yield from _sealed_frames()
    yield from _learnt()
    yield from _slices()
    yield from _relay_in()
    yield from _relay_out()
    yield from _on_the_way()
    yield from _at_the_end()
    yield from _usid()
    yield from _faults()
    yield from _upper_layers()
