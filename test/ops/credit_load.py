#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""65,536 configured credit sessions: --check reads and checks them within 2 s of CPU, and says what one takes. Prints TAP."""
import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile

from live_node import CONFIG
from tap_main import expect, machine, report

SESSIONS, SECONDS = 65536, 2
SOFT_STATE, UPDATED = 640, 64  # bytes of a session


def configuration():
    lines = ["neighbors:", '  - {port: p0, address: "2001:db8:a::3", mac: "02:00:00:00:a0:03"}',
             'routes: [{prefix: "5f00:0:200::/48", port: p0, nexthop: "2001:db8:a::3"}]',
             'policies: [{name: far, source-prefix: "fd00:1::/64", paths: [{name: only, segments: ["5f00:0:200::"]}]}]',
             f"credit:\n  mode: ext\n  data: free\n  integrity: off\n  paths: {SESSIONS}\n  refresh: 300000\n  neighbors: [{{address: \"fd00::2\"}}]\n  sessions:"]
    lines += [f'    - {{name: s{i}, policy: far, to: "fd00::2", class: {i % 8}}}' for i in range(SESSIONS)]
    return "\n".join(lines) + "\n"


def loads(sluice):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "c.yaml"), "w") as f:
            f.write(CONFIG.format(name="load", port=9111) + configuration())
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sluice, "-c", "c.yaml", "--check"], cwd=folder, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"# {used:.2f} s of CPU", flush=True)
        expect(done.returncode == 0, done.stderr[:400])
        said = re.search(r"for a session of one path, (\d+) of them soft state, (\d+) what updates touch", done.stdout)
        expect(said and int(said[1]) <= SOFT_STATE and int(said[2]) <= UPDATED, said[0] if said else "the memory of a session is not said")
        expect(used < machine.patience(SECONDS), f"{used:.2f} s of CPU")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", required=True)
    args = parser.parse_args()
    return report([("65,536 sessions", lambda: loads(os.path.abspath(args.sluice)))])


if __name__ == "__main__":
    sys.exit(main())
