# SPDX-License-Identifier: BSD-3-Clause
"""A case: packets received, packets expected, counters expected; and its files."""

import json
import struct

from gen.node import ONE_LCORE, PEER_MAC, mac_of, render

TIME = 1700000000  # of the first frame; one microsecond more for each further one


class Frame(bytes):
    """A whole Ethernet frame, where the other functions take an IP packet and put the usual header in front."""


def ethernet(dst, src, payload, kind=None):
    if kind is None:
        kind = 0x86DD if payload[0] >> 4 == 6 else 0x0800
    addresses = bytes.fromhex((dst + src).replace(":", ""))
    return Frame(addresses + struct.pack(">H", kind) + payload)


def to_node(port, packet, dst=None, src=None, kind=None):
    """The frame in which a packet arrives at a port."""
    return ethernet(dst or mac_of(port), src or PEER_MAC[port], packet, kind)


def from_node(port, packet, dst=None, kind=None):
    """The frame in which a packet leaves by a port."""
    return ethernet(dst or PEER_MAC[port], mac_of(port), packet, kind)


def pcap(frames):
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)]
    for i, frame in enumerate(frames):
        parts += [struct.pack("<IIII", TIME, i, len(frame), len(frame)), frame]
    return b"".join(parts)


class Case:
    """
    name, title, ref: directory, one line, RFC or draft section. config: of gen.node.node. Further keywords go
    into case.json as they are: mask, unordered, spread, args, status, stderr, real_time (timers of the node decide what is sent),
    repeats (frames that are like the one before them do not count).
    """

    def __init__(self, name, title, ref, config, **more):
        self.name = name
        self.about = {"title": title, "ref": ref, **more}
        self.config = config
        self.received, self.sent = {}, {}
        self.origins = {}  # by port: where the frames come from that it sends
        self.drops = {}
        self.keys = {}  # HMAC keys by id, in hexadecimal
        self.fixed = {}  # file name: SHA-256 of a file that is not made here

    def rx(self, port, *packets):
        for p in packets:
            self.received.setdefault(port, []).append(p if isinstance(p, Frame) else to_node(port, p))

    def tx(self, port, *packets, origin=None):
        """origin: the ingress port or the node itself; the order between origins is undefined."""
        for p in packets:
            self.sent.setdefault(port, []).append(p if isinstance(p, Frame) else from_node(port, p))
            self.origins.setdefault(port, set()).add(origin)

    def count(self, port, reason, n=1):
        reasons = self.drops.setdefault(port, {})
        reasons[reason] = reasons.get(reason, 0) + n

    def passes(self, port, packet, out, expected):
        """A packet goes through."""
        self.rx(port, packet)
        self.tx(out, expected, origin=port)

    def dropped(self, port, packet, reason, error=None, out=None):
        """A packet is dropped, with an ICMP error to its source if one is given; out: where that leaves."""
        self.rx(port, packet)
        self.count(port, reason)
        if error is not None:
            self.tx(out or port, error, origin=f"errors about {port}")

    def answered(self, port, packet, reason, answer, out=None):
        """A packet is consumed by the node itself, which answers."""
        self.rx(port, packet)
        self.count(port, reason)
        self.tx(out or port, answer, origin=f"answers to {port}")

    def _unordered(self):
        """Ports whose frames have several origins, unless one lcore brings them all into a known order."""
        mixed = {port for port, origins in self.origins.items() if len(origins) > 1}
        if self.config["lcores"] == ONE_LCORE:
            mixed = set()
        return sorted(mixed | set(self.about.get("unordered", [])))

    def _case_json(self):
        about = dict(self.about)
        unordered = self._unordered()
        if unordered:
            about["unordered"] = unordered
        about["drops"] = {port: dict(sorted(reasons.items())) for port, reasons in sorted(self.drops.items())}
        return json.dumps(about, indent=2) + "\n"

    def files(self):
        """Contents by file name, without the fixed ones."""
        files = {"config.yaml": render(self.config).encode(), "case.json": self._case_json().encode()}
        if self.keys:
            lines = ["# key id, key\n"] + [f"{key_id} {key}\n" for key_id, key in self.keys.items()]
            files["hmac.keys"] = "".join(lines).encode()
        files.update({f"in-{port}.pcap": pcap(frames) for port, frames in self.received.items()})
        files.update({f"expect-{port}.pcap": pcap(frames) for port, frames in self.sent.items()})
        return files
