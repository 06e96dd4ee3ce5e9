# SPDX-License-Identifier: BSD-3-Clause
"""
Credit sessions signalled by RSVP: the golden vectors of test/vectors, through the process. What comes in is theirs to the
byte. What must leave is theirs too, apart from what the node has otherwise (as_configured) and from what the run may not know
(the mask "rsvp").
"""

import hashlib
import hmac
import ipaddress
import pathlib
import struct

from gen.case import Case, Frame
from gen.neighbor import Timeline
from gen.node import ONE_LCORE, neighbor, node, port, sid, via

VECTORS = pathlib.Path(__file__).resolve().parent.parent.parent / "vectors"
HOP, INTEGRITY, CREDIT, CBFC_HOP = 3, 4, 124, 188
KEY_ID, KEY = 0xA1B2C3D4, b"cbfc-test-key-01"
BUFFER = 4096  # units that the node offers; 4,194,304 in the vectors
HEARTBEAT = 0  # us: data does not wait here; a second in the vectors
HANDSHAKE = 0x80  # of INTEGRITY: this node answers challenges (docs/credit.md 1.9)


# --- messages as lists of objects


class Message:
    """An RSVP message in a frame, which objects() and frame() take apart and put together."""

    def __init__(self, frame):
        at = 14
        while frame[at + 6] == 41:
            at += 40
        self.ip = at
        at += 40 + (8 if frame[at + 6] == 0 else 0)
        self.front, self.header, self.objects = bytearray(frame[:at]), bytearray(frame[at:at + 8]), []
        at += 8
        while at < len(frame):
            size, number, form = struct.unpack_from(">HBB", frame, at)
            self.objects.append([number, form, bytearray(frame[at + 4:at + size])])
            at += size

    def object(self, number):
        return next(o[2] for o in self.objects if o[0] == number)

    def hop_limit(self, value):
        self.front[self.ip + 7] = self.header[4] = value
        return self

    def frame(self):
        body = b"".join(struct.pack(">HBB", len(o[2]) + 4, o[0], o[1]) + bytes(o[2]) for o in self.objects)
        grown = len(body) + 8 - struct.unpack_from(">H", self.header, 6)[0]
        struct.pack_into(">H", self.header, 6, len(body) + 8)
        self.header[2:4] = bytes(2)
        message = bytearray(self.header + body)
        if self.objects[0][0] == INTEGRITY:
            self.sign(message)
        struct.pack_into(">H", message, 2, checksum(message))
        for at in range(14, self.ip + 1, 40):
            struct.pack_into(">H", self.front, at + 4, struct.unpack_from(">H", self.front, at + 4)[0] + grown)
        return Frame(bytes(self.front) + bytes(message))

    def sign(self, message):
        digest = len(self.objects[0][2]) - 16
        at = 8 + 4 + 16
        message[at:at + digest] = bytes(digest)
        message[at:at + digest] = hmac.new(KEY, message, hashlib.md5).digest()


def checksum(message):
    total = sum(struct.unpack(f">{len(message) // 2}H", message))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF or 0xFFFF


def frames(name, side):
    data, at = (VECTORS / f"{name}.{side}.pcap").read_bytes(), 24
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        yield Frame(data[at + 16:at + 16 + size])
        at += 16 + size


def received(name):
    (frame,) = frames(name, "in")
    return frame


def as_configured(message):
    """Buffer and heartbeat of the node under test, and that it takes part in handshakes."""
    for number, _, body in message.objects:
        if number == CREDIT:  # FCCL, and BUF, which is 0 in a 31
            struct.pack_into(">Q", body, 12, BUFFER)
            struct.pack_into(">II", body, 28, min(struct.unpack_from(">I", body, 28)[0], BUFFER), HEARTBEAT)
        elif number == CBFC_HOP:
            struct.pack_into(">I", body, 24, HEARTBEAT)
        elif number == INTEGRITY:
            body[0] |= HANDSHAKE
    return message.frame()


def sent(name):
    return [as_configured(Message(frame)) for frame in frames(name, "out")]


# --- nodes


def transit(**credit):
    """The device of the vectors. Its neighbours know it by the addresses of their links."""
    config = node(
        [port("p0", "wan", "2001:db8:a::2/64", speed="400G"), port("p1", "wan", "2001:db8:b::2/64", speed="100G")],
        neighbors=[neighbor("p0", "2001:db8:a::1"), neighbor("p1", "2001:db8:b::1"), neighbor("p1", "2001:db8:b::3")],
        routes=via("p0", "2001:db8:a::1", "2001:db8:f::1/128") + via("p1", "2001:db8:b::3", "2001:db8:3::/64") +
        via("p1", "2001:db8:b::1", "5f00:0:500::/48"),
        sids=[sid("5f00:0:100::/48", "uN")],
        infrastructure=["2001:db8::/32"],
        lcores=ONE_LCORE,
        credit={"mode": "ext", "data": "free", "integrity": "off", "unit": 6, "pool": 4 * BUFFER, "buffer": BUFFER,
                "rapid": 10000, "rapid-copies": 1,  # no copies while the case runs
                "neighbors": [{"address": a} for a in ("2001:db8:a::1", "2001:db8:b::3", "2001:db8:f::1")], **credit},
    )
    config["memory"]["buffers"] = 65536
    return config


def life():
    """v33 to v38, one after the other: a session begins, is committed, updated, ended and forgotten."""
    case = Case("v33_v38_rsvp_session", "a native session at a transit device: Path init, Reserve, update, End, End ACK",
                "draft-hu-rtgwg-cbfc-rsvp-01 4.2 to 4.4; RFC 2205 3.1.3; docs/credit.md 2.3, 2.8", transit(), mask=["rsvp"])
    time = Timeline(case)
    for burst, (port_name, name) in enumerate([("p0", "v33_rsvp28_path"), ("p1", "v34_rsvp29_commit"), ("p1", "v35_rsvp29_update"),
                                               ("p0", "v36_rsvp30_end"), ("p1", "v38_rsvp31_endack")]):
        time.at(4 * burst, port_name, received(name))
        case.count(port_name, "rsvp")
        for frame in sent(name):
            case.tx("p0" if frame[:6] == received("v33_rsvp28_path")[6:12] else "p1", frame)
    case.count("(local)", "rsvp")  # by which it is found out where the 28 goes on
    time.fill()
    yield case


def moved(frame):
    """A frame of v33 between two servers: its sender is the previous hop, and its session ends at the next one."""
    for old, new in (("2001:db8:1::11", "2001:db8:a::1"), ("2001:db8:3::33", "2001:db8:b::3")):
        frame = frame.replace(ipaddress.ip_address(old).packed, ipaddress.ip_address(new).packed)
    return Message(frame)


def servers():
    """v33 at a gateway whose neighbours are servers of a tenant, and the same from a station that is none."""
    config = node(
        [port("p0", "dc", "2001:db8:a::2/64", speed="400G", vrf="red"), port("p1", "dc", "2001:db8:b::2/64", speed="100G", vrf="red")],
        neighbors=[neighbor("p0", "2001:db8:a::1"), neighbor("p1", "2001:db8:b::3")], vrfs=[{"name": "red"}], lcores=ONE_LCORE,
        credit={**transit()["credit"], "neighbors": [{"address": "2001:db8:a::1", "port": "p0"}, {"address": "2001:db8:b::3", "port": "p1"}]},
    )
    config["memory"]["buffers"] = 65536
    case = Case("v33_rsvp28_servers", "a native session from one server of a gateway to another; the same from another station is data",
                "draft-hu-rtgwg-cbfc-rsvp-01 4.2; docs/credit.md 2.3", config, mask=["rsvp"])
    came = moved(received("v33_rsvp28_path"))
    time = Timeline(case)
    time.at(0, "p0", came.frame())
    case.count("p0", "rsvp")
    for name, frame in zip(("p0", "p1"), frames("v33_rsvp28_path", "out")):
        case.tx(name, as_configured(moved(frame)))
    came.front[22:38] = ipaddress.ip_address("2001:db8:a::77").packed
    time.at(4, "p0", came.frame())
    passed = came.frame()
    case.tx("p1", Frame(next(f for f in frames("v33_rsvp28_path", "out") if f[:6] == bytes.fromhex("02000000b001"))[:14] +
                        passed[14:21] + bytes([passed[21] - 1]) + passed[22:]))
    time.fill()
    yield case


def signed():
    """v43. The vector leaves out the Path init that goes on: that is the one that came, by the next hop, signed again."""
    case = Case("v43_rsvp28_integrity", "28 with INTEGRITY and MESSAGE_ID, without CBFC_PATH: 29 with both, and the 28 goes on",
                "RFC 2747 2, 4; RFC 2961 4", transit(integrity="required", keys=[{"id": KEY_ID, "digest": "md5"}]), mask=["rsvp"])
    case.config["hmac"] = {"keys": "hmac.keys"}
    case.keys = {KEY_ID: KEY.hex()}
    came = received("v43_rsvp28_integrity")
    case.rx("p0", came)
    case.count("p0", "rsvp")
    case.tx("p0", *sent("v43_rsvp28_integrity"))
    on = Message(came).hop_limit(62)
    on.front[:12] = received("v34_rsvp29_commit")[6:12] + received("v34_rsvp29_commit")[:6]
    on.object(HOP)[:] = bytes.fromhex("20010db8000b00000000000000000002" "00000002")
    case.tx("p1", as_configured(on))
    case.count("(local)", "rsvp")
    yield case


def refused():
    """v41, and v43 with a digest of another key, without INTEGRITY, and twice."""
    case = Case("v41_rsvp28_refused", "28 with a wrong checksum, without INTEGRITY, with a wrong digest, replayed: nothing is sent",
                "RFC 2205 3.1.1; RFC 2747 4.2", transit(integrity="required", keys=[{"id": KEY_ID, "digest": "md5"}]))
    case.config["hmac"] = {"keys": "hmac.keys"}
    case.keys = {KEY_ID: bytes(16).hex()}  # not that of the vectors
    came = received("v43_rsvp28_integrity")
    for frame in (received("v41_rsvp28_bad_checksum"), received("v33_rsvp28_path"), came, came):
        case.rx("p0", frame)
        case.count("p0", "rsvp_refused")
    yield case


def cases():
    yield from life()
    yield from servers()
    yield from signed()
    yield from refused()
