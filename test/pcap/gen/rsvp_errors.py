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
from gen.rsvp import BUFFER, CBFC_HOP, CREDIT, HOP, INTEGRITY, KEY, KEY_ID, Message, as_configured, checksum, frames, received, sent, transit
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


def alone(name):
    """A message of a vector whose sender takes no Bundles: each answer has a packet of its own."""
    m = Message(received(name))
    m.header[0] = 0x10
    return m


def path():
    return alone("v33_rsvp28_path")


def commit():
    return alone("v34_rsvp29_commit")


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
    # an update is refused, passed over and read in the same way
    update = alone("v35_rsvp29_update")
    update.objects.append(thing(118, 3, b"sluice!?"))
    r.refuses("p1", update.frame(), "refused_unknown_class", resv_err(update, 13, 118 << 8 | 3))
    r.refuses("p1", altered(alone("v35_rsvp29_update"), CREDIT, CREDIT, 9), "refused_unknown_c_type", resv_err(update, 14, CREDIT << 8 | 9))
    for number in (130, 200):
        update.objects[-1][0] = number
        r.takes("p1", update.frame())
    r.counts("no_event", 2)  # before the first offer
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


# --- who is heard (D57), and what handles are for (D43)

OTHER = "2001:db8:b::7"  # another neighbour at p1, two hops away


def with_other(**credit):
    config = transit(**credit)
    config["neighbors"].append(neighbor("p1", OTHER))
    config["credit"]["neighbors"].append({"address": OTHER, "hops": 2})
    return config


def by_other(m, address=OTHER):
    """The same message of another neighbour."""
    m.object(HOP)[:16] = packed(address)
    m.front[m.ip + 8:m.ip + 24] = packed(address)
    return m


def hops():
    r = Refused("rsvp_hops", "RSVP for one hop: hop limit 255, or as many less as the neighbour is away; from the address in RSVP_HOP; in no tunnel",
                "docs/credit.md 2.4 (D57); RFC 5082", with_other())
    no_path = resv_err(commit(), 3, 0)
    to_other = bytearray(no_path)
    to_other[14 + 24:14 + 40] = packed(OTHER)
    r.refuses("p1", commit().hop_limit(254).frame(), "refused_hop_limit")
    r.refuses("p1", commit().hop_limit(1).frame(), "refused_hop_limit")
    r.refuses("p1", by_other(commit()).hop_limit(253).frame(), "refused_hop_limit")
    r.refuses("p1", by_other(commit(), "2001:db8:b::99").frame(), "refused_stranger")
    m = commit()
    m.object(HOP)[:16] = packed(OTHER)
    r.refuses("p1", m.frame(), "refused_source")
    objects = commit().objects
    r.refuses("p1", to_it("p1", 29, objects, alert=True), "refused_tunnel")
    # a path of which nobody knows: who is heard is told so (D43)
    r.takes("p1", commit().frame(), p1=no_path)
    r.takes("p1", by_other(commit()).hop_limit(254).frame(), p1=Frame(to_other))
    r.counts("bad_lih", 2)
    # along a path any hop limit will do but 1, by which no message goes on
    r.takes("p0", path().hop_limit(1).frame(), p0=path_err(path(), 1, HOPS))
    yield r.case


def update_of(*credits, lih=2, base="v35_rsvp29_update"):
    """An update of several contexts: (LIH, epoch), in CREDITs of C-Type 4."""
    m = alone(base)
    body = m.object(CREDIT)
    m.objects = [o for o in m.objects if o[0] != CREDIT]
    for of_context, epoch in credits:
        new = bytearray(body) + struct.pack(">II", of_context, 0)
        if epoch is not None:
            new[8:12] = struct.pack(">I", epoch)
        new[32:36] = struct.pack(">I", 1000)  # newer than what came before
        m.objects.append(thing(CREDIT, 4, new))
    return m


def handles():
    r = Refused("rsvp_handles", "29 and 31 name the handle of a path: another handle, neighbour, session, sender or epoch changes nothing",
                "docs/credit.md 2.3 (D43), 1.10 (D50)", with_other())
    time = Timeline(r.case)

    def gives(burst, port_name, message, counter=None, n=1, **sent_by):
        time.at(burst, port_name, message)
        r.case.count(port_name, "rsvp")
        if counter:
            r.counts(counter, n)
        for out, packet in sent_by.items():
            r.case.tx(out, packet)

    first, on = sent("v33_rsvp28_path")
    gives(0, "p0", received("v33_rsvp28_path"), p0=first, p1=on)
    r.case.count("(local)", "rsvp")
    # before the first offer: an update
    gives(4, "p1", alone("v35_rsvp29_update").frame(), "no_event")

    def altered(change, base="v34_rsvp29_commit"):
        m = alone(base)
        change(m)
        return m.frame()

    def lih(m, value):
        m.object(HOP)[16:] = struct.pack(">I", value)

    stale = commit()
    lih(stale, 0x102)
    gives(8, "p1", stale.frame(), "bad_lih", p1=resv_err(stale, 3, 0))
    gives(8, "p1", altered(lambda m: m.object(SESSION).__setitem__(slice(18, 20), b"\0\7")), "bad_session")
    gives(8, "p1", altered(lambda m: m.object(FILTER).__setitem__(slice(18, 20), b"\0\7")), "bad_session")
    # the commit goes up; what others say afterwards does not count
    gives(12, "p1", commit().frame(), p0=sent("v34_rsvp29_commit")[0])
    gives(16, "p1", by_other(alone("v35_rsvp29_update")).hop_limit(254).frame(), "bad_hop")
    gives(16, "p1", altered(lambda m: m.object(TEMPLATE).__setitem__(slice(18, 20), b"\0\7"), "v38_rsvp31_endack"), "bad_session")
    # one 29 with 26 updates (D50): each is looked for by its own handle
    gives(16, "p1", update_of((2, None), *((i << 8 | 2, None) for i in range(1, 26))).frame(), "bad_lih", 25)
    for i in range(1, 26):
        unknown = commit()
        lih(unknown, i << 8 | 2)
        r.case.tx("p1", resv_err(unknown, 3, 0))
    time.fill()
    yield r.case


# --- encapsulated messages, and what paths offer (D41, D44)


def tunnelled_transit():
    config = transit()
    config["ports"][1]["link_delay"] = 5000  # us
    config["credit"]["neighbors"] = [{"address": "2001:db8:f::1"}, {"address": "2001:db8:b::3"}]
    return config


def offered(frame):
    """As as_configured, and CBFC_OFFER with the buffer that the node offers."""
    message = Message(frame)
    for number, _, body in message.objects:
        if number == CBFC_OFFER:
            struct.pack_into(">Q", body, 4, BUFFER << 6)
    return as_configured(message)


def outer():
    """v48, and the same as data: of another class, or without router alert."""
    case = Case("v48_rsvp28_tunnel", "28 in a tunnel, found at the SID of the node before that is executed; of another class, or without router alert, it is data",
                "draft-hu-rtgwg-cbfc-rsvp-01 4.2; RFC 9800 4.1.1; docs/credit.md 2.2 (D44), 2.3 (D41)", tunnelled_transit(), mask=["rsvp"], rsvp={},
                unordered=["p1"])
    came, (answer, on) = received("v48_rsvp28_outer_transit"), frames("v48_rsvp28_outer_transit", "out")

    def shifted(frame):
        """RFC 9800 4.1.1: the next id, the hop limit one less."""
        out = bytearray(frame)
        out[:12] = on[:12]
        out[21] -= 1
        out[38:54] = on[38:54]
        return Frame(out)

    data = bytearray(came)
    data[14:16] = struct.pack(">H", 0x6000 | struct.unpack_from(">H", came, 14)[0] & 0xF | 26 << 6)
    plain = bytearray(came)
    plain[14 + 80 + 2] = 1  # PadN, with which an option of 2 bytes means nothing
    for frame in (data, plain, came):
        case.rx("p0", Frame(frame))
    case.count("p0", "rsvp")
    case.count("(local)", "rsvp")
    case.tx("p0", offered(answer))
    case.tx("p1", offered(on), shifted(data), shifted(plain))
    yield case


def offers():
    """S with the offers of all candidate paths goes up with them as they are (D44)."""
    case = Case("rsvp_offers", "a commit goes up with the CBFC_OFFER of every candidate path, unchanged", "docs/credit.md 2.2 (D44)", transit(), mask=["rsvp"], rsvp={})
    time = Timeline(case)
    time.at(0, "p0", received("v33_rsvp28_path"))
    first, on = sent("v33_rsvp28_path")
    case.tx("p0", first)
    case.tx("p1", on)
    m, up = commit(), Message(sent("v34_rsvp29_commit")[0])
    for path_id, buffer, flags in ((1, 1 << 30, 0x80), (2, 1 << 20, 0), (9, 64, 0)):
        offer = struct.pack(">IQQIHBB", 32473, buffer, 10 ** 10, 77, path_id, 3, flags)
        for message in (m, up):
            at = next(i for i, o in enumerate(message.objects) if o[0] == STYLE)
            message.objects.insert(at, thing(CBFC_OFFER, 1, offer))
    time.at(4, "p1", m.frame())
    case.tx("p0", up.frame())
    case.count("p0", "rsvp")
    case.count("p1", "rsvp")
    case.count("(local)", "rsvp")
    time.fill()
    yield case


# --- refusals (D60): what is refused is not passed on (D51)


def refusals():
    r = Refused("rsvp_refusals", "28 refused: by PathErr with the reason, or in silence if it goes in a circle; none is passed on",
                "RFC 2205 B; draft-hu-rtgwg-cbfc-rsvp-01 4.2; docs/credit.md 2.8 (D60), 2.3 (D51), 2.4 (D12)", transit(pool=2 * BUFFER, **{"oversubscription": 1}))
    number = 0

    def a_path(change=None):
        """Another session each time."""
        nonlocal number
        number += 1
        m = path()
        m.object(CBFC_PATH)[4:8] = struct.pack(">I", number)
        m.object(HOP)[16:] = struct.pack(">I", number << 8 | 1)
        m.object(TEMPLATE)[18:] = struct.pack(">H", 1000 + number)
        if change:
            change(m)
        return m

    def refuses(code, value, change):
        m = a_path(change)
        r.takes("p0", m.frame(), p0=path_err(m, code, value))

    def passes(m, hops_of, most=16):
        body = m.object(CBFC_PATH)
        body[10:12] = bytes([len(hops_of), most])
        body[12:] = b"".join(map(packed, hops_of))

    refuses(1, HOPS, lambda m: passes(m, [f"2001:db8:9::{i + 1:x}" for i in range(16)]))
    refuses(1, HOPS, lambda m: passes(m, ["2001:db8:a::1", "2001:db8:9::1"], 2))
    refuses(1, UNIT, lambda m: m.object(CBFC_HOP).__setitem__(6, 31))

    def to(m, address):
        m.object(SESSION)[:16] = packed(address)
        m.front[m.ip + 24:m.ip + 40] = packed(address)

    refuses(1, ROUTE, lambda m: to(m, "2001:db8:7::7"))
    refuses(POLICY, 0, lambda m: to(m, LOOPBACK))
    for handle in range(2):  # what the pool has
        m = a_path()
        offer, on = (Message(f) for f in sent("v33_rsvp28_path"))
        offer.object(FILTER)[:] = m.object(TEMPLATE)
        offer.object(HOP)[16:] = m.object(HOP)[16:]
        on.object(TEMPLATE)[:] = m.object(TEMPLATE)
        on.object(CBFC_PATH)[4:8] = m.object(CBFC_PATH)[4:8]
        on.object(HOP)[16:] = struct.pack(">I", handle << 8 | 2)
        r.takes("p0", m.frame(), p0=offer.frame(), p1=on.frame())
        r.case.count("(local)", "rsvp")
    full = a_path()
    r.takes("p0", full.frame(), p0=path_err(full, 1, POOL))
    r.counts("refused", 6)
    passes(m, ["2001:db8:a::1", OWN["p1"], "2001:db8:9::1"])  # the last one that went on: it comes back
    r.takes("p0", m.frame())
    r.counts("loop")
    r.case.count("(local)", "rsvp", 2)  # the way on was looked up for those without a route or room as well
    m = a_path(lambda m: passes(m, ["2001:db8:a::1", LOOPBACK]))
    r.takes("p0", m.frame())
    r.counts("loop")
    yield r.case


# --- by the letter (D59, D62)


def letter():
    r = Refused("letter_refused", "letter mode: Credit is class 123; increments count once, in any order, with MESSAGE_ID; a grant is 2 MB or more",
                "draft-hu-rtgwg-cbfc-rsvp-01 4.1, 4.3; docs/credit.md 2.1 (D62), 2.4 (D59)", letter_transit())
    n, time = Net(IPV6), Timeline(r.case)

    def gives(burst, port_name, packet, counter=None, **sent_by):
        time.at(burst, port_name, packet if isinstance(packet, Frame) else Frame(one_frame(port_name, packet)))
        if not counter or counter.startswith("letter"):
            r.case.count(port_name, "rsvp")
        else:
            r.case.count(port_name, "rsvp_refused")
        if counter:
            r.counts(counter)
        for out, answer in sent_by.items():
            r.case.tx(out, answer)

    def one_frame(port_name, packet):
        return bytes.fromhex(mac_of(port_name).replace(":", "") + PEER_MAC[port_name] + "86dd") + packet

    def credit_of(number, form, body):
        grant = Message(Frame(one_frame("p1", n.grant("to", "own1", 2, 8))))
        grant.objects = [thing(number, form, body) if o[0] == 123 else o for o in grant.objects]
        return grant.frame()

    def refused(number, form):
        session = Message(Frame(one_frame("p1", n.grant("to", "own1", 2, 8)))).object(SESSION)
        objects = [thing(SESSION, 2, session), hop(OWN["p1"], 2), error(13, number << 8 | form, OWN["p1"]), thing(STYLE, 1, FF)]
        return one_hop("p1", rsvp(RESV_ERR, objects, flags=0), True)

    gives(0, "p0", n.init("from", 7, 63), p1=n.init("own1", 2, 62), p0=n.grant("own0", "from", 7, 16))
    gives(4, "p1", credit_of(120, 1, struct.pack(">I", 8)), "refused_unknown_class", p1=refused(120, 1))
    gives(4, "p1", credit_of(124, 3, commit().object(CREDIT)), "refused_unknown_class", p1=refused(124, 3))
    gives(8, "p1", n.grant("to", "own1", 0x302, 8), "letter_bad_lih")
    gives(8, "p1", n.grant("to", "own1", 2, 1), "letter_no_grant")
    gives(12, "p1", n.grant("to", "own1", 2, 8))
    gives(16, "p1", n.grant("to", "own1", 2, 8), p0=n.grant("own0", "from", 7, 16))
    for number, counter in ((9, None), (5, None), (7, None), (5, "letter_late"), (9, "letter_late")):
        gives(20, "p1", n.increment("to", "own1", 2, 1, number), counter, p1=n.ack("own1", "to", number))
    without = Message(Frame(one_frame("p1", n.increment("to", "own1", 2, 1, 11))))
    without.objects = [o for o in without.objects if o[0] != ID]
    gives(24, "p1", without.frame(), "letter_no_id")
    time.fill()
    yield r.case


def cases():
    yield from header()
    yield from contents()
    yield from unknown()
    yield from integrity()
    yield from hops()
    yield from handles()
    yield from outer()
    yield from offers()
    yield from refusals()
    yield from letter()
