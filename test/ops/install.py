#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""meson install, the systemd unit run as systemd would, and the manual pages. Prints TAP."""
import argparse
import configparser
import os
import re
import select
import shutil
import socket
import sys
import tempfile

from live_node import LiveNode
from tap_main import TOP, expect, expect_match, machine, report, run

PREFIX = "usr/local"
UNIT = f"{PREFIX}/lib/systemd/system/sluice@.service"
PAGES = ("sluice.8", "sluicectl.1", "sluice.yaml.5")


class Installation:
    """The files that meson installs, below a temporary folder."""

    def __init__(self, build):
        self.root = tempfile.mkdtemp(prefix="sluice-install-")
        self.code, self.log = run(["meson", "install", "-C", build, "--no-rebuild", "--destdir", self.root], timeout=120)

    def path(self, name):
        return os.path.join(self.root, name)

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def unit(self):
        """The unit's sections; the last value of a repeated key counts."""
        parser = configparser.ConfigParser(strict=False, interpolation=None)
        parser.optionxform = str
        parser.read_string(self.read(UNIT))
        return parser

    def command(self, key):
        """ExecStart or ExecReload, with the programs that were installed here, without arguments of the instance."""
        return self.unit()["Service"][key].replace(f"/{PREFIX}/", self.path(PREFIX) + "/").split()


def installs_everything(i):
    expect(i.code == 0, i.log)
    for name in ("sbin/sluice", "bin/sluicectl", "sbin/sluice-bind-nic", "share/man/man8/sluice.8",
                 "share/man/man1/sluicectl.1", "share/man/man5/sluice.yaml.5", "share/sluice/grafana-sluice.json",
                 "share/sluice/alerts.yaml", "share/sluice/reference.yaml", "share/sluice/examples/day/gateway.yaml",
                 "share/sluice/examples/demo/1-un/leaf1.yaml", "share/doc/sluice/LICENSE", "share/doc/sluice/LICENSE.uplot"):
        expect(os.path.isfile(i.path(f"{PREFIX}/{name}")), f"{name} is missing:\n{i.log}")
    for name in ("sbin/sluice", "bin/sluicectl", "sbin/sluice-bind-nic"):
        code, out = run([i.path(f"{PREFIX}/{name}"), "--help"])
        expect(code == 0 and "usage: " in out, f"{name} --help ended with {code}: {out}")


def examples_are_valid(i):
    for folder, _, files in os.walk(i.path(f"{PREFIX}/share/sluice/examples")):
        for name in files:
            code, out = run([i.path(f"{PREFIX}/sbin/sluice"), "-c", os.path.join(folder, name), "--check"])
            expect(code == 0, f"{name}: {out}")


def unit_is_valid(i):
    """With the programs where they are: systemd-analyze looks whether they exist."""
    folder = tempfile.mkdtemp(prefix="sluice-unit-")
    try:
        text = i.read(UNIT).replace(f"/{PREFIX}/", i.path(PREFIX) + "/")
        expect(text.count(i.path(PREFIX)) == 2, "the unit does not name the installed programs")
        with open(os.path.join(folder, "sluice@.service"), "w") as f:
            f.write(text)
        code, out = run(["systemd-analyze", "verify", "--man=no", os.path.join(folder, "sluice@gateway.service")])
        ours = [line for line in out.splitlines() if "sluice" in line]
        expect(code == 0 and not ours, f"ended with {code}: {out}")
        code, out = run(["systemd-analyze", "security", "--offline=true", "--threshold=30",
                         os.path.join(folder, "sluice@.service")])
        expect(code == 0, f"more exposed than 3.0:\n{out[-400:]}")
    finally:
        shutil.rmtree(folder)


def unit_keeps_the_devices(i):
    """Settings that deny /dev/vfio, hugepages or locked memory must be absent."""
    service = i.unit()["Service"]
    for key in ("PrivateDevices", "DevicePolicy", "DeviceAllow", "ProtectClock", "PrivateNetwork", "PrivateUsers",
                "MemoryDenyWriteExecute", "DynamicUser"):
        expect(key not in service, f"{key} takes away what DPDK needs")
    expect(service["LimitMEMLOCK"] == "infinity", "memory cannot be locked")
    expect(service["RuntimeDirectoryPreserve"] == "yes", "one node's end would remove the sockets of the others")


class Manager:
    """systemd's side of a Type=notify unit."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="sluice-notify-")
        self.path = os.path.join(self.folder, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)

    def wait_for(self, state, seconds):
        deadline = machine.Deadline(seconds)
        while not deadline.passed():
            if select.select([self.socket], [], [], 0.1)[0] and self.socket.recv(4096).decode() == state:
                return True
        return False

    def close(self):
        self.socket.close()
        shutil.rmtree(self.folder)


def as_systemd_runs_it(i, key):
    """The command of a key with the unit's bounding set and no new privileges."""
    capabilities = i.unit()["Service"]["CapabilityBoundingSet"].split()
    bounding = "-all," + ",".join("+" + c.removeprefix("CAP_").lower() for c in capabilities)
    return ["setpriv", "--no-new-privs", f"--bounding-set={bounding}", f"--inh-caps={bounding}", *i.command(key)]


def unit_runs(i):
    """Ready, fed, reloaded with success and failure, stopped: with the capabilities that the unit leaves."""
    manager = Manager()
    start = as_systemd_runs_it(i, "ExecStart")
    at = start.index("-c")
    expect(start[at:] == ["-c", "/etc/sluice/%i.yaml"], f"{start}")
    try:
        with LiveNode(start[:at], env={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "600000"}) as node:
            expect(manager.wait_for("READY=1", 20), "not ready")
            for _ in range(3):
                expect(manager.wait_for("WATCHDOG=1", 5), "the watchdog is not fed")
            reload = [node.name if word == "%i" else word for word in as_systemd_runs_it(i, "ExecReload")]
            code, out = run(reload)
            expect(code == 0, f"reload ended with {code}: {out}")
            good = node.text()
            node.write(good.replace("behavior: uN", "behavior: uM"))
            code, out = run(reload)
            expect(code == 1, f"reload of a wrong file ended with {code}: {out}")
            expect_match(r"behavior: expected one of .*found 'uM'", out)
            expect(manager.wait_for("WATCHDOG=1", 5), "a refused reload has disturbed the node")
            node.process.terminate()
            expect(manager.wait_for("STOPPING=1", 5), "does not say that it stops")
            expect(node.stop() == 0, f"ended with {node.process.returncode}: {node.output}")
    finally:
        manager.close()


def wrong_configuration_is_not_restarted(i):
    statuses = i.unit()["Service"]["RestartPreventExitStatus"].split()
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write("node: {}\n")
        f.flush()
        code, out = run([i.path(f"{PREFIX}/sbin/sluice"), "-c", f.name])
    expect(str(code) in statuses, f"{code} is not among {statuses}: {out}")


def manual_pages_render(i):
    for page in PAGES:
        path = i.path(f"{PREFIX}/share/man/man{page[-1]}/{page}")
        code, out = run(["groff", "-ww", "-Tutf8", "-man", "-z", path])
        expect(code == 0 and not out, f"{page}: {out}")
        code, out = run(["groff", "-P-cbou", "-Tutf8", "-man", path])
        for section in ("NAME", "DESCRIPTION", "SEE ALSO"):
            expect(re.search(rf"^{section}$", out, re.M), f"{page} has no section {section}")


def manual_pages_tell_all(i):
    """Every option of --help and every command of the table is in a page, as it is typed."""
    for program, page in (("sbin/sluice", "man8/sluice.8"), ("bin/sluicectl", "man1/sluicectl.1")):
        _, text = run(["groff", "-P-cbou", "-Tascii", "-man", "-rLL=200n", i.path(f"{PREFIX}/share/man/{page}")])
        options = re.findall(r"--[a-z-]+", run([i.path(f"{PREFIX}/{program}"), "--help"])[1])
        expect(len(options) >= 4, f"{program} has only {options}")
        for option in options:
            expect(option in text, f"{page} lacks {option}")
    with open(os.path.join(TOP, "docs", "commands.md")) as f:
        commands = re.findall(r"^## `(.*)`$", f.read(), re.M)
    for command in commands:
        expect(command in text, f"sluicectl(1) lacks '{command}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    installation = Installation(parser.parse_args().build)
    tests = [
        ("meson install", installs_everything),
        ("installed examples are valid", examples_are_valid),
        ("the unit is valid", unit_is_valid),
        ("the unit leaves DPDK its devices", unit_keeps_the_devices),
        ("the unit's commands work with its capabilities", unit_runs),
        ("a wrong configuration is not started again and again", wrong_configuration_is_not_restarted),
        ("manual pages render without warnings", manual_pages_render),
        ("manual pages tell all options and commands", manual_pages_tell_all),
    ]
    try:
        return report([(name, lambda test=test: test(installation)) for name, test in tests])
    finally:
        shutil.rmtree(installation.root)


if __name__ == "__main__":
    sys.exit(main())
