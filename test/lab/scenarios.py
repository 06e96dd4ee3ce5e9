# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios of the lab: topology, parameters, assertions at the end.

Each has a builder, the parameters of the short form (scripts/test) and those of the long form (scripts/campaign), and
assertions: expressions over the report (see Report in run.py). Besides, every run checks all invariants of
lib/lab/lab_invariant.c, and the same seed must give the same report.
"""
from net import Net
from suite import scenario

FEW = 0.03  # calibrations are statements about means: few seeds of a long run each, not thousands of short ones


FAULTS = [{"loss": "1%"}, {"corruption": "1%"}, {"corruption": "1%", "fcs": False}, {"duplication": "2%"},
          {"reordering": "2%", "reorder-delay": "20us"}, {"jitter": "30us"},
          {"loss": "0.5%", "corruption": "0.5%", "duplication": "1%", "reordering": "1%", "jitter": "10us"}]


def pair(run="3ms", wan=None, node=None, port=None, lcores=None, memory=None, flow=None, edge=None, **lab):
    """nic1 - gw1 - (WAN) - gw2 - nic2"""
    net = Net("pair", run, **lab)
    for i in (1, 2):
        net.node(f"gw{i}", lcores=lcores, memory=memory, port=port, **(node or {}))
        net.host(f"nic{i}", i)
    net.link("nic1.eth0", "gw1.dc0", **(edge or {})).link("gw1.wan0", "gw2.wan0", **{"km": 10, **(wan or {})})
    net.link("gw2.dc0", "nic2.eth0", **(edge or {}))
    net.flow("nic1", "nic2", **{"queue-pairs": 4, "rate": "10G", "message": 262144, **(flow or {})})
    return net


@scenario(short=[{}], expect=["lost == 0", "flow().retransmitted == 0", "flow().goodput_gbps > 36", "dropped('gw1') == 0"])
def clean():
    """Nothing is wrong: nothing may be lost."""
    return pair()


@scenario(short=[{"fault": f} for f in FAULTS],
          long=[{"fault": f, "rate": r} for f in FAULTS for r in ("1G", "10G", "24G")],
          expect=["flow().messages == 64", "flow().failed == 0"])
def link_faults(fault, rate="10G"):
    """Every fault a link can have: all is accounted for, and go-back-N brings every message through."""
    return pair(wan=fault, run="4ms", drain="5s", flow={"messages": 16, "timeout": 8, "retries": 1000, "rate": rate})


FINITE = {"messages": 16, "timeout": 8, "retries": 1000}
DONE = ["flow().messages == 64", "flow().failed == 0"]


@scenario(short=[{"failure": f} for f in (
    {"at": "1ms", "for": "500us"},
    {"at": "1ms", "for": "500us", "detect": "never"},
    {"at": "1ms", "for": "500us", "direction": "a-to-b"},
    {"at": "1ms", "for": "300us", "direction": "b-to-a", "detect": "never"},
    {"at": "500us", "for": "50us", "repeat": 10, "every": "200us"})],
    long=[{"failure": {"at": a, "for": f, "direction": d, "detect": t}} for a in ("0", "1ms", "2ms") for f in ("20us", "2ms")
          for d in ("both", "a-to-b", "b-to-a") for t in ("0", "10us", "1ms", "never")],
    expect=[*DONE, "PARAM['failure'].get('direction') == 'b-to-a' or "
                      "way('gw1.wan0').cut + way('gw2.wan0').cut + dropped('gw1') + dropped('gw2') > 0"])
def link_failure(failure):
    """A link fails and returns, one way or both, detected or not, once or flapping: losses are counted, and the rest arrives."""
    return pair(wan={"failures": [failure]}, run="4ms", drain="5s", flow=FINITE)


@scenario(short=[{}], long=[{"at": f"{t}us"} for t in (1, 700, 1500, 2999)],
          expect=["lost == 0", "command(0).ok", "flow().retransmitted == 0", "reason('gw1', 'queue_full') == 0"])
def reload_under_load(at="1500us"):
    """A gateway's configuration is reloaded under load, twice: nothing is lost, nothing reordered."""
    net = pair(flow={"rate": "20G"})
    other = net.config("gw1")
    other["routes"].append({"prefix": "fd00:1::/64", "port": "wan0", "nexthop": other["routes"][0]["nexthop"]})
    other["policies"][0]["paths"][0]["weight"] = 2
    net.files = {"gw1-new.yaml": other, "gw1-old.yaml": net.config("gw1")}
    net.extra["schedule"] = [{"at": at, "node": "gw1", "reload": "gw1-new.yaml"}, {"at": "3ms", "node": "gw1", "reload": "gw1-old.yaml"}]
    return net


@scenario(short=[{}, {"wrong": "needs a restart"}], expect=["command(0).ok == False", "lost == 0"])
def refused_reload(wrong="refers to nothing"):
    """A reload that is refused leaves no trace."""
    net = pair()
    why, wrong = wrong, net.config("gw1")
    if why == "needs a restart":
        wrong["ports"][0]["mtu"] = 2000
    else:
        wrong["routes"][0]["port"] = "nowhere"
    net.files = {"gw1-new.yaml": wrong}
    net.extra["schedule"] = [{"at": "1ms", "node": "gw1", "reload": "gw1-new.yaml"}]
    return net


@scenario(short=[{"node": "gw1"}, {"node": "gw2"}], long=[{"node": n, "at": f"{a}us", "down": d} for n in ("gw1", "gw2")
          for a in (10, 500, 1700) for d in ("0", "100us", "5ms")],
          expect=[*DONE, "node('gw1').restarts + node('gw2').restarts == 1", "PARAM.get('down') == '0' or lost > 0"])
def node_restart(node, at="1ms", down="500us"):
    """A node restarts in the middle of the run: the packets it held are counted, and traffic resumes."""
    net = pair(run="4ms", drain="5s", flow=FINITE)
    net.extra["schedule"] = [{"at": at, "node": node, "restart": down}]
    return net


@scenario(short=[{}], long=[{"pairs": p} for p in (64, 256, 1024)],
          expect=["0.25 < share('s1.l1', 's2.l1') < 0.75", "lost == 0"])
def ecmp_spread(pairs=64):
    """Two spines, equal cost: many queue pairs use both, and no flow is reordered."""
    net = Net("ecmp", "2ms")
    for n in ("gw1", "s1", "s2", "gw2"):
        net.node(n)
    net.host("nic1", 1)
    net.host("nic2", 2)
    net.link("nic1.eth0", "gw1.dc0")
    for s in ("s1", "s2"):
        net.link(f"gw1.{s}", f"{s}.l1", km=10).link(f"{s}.l2", f"gw2.{s}", km=10)
    net.link("gw2.dc0", "nic2.eth0")
    net.flow("nic1", "nic2", **{"queue-pairs": pairs, "rate": f"{64000 // pairs}M"})
    return net


@scenario(short=[{}], expect=["lost == 0", "most('In flight on links and in transmit descriptors', 'gw1.wan0 > gw2.wan0') > 480",
                               "flow().goodput_gbps > 290"])
def wide_wan():
    """400 Gb/s over 2000 km: a full bandwidth-delay product of half a gigabyte is under way, in little memory."""
    return pair(run="40ms", wan={"rate": "400G", "km": 2000}, edge={"rate": "400G"}, port={"queue-limit": 1024},
                node={"cycles": 20, "pass-cycles": 40}, flow={"queue-pairs": 16, "rate": "24500M", "message": "16M"})


def incast_net(senders, pfc=None, run="2ms"):
    net = Net("incast", run)
    net.node("gw1", memory={"buffers": 24576 + 8192 * (senders + 1)}, pfc=pfc)
    for i in range(senders):
        net.host(f"s{i}", i, pfc=[3])
        net.link(f"s{i}.eth0", f"gw1.s{i}")
    net.host("sink", 100, pfc=[3])
    net.link("gw1.sink", "sink.eth0")
    for i in range(senders):
        net.flow(f"s{i}", "sink", rate="60G")
    return net


@scenario(short=[{"senders": 4}], long=[{"senders": n} for n in (2, 4, 8, 16)],
          expect=["reason('gw1', 'queue_full') > 0", "lost == dropped('gw1')", "host('s0').pauses_received == 0"])
def incast_best_effort(senders):
    """Too much for one port and no flow control: the queue towards it overflows, bounded, and nothing else loses."""
    return incast_net(senders)


@scenario(short=[{"senders": 4}], long=[{"senders": n} for n in (2, 4, 8, 16)],
          expect=["lost == 0", "host('s0').pauses_received > 0", "sum(f['goodput_gbps'] for f in report['flows']) > 90",
                  "most('Hosts paused by PFC', 's0 priority 3') > 10"])
def incast_pfc(senders):
    """The same with PFC on the gateway's ports: nothing is lost, and the port towards the sink is full."""
    return incast_net(senders, pfc=[3])


@scenario(short=[{}], long=[{"km": k, "drain": d} for k in (0, 1, 5) for d in ("10G", "40G", "90G")],
          expect=["lost == 0", "host('sink').pauses_sent > 0", "host('s0').pauses_received > 0", "host('sink').goodput_bytes > 1e6"])
def pfc_chain(km=1, drain="40G"):
    """A slow receiver pauses the gateway, whose gate closes; its queue grows and it pauses the sender: nothing is lost."""
    net = Net("pfc-chain", "4ms")
    net.node("gw1", memory={"buffers": 131072}, pfc=[3])
    net.host("s0", 1, pfc=[3])
    net.host("sink", 2, pfc=[3], sink={"drain": drain, "buffer": "4M", "xoff": "500K", "xon": "250K"})
    net.link("s0.eth0", "gw1.s0").link("gw1.sink", "sink.eth0", **({"km": km} if km else {}))
    net.flow("s0", "sink", **{"queue-pairs": 4})
    return net


@scenario(short=[{}], long=[{"cycles": c, "rate": r} for c, r in ((500, "20G"), (1500, "5G"), (1500, "20G"), (5000, "5G"), (5000, "20G"))],
          expect=["missed('gw1') > 0", "dropped('gw1') == 0", "reason('gw1', 'no_buffer') == 0"])
def too_few_cycles(cycles=1500, rate="20G"):
    """rx and worker on lcores of their own, both too slow: rings fill and push back, and only the NIC loses, counted."""
    return pair(node={"cycles": cycles}, lcores={"control": 0, "rx": [1], "worker": [2]}, memory={"ring": 64},
                flow={"rate": rate, "mtu": 1024, "message": 65536})


@scenario(short=[{"lcores": x} for x in ({"control": 0, "rx": [0], "worker": [0]}, {"control": 0, "rx": [1], "worker": [2, 3]},
                                         {"control": 0, "rx": [1, 2], "worker": [3]}, {"control": 5, "rx": [1, 2], "worker": [2, 3]})],
          expect=["lost == 0", "flow().retransmitted == 0", "flow().goodput_gbps > 36"])
def lcores(lcores):
    """Roles on lcores in different ways: the same result, in order."""
    queues = {"rx-queues": min(2, len(lcores["rx"]))}
    return pair(lcores=lcores, port=queues)


@scenario(short=[{"frames": f} for f in ("headers", "whole")],
          expect=["lost == 0", "flow().received == 4096", "node('gw1').ports[1]['tx_bytes'] == 4096 * 4194 + 64 * 16",
                  "flow().messages == 64"])
def whole_frames(frames):
    """The counters are the same whether frames carry all bytes or headers only."""
    return pair(frames=frames, flow={"messages": 16})


@scenario(short=[{}], expect=["lost == 0", "flow().sent == 200", "flow().received == 200"])
def finite_datagrams():
    """Datagrams of a flow that has an end all go out, also those that are due only when the run is over."""
    return pair(run="1ms", flow={"transport": "datagram", "message": 4096, "messages": 50, "rate": "1G"})


def direct(sink=None, run="5ms", link=None, flow=None, **lab):
    """nic1 - router - nic2, without a tunnel: a single queue between them."""
    net = Net("direct", run, **lab)
    net.node("r1", **{"pass-cycles": 1, "cycles": 0, "cpu": "100G"})
    net.host("nic1", 1, pfc=[3])
    net.host("nic2", 2, pfc=[3], **({"sink": sink} if sink else {}))
    net.link("nic1.eth0", "r1.a", rate="1000G").link("r1.b", "nic2.eth0", **(link or {}))
    net.flow("nic1", "nic2", **(flow or {}))
    return net


@scenario(short=[{"xoff": "256K"}, {"xoff": "0"}],
          expect=["(host('nic2').buffer_overflow == 0) == (host('nic2').pauses_sent > 0)", "host('nic2').goodput_bytes > 1e6",
                  "(host('nic2').pauses_sent > 0) == (host('nic1').pauses_received > 0)",
                  "(lost == 0) == (host('nic1').pauses_received > 0)"])
def host_pfc(xoff):
    """Two NICs on one cable, the receiver slower: with PFC nothing is lost, without it the buffer overflows."""
    net = Net("cable", "5ms")
    net.host("nic1", 1, pfc=[3])
    net.host("nic2", 1, pfc=[3], sink={"drain": "40G", "buffer": "1M", "xoff": xoff, "xon": "128K" if xoff != "0" else "0"})
    net.link("nic1.eth0", "nic2.eth0", km=1)
    net.flow("nic1", "nic2", **{"queue-pairs": 4})
    return net


@scenario(short=[{}], long=[{"at": f"{t}us"} for t in (1, 300, 900)],
          expect=["flow('d1-d2').messages == 64", "flow('d1-d2').failed == 0", "way('d1.eth1').sent > 2000"])
def dual_homed(at="400us"):
    """A dual-homed NIC continues on its other port when one of its links fails."""
    net = Net("dual", "4ms", drain="5s")
    for leaf in (1, 2, 3):
        net.node(f"leaf{leaf}")
    net.host("d1", 1)
    net.host("d2", 2)
    for eth, leaf in enumerate((1, 2)):
        failures = [{"at": at, "detect": "10us"}] if eth == 0 else []
        net.link(f"d1.eth{eth}", f"leaf{leaf}.d1", **({"failures": failures} if failures else {}))
        net.link(f"leaf{leaf}.up", f"leaf3.l{leaf}", km=5)
    net.link("leaf3.d2", "d2.eth0")
    net.flow("d1", "d2", **{"queue-pairs": 4, "rate": "10G", "message": 262144, **FINITE})
    # the failed port's replies arrive through the other leaf: both are gateways of the same subnet
    base = net.config

    def config(name):
        c = base(name)
        if name == "leaf3":
            c["policies"][0]["paths"].append({"name": "other", "segments": ["5f00:0:200::", "5f00:0:e001::"]})
            c["policies"][0]["paths"] = c["policies"][0]["paths"][1:]
        return c
    net.config = config
    return net


@scenario(short=[{}], expect=["flow().failed == 0", "lost == 0", "host('nic1').pauses_received == 0", "flow().goodput_gbps > 7.0",
                              "flow().qps[0]['cnps'] > 0", "flow().qps[0]['ce_marked'] > 0"])
def dcqcn():
    """ECN marks and DCQCN keep the queue of a slower port from overflowing, at 70 % of its rate or more from its cold start on."""
    net = direct(run="100ms", link={"rate": "10G"}, flow={"queue-pairs": 2, "dcqcn": True, "rate": "20G", "message": "256K"})
    net.nodes["r1"]["port"] = {"ecn": {"classes": [3], "min": "20K", "max": "100K"}, "queue-limit": 8192, "buffer-limit": 8192,
                               "descriptors": {"tx": 64}}
    return net


@scenario(short=[{"rate": 10}, {"rate": 100}], long=[{"rate": r} for r in (1, 10, 40, 100, 400)],
          expect=["abs(flow().goodput_gbps / (PARAM['rate'] * 4096 / 4182.0) - 1) < 0.01"], seeds=FEW)
def calibration_rate(rate):
    """A rate-limited link carries its rate, to 1 %: payload 4096 of 4182 bytes on the wire, RETH left aside."""
    return direct(run="20ms", link={"rate": f"{rate}G"}, flow={"transport": "datagram", "message": 4096, "rate": f"{rate}G"})


MD1 = "abs((flow().delay_mean_us - flow().delay_min_us) / (PARAM['load'] / 2 / (1 - PARAM['load']) * 1082 * 8 / 10e3) - 1) < 0.01"


@scenario(short=[{"load": 0.5}], long=[{"load": x} for x in (0.3, 0.5, 0.7)], expect=[MD1, "lost == 0"], seeds=FEW)
def calibration_md1(load):
    """Poisson arrivals at a port of 10 Gb/s wait as long as M/D/1 predicts: load / (2 (1 - load)) service times, to 1 %."""
    # long enough for a standard error of the mean of a third of the tolerance, and less
    return direct(run="3s" if load < 0.6 else "16s", sample="100ms", link={"rate": "10G"},
                  flow={"transport": "datagram", "message": 996, "arrivals": "poisson", "rate": f"{int(load * 10000)}M"})


GBN = "abs(flow().goodput_gbps / 32.18 / ((1 - PARAM['loss']) / (1 - PARAM['loss'] + PARAM['loss'] * 1000 * PARAM['km'] / 100)) - 1) < 0.12"


@scenario(short=[{"loss": 0.001, "km": 100}], long=[{"loss": p, "km": k} for p in (0.0001, 0.001, 0.003) for k in (20, 100, 300)],
          expect=[GBN, "PARAM['loss'] != 0.001 or PARAM['km'] != 100 or 0.45 < flow().goodput_gbps / 32.18 < 0.55"], seeds=FEW)
def calibration_go_back_n(loss, km):
    """0.1 % loss costs go-back-N half its throughput where a round trip holds 1000 packets (100 km at 33 Gb/s), and what
    the formula (1 - p) / (1 - p + p W) predicts elsewhere."""
    net = Net("go-back-n", "2s")
    net.host("nic1", 1)
    net.host("nic2", 1)
    net.link("nic1.eth0", "nic2.eth0", km=km, loss=loss)
    # (4096 + 82) bytes and 24 of overhead; 1000 of them in 1 ms
    # a lost NAK costs a timeout: not much longer than the round trip, or it would be that which is measured
    net.flow("nic1", "nic2", **{"rate": "33616M", "message": "4M", "timeout": 9 if km <= 100 else 11, "retries": 100000})
    return net
