# SPDX-License-Identifier: BSD-3-Clause
"""The cases, network by network, in order: a later one starts from the state that an earlier one left."""

import json
import pathlib
import threading
import time

import cases_bfd
import cases_failover
import cases_figure
import cases_hmac
import cases_layer2
import cases_paths
import cases_pfc
import cases_pfc_wan
import cases_ping
import cases_rsvp
import cases_vlan
import topology
import twin
from checks import BULK, MLD, Lossless, all_drops, eventually, expect, ping, pings, quiet, reaches, roce, transfer
from net import run
from topology import A4, A6, B4, B6, GATE_A4, NET_A4, NET_A6, NET_B4, NET_B6, encaps

# --- through: sluice at the edges, Linux in the core


def resolved_live(t):
    """ND and ARP: no neighbour is configured, all are resolved, and the answers are right."""
    for host, target in ((t.a, B4), (t.a, B6)):
        reaches(host, target)
    found = [(t.nodes["gw"], A4, t.a, "eth0"), (t.nodes["gw"], A6, t.a, "eth0"),
             (t.nodes["gw"], "fd00:a::2", t.net.spaces["r1"], "west"), (t.nodes["pe"], B4, t.b, "eth0"),
             (t.nodes["pe"], B6, t.b, "eth0"), (t.nodes["pe"], "fd00:c::1", t.net.spaces["r2"], "east")]
    for node, address, space, interface in found:
        n = node.neighbor(address)
        expect(n and n["state"] == "resolved" and n["mac"] == space.mac(interface),
               f"{node.space.name}: {address} is {n}, {space.mac(interface)} expected")
    for host, gate in ((t.a, GATE_A4), (t.a, topology.GATE_A6), (t.b, topology.GATE_B4)):
        text = host.exec("ip", "neigh", "show", gate).stdout
        expect("lladdr" in text, f"Linux has not resolved {gate}: {text}")


def tunnel_is_one_hop(t):
    """Traceroute by ping: the headend answers for hop 1, the tail for hop 2, the core is not seen."""
    # 4: at the headend; 1 from the tail's own loopback is IPv6
    for more, text in ((("-t", 1), "Time to live exceeded"), (("-t", 2), "Time to live exceeded")):
        _, said = ping(t.a, B4, 1, more=more)
        expect(text in said, f"ping {more}: {said}")
    for hops, by in ((1, "fd00:0:1::1"), (2, "fd00:0:4::1")):
        _, said = ping(t.a, B6, 1, more=("-t", hops))
        expect("Time exceeded" in said, f"ping -t {hops}: {said}")
    pings(t.a, B4, more=("-t", 3))
    pings(t.a, B6, more=("-t", 3))


def full_frames(t):
    """The longest packets of the hosts, with 40 bytes in front on the wan."""
    pings(t.a, B4, size=1472, more=("-M", "do"))
    pings(t.a, B6, size=1452, more=("-M", "do"))


def fragments_pass(t):
    """Fragments of a host pass as they are: the kernel does not reassemble what a port receives (PACKET_FANOUT)."""
    cut = {name: node.drops().get("ip_length", 0) for name, node in t.nodes.items()}
    for size in (1473, 3000, 8000):
        pings(t.a, B4, size=size)
    for name, node in t.nodes.items():
        expect(node.drops().get("ip_length", 0) == cut[name], f"{name} drops cut packets: {node.drops()}")


def sids_answer(t):
    """Ping to a SID from a kernel router."""
    r2 = t.net.spaces["r2"]
    pings(r2, "5f00:0:400::", more=("-I", "fd00:c::1"))
    pings(r2, "5f00:0:100::", more=("-I", "fd00:b::2"))


def bulk(t, sender, receiver, address):
    with Lossless(t):
        transfer(sender, receiver, address)


def rdma(t, address):
    with Lossless(t):
        roce(t.a, t.b, address)


def neighbor_goes(t):
    """The tail's neighbour stops answering; the loss is named; it comes back with another MAC."""
    pe, quiet_before = t.nodes["pe"], quiet(t)
    t.b.ip("link set eth0 arp off", f"addr del {B6}/64 dev eth0")
    try:
        eventually(lambda: not ping(t.a, B4, 1)[0] and not ping(t.a, B6, 1)[0] and
                   pe.drops().get("neighbor_failed", 0) > quiet_before["pe"].get("neighbor_failed", 0) + 1,
                   "packets to the neighbour are dropped as neighbor_failed", 20)
        for address in (B4, B6):
            expect((pe.neighbor(address) or {"state": "unknown"})["state"] != "resolved", f"{pe.neighbor(address)}")
    finally:
        t.b.ip("link set eth0 arp on", "link set eth0 address 02:00:00:00:0b:02")
        t.hosts()
    for address in (B4, B6):
        reaches(t.a, address)
        expect(pe.neighbor(address)["mac"] == "02:00:00:00:0b:02", f"{pe.neighbor(address)}")


def core_neighbor_goes(t):
    """The same on the wan: the headend's next hop goes and returns."""
    gw, r1, before = t.nodes["gw"], t.net.spaces["r1"], quiet(t)
    r1.ip("addr del fd00:a::2/64 dev west")
    try:
        eventually(lambda: not ping(t.a, B6, 1)[0] and
                   gw.drops().get("neighbor_failed", 0) > before["gw"].get("neighbor_failed", 0),
                   "packets to the next hop are dropped as neighbor_failed", 20)
    finally:
        r1.ip("addr add fd00:a::2/64 dev west nodad", "route replace 5f00:0:100::/48 via fd00:a::1",
              "route replace fd00:0:1::/48 via fd00:a::1")
    reaches(t.a, B6)
    reaches(t.b, A4)


def link_of(t, node, port, up):
    eventually(lambda: t.nodes[node].port(port)["link"] == ("up" if up else "down"),
               f"{node} sees {port} {'up' if up else 'down'}")


def carrier_goes(t):
    """The host takes its link down: sluice detects it, drops for the right reason, and resumes when the link returns."""
    t.b.ip("link set eth0 down")
    link_of(t, "pe", "dc0", False)
    # another station appears, and nothing is sent to the previous one
    t.b.ip("link set eth0 address 02:00:00:00:0b:03")
    before = all_drops(t)["pe"].get("port_down", 0)
    expect(not ping(t.a, B4, 3)[0], "pings are answered without a link")
    expect(all_drops(t)["pe"].get("port_down", 0) >= before + 3, f"not counted as port_down: {all_drops(t)['pe']}")
    t.b.ip("link set eth0 up")
    t.hosts()
    link_of(t, "pe", "dc0", True)
    pings(t.a, B4)
    pings(t.a, B6)


def interface_goes_down(t):
    """sluice's own interface is set down and up."""
    pe = t.net.spaces["pe"]
    pe.ip("link set wan0 down")
    link_of(t, "pe", "wan0", False)
    expect(not ping(t.a, B4, 1)[0], "pings are answered without a link")
    pe.ip("link set wan0 up")
    link_of(t, "pe", "wan0", True)
    reaches(t.a, B4)
    reaches(t.a, B6)


def transfer_over_flap(t):
    """TCP lives through a short loss of a link in the middle of a transfer."""
    gw = t.net.spaces["gw"]

    def flap():
        time.sleep(0.15)
        gw.ip("link set wan0 down")
        time.sleep(0.5)
        gw.ip("link set wan0 up")

    thread = threading.Thread(target=flap)
    thread.start()
    try:
        sent = transfer(t.a, t.b, B4, size=2 * BULK)
    finally:
        thread.join()
    expect(sent["seconds"] > 0.5, f"the transfer was over before the link went: {sent}")
    link_of(t, "gw", "wan0", True)


THROUGH = [
    ("ND and ARP resolve live, in both directions", resolved_live),
    ("ping IPv4", lambda t: pings(t.a, B4)),
    ("ping IPv6", lambda t: pings(t.a, B6)),
    ("longest packets of the hosts, DF set", full_frames),
    ("fragments of a host pass as they are", fragments_pass),
    ("the tunnel is one hop for the tenant", tunnel_is_one_hop),
    ("ping to SIDs from a kernel router", sids_answer),
    *cases_ping.THROUGH,
    ("TCP IPv4, 100 MB A to B, no drop", lambda t: bulk(t, t.a, t.b, B4)),
    ("TCP IPv4, 100 MB B to A, no drop", lambda t: bulk(t, t.b, t.a, A4)),
    ("TCP IPv6, 100 MB A to B, no drop", lambda t: bulk(t, t.a, t.b, B6)),
    ("TCP IPv6, 100 MB B to A, no drop", lambda t: bulk(t, t.b, t.a, A6)),
    ("RoCEv2 over IPv4: 4,800 packets in order, no drop", lambda t: rdma(t, B4)),
    ("RoCEv2 over IPv6: 4,800 packets in order, no drop", lambda t: rdma(t, B6)),
    ("a host goes and returns with another MAC", neighbor_goes),
    ("a wan next hop goes and returns", core_neighbor_goes),
    ("carrier goes and returns", carrier_goes),
    ("own interface down and up", interface_goes_down),
    ("TCP survives a link that goes for half a second", transfer_over_flap),
]

# --- through, with hosts whose packets are too long for the tunnel


def discovers_mtu(t, address, mss):
    sent = transfer(t.a, t.b, address, size=5_000_000)
    expect(sent["mss"] == mss, f"TCP uses segments of {sent['mss']}, {mss} expected")


def reassembled(space):
    """IPv4 packets that a host has reassembled."""
    names, values = (line.split()[1:] for line in space.exec("cat", "/proc/net/snmp").stdout.splitlines()
                     if line.startswith("Ip:"))
    return int(dict(zip(names, values, strict=True))["ReasmOKs"])


def fragmented(t):
    """IPv4 without DF: fragmented before the tunnel (D29), reassembled by the hosts, never on the way."""
    reaches(t.a, B4)
    before = [reassembled(host) for host in (t.b, t.a)]
    with Lossless(t):
        pings(t.a, B4, size=1700, more=("-M", "dont"))
    after = [reassembled(host) for host in (t.b, t.a)]
    expect([x - y for x, y in zip(after, before, strict=True)] == [5, 5], f"requests, replies reassembled: {before} to {after}")
    for name in ("r1", "r2"):
        expect(not reassembled(t.net.spaces[name]), f"{name} reassembles")


LONG = [
    ("IPv4 without DF is fragmented in front of the tunnel, both ways", fragmented),
    # wan MTU 1600 less 40 of the tunnel; TCP's time stamps take 12 bytes of the rest after IP and TCP headers
    ("TCP IPv4 learns the tunnel's MTU from ICMP", lambda t: discovers_mtu(t, B4, 1600 - 40 - 20 - 20 - 12)),
    ("TCP IPv6 learns the tunnel's MTU from ICMPv6", lambda t: discovers_mtu(t, B6, 1600 - 40 - 40 - 20 - 12)),
]

# --- jumbo: through, with frames in chains of buffers


def jumbo_pings(t):
    with Lossless(t, MLD):
        pings(t.a, B4, size=topology.JUMBO_HOST - 28, more=("-M", "do"))
        pings(t.a, B6, size=topology.JUMBO_HOST - 48, more=("-M", "do"))


def jumbo_bulk(t):
    with Lossless(t, MLD):
        for sender, receiver, to, headers in ((t.a, t.b, B4, 52), (t.b, t.a, A6, 72)):
            sent = transfer(sender, receiver, to, size=BULK // 10)
            expect(sent["mss"] == topology.JUMBO_HOST - headers, f"TCP uses segments of {sent['mss']}")


def jumbo_roce(t):
    with Lossless(t, MLD):
        for size in (4096, 8192):
            roce(t.a, t.b, B6, count=50, size=size)


JUMBO = [
    ("longest packets of the hosts, DF set, fill an MTU of 9000", jumbo_pings),
    ("TCP 10 MB each way in jumbo segments, no drop", jumbo_bulk),
    ("RoCEv2 with a path MTU of 4096, and longer: in order, no drop", jumbo_roce),
]

# --- mirror: Linux at the edges, sluice in the core


EAST, WEST = "5f00:0:200:300:e301", "5f00:0:300:200:e201"


def by_sids(t, mode, last, nets=((NET_A6, NET_B6),)):
    """Both edges encapsulate in this mode towards this way of decapsulation."""
    for west_net, east_net in nets:
        encaps(t.k1, mode, [f"{EAST}:e40{last}::"], east_net)
        encaps(t.k2, mode, [f"{WEST}:e10{last}::"], west_net)


def kernel_pair(t, mode, last, target, nets):
    by_sids(t, mode, last, [nets])
    with Lossless(t):
        pings(t.a, target)


SIX, FOUR = (NET_A6, NET_B6), (NET_A4, NET_B4)


def two_containers(t, mode):
    """An SRH on the way: sluice's uN takes the next container, and unlinks the SRH with it (PSP)."""
    encaps(t.k1, mode, ["5f00:0:200::", "5f00:0:300:e301:e406::"], NET_B6)
    encaps(t.k2, mode, ["5f00:0:300:200::", "5f00:0:200:e201:e106::"], NET_A6)
    with Lossless(t):
        pings(t.a, B6)


def layer2(t, address):
    """Whole frames: the far host takes them because the edges have the hosts' MAC addresses crosswise."""
    t.k1.ip(f"link set hosts0 address {t.b.mac('eth0')}")
    t.k2.ip(f"link set hosts0 address {t.a.mac('eth0')}")
    by_sids(t, "l2encap.red", 2, [SIX, FOUR])
    for host in (t.a, t.b):
        host.ip("neigh flush all")
    with Lossless(t):
        pings(t.a, address)


def kernel_bulk(t, mode, last, address, nets):
    by_sids(t, mode, last, [nets])
    reaches(t.a, address)
    with Lossless(t):
        transfer(t.a, t.b, address)
        roce(t.a, t.b, address, count=100)


MIRROR = [
    ("encap.red, End.DT6: ping", lambda t: kernel_pair(t, "encap.red", 6, B6, SIX)),
    ("encap.red, End.DX6: ping", lambda t: kernel_pair(t, "encap.red", 7, B6, SIX)),
    ("encap.red, End.DX4: ping", lambda t: kernel_pair(t, "encap.red", 4, B4, FOUR)),
    ("encap, one segment with SRH, End.DT6: ping", lambda t: kernel_pair(t, "encap", 6, B6, SIX)),
    ("encap.red, two containers: ping", lambda t: two_containers(t, "encap.red")),
    ("encap, two containers, full list: ping", lambda t: two_containers(t, "encap")),
    ("End.DT6: TCP 100 MB and RoCEv2, no drop", lambda t: kernel_bulk(t, "encap.red", 6, B6, SIX)),
    ("End.DX4: TCP 100 MB and RoCEv2, no drop", lambda t: kernel_bulk(t, "encap.red", 4, B4, FOUR)),
    ("l2encap.red, End.DX2: ping IPv4", lambda t: layer2(t, B4)),
    ("l2encap.red, End.DX2: ping IPv6", lambda t: layer2(t, B6)),
    ("End.DX2: TCP 100 MB, no drop", lambda t: bulk(t, t.a, t.b, B4)),
]

# --- mixed: each is the other's headend and decapsulator


def mixed_layer3(t, address):
    with Lossless(t):
        pings(t.a, address)


MIXED = [
    ("kernel encap.red to uDT46, H.Encaps.Red to End.DX4: ping", lambda t: mixed_layer3(t, B4)),
    ("kernel encap.red to uDT46, H.Encaps.Red to End.DT6: ping", lambda t: mixed_layer3(t, B6)),
    *cases_ping.MIXED,
    ("TCP IPv4, 100 MB A to B, no drop", lambda t: bulk(t, t.a, t.b, B4)),
    ("TCP IPv6, 100 MB B to A, no drop", lambda t: bulk(t, t.b, t.a, A6)),
]

# --- twin: the same frames through Linux and through sluice


def twin_frames(t):
    """Once for all the cases."""
    if not hasattr(t, "frames"):
        quiet(t)
        t.frames = [json.loads(space.exec("/usr/bin/python3", twin.__file__, 1).stdout) for space in (t.linux, t.sluice)]
    return t.frames


def twin_case(number):
    name, _, masks = twin.PACKETS[number]

    def case(t):
        linux, sluice = (frames.get(str(number), []) for frames in twin_frames(t))
        lines = twin.difference(name, masks, linux, sluice)
        expect(not lines, "\n".join(lines))
        # a mask that hides nothing has no place here
        for mask in masks:
            rest = [m for m in masks if m != mask]
            expect(twin.difference(name, rest, linux, sluice), f"Linux does not deviate any more: {mask}")

    return name + (f" (Linux: {', '.join(masks)})" if masks else ""), case


TWIN = [twin_case(number) for number in range(len(twin.PACKETS))]

# --- story: the output of scripts/run --live


def story(t):
    tale = pathlib.Path(__file__).with_name("live.py")
    out = pathlib.Path(t.options.out) / "story"
    said = run(["/usr/bin/python3", str(tale), "--sluice", str(t.options.sluice), "--out", str(out)], timeout=240).stdout
    expect(said.count("every packet accounted for") == 2 and "Traceback" not in said, said)


GROUPS = [
    ("through", topology.through, THROUGH),
    ("long", lambda options: topology.through(options, host_mtu=1900), LONG),
    ("jumbo", topology.jumbo, JUMBO),
    ("mirror", topology.mirror, MIRROR),
    ("mixed", topology.mixed, MIXED),
    ("twin", topology.twin, TWIN),
    *cases_bfd.GROUPS,
    *cases_failover.GROUPS,
    *cases_figure.GROUPS,
    *cases_hmac.GROUPS,
    *cases_layer2.GROUPS,
    *cases_paths.GROUPS,
    *cases_rsvp.GROUPS,
    *cases_vlan.GROUPS,
    *cases_pfc.GROUPS,
    *cases_pfc_wan.GROUPS,
    ("story", topology.Topology, [("scripts/run --live is told to its end", story)]),
]
