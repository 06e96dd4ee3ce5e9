# SPDX-License-Identifier: BSD-3-Clause
"""The process as a supervisor and an administrator see it: sd_notify, watchdog, pid file, log, preflight."""
import contextlib
import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import time

from support import expect, frame, wait_for, write_pcap

PTRACE_INTERRUPT, PTRACE_DETACH, PTRACE_SEIZE = 0x4207, 17, 0x4206


class Datagrams:
    """A socket that collects its messages."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.setblocking(False)
        self.seen = []

    def read(self):
        with contextlib.suppress(BlockingIOError):
            while True:
                self.seen.append(self.socket.recv(65536).decode(errors="replace"))
        return self.seen


@contextlib.contextmanager
def stopped(tid):
    """One thread stands still, as if its CPU had been taken away; the others go on."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4

    def ptrace(what):
        expect(libc.ptrace(what, tid, 0, 0) == 0, f"ptrace: {os.strerror(ctypes.get_errno())}")
    ptrace(PTRACE_SEIZE)
    ptrace(PTRACE_INTERRUPT)
    os.waitpid(tid, 0x40000000)  # __WALL
    try:
        yield
    finally:
        ptrace(PTRACE_DETACH)


def plain_node(bench, *args, **more):
    write_pcap(bench.path("in.pcap"), [frame(1, n, 1) for n in range(20)])
    bench.config()
    return bench.node(*args, **more)


def watchdog(bench):
    """READY once; the watchdog is fed while every lcore makes passes, and not when one does not; STOPPING at the end."""
    inbox = Datagrams(bench.path("notify"))
    env = dict(os.environ, NOTIFY_SOCKET=bench.path("notify"), WATCHDOG_USEC="600000")
    node = plain_node(bench, env=env)
    wait_for(lambda: inbox.read().count("WATCHDOG=1") >= 3, "the watchdog is not fed", lambda: str(inbox.seen))
    expect(inbox.seen.count("READY=1") == 1 and inbox.seen[0] == "READY=1", f"{inbox.seen}")
    lcore = next(tid for name, tid in node.threads().items() if re.search(r"(worker|lcore).*-1$", name))
    with stopped(lcore):
        wait_for(lambda: "lcore 1 has made no pass" in node.log(), "nobody noticed", node.log)
        inbox.read()
        fed = len(inbox.seen)
        time.sleep(1.2)
        expect(len(inbox.read()) == fed, "fed although an lcore stood still")
        expect(node.command("show lcores")[0] == 0, "the management thread is well")
    wait_for(lambda: len(inbox.read()) > fed, "fed again once it goes on")
    node.stop()
    expect(inbox.read()[-1] == "STOPPING=1", f"{inbox.seen}")


def nobody_to_notify(bench):
    """A socket that is not there, an abstract one, a name that is too long: nothing depends on it."""
    for path in (bench.path("nosuch"), "/" + "x" * 200, "@" + bench.name):
        inbox = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        if path[0] == "@":
            inbox.bind("\0" + path[1:])
            inbox.settimeout(20)
        node = plain_node(bench, env=dict(os.environ, NOTIFY_SOCKET=path))
        if path[0] == "@":
            expect(inbox.recv(100) == b"READY=1", "the abstract socket")
        node.stop()


def pid_file(bench):
    node = plain_node(bench)
    with open(f"/run/sluice/{bench.name}.pid") as f:
        expect(int(f.read()) == node.process.pid, "the pid file")
    code, _, err = bench.run("--exit-when-idle", "100")
    expect(code == 3 and f"node {bench.name} is already running as process {node.process.pid}" in err, f"{code}: {err}")
    expect(os.path.exists(node.socket) and node.command("show version")[0] == 0, "the first one keeps its socket")
    node.process.send_signal(signal.SIGKILL)
    node.process.wait()
    expect(os.path.exists(node.socket), "nobody has cleaned up")
    node = plain_node(bench)  # the stale pid file and socket are in nobody's way
    node.stop()


def levels(bench):
    """Levels by module, and a limit that reports the lines it suppressed."""
    write_pcap(bench.path("in.pcap"), [frame(1, 0, 1)])
    bench.config()
    with open(bench.path("config.yaml"), "a") as f:
        f.write("log: {level: warning, rate: 5}\n")
    node = bench.node()
    expect("notice: " not in node.log(), node.log())
    node.ok("set log config notice")
    node.ok("reload --dry-run")
    expect(node.log() == "", node.log())
    with open(bench.path("broken.yaml"), "w") as f:
        f.write("nodes: {}\n")
    os.rename(bench.path("config.yaml"), bench.path("good.yaml"))
    os.rename(bench.path("broken.yaml"), bench.path("config.yaml"))

    def lines():
        return [line for line in node.log().splitlines() if line.startswith("error: config: nothing was changed")]
    for _ in range(60):
        before = node.json("show lcores")
        node.process.send_signal(signal.SIGHUP)
        wait_for(lambda: node.json("show lcores") != before, "a pass")
    wait_for(lambda: re.search(r"warning: config: \d+ lines suppressed \(log.rate\)", node.log()), "the summary", node.log)
    wait_for(lambda: len(lines()) + sum(int(n) for n in re.findall(r"config: (\d+) lines suppressed", node.log())) >= 10, "sums")
    expect(len(lines()) < 60, "nothing was suppressed")
    node.ok("set log all error")
    os.rename(bench.path("good.yaml"), bench.path("config.yaml"))
    node.stop()


def syslog(bench):
    """Priority, name, process and module; /dev/log is one that only this node sees."""
    inbox = Datagrams(bench.path("log"))
    write_pcap(bench.path("in.pcap"), [frame(1, 0, 1)])
    bench.config()
    with open(bench.path("config.yaml"), "a") as f:
        f.write("log: {to: syslog}\n")
    existed = os.path.lexists("/dev/log")
    try:
        node = bench.mounted(f"{{ [ -e /dev/log ] || touch /dev/log; }} && mount --bind {bench.path('log')} /dev/log")
        wait_for(lambda: any("is running: 2 ports" in line for line in inbox.read()), "a line", lambda: str(inbox.seen) + node.log())
        line = next(line for line in inbox.seen if "is running: 2 ports" in line)
        expect(re.match(rf"<29>.* sluice\[{node.process.pid}\]: main: node {bench.name} is running: ", line), line)  # daemon.notice
        expect("is running: 2 ports" not in node.log(), "on stderr, too")
        node.stop()
    finally:
        if not existed and os.path.lexists("/dev/log"):
            os.unlink("/dev/log")


def preflight(bench):
    """Findings with a verdict and a fix; the exit status says whether there are errors."""
    bench.config(p1="net_null1,no-rx=1")
    write_pcap(bench.path("in.pcap"), [])

    def run(*args):
        done = subprocess.run([bench.sluice, "preflight", *args], cwd=bench.folder, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr
    code, out, _ = run("-j", "-c", "config.yaml")
    found = json.loads(out)
    expect(code == 0 and {f["verdict"] for f in found} <= {"ok", "advice"}, f"{code}: {found}")
    expect(any("MB needed" in f["found"] for f in found) and any(f["about"] == "hugepages" for f in found), f"{found}")
    code, out, _ = run("-c", "config.yaml")
    expect(code == 0 and out.splitlines()[-1].startswith("0 errors, "), out)
    bench.config(lcores='{control: 0, rx: [1], worker: [1], cpus: "0@0,1@1000"}', p1="net_af_packet1,iface=nosuch0")
    code, out, _ = run("-j", "-c", "config.yaml")
    bad = [f["found"] for f in json.loads(out) if f["verdict"] == "must"]
    expect(code == 1 and any("CPU 1000" in b for b in bad) and any("nosuch0" in b for b in bad), f"{code}: {bad}")
    with open(bench.path("config.yaml"), "w") as f:
        f.write("nodes: {}\n")
    code, out, err = run("-c", "config.yaml")
    expect(code == 1 and "config.yaml:1:1: error: unknown key 'nodes'" in err, f"{code}: {err}")
    expect(run("--nosuch")[0] == 2, "usage")


TESTS = [
    ("life: watchdog", watchdog),
    ("life: nobody to notify", nobody_to_notify),
    ("life: pid file", pid_file),
    ("life: log levels and rate", levels),
    ("life: syslog", syslog),
    ("life: preflight", preflight),
]
