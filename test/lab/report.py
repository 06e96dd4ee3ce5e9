#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The HTML report in a real browser (headless Chromium, no network): its plots are drawn and their axes carry units.
Prints TAP."""
import argparse
import html.parser
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "test"))
import tap  # noqa: E402

BROWSER = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND"]
GROUPS = ["Sent by hosts", "Goodput of hosts: payload received in order", "Links: received, overhead included", "Egress queues", "Buffers in use in nodes",
          "Dropped in nodes", "Receive buffers of hosts"]
NUMBER = re.compile(r"^-?[\d.]+( [kMG])?$")


class Page(html.parser.HTMLParser):
    """What the scripts have made of the page."""

    def __init__(self):
        super().__init__()
        self.plots, self.body, self.inside, self.classes = [], {}, None, []
        self.links = self.nodes = self.hosts = 0
        self.strokes = set()

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        cls = a.get("class", "")
        self.classes.append(cls)
        if tag == "body":
            self.body = a
        elif tag == "svg":
            self.inside = "plot" if cls == "plot" else a.get("id")
            if cls == "plot":
                self.plots.append({"group": a["data-group"], "series": [], "units": [], "ticks": []})
        elif self.inside == "plot" and cls == "series":
            self.strokes.add(a["stroke"])
            self.plots[-1]["series"].append(re.findall(r"(-?[\d.]+),(-?[\d.]+)", a["d"]))
        elif self.inside == "picture":
            self.links += cls == "link"
            self.nodes += cls == "node"
            self.hosts += cls == "host"

    def handle_endtag(self, tag):
        if self.classes:
            self.classes.pop()
        if tag == "svg":
            self.inside = None

    def handle_data(self, data):
        if self.inside == "plot" and self.classes and self.classes[-1] in ("unit", "tick"):
            self.plots[-1][self.classes[-1] + "s"].append(data)


def browse(path, *options):
    return subprocess.run([*BROWSER, *options, f"file://{path}"], capture_output=True, text=True, timeout=90, check=False)


def pixels(path):
    """Width, height and rows of RGB bytes of a PNG as Chromium writes it (8 bit RGB or RGBA, not interlaced)."""
    data = open(path, "rb").read()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    size = {2: 3, 6: 4}[kind]
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        if name == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, rows, last, stride = zlib.decompress(packed), [], bytearray(width * size), width * size
    assert depth == 8
    for y in range(height):
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        how = raw[y * (stride + 1)]
        for i in range(stride if how else 0):
            a, b, c = line[i - size] if i >= size else 0, last[i], last[i - size] if i >= size else 0
            if how == 4:
                p = a + b - c
                a = min((a, b, c), key=lambda v: abs(p - v))
            line[i] = (line[i] + (a if how in (1, 4) else b if how == 2 else (a + b) // 2)) & 255
        rows.append(bytes(line))
        last = line
    return width, height, size, rows


def check_plots(page, problems):
    seen = {p["group"] for p in page.plots}
    problems += [f"no plot of {g}" for g in GROUPS if g not in seen]
    for p in page.plots:
        numbers = [t for t in p["ticks"] if NUMBER.match(t)]
        if len(p["units"]) != 2 or p["units"][0] != "virtual time, ms" or not p["units"][1].strip():
            problems.append(f"{p['group']}: axes say {p['units']}")
        if len(numbers) < 6 or len(numbers) != len(p["ticks"]):
            problems.append(f"{p['group']}: ticks are {p['ticks']}")
        if not p["series"] or any(len(s) < 100 for s in p["series"]):
            problems.append(f"{p['group']}: a series of fewer than 100 points")
        elif all(len({y for _, y in s}) < 2 for s in p["series"]):
            problems.append(f"{p['group']}: only flat lines")
        elif any(not (62 <= float(x) <= 588 and 9.9 <= float(y) <= 210.1) for s in p["series"] for x, y in s):
            problems.append(f"{p['group']}: a line leaves its plot")


def check_screenshot(path, problems):
    width, height, size, rows = pixels(path)
    colours = {rows[y][x * size:x * size + 3] for y in range(0, height, 2) for x in range(0, width, 2)}
    for name, rgb in (("first series", (0, 0x72, 0xb2)), ("second series", (0xd5, 0x5e, 0)), ("node", (0x1f, 0x4e, 0x79))):
        if bytes(rgb) not in colours:
            problems.append(f"the screenshot has no pixel in the colour of the {name}")


def check_comparison(lab, folder):
    """Several topologies in one page: a tile, a row and lines of each, of one colour in all plots."""
    names = ["pfc-one-way", "pfc-relay", "pfc-regenerate"]
    subprocess.run([lab, "--quiet", "--out", folder, *(os.path.join(TOP, f"config/lab/{n}.yaml") for n in names)], check=True)
    done = browse(os.path.join(folder, "compare.html"), "--dump-dom")
    page, problems = Page(), []
    page.feed(done.stdout)
    if page.body.get("data-drawn") != "yes":
        return [done.stderr[-300:] or "not drawn"]
    for name, losses in zip(names, (r'class="bad">[\d\u202f]+ lost', 'class="good">lossless', r'class="fair">[\d\u202f]+ lost, all on links')):
        if not re.search(losses + rf"</b><span>{name}</span>", done.stdout):
            problems.append(f"no tile of {name} in its colour")
        if f"<td>{name}</td>" not in done.stdout or f"{name}: gpu1 (max" not in done.stdout:
            problems.append(f"{name} has no row, or no line in a plot")
    plot = next((p for p in page.plots if p["group"] == "Buffers of lossless classes"), {"series": []})
    if len(page.strokes) != len(names):
        problems.append(f"lines of {len(names)} topologies have {len(page.strokes)} colours")
    if len(plot["series"]) < 4:
        problems.append(f"{len(plot['series'])} lossless buffers are plotted")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lab", default=os.path.join(TOP, "build/app/sluice-lab/sluice-lab"))
    parser.add_argument("--keep", help="folder for report and screenshot")
    args = parser.parse_args()
    tests = []
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.abspath(args.keep or folder)
        subprocess.run([args.lab, "--quiet", "--out", folder, os.path.join(TOP, "config/lab/two-dcs.yaml")], check=True)
        path = os.path.join(folder, "report.html")
        text = open(path).read()
        tests.append(("the page needs no network", [] if not re.search(r"(src|href)=|https?://(?!www\.w3\.org/2000/svg)|url\(", text)
                      else ["it refers to something outside"]))
        done = browse(path, "--dump-dom")
        page = Page()
        page.feed(done.stdout)
        tests.append(("scripts run to their end", [] if page.body.get("data-drawn") == "yes" else [done.stderr[-300:] or "not drawn"]))
        problems = []
        check_plots(page, problems)
        tests.append(("plots are drawn, axes carry units", problems))
        found = (page.nodes, page.hosts, page.links)
        tests.append(("the topology is drawn", [] if found == (6, 4, 9) else [f"nodes, hosts, links: {found}"]))
        problems = []
        shot = os.path.join(folder, "screenshot.png")
        browse(path, "--window-size=1400,2600", f"--screenshot={shot}")
        check_screenshot(shot, problems)
        tests.append(("a screenshot shows lines and nodes", problems))
        tests.append(("topologies are compared in one page", check_comparison(args.lab, folder)))
    return tap.tell(tests)


if __name__ == "__main__":
    sys.exit(main())
