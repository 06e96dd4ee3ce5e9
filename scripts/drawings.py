#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw docs/drawings/*.txt as SVG: lanes, the steps of a journey in them, and arrows from step to step.

  lane NAME TEXT        a column
  step LANE TEXT :: FILES   the next step; an arrow connects it with the step before
  side LANE TEXT :: FILES   beside the journey; a dashed arrow connects it with the last step
  arrow TEXT            a word on the arrow to the step above this line

scripts/drawings.py writes the SVG files; --check lists those that differ from their text.
"""
import argparse
import glob
import os
import sys
import textwrap
from xml.sax.saxutils import escape

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LANE, GAP, BOX, TOPS = 276, 20, 242, 92
LINE, PAD, CHARS, SPACE = 17, 9, 31, 30
COLOURS = ("#e8f0fe", "#e6f4ea", "#fef7e0", "#fce8e6")
STYLE = ("text{font-family:sans-serif;font-size:13px;fill:#202124}.f{font-family:monospace;font-size:11px;fill:#5f6368}"
         ".h{font-weight:bold}.t{font-size:17px;font-weight:bold}.a{font-size:11px;font-style:italic;fill:#3c4043}"
         "path{fill:none;stroke:#3c4043;stroke-width:1.3}.d{stroke-dasharray:5 4}")


class Step:
    def __init__(self, kind, lane, rest):
        text, _, files = rest.partition(" :: ")
        self.side, self.lane, self.label = kind == "side", lane, ""
        self.lines, self.files = textwrap.wrap(text, CHARS), files.strip()
        self.height = LINE * (len(self.lines) + bool(self.files)) + 2 * PAD
        self.y = 0


def parse(path):
    title, lanes, steps = "", {}, []
    with open(path) as f:
        for number, line in enumerate(f, 1):
            word, _, rest = line.strip().partition(" ")
            first, _, text = rest.partition(" ")
            if not word or word == "#":
                continue
            if word == "title":
                title = rest
            elif word == "lane":
                lanes[first] = text
            elif word in ("step", "side") and first in lanes:
                steps.append(Step(word, first, text))
            elif word == "arrow" and steps:
                steps[-1].label = rest
            else:
                sys.exit(f"{path}:{number}: '{word} {first}': not a lane, step, side or arrow")
    return title, lanes, steps


def arrow(old, new, x):
    """From a step to a later one: straight down in one lane, else out of the side and down."""
    kind = ' class="d"' if new.side else ""
    if x[old.lane] == x[new.lane]:
        way = f"M{x[old.lane]} {old.y + old.height}V{new.y - 2}"
        at, anchor, y = x[old.lane] + 6, "start", new.y - 10
    else:
        right = x[new.lane] > x[old.lane]
        y = old.y + old.height - 14 if new.side else old.y + old.height // 2
        out = x[old.lane] + (BOX // 2 if right else -BOX // 2)
        way = f"M{out} {y}H{x[new.lane]}V{new.y - 2}"
        at, anchor, y = out + (5 if right else -5), "start" if right else "end", y - 5
    label = f'<text class="a" x="{at}" y="{y}" text-anchor="{anchor}">{escape(new.label)}</text>' if new.label else ""
    return f'<path{kind} d="{way}" marker-end="url(#tip)"/>{label}'


def draw(path):
    title, lanes, steps = parse(path)
    x = {name: GAP + LANE * i + LANE // 2 for i, name in enumerate(lanes)}
    y = TOPS
    for step in steps:
        step.y, y = y, y + step.height + SPACE
    width, height = 2 * GAP + LANE * len(lanes), y
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
           f"<title>{escape(title)}</title>", f"<!-- drawn by scripts/drawings.py from {os.path.basename(path)} -->",
           f"<style>{STYLE}</style>", '<defs><marker id="tip" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
           'orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#3c4043"/></marker></defs>',
           f'<rect width="{width}" height="{height}" fill="#fff"/>', f'<text class="t" x="{GAP + 6}" y="30">{escape(title)}</text>']
    for i, (name, text) in enumerate(lanes.items()):
        out.append(f'<rect x="{x[name] - LANE // 2 + 4}" y="44" width="{LANE - 8}" height="{height - 54}" rx="8" '
                   f'fill="{COLOURS[i % len(COLOURS)]}"/>')
        for n, line in enumerate(textwrap.wrap(text, CHARS)):
            out.append(f'<text class="h" x="{x[name]}" y="{62 + LINE * n}" text-anchor="middle">{escape(line)}</text>')
    last = None
    for step in steps:
        if last:
            out.append(arrow(last, step, x))
        if not step.side:
            last = step
    for step in steps:
        left = x[step.lane] - BOX // 2
        dash = ' stroke-dasharray="5 4"' if step.side else ""
        out.append(f'<rect x="{left}" y="{step.y}" width="{BOX}" height="{step.height}" rx="5" fill="#fff" stroke="#5f6368"{dash}/>')
        for n, line in enumerate(step.lines + ([step.files] if step.files else [])):
            mono = ' class="f"' if n == len(step.lines) else ""
            out.append(f'<text{mono} x="{left + 8}" y="{step.y + PAD + 12 + LINE * n}">{escape(line)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def stale():
    """SVG files that differ from their text, as lines for check_docs.py."""
    for path in sorted(glob.glob(os.path.join(TOP, "docs/drawings/*.txt"))):
        svg = path[:-4] + ".svg"
        old = ""
        if os.path.exists(svg):
            with open(svg) as f:
                old = f.read()
        if old != draw(path):
            yield f"{os.path.relpath(svg, TOP)}: differs from its text; run scripts/drawings.py"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file differs")
    if parser.parse_args().check:
        problems = list(stale())
        print("\n".join(problems) if problems else "all drawings match their texts")
        return bool(problems)
    for path in sorted(glob.glob(os.path.join(TOP, "docs/drawings/*.txt"))):
        with open(path[:-4] + ".svg", "w") as f:
            f.write(draw(path))
    return 0


if __name__ == "__main__":
    sys.exit(main())
