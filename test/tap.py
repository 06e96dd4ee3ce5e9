#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a test suite that prints TAP, show its failures, and count what it says.

A suite that ends early, ends with a status that its tests do not explain, or prints no plan counts as failed:
nothing passes by being silent.
"""
import argparse
import re
import subprocess
import sys
import time

LINE = re.compile(r"^(not )?ok\b(?:\s+\d+)?(?:\s+-)?\s*(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)")


class Counter:
    def __init__(self):
        self.passed = self.failed = self.skipped = self.planned = 0
        self.failures, self.skips, self.repeated = [], [], 0

    def take(self, line):
        """Count one line of TAP; returns whether it is worth showing."""
        plan = PLAN.match(line)
        if plan:
            self.planned += int(plan.group(1))
            return False
        if line.startswith("# repeated: "):  # of machine.py; load is worth knowing of, even if the test passed later
            self.repeated += 1
            return True
        result = LINE.match(line)
        if not result:
            return line.startswith("#") and self.failures != []
        name = result.group(2).strip()
        if re.search(r"#\s*skip", name, re.IGNORECASE):
            self.skipped += 1
            self.skips.append(name)
            return True
        if result.group(1):
            self.failed += 1
            self.failures.append(name)
            return True
        self.passed += 1
        return False

    def close(self, status):
        """The results that the lines left out."""
        seen = self.passed + self.failed + self.skipped
        if seen < self.planned:
            self.failed += self.planned - seen
            self.failures.append(f"{self.planned - seen} tests did not report (status {status})")
        elif not seen:
            self.failed += 1
            self.failures.append(f"no test reported (status {status})")
        elif status and not self.failed:
            self.failed += 1
            self.failures.append(f"ended with status {status}")


def run_suite(name, command, one):
    counter = Counter()
    started = time.monotonic()
    print(f"== {name}", flush=True)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT if one else None, text=True,
                               errors="replace")
    output = []
    for line in process.stdout:
        line = line.rstrip("\n")
        if one:
            output.append(line)
        elif counter.take(line):
            print(f"   {line}", flush=True)
    status = process.wait()
    if one:
        counter.planned = 1
        counter.take(f"{'not ok' if status else 'ok'} 1 - {one}")
        if status:
            print("\n".join(f"   {line}" for line in output[-40:]))
    counter.close(status)
    for failure in counter.failures:
        print(f"   FAILED {failure}")
    repeated = f", {counter.repeated} repeated under load" if counter.repeated else ""
    print(f"   {counter.passed} passed, {counter.failed} failed, {counter.skipped} skipped{repeated}, "
          f"{time.monotonic() - started:.0f} s", flush=True)
    return counter


def tell(results):
    """Print named lists of problems as TAP; the exit status. The lists may be generators, which run then."""
    print(f"1..{len(results)}", flush=True)
    failed = 0
    for number, (name, problems) in enumerate(results, 1):
        found = list(problems)
        failed += bool(found)
        print(f"{'not ok' if found else 'ok'} {number} - {name}")
        for problem in found:
            print("# " + problem.replace("\n", "\n# "))
    return 1 if failed else 0


def summary(results):
    rows = [line.rstrip("\n").split("\t") for line in open(results)]
    totals = [sum(int(row[i]) for row in rows) for i in (1, 2, 3)]
    for row in rows:
        for failure in filter(None, row[4].split("; ")):
            print(f"FAILED {row[0]}: {failure}")
    print(f"{totals[0]} passed, {totals[1]} failed, {totals[2]} skipped")
    return 1 if totals[1] or not totals[0] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="?")
    parser.add_argument("--results", required=True, help="file that collects the counts")
    parser.add_argument("--one", help="the command prints no TAP: it is one test of this name")
    parser.add_argument("--summary", action="store_true")
    ours, command = sys.argv[1:], []
    if "--" in ours:
        ours, command = ours[:ours.index("--")], ours[ours.index("--") + 1:]
    args = parser.parse_args(ours)
    if args.summary:
        return summary(args.results)
    counter = run_suite(args.name, command, args.one)
    failures = "; ".join(f.replace("\t", " ").replace("; ", ", ") for f in counter.failures)
    with open(args.results, "a") as f:
        f.write(f"{args.name}\t{counter.passed}\t{counter.failed}\t{counter.skipped}\t{failures}\n")
    return 1 if counter.failed else 0


if __name__ == "__main__":
    sys.exit(main())
