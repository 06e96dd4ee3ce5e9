#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the scenarios of the lab in their short form; prints TAP."""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import machine  # noqa: E402
from catalogue import SCENARIOS  # noqa: E402
from excuse import excused  # noqa: E402
from suite import build, expectations  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT = 120


class Record:
    """A JSON object whose members are attributes."""

    def __init__(self, data):
        self.__dict__.update(data)
        self.data = data


class Report:
    """The measurements of a run, for assertions."""

    def __init__(self, data, parameters=None, base=None):
        self.data = data
        self.names = {"PARAM": parameters or {}, "report": data, "lost": data["losses"], "flow": self.flow, "host": self.host, "way": self.way,
                      "node": self.node, "dropped": self.dropped, "share": self.share, "reason": self.reason,
                      "missed": self.missed, "most": self.most, "sum": sum, "len": len, "abs": abs, "set": set, "max": max, "min": min, "all": all, "any": any, "mean": self.mean, "command": self.command, "count": self.count, "cell": self.cell}

        self.names.update(base=base, pause=self.pause, gate=self.gate, buffer=self.buffer, one_way=self.one_way, rate=self.rate, delay=self.delay,
                          into=self.into, lossless=self.lossless, cycles=self.cycles, excused=self.excused, number=self.number)

    def _find(self, kind, name):
        return next(Record(x) for x in self.data[kind] if name is None or x["name"] == name)

    def flow(self, name=None):
        return self._find("flows", name)

    def host(self, name):
        return self._find("hosts", name)

    def node(self, name):
        return self._find("nodes", name)

    def way(self, a, b=None):
        """The way out of an end, or between two."""
        for link in self.data["links"]:
            for side in ("a_to_b", "b_to_a"):
                source, to = link[side]["name"].split(" > ")
                if source == a and b in (None, to) or b is None and link["name"] == a and side == "a_to_b":
                    return Record(link[side])
        raise KeyError(a)

    def into(self, end):
        for link in self.data["links"]:
            for side in ("a_to_b", "b_to_a"):
                if link[side]["name"].endswith(f"> {end}"):
                    return Record(link[side])
        raise KeyError(end)

    def rate(self, end):
        """Of the link at an end, in bit/s."""
        return next(x["rate_bps"] for x in self.data["links"] if end in (x["a"], x["b"]))

    def delay(self, end):
        """Propagation on the link of an end, in ns."""
        return next(x["delay_ns"] for x in self.data["links"] if end in (x["a"], x["b"]))

    def one_way(self):
        """Propagation between the two data centres, in ns: of all links between nodes that are long."""
        return sum(x["delay_ns"] for x in self.data["links"] if x["delay_ns"] > 1000)

    def pause(self, node, direction, name, priority=3):
        """Pauses of a node's queue in one direction; zeros if there were no pauses. ended_ns: of the last one that has ended."""
        for p in self.node(node).pauses:
            if (p["direction"], p["name"], p["priority"]) == (direction, name, priority):
                return Record({**p, "ended_ns": p["last_began_ns"] + p["last_ns"]})
        return Record({"pauses": 0, "total_ns": 0, "last_ns": 0, "last_began_ns": 0, "ended_ns": 0})

    def gate(self, node, port, priority=3, slice=0):
        """How often and how long a queue's gate was closed; ended_ns: when it opened, if it was closed once."""
        for g in self.node(node).gates:
            if (g["port"], g["class"], g["slice"]) == (port, priority, slice):
                return Record({**g, "ended_ns": g["since_ns"] + g["paused_ns"]})
        return Record({"pauses": 0, "paused_ns": 0, "since_ns": 0, "ended_ns": 0})

    def buffer(self, node, port, priority=3):
        return next((Record(b) for b in self.node(node).buffers if (b["port"], b["class"]) == (port, priority)),
                    Record({"most_bytes": 0, "headroom_most_bytes": 0, "xoffs": 0}))

    def lossless(self, place, reason):
        """Packets of lossless classes that were lost at a place for a reason."""
        return next((Record(x) for x in self.data["lossless"]["losses"] if x["lossless"] and (x["place"], x["reason"]) == (place, reason)),
                    Record({"packets": 0}))

    def number(self, name):
        """Behind the last dash of a name: what a builder has drawn."""
        return int(name.rsplit("-", 1)[1])

    def excused(self, across):
        return excused(self.data, across)

    def dropped(self, node):
        return self.node(node).dropped

    def reason(self, node, reason):
        return self.node(node).reasons.get(reason, 0)

    def missed(self, node):
        return sum(p["imissed"] for p in self.node(node).ports)

    def cycles(self, node):
        """Of a unit of work, as the topology says."""
        return self.node(node).cycles

    def share(self, a, b):
        """The first end's share of the frames received at two ends."""
        first, second = self.into(a).delivered, self.into(b).delivered
        return first / (first + second)

    def most(self, group, name):
        """The highest value of a series."""
        values = next(s["values"] for s in self.data["series"] if s["group"] == group and s["name"] == name)
        return max(values, default=0)

    def mean(self, group, name, begin, end):
        """The mean of a series between two times, in ms."""
        values = next(s["values"] for s in self.data["series"] if s["group"] == group and s["name"] == name)
        chosen = [v for v, t in zip(values, self.data["time_ms"]) if begin < t <= end]
        return sum(chosen) / len(chosen)

    def command(self, number):
        return Record(self.data["commands"][number])

    def count(self, number, name):
        """A counter in the output of a command: a line "name: value"."""
        return int(re.search(rf"^{name}: +(\d+)$", self.command(number).output, re.M).group(1))

    def cell(self, number, column):
        """A number in the first line of a table in the output of a command."""
        head, row = self.command(number).output.splitlines()[:2]
        return int(dict(zip(head.split(), re.split(r"\s{2,}", row)))[column])

    def check(self, expression):
        """None, or why it does not hold."""
        try:
            return None if eval(expression, {"__builtins__": {}, **self.names}) else f"not true: {expression}"
        except Exception as e:  # an assertion that cannot be evaluated does not hold
            return f"{expression}: {type(e).__name__}: {e}"


def messages(path):
    """Where sessions are: RSVP_CAPTURE names a folder for the RSVP messages that are sent, one of each outline (test/vectors/sent.py)."""
    folder = os.environ.get("RSVP_CAPTURE")
    with open(path) as f:
        if not folder or '"credit"' not in f.read():
            return ()
    handle, to = tempfile.mkstemp(prefix="lab-", suffix=".pcapng", dir=folder)
    os.close(handle)
    return ("--messages", to)


def run(lab, topology, folder, seed=None, extra=(), capture=False):
    """One run: status, output of stderr, report text."""
    path = os.path.join(folder, "topology.yaml")
    topology.write(path)
    extra = [*extra, *(messages(path) if capture else ())]
    for name, config in getattr(topology, "files", {}).items():
        with open(os.path.join(folder, name), "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
            f.write(config if isinstance(config, str) else json.dumps(config))
    command = [lab, "--json", "--quiet", *(["--seed", str(seed)] if seed is not None else []), *extra, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=machine.patience(TIMEOUT), check=False)
    return done.returncode, done.stderr, done.stdout


def once(lab, scenario, parameters, folder, seed=None):
    """A run, and the one that it is compared with if there is one: report text, verdict."""
    base = None
    if scenario.against:
        status, errors, text = run(lab, build(scenario, {**parameters, **scenario.against}, seed), folder, seed)
        if status != 0:
            return text, f"the run to compare with: status {status}: {errors.splitlines()[:1]}"
        base = Report(json.loads(text))
    topology = build(scenario, parameters, seed)
    done = run(lab, topology, folder, seed, capture=True)
    return done[2], verdict(scenario, parameters, *done, base, getattr(topology, "expect", ()))


def broken(status, errors):
    """A run that went to its end, but broke the promise of a lossless class: its report can be read."""
    return status == 3 and "invariant 'lossless' is violated" in errors


def said(errors):
    """The message of the lab itself, not what its nodes have logged."""
    lines = errors.splitlines()
    return next((line for line in lines if line.startswith("sluice-lab:")), lines[0] if lines else "no message")


def judge(scenario, parameters, status, errors, text, base=None, drawn=()):
    """The problems as lines of text; none when the run is as expected. drawn: assertions of a topology that was drawn from its seed."""
    if scenario.violates:
        found = status == 3 and f"invariant '{scenario.violates}' is violated" in errors
        return [] if found else [f"status {status}, no violation of '{scenario.violates}'"]
    if status != 0 and not broken(status, errors):
        return [f"status {status}: {said(errors)}"]
    report, expected = Report(json.loads(text), parameters, base), [*expectations(scenario, parameters), *drawn]
    return ([said(errors)] if status and not is_excused(scenario, report) else []) + [p for p in (report.check(e) for e in expected) if p]


def is_excused(scenario, report):
    return bool(scenario.excused) and report.check(scenario.excused) is None


def verdict(scenario, parameters, status, errors, text, base=None, drawn=()):
    """"ok", what is wrong, or "apart", with what does not hold behind it."""
    problems = "; ".join(judge(scenario, parameters, status, errors, text, base, drawn))
    if status == 0 or broken(status, errors):
        report = Report(json.loads(text), parameters)
        if scenario.apart and report.check(scenario.apart) is None:
            return f"apart: {problems}" if problems else "apart"
        if status and not problems and not scenario.violates:
            return "apart: a link lost the PFC"
    return problems or "ok"


def passed(result):
    return result == "ok" or result.startswith("apart")


def is_wanted(scenario, patterns):
    return not patterns or any(fnmatch.fnmatchcase(scenario.name, p) for p in patterns)


def label(parameters):
    return ", ".join(f"{k} {v}" for k, v in parameters.items())


def twice(lab, scenario, parameters, keep):
    """Run it and return the result; one seed gives one report."""
    with tempfile.TemporaryDirectory() as folder:
        folder = keep or folder
        os.makedirs(folder, exist_ok=True)
        try:
            first, result = once(lab, scenario, parameters, folder)
            if result.startswith("apart"):
                return f"nothing is promised of this run, so it shows nothing: another seed ({result})"
            if passed(result) and run(lab, build(scenario, parameters), folder)[2] != first:
                return "a second run with the same seed gives another report"
        except subprocess.TimeoutExpired:
            return f"not finished after {TIMEOUT} s"
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lab", default=os.path.join(TOP, "build/app/sluice-lab/sluice-lab"))
    parser.add_argument("--keep", help="folder to keep topologies and reports in")
    parser.add_argument("--jobs", type=int, default=2, help="scenarios that run at once (default: %(default)s); 1 with --keep")
    parser.add_argument("-k", dest="pattern", default="", help="only scenarios whose name and parameters match this regular expression")
    parser.add_argument("--list", action="store_true", help="print the names of the scenarios")
    parser.add_argument("names", nargs="*", help="scenarios, or patterns like pfc_*; default: all")
    args = parser.parse_args()
    cases = [(s, p) for s in SCENARIOS if is_wanted(s, args.names) for p in s.short
             if re.search(args.pattern, f"{s.name} {label(p)}", re.IGNORECASE)]
    if args.list:
        print("\n".join(f"{s.name} {label(p)}".strip() for s, p in cases))
        return 0
    machine.watch()  # before there are several threads
    print(f"1..{len(cases)}")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(1 if args.keep else args.jobs) as pool:
        results = pool.map(lambda case: twice(args.lab, *case, args.keep), cases)
        for number, ((scenario, parameters), result) in enumerate(zip(cases, results), 1):
            failed += not passed(result)
            print(f"{'ok' if passed(result) else 'not ok'} {number} - {scenario.name} {label(parameters)}", flush=True)
            if result != "ok":
                print(f"# {result}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
