# SPDX-License-Identifier: BSD-3-Clause
"""Data that waits for credit, hop by hop (docs/credit.md): a chain of two gateways and a node between them. Its links have no
PFC; the data centres have.

    a -- gw1 ==== t1 ==== gw2 -- b
"""
from net import Net, loses
from rsvp import know, loopback
from suite import scenario

POOL, BUFFER = 16384, 4096  # units of 2 KB
SOURCES = "fd00:1::/64"


def take_part(net, name, config, **keys):
    config["credit"] = {"mode": "ext", "data": "gated", "integrity": "off", "pool": POOL, "buffer": BUFFER, "idle": 50,
                        "neighbors": [{"address": loopback(net, far.split(".")[0])} for _, far in net._neighbours(name)], **keys}
    config["memory"]["buffers"] += POOL


def without_pfc(config):
    for port in config["ports"]:
        if port["side"] == "wan":
            port.pop("pfc", None)


def begins(net, config, to):
    for policy in config["policies"]:
        policy["source-prefix"] = SOURCES
    config["credit"]["sessions"] = [{"name": "s", "policy": f"to-{to}", "to": loopback(net, to), "class": 3}]


def chain(name, run, receiver="5G", delay="500us", nodes=("gw1", "t1", "gw2"), flow=None, lossless=True, **keys):
    net = Net(name, run, **loses(not lossless))
    for n in nodes:
        net.node(n, pfc=[3])
    net.host("a", 1, pfc=[3])
    net.host("b", 2, pfc=[3])
    net.link("a.eth0", f"{nodes[0]}.dc", "10G")
    for left, right in zip(nodes, nodes[1:]):
        net.link(f"{left}.{right}", f"{right}.{left}", "10G", delay=delay)
    net.link(f"{nodes[-1]}.dc", "b.eth0", receiver)
    net.path(nodes[0], nodes[-1], list(nodes[1:-1]))
    net.path(nodes[-1], nodes[0], list(reversed(nodes[1:-1])))
    net.flow("a", "b", **{"queue-pairs": 4, "start": "400ms", **(flow or {})})
    for n in nodes:
        more = {**keys, **({"accept": [{"sources": SOURCES}]} if n == nodes[-1] else {})}
        net.tune(n, without_pfc)
        net.tune(n, lambda c, n=n: know(net, n, c))
        net.tune(n, lambda c, n=n, more=more: take_part(net, n, c, **more))
    net.tune(nodes[0], lambda c: begins(net, c, nodes[-1]))
    return net


def asked(net, *rows):
    net.extra["schedule"] = [{"at": f"{at}ms", "node": node, "command": what} for at, node, what in rows]
    return net


@scenario(short=[{}], expect=["lost == 0", "flow().retransmitted == 0", "way('a.eth0').pfc == 0", "way('gw1.dc').pfc > 100",
                              "way('gw1.t1').pfc + way('t1.gw1').pfc + way('gw2.t1').pfc == 0", "flow().goodput_gbps > 4.5"])
def credit_slow_receiver():
    """A receiver of half the rate: what it does not take waits hop by hop, back to the source's gateway, which pauses the source.
    Nothing is lost, although no link between the nodes has PFC."""
    return asked(chain("credit-slow", "600ms"), (390, "gw1", "show rsvp sessions"))


@scenario(name="credit_without", short=[{}], expect=["lost > 1000"])
def credit_without():
    """The control: the same network, whose sessions are signalled and whose data does not wait."""
    net = chain("credit-without", "600ms", data="free", lossless=False)
    return asked(net, (390, "gw1", "show rsvp sessions"))


@scenario(short=[{"loss": 1e-3}, {"loss": 1e-4}], long=[{"loss": x} for x in (1e-6, 1e-5, 1e-4, 1e-3)], expect=lambda loss: [
    "way('gw1.t1').sent_bytes > 0.95 * 10e9 / 8 * 0.6", "way('t1.gw2').sent_bytes > 0.95 * 10e9 / 8 * 0.6"])
def credit_data_loss(loss):
    """Data is lost on every link, in a window of little more than the loop: fences find what is missing, and the window does not
    shrink."""
    net = chain("credit-loss", "1s", receiver="10G", buffer=1536, flow={"transport": "datagram", "rate": "2400M", "message": 4096}, lossless=False)
    for link in net.links[1:-1]:
        link["loss"] = loss
    return asked(net, (390, "gw1", "show rsvp sessions"))


@scenario(short=[{}], expect=["flow().messages > 1000", "node('t1').reasons.get('credit_ended', 0) == 0",
                              "reason('gw2', 'queue_full') == 0", "reason('t1', 'queue_full') == 0", "' committed ' in command(1).output"])
def credit_restart():
    """The node on the way dies for 100 ms under load, and comes back without state: the session has credit again, and nothing
    overruns the next node."""
    net = chain("credit-restart", "4s", flow={"timeout": 16}, lossless=False, refresh=1000, rapid=100)
    asked(net, (390, "gw1", "show rsvp sessions"), (3900, "gw1", "show rsvp sessions"))
    net.extra["schedule"].append({"at": "700ms", "node": "t1", "restart": "100ms"})
    return net
