#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Show the main job: RoCEv2 in, SRv6 across four nodes, RoCEv2 out.

Four sluice processes run at the same time, joined by memif; a capture goes in at the gateway of one NIC and
must come out at the other NIC: every packet, in order per flow, byte for byte except MAC and hop limit.
Illustration of draft-filsfils-spring-srv6-ai-backend-00 section 5.2 (with errors of the draft corrected).
"""
import argparse
import collections
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

MEMORY_MAX_MB = 1024  # all four nodes together

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "test"))
import machine  # noqa: E402

Run = collections.namedtuple("Run", "folder title nodes addresses source")
NIC1 = ["--ipv4", "10.1.0.11", "10.3.0.33", "--ipv6", "2001:db8:1::11", "2001:db8:3::33"]
NIC2 = ["--ipv4", "10.2.0.22", "10.3.0.33", "--ipv6", "2001:db8:2::22", "2001:db8:3::33", "--seed", "2"]
RUNS = [
    Run("1-un", "GPU1 -> GPU3 by a list of nodes (uN), decapsulated by the last uN (USD)",
        ["gateway", "leaf1", "spine5", "leaf3"],
        ["5f00:0:100:500:300::", "5f00:0:500:300::", "5f00:0:300::"], NIC1),
    Run("2-udt46", "GPU1 -> GPU3 with uDT46 as last uSID: into the tenant's VRF",
        ["gateway", "leaf1", "spine5", "leaf3"],
        ["5f00:0:100:500:300:f046::", "5f00:0:500:300:f046::", "5f00:0:300:f046::"], NIC1),
    Run("3-gpu2", "GPU2 -> GPU3 over the other leaf and the other spine",
        ["gateway", "leaf2", "spine6", "leaf4"],
        ["5f00:0:200:600:400::", "5f00:0:600:400::", "5f00:0:400::"], NIC2),
    Run("4-ua", "GPU1 -> GPU3 by a list of links (uA)",
        ["gateway", "leaf1", "spine5", "leaf3"],
        ["5f00:0:e105:e503:e333::", "5f00:0:e503:e333::", "5f00:0:e333::"], NIC1),
]


def read_pcap(path):
    """Frames of a classic pcap file."""
    with open(path, "rb") as f:
        f.read(24)
        while True:
            head = f.read(16)
            if len(head) < 16:
                return
            yield f.read(struct.unpack("<IIII", head)[2])


def flow_of(frame):
    """What identifies a flow: addresses, UDP ports, queue pair, and DSCP, because classes may overtake each other."""
    v6 = frame[14] >> 4 == 6
    udp = 54 if v6 else 14 + (frame[14] & 15) * 4
    addresses = frame[22:54] if v6 else frame[26:34]
    tos = (frame[14] << 4 | frame[15] >> 4) & 0xFF if v6 else frame[15]
    return addresses + frame[udp:udp + 4] + frame[udp + 13:udp + 16] + bytes([tos >> 2])


def comparable(frame):
    """The frame without the fields that a router changes (MACs, hop limit or TTL, IPv4 header checksum), and its hop limit."""
    ip = bytearray(frame[14:])
    if ip[0] >> 4 == 6:
        hops, ip[7] = ip[7], 0
    else:
        hops, ip[8], ip[10], ip[11] = ip[8], 0, 0, 0
    return bytes(ip), hops


def compare(sent, received, hops):
    """The differences as lines of text; none when all packets arrived as expected."""
    flows = collections.defaultdict(list)
    problems = []
    for frame in sent:
        flows[flow_of(frame)].append(comparable(frame))
    for number, frame in enumerate(received, 1):
        expected = flows[flow_of(frame)]
        bytes_, left = comparable(frame)
        if not expected:
            problems.append(f"packet {number} was never sent, or came twice")
            continue
        want, ttl = expected.pop(0)
        if bytes_ != want:
            problems.append(f"packet {number} is out of order in its flow, or its bytes changed")
        elif ttl - left != hops:
            problems.append(f"packet {number} crossed {ttl - left} routers, not {hops}")
    missing = sum(len(rest) for rest in flows.values())
    if missing:
        problems.append(f"{missing} packets are missing")
    return problems, len(flows)


def wait_usage(process, seconds):
    """Exit status of a process and the most memory it had, in MB; (None, 0) when it does not end in time."""
    deadline = machine.Deadline(seconds)
    while not deadline.passed():
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_maxrss // 1024
        time.sleep(0.01)
    return None, 0


class Demo:
    def __init__(self, sluice, out, quiet):
        self.sluice, self.out, self.quiet = sluice, out, quiet
        self.peak = {}  # node -> MB
        self.certain = False  # the load of the machine cannot explain the problems

    def say(self, *text):
        if not self.quiet:
            print(*text, flush=True)

    def start(self, run, node, folder):
        """One node in the background; it ends by itself when idle, or on request."""
        command = [self.sluice, "-c", f"{node}.yaml", "--report", f"{node}.json", "--capture", f"{node}.pcapng",
                   "--wait-for-links", "20"]
        if node == run.nodes[0]:
            command += ["--exit-when-idle", "500"]
        log = open(os.path.join(folder, f"{node}.log"), "w")
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)

    def prepare(self, run):
        folder = os.path.join(self.out, run.folder)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(os.path.join(TOP, "config", "demo", run.folder), folder)
        if len(os.sched_getaffinity(0)) == 1:  # the examples use two CPUs
            for node in run.nodes:
                path = os.path.join(folder, f"{node}.yaml")
                text = open(path).read()
                open(path, "w").write(text.replace("@1", "@0"))
        subprocess.run([sys.executable, os.path.join(TOP, "scripts", "roce_capture.py"),
                        os.path.join(folder, "in.pcap"), *run.source], check=True)
        return folder

    def forward(self, run, folder):
        """Run the four nodes; returns problems."""
        processes = {}
        try:
            # the far end first: each node connects to the next one
            for node in reversed(run.nodes):
                processes[node] = self.start(run, node, folder)
            for node in run.nodes:
                process = processes[node]
                if node != run.nodes[0]:
                    process.send_signal(signal.SIGTERM)
                status, self.peak[node] = wait_usage(process, 60)
                if status is None:
                    return [f"{node} does not end; see {folder}/{node}.log"]
                if status:
                    self.certain = True
                    return [f"{node} ended with status {status}; see {folder}/{node}.log"]
        finally:
            for process in processes.values():
                if process.poll() is None:
                    process.kill()
                    process.wait()
        return []

    def decode(self, folder, node, port, direction):
        """Outer header, inner header and payload of the first data packet a node received or sent, as tshark sees it."""
        fields = ["ipv6.dst", "ipv6.hlim", "ip.src", "ip.dst", "ip.ttl", "ipv6.src", "infiniband.bth.opcode",
                  "infiniband.bth.psn"]
        wanted = f"frame.interface_name == \"{port}\" && frame.packet_flags_direction == {direction} && infiniband"
        command = ["tshark", "-r", os.path.join(folder, f"{node}.pcapng"), "-Y", wanted, "-c", "400", "-T", "fields"]
        for field in fields:
            command += ["-e", field]
        lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
        return [dict(zip(fields, line.split("\t"))) for line in lines]

    @staticmethod
    def describe(packet):
        if packet is None:
            return "-"
        destinations = [d for d in packet["ipv6.dst"].split(",") if d]
        hops = [h for h in packet["ipv6.hlim"].split(",") if h]
        if packet["ip.dst"]:
            inner = f"IPv4 {packet['ip.src']} > {packet['ip.dst']} ttl {packet['ip.ttl']}"
        else:
            inner = f"IPv6 {packet['ipv6.src'].split(',')[-1]} > {destinations.pop()} hlim {hops.pop()}"
        outer = f"[IPv6 DA={destinations[0]} hlim {hops[0]}] " if destinations else ""
        return f"{outer}{inner} | RoCEv2 opcode {packet['infiniband.bth.opcode']} PSN {packet['infiniband.bth.psn']}"

    def show_hops(self, run, folder):
        """One packet before and after each hop; returns problems with the destination addresses on the wire."""
        problems = []
        for n, node in enumerate(run.nodes):
            ports = ("dc0", "wan0") if n == 0 else ("wan0", "dc0") if n == len(run.nodes) - 1 else ("wan0", "wan1")
            before = self.decode(folder, node, ports[0], 1)
            after = self.decode(folder, node, ports[1], 2)
            self.say(f"  {node:8} in   {self.describe(before[0] if before else None)}")
            self.say(f"  {'':8} out  {self.describe(after[0] if after else None)}")
            if n < len(run.addresses):
                outer = {p["ipv6.dst"].split(",")[0] for p in after}
                if outer != {run.addresses[n]}:
                    problems.append(f"{node} sends to {', '.join(sorted(outer)) or 'nobody'}, "
                                    f"not to {run.addresses[n]}")
        return problems

    def show_counters(self, run, folder):
        """Counters of all nodes; returns problems: drops, or packets unaccounted for."""
        problems = []
        self.say(f"  {'node':8} {'received':>9} {'sent':>9} {'dropped':>8} {'held':>5} {'imissed':>8} {'memory':>8}")
        for node in run.nodes:
            report = json.load(open(os.path.join(folder, f"{node}.json")))
            balance = report["conservation"]
            missed = sum(p["imissed"] + p["rx_nombuf"] for p in report["ports"])
            self.say(f"  {node:8} {balance['rx']:9} {balance['sent']:9} {balance['dropped']:8} {balance['held']:5} "
                     f"{missed:8} {self.peak[node]:5} MB")
            for drop in report["drops"]:
                if drop["what"] == "dropped":
                    problems.append(f"{node} dropped {drop['packets']} packets at {drop['port']}: {drop['reason']}")
            self.certain |= bool(balance["missing"])
            if balance["missing"] or missed:
                problems.append(f"{node} lost track of packets")
        if sum(self.peak.values()) > MEMORY_MAX_MB:
            problems.append(f"the four nodes took {sum(self.peak.values())} MB, more than {MEMORY_MAX_MB}")
        return problems

    def show(self, run):
        """Run it and show the result; returns problems, and whether the load of the machine cannot explain them."""
        self.certain = False
        self.say(f"\n== {run.folder}: {run.title}")
        folder = self.prepare(run)
        self.peak.clear()
        started = time.monotonic()
        problems = self.forward(run, folder)
        if not problems:
            problems += self.show_hops(run, folder)
            problems += self.show_counters(run, folder)
            sent = list(read_pcap(os.path.join(folder, "in.pcap")))
            received = list(read_pcap(os.path.join(folder, "out.pcap")))
            differences, flows = compare(sent, received, 2)
            problems += differences[:5]
            self.say(f"  {len(sent)} packets of {flows} flows in, {len(received)} out, in "
                     f"{time.monotonic() - started:.1f} s; captures: {folder}/*.pcapng")
        for problem in problems:
            self.say(f"  PROBLEM: {problem}")
        if not problems:
            self.say("  every packet arrived, in order per flow, byte for byte except MAC and hop limit")
        return problems, self.certain


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sluice", default=os.path.join(TOP, "build", "app", "sluice", "sluice"))
    parser.add_argument("--out", default=os.path.join(TOP, "out", "demo"), help="folder for captures")
    parser.add_argument("-k", dest="pattern", default="", help="only runs whose name matches this regular expression")
    parser.add_argument("--list", action="store_true", help="print the names of the runs")
    parser.add_argument("--tap", action="store_true", help="print test results only")
    parser.add_argument("runs", nargs="*", help="folders of config/demo; default: all")
    args = parser.parse_args()
    demo = Demo(os.path.abspath(args.sluice), os.path.abspath(args.out), args.tap)
    runs = [run for run in RUNS if (not args.runs or run.folder in args.runs)
            and re.search(args.pattern, f"demo {run.folder}", re.IGNORECASE)]
    if args.list:
        print("\n".join(f"demo {run.folder}" for run in runs))
        return 0
    good = failed = 0
    if args.tap:
        print(f"1..{len(runs)}")
    for number, run in enumerate(runs, 1):
        result = machine.attempt(lambda run=run: demo.show(run))
        good += result.outcome == machine.PASS
        failed += result.outcome == machine.FAIL
        if args.tap:
            result.print(number, f"demo {run.folder}")
    demo.say(f"\n{good} of {len(runs)} runs as the draft says. Everything is in {demo.out}: in.pcap, out.pcap, and for"
             f"\neach node its configuration, its log, its counters (.json) and all packets of all ports (.pcapng).")
    return 1 if failed or not args.tap and good < len(runs) else 0


if __name__ == "__main__":
    sys.exit(main())
