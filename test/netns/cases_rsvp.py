# SPDX-License-Identifier: BSD-3-Clause
"""
Credit sessions with an RSVP neighbour that scapy plays (docs/credit.md 2.3); tshark reads what sluice has sent.

    rsvp      h == s == f      s: sluice, f: a station; a session of s that ends at f, and one of f that ends at s. h: a server
                               of a tenant, without tunnels: a session of h that is joined to that of s, and one of s that ends at h
    letter    the same, with a server that speaks by the letter of the draft (docs/credit.md 2.4)

The neighbour knows no timers of its own: it answers what has come whenever a test looks.
"""

import re
import struct
import subprocess

from scapy.contrib.rsvp import RSVP, RSVP_Object
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop, RouterAlert
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import wrpcap

from checks import eventually, expect
from node import policy, port, via
from topology import Topology

MAC_F = "02:00:00:00:0f:02"
OWN, PEER, LOOP_S, LOOP_F = "fd00:a::1", "fd00:a::2", "fd00:0:1::1", "fd00:0:2::1"
GATE, SERVER, BEYOND, MAC_H = "2001:db8:c::1", "2001:db8:c::9", "2001:db8:d::9", "02:00:00:00:0c:09"
SOURCE_S, SOURCE_F = "fd00:8::5", "fd00:9::5"  # outer sources of their sessions
CS6, RSVP_PROTOCOL, HOP_BY_HOP, IN_IPV6 = 0xC0, 46, 0, 41
SESSION, HOP, TIME, STYLE, FLOWSPEC, FILTER, TEMPLATE, TSPEC, ID, ACK, ID_LIST = 1, 3, 5, 8, 9, 10, 11, 12, 23, 24, 25
CREDIT, CBFC_HOP, CBFC_PATH, CBFC_OFFER = 124, 188, 252, 253
LETTER_CREDIT = 123
INIT, RESERVE, END, END_ACK, ACKS, SREFRESH, PATH_ERR = 28, 29, 30, 31, 13, 15, 3
OFFERS, COMMITS, UPDATES = 0x80, 0x40, 0x20
ENTERPRISE, CLASS, UNIT, REFRESH, EPOCH, LABEL = 32473, 3, 11, 1000, 5, 0x12345


def bits(address):
    return bytes(IPv6(dst=address))[24:40]


class Message:
    """Of a frame that sluice has sent. objects: by class, of those that have it, the (C-Type, contents) of the last one."""

    def __init__(self, frame):
        ip = Ether(frame).payload
        self.outer = ip if ip.nh == IN_IPV6 else None
        self.ip = ip.payload if self.outer else ip
        at = len(frame) - len(self.ip) + 40 + (8 if self.ip.nh == HOP_BY_HOP else 0)
        self.kind, self.objects = frame[at + 1], {}
        end, at = at + struct.unpack_from(">H", frame, at + 6)[0], at + 8
        while at < end:
            size, number, form = struct.unpack_from(">HBB", frame, at)
            self.objects[number] = (form, frame[at + 4:at + size])
            at += size

    def __getitem__(self, number):
        return self.objects[number][1]

    def lih(self):
        return struct.unpack(">I", self[HOP][16:20])[0]

    def credit(self):
        """(flags, epoch, FCCL, BUF)"""
        flags, epoch, fccl, buffer = struct.unpack_from(">4xB3xIQ8xI", self[CREDIT])
        return flags, epoch, fccl, buffer


def message_of(frame):
    """None: no RSVP."""
    ip = Ether(frame).payload
    inner = ip.payload if isinstance(ip, IPv6) and ip.nh == IN_IPV6 else ip
    alerts = isinstance(inner, IPv6) and inner.nh == HOP_BY_HOP and inner.payload.nh == RSVP_PROTOCOL
    return Message(frame) if alerts or isinstance(inner, IPv6) and inner.nh == RSVP_PROTOCOL else None


def rsvp(kind, ttl, *objects):
    """objects: (class, C-Type, contents)"""
    m = RSVP(Class=kind, TTL=ttl, Flags=1)
    for number, form, contents in objects:
        m = m / RSVP_Object(Length=len(contents) + 4, Class=number, C_Type=form) / Raw(contents)
    return m


class Neighbour:
    """f: the next hop of the session of s, and the previous hop of one of its own."""

    place, link, own, node, own_mac = 0, "wan0", LOOP_F, LOOP_S, MAC_F
    source, ends_at, template = SOURCE_F, LOOP_S, (3, LABEL)  # of its session

    def __init__(self, t):
        self.t, self.station, self.mac = t, t.stations[self.place], t.net.spaces["s"].mac(self.link)
        self.answers, self.epoch, self.sequence, self.number, self.buffer = True, EPOCH, 0, 0, 16
        self.heard, self.frames, self.init = [], [], None

    def send(self, ip):
        self.station.send(Ether(src=self.own_mac, dst=self.mac) / ip)

    def to_node(self, kind, *objects):
        self.send(IPv6(src=self.own, dst=self.node, hlim=255, tc=CS6, nh=RSVP_PROTOCOL) / rsvp(kind, 255, *objects))

    def id(self):
        self.number += 1
        return ID, 1, struct.pack(">II", 0x01000077, self.number)

    def credit(self, flags):
        self.sequence += 1
        return CREDIT, 3, struct.pack(">IBBBBIQQIII", ENTERPRISE, flags, CLASS, UNIT, 0, self.epoch, self.buffer, 0, self.buffer,
                                      3000, self.sequence)

    def acknowledges(self, m):
        return [(ACK, 1, bytes([0]) + m[ID][1:])] if ID in m.objects else []

    def hop(self, m):
        return HOP, 2, bits(self.own) + m[HOP][16:20]

    def reserves(self, m, flags, *ids):
        spec = struct.pack(">I", 7) + b"\5\0\0\6" + m[TSPEC][8:]
        self.to_node(RESERVE, *ids, (SESSION, 2, m[SESSION]), self.hop(m), (TIME, 1, struct.pack(">I", REFRESH)), self.credit(flags),
                     (STYLE, 1, b"\0\0\0\x0a"), (FLOWSPEC, 2, spec), (FILTER, m.objects[TEMPLATE][0], m[TEMPLATE]))

    def answer(self, m):
        if m.kind == INIT:
            self.init = m
            epoch = struct.unpack_from(">8xI", m[CBFC_HOP])[0]
            if not epoch:
                self.reserves(m, OFFERS, *self.acknowledges(m))
            self.reserves(m, COMMITS, *(self.acknowledges(m) if epoch else []), self.id())
        elif m.kind == SREFRESH and self.init:
            self.reserves(self.init, COMMITS, self.id())
        elif m.kind == END:
            self.to_node(END_ACK, *self.acknowledges(m), (SESSION, 2, m[SESSION]), self.hop(m), self.credit(1),
                         (TEMPLATE, m.objects[TEMPLATE][0], m[TEMPLATE]))
        elif m.kind == RESERVE and ID in m.objects:
            self.to_node(ACKS, *self.acknowledges(m))

    def look(self):
        """Answer what has come. Returns the messages."""
        new = []
        for frame in self.station.take():
            m = message_of(frame)
            if m:
                self.frames.append(frame)
                new.append(m)
                if self.answers:
                    self.answer(m)
        self.heard += new
        return new

    def until(self, what, text):
        def there():
            self.look()
            return what()

        return eventually(there, text)

    def hears(self, text, *kinds):
        """The first message of each of these kinds since the last look, in that order."""
        begin = len(self.heard)
        found = []

        def there():
            found[:] = [next((m for m in self.heard[begin:] if m.kind == k), None) for k in kinds]
            return all(found)

        self.until(there, text)
        return found

    # --- the session of f

    def alerts(self, kind, *objects):
        """A message along the path to s, in a tunnel whose only SID is that of s."""
        alert = IPv6ExtHdrHopByHop(nh=RSVP_PROTOCOL, options=[RouterAlert(value=1)])
        inner = IPv6(src=SOURCE_F, dst=LOOP_S, hlim=255, tc=CS6) / alert / rsvp(kind, 255, *objects)
        self.send(IPv6(src=SOURCE_F, dst="5f00:0:100::", hlim=64, tc=CS6, fl=LABEL, nh=IN_IPV6) / inner)

    def begins(self):
        hop = struct.pack(">IBBBBIQII", ENTERPRISE, 0, CLASS, UNIT, 0, 0, 0, 1, 3000)
        path = struct.pack(">IIHBB", ENTERPRISE, 0x5EED0001, 1, 1, 16) + bits(self.own)
        spec = struct.pack(">I", 7) + b"\1\0\0\6\x7f\0\0\5" + struct.pack(">fffII", 1e9, 65536, 1e9, 64, 4200)
        self.alerts(INIT, self.id(), *self.names(), (TIME, 1, struct.pack(">I", REFRESH)), (CBFC_HOP, 1, hop), (CBFC_PATH, 1, path),
                    self.sender(), (TSPEC, 2, spec))

    def names(self):
        return (SESSION, 2, bits(self.ends_at) + struct.pack(">BBH", 17, 0, 4791)), (HOP, 2, bits(self.own) + struct.pack(">I", 0x501))

    def sender(self):
        form, port_or_label = self.template
        return TEMPLATE, form, bits(self.source) + struct.pack(">I", port_or_label)

    def ends(self):
        hop = struct.pack(">IBBBBIQII", ENTERPRISE, 1, CLASS, UNIT, 0, 0, 0, 2, 3000)
        self.alerts(END, self.id(), *self.names(), (CBFC_HOP, 1, hop), self.sender())


class Server(Neighbour):
    """h: its messages have router alert, and no tunnel."""

    place, link, own, node, own_mac = 1, "dc0", SERVER, GATE, MAC_H
    source, ends_at, template = SERVER, BEYOND, (2, 50000)

    def alerts(self, kind, *objects):
        alert = IPv6ExtHdrHopByHop(nh=RSVP_PROTOCOL, options=[RouterAlert(value=1)])
        self.send(IPv6(src=SERVER, dst=BEYOND, hlim=64, tc=CS6) / alert / rsvp(kind, 64, *objects))


class LetterServer(Server):
    """h by the letter: the objects of Path, and a word of credit."""

    def credit(self, amount):
        return LETTER_CREDIT, 1, struct.pack(">I", amount)

    def answer(self, m):
        if m.kind == INIT:
            self.init = m
            self.reserves(m, self.buffer)  # an offer, and that it is selected
            self.reserves(m, self.buffer)
        elif m.kind == END:
            self.to_node(END_ACK, (SESSION, 2, m[SESSION]), self.hop(m), (TEMPLATE, 2, m[TEMPLATE]))
        elif m.kind == RESERVE and ID in m.objects:
            self.to_node(ACKS, *self.acknowledges(m))

    def returns(self, amount, *ids):
        self.to_node(RESERVE, *(ids or [self.id()]), (SESSION, 2, self.init[SESSION]), self.hop(self.init), self.credit(amount))

    def begins(self):
        spec = struct.pack(">I", 7) + b"\1\0\0\6\x7f\0\0\5" + struct.pack(">fffII", 1e9, 65536, 1e9, 64, 4200)
        self.alerts(INIT, *self.names(), (TIME, 1, struct.pack(">I", REFRESH)), self.sender(), (TSPEC, 2, spec))

    def ends(self):
        self.alerts(END, *self.names(), self.sender())


def network(options, server=None, **more):
    """`server`: keys of h as a neighbour; `more`: of credit."""
    t = Topology(options)
    s, f, h = t.spaces("s", "f", "h")
    t.net.link(s, "wan0", f, "wan0")
    t.net.link(s, "dc0", h, "dc0")
    t.station(f, MAC_F, "wan0")
    t.station(h, MAC_H, "dc0")
    t.node(s, LOOP_S, [port(0, "wan0", "wan", f"{OWN}/64", speed="10G"), port(1, "dc0", "dc", f"{GATE}/64", speed="10G", vrf="red")],
           neighbors=[{"port": "wan0", "address": PEER, "mac": MAC_F}, {"port": "dc0", "address": SERVER, "mac": MAC_H}],
           vrfs=[{"name": "red", "routes": [{"prefix": "2001:db8:d::/48", "policy": "far"}]}],
           routes=via("wan0", PEER, f"{LOOP_F}/128", "5f00:0:200::/48"),
           sids=[{"sid": "5f00:0:100::/48", "behavior": "uN"}],
           policies=[policy("far", "5f00:0:200::", source=SOURCE_S)],
           credit={"mode": "ext", "data": "free", "integrity": "off", "pool": 1024, "buffer": 32, "refresh": REFRESH, "rapid": 100, "blockade": 1,
                   "neighbors": [{"address": LOOP_F}, {"address": SERVER, "port": "dc0", **(server or {"buffer": 8})}], "accept": [{"sources": "fd00:9::/64", "buffer": 8}],
                   "sessions": [{"name": "a", "policy": "far", "to": LOOP_F, "class": CLASS},
                                {"name": "h", "port": "dc0", "to": SERVER, "class": CLASS}], **more})
    t.far = t.near = None
    return t


def letter_network(options):
    return network(options, {"mode": "letter"}, pool=8192, buffer=2048, letter={"grant": 4})


def far(t):
    t.far = t.far or Neighbour(t)
    return t.far


def near(t):
    t.near = t.near or Server(t)
    return t.near


def session(t, name="a"):
    return next(s for s in t.nodes["s"].show("rsvp sessions") if s["session"] == name)


def is_committed(t, name="a"):
    return session(t, name)["state"] == "committed"


def comes_up(t):
    """28 in the tunnel of the policy; offer and commit; the commit is acknowledged."""
    f = far(t)
    f.until(lambda: is_committed(t), "the session has credit")
    m = f.init
    expect(m.outer.src == SOURCE_S and m.outer.dst == "5f00:0:200::" and m.outer.tc == CS6, f"outer header: {m.outer.summary()}")
    expect(m.outer.fl == struct.unpack(">I", m[TEMPLATE][16:])[0], "the label is not that of the sender")
    expect(m.ip.dst == LOOP_F and m.ip.hlim == 255 and m[HOP][:16] == bits(LOOP_S), "the 28 is from somebody else")
    f.until(lambda: any(a.kind == ACKS and a[ACK][4:] == struct.pack(">I", f.number) for a in f.heard), "the commit is acknowledged")
    expect(session(t)["units"] == 16 and session(t)["epoch"] == EPOCH, f"{session(t)}")


def updated(t):
    """A 29 with more buffer: the session has it at once, and sends nothing."""
    f = far(t)
    f.buffer = 24
    f.to_node(RESERVE, (SESSION, 2, f.init[SESSION]), f.hop(f.init), f.credit(UPDATES))
    f.until(lambda: session(t)["units"] == 24, "the update counts")


def refreshed(t):
    """Refreshes are a list of ids (RFC 2961 5.1); to who does not know one, the whole 28 is sent, with the epoch of the credit."""
    f = far(t)
    before = session(t)["epoch"]
    f.look()
    known = f.init[ID]
    for _ in range(3):
        (m,) = f.hears("a refresh", SREFRESH)
        expect(m[ID_LIST][1:4] == known[1:4] and known[4:] in [m[ID_LIST][i:i + 4] for i in range(4, len(m[ID_LIST]), 4)],
               f"{m[ID_LIST].hex()} without the id {known.hex()}")
    f.to_node(ACKS, (ACK, 2, bytes([0]) + known[1:]))
    (m,) = f.hears("the whole message", INIT)
    expect(struct.unpack_from(">8xI", m[CBFC_HOP])[0] == EPOCH, "a refresh without the epoch")
    expect(is_committed(t) and session(t)["epoch"] == before, f"{session(t)}")


def silent(t):
    """The neighbour says nothing for the lifetime of its state: End, and a new start; it comes up again when somebody answers."""
    f = far(t)
    f.answers = False
    f.until(lambda: not is_committed(t), "the session is given up")
    f.until(lambda: any(m.kind == END for m in f.heard), "End")
    f.answers, f.epoch = True, f.epoch + 1
    f.until(lambda: is_committed(t) and session(t)["epoch"] == f.epoch, "the session is back")


def ended(t):
    f = far(t)
    t.nodes["s"].ask("session", "stop", "a")
    f.hears("End", END)
    f.until(lambda: not any(p["session"] == "a" for p in t.nodes["s"].show("rsvp paths")), "nothing is left")
    t.nodes["s"].ask("session", "start", "a")
    f.epoch += 1
    f.until(lambda: is_committed(t), "it begins again")


def of_the_neighbour(t):
    """sluice as the far gateway: it offers what it permits, commits after the selection, acknowledges the End."""
    f = far(t)
    paths = t.nodes["s"].show("rsvp counters")["paths"]
    f.begins()
    offer, commit = None, None

    def both():
        nonlocal offer, commit
        reserves = [m for m in f.heard if m.kind == RESERVE]
        offer = next((m for m in reserves if m.credit()[0] & OFFERS), None)
        commit = next((m for m in reserves if m.credit()[0] & COMMITS), None)
        return offer and commit

    f.until(both, "offer and commit")
    for m in (offer, commit):
        expect(m.ip.src == LOOP_S and m.ip.dst == LOOP_F and m.ip.hlim == 255 and m.lih() == 0x501, f"{m.ip.summary()}")
        expect(m.credit()[3] == 8 and m.credit()[2] == 8, f"{m.credit()} is not what accept permits")
    expect(offer.credit()[1] == commit.credit()[1] != 0, "another epoch")
    f.ends()
    (m,) = f.hears("End ACK", END_ACK)
    expect(m[ACK][4:] == struct.pack(">I", f.number) and m.credit()[3] == 0, f"{m.credit()}")
    f.until(lambda: t.nodes["s"].show("rsvp counters")["committed"] == 0, "the buffer is free")
    expect(t.nodes["s"].show("rsvp counters")["paths"] <= paths + 1, "paths")


def to_the_server(t):
    """A session that ends at the server comes up without a tunnel."""
    h = near(t)
    h.until(lambda: is_committed(t, "h"), "the session has credit")
    m = h.init
    expect(m.outer is None and m.ip.dst == SERVER and m[HOP][:16] == bits(GATE), f"{m.ip.summary()}")
    expect(session(t, "h")["units"] == 16, f"{session(t, 'h')}")


def of_the_server(t):
    """A session of the server: granted because the session of s has credit, and not used while that one has none."""
    f, h = far(t), near(t)
    h.begins()
    commits = lambda: [m for m in h.heard if m.kind == RESERVE and m.credit()[0] & COMMITS]
    h.until(commits, "the commit")
    m = commits()[0]
    expect(m.ip.src == GATE and m.ip.dst == SERVER and m.ip.hlim == 255 and m.lih() == 0x501 and m.credit()[3] == 8, f"{m.ip.summary()}")
    t.nodes["s"].ask("session", "stop", "a")
    h.until(lambda: [m for m in h.heard if m.kind == PATH_ERR], "the server is told")
    f.hears("End", END)
    t.nodes["s"].ask("session", "start", "a")
    f.epoch += 1
    f.until(lambda: is_committed(t), "the session of s is back")
    before = len(commits())
    h.begins()
    h.until(lambda: len(commits()) > before, "the commit is repeated")
    h.ends()
    h.hears("End ACK", END_ACK)
    shown = lambda: [p for p in t.nodes["s"].show("rsvp paths") if p["source"] == SERVER and p["grantor"] == "committed"]
    h.until(lambda: not shown(), "the buffer is free")


def letter(t):
    t.near = t.near or LetterServer(t)
    return t.near


def counters(t):
    return t.nodes["s"].show("rsvp counters")


def to_the_letter_server(t):
    """A session that ends at a server by the letter: its 28 has nothing of ext mode, and the second 29 commits."""
    h = letter(t)
    h.until(lambda: is_committed(t, "h"), "the session has credit")
    expect(h.init.outer is None and h.init.ip.dst == SERVER and h.init[HOP][:16] == bits(GATE), f"{h.init.ip.summary()}")
    expect(set(h.init.objects) == {SESSION, HOP, TIME, TEMPLATE, TSPEC}, f"objects {sorted(h.init.objects)}")
    expect(session(t, "h")["units"] == 16, f"{session(t, 'h')}")


def returned_by_the_letter(t):
    """An increment is acknowledged each time, and counts once."""
    h = letter(t)
    same = h.id()
    for late in (0, 1):
        h.returns(2, same)
        (m,) = h.hears("the acknowledgement", ACKS)
        expect(m[ACK][4:] == same[2][4:], f"{m[ACK].hex()}")
        expect(counters(t)["letter_late"] == late, f"{counters(t)['letter_late']} came late, not {late}")


def ended_by_the_letter(t):
    """End is repeated until it is answered; then the session begins again."""
    h = letter(t)
    h.answers = False
    t.nodes["s"].ask("session", "stop", "h")
    for _ in range(2):
        h.hears("End", END)
    h.answers = True
    h.until(lambda: counters(t)["letter_sessions"] == 0, "nothing is left")
    t.nodes["s"].ask("session", "start", "h")
    h.until(lambda: is_committed(t, "h"), "it begins again")


def of_the_letter_server(t):
    """A session of the server: granted 4 MB once that of s has credit; its End is answered, and the buffer is free."""
    f, h = far(t), letter(t)
    f.until(lambda: is_committed(t), "the session of s has credit")
    h.begins()
    grants = lambda: [m for m in h.heard if m.kind == RESERVE]
    h.until(lambda: len(grants()) >= 2, "an offer, and that it is selected")
    for m in grants()[:2]:
        expect(m.ip.src == GATE and m.ip.dst == SERVER and m.lih() == 0x501, f"{m.ip.summary()}")
        expect(m[LETTER_CREDIT] == struct.pack(">I", 4) and CREDIT not in m.objects, f"{m.objects}")
    expect(counters(t)["letter_reserved"] == 4 << 20, f"{counters(t)['letter_reserved']} bytes reserved")
    h.ends()
    h.hears("End ACK", END_ACK)
    h.until(lambda: counters(t)["letter_reserved"] == 0, "the buffer is free")


def decoded(t):
    """tshark: each message is well-formed, and its checksum right. sluice has refused nothing of scapy's."""
    f = far(t)
    f.look()
    near(t).look()
    f.frames += near(t).frames
    path = t.nodes["s"].folder / "rsvp.pcap"
    wrpcap(str(path), [Ether(x) for x in f.frames])
    text = subprocess.run(["tshark", "-r", path, "-V"], capture_output=True, text=True, check=True).stdout
    wrong = [line.strip() for line in text.splitlines() if re.search(r"Malformed|Exception|incorrect", line)]
    good = len(re.findall(r"Message Checksum: 0x[0-9a-f]{4} \[correct\]", text))
    kinds = {m.kind for m in f.heard + near(t).heard}
    expect(not wrong and good == len(f.frames), f"{good} of {len(f.frames)} messages are right; {wrong[:3]}")
    expect(kinds >= {INIT, RESERVE, END, END_ACK, ACKS}, f"only messages of types {kinds}")
    refused = {k: n for k, n in t.nodes["s"].show("rsvp counters").items() if k.startswith("refused_") and n}
    expect(not refused, f"{refused}")


LIVE = [
    ("a session comes up", comes_up), ("an update", updated), ("refreshes", refreshed), ("the neighbour falls silent", silent),
    ("End, and a new start", ended), ("a session of the neighbour", of_the_neighbour),
    ("a session that ends at a server", to_the_server), ("a session of a server", of_the_server), ("all messages, read by tshark", decoded),
]
LETTER = [
    ("a session that ends at a server by the letter", to_the_letter_server), ("increments", returned_by_the_letter),
    ("End, and a new start, by the letter", ended_by_the_letter), ("a session of a server by the letter", of_the_letter_server),
    ("all messages by the letter, read by tshark", decoded),
]
GROUPS = [("rsvp", network, LIVE), ("letter", letter_network, LETTER)]
