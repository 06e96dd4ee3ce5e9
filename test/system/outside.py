# SPDX-License-Identifier: BSD-3-Clause
"""The process as others see it: OpenMetrics in promtool and Prometheus, DPDK's telemetry and dumpcap, ports, links."""
import collections
import contextlib
import json
import os
import re
import resource
import socket
import struct
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import capturing
import console
from support import CONFIG, DEFAULTS, Failure, Session, expect, frame, quiet, read_pcap, wait_for, write_pcap


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(port, path="/metrics", **headers):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def measured_node(bench):
    """The transcripts' node with a page of metrics; its packets are through."""
    port = free_port()
    bench.name = f"sys{os.getpid():07d}"
    with open(bench.path("config.yaml"), "w") as f:
        f.write(console.CONFIG.format(name=bench.name) + f'metrics: {{listen: "127.0.0.1:{port}"}}\n')
    write_pcap(bench.path("in.pcap"), [frame(1, n, 0) for n in range(40)] + 3 * [console.dropped()])
    node = bench.node()
    console.settled(node)
    return node, port


def page(bench):
    """Both formats; promtool has no complaints; every number equals that of show; one list for all."""
    node, port = measured_node(bench)
    before = node.json("show lcores")
    kind, text = get(port)
    after = node.json("show lcores")
    expect(kind == "text/plain; version=0.0.4; charset=utf-8", kind)
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and not done.stderr + done.stdout, f"{done.returncode}: {done.stdout}{done.stderr}")
    kind, new = get(port, Accept="application/openmetrics-text; version=1.0.0")
    expect(kind.startswith("application/openmetrics-text; version=1.0.0") and new.endswith("# EOF\n"), kind)
    expect("# UNIT sluice_port_rx_bytes bytes\n" in new and "# UNIT sluice_lcore_busy_seconds seconds\n" in new, "units")

    def value(name, *labels):
        found = [line for line in text.splitlines() if line.startswith(name + "{") and all(l in line for l in labels)]
        expect(len(found) == 1, f"{name} {labels}: {found}")
        return float(found[0].split()[-1])
    for p in node.json("show ports"):
        for what, shown in (("rx_packets", "rx"), ("rx_bytes", "rx_bytes"), ("tx_packets", "tx"), ("imissed_packets", "imissed")):
            expect(value(f"sluice_port_{what}_total", f'port="{p["port"]}"') == p[shown], f"{what} of {p}")
        expect(value("sluice_port_up", f'port="{p["port"]}"') == 1, "up")
    for v in node.json("show interfaces"):
        for what, shown in (("rx_packets", "rx"), ("rx_bytes", "rx_bytes"), ("tx_packets", "tx"), ("tx_bytes", "tx_bytes")):
            got = value(f"sluice_interface_{what}_total", f'interface="{v["interface"]}"', f'port="{v["port"]}"')
            expect(got == v[shown], f"{what} of {v}")
    for d in node.json("show drops"):
        got = value("sluice_port_dropped_packets_total", f'port="{d["port"]}"', f'reason="{d["reason"]}"')
        expect(got == d["packets"], f"{got} {d}")
    expect(value("sluice_sid_packets_total", '5f00:0:100::/48') == 43, "SIDs")
    expect(value("sluice_held_packets") == 0 and value("sluice_generation") == 1, "gauges")
    pool = value("sluice_pool_free_buffers"), value("sluice_pool_buffers")
    expect(0 < pool[0] <= pool[1] == 32768, f"pool: {pool}")
    version = node.json("show version")
    expect(value("sluice_build_info", f'version="{version["sluice"]}"', f'dpdk="{version["dpdk"]}"') == 1, "versions")
    shown = collections.Counter(n["state"].replace("static", "resolved") for n in node.json("show neighbors"))
    for state in ("unknown", "asked", "resolved", "stale"):
        expect(value("sluice_neighbors", f'state="{state}"') == shown[state], f"{state}: {shown}")
    for a, b in zip(before, after):
        for name, shown, unit in (("passes_total", "passes", 1), ("busy_seconds_total", "busy_ms", 1000),
                                  ("max_gap_seconds", "max_gap_us", 1e6), ("sleep_seconds_total", "sleep_ms", 1000)):
            got = value(f"sluice_lcore_{name}", f'lcore="{a["lcore"]}"') * unit
            expect(a[shown] <= got + 1 and got - 1 <= b[shown], f"{name}: {got}, not from {a[shown]} to {b[shown]}")
    listed = subprocess.run([bench.sluice, "--print", "counters"], capture_output=True, text=True, check=True).stdout
    counters = re.findall(r"^\| \S* ?\| `(sluice_\w+?)(?:_total)?` \| \w+ \| (.*) \|$", listed, re.M)
    expect(len(counters) > 70, f"{counters}")
    for metric, what in counters:
        if metric.startswith("sluice_session_"):
            continue  # on the page of a session only (test_rsvp_shown)
        expect(re.search(rf"^# HELP {metric}(?:_total)? {re.escape(what)}$", text, re.M),
               f"{metric} of the list is not on the page with its help")
    node.ok("clear stats")
    expect('sluice_port_rx_packets_total{node="%s",port="wan0"} 43' % bench.name in get(port)[1], "counters never go back")
    node.stop()


MARKS = """
node:
  name: {name}
  loopback: fd00::d
  usid: {{block: "5f00:0::/32", node: 0x0100}}
  infrastructure: ["fd00::/16"]
lcores: {{control: 0, rx: [1], worker: [1], cpus: "0@0,1@0"}}
memory: {{buffers: 32K}}
idle: {{policy: sleep}}
metrics: {{listen: "127.0.0.1:{port}"}}
dscp-maps:
  - {{name: arrive, map: [{{from: 10, dscp: 12}}]}}
  - {{name: enter, map: [{{from: 12, dscp: 20}}]}}
  - {{name: leave, map: [{{from: 20, dscp: 30}}]}}
  - {{name: back, map: [{{from: 18, dscp: 26}}]}}
ports:
  - {{name: dc0, device: "net_pcap0,rx_pcap=dc.pcap,tx_pcap=dc-out.pcap", side: dc, vrf: red, mac: "02:00:00:00:d0:01",
     queue-limit: 1K, addresses: [10.1.0.1/24], dscp-in: arrive}}
  - {{name: wan0, device: "net_pcap1,rx_pcap=wan.pcap,tx_pcap=wan-out.pcap", side: wan, mac: "02:00:00:00:d0:00",
     queue-limit: 1K, addresses: ["2001:db8:a::2/64"], dscp-out: leave}}
neighbors:
  - {{port: wan0, address: "2001:db8:a::3", mac: "02:00:00:00:a0:03"}}
  - {{port: dc0, address: 10.1.0.9, mac: "02:00:00:00:c0:09"}}
routes: [{{prefix: "5f00::/32", port: wan0, nexthop: "2001:db8:a::3"}}]
vrfs: [{{name: red, routes: [{{prefix: 10.2.0.0/16, policy: maps}}, {{prefix: 10.3.0.0/16, policy: copies}}]}}]
policies:
  - {{name: maps, dscp: map, dscp-map: enter, paths: [{{name: m, segments: ["5f00:0:400::", "5f00:0:e102::"]}}]}}
  - {{name: copies, paths: [{{name: c, segments: ["5f00:0:500::", "5f00:0:e102::"]}}]}}
sids:
  - {{sid: "5f00:0:e101::/48", behavior: uDT46, vrf: red, dscp: copy}}
  - {{sid: "5f00:0:e102::/48", behavior: uDT46, vrf: red, dscp: map, dscp-map: back}}
  - {{sid: "5f00:0:e103::/48", behavior: uDT46, vrf: red}}
"""


def packet4(dst, dscp):
    """IPv4, 60 bytes."""
    def head(checksum):
        return struct.pack("!BBHHHBBH", 0x45, dscp << 2, 60, 0, 0, 64, 253, checksum) + bytes([10, 1, 0, 7, *dst])
    total = sum(struct.unpack("!10H", head(0)))
    total = (total & 0xFFFF) + (total >> 16)
    return head(~((total & 0xFFFF) + (total >> 16)) & 0xFFFF) + bytes(40)


def tunnelled(function, dscp):
    """The packet for 10.1.0.9 in a tunnel to a SID of this node."""
    inner = packet4((10, 1, 0, 9), 0)
    return (bytes.fromhex("02000000d000" + "02000000a003" + "86dd") +
            struct.pack("!IHBB", 0x60000007 | dscp << 22, len(inner), 4, 64) + bytes.fromhex("fd" + "00" * 14 + "01") +
            struct.pack("!HHH", 0x5F00, 0, function) + bytes(10) + inner)


def marks_and_ways(bench):
    """Packets are remarked by port, policy and SID, both ways; the counters of that, of SIDs, paths and policies are exact, in
    show and on the page."""
    port = free_port()
    with open(bench.path("config.yaml"), "w") as f:
        f.write(MARKS.format(name=bench.name, port=port))
    dc = bytes.fromhex("02000000d001" + "02000000c009" + "0800")
    write_pcap(bench.path("dc.pcap"), [dc + packet4((10, net, 1, 1), dscp) for net, dscp, n in
                                       ((2, 10, 5), (2, 0, 4), (3, 10, 3), (3, 46, 2)) for _ in range(n)])
    write_pcap(bench.path("wan.pcap"), [tunnelled(function, dscp) for function, dscp, n in
                                        ((0xE101, 18, 6), (0xE102, 18, 2), (0xE102, 0, 1), (0xE103, 18, 4)) for _ in range(n)])
    node = bench.node()
    quiet(node)
    wait_for(lambda: sum(p["packets"] for p in node.json("show paths")) == 14, "all have left")
    wait_for(lambda: sum(s["packets"] for s in node.json("show sids")) == 13, "all have come")
    text = get(port)[1]

    def value(name, label=""):
        found = [line for line in text.splitlines() if line.startswith(name + "{") and label in line]
        return sum(float(line.split()[-1]) for line in found) if found else None
    stats = node.json("show stats")["lcores_together"]
    for way, n in (("in", 8), ("encap", 5), ("decap", 8), ("out", 5)):
        expect(stats[f"dscp_mapped_{way}"] == n, f"{way}: {stats[f'dscp_mapped_{way}']}")
        expect(value(f"sluice_lcore_dscp_mapped_{way}_total") == n, f"{way} on the page")
    sids = {s["sid"]: (s["packets"], s["bytes"]) for s in node.json("show sids")}
    expect(sids == {f"5f00:0:{f}::/48": (n, n * 114) for f, n in (("e101", 6), ("e102", 3), ("e103", 4))}, f"{sids}")
    for sid, (n, size) in sids.items():
        expect((value("sluice_sid_packets_total", sid), value("sluice_sid_bytes_total", sid)) == (n, size), sid)
    paths = {p["path"]: (p["packets"], p["bytes"]) for p in node.json("show paths")}
    expect(paths == {"m": (9, 900), "c": (5, 500)}, f"{paths}")
    for path, (n, size) in paths.items():
        label = f'path="{path}"'
        expect((value("sluice_path_packets_total", label), value("sluice_path_bytes_total", label)) == (n, size), path)
    policies = {p["policy"]: (p["policy_packets"], p["policy_bytes"]) for p in node.json("show policies")}
    expect(policies == {"maps": (9, 900), "copies": (5, 500)}, f"{policies}")
    node.stop()
    # (outer DSCP, inner DSCP) on the WAN; DSCP on the LAN
    wan = collections.Counter((struct.unpack_from("!I", f, 14)[0] >> 22 & 63, f[55] >> 2)
                              for f in read_pcap(bench.path("wan-out.pcap")) if f[12:14] == b"\x86\xdd" and f[20] == 4)
    expect(wan == {(30, 12): 5, (0, 0): 4, (12, 12): 3, (46, 46): 2}, f"{wan}")
    lan = collections.Counter(f[15] >> 2 for f in read_pcap(bench.path("dc-out.pcap")) if f[12:14] == b"\x08\x00")
    expect(lan == {18: 6, 26: 2, 0: 5}, f"{lan}")


def bad_requests(bench):
    """Other paths and methods, garbage, half a request, a reader that never reads, more connections than there are."""
    node, port = measured_node(bench)
    for path, status in (("/", 404), ("/metrics/", 404), ("/" + "x" * 20000, None)):
        try:
            get(port, path)
            raise Failure(f"{path[:20]} was answered")
        except urllib.error.HTTPError as e:
            expect(status in (None, e.code), f"{path[:20]}: {e.code}")
        except OSError:
            expect(status is None, path[:20])
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", data=b"x" * 100000, method="POST")
    with contextlib.suppress(OSError):
        urllib.request.urlopen(request, timeout=20)
        raise Failure("POST was answered")
    idle = []
    for data in (b"\0" * 5000, b"GET /metrics HTTP/1.1\r\n", b"GET " + b"/metrics " * 10000, b"", b"GET /metrics HTTP/1.1\r\n" * 50):
        s = socket.create_connection(("127.0.0.1", port))
        with contextlib.suppress(OSError):
            s.sendall(data)
        idle.append(s)
    for s in idle:
        s.close()
    greedy = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
    for s in greedy:  # never read
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
    expect("sluice_port_rx_packets_total" in get(port)[1], "served beside them")
    expect(node.command("show version")[0] == 0, "the socket, too")
    for s in greedy:
        s.close()
    node.stop()


def silent_reader(bench):
    """An HTTP connection that says nothing ends; one that asks meanwhile does not."""
    node, port = measured_node(bench)
    silent = socket.create_connection(("127.0.0.1", port))
    half = socket.create_connection(("127.0.0.1", port))
    half.sendall(b"GET /metrics HTTP/1.1\r\n")
    started = time.monotonic()
    for s in (silent, half):
        s.settimeout(60)
        expect(s.recv(1000)[:12] in (b"", b"HTTP/1.1 408"), "an answer to nothing")
        expect(time.monotonic() - started > 8, "ended at once")
        s.close()
    expect("sluice_port_rx_packets_total" in get(port)[1], "served afterwards")
    node.stop()


def cpu_seconds(pid):
    with open(f"/proc/{pid}/task/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def no_descriptors(bench):
    """Descriptors are used up: socket and page wait without using the CPU, what is open works, and both come back."""
    node, port = measured_node(bench)
    pid = node.process.pid
    used = max(int(fd) for fd in os.listdir(f"/proc/{pid}/fd")) + 1
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (used, hard))
    free = used - len(os.listdir(f"/proc/{pid}/fd"))
    waiting = [socket.create_connection(("127.0.0.1", port)) for _ in range(free + 2)]
    console_waits = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(2)]
    for s in console_waits:
        s.connect(node.socket)
    time.sleep(0.5)
    cpu, began = cpu_seconds(pid), time.monotonic()
    time.sleep(3)
    share = (cpu_seconds(pid) - cpu) / (time.monotonic() - began)
    expect(share < 0.3, f"the management thread spins: {share:.2f} of a CPU")
    expect(node.command("show version")[0] == 0, "the session that was open")
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
    for s in waiting:
        s.close()
    expect("sluice_port_rx_packets_total" in get(port)[1], "the page is back")
    for s in console_waits:
        s.settimeout(20)
        s.sendall(b"x show version\n")
        expect(s.recv(100).startswith(b"0 "), "the socket is back")
        s.close()
    node.stop()


CAPABILITIES = {"dac_override": 1, "dac_read_search": 2, "net_admin": 12, "net_raw": 13, "ipc_lock": 14, "sys_module": 16,
                "sys_ptrace": 19, "sys_admin": 21}


def capabilities(pid):
    """Of each thread: CapPrm, CapEff, CapBnd, NoNewPrivs."""
    threads = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status") as f:
            status = dict(line.split(":", 1) for line in f)
        threads.append((status["Name"].strip(), *(int(status[key], 16) for key in ("CapPrm", "CapEff", "CapBnd", "NoNewPrivs"))))
    return threads


def privileges(bench):
    """No thread of a running node keeps capabilities that its devices do not need; the node works on without them."""
    if os.geteuid() != 0:
        return
    files = 1 << CAPABILITIES["dac_override"] | 1 << CAPABILITIES["dac_read_search"]
    space = f"sluice-{bench.name}"
    with namespace(space):
        for device, may in (("net_null1", files),
                            ("net_af_packet1,iface=v0", files | sum(1 << CAPABILITIES[c] for c in ("net_admin", "net_raw", "ipc_lock")))):
            write_pcap(bench.path("in.pcap"), [frame(1, n, 0) for n in range(40)])
            with open(bench.path("config.yaml"), "w") as f:
                f.write(CONFIG.format(**dict(DEFAULTS, name=bench.name, p1=device)))
            bench.inside = ["ip", "netns", "exec", space]
            node = bench.node()
            bench.inside = []
            # the node answers before it has dropped them
            wait_for(lambda: "is running" in node.log(), "the start")
            threads = capabilities(node.process.pid)
            expect(len(threads) > 2, f"{threads}")
            for name, permitted, effective, bounding, no_new in threads:
                expect(permitted & ~may == 0 and effective & ~may == 0 and bounding & ~may == 0,
                       f"{device}: {name}: {permitted:#x} {effective:#x} {bounding:#x}, not in {may:#x}")
                expect(no_new == 1, f"{name}: NoNewPrivs")
                expect(effective == may, f"{name}: {effective:#x}: it needs {may:#x}")
            node.ok("reload")
            node.ok("capture start p0 c.pcapng")
            node.ok("capture stop all")
            expect(node.session.command("show ports")[0] == 0, "the session")
            other = Session(node.socket)
            expect(other.command("show version")[0] == 0, "a new session")
            other.close()
            node.stop()
            expect(not bench.leftovers(), f"{bench.leftovers()}")


def prometheus(bench):
    """Debian's Prometheus scrapes the page; its API gives the numbers back."""
    node, port = measured_node(bench)
    web = free_port()
    with open(bench.path("prometheus.yml"), "w") as f:
        f.write("global: {scrape_interval: 500ms, scrape_timeout: 400ms}\nscrape_configs:\n  - job_name: sluice\n"
                f"    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n")
    with open(bench.path("prometheus.log"), "w") as log:
        process = subprocess.Popen(["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                                    f"--web.listen-address=127.0.0.1:{web}"], cwd=bench.folder, stdout=log, stderr=log)
    bench.processes.append(process)

    def query(text):
        with contextlib.suppress(OSError):
            url = f"http://127.0.0.1:{web}/api/v1/query?query={urllib.parse.quote(text)}"
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)["data"]["result"]
        return []
    wait_for(lambda: query('up{job="sluice"}') and query('up{job="sluice"}')[0]["value"][1] == "1", "a scrape")
    got = query('sluice_port_rx_packets_total{port="wan0"}')
    expect(len(got) == 1 and got[0]["value"][1] == "43" and got[0]["metric"]["node"] == bench.name, f"{got}")
    got = query('sum by (reason) (sluice_port_dropped_packets_total) > 0')
    expect([g["metric"]["reason"] for g in got] == ["no_route"], f"{got}")
    process.terminate()
    process.wait(timeout=20)
    node.stop()


class Telemetry:
    """DPDK's own socket."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(20)
        self.socket.connect(f"/var/run/dpdk/sluice-{name}/dpdk_telemetry.v2")
        self.limit = json.loads(self.socket.recv(4096))["max_output_len"]

    def get(self, command):
        self.socket.send(command.encode())
        return json.loads(self.socket.recv(self.limit))[command.split(",")[0]]


def telemetry(bench):
    node, _ = measured_node(bench)
    t = Telemetry(bench.name)
    paths = [p for p in t.get("/") if p.startswith("/sluice/")]
    expect(len(paths) == 8, f"{paths}")
    for what in ("ports", "drops", "sids", "rings", "neighbors"):
        rows, shown = t.get(f"/sluice/{what}"), node.json(f"show {what}")
        expect(len(rows) == len(shown) and list(rows) == [str(n) for n in range(len(shown))], f"{what}: {rows}")
        for row, want in zip(rows.values(), shown):
            for key, v in want.items():
                # telemetry has no null, and nothing nests in a row
                text = json.dumps(v, separators=(",", ":")) if v is None or isinstance(v, (list, dict)) else str(v)
                expect(key.endswith("ps") or str(row[key]) == text, f"{what}: {key}: {row[key]} and {v}")
    expect(t.get("/sluice/conservation") == node.json("show conservation"), "conservation")
    expect(t.get("/sluice/version")["node"] == bench.name, "version")
    expect(list(t.get("/sluice/ports,1")) == ["1"] and not t.get("/sluice/ports,99"), "pages")
    expect("43" in json.dumps(t.get("/sluice/ports,x")), "a parameter that is no number")
    node.stop()


def port_details(bench):
    """show port NAME: the configuration and the state of the device."""
    node, _ = measured_node(bench)
    port = node.json("show port wan0")
    for key, want in {"driver": "net_pcap", "mtu": 1500, "mac": "02:00:00:00:d0:00", "rx_queues": 1, "rx_descriptors": 512,
                      "tx_descriptors": 512, "link": "up", "all_multicast": True, "sets_mac": False, "owner_lcore": 1}.items():
        expect(port[key] == want, f"{key}: {port[key]}, not {want}")
    expect(port["counters"]["rx_packets"] == 43 and "rx_offloads" in port and "rx_pps" in port, f"{port}")
    expect(node.json("show port xstats wan0")["rx_good_packets"] == 43, "xstats")
    node.stop()


def rates(bench):
    """Packets and bits a second are those of the counters."""
    node = capturing.streaming(bench)
    wait_for(lambda: node.json("show ports")[0]["rx_pps"], "a rate")
    a, started = node.json("show ports")[0], time.monotonic()
    time.sleep(2.5)
    b, seconds = node.json("show ports")[0], time.monotonic() - started
    mean = (b["rx"] - a["rx"]) / seconds
    expect(0.4 * mean < b["rx_pps"] < 2.5 * mean, f"{b['rx_pps']} shown, {mean:.0f} counted")
    expect(abs(b["rx_bps"] / b["rx_pps"] / 8 - 142) < 2, f"{b['rx_bps'] / b['rx_pps'] / 8} bytes a packet")
    node.stop()


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"{' '.join(words)}: {done.stderr}")


@contextlib.contextmanager
def namespace(name):
    run("ip", "netns", "add", name)
    try:
        run("ip", "-n", name, "link", "add", "v0", "type", "veth", "peer", "name", "v1")
        for end in ("v0", "v1"):
            run("ip", "-n", name, "link", "set", end, "up")
        yield
    finally:
        subprocess.run(["ip", "netns", "del", name], check=False)


def links(bench):
    """A link that goes and comes is noticed, shown and exported; group addresses are taken."""
    space = f"sluice-{bench.name}"
    with namespace(space):
        write_pcap(bench.path("in.pcap"), [])
        port = free_port()
        with open(bench.path("config.yaml"), "w") as f:
            text = CONFIG.format(**dict(DEFAULTS, name=bench.name, p1="net_af_packet1,iface=v0"))
            f.write(text.replace(', mac: "02:00:00:00:d0:01"', ""))
        run("ip", "-n", space, "link", "set", "lo", "up")
        real, bench.sluice = bench.sluice, bench.path("wrapper")
        with open(bench.sluice, "w") as f:
            f.write(f"#!/bin/sh\nexec ip netns exec {space} {real} \"$@\"\n")
        os.chmod(bench.sluice, 0o755)
        node = bench.node()
        bench.sluice = real

        def link():
            return node.json("show port p1")["link"]
        wait_for(lambda: link() == "up", "the link")
        expect(node.json("show port p1")["all_multicast"] or node.json("show port p1")["promiscuous"], "group addresses")
        run("ip", "-n", space, "link", "set", "v1", "down")
        wait_for(lambda: link() == "down", "link down to be noticed")
        run("ip", "-n", space, "link", "set", "v1", "up")
        wait_for(lambda: link() == "up", "link up to be noticed")
        for line in ("p1: link down", "p1: link up"):
            expect(line in node.log(), node.log())
        with open(f"/proc/{node.process.pid}/net/packet") as f:
            expect(len(f.readlines()) > 1, "the port's socket")
        del port
        node.stop()


@contextlib.contextmanager
def hugepages(count):
    path = "/proc/sys/vm/nr_hugepages"
    with open(path) as f:
        before = f.read()

    def write(value):
        with open(path, "w") as f:
            f.write(str(value))
    try:
        write(int(before) + count)
        with open(path) as f:
            expect(int(f.read()) >= count, "the machine has no memory for hugepages")
        yield
    finally:
        write(before)


def dumpcap(bench):
    """With hugepages another process attaches and captures; without them it gets an error."""
    frames = [frame(n % 16, n, 1) for n in range(256)]
    write_pcap(bench.path("in.pcap"), frames)
    lcores = '{control: 0, rx: [1], worker: [1], cpus: "0@0,1@1"}'
    stream = capturing.STREAM
    with hugepages(400):
        bench.config(lcores=lcores, memory="{buffers: 32K, hugepages: on}", **stream)
        # hugepages that only this node and dumpcap can see
        os.mkdir(bench.path("huge"))
        real, bench.sluice = bench.sluice, bench.path("wrapper")
        with open(bench.sluice, "w") as f:
            # DPDK frees a capture's memory while an lcore may still be in its callback (docs/adr/0005): keep others off
            f.write(f"#!/bin/sh\nmount -t hugetlbfs none huge && exec nice -n -20 {real} \"$@\"\n")
        os.chmod(bench.sluice, 0o755)
        start = bench.start
        bench.start = lambda *args, **more: private(bench, *args, **more)
        node = bench.node()
        bench.start, bench.sluice = start, real
        done = subprocess.run(["nsenter", "-t", str(node.process.pid), "-m", f"--wd={bench.folder}", "dpdk-dumpcap", "--file-prefix",
                               f"sluice-{bench.name}", "-i", "net_pcap0", "-c", "20", "-w", bench.path("dump.pcapng")],
                              capture_output=True, text=True, check=False, timeout=60, cwd=bench.folder)
        expect(done.returncode == 0, f"dumpcap: {done.stderr}")
        rows = capturing.fields(bench, "dump.pcapng", "ipv6.dst")
        expect(len(rows) >= 20 and rows[0][0].startswith("5f00:0:100:500:"), f"{len(rows)} {rows[:2]}")
        capturing.forwards(node)
        node.stop()
    bench.config(lcores=lcores, **stream)
    node = bench.node()
    done = subprocess.run(["dpdk-dumpcap", "--file-prefix", f"sluice-{bench.name}", "-i", "net_pcap0", "-c", "1", "-w",
                           bench.path("none.pcapng")], capture_output=True, text=True, check=False, timeout=60, cwd=bench.folder)
    expect(done.returncode != 0, "dumpcap attached without hugepages?")
    _, plan, _ = bench.run("--check")
    expect("dpdk-dumpcap cannot attach to ordinary memory; use capture start instead" in plan, plan)
    capturing.forwards(node)
    node.stop()


def private(bench, *args, **more):
    process = subprocess.Popen(["unshare", "-m", bench.sluice, "-c", "config.yaml", "--report", "report.json", *args],
                               cwd=bench.folder, **more)
    bench.processes.append(process)
    return process


TESTS = [
    ("metrics: the page", page),
    ("metrics: marks, SIDs and paths", marks_and_ways),
    ("metrics: bad requests", bad_requests),
    ("metrics: a reader that says nothing", silent_reader),
    ("no descriptors are left", no_descriptors),
    ("capabilities of a running node", privileges),
    ("metrics: Prometheus", prometheus),
    ("telemetry", telemetry),
    ("ports: details", port_details),
    ("ports: rates", rates),
    ("ports: links", links),
    ("ports: dumpcap", dumpcap),
]
