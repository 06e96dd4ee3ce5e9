#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check the rules of the source tree that a compiler does not check (docs/design.md section 2). Prints TAP.

  layers     a library includes only libraries that lib/meson.build names before it
  pure       lib/base, wire, config, stats, steer, icmp, pfc, fib, bfd, credit, hmac, rsvp and the neighbour state machine do not use DPDK
  services   lib/node names no protocol: those are services, which it reaches through their table
  ethdev     rte_ethdev.h is included in drivers/ only
  lab        lib/lab and app/sluice-lab use the appliance's objects and have no forwarding of their own
  circles    by the linker's symbols, no files use each other, directly or through others
  datapath   *_dp.c and all functions they call, directly or not, use no allocation, lock, log, clock or system call
  size       no C file above 800 lines
  heads      a C file begins with its licence and with a comment that says what it does
  format     clang-format would change nothing (.clang-format)
  generated  reference pages match the code
  vendored   files below third_party/ are unchanged, and their page names their version
  python     no findings of pyflakes, except imports that other modules use
"""
import hashlib
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "test"))
import objects  # noqa: E402
import tap  # noqa: E402

PURE = ["base", "wire", "config", "stats", "steer", "icmp", "pfc", "fib", "bfd", "credit", "hmac", "rsvp"]
PURE_FILES = ["neigh/neigh_cache.c", "neigh/neigh_cache.h", "neigh/nd.c", "neigh/nd.h", "snapshot/ids.c", "snapshot/ids.h"]
GENERATED = [("config/reference.yaml", "reference"), ("docs/counters.md", "counters"), ("docs/commands.md", "commands"),
             ("docs/man/sluice.8", "sluice.8"), ("docs/man/sluicectl.1", "sluicectl.1"),
             ("docs/man/sluice.yaml.5", "sluice.yaml.5")]
LAB_DRIVER = "drivers/virtual/"
# Interfaces of the appliance that the lab may use: to create, poll, control and query a node, and frame formats.
LAB_INCLUDES = re.compile(
    r"^(base/|wire/|config/|stats/|lab/|drivers/virtual/|node/node(_ctl)?\.h$|service/services\.h$|service/pfc/(pfc_ctl|service_wait)\.h$|service/rsvp/service_audit\.h$|manage/apply\.h$|command/command\.h$|capture/|neigh/nd\.h$"
    r"|snapshot/build\.h$|pkt/pkt\.h$|[^/]+\.h$|sys/)")
# Libraries of the data path, flow control and protocols: the lab neither defines nor calls a function of these.
LAB_FORBIDDEN = re.compile(
    r"^(egress|classify|rewrite|endpoint|srv6|fib|neigh|queue|credit|rsvp|pfc|slice|steer|snapshot|rx|worker|control)_")
# Hosts of the lab that speak a protocol use its pure library: they are its far end, and forward nothing.
LAB_ENDS = {f"lib/lab/lab_rsvp{part}": (("rsvp/", "credit/"), ("rsvp_", "credit_"))
            for part in (".c", ".h", "_credit.c", "_data.c", "_ext.c", "_frame.c", "_letter.c")}
LAB_WITHOUT = {"lib/libreference.a"}  # generates pages about a node; not part of one
DPDK_OUTSIDE = ["lib/base/dpdk_compat.h"]  # used by the libraries that use DPDK

# Functions of other libraries that the data path may call.
DATAPATH_IMPORTS = re.compile(
    r"^(mem(cpy|move|set|cmp)|__mem\w+_chk|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_"
    r"|rte_hash_(lookup_data|add_key_data|del_key)|rte_hash_crc\w*|crc32_alg"
    r"|rte_pktmbuf_(copy|free_bulk|alloc_bulk)|rte_mempool_\w+|rte_eth_(fp_ops|call_[rt]x_callbacks)|per_lcore__\w+|bpf_filter"
    r"|SHA256_(Update|Final)|CRYPTO_memcmp|rte_cpu_\w+|__tls_get_addr|__rte_panic|__rte_mbuf_sanity_check|__asan_\w+|__ubsan_\w+)$")
# The control lcore's role may allocate, and may share an lcore with roles of the data path: calls of these are not followed.
DATAPATH_CUTS = {"control_poll"}
# Calls through pointers, which objects do not show. These files make some; all of DPDK's own (memory pools, device drivers)
# and of the functions listed, which are followed as *_dp.c is.
DATAPATH_POINTS = {"bfd_dp.c", "neigh_table_dp.c", "pfc_dp.c", "lcore_dp.c", "rx_dp.c", "backlog_dp.c", "worker_dp.c", "pkt.c", "tap_dp.c", "egress_dp.c", "hold_dp.c", "rebind_dp.c", "sched_dp.c", "line_dp.c", "line_count_dp.c", "data_dp.c", "rewrite_dp.c", "ethdev.c"}
DATAPATH_POINTED = [
    ("drivers/ethdev.c", "rx"), ("drivers/ethdev.c", "rx_bounded"), ("drivers/ethdev.c", "rx_waits"),
    ("drivers/ethdev.c", "tx"),  # struct port_ops
    ("lib/service/neighbor/neighbor_cp.c", "ask_control"), ("lib/node/node_ctl.c", "punt_to_control"),  # struct egress_context
    ("lib/node/worker_dp.c", "worker_neigh_resolved"),  # struct neigh_sync
    ("lib/service/pfc/tunnels_cp.c", "control_tunnels_have_input")]  # struct control_service; hooks are in *_dp.c

# Words that lib/node may not have in identifiers, file names and included paths: protocols and their terms.
# The table of neighbours (neigh_table) is part of an egress, and so of every node; the cache that asks and answers is ND's.
PROTOCOLS = {"arp", "nd", "neighbor", "icmp", "icmp4", "icmp6", "echo", "ptb", "mtu", "pfc", "pause", "pauses", "relay",
             "tunnel", "tunnels", "carrier", "gateway", "roce", "rsvp", "credit"}
NODE_MAY_NAME = {
    "classify_to_neighbor": "sends to any station on a link",
    "icmp_suppressed": "an error that finds its mailbox full is counted where it is dropped",
}


CALLED_BY_OTHERS = {"main", "setsockopt", "dlopen", "access"}  # by libc; by DPDK: its driver (drivers/kernel_if.c), its EAL (app/sluice-lab/quick_start.c)

# Used by the fuzz targets, which are built apart.
FUZZED = {"cfg_remote_load_text"}

# Libraries whose files belong to one plane each, and the pure files in them, which run wherever their caller runs.
PLANED = ("lib/fib", "lib/hmac", "lib/neigh", "lib/classify", "lib/srv6", "lib/rewrite", "lib/queue", "lib/node", "lib/service")
NO_PLANE = {"lib/neigh/nd.c", "lib/neigh/neigh_cache.c"}


def sources(*suffixes, under=("lib", "drivers", "app")):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *under], cwd=TOP,
                            capture_output=True, text=True, check=True).stdout.split()
    return [f for f in listed if f.endswith(suffixes) and os.path.exists(os.path.join(TOP, f))]


def includes(path):
    with open(os.path.join(TOP, path)) as f:
        return re.findall(r'^#include\s+[<"]([^>"]+)[>"]', f.read(), re.M)


def library_order():
    order = []
    for path in ("lib/meson.build", "lib/lab/meson.build"):  # the lab is the last library, after drivers
        with open(os.path.join(TOP, path)) as f:
            order += re.findall(r"(?:static_library\('|# headers only: )(\w+)", f.read())
    return order


def check_layers():
    order = library_order()
    for path in sources(".c", ".h"):
        if not path.startswith("lib/"):
            continue
        own = path.split("/")[1]
        if own not in order:
            yield f"{path}: lib/{own} is not in lib/meson.build"
            continue
        for include in includes(path):
            other = include.split("/")[0]
            if include.startswith(LAB_DRIVER) and own == "lab":
                continue
            if include.startswith(("app/", "drivers/")):
                yield f"{path}: includes {include}"
            elif "/" in include and other in order and order.index(other) > order.index(own):
                yield f"{path}: {own} comes before {other}, but includes {include}"


def check_pure():
    for path in sources(".c", ".h"):
        inside = path.removeprefix("lib/")
        if path in DPDK_OUTSIDE or not (inside.split("/")[0] in PURE or inside in PURE_FILES):
            continue
        for include in includes(path):
            if include.startswith("rte_") or include in ("pkt/pkt.h", "pkt/fifo.h"):
                yield f"{path}: includes {include}"


def code_of(path):
    """The text of a C file without comments and strings, but with the paths it includes."""
    with open(os.path.join(TOP, path)) as f:
        text = f.read()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r'(?<!#include )"(\\.|[^"\\\n])*"', '""', text)


def check_services():
    for path in sources(".c", ".h", under=("lib/node",)):
        names = set(re.findall(r"\w+", code_of(path) + " " + os.path.basename(path))) - set(NODE_MAY_NAME)
        for name in sorted(names):
            if PROTOCOLS & set(name.lower().split("_")) or name.lower().startswith("neigh_cache"):
                yield f"{path}: {name}: a protocol is a service (lib/node/service.h)"
    table = "lib/service/services.h"
    with open(os.path.join(TOP, table)) as f:
        rows = re.findall(r"^\tX\(\w+, (\w+)\)", f.read(), re.M)
    folders = {p.split("/")[2] for p in sources(".c", ".h", under=("lib/service",)) if p.count("/") > 2}
    for name in sorted(folders ^ set(rows)):
        yield f"{table}: {name} has no row" if name in folders else f"lib/service/{name} does not exist, but {table} has a row for it"


def check_ethdev():
    for path in sources(".c", ".h"):
        if not path.startswith("drivers/") and "rte_ethdev.h" in includes(path):
            yield f"{path}: includes rte_ethdev.h"


def archives(build, target):
    """Static libraries that a program of the build is linked with."""
    text = subprocess.run(["ninja", "-C", os.path.join(TOP, build), "-t", "query", target], capture_output=True, text=True,
                          check=True).stdout
    return set(re.findall(r"\S+\.a\b", text))


def is_end(path, name, kind):
    """Of an include or a symbol (kind 0 or 1) in a source or an object."""
    return any(os.path.basename(source) in path and name.startswith(own[kind]) for source, own in LAB_ENDS.items())


def check_lab(build):
    for path in sources(".c", ".h"):
        if path.startswith(("lib/lab/", "app/sluice-lab/")):
            for include in includes(path):
                if not LAB_INCLUDES.match(include) and include != "app.h" and not is_end(path, include, 0):
                    yield f"{path}: includes {include}"
    objects = []
    for folder, _, files in os.walk(os.path.join(TOP, build)):
        if "/liblab.a.p" in folder or "/sluice-lab.p" in folder:
            objects += [os.path.join(folder, f) for f in files if f.endswith(".o")]
    if len(objects) < 10:
        yield f"{len(objects)} objects of the lab in {build}"
    for path in objects:
        for name in sorted(symbols(path, "--defined-only") | symbols(path, "--undefined-only")):
            if LAB_FORBIDDEN.match(name) and not is_end(os.path.basename(path), name, 1):
                yield f"{os.path.basename(path)}: {name} is the appliance's own business"
    ours, appliance = archives(build, "app/sluice-lab/sluice-lab"), archives(build, "app/sluice/sluice")
    needed = {a for a in appliance if a.startswith("lib/")}
    for missing in sorted(needed - ours - LAB_WITHOUT):
        yield f"sluice-lab is not linked with {missing}"


def check_circles(build):
    edges = objects.uses(objects.built_from(os.path.join(TOP, build), "lib", "drivers", "app"))
    if not edges:
        yield f"no objects in {build}"
    for circle in objects.circles(edges):
        yield ", ".join(f"{user} uses {min(edges[user, owner])} of {owner}" for user, owner in zip(circle, circle[1:]))


def check_datapath(build):
    calls = objects.Calls(objects.built_from(os.path.join(TOP, build), "lib", "drivers"))
    roots = [(source, name) for name, there in calls.functions.items() for source in there if source.endswith("_dp.c")]
    if len(roots) < 50:
        yield f"{len(roots)} functions of *_dp.c in {build}"
    for source, name in DATAPATH_POINTED:
        if source not in calls.functions[name]:
            yield f"DATAPATH_POINTED: there is no function {name} in {source}"
    for name in DATAPATH_CUTS - calls.functions.keys():
        yield f"DATAPATH_CUTS: there is no function {name}"
    reached = calls.closure(roots + DATAPATH_POINTED, DATAPATH_CUTS)
    for place, caller in reached.items():
        if isinstance(place, str) and not DATAPATH_IMPORTS.match(place):
            way = [place]
            while caller:
                way.append(f"{caller[1]} ({caller[0]})")
                caller = reached[caller]
            yield " < ".join(way)
        elif place in calls.indirect and os.path.basename(place[0]) not in DATAPATH_POINTS:
            yield f"{place[1]} ({place[0]}) calls through a pointer: add it to DATAPATH_POINTS, and what it calls to DATAPATH_POINTED"


def symbols(path, which):
    text = subprocess.run(["nm", which, "-P", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in text.splitlines() if line and not line.endswith(":")}


def check_private(build):
    """A function that only its own file uses is static. Tests may be the other user."""
    defined, used = {}, set()
    for folder, _, files in os.walk(os.path.join(TOP, build)):
        for path in (os.path.join(folder, f) for f in files if f.endswith(".o")):
            place = os.path.relpath(path, os.path.join(TOP, build))
            used |= symbols(path, "--undefined-only")
            if place.startswith(("lib/", "drivers/", "app/")):
                text = subprocess.run(["nm", "--defined-only", "-P", path], capture_output=True, text=True, check=True).stdout
                defined.update({line.split()[0]: place for line in text.splitlines() if line.split()[1] == "T"})
    for name, place in sorted(defined.items()):
        if name not in used and name not in CALLED_BY_OTHERS and name not in FUZZED:
            yield f"{os.path.basename(place)}: {name} is used in no other file: make it static"


def check_size():
    for path in sources(".c", ".h", under=("lib", "drivers", "app", "test")):
        with open(os.path.join(TOP, path)) as f:
            lines = sum(1 for _ in f)
        if lines > 800:
            yield f"{path}: {lines} lines"


def check_heads():
    """Each C file begins with its licence and a comment that describes the file."""
    for path in sources(".c"):
        with open(os.path.join(TOP, path)) as f:
            licence, second = f.readline(), f.readline()
        if "SPDX-License-Identifier" not in licence or not second.startswith("/*"):
            yield f"{path}: after the licence comes a comment: what the file does, and which thread or lcore runs it"


def check_format():
    files = sources(".c", ".h", under=("lib", "drivers", "app", "test"))
    done = subprocess.run(["clang-format", "--dry-run", *files], cwd=TOP, capture_output=True, text=True, check=False)
    for path in sorted(set(re.findall(r"^([^\s:]+\.[ch]):\d+:\d+: ", done.stderr, re.M))):
        yield f"{path} is not formatted: run clang-format -i {path}"


def check_generated(build):
    yield from check_lab_reference(build)
    sluice = os.path.join(TOP, build, "app", "sluice", "sluice")
    for path, page in GENERATED:
        now = subprocess.run([sluice, "--print", page], capture_output=True, text=True, check=True).stdout
        with open(os.path.join(TOP, path)) as f:
            if f.read() != now:
                yield f"{path} is not up to date: run {build}/app/sluice/sluice --print {page} > {path}"


def check_lab_reference(build):
    lab = os.path.join(TOP, build, "app", "sluice-lab", "sluice-lab")
    now = subprocess.run([lab, "--print", "reference"], capture_output=True, text=True, check=True).stdout
    with open(os.path.join(TOP, "config/lab/reference.yaml")) as f:
        if f.read() != now:
            yield f"config/lab/reference.yaml is not up to date: run {build}/app/sluice-lab/sluice-lab --print reference"


def check_planes(build):
    """The suffix of a file names the plane that runs it."""
    for path in sources(".c", under=PLANED):
        if not path.endswith(("_dp.c", "_cp.c", "_ctl.c")) and path not in NO_PLANE:
            yield f"{path}: ends neither in _dp (rx and worker lcores) nor _cp (control lcore) nor _ctl (management thread)"
    deps = subprocess.run(["ninja", "-C", os.path.join(TOP, build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    for entry in deps.split("\n\n"):
        target = entry.split(":")[0]
        if target.endswith("_dp.c.o") and "/config/model.h" in entry:
            yield f"{os.path.basename(target)}: includes config/model.h; the data path knows the snapshot, not the configuration"


def check_vendored():
    """Every file of a folder but its page and SHA256SUMS is in SHA256SUMS; the version of the page is in one of them."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "third_party"], cwd=TOP, capture_output=True, text=True,
                            check=True).stdout.split()
    for folder in sorted({os.path.dirname(f) for f in listed}):
        with open(os.path.join(TOP, folder, "SHA256SUMS")) as f:
            sums = {name: digest for digest, name in (line.split() for line in f)}
        with open(os.path.join(TOP, folder, "README.md")) as f:
            version = re.search(r"^\| version \| ([\d.]+)", f.read(), re.M)[1].encode()
        bodies = {}
        for path in listed:
            if os.path.dirname(path) == folder and os.path.basename(path) not in ("README.md", "SHA256SUMS"):
                with open(os.path.join(TOP, path), "rb") as f:
                    bodies[os.path.basename(path)] = f.read()
        for name in sorted(sums.keys() | bodies.keys()):
            if name not in bodies or hashlib.sha256(bodies[name]).hexdigest() != sums.get(name):
                yield f"{folder}/{name} is not the file of {folder}/SHA256SUMS"
        if not any(b"v" + version in body for body in bodies.values()):
            yield f"{folder}/README.md: no file is of version {version.decode()}"


def check_python():
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.py"], cwd=TOP, capture_output=True, text=True,
                           check=True).stdout.splitlines()
    said = subprocess.run(["pyflakes3", *(f for f in files if os.path.exists(os.path.join(TOP, f)))], cwd=TOP, capture_output=True,
                          text=True, check=False)
    yield from (line for line in (said.stdout + said.stderr).splitlines() if "imported but unused" not in line)


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    return tap.tell([("layers", check_layers()), ("pure libraries", check_pure()), ("lib/node names no protocol", check_services()), ("ethdev in drivers only", check_ethdev()),
                     ("the lab has no forwarding of its own", check_lab(build)),
                     ("no circles of files", check_circles(build)), ("data path calls", check_datapath(build)), ("file sizes", check_size()), ("format", check_format()), ("file comments", check_heads()), ("planes", check_planes(build)), ("private functions", check_private(build)),
                     ("generated files", check_generated(build)), ("vendored files", check_vendored()), ("Python", check_python())])


if __name__ == "__main__":
    sys.exit(main())
