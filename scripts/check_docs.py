#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the documentation names is there, as TAP.

  links   relative links of Markdown files lead to a file, and to a heading of it
  files   file names in backticks are those of files of the tree: a whole path, or the end of one
  names   identifiers in backticks (counters, functions, tests, cases, scenarios) occur outside the documentation
  tests   "`test_x`: a, b" means that test/unit/test_x.c has test functions a and b

A name may end in * or have one inside. What DPDK, the kernel and the user's own folders have is not looked for.
"""
import fnmatch
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "test"))
import tap  # noqa: E402

FOREIGN = re.compile(r"^(rte_|net_|net/|dpdk|/|out/|\.\./)")
PLACEHOLDER = re.compile(r"[A-Z]{4}")
FILE = re.compile(r"^[\w*./-]+\.(c|h|py|yaml|json|build|pcap|service)$")
NAME = re.compile(r"^[a-z][a-z0-9]*_[a-z0-9_*]*$")
# Names of other software, and those a reader chooses.
# Names that a specification gives to what is not built yet are not looked for.
SPECIFICATIONS = {"docs/protocol.md"}
OTHERS = {"my_scenario", "cable.yaml", "nr_hugepages", "rcu_nocbs", "nohz_full", "infinite_rx"}


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
    found = set()
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


def main():
    files = tracked()
    pages = [f for f in files if f.endswith(".md")]
    checks = [("links", check_links(pages)), ("files", check_files(pages, files)), ("names", check_names(pages, files)),
              ("tests", check_tests(pages, files))]
    return tap.tell([(f"documentation: {name}", problems) for name, problems in checks])


if __name__ == "__main__":
    sys.exit(main())
