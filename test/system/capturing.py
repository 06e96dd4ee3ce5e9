# SPDX-License-Identifier: BSD-3-Clause
"""Trace and capture: the steps of packets, and files that other programs read."""
import glob
import os
import subprocess
import time

import console
from support import expect, frame, wait_for, write_pcap

# Drops of several reasons come with the transcripts' packets: three without a route.
STREAM = {"p0": "net_pcap0,rx_pcap=in.pcap,infinite_rx=1", "p1": "net_null1,no-rx=1"}


def streaming(bench, *args, **more):
    """A node under endless traffic: 256 packets of 16 flows, two of them without a route."""
    frames = [frame(n % 16, n, 1) for n in range(256)]
    frames[100] = frames[200] = console.dropped()
    write_pcap(bench.path("in.pcap"), frames)
    bench.config(lcores='{control: 0, rx: [1], worker: [1], cpus: "0@0,1@1"}', **STREAM)
    return bench.node(*args, **more)


def tshark(bench, file, *args):
    """Lines of fields; a file that tshark does not like fails the test."""
    done = subprocess.run(["tshark", "-n", "-r", file, *args], cwd=bench.folder, capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"tshark: {done.stderr}")
    return done.stdout.splitlines()


def fields(bench, file, *names):
    args = [word for name in names for word in ("-e", name)]
    return [line.split("\t") for line in tshark(bench, file, "-T", "fields", *args)]


def traces(bench):
    """The whole way of packets: forwarded, dropped, waiting for a neighbour that does not answer."""
    bench.name = f"sys{os.getpid():07d}"
    node = traced_node(bench)
    packets = node.json("show trace")
    expect([p["packet"] for p in packets] == [1, 2, 3, 4, 5, 6], f"{packets}")
    console.transcript(bench, "trace", node, ["show trace", "show trace -j", "clear trace", "show trace"])
    node.stop()


TRACED = """
node:
  name: {name}
  loopback: fd00::d
  usid: {{block: "5f00:0::/32", node: 0x0100}}
  infrastructure: ["fd00::/16"]
lcores: {{control: 0, rx: [1], worker: [2], cpus: "0@0,1@0,2@1"}}
memory: {{buffers: 32K}}
neighbor-discovery: {{retransmit: 100, probes: 1}}
ports:
  - {{name: wan0, device: "net_memif0,role=server,socket-abstract=no,socket={socket}", side: wan, mac: "02:00:00:00:d0:00",
     addresses: ["2001:db8:a::2/64"]}}
  - {{name: wan1, device: "net_null1,no-rx=1", side: wan, mac: "02:00:00:00:d0:01", addresses: ["2001:db8:b::2/64"]}}
neighbors:
  - {{port: wan1, address: "2001:db8:b::3", mac: "02:00:00:00:b0:03"}}
routes:
  - {{prefix: "5f00:0:400::/48", port: wan1, nexthop: "2001:db8:b::3"}}
  - {{prefix: "5f00:0:500::/48", port: wan1, nexthop: "2001:db8:b::4"}}
vrfs:
  - name: red
    routes:
      - {{prefix: "2001:db8:3::/48", policy: on}}
policies:
  - name: on
    paths:
      - {{name: first, segments: ["5f00:0:400:e102::"]}}
sids:
  - {{sid: "5f00:0:100::/48", behavior: uN}}
  - {{sid: "5f00:0:e101::/48", behavior: uDT46, vrf: red}}
  - {{sid: "5f00:0:e005::/48", behavior: uA, port: wan1, nexthop: "2001:db8:b::3"}}
"""


def to(address):
    """A frame for another destination."""
    return frame(5, 5, 0)[:38] + bytes.fromhex(address) + frame(5, 5, 0)[54:]


def traced_node(bench):
    """
    A node that waits for its link, and another one that brings the packets: so a trace can begin before they come.
    """
    socket = bench.path("memif.sock")
    with open(bench.path("config.yaml"), "w") as f:
        f.write(TRACED.format(name=bench.name, socket=socket))
    node = bench.node()
    node.ok("trace add 100 filter \"ip6 dst net 5f00::/16\"")
    expect(node.ok("show trace") == "none\n", "nothing came yet")
    write_pcap(bench.path("in.pcap"), [frame(1, 1, 0), frame(2, 2, 1), console.dropped(), frame(3, 3, 0),
                                      to("5f000000e10100000000000000000000"), to("5f000000e00503000000000000000000")])
    feeder = bench.name + "f"
    with open(bench.path("feeder.yaml"), "w") as f:
        f.write(FEEDER.format(name=feeder, socket=socket))
    done = subprocess.run([bench.sluice, "-c", "feeder.yaml", "--wait-for-links", "10", "--exit-when-idle", "300"],
                          cwd=bench.folder, capture_output=True, text=True, check=False, timeout=60)
    expect(done.returncode == 0, f"the feeder ended with {done.returncode}: {done.stderr}")
    wait_for(lambda: node.rx() >= 6, "the packets")
    wait_for(lambda: node.json("show conservation")["held"] == 0, "the end of waiting")
    return node


# Forwards the packets of its pcap by a route: a new Ethernet header and one hop less, nothing else.
FEEDER = """
node:
  name: {name}
  loopback: fd00::f
  usid: {{block: "5f01:0::/32", node: 0x0100}}
  infrastructure: ["fd00::/16"]
lcores: {{control: 0, rx: [1], worker: [1], cpus: "0@0,1@0"}}
memory: {{buffers: 32K}}
ports:
  - {{name: in0, device: "net_pcap0,rx_pcap=in.pcap", side: wan, mac: "02:00:00:00:d0:00", addresses: ["2001:db8:c::2/64"]}}
  - {{name: out0, device: "net_memif0,socket-abstract=no,socket={socket}", side: wan, mac: "02:00:00:00:a0:00",
     addresses: ["2001:db8:a::9/64"]}}
neighbors:
  - {{port: out0, address: "2001:db8:a::2", mac: "02:00:00:00:d0:00"}}
routes:
  - {{prefix: "::/0", port: out0, nexthop: "2001:db8:a::2"}}
"""


STAMPED = """
node: {{name: {name}, loopback: "fd00::d", usid: {{block: "5f00:0::/32", node: 0x0100}}, infrastructure: ["fd00::/16"]}}
lcores: {{control: 0, rx: [1], worker: [1], cpus: "0@0,1@0"}}
memory: {{buffers: 32K}}
ports:
  - {{name: wan0, device: "net_pcap0,rx_pcap=in.pcap,tx_pcap=out0.pcap", side: wan, mac: "02:00:00:00:d0:00",
     hardware-timestamps: {stamps}, addresses: ["2001:db8:a::2/64"]}}
neighbors: [{{port: wan0, address: "2001:db8:a::3", mac: "02:00:00:00:a0:03"}}]
routes: [{{prefix: "5f00:0:400::/48", port: wan0, nexthop: "2001:db8:a::3"}}]
sids: [{{sid: "5f00:0:100::/48", behavior: uN}}]
"""


def device_times(bench):
    """A device that says when it received a packet: a capture has that of received packets, if the port asks for it."""
    write_pcap(bench.path("in.pcap"), [frame(1, n, 0) for n in range(5)])
    for stamps, wanted in (("yes", [f"device time {n}" if n else "" for n in range(5)]), ("no", 5 * [""])):
        with open(bench.path("config.yaml"), "w") as f:
            f.write(STAMPED.format(name=bench.name, stamps=stamps))
        code, _, err = bench.run("--capture", "all.pcapng", "--exit-when-idle", "200")
        expect(code == 0, f"{code}: {err}")
        rows = fields(bench, "all.pcapng", "frame.packet_flags_direction", "frame.comment")
        by_way = {way: [r[1] for r in rows if int(r[0], 0) & 3 == way] for way in (1, 2)}
        expect(by_way == {1: wanted, 2: 5 * [""]}, f"hardware-timestamps: {stamps}: {by_way}")


def trace_filter(bench):
    """Only packets that match the filter; one trace after the other; 1000 packets with all their steps under full load."""
    node = streaming(bench)
    node.ok('trace add 5 filter "udp src port 7"')
    node.ok('trace add 7 filter "ip6[25] = 0 and ip6 dst net 5f00::/16"')
    wait_for(lambda: len(node.json("show trace")) == 7, "7 packets")
    node.ok("trace add 1000")

    def steps():
        return [[s["step"] for s in p["steps"]] for p in node.json("show trace")]
    wait_for(lambda: len(steps()) == 1000 and all(s[-1] in ("sent", "dropped") for s in steps()), "1000 whole ways")
    for way in steps():
        expect(way[:2] == ["received", "resolved"] and len(way) >= 3, f"{way}")
    dropped = sum(s[-1] == "dropped" for s in steps())
    expect(4 <= dropped <= 12, f"{dropped} of 1000 dropped, 2 of 256 should be")
    node.ok("clear trace")
    time.sleep(0.1)
    expect(node.json("show trace") == [], "cleared")
    node.stop()


def capture_port(bench):
    """Both directions with interface names, direction and time; filter; count; several at once; stop."""
    node = streaming(bench)
    node.ok("capture start p1 sent.pcapng 50")
    node.ok("capture start p0 filter \"ip6 dst net 5f00:0:100::/48\" uN.pcapng 30")
    answer = node.json("capture start all all.pcapng")
    number = answer["number"]
    wait_for(lambda: [c["number"] for c in node.json("show captures")] == [number], "two of them to end by count")
    wait_for(lambda: node.json("show captures")[0]["packets"] > 200, "packets")
    node.ok(f"capture stop {number}")
    expect(node.json("show captures") == [], "stopped")
    now = time.time()
    rows = fields(bench, "sent.pcapng", "frame.interface_name", "frame.packet_flags_direction", "frame.time_epoch",
                  "eth.src", "ipv6.dst")
    expect(len(rows) == 50, f"{len(rows)} packets")
    for name, direction, when, source, to in rows:
        expect(name == "p1" and (int(direction, 0) & 3) == 2 and source == "02:00:00:00:d0:01", f"{name} {direction} {source}")
        expect(abs(float(when) - now) < 60 and to.startswith("5f00:0:500:300:"), f"{when} {to}")
    rows = fields(bench, "uN.pcapng", "frame.interface_name", "frame.packet_flags_direction", "ipv6.dst")
    odd = [r for r in rows if r[0] != "p0" or int(r[1], 0) & 3 != 1 or not r[2].startswith("5f00:0:100:")]
    expect(len(rows) == 30 and not odd, f"{len(rows)} packets, {odd}")
    names = {row[0] for row in fields(bench, "all.pcapng", "frame.interface_name")}
    expect(names == {"p0", "p1"}, f"{names}")
    done = subprocess.run(["capinfos", "-T", "-r", "-c", "-E", "sent.pcapng"], cwd=bench.folder, capture_output=True,
                          text=True, check=False)
    expect(done.returncode == 0 and "50" in done.stdout and "ether" in done.stdout, f"{done.stdout}{done.stderr}")
    node.ok("capture start p0")
    node.ok("capture stop all")
    expect(len(glob.glob(bench.path(f"sluice-{bench.name}-p0-*.pcapng"))) == 1, "a name of its own")
    node.stop()


def capture_drops(bench):
    """Dropped packets with the reason as comment; and the last of each reason without a capture."""
    node = streaming(bench)
    node.ok("capture start drops drops.pcapng 20")
    wait_for(lambda: not node.json("show captures"), "20 drops")
    rows = fields(bench, "drops.pcapng", "frame.interface_name", "frame.comment", "ipv6.dst")
    expect(len(rows) == 20 and all(r == ["p0", "dropped: no_route", "5f00:1:666:300::"] or "dropped: no_route" == r[1]
                                   for r in rows), f"{rows}")
    expect({r[0] for r in rows} <= {"p0", "(local)"}, f"{rows}")
    answer = node.json("capture drops last.pcapng")
    rows = fields(bench, "last.pcapng", "frame.comment", "frame.len")
    expect(len(rows) == answer["packets"] and 8 <= len(rows) <= 32, f"{answer} {len(rows)}")
    expect({r[0] for r in rows} == {"dropped: no_route"}, f"{rows}")
    node.stop()


def with_srh(flags):
    """A uN packet with an SRH of two segments between its headers."""
    plain = frame(1, 1, 1)
    srh = bytes([41, 4, 4, 1, 1, flags, 0, 0]) + bytes.fromhex("5f000000030000000000000000000000" + "5f000000010005000300000000000000")
    length = int.from_bytes(plain[18:20], "big") + len(srh)
    return plain[:18] + length.to_bytes(2, "big") + bytes([43]) + plain[21:54] + srh + plain[54:]


def capture_oam(bench):
    """Packets at a local SID whose SRH has the O-flag, and no others; rate-limited, however many come."""
    frames = [frame(n % 16, n, 1) for n in range(256)]
    frames[10] = with_srh(0)
    frames[20] = with_srh(0x20)
    frames[30] = with_srh(0x20)[:24] + bytes(14) + with_srh(0x20)[38:]  # :: as source
    write_pcap(bench.path("in.pcap"), frames)
    bench.config(lcores='{control: 0, rx: [1], worker: [1], cpus: "0@0,1@1"}', **STREAM)
    node = bench.node()
    number = node.json("capture start oam oam.pcapng")["number"]
    start = time.monotonic()
    wait_for(lambda: node.json("show captures")[0]["packets"] > 100, "copies")
    time.sleep(1)
    node.ok(f"capture stop {number}")
    rows = fields(bench, "oam.pcapng", "frame.interface_name", "frame.comment", "ipv6.routing.srh.flags", "ipv6.dst")
    expect(all(r[:2] == ["p0", "O-flag"] and int(r[2], 0) == 0x20 and r[3].startswith("5f00:0:100:500:") for r in rows),
           f"{rows[:3]}")
    # one of 256 packets of a stream of more than a million a second: the limit must have been felt
    expect(len(rows) <= 100 + 1000 * (time.monotonic() - start + 1), f"{len(rows)} copies")
    node.stop()


def forwards(node):
    before = node.rx()
    wait_for(lambda: node.rx() > before, "forwarding stopped")


def full_disk(bench):
    """A file that cannot grow: a clear message, the capture ends, packets go on. A FIFO without reader, a folder."""
    os.mkdir(bench.path("full"))
    write_pcap(bench.path("in.pcap"), [frame(n % 16, n, 1) for n in range(256)])
    bench.config(lcores='{control: 0, rx: [1], worker: [1], cpus: "0@0,1@1"}', **STREAM)
    node = bench.mounted("mount -t tmpfs -o size=256k none full")
    node.ok("capture start all full/big.pcapng")
    wait_for(lambda: not node.json("show captures"), "the capture to end")
    wait_for(lambda: "capture full/big.pcapng ends after" in node.log(), "a message", node.log)
    expect(node.log().count("No space left on device") == 1, node.log())
    forwards(node)
    node.fails("capture start all full/more.pcapng", "cannot write full/more.pcapng: No space left on device")
    node.fails("capture drops full/more.pcapng", "cannot write full/more.pcapng: No space left on device")
    node.fails("capture start p0 /dev/full", "cannot write /dev/full: No space left on device")
    node.fails("capture start p0 nowhere/x.pcapng", "cannot write nowhere/x.pcapng: No such file or directory")
    node.fails("capture start p0 full", "cannot write full: Is a directory")
    os.mkfifo(bench.path("fifo"))
    node.fails("capture start p0 fifo", "cannot write fifo: No such device or address")
    reader = os.open(bench.path("fifo"), os.O_RDONLY | os.O_NONBLOCK)
    node.ok("capture start all fifo")  # a reader that never reads
    wait_for(lambda: not node.json("show captures"), "the capture to end")
    os.close(reader)
    for n in range(16):
        node.ok(f"capture start p0 many{n}.pcapng")
    node.fails("capture start p0 many16.pcapng", "16 captures run already; stop one first")
    node.ok("capture stop all")
    forwards(node)
    node.stop()


def whole_life(bench):
    """--capture: every packet of a run, counted by others."""
    write_pcap(bench.path("in.pcap"), [frame(1, n, 1) for n in range(300)] + [console.dropped()])
    bench.config()
    code, _, err = bench.run("--capture", "life.pcapng", "--exit-when-idle", "300")
    expect(code == 0, f"{code}: {err}")
    rows = fields(bench, "life.pcapng", "frame.interface_name", "frame.comment")
    expect([r[0] for r in rows].count("p1") == 300, "all that were sent")
    expect(sum(r[0] == "p0" and not r[1] for r in rows) >= 301, "all that came")
    expect(any(r[1] == "dropped: no_route" for r in rows), "and the drop")


TESTS = [
    ("capture: times of the device", device_times),
    ("trace: the whole way of packets", traces),
    ("trace: filter, one after the other, 1000 under load", trace_filter),
    ("capture: ports, filter, count", capture_port),
    ("capture: drops", capture_drops),
    ("capture: O-flag", capture_oam),
    ("capture: a full disk", full_disk),
    ("capture: the whole life", whole_life),
]
