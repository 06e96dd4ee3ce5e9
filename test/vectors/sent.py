#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every RSVP message that left a node in a test, one of each outline (lib/wire/outline.h), decodes in tshark without a
malformed part and with a good checksum. Prints TAP.

    sent.py [--build BUILD] [FOLDER]   those of the unit tests of RSVP, which run first, and the captures that the lab has left in
                                       FOLDER (default: that of the environment variable RSVP_CAPTURE)

Other unit tests and pcap cases have nodes pass on what somebody else has made wrong; what they send is compared byte for byte there.
"""
import argparse
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, ".."))
import tap  # noqa: E402

HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
PACKET_BLOCK = 6  # of pcapng
PROGRAMS = ("message", "node", "edges", "states", "repair", "refresh", "letter", "service", "servers", "shown")
KINDS = {1: "Path", 2: "Resv", 3: "PathErr", 4: "ResvErr", 5: "PathTear", 6: "ResvTear", 7: "ResvConf", 12: "Bundle", 13: "Ack", 15: "Srefresh",
         25: "Challenge", 26: "Response", 28: "Path init", 29: "Reserve", 30: "End", 31: "End ACK"}
LEFT = {3, 4, 12, 13, 15, 25, 26, 28, 29, 30, 31}  # types that nodes send


def frames(path):
    """Frames of a capture of either format; one that breaks off is read as far as it goes."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] == HEAD[:4]:
        at = len(HEAD)
        while at + 16 <= len(data):
            size = struct.unpack_from("<I", data, at + 8)[0]
            yield data[at + 16:at + 16 + size]
            at += 16 + size
        return
    at = 0
    while at + 12 <= len(data):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == PACKET_BLOCK:
            captured = struct.unpack_from("<I", data, at + 20)[0]
            yield data[at + 28:at + 28 + captured]
        at += size


def write(path, all_frames):
    with open(path, "wb") as f:
        f.write(HEAD)
        for frame in all_frames:
            f.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def run_units(build, folder):
    """Problems of running the unit tests that send."""
    problems = []
    for name in PROGRAMS:
        program = os.path.abspath(os.path.join(build, "test", "unit", f"test_rsvp_{name}"))
        if not os.access(program, os.X_OK):
            problems.append(f"{program} is not built")
            continue
        subprocess.run([program], cwd=folder, env=dict(os.environ, RSVP_CAPTURE=folder), capture_output=True, check=False)
    return problems


def packets(text):
    """What tshark says of each packet."""
    return re.split(r"^Frame \d+:", text, flags=re.M)[1:]


def dissect(found):
    """Problems of the frames, by the test that sent them."""
    problems, seen = [], set()
    with tempfile.TemporaryDirectory(prefix="sluice-rsvp-") as folder:
        path = os.path.join(folder, "all.pcap")
        write(path, [frame for _, frame in found])
        done = subprocess.run(["tshark", "-r", path, "-V"], capture_output=True, text=True, errors="replace", check=False)
    shown = packets(done.stdout)
    if len(shown) != len(found):
        return [f"tshark shows {len(shown)} of {len(found)} packets: {done.stderr.strip()[-200:]}"], seen
    for (origin, frame), text in zip(found, shown):
        kinds = re.findall(r"Message Type: .*\((\d+)\)|Message Type: (\d+)", text)
        seen |= {int(a or b) for a, b in kinds}
        wrong = re.findall(r"^.*(?:Malformed|Exception|\[incorrect|Bogus).*$", text, re.M)
        if not re.search(r"Message Checksum: 0x[0-9a-f]{4} \[correct\]", text):
            wrong.append("no good checksum")
        problems += [f"{origin}: {line.strip()}: {frame.hex()}" for line in wrong[:1]]
    return problems, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(TOP, "build"))
    parser.add_argument("folder", nargs="?", default=os.environ.get("RSVP_CAPTURE"))
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory(prefix="sluice-sent-") as folder:
        captures = sorted(glob.glob(os.path.join(options.folder, "lab-*.pcap*"))) if options.folder else []
        results.append(("unit tests that send ran", run_units(options.build, folder)))
        captures += sorted(glob.glob(os.path.join(folder, "*.pcap*")))
        found = list({frame: (os.path.basename(path), frame) for path in captures for frame in frames(path)}.values())
    problems, seen = dissect(found)
    results.append((f"tshark reads {len(found)} messages that left in {len(captures)} programs", problems[:20]))
    results.append(("they are of every type that nodes send", [f"none of type {n}, {KINDS[n]}" for n in sorted(LEFT - seen)]))
    return tap.tell(results)


if __name__ == "__main__":
    sys.exit(main())
