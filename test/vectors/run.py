#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The vectors of docs/credit.md are correct: RSVP messages with right lengths, checksums and digests, hop limits
of one-hop messages as docs/credit.md 2.3 has them, and only v41 with a wrong checksum. Prints TAP.

The frames are parsed here byte by byte and not with scapy, which made them.
"""
import hashlib
import hmac
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import tap  # noqa: E402

KEY = b"cbfc-test-key-01"  # docs/credit.md 1.9
BROKEN = "v41_rsvp28_bad_checksum"
INTEGRITY = 4


def frames(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 24
    while at < len(data):
        _, _, length, _ = struct.unpack_from("<IIII", data, at)
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def rsvp_of(frame):
    """(hop limit, message) of a frame that carries RSVP, through an outer IPv6 header if there is one; else None."""
    at, protocol, hops = 14, None, 0
    if frame[12:14] != b"\x86\xdd":
        return None
    protocol = 41
    while protocol == 41:
        protocol, hops = frame[at + 6], frame[at + 7]
        at += 40
    if protocol == 0:  # hop-by-hop options: router alert
        protocol, at = frame[at], at + 8 * (frame[at + 1] + 1)
    return (hops, frame[at:]) if protocol == 46 else None


def checksum(message):
    total = sum(struct.unpack(f">{len(message) // 2}H", message))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def problems(hops, message):
    version, kind, _, ttl, _, length = struct.unpack_from(">BBHBBH", message)
    if version >> 4 != 1:
        yield "version is not 1"
    if length != len(message):
        yield f"RSVP length {length} of {len(message)} bytes"
    if kind not in (28, 29, 30, 31):
        yield f"message type {kind}"
    if ttl != hops:
        yield f"Send_TTL {ttl}, hop limit {hops}"
    if kind in (29, 31) and hops != 255:
        yield f"type {kind} goes one hop, with hop limit {hops}"
    if checksum(message) != 0xffff:
        yield "checksum"
    at = 8
    while at < length:
        size, class_number, _ = struct.unpack_from(">HBB", message, at)
        if size < 4 or size % 4 or at + size > length:
            yield f"object of class {class_number} at {at}: length {size}"
            return
        if class_number == INTEGRITY:
            if at != 8:
                yield "INTEGRITY is not the first object"
            zeroed = bytearray(message)
            zeroed[2:4] = bytes(2)
            zeroed[at + 20:at + size] = bytes(size - 20)
            digest = hmac.new(KEY, zeroed, hashlib.md5).digest()
            if digest != message[at + 20:at + size]:
                yield "digest of INTEGRITY"
        at += size


def check(case):
    messages = 0
    for side in ("in", "out"):
        found = list(frames(os.path.join(HERE, f"{case['name']}.{side}.pcap")))
        if side == "in" and not found:
            yield "no frame to receive"
        for number, frame in enumerate(found, 1):
            carried = rsvp_of(frame)
            messages += carried is not None
            wrong = list(problems(*carried)) if carried else []
            if case["name"] == BROKEN and side == "in":
                wrong = [] if wrong == ["checksum"] else wrong + ["only the checksum should be wrong"]
            yield from (f"{side} frame {number}: {w}" for w in wrong)
    if not messages and "fence" not in case["name"]:
        yield "no RSVP message"


def main():
    with open(os.path.join(HERE, "cases.json")) as f:
        cases = json.load(f)
    names = {c["name"] for c in cases}
    here = {f.split(".")[0] for f in os.listdir(HERE) if f.endswith(".pcap")}
    results = [("each vector has an entry and two captures", [f"{n}: one of them is missing" for n in sorted(names ^ here)])]
    return tap.tell(results + [(c["name"], list(check(c))) for c in cases])


if __name__ == "__main__":
    sys.exit(main())
