# SPDX-License-Identifier: BSD-3-Clause
"""
Network namespaces, veth pairs and the kernel's SRv6, for tests with Linux as the peer.

Everything has a name with this process's id in it and goes when the Net is closed; what a killed run left behind is
removed by the next one.
"""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import machine  # noqa: E402

PREFIX = "sluicetest"


class CommandFailed(Exception):
    pass


def run(command, text=None, check=True, timeout=30):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=machine.patience(timeout), check=False)
    if check and done.returncode:
        raise CommandFailed(f"{' '.join(command)}: status {done.returncode}: {done.stderr or done.stdout}")
    return done


def namespaces():
    return [line.split()[0] for line in run(["ip", "netns", "list"]).stdout.splitlines() if line]


def remove_stale():
    """Namespaces of test processes that are no more."""
    for name in namespaces():
        pid = re.fullmatch(PREFIX + r"(\d+)-.*", name)
        if pid and not os.path.exists(f"/proc/{pid[1]}"):
            run(["ip", "netns", "delete", name], check=False)


class Space:
    """One namespace."""

    def __init__(self, net, name):
        self.name = name
        self.full = f"{PREFIX}{os.getpid()}-{name}"
        run(["ip", "netns", "add", self.full])
        self.sysctl("net.ipv6.conf.all.disable_ipv6=0", "net.ipv4.ip_forward=0")
        self.ip("link set lo up")

    def command(self, *command):
        return ["ip", "netns", "exec", self.full, *map(str, command)]

    def exec(self, *command, **how):
        return run(self.command(*command), **how)

    def ip(self, *lines):
        """Commands of ip(8), one a line; the first that fails is an error."""
        run(["ip", "-n", self.full, "-batch", "-"], "\n".join(lines) + "\n")

    def sysctl(self, *settings):
        script = ""
        for setting in settings:
            key, value = setting.split("=")
            # names of interfaces have no dots here
            script += f"echo {value} > /proc/sys/{key.replace('.', '/')}\n"
        self.exec("sh", "-e", "-c", script)

    def mac(self, interface):
        return self.exec("cat", f"/sys/class/net/{interface}/address").stdout.strip()

    def popen(self, *command, **how):
        return subprocess.Popen(self.command(*command), **how)


class Net:
    def __init__(self):
        remove_stale()
        self.spaces = {}

    def space(self, name):
        self.spaces[name] = Space(self, name)
        return self.spaces[name]

    def link(self, a, a_if, b, b_if, mtu=1500):
        """A cable between two namespaces. Offloads off: frames cross it as they would cross a wire."""
        run(["ip", "link", "add", a_if, "netns", a.full, "mtu", str(mtu), "type", "veth",
             "peer", "name", b_if, "netns", b.full, "mtu", str(mtu)])
        for space, interface in ((a, a_if), (b, b_if)):
            space.exec("ethtool", "-K", interface, "tx", "off", "tso", "off", "gso", "off", "gro", "off")
            # duplicate address detection would delay the start by seconds
            space.sysctl(f"net.ipv6.conf.{interface}.accept_dad=0", f"net.ipv6.conf.{interface}.accept_ra=0",
                         f"net.ipv6.conf.{interface}.router_solicitations=0")
            space.ip(f"link set {interface} up")

    def close(self):
        for space in self.spaces.values():
            run(["ip", "netns", "delete", space.full], check=False)
        self.spaces.clear()


def make_port(space, interface):
    """The interface becomes a port of sluice: the kernel's own stack keeps silent on it."""
    space.sysctl(f"net.ipv6.conf.{interface}.disable_ipv6=1")


def make_router(space):
    """The namespace becomes a kernel router that executes SIDs; call it when its links are there."""
    interfaces = space.exec("ls", "/sys/class/net").stdout.split()
    space.sysctl("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv4.conf.all.rp_filter=0",
                 "net.ipv6.conf.all.seg6_enabled=1", "net.ipv6.conf.default.seg6_enabled=1",
                 # errors are part of the test; their limits are not
                 "net.ipv6.icmp.ratelimit=0", "net.ipv4.icmp_ratelimit=0",
                 *(f"net.ipv6.conf.{i}.seg6_enabled=1" for i in interfaces),
                 *(f"net.ipv4.conf.{i}.rp_filter=0" for i in interfaces))


def make_host(space, interface, addresses, gateways):
    """Addresses and default routes; again after the link was down."""
    space.ip(*(f"addr replace {a} dev {interface}{' nodad' if ':' in a else ''}" for a in addresses),
             *(f"route replace {'::/0' if ':' in g else '0.0.0.0/0'} via {g}" for g in gateways))
