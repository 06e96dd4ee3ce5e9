#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The lab's report. Without a browser: its data, its bounds, the same bytes for the same seed. In headless Chromium, if
there is one: every series is plotted and exported, zoom and cursor are shared, legends hide lines, links of topologies do not
lie on one another, and nothing is requested from elsewhere. Prints TAP.

report.py --picture FILE writes the top of a report as PNG, to look at or for the documentation."""
import argparse
import csv
import functools
import hashlib
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "test"), os.path.join(TOP, "test", "lab")]
import browser  # noqa: E402
import tap  # noqa: E402
from net import Net  # noqa: E402

COMPARED = ["pfc-one-way", "pfc-relay", "pfc-regenerate"]
HOPS = [("xoff", "gpu2"), ("gate", "pe2.dc"), ("xoff", "pe2.wan"), ("gate", "pe1.wan"), ("xoff", "pe1.dc"), ("gate", "gpu1.eth0")]
WAN_NS = 5_000_000  # 1000 km


class Reports:
    """Runs of the lab, each made when it is first asked for."""

    def __init__(self, lab, folder):
        self.lab, self.folder = lab, folder

    def run(self, name, *files, options=()):
        out = os.path.join(self.folder, name)
        os.makedirs(out, exist_ok=True)
        done = subprocess.run([self.lab, "--quiet", "--out", out, *options, *files], capture_output=True, text=True, check=False)
        assert done.returncode in (0, 3), done.stderr
        return out

    @functools.lru_cache(maxsize=None)
    def example(self, name):
        return self.run(name, os.path.join(TOP, f"config/lab/{name}.yaml"))

    @functools.lru_cache(maxsize=None)
    def compared(self):
        return os.path.join(self.run("compared", *(os.path.join(TOP, f"config/lab/{n}.yaml") for n in COMPARED)), "compare.html")

    @functools.lru_cache(maxsize=None)
    def many(self):
        """100 flows of 25 hosts that are paused again and again."""
        net = Net("many", "2ms", lossless="off")
        net.node("gw", pfc=[3], memory={"buffers": 220000})
        for i in range(25):
            net.host(f"h{i}", i + 1, pfc=[3])
            net.link(f"h{i}.eth0", f"gw.p{i}")
            for k in range(4):
                net.flow(f"h{i}", "sink", name=f"f{i}-{k}", message="64K")
        net.host("sink", 90, pfc=[3], sink={"drain": "60G", "buffer": "4M", "xoff": "200K", "xon": "100K"})
        net.link("sink.eth0", "gw.out")
        path = os.path.join(self.folder, "many.json")
        net.write(path)
        return self.run("many", path)

    @functools.lru_cache(maxsize=None)
    def faults(self):
        """A stall, a failure in one direction, a restart, commands; sampled much more often than there is room for."""
        net = Net("faults", "20ms", sample="1us", lossless="off")
        for name in ("pe1", "pe2"):
            net.node(name, pfc=[3], memory={"buffers": 60000})
        net.host("a", 1, pfc=[3])
        net.host("b", 2, pfc=[3], sink={"drain": "100G", "buffer": "4M", "xoff": "1M", "xon": "500K", "stalls": [{"at": "5ms", "for": "1ms"}]})
        net.link("a.eth0", "pe1.dc").link("b.eth0", "pe2.dc")
        net.link("pe1.wan", "pe2.wan", km=10, failures=[{"at": "8ms", "for": "500us", "direction": "a-to-b"}])
        net.flow("a", "b", message="64K", timeout=8, rate="2G", retries=1000)
        net.extra["schedule"] = [{"at": "10ms", "node": "pe1", "command": "show drops"}, {"at": "12ms", "node": "pe2", "restart": "2ms"}]
        path = os.path.join(self.folder, "faults.json")
        net.write(path)
        return self.run("faults", path)


def load(folder):
    with open(os.path.join(folder, "report.json")) as f:
        return json.load(f)


def page(folder):
    return os.path.join(folder, "report.html")


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def tracks(report, kind, place=None):
    """[(port's place, intervals)]"""
    for t in report["tracks"]["tracks"]:
        where = t["place"] + ("." + t["port"] if "port" in t else "")
        if t["kind"] == kind and place in (None, where):
            yield where, t["intervals"]


# ---- data ----

def pause_travels(reports):
    report, began, said = load(reports.example("pfc-tunnel")), 0, 0
    for kind, place in HOPS:
        found = list(tracks(report, kind, place))
        if len(found) != 1:
            yield f"{len(found)} tracks {kind} of {place}"
            return
        begin = found[0][1][0][0]
        if begin <= began:
            yield f"{kind} of {place} begins at {begin} ns, not after {began} ns"
        if (kind, place) == ("gate", "pe1.wan") and not WAN_NS <= begin - said < WAN_NS * 1.01:
            yield f"the pause crosses 1000 km in {begin - said} ns"
        began, said = begin, begin
    stall = list(tracks(report, "stalled"))
    if stall != [("gpu2", [[20_000_000, 70_000_000]])]:
        yield f"stalls are {stall}"


def faults_are_tracks(reports):
    report = load(reports.faults())
    for kind, expected in (("stalled", [("b", [[5_000_000, 6_000_000]])]), ("link down", [("pe1.wan > pe2.wan", [[8_000_000, 8_500_000]])]),
                           ("node down", [("pe2", [[12_000_000, 14_000_000]])])):
        found = list(tracks(report, kind))
        if found != expected:
            yield f"{kind}: {found}"
    if [c["at_ns"] for c in report["commands"]] != [10_000_000]:
        yield f"commands: {report['commands']}"
    if any(to > 12_000_000 > begin and to != 12_000_000 for place, found in [*tracks(report, "gate"), *tracks(report, "xoff")]
           if place.startswith("pe2.") for begin, to, *_ in found):
        yield "a pause of a node outlives it"


def samples_are_bounded(reports):
    report = load(reports.faults())
    times, ended = report["time_ms"], report["ended_ns"] / 1e6
    if not 1000 < len(times) <= 4000:
        yield f"{len(times)} samples"
    if times != sorted(times) or times[-1] < ended * 0.99 or times[0] > ended * 0.01:
        yield f"samples from {times[0]} to {times[-1]} ms of {ended} ms"
    values = sum(len(s["values"]) for s in report["series"])
    if values > 2_000_000:
        yield f"{values} values"
    # what halves the samples keeps the sums: the payload of a flow, from its mean rates
    rates = next(s["values"] for s in report["series"] if s["group"].startswith("Goodput of flows"))
    got = sum(r * (t - before) for r, t, before in zip(rates, times, [0, *times])) / 8 * 1e6
    if not math.isclose(got, report["flows"][0]["received_bytes"], rel_tol=1e-3):
        yield f"the rates of the flow add up to {got:.0f} bytes of {report['flows'][0]['received_bytes']}"


def thresholds_are_given(reports):
    report = load(reports.example("pfc-tunnel"))
    found = {s["name"]: s["limits"] for s in report["series"] if s["group"] == "Buffers of lossless classes"}
    if set(found) != {"pe1.dc class 3", "pe2.dc class 3", "pe2.wan class 3"}:
        yield f"classes: {sorted(found)}"
        return
    wan = found["pe2.wan class 3"]
    if (wan["XON"], wan["XOFF"]) != (0.524288, 1.048576) or not wan["XOFF"] <= wan["urgent"] < wan["full"]:
        yield f"thresholds of the WAN port: {wan}"


def percentiles_agree(reports):
    for folder in (reports.example("pfc-tunnel"), reports.many(), reports.faults()):
        report = load(folder)
        for f in report["flows"]:
            for key, most in (("message_time_us", max(q["message_max_ns"] for q in f["qps"]) / 1e3), ("queueing_delay_us", f["delay_max_us"] - f["delay_min_us"])):
                values = f[key]
                if not values or values != sorted(values) or not math.isclose(values[-1], most, rel_tol=1e-6):
                    yield f"{f['name']}: {key} {values}, the largest is {most}"


def possible_is_a_bound(reports):
    for name in ("pfc-tunnel", "pfc-one-way", "two-dcs"):
        report = load(reports.example(name))
        for h in report["hosts"]:
            # a receiver may have accepted into its buffer what it has not taken yet
            if h["timely_bytes"] > h["possible_bytes"] + 16e6 or (h["received"] > 1000 and h["goodput_bytes"] and not h["possible_bytes"]):
                yield f"{name}: {h['name']} received {h['timely_bytes']} of {h['possible_bytes']} bytes"
    gpu2 = next(h for h in load(reports.example("pfc-tunnel"))["hosts"] if h["name"] == "gpu2")
    # 96 Gb/s offered from 5 to 125 ms, nothing taken from 20 to 70 ms, then at the rate of the link; of it payload
    expected = (15 * 96e9 + 55 * 100e9) / 1e3 / 8 * 4096 / (4096 + 82)
    if not 0.99 * expected < gpu2["possible_bytes"] < 1.01 * expected:
        yield f"gpu2 could receive {gpu2['possible_bytes']} bytes, not {expected:.0f}"


def same_bytes(reports):
    again = reports.run("again", os.path.join(TOP, "config/lab/pfc-relay.yaml"))
    for name in ("report.json", "report.html"):
        if digest(os.path.join(again, name)) != digest(os.path.join(reports.example("pfc-relay"), name)):
            yield f"two runs differ in {name}"


def needs_no_network(reports):
    with open(page(reports.example("two-dcs"))) as f:
        text = f.read()
    yield from (f"it refers to {found!r}" for found in re.findall(
        r"<(?:link|script|img|iframe)[^>]*(?:src|href)=[^>]*>|@import[^;]*;|url\([^)]*\)|\bfetch\(|XMLHttpRequest|\bimport\(", text))
    for word in ("uPlot (v", "Permission is hereby granted", '"pe1.wan > p1.west"'):
        if word not in text:
            yield f"it does not contain {word!r}"
    if re.search(r"@[A-Z_]{4,}@", text):
        yield "a part is missing: " + re.search(r"@[A-Z_]{4,}@", text)[0]


# ---- in the browser ----

def opens(tab, path):
    drawn = tab.open(path)
    yield from tab.errors()
    if not drawn:
        yield "its scripts did not run to their end"
    yield from (f"it requests {url[:200]}" for url in tab.requests() if url != f"file://{path}")


def near(a, b):
    return math.isclose(a, b, rel_tol=2e-5, abs_tol=1e-12)


def table(text):
    return list(csv.reader(io.StringIO(text)))


def columns(text):
    head, *rows = table(text)
    return {name: [None if r[i] == "" else float(r[i]) for r in rows] for i, name in enumerate(head)}


def plots_every_series(tab, report):
    shown = tab.evaluate("plots.flatMap(p => p.series.concat(p.other ? p.other.series : []).map(s => [s.group || p.title, s.plain || s.name, p.tracks ? 0 : p.u.data.length]))")
    known = {(group, name) for group, name, _ in shown}
    for s in report["series"]:
        if any(s["values"]) and (s["group"], s["name"]) not in known and "lossless classes" not in s["group"]:
            yield f"{s['group']}: {s['name']} is not plotted"
    for p in tab.evaluate("plots.map(p => [p.title, p.tracks || p.rows ? [] : p.u.axes.map(a => a.label || ''), [...new Set(Array.from("
                          "new Uint32Array(p.u.ctx.getImageData(0, 0, p.u.ctx.canvas.width, p.u.ctx.canvas.height).data.buffer)))].length])"):
        if p[1] and not all(p[1]):
            yield f"{p[0]}: axes say {p[1]}"
        if p[2] < 5:
            yield f"{p[0]}: nothing is drawn"


def exports_agree(tab, report):
    found = columns(tab.evaluate("csvOfAll()"))
    times = found.pop("time_ms")
    if not all(map(near, times, report["time_ms"])) or len(times) != len(report["time_ms"]):
        yield "times differ"
    names = {f"{s['group']}: {s['name']} [{s['unit']}]": s["values"] or [0] * len(times) for s in report["series"]}
    for name in names.keys() ^ found.keys():
        yield f"{name} is in one of report and CSV only"
    for name in names.keys() & found.keys():
        if not all(map(near, names[name], found[name])):
            yield f"{name}: values differ"
    rows = [r for r in table(tab.evaluate("csvOfTracks(tracks)"))[1:]]
    given = [[t["kind"], *map(str, v[:2])] for t in report["tracks"]["tracks"] for v in t["intervals"]]
    if sorted([r[0], r[2], r[3]] for r in rows) != sorted(given):
        yield f"{len(rows)} intervals are exported, {len(given)} given"
    for title, body in tab.evaluate("plots.filter(p => !p.tracks && !p.quantiles).map(p => [p.title, csvOf(p)])"):
        for name, values in columns(body).items():
            whole = [v for k, v in names.items() if k.endswith(": " + name)] + ([times] if name == "time_ms" else [])
            if not any(len(w) == len(values) and all(map(near, w, values)) for w in whole):
                yield f"CSV of {title}: {name} differs"
    for title, size, image in tab.evaluate("plots.map(p => [p.title, png(p).toDataURL().length, svgOf(p)])"):
        if size < 3000 or "<svg" not in image or title.split(" ")[0] not in image:
            yield f"{title}: PNG of {size} characters, SVG {image[:60]}"


def thresholds_are_drawn(tab):
    for title, names, image in tab.evaluate("plots.filter(p => p.series.some(s => s.limits)).map(p => [p.title, limitsOf(p.series).map(l => l.name).join(' '), svgOf(p)])"):
        if not all(n in names for n in ("XON", "XOFF", "urgent", "full")) or "XOFF</text>" not in image.replace("XOFF = urgent", "XOFF"):
            yield f"{title}: thresholds {names}"
    if not tab.evaluate("plots.filter(p => p.series.some(s => s.limits)).length"):
        yield "no buffer is plotted"
    tab.evaluate("plots.filter(p => p.units).forEach(p => p.units.click())")
    units = tab.evaluate("plots.filter(p => p.units).map(p => p.unit)")
    if set(units) != {"buffers"}:
        yield f"units after a click: {units}"


def over(tab, index, x, y):
    """A place in a plot as a place of the window; x, y: shares of its area."""
    return tab.evaluate(f"(() => {{ const u = charts[{index}]; u.over.scrollIntoView({{block: 'center'}}); const r = u.over.getBoundingClientRect();"
                        f" return [r.left + r.width * {x}, r.top + r.height * {y}]; }})()")


def views_of(tab):
    """The parts of the time axis that the plots show; one if all show the same."""
    return {tuple(v) for v in tab.evaluate("charts.map(u => [u.scales.x.min, u.scales.x.max])")}


def zooms_together(tab):
    whole = tab.evaluate("[0, END]")
    x0, y = over(tab, 1, 0.2, 0.5)
    x1, _ = over(tab, 1, 0.5, 0.5)
    tab.mouse("mousePressed", x0, y, button="left", clickCount=1)
    for x in (x0 + 10, x1 - 10, x1):
        tab.mouse("mouseMoved", x, y, button="left", buttons=1)
    tab.mouse("mouseReleased", x1, y, button="left", clickCount=1)
    tab.settle()
    views = views_of(tab)
    low, high = min(views)
    if len(views) != 1 or not (abs(low / whole[1] - 0.2) < 0.02 and abs(high / whole[1] - 0.5) < 0.02):
        yield f"after a drag from 20 to 50 % the plots show {views}"
    x, y = over(tab, 2, 0.5, 0.5)
    tab.mouse("mouseMoved", x, y)
    tab.settle()
    places = tab.evaluate("charts.map(u => u.posToVal(u.cursor.left, 'x'))")
    if max(places) - min(places) > (high - low) * 0.02 or not low < places[0] < high:
        yield f"cursors stand at {places}"
    for count in (1, 2):
        tab.mouse("mousePressed", x, y, button="left", clickCount=count)
        tab.mouse("mouseReleased", x, y, button="left", clickCount=count)
    tab.settle()
    views = views_of(tab)
    if views != {tuple(whole)}:
        yield f"after a double click the plots show {views}, not {whole}"
    tab.evaluate("document.querySelector('#events tbody tr').click()")
    tab.settle()
    views = views_of(tab)
    if len(views) != 1 or tuple(whole) in views:
        yield f"after a click on an event the plots show {views}"
    tab.evaluate("document.getElementById('whole').click()")
    tab.settle()
    if views_of(tab) != {tuple(whole)}:
        yield f"after the button for the whole run the plots show {views_of(tab)}"


def legend_hides(tab):
    place = ("(() => { const p = plots.find(p => p.title.startsWith('Sent by')); const e = p.holder.querySelectorAll('.u-legend .u-series th')[1];"
             " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.left + 20, r.top + r.height / 2]; })()")
    states = "plots.find(p => p.title.startsWith('Sent by')).u.series.map(s => s.show)"
    before = tab.evaluate(states)
    x, y = tab.evaluate(place)
    for kind in ("mousePressed", "mouseReleased"):
        tab.mouse(kind, x, y, button="left", clickCount=1)
    tab.settle()
    after = tab.evaluate(states)
    if before[1] is not True or after[1] is not False or before[2:] != after[2:]:
        yield f"a click turns {before} into {after}"


def pauses_are_shown(tab):
    """The cursor at 40 ms of pfc-tunnel: both ends towards the receiver may not send."""
    tab.evaluate("showPausesAt(40)")
    fills = dict(tab.evaluate("ENDS.map(e => [e.place, e.circle.getAttribute('fill')])"))
    expected = {"gpu1.eth0": "#d0021b", "pe1.dc": "#f5a623", "pe1.wan": "#d0021b", "pe2.wan": "#f5a623", "pe2.dc": "#d0021b", "gpu2.eth0": "#f5a623"}
    if fills != expected:
        yield f"ends of links are {fills}"
    rows = tab.evaluate("plots.find(p => p.tracks).shownRows.map(r => r.name)")
    if [r.split(":")[0].split(" ")[0] for r in rows] != ["gpu2", *(place for _, place in HOPS)]:
        yield f"rows are {rows}"


def many_are_readable(tab):
    rows = tab.evaluate("plots.filter(p => p.rows).map(p => p.title)")
    for title in ("Goodput of flows: payload received in order", "Hosts paused by PFC"):
        if title not in rows:
            yield f"{title} is not drawn as rows: {rows}"
    name = "plots.find(p => p.title.startsWith('Goodput of flows'))"
    if tab.evaluate(f"({name}).shownRows.length") != 40:
        yield "not 40 rows at first"
    tab.evaluate(f"({name}).more.click()")
    tab.settle()
    if tab.evaluate(f"[({name}).shownRows.length, ({name}).u.height >= 100 * 10]") != [100, True]:
        yield "a click does not show 100 rows"
    tab.evaluate(f"({name}).mode.click()")
    tab.settle()
    if tab.evaluate(f"({name}).u.series.filter(s => s.show).length") != 13:  # with time
        yield "not 12 lines at first"
    tab.evaluate(f"(() => {{ const f = ({name}).filter; f.value = 'f7-'; f.dispatchEvent(new Event('input')); }})()")
    tab.settle()
    if sorted(tab.evaluate(f"({name}).u.series.slice(1).filter(s => s.show).map(s => s.label.split(' ')[0])")) != ["f7-0", "f7-1", "f7-2", "f7-3"]:
        yield "the filter does not work"


# Points of every link, 40 of each, and boxes, in the units of the picture.
GEOMETRY = """(r => { const plan = layOut(r); return {boxes: [...plan.place].map(([n, {x, y, w, h}]) => [n, x - w / 2, y - h / 2, x + w / 2, y + h / 2]),
 links: plan.links.map(k => [k.a, k.b, Array.from({length: 41}, (x, i) => pathOf(k).point(i / 40))])}; })(%s)"""


def on_one_another(plan):
    """Links that share more than crossings with another one, or that lie on a box."""
    for i, (a, b, points) in enumerate(plan["links"]):
        for name, x0, y0, x1, y1 in plan["boxes"]:
            if name not in (a, b) and any(x0 < x < x1 and y0 < y < y1 for x, y in points):
                yield f"{a} - {b} lies on {name}"
        for c, d, others in plan["links"][:i]:
            close = sum(any(math.hypot(x - u, y - v) < 1.2 for u, v in others) for x, y in points[3:-3])
            if close > 8:
                yield f"{a} - {b} lies on {c} - {d}"


def drawn_network(random):
    """A random graph as the page reads it: hosts with one or two links, parallel links, loops, parts without connection."""
    nodes = [f"n{i}" for i in range(random.choice([1, 2, 3, 5, 7, 11, 16]))]
    hosts = [f"host-{i}" for i in range(random.choice([2, 3, 5, 9, 14]))]
    links = [(h, random.choice(nodes)) for h in hosts for _ in range(random.choice([1, 1, 2]))]
    links += [(nodes[i], random.choice(nodes[:i])) for i in range(1, len(nodes)) if random.random() < 0.95]
    links += [tuple(random.sample(nodes, 2)) for _ in range(random.randrange(2 * len(nodes))) if len(nodes) > 1]
    flows = [dict(zip(("from", "to"), random.sample(hosts, 2))) for _ in range(random.randrange(6))]
    way = {"delivered": 0, "lost": 0, "cut": 0, "corrupt": 0, "oversize": 0, "into_void": 0}
    return {"nodes": [{"name": n, "ports": []} for n in nodes], "hosts": [{"name": h} for h in hosts], "flows": flows,
            "links": [{"name": f"l{i}", "a": f"{a}.p{i}", "b": f"{b}.q{i}", "rate_bps": 10 ** 11, "delay_ns": 1000, "a_to_b": way, "b_to_a": way} for i, (a, b) in enumerate(links)]}


def links_are_apart(tab):
    import random
    for seed in range(60):
        plan = tab.evaluate(GEOMETRY % json.dumps(drawn_network(random.Random(seed))))
        for problem in on_one_another(plan):
            yield f"network {seed}: {problem}"


def draws_topology(tab, report):
    plan = tab.evaluate(GEOMETRY % "reports[0]")
    yield from on_one_another(plan)
    found = tab.evaluate("['link', 'node', 'host'].map(c => document.querySelectorAll('.picture .' + c).length)")
    if found != [len(report["links"]), len(report["nodes"]), len(report["hosts"])]:
        yield f"links, nodes, hosts: {found}"


def losses_are_rows(tab):
    rows = tab.evaluate("plots.find(p => p.tracks).tracks.filter(t => t.kind === 'loss').map(t => [t.name, t.why, t.intervals[0][0] < t.intervals[0][1]])")
    if not any(name == "pfc-one-way: gw2.pe class 3" and why.startswith("headroom_exceeded") and later for name, why, later in rows):
        yield f"losses of lossless classes: {rows}"
    if not any(what.startswith("loses packets: headroom_exceeded") for _, _, what, *_ in tab.evaluate("events()")):
        yield "the events do not name the loss"


def compares(tab):
    names = tab.evaluate("[...document.querySelectorAll('#tiles .tile')].map(t => [t.querySelector('b').className, t.querySelector('b').textContent, t.querySelector('span').textContent])")
    for name, (cls, text), found in zip(COMPARED, (("bad", "lost"), ("good", "lossless"), ("fair", "lost, all on links")), names):
        if found[2] != name or found[0] != cls or text not in found[1]:
            yield f"the tile of {name} is {found}"
    if tab.evaluate("document.querySelectorAll('.picture').length") != len(COMPARED):
        yield "not one picture of each topology"
    head, *rows = table(tab.evaluate("csvOf(plots.find(p => p.title.startsWith('Goodput of hosts')))"))
    for i, name in enumerate(COMPARED):
        if not any(c.startswith(f"{name}: gpu1") or c.startswith(f"{name}: gpu2") for c in head) or not rows:
            yield f"{name} has no column: {head}"
        colours = set(tab.evaluate(f"plots.filter(p => !p.tracks && !p.rows).flatMap(p => p.series.map((s, k) => [s.variant, styleOf(s, k, p.series).stroke.slice(0, 7)])).filter(c => c[0] === {i}).map(c => c[1])"))
        if colours != {tab.evaluate(f"COLOURS[{i}]")}:
            yield f"lines of {name} are {colours}"
    shown = tab.evaluate("plots.filter(p => !p.tracks && !p.rows && p.series.length > 12).map(p => [p.title, new Set(p.series.filter((s, k) => p.u.series[k + 1].show).map(s => s.variant)).size])")
    yield from (f"{title}: only {n} topologies are shown at first" for title, n in shown if n < 2)


def fits(tab, path):
    """No part of the page is wider than the window; small and large windows."""
    for width in (420, 800, 2400):
        tab.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        yield from opens(tab, path)
        wide = tab.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            yield f"{wide} pixels wide in a window of {width}"
        yield from (f"{title}: {w} pixels wide in a window of {width}" for title, w in tab.evaluate("plots.map(p => [p.title, p.u.width])") if w > width)
    tab.call("Emulation.clearDeviceMetricsOverride")


def in_browser(reports, tests):
    def test(name, problems):
        tests.append((name, list(problems)))

    with browser.Browser() as tab:
        for name in ("two-dcs", "pfc-tunnel"):
            folder, report = reports.example(name), load(reports.example(name))
            test(f"{name}: opens without error or request", opens(tab, page(folder)))
            test(f"{name}: every series is plotted", plots_every_series(tab, report))
            test(f"{name}: exports equal the data", exports_agree(tab, report))
            test(f"{name}: links do not lie on one another", draws_topology(tab, report))
        test("a pause is shown hop by hop", pauses_are_shown(tab))
        test("zoom and cursor are shared", zooms_together(tab))
        test("a click on the legend hides a line", legend_hides(tab))
        test("buffers show their thresholds", thresholds_are_drawn(tab))
        test("links of random networks do not lie on one another", links_are_apart(tab))
        test("faults: opens without error or request", opens(tab, page(reports.faults())))
        test("faults: every series is plotted", plots_every_series(tab, load(reports.faults())))
        test("100 flows: opens without error or request", opens(tab, page(reports.many())))
        test("100 flows are readable", many_are_readable(tab))
        test("comparison: opens without error or request", opens(tab, reports.compared()))
        test("topologies are compared in one page", compares(tab))
        test("losses of lossless classes have their times", losses_are_rows(tab))
        test("the page fits small and large windows", fits(tab, page(reports.example("pfc-tunnel"))))


DATA = [("a pause is followed hop by hop", pause_travels), ("stalls, failures and restarts have their times", faults_are_tracks),
        ("samples are bounded and keep sums", samples_are_bounded), ("thresholds of buffers are given", thresholds_are_given),
        ("percentiles agree with the extremes", percentiles_agree), ("nothing exceeds what was possible", possible_is_a_bound),
        ("same seed, same bytes", same_bytes), ("the page needs no network", needs_no_network)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lab", default=os.path.join(TOP, "build/app/sluice-lab/sluice-lab"))
    parser.add_argument("--keep", help="folder for the reports")
    parser.add_argument("--picture", help="write a picture of the example pfc-tunnel there, and end")
    args = parser.parse_args()
    tests = []
    with tempfile.TemporaryDirectory() as folder:
        reports = Reports(args.lab, os.path.abspath(args.keep or folder))
        if args.picture:
            with browser.Browser() as tab:
                list(opens(tab, page(reports.example("pfc-tunnel"))))
                tab.picture(args.picture, 0, 0, 1400, 1290)
            return 0
        for name, check in DATA:
            tests.append((name, list(check(reports))))
        if browser.EXECUTABLE:
            in_browser(reports, tests)
        else:
            tests.append(("in a browser # SKIP Chromium is not installed", []))
    return tap.tell(tests)


if __name__ == "__main__":
    sys.exit(main())
