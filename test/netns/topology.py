# SPDX-License-Identifier: BSD-3-Clause
"""
The networks of the tests. Host A is 10.1.0.11 and 2001:db8:1::11, host B 10.3.0.33 and 2001:db8:3::33.

    through   A -- gw -- r1 -- r2 -- pe -- B      gw, pe: sluice, headend and decapsulator; r1, r2: kernel, uN and uA
    mirror    A -- k1 -- s1 -- s2 -- k2 -- B      k1, k2: kernel, headend and decapsulator; s1, s2: sluice, uN and uA
    mixed     A -- k1 -- s1 -- B                  each of them headend and decapsulator for the other
    twin      the same frames through Linux and through sluice: see twin.py

Every wan link is a /64 of fd00::/16. VRFs are not in every kernel, and End.DT4 and End.DT46 of Linux need one, so the
kernel decapsulates IPv4 with End.DX4, and End.DT6 looks up an ordinary table.
"""

from net import Net, make_host, make_port, make_router
from node import LARGE_BUFFERS, Node, large_port, long_port, over, policy, port, quick_discovery, via
from station import Station
from twin import SENDER_MAC, SINK_MAC, TENANT_MAC, TWIN_MACS

A4, A6, B4, B6 = "10.1.0.11", "2001:db8:1::11", "10.3.0.33", "2001:db8:3::33"
NET_A4, NET_A6, NET_B4, NET_B6 = "10.1.0.0/24", "2001:db8:1::/64", "10.3.0.0/24", "2001:db8:3::/64"
GATE_A4, GATE_A6, GATE_B4, GATE_B6 = "10.1.0.1", "2001:db8:1::1", "10.3.0.1", "2001:db8:3::1"
WAN_MTU = 1600
JUMBO_HOST = 8960
# global ids of the nodes, one for each of them from A to B
U1, U2, U3, U4 = (f"5f00:0:{n}00::/48" for n in (1, 2, 3, 4))


def sid(*csids):
    return "5f00:0:" + ":".join(csids) + "::"


class Topology:
    def __init__(self, options):
        self.options, self.net = options, Net()
        self.nodes, self.stations = {}, []
        self.a = self.b = None

    def spaces(self, *names):
        return [self.net.space(n) for n in names]

    def node(self, space, loopback, ports, **sections):
        self.nodes[space.name] = Node(space, self.options, loopback, ports, **sections)

    def station(self, space, mac, *interfaces):
        """Interfaces of this MAC address without a protocol stack."""
        for interface in interfaces:
            make_port(space, interface)
            space.ip(f"link set {interface} address {mac}")
        return self.watch(space, *interfaces)

    def watch(self, space, *interfaces):
        """See every frame that passes there, both ways."""
        self.stations.append(Station(space, *interfaces))
        return self.stations[-1]

    def hosts(self, mtu=1500):
        """Addresses of the hosts; their links are there. Called again after a link was down."""
        make_host(self.a, "eth0", [f"{A4}/24", f"{A6}/64"], [GATE_A4, GATE_A6])
        make_host(self.b, "eth0", [f"{B4}/24", f"{B6}/64"], [GATE_B4, GATE_B6])

    def start(self):
        for node in self.nodes.values():
            node.start()
        return self

    def close(self):
        for node in self.nodes.values():
            node.kill()
        for station in self.stations:
            station.close()
        self.net.close()


def seg6local(space, prefix, action, dev):
    space.ip(f"route add {prefix} encap seg6local action {action} dev {dev}")


NEXT_CSID = "flavors next-csid lblen 32 nflen 16"


def through(options, host_mtu=1500, wan_mtu=WAN_MTU, port=port, far_port=port, **far):
    t = Topology(options)
    a, gw, r1, r2, pe, b = t.spaces("a", "gw", "r1", "r2", "pe", "b")
    t.a, t.b = a, b
    t.net.link(a, "eth0", gw, "dc0", mtu=host_mtu)
    t.net.link(gw, "wan0", r1, "west", mtu=wan_mtu)
    t.net.link(r1, "east", r2, "west", mtu=wan_mtu)
    t.net.link(r2, "east", pe, "wan0", mtu=wan_mtu)
    t.net.link(pe, "dc0", b, "eth0", mtu=host_mtu)
    t.hosts()
    for router in (r1, r2):
        make_router(router)
    r1.ip("addr add fd00:a::2/64 dev west nodad", "addr add fd00:b::1/64 dev east nodad",
          f"route add {U1} via fd00:a::1", f"route add {U3} via fd00:b::2", f"route add {U4} via fd00:b::2",
          "route add fd00:0:1::/48 via fd00:a::1", "route add fd00:0:4::/48 via fd00:b::2")
    r2.ip("addr add fd00:b::2/64 dev west nodad", "addr add fd00:c::1/64 dev east nodad",
          f"route add {U4} via fd00:c::2", f"route add {U2} via fd00:b::1", f"route add {U1} via fd00:b::1",
          "route add fd00:0:4::/48 via fd00:c::2", "route add fd00:0:1::/48 via fd00:b::1")
    seg6local(r1, U2, f"End {NEXT_CSID}", "west")
    seg6local(r2, U3, f"End {NEXT_CSID}", "east")
    seg6local(r1, "5f00:0:e201::/48", f"End.X nh6 fd00:a::1 {NEXT_CSID}", "east")
    # eastwards the node's id and the function after it are consumed in one step
    seg6local(r2, "5f00:0:300:e301::/64", "End.X nh6 fd00:c::2 flavors next-csid lblen 32 nflen 32", "east")
    t.node(gw, "fd00:0:1::1",
           [port(0, "dc0", "dc", f"{GATE_A4}/24", f"{GATE_A6}/64", vrf="blue", mtu=host_mtu),
            port(1, "wan0", "wan", "fd00:a::1/64", mtu=wan_mtu)],
           routes=via("wan0", "fd00:a::2", "5f00::/16", "fd00::/16"),
           vrfs=[{"name": "blue", "routes": over("east", NET_B4, NET_B6)}],
           sids=[{"sid": U1, "behavior": "uN"}, {"sid": "5f00:0:e146::/48", "behavior": "uDT46", "vrf": "blue"}],
           policies=[policy("east", sid("200"), sid("300", "e301"), sid("400", "e446"))],
           neighbor_discovery=quick_discovery())
    t.node(pe, "fd00:0:4::1",
           [far_port(0, "wan0", "wan", "fd00:c::2/64", mtu=wan_mtu),
            far_port(1, "dc0", "dc", f"{GATE_B4}/24", f"{GATE_B6}/64", vrf="blue", mtu=host_mtu)],
           routes=via("wan0", "fd00:c::1", "5f00::/16", "fd00::/16"),
           vrfs=[{"name": "blue", "routes": over("west", NET_A4, NET_A6)}],
           sids=[{"sid": U4, "behavior": "uN"}, {"sid": "5f00:0:e446::/48", "behavior": "uDT46", "vrf": "blue"}],
           # westwards uN and uA are two steps
           policies=[policy("west", sid("300"), sid("200"), sid("e201"), sid("100"), sid("e146"))],
           neighbor_discovery=quick_discovery(), **far)
    return t


def jumbo(options):
    """
    As through, with packets of the hosts that fill an MTU of 9000 once they are in the tunnel: chains of buffers in one node,
    buffers that hold a whole frame in the other.
    """
    return through(options, host_mtu=JUMBO_HOST, wan_mtu=JUMBO_HOST + 40, port=long_port, far_port=large_port,
                   memory=LARGE_BUFFERS)


def core_node(t, space, west, own_sid, adjacency_sids, east, loopback, routes):
    """sluice in the middle: two wan ports, a uN, and uAs to both sides."""
    t.node(space, loopback,
           [port(0, "west", "wan", west, mtu=WAN_MTU), port(1, "east", "wan", east, mtu=WAN_MTU)],
           routes=routes, sids=[{"sid": own_sid, "behavior": "uN"}, *adjacency_sids])


def kernel_edge(space, tunnel_source, wan, wan_address, gate4, gate6):
    """A kernel router with a host on hosts0; wan is its interface towards sluice."""
    make_router(space)
    space.ip(f"addr add {wan_address} dev {wan} nodad", f"addr add {gate4}/24 dev hosts0",
             f"addr add {gate6}/64 dev hosts0 nodad", f"sr tunsrc set {tunnel_source}")


def encaps(space, mode, segments, *prefixes):
    """H.Encaps of the kernel; segments as in the packet, in the order of travel."""
    space.ip(*(f"route replace {p} encap seg6 mode {mode} segs {','.join(segments)} dev wan0" for p in prefixes))


def decapsulators(space, function, host4, host6):
    """One SID for each way Linux takes packets out of a tunnel; `function` is their common beginning."""
    seg6local(space, f"5f00:0:{function}6::/48", "End.DT6 table 254", "hosts0")
    seg6local(space, f"5f00:0:{function}7::/48", f"End.DX6 nh6 {host6}", "hosts0")
    seg6local(space, f"5f00:0:{function}4::/48", f"End.DX4 nh4 {host4}", "hosts0")
    seg6local(space, f"5f00:0:{function}2::/48", "End.DX2 oif hosts0", "hosts0")


def mirror(options):
    t = Topology(options)
    a, k1, s1, s2, k2, b = t.spaces("a", "k1", "s1", "s2", "k2", "b")
    t.a, t.b, t.k1, t.k2 = a, b, k1, k2
    t.net.link(a, "eth0", k1, "hosts0")
    t.net.link(k1, "wan0", s1, "west", mtu=WAN_MTU)
    t.net.link(s1, "east", s2, "west", mtu=WAN_MTU)
    t.net.link(s2, "east", k2, "wan0", mtu=WAN_MTU)
    t.net.link(k2, "hosts0", b, "eth0")
    t.hosts()
    kernel_edge(k1, "fd00:0:1::1", "wan0", "fd00:a::1/64", GATE_A4, GATE_A6)
    kernel_edge(k2, "fd00:0:4::1", "wan0", "fd00:c::2/64", GATE_B4, GATE_B6)
    k1.ip("route add 5f00::/16 via fd00:a::2", "route add fd00::/16 via fd00:a::2")
    k2.ip("route add 5f00::/16 via fd00:c::1", "route add fd00::/16 via fd00:c::1")
    decapsulators(k1, "e10", A4, A6)
    decapsulators(k2, "e40", B4, B6)
    core_node(t, s1, "fd00:a::2/64", U2,
              [{"sid": "5f00:0:e201::/48", "behavior": "uA", "port": "west", "nexthop": "fd00:a::1"}],
              "fd00:b::1/64", "fd00:0:2::1",
              via("east", "fd00:b::2", U3, U4) + via("west", "fd00:a::1", U1, "fd00:0:1::/48"))
    core_node(t, s2, "fd00:b::2/64", U3,
              [{"sid": "5f00:0:e301::/48", "behavior": "uA", "port": "east", "nexthop": "fd00:c::2"}],
              "fd00:c::1/64", "fd00:0:3::1",
              via("west", "fd00:b::1", U2, U1) + via("east", "fd00:c::2", U4, "fd00:0:4::/48"))
    return t


def beside(options):
    """A -- k1 -- s1 -- B, links and hosts: (topology, k1, s1)."""
    t = Topology(options)
    t.a, t.k1, s1, t.b = t.spaces("a", "k1", "s1", "b")
    t.net.link(t.a, "eth0", t.k1, "hosts0")
    t.net.link(t.k1, "wan0", s1, "wan0", mtu=WAN_MTU)
    t.net.link(s1, "dc0", t.b, "eth0")
    t.hosts()
    return t, t.k1, s1


def mixed(options):
    t, k1, s1 = beside(options)
    kernel_edge(k1, "fd00:0:1::1", "wan0", "fd00:a::1/64", GATE_A4, GATE_A6)
    k1.ip("route add 5f00::/16 via fd00:a::2", "route add fd00::/16 via fd00:a::2")
    decapsulators(k1, "e10", A4, A6)
    seg6local(k1, U1, f"End {NEXT_CSID}", "wan0")
    encaps(k1, "encap.red", ["5f00:0:200:e246::"], NET_B4, NET_B6)
    t.node(s1, "fd00:0:2::1",
           [port(0, "wan0", "wan", "fd00:a::2/64", mtu=WAN_MTU),
            port(1, "dc0", "dc", f"{GATE_B4}/24", f"{GATE_B6}/64", vrf="blue")],
           routes=via("wan0", "fd00:a::1", "5f00::/16", "fd00::/16"),
           vrfs=[{"name": "blue", "routes": over("four", NET_A4) + over("six", NET_A6)}],
           sids=[{"sid": U2, "behavior": "uN"}, {"sid": "5f00:0:e246::/48", "behavior": "uDT46", "vrf": "blue"}],
           policies=[policy("four", sid("100"), sid("e104")), policy("six", sid("100"), sid("e106"))])
    return t


def twin(options):
    """Two nodes with the same SIDs, addresses and MACs, each between two interfaces of its own namespace of hosts."""
    t = Topology(options)
    hosts_l, linux, hosts_s, sluice = t.spaces("hl", "linux", "hs", "sluice")
    t.linux, t.sluice = hosts_l, hosts_s
    for hosts, node in ((hosts_l, linux), (hosts_s, sluice)):
        t.net.link(hosts, "eth0", node, "west", mtu=WAN_MTU)
        t.net.link(hosts, "eth1", node, "east", mtu=WAN_MTU)
        t.net.link(hosts, "eth2", node, "tenant")
        hosts.sysctl(*(f"net.ipv6.conf.eth{n}.disable_ipv6=1" for n in range(3)))
        for n, (name, mac) in enumerate((("west", SENDER_MAC), ("east", SINK_MAC), ("tenant", TENANT_MAC))):
            hosts.ip(f"link set eth{n} address {mac}")
            node.ip(f"link set {name} address {TWIN_MACS[n]}")
    make_router(linux)
    linux.ip("addr add fd00:0:1::1/128 dev lo", "addr add fd00:a::2/64 dev west nodad",
             "addr add fd00:b::2/64 dev east nodad", "addr add 10.9.0.2/24 dev east",
             f"addr add {GATE_A4}/24 dev tenant", f"addr add {GATE_A6}/64 dev tenant nodad",
             f"neigh add fd00:a::1 lladdr {SENDER_MAC} dev west", f"neigh add fd00:b::1 lladdr {SINK_MAC} dev east",
             # End.DX4 of Linux asks ARP for the packet's destination, on the link of nh4
             f"neigh add {B4} lladdr {SINK_MAC} dev east", "sr tunsrc set fd00:0:1::1",
             *(f"route add {p} via fd00:b::1" for p in ("5f00:0:500::/48", "5f00:0:600::/48", "fd00:c::/64")))
    seg6local(linux, U2, f"End {NEXT_CSID}", "west")
    seg6local(linux, "5f00:0:e201::/48", f"End.X nh6 fd00:b::1 {NEXT_CSID}", "east")
    seg6local(linux, "5f00:0:200:e202::/64", "End.X nh6 fd00:b::1 flavors next-csid lblen 32 nflen 32", "east")
    seg6local(linux, "5f00:0:e206::/48", "End.DX6 nh6 fd00:b::1", "east")
    seg6local(linux, "5f00:0:e204::/48", "End.DX4 nh4 10.9.0.1", "east")
    linux.ip(*(f"route add {p} encap seg6 mode encap.red segs 5f00:0:500:600:e446:: dev east" for p in (NET_B4, NET_B6)))
    adjacency = {"port": "east", "nexthop": "fd00:b::1"}
    t.node(sluice, "fd00:0:1::1",
           [port(0, "west", "wan", "fd00:a::2/64", mtu=WAN_MTU),
            port(1, "east", "wan", "fd00:b::2/64", "10.9.0.2/24", mtu=WAN_MTU),
            port(2, "tenant", "dc", f"{GATE_A4}/24", f"{GATE_A6}/64", vrf="blue")],
           neighbors=[{"port": "west", "address": "fd00:a::1", "mac": SENDER_MAC},
                      {"port": "east", "address": "fd00:b::1", "mac": SINK_MAC},
                      {"port": "east", "address": "10.9.0.1", "mac": SINK_MAC}],
           routes=via("east", "fd00:b::1", "5f00:0:500::/48", "5f00:0:600::/48", "fd00:c::/64"),
           vrfs=[{"name": "blue", "routes": over("east", NET_B4, NET_B6)}],
           policies=[policy("east", sid("500"), sid("600"), sid("e446"))],
           sids=[{"sid": U2, "behavior": "uN"}, {"sid": "5f00:0:e201::/48", "behavior": "uA", **adjacency},
                 {"sid": "5f00:0:200:e202::/64", "behavior": "uA", **adjacency},
                 {"sid": "5f00:0:e206::/48", "behavior": "uDX6", **adjacency},
                 {"sid": "5f00:0:e204::/48", "behavior": "uDX4", "port": "east", "nexthop": "10.9.0.1"}])
    return t
