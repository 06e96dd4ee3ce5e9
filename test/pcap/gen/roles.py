# SPDX-License-Identifier: BSD-3-Clause
"""The same traffic for every assignment of roles to lcores, and more of it than rings and bursts hold."""

from gen.case import Case
from gen.node import ONE_LCORE, TWO_LCORES, sid
from gen.topology import P0_OWN, core
from gen.wire import HOST_A, HOST_B, PEER, decap, echo6, echo_reply6, hop, ip6, roce4, roce6, shift, tunnel

LAYOUTS = {
    "one": ("one lcore for everything", ONE_LCORE),
    "two": ("control, and one that receives and sends", TWO_LCORES),
    "ring": ("a ring between receiving and sending", {"control": 0, "rx": [1], "worker": [2], "cpus": "0@0,1@1,2@0"}),
    "many": (
        "two that receive, two that send",
        {"control": 0, "rx": [1, 2], "worker": [3, 4], "cpus": "0@0,1@1,2@0,3@1,4@0"},
    ),
    "mixed": ("one of two that receive also sends", {"control": 1, "rx": [0, 1], "worker": [0], "cpus": "0@0,1@1"}),
}


def _traffic(case):
    for n in range(100):
        packet = tunnel("5f00:0:100:500::", roce6(psn=n), fl=n)
        case.passes("p0", packet, "p1", shift(packet))
        packet = tunnel("5f00:0:e101::", roce4("198.51.100.33", "192.0.2.11", psn=n), src="2001:db8:b::1")
        case.passes("p1", packet, "p0", decap(packet))
        if n % 25 == 0:
            ping = echo6(PEER, P0_OWN, seq=n)
            case.answered("p0", ping, "echo", echo_reply6(ping))


def layouts():
    sids = [sid("5f00:0:100::/48", "uN"), sid("5f00:0:e101::/48", "uDT46")]
    for name, (title, lcores) in LAYOUTS.items():
        case = Case(f"lcores_{name}", title, "docs/design.md 1", core(*sids, lcores=lcores), unordered=["p0"])
        case.config["memory"]["buffers"] = 32768
        _traffic(case)
        yield case
    case = Case("lcores_poll", "lcores that never sleep", "docs/design.md 1", core(*sids, lcores=LAYOUTS["ring"][1]))
    case.config["idle"] = {"policy": "poll"}
    _traffic(case)
    yield case


def floods():
    case = Case(
        "lcores_small_ring",
        "a thousand packets through a ring of 64: none is lost, none overtakes another",
        "docs/design.md 1, 2 rule 6",
        core(lcores=LAYOUTS["ring"][1]),
    )
    case.config["memory"]["ring"] = 64
    case.rx("p0", *(ip6(HOST_A, HOST_B, fl=n) for n in range(1000)))
    case.tx("p1", *(hop(ip6(HOST_A, HOST_B, fl=n)) for n in range(1000)))
    yield case


def cases():
    yield from layouts()
    yield from floods()
