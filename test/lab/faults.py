# SPDX-License-Identifier: BSD-3-Clause
"""Faults of links and nodes that the lab must be able to make: in one direction, of control traffic alone, and just after a pause."""
from net import loses
from promise import chain
from scenarios import pair
from suite import scenario
from wan import Wan

SLOW = {"drain": "20G", "buffer": "4M", "xoff": "500K", "xon": "250K"}


@scenario(short=[{"remote_fault": True}, {"remote_fault": False}],
          expect=lambda remote_fault: ["way('gw2.wan0').cut == 0", "flow().messages == 64",
                                       "way('gw1.wan0').cut < 100" if remote_fault else "way('gw1.wan0').cut > 400"])
def one_direction(remote_fault):
    """A link fails in one direction. Where the receiver's fault signal reaches the sender, that stops; else it goes on, and all it
    sends is lost, because its own port is up."""
    failure = {"at": "1ms", "for": "500us", "direction": "a-to-b", "remote-fault": remote_fault}
    return pair(wan={"failures": [failure]}, run="4ms", drain="5s", flow={"messages": 16, "timeout": 8, "retries": 1000})


@scenario(short=[{"traffic": "control"}, {"traffic": "data"}],
          expect=lambda traffic: ["way('pe2.wan').cut > 0", "into('pe2.wan').cut == 0",
                                  "way('pe2.wan').cut == report['lossless']['lost_of_no_flow'] == way('pe2.wan').pfc_lost" if traffic == "control"
                                  else "way('pe2.wan').pfc_lost == 0 and report['lossless']['lost_of_no_flow'] == 0"])
def outage_of(traffic):
    """The way back loses PFC frames only, or everything else, for 5 ms while a receiver is stopped."""
    return Wan("outage", "relay", rate=25, km=50, stall=("2ms", "12ms"), run="30ms", sample="1ms", **loses(),
               wan={"failures": [{"at": "6ms" if traffic == "control" else "1ms", "for": "5ms", "direction": "b-to-a", "traffic": traffic}]}).net


def first(kind, place, port=None):
    """The begin of the first interval of a track, in ns."""
    return f"[t['intervals'][0][0] for t in report['tracks']['tracks'] if (t['kind'], t['place'], t.get('port')) == ('{kind}', '{place}', {port!r})][0]"


TRACKS = {("xoff", "dst.eth0"): ("xoff", "dst"), ("paused", "gw1.out"): ("gate", "gw1", "out"), ("xoff", "gw1.in"): ("xoff", "gw1", "in"),
          ("paused", "src.eth0"): ("gate", "src", "eth0")}


def after_expect(after, port):
    late = [f"{first('link down', 'gw1.out > dst.eth0')} == {first(*TRACKS[after, port])} + 20000"] if (after, port) in TRACKS else []
    return ["report['untriggered'] == []", "node('gw1').restarts == 1", *late]


@scenario(short=[{"after": a, "port": p} for a, p in [*TRACKS, ("xon", "gw1.in"), ("resumed", "src.eth0")]],
          expect=after_expect)
def after_a_pause(after, port):
    """A failure and a restart at a time relative to a pause, at each of the places that it goes to and comes from."""
    net = chain(sink=SLOW, link={"failures": [{"at": {"after": after, "port": port, "delay": "20us"}, "for": "30us", "detect": "never"}]},
                **loses())
    net.extra["schedule"] = [{"at": {"after": after, "port": port, "delay": "80us"}, "node": "gw1", "restart": "10us"}]
    return net


@scenario(short=[{}], expect=["[x['port'] for x in report['untriggered']] == ['dst.eth0']", "way('gw1.out').cut == 0"])
def after_no_pause():
    """The pause does not come, and neither does the failure; the report says so."""
    return chain(link={"failures": [{"at": {"after": "xoff", "port": "dst.eth0"}, "for": "30us"}]})
