#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
Programs that talk through the network under test, each run in a host's namespace. A receiver prints "ready" once it
listens; the last line of every program is its result, as JSON.
"""

import hashlib
import json
import random
import select
import socket
import struct
import sys
import time

ROCEV2 = 4791
BLOCK = 1 << 20


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def tell(**found):
    print(json.dumps(found), flush=True)


def tcp_receive(address, port):
    """Take one connection to its end."""
    with socket.socket(family(address), socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, int(port)))
        listener.listen(1)
        print("ready", flush=True)
        connection, _ = listener.accept()
    digest, total = hashlib.sha256(), 0
    while data := connection.recv(BLOCK):
        digest.update(data)
        total += len(data)
    connection.shutdown(socket.SHUT_WR)
    tell(bytes=total, sha256=digest.hexdigest())


def tcp_send(address, port, size, seed):
    """Send random bytes, and wait until the other end has closed."""
    noise, digest, left = random.Random(int(seed)), hashlib.sha256(), int(size)
    started = time.monotonic()
    with socket.create_connection((address, int(port)), timeout=20) as connection:
        while left:
            data = noise.randbytes(min(left, BLOCK))
            connection.sendall(data)
            digest.update(data)
            left -= len(data)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)
        mss = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
    tell(bytes=int(size), sha256=digest.hexdigest(), seconds=time.monotonic() - started, mss=mss)


def roce_packet(queue_pair, number, size):
    """RDMA WRITE only, as a requester sends it: BTH, RETH, data, and a place for the ICRC."""
    bth = struct.pack("!BBHII", 0x0A, 0x40, 0xFFFF, queue_pair, number & 0xFFFFFF)
    reth = struct.pack("!QII", 0x7F0000000000 + number * size, 0x1234, size)
    return bth + reth + (struct.pack("!II", queue_pair, number) * (size // 8 + 1))[:size] + bytes(4)


def roce_send(address, flows, count, size):
    """`count` packets in each of `flows` queue pairs, each from a UDP port of its own, in turn."""
    sockets = [socket.socket(family(address), socket.SOCK_DGRAM) for _ in range(int(flows))]
    for n, s in enumerate(sockets):
        s.bind(("", 49152 + n))
        s.connect((address, ROCEV2))
    for number in range(int(count)):
        for n, s in enumerate(sockets):
            s.send(roce_packet(n + 1, number, int(size)))
        time.sleep(0.002)
    tell(packets=int(flows) * int(count))


def roce_receive(address, flows, count, size, seconds):
    """Every packet must come once, in order within its queue pair, with the bytes it was sent with."""
    expected, wrong, total = {}, [], int(flows) * int(count)
    until, seen = time.monotonic() + float(seconds), 0
    with socket.socket(family(address), socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        s.bind((address, ROCEV2))
        print("ready", flush=True)
        while seen < total and time.monotonic() < until:
            if not select.select([s], [], [], 0.2)[0]:
                continue
            data = s.recv(65536)
            seen += 1
            queue_pair = struct.unpack_from("!I", data, 4)[0]
            number = expected.get(queue_pair, 0)
            if data != roce_packet(queue_pair, number, int(size)):
                psn = struct.unpack_from("!I", data, 8)[0]
                wrong.append(f"queue pair {queue_pair}: PSN {psn} came, {number} was due, {len(data)} bytes")
            expected[queue_pair] = number + 1
    tell(packets=seen, wrong=wrong[:10], flows=len(expected))


def numbered_send(address, flows, rate, seconds, size):
    """`rate` packets a second, in turn from `flows` UDP ports, each numbered from 0; ends with its input or the time."""
    sockets = [socket.socket(family(address), socket.SOCK_DGRAM) for _ in range(int(flows))]
    for n, s in enumerate(sockets):
        s.bind(("", 49152 + n))
        s.connect((address, ROCEV2))
    began, sent, pad = time.monotonic(), 0, bytes(int(size) - 16)
    print("ready", flush=True)
    while (now := time.monotonic()) < began + float(seconds):
        while sent < (now - began) * float(rate):
            n, number = sent % len(sockets), sent // len(sockets)
            sockets[n].send(struct.pack("!IId", n, number, time.monotonic()) + pad)
            sent += 1
        if select.select([sys.stdin], [], [], 0.001)[0]:
            break
    tell(packets=sent, seconds=time.monotonic() - began)


def numbered_receive(address, seconds):
    """
    Of the packets of numbered_send: those that came, came after a later one of their flow (late), or twice; the longest
    times without any packet, and when they began. Ends when its input does.
    """
    seen, highest, late, twice, gaps, last = set(), {}, 0, 0, [], None
    until = time.monotonic() + float(seconds)
    with socket.socket(family(address), socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        s.bind((address, ROCEV2))
        print("ready", flush=True)
        while time.monotonic() < until:
            ready = select.select([s, sys.stdin], [], [])[0]
            if s in ready:
                flow, number, _ = struct.unpack_from("!IId", s.recv(65536))
                now = time.monotonic()
                late += number < highest.get(flow, 0)
                twice += (flow, number) in seen
                highest[flow] = max(number, highest.get(flow, 0))
                seen.add((flow, number))
                gaps.append((now - (last or now), last or now))
                gaps = sorted(gaps)[-20:]
                last = now
            elif ready:
                break
    tell(packets=len(seen), late=late, twice=twice, gaps=gaps)


PROGRAMS = {"numbered-send": numbered_send, "numbered-receive": numbered_receive, "tcp-receive": tcp_receive, "tcp-send": tcp_send, "roce-send": roce_send, "roce-receive": roce_receive}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
