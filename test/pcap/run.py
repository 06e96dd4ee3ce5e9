#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the pcap cases below this directory through sluice and compare what it sends. Output is TAP."""

import argparse
import collections
import concurrent.futures
import difflib
import hashlib
import hmac
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import machine  # noqa: E402

IDLE_MS = "150"
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
# by the first bytes: time stamps in microseconds or nanoseconds, either byte order
PCAP_ORDER = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}
MOST_DIFF_LINES = 60
SANITIZER = r"runtime error:|ERROR: \w+Sanitizer"
LATE = re.compile(r"did not end within|frames were read of")


# --- captures


def read_pcap(path):
    """The frames of a capture; none if the file does not exist."""
    if not path.exists():
        return []
    data = path.read_bytes()
    order = PCAP_ORDER[data[:4]]
    frames, at = [], len(PCAP_HEADER)
    while at < len(data):
        size = struct.unpack_from(order + "I", data, at + 8)[0]
        frames.append(data[at + 16 : at + 16 + size])
        at += 16 + size
    return frames


def write_pcap(path, frames):
    records = (struct.pack("<IIII", 0, 0, len(f), len(f)) + f for f in frames)
    path.write_bytes(PCAP_HEADER + b"".join(records))


# --- masks: fields that a case may leave open, by the name used in case.json


def mask_outer_flow_label(frame):
    """The label may be anything but 0."""
    if frame[12:14] != b"\x86\xdd" or len(frame) < 18:
        return frame
    word = struct.unpack_from(">I", frame, 14)[0]
    return frame[:14] + struct.pack(">I", word & ~0xFFFFF | (word & 0xFFFFF != 0)) + frame[18:]


def mask_state_epoch(frame):
    """State messages of a PFC relay: the epoch is drawn at the start, and the UDP checksum is over it too."""
    if len(frame) < 14 + 40 + 28 or frame[12:14] != b"\x86\xdd" or frame[-20] != 1:
        return frame
    return frame[:-22] + bytes(2) + frame[-20:-16] + bytes(4) + frame[-12:]


# PFC frames with a trailer, and state messages with a digest: bytes, then where the time of the run (8) and the key id are
DIGESTED = ((112, 72, 68), (60, 4, 24))


def mask_digest(frame, keys):
    """PFC with a digest: the time of the run is in it. A digest that is right is cut out, together with that time."""
    if frame[12:14] != b"\x86\xdd" or len(frame) < 14 + 40 + 60:
        return frame
    end = frame[62:78] if frame[20] == 43 else frame[38:54]
    for size, time_at, key_at in DIGESTED:
        message = frame[-size:-32]
        key = keys.get(int.from_bytes(message[key_at:key_at + 4], "big"), b"")
        if hmac.new(key, frame[22:38] + end + message, hashlib.sha256).digest() == frame[-32:]:
            checksum = 2 if size == 60 else 0  # of UDP, over the time
            return (frame[:-size - checksum] + bytes(checksum) + message[:time_at] + bytes(8) + message[time_at + 8:] + bytes(32))
    return frame


# counters of messages that are right, and have no effect
RSVP_DROPS = {"loop", "duplicate", "other_family", "late", "bad_lih", "bad_hop", "bad_session", "bad_epoch", "bad_unit", "no_state", "no_event",
              "no_memory", "letter_duplicate", "letter_bad_lih", "letter_bad_hop", "letter_late", "letter_no_id", "letter_no_grant",
              "letter_no_event", "letter_no_room"}
RSVP, RSVP_INTEGRITY, RSVP_MESSAGE_ID, RSVP_CREDIT, RSVP_CHALLENGE, RSVP_CHALLENGES = 46, 4, 23, 124, 64, 25


def rsvp_at(frame):
    """Where the RSVP message of a frame begins, natively or in a tunnel; None: there is none, or a length is wrong."""
    at, protocol = 14, 41
    if frame[12:14] != b"\x86\xdd":
        return None
    while protocol == 41 and len(frame) >= at + 48:
        if struct.unpack_from(">H", frame, at + 4)[0] != len(frame) - at - 40:
            return None
        protocol, at = frame[at + 6], at + 40
    if protocol == 0:
        protocol, at = frame[at], at + 8 * (frame[at + 1] + 1)
    return at if protocol == RSVP and struct.unpack_from(">H", frame, at + 6)[0] == len(frame) - at else None


def is_signed(message, keys):
    """Is the digest of the first object right, with HMAC-MD5 or HMAC-SHA-256?"""
    end = 8 + struct.unpack_from(">H", message, 8)[0]
    key, digest = keys.get(int.from_bytes(message[14:20], "big"), b""), message[28:end]
    plain = message[:2] + bytes(2) + message[4:28] + bytes(len(digest)) + message[end:]
    return hmac.new(key, plain, hashlib.md5 if len(digest) == 16 else hashlib.sha256).digest() == digest


def mask_rsvp(frame, keys):
    """RSVP: what a node draws at random, or counts from the time of its start: epochs of CREDIT, MESSAGE_ID, the cookie of a challenge, and
    of INTEGRITY the sequence number. Checksum and digest depend on them: a right one is cut out, a wrong one is left."""
    start = rsvp_at(frame)
    if start is None:
        return frame
    message, at, objects = frame[start:], 8, []
    total = sum(struct.unpack(f">{len(message) // 2}H", message))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    while at < len(message) and struct.unpack_from(">H", message, at)[0] >= 4:
        size, number = struct.unpack_from(">HB", message, at)
        body = message[at:at + size]
        if number == RSVP_INTEGRITY and is_signed(message, keys):
            body = body[:12] + bytes(8)
        if number == RSVP_CREDIT:
            body = body[:12] + bytes(4) + body[16:]
        if number == RSVP_CHALLENGE and message[1] == RSVP_CHALLENGES:
            body = body[:12] + bytes(8)
        objects += [body] if number != RSVP_MESSAGE_ID else []
        at += size
    right = bytes(2) if total == 0xFFFF else message[2:4]
    front = frame[:18] + bytes(2) + frame[20:start]
    if frame[20] == 41:  # the length of the inner header as well
        front = front[:58] + bytes(2) + front[60:]
    return front + message[:2] + right + message[4:6] + bytes(2) + b"".join(objects)


def keys_of(directory):
    lines = (directory / "hmac.keys").read_text().splitlines() if (directory / "hmac.keys").exists() else []
    return {int(words[0], 0): bytes.fromhex(words[1]) for words in map(str.split, lines) if len(words) > 1 and words[0] != "#"}


MASKS = {"outer_flow_label": mask_outer_flow_label, "state_epoch": mask_state_epoch}
KEYED = {"digest": mask_digest, "rsvp": mask_rsvp}


def masked(case, frames, directory):
    for name in case.get("mask", []):
        if name in KEYED:
            keys = keys_of(directory)
            frames = [KEYED[name](f, keys) for f in frames]
        else:
            frames = [MASKS[name](f) for f in frames]
    if case.get("repeats"):  # how often a pause or its end is said again depends on time
        frames = [f for f, before in zip(frames, [None, *frames]) if f != before]
    return frames


# --- how frames are shown


def hexdump(frame):
    return [f"{at:04x}  {frame[at:at + 16].hex(' ')}" for at in range(0, len(frame), 16)]


def decode(frame, work):
    """The frame as decoded by tshark, from Ethernet on; hexadecimal without tshark."""
    path = work / "frame.pcap"
    write_pcap(path, [frame])
    try:
        out = subprocess.run(["tshark", "-V", "-r", path], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return hexdump(frame)
    lines = out.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith("Ethernet")), 0)
    return [line for line in lines[first:] if line]


def difference(expected, sent, work):
    for show in (lambda f: decode(f, work), hexdump):
        lines = list(difflib.unified_diff(show(expected), show(sent), "expected", "sent", n=2, lineterm=""))
        if lines:
            return lines[:MOST_DIFF_LINES] + ["..."] * (len(lines) > MOST_DIFF_LINES)
    return []


def too_many(port, frames, work):
    return [f"{port}: {len(frames)} frames too many; the first:"] + decode(frames[0], work)[:MOST_DIFF_LINES]


def too_few(port, frames, work):
    return [f"{port}: {len(frames)} frames were not sent; the first:"] + decode(frames[0], work)[:MOST_DIFF_LINES]


# --- comparing


def compare_in_order(port, expected, sent, work):
    for i, (want, got) in enumerate(zip(expected, sent)):
        if want != got:
            first = f"{port}: frame {i + 1} differs ({len(sent)} sent, {len(expected)} expected)"
            return [first] + difference(want, got, work)
    if len(sent) > len(expected):
        return too_many(port, sent[len(expected) :], work)
    return too_few(port, expected[len(sent) :], work) if len(sent) < len(expected) else []


def compare_unordered(port, expected, sent, work):
    missing = list((collections.Counter(expected) - collections.Counter(sent)).elements())
    extra = list((collections.Counter(sent) - collections.Counter(expected)).elements())
    if missing and extra:
        nearest = min(extra, key=lambda f: unlikeness(missing[0], f))
        first = f"{port}: {len(missing)} frames were not sent, in no order; the first, and what is nearest to it:"
        return [first] + difference(missing[0], nearest, work)
    if extra:
        return too_many(port, extra, work)
    return too_few(port, missing, work) if missing else []


def unlikeness(a, b):
    return sum(x != y for x, y in zip(a, b)) + abs(len(a) - len(b))


def compare_spread(spread, expected, sent):
    """
    Each flow takes one of several ways. A port's expectation lists all frames once for each way it offers
    (spread[port] of them); equal frames belong to one flow. Every flow goes one way, and every way is used.
    """
    ways = []
    for port, n in spread.items():
        size = len(expected[port]) // n
        ways += [(port, expected[port][k * size : (k + 1) * size]) for k in range(n)]
    problems, used = [], set()
    left = {port: collections.Counter(sent[port]) for port in spread}
    for i in range(len(ways[0][1])):
        taken = [w for w, (port, frames) in enumerate(ways) if left[port][frames[i]] > 0]
        if len(taken) != 1:
            problems.append(f"the flow of frame {i + 1} took {len(taken)} ways instead of one")
            continue
        used.add(taken[0])
        port, frames = ways[taken[0]]
        left[port][frames[i]] -= 1
    problems += [f"{port}: {sum(left[port].values())} frames too many" for port in spread if sum(left[port].values())]
    problems += [f"way {w + 1} ({port}) was never taken" for w, (port, _) in enumerate(ways) if w not in used]
    return problems


def check_frames(case, ports, directory, work):
    strays = {p.stem.split("-", 1)[1] for p in directory.glob("*-*.pcap")} - set(ports)
    if strays:
        return [f"captures of ports that the configuration does not have: {', '.join(sorted(strays))}"]
    spread = case.get("spread", {})
    expected = {p: masked(case, read_pcap(directory / f"expect-{p}.pcap"), directory) for p in ports}
    sent = {p: masked(case, read_pcap(work / f"out-{p}.pcap"), directory) for p in ports}
    problems = compare_spread(spread, expected, sent) if spread else []
    for port in ports:
        if port in case.get("unordered", []):
            problems += compare_unordered(port, expected[port], sent[port], work)
        elif port not in spread:
            problems += compare_in_order(port, expected[port], sent[port], work)
    return problems


def check_drops(case, report):
    expected = {(p, r): n for p, reasons in case.get("drops", {}).items() for r, n in reasons.items()}
    counted = {(d["port"], d["reason"]): d["packets"] for d in report["drops"]}
    return [
        f"{key[0]}: {key[1]}: {counted.get(key, 0)} packets counted, {expected.get(key, 0)} expected"
        for key in sorted(expected.keys() | counted.keys())
        if expected.get(key, 0) != counted.get(key, 0)
    ]


def check_rsvp(case, report):
    """Reasons for which RSVP messages were refused, or had no effect; exactly."""
    expected = case.get("rsvp")
    if expected is None:
        return []
    counted = {k: n for k, n in report["rsvp counters"].items() if n and (k in expected or k.startswith("refused_") or k in RSVP_DROPS)}
    return [f"rsvp: {name}: {counted.get(name, 0)} counted, {expected.get(name, 0)} expected"
            for name in sorted(expected.keys() | counted.keys()) if expected.get(name, 0) != counted.get(name, 0)]


def check_input(report, work):
    return [
        f"{p['port']}: {p['rx']} frames were read of {len(frames)} in its file"
        for p in report["ports"]
        for frames in [read_pcap(work / f"in-{p['port']}.pcap")]
        if p["rx"] != len(frames)
    ]


def check_report(case, work):
    path = work / "report.json"
    if not path.exists():
        return [] if case.get("status", 0) else ["no report was written"]
    report = json.loads(path.read_text())
    return check_input(report, work) + check_drops(case, report) + check_rsvp(case, report)


# --- one case


class Runner:
    def __init__(self, options):
        self.options = options
        self.cpus = sorted(os.sched_getaffinity(0))
        self.running = set()
        self.lock = threading.Lock()

    def prepare(self, case, directory, work, index):
        """Copy the case; returns the ports it has and the name the node got."""
        for keys in directory.glob("*.keys"):  # git keeps no modes
            (work / keys.name).write_bytes(keys.read_bytes())
            (work / keys.name).chmod(int(case.get("keys_mode", "600"), 8))
        name = f"pcap-{os.getpid()}-{index}"
        text = (directory / "config.yaml").read_text()
        # a node's name is also the name of its EAL, of which there can only be one
        text = re.sub(r"\bname: [\w.-]+", f"name: {name}", text, count=1)
        text = re.sub(r"(?<=@)\d+", lambda m: self.cpu(int(m[0]), index), text)
        (work / "config.yaml").write_text(text)
        ports = re.findall(r"rx_pcap=in-([\w.-]+)\.pcap", text)
        for port in ports:
            source = directory / f"in-{port}.pcap"
            (work / source.name).write_bytes(source.read_bytes() if source.exists() else PCAP_HEADER)
        return ports, name

    def cpu(self, number, index):
        """CPUs in a configuration are numbers among those we may use, a pair of them further for each case."""
        return str(self.cpus[(number + 2 * index) % len(self.cpus)])

    def start(self, case, work):
        """Exit status (None: timed out) and stderr of sluice."""
        command = [self.options.sluice, "-c", "config.yaml", "--exit-when-idle", IDLE_MS, "--report", "report.json"]
        process = subprocess.Popen(
            command + case.get("args", []), cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        with self.lock:
            self.running.add(process)
        try:
            _, stderr = process.communicate(timeout=machine.patience(self.options.timeout))
            return process.returncode, stderr
        except subprocess.TimeoutExpired:
            process.kill()
            return None, process.communicate()[1]
        finally:
            with self.lock:
                self.running.discard(process)

    def stop(self):
        with self.lock:
            for process in self.running:
                process.kill()

    def check(self, case, directory, work, index):
        ports, name = self.prepare(case, directory, work, index)
        try:
            status, stderr = self.start(case, work)
        finally:
            remove_runtime_files(name)
        problems = []
        if status is None:
            problems.append(f"sluice did not end within {self.options.timeout} s")
        elif status != case.get("status", 0):
            problems.append(f"exit status {status}, {case.get('status', 0)} expected")
        if not re.search(case.get("stderr", ""), stderr):
            problems.append(f"stderr has no '{case['stderr']}'")
        if re.search(SANITIZER, stderr):
            problems.append("a sanitizer has something to say")
        if problems:
            return problems + ["stderr:"] + stderr.splitlines()
        return check_report(case, work) + check_frames(case, ports, directory, work)

    def run(self, directory, index):
        """Diagnostics of one case; none when it passes. A case that counts on real time (real_time) has five tries."""
        case = json.loads((directory / "case.json").read_text())
        for _ in range(5 if case.get("real_time") else 1):
            problems = self.run_once(case, directory, index)
            if not problems:
                break
        return problems

    def run_once(self, case, directory, index):
        if self.options.keep:
            work = self.options.keep / directory.name
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            problems = self.check(case, directory, work, index)
        else:
            with tempfile.TemporaryDirectory(prefix="sluice-pcap-") as work:
                problems = self.check(case, directory, pathlib.Path(work), index)
        return [f"{case['title']} ({case['ref']})"] + problems if problems else []

    def attempts(self, directory, index):
        """
        The result of a case. Frames come from files and none is late, so load explains one thing only: that sluice did not
        start or end in time.
        """

        def once():
            problems = self.run(directory, index)
            in_time = not any(LATE.search(line) for line in problems)
            return problems, in_time

        return machine.attempt(once)


def remove_runtime_files(name):
    """Remove the files of a killed process: the EAL's directory, the node's pid file."""
    for base in map(pathlib.Path, ("/run", os.environ.get("XDG_RUNTIME_DIR", "/tmp"))):
        shutil.rmtree(base / "dpdk" / f"sluice-{name}", ignore_errors=True)
        (base / "sluice" / f"{name}.pid").unlink(missing_ok=True)


# --- all cases


def options_of(arguments):
    root = HERE.parent.parent
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", type=pathlib.Path, default=root / "build/app/sluice/sluice", help="program to test")
    parser.add_argument("--jobs", type=int, default=4, help="cases that run at once (default: %(default)s)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="work in DIR/CASE and leave everything there")
    parser.add_argument("--timeout", type=float, default=20, help="seconds for one case (default: %(default)s)")
    parser.add_argument("-k", dest="pattern", default="", help="only cases whose name matches this regular expression")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    options = parser.parse_args(arguments)
    options.sluice = options.sluice.resolve()
    options.keep = options.keep and options.keep.resolve()
    if not options.list and not options.sluice.exists():
        parser.error(f"there is no {options.sluice}; build it, or name another with --sluice")
    return options


def main(arguments):
    options = options_of(arguments)
    wanted = re.compile(options.pattern, re.IGNORECASE)
    cases = sorted(p.parent for p in HERE.glob("*/case.json") if wanted.search(p.parent.name))
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    machine.watch()  # before there are several threads
    runner = Runner(options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print(f"1..{len(cases)}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = [pool.submit(runner.attempts, directory, i) for i, directory in enumerate(cases)]
        try:
            for number, (directory, result) in enumerate(zip(cases, results), 1):
                failed += result.result().outcome == machine.FAIL
                result.result().print(number, directory.name)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            runner.stop()
            raise
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
