# SPDX-License-Identifier: BSD-3-Clause
"""
The node that sluice and the model both are: one SID of every kind and set of flavours, three tenants, one of them behind
a VLAN, circuits, every form of headend, HMAC TLVs; and no choice anywhere, because how flows are hashed is nobody's
business but sluice's. All neighbours are known.
"""

import itertools

FLAVORS = [list(c) for n in range(4) for c in itertools.combinations(("psp", "usp", "usd"), n)]
UP, DOWN = "2001:db8:a::1", "2001:db8:b::1"  # neighbours on p0 and p1


def mac(number):
    return f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}"


def port(n, side, *addresses, **more):
    return {"name": f"p{n}", "device": f"net_pcap{n},rx_pcap=in-p{n}.pcap,tx_pcap=out-p{n}.pcap", "side": side,
            "mac": mac(0xD000 + n), "addresses": list(addresses), "mtu": 1500, **more}


def sids():
    found = []
    for n, flavors in enumerate(FLAVORS, 1):
        flavors = flavors or ["none"]
        adjacency = {"port": "p1", "nexthop": "2001:db8:b::5"}
        found += [
            {"sid": f"5f00:0:{n}::/48", "behavior": "uN", "flavors": flavors},
            {"sid": f"5f00:0:e00{n}::/48", "behavior": "uA", "flavors": flavors, **adjacency},
            {"sid": f"5f00:1:2:{n}::/64", "behavior": "End", "flavors": flavors},
            {"sid": f"5f00:1:3:{n}::/64", "behavior": "End.X", "flavors": flavors, **adjacency},
            {"sid": f"5f00:1:4:{n}::/64", "behavior": "End.T", "flavors": flavors, "vrf": "red"},
        ]
    last = [("DT4", {"vrf": "blue"}), ("DT6", {"vrf": "blue"}), ("DT46", {"vrf": "red"}), ("DX2", {"port": "p4"}),
            ("DX4", {"port": "p1", "nexthop": "10.1.0.1"}), ("DX6", {"port": "p3", "nexthop": "2001:db8:3::33"})]
    for n, (kind, more) in enumerate(last, 1):
        found.append({"sid": f"5f00:0:e10{n}::/48", "behavior": f"u{kind}", **more})
        found.append({"sid": f"5f00:1:5:{n}::/64", "behavior": f"End.{kind}", **more})
    found += [
        {"sid": "5f00:0:100::/48", "behavior": "uN"},
        {"sid": "5f00:0:100:e009::/64", "behavior": "uA", "port": "p1", "nexthop": DOWN},
        {"sid": "5f00:0:e146::/48", "behavior": "uDT46"},
        {"sid": "5f00:1:5:9::/64", "behavior": "End.DT46", "allow": ["ping", "traceroute"]},
        {"sid": "5f00:1:5:a::/64", "behavior": "End.DT6", "allow": ["none"]},
        {"sid": "5f00:0:e107::/48", "behavior": "uDT46", "vrf": "green"},
        {"sid": "5f00:0:e10a::/48", "behavior": "uDT46", "vrf": "green", "dscp": "copy"},
        {"sid": "5f00:0:e10b::/48", "behavior": "uDT46", "vrf": "red", "dscp": "map", "dscp-map": "some"},
        {"sid": "5f00:0:e10c::/48", "behavior": "uDX4", "port": "p1", "nexthop": "10.1.0.1", "dscp": "copy"},
        {"sid": "5f00:1:5:c::/64", "behavior": "End.DT46", "dscp": "map", "dscp-map": "swap"},
        {"sid": "5f00:0:a::/48", "behavior": "uN", "dscp": "copy"},
        {"sid": "5f00:1:2:a::/64", "behavior": "End", "flavors": ["usd"], "dscp": "map", "dscp-map": "swap"},
        {"sid": "5f00:0:e108::/48", "behavior": "uDX6", "port": "p3.7.9", "nexthop": "2001:db8:79::9"},
        {"sid": "5f00:0:e00a::/48", "behavior": "uA", "port": "p1.50", "nexthop": "2001:db8:50::9"},
        {"sid": "5f00:0:e00b::/48", "behavior": "uA.PFC", "port": "p1", "nexthop": DOWN},
        {"sid": "5f00:1:7:1::/64", "behavior": "End.X.PFC", "port": "p1", "nexthop": DOWN},
        {"sid": "5f00:1:7:2::/64", "behavior": "End.X.PFC", "flavors": ["psp", "usp"], "port": "p1", "nexthop": DOWN},
    ]
    return found


def config():
    """As in the configuration, plus `containers`: those that a path's segments make by RFC 9800 section 6.2."""
    policies = [
        {"name": "one", "flow-label": 0x11111, "paths": [
            {"name": "a", "segments": ["5f00:0:500::", "5f00:0:501::", "5f00:0:e502::"],
             "containers": ["5f00:0:500:501:e502::"]}]},
        {"name": "two", "flow-label": 0x22222, "hop-limit": 9, "dscp": "set", "dscp-value": 10, "paths": [
            {"name": "a", "segments": [f"5f00:0:50{n}::" for n in range(8)],
             "containers": ["5f00:0:500:501:502:503:504:505", "5f00:0:506:507::"]}]},
        {"name": "three", "flow-label": 0x33333, "dscp": "map", "dscp-map": "some", "paths": [
            {"name": "a", "segments": ["5f00:7:1:1::", "5f00:8:1:1::", "5f00:9:1:1::"],
             "containers": ["5f00:7:1:1::", "5f00:8:1:1::", "5f00:9:1:1::"]}]},
        {"name": "frames", "encap": "H.Encaps.L2", "flow-label": 0x44444, "hmac-key": 7, "paths": [
            {"name": "a", "segments": [f"5f00:0:50{n}::" for n in range(8)],
             "containers": ["5f00:0:500:501:502:503:504:505", "5f00:0:506:507::"]}]},
        {"name": "frames-red", "encap": "H.Encaps.L2.Red", "flow-label": 0x55555, "dscp": "map", "dscp-map": "some", "paths": [
            {"name": "a", "segments": [f"5f00:0:50{n}::" for n in range(8)],
             "containers": ["5f00:0:500:501:502:503:504:505", "5f00:0:506:507::"]}]},
        {"name": "frame-one", "encap": "H.Encaps.L2", "flow-label": 0x66666, "dscp": "set", "dscp-value": 45, "paths": [
            {"name": "a", "segments": ["5f00:0:500::"], "containers": ["5f00:0:500::"]}]},
        {"name": "full", "encap": "H.Encaps", "flow-label": 0x77777, "paths": [
            {"name": "a", "segments": ["5f00:7:1:1::", "5f00:8:1:1::"], "containers": ["5f00:7:1:1::", "5f00:8:1:1::"]}]},
        {"name": "proven", "flow-label": 0x88888, "hmac-key": 7, "paths": [
            {"name": "a", "segments": ["5f00:7:1:1::", "5f00:8:1:1::"], "containers": ["5f00:7:1:1::", "5f00:8:1:1::"]}]},
        {"name": "proven-one", "flow-label": 0x99999, "hmac-key": 0x10002, "paths": [
            {"name": "a", "segments": ["5f00:7:1:1::"], "containers": ["5f00:7:1:1::"]}]},
        {"name": "nowhere", "flow-label": 1, "paths": [
            {"name": "a", "segments": ["5f00:0:999::"], "containers": ["5f00:0:999::"]}]},
    ]
    near = [("p0", UP, 0xA000), ("p0", "10.0.0.1", 0xA000), ("p1", DOWN, 0xB001), ("p1", "2001:db8:b::5", 0xB005),
            ("p1", "10.1.0.1", 0xB001), ("p2", "2001:db8:1::11", 0xC011), ("p2", "192.0.2.11", 0xC011),
            ("p3", "2001:db8:3::33", 0xE033), ("p3", "198.51.100.33", 0xE033),
            ("p2.100", "2001:db8:64::9", 0xC064), ("p2.100", "192.0.2.11", 0xC065), ("p3.7.9", "2001:db8:79::9", 0xE079),
            ("p1.50", "2001:db8:50::9", 0xB050)]
    return {
        "node": {"name": "diff", "loopback": "2001:db8:f::d", "usid": {"block": "5f00:0::/32", "node": 0x100},
                 "infrastructure": ["2001:db8:a::/64", "2001:db8:b::/64", "2001:db8:f::/64"]},
        "lcores": {"control": 0, "rx": [0], "worker": [0], "cpus": "0@0"},
        "memory": {"hugepages": "off", "buffers": "32K", "ring": "4K"},
        "idle": {"policy": "sleep"},
        "icmp": {"errors-per-port": "1M", "errors": "1M", "echo": "1M"},
        "ports": [port(0, "wan", "2001:db8:a::2/64", "10.0.0.2/24", **{"dscp-out": "low"}),
                  port(1, "wan", "2001:db8:b::2/64", "10.1.0.2/24", speed="10G", **{"dscp-in": "low"}),
                  port(2, "dc", "2001:db8:1::1/64", "192.0.2.1/24", vrf="red"),
                  port(3, "dc", "2001:db8:3::1/64", "198.51.100.1/24", vrf="blue", **{"dscp-in": "swap", "dscp-out": "swap"}),
                  port(4, "dc"), port(5, "dc")],
        "dscp-maps": [
            {"name": "swap", "map": [{"from": d, "dscp": 63 - d} for d in range(64)]},
            {"name": "low", "map": [{"from": 0, "to": 9, "dscp": 46}, {"from": 26, "dscp": 10}, {"from": 46, "dscp": 0},
                                    {"from": 56, "to": 60, "dscp": 3}]},
            {"name": "some", "map": [{"from": 0, "to": 20, "dscp": 33}, {"from": 30, "to": 50, "dscp": 12}]},
        ],
        "interfaces": [
            {"name": "p2.100", "port": "p2", "vlan": 100, "vrf": "green", "mtu": 1400,
             "addresses": ["2001:db8:64::1/64", "192.0.2.1/24"]},
            {"name": "p3.7.9", "port": "p3", "vlan": 7, "inner-vlan": 9, "vrf": "blue", "addresses": ["2001:db8:79::1/64"]},
            {"name": "p1.50", "port": "p1", "vlan": 50, "addresses": ["2001:db8:50::1/64"]},
        ],
        "circuits": [
            {"name": "all", "port": "p5", "vlan": "any", "policy": "frames-red"},
            {"name": "one", "port": "p5", "vlan": 5, "policy": "frames"},
            {"name": "bare", "port": "p5", "vlan": 0, "policy": "frame-one"},
            {"name": "apart", "port": "p3", "vlan": 100, "policy": "frame-one"},
        ],
        "hmac": {"keys": "hmac.keys"},
        "hmac-keys": {7: "00112233445566778899aabbccddeeff", 0x10002: "ff" * 64},
        "neighbors": [{"port": p, "address": a, "mac": mac(m)} for p, a, m in near],
        "routes": [{"prefix": p, "port": "p1", "nexthop": DOWN} for p in
                   ("5f00:0:500::/48", "5f00:7::/32", "5f00:8::/32", "2001:db8:3::/64", "::/0")] +
                  [{"prefix": p, "port": "p0", "nexthop": UP} for p in ("5f00:0:700::/48", "2001:db8:1::/64")] +
                  [{"prefix": "5f00:0::/32", "port": "p0", "nexthop": UP}] +
                  [{"prefix": p, "port": "p1.50", "nexthop": "2001:db8:50::9"} for p in ("5f00:0:701::/48", "2001:db8:65::/64")] +
                  [{"prefix": "198.51.100.0/24", "port": "p1", "nexthop": "10.1.0.1"},
                   {"prefix": "192.0.2.0/24", "port": "p0", "nexthop": "10.0.0.1"}],
        "vrfs": [
            {"name": "red", "routes": [{"prefix": p, "policy": q} for p, q in (
                ("2001:db8:3::/64", "one"), ("198.51.100.0/24", "two"), ("2001:db8:4::/64", "two"),
                ("203.0.113.0/24", "three"), ("2001:db8:5::/64", "three"), ("2001:db8:6::/64", "nowhere"))]},
            {"name": "green", "routes": [{"prefix": p, "policy": q} for p, q in (
                ("2001:db8:3::/64", "full"), ("198.51.100.0/24", "proven"), ("2001:db8:4::/64", "proven"),
                ("203.0.113.0/24", "proven-one"), ("2001:db8:5::/64", "two"))] +
                [{"prefix": "2001:db8:6::/64", "port": "p2.100", "nexthop": "2001:db8:64::9"}]},
            {"name": "blue", "routes": [{"prefix": "2001:db8:1::/64", "policy": "one"},
                                        {"prefix": "192.0.2.0/24", "policy": "one"}]},
        ],
        "sids": sids(),
        "policies": policies,
    }
