# SPDX-License-Identifier: BSD-3-Clause
"""The promise of lossless classes, `lab: {lossless: ...}`: what breaks it, what does not, and that the report tells which is which."""
from net import Net, loses
from suite import scenario


def chain(sink=None, link=None, sends=(), **lab):
    """src - gw1 - dst, PFC for priority 3 on both ports."""
    net = Net("promise", "3ms", **{"drain": "100ms", **lab})
    net.node("gw1", memory={"buffers": 65536}, pfc=[3])
    net.host("src", 1, pfc=[3])
    net.host("dst", 2, pfc=[3], **({"sink": sink} if sink else {}), **({"send": list(sends)} if sends else {}))
    net.link("src.eth0", "gw1.in").link("gw1.out", "dst.eth0", **(link or {}))
    net.flow("src", "dst", **{"queue-pairs": 2, "rate": "30G", "timeout": 0})
    return net


# no carrier for good: in the end the packets have to go
DOWN = {"failures": [{"at": "1ms"}]}
# PFC frames for priority 3 that never stop: the run ends before they do
XOFF = "0180c2000001 020000480b00 8808 0101 0008 000000000000 ffff"


@scenario(short=[{}], violates="lossless")
def lossless_port_down():
    """A port stays down: its lossless packets are dropped, and the run fails."""
    return chain(link=DOWN, drain="3s")


@scenario(short=[{}], expect=["report['lossless']['required'] == False", "report['lossless']['lost_broken'] > 0", "'violation' not in report",
                              "report['lossless']['lost_broken'] == reason('gw1', 'port_down')",
                              "lossless('gw1.out', 'port_down').packets == reason('gw1', 'port_down')"])
def lossless_off():
    """The same without a promise: losses are counted and reported, and the run does not fail."""
    return chain(link=DOWN, drain="3s", **loses())


@scenario(short=[{}], violates="lossless")
def lossless_pause_remains():
    """Somebody pauses a port, and does not stop: the gate is closed at the end."""
    return chain(sends=[{"at": "2ms", "frame": XOFF, "every": "100us", "repeat": 100000}], drain="20ms")


@scenario(short=[{}], violates="lossless")
def lossless_receiver():
    """A host whose buffer takes no more than 16 KB after its own XOFF: it loses packets, though it has paused its sender."""
    return chain(sink={"drain": "5G", "buffer": "80K", "xoff": "64K", "xon": "32K"})


@scenario(short=[{}], expect=["report['lossless']['required']", "report['lossless']['priorities'] == [3]", "report['lossless']['lost'] == 0",
                              "report['lossless']['lossy_lost'] == lost > 0", "report['lossless']['lost_of_no_flow'] == 0",
                              "flow('flood').sent - flow('flood').received == lost"])
def lossless_and_lossy():
    """Best effort overflows the same port: its losses break no promise."""
    net = chain()
    net.host("flood", 3)
    net.link("flood.eth0", "gw1.flood")
    return net.flow("flood", "dst", name="flood", transport="datagram", message=4096, rate="90G", dscp=0, priority=0)


@scenario(short=[{}], expect=["report['lossless']['lost_broken'] == 0", "report['lossless']['lost_excused'] == report['lossless']['lost'] > 0",
                              "all(x['cause'] == 'restart' for x in report['lossless']['losses'])"])
def lossless_restart():
    """Packets in a node when it died, or that arrived while it was down, are counted apart: nothing can save them."""
    net = chain()
    net.extra["schedule"] = [{"at": "1ms", "node": "gw1", "restart": "100us"}]
    return net
