# SPDX-License-Identifier: BSD-3-Clause
"""Credit sessions between gateways know neither tenants nor what is inside a tunnel (docs/credit.md 2.3, D41): two tenants with equal
IPv4 addresses, one with IPv6 and one with whole frames have a session each. t1 takes part; q need not.

    red, blue, six, wire == gw1 -- q -- t1 -- gw2 == red, blue, six, wire
"""
from net import BLOCK, Net, loses
from rsvp import beyond, know, loopback
from suite import scenario

TENANTS = ("red", "blue", "six", "wire")
SLOW = "blue"  # its receiver takes a fifth of what is sent
NODES = ("gw1", "q", "t1", "gw2")
POOL, BUFFER = 16384, 2048
SOURCES = "fd00:1::/64"
SERVICE = {t: f"{BLOCK}:{0xe101 + i:x}::" for i, t in enumerate(TENANTS)}
SUBNETS = ("2001:db8:1::", "2001:db8:2::")  # of six


def network(name, silent, data, slow=SLOW):
    net = Net(name, "500ms", **loses(data == "free"))
    for n in NODES:
        net.node(n, pfc=[3])
    for t in TENANTS:
        for side, (place, gateway) in enumerate((("near", "gw1"), ("far", "gw2"))):
            host = net.host(f"{t}-{place}", side + 1, pfc=[3])
            net.hosts[host].update(address=f"10.{side + 1}.0.10", number=10 + len(net.hosts))  # the same ones in each tenant
            rate = "1G" if (t, place) == (slow, "far") else "10G"
            net.link(f"{host}.eth0", f"{gateway}.{t}", rate)
        net.flow(f"{t}-near", f"{t}-far", name=t, family=6 if t == "six" else 4, transport="datagram", message=4096, rate="1200M", start="400ms",
                 **{"queue-pairs": 2 if t == slow else 1})
    for a, b in zip(NODES, NODES[1:]):
        net.link(f"{a}.{b}", f"{b}.{a}", "10G", delay="20us")
    for n, i in (("six-near", 0), ("six-far", 1)):
        net.hosts[n]["keys"]["addresses"] = [f"{SUBNETS[i]}{net.hosts[n]['number']:x}/64"]
    net.hosts["wire-far"]["keys"]["mac"] = net._mac("gw1.wire")  # frames go through as they are: to the gateway of their sender
    for n in NODES:
        net.tune(n, lambda c, n=n: part(net, n, c, silent, data))
    net.tune("gw1", lambda c: edge(net, c, 0)).tune("gw2", lambda c: edge(net, c, 1))
    return net


def part(net, name, config, silent, data):
    for port in config["ports"]:
        if port["side"] == "wan":
            port.pop("pfc", None)
    know(net, name, config)
    if name == silent:
        return
    near = [far.split(".")[0] for _, far in net._neighbours(name)]
    config["credit"] = {"mode": "ext", "integrity": "off", "data": data, "pool": POOL, "buffer": BUFFER, "paths": 64, "idle": 50,
                        "neighbors": [{"address": loopback(net, n)} for n in near if n != silent], "data-of": [{"sources": SOURCES}]}
    config["memory"]["buffers"] += 2 * POOL
    if silent in near:
        beyond(net, config, silent, [n for n in NODES if n != name and abs(NODES.index(n) - NODES.index(silent)) == 1], 2)


def edge(net, config, side):
    """Of a gateway: a VRF for each tenant but the last one, whose frames are a circuit."""
    ports = {p["name"]: p for p in config["ports"]}
    far = "gw2" if side == 0 else "gw1"
    config["vrfs"], config["policies"] = [], []
    config["sids"] = [s for s in config["sids"] if s["behavior"] == "uN"]
    for t in TENANTS:
        port, host = ports[t], net.hosts[f"{t}-{('near', 'far')[side]}"]
        config["policies"].append({"name": t, "source-prefix": SOURCES, "paths": [{"name": "only", "segments": [
            f"{BLOCK}:{net.nodes[n]['id']:x}::" for n in (NODES[1:] if side == 0 else NODES[-2::-1])] + [SERVICE[t]]}]})
        if t == "wire":
            for key in ("vrf", "addresses"):
                port.pop(key)
            config["policies"][-1]["encap"] = "H.Encaps.L2.Red"
            if side == 0:
                config["circuits"] = [{"name": t, "port": t, "policy": t}]
            config["neighbors"] = [n for n in config["neighbors"] if n["port"] != t]
            config["sids"].append({"sid": SERVICE[t] + "/48", "behavior": "uDX2", "port": t})
            continue
        port["vrf"] = t
        own, address, beyond_it = f"10.{side + 1}.0.1/24", host["address"], f"10.{2 - side}.0.0/24"
        if t == "six":
            own, address, beyond_it = SUBNETS[side] + "1/64", f"{SUBNETS[side]}{host['number']:x}", SUBNETS[1 - side] + "/64"
            next(n for n in config["neighbors"] if n["port"] == t)["address"] = address
        port["addresses"] = [own]
        config["vrfs"].append({"name": t, "routes": [{"prefix": beyond_it, "policy": t}]})
        config["sids"].append({"sid": SERVICE[t] + "/48", "behavior": "uDT46", "vrf": t})
    if side == 0:
        config["credit"]["sessions"] = [{"name": t, "policy": t, "to": loopback(net, far), "class": 3} for t in TENANTS]
    else:
        config["credit"]["accept"] = [{"sources": SOURCES}]
        config.pop("policies")
        for vrf in config["vrfs"]:
            vrf.pop("routes")


OTHERS = [t for t in TENANTS if t != SLOW]


@scenario(short=[{"silent": None}, {"silent": "q"}], expect=lambda silent: [
    f"command(0).output.count(' committed ') == {len(TENANTS)}", "lost == 0", "reason('t1', 'credit_no_session') == 0",
    *(f"flow('{t}').received > 0.95 * flow('{t}').sent > 3000" for t in OTHERS), *(f"way('gw1.{t}').pfc == 0" for t in OTHERS),
    f"way('gw1.{SLOW}').pfc > 10", "way('gw1.q').pfc + way('q.gw1').pfc + way('t1.q').pfc + way('gw2.t1').pfc == 0"])
def credit_tenants(silent):
    """The slow receiver of one tenant stops that tenant's sender alone, by credit as far as the first gateway and by PFC from there;
    the one with the same addresses, the others and their rates are not touched, and nothing is lost. Also when the packets, and the
    messages, pass a node that knows nothing of it."""
    net = network("credit-tenants", silent, "gated")
    net.extra["schedule"] = [{"at": "390ms", "node": "gw1", "command": "show rsvp sessions"}, {"at": "495ms", "node": "t1", "command": "show credit"}]
    return net


@scenario(short=[{"data": "free"}], expect=["lost > 100", f"way('gw1.{SLOW}').pfc == 0"])
def credit_tenants_without(data):
    """The control: signalled, and data does not wait."""
    return network("credit-tenants-free", "q", data)
