#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Random packets through the real sluice and through the model; any difference in packets sent or in counters
fails, with the packet that makes it. Prints TAP, a test a seed.

    run.py                       the seeds that belong to the tests
    run.py --seeds 100..400      others
    run.py --seeds 7 --packets 50000
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import machine  # noqa: E402
from block import BLOCKS, Block  # noqa: E402
from generate import PORTS, Generator  # noqa: E402
from model import Abstain, Model  # noqa: E402
from node import config  # noqa: E402

PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
ALL_PORTS = [*PORTS, "p4"]
SHOWN = 3  # differing packets of a seed


def write_pcap(path, frames):
    path.write_bytes(PCAP_HEADER + b"".join(struct.pack("<IIII", 0, 0, len(f), len(f)) + f for f in frames))


def read_pcap(path):
    data = path.read_bytes() if path.exists() else PCAP_HEADER
    frames, at = [], 24
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + size])
        at += 16 + size
    return frames


class Outcome:
    """Frames that left and reasons counted, whatever their order."""

    def __init__(self):
        self.sent, self.counted = collections.Counter(), collections.Counter()

    def __eq__(self, other):
        return self.sent == other.sent and self.counted == other.counted


class Sluice:
    def __init__(self, program, folder, timeout, block):
        self.program, self.folder, self.timeout = program, pathlib.Path(folder), timeout
        text = block.moved(config())
        self.name = f"diff{os.getpid()}"
        text["node"]["name"] = self.name
        text["lcores"]["cpus"] = f"0@{min(os.sched_getaffinity(0))}"
        keys = "".join(f"{n} {key}\n" for n, key in text.pop("hmac-keys").items())
        (self.folder / "hmac.keys").write_text(keys)
        (self.folder / "hmac.keys").chmod(0o600)
        for policy in text["policies"]:
            for path in policy["paths"]:
                del path["containers"]
        (self.folder / "config.yaml").write_text(json.dumps(text, indent=1))

    def run(self, arrivals):
        """Outcome of [(port, frame)]."""
        for port in ALL_PORTS:
            write_pcap(self.folder / f"in-{port}.pcap", [f for p, f in arrivals if p == port])
            (self.folder / f"out-{port}.pcap").unlink(missing_ok=True)
        command = [self.program, "-c", "config.yaml", "--exit-when-idle", "150", "--report", "report.json"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=machine.patience(self.timeout), check=False)
        for base in ("/run/dpdk", os.path.join(os.environ.get("XDG_RUNTIME_DIR", "/tmp"), "dpdk")):
            shutil.rmtree(os.path.join(base, "sluice-" + self.name), ignore_errors=True)
        if done.returncode or re.search(r"runtime error:|ERROR: \w+Sanitizer", done.stderr):
            raise RuntimeError(f"sluice ended with status {done.returncode}: {done.stderr[-3000:]}")
        outcome = Outcome()
        for port in ALL_PORTS:
            for frame in read_pcap(self.folder / f"out-{port}.pcap"):
                outcome.sent[port, frame] += 1
        for row in json.loads((self.folder / "report.json").read_text())["drops"]:
            outcome.counted[row["port"], row["reason"]] += row["packets"]
        return outcome


def model_outcome(model, arrivals):
    outcome = Outcome()
    for port, frame in arrivals:
        sent, counted = model.receive(port, frame)
        for item in sent:
            outcome.sent[item] += 1
        for key, n in counted.items():
            outcome.counted[key] += n
    return outcome


def arrivals_of(model, seed, count, block):
    """Packets for which the model makes a prediction, and the number of those for which it makes none."""
    generator, found, skipped = Generator(seed, block), [], 0
    while len(found) < count:
        port, frame = generator.next()
        try:
            model.receive(port, frame)
            found.append((port, frame))
        except Abstain:
            skipped += 1
    return found, skipped


def differing(sluice, model, arrivals):
    """One packet that sluice and the model do not agree about, out of those that together differ."""
    while len(arrivals) > 1:
        half = arrivals[:len(arrivals) // 2]
        if sluice.run(half) == model_outcome(model, half):
            half = arrivals[len(half):]
            if sluice.run(half) == model_outcome(model, half):
                return None
        arrivals = half
    return arrivals[0]


def decoded(frames):
    """The frames as decoded by tshark, or bytes without tshark."""
    lines = []
    for port, frame in frames:
        with tempfile.NamedTemporaryFile(suffix=".pcap") as f:
            write_pcap(pathlib.Path(f.name), [frame])
            done = subprocess.run(["tshark", "-r", f.name, "-V", "-O", "ipv6,ip,icmpv6,icmp"], capture_output=True,
                                  text=True, check=False)
        lines.append(f"  by {port}, {len(frame)} bytes: {frame.hex()}")
        lines += [f"    {line}" for line in done.stdout.splitlines() if line.strip()][1:40]
    return lines or ["  nothing"]


def explain(sluice, model, packet):
    port, frame = packet
    ours, theirs = sluice.run([packet]), model_outcome(model, [packet])
    lines = [f"arrives at {port}:"] + decoded([packet])
    lines += [f"sluice counts {dict(ours.counted)}, sends:"] + decoded(ours.sent)
    lines += [f"the model counts {dict(theirs.counted)}, sends:"] + decoded(theirs.sent)
    return lines


def test_seed(sluice, model, seed, count, block):
    arrivals, skipped = arrivals_of(model, seed, count, block)
    name = f"seed {seed}: block {block.net}, {count} packets, {skipped} more that the model leaves open"
    expected, found, problems = model_outcome(model, arrivals), sluice.run(arrivals), []
    if not expected.sent or len(expected.counted) < 10:
        problems.append("the packets of this seed say too little")
    rest = arrivals
    while found != expected and len(problems) < 400:
        packet = differing(sluice, model, rest)
        if packet is None:
            problems.append("all of them together differ, but not in parts")
            break
        problems += explain(sluice, model, packet)
        if sum(line.startswith("arrives") for line in problems) >= SHOWN:
            break
        rest = [a for a in rest if a != packet]
        expected, found = model_outcome(model, rest), sluice.run(rest)
    return name, problems, expected


def seeds_of(text):
    first, _, last = text.partition("..")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", type=pathlib.Path, default=HERE.parent.parent / "build/app/sluice/sluice")
    parser.add_argument("--seeds", type=seeds_of, default=range(1, 11), metavar="A..B")
    parser.add_argument("--block", help="of uSIDs; default: by the seed")
    parser.add_argument("--packets", type=int, default=1000, help="of each seed (default: %(default)s)")
    options = parser.parse_args()
    failed = 0
    print(f"1..{len(options.seeds)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="sluice-diff-") as folder:
        for number, seed in enumerate(options.seeds, 1):
            # half of the seeds have the block that most networks have
            block = Block(options.block or (BLOCKS[0] if seed % 2 else BLOCKS[seed // 2 % len(BLOCKS)]))
            sluice = Sluice(options.sluice.resolve(), folder, 60, block)
            model = Model(block.moved(config()))
            name, problems, _ = test_seed(sluice, model, seed, options.packets, block)
            failed += bool(problems)
            print(f"{'not ok' if problems else 'ok'} {number} - {name}")
            for line in problems:
                print(f"# {line}")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
