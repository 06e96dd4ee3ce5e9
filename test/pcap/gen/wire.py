# SPDX-License-Identifier: BSD-3-Clause
"""
Packets, as bytes from the IP header on, and what the RFCs do to them. scapy builds and edits the headers; no
function here knows how sluice works.
"""

import ipaddress
import struct
from zlib import crc32

from scapy.compat import raw
from scapy.contrib.roce import BTH, opcode
from scapy.layers.inet import ICMP, IP, UDP
from scapy.layers.inet6 import (
    ICMPv6DestUnreach, ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6PacketTooBig, ICMPv6ParamProblem,
    ICMPv6TimeExceeded, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrSegmentRouting,
    PadN,
)
from scapy.packet import Raw

from gen.node import LOOPBACK

FLOW_LABEL = 0x12345
PEER = "2001:db8:a::1"  # p0's neighbour on the wan side
HOST_A, HOST_B = "2001:db8:1::11", "2001:db8:3::33"
HOST_A4, HOST_B4 = "192.0.2.11", "198.51.100.33"
ROCE_PORT = 4791
IPPROTO_IPV4, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_IPV6, IPPROTO_ICMPV6, NO_NEXT = 4, 6, 17, 41, 58, 59
ROUTING, HOP_BY_HOP, DEST_OPTIONS, FRAGMENT, ETHERNET = 43, 0, 60, 44, 143
SRH_TYPE = 4
RDMA_WRITE_ONLY = opcode("RC", "RDMA_WRITE_ONLY")[0]


# --- making packets


def ip6(src, dst, payload=b"", nh=NO_NEXT, **fields):
    return raw(IPv6(**{"src": src, "dst": dst, "nh": nh, "hlim": 64, **fields}) / Raw(payload))


def ip4(src, dst, payload=b"", proto=253, **fields):
    return raw(IP(**{"src": src, "dst": dst, "proto": proto, "ttl": 64, "id": 0x1234, **fields}) / Raw(payload))


def is6(packet):
    return packet[0] >> 4 == 6


def header(packet):
    """The fixed part of the IP header, for looking at and editing."""
    return IPv6(packet[:40]) if is6(packet) else IP(packet[: 4 * (packet[0] & 15)])


def _icrc6(packet):
    """RoCEv2 invariant CRC over IPv6 (docs/protocol.md 6.1) of a packet that ends in room for it; scapy knows IPv4's."""
    p = bytearray(packet[:-4])
    p[0:4] = struct.pack(">I", struct.unpack(">I", p[0:4])[0] | 0x0FFFFFFF)
    p[7] = p[46] = p[47] = p[52] = 0xFF
    return struct.pack("<I", crc32(b"\xff" * 8 + p))


def _rdma_write(psn, size, **fields):
    """An RDMA write of one packet: BTH, RETH (address, key, length) and data; scapy appends the CRC."""
    reth = bytes.fromhex("00007f00123400001a2b3c4d") + struct.pack(">I", size)
    data = bytes(i & 0xFF for i in range(size))
    return BTH(opcode=RDMA_WRITE_ONLY, dqpn=0x123, ackreq=1, psn=psn, **fields) / Raw(reth + data)


def roce6(src=HOST_A, dst=HOST_B, psn=0xABCD00, size=16, sport=49169, **fields):
    """A RoCEv2 packet over IPv6."""
    ip = IPv6(**{"src": src, "dst": dst, "hlim": 64, "tc": 0x6A, "fl": 0xBEEF, **fields})
    udp = UDP(sport=sport, dport=ROCE_PORT)
    without = raw(ip / udp / _rdma_write(psn, size, icrc=0))
    return raw(ip / udp / _rdma_write(psn, size, icrc=int.from_bytes(_icrc6(without), "big")))


def roce4(src=HOST_A4, dst=HOST_B4, psn=0xABCD00, size=16, sport=49169, **fields):
    """The same over IPv4, without a UDP checksum as NICs send it, and never to be fragmented."""
    ip = IP(**{"src": src, "dst": dst, "ttl": 64, "id": 0x1234, "tos": 0x6A, "flags": "DF", **fields})
    return raw(ip / UDP(sport=sport, dport=ROCE_PORT, chksum=0) / _rdma_write(psn, size))


def upper6(src, dst, layer, **fields):
    """An IPv6 packet with a scapy layer behind it, whose checksum scapy computes for these addresses."""
    p = IPv6(**{"src": src, "dst": dst, "hlim": 64, **fields}) / layer
    return raw(p)


def upper4(src, dst, layer, **fields):
    return raw(IP(**{"src": src, "dst": dst, "ttl": 64, "id": 0x1234, **fields}) / layer)


def echo6(src, dst, data=b"uSID ping", seq=1, **fields):
    return upper6(src, dst, ICMPv6EchoRequest(id=0x1234, seq=seq, data=data), **fields)


def echo4(src, dst, data=b"ping", seq=1, **fields):
    return upper4(src, dst, ICMP(type=8, id=0x1234, seq=seq) / Raw(data), **fields)


# --- extension headers


def srh(segments, left=None, nh=IPPROTO_IPV6, tlvs=b"", **fields):
    """
    SRH of segments in travel order, of which `left` are left: all of them (so the list is a reduced one, RFC 8754
    section 4.1.1) unless said otherwise. `tlvs`: a multiple of 8 bytes.
    """
    fields = {"segleft": len(segments) if left is None else left, "len": 2 * len(segments) + len(tlvs) // 8, **fields}
    return raw(IPv6ExtHdrSegmentRouting(nh=nh, addresses=list(reversed(segments)), **fields)) + tlvs


def routing(kind, left, nh=IPPROTO_IPV6, size=16):
    """A routing header of another type."""
    return bytes([nh, size // 8, kind, left]) + bytes(4 + size)


def hop_by_hop(nh=IPPROTO_IPV6, size=8):
    return raw(IPv6ExtHdrHopByHop(nh=nh, options=[PadN(optdata=bytes(size - 4))]))


def dest_options(nh=IPPROTO_IPV6, size=8):
    """`size` a multiple of 8; options are padding, of which one PadN holds at most 257 bytes."""
    rest = size - 2
    options = []
    while rest:
        n = min(rest, 128)
        n -= rest - n == 1  # one byte alone would have to be Pad1
        options.append(PadN(optdata=bytes(n - 2)))
        rest -= n
    return raw(IPv6ExtHdrDestOpt(nh=nh, options=options))


def fragment(nh, offset=0, more=0):
    return raw(IPv6ExtHdrFragment(nh=nh, offset=offset, m=more, id=0x77))


def number_of(inner):
    """Next header value for `inner`."""
    return IPPROTO_IPV6 if is6(inner) else IPPROTO_IPV4


def tunnel(dst, inner, src=PEER, segments=(), left=None, **fields):
    """An encapsulated packet as some other node of the domain sends it, with an SRH if there are segments."""
    fields = {"tc": 0x6A, "fl": FLOW_LABEL, "hlim": 60, **fields}
    if not segments:
        return ip6(src, dst, inner, number_of(inner), **fields)
    return ip6(src, dst, srh(segments, left, number_of(inner)) + inner, ROUTING, **fields)


# --- editing


def set6(packet, **fields):
    h = IPv6(packet[:40])
    for name, value in fields.items():
        setattr(h, name, value)
    return raw(h) + packet[40:]


def set4(packet, **fields):
    """Fields of the IPv4 header, and the checksum that follows from them unless it is among them."""
    size = 4 * (packet[0] & 15)
    h = IP(packet[:size])
    h.chksum = None
    for name, value in fields.items():
        setattr(h, name, value)
    return raw(h) + packet[size:]


def set_tos(packet, tos):
    return set6(packet, tc=tos) if is6(packet) else set4(packet, tos=tos)


def tos_of(packet):
    return header(packet).tc if is6(packet) else header(packet).tos


def hop_limit(packet, value):
    return set6(packet, hlim=value) if is6(packet) else set4(packet, ttl=value)


def hop(packet, n=1):
    """The work of routers on the way (RFC 8200 section 3, RFC 1812 section 5.3.1)."""
    h = header(packet)
    return hop_limit(packet, (h.hlim if is6(packet) else h.ttl) - n)


def resize(packet):
    """The same with a payload length that fits."""
    return set6(packet, plen=len(packet) - 40)


# --- SRv6 processing


def packed(address):
    return ipaddress.IPv6Address(address).packed


def text(address):
    return str(ipaddress.IPv6Address(bytes(address)))


def shift(packet, bits=16):
    """NEXT-CSID, RFC 9800 section 4.1.1 N04 to N06: block of 32 bits, `bits` of locator-node and function."""
    da = packed(header(packet).dst)
    n = bits // 8
    return hop(set6(packet, dst=text(da[:4] + da[4 + n :] + bytes(n))))


def _srh_at(packet):
    """Offsets of the SRH and of the byte that names it."""
    nh, named, at = packet[6], 6, 40
    while nh != ROUTING or packet[at + 2] != SRH_TYPE:
        nh, named, at = packet[at], at, at + 8 * (packet[at + 1] + 1)
    return at, named


def next_segment(packet):
    """End with Segments Left above 0, RFC 8986 section 4.1 S12 to S14."""
    at, _ = _srh_at(packet)
    left = packet[at + 3] - 1
    segment = packet[at + 8 + 16 * left : at + 24 + 16 * left]
    changed = packet[: at + 3] + bytes([left]) + packet[at + 4 :]
    return hop(set6(changed, dst=text(segment)))


def pop_srh(packet):
    """PSP, RFC 8986 section 4.16.1."""
    at, named = _srh_at(packet)
    size = 8 * (packet[at + 1] + 1)
    changed = packet[:named] + packet[at : at + 1] + packet[named + 1 : at] + packet[at + size :]
    return resize(changed)


def pack(sids, blocks=("5f00::",)):
    """Containers of a list of SIDs of the blocks, each with as many ids as it names (RFC 9800 section 6.2)."""
    blocks = [packed(b)[:4] for b in blocks]
    containers, room = [], 0
    for address in map(packed, sids):
        used = len(address[4:].rstrip(b"\0"))
        ids = address[4 : 4 + used + used % 2]
        block = address[:4]
        if block not in blocks:
            containers.append(address)
            room = 0
        elif len(ids) <= room and containers[-1][:4] == block:
            at = 16 - room
            containers[-1] = containers[-1][:at] + ids + bytes(room - len(ids))
            room -= len(ids)
        else:
            containers.append(block + ids + bytes(12 - len(ids)))
            room = 12 - len(ids)
    return [text(c) for c in containers]


def encaps(inner, sids, src=LOOPBACK, fl=FLOW_LABEL, hlim=64, tc=None, blocks=("5f00::",)):
    """H.Encaps, RFC 8986 section 5.1: the SRH lists all of several containers; one needs no SRH (section 5.1 end)."""
    inner = hop(inner)
    containers = pack(sids, blocks)
    rest = containers if len(containers) > 1 else []
    fields = {"tc": tos_of(inner) if tc is None else tc, "fl": fl, "hlim": hlim}
    return tunnel(containers[0], inner, src, rest, len(rest) - 1, **fields)


def encaps_l2(frame, sids, tc=0, reduced=False, src=LOOPBACK, fl=FLOW_LABEL, hlim=64):
    """H.Encaps.L2 and H.Encaps.L2.Red, RFC 8986 sections 5.3, 5.4."""
    containers = pack(sids)
    rest = [] if len(containers) == 1 else containers[1:] if reduced else containers
    fields = {"tc": tc, "fl": fl, "hlim": hlim}
    if not rest:
        return ip6(src, containers[0], frame, ETHERNET, **fields)
    return ip6(src, containers[0], srh(rest, len(containers) - 1, ETHERNET) + frame, ROUTING, **fields)


def encaps_red(inner, sids, src=LOOPBACK, fl=FLOW_LABEL, hlim=64, dscp=None, transit=True, blocks=("5f00::",)):
    """
    H.Encaps.Red, RFC 8986 section 5.2: the hop limit of a packet in transit falls, that of one the node made does
    not; ECN is copied (RFC 6040).
    """
    inner = hop(inner) if transit else inner
    tos = tos_of(inner)
    if dscp is not None:
        tos = dscp << 2 | tos & 3
    containers = pack(sids, blocks)
    return tunnel(containers[0], inner, src, containers[1:], tc=tos, fl=fl, hlim=hlim)


def inner_of(packet):
    """The contents of a tunnel."""
    nh, at = packet[6], 40
    while nh in (ROUTING, HOP_BY_HOP, DEST_OPTIONS):
        nh, at = packet[at], at + 8 * (packet[at + 1] + 1)
    return packet[at:]


def decap(packet):
    """Decapsulation without congestion marks, and the hop that follows it."""
    return hop(inner_of(packet))


# --- ICMP


def error6(packet, layer, src=LOOPBACK):
    """An ICMPv6 error about a packet as received, 1280 bytes at most (RFC 4443 section 2.4 c)."""
    return upper6(src, header(packet).src, layer / Raw(packet[: 1280 - 48]))


def error4(packet, src, **fields):
    """An ICMP error, internetwork control, 576 bytes at most (RFC 1812 section 4.3.2)."""
    return upper4(src, header(packet).src, ICMP(**fields) / Raw(packet[: 576 - 28]), tos=0xC0, id=0)


def time_exceeded(packet, src4=None):
    return error6(packet, ICMPv6TimeExceeded()) if is6(packet) else error4(packet, src4, type=11)


def no_route(packet, src4=None):
    return error6(packet, ICMPv6DestUnreach(code=0)) if is6(packet) else error4(packet, src4, type=3, code=0)


def address_unreachable(packet, src4=None):
    return error6(packet, ICMPv6DestUnreach(code=3)) if is6(packet) else error4(packet, src4, type=3, code=1)


def protocol_unknown(packet, pointer, src4=None):
    """An upper layer that the node does not have (RFC 4443 section 3.4, RFC 1122 section 3.2.2.1)."""
    return param_problem(packet, pointer, 1) if is6(packet) else error4(packet, src4, type=3, code=2)


def fragments4(packet, mtu):
    """RFC 791 section 3.2: the pieces of an IPv4 packet without options."""
    h = IP(packet[:20])
    room, at, whole = (mtu - 20) // 8 * 8, 0, packet[20:]
    while at < len(whole):
        piece = whole[at : at + room]
        more = at + len(piece) < len(whole)
        flags = (h.flags & ~1) | (1 if more else int(h.flags) & 1)
        yield set4(packet[:20], len=20 + len(piece), flags=flags, frag=h.frag + at // 8) + piece
        at += room


def port_unreachable(packet, src4=None):
    return error6(packet, ICMPv6DestUnreach(code=4)) if is6(packet) else error4(packet, src4, type=3, code=3)


def too_big(packet, mtu, src4=None):
    if is6(packet):
        return error6(packet, ICMPv6PacketTooBig(mtu=mtu))
    return error4(packet, src4, type=3, code=4, nexthopmtu=mtu)


def param_problem(packet, pointer, code=0):
    return error6(packet, ICMPv6ParamProblem(code=code, ptr=pointer))


def upper_layer_error(packet, pointer):
    """SR Upper-layer Header Error, RFC 8986 section 10.2."""
    return param_problem(packet, pointer, code=4)


def echo_reply6(request, src=None):
    """Reply to a ping without extension headers, from the address that was pinged."""
    h = IPv6(request)
    e = h[ICMPv6EchoRequest]
    reply = ICMPv6EchoReply(id=e.id, seq=e.seq, data=e.data)
    return upper6(src or h.dst, h.src, reply, tc=h.tc)


def echo_reply4(request):
    h = IP(request)
    reply = ICMP(type=0, id=h[ICMP].id, seq=h[ICMP].seq) / h[ICMP].payload
    return upper4(h.dst, h.src, reply, tos=h.tos, id=h.id)
