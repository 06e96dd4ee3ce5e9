# SPDX-License-Identifier: BSD-3-Clause
"""
The three places a node can have. Hosts A (2001:db8:1::11, 192.0.2.11) and B (2001:db8:3::33, 198.51.100.33)
talk to each other; A is behind p0, B behind p1.

    headend   A -- p0 tenant | node | p1 wan -- ...
    core              ... -- p0 wan | node | p1 wan -- ...
    tail                     ... -- p0 wan | node | p1 tenant -- B
"""

from gen.node import neighbor, node, over, policy, port, via, vrf
from gen.wire import FLOW_LABEL, HOST_A, HOST_A4, HOST_B, HOST_B4, PEER

NET_A, NET_A4 = "2001:db8:1::/64", "192.0.2.0/24"
NET_B, NET_B4 = "2001:db8:3::/64", "198.51.100.0/24"
P0_PEER, P1_PEER = PEER, "2001:db8:b::1"
P0_OWN, P1_OWN = "2001:db8:a::2", "2001:db8:b::2"
P0_PEER4, P1_PEER4 = "10.0.0.1", "10.1.0.1"
P0_OWN4, P1_OWN4 = "10.0.0.2", "10.1.0.2"
# addresses of the tenant's port: at a headend, at a tail
GATE_A, GATE_A4 = "2001:db8:1::1", "192.0.2.1"
GATE_B, GATE_B4 = "2001:db8:3::1", "198.51.100.1"
# ICMP errors come from a bucket; this one is large enough for cases that make many at once
MANY_ERRORS = {"errors-per-port": 100000, "errors": 100000}
BACK = ["5f00:0:700::", "5f00:0:e107::"]  # the way back to A from a tail


def to_p0(*prefixes):
    return via("p0", P0_PEER, *prefixes)


def to_p1(*prefixes):
    return via("p1", P1_PEER, *prefixes)


def core(*sids, routes=(), mtu=1500, neighbors=(), **more):
    """Two wan ports; the block of SIDs and B's networks are behind p1, A's behind p0."""
    ports = [
        port("p0", "wan", f"{P0_OWN}/64", f"{P0_OWN4}/24", mtu=mtu),
        port("p1", "wan", f"{P1_OWN}/64", f"{P1_OWN4}/24", mtu=mtu),
    ]
    static = [neighbor("p0", a) for a in (P0_PEER, P0_PEER4)] + [neighbor("p1", a) for a in (P1_PEER, P1_PEER4)]
    return node(
        ports,
        neighbors=static + list(neighbors),
        routes=to_p0(NET_A, NET_A4) + to_p1(NET_B, NET_B4, "5f00:0:300::/48", "5f00:0:500::/48") + list(routes),
        sids=list(sids),
        **more,
    )


def headend(*lists, mtu=1500, tenant_mtu=1500, tenant_routes=(), routes=None, wan_side=(), block=None, usid=None, **policy_keys):
    """A tenant's port p0; what it sends to B takes the policy "far" over `lists` of segments."""
    wan = port("p1", "wan", f"{P1_OWN}/64", mtu=mtu)
    ports = [port("p0", "dc", f"{GATE_A}/64", f"{GATE_A4}/24", vrf="tenant", mtu=tenant_mtu), wan]
    far = policy("far", *lists, **{"flow_label": FLOW_LABEL, **policy_keys})
    return node(
        ports,
        neighbors=[neighbor("p0", HOST_A), neighbor("p0", HOST_A4), neighbor("p1", P1_PEER)],
        routes=to_p1("5f00::/16") if routes is None else list(routes),
        vrfs=[vrf("tenant", *over("far", NET_B, NET_B4), *tenant_routes)],
        sids=list(wan_side),
        policies=[far],
        **({"block": block, "usid": usid} if block else {}),
    )


def tail(*sids, mtu=1500, tenant_mtu=1500, routes=(), tenant_routes=(), **more):
    """A tenant's port p1 with host B on it; the way back to A is the policy "back"."""
    ports = [
        port("p0", "wan", f"{P0_OWN}/64", mtu=mtu),
        port("p1", "dc", f"{GATE_B}/64", f"{GATE_B4}/24", vrf="tenant", mtu=tenant_mtu),
    ]
    return node(
        ports,
        neighbors=[neighbor("p0", P0_PEER), neighbor("p1", HOST_B), neighbor("p1", HOST_B4)],
        routes=to_p0("5f00:0:700::/48") + list(routes),
        vrfs=[vrf("tenant", *over("back", NET_A, NET_A4), *tenant_routes)],
        sids=list(sids),
        policies=[policy("back", BACK, flow_label=FLOW_LABEL)],
        **more,
    )
