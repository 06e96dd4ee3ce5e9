#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fat trees of any size: how fast the lab is, and that its speed does not depend on the size.

A k-ary fat tree (Al-Fares et al., SIGCOMM 2008) has k pods, each with k/2 edge and k/2 aggregation nodes, and (k/2)^2 core nodes
above them; k/2 hosts hang on each edge node. All nodes have k ports of one rate. k = 4: 20 nodes, 16 hosts; k = 8: 80 and 128.

As a program it writes such a topology: fat_tree.py 8 > fat-tree-8.json; sluice-lab fat-tree-8.json
"""
import argparse
import json
import sys

from net import Net
from suite import scenario


def fat_tree(k, run="1ms", flow=None, **lab):
    """Each host sends to the host half of the network away, so that every flow crosses the core."""
    net = Net(f"fat-tree-{k}", run, **{"memory": "16G", **lab})
    half = k // 2
    edges = [(pod, i) for pod in range(k) for i in range(half)]
    memory = {"buffers": max(4096 * k, 24576)}
    for pod, i in edges:
        net.node(f"edge-{pod}-{i}", memory=memory)
        net.node(f"agg-{pod}-{i}", memory=memory)
    for i in range(half * half):
        net.node(f"core-{i}", memory=memory)
    for pod, i in edges:
        for h in range(half):
            host = net.host(f"host-{pod}-{i}-{h}", len(net.hosts) + 1)
            net.link(f"{host}.eth0", f"edge-{pod}-{i}.dc{h}")
        for a in range(half):
            net.link(f"edge-{pod}-{i}.up{a}", f"agg-{pod}-{a}.down{i}")
    for pod, i in edges:
        for a in range(half):
            net.link(f"agg-{pod}-{i}.up{a}", f"core-{i * half + a}.pod{pod}")
    hosts = list(net.hosts)
    for i, name in enumerate(hosts):
        net.flow(name, hosts[(i + len(hosts) // 2) % len(hosts)], **{"rate": "20G", "message": 65536, **(flow or {})})
    return net


@scenario(short=[{"k": 2}, {"k": 4}], long=[{"k": 4}, {"k": 8}], seeds=0.03, name="fat_tree",
          expect=["lost == 0", "all(n['dropped'] == 0 for n in report['nodes'])", "all(f['goodput_gbps'] > 18 for f in report['flows'])"])
def fat_tree_scenario(k):
    """Every host talks across the core of a fat tree, slower than the links: nothing is lost."""
    return fat_tree(k)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("k", type=int, help="ports of a node: even, 2 to 16")
    parser.add_argument("--run", default="1ms", help="virtual time that hosts send (default: %(default)s)")
    args = parser.parse_args()
    if args.k % 2 or not 2 <= args.k <= 16:
        parser.error(f"k: expected an even number from 2 to 16, found {args.k}")
    json.dump(fat_tree(args.k, args.run).topology(), sys.stdout, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
