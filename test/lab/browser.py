# SPDX-License-Identifier: BSD-3-Clause
"""Headless Chromium without a network, by its DevTools protocol over a pipe: open a page, run scripts in it, move the mouse."""
import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 90  # seconds
EXECUTABLE = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def high_pipe():
    low = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low)
    for end in low:
        os.close(end)
    return high


class Browser:
    def __init__(self, width=1400, height=1000):
        self.profile = tempfile.TemporaryDirectory()
        # Above 9: bash moves the browser's ends to descriptors 3, from which it reads commands, and 4.
        here_in, there_out = high_pipe()
        there_in, here_out = high_pipe()
        self.reader, self.writer, self.rest, self.events, self.number, self.session = here_in, here_out, b"", [], 0, None
        command = (f'exec 3<&{there_in} 4>&{there_out}; exec "$0" --headless --no-sandbox --disable-gpu --hide-scrollbars'
                   f' --window-size={width},{height}'
                   ' --host-resolver-rules="MAP * ~NOTFOUND" --remote-debugging-pipe "--user-data-dir=$1"')
        self.process = subprocess.Popen(["bash", "-c", command, EXECUTABLE, self.profile.name], pass_fds=(there_in, there_out),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there_in)
        os.close(there_out)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.writer)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.reader)
        self.profile.cleanup()

    def _read(self, end):
        while b"\0" not in self.rest:
            if not select.select([self.reader], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.reader, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.writer, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._read(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def evaluate(self, script):
        """The value of an expression in the page, as JSON carries it."""
        done = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(json.dumps(done["exceptionDetails"])[:800])
        return done["result"].get("value")

    def open(self, path):
        """Load the page; returns whether its scripts ran to their end."""
        self.events = []
        self.call("Page.navigate", url=f"file://{path}")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.evaluate("document.readyState === 'complete' && document.body.dataset.drawn === 'yes'"):
                self.settle()
                return True
            if any(e.get("method") == "Runtime.exceptionThrown" for e in self.events):
                return False
            time.sleep(0.05)
        return False

    def settle(self):
        """Wait until the page has drawn the last change."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def requests(self):
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def errors(self):
        """The page's console messages and the exceptions of its scripts."""
        return [json.dumps(e["params"])[:300] for e in self.events
                if e.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]

    def picture(self, path, x, y, width, height):
        clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
        done = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        with open(path, "wb") as f:
            f.write(base64.b64decode(done["data"]))
