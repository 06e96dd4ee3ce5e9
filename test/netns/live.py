#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
sluice and Linux routers, live: a network is made, hosts talk through it, and what happens is shown; then a second one, in
which a station stops its gateway by PFC, and the pause crosses the wan. As root.
"""

import argparse
import os
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(HERE))

import cases_pfc_wan  # noqa: E402
import topology  # noqa: E402
from cases_pfc import MAC_B, REFRESH  # noqa: E402
from checks import Failure, all_drops, eventually, ping, quiet, reaches, roce, transfer  # noqa: E402
from features import missing  # noqa: E402
from net import CommandFailed, run  # noqa: E402
from node import NodeFailed  # noqa: E402
from pfc import FULL, decoded, gate, passes_only, pfc, released, takes_effect, times_of  # noqa: E402
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


def say(*text, **how):
    print(*text, flush=True, **how)


def step(title):
    say(f"\n== {title}")


def drops_of(node, before):
    """Drops since then in words, without those of Linux's own multicasts."""
    rows = ((reason, n - before.get(reason, 0)) for reason, n in node.drops().items() if reason != "multicast")
    return ", ".join(f"{n} as {reason}" for reason, n in rows if n) or "nothing"


def in_words(times):
    return ", ".join(f"priority {p} " + (f"stops for {q} quanta" if q else "goes on") for p, q in times.items())


def show_ping(space, to, name):
    answered, text = ping(space, to, 5)
    rtt = next((line.split("=")[1].strip() for line in text.splitlines() if line.startswith("rtt")), "?")
    say(f"  {name:28} {answered} of 5 answered, round trip min/avg/max/mdev {rtt}")
    if answered != 5:
        raise Failure(f"ping to {to}")


HOPS = (("gw to r1", "r1", "west"), ("r1 to r2", "r2", "west"), ("r2 to pe", "r2", "east"))


def show_captured(t):
    """One ping on every link between the routers, decoded by tshark."""
    seen = [(name, t.net.spaces[space], interface, t.nodes["gw"].folder / f"{space}-{interface}.pcap")
            for name, space, interface in HOPS]
    captures = [space.popen("tshark", "-q", "-i", interface, "-a", "duration:4", "-w", path, stdout=-3, stderr=-3)
                for _, space, interface, path in seen]
    time.sleep(2)  # until all of them listen
    ping(t.a, B4, 1)
    for capture in captures:
        capture.wait(15)
    fields = ("ipv6.src", "ipv6.dst", "ipv6.hlim", "ip.src", "ip.dst", "ip.ttl")
    for name, _, _, path in seen:
        lines = run(["tshark", "-r", str(path), "-Y", "icmp.type == 8", "-T", "fields",
                     *(w for f in fields for w in ("-e", f))]).stdout.splitlines()
        for line in lines[:1]:
            src, dst, hops, isrc, idst, ttl = line.split("\t")
            say(f"  {name}   IPv6 {src} > {dst:33} hlim {hops} | IPv4 {isrc} > {idst} ttl {ttl} ICMP echo request")
    say("  pe to B    the IPv4 packet alone, ttl 62: the tunnel is no hop, each of its ends is one")


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
    pe = t.nodes["pe"]
    before = pe.drops()
    say("  the cable between pe and host B is pulled ...")
    t.b.ip("link set eth0 down")
    eventually(lambda: t.nodes["pe"].port("dc0")["link"] == "down", "pe sees it")
    answered, _ = ping(t.a, B4, 2)
    say(f"  pe says: dc0 is down; {answered} of 2 pings answered; dropped: {drops_of(pe, before)}")
    t.b.ip("link set eth0 up")
    t.hosts()
    started = time.monotonic()
    reaches(t.a, B4)
    say(f"  ... and put back: host B answers after {time.monotonic() - started:.1f} s")


def show_neighbor(t):
    pe = t.nodes["pe"]
    before = pe.drops()
    say("  host B answers neither ARP nor ND any more ...")
    t.b.ip("link set eth0 arp off", f"addr del {B6}/64 dev eth0")
    try:
        eventually(lambda: not ping(t.a, B4, 1)[0] and pe.drops().get("neighbor_failed"), "pe notices", 20)
        say(f"  pe says: {B4} is {(pe.neighbor(B4) or {'state': 'forgotten'})['state']}; dropped: {drops_of(pe, before)}")
    finally:
        t.b.ip("link set eth0 arp on", "link set eth0 address 02:00:00:00:0b:02")
        t.hosts()
    reaches(t.a, B4)
    say(f"  ... and is back with another MAC address: pe has learnt {pe.neighbor(B4)['mac']}")


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
    step("One ping from link to link, as tshark sees it: each router shifts its own uSIDs out")
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
    step("A neighbour goes and returns")
    show_neighbor(t)


PFC_DRAWING = r"""
   station A           gw              pe1               p                pe2         station B
               +----------------+  +-----------+  +-------------+  +---------------+
   10.1.0.11 --| a0   sluice  pe|--| dc2       |--|   sluice    |--|          dc2  |-- 10.3.0.33
               | a data centre's|  |  sluice   |  | uN 0x0200   |  |    sluice     |   congested
               | gateway        |  |           |  |             |  |               |
               +----------------+  +-----------+  +-------------+  +---------------+
                data  ==>            H.Encaps.Red                     uDT46
                                     uDX2, relay    <==  PFC in H.Encaps.L2.Red  <==  PFC
"""


def pfc_story(t):
    """draft-he: show the behaviour that cases_pfc_wan asserts."""
    say(PFC_DRAWING)
    t.start()
    gw, flow, numbers = t.nodes["gw"], t.flow, []
    step("B pauses priority 3; its provider edge takes the frame through the wan to the gateway of A's data centre")
    released(flow, {0: flow.send(5, 0)})
    for station in (t.core, t.at_gw, t.a):
        station.forget()
    t.b.begin("xoff", pfc(MAC_B, {3: FULL}), REFRESH / 5, "eth2")
    takes_effect(gw, "pe", 3, "closed")
    flow.take()
    row = decoded(t.core.take("east"), gw.folder / "tunnel.pcap")[0]
    say(f"  pe2 to p     IPv6 {row['ipv6.src'][0]} > {row['ipv6.dst'][0]} DSCP {row['ipv6.tclass.dscp'][0]} hlim "
        f"{row['ipv6.hlim'][0]} next header {row['ipv6.nxt'][0]}")
    say(f"               PFC from {row['eth.src'][1]}: {in_words(times_of(row))}")
    row = decoded(t.at_gw.take("pe"), gw.folder / "gateway.pcap")[0]
    say(f"  pe1 to gw    PFC from {row['eth.src'][0]}, which is pe1's port: {in_words(times_of(row))}")
    held = passes_only(flow, free=(0,), stopped=(3,), count=20)[3]
    say(f"  A sends 20 packets in class 0 and 20 in class 3: B gets those of class 0, {len(held)} wait in gw")
    step("A goes on sending in class 3: gw's buffer fills, and gw pauses A")
    numbers += held
    while not gw.show("pfc counters a0")["ports"][0]["tx_xoff"][3]:
        numbers += flow.send(20, 3)
        if len(numbers) > 2000:
            raise Failure("gw does not pause A")
    found = decoded(t.a.take("eth0"), gw.folder / "a.pcap")
    say(f"  after {len(numbers)} packets A hears PFC from {found[0]['eth.src'][0]}, which is gw's port: "
        f"{in_words(times_of(found[0]))}")
    buffer = next(b for b in gw.show("buffers a0")["classes"] if b["kind"] == "lossless")
    say(f"  gw says: {buffer['bytes']} bytes in its buffer, XOFF at {buffer['xoff_bytes']}, headroom {buffer['headroom_bytes']}")
    step("B resumes priority 3")
    t.b.end("xoff")
    t.b.send(pfc(MAC_B, {3: 0}), interface="eth2")
    released(flow, {3: numbers})
    eventually(lambda: gate(gw, "pe", 3) == "open", "gw resumes")
    say(f"  all {len(numbers)} packets of class 3 arrive, in order; packets dropped in gw, pe1, p, pe2: "
        f"{sum(n for d in all_drops(t).values() for reason, n in d.items() if reason != 'multicast')}")


def stay(t):
    """Commands for exploring the network."""
    gw = t.nodes["gw"]
    say("\nThe network stays until you press Enter. In another terminal, as root:\n")
    ctl = pathlib.Path(gw.options.sluice).parents[1] / "sluicectl" / "sluicectl"
    for command in (f"{ctl} -n {gw.name}", f"{ctl} -n {gw.name} show policies",
                    f"ip netns exec {t.a.full} ping {B4}",
                    f"ip netns exec {t.net.spaces['r2'].full} tshark -i west"):
        say(f"  {command}")
    try:
        input()
    except EOFError:
        say("(there is no terminal to wait for)")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", type=pathlib.Path, default=TOP / "build/app/sluice/sluice")
    parser.add_argument("--out", default=TOP / "out" / "live", help="configurations, logs and reports of the nodes")
    parser.add_argument("--stay", action="store_true", help="leave the first network running, to look around in it")
    options = parser.parse_args()
    options.sluice, options.out = options.sluice.resolve(), pathlib.Path(options.out).resolve()
    if os.geteuid():
        parser.error("network namespaces want root: sudo ./scripts/run --live")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    failed = tell(options, "through", topology.through, story)
    if not failed and not options.stay:
        step("PFC across the wan (draft-he-rtgwg-wan-pfc)")
        failed = tell(options, "relay", cases_pfc_wan.relay, pfc_story)
    if not failed:
        say(f"Everything is in {options.out}; nothing is left on this machine. All cases: test/netns/run.py")
    return failed


def tell(options, network, build, tale):
    """One network from its beginning to its end; 1: something went wrong."""
    lacking = missing(network)
    if lacking:
        say(f"This machine cannot show it: it is without {lacking}.")
        return 1
    t = None
    try:
        t = build(options)
        tale(t)
        if options.stay:
            stay(t)
        problems = [line for node in t.nodes.values() for line in node.stop()]
        say("\n" + ("\n".join(problems) if problems else "All nodes have ended, every packet accounted for."))
        return 1 if problems else 0
    except KeyboardInterrupt:
        say("\nInterrupted; cleaning up.")
        return 130
    except (Failure, CommandFailed, NodeFailed) as e:
        say(f"\nPROBLEM: {e}", f"Logs and configurations: {options.out}", sep="\n")
        return 1
    finally:
        if t:
            t.close()


if __name__ == "__main__":
    sys.exit(main())
