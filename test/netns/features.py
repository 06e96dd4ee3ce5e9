# SPDX-License-Identifier: BSD-3-Clause
"""The abilities of this machine's kernel and iproute2, found by trying. Tests that need more are skipped by name."""

import functools
import os

from net import CommandFailed, Net

# the least a network needs; more, by network
PLAIN, SRV6, HMAC = ("root", "namespaces"), ("seg6", "reduced", "next-csid"), "hmac"
ADJACENCY = (*SRV6, "next-csid-x")
NEEDS = {"bfd": ("frr",), "rsvp": (), "cable": (), "process": (), "dead": (), "pfc": (), "relay": (), "hmac": (*SRV6, HMAC), "through": ADJACENCY, "long": ADJACENCY, "jumbo": ADJACENCY,
         "twin": ADJACENCY, "story": ADJACENCY}

SID = "5f00:0:1::"


def tries(*lines):
    """Do these commands of ip(8) work, in a namespace with a link?"""
    net = Net()
    try:
        space = net.space("probe")
        space.ip("link add v0 type veth peer name v1", "link set v0 up", *lines)
        return True
    except CommandFailed:
        return False
    finally:
        net.close()


def encap(mode):
    return lambda: tries(f"route add 2001:db8::/64 encap seg6 mode {mode} segs {SID} dev v0")


# name -> (the feature that is missing without it, probe)
FEATURES = {
    "frr": ("bfdd of FRR (package frr)", lambda: os.path.exists("/usr/lib/frr/bfdd")),
    "root": ("root", lambda: os.geteuid() == 0),
    "namespaces": ("network namespaces and veth", tries),
    "seg6": ("seg6 and seg6local in the kernel", lambda: encap("encap")() and tries(
        f"route add {SID}/128 encap seg6local action End dev v0")),
    "reduced": ("encap.red in the kernel (6.0) and in iproute2", encap("encap.red")),
    "next-csid": ("NEXT-CSID in the kernel (6.1) and in iproute2", lambda: tries(
        f"route add {SID}/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 dev v0")),
    "next-csid-x": ("NEXT-CSID of End.X in the kernel (6.6)", lambda: tries(
        f"route add {SID}/48 encap seg6local action End.X nh6 fd00::1 flavors next-csid lblen 32 nflen 16 dev v0")),
    HMAC: ("seg6 HMAC in the kernel", lambda: os.path.exists("/proc/sys/net/ipv6/conf/lo/seg6_require_hmac")),
}


@functools.cache
def is_there(feature):
    return FEATURES[feature][1]()


def missing(network):
    """The reason why this network cannot be built, or None."""
    for feature in (*PLAIN, *NEEDS.get(network, SRV6)):
        if not is_there(feature):
            return FEATURES[feature][0]
    return None
