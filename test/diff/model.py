# SPDX-License-Identifier: BSD-3-Clause
"""
A second, independent model of frame processing, after RFC 8754, 8986, 9800, 8200, 4443, 6040 and 2983 and not after
sluice's code: on plain bytes, one packet at a time, each step carried out at once. Shares nothing with the pcap cases'
generator.

Model.receive(port, frame) returns the frames that leave, and the reasons counted, by port. Where the answer depends on
state that a single packet does not have (resolution of neighbours), it raises Abstain.
"""

import hmac
import ipaddress
import struct

ETH_IP4, ETH_IP6, ETH_VLAN, ETH_QINQ, ETH_CONTROL, ETH_ARP = 0x0800, 0x86DD, 0x8100, 0x88A8, 0x8808, 0x0806
HBH, ICMP4, IP4, TCP, UDP, IP6, ROUTING, FRAGMENT, ICMP6, NONE, DSTOPTS, ETHERNET = 0, 1, 4, 6, 17, 41, 43, 44, 58, 59, 60, 143
EXTENSIONS = 8  # headers one packet may have in front of its upper layer
ROUNDS = 8  # local SIDs and tunnels of one packet
ERROR_MAX = 1280
LOCAL = "(local)"


class Abstain(Exception):
    """Not for this model to say."""


class Dropped(Exception):
    """reason; error: (type, code, last 32 bits of the ICMPv6 header), to be reported if a rule does not forbid it."""

    def __init__(self, reason, error=None):
        super().__init__(reason)
        self.reason, self.error = reason, error


def address(text):
    return ipaddress.ip_address(text).packed


def network(text):
    return ipaddress.ip_network(text)


def inside(addr, net):
    return ipaddress.ip_address(addr) in net


def u16(data, at):
    return struct.unpack_from("!H", data, at)[0]


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def checksum6(src, dst, proto, data):
    return checksum(src + dst + struct.pack("!II", len(data), proto) + data)


def ip6_header(tclass, label, proto, hops, src, dst, payload):
    return struct.pack("!IHBB", 6 << 28 | tclass << 20 | label, len(payload), proto, hops) + src + dst + payload


def put(data, at, new):
    return data[:at] + new + data[at + len(new):]


def tclass6(p):
    return (p[0] << 4 | p[1] >> 4) & 0xFF


def tos_of(p):
    return tclass6(p) if p[0] >> 4 == 6 else p[1]


def set_tos(p, tos):
    if p[0] >> 4 == 6:
        return put(p, 0, struct.pack("!H", u16(p, 0) & 0xF00F | tos << 4))
    return seal4(put(p, 1, bytes([tos])))


def seal4(p):
    """With the right header checksum."""
    header = (p[0] & 15) * 4
    p = put(p, 10, b"\0\0")
    return put(p, 10, struct.pack("!H", checksum(p[:header])))


class Chain:
    """The extension headers of an IPv6 packet (RFC 8200 section 4)."""

    def __init__(self, p):
        self.srh = self.active = self.option = None  # offsets
        kind, at = p[6], 40
        self.named = 6  # the field that names the upper layer
        for _ in range(EXTENSIONS + 1):
            if kind not in (HBH, ROUTING, DSTOPTS):
                self.upper, self.kind = at, kind
                return
            if at + 2 > len(p) or at + 8 * (p[at + 1] + 1) > len(p):
                raise Dropped("ext_chain")
            if kind == ROUTING:
                self._routing(p, at)
            elif self.active is None:
                self._options(p, at)
            kind, at, self.named = p[at], at + 8 * (p[at + 1] + 1), at
        raise Dropped("ext_chain")

    def _routing(self, p, at):
        """The first routing header with segments left is the one that counts."""
        if self.active is not None:
            return
        if p[at + 2] == 4 and (self.srh is None or p[at + 3]):
            self.srh = at
        if p[at + 3]:
            self.active = at

    def _options(self, p, at):
        """RFC 8200 section 4.2; options after a routing header with segments left are not for this node."""
        o, end = at + 2, at + 8 * (p[at + 1] + 1)
        while o < end:
            if p[o] == 0:
                o += 1
                continue
            if o + 2 > end or o + 2 + p[o + 1] > end:
                raise Dropped("ext_chain")
            if p[o] >> 6 and self.option is None:
                self.option = o
            o += 2 + p[o + 1]

    def check_options(self, p):
        if self.option is not None:
            raise Dropped("option", None if p[self.option] >> 6 == 1 else (4, 2, self.option))

    def check_foreign(self, p):
        if self.active is not None and self.active != self.srh:
            raise Dropped("routing_type", (4, 0, self.active + 2))


def unlink(p, at):
    """The packet without the extension header at `at`."""
    size, before = 8 * (p[at + 1] + 1), 6
    seek = 40
    while seek != at:
        before, seek = seek, seek + 8 * (p[seek + 1] + 1)
    p = put(p, before, p[at:at + 1])
    p = put(p, 4, struct.pack("!H", u16(p, 4) - size))
    return p[:at] + p[at + size:]


def lower_hops(p):
    if p[0] >> 4 == 6:
        return put(p, 7, bytes([p[7] - 1]))
    return seal4(put(p, 8, bytes([p[8] - 1])))


class Sid:
    def __init__(self, entry):
        self.net = network(entry["sid"])
        name = entry["behavior"].removesuffix(".PFC")
        self.pauses = name != entry["behavior"]
        self.kind = name.split(".")[-1] if "." in name else name.lstrip("u")
        self.micro = name in ("uN", "uA")
        default = ["psp", "usd"] if self.micro and not self.pauses else []
        self.flavors = entry.get("flavors", default)
        self.port, self.nexthop, self.vrf = entry.get("port"), entry.get("nexthop"), entry.get("vrf", "")
        allow = entry.get("allow", ["ping"])
        self.allowed = [proto for word, proto in (("ping", ICMP6), ("traceroute", UDP)) if word in allow]
        self.argument = self.net.prefixlen  # where it begins
        self.dscp, self.dscp_map = entry.get("dscp", "keep"), entry.get("dscp-map")

    @property
    def decaps(self):
        """Upper layers this SID takes off."""
        by_kind = {"DT4": [IP4], "DT6": [IP6], "DT46": [IP4, IP6], "DX4": [IP4], "DX6": [IP6], "DX2": [ETHERNET]}
        return by_kind.get(self.kind, [IP4, IP6] if "usd" in self.flavors else [])

    @property
    def final(self):
        return self.kind[0] == "D"


class Model:
    def __init__(self, config):
        self.config = config
        self.loopback = address(config["node"]["loopback"])
        self.infrastructure = [network(n) for n in config["node"]["infrastructure"]]
        self.block = network(config["node"]["usid"]["block"]).prefixlen
        self.space = [network("5f00::/16"), network(config["node"]["usid"]["block"])]
        self.ports = {p["name"]: p for p in config["ports"]}
        # interfaces with addresses: ports, and VLANs on them, which take all other settings from their port
        self.links = dict(self.ports)
        for v in config["interfaces"]:
            self.links[v["name"]] = {**self.ports[v["port"]], "vrf": "", **v}
        self.own = {name: [address(a.split("/")[0]) for a in p.get("addresses", [])] for name, p in self.links.items()}
        self.circuits = {(c["port"], c.get("vlan", "any")): c["policy"] for c in config["circuits"]}
        self.keys = {n: bytes.fromhex(key) for n, key in config["hmac-keys"].items()}
        self.macs = {(n["port"], address(n["address"])): bytes.fromhex(n["mac"].replace(":", ""))
                     for n in config["neighbors"]}
        self.policies = {p["name"]: p for p in config["policies"]}
        self.dscp_maps = {m["name"]: {d: r["dscp"] for r in m["map"] for d in range(r["from"], r.get("to", r["from"]) + 1)}
                          for m in config["dscp-maps"]}
        self.tables = {"": self._table(config["routes"], "")}
        for vrf in config["vrfs"]:
            self.tables[vrf["name"]] = self._table(vrf["routes"], vrf["name"])
        self.sids = [Sid(s) for s in config["sids"]]
        self.tables[""] += [(s.net, ("sid", s)) for s in self.sids]
        self.tables[""].append((network(config["node"]["loopback"]), ("local",)))

    def _table(self, routes, vrf):
        table = []
        for r in routes:
            target = ("policy", r["policy"]) if "policy" in r else ("via", r["port"], address(r["nexthop"]))
            table.append((network(r["prefix"]), target))
        for name, p in self.links.items():
            if p.get("vrf", "") == vrf:
                for a in p.get("addresses", []):
                    table.append((ipaddress.ip_interface(a).network, ("link", name)))
                    table.append((network(a.split("/")[0]), ("local",)))
                    if ":" not in a:
                        net = ipaddress.ip_interface(a).network
                        table.append((network(str(net.broadcast_address)), ("broadcast",)))
        return table

    # --- the whole way of a frame

    def receive(self, port, frame):
        """([(port, frame)], {(port, reason): n})"""
        self.port, self.sent, self.counted, self.rounds = port, [], {}, 0
        self.packet = None  # as received, or as decapsulated: the packet that an error quotes
        self.link, self.vrf = port, self.ports[port].get("vrf", "")
        try:
            self.ethernet(frame)
        except Dropped as d:
            self.count(port, d.reason)
            if d.error:
                self.report(*d.error)
        return self.sent, self.counted

    def count(self, port, reason):
        self.counted[port, reason] = self.counted.get((port, reason), 0) + 1

    def mac_of(self, port):
        return bytes.fromhex(self.ports[port]["mac"].replace(":", ""))

    def ethernet(self, frame):
        if len(frame) < 14:
            raise Dropped("truncated")
        kind, own = u16(frame, 12), self.mac_of(self.port)
        self.tclass = self.class_of(frame, kind)
        if kind == ETH_CONTROL:
            raise Dropped("mac_control")
        if self.circuit(frame, kind):
            return
        if frame[:6] != own:
            if not frame[0] & 1:
                raise Dropped("mac_not_ours")
            raise Abstain("a group frame")
        if frame[6] & 1 or frame[6:12] == own:
            raise Dropped("mac_source")
        tagged = kind in (ETH_VLAN, ETH_QINQ)
        kind, data = self.untag(frame, kind)
        if tagged and kind == ETH_IP6 and self.is_control(data):
            self.tclass = 8  # for any tag
        if kind in (ETH_IP6, ETH_IP4):
            tos = self.received_tos(kind, data)
        if kind == ETH_IP6:
            self.ip6(data, tos=tos)
        elif kind == ETH_IP4:
            self.ip4(data, tos=tos)
        elif kind == ETH_ARP:
            raise Abstain("ARP")
        else:
            raise Dropped("ether_type")

    def mapped(self, name, dscp):
        """What a map makes of a DSCP; None: there is no map."""
        return self.dscp_maps[name].get(dscp, dscp) if name else dscp

    def received_tos(self, kind, data):
        """TOS after dscp-in; None: as received."""
        name = self.ports[self.port].get("dscp-in")
        if not name or len(data) < 2 or self.tclass == 8:
            return None
        tos = tclass6(data) if kind == ETH_IP6 else data[1]
        return self.mapped(name, tos >> 2) << 2 | tos & 3

    def class_of(self, frame, kind):
        """Traffic class: priority of the tag, else class selector; 8 for network control from inside the domain."""
        if kind in (ETH_VLAN, ETH_QINQ):
            return frame[14] >> 5 if len(frame) > 14 else 0
        if kind not in (ETH_IP6, ETH_IP4) or len(frame) < 16:
            return 0
        dscp = (frame[14] << 4 & 255 | frame[15] >> 4 if kind == ETH_IP6 else frame[15]) >> 2
        return 8 if kind == ETH_IP6 and self.is_control(frame[14:]) else dscp >> 3

    def is_control(self, ip):
        """An IPv6 packet of the domain's network control, over a wan port?"""
        return (len(ip) >= 40 and tclass6(ip) >> 2 >= 48 and any(inside(ip[8:24], n) for n in self.infrastructure) and
                self.ports[self.port]["side"] == "wan")

    def untag(self, frame, kind):
        """(type, payload) of a frame, and self.link, the VLAN it is in (IEEE 802.1Q)."""
        if kind not in (ETH_VLAN, ETH_QINQ):
            return kind, frame[14:]
        if len(frame) < 18:
            raise Dropped("truncated")
        vlan, at = u16(frame, 14) & 0xFFF, 18
        if vlan:
            inner = 0
            mine = [v for v in self.config["interfaces"] if v["port"] == self.port]
            if u16(frame, 16) == ETH_VLAN and mine:
                if len(frame) < 22:
                    raise Dropped("truncated")
                inner, at = u16(frame, 18) & 0xFFF, 22
            found = [v for v in mine if v["vlan"] == vlan and v.get("inner-vlan", 0) == inner and
                     kind == (ETH_QINQ if inner else ETH_VLAN) and (at == 22) == (inner > 0)]
            if not found:
                raise Dropped("vlan")
            self.link, self.vrf = found[0]["name"], found[0].get("vrf", "")
        return u16(frame, at - 2), frame[at:]

    def circuit(self, frame, kind):
        """H.Encaps.L2 and its reduced form (RFC 8986 sections 5.3, 5.4): true if a circuit has taken the frame."""
        if not any(port == self.port for port, _ in self.circuits):
            return False
        vlan = 0
        if kind in (ETH_VLAN, ETH_QINQ):
            if len(frame) < 18:
                raise Dropped("truncated")
            vlan = u16(frame, 14) & 0xFFF
        policy = self.circuits.get((self.port, vlan), self.circuits.get((self.port, "any")))
        if policy is None:
            return False
        if frame[6] & 1:
            raise Dropped("mac_source")
        self.packet = frame
        header = 14
        while header < 22 and header + 4 <= len(frame) and u16(frame, header - 2) in (ETH_VLAN, ETH_QINQ):
            header += 4
        inside_, data = u16(frame, header - 2), frame[header:]
        tos = 0
        if inside_ == ETH_IP6 and len(data) >= 2:
            tos = tclass6(data)
        elif inside_ == ETH_IP4 and len(data) >= 2:
            tos = data[1]
        out, target = self.encapsulate(frame, self.policies[policy], ETHERNET, tos & ~3)
        if target[0] != "via":
            raise Dropped("no_route")
        if len(out) > self.links[target[1]]["mtu"]:
            raise Dropped("too_big")
        self.send(target[1], target[2], out)
        return True

    # --- IPv6

    def ip6(self, data, via=None, tos=None):
        """via: the egress, if no table is consulted; tos: the new traffic class after dscp-in or decapsulation."""
        if len(data) < 40:
            raise Dropped("truncated")
        if data[0] >> 4 != 6:
            raise Dropped("ip_version")
        if 40 + u16(data, 4) > len(data):
            raise Dropped("ip_length")
        p = self.packet = data[:40 + u16(data, 4)]
        self.unlinked = []  # (offset, bytes) of headers taken out of it
        self.visited = 0  # SRHs that have been used up here
        if tos is not None:
            p = set_tos(p, tos)
        src, dst = p[8:24], p[24:40]
        discovery = p[6] == ICMP6 and len(data) >= 48 and 133 <= data[40] <= 137
        if dst[0] == 0xFF:
            if discovery and not self.rounds:
                raise Abstain("Neighbor Discovery")
            raise Dropped("multicast")
        if inside(dst, network("fe80::/10")):
            if self.rounds:
                raise Dropped("link_local")
            raise Abstain("link-local destination")
        if src[0] == 0xFF or int.from_bytes(src, "big") <= 1:
            raise Dropped("ip_source")
        if src == self.loopback:
            raise Dropped("own_source")
        outside = self.links[self.link]["side"] == "dc" and not self.rounds
        if outside and any(inside(dst, n) for n in self.space):
            raise Dropped("boundary_drop")
        target = via or self.lookup(self.vrf, dst)
        if inside(src, network("fe80::/10")) and target != ("local",):
            raise Dropped("link_local")
        if target[0] == "sid":
            if not any(inside(src, n) for n in self.infrastructure):
                raise Dropped("boundary_source")
            self.execute(p, target[1])
            return
        if src in self.own[self.link]:
            raise Dropped("own_source")
        if target == ("local",):
            if discovery:
                if self.rounds:
                    raise Dropped("nd_invalid")
                raise Abstain("Neighbor Discovery")
            self.local6(p)
            return
        if int.from_bytes(dst, "big") <= 1:
            raise Dropped("link_local")
        if outside and not self.vrf and any(inside(src, n) for n in self.infrastructure):
            raise Dropped("boundary_source")
        self.transit(p, target)

    def lookup(self, vrf, dst):
        best, found = -1, ("none",)
        for net, target in self.tables[vrf]:
            if net.version == (6 if len(dst) == 16 else 4) and inside(dst, net) and net.prefixlen > best:
                best, found = net.prefixlen, target
        return found

    def transit(self, p, target):
        hops = p[7] if p[0] >> 4 == 6 else p[8]
        if hops <= 1:
            raise Dropped("hop_limit", (3, 0, 0))
        self.leave(lower_hops(p), target)

    def leave(self, p, target):
        """Send the packet to the target, or drop it."""
        if target[0] == "policy":
            p, target = self.encapsulate(p, self.policies[target[1]])
        if target[0] not in ("via", "link"):
            raise Dropped("no_route", (1, 0, 0))
        port = target[1]
        if len(p) > self.links[port]["mtu"]:
            # the longest packet of this kind that would have passed
            mtu = self.links[port]["mtu"] - (len(p) - len(self.packet))
            six = self.packet[0] >> 4 == 6
            raise Dropped("too_big", (2, 0, max(mtu, 1280) if six else mtu))
        hop = target[2] if target[0] == "via" else (p[24:40] if p[0] >> 4 == 6 else p[16:20])
        self.send(port, hop, p)

    def send(self, port, hop, p):
        if (port, hop) not in self.macs:
            raise Abstain("a neighbour that is not configured")
        link, tags = self.links[port], b""
        if self.tclass != 8:
            p = set_tos(p, self.mapped(link.get("dscp-out"), tos_of(p) >> 2) << 2 | tos_of(p) & 3)
        if "vlan" in link:
            priority, inner = min(self.tclass, 7) << 13, link.get("inner-vlan", 0)
            tags = struct.pack("!HH", ETH_QINQ if inner else ETH_VLAN, priority | link["vlan"])
            tags += struct.pack("!HH", ETH_VLAN, priority | inner) if inner else b""
        kind = ETH_IP6 if p[0] >> 4 == 6 else ETH_IP4
        out = link.get("port", port)
        self.sent.append((out, self.macs[port, hop] + self.mac_of(out) + tags + struct.pack("!H", kind) + p))

    # --- headend (RFC 8986 section 5)

    def encapsulate(self, p, policy, inner=None, tclass=None):
        """`inner`: next header. `tclass`: source of the outer traffic class if p is not an IP packet."""
        segments = [address(s) for s in policy["paths"][0]["containers"]]
        if inner is None:
            inner = IP6 if p[0] >> 4 == 6 else IP4
            tclass = tclass6(p) if inner == IP6 else p[1]
        dscp = policy["dscp-value"] if policy.get("dscp") == "set" else self.mapped(policy.get("dscp-map"), tclass >> 2)
        if dscp >= 48:
            dscp = 40  # tenants do not enter the classes of network control
        srh, tlv = b"", b""
        if len(segments) > 1 or "hmac-key" in policy:
            # backwards; all but the first in the reduced forms
            reduced = policy.get("encap", "H.Encaps.Red").endswith("Red") and len(segments) > 1
            list_ = segments[:0:-1] if reduced else segments[::-1]
            left, last = len(segments) - 1, len(list_) - 1
            if "hmac-key" in policy:
                tlv = self.hmac_tlv(policy["hmac-key"], self.loopback, last, 0, left > last, b"".join(list_))
            srh = struct.pack("!BBBBBBH", inner, 2 * len(list_) + len(tlv) // 8, 4, left, last, 0, 0)
            srh += b"".join(list_) + tlv
        # the source is the node's loopback
        outer = ip6_header(dscp << 2 | tclass & 3, policy["flow-label"], ROUTING if srh else inner,
                           policy.get("hop-limit", 64), self.loopback, segments[0], srh + p)
        return outer, self.lookup("", segments[0])

    def hmac_tlv(self, key, src, last, flags, reduced, segments):
        """RFC 8754 section 2.1.2; `reduced`: the D flag."""
        bits = struct.pack("!H", 0x8000 if reduced else 0)
        text = src + bytes([last, flags]) + bits + struct.pack("!I", key) + segments
        return b"\x05\x26" + bits + struct.pack("!I", key) + hmac.digest(self.keys[key], text, "sha256")

    # --- endpoints (docs/protocol.md 3.2)

    def execute(self, p, sid):
        while True:
            self.rounds += 1
            if self.rounds > ROUNDS:
                raise Dropped("sid_loop")
            p = self.one_sid(p, sid)
            if p is None:
                return
            if sid.nexthop and sid.kind in ("A", "X"):
                self.leave(p, ("via", sid.port, address(sid.nexthop)))
                return
            table = sid.vrf if sid.kind == "T" else ""
            target = self.lookup(table, p[24:40])
            if target[0] != "sid":
                break
            sid = target[1]
        if target == ("local",):
            self.local6(p)
        else:
            self.leave(p, target)

    def one_sid(self, p, sid):
        """The packet with its next destination; None when it ends here."""
        dst = p[24:40]
        bits = int.from_bytes(dst, "big") & (1 << 128 - sid.argument) - 1
        if sid.micro and bits:
            if p[7] <= 1:
                raise Dropped("hop_limit", (3, 0, 0))
            kept = 128 - self.block  # bits of the ids
            moved = int.from_bytes(dst, "big") >> kept << kept | bits << sid.argument - self.block
            return lower_hops(put(p, 24, moved.to_bytes(16, "big")))
        chain = Chain(p)
        chain.check_options(p)
        chain.check_foreign(p)
        if chain.active is not None:
            if self.visited > 1:
                raise Abstain("a third SRH: the node changes two of a packet")
            return self.next_segment(p, sid, chain.srh)
        self.upper(p, sid, chain)
        return None

    def next_segment(self, p, sid, srh):
        left, last, most = p[srh + 3], p[srh + 4], p[srh + 1] // 2 - 1
        if sid.final:
            raise Dropped("srh_segments_left", (4, 0, srh + 3))
        if p[7] <= 1:
            raise Dropped("hop_limit", (3, 0, 0))
        if last > most or left > last + 1:
            raise Dropped("srh_bounds", (4, 0, srh + 3))
        left -= 1
        dst = p[srh + 8 + 16 * left:srh + 24 + 16 * left]
        if dst[0] == 0xFF:
            raise Dropped("multicast")  # RFC 8200 section 4.4: never in a routing header
        if inside(dst, network("fe80::/10")) or int.from_bytes(dst, "big") <= 1:
            raise Dropped("link_local")  # RFC 4291 sections 2.5.2, 2.5.3 and 2.5.6
        p = lower_hops(put(put(p, 24, dst), srh + 3, bytes([left])))
        self.visited += not left
        if "psp" in sid.flavors and not left:
            self.unlinked.append((srh, 8 * (p[srh + 1] + 1)))
            p = unlink(p, srh)
        return p

    def upper(self, p, sid, chain):
        if sid.pauses and chain.kind == ETHERNET:
            raise Abstain("a frame that may be PFC")
        if chain.kind in sid.decaps:
            if chain.kind == ETHERNET:
                self.frame_out(p[chain.upper:], sid.port)
            else:
                self.decapsulate(p, p[chain.upper:], chain.kind, sid)
        elif chain.kind in sid.allowed:
            self.deliver(p, chain)
        elif chain.kind == FRAGMENT:
            raise Dropped("fragment")
        else:
            raise Dropped("upper_layer", (4, 4, chain.upper))

    def frame_out(self, frame, port):
        if len(frame) < 14:
            raise Dropped("truncated")
        if u16(frame, 12) == ETH_CONTROL:
            raise Dropped("mac_control")
        header = 14
        while header < 22 and header + 4 <= len(frame) and u16(frame, header - 2) in (ETH_VLAN, ETH_QINQ):
            header += 4
        if len(frame) - header > self.ports[port]["mtu"]:
            raise Dropped("too_big")
        self.sent.append((port, frame))

    def decapsulate(self, p, inner, kind, sid):
        if len(inner) < (40 if kind == IP6 else 20):
            raise Dropped("truncated")
        was = tclass6(inner) if kind == IP6 else inner[1]
        # RFC 2983: pipe model, or uniform model
        dscp = was >> 2 if sid.dscp == "keep" else self.mapped(sid.dscp_map, tclass6(p) >> 2)
        now = dscp << 2 | self.ecn(tclass6(p) & 3, was & 3)
        self.vrf = sid.vrf
        self.tclass = min(self.tclass, 7)  # network control of the domain is not network control after the tunnel
        via = ("via", sid.port, address(sid.nexthop)) if sid.nexthop and sid.kind in ("A", "X", "DX4", "DX6") else None
        if kind == IP6:
            self.ip6(inner, via, now)
        else:
            self.ip4(inner, via, now)

    @staticmethod
    def ecn(outer, inner):
        """RFC 6040 figure 4."""
        not_ect, ect1, ect0, ce = range(4)
        if inner == not_ect:
            if outer == ce:
                raise Dropped("ecn_ce_not_ect")
            return not_ect
        if outer == ce:
            return ce
        return ect1 if (inner, outer) == (ect0, ect1) else inner

    # --- IPv4

    def ip4(self, data, via=None, tos=None):
        if len(data) < 20:
            raise Dropped("truncated")
        if data[0] >> 4 != 4:
            raise Dropped("ip_version")
        header, total = (data[0] & 15) * 4, u16(data, 2)
        if header < 20 or total < header:
            raise Dropped("ip_header")
        if header > len(data):
            raise Dropped("truncated")
        if total > len(data):
            raise Dropped("ip_length")
        if checksum(data[:header]):
            raise Dropped("ip_header")
        p = self.packet = data[:total]
        if tos is not None:
            p = set_tos(p, tos)
        src, dst = p[12:16], p[16:20]
        if src in (bytes(4), b"\xff" * 4) or src[0] >> 4 == 14 or src[0] == 127:
            raise Dropped("ip_source")
        if src in self.own[self.link]:
            raise Dropped("own_source")
        if dst[0] >> 4 == 14 or dst == b"\xff" * 4:
            raise Dropped("multicast")
        target = via or self.lookup(self.vrf, dst)
        if target == ("local",):
            self.deliver(p, None)
            return
        if target == ("broadcast",):
            raise Dropped("multicast")
        for a in (src, dst):
            if a[:2] == b"\xa9\xfe" or a[0] in (0, 127):
                raise Dropped("link_local")
        self.transit(p, target)

    # --- the node itself

    def local6(self, p):
        chain = Chain(p)
        chain.check_options(p)
        if chain.active is not None:
            raise Dropped("routing_type", (4, 0, chain.active + 2))
        self.deliver(p, chain)

    def deliver(self, p, chain):
        """Ping is answered, TCP and UDP are not served, ICMP is taken."""
        six = chain is not None
        kind, at = (chain.kind, chain.upper) if six else (p[9], (p[0] & 15) * 4)
        icmp = p[at:]
        if kind == (ICMP6 if six else ICMP4) and len(icmp) >= 8:
            src, dst = (p[8:24], p[24:40]) if six else (p[12:16], p[16:20])
            if (six or not u16(p, 6) & 0x3FFF) and (checksum6(src, dst, ICMP6, icmp) if six else checksum(icmp)):
                raise Dropped("icmp_checksum")
            if icmp[0] != (128 if six else 8):
                self.count(self.port, "icmp")
                return
            self.echo(p, icmp, six)
            return
        if six and kind == FRAGMENT:
            raise Dropped("fragment")
        if kind == (ICMP6 if six else ICMP4) or six and kind == NONE:
            raise Dropped("not_served")
        raise Dropped("not_served", (1, 4, 0) if kind in (TCP, UDP) else (4, 1, chain.named if six else 9))

    def echo(self, p, icmp, six):
        src, dst = (p[8:24], p[24:40]) if six else (p[12:16], p[16:20])
        bad = checksum6(src, dst, ICMP6, icmp) if six else checksum(icmp)
        if icmp[1] or bad or (not six and u16(p, 6) & 0x3FFF):
            raise Dropped("not_served")
        body = bytes([129 if six else 0, 0, 0, 0]) + icmp[4:]
        self.count(self.port, "echo")
        if six:
            body = put(body, 2, struct.pack("!H", checksum6(dst, src, ICMP6, body)))
            self.originate(ip6_header(tclass6(self.packet), 0, ICMP6, 64, dst, src, body))
        else:
            body = put(body, 2, struct.pack("!H", checksum(body)))
            header = put(put(put(self.packet[:(p[0] & 15) * 4], 12, dst), 16, src), 8, b"\x40")
            self.originate(seal4(header + body))

    def originate(self, p):
        """Route a packet that the node originates like any other; a drop counts as the node's."""
        dst = p[24:40] if p[0] >> 4 == 6 else p[16:20]
        if dst[0] == 0xFF or dst[:2] == b"\xfe\x80":
            raise Abstain("an answer on the link")
        target = self.lookup(self.vrf, dst)
        if target[0] in ("sid", "local", "broadcast"):
            raise Abstain("an answer to the node itself")
        self.tclass = 8  # control traffic
        try:
            self.leave(p, target)
        except Dropped as d:
            self.count(LOCAL, d.reason)

    def report(self, kind, code, rest):
        """An ICMP error about self.packet (RFC 4443 section 2.4, RFC 1122 section 3.2.2)."""
        p = self.packet[:ERROR_MAX]
        if p[0] >> 4 == 6:
            if self.silent6(p):
                return
            if kind == 4:
                # the pointer is into the packet as received
                for at, size in self.unlinked[::-1]:
                    rest += size if rest >= at else 0
            body = struct.pack("!BBHI", kind, code, 0, rest) + p[:ERROR_MAX - 48]
            src, dst = self.loopback, p[8:24]
            body = put(body, 2, struct.pack("!H", checksum6(src, dst, ICMP6, body)))
            self.originate(ip6_header(0, 0, ICMP6, 64, src, dst, body))
            return
        self.report4(p, kind, code, rest)

    @staticmethod
    def silent6(p):
        src, dst = p[8:24], p[24:40]
        if dst[0] == 0xFF or src[0] == 0xFF or int.from_bytes(src, "big") <= 1:
            return True
        kind, at = p[6], 40
        for _ in range(8):
            if kind == ICMP6:
                return at >= len(p) or p[at] < 128 or p[at] == 137
            if kind not in (HBH, ROUTING, DSTOPTS, FRAGMENT) or at + 2 > len(p):
                return False
            if kind == FRAGMENT:
                if at + 8 > len(p) or u16(p, at + 2) & 0xFFF8:
                    return False
                kind, at = p[at], at + 8
            else:
                kind, at = p[at], at + 8 * (p[at + 1] + 1)
        return False

    def report4(self, p, kind, code, rest):
        known = {(4, 1): (3, 2, 0), (3, 0): (11, 0, 0), (1, 0): (3, 0, 0), (1, 4): (3, 3, 0), (2, 0): (3, 4, rest)}
        if kind == 2 and not u16(p, 6) & 0x4000:
            raise Abstain("a packet that might be fragmented")
        src, dst, header = p[12:16], p[16:20], (p[0] & 15) * 4
        if (kind, code) not in known or src[0] >> 4 == 15 or u16(p, 6) & 0x1FFF or dst[0] >> 4 == 14:
            return
        if p[9] == ICMP4 and (header >= len(p) or p[header] in (3, 4, 5, 11, 12)):
            return
        own = [a for name in [self.link, *self.links] for a in self.own[name]
               if len(a) == 4 and self.links[name].get("vrf", "") == self.vrf]
        if not own:
            return
        kind, code, rest = known[kind, code]
        body = struct.pack("!BBHI", kind, code, 0, rest) + p[:548]
        body = put(body, 2, struct.pack("!H", checksum(body)))
        head = struct.pack("!BBHHHBBH", 0x45, 0xC0, 20 + len(body), 0, 0, 64, ICMP4, 0) + own[0] + src
        self.originate(seal4(head + body))
