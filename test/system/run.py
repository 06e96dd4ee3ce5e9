#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""sluice as a process: how it starts, refuses to start, stops, and what several lcores do. Prints TAP."""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "scripts"))
from demo import read_pcap  # noqa: E402

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
    "memory": "{fib: compact, buffers: 32K}",
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


def expect(condition, text):
    if not condition:
        raise Failure(text)


class Bench:
    """A folder, and sluice in it."""

    def __init__(self, sluice):
        self.sluice = sluice
        self.folder = tempfile.mkdtemp(prefix="sluice-system-")
        self.name = f"sys{os.getpid()}"
        self.processes = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def config(self, **changes):
        with open(self.path("config.yaml"), "w") as f:
            f.write(CONFIG.format(**dict(DEFAULTS, name=self.name, **changes)))

    def start(self, *args):
        process = subprocess.Popen([self.sluice, "-c", "config.yaml", "--report", "report.json", *args],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.processes.append(process)
        return process

    def run(self, *args, timeout=60):
        """Exit status, standard output, standard error."""
        process = self.start(*args)
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err

    def report(self):
        with open(self.path("report.json")) as f:
            return json.load(f)

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


def refuses(bench, status, pattern):
    """A start that must fail: with that status, one line that matches, and nothing left behind."""
    code, _, err = bench.run("--exit-when-idle", "100")
    lines = [line for line in err.splitlines() if "TELEMETRY" not in line]
    expect(code == status, f"ended with {code}, not {status}: {err}")
    expect(len(lines) == 1, f"expected one line, got: {err}")
    expect(re.search(pattern, lines[0]), f"expected /{pattern}/, got: {lines[0]}")
    expect(not bench.leftovers(), f"left behind: {bench.leftovers()}")


def missing_pcap(bench):
    bench.config()
    refuses(bench, 3, r"port p0: rx_pcap: cannot read in.pcap: No such file")


def unwritable_pcap(bench):
    write_pcap(bench.path("in.pcap"), [])
    bench.config(p1="net_pcap1,tx_pcap=nowhere/out.pcap")
    refuses(bench, 3, r"port p1: tx_pcap: cannot write nowhere/out.pcap")


def missing_interface(bench):
    write_pcap(bench.path("in.pcap"), [])
    bench.config(p1="net_af_packet1,iface=nosuch0")
    refuses(bench, 3, r"port p1: iface: there is no network interface nosuch0")


def af_packet_cuts_frames(bench):
    """The kernel would cut long frames silently, or the driver overrun its buffers: neither starts."""
    write_pcap(bench.path("in.pcap"), [])
    for mtu, args, pattern in (
            (1969, "", r"port p1: the kernel would cut frames of mtu 1969; add framesz=2080,blocksz=266240"),
            (2001, "", r"port p1: the kernel would cut frames of mtu 2001, .*; lower mtu to 2000"),
            (1500, ",framesz=3072,blocksz=12288", r"port p1: a framesz of 3072 does not fit a buffer; at most 2080"),
            (1500, ",framesz=2080,blocksz=4096", r"port p1: framesz \(2080\) must be .*, blocksz \(4096\) one of framesz"),
            (1500, ",framecnt=511", r"framecnt \(511\) one of blocksz/framesz")):
        # lo is there wherever there is a kernel; the refusal comes before it is touched
        bench.config(p1=f'net_af_packet1,iface=lo{args}", mtu: {mtu}, speed: "1G')
        refuses(bench, 3, pattern)


def missing_pci_device(bench):
    write_pcap(bench.path("in.pcap"), [])
    bench.config(p1="ffff:ff:1f.7")
    refuses(bench, 3, r"port p1: there is no PCI device ffff:ff:1f.7; see: dpdk-devbind.py")


def no_hugepages(bench):
    write_pcap(bench.path("in.pcap"), [])
    free = int(open("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").read())
    bench.config(memory=f"{{fib: compact, hugepages: on, buffers: {max(32768, free * 2048)}}}")
    refuses(bench, 3, r"hugepages.*free.*needed; run: echo \d+ > /proc/sys/vm/nr_hugepages")


def no_such_cpu(bench):
    write_pcap(bench.path("in.pcap"), [])
    bench.config(lcores='{control: 0, rx: [1], worker: [1], cpus: "0@0,1@1000"}')
    refuses(bench, 3, r"lcore 1 is to run on CPU 1000.*lcores.cpus")


def memif_buffers_too_small(bench):
    write_pcap(bench.path("in.pcap"), [])
    bench.config(p1="net_memif1,role=server,socket=sluice-test-" + bench.name + ",bsize=1024")
    refuses(bench, 3, r"port p1: frames of mtu 1500 need memif buffers of 1518 bytes; add bsize=2048")


def bad_configuration(bench):
    with open(bench.path("config.yaml"), "w") as f:
        f.write("node: {name: x, loopback: fd00::1}\nlcores: {control: 0, rx: [1], worker: [1]}\n"
                "prots: []\nports:\n  - {name: p0, device: net_null0, side: wam}\n")
    code, _, err = bench.run()
    expect(code == 1, f"ended with {code}")
    expect("config.yaml:3:1: error: unknown key 'prots' in the file; did you mean 'ports'?" in err, err)
    expect("config.yaml:5:41: error: side: expected one of dc, wan, found 'wam'; did you mean 'wan'?" in err, err)


def missing_configuration(bench):
    code, _, err = bench.run()
    expect(code == 1 and "config.yaml: error: cannot open: No such file" in err, f"{code}: {err}")


def wrong_options(bench):
    for args, text in ((["--exit-when-idle", "x"], "--exit-when-idle: expected a whole number, found 'x'"),
                       (["--no-such"], "usage:"), (["stray"], "'stray' is no option"), (["--print", "x"], "--print:")):
        done = subprocess.run([bench.sluice, "-c", "x", *args], capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and text in done.stderr, f"{args}: {done.returncode}: {done.stderr}")


def plan_without_start(bench):
    bench.config()
    code, out, err = bench.run("--check")
    expect(code == 0, f"ended with {code}: {err}")
    for text in ("1 on CPU 0    rx + worker (run to completion)", "egress owned by lcore 1", "promised, of 32768",
                 "config.yaml is valid", "a start on this machine would fail: port p0: rx_pcap: cannot read in.pcap"):
        expect(text in out, f"'{text}' is not in the plan:\n{out}")


def ends_when_idle(bench):
    write_pcap(bench.path("in.pcap"), [frame(1, n, 1) for n in range(500)])
    bench.config()
    started = time.monotonic()
    code, out, err = bench.run("--exit-when-idle", "300")
    expect(code == 0, f"ended with {code}: {err}")
    expect(time.monotonic() - started < 30, "took too long")
    expect(len(list(read_pcap(bench.path("out1.pcap")))) == 500, "packets are missing")
    expect("missing:    0" in out, out)
    expect(not bench.leftovers(), f"left behind: {bench.leftovers()}")


def stops_on_signal(bench, number):
    """Under full load: what is inside leaves, the report balances, the status is 0."""
    write_pcap(bench.path("in.pcap"), [frame(n % 16, n, 1) for n in range(256)])
    bench.config(p0="net_pcap0,rx_pcap=in.pcap,infinite_rx=1", p1="net_null1,no-rx=1")
    process = bench.start()
    time.sleep(2)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    expect(process.returncode == 0, f"ended with {process.returncode}: {err}")
    balance = bench.report()["conservation"]
    expect(balance["rx"] > 10000 and balance["missing"] == 0, f"{balance}")
    expect(not bench.leftovers(), f"left behind: {bench.leftovers()}")


def the_name_is_taken(bench):
    write_pcap(bench.path("in.pcap"), [frame(1, 0, 1)])
    bench.config()
    first = bench.start()
    time.sleep(1.5)
    code, _, err = bench.run("--exit-when-idle", "100")
    expect(code == 3 and re.search(r"node " + bench.name + r" runs already", err), f"{code}: {err}")
    expect(first.poll() is None, "the first one was disturbed")
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=30)
    expect(first.returncode == 0, f"the first one ended with {first.returncode}")


def several_lcores(bench, lcores):
    """Two receive queues, two egress owners, one transmit queue a port: all arrive, in order per flow."""
    flows = 32
    for queue in range(2):
        write_pcap(bench.path(f"in{queue}.pcap"),
                   [frame(f, n, f // 2 % 2) for n in range(50) for f in range(flows) if f % 2 == queue])
    bench.config(lcores=lcores, queues=2, p0="net_pcap0,rx_pcap=in0.pcap,rx_pcap=in1.pcap,tx_pcap=out0.pcap",
                 memory="{fib: compact, buffers: 48K}")
    code, _, err = bench.run("--exit-when-idle", "500")
    expect(code == 0, f"ended with {code}: {err}")
    due = collections.Counter()
    for port in range(2):
        for data in read_pcap(bench.path(f"out{port}.pcap")):
            flow, sequence = struct.unpack_from("!H6xI", data, 94)
            expect(flow // 2 % 2 == port, f"flow {flow} left by port {port}")
            expect(sequence == due[flow], f"flow {flow}: {sequence} came, {due[flow]} was due")
            due[flow] += 1
    expect(sum(due.values()) == 50 * flows, f"{sum(due.values())} of {50 * flows} arrived")
    expect(bench.report()["conservation"]["missing"] == 0, "packets are unaccounted for")


TESTS = [
    ("missing pcap", missing_pcap),
    ("unwritable pcap", unwritable_pcap),
    ("missing interface", missing_interface),
    ("frames too long for af_packet", af_packet_cuts_frames),
    ("missing PCI device", missing_pci_device),
    ("no hugepages when asked for", no_hugepages),
    ("no such CPU", no_such_cpu),
    ("memif buffers too small", memif_buffers_too_small),
    ("bad configuration", bad_configuration),
    ("missing configuration", missing_configuration),
    ("wrong options", wrong_options),
    ("plan without start", plan_without_start),
    ("ends when idle", ends_when_idle),
    ("SIGTERM drains and reports", lambda b: stops_on_signal(b, signal.SIGTERM)),
    ("SIGINT drains and reports", lambda b: stops_on_signal(b, signal.SIGINT)),
    ("the name is taken", the_name_is_taken),
    ("2 rx, 2 workers", lambda b: several_lcores(
        b, '{control: 0, rx: [1, 2], worker: [3, 4], cpus: "0@0,1@0,2@1,3@0,4@1"}')),
    ("2 lcores that are both", lambda b: several_lcores(
        b, '{control: 0, rx: [1, 2], worker: [1, 2], cpus: "0@0,1@0,2@1"}')),
    ("1 rx, 2 workers, control shared", lambda b: several_lcores(
        b, '{control: 1, rx: [1], worker: [2, 3], cpus: "1@0,2@0,3@1"}')),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", default=os.path.join(TOP, "build", "app", "sluice", "sluice"))
    parser.add_argument("-k", default="", help="only tests whose name has this in it")
    args = parser.parse_args()
    tests = [t for t in TESTS if args.k in t[0]]
    print(f"1..{len(tests)}", flush=True)
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        bench = Bench(os.path.abspath(args.sluice))
        problem = None
        try:
            test(bench)
        except (Failure, subprocess.TimeoutExpired, OSError) as e:
            problem = str(e)
        finally:
            bench.close()
        failed += problem is not None
        print(f"{'ok' if problem is None else 'not ok'} {number} - {name}", flush=True)
        for line in (problem or "").splitlines():
            print(f"# {line}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
