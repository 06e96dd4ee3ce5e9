# SPDX-License-Identifier: BSD-3-Clause
"""Socket input that sluicectl never sends: it gets a clear answer, and packets keep flowing."""
import contextlib
import json
import os
import random
import socket
import subprocess
import threading
import time

import capturing
from support import Session, expect, wait_for, write_pcap


def memory_kb(node):
    with open(f"/proc/{node.process.pid}/status") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1])


def lines_of_all_kinds(bench):
    """Any length, NUL bytes, binary, not UTF-8, quotes, many words: one answer each, in order, and the next is served."""
    node = capturing.streaming(bench)
    for line, wants in (
            (b"x" * 4096, "a line has at most 4095 bytes"), (b"show " * 2000, "a line has at most 4095 bytes"),
            (b"x" * 5_000_000, "a line has at most 4095 bytes"), (b"show ports" + b" " * 4086, "a line has at most 4095 bytes"),
            (b"show \0ports", "the line contains a NUL byte"), (b"\0" * 100, "the line contains a NUL byte"),
            (b"show \x01ports", "control character 0x01"), (b"show ports\x7f", "control character 0x7f"),
            (b"capture start p0 \xff\xfe.pcapng", "UTF-8"), (b"show \xc3\x28", "UTF-8"),
            ("schließe".encode(), "unknown command"), (b'"', "missing closing quote"), (b'show "' + b"a" * 4000, "missing closing quote"),
            (b"a " * 65, "at most 64 words"), (b"%s%n%d%s%n", "unknown command '%s%n%d%s%n'"),
            (b'trace add 1 filter "' + b"(" * 4000 + b'"', "trace add: "), (b'trace add 1 filter "len > ' + b"9" * 4000 + b'"', "trace"),
            (b"reload " + b"a" * 4000, "File name too long"), (b"trace add " + b"9" * 4000, "whole number"),
            (b"trace add -1", "whole number"), (b"trace add 0x7fffffffffffffffff", "whole number")):
        status, text = node.command(line)
        expect(status > 0 and wants in text, f"{line[:40]}: {status}: {text[:200]}")
        expect(len(text) < 10000, f"{line[:40]}: an answer of {len(text)} bytes")
    for line, wants in ((b"-j " + b"x" * 5000, "a line has at most 4095 bytes"), (b"show \0ports -j", "the line contains a NUL byte"),
                        (b"-j show \x01ports", "control character 0x01")):
        status, text = node.command(line)
        expect(status == 22 and wants in json.loads(text)["error"], f"{line[:40]}: {status}: {text[:200]}")
    expect(node.command(b"-j\0 show ports") == (22, "the line contains a NUL byte\n"), "that word is not -j")
    status, _, text = bench.sluicectl("-j", "show ports " + "x" * 5000)
    expect(status == 1 and "at most 4095" in json.loads(text)["error"], f"{status}: {text[:200]}")
    longest = b"show ports" + b" " * (4095 - len("x show ports"))
    expect(node.command(longest)[0] == 0, "the longest line there may be")
    for junk in (b"\n", b"y show ports\n", b"GET / HTTP/1.1\r\n\r\n", b"X show ports\n", b"{" * 3000 + b"\n", b"i \n"):
        session = Session(node.socket)
        session.socket.sendall(junk)
        expect(session.answer() == (22, "expected 'x COMMAND', 'c LINE' or 'i'\n") and session.ended(), f"{junk[:20]}")
        session.close()
    for _ in range(20):
        session = Session(node.socket)
        with contextlib.suppress(OSError):  # the node ends it at the first line
            session.socket.sendall(random.Random(_).randbytes(20000))
        session.close()
    capturing.forwards(node)
    node.stop()


def huge_requests(bench):
    """100 MB of JSON in one line, and the same without an end: bounded memory, a prompt answer, packets go on."""
    node = capturing.streaming(bench)
    before, started = memory_kb(node), time.monotonic()
    session = Session(node.socket)

    def send():
        block = b'{"command": "show ports", "more": [' + b"1, " * 20000
        try:
            session.socket.sendall(b"x ")
            for _ in range(100_000_000 // len(block)):
                session.socket.sendall(block)
            session.socket.sendall(b"\nx show version\n")
        except OSError:
            pass
    thread = threading.Thread(target=send)
    thread.start()
    status, text = session.answer()
    expect(status == 22 and "a line has at most" in text, text)
    expect(node.command("show version")[0] == 0, "others are served meanwhile")
    thread.join()
    expect(session.answer()[0] == 0, "and so is what comes behind it")
    expect(memory_kb(node) - before < 20000, f"grew from {before} to {memory_kb(node)} KB")
    expect(time.monotonic() - started < 60, "took too long")
    capturing.forwards(node)
    node.stop()


def reader_that_never_reads(bench):
    """Asks for 50 MB of answers and reads none: no memory grows, no other client waits; later it gets all of them."""
    node = capturing.streaming(bench)
    before = memory_kb(node)
    greedy = Session(node.socket)
    # the node stops listening to it, so sending has to wait, too
    sender = threading.Thread(target=greedy.socket.sendall, args=(b"x show stats -j\n" * 4000,))
    sender.start()
    for _ in range(50):
        started = time.monotonic()
        node.ok("show ports")
        expect(time.monotonic() - started < 2, "others wait")
    expect(memory_kb(node) - before < 20000, f"grew from {before} to {memory_kb(node)} KB")
    capturing.forwards(node)
    for n in range(4000):
        expect(greedy.answer()[0] == 0, f"answer {n}")
    sender.join()
    greedy.close()
    # one that asks and goes, in every way
    for how in (socket.SHUT_WR, socket.SHUT_RD, socket.SHUT_RDWR, None):
        for _ in range(20):
            gone = asks(node, 100)
            if how is not None:
                gone.socket.shutdown(how)
            if how == socket.SHUT_WR and _ == 0:
                for n in range(100):
                    expect(gone.answer()[0] == 0, f"half-closed: answer {n}")
                expect(gone.ended(), "half-closed: the end")
            gone.close()
    # half-closed and never read: costs its place and no time
    half = asks(node, 200)
    half.socket.shutdown(socket.SHUT_WR)
    time.sleep(0.3)
    used = cpu_ticks(node)
    time.sleep(1)
    expect(cpu_ticks(node) - used < 50, "the management thread spins")
    half.close()
    wait_for(lambda: node.command("show version")[0] == 0, "served")
    node.stop()


def asks(node, times):
    """A session that has asked. While the node still winds up sixteen earlier ones it refuses the next, which tries again."""
    for _ in range(200):
        session = Session(node.socket)
        try:
            session.socket.sendall(b"x show stats -j\n" * times)
        except (BrokenPipeError, ConnectionResetError):
            session.close()
            time.sleep(0.05)
        else:
            return session
    raise AssertionError("no session was served within 10 s")


def cpu_ticks(node):
    """Of the management thread, in 10 ms."""
    with open(f"/proc/{node.process.pid}/task/{node.process.pid}/stat") as f:
        words = f.read().rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


def foreign_directories(bench):
    """The pid file and the socket are not put behind a link, nor where others can put links: each is refused with a reason, and
    the file behind the link is untouched."""
    bench.config()
    write_pcap(bench.path("in.pcap"), [])
    os.chmod(bench.folder, 0o777)  # a node of another user writes its pcap there
    victim = bench.path("victim")
    with open(victim, "w") as f:
        f.write("untouched")
    cases = {"a link": "no link", "a file": "no link", "writable": "nobody else can write", "a link inside": "expected a regular file"}
    if os.geteuid() == 0:
        cases["of another user"] = "belongs to root or to this user"
    for case, pattern in cases.items():
        runtime = bench.path(case.replace(" ", "-"))
        directory = os.path.join(runtime, "sluice")
        os.makedirs(os.path.join(runtime, "real"))
        if case == "a link":
            os.symlink("real", directory)
        elif case == "a file":
            open(directory, "w").close()
        else:
            os.mkdir(directory)
            os.chmod(directory, 0o777 if case == "writable" else 0o755)
        if case == "a link inside":
            os.symlink(victim, os.path.join(directory, f"{bench.name}.pid"))
        user = 65534 if os.geteuid() == 0 else os.geteuid()
        if os.geteuid() == 0 and case != "of another user" and not os.path.islink(directory):
            os.chown(directory, user, user)
        if case == "of another user":
            os.chown(directory, 4711, 4711)
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if os.geteuid() == 0 else []
        done = subprocess.run([*command, bench.sluice, "-c", bench.path("config.yaml")], cwd=bench.folder, capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, "XDG_RUNTIME_DIR": runtime})
        expect(done.returncode == 3 and pattern in done.stderr, f"{case}: {done.returncode}: {done.stderr}")
        expect(open(victim).read() == "untouched", case)


def unknown_keys(bench):
    """Half a million of them: refused as soon as the file is read."""
    with open(bench.path("config.yaml"), "w") as f:
        f.writelines(f"zzkey{i}: 1\n" for i in range(500000))
    before = os.times().children_user
    code, _, err = bench.run("--check")
    spent = os.times().children_user - before
    expect(code != 0 and "unknown key 'zzkey0'" in err and "more errors" in err, f"{code}: {err[-300:]}")
    expect(spent < 2, f"it took {spent} s of CPU")  # one on a machine that is not shared


def many_connections(bench):
    """100 clients at once: 16 are served, and one more of root's; the others are refused with a reason; two consoles in
    parallel."""
    node = capturing.streaming(bench)
    sessions = [Session(node.socket) for _ in range(100)]
    places = 17 if os.geteuid() == 0 else 16
    refused = 100 - (places - 1)  # one place is this test's own
    wait_for(lambda: sum(not alive(session) for session in sessions) == refused, "the others are refused")
    done = bench.sluicectl("-j", "show", "version")
    expect(done[0] == 1 and json.loads(done[2]) == {"error": "too many sessions; end one first"}, f"with -j: {done}")
    for session in sessions:
        if alive(session):
            session.socket.sendall(b"x show version\n")
    answers = [session.answer() for session in sessions]
    reasons = [text for status, text in answers if status == 16]
    expect(reasons == ["too many sessions; end one first\n"] * refused, f"{len(reasons)} were refused: {set(reasons)}")
    for session in sessions:
        session.close()
    wait_for(lambda: bench.sluicectl("show", "version")[0] == 0, "places are free again")
    consoles = [Session(node.socket), Session(node.socket)]
    for c in consoles:
        c.socket.sendall(b"i\n")
    for c in consoles:
        for key in b"show version\r":
            c.socket.sendall(bytes([key]))
    for c in consoles:
        got = b""
        while b"dpdk:" not in got:
            got += c.socket.recv(4096)
        c.close()
    raw = Session(node.socket)
    with contextlib.suppress(OSError):  # some key means the end
        raw.socket.sendall(b"i\n" + random.Random(1).randbytes(20000) + b"\r\n\t?\x1b[A\x1b[A\r" * 100 + b"y" * 100000)
    raw.close()
    capturing.forwards(node)
    node.stop()


def alive(session):
    """False when the other side has already closed: its refusal lies there to be read."""
    session.socket.setblocking(False)
    try:
        return session.socket.recv(1, socket.MSG_PEEK) == b"never"
    except BlockingIOError:
        return True
    finally:
        session.socket.settimeout(20)


TESTS = [
    ("bad input: a runtime directory of somebody else", foreign_directories),
    ("bad input: half a million unknown keys", unknown_keys),
    ("bad input: lines of all kinds", lines_of_all_kinds),
    ("bad input: huge requests", huge_requests),
    ("bad input: a reader that never reads", reader_that_never_reads),
    ("bad input: many connections", many_connections),
]
