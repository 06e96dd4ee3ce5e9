# SPDX-License-Identifier: BSD-3-Clause
"""Tenants flood the control lcore of a PE while PFC crosses the WAN (lib/pkt/punt.h): nothing that is lossless is lost."""
import ipaddress
import random

from outages import stalled, tunnelled, with_states
from pfc_frames import digits as digits_of
from suite import scenario

KINDS = ("udp", "arp", "ttl", "mixed")


def checksum(header):
    total = sum(int.from_bytes(header[i:i + 2], "big") for i in range(0, len(header), 2))
    total = (total & 0xffff) + (total >> 16)
    return 0xffff - ((total & 0xffff) + (total >> 16))


def ip4(mac, source, own, target, ttl=64, size=46):
    header = bytes.fromhex(f"4500{size:04x}00000000{ttl:02x}110000") + ipaddress.ip_address(own).packed + ipaddress.ip_address(target).packed
    header = header[:10] + checksum(header).to_bytes(2, "big") + header[12:]
    return digits_of(mac) + digits_of(source) + "0800" + header.hex() + "00" * (size - 20)


def arp(source, own, target):
    addresses = ipaddress.ip_address(own).packed.hex(), ipaddress.ip_address(target).packed.hex()
    return "ff" * 6 + digits_of(source) + "0806" + "0001080006040001" + digits_of(source) + addresses[0] + "00" * 6 + addresses[1] + "00" * 18


def frame(kind, net, node, port, host):
    """A frame for the control lcore of `node` from a host behind one of its ports."""
    mac, source, own = net._mac(f"{node}.{port}"), net._mac(f"{host}.eth0"), net.hosts[host]["address"]
    addresses = [p["addresses"][0] for p in net.config(node)["ports"] if p["name"] == port]
    gateway = addresses[0].split("/")[0]
    return {"udp": lambda: ip4(mac, source, own, gateway), "arp": lambda: arp(source, own, gateway),
            "ttl": lambda: ip4(mac, source, own, net.hosts["gpu2"]["address"], ttl=1)}[kind]()


@scenario(short=[{"kind": "udp", "carrier": "state", "seed": 2}, {"kind": "arp", "carrier": "frames", "seed": 3}, {"kind": "mixed", "carrier": "tunnel", "seed": 2}],
          long=[{"kind": k, "carrier": c} for k in KINDS for c in ("frames", "state", "tunnel")], seeds=1,
          expect=["report['lossless']['lost_broken'] == 0", "flow('gpu1-gpu2').retransmitted == 0", "host('gpu2').pauses_sent > 0",
                  "dropped('pe1') > 10000 or missed('pe1') > 10000"])
def control_flood(kind, carrier, seed=2):
    """Two to four tenants of the PE whose gateway is paused from afar send it packets of one kind, or of several, at line
    rate, from before the pause until after it; rates, distance, tenants and times are drawn. The pause comes, stays and
    ends as without them: no buffer overflows."""
    net, paused = tunnelled("control-flood", seed, 2000) if carrier == "tunnel" else stalled("control-flood", "frames", seed, 2000)
    if carrier == "state":
        with_states(net)
    r = random.Random(seed * 7919)
    lcores = r.randrange(2, 4)  # that receive: together they hand on more than one control lcore can take
    tenants = [f"evil{i}" for i in range(r.randrange(lcores, 5))]
    net.nodes["pe1"]["lcores"] = {"control": 0, "rx": list(range(1, 1 + lcores)), "worker": [8]}
    net.nodes["pe1"]["lab"] = {"cycles": r.choice([300, 600, 900]), "pass-cycles": 100}
    for i, tenant in enumerate(tenants):
        net.host(tenant, 60 + i)
        net.link(f"{tenant}.eth0", f"pe1.{tenant}", rate="10G")
    ports = list(net.nodes["pe1"]["ports"].items())
    r.shuffle(ports)  # in which an rx lcore polls them: what comes first finds room
    net.nodes["pe1"]["ports"] = dict(ports)
    net.tune("pe1", lambda config: config["memory"].update(buffers=config["memory"]["buffers"] + 12000 * len(tenants)))
    for tenant in tenants:
        what = r.choice(KINDS[:-1]) if kind == "mixed" else kind
        text = frame(what, net, "pe1", tenant, tenant)
        every = max(68, (len(text) // 2 + 24) * 8 // 10)
        net.hosts[tenant]["keys"]["send"] = [{"at": f"{max(100, paused - 15000 - r.randrange(1000))}us", "repeat": 25000000 // every,
                                              "every": f"{every}ns", "frame": text}]
    return net
