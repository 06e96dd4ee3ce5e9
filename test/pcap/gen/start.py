# SPDX-License-Identifier: BSD-3-Clause
"""Configurations that must not start, and their messages."""

from gen.case import Case
from gen.node import sid
from gen.topology import core

BAD_CONFIG, BAD_USAGE, BAD_MACHINE = 1, 2, 3


def cases():
    config = core()
    config["ports"][1]["mut"] = 1500
    yield Case(
        "start_unknown_key",
        "an unknown key is an error with its place and the nearest known one",
        "docs/design.md 7",
        config,
        status=BAD_CONFIG,
        stderr=r"config\.yaml:\d+:\d+: error: unknown key 'mut' in a port; did you mean 'mtu'\?",
    )
    yield Case(
        "start_no_infrastructure",
        "SIDs without infrastructure sources would drop everything",
        "RFC 8754 5.1",
        core(sid("5f00:0:100::/48", "uN"), infrastructure=[]),
        status=BAD_CONFIG,
        stderr="sids: without node.infrastructure every packet to a SID is dropped; set node.infrastructure",
    )
    yield Case(
        "start_local_id",
        "a uN takes a global id",
        "docs/protocol.md 3.3, D28",
        core(sid("5f00:0:e100::/48", "uN")),
        status=BAD_CONFIG,
        stderr="id 0xe100 is not a global id",
    )
    config = core()
    config["ports"][1]["device"] = "net_pcap1,rx_pcap=no-such-file.pcap,tx_pcap=out-p1.pcap"
    yield Case(
        "start_no_device",
        "a device that cannot be opened",
        "docs/design.md 2 rule 10",
        config,
        status=BAD_MACHINE,
        stderr=r"no-such-file\.pcap",
    )
    yield Case(
        "start_bad_option",
        "an option that does not exist",
        "docs/design.md 7",
        core(),
        args=["--exit-when-ilde", "100"],
        status=BAD_USAGE,
        stderr="usage: sluice",
    )
