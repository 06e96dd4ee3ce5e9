# SPDX-License-Identifier: BSD-3-Clause
"""Definitions, references and calls of the objects of a build, for rules about the program rather than its source text.

nm and objdump read them from the objects. Inlined functions, static functions of the same name in several files and parts
that the compiler split off a function therefore appear as in the program.
"""
import collections
import graphlib
import json
import os
import re
import subprocess


def built_from(build, *folders):
    """{object: source, relative to the top} of the objects that the build makes of the C files below the folders."""
    with open(os.path.join(build, "compile_commands.json")) as f:
        commands = json.load(f)
    top = os.path.dirname(os.path.abspath(build))
    made = {}
    for c in commands:
        source = os.path.relpath(os.path.join(c["directory"], c["file"]), top)
        if source.startswith(tuple(folder + "/" for folder in folders)):
            made[os.path.join(c["directory"], c["output"])] = source
    return made


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def uses(sources):
    """{(source, source): symbols}: the symbols that each file uses of another. Two programs may each have a function of one name: that
    of the same folder is meant."""
    defined, needed = collections.defaultdict(set), []
    for line in tool("nm", "-A", "-P", "-g", *sources):
        path, name, kind = re.match(r"(.+): (\S+) (\w)", line).groups()
        if kind == "U":
            needed.append((sources[path], name))
        else:
            defined[name].add(sources[path])
    edges = collections.defaultdict(set)
    for user, name in needed:
        there = defined[name]
        near = {d for d in there if os.path.dirname(d) == os.path.dirname(user)}
        for owner in near or there:
            edges[user, owner].add(name)
    return edges


def circles(edges):
    """Circles among the edges, as lists [a, b, ..., a]: one of each knot, and others once it is cut."""
    edges = set(edges)
    while True:
        sorter = graphlib.TopologicalSorter()
        for user, owner in edges:
            sorter.add(user, owner)
        try:
            sorter.prepare()
            return
        except graphlib.CycleError as e:
            circle = e.args[1][::-1]  # each entry uses the next one
            yield circle
            edges.discard((circle[0], circle[1]))


class Calls:
    """The call graph. A place is (source, function) or (source, section of data): a function reaches what it calls and what it
    takes the address of, a section the functions whose addresses it holds (tables of functions). Parts that the compiler split
    off a function (.cold, .part.0) belong to it."""

    def __init__(self, sources):
        self.sources = sources
        self.reached = collections.defaultdict(set)  # place: places and names
        self.indirect = set()  # functions that call through a pointer
        self.functions = collections.defaultdict(set)  # name: sources that define it
        self.at = {}  # (source, section): {offset: function}
        self.data = {}  # (source, variable): its section
        self.globals = {}  # name of a variable: its place
        self.read_symbols()
        self.read_code()
        self.read_tables()

    def read(self, *options):
        source = None
        for line in tool("objdump", "--no-show-raw-insn", *options, *self.sources):
            header = re.match(r"(.+):     file format ", line)
            if header:
                source = self.sources[header[1]]
            elif line:
                yield source, line

    def read_symbols(self):
        for source, line in self.read("-t"):
            m = re.match(r"([0-9a-f]+) (.).....(.) (\S+)\t[0-9a-f]+ (?:\.hidden )?(\S+)$", line)
            if not m:
                continue
            offset, bind, kind, section, name = m.groups()
            if kind == "F":
                self.functions[base(name)].add(source)
                self.at.setdefault((source, section), {})[int(offset, 16)] = base(name)
            elif kind == "O":
                self.data[source, name] = section
                if bind == "g":
                    self.globals[name] = (source, section)

    def target(self, source, symbol, addend):
        """The place that a relocation refers to, or the name of a symbol that no object defines."""
        if (source, symbol) in self.at:  # a section of code, and how far in it
            return source, self.at[source, symbol].get(addend)
        if symbol.startswith("."):
            return source, symbol
        if (source, symbol) in self.data:
            return source, self.data[source, symbol]
        return self.function(source, symbol) or self.globals.get(symbol, symbol)

    def function(self, source, name):
        there = self.functions.get(base(name), ())
        return (source, base(name)) if source in there else (min(there), base(name)) if there else None

    def read_code(self):
        here, previous, called = None, "", None
        for source, line in self.read("-dr"):
            relocation = re.match(r"\s+[0-9a-f]+: (R_\S+)\s+(\S+?)(?:([-+])0x([0-9a-f]+))?$", line)
            if called and not relocation:  # within a section; otherwise the relocation names the function called
                self.reached[here].add(called)
            called = None
            start = re.match(r"[0-9a-f]+ <(.+)>:$", line)
            if start:
                here = (source, base(start[1]))
            elif relocation:
                kind, symbol, sign, digits = relocation.groups()
                addend = int((sign or "") + (digits or "0"), 16) + 4 * ("PC32" in kind or "PLT32" in kind)
                self.reached[here].add(self.target(source, symbol, addend))
            else:
                call = re.search(r"\b(?:call|j\w+)\s+(\*)?(\S+)(?: <([^>+]+)(?:\+0x[0-9a-f]+)?>)?", line)
                if call and call[1] and not is_switch(call[2], previous):
                    self.indirect.add(here)
                elif call and call[3]:
                    called = self.function(source, call[3])
                previous = line

    def read_tables(self):
        section = None
        for source, line in self.read("-r"):
            if line.startswith("RELOCATION RECORDS FOR ["):
                section = line[24:-2]
                continue
            m = re.match(r"[0-9a-f]+ R_X86_64_64\s+(\S+?)(?:\+0x([0-9a-f]+))?$", line)
            if m and (source, section) not in self.at and not section.startswith((".debug", ".eh_frame")):
                self.reached[source, section].add(self.target(source, m[1], int(m[2] or "0", 16)))

    def closure(self, roots, cut):
        """{place or name: the place from which it was reached first; None for a root}. Functions named in `cut` are not
        entered."""
        found = dict.fromkeys(roots)
        waiting = collections.deque(found)
        while waiting:
            place = waiting.popleft()
            for other in self.reached.get(place, ()):
                if other not in found and not (isinstance(other, tuple) and (other[1] is None or other[1] in cut)):
                    found[other] = place
                    if isinstance(other, tuple):
                        waiting.append(other)
        return found


def base(name):
    return name.split(".")[0]


def is_switch(operand, previous):
    """A jump by a table of the compiler: an offset from the table has just been added to the table's address."""
    return operand.startswith("%") and re.search(r"\badd\s+%\w+," + re.escape(operand) + r"$", previous) is not None
