#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""sluice and Linux routers, live: a network is made, hosts talk through it, and what happens is shown. As root."""

import argparse
import os
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(HERE))

import topology  # noqa: E402
from checks import Failure, all_drops, eventually, ping, quiet, reaches, roce, transfer  # noqa: E402
from net import CommandFailed, run  # noqa: E402
from node import NodeFailed  # noqa: E402
from topology import A4, A6, B4, B6  # noqa: E402

DRAWING = r"""
    host A            gw                r1               r2                pe            host B
   Linux           sluice            Linux            Linux            sluice          Linux
  +------+  dc0  +--------+  wan0  +-------+        +---------+  wan0 +--------+  dc0  +------+
  |      |-------|H.Encaps|--------|  uN   |--------| uN + uA |-------|  uN    |-------|      |
  |      |       |  .Red  |        |0x0200 |        | 0x0300  |       | uDT46  |       |      |
  +------+       +--------+        +-------+        +---------+       +--------+       +------+
  10.1.0.11       0x0100                             0xe301            0x0400          10.3.0.33
  2001:db8:1::11                                                       0xe446          2001:db8:3::33

  A to B on the wire:   5f00:0:200:300:e301:400:e446:0   then   5f00:0:300:e301:400:e446::   then   5f00:0:400:e446::
  B to A on the wire:   5f00:0:300:200:e201:100:e146::   and so on; uN and uA of r1 are two steps here
"""


def say(*text):
    print(*text, flush=True)


def step(title):
    say(f"\n== {title}")


def show_ping(space, to, name):
    answered, text = ping(space, to, 5)
    rtt = next((line.split("=")[1].strip() for line in text.splitlines() if line.startswith("rtt")), "?")
    say(f"  {name:28} {answered} of 5 answered, round trip min/avg/max/mdev {rtt}")
    if answered != 5:
        raise Failure(f"ping to {to}")


def show_captured(t):
    """One ping as it is on the wire between the routers."""
    r1 = t.net.spaces["r1"]
    path = t.nodes["gw"].folder / "wan.pcap"
    with r1.popen("/usr/bin/tshark", "-q", "-i", "west", "-a", "duration:3", "-w", path, stdout=-3, stderr=-3) as capture:
        time.sleep(1.5)
        ping(t.a, B4, 1)
        capture.wait(10)
    lines = run(["tshark", "-r", str(path), "-Y", "icmp", "-T", "fields", "-e", "ipv6.src", "-e", "ipv6.dst", "-e",
                 "ipv6.hlim", "-e", "ip.src", "-e", "ip.dst", "-e", "ip.ttl"]).stdout.splitlines()
    for line in lines[:2]:
        src, dst, hops, isrc, idst, ttl = line.split("\t")
        say(f"  gw-r1   [IPv6 {src} > {dst} hlim {hops}] IPv4 {isrc} > {idst} ttl {ttl} ICMP")


def show_transfer(sender, receiver, to, name):
    sent = transfer(sender, receiver, to)
    say(f"  {name:28} {sent['bytes'] // 1000000} MB in {sent['seconds']:.2f} s "
        f"({sent['bytes'] * 8 / sent['seconds'] / 1e9:.2f} Gbit/s), SHA-256 {sent['sha256'][:16]}... at both ends")


def show_counters(t):
    say(f"  {'node':6} {'port':6} {'received':>10} {'sent':>10}")
    for name, node in t.nodes.items():
        for port in node.show("ports"):
            say(f"  {name:6} {port['port']:6} {port['rx']:10} {port['tx']:10}")
    say(f"  drops since the hosts began to talk: {all_drops(t) == t.drops_before and 'none' or all_drops(t)}")
    say("  what Linux multicasts on its links when they come up (MLD) was dropped before that, as `multicast`")


def show_flap(t):
    say("  the cable between pe and host B is pulled ...")
    t.b.ip("link set eth0 down")
    eventually(lambda: t.nodes["pe"].port("dc0")["link"] == "down", "pe sees it")
    answered, _ = ping(t.a, B4, 2)
    say(f"  pe says: dc0 is down; {answered} of 2 pings answered; dropped as {all_drops(t)['pe']}")
    t.b.ip("link set eth0 up")
    t.hosts()
    started = time.monotonic()
    reaches(t.a, B4)
    say(f"  ... and put back: host B answers after {time.monotonic() - started:.1f} s")


def story(t):
    say(DRAWING)
    step("The network comes up: namespaces, cables, two sluice processes on af_packet ports")
    t.start()
    for name, node in t.nodes.items():
        say(f"  {name}: " + ", ".join(f"{p['port']} {p['link']}" for p in node.show("ports")))
    step("Nobody knows anybody yet: ARP and ND find the neighbours while the first pings wait")
    for host, to, name in ((t.a, B4, "A to B, IPv4"), (t.a, B6, "A to B, IPv6"), (t.b, A4, "B to A, IPv4"),
                           (t.b, A6, "B to A, IPv6")):
        show_ping(host, to, name)
    for name, node in t.nodes.items():
        for n in node.show("neighbors"):
            say(f"  {name} learnt  {n['address']:16} {n['mac']}  on {n['port']}")
    step("What is on the wire between gw and r1, as tshark sees it")
    show_captured(t)
    t.drops_before = quiet(t)
    step("TCP, 100 MB each way")
    for a, b, to, name in ((t.a, t.b, B4, "A to B, IPv4"), (t.b, t.a, A6, "B to A, IPv6")):
        show_transfer(a, b, to, name)
    step("RoCEv2: 16 queue pairs, each its own flow")
    got = roce(t.a, t.b, B6)
    say(f"  {got['packets']} packets arrived, every one once, in order per queue pair, bytes unchanged")
    step("Counters")
    show_counters(t)
    step("A link goes and returns")
    show_flap(t)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", type=pathlib.Path, default=TOP / "build/app/sluice/sluice")
    parser.add_argument("--out", default=TOP / "out" / "live", help="configurations, logs and reports of the nodes")
    options = parser.parse_args()
    options.sluice, options.out = options.sluice.resolve(), pathlib.Path(options.out).resolve()
    if os.geteuid():
        parser.error("network namespaces want root: sudo ./scripts/run --live")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    t = None
    try:
        t = topology.through(options)
        story(t)
        problems = [line for node in t.nodes.values() for line in node.stop()]
        say("\n" + ("\n".join(problems) if problems else "Both nodes have ended, every packet accounted for."))
        say(f"Everything is in {options.out}; nothing is left on this machine. All cases: test/netns/run.py")
        return 1 if problems else 0
    except (Failure, CommandFailed, NodeFailed) as e:
        say(f"\nPROBLEM: {e}")
        return 1
    finally:
        if t:
            t.close()


if __name__ == "__main__":
    sys.exit(main())
