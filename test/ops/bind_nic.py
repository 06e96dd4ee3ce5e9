#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bind-nic on machines made of files, with a dpdk-devbind.py, modprobe and ip of their own. Prints TAP."""
import os
import sys

from fake_machine import FakeMachine
from tap_main import TOP, expect, expect_match, report, run

NIC, OTHER, BRIDGE = "0000:17:00.0", "0000:17:00.1", "0000:16:00.0"
ROUTE = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"

# They change the files as the real programs change a kernel, and record their arguments.
TOOLS = {
    "dpdk-devbind.py": """
[ "$1" = -b ] || exit 9
driver=$2; shift 2
[ "$1" = --force ] && shift
for nic; do
	[ -e $ROOT/refuses ] && { echo "Error: bind failed for $nic" >&2; exit 1; }
	[ -e $ROOT/ignores ] && exit 0
	ln -sfn ../../drivers/$driver $ROOT/sys/bus/pci/devices/$nic/driver
done
""",
    "modprobe": """
[ "$1" = --resolve-alias ] && { printf 'vfio_pci\\nixgbe\\n'; exit 0; }
mkdir -p $ROOT/sys/bus/pci/drivers/$1 $ROOT/sys/module/vfio/parameters
echo N > $ROOT/sys/module/vfio/parameters/enable_unsafe_noiommu_mode
""",
    "ip": "cat $ROOT/addresses\n",
}


def machine():
    m = FakeMachine()
    for name, text in TOOLS.items():
        m.write(f"bin/{name}", f'#!/bin/sh\nROOT={m.root}\necho "{name} $*" >> $ROOT/calls\n{text}')
        os.chmod(m.path("bin", name), 0o755)
    m.write("addresses", "2: eth0    inet 192.0.2.7/24 brd 192.0.2.255 scope global eth0\\\n"
                         "3: bond0    inet6 2001:db8::7/64 scope global\\\n")
    m.write("proc/self/status", "Name:\tpython3\nPPid:\t1\n")
    m.write("proc/1/status", "Name:\tinit\nPPid:\t0\n")
    m.pci(BRIDGE, "pcieport", kind="0x060400", group=5)
    m.pci(NIC, "ixgbe", group=5, interface="eth0")
    m.pci("0000:00:1f.2", "ahci", kind="0x010601")
    return m


def bind_nic(m, *args, tools=True):
    env = dict(os.environ, PATH=(m.path("bin") + ":" if tools else "") + "/usr/bin:/bin")
    return run([os.path.join(TOP, "scripts", "bind-nic"), "--root", m.root, *args], env=env)


def calls(m):
    return open(m.path("calls")).read().splitlines() if os.path.exists(m.path("calls")) else []


def driver(m, nic=NIC):
    return os.path.basename(os.readlink(m.path("sys/bus/pci/devices", nic, "driver")))


def refused(m, pattern, *args):
    code, out = bind_nic(m, *args)
    expect(code == 1, f"ended with {code}: {out}")
    expect_match(pattern, out)
    expect(not [c for c in calls(m) if c.startswith("dpdk-devbind")], f"something was bound: {calls(m)}")


def binds_and_undoes():
    with machine() as m:
        code, out = bind_nic(m, "bind", NIC)
        expect(code == 0 and driver(m) == "vfio-pci", f"{code}: {out}")
        expect("modprobe vfio-pci" in calls(m), f"vfio-pci was not loaded: {calls(m)}")
        undo = next(line for line in out.splitlines() if line.startswith("to undo: ")).removeprefix("to undo: ")
        expect(undo == f"scripts/bind-nic unbind {NIC} --driver ixgbe", undo)
        code, out = bind_nic(m, *undo.split()[1:])
        expect(code == 0 and driver(m) == "ixgbe", f"{code}: {out}")


def binds_by_interface():
    with machine() as m:
        code, out = bind_nic(m, "bind", "eth0")
        expect(code == 0 and driver(m) == "vfio-pci", f"{code}: {out}")


def binds_once():
    with machine() as m:
        bind_nic(m, "bind", NIC)
        code, out = bind_nic(m, "bind", NIC)
        expect(code == 0 and "is bound to vfio-pci already" in out, f"{code}: {out}")
        expect(len([c for c in calls(m) if c.startswith("dpdk-devbind")]) == 1, calls(m))


def unbinds_to_the_module_that_claims_it():
    with machine() as m:
        bind_nic(m, "bind", NIC)
        code, out = bind_nic(m, "unbind", NIC)
        expect(code == 0 and driver(m) == "ixgbe", f"{code}: {out}")


def lists():
    with machine() as m:
        m.pci(OTHER, "vfio-pci", node=1)
        m.write("proc/net/route", ROUTE + "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n")
        code, out = bind_nic(m, "list")
        expect(code == 0, out)
        expect_match(rf"{NIC}  ixgbe     0     eth0       it carries the default route \(eth0\)", out)
        expect_match(rf"{OTHER}  vfio-pci  1     -", out)
        expect("1f.2" not in out, out)


def refuses_the_default_route():
    with machine() as m:
        m.write("proc/net/route", ROUTE + "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n")
        refused(m, r"carries the default route \(eth0\).*--force", "bind", NIC)
        code, out = bind_nic(m, "bind", "--force", NIC)
        expect(code == 0 and driver(m) == "vfio-pci", f"{code}: {out}")
        expect(any(c.startswith("dpdk-devbind.py -b vfio-pci --force") for c in calls(m)), calls(m))


def other_routes_do_not_count():
    with machine() as m:
        m.write("proc/net/route", ROUTE + "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
                                          "eth1\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n")
        code, out = bind_nic(m, "bind", NIC)
        expect(code == 0, out)


def refuses_the_ipv6_default_route_of_a_bond():
    with machine() as m:
        m.link("sys/class/net/bond0/lower_eth0", f"sys/bus/pci/devices/{NIC}/net/eth0")
        zero = "0" * 32
        m.write("proc/net/ipv6_route", f"{zero} 00 {zero} 00 fe80{'0' * 27}1 00000400 1 0 00000003    bond0\n"
                                       f"{zero} 00 {zero} 00 {zero} ffffffff 1 0 00200200       lo\n")
        refused(m, r"carries the default route \(bond0\)", "bind", NIC)


def refuses_the_ssh_session():
    with machine() as m:
        m.write("proc/self/environ", "SSH_CONNECTION=198.51.100.1 50000 192.0.2.7 22\0")
        refused(m, r"carries this SSH session \(eth0\)", "bind", NIC)


def refuses_the_ssh_session_behind_sudo():
    with machine() as m:
        m.link("sys/class/net/bond0/lower_eth0", f"sys/bus/pci/devices/{NIC}/net/eth0")
        m.write("proc/1/environ", "HOME=/\0SSH_CONNECTION=2001:db8::1 50000 2001:db8::7 22\0TERM=xterm\0")
        refused(m, r"carries this SSH session \(bond0\)", "bind", NIC)


def refuses_without_iommu():
    with machine() as m:
        m.pci(OTHER, "ixgbe")
        refused(m, r"has no IOMMU.*intel_iommu=on.*--no-iommu", "bind", OTHER)
        code, out = bind_nic(m, "bind", "--no-iommu", OTHER)
        expect(code == 0 and driver(m, OTHER) == "vfio-pci", f"{code}: {out}")
        mode = open(m.path("sys/module/vfio/parameters/enable_unsafe_noiommu_mode")).read()
        expect(mode.strip() == "1", f"no-IOMMU mode is {mode}")


def refuses_half_an_iommu_group():
    with machine() as m:
        m.pci(OTHER, "ixgbe", group=5)
        refused(m, rf"shares IOMMU group 5 with {OTHER}, which driver ixgbe uses.*bind {NIC} {OTHER}", "bind", NIC)
        code, out = bind_nic(m, "bind", NIC, OTHER)
        expect(code == 0 and driver(m) == driver(m, OTHER) == "vfio-pci", f"{code}: {out}")


def refuses_what_is_no_nic():
    with machine() as m:
        refused(m, r"is no network controller", "bind", "0000:00:1f.2")
        refused(m, r"there is no PCI device 0000:99:00.0; see: scripts/bind-nic list", "bind", "99:00.0")
        refused(m, r"neither a PCI address", "bind", "eth7")
        refused(m, r"neither a PCI address", "bind", "../../etc")


def leaves_mellanox_alone():
    with machine() as m:
        m.pci(OTHER, "mlx5_core", group=9)
        refused(m, r"mlx5_core, which DPDK uses as it is", "bind", OTHER)


def says_when_it_did_not_work():
    for marker, pattern in (("refuses", r"bind failed for"), ("ignores", r"has driver ixgbe and not vfio-pci")):
        with machine() as m:
            m.write(marker, "")
            code, out = bind_nic(m, "bind", NIC)
            expect(code == 1, f"ended with {code}: {out}")
            expect_match(pattern, out)


def names_the_missing_package():
    with machine() as m:
        os.remove(m.path("bin/dpdk-devbind.py"))
        m.driver("vfio-pci")
        code, out = run([sys.executable, os.path.join(TOP, "scripts", "bind-nic"), "--root", m.root, "bind", NIC],
                        env={"PATH": m.path("bin")})
        expect(code == 1, f"ended with {code}: {out}")
        expect_match(r"dpdk-devbind.py is not installed; run: apt-get install dpdk", out)


TESTS = [
    ("bind, and the command that undoes it", binds_and_undoes),
    ("bind by interface", binds_by_interface),
    ("what is bound stays bound", binds_once),
    ("unbind finds the kernel driver", unbinds_to_the_module_that_claims_it),
    ("list", lists),
    ("the NIC of the default route is refused", refuses_the_default_route),
    ("other routes do not count", other_routes_do_not_count),
    ("the NIC below a bond with the IPv6 default route is refused", refuses_the_ipv6_default_route_of_a_bond),
    ("the NIC of the SSH session is refused", refuses_the_ssh_session),
    ("the NIC of the SSH session is refused behind sudo", refuses_the_ssh_session_behind_sudo),
    ("no IOMMU", refuses_without_iommu),
    ("half an IOMMU group", refuses_half_an_iommu_group),
    ("what is no NIC", refuses_what_is_no_nic),
    ("Mellanox stays with its driver", leaves_mellanox_alone),
    ("a bind that fails", says_when_it_did_not_work),
    ("a missing package is named", names_the_missing_package),
]

if __name__ == "__main__":
    sys.exit(report(TESTS))
