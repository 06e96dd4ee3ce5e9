# SPDX-License-Identifier: BSD-3-Clause
"""A folder that looks like the /sys and /proc of some machine."""
import os
import shutil
import tempfile


class FakeMachine:
    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="sluice-machine-")
        for folder in ("sys/bus/pci/devices", "sys/bus/pci/drivers", "sys/class/net", "sys/devices/system/node/node0",
                       "proc/self"):
            os.makedirs(self.path(folder))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root)

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def write(self, path, text):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), "w") as f:
            f.write(text)

    def link(self, path, to):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        os.symlink(os.path.relpath(self.path(to), os.path.dirname(self.path(path))), self.path(path))

    def driver(self, name):
        os.makedirs(self.path("sys/bus/pci/drivers", name), exist_ok=True)

    def pci(self, address, driver=None, kind="0x020000", group=None, interface=None, node=0, modalias="pci:v1"):
        folder = f"sys/bus/pci/devices/{address}"
        self.write(f"{folder}/class", kind + "\n")
        self.write(f"{folder}/numa_node", f"{node}\n")
        self.write(f"{folder}/modalias", modalias + "\n")
        if driver:
            self.driver(driver)
            self.link(f"{folder}/driver", f"sys/bus/pci/drivers/{driver}")
        if group is not None:
            os.makedirs(self.path(f"sys/kernel/iommu_groups/{group}/devices"), exist_ok=True)
            self.link(f"sys/kernel/iommu_groups/{group}/devices/{address}", folder)
            self.link(f"{folder}/iommu_group", f"sys/kernel/iommu_groups/{group}")
        if interface:
            os.makedirs(self.path(f"{folder}/net/{interface}"))
            self.link(f"sys/class/net/{interface}", f"{folder}/net/{interface}")
            self.link(f"{folder}/net/{interface}/device", folder)

    def cpu(self, number, node=0, siblings=None, governor=None):
        folder = f"sys/devices/system/cpu/cpu{number}"
        self.write(f"{folder}/topology/thread_siblings_list", (siblings or str(number)) + "\n")
        if governor:
            self.write(f"{folder}/cpufreq/scaling_governor", governor + "\n")
        os.makedirs(self.path(f"sys/devices/system/node/node{node}"), exist_ok=True)
        self.link(f"sys/devices/system/node/node{node}/cpu{number}", folder)

    def hugepages(self, node, total, free, kb=2048):
        folder = f"sys/devices/system/node/node{node}/hugepages/hugepages-{kb}kB"
        self.write(f"{folder}/nr_hugepages", f"{total}\n")
        self.write(f"{folder}/free_hugepages", f"{free}\n")

    def isolate(self, cpus, quiet=None):
        self.write("sys/devices/system/cpu/isolated", cpus + "\n")
        self.write("sys/devices/system/cpu/nohz_full", (cpus if quiet is None else quiet) + "\n")
