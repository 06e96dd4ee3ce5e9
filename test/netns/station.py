#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A station without a protocol stack: sends the frames it is given and keeps every frame it sees, in order. As a program it
runs in a namespace, on one or more interfaces, and obeys lines of JSON; as a class it is the tests' end of that program.
"""

import json
import select
import socket
import struct
import subprocess
import sys
import time

ETH_P_ALL = 3
SOL_PACKET, PACKET_AUXDATA, VLAN_VALID, VLAN_TPID_VALID = 263, 8, 0x10, 0x40
MAC_BYTES = 12  # of both addresses; a tag follows them
SNAP = 65535


def open_all(interface):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    s.bind((interface, 0))
    return s


def receive(s):
    """One frame as it was on the wire: Linux has removed the outer tag and reports it separately."""
    frame, more, _, address = s.recvmsg(SNAP, socket.CMSG_SPACE(20))
    for level, kind, data in more:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
            if status & VLAN_VALID:
                tag = struct.pack("!HH", tpid if status & VLAN_TPID_VALID else 0x8100, tci)
                frame = frame[:MAC_BYTES] + tag + frame[MAC_BYTES:]
    return frame, address[2] == socket.PACKET_OUTGOING


class Program:
    """seen: (interface, sent or received here, frame in hexadecimal), oldest first."""

    def __init__(self, interfaces):
        self.sockets = {name: open_all(name) for name in interfaces}
        self.names = {s: name for name, s in self.sockets.items()}
        self.repeated = {}  # name -> [socket, frame, interval, next time]
        self.seen = []

    def collect(self, seconds):
        """Receive for that long or until a command arrives. Returns whether one has arrived."""
        ready, _, _ = select.select([sys.stdin, *self.names], [], [], seconds)
        for s in ready:
            if s is not sys.stdin:
                try:
                    frame, own = receive(s)
                except OSError:  # the link went down; deliver the frames received before
                    continue
                self.seen.append((self.names[s], "sent" if own else "received", frame.hex()))
        return sys.stdin in ready

    def repeat(self):
        """Send the frames that are due; returns the seconds until the next one."""
        now = time.monotonic()
        for entry in self.repeated.values():
            if entry[3] <= now:
                entry[0].send(entry[1])
                entry[3] = now + entry[2]
        return max(0.0, min((e[3] - now for e in self.repeated.values()), default=1.0))

    def send(self, interface, frames, gap):
        for frame in frames:
            self.sockets[interface].send(bytes.fromhex(frame))
            time.sleep(gap)

    def begin(self, name, interface, frame, interval):
        self.repeated[name] = [self.sockets[interface], bytes.fromhex(frame), interval, 0.0]

    def end(self, name):
        del self.repeated[name]

    def take(self):
        """All frames since the last call, including those in the sockets."""
        while select.select(list(self.names), [], [], 0)[0]:
            self.collect(0)
        seen, self.seen = self.seen, []
        return seen

    def run(self):
        print(json.dumps("ready"), flush=True)
        while True:
            if not self.collect(self.repeat()):
                continue
            line = sys.stdin.readline()
            if not line:
                return
            command, *arguments = json.loads(line)
            print(json.dumps(getattr(self, command)(*arguments)), flush=True)


class Station:
    """Runs until it is closed; its namespace takes it along, too."""

    def __init__(self, space, *interfaces):
        self.interfaces, self.seen = interfaces, {name: [] for name in interfaces}
        self.process = space.popen("/usr/bin/python3", __file__, *interfaces, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise ValueError(f"station on {self.interfaces} has ended")
        return json.loads(line)

    def ask(self, *command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def send(self, *frames, interface=None, gap=0.0):
        self.ask("send", interface or self.interfaces[0], [bytes(f).hex() for f in frames], gap)

    def begin(self, name, frame, interval, interface=None):
        """Send the frame now and every `interval` seconds, until end(name)."""
        self.ask("begin", name, interface or self.interfaces[0], bytes(frame).hex(), interval)

    def end(self, name):
        self.ask("end", name)

    def take(self, interface=None, way="received"):
        """Frames seen on one interface since the last time, in order; way: received, sent or None for both."""
        for name, how, frame in self.ask("take"):
            self.seen[name].append((how, frame))
        interface = interface or self.interfaces[0]
        seen, self.seen[interface] = self.seen[interface], []
        return [bytes.fromhex(frame) for how, frame in seen if way in (how, None)]

    def forget(self):
        """The packets seen so far."""
        for interface in self.interfaces:
            self.take(interface)

    def close(self):
        self.process.kill()
        self.process.communicate()


if __name__ == "__main__":
    Program(sys.argv[1:]).run()
