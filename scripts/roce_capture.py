#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a capture of RoCEv2 traffic from one NIC to another, as its gateway would receive it.

RC SEND, RDMA WRITE, READ response, ACK and CNP of several queue pairs, IPv4 and IPv6, payloads of 64 to 4096
bytes, with a valid ICRC (docs/protocol.md section 6.1). Always the same bytes for the same arguments.
"""
import argparse
import logging
import random
import struct
import zlib

logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402
from scapy.packet import Raw  # noqa: E402
from scapy.utils import PcapWriter  # noqa: E402

ROCEV2_PORT = 4791

SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY = 0x00, 0x01, 0x02, 0x04
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY = 0x06, 0x07, 0x08, 0x0A
READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY = 0x0D, 0x0E, 0x0F, 0x10
ACKNOWLEDGE, CNP = 0x11, 0x81
RETH_OPCODES = (WRITE_FIRST, WRITE_ONLY)
AETH_OPCODES = (READ_FIRST, READ_LAST, READ_ONLY, ACKNOWLEDGE)


def icrc(frame):
    """CRC-32 over the packet with all fields masked that routers may change; little-endian on the wire."""
    packet = bytearray(frame[14:-4])
    if packet[0] >> 4 == 4:
        udp = (packet[0] & 15) * 4
        packet[1] = packet[8] = 0xFF  # TOS, TTL
        packet[10:12] = b"\xff\xff"  # header checksum
    else:
        udp = 40
        packet[0] |= 0x0F  # traffic class and flow label
        packet[1:4] = b"\xff\xff\xff"
        packet[7] = 0xFF  # hop limit
    packet[udp + 6:udp + 8] = b"\xff\xff"  # UDP checksum
    packet[udp + 12] = 0xFF  # BTH FECN, BECN, reserved
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(packet)) & 0xFFFFFFFF)


def bth(opcode, qp, psn, ack=False, becn=False, pad=0):
    return struct.pack("!BBHBBHBBH", opcode, pad << 4, 0xFFFF, 0x40 if becn else 0, qp >> 16, qp & 0xFFFF,
                       0x80 if ack else 0, psn >> 16, psn & 0xFFFF)


class QueuePair:
    """One direction of a reliable connection: this NIC's packets to queue pair `qp` of the other one."""

    def __init__(self, number, source, destination, macs):
        self.qp, self.psn = 0x100 + number, 0x1000 * number
        self.udp_source = 0xC000 + 37 * number
        self.source, self.destination, self.macs = source, destination, macs

    def packet(self, opcode, payload=b"", dscp=26, **flags):
        """One frame. DSCP 26 is RoCEv2's usual lossless class, ECT(0) lets the network mark it."""
        extra = b""
        if opcode in RETH_OPCODES:
            extra = struct.pack("!QII", 0x7F0000000000 + self.psn, 0x1234, len(payload))
        elif opcode in AETH_OPCODES:
            extra = struct.pack("!I", self.psn & 0xFFFFFF)
        elif opcode == CNP:
            extra = bytes(16)
        pad = -len(payload) % 4
        body = bth(opcode, self.qp, 0 if opcode == CNP else self.psn, pad=pad, **flags) + extra + payload
        body += bytes(pad + 4)
        tos = dscp << 2 | (0 if opcode == CNP else 2)
        if ":" in self.source:
            ip = IPv6(src=self.source, dst=self.destination, tc=tos, hlim=64, fl=0)
        else:
            ip = IP(src=self.source, dst=self.destination, tos=tos, ttl=64, flags="DF", id=self.psn & 0xFFFF)
        udp = UDP(sport=self.udp_source, dport=ROCEV2_PORT, chksum=0 if ":" not in self.source else None)
        frame = bytes(Ether(src=self.macs[0], dst=self.macs[1]) / ip / udp / Raw(body))
        crc = icrc(frame)
        if ":" in self.source:  # the UDP checksum covers the ICRC
            frame = bytes(Ether(src=self.macs[0], dst=self.macs[1]) / ip / udp / Raw(body[:-4] + crc))
        else:
            frame = frame[:-4] + crc
        if opcode not in (ACKNOWLEDGE, CNP):
            self.psn = (self.psn + 1) & 0xFFFFFF
        return frame

    def message(self, kind, size, mtu, data):
        """The packets of one message of `size` bytes."""
        first, middle, last, only = kind
        parts = [data.randbytes(min(mtu, size - at)) for at in range(0, size, mtu)]
        if len(parts) == 1:
            yield self.packet(only, parts[0], ack=True)
            return
        for i, part in enumerate(parts):
            opcode = first if i == 0 else last if i == len(parts) - 1 else middle
            yield self.packet(opcode, part, ack=opcode == last)


SEND = (SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_ONLY)
WRITE = (WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY)
READ_RESPONSE = (READ_FIRST, READ_MIDDLE, READ_LAST, READ_ONLY)


def traffic(pairs, wanted, seed, path_mtus):
    """Messages of all queue pairs, interleaved packet by packet, until `wanted` packets are there."""
    data = random.Random(seed)
    busy = {}
    made = 0
    while made < wanted or busy:
        for pair in pairs:
            if pair not in busy and made < wanted:
                kind = data.choice((SEND, WRITE, READ_RESPONSE))
                size = data.choice((64, 256, 1000, 4096, 16384, 40000))
                busy[pair] = pair.message(kind, size, data.choice(path_mtus), data)
            frame = next(busy.get(pair, iter(())), None)
            if frame is None:
                busy.pop(pair, None)
                if made >= wanted:
                    continue
                frame = pair.packet(ACKNOWLEDGE) if data.random() < 0.9 else pair.packet(CNP, dscp=48, becn=True)
            made += 1
            yield frame


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--packets", type=int, default=1200)
    parser.add_argument("--queue-pairs", type=int, default=8)
    parser.add_argument("--ipv4", nargs=2, default=("10.1.0.11", "10.3.0.33"), metavar=("FROM", "TO"))
    parser.add_argument("--ipv6", nargs=2, default=("2001:db8:1::11", "2001:db8:3::33"), metavar=("FROM", "TO"))
    parser.add_argument("--mac", nargs=2, default=("02:00:00:00:01:11", "02:00:00:00:d0:00"),
                        metavar=("NIC", "GATEWAY"))
    parser.add_argument("--path-mtu", nargs="+", type=int, default=(1024, 4096), choices=(256, 512, 1024, 2048, 4096))
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    pairs = [QueuePair(n, *(args.ipv4 if n % 2 else args.ipv6), args.mac) for n in range(args.queue_pairs)]
    with PcapWriter(args.file, linktype=1) as out:
        out.write_header(None)
        for n, frame in enumerate(traffic(pairs, args.packets, args.seed, args.path_mtu)):
            out.write_packet(frame, sec=n // 100000, usec=n % 100000 * 10, caplen=len(frame), wirelen=len(frame))


if __name__ == "__main__":
    main()
