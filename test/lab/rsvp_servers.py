# SPDX-License-Identifier: BSD-3-Clause
"""Servers that speak RSVP natively (docs/rsvp.md), at both ends of a domain, at one, or beside servers that do not.

    a0, a1, ... == gw1 -- s1, s2 -- gw2 == b0, b1, ...
"""
import random

from net import Net
from rsvp import FAST, committed, know, loopback, schedule, take_part
from suite import scenario

SESSION = {"gw1": "fd00:1::/64", "gw2": "fd00:2::/64"}  # outer sources


def subnet(net, host):
    return f"2001:db8:{net.hosts[host]['subnet']:x}::"


def address(net, host):
    return f"{subnet(net, host)}{net.hosts[host]['number']:x}"


def ends_of(net, host, families):
    """(suffix of a session's name, address) for each family."""
    return [("" if family == 6 else "-4", address(net, host) if family == 6 else net.hosts[host]["address"]) for family in families]


def edge(net, name, config, native, buffer, mode=None, families=(6,)):
    """A gateway with IPv6 for its hosts, an outer session to the other gateway, and the native ones of its servers. `mode`: keys
    of the servers as neighbours."""
    far = next(n for n in SESSION if n != name)
    ports = {end.split(".")[0]: port for port, end in net.nodes[name]["ports"].items() if end.split(".")[0] in net.hosts}
    by_name = {p["name"]: p for p in config["ports"]}
    routes = config["vrfs"][0]["routes"]
    for host in net.hosts:
        if host in ports:
            by_name[ports[host]]["addresses"].append(subnet(net, host) + "1/64")
        else:
            routes.append({"prefix": subnet(net, host) + "/64", "policy": f"to-{far}"})
    config["policies"][0]["source-prefix"] = SESSION[name]
    know(net, name, config)
    servers = [h for h in ports if h in native]
    take_part(net, name, config, {
        **FAST, "buffer": buffer, "accept": [{"sources": SESSION[far]}],
        "sessions": [{"name": "out", "policy": f"to-{far}", "to": loopback(net, far), "class": 3}] +
                    [{"name": f"to-{h}{suffix}", "port": ports[h], "to": to, "class": 3} for h in servers
                     for suffix, to in ends_of(net, h, families)]})
    config["credit"]["neighbors"] += [{"address": to, "port": ports[h], **(mode or {})} for h in servers for _, to in ends_of(net, h, families)]


def network(name, run, seed, hosts, native, rsvp=None, mode=None, families=(6,), flow=None):
    """`hosts`: at each gateway. `native`: those that speak RSVP. `rsvp`: their keys. `mode`: what the gateways take them for."""
    r = random.Random(seed)
    net = Net(name, run)
    for n in ("gw1", "s1", "s2", "gw2"):
        net.node(n)
    for spine in ("s1", "s2"):
        for gateway in SESSION:
            net.link(f"{gateway}.{spine}", f"{spine}.{gateway}", delay=f"{r.randrange(10, 3000)}us")
    for gateway, letter in (("gw1", "a"), ("gw2", "b")):
        for i in range(hosts):
            host = net.host(f"{letter}{i}", len(net.hosts) + 1)
            if host in native:
                net.hosts[host]["keys"].update(rsvp or {"rsvp": "ext"})
            net.hosts[host]["keys"]["addresses"] = [net.hosts[host]["address"] + "/24", address(net, host) + "/64"]
            net.link(f"{host}.eth0", f"{gateway}.{host}", rate=r.choice(("10G", "25G", "100G")), delay=f"{r.randrange(1, 20)}us")
    net.path("gw1", "gw2", ["s1"], ["s2"]).path("gw2", "gw1", ["s1"], ["s2"])
    buffers = {n: r.randrange(4, 64) for n in net.nodes}
    for n in net.nodes:
        if n in SESSION:
            net.tune(n, lambda c, n=n: edge(net, n, c, native, buffers[n], mode, families))
        else:
            net.tune(n, lambda c, n=n: (know(net, n, c), take_part(net, n, c, {**FAST, "buffer": buffers[n]})))
    for i in range(hosts):
        for near, far in (("a", "b"), ("b", "a")):
            to, start = r.randrange(hosts), r.randrange(0, 2000)
            for family in families:
                net.flow(f"{near}{i}", f"{far}{to}", **{"family": family, "rate": "10M", "message": 4096, "start": f"{start}ms", **(flow or {})})
    return net


def ends(native):
    return tuple(f"{letter}{i}" for letter, n in zip("ab", native) for i in range(n))


def all_up(native):
    """Each server has credit for what it sends, and gives the gateway credit for what it receives."""
    return [f"host('{h}').rsvp_up == host('{h}').rsvp_opened == 1 and host('{h}').rsvp_granted == 1" for h in ends(native)]


@scenario(short=[{"native": (2, 2)}, {"native": (3, 0)}, {"native": (0, 2)}], long=[{"native": (a, b)} for a in range(4) for b in range(4) if a + b],
          seeds=0.1, expect=lambda native, **_: [*all_up(native), committed(0, 1 + native[0]), committed(1, 1 + native[1])])
def rsvp_servers(native, seed=1):
    """Servers at both ends, or at one, have sessions with their gateways in both directions, joined to that of the gateways."""
    net = network("rsvp-servers", "5s", seed, 3, ends(native))
    return schedule(net, (4900, "gw1", "show rsvp sessions"), (4900, "gw2", "show rsvp sessions"))


def told(i, n):
    """In `show rsvp paths` of gw1: n servers know that the other gateway is out of reach."""
    return f"sum(' 2001:db8:' in line and '1/0x8002' in line for line in command({i}).output.splitlines()) == {n}"


@scenario(short=[{"seed": 1}], long=[{}], seeds=0.1,
          expect=lambda **_: [*all_up((2, 2)), told(0, 0), told(1, 2), told(2, 0)])
def rsvp_servers_cut_off(seed=1):
    """Both ways across the domain fail for two seconds: the servers are told, and have credit again when the ways are back."""
    net = network("rsvp-cut", "300s", seed, 2, ends((2, 2)))
    for link in net.links:
        if link["a"].startswith("gw1."):
            link["failures"] = [{"at": f"{random.Random(seed).randrange(5000, 6000)}ms", "for": "2s"}]
    return schedule(net, (4900, "gw1", "show rsvp paths"), (6500, "gw1", "show rsvp paths"), (299000, "gw1", "show rsvp paths"))
