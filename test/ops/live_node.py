# SPDX-License-Identifier: BSD-3-Clause
"""A node that runs while a test looks at it: one port, nothing to forward."""
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

from tap_main import machine

CONFIG = """
node: {{name: {name}, loopback: fd00::d, usid: {{block: "5f00:0::/32", node: 0x0100}}, infrastructure: ["fd00::/16"]}}
lcores: {{control: 0, rx: [1], worker: [2], cpus: "0@0,1@0,2@0"}}
idle: {{policy: sleep}}
memory: {{buffers: 32K}}
metrics: {{listen: "127.0.0.1:{port}"}}
ports:
  - {{name: p0, device: "net_null0,no-rx=1", side: wan, addresses: ["2001:db8:a::2/64"]}}
"""
SIDS = """
sids:
  - {sid: "5f00:0:100::/48", behavior: uN}
"""


class LiveNode:
    """command: how to start it, without -c FILE; more: of its configuration; env: more of the environment."""

    def __init__(self, command, more=SIDS, env=None):
        self.folder = tempfile.mkdtemp(prefix="sluice-ops-")
        self.name = f"ops{os.getpid()}"
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.file = os.path.join(self.folder, self.name + ".yaml")
        self.write(CONFIG.format(name=self.name, port=self.port) + more)
        self.process = subprocess.Popen([*command, "-c", self.file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, cwd=self.folder, env=dict(os.environ, **(env or {})))
        self.output = ""

    def write(self, text):
        with open(self.file, "w") as f:
            f.write(text)

    def text(self):
        with open(self.file) as f:
            return f.read()

    def __enter__(self):
        socket_path = f"/run/sluice/{self.name}.sock"
        deadline = machine.Deadline(30)
        while not os.path.exists(socket_path) and self.process.poll() is None and not deadline.passed():
            time.sleep(0.05)
        if not os.path.exists(socket_path):
            self.stop()
            raise RuntimeError(f"the node does not start: {self.output}")
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        """End it if it still runs. Its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.output += self.process.communicate(timeout=machine.patience(30))[0] or ""
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.output += self.process.communicate()[0] or ""
        except ValueError:
            pass  # it was read to the end before
        return self.process.returncode

    def sluicectl(self, *command):
        """Exit status, standard output and standard error together."""
        build = os.path.dirname(os.path.dirname(os.path.abspath(self.process.args[0])))
        done = subprocess.run([os.path.join(build, "sluicectl", "sluicectl"), "-n", self.name, *command],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=machine.patience(120),
                              check=False)
        return done.returncode, done.stdout

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=machine.patience(10)) as page:
            return page.read().decode()
