# SPDX-License-Identifier: BSD-3-Clause
"""Reload: its output, its refusals, the way back; and no effect on packets."""
import collections
import json
import os
import re
import signal
import struct
import time

import console
from support import CONFIG, DEFAULTS, expect, frame, quiet, read_pcap, wait_for, write_pcap


def write(bench, name, text):
    with open(bench.path(name), "w") as f:
        f.write(text)


def changed(bench, *changes):
    """The transcripts' configuration with texts replaced, each of which must be there."""
    text = console.CONFIG.format(name=bench.name)
    for old, new in changes:
        expect(text.count(old) == 1, f"'{old}' stands {text.count(old)} times in the configuration")
        text = text.replace(old, new)
    return text


ROUTE = '  - {prefix: "5f00:0:400::/48", port: wan0, nexthop: "2001:db8:a::3"}\n'
SID = '  - {sid: "5f00:0:e005::/48", behavior: uA, port: wan0, nexthop: "2001:db8:a::3"}\n'
NEIGHBOR = '  - {port: wan0, address: "2001:db8:a::3", mac: "02:00:00:00:a0:03"}\n'
GOOD = [(ROUTE, ROUTE + '  - {prefix: "5f00:0:600::/48", port: wan0, nexthop: "2001:db8:a::3"}\n'), (SID, ""),
        ("weight: 3", "weight: 1"), ("a0:03", "a0:04"), ("level: warning", "level: info")]
START_ONLY = [('mac: "02:00:00:00:d0:00"', 'mac: "02:00:00:00:d0:09", mtu: 9000'), ("buffers: 32K", "buffers: 64K")]


def state(node):
    return [sorted(node.ok(f"show {what}").splitlines()) for what in ("config", "routes", "sids", "policies")]


def plans(bench):
    """Added, changed, removed, needs restart; dry; refused whole; applied whole; back and forth again."""
    node = console.typed_node(bench)
    console.settled(node)
    write(bench, "good.yaml", changed(bench, *GOOD))
    write(bench, "start.yaml", changed(bench, *GOOD, *START_ONLY))
    before = state(node)
    console.transcript(bench, "reload", node, [
        "reload --dry-run", "reload good.yaml --dry-run", "reload start.yaml --dry-run", "reload start.yaml"])
    expect(state(node) == before, "a plan, or a refusal, changed something")
    console.transcript(bench, "reload-applied", node, [
        "reload good.yaml -j", "show routes", "show sids", "show policies", "show log", "rollback",
        "show routes"])
    expect(state(node) == before, "rollback did not bring back what was")
    expect(node.json("rollback")["added"] == 2, "rollback of a rollback goes forward")
    expect(node.json("reload --dry-run")["file"] == "good.yaml", "the running one's file is the one that was applied")
    node.ok("rollback")
    expect(node.json("reload --dry-run")["file"] == "config.yaml", "and it changes with a rollback")
    node.stop()


def ports_come_and_go(bench):
    """Ports are numbered: one more, one less and one renamed need a restart; another order does not."""
    node = console.typed_node(bench)
    dc0 = re.search(r"  - \{name: dc0.*?\}\n", changed(bench), re.S)[0]
    wan0 = re.search(r"  - \{name: wan0.*?\}\n", changed(bench), re.S)[0]
    for name, new, restart in (
            ("more", dc0 + wan0 + '  - {name: x, device: net_null7, side: wan, addresses: ["2001:db8:f::1/64"]}\n', 1),
            ("other", wan0 + dc0, 0)):
        write(bench, "ports.yaml", changed(bench, (dc0 + wan0, new)))
        status, text = node.command("reload ports.yaml --dry-run -j")
        plan = json.loads(text)
        expect(status == (16 if restart else 0), f"{name}: {status}")
        plan = plan["result"] if restart else plan
        expect(plan["needs_restart"] == restart, f"{name}: {plan}")
    node.ok("reload ports.yaml")
    quiet(node)
    expect(node.rx() == 43 and [p["port"] for p in node.json("show ports")] == ["dc0", "wan0"], "ports keep their numbers")
    node.stop()


def broken_files(bench):
    """Errors have place, expectation and nearest word; nothing changes, and the node goes on."""
    node = console.typed_node(bench)
    quiet(node)
    before = state(node)
    for text, wants in (
            (changed(bench, ("behavior: uN", "behavior: uM")),
             ["broken.yaml:27:40: error: behavior: expected one of uN,", "found 'uM'; did you mean 'uN'?"]),
            (changed(bench, ("policies:\n", "polices:\n")), ["unknown key 'polices' in the file; did you mean 'policies'?"]),
            (changed(bench, ("  - name: to-dc2", "  - name: to-dc3")), ["broken.yaml:", "'to-dc2'", "did you mean 'to-dc3'?"]),
            ("node: [", ["broken.yaml:2:1: error:"]), ("", ["broken.yaml"]), ("\0\1\2\xff" * 1000, ["broken.yaml"]),
            ("a: &a [" + "*a, " * 1000 + "]", ["broken.yaml"]), ("[" * 100000, ["broken.yaml"]),
            ("x" * 1000000, ["broken.yaml"])):
        write(bench, "broken.yaml", text)
        for line in ("reload broken.yaml", "reload broken.yaml --dry-run", "commit confirmed 1 broken.yaml"):
            status, got = node.command(line)
            expect(status == 22 and "nothing was changed:" in got, f"{line}: {status}: {got[:200]}")
            for want in wants:
                expect(want in got, f"{line}: '{want}' is not in {got[:1000]}")
    node.fails("reload /", "Is a directory")
    os.mkfifo(bench.path("fifo"))
    node.fails("reload fifo", "fifo:1:1: error: the file is empty")  # and not a wait for somebody who writes to it
    expect(state(node) == before, "a broken file changed something")
    node.stop()


def remote_sids(bench):
    """One node reads the JSON files of SIDs that another writes; errors in a file name that file and change nothing."""
    node = console.typed_node(bench)
    quiet(node)
    mine = node.json("show remote-sids")["remote-sids"]
    expect([s["owner"] for s in mine] == 3 * [bench.name], f"{mine}")
    r1 = {"sid": "5f00:1:1:e1::/64", "behavior": "End.X.PFC", "flavors": ["psp"], "owner": "r1"}
    write(bench, "r1.json", json.dumps({"remote-sids": [r1]}))
    write(bench, "with.yaml", changed(bench) + "remote-sids-files: [r1.json]\n")
    plan = node.json("reload with.yaml")
    expect(plan["applied"] and plan["added"] == 1 and plan["changed"] == 1, f"{plan}")
    both = node.json("show remote-sids")
    expect(len(both["remote-sids"]) == 4 and both["remote-sids"][3]["code"] == 0x8101, f"{both}")
    expect(node.json("reload --dry-run")["added"] == 0, "nothing has changed")
    # all of it, as the node writes it, is a file that it reads itself
    write(bench, "r1.json", json.dumps(both))
    plan = node.json("reload")
    expect(plan["added"] == 4 and plan["removed"] == 1 and node.json("show remote-sids") == both, f"{plan}")
    write(bench, "r1.json", json.dumps({"remote-sids": [dict(r1, behavior="End.X.PCF")]}, indent=1))
    node.fails("reload", "r1.json:5:16: error: behavior: expected one of uN,")
    node.fails("reload", "did you mean 'End.X.PFC'?")
    write(bench, "r1.json", '{"remote-sids": [,]}')
    node.fails("reload", "r1.json:1:18: error: not JSON: unexpected token near ','")
    expect(node.json("show remote-sids") == both, "a broken file changed something")
    write(bench, "r1.json", json.dumps(both))
    node.ok("reload config.yaml")
    expect(node.json("show remote-sids")["remote-sids"] == mine, "reload without a file")
    node.ok("rollback")
    expect(node.json("show remote-sids") == both, "rollback")
    node.stop()


def keys(bench):
    """A reload takes new keys, and refuses a file of keys that others may read, or that would never end; nothing changes then."""
    node = console.typed_node(bench)
    quiet(node)
    path = bench.path("hmac.keys")

    def put(text, mode=0o600):
        write(bench, "hmac.keys", text)
        os.chmod(path, mode)

    put("1 " + 32 * "a")
    write(bench, "keyed.yaml", changed(bench, ("behavior: uN", "behavior: uN, hmac: required")) + "hmac: {keys: hmac.keys}\n")
    node.ok("reload keyed.yaml")
    before = state(node)
    put("1 " + 32 * "b", 0o640)
    node.fails("reload", "keyed.yaml:40:14: error: keys: users other than its owner have access to hmac.keys; type: chmod 600")
    put("1 " + 32 * "b" + "\n2 " + 32 * "bc" + "x\n")
    node.fails("reload", "hmac.keys:2:67: error: expected a hexadecimal digit")
    os.remove(path)
    node.fails("reload", "cannot open")
    os.mkfifo(path)
    node.fails("reload", "is not a regular file")
    expect(state(node) == before, "a file of keys that is refused changed something")
    expect(32 * "b" not in node.log(), "a key stands in the log")
    os.remove(path)
    put("1 " + 32 * "b")
    node.ok("reload")
    node.stop()


def by_signal(bench):
    node = console.typed_node(bench)
    write(bench, "config.yaml", changed(bench, *GOOD))
    node.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "5f00:0:600::/48" in node.ok("show routes"), "SIGHUP")
    wait_for(lambda: re.search(r"config.yaml: 2 added, 2 changed, 2 removed, in \d+ ms", node.log()), "a line", node.log)
    write(bench, "config.yaml", changed(bench, ("behavior: uN", "behavior: uM")))
    node.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "config.yaml:27:40: error: behavior" in node.log(), "the error", node.log)
    expect("5f00:0:600::/48" in node.ok("show routes"), "a broken file was applied")
    node.stop()


def confirmed(bench):
    node = console.typed_node(bench)
    write(bench, "good.yaml", changed(bench, *GOOD))
    before = state(node)
    plan = node.json("commit confirmed 1 good.yaml")
    expect(plan["applied"] and "5f00:0:600::/48" in node.ok("show routes"), f"{plan}")
    started = time.monotonic()
    wait_for(lambda: "5f00:0:600::/48" not in node.ok("show routes"), "the way back")
    expect(time.monotonic() - started > 0.5, "went back too early")
    expect(state(node) == before and "not confirmed in time; rolling back" in node.log(), node.log())
    node.fails("commit", "no commit confirmed is pending")
    node.ok("commit confirmed 60 good.yaml")
    changed_again = state(node)
    node.fails("reload", "a commit confirmed is pending")
    expect(state(node) == changed_again, "a reload while a change waits changed something")
    node.ok("commit")
    node.ok("rollback")
    node.ok("commit confirmed 1 good.yaml")
    node.ok("commit")
    time.sleep(1.5)
    expect("5f00:0:600::/48" in node.ok("show routes"), "a confirmed change was taken back")
    node.ok("rollback")
    expect(state(node) == before, "rollback")
    # a second one while the first waits; rolled back by hand: nothing is left to happen
    node.ok("commit confirmed 1 good.yaml")
    node.ok("rollback")
    time.sleep(1.5)
    expect(state(node) == before, "the timer outlived the rollback")
    node.stop()


def frames(flows, each):
    """Many frames quickly: 142 bytes with flow and sequence number."""
    made = {flow: bytearray(frame(flow, 0, flow % 2)) for flow in range(flows)}
    for sequence in range(each):
        for data in made.values():
            data[102:106] = sequence.to_bytes(4, "big")
            yield bytes(data)


def under_load(bench):
    """A finite stream through many reloads of changing kinds: everything arrives, each flow in its order."""
    flows, each = 20, 15000
    expect(next(frames(1, 1)) == frame(0, 0, 0), "the frames are not those of the other tests")
    write_pcap(bench.path("in.pcap"), frames(flows, each))
    bench.config(lcores='{control: 0, rx: [1], worker: [2], cpus: "0@0,1@0,2@1"}')
    base = CONFIG.format(**dict(DEFAULTS, name=bench.name, lcores='{control: 0, rx: [1], worker: [2], cpus: "0@0,1@0,2@1"}'))
    more = "".join(f'  - {{prefix: "2001:db8:{n:x}::/48", port: p1, nexthop: "2001:db8:b::3"}}\n' for n in range(0x100, 0x200))
    write(bench, "a.yaml", base.replace("sids:\n", more + "sids:\n"))
    write(bench, "b.yaml", base.replace("sids:\n", 'sids:\n  - {sid: "5f00:0:e101::/48", behavior: uDT46}\n'))
    write(bench, "c.yaml", base.replace("queue-limit: 1K, addr", "queue-limit: 512, addr") + "vrfs: [{name: red}]\n")
    with open(bench.path("script"), "w") as f:
        for n in range(60):
            f.write(f"reload {'abc'[n % 3]}.yaml -j\nshow port stats p0 -j\n")
    code, out, err = bench.run("-f", "script", "--exit-when-idle", "300")
    bad = [line for line in out.splitlines() if "reload: " in line or "failed" in line]
    expect(code == 0 and not bad, f"ended with {code}: {bad[:3]} {err[-500:]}")
    received = [int(n) for n in re.findall(r'"rx_packets": (\d+)', out)][:60]
    moving = sum(a < b for a, b in zip(received, received[1:]))
    expect(moving >= 5, f"only {moving} reloads fell into the stream: {received}")
    due = collections.Counter()
    for port in range(2):
        for data in read_pcap(bench.path(f"out{port}.pcap")):
            flow, sequence = struct.unpack_from("!H6xI", data, 94)
            expect(flow % 2 == port and sequence == due[flow], f"flow {flow}: {sequence} came, {due[flow]} was due")
            due[flow] += 1
    expect(sum(due.values()) == flows * each, f"{sum(due.values())} of {flows * each} arrived")
    report = bench.report()
    expect(not report["drops"] and report["conservation"]["missing"] == 0, f"{report['drops']}")
    return [f"{moving} reloads while packets came"]


def gaps(node):
    return {"+".join(l["roles"]): l["max_gap_us"] for l in node.json("show lcores")}


def hundred_thousand(bench):
    """100 k routes come and go while packets pass: no lcore is held up for as long as the reload takes."""
    lcores = '{control: 0, rx: [1], worker: [1], cpus: "0@0,1@1"}'
    write_pcap(bench.path("in.pcap"), [frame(n % 16, n, 1) for n in range(256)])
    devices = {"p0": "net_pcap0,rx_pcap=in.pcap,infinite_rx=1", "p1": "net_null1,no-rx=1"}
    base = CONFIG.format(**dict(DEFAULTS, name=bench.name, lcores=lcores, memory="{buffers: 32K}", **devices))
    write(bench, "config.yaml", base)
    many = "".join(f'  - {{prefix: {20 + n // 65536}.{n // 256 % 256}.{n % 256}.0/24, port: p1, '
                   f'nexthop: "2001:db8:b::3"}}\n' for n in range(100000))
    write(bench, "many.yaml", base.replace("sids:\n", many + "sids:\n"))
    node = bench.node("--", "-m", "1024")
    time.sleep(3)
    without = gaps(node)
    rx = node.rx()
    plan = node.json("reload many.yaml")
    expect(plan["added"] == 100000 and plan["applied"], f"{plan['added']} added")
    expect(len(plan["changes"]) == 200, "a long plan is cut")
    back = node.json("reload config.yaml")
    expect(back["removed"] == 100000, f"{back['removed']} removed")
    during = gaps(node)
    expect(node.rx() > rx, "packets go on")
    took = min(plan["took_ms"], back["took_ms"]) * 1000
    said = [f"reload of 100 k routes: {plan['took_ms']} ms, and {back['took_ms']} ms back; largest gap in us before "
            f"{without}, with the reloads {during}"]
    for role, gap in during.items():
        # on an lcore that the reload held up this would be `took`
        expect(gap < max(took / 2, 2 * without[role]), f"{role}: a gap of {gap} us; {said[0]}")
    node.stop()
    return said


TESTS = [
    ("reload: plans", plans),
    ("reload: ports", ports_come_and_go),
    ("reload: broken files", broken_files),
    ("reload: files of keys", keys),
    ("reload: remote SIDs", remote_sids),
    ("reload: SIGHUP", by_signal),
    ("reload: commit confirmed", confirmed),
    ("reload: under load nothing is lost or reordered", under_load),
    ("reload: 100 k routes hold up no lcore", hundred_thousand),
]
