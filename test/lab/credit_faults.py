# SPDX-License-Identifier: BSD-3-Clause
"""Credit of data (docs/credit.md 2.13) over links that double, reorder, lose and cut, next to PFC, and with several sessions of one
gateway. lib/lab/lab_credit.c checks after each pass that nobody promises, sends or holds more than there is.

    a -- gw1 ==== t1 ==== gw2 -- b
"""
import random

from credit import CHARGED, PACKET, SILENT, UTILISED, asked, begins, chain, full, take_part, window, without_pfc
from credit import SOURCES
from net import Net, loses
from rsvp import know, loopback
from suite import scenario

NOTHING_FULL = "sum(reason(n['name'], 'queue_full') + reason(n['name'], 'headroom_exceeded') for n in report['nodes']) == 0"
HEALTHY = [NOTHING_FULL, "cell(1, 'leaked') == 0", "cell(1, 'uncredited') == 0"]


def jain(begin, end):
    """Jain's index of the flows' goodput between two times, in ms."""
    rates = f"[mean('Goodput of flows: payload received in order', f['name'], {begin}, {end}) for f in report['flows']]"
    return f"sum({rates}) ** 2 / len(report['flows']) / sum(x ** 2 for x in {rates})"


# --- the formula of 2.9 ---

def expected(share, rtt):
    """Utilisation of a window of so many units, as 2.9 has it: C / (R T + N2). Charged bytes; the loop has the polls of both ends."""
    rate = 10e9 / 8 * CHARGED / PACKET
    units = int(rate * rtt * share / 2048)
    batch = min(max(65536, rate / 1e5, units * 2048 / 128), units * 1024)
    return units, units * 2048 / (rate * (rtt + 1e-5) + batch)


@scenario(short=[{"share": 0.5, "rtt": 5e-2}], long=[{"share": x, "rtt": rtt} for x in (0.25, 0.5, 0.75, 0.9) for rtt in (1e-3, 1e-2, 5e-2)], seeds=0.1,
          expect=lambda share, rtt: ["lost == 0", "abs(mean('Links: received, overhead included', 'gw1.t1 > t1.gw1', 600, 900) / 10 "
                                          f"/ {expected(share, rtt)[1]} - 1) < {0.03 if rtt >= 1e-2 else 0.07}"])
def credit_window(share, rtt):
    """A window that is too small gives the share of the rate that the formula says."""
    net = full("credit-window", "10G", rtt, 0.5)
    return net.tune("t1", lambda c: c["credit"].update(buffer=expected(share, rtt)[0]))


# --- links ---

@scenario(short=[{}], long=[{}, {"share": 1e-3}], seeds=0.1, expect=[*HEALTHY, UTILISED.format(bits=10e9) + " > 0.99", "cell(2, 'doubled') > 0"])
def credit_doubled(share=1e-2):
    """One packet in a hundred arrives twice, all the time: fences take back what the copies seem to have freed."""
    net = full("credit-doubled", seconds=1.0)
    net.links[1].update({"duplication": share, "faulty": "a-to-b"})
    return net


@scenario(short=[{}], long=[{}, {"rtt": 1e-2}, {"rtt": 5e-2}], seeds=0.1, expect=[*HEALTHY, UTILISED.format(bits=10e9) + " > 0.99"])
def credit_messages_anyhow(rtt=1e-3):
    """Messages come twice, late, and in any order, and some not at all."""
    net = full("credit-messages-anyhow", rtt=rtt, seconds=1.0)
    for n in net.nodes:
        net.tune(n, lambda c: c["credit"].update(buffer=window(10e9, 3 * rtt)))
    net.links[1].update({"duplication": 0.01, "loss": 0.01, "reordering": 0.2, "reorder-delay": f"{int(rtt * 1e6)}us", "jitter": f"{int(rtt * 5e5)}us",
                         "faulty": "b-to-a"})
    return net


@scenario(short=[{"faults": "control"}, {"faults": "data"}], seeds=0.1, expect=lambda faults: [
    *HEALTHY, "flow().received == flow().sent" if faults == "control" else "cell(2, 'healed') > 0",
    UTILISED.format(bits=10e9 * 0.5) + f" > {0.99 if faults == 'control' else 0.96}",
    f"way('t1.gw1').lost {'> 5' if faults == 'control' else '== 0'}"])
def credit_faults_of(faults):
    """Either messages or data are lost and doubled, in both directions."""
    net = full("credit-faults-of", seconds=0.5)
    net.lab.update(loses(faults == "data"))
    net.links[1].update({"loss": 1e-2 if faults == "control" else 1e-3, "duplication": 1e-3, "faults": faults})
    return net


@scenario(short=[{}], long=[{"direction": d} for d in ("a-to-b", "b-to-a")], seeds=0.1,
          expect=lambda direction="a-to-b": [NOTHING_FULL, "cell(1, 'uncredited') == 0", UTILISED.format(bits=10e9) + " > 0.93"])
def credit_one_way(direction="a-to-b"):
    """One direction of a link fails for a second, longer than the leases of both ends, and nobody is told: nothing is promised
    twice, and data flows again at once."""
    net = full("credit-one-way", seconds=2.0, wait=5000)
    net.links[1]["failures"] = [{**SILENT, "direction": direction}]
    return net


@scenario(short=[{"seed": 1}, {"seed": 5330011}], long=[{}], expect=["lost == 0", "flow().retransmitted == 0", "flow().received == flow().sent"])
def credit_chain(seed):
    """Two to six hops of any length and rate, the slowest anywhere: it waits hop by hop, and all of it arrives."""
    rng = random.Random(seed)
    nodes = ("gw1", *(f"t{i}" for i in range(rng.randint(1, 5))), "gw2")
    net = chain("credit-chain", "500ms", receiver=f"{rng.choice((2, 5, 10, 25))}G", rate="25G", nodes=nodes, buffer=2600, pool=8 * 2600,
                flow={"message": rng.choice((4096, 65536, 1048576)), "window": "8M"})
    for link in net.links[1:-1]:
        link.update(rate=f"{rng.choice((2, 5, 10, 25))}G", delay=f"{rng.choice((10, 100, 500, 1000))}us")
    return asked(net, (390, "gw1", "show rsvp sessions"))


@scenario(short=[{}], expect=["lost == 0", "flow().received == flow().sent", "way('gw1.dc').pfc > 10"])
def credit_whole_frames():
    """Nodes hold whole frames, in as many buffers as they take: for each unit that is promised there is one, all the time."""
    net = chain("credit-whole", "450ms", buffer=256, pool=512, flow={"transport": "datagram", "message": 4096, "rate": "2500M"})
    net.lab["frames"] = "whole"
    return asked(net, (390, "gw1", "show rsvp sessions"))


@scenario(short=[{"bits": 32}, {"bits": 64}], seeds=0.3, expect=["cell(1, 'leaked') == 0", "cell(2, 'healed') > 100",
                                                    UTILISED.format(bits=10e9 * 0.5) + " > 0.95"])
def credit_counters(bits):
    """Counters that never restart pass 2^32 and 2^64, while data is lost."""
    net = full("credit-counters", seconds=0.5, forth=1e-3)
    net.lab["counters"] = 2 ** bits - 100000
    return net


# --- restarts ---

@scenario(short=[{"node": "gw2"}], long=[{"node": n} for n in ("gw1", "t1", "gw2")], seeds=0.3,
          expect=["flow().messages > 500", "sum(reason(n['name'], 'queue_full') for n in report['nodes']) == 0", "' committed ' in command(1).output"])
def credit_restarts(node):
    """A node of the chain, be it an end or not, dies twice under load and comes back without state: the session has credit
    again each time, in a new epoch, and nothing is overrun."""
    net = chain("credit-restarts", "5s", flow={"timeout": 16}, lossless=False, refresh=1000, rapid=100, wait=50)
    asked(net, (390, "gw1", "show rsvp sessions"), (4900, "gw1", "show rsvp sessions"))
    for at in ("700ms", "2700ms"):
        net.extra["schedule"].append({"at": at, "node": node, "restart": "100ms"})
    return net


# --- several sessions ---

def apart(net, config, to):
    """Each host behind the gateway `to` has a policy and a session of its own."""
    base = next(p for p in config["policies"] if p["name"] == f"to-{to}")
    routes = [r for r in config["vrfs"][0]["routes"] if r.get("policy") == base["name"]]
    config["policies"] = [p for p in config["policies"] if p is not base]
    for i, route in enumerate(routes):
        route["policy"] = f"{base['name']}-{i}"
        config["policies"].append({**base, "name": route["policy"], "source-prefix": SOURCES})
    config["credit"]["sessions"] = [{"name": f"s{i}", "policy": f"{base['name']}-{i}", "to": loopback(net, to), "class": 3}
                                    for i in range(len(routes))]


def joined(net, starts, buffers, to="gw2", **keys):
    """Everybody takes part; sessions begin at the gateways `starts`."""
    for n in net.nodes:
        more = {"buffer": buffers[n] if n in buffers else BUFFERS, "pool": 131072 if n == "t1" else 32768, "paths": 256, **keys,
                **({"accept": [{"sources": SOURCES}]} if n == to else {})}
        net.tune(n, without_pfc)
        net.tune(n, lambda c, n=n: know(net, n, c))
        net.tune(n, lambda c, n=n, more=more: take_part(net, n, c, **more))
    for n in starts:
        net.tune(n, lambda c: apart(net, c, to))
    return net


BUFFERS = 1024


@scenario(short=[{"gateways": 4, "each": 2}], long=[{"gateways": 16, "each": 4}], seeds=0.1, expect=["lost == 0", jain(1250, 1900) + " > 0.99",
          "way('t1.gw2').sent_bytes / 4230 * 4254 * 8 / 10e9 > 0.92"])
def credit_fair(gateways, each):
    """Sessions whose round trips are 1 to 50 ms share a link: the scheduler divides it, not the windows. Five of
    the longest round trips after the start, the rates are equal."""
    net = Net("credit-fair", "2s", memory="4G")
    starts = [f"g{i}" for i in range(gateways)]
    for n in (*starts, "t1", "gw2"):
        net.node(n, pfc=[3], memory={"buffers": 98304 if n == "t1" else 49152})
    for i in range(each):
        net.host(f"b{i}", 100 + i, pfc=[3])
        net.link(f"gw2.d{i}", f"b{i}.eth0", "10G")
    for i, n in enumerate(starts):
        net.host(f"a{i}", 1 + i, pfc=[3])
        net.link(f"a{i}.eth0", f"{n}.dc", "10G")
        net.link(f"{n}.t1", f"t1.{n}", "10G", delay=f"{500 + i * 24500 // (gateways - 1)}us")
        net.path(n, "gw2", ["t1"])
        for k in range(each):
            net.flow(f"a{i}", f"b{k}", name=f"f{i}-{k}", transport="datagram", message=4096, rate=f"{9500 // each}M", start="1s")
    net.link("t1.gw2", "gw2.t1", "10G", delay="500us")
    fair = 10e9 / gateways / each
    joined(net, starts, {"t1": window(fair * 1.5, 0.05), "gw2": window(2e9, 1e-3)}, idle=100)
    return asked(net, (990, f"g{gateways - 1}", "show rsvp sessions"))


def far(name, run, flows, sinks, owners=False, stops=None):
    """One gateway to another, which has several receivers; each has a session. sinks: keys of the hosts there."""
    net = Net(name, run)
    net.node("gw1", pfc=[3], memory={"buffers": 49152})
    net.node("t1", pfc=[3])
    net.node("gw2", pfc=[3], memory={"buffers": 65536}, **({"lcores": {"control": 0, "rx": [1], "worker": [2, 3, 4]}} if owners else {}))
    for i, sink in enumerate(sinks):
        net.host(f"a{i}", 1 + i, pfc=[3])
        net.host(f"b{i}", 101 + i, pfc=[3], **sink)
        net.link(f"a{i}.eth0", f"gw1.d{i}", "10G").link(f"gw2.d{i}", f"b{i}.eth0", "10G")
    net.link("gw1.t1", "t1.gw1", "10G", delay="500us").link("t1.gw2", "gw2.t1", "10G", delay="500us")
    net.path("gw1", "gw2", ["t1"])
    joined(net, ["gw1"], {})
    for i, keys in enumerate(flows):
        net.flow(f"a{i}", f"b{i}", name=f"f{i}", **{"transport": "datagram", "message": 4096, "start": "400ms", **keys})
    if owners:
        def spread(config):
            for p in config["ports"]:
                p["worker"] = {"t1": 2, "d0": 2, "d1": 3, "d2": 4, "d3": 3}[p["name"]]
        net.tune("gw2", spread)
    return asked(net, (390, "gw1", "show rsvp sessions"))


@scenario(short=[{}], expect=["lost == 0", *(f"flow('f{i}').received == flow('f{i}').sent" for i in range(4)),
                              *(f"mean('Goodput of flows: payload received in order', 'f{i}', 550, 650) > 0.99 * 1.9" for i in (0, 2, 3))])
def credit_owners():
    """Four ports of the far gateway, of three workers; the receiver behind one stops for 200 ms. What its session is granted
    waits there, and nothing of the others."""
    return far("credit-owners", "900ms", [{"rate": "2G"}] * 4,
               [{"sink": {"drain": "10G", "buffer": "8M", "xoff": "1M", "xon": "512K", "stalls": [{"at": "500ms", "for": "200ms"}]}} if i == 1 else {} for i in range(4)], owners=True)


@scenario(short=[{}], expect=["reason('gw2', 'no_route') > 10000", "flow('there').received == flow('there').sent", "lost == reason('gw2', 'no_route')",
                              "cell(1, 'leaked') == 0", "cell(2, 'healed') == 0", "mean('Goodput of flows: payload received in order', 'there', 450, 650) > 0.99 * 1.9"])
def credit_nowhere():
    """A tenant sends half of his packets to a server that does not exist. They end at the far gateway, which has freed them then:
    the session keeps its whole window."""
    net = chain("credit-nowhere", "700ms", receiver="10G", flow={"name": "there", "queue-pairs": 1, "transport": "datagram", "rate": "2G",
                                                                 "message": 4096}, lossless=False)
    net.host("c", 3, pfc=[3])
    net.link("gw2.dc2", "c.eth0", "10G")
    net.flow("a", "c", name="nowhere", transport="datagram", rate="2G", message=4096, start="400ms")

    def forget(config):
        config["vrfs"][0]["routes"] = [r for r in config["vrfs"][0]["routes"] if r.get("port") != "dc2"]
        config["neighbors"] = [n for n in config["neighbors"] if n["port"] != "dc2"]
        next(p for p in config["ports"] if p["name"] == "dc2")["addresses"] = ["10.99.0.1/24"]
    net.tune("gw2", forget)
    return asked(net, (390, "gw1", "show rsvp sessions"), (690, "gw1", "show credit s"), (690, "t1", "show credit"))


@scenario(short=[{}], expect=["lost == 0", "way('t1.gw1').pfc > 10", "flow('session').received == flow('session').sent", "flow('plain').received == flow('plain').sent"])
def credit_beside_pfc():
    """Data without a session shares port, class and buffer pool with a session, and the node behind the port pauses that class: the
    session waits with it, and nothing is lost on either side."""
    net = chain("credit-beside-pfc", "600ms", receiver="10G", flow={"name": "session", "queue-pairs": 1, "transport": "datagram", "rate": "4G",
                                                                    "message": 4096})
    net.host("c", 3, pfc=[3])
    net.host("d", 4, pfc=[3], sink={"drain": "1G", "buffer": "8M", "xoff": "1M", "xon": "512K"})
    net.link("c.eth0", "gw1.dc2", "10G").link("t1.dc", "d.eth0", "10G")
    net.path("gw1", "t1", [])
    net.flow("c", "d", name="plain", transport="datagram", rate="3G", message=4096, start="400ms", messages=12000)
    for n in ("gw1", "t1"):
        kept, net.nodes[n]["memory"] = {}, {"buffers": 40960}
        net.tunes[n].insert(0, lambda c, kept=kept: kept.update({p["name"]: p["pfc"] for p in c["ports"] if p["name"] in ("t1", "gw1")}))
        net.tune(n, lambda c, kept=kept: [p.update(pfc=kept[p["name"]]) for p in c["ports"] if p["name"] in kept])
    net.tune("gw1", lambda c: next(p for p in c["policies"] if p["name"] == "to-t1").update({"source-prefix": "fd00:2::/64"}))
    net.tune("gw1", lambda c: c["credit"]["sessions"].__setitem__(slice(None), [s for s in c["credit"]["sessions"] if s["policy"] == "to-gw2"]))
    return asked(net, (390, "gw1", "show rsvp sessions"))
