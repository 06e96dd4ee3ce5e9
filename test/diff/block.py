# SPDX-License-Identifier: BSD-3-Clause
"""The same node with another locator block for its uSIDs (RFC 9800: LBL 16 to 64, LNFL 16)."""

import ipaddress
import re

HOME = ipaddress.IPv6Network("5f00:0::/32")  # the block of node.py
PREFIX = re.compile(r"5f00:0:[0-9a-f:]*(/\d+)?$")
BLOCKS = ["5f00:0::/32", "5f00:7fff:3::/48", "4f00::/16", "4f00:5500::/24", "2001:db8:beef:ab00::/56", "2001:db8:beef:cafe::/64"]


class Block:
    def __init__(self, text):
        self.net = ipaddress.IPv6Network(text)
        self.bytes = self.net.prefixlen // 8
        self.room = (16 - self.bytes) // 2  # ids of a container

    def address(self, ids):
        """A container; ids that do not fit are left out."""
        body = b"".join(i.to_bytes(2, "big") for i in ids[:self.room])
        return self.net.network_address.packed[:self.bytes] + body.ljust(16 - self.bytes, b"\0")

    def _prefix(self, text):
        address, _, length = text.partition("/")
        packed = ipaddress.IPv6Address(address).packed
        ids = [int.from_bytes(packed[n:n + 2], "big") for n in range(4, 16, 2)]
        moved = ipaddress.IPv6Address(self.address(ids)).compressed
        return f"{moved}/{min(int(length) + self.net.prefixlen - 32, 128)}" if length else moved

    def _containers(self, segments):
        """RFC 9800 section 6.2 for lists whose SIDs all have one id, or are all outside the block."""
        if ipaddress.IPv6Address(segments[0]) not in self.net:
            return segments
        at = self.bytes
        ids = [int.from_bytes(ipaddress.IPv6Address(s).packed[at:at + 2], "big") for s in segments]
        return [ipaddress.IPv6Address(self.address(ids[n:n + self.room])).compressed for n in range(0, len(ids), self.room)]

    def moved(self, config):
        """The configuration with this block instead of HOME."""
        if self.net == HOME:
            return config
        config = self._walk(config)
        for policy in config["policies"]:
            for path in policy["paths"]:
                path["containers"] = self._containers(path["segments"])
        return config

    def _walk(self, value):
        if isinstance(value, dict):
            return {key: self._walk(v) for key, v in value.items()}
        if isinstance(value, list):
            return [self._walk(v) for v in value]
        return self._prefix(value) if isinstance(value, str) and PREFIX.match(value) else value
