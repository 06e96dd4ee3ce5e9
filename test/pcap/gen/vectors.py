# SPDX-License-Identifier: BSD-3-Clause
"""
The golden vectors: frames made elsewhere, with another program, and never made anew. Here are only their
configurations and the digests of their captures.
"""

from gen.case import Case
from gen.node import neighbor, node, over, policy, port, sid, via, vrf

FLOW_LABEL = 0x12345


def _node(*, sids=(), routes=(), **more):
    """Two wan ports; the neighbours send from 2001:db8:a::/64 and 2001:db8:b::/64."""
    ports = [port("p0", "wan", "2001:db8:a::2/64"), port("p1", "wan", "2001:db8:b::2/64")]
    neighbors = [
        neighbor("p0", "2001:db8:a::1"),
        neighbor("p1", "2001:db8:b::1"),
    ]
    return node(ports, neighbors=neighbors, routes=list(routes), sids=list(sids), **more)


def _headend(usids):
    """p0 belongs to a tenant, whose traffic to 2001:db8:3::33 takes a list of uSIDs."""
    ports = [port("p0", "dc", "2001:db8:1::1/64", vrf="tenant"), port("p1", "wan", "2001:db8:b::2/64")]
    return node(
        ports,
        neighbors=[neighbor("p1", "2001:db8:b::1")],
        routes=via("p1", "2001:db8:b::1", "5f00:0:100::/48"),
        vrfs=[vrf("tenant", *over("far", "2001:db8:3::33/128"))],
        policies=[policy("far", [f"5f00:0:{u}::" for u in usids], flow_label=FLOW_LABEL)],
    )


def _boundary():
    ports = [
        port("p0", "wan", "2001:db8:a::2/64"),
        port("p1", "wan", "2001:db8:b::2/64"),
        port("p2", "dc", "2001:db8:c::2/64"),
    ]
    return node(
        ports,
        neighbors=[neighbor("p1", "2001:db8:b::1")],
        routes=via("p1", "2001:db8:b::1", "5f00:0:500::/48"),
        sids=[sid("5f00:0:100::/48", "uN")],
    )


def _pfc(*sids, **more):
    """Port p1 leads to the far end of PFC tunnels; its speed gives the length of a pause."""
    config = _node(sids=sids, **more)
    config["ports"][1]["speed"] = "100G"
    return config


GATEWAY = ["02:00:00:00:c0:02", "02:00:00:00:c0:ff"]  # MAC of its port and of the system


def _relay(sids=(), priorities=(), **keys):
    """p2 leads to a DC gateway whose PFC goes through the WAN."""
    pfc = {"pfc": {"priorities": list(priorities), "peers": GATEWAY, "buffer": "small"}} if priorities else {}
    ports = [
        port("p0", "wan", "2001:db8:a::2/64"),
        port("p1", "wan", "2001:db8:b::2/64"),
        port("p2", "dc", "2001:db8:c::2/64", speed="1G", **pfc),
    ]
    return node(
        ports,
        neighbors=[neighbor("p0", "2001:db8:a::1"), neighbor("p1", "2001:db8:b::1")],
        routes=via("p0", "2001:db8:a::1", "5f00:1:1::/48"),
        sids=list(sids),
        buffer_profiles=[{"name": "small", "xoff": 8192, "headroom": 8192, "forced": True}],
        pfc_relays=[{"name": "gw", "port": "p2", "mode": "transparent", **keys}],
    )


def _to_p1(*prefixes):
    return via("p1", "2001:db8:b::1", *prefixes)


# name, title, ref, configuration, port in, port out (None: nothing is sent), drops
_VECTORS = [
    (
        "v01_un_shift",
        "uN: shift, no SRH",
        "RFC 9800 4.1.1 N01-N08; draft-filsfils-spring-srv6-ai-backend-00 5.2 Leaf1",
        lambda: _node(sids=[sid("5f00:0:100::/48", "uN")], routes=_to_p1("5f00:0:500::/48")),
        "p0",
        "p1",
        {},
    ),
    (
        "v03_un_usd_v6",
        "uN, last uSID (argument 0, no SRH): USD decapsulation of IPv6",
        "RFC 8986 4.16.3; RFC 9800 4.1.7; draft-filsfils-spring-srv6-ai-backend-00 5.2 Leaf3",
        lambda: _node(sids=[sid("5f00:0:300::/48", "uN")], routes=_to_p1("2001:db8:3::/64")),
        "p0",
        "p1",
        {},
    ),
    (
        "v05_un_usd_v4",
        "uN, last uSID: USD decapsulation of IPv4",
        "RFC 8986 4.16.3 S04-S06",
        lambda: _node(sids=[sid("5f00:0:300::/48", "uN")], routes=_to_p1("198.51.100.0/24")),
        "p0",
        "p1",
        {},
    ),
    (
        "v06_ua_lib",
        "uA from the LIB (/48 entry): shift and send over the adjacency, no lookup",
        "RFC 9800 4.1.2, 5.3",
        lambda: _node(sids=[sid("5f00:0:e005::/48", "uA", port="p1", nexthop="2001:db8:b::1")]),
        "p0",
        "p1",
        {},
    ),
    (
        "v08_carrier_end_psp",
        "end of carrier (argument 0, SL 1) at a PSP uN: next container to DA, SRH popped",
        "RFC 9800 4.1.1, 6.3 rule 2; RFC 8986 4.16.1.2 S14.1-S14.4",
        lambda: _node(sids=[sid("5f00:0:600::/48", "uN")], routes=_to_p1("5f00:0:300::/48")),
        "p0",
        "p1",
        {},
    ),
    (
        "v11_hencaps_red_6",
        "H.Encaps.Red, 6 uSIDs: one container, no SRH",
        "RFC 8986 5.2; RFC 9800 6.2; draft-filsfils-spring-srv6-ai-backend-00 4",
        lambda: _headend(["100", "500", "900", "600", "300", "f046"]),
        "p0",
        "p1",
        {},
    ),
    (
        "v12_hencaps_red_8",
        "H.Encaps.Red, 8 uSIDs: second container in a one-entry SRH (SL 1, Last Entry 0)",
        "RFC 8754 4.1.1; RFC 9800 6.2",
        lambda: _headend(["100", "500", "900", "a00", "b00", "600", "300", "f046"]),
        "p0",
        "p1",
        {},
    ),
    (
        "v14_time_exceeded",
        "uN shift with hop limit 1: ICMPv6 Time Exceeded",
        "RFC 9800 4.1.1 N02-N03; RFC 4443 3.3",
        lambda: _node(sids=[sid("5f00:0:100::/48", "uN")], routes=_to_p1("5f00:0:500::/48")),
        "p0",
        "p0",
        {"p0": {"hop_limit": 1}},
    ),
    (
        "v15_param_problem_sl",
        "argument 0, Segments Left 3 > Last Entry 0 + 1: ICMPv6 Parameter Problem, code 0, pointer 43",
        "RFC 8986 4.1 S09-S10",
        lambda: _node(sids=[sid("5f00:0:600::/48", "uN")], routes=_to_p1("5f00:0:300::/48")),
        "p0",
        "p0",
        {"p0": {"srh_bounds": 1}},
    ),
    (
        "v17_ping_usid",
        "ping of a uSID (argument 0)",
        "RFC 9800 9.3; RFC 9259 A.1.2; RFC 4443 4.2",
        lambda: _node(sids=[sid("5f00:0:300::/48", "uN")]),
        "p0",
        "p0",
        {"p0": {"echo": 1}},
    ),
    (
        "v18_boundary_drop",
        "external port: packet to a SID of the domain is dropped, silently",
        "RFC 8754 5.1 item 1; RFC 9602 7",
        _boundary,
        "p2",
        None,
        {"p2": {"boundary_drop": 1}},
    ),
    (
        "v21_endxpfc_transit",
        "End.X.PFC on the way (SL 3): End.X over interface J",
        "draft-ruan-spring-priority-flow-control-sid-02 2 S01-S16",
        lambda: _pfc(sid("5f00:1:1:e1::/64", "End.X.PFC", port="p1", nexthop="2001:db8:b::1")),
        "p0",
        "p1",
        {},
    ),
    (
        "v23_endxpfc_term_srh",
        "End.X.PFC ends a PFC frame, SRH with SL 0",
        "draft-ruan-spring-priority-flow-control-sid-02 2 upper layer S01-S04; 3 scenario 1",
        lambda: _pfc(sid("5f00:1:1:e1::/64", "End.X.PFC", port="p1", nexthop="2001:db8:b::1")),
        "p1",
        None,
        {"p1": {"pfc": 1}},
    ),
    (
        "v25_endxpfc_not_pfc",
        "next header 143 but no PFC frame: decapsulated and dropped, never bridged",
        "draft-ruan-spring-priority-flow-control-sid-02 2 S03 has no else branch",
        lambda: _pfc(sid("5f00:1:1:e1::/64", "End.X.PFC", port="p1", nexthop="2001:db8:b::1")),
        "p1",
        None,
        {"p1": {"pfc_bad_da": 1}},
    ),
    (
        "v27_pfc_encap_nosrh",
        "legal PFC from the DC gateway: H.Encaps.L2.Red, one SID, no SRH, CS7",
        "draft-he-rtgwg-wan-pfc-00 3.2; RFC 8986 5.3-5.4",
        lambda: _relay(priorities=[3], segments=["5f00:1:1:e1::"]),
        "p2",
        "p0",
        {"p2": {"pfc": 1}},
    ),
    (
        "v29_pfc_bad_smac",
        "source MAC is neither port nor system MAC of the peer: dropped",
        "draft-he-rtgwg-wan-pfc-00 3.2",
        lambda: _relay(priorities=[3], segments=["5f00:1:1:e1::"]),
        "p2",
        None,
        {"p2": {"pfc_bad_peer": 1}},
    ),
    (
        "v32_pfc_relay",
        "ingress PE: decapsulate, source MAC of the own port, to the DC gateway",
        "draft-he-rtgwg-wan-pfc-00 3.2 par. 4; RFC 8986 4.9 S03",
        lambda: _relay([sid("5f00:1:1:d2::/64", "End.DX2", port="p2")], sid="5f00:1:1:d2::/64"),
        "p1",
        "p2",
        {"p1": {"pfc": 1}},
    ),
    (
        "v19_hmac_ok",
        "End with a required HMAC TLV (HMAC-SHA-256, key id 1): verified, forwarded",
        "RFC 8754 2.1.2.1",
        lambda: _node(
            sids=[sid("5f00:1:2:1::/64", "End", hmac="required")],
            routes=_to_p1("5f00:1:3::/48"),
            hmac={"keys": "hmac.keys"},
        ),
        "p0",
        "p1",
        {},
    ),
    (
        "v45_cnp",
        "CNP (BTH opcode 0x81) to a local NIC inside a returning tunnel: decapsulated and delivered",
        "IBTA A17; draft-filsfils-spring-srv6-ai-backend-00 5.3",
        lambda: _node(
            sids=[sid("5f00:0:100::/48", "uN")], routes=via("p0", "2001:db8:a::1", "2001:db8:1::/64")
        ),
        "p1",
        "p0",
        {},
    ),
]

# of the capture that comes in and of the one that must go out
_DIGESTS = {
    "v01_un_shift": (
        "198ab46d727377a52bf35b2f4f3dba0e35729c5096237ac1aa7399406db8614f",
        "f6a50f66cfb3fbcbec188b19dc93833b0f7da7665936f7fbe73d64937a0f5121",
    ),
    "v03_un_usd_v6": (
        "2048996d102764a076fe536705dd04fd3ec00604c6432b4a0df383e466a4b6b0",
        "6637b96a6eb0a9a47f77cd7b6e66306907cfcbd5c132f2bc04ce7fcf8a100c4c",
    ),
    "v05_un_usd_v4": (
        "8b89e7cd61fecea0706807f219a0999f034747af8cbf9ea94c8eadbccaff3f75",
        "780b6a54a20b1360cddc719e8387f02496c80a1b3a95629df99b9b5ecbc40317",
    ),
    "v06_ua_lib": (
        "5ebf12d79299921c2333b3e78925893da9f9d47714e726bd6965a61ac853b14a",
        "b31f0bc225b6fadf8874cb2a7d372e555510c22dda70a283d11a3a4ac1fff44e",
    ),
    "v08_carrier_end_psp": (
        "acb892f13fcbc7e380a889029f3d0bcd71b5a0ba17bc2b427f8e95bdd62ffe7a",
        "44c247c9371bc9ec44510bbddd04ec07a5afbe211ae52cb2a4bb5d6910447616",
    ),
    "v11_hencaps_red_6": (
        "0e8222604c903486c305385907d176f743414ee1f98e84e4c8667756db1d1966",
        "efaf78c0075b136bbc3093d5570a0a6c15a467b2b8ad0d7c6f85ecbbdc76b94c",
    ),
    "v12_hencaps_red_8": (
        "0e8222604c903486c305385907d176f743414ee1f98e84e4c8667756db1d1966",
        "beba1dc4bf6661fd6a7d954cb1b5c2675d0f5ef23e59894c7cd0b3e2d1891499",
    ),
    "v14_time_exceeded": (
        "0bde38082229f868eed1dfecd38ff02af69fea4ba5980ba8ae8640e4d7ebc415",
        "1d3ab0380072fff62ff4a9df6dba4a94c6367a64940a78d2e5853cf8870b136a",
    ),
    "v15_param_problem_sl": (
        "d7486dd9e1b628ec9a78f994b05a24d3cb80e6a76714e26df62d9d6ccbe532db",
        "59986518b2825c4b633501c6817ca92356ef011ab9c17ed4a78dbd13530943fc",
    ),
    "v17_ping_usid": (
        "284059f13bb2bb8cad9621bf29079969218cd406f708d3ac7c2cdfe7a3af3f55",
        "c4f77abff19538488f5012dcf824da7fc5ef8daffc1c16498827cfbd64972468",
    ),
    "v18_boundary_drop": (
        "6f4b9db168d9174807ee259bcfe9cb0b39ca177defddfd16f65fb092c2e2d23b",
        None,
    ),
    "v21_endxpfc_transit": (
        "3a4d44ba37f82f816321d7c17b135a8d5d819baec1b25c9991980fc05f7721b2",
        "19bc67bae32a4e5ba9ef04feb3934c3c27c7c134b6ae213316e7f257d3fcbdcf",
    ),
    "v23_endxpfc_term_srh": (
        "246f16607cb275e40d8d94aaedb5499258c95fd72f6dd41c5ca779eb5461016c",
        None,
    ),
    "v25_endxpfc_not_pfc": (
        "5888962055a06d7c86068564aee9632d74115c5188fed1b23395d8a641a14818",
        None,
    ),
    "v27_pfc_encap_nosrh": (
        "5eceafd982a840e2493751fd545a9e7a892b421070a4ecccd37efd317f1d7ca0",
        "4cc5cfe29edd51f0466fa6e69c4db7ffd86866b8df5e721da06702c9217f45de",
    ),
    "v29_pfc_bad_smac": (
        "555b40ff385c180c063109a95e9a22b35a8d0505f140803843530b47b69b2be7",
        None,
    ),
    "v32_pfc_relay": (
        "439217aac818f299c98b28f8521113b0a991718177dba3506c3b92a301b2ef37",
        "532010cc204f8988a6e3e90e8e4ad33ca5a7fefc68c2dac4052df733559c5c5c",
    ),
    "v19_hmac_ok": (
        "387745bf628f0f068473a043c144be8ea6157457d1484c59460901d2766914b2",
        "2812805ed162bc6bbe7d58763412d506c8d9dfbf39de0769ee06e39235619380",
    ),
    "v45_cnp": (
        "d6352e56b00150025327617dc1c83bcf5aa02e66b838c75b296fee3d58b6b07b",
        "9911e8dcb4c27ec913f148807c1448ab6388bfc65dcad00703be136d6543c916",
    ),
}


def cases():
    for name, title, ref, config, port_in, port_out, drops in _VECTORS:
        case = Case(name, title, ref, config())
        case.drops = drops
        if "hmac" in name:
            case.keys = {1: bytes(range(32)).hex()}
        digest_in, digest_out = _DIGESTS[name]
        case.fixed[f"in-{port_in}.pcap"] = digest_in
        if port_out:
            case.fixed[f"expect-{port_out}.pcap"] = digest_out
        yield case
