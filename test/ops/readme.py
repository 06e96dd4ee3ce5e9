#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""README's 'A day with sluice' and 'A day with credit', command by command: each succeeds and prints what the page shows. Prints TAP.

All commands run in one shell, in the folder of the sources, in namespaces of their own (network, and /run/sluice),
so that another node here is not in the way. Between the start of the node and the next command this test waits as a
reader does. In what is shown, ... stands for anything, 0 for 0, any other number for one that is not 0, and
a trace's time for any.
"""
import os
import re
import subprocess
import sys
import time

from tap_main import TOP, Failure, expect

SECTIONS = ("## A day with sluice", "## A day with credit")
PRIVATE = "mkdir -p /run/sluice && mount -t tmpfs -o mode=0755 none /run/sluice && ip link set lo up && exec bash --norc"
NUMBER = r"(?<![\w.:/-])\d+(?![\w:/]|\.\d)"  # standing alone: not a part of a name, an address or a time


def steps():
    """(command, lines that are shown) in order."""
    with open(os.path.join(TOP, "README.md")) as f:
        text = f.read()
    sections = "".join(text.split(name + "\n")[1].split("\n## ")[0] for name in SECTIONS)
    for block in re.findall(r"^```console\n(.*?)^```", sections, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *shown = part.rstrip("\n").split("\n")
            yield command, shown


def pattern(line):
    """A shown line as a regular expression: spaces may differ in number."""
    if line == "...":
        return r"(?:.*\n)*?"
    words = []
    line = re.sub(r"\bns \d+,", "ns ...,", line)  # a trace's times may be 0 or not
    for piece in re.split(rf"(\.\.\.|{NUMBER}|\s+)", line.strip()):
        if piece == "...":
            words.append(".*")
        elif re.fullmatch(NUMBER, piece) and piece != "0":
            words.append(r"[1-9]\d*")
        elif piece.isspace():
            words.append(r"\s+")
        else:
            words.append(re.escape(piece))
    return r"\s*" + "".join(words) + r"\s*?\n"


def matches(shown, output):
    return re.fullmatch("".join(pattern(line) for line in shown), output) is not None


class Shell:
    def __init__(self):
        self.process = subprocess.Popen(["unshare", "--mount", "--net", "--", "bash", "-c", PRIVATE], cwd=TOP,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        errors="replace")
        self.count = 0

    def run(self, command):
        """Exit status and output. Standard error counts where the page would show it: of sluicectl."""
        self.count += 1
        end = f"-- end of command {self.count}:"
        quiet = " 2>/dev/null" if command.startswith("tshark") else ""
        self.process.stdin.write(f"{command}{quiet}\necho \"{end} $?\"\n")
        self.process.stdin.flush()
        output = []
        for line in self.process.stdout:
            if line.startswith(end):
                return int(line.split(":")[1]), "".join(output)
            output.append(line)
        raise Failure(f"the shell ended; it said:\n{''.join(output)}")

    def wait_for_node(self):
        until = time.monotonic() + 30
        while self.run("sluicectl show version")[0]:
            expect(time.monotonic() < until, "the node does not come up")
            time.sleep(0.2)
        time.sleep(2)  # rates are there after the first second

    def close(self):
        """End every process that the page has started, also after a failure."""
        if self.process.poll() is None:
            try:
                self.process.stdin.write("kill $(jobs -p) 2>/dev/null; wait; exit 0\n")
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def run_step(shell, command, shown):
    code, output = shell.run(command)
    expect(code == 0, f"ended with {code}:\n{output}")
    if command.endswith("&"):
        shell.wait_for_node()
    elif command.startswith("sluicectl trace add"):
        time.sleep(0.5)
    elif shown or not command.startswith(("sleep", "export", "mkdir", "kill")):
        expect(matches(shown, output), "the page shows:\n" + "\n".join(shown) + f"\nbut it says:\n{output}")


def check_the_check():
    """A page that is wrong must not pass."""
    good = ["port  rx  imissed", "dc0   5   0"]
    expect(matches(good, "port    rx  imissed\ndc0   77890        0\n"), "refuses what is right")
    for bad in ("port rx imissed\ndc0 0 0\n", "port rx imissed\ndc0 5 1\n", "port rx imissed\nwan0 5 0\n",
                "port rx imissed\n", "port rx imissed\ndc0 5 0\nmore\n"):
        expect(not matches(good, bad), f"accepts {bad!r}")
    expect(matches(["...", "a 1...", "..."], "x\ny\na 7 b\nz\n") and not matches(["...", "a"], "a\nb\n"), "... is wrong")


def main():
    tests = list(steps())
    print(f"1..{len(tests) + 2}", flush=True)
    number, failed = 0, 0

    def tell(name, test):
        nonlocal number, failed
        number += 1
        try:
            test()
            print(f"ok {number} - {name}", flush=True)
        except (Failure, OSError) as e:
            failed += 1
            print(f"not ok {number} - {name}\n" + "\n".join("# " + line for line in str(e).splitlines()), flush=True)

    def whole():
        expect(len(tests) >= 28, f"only {len(tests)} commands were found in the README")

    tell("the comparison finds differences", check_the_check)
    tell("README has the sections", whole)
    os.makedirs(os.path.join(TOP, "out"), exist_ok=True)
    shell = Shell()
    try:
        for command, shown in tests:
            tell(command.replace("#", ""), lambda c=command, s=shown: run_step(shell, c, s))
    finally:
        shell.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
