#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Run a fuzz target, or all of them as a test.

    run.py                      list the targets
    run.py TARGET [SECONDS]     run one (default 60 s) on all but one CPU; new inputs stay in BUILD/corpus; with FUZZ_BLOCK=16, 48
                                or 64 in the environment uSIDs are behind a block of that length
    run.py --tap                run all of them from the seeds alone, print TAP; measure which lines of the parsers they reach
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parents[1]
sys.path.insert(0, str(HERE))
from corpus import write_seeds, write_words  # noqa: E402

# description, executions in the test, longest input
TARGETS = {
    "bfd": ("one BFD control packet", 1_000_000, 128),
    "bfd_session": ("BFD messages to sessions of all kinds, and time", 60_000, 1024),
    "chain": ("chain of extension headers of one IPv6 packet", 1_000_000, 2048),
    "classify": ("one frame through the classifier, its buffer poisoned around it", 400_000, 2048),
    "command": ("typed input: lines of a stream, completion, commands that only read", 12_000, 8192),
    "config": ("YAML text through loader, checks and printer", 40_000, 100_000),
    "icmp": ("ICMP errors about a packet, and echo replies", 500_000, 2048),
    "neighbor": ("Neighbor Discovery and ARP messages", 500_000, 512),
    "packet": ("frames through a whole node: rx, rings, worker, rewrite, control", 10_000, 8192),
    "rsvp": ("one RSVP message, or a Bundle", 1_000_000, 2048),
    "rsvp_letter": ("messages by the letter of the draft to their machines, and time", 550_000, 2048),
    "rsvp_session": ("RSVP messages to session machines, and time", 450_000, 4096),
    "scalar": ("one value of a configuration: number, address, prefix, name", 500_000, 512),
    "state": ("leased state messages to a PFC relay, and time", 60_000, 512),
    "steer": ("RoCEv2 packets of a flow, and flows as text", 500_000, 2048),
    "srh": ("an endpoint behaviour on one IPv6 packet, with and without SRH", 500_000, 2048),
}
BLOCKS = {"classify": (16, 48, 64), "packet": (16, 48, 64), "srh": (16, 48, 64)}  # other lengths of the block of uSIDs (node.h)
# libFuzzer chooses inputs by how rare their features are, which costs more than these targets themselves: not for them
PLAIN = {"rsvp", "rsvp_letter", "rsvp_session"}
SEQUENCES = {"rsvp_letter", "rsvp_session"}  # whole sessions: each execution is a sequence of messages
ENOUGH = 1_000_000  # executions of these in the test, and of the others
PARSERS = ["classify/classify_dp.c", "srv6/endpoint_dp.c", "icmp/icmp.c", "neigh/nd.c", "config/load.c",
           "config/scalar.c", "pfc/pfc_state.c", "bfd/bfd_packet.c",
           "steer/steer_text.c",
           "rsvp/rsvp_object.c", "rsvp/rsvp_object_credit.c", "rsvp/rsvp_read.c"]
COVERAGE = 95.0  # percent of the lines of each parser
SECONDS_MAX = {True: 900, False: 240}  # of sequences, whose number is asked for; of others


def environment(profile, target, block=None):
    # sequences free little: less of it in quarantine stays in the cache
    asan = "detect_leaks=0:allocator_may_return_null=1" + (":quarantine_size_mb=16" if target in SEQUENCES else "")
    return dict(os.environ, **({"FUZZ_BLOCK": str(block)} if block else {}), LLVM_PROFILE_FILE=str(profile), CMOCKA_TEST_ABORT="1",
                ASAN_OPTIONS=asan, UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")


def program(build, target):
    return build / "test" / "fuzz" / f"fuzz_{target}"


def command(build, target, work, *folders):
    crashes = build / "crashes"
    crashes.mkdir(exist_ok=True)
    words = work / "words"
    arguments = [str(program(build, target)), f"-max_len={TARGETS[target][2]}", "-rss_limit_mb=4096", "-timeout=25",
                 f"-artifact_prefix={crashes}/{target}-"]
    if target in PLAIN:
        arguments += ["-entropic=0", "-reduce_inputs=0"]
    if target == "config":
        write_words(words)
        arguments.append(f"-dict={words}")
    return arguments + [str(f) for f in folders]


def list_targets():
    for name, (what, _, _) in TARGETS.items():
        print(f"  {name:10} {what}")


def run_one(build, target, seconds):
    """With libFuzzer's own progress lines."""
    found = build / "corpus" / target
    found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sluice-fuzz-") as folder:
        work = pathlib.Path(folder)
        seeds = write_seeds(target, work / "seeds")
        print(f"{target}: {TARGETS[target][0]}; {seeds} seeds, {len(list(found.iterdir()))} inputs found before; "
              f"{seconds} s", flush=True)
        full = command(build, target, work, found, work / "seeds") + [f"-max_total_time={seconds}", "-print_final_stats=1"]
        status = subprocess.run(full, env=environment(os.devnull, target), check=False).returncode
    if status:
        print(f"{target}: an input breaks it; it is in {build}/crashes. Again: {program(build, target)} FILE")
    return status


def test_one(build, target, block, work):
    """(executions, seconds, problem lines)"""
    began = time.monotonic()
    folder = work / (f"{target}-{block}" if block else target)
    write_seeds(target, folder / "seeds")
    full = command(build, target, folder, folder / "seeds")
    full += [f"-runs={TARGETS[target][1] // (4 if block else 1)}", f"-seed={block or 1}", f"-max_total_time={SECONDS_MAX[target in SEQUENCES]}", "-print_final_stats=1"]
    done = subprocess.run(full, env=environment(f"{folder}.profraw", target, block), capture_output=True, text=True,
                          errors="replace", check=False)
    count = re.search(r"stat::number_of_executed_units:\s+(\d+)", done.stderr)
    problems = [f"status {done.returncode}; the input is in {build}/crashes"] + done.stderr.splitlines()[-60:]
    return int(count[1]) if count else 0, time.monotonic() - began, problems if done.returncode else []


def coverage(build, work):
    """Percent of the lines of each parser that any target reached."""
    merged = work / "all.profdata"
    subprocess.run(["llvm-profdata", "merge", "-o", merged, *sorted(work.glob("*.profraw"))], check=True)
    programs = [str(program(build, t)) for t in TARGETS]
    objects = programs[:1] + [arg for p in programs[1:] for arg in ("-object", p)]
    out = subprocess.run(["llvm-cov", "export", "-summary-only", f"-instr-profile={merged}", *objects,
                          *(str(TOP / "lib" / p) for p in PARSERS)], capture_output=True, text=True, check=True).stdout
    found = {}
    for row in json.loads(out)["data"][0]["files"]:
        name = os.path.relpath(row["filename"], TOP / "lib")
        found[name] = row["summary"]["lines"]["percent"]
    return found


class Tap:
    def __init__(self, total):
        self.number = self.failed = 0
        print(f"1..{total}", flush=True)

    def result(self, good, name, problems=()):
        self.number += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {name}")
        for line in problems:
            print(f"# {line}")
        sys.stdout.flush()


def test_all(build):
    tap, total = Tap(len(TARGETS) + sum(map(len, BLOCKS.values())) + 2 + len(PARSERS)), {True: 0, False: 0}
    with tempfile.TemporaryDirectory(prefix="sluice-fuzz-") as folder:
        work = pathlib.Path(folder)
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            # the longest first
            order = sorted(((t, b) for t in TARGETS for b in (None, *BLOCKS.get(t, ()))), key=lambda run: (run[0] not in SEQUENCES, TARGETS[run[0]][1]))
            runs = [(t, b, pool.submit(test_one, build, t, b, work)) for t, b in order]
            for target, block, run in runs:
                executed, seconds, problems = run.result()
                total[target in SEQUENCES] += executed
                behind = f", uSIDs behind a /{block}" if block else ""
                tap.result(not problems, f"fuzz {target}{behind}: {executed} executions, {seconds:.0f} s", problems)
        tap.result(total[True] >= ENOUGH, f"{total[True]} sequences of messages to sessions, {ENOUGH} are enough")
        tap.result(total[False] >= ENOUGH, f"{total[False]} other executions, {ENOUGH} are enough")
        reached = coverage(build, work) if not tap.failed else {}
        for parser in PARSERS:
            percent = reached.get(parser, 0.0)
            tap.result(percent >= COVERAGE, f"{parser}: {percent:.1f} % of its lines reached, at least {COVERAGE:.0f} wanted")
    return 1 if tap.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build-fuzz", help="folder built with -Dfuzz=enabled")
    parser.add_argument("--tap", action="store_true")
    parser.add_argument("target", nargs="?", choices=list(TARGETS))
    parser.add_argument("seconds", nargs="?", type=int, default=60)
    options = parser.parse_args()
    options.build = options.build.resolve()
    if options.tap:
        return test_all(options.build)
    if options.target:
        return run_one(options.build, options.target, options.seconds)
    list_targets()
    return 0


if __name__ == "__main__":
    sys.exit(main())
