#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""sluice preflight on machines made of files: its findings, and the command that fixes each. Prints TAP."""
import argparse
import json
import os
import re
import sys

from fake_machine import FakeMachine
from tap_main import TOP, expect, expect_match, report, run

NIC, OTHER = "0000:17:00.0", "0000:17:00.1"
CONFIG = """
node: {{name: pre, loopback: fd00::d, usid: {{block: "5f00:0::/32", node: 0x0100}}, infrastructure: ["fd00::/16"]}}
lcores: {lcores}
memory: {memory}
ports:
  - {{name: p0, device: "{device}", side: {side}, addresses: [{addresses}]{pfc}}}
"""
# CPUs 0 and 1 are there on every machine that builds this
LCORES = '{control: 0, rx: [1], worker: [1], cpus: "0@0,1@1"}'
I40E, ALIAS = "pci:v00008086d00001572sv00008086sd00000007bc02sc00i00", "alias pci:v00008086d00001572sv*sd*bc*sc*i* i40e\n"

LABELS = {"ok": "ok", "advice": "warning", "must": "error"}  # verdicts of JSON, words of the text


def good_machine():
    """Two nodes; CPU 1 isolated at node 0, a NIC of node 0 bound to vfio-pci. Nothing to fix."""
    m = FakeMachine()
    m.write("proc/mounts", "hugetlbfs /dev/hugepages hugetlbfs rw 0 0\n")
    m.write("proc/cpuinfo", "vendor_id\t: GenuineIntel\n")
    m.write(f"lib/modules/{os.uname().release}/modules.alias", "alias pci:v00008086d00001521sv* igb\n"
            "alias pci:v000019E5d0000A222sv* hns3\n" + ALIAS)
    m.hugepages(0, 1024, 1000)
    m.hugepages(1, 1024, 1024)
    m.cpu(0, governor="performance")
    m.cpu(1, governor="performance")
    m.isolate("1")
    m.pci(NIC, "vfio-pci", group=5, modalias=I40E)
    m.write("sys/devices/system/node/node0/cpulist", "0-1\n")
    m.write("sys/devices/system/node/node1/cpulist", "8-15\n")
    return m


class Preflight:
    def __init__(self, sluice):
        self.sluice = sluice

    def run(self, m, *args, config=None):
        """Exit status, findings, text."""
        command = [self.sluice, "preflight", "--root", m.root, *args]
        if config is not None:
            m.write("config.yaml", CONFIG.format(**dict({"lcores": LCORES, "memory": "{buffers: 32K}",
                                                         "device": NIC, "pfc": "", "side": "wan", "addresses": '"2001:db8:a::2/64"'}, **config)))
            command += ["-c", m.path("config.yaml")]
        code, out = run([*command, "-j"])
        text_code, text = run(command)
        expect(code == text_code, f"ends with {code} for JSON and {text_code} for text")
        return code, json.loads(out), text

    def expect(self, m, verdict, about, pattern, fix, **more):
        """One finding of that kind, with a command that matches."""
        code, findings, text = self.run(m, config=more)
        found = [f for f in findings if f["about"] == about and re.search(pattern, f["found"])]
        expect(len(found) == 1, f"expected one finding about {about} like /{pattern}/:\n{text}")
        expect(found[0]["verdict"] == verdict, f"{found[0]}")
        expect(re.fullmatch(fix, found[0]["mend"]), f"expected the command /{fix}/: {found[0]}")
        expect(code == (verdict == "must"), f"ended with {code}:\n{text}")
        expect_match(rf"(?m)^{LABELS[verdict]} +{about}: .*{pattern}", text)
        if fix:
            expect_match(rf"(?m)^        fix: {fix}$", text)


def nothing_to_fix(p):
    with good_machine() as m:
        code, findings, text = p.run(m, config={})
        expect(code == 0, text)
        expect(all(f["verdict"] == "ok" and not f["mend"] for f in findings), text)
        expect_match(r"(?m)^0 errors, 0 warnings$", text)
        for about in ("hugepages", "IOMMU", "VFIO", "NIC", "NIC and PFC", "memory", "isolation"):
            expect(any(f["about"] == about for f in findings), f"nothing about {about}:\n{text}")
        expect_match(r"NUMA node 0: 1024 pages of 2 MB, 1000 free", text)
        expect_match(r"MB needed, from hugepages", text)


def hugepages_missing(p):
    with good_machine() as m:
        m.hugepages(0, 0, 0)
        p.expect(m, "advice", "hugepages", "NUMA node 0 has none",
                 r"echo \d+ > /sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages")
        _, findings, text = p.run(m, config={"memory": "{buffers: 32K, hugepages: off}"})
        expect(not [f for f in findings if f["about"] == "hugepages" and f["verdict"] != "ok"],
               f"asks for hugepages that are off:\n{text}")


def hugepages_on_the_wrong_node(p):
    """Free hugepages of another node do not help."""
    with good_machine() as m:
        m.hugepages(0, 10, 4)
        config = {"memory": "{buffers: 32K, hugepages: on}"}
        code, findings, text = p.run(m, config=config)
        found = next(f for f in findings if f["about"] == "memory")
        need = int(re.search(r"NUMA node 0 has 8 MB of free hugepages and (\d+) MB are needed", found["found"]).group(1))
        # six pages are in use; the file takes the total
        expect(found["mend"] == f"echo {(need + 1) // 2 + 6} > /sys/devices/system/node/node0/hugepages/"
               "hugepages-2048kB/nr_hugepages", f"{need} MB: {found}")
        expect(code == 1, text)


def hugetlbfs_missing(p):
    with good_machine() as m:
        m.write("proc/mounts", "tmpfs /dev/shm tmpfs rw 0 0\n")
        p.expect(m, "advice", "hugepages", "no hugetlbfs is mounted",
                 r"mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages")


def iommu_off(p):
    for vendor, option in (("GenuineIntel", "intel"), ("AuthenticAMD", "amd")):
        with FakeMachine() as m:
            m.write("proc/cpuinfo", f"vendor_id\t: {vendor}\n")
            m.pci(NIC, "vfio-pci")
            _, findings, text = p.run(m)
            found = next(f for f in findings if f["about"] == "IOMMU")
            expect(found["mend"] == f"add to the kernel's command line: {option}_iommu=on iommu=pt", text)


def nic_with_the_kernel(p):
    with good_machine() as m:
        m.pci(OTHER, "ixgbe", group=6)
        p.expect(m, "advice", "NIC", f"{OTHER}: driver ixgbe", f"scripts/bind-nic bind {OTHER}")
        p.expect(m, "must", "device", "port p0 .0000:17:00.1.: bound to kernel driver ixgbe",
                 f"dpdk-devbind.py -b vfio-pci {OTHER}", device=OTHER)


def nic_that_is_not_there(p):
    with good_machine() as m:
        p.expect(m, "must", "device", "there is no PCI device 0000:99:00.0", "", device="0000:99:00.0")


def vfio_missing(p):
    with FakeMachine() as m:
        m.pci(NIC, "ixgbe")
        _, findings, text = p.run(m)
        found = next(f for f in findings if f["about"] == "VFIO")
        expect(found["mend"] == "modprobe vfio-pci" and found["verdict"] == "advice", text)


def mac_control(p):
    """Known by the identity of the device, whatever it is bound to."""
    with good_machine() as m:
        m.pci(OTHER, "ixgbe", group=6)
        m.pci("0000:18:00.0", "vfio-pci", group=7, modalias="pci:v0000FFFFd0000FFFF")
        _, findings, text = p.run(m)
        said = {f["found"].split(" ")[0]: f for f in findings if f["about"] == "NIC and PFC"}
        expect_match(r"\(i40e\): .*drops those that software sends", said[NIC]["found"])
        expect_match(r"\(ixgbe\): .*PFC in hardware", said[OTHER]["found"])
        expect(said["0000:18:00.0"]["verdict"] == "advice" and "unknown" in said["0000:18:00.0"]["found"], text)


def lossless_ports(p):
    """The findings of a start on a port with lossless classes."""
    lossless = ", speed: 10G, pfc: {priorities: [3], learn: true, buffer: b%s}}\n" \
               "buffer-profiles:\n  - {name: b, min-frame: 1024"
    change = "use a NIC of another driver .*"
    with good_machine() as m:
        p.expect(m, "must", "PFC", r"port p0 .*i40e\): .*would not start", change, pfc=lossless % "")
        p.expect(m, "advice", "PFC", r"port p0 .*i40e\): .*blind: accept lets", change, pfc=lossless % ", blind: accept")
    with good_machine() as m:
        m.pci(OTHER, "mlx5_core", group=6)
        p.expect(m, "must", "PFC", r"port p0 .*mlx5_core\): .*would not start", change, device=OTHER, pfc=lossless % "")
        _, findings, text = p.run(m, config={"device": OTHER, "pfc": lossless % ""})
        expect(any(f["about"] == "RoCE" and "4791" in f["found"] for f in findings), text)
    relay = ", speed: 10G%s}\n  - {name: p1, device: net_null1, side: wan, addresses: [\"2001:db8:c::2/64\"]}\n" \
            "routes: [{prefix: \"5f00:2::/32\", port: p1, nexthop: \"2001:db8:c::3\"}]\n" \
            "sids: [{sid: \"5f00:1:1:d2::/64\", behavior: End.DX2, port: p0}]\n" \
            "buffer-profiles: [{name: b, min-frame: 1024}]\npfc-relays:\n  - {name: r, port: p0%s"
    reads, writes = ", segments: [\"5f00:2::\"]", ", sid: \"5f00:1:1:d2::/64\", outage: 50"
    own = ", pfc: {priorities: [3], learn: true, buffer: b%s}"
    with good_machine() as m:
        m.pci(OTHER, "vfio-pci", group=6, modalias="pci:v000019E5d0000A222sv")
        obeys = {"device": OTHER, "side": "dc", "addresses": "\"2001:db8:b::2/64\""}
        p.expect(m, "must", "PFC", r"port p0 .*hns3\): .*would not start.*relay of this port would receive none", change,
                 pfc=relay % (own % "", reads), **obeys)
        p.expect(m, "advice", "PFC", r"port p0 .*hns3\): .*blind: accept lets", change, pfc=relay % (own % ", blind: accept", reads), **obeys)
        p.expect(m, "must", "PFC", r"port p0 .*hns3\): .*neither passes", change, pfc=relay % (own % ", hardware: off", writes), **obeys)
        p.expect(m, "ok", "PFC", r"port p0 .*hns3\): ", "", pfc=relay % (own % "", writes), **obeys)
    with good_machine() as m:
        p.expect(m, "must", "PFC", r"port p0 .*i40e\): .*could not pause the gateway", change, side="dc", addresses="\"2001:db8:b::2/64\"", pfc=relay % ("", writes))
    with good_machine() as m:
        m.pci(OTHER, "vfio-pci", group=6, modalias="pci:v00008086d00001521sv")
        p.expect(m, "ok", "PFC", r"port p0 .*igb\): passes MAC control frames", "", device=OTHER, pfc=lossless % "")


def isolation(p):
    for isolated, quiet, wanted in (("", "", "1"), ("1", "", "1"), ("4-6", "4-6", "1,4-6")):
        with good_machine() as m:
            m.isolate(isolated, quiet)
            p.expect(m, "advice", "isolation", "CPU 1: other tasks",
                     f"add to the kernel's command line: isolcpus={wanted} nohz_full={wanted} rcu_nocbs={wanted}")


def several_cpus_are_one_list(p):
    with good_machine() as m:
        m.isolate("")
        p.expect(m, "advice", "isolation", "CPUs 0-1: ", r"add .*: isolcpus=0-1 nohz_full=0-1 rcu_nocbs=0-1",
                 lcores='{control: 2, rx: [0], worker: [1], cpus: "0@0,1@1,2@0"}')


def governor(p):
    with good_machine() as m:
        m.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n")
        p.expect(m, "advice", "frequency", "governor powersave on CPU 1",
                 r"for c in 1; do echo performance > /sys/devices/system/cpu/cpu\$c/cpufreq/scaling_governor; done")


def hardware_threads(p):
    with good_machine() as m:
        m.write("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,9\n")
        p.expect(m, "advice", "CPUs", "CPU 1 shares its core with CPU 9", "echo 0 > /sys/devices/system/cpu/cpu9/online")
        m.isolate("1,9")
        code, findings, text = p.run(m, config={})
        expect(not [f for f in findings if f["verdict"] != "ok"], text)
    with good_machine() as m:
        m.isolate("0-1")
        for cpu in (0, 1):
            m.write(f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list", "0-1\n")
        p.expect(m, "advice", "CPUs", "CPUs 0 and 1 are threads of one core", "choose a CPU of another core in lcores.cpus",
                 lcores='{control: 2, rx: [0], worker: [1], cpus: "0@0,1@1,2@0"}')


def shared_cpu(p):
    with good_machine() as m:
        p.expect(m, "advice", "CPUs", "2 lcores share CPU 1", "give each lcore a CPU of its own in lcores.cpus",
                 lcores='{control: 0, rx: [1], worker: [2], cpus: "0@0,1@1,2@1"}')


def no_such_cpu(p):
    with good_machine() as m:
        p.expect(m, "must", "CPUs", "lcore 1 is placed on CPU 1000", "",
                 lcores='{control: 0, rx: [1], worker: [1], cpus: "0@0,1@1000"}')


def far_nic(p):
    with good_machine() as m:
        m.pci(OTHER, "vfio-pci", group=6, node=1, modalias=I40E)
        p.expect(m, "advice", "NUMA", "port p0 .0000:17:00.1. is on node 1, the CPU that serves it on another: 1$",
                 "choose CPUs of node 1 in lcores.cpus: 8-15", device=OTHER)


def far_lcores_of_others(p):
    """Only the lcores that serve a port count; queues and ports go to lcores near them by themselves."""
    with good_machine() as m:
        m.pci(OTHER, "vfio-pci", group=6, node=1, modalias=I40E)
        os.remove(m.path("sys/devices/system/node/node0/cpu1"))
        m.link("sys/devices/system/node/node1/cpu1", "sys/devices/system/cpu/cpu1")
        lcores = "{control: 0, rx: [0, 1], worker: [0, 1]}"
        _, findings, text = p.run(m, config={"lcores": lcores, "device": OTHER})
        expect(not any(f["about"] == "NUMA" for f in findings), text)
        expect_match("MB needed on each NUMA node in use", text)
        m.hugepages(1, 0, 0)
        p.expect(m, "advice", "hugepages", "NUMA node 1 has none",
                 r"echo \d+ > /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages", lcores=lcores, device=OTHER)


def management_nic(p):
    """The NIC by which the kernel routes is never recommended, nor one below a bond, bridge or VLAN that it routes by."""
    head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
    for table, line, upper in (("route", "eno1\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", None),
                               ("route", "eno1\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n", None),
                               ("route", "br0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n", "br0"),
                               ("ipv6_route", f"{'20010db8' + 24 * '0'} 40 {32 * '0'} 00 {32 * '0'} 00000100 00000001 00000000 00000001 eno1\n",
                                None)):
        with good_machine() as m:
            m.pci(OTHER, "i40e", group=6, interface="eno1", modalias=I40E)
            m.write("proc/net/route", head)
            m.write(f"proc/net/{table}", (head if table == "route" else "") + line)
            if upper:
                m.write(f"sys/class/net/{upper}/address", "")
                m.link(f"sys/bus/pci/devices/{OTHER}/net/eno1/upper_{upper}", f"sys/class/net/{upper}")
            code, findings, text = p.run(m)
            expect(code == 0 and not any(OTHER in f["mend"] for f in findings), f"{table}: {line}:\n{text}")
            expect_match(rf"{OTHER} .eno1.: the kernel routes by it", text)
    with good_machine() as m:
        m.pci(OTHER, "i40e", group=6, interface="eno2", modalias=I40E)
        m.write("proc/net/route", head + "eno1\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n")
        m.write("proc/net/ipv6_route", f"fe80{28 * '0'} 40 {32 * '0'} 00 {32 * '0'} 00000100 00000001 00000000 00000001 eno2\n")
        _, findings, text = p.run(m)
        expect(any(f"bind {OTHER}" in f["mend"] for f in findings), text)


def receive_queues(p):
    """Whether the flows of a tunnel reach all queues, by what is known of the driver."""
    with good_machine() as m:
        p.expect(m, "advice", "RSS", "port p0 .0000:17:00.0, i40e.: RSS of the outer addresses: the flows of one tunnel stay on one queue",
                 r"remove rx-spread: device, or use a NIC of another driver \(docs/nics.md\)", pfc=", rx-queues: 4, rx-spread: device")
        _, findings, text = p.run(m, config={"pfc": ", rx-queues: 4"})
        expect(any(f["about"] == "RSS" and f["verdict"] == "ok" and "i40e): by software at the rx lcores, by flow label" in f["found"]
                   for f in findings), text)
        m.driver("mlx5_core")
        m.pci("0000:18:00.0", "mlx5_core", group=7)
        _, findings, text = p.run(m, config={"device": "0000:18:00.0", "pfc": ", rx-queues: 4"})
        expect(any(f["about"] == "RSS" and f["verdict"] == "ok" and "rte_flow rule" in f["found"] for f in findings), text)
        _, findings, text = p.run(m, config={})
        expect(not any(f["about"] == "RSS" for f in findings), text)


def bad_configuration(p):
    with good_machine() as m:
        m.write("bad.yaml", "node: {}\n")
        code, out = run([p.sluice, "preflight", "--root", m.root, "-c", m.path("bad.yaml")])
        expect(code == 1, f"ended with {code}")
        expect_match(r"bad.yaml:1:\d+: error:", out)
        expect_match(r"(?m)^error   configuration: .*bad.yaml is not valid", out)


def usage(p):
    for args, status in ((["--help"], 0), (["--nonsense"], 2), (["stray"], 2)):
        code, out = run([p.sluice, "preflight", *args])
        expect(code == status and "usage: sluice preflight" in out, f"{args}: {code}: {out}")


def odd_files(p):
    """Files with unexpected contents."""
    with good_machine() as m:
        for path in ("sys/devices/system/cpu/isolated", "sys/devices/system/cpu/nohz_full", "proc/mounts",
                     "sys/devices/system/cpu/cpu1/topology/thread_siblings_list", f"sys/bus/pci/devices/{NIC}/modalias",
                     "sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages",
                     f"lib/modules/{os.uname().release}/modules.alias"):
            for junk in ("", "\n", "-", "1-", "x" * 5000, "%s%n\n", "9" * 40 + "\n", "alias pci:[ [\n"):
                m.write(path, junk)
                code, findings, _ = p.run(m, config={})
                expect(code in (0, 1) and findings, f"{path} with {junk[:20]!r}: {code}")


def this_machine(p):
    code, out = run([p.sluice, "preflight", "-c", os.path.join(TOP, "config", "day", "gateway.yaml"), "-j"])
    expect(code in (0, 1) and json.loads(out), f"{code}: {out}")


TESTS = [
    ("nothing to fix", nothing_to_fix),
    ("no hugepages", hugepages_missing),
    ("hugepages on the wrong node", hugepages_on_the_wrong_node),
    ("no hugetlbfs", hugetlbfs_missing),
    ("IOMMU off", iommu_off),
    ("a NIC that the kernel has", nic_with_the_kernel),
    ("a NIC that is not there", nic_that_is_not_there),
    ("vfio-pci is not loaded", vfio_missing),
    ("MAC control by the NIC's identity", mac_control),
    ("ports with lossless classes", lossless_ports),
    ("isolation", isolation),
    ("several CPUs are one list", several_cpus_are_one_list),
    ("frequency governor", governor),
    ("hardware threads", hardware_threads),
    ("lcores that share a CPU", shared_cpu),
    ("a CPU that is not there", no_such_cpu),
    ("a NIC at another node", far_nic),
    ("lcores of other nodes for other ports", far_lcores_of_others),
    ("the management NIC", management_nic),
    ("receive queues", receive_queues),
    ("a bad configuration", bad_configuration),
    ("usage", usage),
    ("odd files", odd_files),
    ("this machine", this_machine),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sluice", required=True)
    preflight = Preflight(os.path.abspath(parser.parse_args().sluice))
    return report([(name, lambda test=test: test(preflight)) for name, test in TESTS])


if __name__ == "__main__":
    sys.exit(main())
