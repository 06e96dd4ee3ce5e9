# SPDX-License-Identifier: BSD-3-Clause
"""Topologies put together in a few lines: nodes, hosts and links; addresses, routes, SIDs and policies follow.

Links between nodes carry SRv6 unless they are plain: then they are outside the domain, as between a PE and a data
centre's own gateway. A node with plain links only is an IP router.
"""
import collections
import json
import re

BLOCK = "5f00:0"
WIDTH = 124


def seconds(text):
    """Of a time as topologies write it."""
    number, unit = re.fullmatch(r"([\d.]+)(ns|us|ms|s)", text).groups()
    return float(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def loses(expected=True):
    """Keys of `lab` for a negative control: the loss of lossless packets is what the run is to show, not a failure of it."""
    return {"lossless": "off"} if expected else {}


def uid(number):
    return f"{BLOCK}:{number:x}::"


class Net:
    def __init__(self, name, run, **lab):
        self.lab = {"name": name, "run": run, **lab}
        self.nodes, self.hosts, self.links, self.flows, self.extra = {}, {}, [], [], {}
        self.paths = {}  # (from, to) -> lists of node names to name as segments
        self.plain = {}  # end -> (own address, address of the other end)
        self.tunes = {}  # node -> changes to its configuration
        self.known = {}  # results of _distances, valid until a link is added
        self.files = {}  # configurations beside the topology: name -> content

    def node(self, name, lcores=None, memory=None, port=None, pfc=None, **lab):
        """A node; `port`: keys for all its ports; `pfc`: lossless priorities of all its ports; `lab`: keys beside its
        configuration (cycles)."""
        self.nodes[name] = {"id": 0x100 * (len(self.nodes) + 1), "lcores": lcores, "memory": memory or {}, "ports": {},
                            "port": port or {}, "pfc": pfc, "lab": lab}
        return name

    def host(self, name, subnet, **keys):
        """A host with address 10.SUBNET.0.10 and up; its gateway gets .1 and up."""
        number = 10 + len(self.hosts)
        self.hosts[name] = {"subnet": subnet, "keys": keys, "address": f"10.{subnet}.0.{number}", "number": number}
        return name

    def link(self, a, b, rate="100G", plain=False, **keys):
        self.links.append({"a": a, "b": b, "rate": rate, **({"delay": "1us"} if "km" not in keys else {}), **keys})
        self.known = {}
        for near, far in ((a, b), (b, a)):
            owner, port = near.split(".")
            if owner in self.nodes:
                self.nodes[owner]["ports"][port] = far
        if plain:
            net = f"192.168.{len(self.plain) // 2}"
            self.plain[a], self.plain[b] = (f"{net}.1", f"{net}.2"), (f"{net}.2", f"{net}.1")
        return self

    def flow(self, a, b, **keys):
        self.flows.append({"from": a, "to": b, **keys})
        return self

    def path(self, a, b, *lists):
        """The segment lists from gateway a to gateway b, as names of nodes; b is added."""
        self.paths[a, b] = lists
        return self

    def tune(self, name, change):
        """change(configuration) is called with the configuration that this file builds for a node."""
        self.tunes.setdefault(name, []).append(change)
        return self

    def _mac(self, end):
        owner, port = end.split(".")
        if owner in self.hosts:
            return f"02:00:00:48:{self.hosts[owner]['number']:02x}:{int(port[3:]):02x}"
        node = self.nodes[owner]
        return f"02:00:00:00:{node['id'] >> 8:02x}:{list(node['ports']).index(port):02x}"

    def _rate(self, end):
        return next(link["rate"] for link in self.links if end in (link["a"], link["b"]))

    def _meters(self, end):
        link = next(link for link in self.links if end in (link["a"], link["b"]))
        return link["km"] * 1000 if "km" in link else -(-round(seconds(link["delay"]) * 1e9) // 5)

    def _local(self, end):
        owner, port = end.split(".")
        return f"fe80::{self.nodes[owner]['id']:x}:{list(self.nodes[owner]['ports']).index(port):x}"

    def _neighbours(self, name):
        for port, far in self.nodes[name]["ports"].items():
            if far.split(".")[0] in self.nodes:
                yield port, far

    def _distances(self, to):
        if to in self.known:
            return self.known[to]
        distance = self.known[to] = {to: 0}
        queue = collections.deque([to])
        while queue:
            at = queue.popleft()
            for _, far in self._neighbours(at):
                owner = far.split(".")[0]
                if owner not in distance:
                    distance[owner] = distance[at] + 1
                    queue.append(owner)
        return distance

    def _next_hops(self, name, to):
        """(port, far end) of all shortest ways."""
        distance = self._distances(to)
        for port, far in self._neighbours(name):
            if distance.get(far.split(".")[0], 1 << 30) == distance.get(name, 0) - 1:
                yield port, far

    def _subnets(self):
        """subnet -> the first node that a host of it is plugged into."""
        found = {}
        for name, node in self.nodes.items():
            for far in node["ports"].values():
                owner = far.split(".")[0]
                if owner in self.hosts:
                    found.setdefault(self.hosts[owner]["subnet"], name)
        return found

    def _egress(self, name, to):
        """The last node of the domain on the way."""
        at = name
        while at != to:
            port, far = next(self._next_hops(at, to))
            if f"{at}.{port}" in self.plain:
                return at
            at = far.split(".")[0]
        return at

    def _buffers(self, ports):
        """Enough of them; with headers only, which one buffer takes in the lab, ones that take a whole frame: then it counts as one."""
        longest = max(p["mtu"] for p in ports) + 22
        if self.lab.get("frames") == "whole":
            return {"buffers": 32768}
        return {"buffers": 24576, **({"buffer-size": f"{-(-longest // 1024)}K"} if longest > 2048 else {})}

    def config(self, name):
        node = self.nodes[name]
        ports, neighbors, routes, vrf_routes, policies = [], [], [], [], []
        number = node["id"] >> 8
        for index, (port, far) in enumerate(node["ports"].items()):
            owner, end = far.split(".")[0], f"{name}.{port}"
            p = {"name": port, "device": f"net_null{index}", "side": "dc", "mtu": 9216, "mac": self._mac(end), **node["port"]}
            if node["pfc"]:
                p.update(speed=self._rate(end), pfc={"priorities": node["pfc"], "peers": [self._mac(far)], "buffer": "lab",
                                                     "length": self._meters(end)})
                if owner in self.nodes:
                    p["pfc"]["peer-descriptors"] = self.nodes[owner]["port"].get("descriptors", {}).get("tx", 512)
            if owner in self.hosts:
                host = self.hosts[owner]
                own = 100 + number * 8 + index if number < 19 else 240 + index  # an octet; hosts end before 240
                p.update(vrf="ai", addresses=[f"10.{host['subnet']}.0.{own}/24"])
                neighbors.append({"port": port, "address": host["address"], "mac": self._mac(far)})
                vrf_routes.append({"prefix": f"{host['address']}/32", "port": port, "nexthop": host["address"]})
            elif end in self.plain:
                own, other = self.plain[end]
                p.update(vrf="ai", addresses=[f"{own}/30"])
                neighbors.append({"port": port, "address": other, "mac": self._mac(far)})
            else:
                p.update(side="wan", addresses=[self._local(end) + "/64"])
                neighbors.append({"port": port, "address": self._local(far), "mac": self._mac(far)})
            ports.append(p)
        for other in self.nodes:
            for port, far in self._next_hops(name, other) if other != name else ():
                if f"{name}.{port}" not in self.plain:
                    routes.append({"prefix": uid(self.nodes[other]["id"]) + "/48", "port": port, "nexthop": self._local(far)})
        edge = any(p["side"] == "dc" for p in ports)
        for subnet, home in self._subnets().items():
            attached = any(far.split(".")[0] in self.hosts and self.hosts[far.split(".")[0]]["subnet"] == subnet
                           for far in node["ports"].values())
            if not edge or attached or home == name:
                continue
            port, far = next(self._next_hops(name, home))
            if f"{name}.{port}" in self.plain:
                vrf_routes.append({"prefix": f"10.{subnet}.0.0/24", "port": port, "nexthop": self.plain[f"{name}.{port}"][1]})
                continue
            egress = self._egress(name, home)
            if not any(p["name"] == f"to-{egress}" for p in policies):
                lists = self.paths.get((name, egress), [[]])
                policies.append({"name": f"to-{egress}", "paths": [
                    {"name": f"path{i}", "segments": [uid(self.nodes[n]["id"]) for n in [*hops, egress]] + [f"{BLOCK}:e001::"]}
                    for i, hops in enumerate(lists)]})
            vrf_routes.append({"prefix": f"10.{subnet}.0.0/24", "policy": f"to-{egress}"})
        c = {"node": {"name": name, "loopback": f"fd00::{node['id']:x}", "infrastructure": ["fd00::/16"],
                      "usid": {"block": f"{BLOCK}::/32", "node": node["id"]}},
             "lcores": node["lcores"] or {"control": 0, "rx": [1], "worker": [1]},
             "memory": {**self._buffers(ports), **node["memory"]},
             "ports": ports, "neighbors": neighbors, "routes": routes, "sids": [{"sid": uid(node["id"]) + "/48", "behavior": "uN"}]}
        if node["pfc"]:
            c["buffer-profiles"] = [{"name": "lab", "min-frame": 1024, "response": 5}]
        if vrf_routes:
            c["vrfs"] = [{"name": "ai", "routes": vrf_routes}]
            c["sids"].append({"sid": f"{BLOCK}:e001::/48", "behavior": "uDT46", "vrf": "ai"})
        if policies:
            c["policies"] = policies
        for change in self.tunes.get(name, ()):
            change(c)
        return {k: v for k, v in c.items() if v}

    def topology(self):
        t = {"lab": self.lab,
             "hosts": [{"name": n, "addresses": [h["address"] + "/24"], "mac": f"02:00:00:48:{h['number']:02x}:00", **h["keys"]}
                       for n, h in self.hosts.items()],
             "links": self.links, "flows": self.flows, **self.extra,
             "nodes": [{"name": n, "config": self.config(n), **v["lab"]} for n, v in self.nodes.items()]}
        return {k: v for k, v in t.items() if v}

    def write(self, path):
        with open(path, "w") as f:
            json.dump(self.topology(), f, indent=1)


def inline(value):
    """YAML flow style."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(inline(v) for v in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and (":" in value or "%" in value or not value):
        return json.dumps(value)
    return str(value)


def tidy(value, indent=0, lead=0):
    """Readable YAML: a value that fits into one line is written in one. `lead`: characters before it."""
    if len(inline(value)) + indent + lead <= WIDTH and not (indent == 0 and isinstance(value, dict)):
        return " " + inline(value) + "\n"
    pad = " " * indent
    if isinstance(value, dict):
        return "\n" + "".join(f"{pad}{k}:{tidy(v, indent + 2, len(k) + 2)}" for k, v in value.items())
    out = "\n"
    for v in value:
        text = tidy(v, indent + 2, 2)
        out += f"{pad}-{text}" if not text.startswith("\n") else f"{pad}- {text[1:].lstrip()}"
    return out
