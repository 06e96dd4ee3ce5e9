# SPDX-License-Identifier: BSD-3-Clause
"""
PFC through tunnels between real processes over veth; tshark decodes the frames on the wires.

    relay     A -- gw -- pe1 == p == pe2 -- B      draft-he: all sluice; gw is the gateway of the source data centre. Two
                         pe1 == p == pe2 -- B      more lines, in the modes transparent and scaled, end at station G
    tunnel    A == r1 == r2 == r3 == B             draft-ruan: r1, r3 sluice, r2 a kernel router; two slices side by side
"""

import struct
import time

from scapy.contrib.mac_control import MACControlPause
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from cases_hmac import KEY_ID, OTHER, SECRET, set_kernel_key, write_keys
from cases_pfc import MAC_A, MAC_B, MAC_C, PROFILE, REFRESH, lossless
from checks import eventually, expect
from net import make_router
from node import over, policy, port, via
from pfc import FULL, PFC_DA, Flow, decoded, gate, heard, passes_only, pfc, released, split, takes_effect, times_of
from topology import NEXT_CSID, Topology, seg6local, sid

CS7, ETHERNET, ROUTING = "56", "143", "43"
FAST, FASTER = "40M", "160M"  # the longest pause: 839 ms, 210 ms


def wan(number, name, address, **more):
    return port(number, name, "wan", address, **more)


def outer(row):
    """The headers that the tunnel added to a frame."""
    return {"source": row["ipv6.src"], "destination": row["ipv6.dst"], "dscp": row["ipv6.tclass.dscp"],
            "hops": row["ipv6.hlim"], "next": row["ipv6.nxt"], "left": row["ipv6.routing.segleft"],
            "segments": row["ipv6.routing.srh.addr"]}


def tunnelled(source, destination, hops, segments=(), left=None):
    """The same, as it must be. A kernel or sluice router in between has changed the hop limit, and SL."""
    return {"source": [source], "destination": [destination], "dscp": [CS7], "hops": [str(hops)],
            "next": [ROUTING if segments else ETHERNET], "left": [] if left is None else [str(left)],
            "segments": list(segments)}


# --- relay

PE1, PE2 = "fd00:0:1::1", "fd00:0:3::1"
D0, D1, D2 = "5f00:1:1:d0::", "5f00:1:1:d1::", "5f00:0:e1d2::"
P_END = "5f00:1:2:1::"
HOLD = 500_000  # us of jitter: so long pe1 holds the gateway after the last word


def relays_of_pe1(**watchdog):
    return [{"name": "zero", "port": "dc0", "sid": f"{D0}/64", "mode": "transparent"},
            {"name": "one", "port": "dc1", "sid": f"{D1}/64", "mode": "scaled", "from-speed": FAST},
            {"name": "two", "port": "dc2", "sid": f"{D2}/48", "from-speed": FAST, "jitter": HOLD, "watchdog": watchdog}]


def relays_of_pe2(**two):
    return [{"name": "zero", "port": "dc0", "mode": "transparent", "segments": [D0]},
            {"name": "one", "port": "dc1", "mode": "scaled", "segments": [P_END, D1]},
            {"name": "two", "port": "dc2", "from-speed": FAST, "jitter": HOLD, "hold-min": 100_000,
             "segments": [sid("200"), sid("100"), D2], **two}]


def relay(options):
    t = Topology(options)
    a, gw, g, pe1, p, pe2, b = t.spaces("a", "gw", "g", "pe1", "p", "pe2", "b")
    t.net.link(a, "eth0", gw, "a0")
    t.net.link(gw, "pe", pe1, "dc2")
    t.net.link(pe1, "wan0", p, "west", mtu=1600)
    t.net.link(p, "east", pe2, "wan0", mtu=1600)
    for n in range(3):
        t.net.link(pe2, f"dc{n}", b, f"eth{n}")
    for n in range(2):
        t.net.link(g, f"eth{n}", pe1, f"dc{n}")
    t.a, t.b = t.station(a, MAC_A, "eth0"), t.station(b, MAC_B, "eth0", "eth1", "eth2")
    t.g, t.core, t.at_gw = t.station(g, MAC_C, "eth0", "eth1"), t.watch(p, "east"), t.watch(gw, "pe")
    t.far = t.watch(pe1, "wan0")
    gateway_mac, pe1_mac = gw.mac("pe"), [pe1.mac(f"dc{n}") for n in range(3)]
    t.node(gw, "fd00:0:9::1",
           [port(0, "a0", "dc", "10.1.0.1/24", **lossless(MAC_A, 3)),
            port(1, "pe", "dc", "10.2.0.2/24", **lossless(pe1_mac[2], 3, speed=FAST))],
           buffer_profiles=PROFILE, routes=via("pe", "10.2.0.1", "10.3.0.0/24"),
           neighbors=[{"port": "a0", "address": "10.1.0.11", "mac": MAC_A}])
    t.node(pe1, PE1,
           [wan(0, "wan0", "fd00:a::1/64", mtu=1600), port(1, "dc0", "dc", "10.8.0.1/24", speed="10M"),
            port(2, "dc1", "dc", "10.8.1.1/24", speed=FASTER),
            port(3, "dc2", "dc", "10.2.0.1/24", vrf="blue", speed=FAST)],
           routes=via("wan0", "fd00:a::2", "5f00::/16", "fd00::/16"),
           vrfs=[{"name": "blue", "routes": over("east", "10.3.0.0/24")}],
           policies=[policy("east", sid("200"), sid("300"), sid("e346"))],
           sids=[{"sid": "5f00:0:100::/48", "behavior": "uN"},
                 {"sid": f"{D0}/64", "behavior": "End.DX2", "port": "dc0", "allowed-sources": [f"{PE2}/128"]},
                 {"sid": f"{D1}/64", "behavior": "End.DX2", "port": "dc1"},
                 {"sid": f"{D2}/48", "behavior": "uDX2", "port": "dc2"}],
           pfc_relays=relays_of_pe1(action="off"))
    t.node(p, "fd00:0:2::1", [wan(0, "west", "fd00:a::2/64", mtu=1600), wan(1, "east", "fd00:b::1/64", mtu=1600)],
           sids=[{"sid": "5f00:0:200::/48", "behavior": "uN"}, {"sid": f"{P_END}/64", "behavior": "End"}],
           routes=via("west", "fd00:a::1", "5f00:0:100::/48", "5f00:1:1::/48", f"{PE1}/128") +
           via("east", "fd00:b::2", "5f00:0:300::/48", f"{PE2}/128"))
    t.node(pe2, PE2,
           [{**wan(0, "wan0", "fd00:b::2/64", mtu=1600), **lossless(p.mac("east"), 3, speed="100M")},  # honour-local needs it
            port(1, "dc0", "dc", "10.9.0.1/24", **lossless(MAC_B, 3, 4)),
            port(2, "dc1", "dc", "10.9.1.1/24", **lossless(MAC_B, 3, 4, speed=FAST)),
            port(3, "dc2", "dc", "10.3.0.1/24", **lossless(MAC_B, 3, speed=FAST), vrf="blue")],
           buffer_profiles=PROFILE, routes=via("wan0", "fd00:b::1", "5f00::/16", "fd00::/16"),
           neighbors=[{"port": "dc2", "address": "10.3.0.33", "mac": MAC_B}],
           vrfs=[{"name": "blue", "routes": []}],
           sids=[{"sid": "5f00:0:300::/48", "behavior": "uN"}, {"sid": "5f00:0:e346::/48", "behavior": "uDT46", "vrf": "blue"}],
           pfc_relays=relays_of_pe2())
    t.gateway_mac, t.pe1_mac = gateway_mac, pe1_mac
    t.flow = Flow((t.a, "eth0"), (t.b, "eth2"), MAC_A, gw.mac("a0"), "10.1.0.11", "10.3.0.33")
    return t


def read(t, station, interface, way="received"):
    return decoded(station.take(interface, way), next(iter(t.nodes.values())).folder / f"{interface}.pcap")


def say(t, line, *times):
    t.b.send(*(pfc(MAC_B, x) for x in times), interface=f"eth{line}", gap=0.01)


def relay_of(t, node, name):
    return next(r for r in t.nodes[node].show("pfc tunnels")["relays"] if r["relay"] == name)


LINES = ("zero", "one", "two")


def comes_out(t, line, count):
    """So many frames have been handed to the gateway of this line."""
    eventually(lambda: relay_of(t, "pe1", LINES[line])["to_gateway"] == count, f"{count} frames out of line {LINES[line]}")


SPOKEN = [{3: 1000}, {3: 20000, 4: FULL}, {4: 0}, {3: 0}]


def relayed(t, line):
    """Send all of SPOKEN at this end of the line; it arrives at the other end."""
    for station in (t.core, t.far, t.g):
        station.forget()
    handed = relay_of(t, "pe1", LINES[line])["to_gateway"]
    say(t, line, *SPOKEN)
    comes_out(t, line, handed + len(SPOKEN))


def in_tunnel(t, station, interface, headers):
    """The frames SPOKEN have passed there in these outer headers."""
    rows = read(t, station, interface)
    expect([times_of(r) for r in rows] == SPOKEN, f"{interface}: {rows}")
    expect(all(outer(r) == headers for r in rows), f"{interface}: {[outer(r) for r in rows]}, {headers} expected")
    return rows


def transparent(t):
    """As they came, but for the source MAC; one SID, so no SRH."""
    relayed(t, 0)
    for station, interface, hops in ((t.core, "east", 64), (t.far, "wan0", 63)):
        for r in in_tunnel(t, station, interface, tunnelled(PE2, D0, hops)):
            expect(r["eth.src"][1:] == [MAC_B] and r["eth.dst"][1:] == [PFC_DA] and len(r["eth.src"]) == 2, f"{r}")
    rows = read(t, t.g, "eth0")
    expect([times_of(r) for r in rows] == SPOKEN, f"handed out: {rows}")
    expect(all(r["eth.src"] == [t.pe1_mac[0]] and r["eth.dst"] == [PFC_DA] for r in rows), f"handed out: {rows}")


def scaled(t):
    """Two SIDs of other blocks: an SRH, which End keeps. Times are four times as long, in quanta of the faster port."""
    relayed(t, 1)
    in_tunnel(t, t.core, "east", tunnelled(PE2, P_END, 64, [D1], 1))
    in_tunnel(t, t.far, "wan0", tunnelled(PE2, D1, 63, [D1], 0))
    rows = read(t, t.g, "eth1")
    wanted = [{i: min(FULL, 4 * q) for i, q in times.items()} for times in SPOKEN]
    expect([times_of(r) for r in rows] == wanted, f"handed out: {rows}")
    expect(all(r["eth.src"] == [t.pe1_mac[1]] for r in rows), f"handed out: {rows}")


def to_gateway(t):
    """The pauses that gw receives from pe1: times, all with that port's source MAC."""
    rows = read(t, t.at_gw, "pe")
    expect(all(r["eth.src"] == [t.pe1_mac[2]] and r["eth.dst"] == [PFC_DA] for r in rows), f"gw hears {rows}")
    return [times_of(r) for r in rows]


def regenerated(t):
    """pe1 keeps the gateway paused by its own frames; after XON all packets arrive, in order."""
    released(t.flow, split((0, 3), t.flow.send(5, 0, 3)))
    for station in (t.core, t.at_gw):
        station.forget()
    t.b.begin("xoff", pfc(MAC_B, {3: FULL}), 0.2, "eth2")
    takes_effect(t.nodes["gw"], "pe", 3, "closed")
    t.flow.take()
    held = passes_only(t.flow, free=(0,), stopped=(3,))
    refreshes = relay_of(t, "pe1", "two")["refreshes"]
    eventually(lambda: relay_of(t, "pe1", "two")["refreshes"] > refreshes + 2, "the gateway is told again and again")
    held[3] += passes_only(t.flow, free=(0,), stopped=(3,))[3]
    t.b.end("xoff")
    say(t, 2, {3: 0})
    released(t.flow, held)
    takes_effect(t.nodes["gw"], "pe", 3, "open")
    rows = read(t, t.core, "east")
    expect(rows and all(outer(r) == tunnelled(PE2, "5f00:0:200:100:e1d2::", 64) for r in rows), f"{rows}")
    expect([times_of(r) for r in rows][-1] == {3: 0} and {3: FULL} in [times_of(r) for r in rows], f"{rows}")
    heard = to_gateway(t)
    expect(len(heard) > 3 and heard == [{3: FULL}] * (len(heard) - 1) + [{3: 0}], f"gw hears {heard}")
    expect(relay_of(t, "pe1", "two")["expired"] == 0, "nothing expired")


def falls_silent(t):
    """B sends one XOFF only: when its pause has run out, pe2 tells pe1 so, which resumes the gateway by an XON of its own."""
    t.at_gw.forget()
    say(t, 2, {3: FULL})
    takes_effect(t.nodes["gw"], "pe", 3, "closed")
    held = t.flow.send(10, 3)
    released(t.flow, {3: held})
    takes_effect(t.nodes["gw"], "pe", 3, "open")
    heard = to_gateway(t)
    expect(heard[0] == {3: FULL} and heard[-1] == {3: 0} and {3: 0} not in heard[:-1], f"gw hears {heard}")


def thinned(t):
    """A storm of refreshes: of those that come sooner than a third of hold-min after another, none crosses the wan."""
    before = relay_of(t, "pe2", "two")
    t.core.forget()
    t.b.send(*[pfc(MAC_B, {3: FULL})] * 30, interface="eth2")
    eventually(lambda: sum(relay_of(t, "pe2", "two")[k] - before[k] for k in ("into_tunnel", "left_out")) == 30, "30 heard")
    passed = relay_of(t, "pe2", "two")["into_tunnel"] - before["into_tunnel"]
    expect(1 <= passed < 30, f"{passed} of 30 refreshes crossed the wan")
    expect(len(read(t, t.core, "east")) == passed, "tshark sees as many")
    say(t, 2, {3: 0})
    takes_effect(t.nodes["gw"], "pe", 3, "open")


def storm(t):
    """B sends XOFF without end: the far PE's watchdog resumes the gateway, and obeys B again after B has been silent."""
    pe1, gw = t.nodes["pe1"], t.nodes["gw"]
    pe1.reload(pfc_relays=relays_of_pe1(action="release", detect=1000, release=5_000_000, restore=300))
    t.at_gw.forget()
    t.b.begin("xoff", pfc(MAC_B, {3: FULL}), 0.1, "eth2")
    takes_effect(gw, "pe", 3, "closed")

    def watched():
        rows = [r for r in pe1.show("pfc watchdog")["queues"] if r["of"] == "two" and r["priority"] == 3]
        return rows[0]["status"] if rows else "operational"

    eventually(lambda: watched() == "storm", "pe1 sees a storm")
    takes_effect(gw, "pe", 3, "open")
    released(t.flow, split((0, 3), t.flow.send(5, 0, 3)))
    t.b.end("xoff")
    eventually(lambda: watched() == "operational", "the storm is over")
    heard = to_gateway(t)
    expect(heard[0] == {3: FULL} and heard[-1] == {3: 0} and {3: 0} not in heard[:-1], f"gw hears {heard}")
    say(t, 2, {3: FULL})
    takes_effect(gw, "pe", 3, "closed")
    say(t, 2, {3: 0})
    takes_effect(gw, "pe", 3, "open")
    pe1.reload(pfc_relays=relays_of_pe1(action="off"))


STATE_PORT, LEASE = 4794, 100_000  # us


def states(t):
    """Messages of docs/protocol.md 5.6 that crossed the wan: (priorities, XOFF vector, epoch, sequence, lease), in order."""
    found = []
    for frame in map(Ether, t.core.take("east")):
        expect(frame.lastlayer().name != "MACControl" and b"\x88\x08" not in bytes(frame)[12:70], "a PFC frame crosses the wan")
        if UDP in frame and frame[UDP].dport == STATE_PORT:
            expect(frame[IPv6].tc >> 2 == int(CS7) and frame[IPv6].src == PE2, frame.summary())
            version, flags, speaks, stopped, epoch, sequence, lease, _ = struct.unpack("!BBBBIIII", bytes(frame[UDP].payload)[:20])
            expect((version, flags) == (1, 0), f"version {version}, flags {flags}")
            found.append((speaks, stopped, epoch, sequence, lease))
    return found


def by_state(t):
    """
    carrier: state: messages with the paused priorities and their lease instead of frames. A machine that is busy may miss a
    lease, which then ends like any other: that nothing gets through meanwhile is for the lab to say.
    """
    pe1, pe2, gw = t.nodes["pe1"], t.nodes["pe2"], t.nodes["gw"]
    carrier = {"name": "two", "port": "dc2", "carrier": "state", "udp-port": STATE_PORT, "lease": LEASE, "jitter": 20_000}
    pe1.reload(pfc_relays=[{**carrier, "allowed-sources": [f"{PE2}/128"], "watchdog": {"action": "off"}}])
    pe2.reload(pfc_relays=[{**carrier, "segments": [sid("200"), PE1]}])
    t.core.forget()
    t.at_gw.forget()
    t.b.begin("xoff", pfc(MAC_B, {3: FULL}), 0.2, "eth2")
    takes_effect(gw, "pe", 3, "closed")
    numbers = t.flow.send(20, 3)
    t.b.end("xoff")
    say(t, 2, {3: 0})
    released(t.flow, {3: numbers})
    takes_effect(gw, "pe", 3, "open")
    found = states(t)
    expect(all(s[0] & 8 and s[4] == LEASE and s[2] == found[0][2] for s in found), f"{found}")
    expect(found[0][1] == 8 and found[-1][1] == 0 and {s[1] for s in found} == {0, 8}, f"{found}")
    expect([s[3] for s in found] == list(range(found[0][3], found[0][3] + len(found))), f"sequence: {found}")
    heard = to_gateway(t)
    expect(heard[0] == {3: FULL} and heard[-1] == {3: 0}, f"gw hears {heard}")
    pe1.reload(pfc_relays=relays_of_pe1(action="off"))
    pe2.reload(pfc_relays=relays_of_pe2())


def whole_chain(t):
    """B pauses gw, gw fills and pauses A across the wan; after B resumes nothing has been lost or reordered."""
    def said(what):
        return t.nodes["gw"].show("pfc counters a0")["ports"][0][what][3]

    numbers, xoffs, xons = [], said("tx_xoff"), said("tx_xon")
    t.a.forget()
    t.b.begin("xoff", pfc(MAC_B, {3: FULL}), REFRESH / 5, "eth2")
    takes_effect(t.nodes["gw"], "pe", 3, "closed")
    while said("tx_xoff") == xoffs:
        numbers += t.flow.send(20, 3)
        expect(len(numbers) < 2000, "gw does not stop A")
    t.b.end("xoff")
    say(t, 2, {3: 0})
    released(t.flow, {3: numbers})
    eventually(lambda: said("tx_xon") > xons, "gw lets A go")
    heard = [(r["eth.src"], times_of(r)) for r in read(t, t.a, "eth0")]
    own = [t.nodes["gw"].space.mac("a0")]
    expect(heard[0] == (own, {3: FULL}) and heard[-1] == (own, {3: 0}), f"A hears {heard}")
    for name, node in t.nodes.items():
        expect("headroom_exceeded" not in node.drops(), f"{name}: {node.drops()}")


def honoured(t):
    """honour-local (E34): pe2 pauses its own port too, so that packets in flight wait there and not in front of B."""
    def heard():
        return t.nodes["pe2"].show("pfc counters dc2")["ports"][0]["rx_xoff"][3]

    expect(gate(t.nodes["pe2"], "dc2", 3) == "open" and not heard(), "without it the own port was stopped")
    t.nodes["pe2"].reload(pfc_relays=relays_of_pe2(**{"honour-local": True}))
    t.b.begin("xoff", pfc(MAC_B, {3: FULL}), 0.2, "eth2")
    for name, interface in (("pe2", "dc2"), ("gw", "pe")):
        takes_effect(t.nodes[name], interface, 3, "closed")
    t.flow.take()
    held = passes_only(t.flow, free=(0,), stopped=(3,), count=5)
    t.b.end("xoff")
    say(t, 2, {3: 0})
    released(t.flow, held)
    for name, interface in (("pe2", "dc2"), ("gw", "pe")):
        takes_effect(t.nodes[name], interface, 3, "open")
    t.nodes["pe2"].reload(pfc_relays=relays_of_pe2())


def stays_out(t):
    """Frames that are not PFC frames of B do not enter the tunnel."""
    stop, drops = pfc(MAC_B, {3: FULL}), t.nodes["pe2"].drops()
    faults = [("pause_frame", bytes(Ether(dst=PFC_DA, src=MAC_B) / MACControlPause(pause_time=FULL))),
              ("pfc_bad_opcode", stop[:15] + b"\x02" + stop[16:]), ("pfc_bad_cev", stop[:16] + b"\x80" + stop[17:]),
              ("pfc_bad_peer", pfc(MAC_C, {3: FULL})), ("vlan", stop[:12] + bytes.fromhex("81006005") + stop[12:])]
    time.sleep(0.2)  # the case before repeats its XON for 50 ms
    t.core.forget()
    t.g.forget()
    t.b.send(*(f for _, f in faults), interface="eth0")
    for reason, _ in faults:
        eventually(lambda r=reason: t.nodes["pe2"].drops().get(r, 0) == drops.get(r, 0) + 1, f"dropped as {reason}")
    handed = relay_of(t, "pe1", "zero")["to_gateway"]
    say(t, 0, {3: 7})  # behind them
    comes_out(t, 0, handed + 1)
    rows = read(t, t.core, "east")
    expect([times_of(r) for r in rows] == [{3: 7}], f"crossed the wan: {rows}")


RELAY = [
    ("transparent: one SID, no SRH, the far port's source MAC", transparent),
    ("scaled: SRH, times by the speed of the far port", scaled),
    ("regenerate: the gateway of the far data centre stays stopped until XON", regenerated),
    ("regenerate: silence ends the pause by an XON of the far PE", falls_silent),
    ("regenerate: refreshes are thinned", thinned),
    ("regenerate: a storm ends by the far PE's watchdog, and its end is noticed", storm),
    ("carrier state: messages under a lease instead of frames", by_state),
    ("the far gateway fills and stops its own data centre; nothing is lost", whole_chain),
    ("honour-local: the near PE's own port is stopped, too", honoured),
    ("PAUSE, wrong opcode, vector, source, VLAN stay out of the tunnel", stays_out),
]

# --- tunnel

R1, R3 = "fd00:0:1::1", "fd00:0:3::1"
R2_END, GOLD_PFC, PLAIN_PFC, R3_DT = "5f00:1:2:1::", "5f00:1:1:e1::", "5f00:0:e1e1::", "5f00:1:3:d46::"
GOLD, PLAIN = "gold", "(none)"
GOLD_ID, SLICE_OPTION = 5, 30


def edge(number, mac):
    """Two dc ports: VRF blue, of slice gold, and VRF red, without a slice."""
    return [port(1 + n, f"dc{n}", "dc", f"10.{number}.{n}.1/24", vrf=vrf, **lossless(mac, 3))
            for n, vrf in enumerate(("blue", "red"))]


def sids_of_r1(**gold):
    adjacency = {"port": "wan0", "nexthop": "fd00:a::2", "allowed-sources": [f"{R3}/128"]}
    gold = {k: v for k, v in {"slice": GOLD, **gold}.items() if v}
    return [{"sid": "5f00:0:100::/48", "behavior": "uN"},
            {"sid": f"{GOLD_PFC}/64", "behavior": "End.X.PFC", **adjacency, **gold},
            {"sid": f"{PLAIN_PFC}/48", "behavior": "End.X.PFC", **adjacency}]


def policies_of_r1(blue=(sid("200"), sid("300"), sid("e346")), **more):
    return [policy("blue", *blue, **more), policy("red", sid("200"), sid("300"), sid("e347"))]


def vrfs_of_r3(blue=GOLD):
    return [{"name": "blue", **({"slice": blue} if blue else {}), "routes": []}, {"name": "red", "routes": []}]


def sids_of_r3(**learnt_by):
    return [{"sid": "5f00:0:300::/48", "behavior": "uN"},
            {"sid": "5f00:0:e346::/48", "behavior": "uDT46", "vrf": "blue"},
            {"sid": "5f00:0:e347::/48", "behavior": "uDT46", "vrf": "red"},
            {"sid": f"{R3_DT}/64", "behavior": "End.DT46", "vrf": "blue", **learnt_by}]


def tunnels_of_r3(**gold):
    return [{"name": "gold", "slice": GOLD, "port": "wan0", "priorities": [3], "segments": [R2_END, GOLD_PFC], **gold},
            {"name": "plain", "port": "wan0", "priorities": [3], "segments": [sid("200"), sid("100"), PLAIN_PFC]}]


def tunnel(options):
    t = Topology(options)
    a, r1, r2, r3, b = t.spaces("a", "r1", "r2", "r3", "b")
    t.net.link(r1, "wan0", r2, "west", mtu=1600)
    t.net.link(r2, "east", r3, "wan0", mtu=1600)
    for n in range(2):
        t.net.link(a, f"eth{n}", r1, f"dc{n}")
        t.net.link(b, f"eth{n}", r3, f"dc{n}")
    t.a, t.b = t.station(a, MAC_A, "eth0", "eth1"), t.station(b, MAC_B, "eth0", "eth1")
    make_router(r2)
    t.core, t.out_of_r1 = t.watch(r2, "west", "east"), t.watch(r2, "west")
    r2.ip("addr add fd00:a::2/64 dev west nodad", "addr add fd00:b::1/64 dev east nodad",
          *(f"route add {p} via fd00:a::1" for p in ("5f00:0:100::/48", "5f00:1:1::/48", f"{R1}/128")),
          *(f"route add {p} via fd00:b::2" for p in ("5f00:0:300::/48", "5f00:1:3::/48", f"{R3}/128")))
    seg6local(r2, f"{R2_END}/64", "End", "west")
    seg6local(r2, "5f00:0:200::/48", f"End {NEXT_CSID}", "west")
    slices = [{"name": GOLD, "id": GOLD_ID}]
    t.node(r1, R1, [wan(0, "wan0", "fd00:a::1/64", mtu=1600, speed="10M"), *edge(1, MAC_A)],
           slices=slices, buffer_profiles=PROFILE, routes=via("wan0", "fd00:a::2", "5f00::/16", "fd00::/16"),
           neighbors=[{"port": f"dc{n}", "address": f"10.1.{n}.11", "mac": MAC_A} for n in range(2)],
           vrfs=[{"name": "blue", "slice": GOLD, "routes": over("blue", "10.3.0.0/24")},
                 {"name": "red", "routes": over("red", "10.3.1.0/24")}],
           policies=policies_of_r1(), sids=sids_of_r1())
    wan0 = wan(0, "wan0", "fd00:b::2/64", mtu=1600, **lossless(r2.mac("east"), 3))
    wan0["pfc"]["learn-tunnels"] = True
    t.node(r3, R3, [wan0, *edge(3, MAC_B)],
           remote_sids=[{"sid": f"{GOLD_PFC}/64", "behavior": "End.X.PFC", "owner": "r1"},
                        {"sid": f"{R2_END}/64", "behavior": "End", "owner": "r2"}],
           slices=slices, buffer_profiles=PROFILE, routes=via("wan0", "fd00:b::1", "5f00::/16", "fd00::/16"),
           neighbors=[{"port": f"dc{n}", "address": f"10.3.{n}.33", "mac": MAC_B} for n in range(2)],
           vrfs=vrfs_of_r3(), sids=sids_of_r3(), pfc_tunnels=tunnels_of_r3())
    for node in t.nodes.values():
        node.config["node"]["slice-option"] = SLICE_OPTION
    t.mac3 = r3.mac("wan0")
    t.flows = [Flow((t.a, f"eth{n}"), (t.b, f"eth{n}"), MAC_A, r1.mac(f"dc{n}"), f"10.1.{n}.11", f"10.3.{n}.33")
               for n in range(2)]
    return t


def until_stopped(t, flow, slice_):
    """
    Send until r3 tells r1 to stop the slice, and r1 does. No more is sent in between: on a busy machine r1 may take long, and
    what comes beyond the buffer's share of the slice would stop the other one, too.
    """
    numbers = []
    while not any(x["stopped"] != [] for x in t.nodes["r3"].show("pfc tunnels")["tunnels"] if x["slice"] == slice_):
        numbers += flow.send(20, 3)
        expect(len(numbers) < 2000, "r3 does not stop r1")
    eventually(lambda: gate(t.nodes["r1"], "wan0", 3, slice_) != "open", "r1 stops")
    return numbers


def congested(t, line, slice_, expected):
    """
    B stops r3's port of one slice: r3's buffer fills, its tunnel stops that slice at r1, whose buffer fills, and A is
    stopped. All the while the other slice has its way. expected: the outer headers behind r3 and behind r2.
    """
    r1, flow, other = t.nodes["r1"], t.flows[line], t.flows[1 - line]
    numbers = []

    def said(what):
        return r1.show(f"pfc counters dc{line}")["ports"][0][what][3]

    for f in t.flows:
        released(f, split((0, 3), f.send(5, 0, 3)))
    xoffs, xons = said("tx_xoff"), said("tx_xon")
    t.core.forget()
    t.a.forget()
    t.b.begin("xoff", pfc(MAC_B, {3: FULL}), REFRESH, f"eth{line}")
    takes_effect(t.nodes["r3"], f"dc{line}", 3, "closed", slice_)
    numbers += until_stopped(t, flow, slice_)
    while said("tx_xoff") == xoffs:
        numbers += flow.send(20, 3)
        expect(len(numbers) < 4000, "r1 does not stop A")
    on_the_way = Flow((t.a, f"eth{line}"), (t.out_of_r1, "west"), *flow.addresses, number=flow.number)
    on_the_way.take()
    # neither class 3 of this slice leaves r1, nor does the other slice or class 0 wait for it
    numbers += passes_only(on_the_way, free=(0,), stopped=(3,))[3]
    released(other, split((0, 3), other.send(10, 0, 3)))
    expect(gate(r1, "wan0", 3, PLAIN if slice_ == GOLD else GOLD) == "open", "the other slice is stopped too")
    t.b.end("xoff")
    t.b.send(pfc(MAC_B, {3: 0}), interface=f"eth{line}")
    released(flow, {3: numbers})
    eventually(lambda: said("tx_xon") > xons, "r1 lets A go")
    takes_effect(r1, "wan0", 3, "open", slice_)
    for interface, way, wanted in zip(("east", "west"), ("received", "sent"), expected, strict=True):
        rows = read(t, t.core, interface, way)
        times = [times_of(r) for r in rows]
        expect(times and times[0] == {3: FULL} and times[-1] == {3: 0}, f"{interface}: {times}")
        # what waited comes all at once when it is released: a busy machine may stop the other slice for its receive ring then
        stopped = rows[:times.index({3: 0})]
        told = [(outer(r)["destination"], times_of(r)) for r in rows]
        expect(all(outer(r) == wanted for r in stopped) and wanted in [outer(r) for r in rows[len(stopped):]],
               f"{interface}: {told}, {wanted} expected")
        expect(all(r["eth.src"][1:] == [t.mac3] and r["eth.dst"][1:] == [PFC_DA] for r in rows), f"{interface}: {rows}")
    heard = [times_of(r) for r in read(t, t.a, f"eth{line}")]
    expect(heard[0] == {3: FULL} and heard[-1] == {3: 0}, f"A hears {heard}")
    for name, node in t.nodes.items():
        expect("headroom_exceeded" not in node.drops(), f"{name}: {node.drops()}")


def strangers(t):
    """PFC to the SID from a source that is not r3: refused by name, and nothing is stopped."""
    r1, stop = t.nodes["r1"], pfc(MAC_B, {3: FULL})
    before = r1.drops()
    packets = [IPv6(src=source, dst=GOLD_PFC, nh=143, hlim=64) / Raw(inner) for source, inner in (
        ("fd00:0:7::1", stop), (R3, stop[:15] + b"\x02" + stop[16:]), (R3, stop[:16] + b"\x01" + stop[17:]),
        (R3, stop[:12] + bytes.fromhex("81006005") + stop[12:]), ("2001:db8:9::1", stop))]
    t.core.send(*(Ether(src=r1.neighbor("fd00:a::2")["mac"], dst=r1.space.mac("wan0")) / p for p in packets), interface="west")
    for reason, count in (("pfc_bad_peer", 1), ("pfc_bad_opcode", 2), ("pfc_bad_cev", 1), ("boundary_source", 1)):
        eventually(lambda r=reason, n=count: r1.drops().get(r, 0) == before.get(r, 0) + n, f"{count} dropped as {reason}")
    for flow in t.flows:
        released(flow, split((0, 3), flow.send(5, 0, 3)))


def gold_congested(t):
    congested(t, 0, GOLD, [tunnelled(R3, R2_END, 64, [GOLD_PFC], 1), tunnelled(R3, GOLD_PFC, 63, [GOLD_PFC], 0)])


def learnt(t, by):
    """
    Scenario 2: the full list in the data that r1 sends tells r3 whom to stop, and how to get there. by: what says the
    slice; option: at r3 and at r1's SID nothing else does.
    """
    r1, r3, flow, told = t.nodes["r1"], t.nodes["r3"], t.flows[0], by == "option"
    r1.reload(policies=policies_of_r1([GOLD_PFC, R2_END, R3_DT], **{"encap": "H.Encaps", "slice-by": by}),
              sids=sids_of_r1(**{"slice-by": by, "slice": None if told else GOLD}))
    r3.reload(pfc_tunnels=[], pfc_learning={"slice-by": by}, vrfs=vrfs_of_r3(None if told else GOLD),
              sids=sids_of_r3(**{"slice-by": by}))

    def tunnels():
        return [x for x in r3.show("pfc tunnels")["tunnels"] if x["origin"] == "learnt"]

    numbers = flow.send(1, 3)
    flow.comes(numbers)
    found = eventually(tunnels, "a tunnel is learnt")
    expect([(x["segments"], x["slice"]) for x in found] == [([R2_END, GOLD_PFC], GOLD)], f"{found}")
    t.core.forget()
    t.b.begin("xoff", pfc(MAC_B, {3: FULL}), REFRESH, "eth0")
    takes_effect(r3, "dc0", 3, "closed", GOLD)
    held = until_stopped(t, flow, GOLD)
    expect(gate(r1, "wan0", 3, PLAIN) == "open", "the other slice is stopped too")
    released(t.flows[1], split((0, 3), t.flows[1].send(5, 0, 3)))
    t.b.end("xoff")
    t.b.send(pfc(MAC_B, {3: 0}), interface="eth0")
    released(flow, {3: held})
    takes_effect(r1, "wan0", 3, "open", GOLD)
    frames = [f for f in t.core.take("east") if bytes.fromhex("88080101") in f]  # ND of r3 may be between them
    id_ = bytes([SLICE_OPTION, 6, 0, 0]) + GOLD_ID.to_bytes(4, "big")
    expect(frames and all((id_ in f) == told for f in frames), "the slice's id in what r3 says")
    rows = decoded(frames, r3.folder / "learnt.pcap")
    times = [times_of(r) for r in rows]
    expect(times[0] == {3: FULL} and times[-1] == {3: 0}, f"{times}")
    wanted = tunnelled(R3, R2_END, 64, [GOLD_PFC], 1)
    if told:
        wanted["next"] = ["0"]
    expect(all(outer(r) == wanted for r in rows), f"{[outer(r) for r in rows]}")
    r1.reload(policies=policies_of_r1(), sids=sids_of_r1())
    r3.reload(pfc_tunnels=tunnels_of_r3(), pfc_learning={}, vrfs=vrfs_of_r3(), sids=sids_of_r3())


def other_way(t):
    """Scenario 1 asks for both directions: data from B to A meets congestion at r1, which stops r3, which stops B."""
    r1, r3, back = t.nodes["r1"], t.nodes["r3"], "5f00:1:3:e1::"
    ports = r1.config["ports"]
    wan0 = {**ports[0], **lossless(t.net.spaces["r2"].mac("west"), 3)}
    r1.reload(ports=[wan0, *ports[1:]], sids=[*sids_of_r1(), {"sid": "5f00:0:e146::/48", "behavior": "uDT46", "vrf": "blue"}],
              pfc_tunnels=[{"name": "back", "slice": GOLD, "port": "wan0", "priorities": [3], "segments": [R2_END, back]}])
    r3.reload(vrfs=[{"name": "blue", "slice": GOLD, "routes": over("back", "10.1.0.0/24")}, {"name": "red", "routes": []}],
              policies=[policy("back", sid("200"), sid("100"), sid("e146"))],
              sids=[*sids_of_r3(), {"sid": f"{back}/64", "behavior": "End.X.PFC", "port": "wan0", "nexthop": "fd00:b::1",
                                    "slice": GOLD, "allowed-sources": [f"{R1}/128"]}])
    flow = Flow((t.b, "eth0"), (t.a, "eth0"), MAC_B, t.net.spaces["r3"].mac("dc0"), "10.3.0.33", "10.1.0.11")
    released(flow, split((0, 3), flow.send(5, 0, 3)))
    numbers = []
    t.b.forget()
    t.a.begin("xoff", pfc(MAC_A, {3: FULL}), REFRESH, "eth0")
    takes_effect(r1, "dc0", 3, "closed", GOLD)
    while gate(r3, "wan0", 3, GOLD) == "open":
        numbers += flow.send(20, 3)
        expect(len(numbers) < 2000, "r1 does not stop r3")
    while not heard(r3, "dc0", 3, "tx_xoff"):
        numbers += flow.send(20, 3)
        expect(len(numbers) < 4000, "r3 does not stop B")
    t.a.end("xoff")
    t.a.send(pfc(MAC_A, {3: 0}), interface="eth0")
    released(flow, {3: numbers})
    takes_effect(r3, "wan0", 3, "open", GOLD)
    said = [times_of(r) for r in read(t, t.b, "eth0")]
    expect(said[0] == {3: FULL} and said[-1] == {3: 0}, f"B hears {said}")
    r1.reload(ports=ports, sids=sids_of_r1(), pfc_tunnels=[])
    r3.reload(vrfs=vrfs_of_r3(), policies=[], sids=sids_of_r3())


def proven(t):
    """The tunnel's frames carry an HMAC, which Linux on the way and r1 at its end ask for."""
    r2 = t.net.spaces["r2"]
    set_kernel_key(r2, SECRET)
    r2.sysctl(*(f"net.ipv6.conf.{i}.seg6_require_hmac=1" for i in ("all", "east")))
    for name in ("r1", "r3"):
        write_keys(t.nodes[name], SECRET)
    profile = {"keys": "keys", "profile": "linux"}
    t.nodes["r1"].reload(hmac=profile, sids=sids_of_r1(hmac="required"))
    t.nodes["r3"].reload(hmac=profile, pfc_tunnels=tunnels_of_r3(**{"hmac-key": KEY_ID}))
    gold_congested(t)


def not_proven(t):
    """r1 has another key: it drops the tunnel's packets, and is not paused."""
    r1, r3, flow = t.nodes["r1"], t.nodes["r3"], t.flows[0]
    write_keys(r1, OTHER)
    r1.reload()
    refused, numbers = r1.drops().get("hmac", 0), []
    t.b.begin("xoff", pfc(MAC_B, {3: FULL}), REFRESH, "eth0")
    takes_effect(r3, "dc0", 3, "closed")
    while r1.drops().get("hmac", 0) == refused:
        numbers += flow.send(20, 3)
        expect(len(numbers) < 600, "r3 says nothing to r1, or r1 believes it")
    expect(gate(r1, "wan0", 3, GOLD) == "open", "r1 is stopped")
    t.b.end("xoff")
    t.b.send(pfc(MAC_B, {3: 0}), interface="eth0")
    released(flow, {3: numbers})


TUNNEL = [
    ("slice gold, two SIDs with SRH: r3 stops r1, r1 stops A, the other slice passes", gold_congested),
    ("no slice, one container: r3 stops r1, r1 stops A, slice gold passes", lambda t: congested(
        t, 1, PLAIN, [tunnelled(R3, "5f00:0:200:100:e1e1::", 64), tunnelled(R3, "5f00:0:100:e1e1::", 63)])),
    ("foreign sources and what is no PFC stop nothing", strangers),
    ("a tunnel learnt from the segment list of r1's data stops r1", lambda t: learnt(t, "sid")),
    ("the same, the slice in a hop-by-hop option of data and of PFC", lambda t: learnt(t, "option")),
    ("the other way: r1 stops r3, r3 stops B", other_way),
    ("slice gold with HMACs, verified by Linux on the way and by r1", proven),
    ("r1 has another key: dropped as hmac, nothing stops", not_proven),
]

GROUPS = [("relay", relay, RELAY), ("tunnel", tunnel, TUNNEL)]
