# SPDX-License-Identifier: BSD-3-Clause
"""The slice's id on data (docs/protocol.md 4.5): policies write it into a hop-by-hop option, SIDs read it there."""

from gen.boundary import tlv, with_keys
from gen.case import Case, Frame, ethernet
from gen.circuits import with_circuits
from gen.headend import SHORT_LIST, sized, usids
from gen.node import LOOPBACK, ONE_LCORE, PEER_MAC, mac_of, neighbor, over, port, sid, vrf
from gen.pfc_wan import OPTION, PLAIN, SLICES, frame, node_of, pfc_sid, told, tunnelled
from gen.topology import GATE_A, GATE_A4, NET_B, NET_B4, P1_PEER, headend
from gen.wire import (
    FLOW_LABEL, HOST_A, HOST_A4, ROUTING, decap, encaps, encaps_l2, encaps_red, fragments4, hop, ip6, next_segment, number_of, pack, pop_srh, resize, roce4, roce6, shift, srh,
    tos_of, too_big, tunnel,
)

SOURCE = "docs/protocol.md 4.5; draft-ietf-6man-enhanced-vpn-vtn-id"


def with_slices(config):
    config["node"]["slice-option"] = OPTION
    config["slices"] = SLICES
    return config


def edge(segments, **more):
    """p0's tenant has a slice with an id, p2's has none."""
    config = with_slices(headend(segments, **{"slice-by": "option"}, **more))
    config["ports"].append(port("p2", "dc", f"{GATE_A}/64", f"{GATE_A4}/24", vrf="other"))
    config["neighbors"] += [neighbor("p2", HOST_A), neighbor("p2", HOST_A4)]
    config["vrfs"][0]["slice"] = "gold"
    config["vrfs"].append(vrf("other", *over("far", NET_B, NET_B4)))
    return config


def _proven(inner, segments):
    """H.Encaps.Red with key 7: the option precedes the SRH, and the HMAC does not cover it."""
    inner, (first, *rest) = hop(inner), pack(segments)
    head = srh(rest, nh=number_of(inner), tlvs=tlv(rest, LOOPBACK, d=1, key_id=7))
    return ip6(LOOPBACK, first, head + inner, ROUTING, tc=tos_of(inner), fl=FLOW_LABEL, hlim=64)


def packets():
    for name, segments, encap, make, srh_bytes in (
        ("red", SHORT_LIST, "H.Encaps.Red", encaps_red, 0), ("red_srh", usids(8), "H.Encaps.Red", encaps_red, 24),
        ("full", usids(8), "H.Encaps", encaps, 40), ("hmac", usids(8), "H.Encaps.Red", _proven, 64),
        ("long", usids(96), "H.Encaps", encaps, 264),
    ):
        config = edge(segments, encap=encap, **({"hmac-key": 7} if name == "hmac" else {}))
        case = Case(f"slice_option_{name}", f"{encap}, {len(segments)} uSIDs: each packet's slice, or 0, in a hop-by-hop option of 16 bytes",
                    SOURCE, config)
        fits = 1500 - 40 - 16 - srh_bytes
        for pack_ in (roce6, roce4):
            for inner in (pack_(), pack_(size=0), sized(pack_, fits)):
                for p, slice_id in (("p0", 5), ("p2", 0)):
                    case.passes(p, inner, "p1", told(make(inner, segments), slice_id))
            long = sized(pack_, fits + 1)
            case.dropped("p0", long, "too_big", too_big(long, max(fits, 1280 if pack_ is roce6 else 0), GATE_A4))
        yield with_keys(case) if name == "hmac" else case


def fragments():
    """IPv4 fragmented before the tunnel: each fragment has the packet's slice."""
    case = Case("slice_option_fragments", "fragments are of the slice that the packet was of", f"{SOURCE}; docs/protocol.md 3.4", edge(SHORT_LIST))
    packet = sized(lambda **k: roce4(flags=0, **k), 1500)
    case.rx("p0", packet)
    case.count("p0", "fragmented")
    case.tx("p1", *(told(encaps_red(f, SHORT_LIST), 5) for f in fragments4(packet, 1500 - 40 - 16)), origin="fragments")
    yield case


def frames():
    for name, segments, encap in (("l2", usids(8), "H.Encaps.L2"), ("l2_red", SHORT_LIST, "H.Encaps.L2.Red")):
        config = with_slices(with_circuits({"name": "pw1", "port": "p0", "policy": "pw"}, encap=encap, lists=[segments],
                                           **{"slice-by": "option"}))
        config["ports"][0]["slice"] = "silver"
        case = Case(f"slice_option_{name}", f"{encap}: the slice of a frame", SOURCE, config)
        inner = Frame(bytes.fromhex("0200000000020200000000018888") + bytes(range(100)))
        case.passes("p0", inner, "p1", told(encaps_l2(inner, segments, reduced="Red" in encap), 6))
        yield case


def own_first():
    """A full list has the own SIDs it begins with: R3 of draft-ruan's figure 3 looks for R1's End.X.PFC there."""
    for name, own in (
        ("plain", [sid("5f00:1:1:1::/64", "End"), sid(f"{PLAIN}/64", "End.X.PFC", port="p1", nexthop=P1_PEER)]),
        ("usid", [sid("5f00:0:100::/48", "uN"), sid("5f00:0:e005::/48", "uA.PFC", port="p1", nexthop=P1_PEER)]),
    ):
        first = [s["sid"].split("/")[0] for s in own]
        rest = ["5f00:9:2:1::", "5f00:9:3:d46::"] if name == "plain" else usids(8)
        for encap in ("H.Encaps", "H.Encaps.Red"):
            config = headend(first + rest, encap=encap, wan_side=own)
            config["ports"][1]["speed"] = "10G"
            red = encap == "H.Encaps.Red"
            case = Case(f"encap_own_{name}{'_red' if red else '_full'}",
                        f"{encap} of a list that begins with own SIDs: they are {'left out' if red else 'in the SRH, and done with'}",
                        "RFC 8986 5.1, 5.2; docs/protocol.md 4.6", config)
            containers = pack(first + rest)
            to = containers[2] if name == "plain" else "5f00:0:100:101:102:103::"
            left = len(containers) - (3 if name == "plain" else 1)
            listed = containers[-left:] if red else containers
            for pack_ in (roce6, roce4):
                fits = sized(pack_, 1500 - 40 - 8 - 16 * len(listed))
                for inner in (pack_(), fits):
                    case.passes("p0", inner, "p1", tunnel(to, hop(inner), LOOPBACK, listed, left, tc=tos_of(inner), fl=FLOW_LABEL, hlim=64))
                case.dropped("p0", sized(pack_, len(fits) + 1), "too_big", too_big(sized(pack_, len(fits) + 1), len(fits), GATE_A4))
            yield case


def _short(packet):
    """The option with too little in it for an id, at the very end of its header."""
    return resize(packet[:6] + b"\0" + packet[7:40] + bytes([packet[6], 0, OPTION, 4, 0, 0, 0, 5]) + packet[40:])


def at_sids():
    """p1's queues of slice gold are paused: packets of gold wait at any kind of SID; packets of silver or of no slice do not."""
    by = {"slice-by": "option", "slice": "silver"}
    config = with_slices(node_of(
        pfc_sid(f"{PLAIN}/64", slice="gold"), sid("5f00:1:1:1::/64", "End", **by), sid("5f00:0:100::/48", "uN", **by),
        sid("5f00:0:e101::/48", "uDT46", **by), sid("5f00:1:1:46::/64", "End.DT46", **{**by, "slice-by": "argument"}), lcores=ONE_LCORE))
    case = Case("slice_option_sids", "End, uN on the way and at its end, uDT46, End.DT46: the slice that a packet says is its slice", SOURCE, config)
    case.rx("p0", tunnelled(PLAIN, frame({3: 655})))  # 33 ms at 10 Mb/s
    case.count("p0", "pfc")
    filler = tunnel("5f00:0:e101::", roce6(psn=1))
    for _ in range(78):  # two passes of the one lcore, for the pause to take effect
        case.passes("p0", filler, "p1", decap(filler))

    def rows(psn):
        inner = roce6(psn=psn, tc=26 << 2)
        return (
            (tunnel("5f00:1:1:1::", inner, segments=["5f00:1:1:1::", "5f00:0:300:e102::"], left=1, tc=26 << 2), next_segment),
            (tunnel("5f00:0:100:300:e102::", inner, tc=26 << 2), shift),
            (tunnel("5f00:0:100::", inner, segments=["5f00:0:100::", "5f00:0:300:e102::"], left=1, tc=26 << 2), lambda p: pop_srh(next_segment(p))),
            (tunnel("5f00:0:e101::", inner, tc=26 << 2), lambda p: decap(p)),
        )

    def by_argument(psn, slice_id):
        p = tunnel(f"5f00:1:1:46:{slice_id:x}::", roce6(psn=psn, tc=26 << 2), tc=26 << 2)
        return p, decap(p)

    gold, silver = [(told(p, 5), does) for p, does in rows(5)], [(told(p, 6), does) for p, does in rows(6)]
    plain = list(rows(7)) + [(told(p, 9), does) for p, does in rows(9)]  # nothing, and what no slice here is
    plain += [(_short(p), does) for p, does in rows(8)]
    waits = [(p, does(p)) for p, does in gold] + [by_argument(5, 5)]
    goes = [(p, does(p)) for p, does in silver + plain] + [by_argument(6, 6), by_argument(7, 0)]
    for p, _ in waits + goes:
        case.rx("p0", p)
    for _, out in goes + waits:
        case.tx("p1", out, origin="p0")
    yield case


def promised():
    """Two slices wait for the same pause, gold first. Then both may send: silver first if it is behind its min-rate, else gold."""
    for name, rate in (("min_rate", "4M"), ("min_rate_none", None)):
        second = "5f00:1:1:e2::"
        config = with_slices(node_of(
            pfc_sid(f"{PLAIN}/64", slice="gold"), pfc_sid(f"{second}/64", slice="silver"),
            sid("5f00:1:1:46::/64", "End.DT46", **{"slice-by": "argument", "slice": "silver"}), lcores=ONE_LCORE))
        config["slices"] = [s | {"min-rate": rate} if rate and s["name"] == "silver" else s for s in SLICES]
        title = "a slice that is behind its min-rate is served before the others" if rate else "without min-rate slices are served in turn"
        case = Case(f"slice_{name}", title, "docs/queues.md", config)
        for to in (PLAIN, second):
            case.rx("p0", tunnelled(to, frame({3: 655})))
            case.count("p0", "pfc")
        for _ in range(126):  # four passes of the one lcore with what is nobody's, for the pauses to take effect
            case.rx("p0", ethernet(mac_of("p0"), PEER_MAC["p0"], bytes(50), 0x1234))
            case.count("p0", "ether_type")
        gold, silver = ([tunnel(f"5f00:1:1:46:{slice_id:x}::", roce6(psn=100 * slice_id + n, tc=26 << 2), tc=26 << 2) for n in range(20)]
                        for slice_id in (5, 6))
        for p in gold + silver:
            case.rx("p0", p)
        for p in silver + gold if rate else gold + silver:
            case.tx("p1", decap(p), origin="p0")
        yield case


def cases():
    for family in (packets, fragments, frames, own_first, at_sids, promised):
        yield from family()
