#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check test/model/hop.pml with SPIN, and compare its verdicts with those of credit_model. Prints TAP.

The two models were written apart from the same text. Each row takes the same part out of both; they agree if both find a
counterexample, or none.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import machine  # noqa: E402

# name of the row in credit_model.c, macros of hop.pml (parts taken out, bounds), is there a counterexample?
ROWS = [
    ("fences find what is lost", "PACKETS=3 FENCES=1 UPDATES=2", False),
    ("fences find what is lost or doubled", "DOUBLED PACKETS=3 FENCES=1 UPDATES=2", False),
    ("both ends restart", "RESYNC PACKETS=3 FENCES=1 UPDATES=1", False),
    ("doubled increments overrun", "DELTA", True),
    ("credit != 0", "NOT_ZERO", True),
    ("ABR := FCTBS", "IDLE_ANY_TIME", True),
    ("data is counted behind a ring that fences do not pass", "RING", True),
    ("RCVD is sampled after the fence", "LATE", True),
    ("LOST is unsigned (D46)", "DOUBLED UNSIGNED", True),
    ("drops are not freed (D47)", "KEPT_DROPS", True),
    ("RESYNC without quarantine", "RESYNC NO_QUARANTINE", True),
    ("RESYNC with FREED = 0 (D63)", "RESYNC NO_BACKLOG", True),
]
TIMEOUT = 120


def verdict_of_spin(macros, folder):
    """Has SPIN found an error, and how many states did it store?"""
    defines = ["-D" + m for m in macros.split()]
    subprocess.run(["spin", "-a", *defines, os.path.join(HERE, "hop.pml")], cwd=folder, check=True, capture_output=True)
    subprocess.run(["gcc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=2048", "-o", "pan", "pan.c"], cwd=folder, check=True)
    said = subprocess.run(["./pan", "-m200000", "-w22"], cwd=folder, check=True, capture_output=True, text=True,
                          timeout=machine.patience(TIMEOUT)).stdout
    if "max search depth too small" in said or "out of memory" in said or "Search not completed" in said and "errors: 0" in said:
        raise RuntimeError("the search was not complete")
    return int(re.search(r"errors: (\d+)", said)[1]) > 0, int(float(re.search(r"([\d.e+]+) states, stored", said)[1]))


def verdict_of_model(program, name):
    """Did the row of credit_model end as it should? A name may be part of others, and then stands for all of them."""
    done = subprocess.run([program, name], capture_output=True, text=True, check=False, timeout=machine.patience(4 * TIMEOUT))
    return done.returncode == 0 and bool(re.search(r"^ok", done.stdout, re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default="build/test/model/credit_model")
    args = parser.parse_args()
    failed = 0
    for i, (name, macros, broken) in enumerate(ROWS, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                found, states = verdict_of_spin(macros, folder)
                agrees = found == broken and verdict_of_model(args.program, name)
                print(f"# SPIN: {states} states, {'a counterexample' if found else 'no counterexample'}")
            except (RuntimeError, subprocess.SubprocessError) as e:
                agrees = False
                print(f"# {e}")
        failed += not agrees
        print(f"{'ok' if agrees else 'not ok'} {i} - {name}: {'a counterexample' if broken else 'none'} in both", flush=True)
    print(f"1..{len(ROWS)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
