#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Follow docs/lab.md to the letter: write its files, run its commands and its Python scenario. The lab output that docs/pfc.md
shows must match, too. Prints TAP."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "test"))
import tap  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(TOP, "build"))
    args = parser.parse_args()
    with open(os.path.join(TOP, "docs", "lab.md")) as f:
        text = f.read()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        # the page is written for the top of the tree; runs go into a folder of their own
        for name in ("config", "scripts"):
            os.symlink(os.path.join(TOP, name), os.path.join(folder, name))
        os.symlink(os.path.abspath(args.build), os.path.join(folder, "build"))
        os.mkdir(os.path.join(folder, "out"))
        env = dict(os.environ, PATH=f"{os.path.abspath(args.build)}/app/sluice-lab:{os.environ['PATH']}")
        for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S):
            if kind == "yaml":
                with open(os.path.join(folder, re.match(r"# (\S+)", block).group(1)), "w") as f:
                    f.write(block)
            for command in re.findall(r"^\$ (.*)$", block, re.M) if not kind else ():
                if command.startswith("./scripts/build"):
                    continue
                done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=120,
                                      check=False)
                results.append((command, [] if done.returncode == 0 and done.stdout else [done.stderr[-400:] or "says nothing"]))
            if kind == "python":
                results.append(("the scenario of the page", scenario(block, folder, args.build)))
        written = os.listdir(os.path.join(folder, "out"))
        results += results_shown(os.path.join(TOP, "docs", "pfc.md"), folder, env)
    results += [(f"sluice-lab --check {name}", examples_check(args.build, name)) for name in sorted(os.listdir(os.path.join(TOP, "config/lab")))
                if name != "reference.yaml"]
    results.append(("reports and captures are where the page says",
                    [f"no {n}" for n in ("report.html", "report.json", "gw1-wan0.pcapng") if n not in written]))
    return tap.tell(results)


def examples_check(build, name):
    done = subprocess.run([os.path.join(os.path.abspath(build), "app/sluice-lab/sluice-lab"), "--check", os.path.join(TOP, "config/lab", name)],
                          capture_output=True, text=True, timeout=60, check=False)
    return [done.stderr[-400:]] if done.returncode else []


def results_shown(page, folder, env):
    """Runs of the lab on a page, with the lines that they must print."""
    with open(page) as f:
        blocks = re.findall(r"^```\n\$ (sluice-lab [^\n]*)\n(.*?)^```", f.read(), re.M | re.S)
    for command, shown in blocks:
        done = subprocess.run(command, shell=True, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)
        missing = [line for line in shown.splitlines() if line not in done.stdout.splitlines()]
        yield command, [f"{page} shows, and the lab does not say: {line}" for line in missing] or ([] if shown else ["shows nothing"])


def scenario(block, folder, build):
    """Problems with a scenario that a page shows."""
    sys.path.insert(0, os.path.join(TOP, "test", "lab"))
    import run
    import scenarios
    import suite
    exec(block, vars(scenarios))
    mine = suite.SCENARIOS[-1]
    lab = os.path.join(os.path.abspath(build), "app/sluice-lab/sluice-lab")
    return [p for parameters in mine.short
            for p in run.judge(mine, parameters, *run.run(lab, mine.build(**parameters), folder))]


if __name__ == "__main__":
    sys.exit(main())
