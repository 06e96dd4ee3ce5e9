# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios of the lab: what is built, what is varied, what must be true at the end.

Each has a builder, the parameters of the short form (scripts/test) and those of the long form (scripts/campaign), and
assertions: expressions over the report (see Report in run.py). Besides, every run checks all invariants of
lib/lab/lab_invariant.c, and the same seed must give the same report.
"""
import collections

from net import Net

Scenario = collections.namedtuple("Scenario", "name build short long expect")
SCENARIOS = []


def scenario(short, long=None, expect=()):
    """Registers the function below as a scenario of its name; short and long: lists of its keyword arguments."""
    def add(build):
        SCENARIOS.append(Scenario(build.__name__, build, short, long or short, list(expect)))
        return build
    return add


FAULTS = [{"loss": "1%"}, {"corruption": "1%"}, {"corruption": "1%", "fcs": False}, {"duplication": "2%"},
          {"reordering": "2%", "reorder-delay": "20us"}, {"jitter": "30us"},
          {"loss": "0.5%", "corruption": "0.5%", "duplication": "1%", "reordering": "1%", "jitter": "10us"}]


def pair(run="3ms", wan=None, node=None, port=None, lcores=None, memory=None, flow=None, **lab):
    """nic1 - gw1 - (WAN) - gw2 - nic2"""
    net = Net("pair", run, **lab)
    for i in (1, 2):
        net.node(f"gw{i}", lcores=lcores, memory=memory, port=port, **(node or {}))
        net.host(f"nic{i}", i)
    net.link("nic1.eth0", "gw1.dc0").link("gw1.wan0", "gw2.wan0", **{"km": 10, **(wan or {})})
    net.link("gw2.dc0", "nic2.eth0")
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


@scenario(short=[{}], expect=["0.3 < share('s1.l1', 's2.l1') < 0.7", "lost == 0"])
def ecmp_spread():
    """Two spines, equal cost: 64 queue pairs use both, and no flow is reordered."""
    net = Net("ecmp", "2ms")
    for n in ("gw1", "s1", "s2", "gw2"):
        net.node(n)
    net.host("nic1", 1)
    net.host("nic2", 2)
    net.link("nic1.eth0", "gw1.dc0")
    for s in ("s1", "s2"):
        net.link(f"gw1.{s}", f"{s}.l1", km=10).link(f"{s}.l2", f"gw2.{s}", km=10)
    net.link("gw2.dc0", "nic2.eth0")
    net.flow("nic1", "nic2", **{"queue-pairs": 64, "rate": "1G"})
    return net
