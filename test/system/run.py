#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""sluice as a process: start, refused starts, stop, several lcores. Prints TAP."""
import collections
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

import bad_input
import capturing
import console
import life
import outside
import reloading
from support import expect, frame, main, read_pcap, wait_for, write_pcap


def refuses(bench, status, pattern):
    """A start that must fail: with that status, one line that matches, and no files left over."""
    code, _, err = bench.run("--exit-when-idle", "100")
    lines = [line for line in err.splitlines() if "TELEMETRY" not in line]
    expect(code == status, f"ended with {code}, not {status}: {err}")
    expect(len(lines) == 1, f"expected one line, got: {err}")
    expect(re.search(pattern, lines[0]), f"expected /{pattern}/, got: {lines[0]}")
    expect(not bench.leftovers(), f"left behind: {bench.leftovers()}")


def missing_pcap(bench):
    bench.config()
    refuses(bench, 3, r"port p0: rx_pcap: cannot read in.pcap: No such file")


def unwritable_pcap(bench):
    write_pcap(bench.path("in.pcap"), [])
    bench.config(p1="net_pcap1,tx_pcap=nowhere/out.pcap")
    refuses(bench, 3, r"port p1: tx_pcap: cannot write nowhere/out.pcap")


def missing_interface(bench):
    write_pcap(bench.path("in.pcap"), [])
    bench.config(p1="net_af_packet1,iface=nosuch0")
    refuses(bench, 3, r"port p1: iface: there is no network interface nosuch0")


def af_packet_cuts_frames(bench):
    """The kernel would truncate long frames silently, or the driver overrun its buffers: neither starts."""
    write_pcap(bench.path("in.pcap"), [])
    for mtu, size, args, pattern in (
            (1969, "2K", "", r"port p1: the kernel would truncate frames of mtu 1969; add framesz=2080,blocksz=266240"),
            (2001, "2K", "", r"port p1: .* frames of mtu 2001, .*; set memory.buffer-size to 3K, or lower mtu to 2000"),
            (9216, "2K", "", r"port p1: .* frames of mtu 9216, .*; set memory.buffer-size to 10K, or lower mtu to 2000"),
            (9216, "9K", "", r"port p1: .* frames of mtu 9216, .*; set memory.buffer-size to 10K, or lower mtu to 9168"),
            (9216, "10K", "", r"port p1: the kernel would truncate frames of mtu 9216; add framesz=10240,blocksz=40960"),
            (1500, "2K", ",framesz=3072,blocksz=12288", r"framesz=3072 does not fit a buffer; use at most 2080, or set "
             r"memory.buffer-size to 3K"),
            (1500, "2K", ",framesz=2080,blocksz=4096", r"port p1: framesz \(2080\) must be .*, blocksz \(4096\) a multiple of framesz"),
            (1500, "2K", ",framecnt=511", r"framecnt \(511\) a multiple of blocksz/framesz")):
        # lo is there wherever there is a kernel; the refusal comes before it is touched
        bench.config(p1=f'net_af_packet1,iface=lo{args}", mtu: {mtu}, speed: "1G',
                     memory=f"{{buffers: 48K, buffer-size: {size}}}")
        refuses(bench, 3, pattern)


def null_overruns_buffers(bench):
    """net_null writes the configured number of bytes into one buffer."""
    write_pcap(bench.path("in.pcap"), [])
    bench.config(p1="net_null1,size=2049")
    refuses(bench, 3, r"port p1: frames of size=2049 do not fit a buffer of 2048 bytes; set memory.buffer-size to 3K")


def longer_than_promised(bench):
    """net_pcap knows no longest frame; one of more buffers than --check counts for a frame is a receive error."""
    longest = 2048
    write_pcap(bench.path("in.pcap"), [frame(1, n, 1).ljust(size, b"\0")
                                       for n, size in enumerate((142, longest, longest + 1, 60000, 142))])
    bench.config()
    node = bench.node()
    wait_for(lambda: node.rx() == 3, "two of five are too long", node.log)
    counters = node.json("show port info p0")["counters"]
    expect((counters["rx_packets"], counters["ierrors"], counters["sent"]) == (3, 2, 3), f"{counters}")
    node.stop()
    expect([len(data) for data in read_pcap(bench.path("out1.pcap"))] == [142] * 3, "what is sent, without padding")


def missing_pci_device(bench):
    write_pcap(bench.path("in.pcap"), [])
    bench.config(p1="ffff:ff:1f.7")
    refuses(bench, 3, r"port p1: there is no PCI device ffff:ff:1f.7; see dpdk-devbind.py")


def no_hugepages(bench):
    write_pcap(bench.path("in.pcap"), [])
    free = int(open("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").read())
    bench.config(memory=f"{{hugepages: on, buffers: {max(32768, free * 2048)}}}")
    refuses(bench, 3, r"hugepages.*free.*needed; run: echo \d+ > /sys/devices/\S+/nr_hugepages")


def no_such_cpu(bench):
    write_pcap(bench.path("in.pcap"), [])
    bench.config(lcores='{control: 0, rx: [1], worker: [1], cpus: "0@0,1@1000"}')
    refuses(bench, 3, r"lcore 1 is placed on CPU 1000.*lcores.cpus")


def memif_buffers_too_small(bench):
    write_pcap(bench.path("in.pcap"), [])
    bench.config(p1="net_memif1,role=server,socket=sluice-test-" + bench.name + ",bsize=1024")
    refuses(bench, 3, r"port p1: frames of mtu 1500 need memif buffers of 1518 bytes; add bsize=2048")


def bad_configuration(bench):
    with open(bench.path("config.yaml"), "w") as f:
        f.write("node: {name: x, loopback: fd00::1}\nlcores: {control: 0, rx: [1], worker: [1]}\n"
                "prots: []\nports:\n  - {name: p0, device: net_null0, side: wam}\n")
    code, _, err = bench.run()
    expect(code == 1, f"ended with {code}")
    expect("config.yaml:3:1: error: unknown key 'prots' in the file; did you mean 'ports'?" in err, err)
    expect("config.yaml:5:41: error: side: expected one of dc, wan, host, found 'wam'; did you mean 'wan'?" in err, err)


def missing_configuration(bench):
    code, _, err = bench.run()
    expect(code == 1 and "config.yaml: error: cannot open: No such file" in err, f"{code}: {err}")


def wrong_options(bench):
    for args, text in ((["--exit-when-idle", "x"], "--exit-when-idle: expected a whole number, found 'x'"),
                       (["--no-such"], "usage:"), (["--strict"], "--strict is for --check"),
                        (["stray"], "unexpected argument 'stray'; put EAL options after --"), (["--print", "x"], "--print:")):
        done = subprocess.run([bench.sluice, "-c", "x", *args], capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and text in done.stderr, f"{args}: {done.returncode}: {done.stderr}")


def plan_without_start(bench):
    bench.config()
    code, out, err = bench.run("--check")
    expect(code == 0, f"ended with {code}: {err}")
    for text in ("1 on CPU 0   NUMA node 0  rx + worker (run to completion): polls p0:0 p1:0; owns p0 p1", "egress owned by lcore 1", "total, of 32768",
                 "config.yaml is valid", "a start on this machine would fail: port p0: rx_pcap: cannot read in.pcap"):
        expect(text in out, f"'{text}' is not in the plan:\n{out}")
    code, strict, err = bench.run("--check", "--strict")
    expect(code == 1 and strict == out, f"--strict: ended with {code}: {err}")
    write_pcap(bench.path("in.pcap"), [])
    code, out, err = bench.run("--check", "--strict")
    expect(code == 0 and "would fail" not in out, f"--strict: ended with {code}: {out} {err}")


def shared_fate(bench):
    """--check names what candidate paths have in common, other than the end that all of them have."""
    with open(bench.path("config.yaml"), "w") as f:
        f.write("""node: {name: one, loopback: "fd00::1", infrastructure: ["fd00::/16"], usid: {block: "5f00:0::/32", node: 256}}
lcores: {control: 0, rx: [1], worker: [1]}
ports:
  - {name: wan0, device: net_null0, side: wan, addresses: ["2001:db8:a::1/64"]}
  - {name: wan1, device: net_null1, side: wan, addresses: ["2001:db8:b::1/64"]}
routes:
  - {prefix: "5f00:0:400::/48", port: wan0, nexthop: "2001:db8:a::2"}
  - {prefix: "5f00:0:500::/48", port: wan1, nexthop: "2001:db8:b::2"}
  - {prefix: "5f00:0:600::/48", port: wan1, nexthop: "2001:db8:b::2"}
policies:
  - name: apart
    paths:
      - {name: a, segments: ["5f00:0:400::", "5f00:0:300::", "5f00:0:e101::"]}
      - {name: b, segments: ["5f00:0:500::", "5f00:0:300::", "5f00:0:e101::"], backup: yes}
  - name: link
    paths:
      - {name: a, segments: ["5f00:0:400::", "5f00:0:e101::"]}
      - {name: b, segments: ["5f00:0:500::", "5f00:0:e101::"]}
      - {name: c, segments: ["5f00:0:600::", "5f00:0:e101::"]}
  - name: spine
    paths:
      - {name: a, segments: ["5f00:0:400::", "5f00:0:700::", "5f00:0:300::"]}
      - {name: b, segments: ["5f00:0:500::", "5f00:0:700::", "5f00:0:800::", "5f00:0:300::"]}
  - name: packed
    disjoint: links
    paths:
      - {name: a, segments: ["5f00:0:400:e001:700:e001::", "5f00:0:300:e101::"]}
      - {name: b, segments: ["5f00:0:500:e001::", "5f00:0:700:e002:300:e101::"]}
  - name: one
    paths: [{name: a, segments: ["5f00:0:400::"]}]
""")
    code, out, err = bench.run("--check")
    lines = [line for line in out.splitlines() if re.search(r" (leave by|pass) ", line)]
    expect(code == 0 and lines == ["  link: b, c leave by wan1", "  spine: all paths pass 5f00:0:700::",
                                   "  packed: all paths pass 5f00:0:700::"], f"{code}: {err}: {lines}\n{out}")
    backups = [line.split(":")[0] for line in out.splitlines() if ", backup," in line]
    expect(backups == ["  apart/b"], f"{backups}")
    with open(bench.path("config.yaml")) as f:
        text = f.read()
    # the same policies, which must be disjoint; what is wrong, and what mends it
    for policy, what, why in (("apart", "links", None), ("apart", "nodes", None),
                              ("link", "links", "paths 'b' and 'c' both leave by wan1; give them other segments, or leave disjoint out"),
                              ("spine", "links", None),
                              ("spine", "nodes", "paths 'a' and 'b' both pass 5f00:0:700::; give them other segments, or set disjoint: links"),
                              ("packed", "nodes", "paths 'a' and 'b' both pass 5f00:0:700::; give them other segments, or set disjoint: links")):
        with open(bench.path("config.yaml"), "w") as f:
            f.write(text.replace("    disjoint: links\n", "").replace(f"  - name: {policy}\n", f"  - name: {policy}\n    disjoint: {what}\n"))
        code, out, err = bench.run("--check")
        expect(code == (1 if why else 0) and (not why or f": error: disjoint: {why}" in err), f"{policy}, {what}: {code}: {err}")
    with open(bench.path("config.yaml"), "w") as f:
        f.write(text.replace("700:e002:300", "700:e001:300"))
    code, out, err = bench.run("--check")
    expect("disjoint: paths 'a' and 'b' both go from 5f00:0:700:e001:: to 5f00:0:300::; give" in err, f"{code}: {err}")


def examples(bench):
    """The examples are valid, without a warning, and within their budget of buffers."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "config", "examples")
    names = sorted(os.listdir(folder))
    expect(names, "there are none")
    for name in names:
        done = subprocess.run([bench.sluice, "-c", os.path.join(folder, name), "--check"], capture_output=True, text=True, check=False)
        expect(done.returncode == 0 and not done.stderr, f"{name}: {done.returncode}: {done.stderr}")
        sum_of, pool = (int(n) for n in re.search(r"(\d+)  total, of (\d+) in the pool", done.stdout).groups())
        expect(sum_of <= pool, f"{name}: {sum_of} of {pool}")
        expect(not re.search(r" (leave by|pass) ", done.stdout), f"{name}: paths fail together\n{done.stdout}")


def one_headroom(bench):
    """`plan headroom` with a port's keys, `plan headroom` of that port, `headroom: auto` and --check: one number."""
    with open(bench.path("config.yaml"), "w") as f:
        f.write("""node: {name: one, loopback: "fd00::1", infrastructure: ["fd00::/16"]}
lcores: {control: 0, rx: [1], worker: [1]}
memory: {buffers: 400K}
idle: {policy: sleep, max-sleep: 70}
buffer-profiles: [{name: far, min-frame: 512, response: 30, jitter: 25, losses: 2}, {name: few, headroom: 100K, min-frame: 512}]
ports:
  - {name: p0, device: net_null0, side: wan, speed: 25G, mtu: 4200, descriptors: {tx: 128},
     pfc: {priorities: [3], learn: true, buffer: far, length: 170000, peer-descriptors: 64}}
  - {name: p1, device: net_null1, side: wan, speed: 25G, pfc: {priorities: [3], learn: true, buffer: BUFFER, round-trip: 1700}}
""".replace("BUFFER", "far"))
    _, out, _ = bench.run("--check")
    found = [int(n.replace(",", "")) for n in re.findall(r"headroom ([\d,]+);", out)]
    needed = [int(n.replace(",", "")) for n in re.findall(r"headroom needed for [^:]+: ([\d,]+) bytes", out)]

    def plan(*args):
        done = subprocess.run([bench.sluice, "plan", "headroom", *args, "-j"], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)["headroom_full"]["total_bytes"]
    planned = [plan("-c", bench.path("config.yaml"), "--port", p) for p in ("p0", "p1")]
    by_hand = plan("--rate", "25G", "--distance", "170km", "--mtu", "4200", "--own-frames", "128", "--peer-frames", "64", "--decide",
                   "100us", "--jitter", "25us", "--losses", "2")
    expect(len(found) == 2 and found == needed == planned and by_hand == found[0], f"{found} {needed} {planned} {by_hand}\n{out}")
    with open(bench.path("config.yaml")) as f:
        text = f.read()
    with open(bench.path("config.yaml"), "w") as f:
        f.write(text.replace("buffer: far, round-trip", "buffer: few, round-trip"))
    code, _, err = bench.run("--check")
    needs = plan("-c", bench.path("config.yaml"), "--port", "p1")
    expect(code == 1 and f":5:107: error: headroom: 102400 bytes are too few for port 'p1': {needs} can arrive after XOFF at 25Gbit/s over a "
           "round trip of 1700 us; set headroom: auto, or forced: true if packets may be lost" in err, f"{code}: {err}")


def plan_headroom(bench):
    """D37 beside draft-he's rule; units, refusals, JSON."""
    def run(*args):
        return subprocess.run([bench.sluice, "plan", *args], capture_output=True, text=True, check=False)
    switch = ("--own-frames", "1", "--peer-frames", "1")
    done = run("headroom", "--rate", "100G", "--distance", "1000km", "--losses", "0", "--response", "1us", "--mtu", "982", "--decide", "0",
               *switch, "-j")
    expect(done.returncode == 0, done.stderr)
    answer = json.loads(done.stdout)
    full = answer["headroom_full"]
    expect(answer["headroom_draft_he_bytes"] == 62500000 and full["round_trip_bytes"] == 125000000, done.stdout)
    expect(full["reaction_bytes"] == 12500 and full["frames_bytes"] == 2000 and full["jitter_and_losses_bytes"] == 0, done.stdout)
    expect(full["total_bytes"] == 125014500 and answer["xon_side"]["full_bytes"] == 125000000, done.stdout)
    expect("short by 62514500 bytes" in answer["verdict"], done.stdout)
    same = run("headroom", "--rate", "100000M", "--delay", "5000us", "--losses", "0", "--response", "1000ns", "--mtu", "982", "--decide",
               "0ns", *switch, "-j")
    expect(same.stdout == done.stdout, same.stdout + same.stderr)
    expect("verdict:" in run("headroom", "--rate", "10G", "--distance", "300m").stdout, "no text")
    # by hand (docs/protocol.md 5.4): 400 Gb/s, 2 ms there and 2 ms back of which 100 Gb/s leave; 20 us and 905 quanta at full rate;
    # 50 us of jitter and three refreshes of 41.942 us; two frames
    answer = json.loads(run("headroom", "--rate", "400G", "--distance", "400km", "--drain", "100G", "--jitter", "50us", "--losses",
                            "3", "--mtu", "4200", *switch, "-j").stdout)
    full = answer["headroom_full"]
    expect(answer["headroom_draft_he_bytes"] == 300 * 2000 * 125, f"{answer}")
    expect(full["round_trip_bytes"] == 300 * 4000 * 125 and full["frames_bytes"] == 2 * 4218, f"{full}")
    expect(full["reaction_bytes"] == 400 * 20 * 125 + 905 * 64 - 20, f"{full}")  # in whole ns
    expect(full["jitter_and_losses_bytes"] == (50000 + 3 * 41942) * 400 // 8, f"{full}")
    expect(full["total_bytes"] == sum(v for k, v in full.items() if k != "total_bytes"), f"{full}")
    expect(answer["xon_side"] == {"draft_he_bytes": 0, "full_bytes": 400 * 4000 * 125}, f"{answer}")
    later = json.loads(run("headroom", "--rate", "100G", "--delay", "5ms", "--data-delay", "7ms", "--losses", "0", "-j").stdout)
    expect(later["headroom_draft_he_bytes"] == 62500000 and later["headroom_full"]["round_trip_bytes"] == 150000000, f"{later}")
    expect(later["xon_side"]["full_bytes"] == 150000000, f"{later}")
    for args, text in ((("headroom",), "--rate is required"), (("head",), "expected 'headroom', 'credit' or 'placement', found 'head'"), ((), "expected 'headroom', 'credit' or 'placement'"),
                       (("headroom", "--rate", "100G"), "--distance or --delay is required"),
                       (("headroom", "--rate", "100G", "--distance", "10mi"), "--distance: expected a value such as 1000km, found '10mi'"),
                       (("headroom", "--rate", "100", "--distance", "10km"), "--rate: expected a value such as 100G, found '100'"),
                       (("headroom", "--rate", "100G", "--distance", "10"), "--distance: expected a value such as 1000km, found '10'"),
                       (("headroom", "--rate", "100G", "--delay", "5"), "--delay: expected a value such as 5ms, found '5'"),
                       (("headroom", "--rate", "100G", "--distance", "1km", "x"), "unexpected argument: x")):
        done = run(*args)
        expect(done.returncode == 2 and text in done.stderr, f"{args}: {done.returncode}: {done.stderr}")

def plan_credit(bench):
    """The rule of docs/credit.md 2.9, computed again; units, refusals, JSON, and a configuration with its figures."""
    def run(*args):
        return subprocess.run([bench.sluice, "plan", "credit", *args], capture_output=True, text=True, check=False)

    def answer(*args):
        done = run(*args, "-j")
        expect(done.returncode == 0, done.stderr)
        return json.loads(done.stdout)

    for rate, delay in ((10, 5), (100, 5), (400, 25), (100, 0.25)):
        got = answer("--rate", f"{rate}G", "--delay", f"{int(delay * 1000)}us", "--poll", "0")
        charged = rate * 1e9 / 8 * 6144 / (4176 + 78)
        base = charged * (2 * delay / 1e3 + (4176 + 78) * 8 / rate / 1e9) + 2 * 6144
        window = max(base * 32 / 31, base + 4 * max(65536, charged / 1e5)) / 2048
        expect(abs(got["session"]["window_alone_units"] - window) <= 2, f"{rate}G {delay} ms: {window}, {got}")
        expect(got["memory"]["pool_units"] == got["session"]["window_alone_units"], f"{got}")
    same = [answer("--rate", "100G", *way) for way in (("--distance", "1000km"), ("--delay", "5ms"))]
    expect(same[0] == same[1], f"{same}")
    many, lossy = answer("--rate", "100G", "--delay", "5ms", "--sessions", "1000"), answer("--rate", "100G", "--delay", "5ms", "--loss", "1e-3")
    expect(many["memory"]["pool_units"] == 1000 * many["session"]["window_of_each_units"], f"{many}")
    expect(lossy["utilisation_percent"]["window"] > 97 and lossy["utilisation_percent"]["without_fences"] < 16, f"{lossy}")
    text = run("--rate", "100G", "--distance", "1000km").stdout
    expect(f"pool: {same[0]['memory']['pool_units']}, buffer: {same[0]['memory']['pool_units']}}}" in text, text)
    for args in ((), ("--rate", "100G"), ("--rate", "100", "--delay", "5ms"), ("--rate", "1G", "--delay", "5"), ("--rate", "1G", "--delay", "5ms",
                 "--loss", "1"), ("--rate", "1G", "--delay", "5ms", "--sessions", "0"), ("--rate", "1G", "--delay", "5ms", "--packet", "0")):
        expect(run(*args).returncode == 2, f"{args} is accepted")


def plan_placement(bench):
    """`plan placement`: a Clos with room for all and none to spare, demands of several sizes; refusals."""
    def run(*args):
        return subprocess.run([bench.sluice, "plan", "placement", *args], capture_output=True, text=True, check=False)

    def write(name, text):
        with open(bench.path(name), "w") as f:
            f.write(text)
        return bench.path(name)
    spines = range(8)
    nodes = [("leaf1", 1), ("leaf3", 3), *((f"spine{n}", 0x10 + n) for n in spines)]
    net = "nodes: [" + ", ".join(f'{{name: {n}, sid: "5f00:0:{i:x}00::"}}' for n, i in nodes) + "]\nlinks:\n" + "".join(
        f"  - {{a: {leaf}, b: spine{n}, rate: 100G}}\n" for leaf in ("leaf1", "leaf3") for n in spines)
    demands = "demands:\n" + "".join(
        f'  - {{from: leaf1, to: leaf3, rate: 12500M, flow: "src=10.1.0.{n},dst=10.3.0.{n},sport=49152"}}\n' for n in range(1, 65))
    topology, job = write("net.yaml", net), write("job.yaml", demands)
    done = run(topology, job, "-j")
    expect(done.returncode == 0, done.stderr)
    answer = json.loads(done.stdout)
    expect(abs(answer["most_loaded"] - 1) < 1e-6 and abs(answer["bound"] - 1) < 1e-4, done.stdout[:200])
    used = [p["path"] for p in answer["placements"]]
    expect(sorted(used) == sorted(f"via-spine{n}" for n in spines for _ in range(8)), f"{used}")
    expect(answer["lists"][0]["paths"][0] == {"name": "via-spine0", "segments": ["5f00:0:1000::", "5f00:0:300::"]}, f"{answer['lists']}")
    done = run(topology, job)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    expect(len(lines) == 64 and lines[0].split()[:2] == ["src=10.1.0.1,dst=10.3.0.1,sport=49152", "to-leaf3"], done.stdout[:500])
    expect("carries 100.0 % of its rate. No placement can stay below 100.0 %" in done.stdout, done.stdout[:200])
    # 5 of 40 Gb/s and 3 of 60 over two links of 200: 200 and 180 at best; divided, 190 each
    write("net.yaml", 'nodes: [{name: a, sid: "5f00:0:1::"}, {name: b, sid: "5f00:0:2::"}, {name: x, sid: "5f00:0:3::"}, {name: y, sid: "5f00:0:4::"}]\n'
          "links: [{a: a, b: x, rate: 200G}, {a: x, b: b, rate: 200G}, {a: a, b: y, rate: 200G}, {a: y, b: b, rate: 200G}]\n")
    write("job.yaml", "demands:\n" + "".join(f'  - {{from: a, to: b, rate: {rate}G, policy: p, flow: "src=10.1.0.1,dst=10.3.0.1,sport={n}"}}\n'
                                             for n, rate in enumerate([40] * 5 + [60] * 3)))
    answer = json.loads(run(topology, job, "-j").stdout)
    expect(abs(answer["bound"] - 0.95) < 1e-4 and 0.95 < answer["most_loaded"] <= 1.0 + 1e-9, f"{answer}")
    expect(all(p["policy"] == "p" for p in answer["placements"]), f"{answer}")
    for text, why in (("demands: [{from: a, to: z, rate: 1G, flow: \"src=1.1.1.1,dst=1.1.1.2,sport=1\"}]", "job.yaml:1:11: there is no node 'z'"),
                      ("demands: [{from: a, to: a, rate: 1G, flow: \"src=1.1.1.1,dst=1.1.1.2,sport=1\"}]", "goes nowhere"),
                      ("demands: [{from: a, to: b, rate: 1G, flow: \"src=1.1.1.1\"}]", "dst is missing"),
                      ("demands: [{from: a, to: b, flow: \"src=1.1.1.1\"}]", "rate")):
        done = run(topology, write("job.yaml", text))
        expect(done.returncode == 1 and why in done.stderr and not done.stdout, f"{text}: {done.stderr}")
    expect(run(topology).returncode == 2, "one file is enough")


def bonds(bench):
    """A bonding device runs with its members; what cannot work is refused before the start."""
    def config(device, more=""):
        with open(bench.path("config.yaml"), "w") as f:
            f.write(f"""node: {{name: {bench.name}, loopback: "fd00::1", infrastructure: ["fd00::/16"]}}
lcores: {{control: 0, rx: [1], worker: [1], cpus: "0@0,1@0"}}
memory: {{buffers: 16K}}
idle: {{policy: sleep}}
ports: [{{name: p0, device: "{device}", side: wan, mac: "02:00:00:00:d0:00"{more}}}]
""")
    members = "slave=net_null6,slave=net_null7"
    for device, text in ((f"net_bonding0,{members}", "a bond needs mode=0 to 6"), (f"net_bonding0,mode=7,{members}", "a bond needs mode=0 to 6"),
                         ("net_bonding0,mode=1", "a bond needs members: add slave=ADDRESS for each to device"),
                         ("net_bonding0,mode=4,slave=0000:ff:1f.7", "there is no PCI device 0000:ff:1f.7")):
        config(device)
        refuses(bench, 3, re.escape(text))
    config(f"net_bonding0,mode=1,{members}")
    node = bench.node()
    # A bond finds out by a poll of its own, after the start, that its members are up.
    until = time.monotonic() + 10
    while (port := node.json("show port p0"))["link"] != "up" and time.monotonic() < until:
        time.sleep(0.05)
    expect(port["driver"] == "net_bonding" and port["link"] == "up", f"{port}")
    node.stop()


def ends_when_idle(bench):
    write_pcap(bench.path("in.pcap"), [frame(1, n, 1) for n in range(500)])
    bench.config()
    started = time.monotonic()
    code, out, err = bench.run("--exit-when-idle", "300")
    expect(code == 0, f"ended with {code}: {err}")
    expect(time.monotonic() - started < 30, "took too long")
    expect(len(list(read_pcap(bench.path("out1.pcap")))) == 500, "packets are missing")
    expect("missing:    0" in out, out)
    expect(not bench.leftovers(), f"left behind: {bench.leftovers()}")


def stops_on_signal(bench, number):
    """Under full load: held packets leave, the report balances, the status is 0."""
    write_pcap(bench.path("in.pcap"), [frame(n % 16, n, 1) for n in range(256)])
    bench.config(p0="net_pcap0,rx_pcap=in.pcap,infinite_rx=1", p1="net_null1,no-rx=1")
    process = bench.start()
    time.sleep(2)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    expect(process.returncode == 0, f"ended with {process.returncode}: {err}")
    balance = bench.report()["conservation"]
    expect(balance["rx"] > 10000 and balance["missing"] == 0, f"{balance}")
    expect(not bench.leftovers(), f"left behind: {bench.leftovers()}")


def the_name_is_taken(bench):
    write_pcap(bench.path("in.pcap"), [frame(1, 0, 1)])
    bench.config()
    first = bench.start()
    time.sleep(1.5)
    code, _, err = bench.run("--exit-when-idle", "100")
    expect(code == 3 and re.search(r"node " + bench.name + r" is already running", err), f"{code}: {err}")
    expect(first.poll() is None, "the first one was disturbed")
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=30)
    expect(first.returncode == 0, f"the first one ended with {first.returncode}")


def several_lcores(bench, lcores, queues="2", queue_of=lambda flow: flow % 2):
    """Two receive queues, two egress owners, one transmit queue a port: all arrive, in order per flow."""
    flows = 32
    for queue in range(2):
        write_pcap(bench.path(f"in{queue}.pcap"),
                   [frame(f, n, f // 2 % 2) for n in range(50) for f in range(flows) if queue_of(f) == queue])
    bench.config(lcores=lcores, queues=queues, p0="net_pcap0,rx_pcap=in0.pcap,rx_pcap=in1.pcap,tx_pcap=out0.pcap",
                 memory="{buffers: 48K}")
    code, _, err = bench.run("--exit-when-idle", "500")
    expect(code == 0, f"ended with {code}: {err}")
    due = collections.Counter()
    for port in range(2):
        for data in read_pcap(bench.path(f"out{port}.pcap")):
            flow, sequence = struct.unpack_from("!H6xI", data, 94)
            expect(flow // 2 % 2 == port, f"flow {flow} left by port {port}")
            expect(sequence == due[flow], f"flow {flow}: {sequence} came, {due[flow]} was due")
            due[flow] += 1
    expect(sum(due.values()) == 50 * flows, f"{sum(due.values())} of {50 * flows} arrived")
    expect(bench.report()["conservation"]["missing"] == 0, "packets are unaccounted for")


def software_spread(bench):
    """All of a tunnel is on queue 0: the other rx lcore gets its part, all arrive, in order; --check and show port say it."""
    lcores = '{control: 0, rx: [1, 2], worker: [3, 4], cpus: "0@0,1@0,2@1,3@0,4@1"}'
    several_lcores(bench, lcores, "2, rx-spread: software", lambda flow: 0)
    _, out, _ = bench.run("--check")
    words = "by software at the rx lcores, by flow label: the flows of a tunnel reach all of them"
    expect(f"receive queues: {words}" in out and "     254  frames spread over rx lcores by software" in out, out)
    node = bench.node()
    wait_for(lambda: node.rx() == 1600, "frames do not arrive")
    rings = [r for r in node.json("show rings") if r["carries"] == "frames"]
    expect(len(rings) == 2 and 400 < max(r["pushed"] for r in rings) < 1200, f"{rings}")
    expect('"queues_filled": "software"' in node.ok("show port p0 -j"), node.ok("show port p0 -j"))
    node.stop()


def idle_lcores(bench):
    """--check names lcores that have nothing to do, with the cure."""
    bench.config(lcores='{control: 0, rx: [1, 2, 3], worker: [4, 5, 6], cpus: "0@0,1@0,2@0,3@0,4@0,5@0,6@0"}', memory="{buffers: 64K}")
    _, out, err = bench.run("--check")
    for text in ("  lcore 3 receives nothing: raise rx-queues of a busy port, or take it out of lcores.rx\n",
                 "  lcore 6 owns no port, so it sends nothing: take it out of lcores.worker, or make it an rx lcore\n"):
        expect(text in out, f"'{text}' is not in the plan:\n{out}{err}")
    expect(out.count("nothing: ") == 2, f"others are named, too:\n{out}")
    bench.config()
    _, out, _ = bench.run("--check")
    expect("nothing: " not in out, out)


PROCESS = [
    ("missing pcap", missing_pcap),
    ("unwritable pcap", unwritable_pcap),
    ("missing interface", missing_interface),
    ("frames too long for af_packet", af_packet_cuts_frames),
    ("missing PCI device", missing_pci_device),
    ("no hugepages when asked for", no_hugepages),
    ("no such CPU", no_such_cpu),
    ("frames longer than any promised", longer_than_promised),
    ("frames too long for net_null", null_overruns_buffers),
    ("memif buffers too small", memif_buffers_too_small),
    ("bad configuration", bad_configuration),
    ("missing configuration", missing_configuration),
    ("wrong options", wrong_options),
    ("plan without start", plan_without_start),
    ("plan headroom", plan_headroom),
    ("plan credit", plan_credit),
    ("plan placement", plan_placement),
    ("plan: paths that fail together", shared_fate),
    ("plan: examples", examples),
    ("plan: lcores that have nothing to do", idle_lcores),
    ("one headroom", one_headroom),
    ("bonds", bonds),
    ("ends when idle", ends_when_idle),
    ("SIGTERM drains and reports", lambda b: stops_on_signal(b, signal.SIGTERM)),
    ("SIGINT drains and reports", lambda b: stops_on_signal(b, signal.SIGINT)),
    ("the name is taken", the_name_is_taken),
    ("2 rx, 2 workers", lambda b: several_lcores(
        b, '{control: 0, rx: [1, 2], worker: [3, 4], cpus: "0@0,1@0,2@1,3@0,4@1"}')),
    ("a tunnel is spread by software", software_spread),
    ("2 lcores that are both", lambda b: several_lcores(
        b, '{control: 0, rx: [1, 2], worker: [1, 2], cpus: "0@0,1@0,2@1"}')),
    ("1 rx, 2 workers, control shared", lambda b: several_lcores(
        b, '{control: 1, rx: [1], worker: [2, 3], cpus: "1@0,2@0,3@1"}')),
]


TESTS = PROCESS + console.TESTS + reloading.TESTS + capturing.TESTS + outside.TESTS + life.TESTS + bad_input.TESTS

if __name__ == "__main__":
    sys.exit(main(__doc__, TESTS))
