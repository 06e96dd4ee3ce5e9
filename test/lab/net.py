# SPDX-License-Identifier: BSD-3-Clause
"""Topologies for scenarios, put together in a few lines: nodes, hosts and links; addresses, routes, SIDs and policies
follow. What comes out is a topology file (JSON is YAML)."""
import collections
import json

BLOCK = "5f00:0"


def uid(number):
    return f"{BLOCK}:{number:x}::"


class Net:
    def __init__(self, name, run, **lab):
        self.lab = {"name": name, "run": run, **lab}
        self.nodes, self.hosts, self.links, self.flows, self.extra = {}, {}, [], [], {}
        self.paths = {}  # (from, to) -> lists of node names to name as segments

    def node(self, name, lcores=None, memory=None, port=None, **lab):
        """A node; `port`: keys for all its ports; `lab`: keys beside its configuration (cycles)."""
        self.nodes[name] = {"id": 0x100 * (len(self.nodes) + 1), "lcores": lcores, "memory": memory or {}, "ports": {},
                            "port": port or {}, "lab": lab}
        return name

    def host(self, name, subnet, **keys):
        """A host with address 10.SUBNET.0.10 and up; its gateway gets .1."""
        number = 10 + len(self.hosts)
        self.hosts[name] = {"subnet": subnet, "keys": keys, "address": f"10.{subnet}.0.{number}",
                            "mac": f"02:00:00:48:00:{number:02x}"}
        return name

    def link(self, a, b, rate="100G", **keys):
        self.links.append({"a": a, "b": b, "rate": rate, **({"delay": "1us"} if "km" not in keys else {}), **keys})
        for near, far in ((a, b), (b, a)):
            owner, port = near.split(".")
            if owner in self.nodes:
                self.nodes[owner]["ports"][port] = far
        return self

    def flow(self, a, b, **keys):
        self.flows.append({"from": a, "to": b, **keys})
        return self

    def path(self, a, b, *lists):
        """The segment lists from gateway a to gateway b, as names of nodes; b is added."""
        self.paths[a, b] = lists
        return self

    def _mac(self, end):
        owner, port = end.split(".")
        if owner in self.hosts:
            return self.hosts[owner]["mac"]
        node = self.nodes[owner]
        return f"02:00:00:00:{node['id'] >> 8:02x}:{list(node['ports']).index(port):02x}"

    def _local(self, end):
        owner, port = end.split(".")
        return f"fe80::{self.nodes[owner]['id']:x}:{list(self.nodes[owner]['ports']).index(port):x}"

    def _neighbours(self, name):
        for port, far in self.nodes[name]["ports"].items():
            if far.split(".")[0] in self.nodes:
                yield port, far

    def _next_hops(self, name, to):
        """(port, far end) of all shortest ways."""
        distance = {to: 0}
        queue = collections.deque([to])
        while queue:
            at = queue.popleft()
            for _, far in self._neighbours(at):
                owner = far.split(".")[0]
                if owner not in distance:
                    distance[owner] = distance[at] + 1
                    queue.append(owner)
        for port, far in self._neighbours(name):
            if distance.get(far.split(".")[0], 1 << 30) == distance.get(name, 0) - 1:
                yield port, far

    def _subnets(self):
        """subnet -> (gateway, port) of the first port a host of it is plugged into."""
        found = {}
        for name, node in self.nodes.items():
            for port, far in node["ports"].items():
                owner = far.split(".")[0]
                if owner in self.hosts:
                    found.setdefault(self.hosts[owner]["subnet"], (name, port))
        return found

    def config(self, name):
        node = self.nodes[name]
        ports, neighbors, routes, vrf_routes, policies = [], [], [], [], []
        for index, (port, far) in enumerate(node["ports"].items()):
            owner = far.split(".")[0]
            p = {"name": port, "device": f"net_null{index}", "mtu": 9216, "mac": self._mac(f"{name}.{port}"), **node["port"]}
            if owner in self.hosts:
                host = self.hosts[owner]
                subnet = host["subnet"]
                p.update(side="dc", vrf="ai", addresses=[f"10.{subnet}.0.{1 + index}/24"])
                neighbors.append({"port": port, "address": host["address"], "mac": host["mac"]})
                vrf_routes.append({"prefix": f"{host['address']}/32", "port": port, "nexthop": host["address"]})
            else:
                p.update(side="wan", addresses=[self._local(f"{name}.{port}") + "/64"])
                neighbors.append({"port": port, "address": self._local(far), "mac": self._mac(far)})
            ports.append(p)
        for other in self.nodes:
            for port, far in self._next_hops(name, other) if other != name else ():
                routes.append({"prefix": uid(self.nodes[other]["id"]) + "/48", "port": port, "nexthop": self._local(far)})
        gateways = {}
        for subnet, (gateway, _) in self._subnets().items():
            if gateway != name:
                gateways.setdefault(gateway, []).append(subnet)
        for gateway, subnets in gateways.items() if vrf_routes else ():
            lists = self.paths.get((name, gateway), [[]])
            policies.append({"name": f"to-{gateway}", "paths": [
                {"name": f"path{i}", "segments": [uid(self.nodes[n]["id"]) for n in [*hops, gateway]] + [f"{BLOCK}:e001::"]}
                for i, hops in enumerate(lists)]})
            vrf_routes += [{"prefix": f"10.{s}.0.0/24", "policy": f"to-{gateway}"} for s in subnets]
        sids = [{"sid": uid(node["id"]) + "/48", "behavior": "uN"}]
        c = {"node": {"name": name, "loopback": f"fd00::{node['id']:x}", "infrastructure": ["fd00::/16"],
                      "usid": {"block": f"{BLOCK}::/32", "node": node["id"]}},
             "lcores": node["lcores"] or {"control": 0, "rx": [1], "worker": [1]},
             "memory": {"buffers": 24576, "fib": "compact", **node["memory"]},
             "ports": ports, "neighbors": neighbors, "routes": routes, "sids": sids}
        if vrf_routes:
            c["vrfs"] = [{"name": "ai", "routes": vrf_routes}]
            sids.append({"sid": f"{BLOCK}:e001::/48", "behavior": "uDT46", "vrf": "ai"})
        if policies:
            c["policies"] = policies
        return c

    def topology(self):
        return {"lab": self.lab,
                "nodes": [{"name": n, "config": self.config(n), **v["lab"]} for n, v in self.nodes.items()],
                "hosts": [{"name": n, "addresses": [h["address"] + "/24"], "mac": h["mac"], **h["keys"]}
                          for n, h in self.hosts.items()],
                "links": self.links, "flows": self.flows, **self.extra}

    def write(self, path):
        with open(path, "w") as f:
            json.dump(self.topology(), f, indent=1)
