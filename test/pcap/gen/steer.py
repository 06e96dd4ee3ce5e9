# SPDX-License-Identifier: BSD-3-Clause
"""Flows that are placed on paths of their policy: draft-filsfils-spring-srv6-ai-backend sections 4 and 5."""

from scapy.layers.inet import IPOption

from gen.case import Case
from gen.node import LOOPBACK
from gen.topology import headend
from gen.wire import HOST_A, HOST_A4, HOST_B, HOST_B4, encaps_red, fragments4, hop, ip4, roce4, roce6, tos_of, tunnel

LISTS = [["5f00:0:500::", "5f00:0:300::", "5f00:0:e102::"], ["5f00:0:600::", "5f00:0:300::", "5f00:0:e102::"]]
SPORTS = range(49169, 49169 + 8)
QUEUE_PAIR = 0x123  # of the packets of wire.py


def tuple_of(src, dst, sport, vrf_name="tenant"):
    return f"vrf={vrf_name},src={src},dst={dst},sport={sport}"


def placed(flow, path, policy_name="far"):
    return {"flow": flow, "policy": policy_name, "path": f"path{path}"}


def steered(placements, **keys):
    config = headend(*LISTS, flows=1024, **keys)
    config["placements"] = placements
    return config


def by_tuple():
    """Every other flow on each path, whatever its hash; both families."""
    places = [placed(tuple_of(HOST_A, HOST_B, s), s % 2) for s in SPORTS]
    places += [placed(tuple_of(HOST_A4, HOST_B4, s), 1 - s % 2) for s in SPORTS]
    case = Case(
        "steer_tuple",
        "flows take the paths that they are placed on, whatever their hash",
        "draft-filsfils-spring-srv6-ai-backend-00 4",
        steered(places),
    )
    for sport in SPORTS:
        six, four = roce6(sport=sport), roce4(sport=sport)
        case.passes("p0", six, "p1", encaps_red(six, LISTS[sport % 2]))
        case.passes("p0", four, "p1", encaps_red(four, LISTS[1 - sport % 2]))
    yield case


def by_queue_pair():
    """The queue pair decides, not the source port. PSNs are followed, and no byte of the packet changes."""
    for path in (0, 1):
        places = [placed(f"vrf=tenant,src={HOST_A},dst={HOST_B},qp={QUEUE_PAIR}", path)]
        case = Case(
            f"steer_queue_pair_{path}",
            "flows of RoCEv2 by their queue pair",
            "docs/protocol.md 6.1, 6.2",
            steered(places, flow_key="queue-pair", roce=True),
        )
        for sport in SPORTS:
            inner = roce6(sport=sport)
            case.passes("p0", inner, "p1", encaps_red(inner, LISTS[path]))
        yield case


def told_apart():
    """
    IPv4 with options is found by its ports where they are; a fragment is not of the flow whose ports its bytes look like; a
    tunnel of the tenant's is another flow than what is inside.
    """
    for path in (0, 1):
        option = roce4(sport=49169, options=[IPOption(b"\x94\x04\x00\x00")])
        places = [
            placed(tuple_of(HOST_A4, HOST_B4, 49169), path),
            placed(f"vrf=tenant,src={HOST_A4},dst={HOST_B4},proto=41", 1 - path),
            placed(f"vrf=tenant,src={HOST_A4},dst={HOST_B4},sport=0,dport=0", 1 - path),
        ]
        case = Case(
            f"steer_told_apart_{path}",
            "IPv4 with options, fragments and tunnels of tenants are flows of their own",
            "docs/protocol.md 6.1",
            steered(places),
        )
        inner = ip4(HOST_A4, HOST_B4, roce6(), 41)
        case.passes("p0", option, "p1", encaps_red(option, LISTS[path]))
        case.passes("p0", inner, "p1", encaps_red(inner, LISTS[1 - path]))
        for piece in fragments4(roce4(sport=49169, size=1000, flags=0), 576):
            case.passes("p0", piece, "p1", encaps_red(piece, LISTS[1 - path]))
        yield case


def drafts_example():
    """
    The draft's own addresses: GPU1's gateway sends to GPU3 by <Leaf1, Spine5, Leaf3>, and, placed, by <Leaf1, Spine6,
    Leaf3>. The change is another destination, and nothing else.
    """
    spines = {"spine5": "5f00:0:500::", "spine6": "5f00:0:600::"}
    lists = [["5f00:0:100::", spine, "5f00:0:300::"] for spine in spines.values()]
    for path, (name, da) in enumerate([("spine5", "5f00:0:100:500:300::"), ("spine6", "5f00:0:100:600:300::")]):
        config = headend(*lists, flows=1024)
        config["placements"] = [placed(tuple_of(HOST_A, HOST_B, s), path) for s in SPORTS]
        case = Case(
            f"steer_draft_{name}",
            f"GPU1 to GPU3 by Leaf1, {name.capitalize()}, Leaf3: the exact destination",
            "draft-filsfils-spring-srv6-ai-backend-00 5.1, 5.2, errata E1 to E4",
            config,
        )
        for sport in SPORTS:
            inner = roce6(sport=sport)
            case.passes("p0", inner, "p1", tunnel(da, hop(inner), LOOPBACK, tc=tos_of(inner), hlim=64))
        yield case


def cases():
    yield from by_tuple()
    yield from by_queue_pair()
    yield from told_apart()
    yield from drafts_example()
