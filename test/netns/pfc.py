# SPDX-License-Identifier: BSD-3-Clause
"""
PFC frames by scapy, tshark's decoding of those that sluice sent, and numbered packets whose order shows the pauses.

Nothing here looks at a clock: a packet that was sent after a paused one and came before it has overtaken it, and only
a paused class is overtaken.
"""

from scapy.contrib.mac_control import MACControlClassBasedFlowControl
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.utils import PcapWriter

from checks import eventually, expect
from net import run

PFC_DA, FULL = "01:80:c2:00:00:01", 65535
DSCP = {0: 0, 3: 26, 4: 34}  # of each traffic class
MARK = b"numbered"


def pfc(src, times, dst=PFC_DA):
    """times: quanta by priority; scapy writes and pads the frame."""
    fields = {}
    for priority, quanta in times.items():
        fields[f"c{priority}_enabled"] = 1
        fields[f"c{priority}_pause_time"] = quanta
    return bytes(Ether(dst=dst, src=src) / MACControlClassBasedFlowControl(**fields))


class Flow:
    """
    Numbered UDP packets of several traffic classes between two interfaces, (station, name) each, through whatever is in
    between; the sink may be on the way too, where the packet is inside another one.
    """

    def __init__(self, sender, sink, src_mac, dst_mac, src, dst, number=0):
        self.sender, self.out, self.sink, self.interface, self.number = *sender, *sink, number
        self.addresses = (src_mac, dst_mac, src, dst)
        ether = Ether(src=src_mac, dst=dst_mac)
        network = {c: (IPv6(src=src, dst=dst, tc=d << 2, fl=1) if ":" in dst else IP(src=src, dst=dst, tos=d << 2))
                   for c, d in DSCP.items()}
        # 0 means no checksum; over IPv6 no node on the way checks it
        self.head = {c: bytes(ether / n / UDP(sport=49152 + c, dport=4791, chksum=0) / (MARK + bytes([c]) + bytes(80)))[:-80]
                     for c, n in network.items()}

    def send(self, count, *classes):
        """Every class in turn; the numbers sent."""
        numbers = []
        for _ in range(count):
            frames = []
            for c in classes:
                self.number += 1
                numbers.append(self.number)
                frames.append(self.head[c] + self.number.to_bytes(4, "big") + bytes(76))
            self.sender.send(*frames, interface=self.out)
        return numbers

    def take(self):
        """(class, number) of the packets received since the last call, in order."""
        found = []
        for frame in self.sink.take(self.interface):
            at = frame.find(MARK)
            if at >= 0:
                at += len(MARK)
                found.append((frame[at], int.from_bytes(frame[at + 1:at + 5], "big")))
        return found

    def comes(self, numbers):
        """Wait until these have come; everything that came meanwhile, in order."""
        found, missing = [], set(numbers)

        def all_there():
            new = self.take()
            found.extend(new)
            missing.difference_update(n for _, n in new)
            return not missing

        eventually(all_there, f"{len(numbers)} packets come")
        return found



def split(classes, numbers):
    """Numbers by class, of packets sent in turn."""
    return {c: numbers[i::len(classes)] for i, c in enumerate(classes)}


def passes_only(flow, free, stopped, count=20):
    """Packets of all the classes are sent, those of the free ones come, of the stopped ones none; the numbers of these."""
    classes = [*stopped, *free]
    numbers = split(classes, flow.send(count, *classes))
    found = flow.comes([n for c in free for n in numbers[c]])
    late = [x for x in found if x[0] in stopped]
    expect(not late, f"paused, and came all the same (class, number): {late[:5]}")
    for c in free:
        expect([n for k, n in found if k == c] == numbers[c], f"class {c} is out of order: {found}")
    return {c: numbers[c] for c in stopped}


def released(flow, numbers, first=()):
    """The held packets arrive, in order, each once. first: those that have arrived already."""
    wanted = [n for held in numbers.values() for n in held]
    found = [*first, *flow.comes(set(wanted) - {n for _, n in first})]
    for c, held in numbers.items():
        expect([n for k, n in found if k == c] == held, f"class {c} comes as {found}, {held} expected")


def gate(node, port, priority, slice_="(none)"):
    """open or closed; open where nothing ever waited."""
    return next((q["gate"] for q in node.show(f"queues {port}")["queues"]
                 if (q["class"], q["slice"]) == (str(priority), slice_)), "open")


def heard(node, port, priority, what):
    """Frames a port has received; what: rx_xoff, rx_xon."""
    return node.show(f"pfc counters {port}")["ports"][0][what][priority]


def takes_effect(node, port, priority, state, slice_="(none)"):
    eventually(lambda: gate(node, port, priority, slice_) == state,
               f"{node.name}: {port} slice {slice_} priority {priority} {state}")


PAUSE_TIMES = [f"macc.cbfc.pause_time.c{i}" for i in range(8)]
FIELDS = ["eth.src", "eth.dst", "ipv6.src", "ipv6.dst", "ipv6.tclass.dscp", "ipv6.flow", "ipv6.hlim", "ipv6.nxt",
          "ipv6.routing.segleft", "ipv6.routing.srh.addr", "macc.opcode", "macc.cbfc.enbv", *PAUSE_TIMES]


def decoded(frames, path):
    """tshark's reading of those that have a MAC control frame in them: field -> values, outermost first."""
    with PcapWriter(str(path), linktype=1) as pcap:
        for frame in frames:
            pcap.write(frame)
    columns = [word for field in FIELDS for word in ("-e", field)]
    out = run(["tshark", "-r", str(path), "-Y", "macc", "-T", "fields", "-E", "aggregator=|", *columns]).stdout
    return [{field: value.split("|") if value else [] for field, value in zip(FIELDS, line.split("\t"), strict=True)}
            for line in out.splitlines()]


def times_of(row):
    """Quanta by priority, of the enabled ones; None: no PFC."""
    if [int(v, 16) for v in row["macc.opcode"]] != [0x0101]:
        return None
    vector = int(row["macc.cbfc.enbv"][0], 16)
    expect(vector < 256, f"class enable vector {vector:#x}")
    return {i: int(row[PAUSE_TIMES[i]][0]) for i in range(8) if vector >> i & 1}
