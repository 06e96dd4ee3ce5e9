# SPDX-License-Identifier: BSD-3-Clause
"""
HMAC TLVs (RFC 8754 2.1.2) between sluice and Linux, both ways.

    hmac      A -- k1 == s1 -- B      each side's packets carry an HMAC, and each side asks for one

Linux has not the text of RFC 8754: it leaves out the TLV's D and reserved bits, and wants a flag in the SRH that the RFC
does not know (docs/protocol.md 3.8). `profile: linux` speaks like that; the cases say where nothing else would do.
"""

from checks import MLD, Lossless, eventually, expect, ping, pings, reaches
from node import port, via
from topology import (
    A6, B6, GATE_A4, GATE_A6, GATE_B4, GATE_B6, NET_A4, NET_A6, NET_B4, NET_B6, WAN_MTU, beside, kernel_edge,
    over, seg6local,
)

KEY_ID, SECRET, OTHER = 42, b"an HMAC key for both", b"another one for once"
K_END, K_DX6, K_DX4 = "5f00:1:1:1::", "5f00:1:1:d6::", "5f00:1:1:d4::"
S_END, S_DT = "5f00:1:2:1::", "5f00:1:2:d46::"


def set_kernel_key(space, secret):
    """ip(8) asks for the secret on the terminal, or without one on its standard input."""
    space.exec("setsid", "ip", "sr", "hmac", "set", KEY_ID, "sha256", text=secret.decode() + "\n")


def policies(key, encap="H.Encaps"):
    return [{"name": name, "encap": encap, **({"hmac-key": KEY_ID} if key else {}),
             "paths": [{"name": "only", "segments": [K_END, last]}]} for name, last in (("six", K_DX6), ("four", K_DX4))]


def write_keys(node, secret):
    path = node.folder / "keys"
    path.touch(mode=0o600)
    path.write_text(f"{KEY_ID} {secret.hex()}\n")


def hmac(options):
    t, k1, s1 = beside(options)
    kernel_edge(k1, "fd00:0:1::1", "wan0", "fd00:a::1/64", GATE_A4, GATE_A6)
    k1.ip("route add 5f00::/16 via fd00:a::2", "route add fd00::/16 via fd00:a::2")
    k1.sysctl("net.ipv6.conf.wan0.seg6_require_hmac=1", "net.ipv6.conf.all.seg6_require_hmac=1")
    set_kernel_key(k1, SECRET)
    seg6local(k1, f"{K_END}/64", "End", "wan0")
    seg6local(k1, f"{K_DX6}/64", f"End.DX6 nh6 {A6}", "hosts0")
    seg6local(k1, f"{K_DX4}/64", "End.DX4 nh4 10.1.0.11", "hosts0")
    t.node(s1, "fd00:0:2::1",
           [port(0, "wan0", "wan", "fd00:a::2/64", mtu=WAN_MTU),
            port(1, "dc0", "dc", f"{GATE_B4}/24", f"{GATE_B6}/64", vrf="blue")],
           routes=via("wan0", "fd00:a::1", "5f00::/16", "fd00::/16"), hmac={"keys": "keys", "profile": "linux"},
           vrfs=[{"name": "blue", "routes": over("four", NET_A4) + over("six", NET_A6)}], policies=policies(True),
           sids=[{"sid": f"{S_END}/64", "behavior": "End", "hmac": "required"},
                 {"sid": f"{S_DT}/64", "behavior": "End.DT46", "vrf": "blue", "hmac": "required"}])
    t.s1 = t.nodes["s1"]
    write_keys(t.s1, SECRET)
    return t


def linux_encaps(t, mode, key=True):
    for prefix in (NET_B4, NET_B6):
        t.k1.ip(f"route replace {prefix} encap seg6 mode {mode} segs {S_END},{S_DT} "
                f"{f'hmac {KEY_ID} ' if key else ''}dev wan0")


def both_ways(t, mode, encap):
    linux_encaps(t, mode)
    t.s1.reload(policies=policies(True, encap))
    reaches(t.a, B6)
    with Lossless(t, MLD):
        for to in (B6, "10.3.0.33"):
            pings(t.a, to, count=2)


def echoes(t):
    """Requests that A has got."""
    lines = t.a.exec("cat", "/proc/net/snmp6").stdout.splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Icmp6InEchos "))


SHORT_WAIT = ("-W", 0.3)


def refused_by_linux(t):
    """sluice sends, and nothing comes out of Linux."""
    before, sent = echoes(t), t.s1.port("wan0")["tx"]
    ping(t.b, A6, 2, more=SHORT_WAIT)
    expect(t.s1.port("wan0")["tx"] >= sent + 2, "sluice sends nothing")
    expect(echoes(t) == before, "Linux takes it")


def refused_by_sluice(t):
    """Packets from Linux are dropped as hmac."""
    before = t.s1.drops().get("hmac", 0)
    ping(t.a, B6, 2, more=SHORT_WAIT)
    eventually(lambda: t.s1.drops().get("hmac", 0) >= before + 2, "dropped as hmac")


def again(t):
    """All is well when both have the same key and text."""
    t.s1.reload(hmac={"keys": "keys", "profile": "linux"}, policies=policies(True))
    linux_encaps(t, "encap")
    reaches(t.a, B6)
    before = echoes(t)
    with Lossless(t, MLD):
        pings(t.b, A6, count=2)
    expect(echoes(t) == before + 2, "A counts")


def in_the_rfcs_words(t):
    t.s1.reload(hmac={"keys": "keys"})
    refused_by_sluice(t)
    refused_by_linux(t)


def without(t):
    """Neither accepts a packet without an HMAC."""
    again(t)
    linux_encaps(t, "encap", key=False)
    refused_by_sluice(t)
    t.s1.reload(policies=policies(False))
    refused_by_linux(t)


def another_key(t):
    write_keys(t.s1, OTHER)
    t.s1.reload(hmac={"keys": "keys", "profile": "linux"}, policies=policies(True))
    linux_encaps(t, "encap")
    refused_by_sluice(t)
    refused_by_linux(t)
    write_keys(t.s1, SECRET)
    again(t)


HMAC = [
    ("profile linux: encap to End and DT46, H.Encaps to End and DX6, DX4: ping", lambda t: both_ways(t, "encap", "H.Encaps")),
    ("profile linux: encap.red and H.Encaps.Red: ping", lambda t: both_ways(t, "encap.red", "H.Encaps.Red")),
    ("profile rfc8754: refused by each other (Linux: hmac_text_and_flag)", in_the_rfcs_words),
    ("packets without an HMAC are refused by both", without),
    ("another key is refused by both, and the right one is taken after a reload", another_key),
]

GROUPS = [("hmac", hmac, HMAC)]
