#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that everything that the documentation and the comments name exists in the tree. Prints TAP.

  links      relative links of Markdown files point to a file, and to a heading or anchor in it
  files      file names in backticks are files of the tree: a whole path, or the end of one
  names      identifiers in backticks (counters, functions, tests, cases, scenarios) occur outside the documentation
  tests      "`test_x`: a, b" means that test/unit/test_x.c has test functions a and b
  comments   file names in comments of C, Python, YAML, meson and shell are files of the tree
  decisions  each decision (D42) and erratum (E34) that any file cites has one anchor in docs, and no two anchors are equal
  sections   "docs/protocol.md 4.6", "docs/design.md 2 rule 7": the page has that section, and the section that rule
  drawings   docs/drawings/*.svg match the texts that scripts/drawings.py draws them from
  vectors    each test vector (v21) that a page names is a case in test/pcap or a pair of captures in test/vectors

A name may end in * or contain one. Names from DPDK, the kernel and the user's own folders are not checked.
"""
import fnmatch
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TOP, "test"), os.path.join(TOP, "scripts")]
import drawings  # noqa: E402
import tap  # noqa: E402

FOREIGN = re.compile(r"^(rte_|net_|net/|dpdk|/|out/|\.\./)")
PLACEHOLDER = re.compile(r"[A-Z]{4}")
FILE = re.compile(r"^[\w*./-]+\.(c|h|py|yaml|json|build|pcap|service)$")
NAME = re.compile(r"^[a-z][a-z0-9]*_[a-z0-9_*]*$")
# Specifications name things that are not built yet; these names are not checked.
SPECIFICATIONS = {"docs/protocol.md", "docs/credit.md"}
# Names of other software, and names that a reader chooses.
OTHERS = {"my_scenario", "test/unit/test_x.c", "cable.yaml", "nr_hugepages", "rcu_nocbs", "nohz_full", "infinite_rx"}


def tracked():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, capture_output=True, text=True,
                            check=True).stdout.splitlines()
    return [f for f in listed if os.path.exists(os.path.join(TOP, f))]


def text(path):
    with open(os.path.join(TOP, path), errors="replace") as f:
        return f.read()


def prose(path):
    """The text without blocks of code."""
    return re.sub(r"^```.*?^```", "", text(path), flags=re.M | re.S)


def anchors(path):
    found = set(re.findall(r'<a id="([^"]+)">', prose(path)))
    for heading in re.findall(r"^#+ (.*)$", prose(path), re.M):
        words = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower())
        found.add(words.strip().replace(" ", "-"))
    return found


def check_links(pages):
    for page in pages:
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(os.path.join(TOP, to)):
                yield f"{page}: {target}: no such file"
            elif anchor and anchor not in anchors(to):
                yield f"{page}: {target}: no such heading in {to}"


def quoted(page, shape):
    for name in sorted(set(re.findall(r"`([^`\n]+)`", prose(page)))):
        if shape.match(name) and not PLACEHOLDER.search(name) and not FOREIGN.match(name) and name not in OTHERS:
            yield name


def check_files(pages, files):
    folders = {os.path.dirname(f) for f in files}
    for page in pages:
        for name in quoted(page, FILE):
            if not any(fnmatch.fnmatch("/" + f, "*/" + name) for f in files) and name not in folders:
                yield f"{page}: `{name}`: no such file"


def check_names(pages, files):
    known = set()
    for path in files:
        known.update(re.split(r"[/.]", path))
        if not path.startswith("docs/") and not path.endswith((".md", ".pcap")):
            known.update(re.findall(r"\w+", text(path)))
    # Cases and counters whose names are put together from parts.
    known.update(word for path in ("docs/counters.md",) for word in re.findall(r"\w+", text(path)))
    for page in sorted(set(pages) - SPECIFICATIONS):
        for name in quoted(page, NAME):
            if not any(fnmatch.fnmatchcase(word, name) for word in known) if "*" in name else name not in known:
                yield f"{page}: `{name}` is nowhere in the tree"


def check_tests(pages, files):
    for page in pages:
        for test, names in re.findall(r"`(test_\w+)`(?:: ((?:[a-z]\w*(?:\*|\b)(?:, |))+))?", prose(page)):
            path = f"test/unit/{test}.c"
            if path not in files:
                yield f"{page}: `{test}`: there is no {path}"
                continue
            for name in filter(None, names.split(", ")):
                functions = re.findall(r"^static void (\w+)\(void \*\*", text(path), re.M)
                if not fnmatch.filter(functions, name):
                    yield f"{page}: `{test}`: {name}: no such test"


# The number of a decision or an erratum: not a part of a name, of an address or of a path.
NUMBERED = re.compile(r"(?<![\w:./{$-])([DE][1-9]\d?)(?!\w|:[0-9a-fA-F]|\.\d|\()")
SECTION = re.compile(r"\b((?:[\w-]+/)*[a-z][\w-]*\.md),?\s+(?:[*#]\s+)?(?:sections? )?((?:rule )?\d+(?:\.\d+)?(?: rule \d+)?"
                     r"(?:(?:, | and )\d+(?:\.\d+)?(?: rule \d+)?(?![\w.]))*)")
CODE = (".c", ".h", ".py", ".yaml", ".build", ".json", ".txt", ".service", ".sh")
# A bare sluice.yaml or report.json is a user's file; with a folder it is one of the tree.
COMMENTED = re.compile(r"(?<![\w./*{<$-])((?:[\w-]+/)*[\w-]+\.(?:c|h|py|md|build)|(?:[\w-]+/)+[\w-]+\.(?:yaml|json))(?![\w/])")


def texts(files):
    """Files in which decisions and sections may be cited: all files written by a person or by a generator of the tree."""
    for path in files:
        if path.endswith(CODE + (".md",)) or ("." not in os.path.basename(path) and path.startswith(("scripts/", "drivers/"))):
            yield path, text(path)


def check_decisions(pages, files):
    defined = {}
    for page in pages:
        for name in re.findall(r'<a id="([de]\d+)">', text(page)):
            if name in defined:
                yield f"{page}: {name.upper()} is defined in {defined[name]} as well"
            defined[name] = page
    for path, body in texts(files):
        for name in sorted(set(NUMBERED.findall(body))):
            if name.lower() not in defined:
                yield f"{path}: {name}: no page in docs defines it"


def sections(path):
    """Numbers of a page's sections, and of the rules in their numbered lists: "4.6", "2 rule 7"."""
    found, section = set(), None
    for line in prose(path).splitlines():
        heading = re.match(r"#+ (\d+(?:\.\d+)?)\b", line)
        item = re.match(r"(\d+)\. ", line)
        if heading:
            section = heading.group(1)
            found.add(section)
        elif item and section:
            found.update((f"{section} rule {item.group(1)}", f"rule {item.group(1)}"))
    return found


def check_sections(files):
    known = {}
    for path, body in texts(files):
        for page, cited in SECTION.findall(body):
            target = next((p for p in (page, os.path.join("docs", page), os.path.join(os.path.dirname(path), page)) if p in files), None)
            if target is None:
                continue  # check_comments reports it
            if target not in known:
                known[target] = sections(target)
            for number in re.split(r", | and ", cited) if known[target] else ():
                if number not in known[target]:
                    yield f"{path}: {page} {number}: no such section"


def comments(path, body):
    """The prose of a file: comments, and in Python also docstrings."""
    if path.endswith((".c", ".h")):
        return "\n".join(re.findall(r"/\*.*?\*/|//[^\n]*", body, re.S))
    if path.endswith(".py"):
        return "\n".join(re.findall(r'"""(?:.|\n)*?"""|(?:^|\s)#[^\n]*', body))
    if path.endswith(".md"):
        return ""
    if path.startswith("docs/drawings/"):
        return body
    return "\n".join(re.findall(r"(?:^|\s)#[^\n]*", body)) if not path.endswith(".json") else body


def check_comments(files):
    known = {"/" + f for f in files} | {os.path.basename(f) for f in files}
    for path, body in texts(files):
        for name in sorted(set(COMMENTED.findall(comments(path, body)))):
            if FOREIGN.match(name) or PLACEHOLDER.search(name) or name in OTHERS:
                continue
            if name not in known and not any(f.endswith("/" + name) for f in known):
                yield f"{path}: {name}: no such file"


def check_vectors(pages, files):
    known = {re.match(r"test/(?:pcap|vectors)/(v\d\d)_", f).group(1) for f in files if re.match(r"test/(pcap|vectors)/v\d\d_", f)}
    for page in pages:
        for name in sorted(set(re.findall(r"\bv\d\d\b", prose(page))) - known):
            yield f"{page}: {name}: no such test vector"


def main():
    files = tracked()
    pages = [f for f in files if f.endswith(".md")]
    checks = [("links", check_links(pages)), ("files", check_files(pages, files)), ("names", check_names(pages, files)),
              ("tests", check_tests(pages, files)), ("comments", check_comments(files)), ("decisions", check_decisions(pages, files)),
              ("sections", check_sections(files)), ("vectors", check_vectors(pages, files)),
              ("drawings", drawings.stale())]
    return tap.tell([(f"documentation: {name}", problems) for name, problems in checks])


if __name__ == "__main__":
    sys.exit(main())
