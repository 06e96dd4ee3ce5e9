# SPDX-License-Identifier: BSD-3-Clause
"""Data that waits for credit, hop by hop (docs/credit.md): a chain of two gateways and a node between them. Its links have no
PFC; the data centres have.

    a -- gw1 ==== t1 ==== gw2 -- b
"""
from net import Net, loses
from cpu import HZ
from rsvp import know, loopback
from suite import scenario

POOL, BUFFER = 16384, 4096  # units of 2 KB
SOURCES = "fd00:1::/64"


def take_part(net, name, config, **keys):
    config["credit"] = {"mode": "ext", "integrity": "off", "pool": POOL, "buffer": BUFFER, "paths": 64, "idle": 50,
                        "neighbors": [{"address": loopback(net, far.split(".")[0])} for _, far in net._neighbours(name)],
                        "data-of": [{"sources": SOURCES}], **keys}
    config["memory"]["buffers"] += config["credit"]["pool"] + config["credit"]["paths"]


def without_pfc(config):
    for port in config["ports"]:
        if port["side"] == "wan":
            port.pop("pfc", None)


def begins(net, config, to):
    for policy in config["policies"]:
        policy["source-prefix"] = SOURCES
    config["credit"]["sessions"] = [{"name": "s", "policy": f"to-{to}", "to": loopback(net, to), "class": 3}]


def chain(name, run, receiver="5G", rate="10G", delay="500us", nodes=("gw1", "t1", "gw2"), flow=None, lossless=True, **keys):
    net = Net(name, run, **loses(not lossless))
    for n in nodes:
        net.node(n, pfc=[3])
    net.host("a", 1, pfc=[3])
    net.host("b", 2, pfc=[3])
    net.link("a.eth0", f"{nodes[0]}.dc", rate)
    for left, right in zip(nodes, nodes[1:]):
        net.link(f"{left}.{right}", f"{right}.{left}", rate, delay=delay)
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


PACKET, CHARGED = 4254, 6144  # bytes on the wire and charged bytes of RoCE of 4,096 bytes
UTILISED = "way('gw1.t1').sent_bytes / 4230 * 4254 * 8 / {bits}"


def window(rate, rtt):
    """Units of docs/credit.md 2.9: rate times loop, four batches, two packets. rate in bit/s, rtt in s."""
    charged = rate / 8 * CHARGED / PACKET
    base = charged * (rtt + 60e-6 + PACKET * 8 / rate) + 2 * CHARGED
    return int(max(base * 32 / 31, base + 4 * max(65536, charged / 1e5)) / 2048) + 1


def full(name, rate="10G", rtt=1e-3, seconds=1.0, fault=None, forth=0.0, back=0.0, **keys):
    """More is offered than the links between the gateways can carry, for `seconds`, in the window of the rule. forth, back: share
    of frames lost on the first link in the direction of the data, and in that of its messages."""
    bits = float(rate[:-1]) * 1e9
    units = window(bits, rtt)
    net = chain(name, f"{int(400 + seconds * 1000)}ms", receiver=rate, rate=rate, delay=f"{rtt / 2 * 1e6:.0f}us", buffer=units, pool=4 * units,
                flow={"transport": "datagram", "rate": f"{int(bits * 0.3 / 1e6)}M", "message": 4096}, lossless=not forth, **keys)
    if bits * rtt > 1e9:
        net.lab["memory"] = "8G"
    if forth or back:
        net.links[1].update({"loss": forth or back, "faulty": "a-to-b" if forth else "b-to-a"})
    return asked(net, (390, "gw1", "show rsvp sessions"), (int(395 + seconds * 1000), "gw1", "show credit s"),
                 (int(395 + seconds * 1000), "t1", "show credit"))


@scenario(short=[{"rate": "10G", "rtt": 1e-3}, {"rate": "10G", "rtt": 1e-2}],
          long=[{"rate": rate, "rtt": rtt} for rate in ("10G", "100G") for rtt in (1e-3, 1e-2, 5e-2)], seeds=0.1,
          expect=lambda rate, rtt: ["lost == 0", UTILISED.format(bits=int(rate[:-1]) * 1e9 * (0.3 if rate == "10G" else 0.1)) + " > 0.99"])
def credit_utilisation(rate, rtt):
    """The window of the rule keeps the link busy, whatever rate and distance."""
    return full("credit-utilisation", rate, rtt, 0.3 if rate == "10G" else 0.1)


@scenario(short=[{"rate": "40G"}], long=[{"rate": "40G"}, {"rate": "100G"}], seeds=0.1, expect=["lost == 0", "missed('t1') == 0", "reason('t1', 'rx_overload') == 0",
                                             "0.5 < way('t1.gw2').sent_bytes * 8 / rate('t1.gw2') / 0.3 < 0.66"])
def credit_slow_core(rate):
    """The core of the node on the way can do 60 % of what the link brings in a burst: what has credit waits behind the wire, not in
    the device, and nothing is lost."""
    net = full("credit-slow-core", rate, 1e-3, 0.3)
    net.nodes["t1"]["lab"]["cycles"] = int(HZ / (2 * 0.6 * float(rate[:-1]) * 1e9 / 8 / PACKET))
    return net


@scenario(short=[{"loss": 1e-3}], long=[{"loss": x} for x in (1e-4, 1e-3, 1e-2)], seeds=0.1,
          expect=["reason('t1', 'queue_full') + reason('gw2', 'queue_full') == 0", UTILISED.format(bits=10e9 * 0.5) + " > 0.999"])
def credit_message_loss(loss):
    """Updates are lost: the next one says all that they did."""
    return full("credit-message-loss", seconds=0.5, back=loss)


@scenario(short=[{"loss": 1e-3}, {"loss": 1e-4}], long=[{"loss": x} for x in (1e-6, 1e-5, 1e-4, 1e-3)], seeds=0.1, expect=lambda loss: [
    UTILISED.format(bits=10e9 * 2) + f" > {0.97 if loss > 1e-4 else 0.99}",
    f"cell(2, 'healed') >= {(0.8 if loss > 5e-4 else 0.5) if loss > 2e-5 else 0} * 3 * {loss} * cell(1, 'packets')", "cell(1, 'leaked') == 0"])
def credit_data_loss(loss):
    """Data is lost on its way, in the window of the rule, long enough for the window to be lost several times over: fences find
    what is missing, and the rate stays. test/lab/mutants.py has the control: without fences it does not."""
    return full("credit-data-loss", seconds=2.0, forth=loss)


SILENT = {"at": "700ms", "for": "1s", "detect": "never", "direction": "b-to-a"}


@scenario(short=[{}], expect=["reason('gw2', 'queue_full') + reason('t1', 'queue_full') == 0", "cell(1, 'uncredited') == 0",
                              UTILISED.format(bits=10e9) + " > 0.93", UTILISED.format(bits=10e9) + " < 1.03"])
def credit_silence():
    """No message comes back for a second: credit ends before its lease does, nothing is sent on trust, and data flows again as soon
    as the next hop is heard."""
    net = full("credit-silence", seconds=2.0, wait=5000)
    net.links[1]["failures"] = [SILENT]
    return net


@scenario(short=[{}, {"known": False}], expect=lambda known=True: [
    "flow().messages > 1000", "node('t1').reasons.get('credit_ended', 0) == 0", "' committed ' in command(1).output",
    f"reason('gw2', 'queue_full') {'== 0' if known else '> 100'}", "reason('t1', 'queue_full') == 0",
    f"reason('t1', 'credit_no_session') {'> 50' if known else '== 0'}"])
def credit_restart(known=True):
    """The node on the way dies for 100 ms under load, and comes back without state: the session has credit again, and nothing
    overruns the next node. The gateway soon sends without credit; that ends at the first node, if its `data-of` says what
    belongs to sessions. The control does not say."""
    net = chain("credit-restart", "4s", flow={"timeout": 16}, lossless=False, refresh=1000, rapid=100, wait=50, **({} if known else {"data-of": []}))
    asked(net, (390, "gw1", "show rsvp sessions"), (3900, "gw1", "show rsvp sessions"))
    net.extra["schedule"].append({"at": "700ms", "node": "t1", "restart": "100ms"})
    return net
