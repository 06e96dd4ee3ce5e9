# SPDX-License-Identifier: BSD-3-Clause
"""
ping and traceroute of a node itself, through Linux SRv6 routers (RFC 9259 section 3). The kernel answers where it routes:
its seg6local ends with SIDs whose upper layer is ICMPv6 do not.
"""

from checks import expect
from topology import A4, A6, B4, B6, GATE_B4, U3

END = "5f00:0:e446::"  # the last SID of gw's policy, at pe: behind the uN of pe, which counts as a hop
PE = "fd00:0:4::1"


def replies(node, *words, of=3):
    said = node.ask("ping", *words, "count", str(of), "interval", "50")
    rows = said["answers"]
    expect(said["sent"] == of and said["replies"] == of, f"ping {words}: {said}")
    expect(all(r["answer"] == "reply" and 0 < r["rtt_us"] < 1_000_000 for r in rows), f"ping {words}: {rows}")
    expect(said["rtt_least_us"] <= said["rtt_mean_us"] <= said["rtt_most_us"], f"ping {words}: {said}")
    return said


def answered_by(said, address):
    expect({r["from"] for r in said["answers"]} == {address}, f"{address} did not answer: {said}")


def to_tenants(t):
    """As a packet of a tenant: over the policy of its VRF, through both kernel routers."""
    gw = t.nodes["gw"]
    for address in (B4, B6):
        answered_by(replies(gw, address, "vrf", "blue"), address)
    answered_by(replies(gw, A4, "vrf", "blue"), A4)


def along_a_policy(t):
    gw = t.nodes["gw"]
    answered_by(replies(gw, "policy", "east"), END)
    for address in (B4, B6):
        answered_by(replies(gw, "policy", "east", "path", "only", "to", address, "vrf", "blue", "size", "1200"), address)


def by_sids(t):
    """An SRH through r1 and r2, whose uSIDs Linux executes as End."""
    gw = t.nodes["gw"]
    answered_by(replies(gw, "sid", "5f00:0:400::"), "5f00:0:400::")
    answered_by(replies(gw, "sid", f"5f00:0:200::,{U3.split('/')[0]},5f00:0:400::"), "5f00:0:400::")
    # an address of a kernel router at the end of the list
    answered_by(replies(gw, "sid", "5f00:0:200::,fd00:b::2"), "fd00:b::2")


def hops(said):
    return [(r["hop"], r["from"], r["answer"]) for r in said["hops"]]


def route_is_found(t):
    gw = t.nodes["gw"]
    way = [(1, ["fd00:a::2"], "time-exceeded"), (2, ["fd00:b::2"], "time-exceeded"), (3, [PE], "time-exceeded")]
    said = gw.ask("traceroute", "policy", "east")
    expect(said["reached"] and hops(said) == [*way, (4, [END], "reply")], f"to the end: {said}")
    said = gw.ask("traceroute", "policy", "east", "to", B6, "vrf", "blue")
    expect(said["reached"] and hops(said) == [*way, (4, [B6], "reply")], f"to a tenant through the tunnel: {said}")
    # a tenant sees the tunnel as one hop, as in tunnel_is_one_hop; this node is not a hop of its own
    said = gw.ask("traceroute", B4, "vrf", "blue")
    expect(said["reached"] and hops(said) == [(1, [GATE_B4], "time-exceeded"), (2, [B4], "reply")], f"tenant's way: {said}")


def out_of_linux_tunnels(t):
    """Linux decapsulates, and its H.Encaps.Red brings the answers back."""
    s1 = t.nodes["s1"]
    answered_by(replies(s1, "policy", "four", "to", A4, "vrf", "blue"), A4)
    answered_by(replies(s1, "policy", "six", "to", A6, "vrf", "blue"), A6)
    said = s1.ask("traceroute", "policy", "six", "to", A6, "vrf", "blue")
    expect(said["reached"] and said["hops"][-1]["from"] == [A6], f"through End.DT6: {said}")


THROUGH = [
    ("the node pings tenants, over their policy and on their link", to_tenants),
    ("the node pings along a policy, to its end and through it", along_a_policy),
    ("the node pings by way of SIDs that Linux executes", by_sids),
    ("the node traces a policy through kernel routers", route_is_found),
]
MIXED = [("the node pings and traces through tunnels of Linux", out_of_linux_tunnels)]
