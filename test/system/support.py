# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of the process: a folder with a configuration, a running sluice, its socket, and TAP."""
import argparse
import glob
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "scripts"), os.path.join(TOP, "test")]
import machine  # noqa: E402
from demo import read_pcap  # noqa: E402,F401

CONFIG = """
node:
  name: {name}
  loopback: fd00::d
  usid: {{block: "5f00:0::/32", node: 0x0100}}
  infrastructure: ["fd00::/16"]
lcores: {lcores}
memory: {memory}
ports:
  - {{name: p0, device: "{p0}", side: wan, mac: "02:00:00:00:d0:00", rx-queues: {queues}, queue-limit: 1K,
     addresses: ["2001:db8:a::2/64"]}}
  - {{name: p1, device: "{p1}", side: wan, mac: "02:00:00:00:d0:01", queue-limit: 1K, addresses: ["2001:db8:b::2/64"]}}
neighbors:
  - {{port: p0, address: "2001:db8:a::3", mac: "02:00:00:00:a0:03"}}
  - {{port: p1, address: "2001:db8:b::3", mac: "02:00:00:00:b0:03"}}
routes:
  - {{prefix: "5f00:0:400::/48", port: p0, nexthop: "2001:db8:a::3"}}
  - {{prefix: "5f00:0:500::/48", port: p1, nexthop: "2001:db8:b::3"}}
sids:
  - {{sid: "5f00:0:100::/48", behavior: uN}}
"""
DEFAULTS = {
    "lcores": '{control: 0, rx: [1], worker: [1], cpus: "0@0,1@0"}',
    "memory": "{buffers: 32K}",
    "p0": "net_pcap0,rx_pcap=in.pcap,tx_pcap=out0.pcap",
    "p1": "net_pcap1,tx_pcap=out1.pcap",
    "queues": 1,
}


def frame(flow, sequence, leave_by):
    """A uN packet of 142 bytes; flow and sequence number are in the inner UDP packet."""
    udp = struct.pack("!HHHHI", flow, 4791, 48, 0, sequence) + bytes(36)
    inner = struct.pack("!IHBB", 0x60000000, len(udp), 17, 64) + bytes.fromhex("20010db8000100000000000000000011" +
                                                                               "20010db8000300000000000000000033")
    da = struct.pack("!HHHHHHHH", 0x5F00, 0, 0x100, 0x500 if leave_by else 0x400, 0x300, 0, 0, 0)
    outer = struct.pack("!IHBB", 0x60000000 | flow, len(inner) + len(udp), 41, 64)
    outer += bytes.fromhex("fd000000000000000000000000000001") + da
    return bytes.fromhex("02000000d000" + "02000000a003" + "86dd") + outer + inner + udp


def write_pcap(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, data in enumerate(frames):
            f.write(struct.pack("<IIII", 0, number, len(data), len(data)) + data)


class Failure(Exception):
    pass


class Certain(Failure):
    """A failure that no load of the machine explains."""


class Late(Failure):
    """Something has not happened in time. Load may explain it again and again, while nothing else fails alike each time."""


def expect(condition, text):
    if not condition:
        raise Failure(text)


class Bench:
    """A folder, and sluice in it."""

    def __init__(self, sluice):
        self.sluice = sluice
        self.sluicectl_program = os.path.join(os.path.dirname(os.path.dirname(sluice)), "sluicectl", "sluicectl")
        self.folder = tempfile.mkdtemp(prefix="sluice-system-")
        self.name = f"sys{os.getpid()}"
        self.processes = []
        self.inside = []  # a command that starts sluice in surroundings of its own

    def path(self, name):
        return os.path.join(self.folder, name)

    def config(self, **changes):
        with open(self.path("config.yaml"), "w") as f:
            f.write(CONFIG.format(**dict(DEFAULTS, name=self.name, **changes)))

    def start(self, *args, **more):
        more = dict({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}, **more)
        process = subprocess.Popen([*self.inside, self.sluice, "-c", "config.yaml", "--report", "report.json", *args],
                                   cwd=self.folder, **more)
        self.processes.append(process)
        return process

    def run(self, *args, timeout=60):
        """Exit status, standard output, standard error."""
        process = self.start(*args)
        out, err = process.communicate(timeout=machine.patience(timeout))
        return process.returncode, out, err

    def mounted(self, script):
        """A node with a mount namespace of its own: `script` mounts its files for the life of the process."""
        self.inside = ["unshare", "-m", "sh", "-c", f"{script} && exec \"$@\"", "sh"]
        try:
            return self.node()
        finally:
            self.inside = []

    def report(self):
        with open(self.path("report.json")) as f:
            return json.load(f)

    def node(self, *args, **more):
        """sluice, once it answers on its socket."""
        return Node(self, *args, **more)

    def sluicectl(self, *args, **more):
        """Exit status, standard output, standard error of one call."""
        more = dict({"stdin": subprocess.DEVNULL}, **more) if "input" not in more else more
        done = subprocess.run([self.sluicectl_program, "-n", self.name, *args], capture_output=True, text=True, check=False,
                              timeout=machine.patience(60), cwd=self.folder, **more)
        return done.returncode, done.stdout, done.stderr

    def check_lossless(self):
        """At the end of every test: if a node has reported, it has dropped nothing of a lossless class."""
        if os.path.exists(self.path("report.json")):
            lost = [d for d in self.report().get("drops", []) if d["reason"] == "headroom_exceeded"]
            if lost:
                raise Certain(f"{lost}")

    def leftovers(self):
        runtime = glob.glob("/var/run/dpdk/sluice-" + self.name) + glob.glob("/run/user/*/dpdk/sluice-" + self.name)
        runtime += glob.glob(f"/run/sluice/{self.name}*")
        return runtime + glob.glob("/dev/hugepages/sluice-" + self.name + "*")

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)




class Session:
    """A connection to a node's socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.socket.settimeout(machine.patience(20))
        self.file = self.socket.makefile("rb")

    def answer(self):
        """Status and text of the next answer."""
        head = self.file.readline()
        expect(head.endswith(b"\n"), f"the connection ended instead of an answer: {head}")
        status, size = (int(word) for word in head.split())
        text = self.file.read(size)
        expect(len(text) == size, f"{len(text)} bytes of an answer of {size}")
        return status, text.decode()

    def command(self, line):
        self.socket.sendall(b"x " + (line if isinstance(line, bytes) else line.encode()) + b"\n")
        return self.answer()

    def ended(self):
        """Has the other side closed?"""
        return self.file.read(1) == b""

    def close(self):
        self.file.close()
        self.socket.close()


class Node:
    """A running sluice. Its output is in the files out and err."""

    def __init__(self, bench, *args, **more):
        self.bench = bench
        self.socket = f"/run/sluice/{bench.name}.sock"
        with open(bench.path("out"), "w") as out, open(bench.path("err"), "w") as err:
            more = dict({"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}, **more)
            self.process = bench.start(*args, **more)
        self.session = None
        wait_for(self.connects, "the node does not come up", lambda: self.log())

    def connects(self):
        expect(self.process.poll() is None, f"ended with {self.process.returncode}: {self.log()}")
        try:
            self.session = Session(self.socket)
        except OSError:
            return False
        return True

    def command(self, line):
        """Status (0 or errno) and text."""
        return self.session.command(line)

    def ok(self, line):
        status, text = self.command(line)
        expect(status == 0, f"{line}: {status}: {text}")
        return text

    def json(self, line):
        return json.loads(self.ok(line + " -j"))

    def fails(self, line, text):
        status, got = self.command(line)
        expect(status != 0 and text in got, f"{line}: expected failure with '{text}', got {status}: {got}")

    def rx(self):
        return sum(port["rx"] for port in self.json("show ports"))

    def log(self):
        with open(self.bench.path("err"), errors="replace") as f:
            return f.read()

    def output(self):
        with open(self.bench.path("out"), errors="replace") as f:
            return f.read()

    def threads(self):
        """Thread ids by name."""
        folder, names = f"/proc/{self.process.pid}/task", {}
        for tid in os.listdir(folder):
            with open(f"{folder}/{tid}/comm") as f:
                names[f.read().strip()] = int(tid)
        return names

    def stop(self, number=signal.SIGTERM, status=0):
        """Every test ends with this: nothing leaks, everything is accounted for."""
        self.process.send_signal(number)
        self.ends(status)

    def ends(self, status=0):
        self.session.close()
        self.process.wait(timeout=machine.patience(30))
        if self.process.returncode != status:
            raise Certain(f"ended with {self.process.returncode}: {self.log()}")
        balance = self.bench.report()["conservation"]
        if balance["missing"]:
            raise Certain(f"{balance}")
        expect(not self.bench.leftovers(), f"left behind: {self.bench.leftovers()}")


def wait_for(condition, what, more=lambda: "", seconds=30):
    deadline = machine.Deadline(seconds)
    while not condition():
        if deadline.passed():
            raise Late(f"{what} {more()}")
        time.sleep(0.02)


def quiet(node):
    """Once everything of a finite pcap has been received and nothing is held that does not wait for good."""
    last = [None]

    def still():
        now = node.json("show conservation")
        same, last[0] = now == last[0], now
        time.sleep(0.1)
        return same and now["rx"]
    wait_for(still, "the node does not come to rest")


def run_once(test, options, earlier):
    """
    Run one test in a folder of its own. Returns its failure, whether that is certain, and the test's own remarks.
    earlier: texts of the failures of earlier attempts; a new one is added.
    """
    bench = Bench(os.path.abspath(options.sluice))
    bench.update = options.update
    try:
        remarks = test(bench) or []
        bench.check_lossless()
        return [], False, remarks
    except (Failure, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as e:
        always = not isinstance(e, (Late, subprocess.TimeoutExpired)) and earlier == [str(e)] * (machine.TRIES - 1)
        earlier.append(str(e))
        return f"{type(e).__name__}: {e}".splitlines(), always or isinstance(e, Certain), []
    finally:
        bench.close()


def main(what, tests):
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--sluice", default=os.path.join(TOP, "build", "app", "sluice", "sluice"))
    parser.add_argument("-k", dest="pattern", default="", help="only tests whose name matches this regular expression")
    parser.add_argument("--list", action="store_true", help="print the names of the tests")
    parser.add_argument("--update", action="store_true", help="write transcripts instead of comparing them")
    args = parser.parse_args()
    tests = [t for t in tests if re.search(args.pattern, t[0], re.IGNORECASE)]
    if args.list:
        print("\n".join(name for name, _ in tests))
        return 0
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        remarks, earlier = [], []

        def once(test=test, remarks=remarks, earlier=earlier):
            problems, certain, remarks[:] = run_once(test, args, earlier)
            return problems, certain
        result = machine.attempt(once)
        failed += result.outcome == machine.FAIL
        result.print(number, name)
        for line in remarks:
            print(f"# {line}", flush=True)
    return 1 if failed else 0
