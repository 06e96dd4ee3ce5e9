# SPDX-License-Identifier: BSD-3-Clause
"""
BFD with bfdd of FRR (Debian's package frr), which no part of this program has made.

    bfd       s == f      s: sluice, f: zebra and bfdd in a namespace of their own; one session over IPv4, one over IPv6

The daemons run in the namespace, with files in a folder of their own, and end with the test.
"""

import json
import pathlib
import shutil
import subprocess
import tempfile
import time

from checks import SETTLE, eventually, expect, machine
from net import run
from node import port, via
from topology import Topology

OWN4, PEER4, OWN6, PEER6 = "10.7.0.1", "10.7.0.2", "fd00:7::1", "fd00:7::2"
SLOW = 200  # ms between packets: other tests may keep the CPUs busy for longer than 3 x 10 ms
DAEMONS = "/usr/lib/frr"


class Frr:
    def __init__(self, space):
        self.space, self.running = space, {}
        # the daemons run as the package's user, who may not enter the folder of the test
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-frr-"))
        self.folder.chmod(0o755)
        shutil.chown(self.folder, "frr", "frr")
        (self.folder / "zebra.conf").write_text("")
        (self.folder / "bfdd.conf").write_text("bfd\n" + "".join(
            f" peer {peer} local-address {own} interface wan0\n  receive-interval {SLOW}\n  transmit-interval {SLOW}\n"
            "  detect-multiplier 3\n  no shutdown\n" for peer, own in ((OWN4, PEER4), (OWN6, PEER6))))

    def start(self, *names):
        for name in names:
            more = ["--bfdctl", self.folder / "bfdd.sock"] if name == "bfdd" else []
            with open(self.folder / f"{name}.log", "a") as log:
                self.running[name] = self.space.popen(
                    f"{DAEMONS}/{name}", "-f", self.folder / f"{name}.conf", "-i", self.folder / f"{name}.pid", "-z", self.folder / "zserv.api", "-P", 0, "--vty_socket", self.folder, "--log", "stdout", *more,
                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            eventually((self.folder / f"{name}.vty").exists, f"{name} listens")

    def kill(self, name):
        """Ends at once, without a word to its neighbours."""
        process = self.running.pop(name)
        process.kill()
        process.wait()
        (self.folder / f"{name}.vty").unlink(missing_ok=True)

    def close(self):
        for name in list(self.running):
            self.kill(name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def vty(self, *commands):
        return run(self.space.command("vtysh", "--vty_socket", self.folder, "-d", "bfdd",
                                      *(word for c in commands for word in ("-c", c)))).stdout

    def configure(self, *commands):
        self.vty("configure terminal", "bfd", *commands)

    def peer(self, address):
        return next(p for p in json.loads(self.vty("show bfd peers json")) if p["peer"] == address)


class Bfd(Topology):
    def start(self):
        self.frr.start("zebra", "bfdd")
        return super().start()

    def close(self):
        self.frr.close()
        super().close()


def bfd(options):
    t = Bfd(options)
    s, f = t.spaces("s", "f")
    t.net.link(s, "wan0", f, "wan0")
    f.ip(f"addr add {PEER4}/24 dev wan0", f"addr add {PEER6}/64 dev wan0 nodad")
    f.sysctl("net.ipv4.ip_forward=1", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.wan0.rp_filter=0",
             "net.ipv4.conf.all.send_redirects=0", "net.ipv4.conf.wan0.send_redirects=0")
    t.frr = Frr(f)
    t.node(s, "fd00:0:1::1", [port(0, "wan0", "wan", f"{OWN4}/24", f"{OWN6}/64", bfd="slow")],
           bfd_profiles=profiles(),
           routes=via("wan0", PEER6, "fd00:9::/64") + via("wan0", PEER4, "10.9.0.0/24"))
    return t


def profiles(**more):
    return [{"name": "slow", "transmit": SLOW * 1000, "receive": SLOW * 1000, **more}]


def session(t, peer):
    return next(s for s in t.nodes["s"].show("bfd sessions") if s["peer"] == peer)


def is_up(t, peer, own):
    return session(t, peer)["state"] == "Up" and t.frr.peer(own)["status"] == "up"


BOTH = ((PEER4, OWN4), (PEER6, OWN6))


def comes_up(t):
    for peer, own in BOTH:
        eventually(lambda: is_up(t, peer, own), f"the session with {peer} is up")


def negotiated(t):
    """Both ends agree on intervals, detection times and discriminators, and the Poll Sequences end."""
    for peer, own in BOTH:
        eventually(lambda: session(t, peer)["detect_us"] == 3 * SLOW * 1000, "the neighbour sends fast")
        ours, theirs = session(t, peer), t.frr.peer(own)
        expect(ours["transmit_us"] == SLOW * 1000, f"{ours}")
        expect(int(ours["discriminator"], 16) == theirs["remote-id"] and int(ours["remote_discriminator"], 16) == theirs["id"],
               f"{ours}: {theirs}")
        expect(theirs["remote-receive-interval"] == SLOW and theirs["remote-transmit-interval"] == SLOW and
               theirs["remote-detect-multiplier"] == 3, f"{theirs}")
    counters = t.nodes["s"].show("bfd counters")
    expect(not any(n for name, n in counters.items() if name.startswith("refused_")), f"{counters}")


def dies(t):
    """bfdd ends without a word: down after the detection time, and up again with the next one."""
    before = [session(t, peer) for peer, _ in BOTH]
    began = time.monotonic()
    t.frr.kill("bfdd")
    for peer, _ in BOTH:
        eventually(lambda: session(t, peer)["state"] == "Down", f"the session with {peer} is down")
        expect(session(t, peer)["last_down"] == "control detection time expired", f"{session(t, peer)}")
    if all(s["state"] == "Up" for s in before) and not machine.watch().since(began).busy:
        expect(time.monotonic() - began < 3 * SLOW / 1000 + 1, "it took much longer than the detection time")
    hops = [h for h in t.nodes["s"].show("nexthops") if "bfd" in h["why"]]
    expect(len(hops) == 2, f"next hops: {t.nodes['s'].show('nexthops')}")
    t.frr.start("bfdd")
    comes_up(t)


def shut_there(t):
    """AdminDown of the neighbour is no failure (RFC 5882 section 4.2): the next hop stays."""
    t.frr.configure(f"peer {OWN4} local-address {PEER4} interface wan0", "shutdown")
    eventually(lambda: session(t, PEER4)["remote_state"] == "AdminDown", "AdminDown is heard")
    expect(session(t, PEER4)["state"] == "Down", f"{session(t, PEER4)}")
    eventually(lambda: not any("bfd" in h["why"] for h in t.nodes["s"].show("nexthops")), "the next hop is in use")
    t.frr.configure(f"peer {OWN4} local-address {PEER4} interface wan0", "no shutdown")
    comes_up(t)


def shut_here(t):
    t.nodes["s"].reload(bfd_profiles=profiles(shutdown=True))
    for peer, own in BOTH:
        eventually(lambda: t.frr.peer(own)["status"] == "down", "AdminDown is heard there")
        expect(session(t, peer)["state"] == "AdminDown", f"{session(t, peer)}")
    t.nodes["s"].reload(bfd_profiles=profiles())
    comes_up(t)


def slower(t):
    """A Poll Sequence changes the intervals of sessions that stay up."""
    downs = session(t, PEER6)["downs"]
    t.nodes["s"].reload(bfd_profiles=[{"name": "slow", "transmit": 400000, "receive": 300000}])
    eventually(lambda: t.frr.peer(OWN6)["remote-transmit-interval"] == 400, "the neighbour has heard the new interval")
    eventually(lambda: session(t, PEER6)["transmit_us"] == 400000 and session(t, PEER6)["detect_us"] == 900000,
               "both directions are slower")
    expect(session(t, PEER6)["downs"] == downs or machine.watch().since(time.monotonic() - SETTLE).busy, "it was down")


LIVE = [
    ("two sessions come up", comes_up), ("both ends agree", negotiated), ("bfdd dies and returns", dies),
    ("shut down there", shut_there), ("shut down here", shut_here), ("intervals change while it is up", slower),
]
GROUPS = [("bfd", bfd, LIVE)]
