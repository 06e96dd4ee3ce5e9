# SPDX-License-Identifier: BSD-3-Clause
"""
Sessions by the letter of the draft (docs/credit.md 2.4): the golden vector v39, and whole lives with IPv6 and IPv4 at a transit
device between two neighbours that know nothing else.
"""

import ipaddress
import struct

from gen.case import Case, Frame, from_node, to_node
from gen.neighbor import Timeline
from gen.node import ONE_LCORE, neighbor, node, port, via
from gen.rsvp import Message, checksum, frames, received

GRANT = 16  # MB; 256 in the vector
CREDIT = 123
SESSION, HOP, TIME, STYLE, FLOWSPEC, FILTER, TEMPLATE, TSPEC, ID, ACK = 1, 3, 5, 8, 9, 10, 11, 12, 23, 24
IPV6 = {"from": "2001:db8:a::1", "own0": "2001:db8:a::2", "own1": "2001:db8:b::2", "to": "2001:db8:b::3", "sender": "2001:db8:1::11",
        "receiver": "2001:db8:3::33"}
IPV4 = {"from": "10.1.0.1", "own0": "10.1.0.2", "own1": "10.2.0.2", "to": "10.2.0.3", "sender": "10.9.1.11", "receiver": "10.9.3.33"}


def transit(**credit):
    """Both families at once."""
    config = node(
        [port("p0", "wan", "2001:db8:a::2/64", "10.1.0.2/24", speed="400G"), port("p1", "wan", "2001:db8:b::2/64", "10.2.0.2/24", speed="100G")],
        neighbors=[neighbor("p0", "2001:db8:a::1"), neighbor("p0", "10.1.0.1"), neighbor("p1", "2001:db8:b::3"), neighbor("p1", "10.2.0.3")],
        routes=via("p1", "2001:db8:b::3", "2001:db8:3::/64") + via("p1", "10.2.0.3", "10.9.3.0/24"),
        infrastructure=["2001:db8::/32"],
        lcores=ONE_LCORE,
        credit={"mode": "ext", "data": "free", "integrity": "off", "pool": 2 * GRANT * 512, "buffer": GRANT * 512, "rapid": 10000, "rapid-copies": 1,
                "letter": {"grant": GRANT},
                "neighbors": [{"address": a, "mode": "letter"} for n in (IPV6, IPV4) for a in (n["from"], n["to"])], **credit},
    )
    config["memory"]["buffers"] = 65536
    return config


def golden():
    case = Case("v39_letter_28_29", "letter mode: 28 with just the objects of Path; 29 with a Credit of one word, and the 28 goes on",
                "draft-hu-rtgwg-cbfc-rsvp-01 4.1, 4.2; docs/credit.md 2.4", transit(), mask=["rsvp"])
    case.rx("p0", received("v39_letter_28_29"))
    case.count("p0", "rsvp")
    for name, frame in zip(("p0", "p1"), frames("v39_letter_28_29", "out")):
        message = Message(frame)
        for number, _, body in message.objects:
            if number == CREDIT:
                body[:] = struct.pack(">I", GRANT)
        case.tx(name, message.frame())
    yield case


# --- messages of both families


def packed(address):
    return ipaddress.ip_address(address).packed


def thing(number, form, body):
    return struct.pack(">HBB", len(body) + 4, number, form) + body


class Net:
    """The messages of one session, with the addresses of one family."""

    def __init__(self, names):
        self.names, self.four = names, "." in names["from"]

    def form(self):
        return 1 if self.four else 2

    def session(self):
        return thing(SESSION, self.form(), packed(self.names["receiver"]) + struct.pack(">BBH", 17, 0, 4791))

    def hop(self, who, lih):
        return thing(HOP, self.form(), packed(self.names[who]) + struct.pack(">I", lih))

    def sender(self, number):
        return thing(number, self.form(), packed(self.names["sender"]) + struct.pack(">HH", 0, 49169))

    @staticmethod
    def tspec(number, service):
        return thing(number, 2, struct.pack(">HHBBHBBHfffII", 0, 7, service, 0, 6, 127, 0, 5, 1e9, 4e6, 1e9, 64, 4200))

    def packet(self, kind, objects, src, dst, limit, alert=False):
        body = b"".join(objects)
        message = bytearray(struct.pack(">BBHBBH", 0x10, kind, 0, limit, 0, len(body) + 8) + body)
        struct.pack_into(">H", message, 2, checksum(bytes(message)))
        src, dst = packed(self.names[src]), packed(self.names[dst])
        if not self.four:
            options = bytes.fromhex("2e00050200010100") if alert else b""
            return struct.pack(">IHBB", 0x6C000000, len(options) + len(message), 0 if alert else 46, limit) + src + dst + options + bytes(message)
        options = bytes.fromhex("94040000") if alert else b""
        header = bytearray(struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0xC0, 20 + len(options) + len(message), 0, 0x4000, limit, 46, 0) +
                           src + dst + options)
        struct.pack_into(">H", header, 10, checksum(bytes(header)))
        return bytes(header) + bytes(message)

    def init(self, who, lih, limit):
        return self.packet(28, [self.session(), self.hop(who, lih), thing(TIME, 1, struct.pack(">I", 30000)), self.sender(TEMPLATE),
                                self.tspec(TSPEC, 1)], "sender", "receiver", limit, alert=True)

    def grant(self, src, dst, lih, mb):
        return self.packet(29, [self.session(), self.hop(src, lih), thing(TIME, 1, struct.pack(">I", 30000)), thing(CREDIT, 1, struct.pack(">I", mb)),
                                thing(STYLE, 1, struct.pack(">I", 0x0A)), self.tspec(FLOWSPEC, 5), self.sender(FILTER)], src, dst, 255)

    def increment(self, src, dst, lih, mb, number):
        return self.packet(29, [thing(ID, 1, struct.pack(">II", 0x01ABCDEF, number)), self.session(), self.hop(src, lih),
                                thing(CREDIT, 1, struct.pack(">I", mb))], src, dst, 255)

    def ack(self, src, dst, number):
        return self.packet(13, [thing(ACK, 1, struct.pack(">II", 0x00ABCDEF, number))], src, dst, 255)

    def end(self, who, lih, limit):
        return self.packet(30, [self.session(), self.hop(who, lih), self.sender(TEMPLATE)], "sender", "receiver", limit, alert=True)

    def end_ack(self, src, dst, lih):
        return self.packet(31, [self.session(), self.hop(src, lih), self.sender(TEMPLATE)], src, dst, 255)


def life(name, names):
    """A session begins, is offered and confirmed, gets an increment, twice, and ends."""
    case = Case(name, "letter mode: Path init, Reserve, an increment and its copy, End, End ACK at a transit device",
                "draft-hu-rtgwg-cbfc-rsvp-01 4.2 to 4.4; RFC 2113; docs/credit.md 2.4", transit())
    n, time = Net(names), Timeline(case)
    come = [("p0", n.init("from", 7, 63)), ("p1", n.grant("to", "own1", 2, 8)), ("p1", n.grant("to", "own1", 2, 8)),
            ("p1", n.increment("to", "own1", 2, 1, 5)), ("p1", n.increment("to", "own1", 2, 1, 5)), ("p0", n.end("from", 7, 63)),
            ("p1", n.end_ack("to", "own1", 2))]
    for burst, (name_of, packet) in enumerate(come):
        time.at(4 * burst, name_of, to_node(name_of, packet))
        case.count(name_of, "rsvp")
    case.tx("p0", n.grant("own0", "from", 7, GRANT), n.grant("own0", "from", 7, GRANT), n.end_ack("own0", "from", 7))
    case.tx("p1", n.init("own1", 2, 62), n.ack("own1", "to", 5), n.ack("own1", "to", 5), n.end("own1", 2, 62))
    time.fill()
    yield case


def strangers():
    """IPv4: a station that is no neighbour, a wrong option, a fragment, and RSVP without router alert: data, or refused."""
    case = Case("letter_strangers4", "letter mode with IPv4: from a stranger it is refused; with another option, or in fragments, it is data",
                "RFC 2113; docs/credit.md 1.1", transit())
    n = Net({**IPV4, "from": "10.1.0.77"})
    case.rx("p0", n.init("from", 7, 63))
    case.count("p0", "rsvp_refused")
    plain = bytearray(Net(IPV4).init("from", 7, 63))
    plain[20:24] = bytes.fromhex("01010101")  # no router alert
    fragment = bytearray(Net(IPV4).init("from", 7, 63))
    struct.pack_into(">H", fragment, 6, 0x2000)
    for packet in (plain, fragment):
        for limit, frame in ((63, to_node), (62, from_node)):
            packet[8] = limit
            packet[10:12] = bytes(2)
            struct.pack_into(">H", packet, 10, checksum(bytes(packet[:24])))
            (case.rx if limit == 63 else case.tx)("p0" if limit == 63 else "p1", Frame(frame("p0" if limit == 63 else "p1", bytes(packet))))
    yield case


def cases():
    yield from golden()
    yield from life("letter_life6", IPV6)
    yield from life("letter_life4", IPV4)
    yield from strangers()
