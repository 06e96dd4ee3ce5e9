# SPDX-License-Identifier: BSD-3-Clause
"""Priority flow control between neighbours: frames that are obeyed, and the reasons for which others are dropped."""

from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from gen.case import Case, Frame, ethernet
from gen.node import ONE_LCORE, PEER_MAC, mac_of, sid
from gen.topology import core
from gen.wire import hop, roce4, roce6

UN = sid("5f00:0:300::/48", "uN")
GROUP = "01:80:c2:00:00:01"
SYSTEM_MAC = "02:00:00:00:99:00"


def frame(enable, *times, opcode=0x0101, src=PEER_MAC["p0"], dst=GROUP, pad=26, tag=False):
    """IEEE 802.1Qbb; times of the priorities from 0 on."""
    body = opcode.to_bytes(2, "big") + enable.to_bytes(2, "big")
    body += b"".join(t.to_bytes(2, "big") for t in (*times, *[0] * (8 - len(times)))) + bytes(pad)
    head = Ether(src=src, dst=dst, type=0x8100 if tag else 0x8808)
    return Frame(bytes(head / (Dot1Q(vlan=5, type=0x8808) / Raw(body) if tag else Raw(body))))


def node(**pfc):
    config = core(UN)
    config["ports"][0].update(speed="10G", pfc={"priorities": [3], "buffer": "small", **pfc})
    config["buffer-profiles"] = [{"name": "small", "xoff": "20K", "headroom": "20K", "forced": True}]
    return config


def still_works(case):
    """In class 3 too: no frame has paused it."""
    for packet in (roce6(tc=26 << 2), roce4(tos=26 << 2)):
        case.passes("p0", packet, "p1", hop(packet))
    return case


def heard():
    case = Case(
        "pfc_heard",
        "PFC from the neighbour's port and system MAC; nothing of it leaves",
        "IEEE 802.1Qbb; draft-he-rtgwg-wan-pfc-00 3.2",
        node(peers=[PEER_MAC["p0"], SYSTEM_MAC]),
    )
    for f in (
        frame(0x08, 0, 0, 0, 65535), frame(0x08, 0, 0, 0, 0), frame(0xFF, *[1] * 8), frame(0x00), frame(0x04, 0, 0, 65535),
        frame(0x08, 0, 0, 0, 7, src=SYSTEM_MAC), frame(0x08, 0, 0, 0, 7, pad=300), frame(0x08),
    ):
        case.rx("p0", f)
        case.count("p0", "pfc")
    yield still_works(case)


def refused():
    case = Case(
        "pfc_refused",
        "what is no legal PFC frame, one reason each; a port without PFC takes none",
        "draft-he-rtgwg-wan-pfc-00 3.2; IEEE 802.3 annex 31B",
        node(peers=[SYSTEM_MAC]),
    )
    stop = (0x08, 0, 0, 0, 65535)
    for f, reason in (
        (frame(*stop), "pfc_bad_peer"),
        (frame(*stop, src=mac_of("p0")), "pfc_bad_peer"),
        (frame(*stop, src=SYSTEM_MAC, pad=25), "pfc_short"),
        (frame(*stop, src=SYSTEM_MAC, pad=0), "pfc_short"),
        (frame(*stop, src=SYSTEM_MAC, dst=mac_of("p0")), "pfc_bad_da"),
        (frame(*stop, src=SYSTEM_MAC, dst="01:80:c2:00:00:02"), "pfc_bad_da"),
        (frame(*stop, src=SYSTEM_MAC, opcode=0x0001), "pause_frame"),
        (frame(*stop, src=SYSTEM_MAC, opcode=0x0102), "pfc_bad_opcode"),
        (frame(0x0108, 0, 0, 0, 65535, src=SYSTEM_MAC), "pfc_bad_cev"),
        (frame(*stop, src=SYSTEM_MAC, tag=True), "vlan"),
    ):
        case.rx("p0", f)
        case.count("p0", reason)
    case.rx("p1", frame(*stop, src=PEER_MAC["p1"]))
    case.count("p1", "mac_control")
    yield still_works(case)


def lenient():
    case = Case(
        "pfc_lenient",
        "short frames and a high enable octet, where that is allowed",
        "IEEE 802.1Q 36.2.1; D35",
        node(peers=[PEER_MAC["p0"]], **{"lenient-cev": True, "lenient-pad": True}),
    )
    for f in (frame(0x4208, 0, 0, 0, 0), frame(0x08, 0, 0, 0, 0, pad=0)):
        case.rx("p0", f)
        case.count("p0", "pfc")
    truncated = Frame(frame(0x08, 0, 0, 0, 0, pad=0)[:-1])
    case.rx("p0", truncated)
    case.count("p0", "pfc_short")
    yield still_works(case)


def storm():
    """The neighbour behind p1 pauses class 3 for 3.4 s; after 20 ms the watchdog drops the packets that wait for it."""
    config = node(peers=[PEER_MAC["p0"]])
    config["lcores"] = ONE_LCORE
    config["ports"][1].update(
        speed="10M",
        pfc={"priorities": [3], "peers": [PEER_MAC["p1"]], "buffer": "small",
             "watchdog": {"action": "drop", "alarm": 0, "detect": 20, "restore": 10000}},
    )
    case = Case("pfc_storm", "a queue paused without end: its packets are dropped by name, others pass", "SONiC PFC watchdog", config)
    case.rx("p1", frame(0x08, 0, 0, 0, 65535, src=PEER_MAC["p1"]))
    case.count("p1", "pfc")
    for _ in range(128):  # two bursts of what is nobody's: the pause is in force before the data comes
        case.rx("p0", ethernet(mac_of("p0"), PEER_MAC["p0"], bytes(50), 0x1234))
        case.count("p0", "ether_type")
    for n in range(5):
        case.rx("p0", roce6(tc=26 << 2, psn=n))  # DSCP 26
        case.count("p0", "pfc_storm")
        case.passes("p0", roce6(tc=2, psn=n), "p1", hop(roce6(tc=2, psn=n)))
    yield case


def cases():
    for make in (heard, refused, lenient, storm):
        yield from make()
