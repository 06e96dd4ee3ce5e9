#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Instructions of a packet, counted by callgrind: at most the ceiling of its path, and not more with more slices or longer tables;
and of a failure, not more with more paths; of a message of RSVP.

A count does not depend on the machine's load, so it is a test where cycles are only a measurement. Prints TAP.
"""
import argparse
import importlib.machinery
import importlib.util
import itertools
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import curves  # noqa: E402
import failover  # noqa: E402
import rsvp  # noqa: E402

# The least that a path has cost so far (gcc 12, DPDK 22.11), and how much dearer it may become by what is added since.
LEAST = {"uN": 271, "uA": 264, "H.Encaps.Red": 603, "uDT46": 504,
         "H.Encaps.Red, flow table": 833, "H.Encaps.Red, flow table, RoCEv2": 925, "H.Encaps.Red, flow table, feedback": 869}
MARGIN = 1.03
CEILING = {path: int(count * MARGIN) for path, count in LEAST.items()}
# A packet that waits costs so much more than one that does not. The budget is 40 cycles; it was 208 once, and 34.
WAITS = 110
# A packet that passes while the gate of another queue is closed.
BESIDE = 40
# How much the number of slices may change a count: the code takes as many steps for one slice as for 64.
SAME = 1.01
# A message of RSVP, plain and signed: read, handled and answered (docs/performance.md).
RSVP = {"init": (14520, 54820), "offer": (4920, 16290), "commit": (9990, 44320), "update": (2050, 11900), "updates": (21270, 66960),
        "endack": (2540, 12370), "refresh": (6950, 18400)}
# From the failure of a next hop to the first packet on another path; a packet of a queue that another worker takes over; a
# BFD session at 3 x 10 ms in a second.
DOWN, HANDED_OVER, SESSION = 13000, 2200, 300_000


# A uN packet beside a flood of packets that are not for the express lane, by the share of these: what the flood costs alone is
# taken off. It was 322, 403, 318 and 400 while each of them ended a run of the lane.
BESIDE_A_FLOOD = {("network control in transit", 8): 290, ("network control in transit", 2): 314,
                  ("packets to End with SRH", 8): 278, ("packets to End with SRH", 2): 323}


def bench_module():
    loader = importlib.machinery.SourceFileLoader("bench", os.path.join(TOP, "scripts", "bench"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
    loader.exec_module(module)
    return module


def results(module, bench):
    """Each claim, and whether it holds."""
    for path in module.PATHS:
        if path.name in CEILING:
            count = bench.instructions(*bench.plain(path))
            yield f"{path.name}: {count:.0f} instructions, at most {CEILING[path.name]}", count <= CEILING[path.name]
    for flood, share, count in bench.beside():
        if flood:
            most = int(BESIDE_A_FLOOD[flood, share] * MARGIN)
            yield f"uN beside {flood}, one packet in {share}: {count:.0f} instructions, at most {most}", count <= most
    rows = bench.queues()
    for what in module.PASSES, module.WAITS, module.SHAPED:
        counts = {n: count for said, n, count in rows if said == what}
        shown = ", ".join(f"{count:.1f} with {n}" for n, count in counts.items())
        yield (f"{what}: the same whatever the number of slices ({shown})",
               len(counts) > 1 and max(counts.values()) <= min(counts.values()) * SAME)
    passes, waits = (next(count for said, _, count in rows if said == what) for what in (module.PASSES, module.WAITS))
    yield f"waiting costs {waits - passes:.0f}, at most {WAITS}", waits - passes <= WAITS
    apart = next(count for said, _, count in rows if "another gate" in said)
    yield f"beside a closed gate: {apart - passes:.0f} more, at most {BESIDE}", apart - passes <= BESIDE


def curve_results(bench):
    """The two smallest tables of each: a step for each entry would show, and the others take long to load."""
    for curve in curves.CURVES:
        sizes = curve.sizes[:2]
        counts = [count for _, count, _ in bench.curve(curve, sizes)]
        shown = " and ".join(f"{count:.0f} with {n:,}" for n, count in zip(sizes, counts))
        yield f"{curve.name}: flat ({shown})", curves.is_flat(curve, sizes, counts)


def failover_results(steps):
    """What a failure costs is the same whatever hangs on the next hop, and in proportion to what is queued."""
    counts = [steps.count_paths(n) for n in (1, 1000)]
    yield (f"a next hop of 1 and of 1,000 paths fails: {counts[0]:.0f} and {counts[1]:.0f} instructions until another one carries, at most {DOWN}",
           max(counts) <= min(min(counts) * SAME, DOWN))
    counts = [steps.count_queue(n) for n in (500, 5000)]
    yield (f"a queue of 500 and of 5,000 packets is handed over: {counts[0]:.0f} and {counts[1]:.0f} instructions a packet, at most {HANDED_OVER}",
           max(counts) <= HANDED_OVER)
    count = steps.count_sessions(10, 100)
    yield f"a BFD session takes {count:.0f} instructions in a second, at most {SESSION}", count <= SESSION


def rsvp_results(steps):
    for step, least in RSVP.items():
        counts = [steps.count(step, kind) for kind in rsvp.KINDS]
        most = [int(count * MARGIN) for count in least]
        yield (f"RSVP, {rsvp.STEPS[step]}: {counts[0]:.0f} instructions, and {counts[1]:.0f} signed, at most {most[0]} and {most[1]}",
               all(count <= m for count, m in zip(counts, most)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(TOP, "build"))
    args = parser.parse_args()
    module = bench_module()
    bench = module.Bench(os.path.abspath(args.build), 1, 1)
    steps = failover.Failover(bench.build)
    failed = n = 0
    try:
        for n, (what, holds) in enumerate(itertools.chain(failover_results(steps), rsvp_results(rsvp.Rsvp(bench.build)), results(module, bench),
                                                      curve_results(bench)), 1):
            print(f"{'ok' if holds else 'not ok'} {n} - {what}", flush=True)
            failed += not holds
    finally:
        shutil.rmtree(bench.folder, ignore_errors=True)
        steps.close()
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
