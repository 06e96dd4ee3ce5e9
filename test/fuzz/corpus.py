# SPDX-License-Identifier: BSD-3-Clause
"""Seeds for the fuzz targets, made of the pcap cases and of the configurations in the tree. Nothing is stored."""

import hashlib
import json
import pathlib
import re
import struct
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "test" / "pcap"))
from run import read_pcap  # noqa: E402

CASES = TOP / "test" / "pcap"
ADDRESSED, SEALED, LATER = 4, 8, 16  # flags of a frame: see fuzz_packet.c
LONGEST = 2000
FRAMES_AN_INPUT = 8
# fuzz_icmp.c: every type of error
ERROR_TYPES = range(4)


def arrivals():
    """(case, [(port of the fuzz node, flags, frame)])"""
    for directory in sorted(p.parent for p in CASES.glob("*/case.json")):
        config = (directory / "config.yaml").read_text()
        frames = []
        for path in sorted(directory.glob("in-p*.pcap")):
            number = int(path.stem[4:])
            tenant = re.search(rf"name: p{number},.*side: dc", config) is not None
            port = (2 if tenant else 0) + number % 2
            for frame in read_pcap(path):
                if frame and len(frame) <= LONGEST:
                    own = frame[:6] == bytes([2, 0, 0, 0, 0xD0, number])
                    frames.append((port, ADDRESSED if own else 0, frame))
        yield directory.name, frames


def ip_of(frame):
    """The IP packet in a frame, without padding; None for others."""
    kind = frame[12:14]
    if kind == b"\x86\xdd" and len(frame) >= 54:
        return frame[14:54 + struct.unpack_from("!H", frame, 18)[0]]
    if kind == b"\x08\x00" and len(frame) >= 34:
        return frame[14:14 + struct.unpack_from("!H", frame, 16)[0]]
    return None


def one_of_each(frames, n):
    """The first n, and of the rest those that look different: cases repeat themselves."""
    seen = set()
    for item in frames:
        shape = (item[0], len(item[2]), item[2][12:14], item[2][20:22])
        if shape not in seen:
            seen.add(shape)
            n -= 1
            yield item
        if not n:
            return


def packet_seeds():
    for _, frames in arrivals():
        chosen = list(one_of_each(frames, 2 * FRAMES_AN_INPUT))
        for at in range(0, len(chosen), FRAMES_AN_INPUT):
            part = chosen[at:at + FRAMES_AN_INPUT]
            yield b"".join(struct.pack("<BH", port | flags | SEALED * (n % 2) | LATER * (n == 4), len(frame)) + frame
                           for n, (port, flags, frame) in enumerate(part))


def classify_seeds():
    for _, frames in arrivals():
        for port, flags, frame in one_of_each(frames, 12):
            yield bytes([port | flags]) + frame


def packets(version):
    for _, frames in arrivals():
        for _, _, frame in one_of_each(frames, 12):
            packet = ip_of(frame)
            if packet and packet[0] >> 4 == version:
                yield packet


def srh_seeds():
    for n, packet in enumerate(packets(6)):
        yield bytes([n & 0xFF, packet[7]]) + packet


def chain_seeds():
    yield from packets(6)


def neighbor_seeds():
    for _, frames in arrivals():
        for _, _, frame in frames:
            if frame[12:14] == b"\x08\x06":
                yield b"\x01" + frame[14:]
            elif frame[12:14] == b"\x86\xdd" and frame[20:21] == b":" and 133 <= (frame[54:55] or b"\0")[0] <= 137:
                yield b"\x00" + ip_of(frame)
                yield b"\x02" + ip_of(frame)


def icmp_seeds():
    for n, packet in enumerate([*packets(6), *packets(4)]):
        yield bytes([ERROR_TYPES[n % 4] | (n % 2) * 32]) + packet


def every_key():
    """The text conf_full of the unit tests: each key that there is."""
    source = (TOP / "test" / "support" / "conf.c").read_text().split("conf_full[] =")[1].split(";\n")[0]
    return "".join(json.loads(line) for line in re.findall(r'^[^"]*(".*")$', source, re.M)).encode()


def config_seeds():
    """As they are; out of a file; and short of memory at many places (see fuzz_config.c)."""
    texts = [p.read_bytes() for p in [*sorted(CASES.glob("*/config.yaml")), *sorted((TOP / "config").rglob("*.yaml"))]]
    texts.append(every_key())
    for text in texts:
        yield text
        yield b"\x02" + text
    for text in sorted(texts, key=len)[-3:]:
        inside = b"inside:\n" + b"".join(b"  " + line + b"\n" for line in text.splitlines())
        for n in range(60):
            yield struct.pack("<BH", 1, n) + text
            yield struct.pack("<BH", 3, n) + text
            yield struct.pack("<BH", 6, n) + inside
    yield b"".join(b"unknown-%d: 1\n" % n for n in range(100))  # more mistakes than are listed
    # features of large or unusual files
    yield b"\x01\0\0" + b"[" * 1001
    yield b"&a " * 10001
    yield b"routes: [&r {prefix: 10.0.0.0/8}" + b", *r" * 1100 + b"]"
    yield b"\x02" + b"#\n" * 40000 + texts[0]
    yield b"\x02"
    yield b"\x04"
    for text in texts[::7]:
        yield b"\x05inside:\n" + b"".join(b"  " + line + b"\n" for line in text.splitlines())
    yield b"\x05inside: 3\n"
    sids = [{"sid": "5f00:1:1:e1::/64", "behavior": "End.X.PFC", "flavors": ["psp"], "code": 0x8101, "owner": "r1"},
            {"sid": "5f00:0:e0e1::/48", "behavior": "uA.PFC", "owner": "r2", "block-bits": 32, "node-bits": 0,
             "function-bits": 16, "argument-bits": 80},
            {"sid": "5f00:1:2:6::/64", "behavior": "other", "code": 14, "owner": "r2"}]
    for text in (json.dumps({"remote-sids": sids}), json.dumps({"remote-sids": sids}, indent=1), "{", "[]", '{"a": 1, "a": 2}'):
        yield b"\x07" + text.encode()
    for n in range(60):
        yield struct.pack("<BH", 8, n) + json.dumps({"remote-sids": sids}).encode()
    yield b'node: {name: "a\\0b"}\n'
    yield b'"no\\0de": 1\n'
    yield b"node: {name: a}\n---\nnode: {name: b}\n"
    yield b"node: {name: a}\n---\nnode: [\n"
    yield b"? [node]\n: {name: a}\n"
    yield b"node: [a]\nports: {}\nroutes: 3\n"
    yield b"node: {name: a, name: b, nmae: c, qqqqqqqq: d}\n"
    yield b"ports: [" + b"{}, " * 5000 + b"{}]\n"
    yield b"node: {name: [a], router-id: x}\nports: [{name: p0, mtu: x, rx-queues: {}}]\n"
    yield b"node: {name: \xff\xfe}\n"
    yield b"\x01\0\0" + texts[0]


def scalar_seeds():
    words = ["10", "0x1f", "4K", "100G", "any", "true", "off", "wan", "10.0.0.1", "fe80::1", "10.0.0.0/8", "5f00::/16",
             "5f00::1/64", "02:00:00:00:00:01", "tenant-a", "net_null0", "a: b # c", '"quoted\\"', "", "x" * 256]
    words += ["5ms", "1.5s", "20us", "7ns", "2h", "0.001", "0.1%", "100%", "1.0", "-1", "1e3"]
    for kind in range(17):
        for n, word in enumerate(words):
            yield bytes([kind, n % 7]) + word.encode()


def state_seeds():
    """The messages of the pcap cases, one after the other, from one far PE and from several."""
    messages = [frame[-20:] for _, frames in arrivals() for _, _, frame in frames
                if len(frame) >= 82 and frame[-28:-24] == b"\x12\xba\x12\xba"]
    for peers in (1, 4):
        yield b"".join(bytes([n % peers | 20 << 2, n * 7 % 256]) + m for n, m in enumerate(messages))
    for n, m in enumerate(messages):
        yield bytes([n % 4 | 20 << 2, 1]) + m


def rsvp_messages():
    """The golden messages of the unit test, those of the vectors, and those of public captures."""
    text = (TOP / "test" / "unit" / "test_rsvp_message.c").read_text().split("goldens[] = {")[1].split("};")[0]
    for row in re.findall(r'RSVP_\w+,\s*((?:"[0-9a-f]+"\s*)+)', text):
        yield bytes.fromhex("".join(re.findall(r'"([0-9a-f]+)"', row)))
    for path in sorted((TOP / "test" / "vectors").glob("*.pcap")):
        for frame in read_pcap(path):
            at, following = 54, frame[20]
            while following in (0, 41) and len(frame) > at + 6:
                at, following = (at + 8, frame[at]) if following == 0 else (at + 40, frame[at + 6])
            if following == 46:
                yield frame[at:]
    for line in (TOP / "test" / "fuzz" / "rsvp_public.txt").read_text().splitlines():
        if not line.startswith("#"):
            yield bytes.fromhex(line.split()[1])


def rsvp_seeds():
    messages = list(rsvp_messages())
    for m in messages:
        for options in (0, 1, 3, 9):
            yield bytes([options]) + m
        # each object of an unknown class of each sort, and types of the configuration
        at = 8
        while at + 4 <= len(m):
            for class_num in (77, 177, 240):
                yield b"\1" + m[:at + 2] + bytes([class_num]) + m[at + 3:]
            at += max(4, struct.unpack_from("!H", m, at)[0])
        yield b"\5" + m[:1] + bytes([m[1] + 216 if 28 <= m[1] <= 31 else m[1]]) + m[2:]
    letter = next(m for m in messages if b"\0\x08\x7b\1" in m)
    yield b"\x0b" + letter.replace(b"\0\x08\x7b\1", b"\0\x0c\x7b\1\0\0\x7e\xd9")
    scope = next(m for m in messages if m[1] == 2)
    yield b"\1" + scope[:64] + b"\0\x08\x07\1\1\2\3\4" + scope[64:]
    for part in (messages[:3], messages[2:9]):
        yield b"\1" + struct.pack("!BBHBBH", 0x11, 12, 0, 255, 0, 0) + b"".join(part)


def rsvp_answers():
    """What next hops say to the session that fuzz_rsvp_session.c opens: (O, S, update, 31, PathErr, ResvErr) of its two paths."""
    def obj(class_num, c_type, body):
        return struct.pack("!HBB", 4 + len(body), class_num, c_type) + body

    def message(kind, *objects):
        body = b"".join(objects)
        return struct.pack("!BBHBBH", 0x11, kind, 0, 255, 0, 8 + len(body)) + body

    word = struct.pack("!I", 32473)
    session = obj(1, 2, b"\xfd" + bytes(14) + b"\x09" + struct.pack("!BBH", 17, 0, 4791))
    spec = obj(9, 2, struct.pack("!HHBBH", 0, 7, 5, 0, 6) + struct.pack("!BBHfffII", 127, 0, 5, 1.0, 1.0, 1.0, 64, 4200))
    for n, lih in enumerate((1, 0x102)):
        hop = obj(3, 2, b"\xfd" + bytes(14) + b"\x02" + struct.pack("!I", lih))
        sender = b"\xfd\x01" + bytes(14) + struct.pack("!I", n + 1)
        tail = obj(8, 1, struct.pack("!I", 10)) + spec + obj(10, 3, sender)

        def credit(flags, epoch, sequence, fccl=8192, abr=0):
            return obj(124, 3, word + struct.pack("!BBBBIQQIII", flags, 3, 11, 0, epoch, fccl, abr, 8192, 3000, sequence))

        time = obj(5, 1, struct.pack("!I", 30000))
        ident = obj(23, 1, struct.pack("!II", 0x01000007, 50 + n))
        yield (message(29, session, hop, time, credit(0x80, 7, 1), tail),
               message(29, ident, session, hop, time, credit(0x40, 7, 2), tail),
               message(29, session, hop, credit(0x20, 7, 3, 9000, 100)),
               message(31, session, hop, obj(11, 3, sender)),
               message(3, session, obj(6, 2, b"\xfd" + bytes(15) + struct.pack("!BBH", 0, 1, 0x8002)), obj(11, 3, sender)),
               message(29, session, hop, credit(0x20, 99, 1)),
               message(29, session, hop, time, credit(0x40, 8, 1), tail),
               message(29, session, hop, time, credit(0x80, 8, 1, 9000, 5), tail))


def rsvp_session_seeds():
    """The messages one after the other, alone and with time between; own messages that come back. See fuzz_rsvp_session.c."""
    def step(how, time, message):
        return struct.pack("!BBH", how, time, len(message)) + message

    messages = list(rsvp_messages())
    init = next(m for m in messages if m[1] == 28 and len(m) > 300)
    at = init.index(b"\xfc\1") - 2
    hops = struct.pack("!HBB", 16 + 16 * 20, 252, 1) + init[at + 4:at + 14] + b"\x14\x20" + bytes(320)
    longer = init[:at] + hops + init[at + struct.unpack_from("!H", init, at)[0]:]
    longer = longer[:2] + bytes(2) + longer[4:6] + struct.pack("!H", len(longer)) + longer[8:]
    yield step(0, 1, init) + step(0, 1, longer)
    first, second = rsvp_answers()
    lives = [(first[0], first[1], first[2]), (first[0], second[0], first[1], first[4], second[1]),
             (first[0], first[1], first[5], first[6], first[2]), (first[7], first[1], first[6]), (first[4], second[4]),
             (first[0], second[0], second[1], second[5], first[1], second[3]), (first[2], first[3], second[6], second[7])]
    for life in lives:
        for time in (1, 20, 27, 30, 35):
            for how in (0, 2, 4, 8):
                yield b"".join(step(0, time, m) for m in life) + struct.pack("!BBH", how, time | 1, 0) + step(0, 28, life[-1])
                yield b"".join(step(how if n else 0, time, m) for n, m in enumerate(life)) + step(4, 29, b"") + step(0, 1, first[3])
    for time in (1, 20, 28, 31, 34, 37):
        for m in messages:
            yield step(0, time, m) * 2
        for at in range(0, len(messages), 5):
            yield b"".join(step(0, time, m) for m in messages[at:at + 8])
        for which in (0, 0x100, 0x300, 0x500, 0x700):
            own = b"".join(struct.pack("!BBHB", 1, time, which | n % 8, 0) for n in range(40))
            yield own
            yield step(0, 1, messages[12]) + own + struct.pack("!BBH", 4 | 8, time, 0) + own
            yield own + struct.pack("!BBH", 2, time | 1, 0) + own + struct.pack("!BBH", 2, time & 62, 0) + own


def rsvp_letter_seeds():
    """Lives of sessions by the letter: of the one that fuzz_rsvp_letter.c opens, and of those that the vectors begin and end."""
    def obj(class_num, c_type, body):
        return struct.pack("!HBB", 4 + len(body), class_num, c_type) + body

    def message(kind, *objects):
        body = b"".join(objects)
        return struct.pack("!BBHBBH", 0x11, kind, 0, 255, 0, 8 + len(body)) + body

    def step(how, time, m):
        return struct.pack("!BBH", how, time, len(m)) + m

    def credit(amount):
        return obj(123, 1, struct.pack("!I", amount))

    time, tspec = obj(5, 1, struct.pack("!I", 30000)), struct.pack("!BBHfffII", 127, 0, 5, 1.0, 1.0, 1.0, 64, 4200)
    spec = obj(9, 2, struct.pack("!HHBBH", 0, 7, 5, 0, 6) + tspec)
    lives = []
    for lih in (1, 0x102):  # answers to the session that the node has opened
        session = obj(1, 2, b"\xfd" + bytes(14) + b"\x09" + struct.pack("!BBH", 17, 0, 4791))
        hop, sender = obj(3, 2, b"\xfd" + bytes(14) + b"\x02" + struct.pack("!I", lih)), b"\xfd\x01" + bytes(14) + struct.pack("!HH", 0, 49169)
        flow = obj(8, 1, struct.pack("!I", 10)) + spec + obj(10, 2, sender)
        grant = message(29, session, hop, time, credit(16), flow)
        paid = message(29, obj(23, 1, struct.pack("!II", 0x01000007, 50 + lih)), session, hop, credit(2))
        error = message(3, session, obj(6, 2, b"\xfd" + bytes(14) + b"\x02" + struct.pack("!BBH", 0, 1, 0x8002)), obj(11, 2, sender))
        lives += [(grant, grant, paid, paid, grant), (error, grant, paid, error),
                  (grant, message(2, session, hop, time, flow), message(31, session, hop, obj(11, 2, sender)))]
    for family, prefix in ((6, b"\xfd" + bytes(14)), (4, b"\x0a\0\0")):  # sessions of neighbours, in each role
        for last in range(4):
            session = obj(1, 2 if family == 6 else 1, prefix + bytes([4 + last]) + struct.pack("!BBH", 17, 0, 4791))
            hop = obj(3, 2 if family == 6 else 1, prefix + b"\x02" + struct.pack("!I", 77))
            sender = prefix + b"\x33" + struct.pack("!HH", 0, 49000)
            template = obj(11, 2 if family == 6 else 1, sender)
            init = message(28, session, hop, time, template, obj(12, 2, struct.pack("!HHBBH", 0, 7, 1, 0, 6) + tspec))
            end = message(30, session, hop, template)
            many = message(28, session, hop, time, *(obj(240, 1, bytes(400)) for _ in range(3)), template,
                           obj(12, 2, struct.pack("!HHBBH", 0, 7, 1, 0, 6) + tspec))
            lives += [(init, init, end, end), (end, init, end), (many, init, many, end)]
    for path in sorted((TOP / "test" / "vectors").glob("v39*.pcap")):
        lives.append([frame[62 if frame[20] == 0 else 54:] for frame in read_pcap(path)])
    for life in lives:
        for time_of in (1, 20, 27, 30, 35):
            for how in (0, 2, 8, 0x10, 0x20, 0x48):
                yield b"".join(step(how if n else how & 0x70, time_of, m) for n, m in enumerate(life))
                yield b"".join(step(how & 0x78, time_of | 1, m) for m in life) + struct.pack("!BBH", 4 | how, time_of, 0) + step(0, 20, life[-1])
    for time_of in (1, 20, 28, 31, 34, 37):
        for which in (0, 0x100, 0x300, 0x500, 0x700):
            own = b"".join(struct.pack("!BBHB", 1, time_of, which | n % 8, 0) for n in range(20))
            yield own
            yield own + struct.pack("!BBH", 4 | 8, time_of, 0) + own


def bfd_session_seeds():
    """Sessions that come up, by each kind of packet, and what is wrong with single packets. See fuzz_bfd_session.c."""
    def message(state, flags=0, length=24, version=1, multiplier=3, my=0x77, rest=b""):
        return struct.pack("!BBBBIIIII", version << 5, state << 6 | flags, multiplier, length, my, 0x1000, 10000, 10000, 5000) + rest

    sha1 = struct.pack("!BBBBI", 5, 28, 7, 0, 9) + bytes(20)
    for which in range(4):
        for port in range(4):
            states = (1, 2, 3, 3, 1, 0) if port != 3 else (3, 3, 0)
            for flags in (0, 0x20, 0x10, 0x02):
                yield b"".join(bytes([which | 4 | port << 4, 1 | 2 << 6]) + message(s, flags) for s in states)
    yield b"".join(bytes([1 | 4 | 8, 1]) + message(s, 4, 52, rest=sha1[:7] + bytes([9 + n]) + bytes(20))
                   for n, s in enumerate((1, 2, 3, 3, 1)))
    bad = [message(3, 4, 26, rest=b"\x01\x02"), message(3, 4, 51, rest=sha1), message(3, version=2), message(3, multiplier=0),
           message(3, 1), message(3, my=0), message(3, length=23), message(3, length=60), message(3, 4, 25, rest=b"\x01\x02"),
           message(3, 4, 52, rest=b"\x05\x1b" + sha1[2:]), message(3, 4, 52, rest=b"\x05\x01" + sha1[2:])]
    for m in bad:
        yield bytes([4, 1]) + m.ljust(52, b"\0")
        yield bytes([0x44, 1]) + m.ljust(52, b"\0")
        yield bytes([0x84, 1]) + m.ljust(52, b"\0")
    for short in range(4):
        yield bytes([4, 1 | short << 6]) + message(1)[:52 - 14 * short]
    # the state is Up and nobody is named
    yield bytes([0, 1 | 2 << 6]) + message(3)[:8] + bytes(4) + message(3)[12:]


def command_seeds():
    """The table, the transcripts, and the same over the socket."""
    lines = re.findall(r"^## `(.*)`$", (TOP / "docs" / "commands.md").read_text(), re.M)
    for path in (TOP / "test" / "system" / "transcripts").glob("*.txt"):
        lines += re.findall(r"^> (.*)$", path.read_text(), re.M)
    for line in sorted(set(lines)):
        yield f"{line}\n".encode()
        yield f"{line} -j".encode()
    yield b"x show ports\nx quit\n" + b"a" * 5000 + b"\nshow \0ports\n"


def steer_seeds():
    """Each packet three times, the second with another PSN; and flows of the documents."""
    for packet in [*packets(6), *packets(4)]:
        one = struct.pack(">H", len(packet)) + packet
        yield b"\0" + one + one[:-1] + bytes([one[-1] ^ 1]) + one
    for opcode, rest in [(0x11, bytes([s]) + bytes(3)) for s in (0x1f, 0x20, 0x60, 0x64)] + [(0x81, bytes(16))]:
        bth = bytes([opcode, 0, 0xff, 0xff, 0x40, 0, 0, 7, 0, 0, 0, 9]) + rest + bytes(4)
        udp = struct.pack(">HHHH", 49152, 4791, 8 + len(bth), 0) + bth
        four = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes([10, 3, 0, 11]), bytes([10, 1, 0, 10])) + udp
        for end in range(28, len(four) + 1, 4):
            yield b"\0" + struct.pack(">H", end) + four[:end]
    texts = [p.read_text() for p in [TOP / "docs" / "path-placement.md", TOP / "docs" / "commands.md", *CASES.glob("steer*/config.yaml")]]
    for flow in sorted({f for t in texts for f in re.findall(r"(?:vrf|src|qp|policy)=[\w.:,=/-]+", t)}):
        yield b"\x80" + flow.encode()


SEEDS = {
    "bfd": lambda: (seed[2:] for seed in bfd_session_seeds()), "bfd_session": bfd_session_seeds,
    "command": command_seeds,
    "chain": chain_seeds, "classify": classify_seeds, "config": config_seeds, "icmp": icmp_seeds,
    "neighbor": neighbor_seeds, "packet": packet_seeds, "rsvp": rsvp_seeds,
    "rsvp_letter": rsvp_letter_seeds, "rsvp_session": rsvp_session_seeds, "scalar": scalar_seeds, "srh": srh_seeds, "state": state_seeds, "steer": steer_seeds,
}


def write_seeds(target, folder):
    """Files of a target's seeds; how many."""
    folder.mkdir(parents=True, exist_ok=True)
    for seed in SEEDS[target]():
        (folder / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
    return len(list(folder.iterdir()))


def write_words(path):
    """A dictionary for YAML: the keys and the words of the reference."""
    text = (TOP / "config" / "reference.yaml").read_text()
    words = set(re.findall(r"[A-Za-z][\w.-]+(?=:)|one of ([\w., -]+);", text)) | set(re.findall(r"[A-Za-z.]{2,}", text))
    path.write_text("".join(f'"{w}"\n' for w in sorted(filter(None, words))))
