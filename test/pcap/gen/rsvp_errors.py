# SPDX-License-Identifier: BSD-3-Clause
"""
What a node says to RSVP messages that are wrong, and to those that it may not act on: each error row of docs/credit.md 1.2, 1.6
and 1.9, and the decisions about who is heard (D43, D50, D57, D58) and what is refused (D12, D60). Messages are those of the vectors, with
something changed. The counters are those of `show rsvp counters`.
"""

import hashlib
import hmac
import ipaddress
import struct

from gen.case import Case, Frame
from gen.neighbor import Timeline
from gen.node import LOOPBACK, mac_of, neighbor
from gen.rsvp import CBFC_HOP, CREDIT, HOP, INTEGRITY, KEY, KEY_ID, Message, as_configured, checksum, frames, received, sent, transit
from gen.rsvp_letter import IPV6, Net, STYLE
from gen.rsvp_letter import transit as letter_transit

SESSION, ERROR, TIME, FLOWSPEC, FILTER, TEMPLATE, TSPEC, ID, ACK, CHALLENGE, CBFC_PATH, CBFC_OFFER = 1, 6, 5, 9, 10, 11, 12, 23, 24, 64, 252, 253
PATH_ERR, RESV_ERR, BUNDLE, CHALLENGES, RESPONSE, END, END_ACK = 3, 4, 12, 25, 26, 30, 31
FF = struct.pack(">I", 0x0A)
OWN = {"p0": "2001:db8:a::2", "p1": "2001:db8:b::2"}
PEER = {"p0": "2001:db8:a::1", "p1": "2001:db8:b::3"}
PEER_MAC = {"p0": "02000000a000", "p1": "02000000b001"}
MESSAGE = {"p0": 14 + 40 + 8, "p1": 14 + 40}  # where it begins: natively with router alert, for one hop
POOL, ROUTE, HOPS, CLASS, UNIT = 0x8001, 0x8002, 0x8003, 0x8004, 0x8005
POLICY = 2


def packed(address):
    return ipaddress.ip_address(address).packed


def thing(number, form, body):
    return [number, form, bytearray(body)]


def rsvp(kind, objects, ttl=255, flags=1):
    """An RSVP message with its checksum."""
    body = b"".join(struct.pack(">HBB", len(o[2]) + 4, o[0], o[1]) + bytes(o[2]) for o in objects)
    message = bytearray(struct.pack(">BBHBBH", 0x10 | flags, kind, 0, ttl, 0, len(body) + 8) + body)
    struct.pack_into(">H", message, 2, checksum(bytes(message) + bytes(len(message) % 2)))
    return bytes(message)


def one_hop(port_name, message, out, src=None, dst=None, limit=255, alert=False):
    """In a packet for one hop: out of the node, or to it."""
    own, peer = bytes.fromhex(mac_of(port_name).replace(":", "")), bytes.fromhex(PEER_MAC[port_name])
    ends = (own, OWN[port_name], PEER[port_name], peer) if out else (peer, PEER[port_name], OWN[port_name], own)
    options = bytes.fromhex("2e00050200010100") if alert else b""
    return Frame(ends[3] + ends[0] + bytes.fromhex("86dd6c000000") + struct.pack(">HBB", len(options) + len(message), 0 if alert else 46, limit) +
                 packed(src or ends[1]) + packed(dst or ends[2]) + options + message)


def to_it(port_name, kind, objects, **more):
    return one_hop(port_name, rsvp(kind, objects, more.get("limit", 255)), False, **more)


def from_it(port_name, kind, objects, **more):
    return one_hop(port_name, rsvp(kind, objects), True, **more)


def error(code, value, node=LOOPBACK):
    return thing(ERROR, 2, packed(node) + struct.pack(">BBH", 0, code, value))


def path_err(about, code, value, without=(), **more):
    """About a 28: its session, sender and SENDER_TSPEC."""
    objects = [thing(SESSION, 2, about.object(SESSION)), error(code, value)]
    objects += [thing(n, 2, about.object(n)) for n in (TEMPLATE, TSPEC) if not {TEMPLATE, n} & set(without)]
    return from_it("p0", PATH_ERR, objects, **more)


def hop(address, lih):
    return thing(HOP, 2, packed(address) + struct.pack(">I", lih))


def resv_err(about, code, value):
    """About a 29: its session and the LIH that it names."""
    lih = struct.unpack(">I", about.object(HOP)[16:])[0]
    return from_it("p1", RESV_ERR, [thing(SESSION, 2, about.object(SESSION)), hop(OWN["p1"], lih), error(code, value), thing(STYLE, 1, FF)])


def path():
    return Message(received("v33_rsvp28_path"))


def commit():
    return Message(received("v34_rsvp29_commit"))


def changed(port_name, frame, at, new, right=True):
    """Bytes of the message are others; negative: counted from the end. right: the checksum as well."""
    data, new = bytearray(frame), bytes.fromhex(new)
    at = len(data) + at if at < 0 else MESSAGE[port_name] + at
    data[at:at + len(new)] = new
    if right:
        data[MESSAGE[port_name] + 2:MESSAGE[port_name] + 4] = bytes(2)
        struct.pack_into(">H", data, MESSAGE[port_name] + 2, checksum(bytes(data[MESSAGE[port_name]:])))
    return Frame(data)


def cut(frame, size):
    """Only the first bytes of the message, in a packet of that length."""
    data = bytearray(frame[:MESSAGE["p0"] + size])
    struct.pack_into(">H", data, 18, 8 + size)
    return Frame(data)


class Refused:
    """A case of messages that are refused, each with the counter that it must move."""

    def __init__(self, name, title, ref, config, **more):
        self.case = Case(name, title, ref, config, mask=["rsvp"], rsvp={}, **more)

    def counts(self, name, n=1):
        rsvp_counters = self.case.about["rsvp"]
        rsvp_counters[name] = rsvp_counters.get(name, 0) + n

    def refuses(self, port_name, frame, counter, answer=None, out=None):
        self.case.rx(port_name, frame)
        self.case.count(port_name, "rsvp_refused")
        self.counts(counter)
        if answer:
            self.case.tx(out or port_name, answer)

    def takes(self, port_name, frame, **sent_by):
        self.case.rx(port_name, frame)
        self.case.count(port_name, "rsvp")
        for out, packet in sent_by.items():
            self.case.tx(out, packet)


# --- 1.2 and 1.3: the frame of a message, and what it consists of


def header():
    r = Refused("rsvp_refused_header", "RSVP: version, lengths, checksum, type and frames of objects: nothing is sent, each is counted",
                "RFC 2205 3.1.1, 3.1.2; RFC 5063; docs/credit.md 1.2, 1.3, 2.1", transit())
    good = received("v33_rsvp28_path")
    length = struct.unpack_from(">H", good, MESSAGE["p0"] + 6)[0]
    for at, new, counter in ((0, "01", "version"), (0, "21", "version"), (6, "0000", "length"), (6, "0007", "length"), (6, "ffff", "length"),
                             (6, f"{length + 4:04x}", "length"), (6, f"{length - 4:04x}", "length"), (1, "14", "unknown_type"), (1, "20", "unknown_type"),
                             (8, "0000", "object_length"), (8, "0003", "object_length"), (8, "0019", "object_length"), (8, "ffff", "object_length"),
                             (8, "fffc", "object_length"), (-36, "0028", "object_length"), (-36, "0020", "object_length")):
        r.refuses("p0", changed("p0", good, at, new), f"refused_{counter}")
    r.refuses("p0", cut(good, 6), "refused_length")
    r.refuses("p0", changed("p0", good, 4, "3e", right=False), "refused_bad_checksum")
    r.refuses("p0", changed("p0", changed("p0", good, 1, "1e"), 11, "07"), "refused_recovery_path")
    for empty_or_nested in (b"", rsvp(BUNDLE, [])):
        message = bytearray(rsvp(BUNDLE, []) + empty_or_nested)
        struct.pack_into(">HBBH", message, 2, 0, 255, 0, len(message))
        r.refuses("p0", one_hop("p0", bytes(message), False), "refused_bundle")
    # no checksum was computed
    none = bytearray(good)
    none[MESSAGE["p0"] + 2:MESSAGE["p0"] + 4] = bytes(2)
    first = sent("v33_rsvp28_path")
    r.takes("p0", Frame(none), p0=first[0], p1=first[1])
    r.case.count("(local)", "rsvp")
    yield r.case


def contents():
    r = Refused("rsvp_refused_contents", "RSVP: objects that are missing, there twice, misplaced, out of order or wrong: nothing is sent, each is counted",
                "RFC 2205 3.1.3, 3.1.4, 3.2; docs/credit.md 1.4, 2.2", transit())

    def without(number):
        m = path()
        m.objects = [o for o in m.objects if o[0] != number]
        return m.frame()

    def more(number, form, body, at=None):
        m = path()
        m.objects.insert(len(m.objects) if at is None else at, thing(number, form, body))
        return m.frame()

    for number in (SESSION, HOP, TIME, TSPEC):
        r.refuses("p0", without(number), "refused_object_missing")
    r.refuses("p0", more(SESSION, 2, path().object(SESSION)), "refused_object_repeated")
    r.refuses("p0", more(HOP, 2, path().object(HOP)), "refused_object_repeated")
    r.refuses("p0", more(ERROR, 2, bytes(20)), "refused_object_misplaced")
    r.refuses("p0", more(CREDIT, 3, commit().object(CREDIT)), "refused_object_misplaced")
    r.refuses("p0", more(INTEGRITY, 1, bytes(32), 1), "refused_object_order")
    r.refuses("p0", more(TIME, 1, bytes(8)), "refused_object_length")
    m = path()
    m.objects += [thing(200, 1, b"")] * 300
    r.refuses("p0", m.frame(), "refused_object_repeated")
    m = path()
    m.object(CBFC_PATH)[10] = 255  # hops
    r.refuses("p0", m.frame(), "refused_object_content")
    m = path()
    m.object(CBFC_HOP)[5] = 9  # class
    r.refuses("p0", m.frame(), "refused_object_content")
    m = path()
    m.objects[m.objects.index(next(o for o in m.objects if o[0] == TEMPLATE))] = thing(TEMPLATE, 1, bytes([10, 0, 0, 1, 0, 0, 0, 9]))
    r.refuses("p0", m.frame(), "refused_family")
    m = path()
    m.object(SESSION)[18:] = bytes(2)  # no port, but the sender has one: error 8, which nobody is told
    r.refuses("p0", m.frame(), "refused_ports")
    m = commit()
    m.object(STYLE)[:] = bytes(4)
    r.refuses("p1", m.frame(), "refused_unknown_style")
    m = commit()
    m.objects.append(thing(TIME, 1, bytes(4)))
    r.refuses("p1", m.frame(), "refused_object_order")
    m = commit()
    m.object(CREDIT)[8:12] = bytes(4)  # epoch
    r.refuses("p1", m.frame(), "refused_object_content")
    yield r.case


# --- 1.6: unknown classes and C-Types


def unknown():
    r = Refused("rsvp_unknown", "RSVP: unknown classes and C-Types are refused with PathErr or ResvErr, ignored, or passed on, by their high bits",
                "RFC 2205 3.10, A.5; RFC 3936 2.2; docs/credit.md 1.6", transit())

    def altered(m, number, as_class, as_form):
        o = next(o for o in m.objects if o[0] == number)
        o[0], o[1] = as_class, as_form
        return m.frame()

    r.refuses("p0", altered(path(), CBFC_HOP, 119, 1), "refused_unknown_class", path_err(path(), 13, 119 << 8 | 1))
    for number in (TSPEC, TEMPLATE, TIME):
        r.refuses("p0", altered(path(), number, number, 9), "refused_unknown_c_type", path_err(path(), 14, number << 8 | 9, without=[number]))
    # an unknown class 10 is left out, an unknown class 11 goes on as it is, and so does a C-Type of one that is known
    m, offer, on = path(), *sent("v33_rsvp28_path")
    on = Message(on)
    for number, form in ((130, 1), (200, 7), (CBFC_OFFER, 9)):
        m.objects.insert(5, thing(number, form, b"sluice!?"))
        if number >= 192:
            on.objects.insert(5, thing(number, form, b"sluice!?"))
    r.takes("p0", m.frame(), p0=offer, p1=on.frame())
    r.case.count("(local)", "rsvp")
    for number, as_class, as_form, code in ((CREDIT, 118, 3, 13), (CREDIT, CREDIT, 9, 14), (FLOWSPEC, FLOWSPEC, 1, 14), (FILTER, FILTER, 9, 14),
                                            (TIME, TIME, 2, 14)):
        r.refuses("p1", altered(commit(), number, as_class, as_form), "refused_unknown_class" if code == 13 else "refused_unknown_c_type",
                  resv_err(commit(), code, as_class << 8 | as_form))
    m = commit()
    m.object(CREDIT)[:4] = struct.pack(">I", 32474)  # of another enterprise: a class that nobody knows
    r.refuses("p1", m.frame(), "refused_unknown_class", resv_err(commit(), 13, CREDIT << 8 | 3))
    yield r.case


# --- 1.9: INTEGRITY

SHA_KEY_ID, OLD_KEY_ID, SHA_KEY = 0xA1B2C3D5, 0xA1B2C3D6, b"sluice-test-key-of-sha256-32-by!"
START = 1_000_000 << 32 | 100_000


def signed(kind, objects, number, key=(KEY_ID, KEY, hashlib.md5), flags=0, digest=None, reduces=0):
    """A message with INTEGRITY; number: sequence number. Neighbours that do not say `reduces` get no Bundles."""
    key_id, secret, algorithm = key
    size = algorithm().digest_size
    message = bytearray(rsvp(kind, [thing(INTEGRITY, 1, struct.pack(">BBHIQ", flags, 0, 0, key_id, number) + bytes(size)), *objects],
                             flags=reduces))
    message[2:4] = bytes(2)
    message[28:28 + size] = digest or hmac.new(secret, message, algorithm).digest()
    struct.pack_into(">H", message, 2, checksum(bytes(message)))
    return bytes(message)


def end_of(lih, who="2001:db8:a::1"):
    """An End that nobody knows: each one that is heard is answered by an End ACK."""
    m = path()
    return [thing(SESSION, 2, m.object(SESSION)), hop(who, lih), thing(TEMPLATE, 2, m.object(TEMPLATE))]


def natively(message):
    m = path()
    return Frame(bytes(m.front[:18]) + struct.pack(">H", 8 + len(message)) + bytes(m.front[20:]) + message)


def integrity():
    keys = [{"id": KEY_ID, "digest": "md5"}, {"id": SHA_KEY_ID, "digest": "sha256"}, {"id": OLD_KEY_ID, "digest": "md5", "until": 1577836800}]
    r = Refused("rsvp_integrity", "INTEGRITY: digests of both sorts, keys, the replay window of 8,192, challenges of both sides",
                "RFC 2747 2 to 5; RFC 3097; docs/credit.md 1.9", transit(integrity="required", keys=keys))
    r.case.config["hmac"] = {"keys": "hmac.keys"}
    r.case.keys = {KEY_ID: KEY.hex(), SHA_KEY_ID: SHA_KEY.hex(), OLD_KEY_ID: KEY.hex()}

    sha = (SHA_KEY_ID, SHA_KEY, hashlib.sha256)
    by_it = {"flags": 0x80, "key": sha, "reduces": 1}  # with the newest key

    def heard(lih, number, **more):
        ack = [thing(SESSION, 2, path().object(SESSION)), hop(OWN["p0"], lih), thing(TEMPLATE, 2, path().object(TEMPLATE))]
        r.takes("p0", natively(signed(END, end_of(lih), number, **more)), p0=one_hop("p0", signed(END_ACK, ack, 0, **by_it), True))

    def refused(lih, number, counter, **more):
        r.refuses("p0", natively(signed(END, end_of(lih), number, **more)), f"refused_integrity_{counter}")

    refused(1, START, "digest", digest=bytes(16))
    refused(2, START, "digest", key=(KEY_ID, KEY + b"!", hashlib.md5))
    refused(3, START, "key", key=(KEY_ID + 100, KEY, hashlib.md5))
    refused(4, START, "key", key=(OLD_KEY_ID, KEY, hashlib.md5))
    r.refuses("p0", natively(rsvp(END, end_of(5), flags=0)), "refused_integrity_missing")
    heard(6, START - 8191)  # the window begins here
    refused(7, START - 8191, "replayed")
    refused(8, START - 8192, "replayed")
    heard(9, START)
    refused(10, START, "replayed")
    heard(11, START - 8190)  # late, but in the window
    refused(12, START - 8191, "replayed")
    refused(13, START - 8192, "window")
    heard(14, START + 1, flags=0x01)  # HF as tshark has it
    refused(15, START - 8191, "window")
    heard(16, START - 8190 + 1)
    heard(17, START, key=sha)
    refused(18, START + 2, "digest", key=(SHA_KEY_ID, KEY, hashlib.sha256))
    # the node answers a challenge with the cookie, and does not take an answer that it has not asked for
    cookie = thing(CHALLENGE, 1, bytes(2) + struct.pack(">HI", 0, SHA_KEY_ID) + b"cookie!?")
    r.takes("p0", one_hop("p0", rsvp(CHALLENGES, [cookie], flags=0), False), p0=one_hop("p0", signed(RESPONSE, [cookie], 0, **by_it), True))
    r.refuses("p0", one_hop("p0", signed(RESPONSE, [cookie], START + 10, key=sha), False), "refused_integrity_cookie")
    # who says that it answers challenges gets one, and is not heard before
    r.case.config["neighbors"].append(neighbor("p0", "2001:db8:a::7"))
    r.case.config["credit"]["neighbors"].append({"address": "2001:db8:a::7"})
    r.refuses("p0", natively(signed(END, end_of(15, "2001:db8:a::7"), START, flags=0x80)), "refused_integrity_handshake")
    asked = thing(CHALLENGE, 1, bytes(2) + struct.pack(">HI", 0, KEY_ID) + bytes(8))
    r.case.tx("p0", one_hop("p0", rsvp(CHALLENGES, [asked]), True, dst="2001:db8:a::7"))
    yield r.case


def cases():
    yield from header()
    yield from contents()
    yield from unknown()
    yield from integrity()
