# SPDX-License-Identifier: BSD-3-Clause
"""
VLANs of a port that are routed, each into a VRF of its own.

    vlan      A -- s1 == k1 -- R      A: a station on a trunk, which is 10.1.0.11 of tenant red in VLAN 100 and 10.1.0.11 of
                            -- S      tenant blue in VLAN 200, with one MAC; R and S: Linux hosts, red's and blue's

Linux has not everywhere VLAN devices, so A speaks by scapy: it pings, and answers ARP and ND with the tag it was asked by.
"""

import time

from scapy.layers.inet import ICMP, IP
from scapy.layers.inet6 import ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr, IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether

from cases_pfc import MAC_A
from checks import SETTLE, Failure, expect, machine
from net import make_host, make_router
from node import over, policy, port, via
from topology import A4, A6, GATE_A4, GATE_A6, NET_A4, NET_A6, NEXT_CSID, U1, U2, WAN_MTU, Topology, encaps, seg6local, sid

# name of the tenant -> VLAN, third part of its hosts' networks, beginning of its functions
TENANTS = {"red": (100, 3, "a"), "blue": (200, 4, "b")}


def host4(tenant):
    return f"10.{TENANTS[tenant][1]}.0.33"


def host6(tenant):
    return f"2001:db8:{TENANTS[tenant][1]}::33"


def vlan(options):
    t = Topology(options)
    a, s1, k1 = t.spaces("a", "s1", "k1")
    t.net.link(a, "eth0", s1, "dc0")
    t.net.link(s1, "wan0", k1, "wan0", mtu=WAN_MTU)
    t.a = t.station(a, MAC_A, "eth0")
    tenants = {"vrfs": [], "policies": [], "interfaces": [], "sids": [{"sid": U2, "behavior": "uN"}]}
    for name, (number, net, letter) in TENANTS.items():
        host, gates = t.net.space(f"{name}host"), [f"10.{net}.0.1", f"2001:db8:{net}::1"]
        t.net.link(host, "eth0", k1, name)
        make_host(host, "eth0", [f"{host4(name)}/24", f"{host6(name)}/64"], [])
        k1.ip(f"addr add {gates[0]}/24 dev {name}", f"addr add {gates[1]}/64 dev {name} nodad")
        host.ip(*(f"route add {'::/0' if ':' in g else '0.0.0.0/0'} via {g}" for g in gates))
        seg6local(k1, f"5f00:0:e1{letter}4::/48", f"End.DX4 nh4 {host4(name)}", name)
        seg6local(k1, f"5f00:0:e1{letter}6::/48", f"End.DX6 nh6 {host6(name)}", name)
        # both tenants' packets go to the same addresses: where from decides about the tunnel
        for family in ("-4", "-6"):
            k1.exec("ip", family, "rule", "add", "iif", name, "table", number)
        encaps(k1, "encap.red", [f"5f00:0:200:e2{letter}4::"], f"table {number} {NET_A4}", f"table {number} {NET_A6}")
        tenants["vrfs"].append({"name": name, "routes": over(f"{name}4", f"10.{net}.0.0/24") +
                                over(f"{name}6", f"2001:db8:{net}::/64")})
        tenants["policies"] += [policy(f"{name}{v}", sid("100"), sid(f"e1{letter}{v}")) for v in (4, 6)]
        tenants["interfaces"].append({"name": f"dc0.{number}", "port": "dc0", "vlan": number, "vrf": name,
                                      "addresses": [f"{GATE_A4}/24", f"{GATE_A6}/64"]})
        tenants["sids"].append({"sid": f"5f00:0:e2{letter}4::/48", "behavior": "uDT46", "vrf": name})
    make_router(k1)
    k1.ip("addr add fd00:a::1/64 dev wan0 nodad", "route add 5f00:0:200::/48 via fd00:a::2",
          "route add fd00:0:2::/48 via fd00:a::2", "sr tunsrc set fd00:0:1::1")
    seg6local(k1, U1, f"End {NEXT_CSID}", "wan0")
    t.node(s1, "fd00:0:2::1", [port(0, "wan0", "wan", "fd00:a::2/64", mtu=WAN_MTU), port(1, "dc0", "dc")],
           routes=via("wan0", "fd00:a::1", "5f00::/16", "fd00::/16"), **tenants)
    t.s1 = t.nodes["s1"]
    t.gate = s1.mac("dc0")
    return t


def tags_of(frame):
    return [tag.vlan for tag in frame.iterpayloads() if isinstance(tag, Dot1Q)]


def answer(frame):
    """A station's reply to an ARP or ND request for it, sent back the way the request came; None: not a request."""
    back = Ether(src=MAC_A, dst=frame.src)
    for number in tags_of(frame):
        back = back / Dot1Q(vlan=number)
    if ARP in frame and frame[ARP].op == 1 and frame[ARP].pdst == A4:
        return back / ARP(op=2, hwsrc=MAC_A, psrc=A4, hwdst=frame[ARP].hwsrc, pdst=frame[ARP].psrc)
    if ICMPv6ND_NS in frame and frame[ICMPv6ND_NS].tgt == A6:
        return back / IPv6(src=A6, dst=frame[IPv6].src, hlim=255) / ICMPv6ND_NA(tgt=A6, R=0) / ICMPv6NDOptDstLLAddr(lladdr=MAC_A)
    return None


def asks(t, number, packet, is_answer):
    """Send with this tag, answer requests meanwhile, and return the reply with its tag; it must be the same tag."""
    t.a.forget()
    t.a.send(Ether(src=MAC_A, dst=t.gate) / Dot1Q(vlan=number) / packet)
    deadline, asked = machine.Deadline(SETTLE), set()
    while not deadline.passed():
        for frame in map(Ether, t.a.take()):
            back = answer(frame)
            if back is not None:
                asked.update(tags_of(frame))
                t.a.send(back)
            elif is_answer(frame):
                expect(tags_of(frame) == [number], f"asked in VLAN {number}, answered in {tags_of(frame)}")
                expect(asked <= {number}, f"asked in VLAN {number}, A was looked for in {asked}")
                return frame
        time.sleep(0.02)
    raise Failure(f"VLAN {number}: no answer to {packet.summary()}")


def is_echo4(frame):
    return ICMP in frame and frame[ICMP].type == 0


def tenant4(t, name):
    found = asks(t, TENANTS[name][0], IP(src=A4, dst=host4(name)) / ICMP(id=7, seq=1) / b"tenant", is_echo4)
    expect((found[IP].src, found[IP].dst) == (host4(name), A4), found.summary())


def tenant6(t, name):
    found = asks(t, TENANTS[name][0], IPv6(src=A6, dst=host6(name)) / ICMPv6EchoRequest(id=7, data=b"tenant"),
                 lambda f: ICMPv6EchoReply in f)
    expect((found[IPv6].src, found[IPv6].dst) == (host6(name), A6), found.summary())


def apart(t):
    """A host of the other tenant is in no table of this one."""
    for mine, other in (("red", "blue"), ("blue", "red")):
        found = asks(t, TENANTS[mine][0], IP(src=A4, dst=host4(other)) / ICMP(), lambda f: ICMP in f and f[ICMP].type == 3)
        expect(found[IP].src == GATE_A4, found.summary())


def unknown(t):
    """A VLAN that no interface has, and frames without a tag on a port without addresses."""
    before = t.s1.drops()
    for tags in (Dot1Q(vlan=300), Dot1Q(vlan=100) / Dot1Q(vlan=200)):
        t.a.send(Ether(src=MAC_A, dst=t.gate) / tags / IP(src=A4, dst=host4("red")) / ICMP())
    tenant4(t, "red")  # behind them
    expect(t.s1.drops().get("vlan", 0) == before.get("vlan", 0) + 2, f"{t.s1.drops()}")
    shown = {i["interface"]: i for i in t.s1.show("interfaces")}
    expect(all(shown[f"dc0.{number}"]["rx"] for number, _, _ in TENANTS.values()), f"{shown}")


VLAN = [
    ("VLAN 100 to red's Linux host over IPv4, ARP in the VLAN", lambda t: tenant4(t, "red")),
    ("VLAN 100 over IPv6, ND in the VLAN", lambda t: tenant6(t, "red")),
    ("VLAN 200, the same addresses, to blue's host", lambda t: (tenant4(t, "blue"), tenant6(t, "blue"))),
    ("tenants do not reach each other", apart),
    ("other VLANs and stacked tags are dropped as vlan", unknown),
]

GROUPS = [("vlan", vlan, VLAN)]
