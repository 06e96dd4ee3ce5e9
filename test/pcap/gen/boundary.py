# SPDX-License-Identifier: BSD-3-Clause
"""Who may enter the domain: HMAC TLVs, host ports, filters switched off. The HMACs are Python's."""

import hashlib
import hmac
import struct

from gen.behaviors import FAR
from gen.case import Case
from gen.headend import SHORT_LIST, usids
from gen.node import LOOPBACK, neighbor, node, port, sid
from gen.topology import MANY_ERRORS, P0_OWN, P1_OWN, P1_PEER, core, headend, to_p0, to_p1
from gen.wire import (
    FLOW_LABEL, HOP_BY_HOP, HOST_A, HOST_B, IPPROTO_IPV6, NO_NEXT, PEER, ROUTING, decap, hop, hop_by_hop, ip6, next_segment,
    number_of, pack, packed, param_problem, pop_srh, roce4, roce6, shift, srh, tos_of, tunnel,
)

KEYS = {1: bytes(range(32)).hex(), 7: "aa" * 16, 0x10001: "b1" * 24, 0xFFFFFFFF: "0123456789abcdef" * 8}
END, UN = "5f00:1:2:1::", "5f00:0:100::"
TLV_BYTES = 40
LINUX_FLAG = 0x08  # of the SRH


def tlv(segments, src, d=0, key_id=1, key=None, flags=0, last=None, digest=None, reserved=0, linux=False):
    """HMAC TLV (RFC 8754 section 2.1.2) of an SRH of segments in travel order. linux: D and reserved are not in its text."""
    entries = list(reversed(segments))
    fixed = struct.pack(">BBHI", len(entries) - 1 if last is None else last, flags, d << 15 | reserved, key_id)
    if linux:
        fixed = fixed[:2] + fixed[4:]
    text = packed(src) + fixed + b"".join(map(packed, entries))
    if digest is None:
        digest = hmac.new(bytes.fromhex(key or KEYS.get(key_id, "")), text, hashlib.sha256).digest()
    return struct.pack(">BBHI", 5, 6 + len(digest), d << 15 | reserved, key_id) + digest


def signed(dst, segments, left, inner=None, src=PEER, nh=None, **tlv_keys):
    """A packet with SRH and HMAC TLV."""
    inner = roce6() if inner is None else inner
    header = srh(segments, left, number_of(inner) if nh is None else nh, tlv(segments, src, **tlv_keys))
    return ip6(src, dst, header + inner, ROUTING, hlim=60)


def with_keys(case):
    case.keys = KEYS
    case.config["hmac"] = {"keys": "hmac.keys"}
    return case


def at_sids():
    sids = [
        sid(f"{END}/64", "End", hmac="required", flavors=["psp", "usd"]),
        sid(f"{UN}/48", "uN", hmac="required"),
        sid("5f00:0:e101::/48", "uDT46", hmac="required"),
        sid("5f00:0:200::/48", "uN"),
    ]
    case = with_keys(
        Case(
            "hmac_verify",
            "HMAC TLV at End, uN and uDT46: full and reduced lists, several keys, other TLVs around it",
            "RFC 8754 2.1.2.1; docs/protocol.md 3.1, D25",
            core(*sids, routes=to_p1("5f00:9::/32"), icmp=MANY_ERRORS),
        )
    )
    far = FAR[1:]  # two containers of other nodes
    for key_id in KEYS:
        packet = signed(END, far + [END], 2, key_id=key_id)
        packet = signed(END, [END] + far, 2, key_id=key_id)
        case.passes("p0", packet, "p1", next_segment(packet))
    # reduced: the first segment is in the destination only
    packet = signed(END, far, 2, d=1)
    case.passes("p0", packet, "p1", next_segment(packet))
    packet = signed(END, [END] + far[:1], 1)
    case.passes("p0", packet, "p1", pop_srh(next_segment(packet)))
    for end, inner in ((END, roce6()), (END, roce4()), ("5f00:0:e101::", roce6()), ("5f00:0:e101::", roce4())):
        packet = signed(end, [FAR[0], end], 0, inner)
        case.passes("p0", packet, "p1", decap(packet))
    # reserved bits and flags are part of the text
    packet = signed(END, [END] + far, 2, reserved=0x1234)
    case.passes("p0", packet, "p1", next_segment(packet))
    # a PadN and a Pad1 before, padding after
    segments = [END] + far
    for before, after in ((bytes([4, 6]) + bytes(6), b""), (bytes(8), bytes([4, 6]) + bytes(6)), (b"", bytes([200, 6]) + bytes(6))):
        header = srh(segments, 2, IPPROTO_IPV6, before + tlv(segments, PEER) + after)
        packet = ip6(PEER, END, header + roce6(), ROUTING, hlim=60)
        case.passes("p0", packet, "p1", next_segment(packet))
        packet = ip6(PEER, END, hop_by_hop(ROUTING) + header + roce6(), HOP_BY_HOP, hlim=60)
        case.passes("p0", packet, "p1", next_segment(packet))
    # uSIDs: at the first of a container, and after others (D25)
    container = "5f00:0:100:500:300::"
    packet = signed(container, [container] + far[1:], 1)
    case.passes("p0", packet, "p1", shift(packet))
    whole = "5f00:0:900:100:500:300::"
    packet = signed("5f00:0:100:500:300::", [whole] + far[1:], 1)
    case.passes("p0", packet, "p1", shift(packet))
    packet = signed(container, far[1:], 1, d=1)
    case.passes("p0", packet, "p1", shift(packet))
    # the last of a full one: everything has been shifted out
    whole = "5f00:0:901:902:903:904:905:100"
    packet = signed(UN, [whole] + far[1:], 1)
    case.passes("p0", packet, "p1", pop_srh(next_segment(packet)))
    # Pad1 alone in front: the TLV need not be aligned
    for before in (1, 3, 7):
        header = srh(segments, 2, IPPROTO_IPV6, bytes(before) + tlv(segments, PEER) + bytes(8 - before))
        packet = ip6(PEER, END, header + roce6(), ROUTING, hlim=60)
        case.passes("p0", packet, "p1", next_segment(packet))
    yield case
    case = with_keys(
        Case(
            "hmac_refused",
            "HMAC TLV missing, forged, of another key, about another segment: Parameter Problem at the TLV",
            "RFC 8754 2.1.2.1; docs/protocol.md 3.5, D25",
            core(*sids, routes=to_p1("5f00:9::/32"), icmp=MANY_ERRORS),
        )
    )
    good = signed(END, segments, 2)
    at = 40 + 8 + 48
    size = len(good) - len(roce6())

    def refused(packet, pointer=at):
        case.dropped("p0", packet, "hmac", param_problem(packet, pointer))

    # every part of the text, and of the HMAC
    for i in (45, 48, 48 + 15, 48 + 16, 48 + 47, at + 2, at + 3, at + 4, at + 7, at + 8, size - 1):
        broken = bytearray(good)
        broken[i] ^= 0x10
        refused(bytes(broken))
    other = signed(END, segments, 2, src="2001:db8:a::77")
    refused(other[:8] + packed(PEER) + other[24:])
    # the tag is not part of it
    broken = bytearray(good)
    broken[47] ^= 1
    case.passes("p0", bytes(broken), "p1", next_segment(bytes(broken)))
    refused(signed(END, segments, 2, key=KEYS[7]))
    refused(signed(END, segments, 2, key_id=2, key=KEYS[1]))
    # ids that differ in their high bits only
    refused(signed(END, segments, 2, key_id=0x10001, key=KEYS[1]))
    refused(signed(END, segments, 2, key_id=1, key=KEYS[0x10001]))
    # Segments Left selects another segment than the destination; D excuses only a reduced list
    refused(signed(END, segments, 1))
    refused(signed(END, segments, 1, d=1))
    refused(signed(END, far, 2), 40 + 8 + 32)
    refused(signed("5f00:0:100:500:300::", ["5f00:0:100:500:301::"] + far[1:], 1), 40 + 8 + 32)
    # a digest of another length
    for n in (8, 16, 24):
        header = srh(segments, 2, IPPROTO_IPV6, tlv(segments, PEER, digest=bytes(n)))
        refused(ip6(PEER, END, header + roce6(), ROUTING))
    # no TLV, a broken one in front, no SRH
    refused(tunnel(END, roce6(), segments=segments, left=2), 40)
    header = srh(segments, 2, IPPROTO_IPV6, bytes([4, 200]) + bytes(6) + tlv(segments, PEER))
    refused(ip6(PEER, END, header + roce6(), ROUTING), 40)
    for dst in (END, UN, "5f00:0:100:500::", "5f00:0:e101::", "5f00:0:200:100::"):
        refused(tunnel(dst, roce6()), 6)
    header = srh(segments, 2, IPPROTO_IPV6, tlv(segments, PEER), lastentry=40)
    packet = ip6(PEER, END, header + roce6(), ROUTING)
    case.dropped("p0", packet, "srh_bounds", param_problem(packet, 43))
    # where none is asked for none is looked at
    packet = signed("5f00:0:200:500::", far, 2, digest=bytes(32))
    case.passes("p0", packet, "p1", shift(packet))
    yield case


def made():
    """Generated at the headend."""
    for n in (1, 7, 13):
        for encap, reduced in (("H.Encaps", False), ("H.Encaps.Red", True)):
            segments = usids(n)
            containers = pack(segments)
            listed = containers[1:] if reduced and len(containers) > 1 else containers
            case = with_keys(
                Case(
                    f"hmac_made_{n}{'_red' if reduced else ''}",
                    f"{encap} of {n} uSIDs with an HMAC TLV; a reduced list sets D",
                    "RFC 8754 2.1.2, 2.1.2.1, 4.1.1",
                    headend(segments, encap=encap, hmac_key=7),
                )
            )
            d = int(len(listed) < len(containers))
            for inner in (roce6(), roce4()):
                header = srh(listed, len(containers) - 1, number_of(inner), tlv(listed, LOOPBACK, d=d, key_id=7))
                packet = ip6(LOOPBACK, containers[0], header + hop(inner), ROUTING, tc=tos_of(inner), fl=FLOW_LABEL)
                case.passes("p0", inner, "p1", packet)
            yield case


def by_linux(**more):
    return {"linux": True, "flags": LINUX_FLAG, **more}


def linux():
    """hmac.profile: linux. As Linux 6.18 sends and accepts it, docs/protocol.md 3.8; live: test/netns, network hmac."""
    source = "docs/protocol.md 3.8; Linux net/ipv6/seg6_hmac.c"
    sids = [sid(f"{END}/64", "End", hmac="required"), sid(f"{UN}/48", "uN", hmac="required")]
    case = with_keys(Case("hmac_linux_verify", "HMACs as Linux makes them, and those of RFC 8754 refused", source,
                          core(*sids, routes=to_p1("5f00:9::/32"), icmp=MANY_ERRORS)))
    case.config["hmac"]["profile"] = "linux"
    far = ["5f00:9:1::", "5f00:9:2::"]
    full = [END, *far]
    for left, segments, more in ((2, full, {}), (2, far, {}), (2, far, {"d": 1}), (2, full, {"reserved": 0x1234})):
        packet = flagged(signed(END, segments, left, **by_linux(**more)))
        case.passes("p0", packet, "p1", next_segment(packet))
    container = "5f00:0:100:500:300::"
    packet = flagged(signed(container, [container, far[0]], 1, **by_linux()))
    case.passes("p0", packet, "p1", shift(packet))
    at = 40 + 8 + 48
    for packet in (signed(END, full, 2), flagged(signed(END, full, 2, flags=LINUX_FLAG)),
                   flagged(signed(END, full, 2, **by_linux(key_id=9))), flagged(signed(END, full, 2, **by_linux(last=1))),
                   signed(END, full, 2, **by_linux()), flagged(signed(END, full, 1, **by_linux()))):
        case.dropped("p0", packet, "hmac", param_problem(packet, at))
    yield case
    for n, encap, reduced in ((1, "H.Encaps", False), (13, "H.Encaps", False), (13, "H.Encaps.Red", True)):
        segments = usids(n)
        containers = pack(segments)
        listed = containers[1:] if reduced else containers
        case = with_keys(Case(f"hmac_linux_made_{n}{'_red' if reduced else ''}", f"{encap} of {n} uSIDs with an HMAC for Linux",
                              source, headend(segments, encap=encap, hmac_key=7)))
        case.config["hmac"]["profile"] = "linux"
        inner = roce6()
        digest = tlv(listed, LOOPBACK, key_id=7, d=int(reduced), **by_linux())
        header = srh(listed, len(containers) - 1, number_of(inner), digest)
        packet = flagged(ip6(LOOPBACK, containers[0], header + hop(inner), ROUTING, tc=tos_of(inner), fl=FLOW_LABEL))
        case.passes("p0", inner, "p1", packet)
        yield case


def flagged(packet):
    """With the flag by which Linux knows an SRH that has an HMAC."""
    return packet[:45] + bytes([packet[45] | LINUX_FLAG]) + packet[46:]


def host_node(**host):
    ports = [
        port("p0", "host", f"{P0_OWN}/64", **host),
        port("p1", "wan", f"{P1_OWN}/64"),
    ]
    return node(
        ports,
        neighbors=[neighbor("p0", PEER), neighbor("p1", P1_PEER)],
        routes=to_p1("5f00::/16", "2001:db8:3::/64") + to_p0("2001:db8:1::/64"),
        sids=[sid(f"{UN}/48", "uN")],
        icmp=MANY_ERRORS,
    )


def hosts():
    """NICs that encapsulate themselves, draft-filsfils-spring-srv6-ai-backend-00 section 4."""
    case = Case(
        "host_allow_sids",
        "a host's packets into the SID space: destination and every segment must be allowed",
        "RFC 8754 5.2; draft-filsfils-spring-srv6-ai-backend-00 4; docs/protocol.md 3.6",
        host_node(allow_sids=["5f00:0:100:500::/64", "5f00:0:500::/48", "5f00:9::/32"]),
    )
    packet = tunnel("5f00:0:100:500:300::", roce6())
    case.passes("p0", packet, "p1", shift(packet))
    for segments in ((), ["5f00:9:1::"], ["5f00:9:1::", "5f00:0:500:7::"]):
        packet = tunnel("5f00:0:500:300::", roce6(), segments=segments)
        case.passes("p0", packet, "p1", hop(packet))
    for dst, segments in (
        ("5f00:0:100:600::", ()),
        (UN, ()),
        ("5f00:1::", ()),
        ("5f00:0:501::", ()),
        ("5f00:0:500::", ["5f00:8:1::"]),
        ("5f00:0:500::", ["5f00:8:1::", "5f00:9:1::"]),
        ("5f00:0:500::", ["5f00:9:1::", HOST_B]),
    ):
        case.dropped("p0", tunnel(dst, roce6(), segments=segments), "host_sid")
    case.dropped("p0", ip6(PEER, "5f00:0:500::", srh(["5f00:9:1::"], lastentry=9), ROUTING), "host_sid")
    # an entry after the end of the list that would be allowed
    beyond = srh(["5f00:9:1::"], 0, NO_NEXT, lastentry=1) + packed("5f00:9:2::")
    case.dropped("p0", ip6(PEER, "5f00:0:500::", beyond, ROUTING), "host_sid")
    case.dropped("p0", ip6(PEER, "5f00:0:500::", bytes([NO_NEXT, 3]), ROUTING), "ext_chain")
    # a packet to another destination is a packet like any other
    case.passes("p0", roce6(), "p1", hop(roce6()))
    # the source must be one of the domain's for an own SID
    case.dropped("p0", tunnel("5f00:0:100:500:300::", roce6(), src="2001:db8:99::1"), "boundary_source")
    yield case
    case = with_keys(
        Case(
            "host_hmac",
            "a host proves its packets by HMAC; what is in its list needs none",
            "RFC 8754 5.2, 2.1.2; docs/protocol.md 3.6",
            host_node(allow_sids=["5f00:0:600::/48"], hmac="required"),
        )
    )
    container = "5f00:0:500:300::"
    for packet in (signed(container, [container, FAR[0]], 1), signed(container, FAR[:1], 1, d=1)):
        case.passes("p0", packet, "p1", hop(packet))
    packet = tunnel("5f00:0:600::", roce6())
    case.passes("p0", packet, "p1", hop(packet))
    packet = signed(container, [container, FAR[0]], 1, key_id=7, key=KEYS[1])
    case.dropped("p0", packet, "hmac", param_problem(packet, 40 + 8 + 32))
    packet = signed(container, [container, FAR[0]], 1, src="2001:db8:a::77")
    forged = packet[:8] + packed(PEER) + packet[24:]
    case.dropped("p0", forged, "hmac", param_problem(forged, 40 + 8 + 32))
    packet = tunnel(container, roce6())
    case.dropped("p0", packet, "hmac", param_problem(packet, 6))
    yield case


def switched_off():
    config = core(sid(f"{UN}/48", "uN"))
    config["ports"][0].update(side="dc", boundary_off=["sids"])
    case = Case(
        "boundary_off_sids",
        "a port outside whose filter of destinations is off; sources are still looked at",
        "RFC 8754 5.1; docs/protocol.md 3.6",
        config,
    )
    packet = tunnel("5f00:0:100:500::", roce6())
    case.passes("p0", packet, "p1", shift(packet))
    case.dropped("p0", tunnel("5f00:0:100:500::", roce6(), src=HOST_A), "boundary_source")
    yield case
    config = core(sid(f"{UN}/48", "uN"))
    config["ports"][0].update(boundary_off=["sources"])
    case = Case(
        "boundary_off_sources",
        "a port whose filter of sources is off; the other port's is not, nor is that for what comes out of a tunnel",
        "RFC 8754 5.1; docs/protocol.md 3.6",
        config,
    )
    for src in (PEER, HOST_A, "2001:db8:99::1"):
        packet = tunnel("5f00:0:100:500::", roce6(), src=src)
        case.passes("p0", packet, "p1", shift(packet))
    case.dropped("p1", tunnel("5f00:0:100:500::", roce6(), src="2001:db8:99::1"), "boundary_source")
    case.dropped("p0", tunnel(UN, tunnel("5f00:0:100:500::", roce6(), src=HOST_A)), "boundary_source")
    yield case


def key_files():
    case = with_keys(
        Case(
            "hmac_keys_mode",
            "a file of keys that others may read is refused",
            "config/reference.yaml hmac.keys",
            core(),
            status=1,
            stderr=r"config\.yaml:\d+:\d+: error: keys: users other than its owner have access to hmac\.keys; type: chmod 600",
            keys_mode="640",
        )
    )
    yield case
    case = Case(
        "hmac_keys_lines",
        "every wrong line of a file of keys is named",
        "config/reference.yaml hmac.keys",
        core(),
        status=1,
        stderr=(
            r"hmac\.keys:2:1: error: expected a key id from 1 to 4294967295\nhmac\.keys:3:3: error: expected a hexadecimal digit\n"
            r"hmac\.keys:4:3: error: expected a key of 16 to 64 bytes, .*\nhmac\.keys:6:1: error: this key id is already used in the file"
        ),
    )
    case.config["hmac"] = {"keys": "hmac.keys"}
    case.keys = {"0": "aa" * 16, "3": "xyz", "4": "", "5": "bb" * 16, "0x5": "cc" * 16}
    yield case


def cases():
    for family in (at_sids, made, linux, hosts, switched_off, key_files):
        yield from family()
