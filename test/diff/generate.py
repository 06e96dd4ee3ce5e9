# SPDX-License-Identifier: BSD-3-Clause
"""Random frames from a seed: right ones, slightly broken ones, hostile ones. Plain bytes."""

import ipaddress
import random
import struct

PORTS = {"p0": "02:00:00:00:d0:00", "p1": "02:00:00:00:d0:01", "p2": "02:00:00:00:d0:02", "p3": "02:00:00:00:d0:03",
         "p5": "02:00:00:00:d0:05"}
HOSTS6 = ["2001:db8:1::11", "2001:db8:3::33", "2001:db8:4::44", "2001:db8:5::55", "2001:db8:6::66", "2001:db8:77::1",
          "2001:db8:64::9", "2001:db8:65::1", "2001:db8:79::9"]
HOSTS4 = ["192.0.2.11", "198.51.100.33", "203.0.113.5", "203.0.114.5"]
INFRA = ["2001:db8:a::1", "2001:db8:b::1", "2001:db8:b::5"]
OWN = ["2001:db8:f::d", "2001:db8:a::2", "2001:db8:b::2", "2001:db8:1::1", "2001:db8:3::1"]
ODD6 = ["::", "::1", "ff02::1", "fe80::1", "2001:db8:99::1", "5f00:0:999::", "5f00:77::1"]
ODD4 = ["0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255", "169.254.1.1", "10.0.0.2", "192.0.2.255", "240.0.0.1"]
NODES = [1, 2, 3, 4, 5, 6, 7, 8, 0xA, 0x100]
LINKS = [0xE000 + n for n in range(1, 12) if n != 9]
LASTS = [0xE101, 0xE102, 0xE103, 0xE104, 0xE105, 0xE106, 0xE107, 0xE108, 0xE10A, 0xE10B, 0xE10C, 0xE146]
AWAY = [0x500, 0x700, 0x701, 0x999, 0xE999]
PLAIN = [f"5f00:1:{kind}:{n}::" for kind in (2, 3, 4) for n in range(1, 9)] + ["5f00:1:7:1::", "5f00:1:7:2::", "5f00:1:2:a::"]
PLAIN_LAST = [f"5f00:1:5:{n:x}::" for n in (1, 2, 3, 4, 5, 6, 9, 10, 12)]


TAGGED = {"p1": [[50]], "p2": [[100]] * 3, "p3": [[7, 9], [7, 9], [100]], "p5": [[5], [6], [5, 6]]}  # VLANs, outer first


def a6(text):
    return ipaddress.IPv6Address(text).packed


def a4(text):
    return ipaddress.IPv4Address(text).packed


def inet(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Generator:
    def __init__(self, seed, block):
        self.r = random.Random(seed)
        self.block = block
        self.number = 0

    def maybe(self, percent):
        return self.r.random() * 100 < percent

    def pick(self, *lists):
        return self.r.choice(self.r.choice(lists))

    # --- pieces

    def marker(self):
        self.number += 1
        return struct.pack("!I", self.number)

    def hops(self):
        return self.r.choice([0, 1, 1, 2, 3]) if self.maybe(12) else 64

    def tclass(self):
        return self.r.randrange(256) if self.maybe(50) else 0

    def ip6(self, src, dst, proto, payload, hops=None):
        word = 6 << 28 | self.tclass() << 20 | self.r.randrange(1 << 20)
        return struct.pack("!IHBB", word, len(payload), proto, self.hops() if hops is None else hops) + src + dst + payload

    def ip4(self, src, dst, proto, payload):
        flags = self.r.choice([0, 0x4000, 0x4000, 0x2000, 0x0010]) if self.maybe(20) else 0x4000
        options = b"\x01" * 4 * self.r.choice([0, 0, 0, 1, 10])
        head = struct.pack("!BBHHHBBH", 0x45 + len(options) // 4, self.tclass(), 20 + len(options) + len(payload),
                           self.r.randrange(65536), flags, self.hops(), proto, 0) + src + dst + options
        sum_ = inet(head) if not self.maybe(3) else self.r.randrange(65536)
        return head[:10] + struct.pack("!H", sum_) + head[12:] + payload

    def body(self):
        size = self.r.choice([0, 1, 20, 64, 200]) if self.maybe(95) else self.r.randrange(1200, 1460)
        return self.marker() + self.r.randbytes(size)

    def upper6(self, src, dst):
        """(protocol, bytes) of something that is not IP."""
        kind = self.r.randrange(10)
        body = self.body()
        if kind < 5:
            return 17, struct.pack("!HHHH", self.r.randrange(1, 65536), 4791, 8 + len(body), 0) + body
        if kind == 5:
            return 6, struct.pack("!HHIIHHHH", 1, 2, 3, 4, 0x5002, 5, 0, 0) + body
        if kind == 6:
            # an ICMPv6 error, or another ICMPv6 message; never Neighbor Discovery
            return 58, bytes([self.r.choice([1, 2, 3, 4, 129, 200]), 0, 0, 0]) + bytes(4) + body
        if kind == 7:
            return 44, struct.pack("!BBHI", 17, 0, self.r.choice([0, 1, 0x1230]), 7) + body
        if kind == 8:
            return self.r.choice([59, 47, 50, 51, 253]), body
        icmp = struct.pack("!BBHHH", 128, 0, 0, 7, self.number & 0xFFFF) + body
        total = inet(src + dst + struct.pack("!II", len(icmp), 58) + icmp)
        return 58, icmp[:2] + struct.pack("!H", total) + icmp[4:]

    def inner6(self):
        src = a6(self.pick(HOSTS6, HOSTS6, HOSTS6, INFRA) if self.maybe(94) else self.pick(ODD6, OWN))
        dst = a6(self.pick(HOSTS6) if self.maybe(90) else self.pick(ODD6, OWN, ["5f00:0:100:500::"]))
        return self.ip6(src, dst, *self.upper6(src, dst))

    def inner4(self):
        src = a4(self.pick(HOSTS4) if self.maybe(92) else self.pick(ODD4))
        dst = a4(self.pick(HOSTS4) if self.maybe(90) else self.pick(ODD4, ["192.0.2.1", "10.0.0.2"]))
        if self.maybe(15):
            body = struct.pack("!BBHHH", self.r.choice([8, 8, 3, 0]), 0, 0, 1, 2) + self.body()
            return self.ip4(src, dst, 1, body[:2] + struct.pack("!H", inet(body)) + body[4:])
        return self.ip4(src, dst, self.r.choice([17, 17, 6, 47]), bytes(8) + self.body())

    def frame(self):
        kind = self.r.choice([0x86DD, 0x0800, 0x8808, 0x8847])
        tags = self.r.choice([b"", b"", b"\x81\0\0\x05", b"\x88\xa8\0\x07\x81\0\0\x05"])
        return self.r.randbytes(12) + tags + struct.pack("!H", kind) + self.body()

    # --- SRv6

    def csids(self, count):
        return [self.pick(NODES, NODES, NODES, LINKS, AWAY) for _ in range(count)]

    def container(self, last):
        """An address of one to six CSIDs, as many as fit."""
        ids = self.csids(self.r.choice([0, 0, 1, 1, 2, 3, 5] if last else [1, 1, 2, 3, 6]))
        if last and self.maybe(80):
            ids.append(self.pick(LASTS, LASTS, NODES))
        ids = ids or self.csids(1)
        if self.maybe(3):
            ids.insert(self.r.randrange(len(ids) + 1), 0)
        if self.maybe(10):
            ids = [0x100, 0xE009] + ids
        return self.block.address(ids)

    def segment(self, last=False):
        if self.maybe(60):
            return self.container(last)
        if self.maybe(3):
            return a6(self.pick(ODD6, OWN, HOSTS6))
        plain = a6(self.pick(PLAIN_LAST, PLAIN) if last else self.pick(PLAIN))
        return plain[:15] + bytes([self.r.choice([0, 0, 0, 1])])

    def options(self, proto):
        """A hop-by-hop or destination options header."""
        kind = self.r.randrange(12)
        if kind < 9:
            data = bytes([1, 4, 0, 0, 0, 0])
        elif kind == 9:
            data = bytes([self.r.choice([0x1E, 0x5E, 0x9E, 0xDE]), 2, 0, 0, 0, 0])
        elif kind == 10:
            data = bytes([1, 2, 0, 0, self.r.choice([0x1E, 0xC3]), self.r.randrange(4)])
        else:
            data = bytes(6)
        return struct.pack("!BB", proto, 0) + data

    def srh(self, proto, onward=None):
        """(header, current segment): a list somewhere on its way; onward: its last segment, if another SRH follows."""
        count = self.r.choice([1, 1, 2, 2, 3, 4])
        list_ = [self.segment(last=n == 0) for n in range(count)]
        if onward:
            list_[0] = onward
        reduced = self.maybe(30)
        first = self.segment() if reduced else list_[-1]
        left = self.r.randrange(count + reduced) if self.maybe(50) else (count - 1 + reduced)
        current = first if left >= count else list_[left]
        tlvs = self.r.choice([b"", b"", b"\x04\x06" + bytes(6), bytes(8)])
        last = count - 1
        length = 2 * count + len(tlvs) // 8
        if self.maybe(6):
            last = self.r.choice([last + 1, 255, max(last - 1, 0)])
        if self.maybe(6):
            left = self.r.choice([left + 1, 255, count + 1])
        if self.maybe(3):
            length = self.r.choice([0, 1, 2, length + 1, 255])
        kind = self.r.choice([4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0, 2, 3])
        flags = self.r.choice([0, 0, 0, 0x20, 0xFF])
        head = struct.pack("!BBBBBBH", proto, length, kind, left, last & 0xFF, flags, 0)
        return head + b"".join(list_) + tlvs, current

    def tunnel(self, depth=0):
        """An SRv6 packet."""
        choice = self.r.randrange(10)
        src = a6(self.pick(INFRA, INFRA[:1]))
        if choice < 4:
            proto, payload = 41, self.inner6() if depth or not self.maybe(8) else self.tunnel(1)
        elif choice < 7:
            proto, payload = 4, self.inner4()
        elif choice == 7:
            proto, payload = 143, self.frame()
        else:
            proto, payload = None, b""
        current = self.container(last=True) if self.maybe(70) else self.segment(last=True)
        if proto is None:
            proto, payload = self.upper6(src, current)
        if self.maybe(8):
            proto, payload = 60, self.options(proto) + payload
        if self.maybe(45):
            header, current = self.srh(proto)
            proto, payload = 43, header + payload
            while self.maybe(20):
                header, current = self.srh(proto, current)
                proto, payload = 43, header + payload
        if self.maybe(8):
            kind = self.r.choice([0, 60])
            proto, payload = kind, self.options(proto) + payload
        if self.maybe(3):
            src = a6(self.pick(HOSTS6, ODD6, OWN))
        return self.ip6(src, current, proto, payload)

    # --- whole frames

    def ethernet(self, port, packet):
        kind = 0x0800 if packet[:1] and packet[0] >> 4 == 4 else 0x86DD
        dst, src = bytes.fromhex(PORTS[port].replace(":", "")), b"\x02\0\0\0\xa0\0"
        if self.maybe(1):
            kind = self.r.choice([0x0800, 0x86DD, 0x8100, 0x88A8, 0x8808, 0x1234])
        if self.maybe(1):
            dst = b"\x02\x77" + dst[2:]
        if self.maybe(0.5):
            src = b"\x03" + src[1:]
        return dst + src + self.tags(port) + struct.pack("!H", kind) + packet

    def tags(self, port):
        """VLAN tags: mostly configured ones, mostly of the right type."""
        if not self.maybe(25 if port in TAGGED else 2):
            return b""
        tags = self.r.choice(TAGGED.get(port, []) + [[0], [5], [100, 9]])
        kinds = [0x88A8, 0x8100] if len(tags) > 1 else [0x8100]
        if self.maybe(6):
            kinds = [self.r.choice([0x8100, 0x88A8]) for _ in tags]
        return b"".join(struct.pack("!HH", kind, self.r.randrange(16) << 12 | vlan) for kind, vlan in zip(kinds, tags))

    def broken(self, frame):
        """A byte changed, cut, or lengthened."""
        data = bytearray(frame)
        for _ in range(self.r.choice([1, 1, 1, 2, 5])):
            at = self.r.randrange(14, min(len(data), 14 + 120)) if len(data) > 14 else 0
            data[at] = self.r.choice([data[at] ^ 1 << self.r.randrange(8), self.r.randrange(256), 0, 255])
        if self.maybe(30):
            del data[self.r.randrange(14, len(data) + 1):]
        elif self.maybe(30):
            data += self.r.randbytes(self.r.choice([1, 6, 46]))
        return bytes(data)

    def next(self):
        """(port, frame)"""
        if self.maybe(70):
            port = self.r.choice(["p0", "p0", "p0", "p1"])
            packet = self.tunnel() if self.maybe(92) else self.r.choice([self.inner6, self.inner4])()
        else:
            port = self.r.choice(["p2", "p2", "p3", "p5"])
            packet = self.r.choice([self.inner6, self.inner4])() if self.maybe(92) else self.tunnel()
        frame = self.ethernet(port, packet)
        if self.maybe(22):
            frame = self.broken(frame)
        return port, frame[:1700]
