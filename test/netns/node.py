# SPDX-License-Identifier: BSD-3-Clause
"""A sluice process in a namespace, its ports on the namespace's interfaces."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from net import machine, make_port, run

BLOCK = "5f00:0::/32"
# one buffer of the kernel's ring holds 1,968 bytes of IP; many slots, for two CPUs serve everything here
AF_PACKET = "framesz=2048,blocksz=65536,framecnt=4096"
# A neighbour that answers slowly for lack of CPU time has not gone
DISCOVERY = {"retransmit": 1000, "probes": 5, "reachable": 600000, "stale": 600000}


def quick_discovery():
    """A neighbour that has gone is noticed within a second and a half, for tests of that; later on a busy machine."""
    return {**DISCOVERY, "retransmit": round(machine.patience(100)), "probes": 3, "reachable": 1000}


def port(number, interface, side, *addresses, **more):
    return {"name": interface, "device": f"net_af_packet{number},iface={interface},{AF_PACKET}", "side": side,
            "addresses": list(addresses), "queue-limit": "1K", **more}


def long_port(number, interface, *rest, **more):
    """
    The same for frames that no buffer holds, in chains of buffers, which af_packet of DPDK 22.11 does not do. Incoming
    frames only: libpcap would also receive the frames sent here.
    """
    return {**port(number, interface, *rest, **more), "device": f"net_pcap{number},rx_iface_in={interface},tx_iface={interface}"}


# such frames in one buffer each, and then af_packet does it
LARGE_BUFFERS = {"hugepages": "off", "buffers": "16K", "buffer-size": "10K"}


def large_port(number, interface, *rest, **more):
    return {**port(number, interface, *rest, **more),
            "device": f"net_af_packet{number},iface={interface},framesz=10240,blocksz=40960,framecnt=1024"}


def via(port_name, nexthop, *prefixes):
    return [{"prefix": p, "port": port_name, "nexthop": nexthop} for p in prefixes]


def over(policy_name, *prefixes):
    return [{"prefix": p, "policy": policy_name} for p in prefixes]


def policy(name, *segments, **more):
    return {"name": name, **more, "paths": [{"name": "only", "segments": list(segments)}]}


def yaml_keys(sections):
    return {key.replace("_", "-"): value for key, value in sections.items()}


class NodeFailed(Exception):
    pass


class Node:
    """ports: of port(); sections: further top-level keys of the configuration."""

    def __init__(self, space, options, loopback, ports, **sections):
        self.space = space
        self.name = f"netns{os.getpid()}-{space.name}"
        self.options = options
        self.folder = pathlib.Path(options.out) / space.name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        # as many CPUs as there are, but two at most: rx and worker on one, control on the other
        cpus = sorted(os.sched_getaffinity(0))
        self.config = {
            "node": {"name": self.name, "loopback": loopback, "usid": {"block": BLOCK},
                     "infrastructure": ["fd00::/16"]},
            "lcores": {"control": 0, "rx": [1], "worker": [1], "cpus": f"0@{cpus[0]},1@{cpus[len(cpus) > 1]}"},
            "memory": {"hugepages": "off", "buffers": "32K"},
            "idle": {"policy": "sleep", "max-sleep": 50},
            "neighbor-discovery": DISCOVERY,
            "ports": ports,
            **yaml_keys(sections),
        }
        self.process = None
        self.broken = False  # it ended in a way that no load explains
        for p in ports:
            if "net_memif" in p["device"]:
                continue
            make_port(space, p["name"])
            # a pcap device does not know that of its interface
            if p["device"].startswith("net_pcap"):
                p["mac"] = space.mac(p["name"])

    def write_config(self):
        # JSON is YAML
        (self.folder / "config.yaml").write_text(json.dumps(self.config, indent=1) + "\n")

    def start(self, timeout=20):
        self.write_config()
        with open(self.folder / "log", "w") as log:
            self.process = self.space.popen(
                self.options.sluice, "-c", "config.yaml", "--report", "report.json", cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = machine.Deadline(timeout)
        while f"node {self.name} is running" not in self.log():
            if self.process.poll() is not None or deadline.passed():
                raise NodeFailed(f"{self.space.name} does not start:\n{self.log()}")
            time.sleep(0.05)

    def log(self):
        return (self.folder / "log").read_text()

    def ask(self, *command):
        """The answer to a command, as data."""
        ctl = self.options.sluice.parent.parent / "sluicectl" / "sluicectl"
        return json.loads(run([str(ctl), "-n", self.name, "-j", *command]).stdout)

    def show(self, what):
        return self.ask("show", *what.split())

    def reload(self, **sections):
        """Reload with these sections of the configuration replaced."""
        self.config.update(yaml_keys(sections))
        self.write_config()
        self.ask("reload", str(self.folder / "config.yaml"))

    def drops(self):
        """Packets by reason, without those the node consumed."""
        found = {}
        for row in self.show("drops"):
            if row["what"] == "dropped":
                found[row["reason"]] = found.get(row["reason"], 0) + row["packets"]
        return found

    def neighbor(self, address):
        return next((n for n in self.show("neighbors") if n["address"] == address), None)

    def port(self, name):
        return next(p for p in self.show("ports") if p["port"] == name)

    def stop(self):
        """Drain and stop; returns problems of the shutdown."""
        if self.process is None:
            return [f"{self.space.name}: was not started"]
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(machine.patience(20))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return [f"{self.space.name}: does not end"]
        problems = []
        if status or re.search(r"runtime error:|ERROR: \w+Sanitizer", self.log()):
            self.broken = True
            problems += [f"{self.space.name}: ended with status {status}", *self.log().splitlines()[-20:]]
        else:
            report = json.loads((self.folder / "report.json").read_text())
            balance = report["conservation"]
            self.broken = bool(balance["missing"])
            if balance["missing"] or not balance["rx"]:
                problems.append(f"{self.space.name}: {balance}")
            # lossless means lossless, whatever else a case is about
            problems += [f"{self.space.name}: {d}" for d in report["drops"] if d["reason"] == "headroom_exceeded"]
        return problems

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for base in map(pathlib.Path, ("/run", os.environ.get("XDG_RUNTIME_DIR", "/tmp"))):
            shutil.rmtree(base / "dpdk" / f"sluice-{self.name}", ignore_errors=True)
            for end in ("pid", "sock"):
                (base / "sluice" / f"{self.name}.{end}").unlink(missing_ok=True)
