#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same network in the lab and live: the four nodes of config/demo/1-un, in virtual time and as processes joined by
memif. The frames that the lab's host sent are replayed to the live gateway; counters of all ports and digests of all flows must be
equal. Static neighbours, finite input. Prints TAP."""
import argparse
import collections
import hashlib
import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "scripts"), os.path.join(TOP, "test")]
import demo  # noqa: E402
import tap  # noqa: E402

NODES = ["gateway", "leaf1", "spine5", "leaf3"]
RUN = demo.RUNS[0]


def topology():
    flow = {"transport": "datagram", "from": "nic1", "to": "nic3", "messages": 40, "ecn": False}
    return {
        "lab": {"name": "cross-check", "run": "5ms", "frames": "whole"},
        "nodes": [{"name": n, "file": os.path.join(TOP, "config/demo/1-un", f"{n}.yaml")} for n in NODES],
        "hosts": [{"name": "nic1", "addresses": ["10.1.0.11/24", "2001:db8:1::11/64"]},
                  {"name": "nic3", "addresses": ["10.3.0.33/24", "2001:db8:3::33/64"], "mac": "02:00:00:00:03:33"}],
        "links": [{"a": "nic1.eth0", "b": "gateway.dc0", "rate": "10G", "delay": "1us"},
                  {"a": "gateway.wan0", "b": "leaf1.wan0", "rate": "10G", "km": 1},
                  {"a": "leaf1.wan1", "b": "spine5.wan0", "rate": "10G", "km": 1},
                  {"a": "spine5.wan1", "b": "leaf3.wan0", "rate": "10G", "km": 1},
                  {"a": "leaf3.dc0", "b": "nic3.eth0", "rate": "10G", "delay": "1us"}],
        "flows": [{"name": f"v{family}-{size}", **flow, "family": family, "message": size, "queue-pairs": 4, "rate": "300M",
                   "arrivals": "poisson"} for family in (4, 6) for size in (64, 1024, 4096)],
        "captures": [{"place": "nic1.eth0", "file": "nic1.pcapng"}, {"place": "nic3.eth0", "file": "nic3.pcapng"}],
    }


def run_lab(lab, folder):
    path = os.path.join(folder, "cross.yaml")
    with open(path, "w") as f:
        json.dump(topology(), f)
    subprocess.run([lab, "--quiet", "--out", folder, path], check=True)
    with open(os.path.join(folder, "report.json")) as f:
        return json.load(f)


def to_pcap(source, target, direction):
    subprocess.run(["tshark", "-r", source, "-Y", f"frame.packet_flags_direction == {direction}", "-F", "pcap", "-w", target],
                   check=True, capture_output=True)


def digests(path):
    flows = collections.defaultdict(hashlib.sha256)
    for frame in demo.read_pcap(path):
        flows[demo.flow_of(frame)].update(len(frame).to_bytes(4, "big") + frame)
    return {flow: d.hexdigest() for flow, d in flows.items()}


def lab_counters(report):
    return {(n["name"], p["name"]): (p["rx_packets"], p["rx_bytes"], p["tx_packets"], p["tx_bytes"])
            for n in report["nodes"] for p in n["ports"]}


def live_counters(folder):
    counters = {}
    for node in NODES:
        with open(os.path.join(folder, f"{node}.json")) as f:
            for p in json.load(f)["ports"]:
                counters[node, p["port"]] = (p["rx"], p["rx_bytes"], p["tx"], p["tx_bytes"])
    return counters


def difference(lab, live, what):
    return [f"{what} {k}: lab {lab.get(k)}, live {live.get(k)}" for k in sorted(set(lab) | set(live), key=str)
            if lab.get(k) != live.get(k)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(TOP, "build"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = run_lab(os.path.abspath(os.path.join(args.build, "app/sluice-lab/sluice-lab")), folder)
        live = demo.Demo(os.path.abspath(os.path.join(args.build, "app/sluice/sluice")), folder, True)
        into = live.prepare(RUN)
        to_pcap(os.path.join(folder, "nic1.pcapng"), os.path.join(into, "in.pcap"), 2)
        to_pcap(os.path.join(folder, "nic3.pcapng"), os.path.join(folder, "lab-out.pcap"), 1)
        wrong = live.forward(RUN, into)
        ours, theirs = (({}, {}) if wrong else
                        (digests(os.path.join(folder, "lab-out.pcap")), digests(os.path.join(into, "out.pcap"))))
        results = [
            ("the lab delivers all of it", [] if report["losses"] == 0 and sum(f["received"] for f in report["flows"]) == 960
             else [f"{report['losses']} lost"]),
            ("the live nodes run", wrong),
            ("counters of all ports are equal", wrong or difference(lab_counters(report), live_counters(into), "port")),
            ("24 flows have equal digests", wrong or difference(ours, theirs, "flow")[:5]
             or ([] if len(ours) == 24 else [f"{len(ours)} flows"])),
        ]
    return tap.tell(results)


if __name__ == "__main__":
    sys.exit(main())
