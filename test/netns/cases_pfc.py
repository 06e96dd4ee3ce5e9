# SPDX-License-Identifier: BSD-3-Clause
"""
PFC over veth: scapy's frames that pause traffic, and frames that must not (IEEE 802.1Qbb, draft-he-rtgwg-wan-pfc-00 3.2).

    pfc       A -- sw -- B        one sluice; B is the congested station. Both are stations without a protocol stack

Ports declare 10 Mbit/s, so the longest pause lasts 3.4 s. Of it only the order of packets is asserted.
"""

import time

from scapy.contrib.mac_control import MACControlPause
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from checks import eventually, expect
from node import port
from pfc import FULL, PFC_DA, Flow, decoded, gate, heard, passes_only, pfc, released, split, takes_effect, times_of
from topology import Topology

MAC_A, MAC_B, MAC_C = "02:00:00:00:0a:01", "02:00:00:00:0b:01", "02:00:00:00:0c:01"
PROFILE = [{"name": "small", "xoff": "32K", "headroom": "64K", "forced": True}]  # veth does not hold a queue of frames
REFRESH = 0.5  # seconds; well within the 3.4 a pause lasts


def lossless(peer, *priorities, speed="10M"):
    # a slow test is not a storm
    return {"pfc": {"priorities": list(priorities), "peers": [peer], "buffer": "small", "watchdog": {"action": "off"}},
            "speed": speed}


def wire(options):
    t = Topology(options)
    a, sw, b = t.spaces("a", "sw", "b")
    t.net.link(a, "eth0", sw, "p0")
    t.net.link(b, "eth0", sw, "p1")
    t.west, t.east = t.station(a, MAC_A, "eth0"), t.station(b, MAC_B, "eth0")
    t.node(sw, "fd00:0:1::1",
           [port(0, "p0", "dc", "10.1.0.1/24", **lossless(MAC_A, 3, 4)),
            port(1, "p1", "dc", "10.3.0.1/24", **lossless(MAC_B, 3, 4))],
           buffer_profiles=PROFILE,
           neighbors=[{"port": "p0", "address": "10.1.0.11", "mac": MAC_A},
                      {"port": "p1", "address": "10.3.0.33", "mac": MAC_B}])
    t.sw = t.nodes["sw"]
    t.flow = Flow((t.west, "eth0"), (t.east, "eth0"), MAC_A, sw.mac("p0"), "10.1.0.11", "10.3.0.33")
    return t


def says(t, times):
    t.east.send(pfc(MAC_B, times))


class Stopped:
    """B keeps these priorities stopped, refreshed often enough, until the end; the last word is XON."""

    def __init__(self, t, *priorities):
        self.t, self.priorities = t, priorities

    def __enter__(self):
        self.t.east.begin("xoff", pfc(MAC_B, dict.fromkeys(self.priorities, FULL)), REFRESH)
        for p in self.priorities:
            takes_effect(self.t.sw, "p1", p, "closed")
        self.t.flow.take()

    def __exit__(self, kind, value, trace):
        self.t.east.end("xoff")
        says(self.t, dict.fromkeys(self.priorities, 0))


def pauses_of(t, priority):
    return next((r for r in t.sw.show("pfc history")
                 if (r["direction"], r["name"], r["priority"]) == ("heard", "p1", priority)),
                {"pauses": 0, "total_us": 0, "last_us": 0})


def all_pass(t):
    numbers = split((0, 3, 4), t.flow.send(5, 0, 3, 4))
    released(t.flow, numbers)


def xoff_and_xon(t):
    all_pass(t)
    before = pauses_of(t, 3)["pauses"]
    with Stopped(t, 3):
        held = passes_only(t.flow, free=(0, 4), stopped=(3,))
        waiting = next(q for q in t.sw.show("queues p1")["queues"] if q["class"] == "3")
        expect(waiting["packets"] == len(held[3]), f"{len(held[3])} packets wait: {waiting}")
    released(t.flow, held)
    takes_effect(t.sw, "p1", 3, "open")
    expect(pauses_of(t, 3)["pauses"] == before + 1, f"one pause: {pauses_of(t, 3)}")
    all_pass(t)


def refresh(t):
    """Frames that are good for 1 s each, for longer than that: one pause, and nothing comes through a gap."""
    quanta, before = 10_000_000 // 512, pauses_of(t, 3)
    t.east.begin("xoff", pfc(MAC_B, {3: quanta}), 0.1)
    takes_effect(t.sw, "p1", 3, "closed")
    t.flow.take()
    frames, held = heard(t.sw, "p1", 3, "rx_xoff"), []
    while heard(t.sw, "p1", 3, "rx_xoff") < frames + 15:
        held += passes_only(t.flow, free=(0,), stopped=(3,), count=2)[3]
        time.sleep(0.05)
    t.east.end("xoff")
    says(t, {3: 0})
    released(t.flow, {3: held})
    now = pauses_of(t, 3)
    expect(now["pauses"] == before["pauses"] + 1 and now["last_us"] > 1_200_000, f"one long pause: {before}, then {now}")


def expires(t):
    """XOFF and then silence: the pause lasts for the time in the frame, at the port's rate."""
    quanta, xons = 10_000_000 // 512, heard(t.sw, "p1", 3, "rx_xon")
    says(t, {3: quanta})
    takes_effect(t.sw, "p1", 3, "closed")
    held = t.flow.send(10, 3)
    released(t.flow, {3: held})
    takes_effect(t.sw, "p1", 3, "open")
    expect(heard(t.sw, "p1", 3, "rx_xon") == xons, "no XON came")
    last = pauses_of(t, 3)["last_us"]
    expect(last == quanta * 512 // 10, f"paused for {last} us, {quanta} quanta at 10 Mbit/s are {quanta * 512 // 10}")


def priorities_apart(t):
    """One frame pauses two priorities, another resumes one: the other stays paused. A priority that is not enabled is unaffected."""
    with Stopped(t, 3, 4):
        held = passes_only(t.flow, free=(0,), stopped=(3, 4))
    released(t.flow, held)
    with Stopped(t, 4):
        says(t, {3: 0})
        frame = bytearray(pfc(MAC_B, {3: FULL}))
        frame[17] = 0  # a time for priority 3, and no bit
        t.east.send(frame)
        held = passes_only(t.flow, free=(0, 3), stopped=(4,))
    released(t.flow, held)


def stops_again_on_the_way_out(t):
    """XON and XOFF back to back, many times: packets arrive in order, and none is lost."""
    says(t, {3: FULL})
    takes_effect(t.sw, "p1", 3, "closed")
    numbers = t.flow.send(100, 3)
    t.east.send(*([pfc(MAC_B, {3: 0}), pfc(MAC_B, {3: FULL})] * 20), pfc(MAC_B, {3: 0}), gap=0.002)
    released(t.flow, {3: numbers})


def tagged(frame, *tags):
    out = Ether(frame[:12] + bytes(2)) if not tags else Ether(dst=frame[:6].hex(":"), src=frame[6:12].hex(":"))
    for tag in tags:
        out = out / tag
    return bytes(out / Raw(frame[14:]))


def not_pfc():
    """Frames that resemble a pause of priority 3: name, frame, drop reason."""
    stop = pfc(MAC_B, {3: FULL})
    return [
        ("802.3x PAUSE", bytes(Ether(dst=PFC_DA, src=MAC_B) / MACControlPause(pause_time=FULL)), "pause_frame"),
        ("opcode 0x0102", stop[:14] + b"\x01\x02" + stop[16:], "pfc_bad_opcode"),
        ("tagged by 802.1Q", tagged(stop, Dot1Q(vlan=5, prio=3, type=0x8808)), "vlan"),
        ("priority-tagged", tagged(stop, Dot1Q(vlan=0, prio=7, type=0x8808)), "ether_type"),
        ("EtherType 0x88cc", stop[:12] + b"\x88\xcc" + stop[14:], "ether_type"),
        ("high octet of the vector", stop[:16] + b"\x01" + stop[17:], "pfc_bad_cev"),
        ("a stranger's source address", pfc(MAC_C, {3: FULL}), "pfc_bad_peer"),
        ("to the port's own address", None, "pfc_bad_da"),
        ("to another group", pfc(MAC_B, {3: FULL}, dst="01:80:c2:00:00:02"), "pfc_bad_da"),
        ("59 bytes", stop[:59], "pfc_short"),
    ]


def stops_nothing(t, name, frame, reason):
    if frame is None:
        frame = pfc(MAC_B, {3: FULL}, dst=t.sw.space.mac("p1"))
    before, xoffs = t.sw.drops().get(reason, 0), heard(t.sw, "p1", 3, "rx_xoff")
    t.east.send(frame)
    eventually(lambda: t.sw.drops().get(reason, 0) > before, f"{name} is dropped as {reason}")
    expect(t.sw.drops()[reason] == before + 1, f"{t.sw.drops()}")
    expect(gate(t.sw, "p1", 3) == "open" and heard(t.sw, "p1", 3, "rx_xoff") == xoffs, f"{name} stops priority 3")
    all_pass(t)


def stops_nothing_case(name, frame, reason):
    return f"{name} stops nothing: {reason}", lambda t: stops_nothing(t, name, frame, reason)


def foreign_priority(t):
    """Priority 5 is not one of the port's: counted, nothing stops."""
    before = t.sw.show("pfc counters p1")["ports"][0]["ignored"]
    says(t, {5: FULL, 0: FULL})
    eventually(lambda: t.sw.show("pfc counters p1")["ports"][0]["ignored"] == before + 1, "counted as ignored")
    all_pass(t)


def chain(t):
    """B pauses sluice, its buffer fills, sluice pauses A (decoded by tshark), B resumes, sluice resumes A; nothing is lost."""
    def said(what):
        return t.sw.show("pfc counters p0")["ports"][0][what][3]

    def heard_by_a():
        return [(r["eth.src"], r["eth.dst"], times_of(r)) for r in decoded(t.west.take(), t.sw.folder / "chain.pcap")]

    own, numbers, xoffs, xons = t.sw.space.mac("p0"), [], said("tx_xoff"), said("tx_xon")
    t.west.take()
    with Stopped(t, 3):
        while said("tx_xoff") == xoffs:
            numbers += t.flow.send(20, 3)
            expect(len(numbers) < 2000, "XOFF is not said")
        eventually(lambda: said("tx_xoff") > xoffs + 1, "XOFF is refreshed")
        frames = heard_by_a()
        expect(len(frames) > 1 and all(f == ([own], [PFC_DA], {3: FULL}) for f in frames), f"A hears {frames}")
        passes_only(t.flow, free=(0, 4), stopped=())
    released(t.flow, {3: numbers})
    eventually(lambda: said("tx_xon") > xons, "XON is said")
    frames = heard_by_a()
    expect(frames and frames[-1] == ([own], [PFC_DA], {3: 0}), f"A hears {frames}")
    expect("headroom_exceeded" not in t.sw.drops(), f"{t.sw.drops()}")


WIRE = [
    ("XOFF holds its priority, others pass; XON releases all of it in order", xoff_and_xon),
    ("refreshed, a pause has no gap", refresh),
    ("without XON a pause ends by itself", expires),
    ("priorities are stopped and released apart", priorities_apart),
    ("XOFF right behind XON, twenty times", stops_again_on_the_way_out),
    *(stops_nothing_case(*row) for row in not_pfc()),
    ("priorities that are not the port's", foreign_priority),
    ("a full buffer stops the sender: XOFF, refresh and XON by tshark", chain),
]

GROUPS = [("pfc", wire, WIRE)]
