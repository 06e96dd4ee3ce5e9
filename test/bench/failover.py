# SPDX-License-Identifier: BSD-3-Clause
"""What failover and BFD cost: the steps of bench_failover, timed, and counted by callgrind."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PATHS, QUEUES, SESSIONS = (1, 1000, 64000), (1, 1000, 100_000), (100, 1000)
TIMES = 1000  # that a next hop fails
NODE = """
node: {name: bench, loopback: "fd00:0:f::1", usid: {block: "5f00:0::/32", node: 0x0100}, infrastructure: ["fd00::/16"]}
failover: {hold: 1, hold-max: 1}
"""
PORTS = """
ports:
  - {name: in, device: net_null0, side: dc, vrf: a, mac: "02:00:00:00:d0:00", addresses: ["fd00:0:a::2/64"], worker: 0}
  - {name: one, device: net_null1, side: wan, mac: "02:00:00:00:d0:01", addresses: ["fd00:0:b::2/64", 10.0.0.2/16], worker: 0%s}
  - {name: two, device: net_null2, side: wan, mac: "02:00:00:00:d0:02", addresses: ["fd00:0:c::2/64"], worker: %d}
"""
WAYS = """
neighbors:
  - {port: one, address: "fd00:0:b::3", mac: "02:00:00:00:b0:01"}
  - {port: two, address: "fd00:0:c::3", mac: "02:00:00:00:b0:02"}
routes:
  - {prefix: "5f00:0:600::/48", port: one, nexthop: "fd00:0:b::3"}
  - {prefix: "5f00:0:700::/48", port: two, nexthop: "fd00:0:c::3"}
vrfs: [{name: a, routes: [{prefix: "2001:db8:99::/64", policy: p0}]}]
policies:
  - {name: p0, paths: [{name: main, segments: ["5f00:0:600::", "5f00:0:900::"]}, {name: spare, backup: yes, segments: ["5f00:0:700::", "5f00:0:900::"]}]}
"""


def with_paths(paths):
    """So many paths over one next hop; one of their policies has a backup."""
    return (NODE + "lcores: {control: 0, rx: [0], worker: [0]}\nmemory: {buffers: 24K, fib: compact}\n" + PORTS % ("", 0) + WAYS +
            "".join(f'  - {{name: p{i}, paths: [{{name: main, segments: ["5f00:0:600::", "5f00:0:{0x900 + i % 256:x}::"]}}]}}\n'
                    for i in range(1, paths)))


def with_queue(packets):
    """The port of another worker is the backup."""
    room = f", queue-limit: {packets + 1024}, buffer-limit: {packets + 1024}"
    return (NODE + f"lcores: {{control: 0, rx: [0], worker: [0, 1]}}\nmemory: {{buffers: {3 * packets + 24576}, fib: compact}}\n" +
            (PORTS % (room, 1)).replace("worker: 1}", f"worker: 1{room}}}") + WAYS)


def with_sessions(sessions):
    """Each with a neighbour of its own."""
    neighbors = "".join(f'  - {{port: one, address: 10.0.{1 + i // 250}.{1 + i % 250}, mac: "02:00:00:00:b0:00", bfd: fast}}\n'
                        for i in range(sessions))
    return (NODE + "lcores: {control: 0, rx: [1], worker: [1]}\nmemory: {buffers: 24K, fib: compact}\nbfd-profiles: [{name: fast}]\n" +
            PORTS.replace("worker: %d", "worker: 1").replace("worker: 0%s", "worker: 1").replace("worker: 0", "worker: 1") +
            ("neighbors:\n" + neighbors if sessions else "") + "vrfs: [{name: a}]\n")


class Failover:
    def __init__(self, build):
        self.program = os.path.join(build, "test/bench/bench_failover")
        self.folder = tempfile.mkdtemp(prefix="sluice-bench-")

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, text, *arguments, under=()):
        """What the program prints, name -> numbers; its messages."""
        config = os.path.join(self.folder, "bench.yaml")
        with open(config, "w") as f:
            f.write(text)
        done = subprocess.run([*under, self.program, config, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, arguments))} failed:\n" + done.stderr[-2000:])
        return {line.split()[0]: [float(x) for x in line.split()[1:]] for line in done.stdout.splitlines()}, done.stderr

    def instructions(self, text, step, n):
        """Of measured_STEP."""
        under = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={self.folder}/callgrind.out", f"--toggle-collect=measured_{step}"]
        return int(re.search(r"Collected : (\d+)", self.run(text, step, n, under=under)[1]).group(1))

    def paths(self, paths, times=TIMES):
        return self.run(with_paths(paths), "paths", times)[0]

    def queue(self, packets):
        return self.run(with_queue(packets), "queue", packets)[0]

    def sessions(self, sessions):
        return self.run(with_sessions(sessions), "bfd", sessions)[0]

    # What callgrind counts: a few steps, for it is slow.

    def count_paths(self, paths, times=50):
        """Instructions from a failure to the first packet on another path."""
        return self.instructions(with_paths(paths), "paths", times) / times

    def count_queue(self, packets):
        """Of a packet of a queue that is handed over."""
        return self.instructions(with_queue(packets), "queue", packets) / packets

    def count_sessions(self, few, many):
        """Of a session in a second, on the control lcore."""
        return (self.instructions(with_sessions(many), "bfd", many) - self.instructions(with_sessions(few), "bfd", few)) / (many - few)


def least(rounds, step, n, key="ns"):
    """The round that took the least, of what the program prints."""
    return min((step(n) for _ in range(rounds)), key=lambda shown: shown[key][-1])


def many(n, what):
    return f"{n:,} {what}{'s' if n > 1 else ''}"


def table(steps, rounds, counts):
    """The rows of docs/performance.md."""
    lines = ["| a next hop fails | least | median | 99 % | instructions |", "|---|---|---|---|---|"]
    for n in PATHS:
        shown = least(rounds, steps.paths, n)["ns"]
        lines.append(f"| {many(n, 'path')} over it: first packet on another one after | " + " | ".join(f"{x / 1000:.1f} us" for x in shown) +
                     f" | {f'{steps.count_paths(n):.0f}' if counts else ''} |")
    lines += ["", "| a link fails | all packets have left by the other port after | a packet | instructions of a packet |", "|---|---|---|---|"]
    for n in QUEUES:
        ns = least(rounds, steps.queue, n)["ns"][0]
        lines.append(f"| {many(n, 'packet')} queued | {ns / 1e6:.3f} ms | {ns / n:.0f} ns | {f'{steps.count_queue(n):.0f}' if counts and n < 10000 else ''} |")
    lines += ["", "| BFD sessions, 3 x 10 ms | control packets a second, each way | share of the control lcore |", "|---|---|---|"]
    idle = least(rounds, steps.sessions, 0, "share")["share"][0]
    for n in SESSIONS:
        shown = least(rounds, steps.sessions, n, "share")
        lines.append(f"| {n:,} | {shown['packets'][0]:,.0f} | {max(shown['share'][0] - idle, 0) * 100:.1f} % |")
    if counts:
        lines += ["", f"A session takes {steps.count_sessions(10, 100):,.0f} instructions of the control lcore in a second."]
    return "\n".join(lines)
