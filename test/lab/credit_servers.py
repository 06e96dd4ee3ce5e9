# SPDX-License-Identifier: BSD-3-Clause
"""Servers that speak RSVP natively and wait for credit (docs/credit.md 2.3, 2.5), at either end of a chain of gateways:

    a -- gw1 ==== t1 ==== gw2 -- b

What a sends occupies the credit that gw1 gives to it; what b receives waits in gw2 for the credit of b. The data-centre ports have
PFC, so that a test can see that nobody needs it.
"""
from credit import POOL, asked, chain
from rsvp_servers import address, subnet
from suite import scenario

ENDS = {"a": "gw1", "b": "gw2"}
BUFFER = 2 << 20  # bytes that b can hold: 1,024 units, or 2 MB by the letter
LETTER = {"letter": {"grant": 2, "refresh": True}}


def native(net, host, mode, families):
    gateway = ENDS[host]
    far = next(h for h in ENDS if h != host)
    net.hosts[host]["keys"].update({"rsvp": mode, "rsvp-data": "gated"})
    to = [address(net, host)] if 6 in families else []
    to += [net.hosts[host]["address"]] if 4 in families else []

    def change(config):
        credit = config["credit"]
        credit["neighbors"] += [{"address": x, "port": "dc", **({"mode": "letter"} if mode == "letter" else {})} for x in to]
        if mode == "letter":
            credit.update(LETTER)
        if host == "b":
            credit.setdefault("sessions", []).append({"name": "to-b", "port": "dc", "to": to[0], "class": 3})
            credit["accept"][0]["join"] = "to-b"
    net.tune(gateway, change)
    return far


def servers(name, run, modes, sink=None, families=(6,), flow=None, more=(), **keys):
    """`modes`: of a and of b: ext, letter, or None: it does not speak RSVP. `more`: keys of further flows from a to b."""
    family = families[0]
    net = chain(name, run, "10G", "10G", "100us", flow={"family": family, "mtu": 4096, "message": 65536, **(flow or {})}, **keys)
    for flow in more:
        net.flow("a", "b", **{"family": family, "start": "400ms", **flow})
    for host, gateway in ENDS.items():
        far = next(h for h in ENDS if h != host)
        net.hosts[host]["keys"]["addresses"] = [net.hosts[host]["address"] + "/24", address(net, host) + "/64"]

        def change(config, host=host, far=far, gateway=gateway):
            next(p for p in config["ports"] if p["name"] == "dc")["addresses"].append(subnet(net, host) + "1/64")
            config["vrfs"][0]["routes"].append({"prefix": subnet(net, far) + "/64", "policy": f"to-{ENDS[far]}"})
        net.tune(gateway, change)
    if sink:
        net.hosts["b"]["keys"]["sink"] = sink
    for host, mode in zip(ENDS, modes):
        if mode:
            native(net, host, mode, families)
    return net


SLOW = {"drain": "4G", "buffer": BUFFER}
NOTHING_LOST = ["lost == 0", "flow().retransmitted == 0"]
NO_PFC = "way('a.eth0').pfc + way('gw1.dc').pfc + way('b.eth0').pfc + way('gw2.dc').pfc == 0"
ENDS_OF = [("ext", "ext"), ("ext", None), (None, "ext")]


@scenario(short=[{"modes": ("ext", "ext")}], long=[{"modes": m} for m in ENDS_OF], seeds=0.1,
          expect=lambda modes, **_: [*NOTHING_LOST, "flow().received_bytes > 3e8", *([NO_PFC] if modes == ("ext", "ext") else [])])
def credit_server_slow(modes):
    """A server that takes 40 % of what another one can send, and has a small buffer: its credit reaches back to the sender, and no
    link needs PFC, not even those of the servers. One of the two may not speak RSVP; then PFC does that part."""
    sink = SLOW if modes[1] else {**SLOW, "xoff": BUFFER // 2, "xon": BUFFER // 4}
    net = servers("credit-server-slow", "2s", modes, sink)
    return asked(net, (1990, "gw1", "show credit"), (1990, "gw2", "show credit"))


@scenario(short=[{"modes": ("ext", "ext")}], long=[{"modes": ("ext", "ext")}], seeds=0.1, expect=[
    *NOTHING_LOST, NO_PFC, "'no credit comes' in command(0).output", "flow().received_bytes > 4e8", "host('b').buffer_most <= 2 << 20"])
def credit_server_stalls(modes):
    """A server takes nothing for half a second: the credit of the server that sends runs out, link by link, and nothing is lost."""
    net = servers("credit-server-stalls", "2500ms", modes, {**SLOW, "stalls": [{"at": "1500ms", "for": "500ms"}]}, flow={"timeout": 18})
    return asked(net, (1990, "gw2", "show credit to-b"))


@scenario(short=[{}], long=[{}], seeds=0.1, expect=[
    *NOTHING_LOST, "cell(0, 'ungranted') > 500",
    "way('a.eth0').pfc + way('b.eth0').pfc == 0", "way('gw1.dc').pfc > 0"])
def credit_server_overruns():
    """A server sends more than it has credit for: that is counted, is held in the buffer of its port, where PFC stops it, and takes
    nothing of the pool."""
    net = servers("credit-server-overruns", "1500ms", ("ext", "ext"), SLOW, more=[{"rate": "4G", "overruns": True, "message": 65536, "mtu": 4096}])
    return asked(net, (1490, "gw1", "show credit 0x0c000"))
