# SPDX-License-Identifier: BSD-3-Clause
"""
The same frames through Linux and through sluice, each with the same SIDs and policies: what leaves must be equal byte
for byte, but for the deviations of Linux that have a name here (docs/protocol.md 3.8).

    sender -- twin (Linux or sluice) -- sink       fd00:a::/64 and fd00:b::/64; both ends answer nobody
    tenant --                                      packets to be encapsulated come from here
"""

import json
import select
import socket
import struct
import sys
import time

SENDER_MAC, SINK_MAC, TENANT_MAC = "02:00:00:00:aa:01", "02:00:00:00:bb:01", "02:00:00:00:cc:01"
TWIN_MACS = ("02:00:00:00:aa:02", "02:00:00:00:bb:02", "02:00:00:00:cc:02")  # west, east, tenant
MARK = b"twin"


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def a6(text):
    return socket.inet_pton(socket.AF_INET6, text)


def a4(text):
    return socket.inet_aton(text)


def inet(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def udp(number):
    body = MARK + struct.pack("!I", number) + bytes(range(40))
    return struct.pack("!HHHH", 49152 + number, 4791, 8 + len(body), 0) + body


def ip6(src, dst, proto, payload, hops=64, tclass=0, label=0x12345):
    return struct.pack("!IHBB", 6 << 28 | tclass << 20 | label, len(payload), proto, hops) + a6(src) + a6(dst) + payload


def ip4(src, dst, payload, ttl=64, tos=0):
    head = struct.pack("!BBHHHBBH", 0x45, tos, 20 + len(payload), 7, 0x4000, ttl, 17, 0) + a4(src) + a4(dst)
    return head[:10] + struct.pack("!H", inet(head)) + head[12:] + payload


def srh(proto, left, *segments):
    """Segments in the order of travel."""
    return struct.pack("!BBBBBBH", proto, 2 * len(segments), 4, left, len(segments) - 1, 0, 0) + b"".join(
        a6(s) for s in segments[::-1])


SRC = "fd00:a::1"


def inner6(n, **more):
    return ip6("2001:db8:1::11", "2001:db8:3::33", 17, udp(n), **more)


def inner4(n, **more):
    return ip4("10.1.0.11", "10.3.0.33", udp(n), **more)


# name, number -> IP packet, masks
PACKETS = [
    ("uN, no SRH", lambda n: ip6(SRC, "5f00:0:200:500:600::", 41, inner6(n)), []),
    ("uN, SRH untouched by a shift", lambda n: ip6(
        SRC, "5f00:0:200:500::", 43, srh(41, 1, "5f00:0:200:500::", "5f00:0:600::") + inner6(n)), []),
    ("uN, SRH whose bounds nobody looks at", lambda n: ip6(
        SRC, "5f00:0:200:500::", 43, srh(41, 9, "5f00:0:200:500::", "5f00:0:600::") + inner6(n)), []),
    ("uA", lambda n: ip6(SRC, "5f00:0:e201:600::", 41, inner6(n)), []),
    ("uN and uA in one step", lambda n: ip6(SRC, "5f00:0:200:e202:600::", 41, inner6(n)), []),
    ("End of carrier, two segments left", lambda n: ip6(
        SRC, "5f00:0:200::", 43, srh(41, 2, "5f00:0:200::", "5f00:0:500::", "5f00:0:600::") + inner6(n)), []),
    ("End of carrier, the last one", lambda n: ip6(
        SRC, "5f00:0:200::", 43, srh(41, 1, "5f00:0:200::", "5f00:0:500::") + inner6(n)), ["no_psp_with_next_csid"]),
    ("decapsulation of IPv6", lambda n: ip6(SRC, "5f00:0:e206::", 41, inner6(n)), []),
    ("decapsulation of IPv6, behind an SRH", lambda n: ip6(
        SRC, "5f00:0:e206::", 43, srh(41, 0, "5f00:0:e206::") + inner6(n)), []),
    ("decapsulation of IPv4", lambda n: ip6(SRC, "5f00:0:e204::", 4, inner4(n)), []),
    ("decapsulation with an outer CE", lambda n: ip6(
        SRC, "5f00:0:e206::", 41, inner6(n, tclass=2), tclass=3), ["decapsulation_ignores_ce"]),
    ("H.Encaps.Red of IPv6, one container", lambda n: inner6(n), ["encapsulation_copies_hop_limit_and_label"]),
    ("H.Encaps.Red of IPv4, one container", lambda n: inner4(n), ["encapsulation_copies_hop_limit_and_label"]),
    ("plain IPv6", lambda n: ip6(SRC, "fd00:c::9", 17, udp(n)), []),
]


def without_encapsulation(p):
    """Outer flow label and hop limit, inner hop limit or TTL with its checksum, are left out."""
    p = bytearray(p)
    p[1:4] = bytes([p[1] & 0xF0, 0, 0])
    p[7] = 0
    if p[40] >> 4 == 6:
        p[47] = 0
    else:
        p[48] = p[50] = p[51] = 0
    return bytes(p)


def without_srh(p):
    """An SRH with no segments left is taken out, as PSP would."""
    if p[6] != 43 or p[43]:
        return p
    size = 8 * (p[41] + 1)
    return p[:4] + struct.pack("!H", struct.unpack_from("!H", p, 4)[0] - size) + p[40:41] + p[7:40] + p[40 + size:]


def without_ecn(p):
    return p[:1] + bytes([p[1] & 0xCF]) + p[2:]


MASKS = {
    # Linux keeps the SRH where the last container is loaded: flavors psp and next-csid do not combine there
    "no_psp_with_next_csid": without_srh,
    # Linux does not follow RFC 6040
    "decapsulation_ignores_ce": without_ecn,
    # Linux copies outer hop limit and flow label from the inner header, and does not lower the inner hop limit
    "encapsulation_copies_hop_limit_and_label": without_encapsulation,
}


def number_of(frame):
    at = frame.find(MARK)
    return struct.unpack_from("!I", frame, at + 4)[0] if at >= 0 and at + 8 <= len(frame) else None


def exchange(seconds):
    """In the hosts' namespace: send every packet, and collect the packets received on eth0 and eth1 by number."""
    send, sink, tenant = (socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) for _ in range(3))
    send.bind(("eth0", 0))
    sink.bind(("eth1", 0))
    tenant.bind(("eth2", 0))
    found = {}
    for n, (name, make, _) in enumerate(PACKETS):
        packet, kind = make(n), b"\x86\xdd"
        if packet[0] >> 4 == 4:
            kind = b"\x08\x00"
        if name.startswith("H."):
            tenant.send(mac(TWIN_MACS[2]) + mac(TENANT_MAC) + kind + packet)
        else:
            send.send(mac(TWIN_MACS[0]) + mac(SENDER_MAC) + kind + packet)
        time.sleep(0.01)
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        for s in select.select([send, sink], [], [], 0.1)[0]:
            frame, address = s.recvfrom(4096)
            name = "on" if s is sink else "back"
            if address[2] != socket.PACKET_OUTGOING and number_of(frame) is not None:
                found.setdefault(number_of(frame), []).append([name, frame.hex()])
    print(json.dumps(found), flush=True)


def difference(name, masks, linux, sluice):
    """The differences as lines of text; none when all are equal."""
    if len(linux) != 1 or len(sluice) != 1:
        return [f"{name}: Linux sends {linux}, sluice {sluice}"]
    packets = []
    for way, frame in (*linux, *sluice):
        data = bytes.fromhex(frame)
        for mask in masks:
            data = data[:14] + MASKS[mask](data[14:])
        packets.append((way, data))
    if packets[0] == packets[1]:
        return []
    return [f"{name}:", f"  Linux  {packets[0][0]} {packets[0][1].hex()}", f"  sluice {packets[1][0]} {packets[1][1].hex()}"]


if __name__ == "__main__":
    exchange(sys.argv[1])
