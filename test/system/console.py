# SPDX-License-Identifier: BSD-3-Clause
"""
Input and output of console, script file, socket and sluicectl. Transcripts are in the folder of this file. After an
intended change of output, run.py --update rewrites them; read the difference before you commit it.
"""
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import socket
import stat
import struct
import subprocess
import termios
import threading
import time

from support import Node, Session, expect, frame, quiet, wait_for, write_pcap

TRANSCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "transcripts")

CONFIG = """
node:
  name: {name}
  loopback: fd00::d
  usid: {{block: "5f00:0::/32", node: 0x0100}}
  infrastructure: ["fd00::/16"]
lcores: {{control: 0, rx: [1], worker: [1], cpus: "0@0,1@0"}}
memory: {{buffers: 32K}}
idle: {{policy: sleep}}
neighbor-discovery: {{retransmit: 60000, probes: 1}}
ports:
  - {{name: dc0, device: "net_null0,no-rx=1", side: dc, vrf: red, mac: "02:00:00:00:d0:01", queue-limit: 1K,
     addresses: [10.1.0.1/24]}}
  - {{name: wan0, device: "net_pcap0,rx_pcap=in.pcap,tx_pcap=out0.pcap", side: wan, mac: "02:00:00:00:d0:00",
     queue-limit: 1K, addresses: ["2001:db8:a::2/64"]}}
neighbors:
  - {{port: wan0, address: "2001:db8:a::3", mac: "02:00:00:00:a0:03"}}
routes:
  - {{prefix: "5f00:0:400::/48", port: wan0, nexthop: "2001:db8:a::3"}}
  - {{prefix: "5f00:0:500::/48", port: wan0, nexthop: "2001:db8:a::3"}}
vrfs:
  - name: red
    routes:
      - {{prefix: 10.2.0.0/16, policy: to-dc2}}
      - {{prefix: 10.3.0.0/16, port: dc0, nexthop: 10.1.0.254}}
sids:
  - {{sid: "5f00:0:100::/48", behavior: uN}}
  - {{sid: "5f00:0:e005::/48", behavior: uA, port: wan0, nexthop: "2001:db8:a::3"}}
  - {{sid: "5f00:0:e101::/48", behavior: uDT46, vrf: red}}
policies:
  - name: to-dc2
    paths:
      - {{name: left, segments: ["5f00:0:400::", "5f00:0:e102::"], weight: 3}}
      - {{name: right, segments: ["5f00:0:500::", "5f00:0:300::", "5f00:0:e102::"]}}
interfaces:
  - {{name: dc0.100, port: dc0, vlan: 100, vrf: red, addresses: [10.4.0.1/24]}}
  - {{name: dc0.200.7, port: dc0, vlan: 200, inner-vlan: 7, vrf: red, mtu: 1400, addresses: ["2001:db8:4::1/64"]}}
  - {{name: wan0.50, port: wan0, vlan: 50}}
log: {{level: warning}}
"""

# Names of values that differ from run to run: columns of tables, lines of blocks, values of JSON.
VOLATILE = {"passes", "busy_passes", "busy_ms", "busy_ns", "sleep_ms", "sleep_ns", "max_gap_us", "max_gap_ns", "took_ms",
            "dpdk", "sluice", "ns", "rx_pps", "rx_bps", "tx_pps", "tx_bps", "free", "since_ms"}


def mask_json(value):
    if isinstance(value, dict):
        return {k: f"<{k}>" if k in VOLATILE else mask_json(v) for k, v in value.items()}
    return [mask_json(v) for v in value] if isinstance(value, list) else value


def mask_text(text):
    """Columns of a table whose head has volatile names, and 'name: value' lines."""
    out, columns = [], None
    for line in text.splitlines():
        cells = re.split(r" {2,}", line.strip())
        if len(cells) > 1 and VOLATILE & set(cells):
            columns = cells
            out.append("  ".join(cells))
        elif columns and len(cells) == len(columns):
            out.append("  ".join(f"<{c}>" if c in VOLATILE else value for c, value in zip(columns, cells)))
        else:
            columns = None
            out.append(re.sub(r"^(\s*)(\w+):( +).*$",
                              lambda m: f"{m[1]}{m[2]}: <{m[2]}>" if m[2] in VOLATILE else m[0], line))
    return re.sub(r"\bns \d+", "ns <ns>", "\n".join(out) + "\n") if out else ""


def transcript(bench, name, node, lines):
    """Run the lines; the output must match transcripts/NAME.txt."""
    got = []
    for line in lines:
        status, text = node.command(line)
        if status == 0 and line.endswith(" -j"):
            text = json.dumps(mask_json(json.loads(text)), indent=2) + "\n"
        else:
            text = mask_text(text)
        got.append(f"> {line}\n{text}" + (f"[{status}]\n" if status else ""))
    # names of one run have the length of all others, so that columns stay where they are
    got = "".join(got).replace(bench.name, "n" * len(bench.name))
    path = os.path.join(TRANSCRIPTS, name + ".txt")
    if bench.update:
        with open(path, "w") as f:
            f.write(got)
    with open(path) as f:
        want = f.read()
    if got != want:
        for number, (a, b) in enumerate(zip(got.splitlines(), want.splitlines()), 1):
            expect(a == b, f"{name}.txt:{number}: expected '{b}', got '{a}'")
        expect(False, f"{name}.txt: one is longer: {len(got)} and {len(want)} bytes")


def dropped():
    """A frame for a destination without a route."""
    return frame(9, 0, 1)[:38] + bytes.fromhex("5f000000010006660300000000000000") + frame(9, 0, 1)[54:]


def typed_node(bench, *args, **more):
    """40 packets over the uN, three without a route."""
    bench.name = f"sys{os.getpid():07d}"
    with open(bench.path("config.yaml"), "w") as f:
        f.write(CONFIG.format(name=bench.name))
    write_pcap(bench.path("in.pcap"), [frame(1, n, 0) for n in range(40)] + 3 * [dropped()])
    return Node(bench, *args, **more)


SHOWS = ["ports", "port wan0", "port info all", "port stats wan0", "port stats all", "port xstats wan0", "interfaces", "lcores", "sids",
         "remote-sids", "routes", "routes red", "route lookup 5f00:0:500::1",
         "route lookup 10.2.9.9 red", "route lookup 10.9.9.9 red", "neighbors", "policies", "paths", "nexthops", "bfd sessions", "bfd counters", "rsvp sessions", "rsvp paths", "rsvp neighbors", "rsvp counters", "rsvp messages", "rsvp messages 5", "credit", "credit pools", "queues", "queues dc0", "buffers", "pfc counters", "pfc history", "pfc tunnels", "pfc watchdog", "rings", "punts", "stats", "drops",
         "conservation", "config", "captures", "trace", "log", "version"]


def settled(node):
    """The answer-less question about dc0's next hop is over, and everything is where it ends."""
    quiet(node)
    wait_for(lambda: node.json("show stats")["lcores_together"]["nd_sent"] >= 1, "no ND")


# Members whose values are texts for people, or names that others gave.
TEXTS = {"meaning", "help", "device", "text", "sluice", "dpdk", "what"}


def prose(value, key=""):
    """Members of JSON that are sentences, or empty instead of null."""
    if isinstance(value, dict):
        return [found for k, v in value.items() for found in prose(v, k)]
    if isinstance(value, list):
        return [found for v in value for found in prose(v, key)]
    return [(key, value)] if isinstance(value, str) and (" " in value or not value) and key not in TEXTS else []


def shows(bench):
    node = typed_node(bench)
    settled(node)
    found = {show: prose(node.json(f"show {show}")) for show in SHOWS if show not in ("config", "trace")}
    expect(not any(found.values()), f"prose in JSON: { {k: v[:4] for k, v in found.items() if v} }")
    transcript(bench, "show", node, [line for show in SHOWS for line in (f"show {show}", f"show {show} -j")])
    node.stop()


def table_is_whole(bench):
    """Every command of the table is in a transcript or in a test here: a new one wants its own."""
    node = typed_node(bench)
    known = {re.match(r"[a-z ]+[a-z]", row["command"])[0] for row in node.json("help")}
    node.stop()
    lines, folder = [], os.path.dirname(TRANSCRIPTS)
    for name in os.listdir(TRANSCRIPTS):
        with open(os.path.join(TRANSCRIPTS, name)) as f:
            lines += [line[2:] for line in f if line.startswith("> ")]
    for name in os.listdir(folder):
        if name.endswith(".py"):
            with open(os.path.join(folder, name)) as f:
                lines += re.findall(r"""(?:ok|json|command|fails)\(f?["'](.*?)["']""", f.read())
    missing = [words for words in known if not any(line.startswith(words) for line in lines)]
    expect(not missing and len(known) > 25, f"not tested: {missing} of {len(known)}")


def base_line(bench):
    node = typed_node(bench)
    settled(node)
    transcript(bench, "clear", node, ["show port stats wan0", "show drops", "clear stats", "show port stats wan0",
                                      "show drops", "show sids", "show conservation", "capture drops d.pcapng", "clear trace", "clear watermarks",
                                      "clear rsvp", "debug rsvp on", "debug rsvp off -j"])
    node.stop()
    ports = {p["port"]: p for p in bench.report()["ports"]}
    expect(ports["wan0"]["rx"] == 43, "the report at the end is about the whole life, not since the base line")


def log_levels(bench):
    node = typed_node(bench)
    transcript(bench, "log", node, [
        "show log", "set log port debug", "set log all error", "show log", "set log config notice", "show log",
        "set log prot debug", "set log port loud", "set log", "set log port"])
    node.ok("reload")
    node.stop()


def maintenance(bench):
    """A stopped port is no way out; after the start it is one again, whatever hold-down says, for there is no other."""
    node = typed_node(bench)
    settled(node)

    def states():
        return {p["state"] for p in node.json("show paths")}

    node.ok("port stop wan0")
    wait_for(lambda: states() == {"down"}, "paths over a stopped port are up")
    expect(any("stopped" in n["why"] for n in node.json("show nexthops")), "no next hop says why")
    node.fails("port stop wan9", "wan9")
    node.ok("port start wan0")
    wait_for(lambda: "down" not in states(), "paths over a started port are down")
    expect({p["downs"] for p in node.json("show nexthops") if p["port"] == "wan0" and p["address"] == "(link)"} == {1},
           "the link has not failed once")
    node.stop()


def placements(bench):
    """Flows are placed, from the console and from files; what is wrong changes nothing; a path is drained and used again."""
    node = typed_node(bench)
    settled(node)
    flow = "vrf=red,src=10.1.0.9,dst=10.2.0.9,sport=49152"
    node.fails(f"path place {flow} to-dc2 right", "policy 'to-dc2' has no flow table")
    with open(bench.path("config.yaml")) as f:
        text = f.read()
    with open(bench.path("flows.yaml"), "w") as f:
        f.write(text.replace("  - name: to-dc2\n", "  - name: to-dc2\n    flows: 1K\n"))
    node.ok("reload flows.yaml")
    node.ok(f"path place {flow} to-dc2 right")
    expect([p["path"] for p in node.json("show placements")] == ["right"], "it is not placed")
    node.ok(f"path pin {flow} to-dc2 left")
    expect([(p["path"], p["pinned"]) for p in node.json("show placements vrf=red")] == [("left", True)], "it is not pinned")
    expect(node.json("show flows") == [] and node.json("show flows counters")["room"] == 1024, "there are flows")
    expect(node.json("show roce pairs") == [] and node.json("show roce counters")["pairs"] == 0, "there are pairs of hosts")
    expect(node.json("show roce watched") == [], "a pair of hosts is watched")
    node.fails("roce watch vrf=red", "0 pairs of hosts match 'vrf=red'")
    node.ok("roce unwatch")
    with open(bench.path("job.txt"), "w") as f:
        f.write("".join(f"vrf=red,src=10.1.0.9,dst=10.2.0.9,sport={n} to-dc2 {'left' if n % 2 else 'right'}\n" for n in range(1000)))
    expect(node.json("path load job.txt")["placed"] == 1000, "not all were placed")
    with open(bench.path("bad.txt"), "w") as f:
        f.write(f"{flow} to-dc2 right\n{flow} to-dc2 middle\n")
    node.fails("path load bad.txt", "bad.txt:2: policy 'to-dc2' has no path 'middle'")
    node.fails("path batch nothing", "a JSON array in quotes is needed")
    expect(node.json("show placements sport=49152")[0]["path"] == "left", "half of a file was placed")
    expect("sport=49152,dport=4791\", policy: to-dc2, path: left, pinned: true" in node.ok("show config placements"), "not in the configuration")
    node.ok(f"path unpin {flow}")
    node.fails(f"path unpin {flow}", "the flow is not placed")
    node.ok("path drain to-dc2 left")
    wait_for(lambda: "drained" in [p["why"] for p in node.json("show paths")][0], "the path is not drained")
    node.ok("path enable to-dc2 left")
    wait_for(lambda: "drained" not in node.ok("show paths"), "the path is still drained")
    node.stop()


def mistakes(bench):
    node = typed_node(bench)
    transcript(bench, "mistakes", node, [
        "sho prots", "shw ports", "capture", "c", "sh po", "show port", "show port wan9", "show ports now", "show port info wan",
        "frobnicate", "trace add", "trace add 0", "trace add 1001", "trace add x", "trace add 1 filter",
        "trace add 1 filter \"udp prot 4791\"", "capture start", "capture start drop", "capture start wan0 filter",
        "capture stop 17", "capture stop 3", "capture start dc0 f.pcapng 0", "reload --dry", "reload nosuch.yaml",
        "show ports --dry-run", "show port wan7 -j", "show prots -j", "commit", "commit confirmed", "commit confirmed 0",
        "rollback", "show routes blue", "show route lookup 10.1", "show route lookup ::1 blue", "session stop nowhere",
        "session start nowhere", "show rsvp sessions nowhere", "show rsvp messages 0", "debug rsvp", "debug rsvp maybe",
        "show \"ports", "# a comment", "", "   ", "show version # and a comment", "help nosuch"])
    node.stop()


def pings(bench):
    """
    Nobody answers here: what a ping says then, and that its session waits for it, while others and scripts go on. Replies are
    in test/unit/test_ping.c and test/netns/cases_ping.py.
    """
    node = typed_node(bench)
    transcript(bench, "ping", node, [
        "ping 2001:db8:a::3 count 2 interval 10 timeout 20", "ping 10.2.0.1 count 1 timeout 20 vrf red -j",
        "ping policy to-dc2 count 1 timeout 20 path right", "ping policy to-dc2 to 10.2.0.1 vrf red timeout 20 count 1",
        "ping sid 5f00:0:400::,5f00:0:500:: timeout 20 count 1", "ping 2001:db8:ffff::1 vrf red count 1",
        "traceroute 5f00:0:400:: hops 2 timeout 20", "traceroute policy to-dc2 timeout 20 hops 1 -j",
        "traceroute sid 5f00:0:400:: timeout 20 hops 1", "ping", "ping 10.9.9.9 vrf nowhere", "ping policy nowhere",
        "ping policy to-dc2 path nowhere", "traceroute 10.1.0.1 vrf red"])
    # a session that is cut off ends its ping: there is room for eight
    for _ in range(12):
        one = Session(node.socket)
        one.socket.sendall(b"x ping 2001:db8:a::3 count 100 interval 10000\n")
        one.close()
    wait_for(lambda: node.command("ping 2001:db8:a::3 count 1 timeout 10")[0] == 110, "no ping after those given up")
    slow = Session(node.socket)
    slow.socket.sendall(b"x ping 2001:db8:a::3 count 1 timeout 500\n")
    expect(node.ok("show version"), "another session goes on")
    expect(slow.answer()[0] == 110, "the slow ping is told")
    node.stop()


def short_words(bench):
    """Abbreviations, help, JSON anywhere, quotes."""
    node = typed_node(bench)
    settled(node)
    transcript(bench, "short", node, [
        "sh v", "sho por sta dc0", "show port wan0 -j", "-j show conservation", "show -j conservation", "sh \"conservation\"",
        "sh conf", "help show port", "help show  port -j", "h rel", "help commit"])
    expect(len(node.json("help")) > 30, "help without words lists all")
    expect(node.command("qui") == (0, ""), "an abbreviated quit")
    expect(node.session.ended(), "quit ends the session")
    node.session = Session(node.socket)
    expect(node.command("quit") == (0, "") and node.session.ended(), "quit")
    node.session = Session(node.socket)
    expect(node.command("exit") == (0, "") and node.session.ended(), "exit")
    node.stop()


def running_configuration(bench):
    """--check accepts the output of show config, with and without defaults, and prints it again."""
    node = typed_node(bench)
    for line in ("show config", "show config all"):
        text = node.ok(line)
        with open(bench.path("again.yaml"), "w") as f:
            f.write(text)
        done = subprocess.run([bench.sluice, "-c", "again.yaml", "--check"], cwd=bench.folder, capture_output=True,
                              text=True, check=False)
        expect(done.returncode == 0 and "again.yaml is valid" in done.stdout, done.stderr)
        plan = node.json("reload again.yaml --dry-run")
        expect(not plan["changes"], f"{line} is not what runs: {plan}")
        expect(json.loads(node.ok(line + " -j")) + "\n" == text, "JSON and text differ")
    node.stop()


def script(bench):
    """-f: answers on standard output, a failure named with its line; then the node goes on."""
    with open(bench.path("script"), "w") as f:
        f.write("# begin\nshow version\nshow prots\n\nset log all debug\nshow log -j\nshow ports\0junk\n")
    with open(bench.path("script"), "a") as f:
        f.write("show port wan7\nshow conservation -j")  # the last line without its end
    node = typed_node(bench, "-f", "script")
    wait_for(lambda: '"missing": 0' in node.output(), "no end of the script", node.output)
    out = node.output()
    for text in ("dpdk:", "unknown command 'show prots'; did you mean 'show ports'?\nscript:3: failed: show prots\n",
                 '"level": "debug"', "the line contains a NUL byte\nscript:7: failed: show ports\n",
                 "there is no port 'wan7'; did you mean 'wan0'?\nscript:8: failed: show port wan7\n", '"missing": 0'):
        expect(text in out, f"'{text}' is not in:\n{out}")
    expect("script:2" not in out and "script:6" not in out, out)
    node.stop(status=1)
    with open(bench.path("script"), "w") as f:
        f.write("show version\n")
    code, _, err = bench.run("-f", "script", "--exit-when-idle", "100")
    expect(code == 0, f"{code}: {err}")
    # a plan that would be refused, alone
    with open(bench.path("restart.yaml"), "w") as f, open(bench.path("config.yaml")) as running:
        f.write(running.read().replace("buffers: 32K", "buffers: 40K"))
    with open(bench.path("script"), "w") as f:
        f.write("reload restart.yaml --dry-run\n")
    code, out, err = bench.run("-f", "script", "--exit-when-idle", "100")
    expect(code == 1 and "1 of the changes need a restart" in out, f"{code}: {out} {err}")
    code, _, err = bench.run("-f", "nosuch", "--exit-when-idle", "100")
    expect(code == 1 and "nosuch: No such file" in err, f"{code}: {err}")


def quit_in_script(bench):
    with open(bench.path("script"), "w") as f:
        f.write("show version\nquit\nshow ports\n")
    typed_node_file(bench)
    code, out, err = bench.run("-f", "script")
    expect(code == 0 and "dpdk:" in out and out.index("has stopped") > out.index("dpdk:"), f"{code}: {out} {err}")
    expect("rx_bps" not in out[:out.index("has stopped")], f"went on after quit: {out}")


def typed_node_file(bench):
    with open(bench.path("config.yaml"), "w") as f:
        f.write(CONFIG.format(name=bench.name))
    write_pcap(bench.path("in.pcap"), [frame(1, n, 0) for n in range(40)])


def one_shot(bench):
    node = typed_node(bench)
    settled(node)
    mode = os.stat(node.socket).st_mode
    expect(stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, f"the socket's mode is {mode:o}")
    for args, status, out_has, err_has in (
            (["show", "version"], 0, "dpdk:", ""),
            (["-j", "show", "conservation"], 0, '"missing": 0', ""),
            (["show", "conservation", "-j"], 0, '"missing": 0', ""),
            (["show prots"], 1, "", "did you mean 'show ports'?"),
            (["show", "port", "wan9"], 1, "", "there is no port 'wan9'"),
            (["trace", "add", "3", "filter", "udp port 4791"], 0, "", ""),
            (["trace", "add", "3", "filter", "udp prot 4791"], 1, "", "syntax error"),
            (["show\nquit"], 2, "", "a command must be a single line"),
            (["reload", "nosuch.yaml", "--dry-run"], 1, "", "nosuch.yaml: error: cannot open"),
            (["show", "\"ports", "-j"], 1, "", '"error": "missing closing quote"'),
            (["quit"], 0, "", ""),
            (["x" * 5000], 1, "", "a line has at most 4095 bytes"),
            (["-w", "0", "show", "version"], 2, "", "usage:"), (["-w", "1s", "show", "version"], 2, "", "usage:"),
            (["-w", "1"], 2, "", "--watch needs a COMMAND"),
            (["-w", "1", "show", "prots"], 1, "", "did you mean 'show ports'?"),
            (["--nosuch"], 2, "", "usage:")):
        done = bench.sluicectl(*args)
        expect(done[0] == status and out_has in done[1] and err_has in done[2], f"{args[0][:40]}: {done}")
    done = bench.sluicectl(input="show version\nshow prots\n\n# no more\nshow conservation -j\n")
    expect(done[0] == 1 and "dpdk:" in done[1] and '"missing": 0' in done[1] and "did you mean" in done[2], f"{done}")
    done = bench.sluicectl("-j", input="show conservation\n")
    expect(done[0] == 0 and json.loads(done[1])["missing"] == 0, f"{done}")
    watching = subprocess.Popen([bench.sluicectl_program, "-s", node.socket, "-j", "-w", "1", "show", "conservation"], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for _ in range(3):
        answer = "".join(iter(watching.stdout.readline, "}\n"))
        expect(json.loads(answer + "}")["missing"] == 0, answer)
    node.stop()
    expect(watching.wait(timeout=30) == 3, f"the node has ended, and watching goes on: {watching.returncode}")
    watching.stdout.close()
    done = bench.sluicectl("show", "version")
    expect(done[0] == 3 and "No such file" in done[2], f"{done}")


def served_once(path, answer):
    """A thread that takes one connection, reads a line if there is an answer to it, sends the answer and closes."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1)

    def serve():
        peer = listener.accept()[0]
        if answer:
            peer.makefile().readline()
            peer.sendall(answer)
        peer.close()
        listener.close()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return thread


def json_errors(bench):
    """With -j what sluicectl itself has to say is an object, like the errors of a node; without it a line of text."""
    closed, busy = "the node closed the connection", "too many sessions; end one first"
    stale, none, fake = bench.path("stale.sock"), bench.path("none.sock"), bench.path("fake.sock")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(stale)  # nobody listens
    for socket_path, answer, args, status, error in (
            (none, b"", ["show", "version"], 3, f"{none}: No such file or directory"),
            (stale, b"", ["show", "version"], 3, f"{stale}: Connection refused"),
            (fake, b"", ["show", "version"], 3, closed),
            (fake, b"nonsense\n", ["show", "version"], 3, closed),
            (fake, b"0 100\nhalf", ["show", "version"], 3, f"{closed} in the middle of the answer"),
            (fake, f"16 {len(busy) + 1}\n{busy}\n".encode(), ["show", "version"], 1, busy),
            (fake, b"", ["show\nquit"], 2, "a command must be a single line"),
            (fake, b"", ["-w", "1"], 2, "--watch needs a COMMAND")):
        for options, line in (([], None), (["-j"], None), ([], "show version -j\n")):
            if line and status == 2:
                continue  # about the arguments
            with contextlib.suppress(FileNotFoundError):
                os.unlink(fake)
            server = served_once(fake, answer) if socket_path == fake else None
            done = subprocess.run([bench.sluicectl_program, "-s", socket_path, *options, *([] if line else args)], text=True,
                                  input=line or "", capture_output=True, check=False, timeout=60)
            if server:
                server.join()
            if options or (line and server):
                expect(json.loads(done.stderr) == {"error": error}, f"{error}: {done}")
            else:
                expect(done.stderr.removeprefix("sluicectl: ") == error + "\n", f"{error}: {done}")
            expect(done.returncode == status, f"{error}: {done}")


class Screen:
    """A program on a terminal."""

    def __init__(self, start):
        self.master, slave = pty.openpty()
        self.process = start(slave)
        os.close(slave)
        self.text = ""

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.text += os.read(self.master, 65536).decode(errors="replace")
            except OSError:
                return False
        return True

    def type(self, keys, wanted):
        """Press keys; the output from now on must contain `wanted`. Returns it."""
        self.text = ""
        os.write(self.master, keys if isinstance(keys, bytes) else keys.encode())
        until = time.monotonic() + 20
        while wanted not in plain(self.text):
            expect(time.monotonic() < until, f"after {keys!r}: expected '{wanted}' in: {plain(self.text)!r}")
            self.read(0.1)
        self.read(0.05)
        return plain(self.text)

    def ready(self, prompt):
        """Wait for the prompt behind the last output, and for the line editor: libedit takes the keys some time after it."""
        until = time.monotonic() + 20
        while (not plain(self.text).rstrip(" ").endswith(prompt.rstrip(" ")) or
               termios.tcgetattr(self.master)[3] & termios.ICANON):
            expect(time.monotonic() < until, f"no prompt after: {plain(self.text)!r}")
            self.read(0.1)

    def clear(self):
        """Ctrl-U: an empty line again."""
        os.write(self.master, b"\x15")
        self.read(0.1)

    def ends(self):
        until = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < until:
            self.read(0.05)
        return self.process.poll()

    def close(self):
        os.close(self.master)


def plain(text):
    """Without cursor movements."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[78DM]|\x07", "", text).replace("\r", "")


def at_a_terminal(screen, prompt):
    """Features of both consoles: completion, help, history, editing, mistakes."""
    screen.type("\r", prompt)
    screen.type("sh\t", "show ")
    screen.type("vers\t", "version ")
    text = screen.type("\r", "dpdk:")
    expect(text.count("show") == 0, text)
    # Tab where several fit lists them with their help; '?' does at any time
    text = screen.type("show po\t\t", "ports")
    expect("List ports: side, link" in text, text)
    screen.clear()
    text = screen.type("show ?", "conservation")
    expect("Check that every packet" in text and "lcores" in text, text)
    screen.clear()
    screen.type("show port w\t", "wan0 ")
    screen.type("\r", "rx_descriptors")
    screen.type("reload --d\t", "ry-run ")
    screen.clear()
    text = screen.type("capture start ?", "wan0")
    expect("wan0" in text and "a port, all ports, dropped packets, or packets at" in text, text)
    screen.clear()
    text = screen.type("trace add ?", "number of packets")
    screen.clear()
    text = screen.type("show ports -j\t", "-j")
    expect("rts" not in text.replace("ports", ""), text)
    screen.clear()
    screen.type("sho prots\r", "did you mean 'show ports'?")
    screen.type(b"\x1b[A", "sho prots")  # up: history
    screen.type(b"\x1b[A", "w port wan0")  # libedit leaves on the screen what stays
    screen.clear()
    screen.type(b"shw version\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[Do\r", "sluice:")
    screen.type("show log" + " " * 600 + "\r", prompt)
    screen.type("show version\r", "sluice:")


def console(bench):
    screen = Screen(lambda slave: typed_node(bench, "-i", stdin=slave, stdout=slave).process)
    prompt = f"{bench.name}> "
    screen.type("\r", prompt)
    at_a_terminal(screen, prompt)
    screen.type("quit\r", "quit")
    expect(screen.ends() == 0, "quit at the console ends the node")
    expect(bench.report()["conservation"]["missing"] == 0, "unaccounted for")
    screen.close()
    screen = Screen(lambda slave: typed_node(bench, "-i", stdin=slave, stdout=slave).process)
    screen.type("\r", f"{bench.name}> ")
    screen.type(b"\x04", "has stopped")
    expect(screen.ends() == 0, "Ctrl-D at the console ends the node")
    screen.close()


def only_at_sluicectl(screen, prompt):
    """Filters, watch, search, Home and End, Ctrl-C."""
    text = screen.type("show ports | include wan0\r", prompt)
    expect("wan0" in text.split("\n", 1)[1] and "dc0" not in text.split("\n", 1)[1], text)
    text = screen.type("show ports | exclude wan0\r", prompt)
    expect("dc0" in text.split("\n", 1)[1] and "wan0  wan" not in text, text)
    screen.type("show ports | sort\r", "after |, expected include TEXT or exclude TEXT, found 'sort'")
    screen.type("watch show log\r", "every 2 s; Ctrl-C ends it")
    screen.type(b"\x03", prompt)
    screen.type("this is no command", "command")
    screen.type(b"\x03show version\r", "dpdk:")  # Ctrl-C: an empty line again
    screen.ready(prompt)
    screen.type(b"version\x1b[Hshow \x1b[F -j\r", '"dpdk"')  # Home, End
    screen.ready(prompt)
    screen.type(b"\x12show ver\r\r", '"dpdk"')  # Ctrl-R: search
    screen.ready(prompt)


def remote_console(bench):
    node = typed_node(bench)
    program = bench.sluicectl_program
    environment = dict(os.environ, TERM="vt100", XDG_STATE_HOME=bench.path("state"))

    def start(slave):
        # a session of its own, whose terminal this is: so that Ctrl-C is a signal
        process = subprocess.Popen([program, "-n", bench.name], stdin=slave, stdout=slave, stderr=slave, env=environment,
                                   start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        bench.processes.append(process)
        return process
    for leave in ("quit\r", "exit\r", b"\x04"):
        screen = Screen(start)
        if leave == "exit\r":
            screen.type(b"\x1b[A", "quit")  # of the file: the last one of the session before
            screen.clear()
            only_at_sluicectl(screen, f"{bench.name}> ")
        else:
            at_a_terminal(screen, f"{bench.name}> ")
        screen.type(leave, "")
        expect(screen.ends() == 0, f"{leave!r} ends sluicectl: {screen.process.poll()} {plain(screen.text)}")
        screen.close()
    expect(node.process.poll() is None, "the node goes on")
    pager(bench, program, environment)
    node.stop()


def pager(bench, program, environment):
    """What is longer than the screen goes through $PAGER, what fits does not."""
    script = bench.path("pager")
    with open(script, "w") as f:
        f.write("#!/bin/sh\nhead -n 1; cat >/dev/null; echo paged\n")
    os.chmod(script, 0o755)

    def start(slave):
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
        process = subprocess.Popen([program, "-n", bench.name], stdin=slave, stdout=slave, stderr=slave,
                                   env=dict(environment, PAGER=script))
        bench.processes.append(process)
        return process
    screen = Screen(start)
    screen.type("show config all\r", "paged")
    expect("paged" not in screen.type("show version\r", "dpdk:"), "a short answer through the pager")
    screen.type("exit\r", "")
    screen.ends()
    screen.close()


def piped_console(bench):
    """-i with a pipe: all answers in order, also those to the last words before the end."""
    typed_node_file(bench)
    lines = "show version\n" + "show config all\n" * 200 + "show conservation -j"
    done = subprocess.run([bench.sluice, "-c", "config.yaml", "-i"], cwd=bench.folder, input=lines, capture_output=True,
                          text=True, check=False, timeout=60)
    out = done.stdout[:done.stdout.index("has stopped")]
    expect(done.returncode == 0 and out.count("infrastructure:") == 200, f"{done.returncode}: {out.count('infrastructure:')}")
    expect(out.index("dpdk:") < out.index("infrastructure:") < out.index('"missing": 0'), "out of order")


def stopped_terminal(bench):
    """A console without a reader does not block the management thread: others are served."""
    screen = Screen(lambda slave: typed_node(bench, "-i", stdin=slave, stdout=slave).process)
    os.write(screen.master, b"show config all\r" * 200)
    time.sleep(0.5)
    session = Session(f"/run/sluice/{bench.name}.sock")
    for _ in range(20):
        expect(session.command("show version")[0] == 0, "served")
    screen.type("\r", "infrastructure:")  # reads what has waited
    wait_for(lambda: screen.read(0.2) and plain(screen.text).rstrip("\n").endswith("> "), "the rest")
    os.write(screen.master, b"quit\r")
    expect(screen.ends() == 0, "quit")
    screen.close()


TESTS = [
    ("console: show, text and JSON", shows),
    ("console: every command is tested", table_is_whole),
    ("console: clear stats", base_line),
    ("console: set log", log_levels),
    ("console: port stop, port start", maintenance),
    ("console: placements", placements),
    ("console: mistakes", mistakes),
    ("console: ping and traceroute", pings),
    ("console: abbreviations, help, quit", short_words),
    ("console: show config loads again", running_configuration),
    ("console: script file", script),
    ("console: quit in a script", quit_in_script),
    ("console: sluicectl, one command", one_shot),
    ("console: errors of sluicectl in JSON", json_errors),
    ("console: at a terminal", console),
    ("console: sluicectl at a terminal", remote_console),
    ("console: behind a pipe", piped_console),
    ("console: a terminal that is not read", stopped_terminal),
]
