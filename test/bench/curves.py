# SPDX-License-Identifier: BSD-3-Clause
"""What a packet costs as tables grow: instructions of the node's code, and cycles of the whole process.

A curve is a table that grows, and packets that are looked up in all of it. What is found by an index takes the same instructions
in a table of any size. A longest-prefix match takes a step more where prefixes branch: `step` instructions for ten times as many
routes. Cache misses, which the cycles show, come on top.
"""
import collections
import ipaddress
import math

SAME = 1.01
PACKETS = 64  # different destinations, spread over the whole table

# name of the curve; its sizes; side of p0; size -> Table; instructions that ten times as many entries may add
Curve = collections.namedtuple("Curve", "name sizes side build step", defaults=(0,))
# of the configuration, what is not the bench's own; destinations of PACKETS packets; more prefixes of the infrastructure
Table = collections.namedtuple("Table", "text to infrastructure", defaults=((),))

NEXT = 'port: p1, nexthop: "fd00:0:b::3"'
VRF = "vrfs:\n"


def spread(n):
    """Numbers of PACKETS entries of a table of n, over all of it."""
    return [i * n // PACKETS if n >= PACKETS else i % n for i in range(PACKETS)]


def sids(n):
    """So many uSIDs of links (uA)."""
    return Table("sids:\n" + "".join(f'  - {{sid: "5f00:0:{0xe000 + i:x}::/48", behavior: uA, {NEXT}}}\n' for i in range(n)),
                 [f"5f00:0:{0xe000 + i:x}:500:300::" for i in spread(n)])


def infrastructure(n):
    """uN beside so many prefixes of the infrastructure: those of the bench first, then others."""
    return Table(f'routes: [{{prefix: "5f00:0:500::/48", {NEXT}}}]\nsids: [{{sid: "5f00:0:100::/48", behavior: uN}}]\n',
                 ["5f00:0:100:500:300::"] * PACKETS, [f"fd01:{i:x}::/32" for i in range(n - 1)])


def underlay(n):
    """So many routes to uSIDs of other nodes (uN)."""
    first = 0x1000
    return Table('sids: [{sid: "5f00:0:100::/48", behavior: uN}]\nroutes:\n' +
                 "".join(f'  - {{prefix: "5f00:0:{first + i:x}::/48", {NEXT}}}\n' for i in range(n)),
                 [f"5f00:0:100:{first + i:x}:300::" for i in spread(n)])


def prefix(i):
    """Of 64 bits, spread over 2001:db8::/32: tenants do not number their networks one after the other."""
    return ipaddress.IPv6Address((0x20010db8 << 96) | ((i * 2654435761 % (1 << 32)) << 64))


POLICY = 'policies:\n  - {name: p, paths: [{name: x, segments: ["5f00:0:500::", "5f00:0:300::"]}]}\n'
WAY = f'routes: [{{prefix: "5f00:0:500::/48", {NEXT}}}]\n'


def routes(n):
    """So many routes of a VRF (H.Encaps.Red)."""
    return Table(WAY + POLICY + VRF + "  - name: red\n    routes:\n" +
                 "".join(f'      - {{prefix: "{prefix(i)}/64", policy: p}}\n' for i in range(n)),
                 [str(prefix(i) + 1) for i in spread(n)])


def policies(n):
    """So many policies, a route to each (H.Encaps.Red)."""
    return Table(WAY + "policies:\n" + "".join(
        f'  - {{name: p{i}, paths: [{{name: x, segments: ["5f00:0:500::", "5f00:0:{0x4000 + i:x}::"]}}]}}\n' for i in range(n)) +
                 VRF + "  - name: red\n    routes:\n" + "".join(f'      - {{prefix: "{prefix(i)}/64", policy: p{i}}}\n' for i in range(n)),
                 [str(prefix(i) + 1) for i in spread(n)])


def vrfs(n):
    """So many VRFs of ten routes, a SID into each (uDT46)."""
    return Table("sids:\n" + "".join(f'  - {{sid: "5f00:0:{0xe000 + i:x}::/48", behavior: uDT46, vrf: v{i}}}\n' for i in range(n)) +
                 VRF + "  - {name: red}\n" + "".join(f"  - name: v{i}\n    routes:\n" + "".join(
                f'      - {{prefix: "2001:db8:{3 + r:x}::/48", {NEXT}}}\n' for r in range(10)) for i in range(n)),
                 [f"5f00:0:{0xe000 + i:x}::" for i in spread(n)])


CURVES = [
    Curve("uA SIDs (uA)", (1, 64, 1024, 4096), "wan", sids),
    Curve("prefixes of the infrastructure (uN)", (1, 8, 64), "wan", infrastructure),
    Curve("underlay routes (uN)", (1, 256, 4096, 16384), "wan", underlay),
    Curve("routes of a VRF (H.Encaps.Red)", (1, 1024, 16384, 100000), "dc", routes, 32),
    Curve("policies (H.Encaps.Red)", (1, 64, 1024, 10000), "dc", policies, 32),
    Curve("VRFs of ten routes (uDT46)", (1, 64, 512, 4096), "wan", vrfs),
]


def is_flat(curve, sizes, counts):
    return all(count <= counts[0] * SAME + curve.step * math.log10(n / sizes[0]) for n, count in zip(sizes, counts))
