# SPDX-License-Identifier: BSD-3-Clause
"""Many sessions and what they share (docs/credit.md 2.12, 2.14): the pool of the next hop, and the buffer of the port by which their
data comes.

    a -- gw1 ==== t1 ==== gw2 -- b0, b1 ...
"""
from credit import SOURCES, asked, take_part, window, without_pfc
from net import Net, loses
from rsvp import know, loopback
from suite import scenario

CLASSES = (1, 2, 3, 4)
FIRST = 300  # ms


def one_by_one(sessions, rate, rtt, seconds, lossless=True, **keys):
    """A session to each receiver in each class, and a pool of three of their windows at each node. They send one message each, of
    `seconds` at that rate, one after the other; the one before has been over for as long as a message takes."""
    net = Net("credit-busy-in-turn", f"{int(FIRST + 2 * seconds * 1e3 * sessions + 100)}ms", **loses(not lossless))
    bits, receivers, nodes = float(rate[:-1]) * 1e9, -(-sessions // len(CLASSES)), ("gw1", "t1", "gw2")
    units = window(bits, rtt)
    for n in nodes:
        net.node(n, pfc=list(CLASSES))
    net.host("a", 1, pfc=list(CLASSES))
    net.link("a.eth0", "gw1.dc", rate)
    for left, right in zip(nodes, nodes[1:]):
        net.link(f"{left}.{right}", f"{right}.{left}", rate, delay=f"{rtt / 2 * 1e6:.0f}us")
    net.path("gw1", "gw2", ["t1"])
    net.path("gw2", "gw1", ["t1"])
    for i in range(receivers):
        net.host(f"b{i}", 2 + i)
        net.link(f"gw2.dc{i}", f"b{i}.eth0", rate)
    for i in range(sessions):
        priority = CLASSES[i % len(CLASSES)]
        net.flow("a", f"b{i // len(CLASSES)}", name=f"s{i}", dscp=8 * priority, priority=priority, message=int(bits / 8 * seconds), messages=1,
                 start=f"{FIRST + 2e3 * seconds * i:.1f}ms", timeout=17)

    def begin(c):
        base = {**c["policies"][0], "source-prefix": SOURCES}
        c["policies"] = [{**base, "name": f"to-b{i}"} for i in range(receivers)]
        for i in range(receivers):
            next(r for r in c["vrfs"][0]["routes"] if r["prefix"] == f"10.{2 + i}.0.0/24")["policy"] = f"to-b{i}"
        c["credit"]["sessions"] = [{"name": f"s{i}", "policy": f"to-b{i // len(CLASSES)}", "to": loopback(net, "gw2"),
                                    "class": CLASSES[i % len(CLASSES)]} for i in range(sessions)]

    for n in nodes:
        more = {"share": True, "idle": int(2e3 * rtt), "pool": 3 * units, "buffer": units, "paths": 4 * sessions, **keys,
                **({"accept": [{"sources": SOURCES}]} if n == "gw2" else {})}
        net.tune(n, without_pfc)
        net.tune(n, lambda c, n=n: know(net, n, c))
        net.tune(n, lambda c, n=n, more=more: take_part(net, n, c, **more))
        net.tune(n, lambda c: c["memory"].update(buffers=131072 + 3 * units))
    net.tune("gw2", lambda c: [p.pop("pfc", None) for p in c["ports"]])
    net.tune("gw1", begin)
    end = int(FIRST + 2e3 * seconds * sessions) + 90
    return asked(net, (end, "gw1", "show credit"), (end, "t1", "show credit pools"))


TIME = "max(f['message_time_us'][-1] for f in report['flows'])"


@scenario(short=[{}, {"off": True}], long=[{}, {"sessions": 100}, {"sessions": 100, "rate": "100G", "rtt": 1e-2}, {"off": True}], seeds=0.1,
          expect=lambda sessions=20, rate="10G", rtt=1e-3, off=False: ["lost == 0"] + (
              [f"{TIME} > {1e6 * 50 * rtt}"] if off else
              # the message, both links there and back, and less than two such round trips until the window is open
              ["min(f['messages'] for f in report['flows']) == 1", f"{TIME} < {1e6 * (1.03 * 3.5 + 2 + 1.8 * 2) * rtt}"]))
def credit_busy_in_turn(sessions=20, rate="10G", rtt=1e-3, off=False):
    """Many sessions and a pool of three windows, busy one after the other: each has its window two round trips after it begins, because
    those that are idle give theirs back. The control: they keep it."""
    return one_by_one(sessions, rate, rtt, 3.5 * rtt, **({"return-after": "never"} if off else {}))


SESSIONS = 16
OFFERED = 0.5  # Gb/s of each


def behind_one_port(overrun, alpha):
    """Sixteen sessions of one class that come by one port. The receiver of the first one takes nothing from the 50th millisecond on."""
    net = Net("credit-stalled-session", f"{FIRST + 250}ms", **loses())
    units, nodes = window(10e9, 1e-3), ("gw1", "gw2")
    for n in nodes:
        net.node(n, pfc=[3])
    net.host("a", 1, pfc=[3])
    net.link("a.eth0", "gw1.dc", "10G")
    net.link("gw1.gw2", "gw2.gw1", "10G", delay="500us")
    for i in range(SESSIONS):
        stalls = {"pfc": [3], "sink": {"drain": "10G", "xoff": "64K", "xon": "32K", "stalls": [{"at": f"{FIRST + 50}ms", "for": "10s"}]}}
        net.host(f"b{i}", 2 + i, **({} if i else stalls))
        net.link(f"gw2.dc{i}", f"b{i}.eth0", "10G")
        net.flow("a", f"b{i}", name=f"s{i}", transport="datagram", message=4096, rate=f"{int(OFFERED * 1000)}M", start=f"{FIRST}ms")

    def begin(c):
        base = {**c["policies"][0], "source-prefix": SOURCES}
        c["policies"] = [{**base, "name": f"to-b{i}"} for i in range(SESSIONS)]
        for i in range(SESSIONS):
            next(r for r in c["vrfs"][0]["routes"] if r["prefix"] == f"10.{2 + i}.0.0/24")["policy"] = f"to-b{i}"
        c["credit"]["sessions"] = [{"name": f"s{i}", "policy": f"to-b{i}", "to": loopback(net, "gw2"), "class": 3} for i in range(SESSIONS)]
        c["credit"].update(overrun=overrun, alpha=alpha)

    for n in nodes:
        more = {"pool": SESSIONS * units, "buffer": units, "paths": 64, **({"accept": [{"sources": SOURCES}]} if n == "gw2" else {})}
        net.tune(n, without_pfc)
        net.tune(n, lambda c, n=n: know(net, n, c))
        net.tune(n, lambda c, n=n, more=more: take_part(net, n, c, **more))
        net.tune(n, lambda c: c["memory"].update(buffers=131072 + 3 * units))
    net.tune("gw2", lambda c: [p.pop("pfc", None) for p in c["ports"] if p["name"] != "dc0"])
    net.tune("gw1", begin)
    return asked(net, (FIRST - 10, "gw1", "show credit"), (FIRST + 240, "gw1", "show credit"), (FIRST + 240, "gw1", "show credit s0"))


OTHERS = "min(f['received'] for f in report['flows'][1:])"
WHOLE = OFFERED * 1e9 * 0.25 / 8 / 4178  # packets of a flow


@scenario(short=[{}, {"overrun": "pause"}], expect=lambda overrun="drop": ["reason('gw1', 'headroom_exceeded') == 0"] + (
    ["reason('gw1', 'session_overrun') > 1000", f"{OTHERS} > {0.99 * WHOLE}", "lost == reason('gw1', 'session_overrun')"] if overrun == "drop" else
    ["lost == 0", f"{OTHERS} < {0.5 * WHOLE}"]))
def credit_stalled_session(overrun="drop"):
    """One of sixteen sessions behind one port of a data centre stands still. Beyond twice its share of the buffer its packets are dropped,
    and the others lose nothing. The control: it fills the buffer, and the pause stops all of them."""
    return behind_one_port(overrun, 1)
