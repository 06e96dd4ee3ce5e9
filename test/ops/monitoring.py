#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Alert rules and dashboard: they ask for nothing that a node does not export, and every alert is tested. TAP."""
import argparse
import json
import os
import re
import sys

import yaml

from live_node import LiveNode
from tap_main import TOP, expect, report, run

ALERTS = os.path.join(TOP, "config", "alerts.yaml")
DASHBOARD = os.path.join(TOP, "config", "grafana-sluice.json")
CASES = os.path.join(TOP, "test", "ops", "alerts.yaml")
METRIC = re.compile(r"\bsluice_\w+\b")


def exported(page):
    """Names of samples, their label names, and the values of the label reason."""
    names, reasons = {}, set()
    for line in page.splitlines():
        sample = re.match(r"(sluice_\w+)\{([^}]*)\}", line)
        if sample:
            labels = dict(re.findall(r'(\w+)="([^"]*)"', sample.group(2)))
            names.setdefault(sample.group(1), set()).update(labels)
            if sample.group(1).startswith("sluice_port_dropped"):
                reasons.add(labels["reason"])
    # a name may be announced and have no sample yet
    for name in re.findall(r"^# TYPE (sluice_\w+)", page, re.M):
        names.setdefault(name, set())
    return names, reasons


def rules():
    with open(ALERTS) as f:
        return [rule for group in yaml.safe_load(f)["groups"] for rule in group["rules"]]


def dashboard_queries():
    with open(DASHBOARD) as f:
        board = json.load(f)
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"], target["legendFormat"]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"], ""


def check_names(where, expression, names, reasons):
    used = METRIC.findall(expression)
    expect(used or expression.startswith("up{"), f"{where}: asks for no metric: {expression}")
    for name in used:
        expect(name in names, f"{where}: {name} is not exported")
    for chosen in re.findall(r'reason=~?"([^"]*)"', expression):
        for reason in chosen.split("|"):
            expect(reason in reasons, f"{where}: there is no reason '{reason}'")


def alerts_use_what_is_exported(names, reasons):
    for rule in rules():
        check_names(rule["alert"], rule["expr"], names, reasons)
        for name in METRIC.findall(rule["annotations"]["summary"] + rule["annotations"]["description"]):
            expect(name in names, f"{rule['alert']}: its text names {name}")


def dashboard_uses_what_is_exported(names, reasons):
    for title, expression, legend in dashboard_queries():
        check_names(title, expression, names, reasons)
        labels = set.union(*(names[n] for n in METRIC.findall(expression)))
        for label in re.findall(r"\{\{(\w+)\}\}", legend):
            expect(not labels or label in labels, f"{title}: the legend shows {label}, there is {sorted(labels)}")


def dashboard_is_whole():
    with open(DASHBOARD) as f:
        board = json.load(f)
    ids = [panel["id"] for panel in board["panels"]]
    expect(len(ids) == len(set(ids)), "panels share ids")
    for a in board["panels"]:
        for b in board["panels"]:
            p, q = a["gridPos"], b["gridPos"]
            expect(a is b or p["x"] + p["w"] <= q["x"] or q["x"] + q["w"] <= p["x"] or p["y"] + p["h"] <= q["y"] or
                   q["y"] + q["h"] <= p["y"], f"'{a['title']}' and '{b['title']}' overlap")


def queries_are_promql():
    """promtool knows rules only, so the dashboard's queries become rules."""
    for number, (title, expression, _) in enumerate(dashboard_queries()):
        if expression.startswith("label_values"):
            continue
        expression = expression.replace("$__rate_interval", "1m").replace("$node", ".*")
        path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"sluice-query-{os.getpid()}.yaml")
        with open(path, "w") as f:
            yaml.safe_dump({"groups": [{"name": "q", "rules": [{"record": f"q{number}", "expr": expression}]}]}, f)
        code, out = run(["promtool", "check", "rules", path])
        os.remove(path)
        expect(code == 0, f"{title}: {out}")


def rules_are_valid():
    code, out = run(["promtool", "check", "rules", ALERTS])
    expect(code == 0, out)


def rules_do_what_they_say():
    code, out = run(["promtool", "test", "rules", CASES])
    expect(code == 0, out)


def every_alert_is_tested():
    with open(CASES) as f:
        cases = [case for test in yaml.safe_load(f)["tests"] for case in test["alert_rule_test"]]
    fires = {case["alertname"] for case in cases if case.get("exp_alerts")}
    silent = {case["alertname"] for case in cases if not case.get("exp_alerts")}
    names = {rule["alert"] for rule in rules()}
    expect(fires == names, f"never seen firing, or unknown: {sorted(fires ^ names)}")
    expect(silent == names, f"never seen silent, or unknown: {sorted(silent ^ names)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", required=True)
    args = parser.parse_args()
    with LiveNode([os.path.abspath(args.sluice)]) as node:
        names, reasons = exported(node.metrics())
    return report([
        ("alert rules use exported metrics", lambda: alerts_use_what_is_exported(names, reasons)),
        ("the dashboard uses exported metrics", lambda: dashboard_uses_what_is_exported(names, reasons)),
        ("the dashboard is whole", dashboard_is_whole),
        ("the dashboard's queries are PromQL", queries_are_promql),
        ("promtool check rules", rules_are_valid),
        ("promtool test rules", rules_do_what_they_say),
        ("every alert is seen firing and silent", every_alert_is_tested),
    ])


if __name__ == "__main__":
    sys.exit(main())
