#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Alert rules and dashboard: they ask for nothing that a node does not export, and every alert is tested. TAP."""
import argparse
import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import yaml

from live_node import LiveNode
from tap_main import TOP, expect, machine, report, run

ALERTS = os.path.join(TOP, "config", "alerts.yaml")
DASHBOARD = os.path.join(TOP, "config", "grafana-sluice.json")
CASES = os.path.join(TOP, "test", "ops", "alerts.yaml")
EVERYTHING = """
  - {name: p1, device: "net_pcap0,rx_pcap=IN,tx_pcap=/dev/null", side: wan, speed: 10G, slice: ai,
     mac: "02:00:00:00:d0:01", addresses: ["2001:db8:b::2/64"],
     pfc: {priorities: [3], peers: ["02:00:00:00:b0:03"], length: 1000, buffer: b}}
  - {name: g0, device: "net_null2,no-rx=1", side: dc, speed: 10G, vrf: red, addresses: [10.1.0.1/24],
     pfc: {priorities: [3], peers: ["02:00:00:00:9a:01"], length: 100, buffer: b}}
buffer-profiles: [{name: b, min-frame: 1024}]
slices: [{name: ai, id: 1, max-rate: 1G}]
vrfs: [{name: red, routes: [{prefix: 10.2.0.0/16, policy: p}]}]
neighbors: [{port: p1, address: "2001:db8:b::3", mac: "02:00:00:00:b0:03"}]
routes: [{prefix: "5f00::/32", port: p1, nexthop: "2001:db8:b::3"}, {prefix: "5f00:1::/32", port: p1, nexthop: "2001:db8:b::3"}]
sids: [{sid: "5f00:0:100::/48", behavior: uN}, {sid: "5f00:1:1:d2::/64", behavior: End.DX2, port: g0}]
policies: [{name: p, paths: [{name: a, segments: ["5f00:0:500:e102::"]}]}]
pfc-tunnels: [{name: t, slice: ai, port: p1, priorities: [3], source: "fd00::2", segments: ["5f00:1:2:e1::"], far-speed: 10G}]
pfc-relays: [{name: g, port: g0, sid: "5f00:1:1:d2::/64", from-speed: 10G, segments: ["5f00:1:4:d2::"]}]
"""
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


def told_by_prometheus(page_port, answer):
    """Scrape a node and call answer(query) with a function that runs a query."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        web = s.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="sluice-monitoring-") as folder:
        with open(os.path.join(folder, "prometheus.yml"), "w") as f:
            f.write("global: {scrape_interval: 500ms, scrape_timeout: 400ms}\nscrape_configs:\n  - job_name: sluice\n"
                    f"    static_configs: [{{targets: ['127.0.0.1:{page_port}']}}]\n")
        process = subprocess.Popen(["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                                    f"--web.listen-address=127.0.0.1:{web}"], cwd=folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)

        def query(text):
            with contextlib.suppress(OSError):
                url = f"http://127.0.0.1:{web}/api/v1/query?query={urllib.parse.quote(text)}"
                with urllib.request.urlopen(url, timeout=machine.patience(20)) as page:
                    return json.load(page)["data"]["result"]
            return []
        try:
            answer(query)
        finally:
            process.terminate()
            process.wait()


def dashboard_has_data(sluice):
    """Each query returns data from a node that has everything, measured by Prometheus: no panel is empty for its query's sake.
    Panels that show only what is not 0 are asked without that condition."""
    # packets that are shifted and sent back, by a slice with a max-rate, so that they wait in a queue
    frame = (bytes.fromhex("02000000d001" + "02000000b003" + "86dd" + "60000001" + "0020" + "3b40" + "fd" + "00" * 14 + "01" +
                           "5f00000001000500" + "00" * 8) + bytes(32))
    pause = (bytes.fromhex("0180c2000001" + "02000000b003" + "8808" + "0101" + "0008" + "0000" * 3 + "ffff" + "0000" * 4) + bytes(60))[:60]
    with tempfile.NamedTemporaryFile(suffix=".pcap") as packets:
        packets.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for i, data in enumerate([frame] * 8 + [pause]):
            packets.write(struct.pack("<IIII", 0, i, len(data), len(data)) + data)
        packets.flush()
        dashboard_asked(sluice, EVERYTHING.replace("IN", packets.name))


def dashboard_asked(sluice, more):
    with LiveNode([sluice], more) as node:
        def ask(query):
            deadline = machine.Deadline(60)
            # a rate needs two scrapes
            while not query("rate(sluice_port_rx_bytes_total[1m])") and not deadline.passed():
                time.sleep(0.2)
            for title, expression, _ in dashboard_queries():
                # a watchdog has samples from its first alarm on (test_pfc_storm)
                if expression.startswith("label_values") or "sluice_pfc_storm" in expression:
                    continue
                expression = expression.replace("$__rate_interval", "1m").replace("$node", node.name)
                expression = re.sub(r" > 0$", "", expression)
                expect(query(expression), f"{title}: no data for {expression}")
        told_by_prometheus(node.port, ask)


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
        ("every query of the dashboard has data", lambda: dashboard_has_data(os.path.abspath(args.sluice))),
        ("the dashboard is whole", dashboard_is_whole),
        ("the dashboard's queries are PromQL", queries_are_promql),
        ("promtool check rules", rules_are_valid),
        ("promtool test rules", rules_do_what_they_say),
        ("every alert is seen firing and silent", every_alert_is_tested),
    ])


if __name__ == "__main__":
    sys.exit(main())
