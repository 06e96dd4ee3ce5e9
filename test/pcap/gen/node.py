# SPDX-License-Identifier: BSD-3-Clause
"""
The node under test: config.yaml as data.

Port pN has MAC 02:00:00:00:d0:0N. Its neighbour, pN's peer, has the MAC in PEER_MAC; the addresses a port's
peer answers to are static neighbours unless a case says otherwise, so that nothing is ever solicited.
"""

import json
import re

LOOPBACK = "2001:db8:f::d"
BLOCK = "5f00:0::/32"
PEER_MAC = {"p0": "02:00:00:00:a0:00", "p1": "02:00:00:00:b0:01", "p2": "02:00:00:00:c0:02"}
# The inside of the SRv6 domain: the links of wan ports and the loopbacks.
INFRASTRUCTURE = ["2001:db8:a::/64", "2001:db8:b::/64", "2001:db8:f::/64"]

TWO_LCORES = {"control": 0, "rx": [1], "worker": [1], "cpus": "0@0,1@1"}
# One lcore has every role, so the order is known: control, receive, send.
ONE_LCORE = {"control": 0, "rx": [0], "worker": [0], "cpus": "0@0"}


def mac_of(port):
    return f"02:00:00:00:d0:{int(port[1:]):02x}"


def port(name, side, *addresses, **more):
    device = f"net_pcap{name[1:]},rx_pcap=in-{name}.pcap,tx_pcap=out-{name}.pcap"
    return {"name": name, "device": device, "side": side, "mac": mac_of(name), "addresses": list(addresses), **more}


def neighbor(port_name, address, mac=None):
    return {"port": port_name, "address": address, "mac": mac or PEER_MAC[port_name.split(".")[0]]}


def via(port_name, nexthop, *prefixes):
    """Routes of several prefixes to one next hop; nexthop None: the destinations are on the link."""
    hop = {"nexthop": nexthop} if nexthop else {}
    return [{"prefix": p, "port": port_name, **hop} for p in prefixes]


def over(policy_name, *prefixes):
    return [{"prefix": p, "policy": policy_name} for p in prefixes]


def vrf(name, *routes):
    return {"name": name, "routes": list(routes)}


def sid(prefix, behavior, **more):
    return {"sid": prefix, "behavior": behavior, **more}


def policy(name, *lists, **more):
    """A policy of one path for each list of segments; a list may be (weight, list) or (keys, list)."""
    paths = []
    for i, segments in enumerate(lists):
        weight = {}
        if isinstance(segments, tuple):
            weight = segments[0] if isinstance(segments[0], dict) else {"weight": segments[0]}
            segments = segments[1]
        paths.append({"name": f"path{i}", "segments": list(segments), **weight})
    return {"name": name, **more, "paths": paths}


def node(ports, **sections):
    """A whole configuration; sections as in config/reference.yaml, "_" stands for "-"; empty ones are left out."""
    config = {
        "node": {
            "name": "pcap",
            "loopback": LOOPBACK,
            "usid": {"block": sections.pop("block", BLOCK), **sections.pop("usid", {})},
            "infrastructure": sections.pop("infrastructure", INFRASTRUCTURE),
        },
        "lcores": sections.pop("lcores", TWO_LCORES),
        "memory": {"hugepages": "off"},
        "idle": {"policy": "sleep"},
        "ports": ports,
    }
    longest = max(p.get("mtu", 1500) for p in ports)
    if longest > 2000:
        config["memory"]["buffers"] = 32768 if longest < 10000 else 65536  # frames in chains
    config.update({name: value for name, value in sections.items() if value})
    return config


def _scalar(value):
    if isinstance(value, str) and not (re.fullmatch(r"[A-Za-z][\w.-]*", value) and value not in ("on", "off")):
        return json.dumps(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _key(name):
    return name.replace("_", "-")


def _flow(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def render(config):
    """YAML: a section a paragraph, an item a line."""
    lines = []
    for section, value in config.items():
        if isinstance(value, list):
            lines += [f"{_key(section)}:"] + [f"  - {_flow(item)}" for item in value]
        elif section == "node":
            lines += [f"{section}:"] + [f"  {k}: {_flow(v)}" for k, v in value.items()]
        else:
            lines.append(f"{_key(section)}: {_flow(value)}")
    return "\n".join(lines) + "\n"
