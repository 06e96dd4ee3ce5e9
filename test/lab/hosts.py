# SPDX-License-Identifier: BSD-3-Clause
"""Hosts behave as NICs do: replies obey pauses, a pause takes its time, DCQCN, and retransmission after a loss."""
from net import Net, loses
from scenarios import DONE, FAULTS, direct, pair
from suite import scenario

XOFF = "0180c2000001 020000480a00 8808 0101 0008 000000000000 ffff"  # priority 3, of the first host


def cable(sink=None, sends=(), host=None, link=None, flow=None, run="3ms", **lab):
    net = Net("cable", run, **lab)
    net.host("nic1", 1, pfc=[3], **(host or {}), **({"send": list(sends)} if sends else {}))
    net.host("nic2", 1, pfc=[3], **({"sink": sink} if sink else {}))
    net.link("nic1.eth0", "nic2.eth0", **(link or {"delay": "1us"}))
    return net.flow("nic1", "nic2", **{"timeout": 0, **(flow or {})})


@scenario(short=[{"priority": 3}, {"priority": 4}],
          expect=lambda priority: ["host('nic2').paused_ns[3] > 0.9e6", "lost == 0",
                                   "flow().goodput_gbps < 65" if priority == 3 else "flow().goodput_gbps > 75"])
def acks_obey_pause(priority):
    """The receiver of data is paused in a priority for a third of the time: its ACKs of that priority wait, and so does a sender
    with a small window; those of another priority do not."""
    return cable(sends=[{"at": "1ms", "frame": XOFF, "every": "100us", "repeat": 8}],
                 flow={"priority": priority, "dscp": 8 * priority, "window": "256K", "message": "64K"})


@scenario(short=[{"priority": 6}, {"priority": 3}],
          expect=["any(x['reply'] and x['priority'] == PARAM['priority'] and x['reason'] == 'lost on the link' for x in "
                  "report['lossless']['losses'])",
                  "PARAM['priority'] == 6 or not any(x['priority'] == 6 for x in report['lossless']['losses'])"])
def cnp_has_a_class(priority):
    """CNPs have a priority of their own, by default not that of the flow."""
    net = marked(flow={"cnp-priority": priority, "cnp-dscp": 8 * priority})
    net.links[1].update(loss="20%", faulty="b-to-a")
    return net


@scenario(short=[{"dscp": 48}, {"dscp": 26}], long=[{"dscp": d} for d in (8, 26, 40, 48)],
          expect=lambda dscp: ["flow().qps[0]['ce_marked'] > 10",
                               "flow().qps[0]['cnps'] == 0" if dscp == 48 else "flow().qps[0]['cnps'] > 0"])
def cnp_has_a_dscp(dscp):
    """A CNP has the DSCP of `cnp-dscp` on the wire. The sender of the data has the router paused in class 6, that of DSCP 48: CNPs of
    this DSCP wait in the router, CNPs of another one reach the sender."""
    net = marked(flow={"cnp-priority": 6, "cnp-dscp": dscp}, run="10ms", drain="1ms", **loses())
    net.hosts["nic1"]["keys"]["send"] = [{"at": "0us", "frame": XOFF.replace("0008 000000000000 ffff", "0040 000000000000 000000000000 ffff"),
                                          "every": "10us", "repeat": 1200}]

    def obeys(config):
        config["memory"]["buffers"] = 131072
        port = next(p for p in config["ports"] if p["name"] == "a")
        port.update(speed="1000G", pfc={"priorities": [6], "peers": [net._mac("nic1.eth0")], "watchdog": {"action": "alert"}})
    return net.tune("r1", obeys)


@scenario(short=[{"response": r, "pipeline": p} for r, p in (("standard", "0"), ("20us", "0"), ("standard", "256K"))],
          expect=lambda response, pipeline: ["host('nic2').pauses_sent > 0", "host('nic2').buffer_overflow == 0" if
                                             (response, pipeline) == ("standard", "0") else "host('nic2').buffer_overflow > 0"])
def pause_response(response, pipeline):
    """The receiver has room for a round trip and for what 802.1Q allows a sender to send after XOFF, and 64 KB more. A sender that
    responds later, or has more in its pipeline, fills it."""
    return cable(host={"response": response, "pipeline": pipeline},
                 sink={"drain": "10G", "buffer": (1 << 20) + 2 * 12500 + 25600 + 65536, "xoff": 1 << 20, "xon": "128K"}, **loses())


def marked(flow, run="30ms", **lab):
    net = direct(run=run, **lab, link={"rate": "10G"}, flow={"queue-pairs": 2, "dcqcn": True, "rate": "20G", "message": "256K", **flow})
    net.nodes["r1"]["port"] = {"ecn": {"classes": [3], "min": "20K", "max": "100K"}, "queue-limit": 8192, "buffer-limit": 8192,
                               "descriptors": {"tx": 64}}
    return net


@scenario(short=[{}], expect=["flow().failed == 0", "lost == 0", "flow().qps[0]['cnps'] > 3 * base.flow().qps[0]['cnps']"],
          against={"profile": "paper"})
def dcqcn_of_nics(profile="nic"):
    """The constants of today's NICs: many more CNPs than with those of the paper, and nothing overflows."""
    return marked({"dcqcn-profile": profile})


LOSSY = {"rate": "30G", "message": "1M", "timeout": 9, "retries": 100000}


@scenario(short=[{}], against={"slow": False},
          expect=["flow().retransmitted > 0", "flow().goodput_gbps < 0.8 * base.flow().goodput_gbps", "flow().failed == 0"])
def slow_restart(slow=True):
    """A sender that has to retransmit slows down, as NICs do: loss costs more than the retransmissions."""
    return cable(link={"rate": "25G", "km": 1, "loss": "1%"}, run="50ms", flow={**LOSSY, "rate": "0", "slow-restart": slow})


@scenario(short=[{"loss": "0.1%"}], long=[{"loss": f"{p}%"} for p in (0.01, 0.1, 1)], against={"repeat": "go-back-n"},
          expect=["flow().goodput_gbps > 0.95 * 29.3", "flow().failed == 0", "flow().retransmitted < 2 * way('nic1.eth0').lost",
                  "flow().retransmitted > 0", "PARAM['loss'] == '0.01%' or base.flow().goodput_gbps < 0.8 * flow().goodput_gbps"])
def selective_repeat(loss, repeat="selective"):
    """Only lost packets are retransmitted: where go-back-N loses half of its throughput, a flow keeps its rate."""
    return cable(link={"km": 100, "loss": loss}, run="100ms", flow={**LOSSY, "repeat": repeat})


@scenario(short=[{"fault": f} for f in FAULTS], expect=DONE)
def selective_faults(fault):
    """Selective repeat brings every message through, whatever a link does to its frames."""
    return pair(wan=fault, run="4ms", drain="5s", flow={"messages": 16, "timeout": 8, "retries": 1000, "rate": "10G", "repeat": "selective"})
