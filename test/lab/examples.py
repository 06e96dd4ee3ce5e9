#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the examples of config/lab, or check that they are up to date (--check)."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from net import Net, loses, tidy  # noqa: E402
from deadlock import EDGE, PORT, Maze  # noqa: E402
from isolation import Slices  # noqa: E402
from credit import asked, chain, full  # noqa: E402
from rsvp import figure, schedule  # noqa: E402
from wan import Wan, refresh_us  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = {}


def example(build):
    EXAMPLES[build.__name__.replace("_", "-")] = build
    return build


@example
def clos():
    """Two-tier Clos of draft-filsfils-spring-srv6-ai-backend-00, figure 1.

    Every DPU is homed to two leaves. Both senders are placed on Spine4, so 200 Gb/s meet on the link from Spine4 to
    Leaf3: best effort loses packets there, and Spine5 is idle. Put "spine5" into one of the paths and run it again.
    """
    net = Net("clos", "20ms")
    for leaf in (1, 2, 3, 4):
        net.node(f"leaf{leaf}")
    for spine in (4, 5):
        net.node(f"spine{spine}")
    for dpu in (1, 2, 3, 4):
        net.host(f"dpu{dpu}", dpu)
    for pair in ((1, 2), (3, 4)):
        for dpu in pair:
            for eth, leaf in enumerate(pair):
                net.link(f"dpu{dpu}.eth{eth}", f"leaf{leaf}.dpu{dpu}")
    for leaf in (1, 2, 3, 4):
        for spine in (4, 5):
            net.link(f"leaf{leaf}.spine{spine}", f"spine{spine}.leaf{leaf}")
    for near, far in ((1, 3), (2, 3), (3, 1), (4, 1)):
        net.path(f"leaf{near}", f"leaf{far}", ["spine4"])
    net.flow("dpu1", "dpu3", **{"queue-pairs": 4, "rate": "24G"}).flow("dpu2", "dpu4", **{"queue-pairs": 4, "rate": "24G"})
    return net


@example
def two_dcs():
    """Two AI data centres over 1000 km: draft-he-rtgwg-wan-pfc-00, figure 2, with both DC gateways as nodes.

    Two senders share a 100 Gb/s WAN, and the receiver of the second takes only 40 Gb/s. It sends PFC to its gateway,
    which ignores it: packets are lost in DC 2, and in DC 1 before the WAN.
    """
    net = Net("two-dcs", "80ms")
    for n in ("dcgw1", "pe1", "p1", "p2", "pe2", "dcgw2"):
        net.node(n)
    for i in (1, 2):
        net.host(f"gpu1{i}", 10 + i, pfc=[3])
    net.host("gpu21", 21, pfc=[3])
    net.host("gpu22", 22, pfc=[3], sink={"drain": "40G", "buffer": "4M", "xoff": "1M", "xon": "512K"})
    for i in (1, 2):
        net.link(f"gpu1{i}.eth0", f"dcgw1.gpu{i}").link(f"gpu2{i}.eth0", f"dcgw2.gpu{i}")
    net.link("dcgw1.pe", "pe1.dc", plain=True)
    net.link("pe1.wan", "p1.west", km=10).link("p1.east", "p2.west", km=980).link("p2.east", "pe2.wan", km=10)
    net.link("dcgw2.pe", "pe2.dc", plain=True)
    net.flow("gpu11", "gpu21", **{"queue-pairs": 4, "window": "128M"})
    net.flow("gpu12", "gpu22", **{"queue-pairs": 4, "window": "128M"})
    return net


@example
def two_paths():
    """Cross-DC WAN of draft-ruan-spring-priority-flow-control-sid-02, figure 2: R1 and R5 know PFC, R2 to R4 do not.

    The traffic of DC 1 takes both paths to R5. The link from there to DC 2 is slower than the traffic that arrives.
    """
    net = Net("two-paths", "40ms")
    for n in ("r1", "r2", "r3", "r4", "r5"):
        net.node(n)
    net.host("dc1", 1, pfc=[3])
    net.host("dc2", 2, pfc=[3])
    net.link("dc1.eth0", "r1.dc", rate="200G")
    net.link("r1.r2", "r2.r1", km=250).link("r2.r5", "r5.r2", km=250)
    net.link("r1.r3", "r3.r1", km=200).link("r3.r4", "r4.r3", km=200).link("r4.r5", "r5.r4", km=200)
    net.link("r5.dc", "dc2.eth0", rate="100G")
    net.path("r1", "r5", ["r2"], ["r3", "r4"])
    net.flow("dc1", "dc2", **{"queue-pairs": 16, "rate": "9G"})
    return net


@example
def one_path():
    """WAN of draft-ruan-spring-priority-flow-control-sid-02, figure 3: R1 - R2 - R3, a tenant reads from DC 2.

    The tenant's data goes from DC 1 to DC 2 whose server drains 60 Gb/s of 100: R3's neighbour is congested.
    """
    net = Net("one-path", "40ms")
    for n in ("r1", "r2", "r3"):
        net.node(n)
    net.host("dc1", 1, pfc=[3])
    net.host("dc2", 2, pfc=[3], sink={"drain": "60G", "buffer": "2M", "xoff": "1M", "xon": "512K"})
    net.link("dc1.eth0", "r1.dc").link("r1.r2", "r2.r1", km=300).link("r2.r3", "r3.r2", km=300).link("r3.dc", "dc2.eth0")
    net.flow("dc1", "dc2", **{"queue-pairs": 8})
    return net


def hu_wan(name, run, **lab):
    """Leaf and spine WAN of draft-hu-rtgwg-cbfc-rsvp-01, figure 3."""
    net = Net(name, run, **lab)
    for n in ("gw1", "leaf1", "leaf2", "spine1", "spine2", "leaf3", "leaf4", "gw2"):
        net.node(n)
    for leaf in (1, 2):
        net.link(f"gw1.leaf{leaf}", f"leaf{leaf}.gw", km=20).link(f"gw2.leaf{leaf + 2}", f"leaf{leaf + 2}.gw", km=20)
    for spine in (1, 2):
        for leaf in (1, 2, 3, 4):
            net.link(f"leaf{leaf}.spine{spine}", f"spine{spine}.leaf{leaf}", km=240)
    return net


@example
def credit_figure3():
    """draft-hu-rtgwg-cbfc-rsvp-01, figure 3: the life of two credit sessions from gw1 to gw2, over 8 candidate paths.

    A path offers what the least of its devices offers, so l1-s1-l3 and l1-s1-l4 win with 16 units. The link from l1 to s1
    fails after 4 s, until the end: within two round trips the sessions are on their best backup, over l1 and s2 with 12
    units. At 8 s one of them is stopped, and after the lifetime of its state no device knows it. The report has the output
    of each command; the messages of gw1 are those with which the sessions begin, and those with which one ends.
    """
    net = figure("credit-figure3", "26s", 2, {"refresh": 2000, "rapid": 200}, buffers={"l2": 8, "s2": 12}, buffer=16)
    next(link for link in net.links if link["a"] == "l1.s1")["failures"] = [{"at": "4s"}]
    return schedule(net, (0, "gw1", "debug rsvp on"), (1000, "gw1", "show rsvp messages"), (2000, "gw1", "show rsvp sessions"),
                    (2000, "s1", "show rsvp paths"), (4100, "gw1", "show rsvp sessions"), (4100, "s2", "show rsvp paths"),
                    (8000, "gw1", "session stop s1"), (8050, "gw1", "show rsvp messages 14"), (25000, "gw1", "show rsvp sessions"),
                    (25000, "gw2", "show rsvp counters"))


@example
def credit_hops():
    """draft-hu-rtgwg-cbfc-rsvp-01, figure 4: the credit of each hop over time, when the receiver takes half of the rate.

    The credit of gw2 at its neighbour is used up first, then that of the node before it, and last that at the gateway gw1, which pauses
    the source. Nothing is lost, and no link between the nodes has PFC. See the plots of credit and of packets that wait for it.
    """
    net = chain("credit-hops", "480ms", nodes=("gw1", "t1", "t2", "gw2"), buffer=1024, flow={"queue-pairs": 1})
    return asked(net, (390, "gw1", "show rsvp sessions"), (470, "gw1", "show credit s"), (470, "t1", "show credit"))


@example
def credit_stall():
    """The receiver of a credit session stops for 100 ms. What is granted waits in each node, and the source is paused."""
    net = chain("credit-stall", "700ms", receiver="10G", flow={"queue-pairs": 1, "transport": "datagram", "message": 4096, "rate": "8G"})
    net.hosts["b"]["keys"]["sink"] = {"drain": "10G", "buffer": "8M", "xoff": "1M", "xon": "512K", "stalls": [{"at": "480ms", "for": "100ms"}]}
    return asked(net, (390, "gw1", "show rsvp sessions"), (570, "gw1", "show credit s"), (690, "gw1", "show credit s"))


@example
def credit_data_loss():
    """One packet in a thousand is lost between gw1 and t1, all the time. Each takes its units with it, until a fence shows what is
    missing: the rate stays, where credit without fences would end. Compare with mutants of test/lab/mutants.py."""
    net = full("credit-data-loss", seconds=1.0, forth=1e-3)
    return net


@example
def parameter_sync():
    """draft-hu-rtgwg-cbfc-rsvp-01, section 3.1: parameters are synchronised between two AIDCs, both ways at once.

    Few elephant flows of one RDMA connection each. ECMP hashes them, and where two meet packets are lost.
    """
    net = hu_wan("parameter-sync", "30ms")
    for i in (1, 2, 3, 4):
        net.host(f"a{i}", 10 + i)
        net.host(f"b{i}", 20 + i)
        net.link(f"a{i}.eth0", f"gw1.a{i}").link(f"b{i}.eth0", f"gw2.b{i}")
    for i in (1, 2, 3, 4):
        net.flow(f"a{i}", f"b{i}", message="64M", rate="50G").flow(f"b{i}", f"a{i}", message="64M", rate="50G")
    return net


@example
def sample_data():
    """draft-hu-rtgwg-cbfc-rsvp-01, section 3.2: sample data is written directly into the memory of remote servers.

    One link of the WAN loses one packet in a thousand: with go-back-N that costs about half of the throughput.
    """
    net = Net("sample-data", "100ms")
    for n in ("gw1", "leaf1", "spine1", "leaf3", "gw2"):
        net.node(n)
    net.host("storage", 1)
    net.host("server", 2)
    net.link("storage.eth0", "gw1.dc").link("gw1.wan", "leaf1.gw", km=5).link("leaf1.spine", "spine1.leaf1", km=45)
    net.link("spine1.leaf3", "leaf3.spine", km=45, loss="0.1%").link("leaf3.gw", "gw2.wan", km=5).link("gw2.dc", "server.eth0")
    net.flow("storage", "server", rate="33G", message="4M")
    return net


@example
def split_inference():
    """draft-hu-rtgwg-cbfc-rsvp-01, section 3.3: inference is split between a customer's site and an AIDC.

    Activations go in one direction, tokens in the other. In the middle of the run a WAN link without protection fails
    for 5 ms: frames in flight, and frames sent until its ends detect the failure, are lost.
    """
    net = hu_wan("split-inference", "30ms")
    for i in (1, 2):
        net.host(f"prefill{i}", 10 + i)
        net.host(f"decode{i}", 20 + i)
        net.link(f"prefill{i}.eth0", f"gw1.p{i}").link(f"decode{i}.eth0", f"gw2.d{i}")
    for i in (1, 2):
        net.flow(f"prefill{i}", f"decode{i}", **{"queue-pairs": 8, "message": "512K", "rate": "5G", "timeout": 10, "retries": 100})
        net.flow(f"decode{i}", f"prefill{i}", **{"queue-pairs": 8, "message": "16K", "rate": "500M", "timeout": 10, "retries": 100})
    net.links[-7]["failures"] = [{"at": "12ms", "for": "5ms", "detect": "1ms"}]
    return net


@example
def incast():
    """Eight senders, one receiver: the gateway's queue towards it overflows."""
    net = Net("incast", "5ms")
    net.node("gw1", memory={"buffers": 40960})
    net.node("gw2")
    for i in range(1, 9):
        net.host(f"s{i}", i, pfc=[3])
        net.link(f"s{i}.eth0", f"gw1.s{i}")
    net.host("sink", 20, pfc=[3])
    net.link("gw1.wan", "gw2.wan", rate="400G", km=10).link("gw2.sink", "sink.eth0")
    for i in range(1, 9):
        net.flow(f"s{i}", "sink", rate="25G", start=f"{i * 100}us")
    return net


@example
def parking_lot():
    """A chain of four nodes: one flow crosses all of it, one more enters at every hop.

    The long flow competes three times and gets least; each hop's queue overflows.
    """
    net = Net("parking-lot", "20ms")
    for i in (1, 2, 3, 4):
        net.node(f"r{i}")
    for i in (1, 2, 3):
        net.host(f"in{i}", 10 + i)
        net.link(f"in{i}.eth0", f"r{i}.in{i}").link(f"r{i}.east", f"r{i + 1}.west", km=50)
        net.host(f"out{i}", 20 + i)
        net.link(f"out{i}.eth0", f"r{i + 1}.out{i}")
    net.host("far", 31)
    net.host("long", 30)
    net.link("long.eth0", "r1.long").link("far.eth0", "r4.far")
    net.flow("long", "far", **{"queue-pairs": 4, "rate": "20G"})
    for i in (1, 2, 3):
        net.flow(f"in{i}", f"out{i}", **{"queue-pairs": 4, "rate": "20G"})
    return net


STOP = {"stall": ("20ms", "50ms"), "run": "120ms"}


def distance(name, scheme, **keys):
    return Wan(name, scheme, **STOP, **keys).net


def lossy(name, mode, scheme="relay", **lab):
    more = int(3 * refresh_us(100, mode) + 1000)
    return distance(name, scheme, mode=mode, more_us=more, jitter_us=more + 50,
                    wan={"loss": "1%", "jitter": "1ms", "faulty": "b-to-a"}, **lab)


@example
def pfc_best_effort():
    """100 Gb/s over 1000 km, the receiver stops for 50 ms: PFC ends at the gateway of its data centre, which loses packets.

    Compare: sluice-lab --out out/pfc config/lab/pfc-best-effort.yaml config/lab/pfc-one-way.yaml config/lab/pfc-relay.yaml
    config/lab/pfc-tunnel.yaml
    """
    return distance("pfc-best-effort", "best-effort", **loses())


@example
def pfc_one_way():
    """The same with a PFC relay (draft-he-rtgwg-wan-pfc-00) and the buffer of its section 3.2: rate times one-way delay.

    Data in flight when the sender stops keeps arriving for another one-way delay, and half of it is lost.
    """
    return distance("pfc-one-way", "relay", rule="draft-he", **loses())


@example
def pfc_relay():
    """The same relay with full headroom (docs/queues.md) at the gateway gw2: nothing is lost.

    The gateway gw2 pauses pe2; pe1 hands the frames to gw1; when gw1 is full, it pauses the sender.
    """
    return distance("pfc-relay", "relay")


@example
def pfc_tunnel():
    """draft-ruan-spring-priority-flow-control-sid-02: pe2 has the buffer and pauses pe1's queue by its End.X.PFC SID."""
    return distance("pfc-tunnel", "tunnel")


@example
def pfc_xon_side():
    """A receiver of 60 Gb/s after 100 Gb/s over 1000 km: at XON the buffer still holds the data of one round trip.

    So the receiver never waits. Take xon out of gw2's buffer profile, and it waits a third of the time.
    """
    return Wan("pfc-xon-side", "relay", drain="60G", xon=int(60 * 125 * 10600), run="120ms").net


@example
def pfc_transparent():
    """A relay that forwards frames as they arrive (draft-he to the letter), over a WAN that loses 1 % of them and delays them by up
    to 1 ms, three times the longest pause at 100 Gb/s: pauses have gaps, and packets are lost.

    Compare: sluice-lab --out out/modes config/lab/pfc-best-effort.yaml config/lab/pfc-transparent.yaml
    config/lab/pfc-scaled.yaml config/lab/pfc-regenerate.yaml config/lab/pfc-tunnel-held.yaml
    """
    return lossy("pfc-transparent", "transparent", **loses())


@example
def pfc_scaled():
    """The same with pause times converted between the speeds of the two ports, which are equal here: the gaps are the same."""
    return lossy("pfc-scaled", "scaled", **loses())


@example
def pfc_regenerate():
    """The same with a relay that keeps its gateway paused by frames of its own: three lost frames in a row and all of the jitter
    are bridged. The WAN itself still loses frames of the tunnel and acknowledgements, but no data."""
    return lossy("pfc-regenerate", "regenerate")


@example
def pfc_tunnel_held():
    """draft-ruan-spring-priority-flow-control-sid-02 over the same WAN, with `jitter` of the End.X.PFC SID: each pause is held longer
    than its frame requests, so that the queue stays closed across three lost frames in a row and all of the jitter."""
    return lossy("pfc-tunnel-held", "transparent", "tunnel")


def stalled_slice(name, tunnels):
    net = Slices("40ms", "10G", tunnels, 4, name)
    net.hosts["d1"]["keys"]["sink"]["stalls"] = [{"at": "5ms", "for": "30ms"}]

    def room(config):
        config["buffer-profiles"].append({"name": "wan", "min-frame": 1024})
        next(p for p in config["ports"] if p["name"] == "wan")["pfc"]["buffer"] = "wan"
    net.tune("gw2", room)
    for i in range(4):
        net.flow(f"s{i}", f"d{i}", name=f"g{i}", transport="datagram", message=4096, rate="5G")
    return net


@example
def pfc_slices():
    """Four slices on one WAN port, PFC tunnels of draft-ruan for each: the receiver of slice g1 stops for 30 ms, the other slices go on.

    The data of g1 in flight when it is paused fits above XOFF of gw2's WAN port, before all are paused: `selective`, which by default
    is enough for three of them as far as memory.buffers allows (docs/pfc.md).

    Compare: sluice-lab --out out/slices config/lab/pfc-slices.yaml config/lab/pfc-no-slices.yaml
    """
    return stalled_slice("pfc-slices", True)


@example
def pfc_no_slices():
    """The same with PFC on the WAN link, which has no slices: one receiver that stops pauses all of them."""
    return stalled_slice("pfc-no-slices", False)


@example
def pfc_deadlock():
    """Three nodes in a ring, all traffic clockwise over two hops, PFC in one class: they end in a deadlock.

    The lab ends the run there and names the cycle. test/lab/deadlock.py has the remedy: a class for each part of the path.
    """
    nodes = ("n1", "n2", "n3")
    ways = {f"h{i}": (f"h{(i + 1) % 3 + 1}", [nodes[(i - 1 + k) % 3] for k in range(3)]) for i in (1, 2, 3)}
    net = Maze("pfc-deadlock", "2ms", ways, False)
    for i, node in enumerate(nodes, 1):
        net.node(node, pfc=[EDGE], port=PORT, memory={"ring": 128})
        net.host(f"h{i}", i, pfc=[EDGE])
        net.link(f"h{i}.eth0", f"{node}.h{i}", rate="10G")
    for i in range(3):
        net.link(f"{nodes[i]}.east", f"{nodes[(i + 1) % 3]}.west", rate="10G")
    for source, (to, _) in ways.items():
        net.flow(source, to, transport="datagram", message=4096, rate="10G")
    return net


def text(build):
    doc = [line.strip() for line in build.__doc__.strip().splitlines()]
    return "".join(f"# {line}".rstrip() + "\n" for line in doc) + tidy(build().topology()).lstrip("\n")


def main():
    check = sys.argv[1:] == ["--check"]
    wrong = []
    for name, build in EXAMPLES.items():
        path = os.path.join(TOP, "config/lab", f"{name}.yaml")
        if check:
            with open(path) as f:
                if f.read() != text(build):
                    wrong.append(path)
        else:
            with open(path, "w") as f:
                f.write(text(build))
    for path in wrong:
        print(f"{path} is not what {sys.argv[0]} writes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
