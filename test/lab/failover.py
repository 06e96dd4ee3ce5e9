# SPDX-License-Identifier: BSD-3-Clause
"""Links that fail while others live (docs/failover.md). Every network is drawn from its seed: nodes, parallel links, rates,
distances, frame sizes, lcores, which links fail, when, in which direction, how often and for how long.

    row     a - n0 === n1 === ... === n7 - b     routes with several next hops; between two nodes one to four links
    rows    a - n0 = m0 = nz - b                 a policy with a path over each m, of which some are backups
                   = m1 =

What was on the wire or in the device's hands is lost, and nothing else; every flow keeps its order (an invariant of the lab).
The gap is the longest time between two arrivals of a flow."""
import random

from net import Net
from suite import scenario
from wan import peers

REACTION_US = 100  # what sluice may add to the detection
PACKET_HOPS = 25_000  # of a run, about
LCORES = [{"control": 0, "rx": [1], "worker": [1]}, {"control": 0, "rx": [1], "worker": [1, 2]},
          {"control": 0, "rx": [1], "worker": [2, 3]}, {"control": 0, "rx": [0], "worker": [0]},
          {"control": 0, "rx": [1, 2], "worker": [1, 2, 3]}]
RATES = (10, 25, 40, 100, 200, 400)  # Gb/s
LINE = 14 + 20 + 8 + 12 + 4 + 24  # bytes of a datagram's frame on the line beyond its payload


def evenly(r, low, high):
    """Evenly over the magnitudes."""
    return low * (high / low) ** r.random()


def bad_hops(r, nodes):
    """Hops of a row whose links fail at about the same time."""
    return r.sample(range(nodes - 1), min(nodes - 1, r.choice([1, 1, 1, 2, 3])))


def some_of(r, between, bad):
    """Links between nodes; on each of these hops at least one fails, and at least one lives."""
    for i in bad:
        between[i] = r.randint(2, 4)
    return [(i, k) for i in bad for k in r.sample(range(between[i]), r.randint(1, between[i] - 1))]


class Flaps:
    """A link fails once or many times, some for the shortest time or for the longest."""

    def __init__(self, r, at_us, longest_us, times=(1, 1, 2, 3, 5)):
        self.at_us = int(at_us)
        self.lasts_us = int(r.choice([100, longest_us, *[evenly(r, 100, longest_us)] * 6]))
        self.times = r.choice(times)
        self.every_us = self.lasts_us + int(evenly(r, 100, longest_us))
        self.detect_us = int(evenly(r, 1, 1000))
        self.direction = r.choice(["both", "a-to-b", "b-to-a"])

    def end_us(self):
        return self.at_us + (self.times - 1) * self.every_us + self.lasts_us + self.detect_us

    def failure(self):
        return {"at": f"{self.at_us}us", "for": f"{self.lasts_us}us", "repeat": self.times, "every": f"{self.every_us}us",
                "detect": f"{self.detect_us}us", "direction": self.direction}


def fill(net, r, a, b, hops, interval_us, payload, rate):
    """Datagrams both ways, as densely as the cost of the run allows; returns the time between two of a flow in us."""
    pairs = r.choice([4, 8, 16])
    run_us = float(net.lab["run"][:-2])
    bits = (payload + LINE) * 8
    # no more than a third of the slowest link, which may have to carry everything
    least = max(interval_us, 2 * pairs * run_us * hops / PACKET_HOPS, 3 * pairs * bits / (rate * 1000))
    for source, to in ((a, b), (b, a)):
        net.flow(source, to, transport="datagram", **{"name": f"{source}{to}", "queue-pairs": pairs, "message": payload, "mtu": max(256, payload),
                                                      "rate": f"{int(bits / least * 1e6)}", "dscp": 0, "priority": 0})
    return least


def told(interval_us):
    """What nodes say themselves of the time until the first packet took another way."""
    return (f"all((p['failover_gap_most_ns'] > 0) <= (p['rebound'] > 0) and p['failover_gap_most_ns'] <= {(REACTION_US + interval_us) * 1000}"
            " for n in report['nodes'] for p in n['ports'])")


def gap_of(flow, interval_us, more_us):
    """The packets that would have arrived while nothing came are missing: at most one more than their time holds."""
    return f"flow('{flow}').gap_max_us <= {more_us + REACTION_US + 2 * interval_us:.3f}"


def only_cut(victims):
    """What was lost was lost on these ways."""
    ways = sorted(w for a, b in victims for w in (f"{a} > {b}", f"{b} > {a}"))
    return [f"all(x['place'] in {ways!r} for x in report['lossless']['losses'])"]


NO_DROPS = "sum(n['dropped'] for n in report['nodes']) == 0"
ARRIVES = "sum(f['received'] for f in report['flows']) > 0.2 * sum(f['sent'] for f in report['flows'])"


def hold_of(r):
    return {"hold": r.choice([1, 10, 10, 20]), "hold-max": r.choice([20, 100, 10000]), "window": r.choice([100, 10000])}


def with_hold(net, hold):
    for n in net.nodes:
        net.tune(n, lambda c: c.update(failover=hold))


def row(name, r, nodes, between, rates, delays_ns, failures, run_us, rate, lab=None):
    """failures: (hop, link) -> Flaps; rates and delays by hop and link."""
    net = Net(name, f"{int(run_us)}us", drain="2s", memory="4G", lossless="off", sample=f"{max(int(run_us / 20), 100)}us", **(lab or {}))
    for i in range(nodes):
        net.node(f"n{i}", lcores=r.choice(LCORES), memory={"buffers": "192K"}, port={"queue-limit": "4K", "buffer-limit": "8K"})
    net.host("a", 1)
    net.host("b", 2)
    net.link("a.eth0", "n0.h", rate=f"{rate}G").link(f"n{nodes - 1}.h", "b.eth0", rate=f"{rate}G")
    victims = []
    for i in range(nodes - 1):
        for k in range(between[i]):
            ends = f"n{i}.w{k}", f"n{i + 1}.e{k}"
            keys = {"delay": f"{delays_ns[i][k]}ns"}
            if (i, k) in failures:
                keys["failures"] = [failures[i, k].failure()]
                victims.append(ends)
            net.link(*ends, rate=f"{rates[i][k]}G", **keys)
    with_hold(net, hold_of(r))
    return net, victims


def failover_gap_net(seed):
    r = random.Random(seed)
    nodes = r.choice([2, 2, 3, 4, 5, 8])
    between = [r.randint(1, 4) for _ in range(nodes - 1)]
    bad = bad_hops(r, nodes)
    victims = some_of(r, between, bad)
    returns = r.random() < 0.75
    rates = [[r.choice(RATES) for _ in range(n)] for n in between]
    delays = []
    for n in between:
        one = int(evenly(r, 100, 2e6))
        # where a flow returns to a link that is shorter, packets overtake each other on the way, whatever a node does
        delays.append([one if returns else int(evenly(r, 100, 2e6)) for _ in range(n)])
    begin, longest = r.randrange(2000, 6000), r.choice([1e7, *[evenly(r, 200, 1e7)] * 9])
    faults = {v: Flaps(r, begin + r.choice([0, r.randrange(0, 3000), r.randrange(0, int(longest))]), longest) for v in victims}
    run = max(f.end_us() for f in faults.values()) + r.choice([2000, 30000])
    if not returns:
        run = max(f.at_us for f in faults.values()) + r.randrange(5000, 20000)
        for f in faults.values():
            f.times, f.lasts_us, f.direction = 1, int(2 * run), "both"
    rate = r.choice([25, 100, 400])
    net, ends = row("failover-gap", r, nodes, between, rates, delays, faults, run, rate)
    payload = r.choice([64, 256, 1024, 4096, 8192])
    slowest = min(min(x) for x in rates + [[rate]])
    interval = fill(net, r, "a", "b", nodes, 2, payload, slowest)
    # those that fail at the same time may each have a flow in turn, and cut what is on the way before it arrives
    gone = sum(f.detect_us + max(delays[i]) / 1e3 for (i, _), f in faults.items())
    # behind a hop that has failed too, the first packet comes later
    late = gone if len(bad) > 1 else 0
    net.expect = [gap_of("ab", interval, gone), gap_of("ba", interval, gone), NO_DROPS, *only_cut(ends), ARRIVES, told(interval + late)]
    return net


@scenario(short=[{"seed": s} for s in range(1, 13)], long=[{}], seeds=10)
def failover_gap(seed=1):
    """A flow whose link fails goes on after the detection and 100 us, however often links fail, and whatever fails at the
    same time, as long as one link lives."""
    return failover_gap_net(seed)


def failover_queues_net(seed):
    """Senders with a window, faster than the links: what they may send is queued all the time. The queues of the links that
    live have room for all of it."""
    r = random.Random(seed)
    nodes = r.choice([2, 2, 3, 4, 6])
    between = [r.randint(1, 4) for _ in range(nodes - 1)]
    victims = some_of(r, between, bad_hops(r, nodes))
    rates = [[r.choice((10, 25, 40, 100)) for _ in range(n)] for n in between]
    delays = [[int(evenly(r, 100, 2e5))] * n for n in between]
    begin, longest = r.randrange(500, 2000), evenly(r, 200, 1e4)
    faults = {v: Flaps(r, begin + r.choice([0, r.randrange(0, 3000)]), longest) for v in victims}
    run = min(max(f.end_us() for f in faults.values()) + r.choice([1000, 4000]), begin + 14000)
    net, ends = row("failover-queues", r, nodes, between, rates, delays, faults, run, 100)
    pairs, mtu = r.choice([4, 16, 32]), r.choice([2048, 4096])
    window = r.randrange(1000, 2000) // pairs * mtu
    keys = {"queue-pairs": pairs, "message": "256K", "mtu": mtu, "window": window, "timeout": 14, "retries": 100, "ecn": False}
    net.flow("a", "b", **{"name": "ab", **keys})
    if r.random() < 0.5:
        net.flow("b", "a", **{"name": "ba", **keys})
    net.expect = ["flow('ab').failed == 0", "flow('ab').received > 1000", NO_DROPS, *only_cut(ends)]
    return net


@scenario(short=[{"seed": s} for s in range(1, 7)], long=[{}], seeds=1)
def failover_queues(seed=1):
    """What is queued for a link that fails leaves by another one, in order: nothing is lost but what the device had."""
    return failover_queues_net(seed)


def failover_turns_net(seed):
    """Any of the links between two nodes fail and return in turn, within the time of a queue and often all at once."""
    r = random.Random(seed)
    nodes = r.choice([2, 2, 3, 4])
    between = [r.randint(1, 3) for _ in range(nodes - 1)]
    bad = r.randrange(nodes - 1)
    between[bad] = r.randint(2, 4)
    rates = [[r.choice((10, 25, 40, 100)) for _ in range(n)] for n in between]
    delays = [[int(evenly(r, 100, 1e5))] * n for n in between]
    victims = r.sample(range(between[bad]), r.randint(2, between[bad]))
    begin, longest = r.randrange(500, 2000), evenly(r, 200, 4000)
    faults = {(bad, k): Flaps(r, begin + r.randrange(0, 2 * int(longest)), longest, times=(1, 2, 3, 5)) for k in victims}
    for f in faults.values():
        # what has just left by a direction that still works may be read by the next node after what follows on another link
        f.direction = "both"
    run = min(max(f.end_us() for f in faults.values()) + r.choice([3000, 6000]), begin + 16000)
    net, ends = row("failover-turns", r, nodes, between, rates, delays, faults, run, 100)
    net.tunes = {}
    with_hold(net, {"hold": r.choice([1, 1, 2]), "hold-max": r.choice([1, 2, 20]), "window": r.choice([100, 10000])})
    pairs, mtu = r.choice([4, 16, 32]), r.choice([1024, 2048, 4096])
    keys = {"queue-pairs": pairs, "message": "256K", "mtu": mtu, "window": r.randrange(1000, 2000) // pairs * mtu, "timeout": 12, "retries": 100,
            "ecn": False}
    net.flow("a", "b", **{"name": "ab", **keys})
    if r.random() < 0.7:
        net.flow("b", "a", **{"name": "ba", **keys})
    net.expect = ["flow('ab').failed == 0", "flow('ab').received > 200", "set(x for n in report['nodes'] for x in n['reasons']) <= {'port_down'}"]
    if len(victims) < between[bad]:
        net.expect += [NO_DROPS, *only_cut(ends)]
    return net


@scenario(short=[{"seed": s} for s in (1, 2, 3, 4, 5, 12, 19, 29)], long=[{}], seeds=1)
def failover_turns(seed=1):
    """Links fail and return in turn while packets are queued at each of them for others: order is kept, and nothing waits in a
    circle."""
    return failover_turns_net(seed)


def with_paths(config, r, gateway, policies):
    """Paths are primary with weights, or backups; a number of policies are alike, and hosts are behind some of them."""
    policy = next(p for p in config["policies"] if p["name"] == f"to-{gateway}")
    for path in policy["paths"]:
        path["weight"] = r.randint(1, 4)
    for path in policy["paths"][1:]:
        path["backup"] = policies > 1 or r.random() < 0.5
    vrf = config["vrfs"][0]["routes"]
    used = [route for route in vrf if route.get("policy") == policy["name"]]
    for i in range(1, policies):
        config["policies"].append({**policy, "name": f"p{i}"})
        vrf.append({"prefix": f"172.{16 + i // 250}.{i % 250}.0/24", "policy": f"p{i}"})
    for route in used:
        route["policy"] = r.choice(config["policies"])["name"]


def rows(name, r, middles, policies, run_us, hosts=1):
    """Gateways n0 and nz with paths over each middle node, which has one to four links to each."""
    net = Net(name, f"{int(run_us)}us", drain="2s", memory="4G", lossless="off", sample=f"{max(int(run_us / 20), 100)}us")
    names = [f"m{i}" for i in range(middles)]
    for n in ("n0", "nz", *names):
        net.node(n, lcores=r.choice(LCORES), memory={"buffers": "192K"}, port={"queue-limit": "4K", "buffer-limit": "8K"})
    for i in range(hosts):
        net.host(f"a{i}", 1 + 2 * i)
        net.host(f"b{i}", 2 + 2 * i)
        net.link(f"a{i}.eth0", f"n0.h{i}", rate="100G").link(f"nz.h{i}", f"b{i}.eth0", rate="100G")
    delay = int(evenly(r, 100, 1e6))
    for m in names:
        for k in range(r.randint(1, 3)):
            for a, b in ((f"n0.{m}-{k}", f"{m}.e{k}"), (f"{m}.w{k}", f"nz.{m}-{k}")):
                net.link(a, b, rate=f"{r.choice((25, 100, 200))}G", delay=f"{delay}ns")
    for a, b in (("n0", "nz"), ("nz", "n0")):
        net.path(a, b, *[[m] for m in names])
        draw = random.Random(r.random())
        net.tune(a, lambda c, b=b, draw=draw: with_paths(c, draw, b, policies))
    with_hold(net, hold_of(r))
    return net, delay


def failover_paths_net(seed, restarts, policies):
    """A middle node fails: all its links, or it starts again."""
    r = random.Random(seed)
    begin, longest = r.randrange(2000, 6000), r.choice([1e7, *[evenly(r, 200, 1e6)] * 9])
    middles = r.randint(2, 4)
    fault = Flaps(r, begin, longest, times=(1,) if restarts else (1, 1, 2, 3))
    fault.direction = "both" if restarts else fault.direction
    run = fault.end_us() + r.choice([2000, 30000])
    hosts = r.randint(1, 3)
    net, delay = rows("failover-paths", r, middles, policies, run, hosts)
    bad = "m0" if policies > 1 else f"m{r.randrange(middles)}"
    for link in net.links:
        if link["a"].startswith(f"{bad}.") or link["b"].startswith(f"{bad}."):
            link["failures"] = [fault.failure()]
    if restarts:
        net.extra["schedule"] = [{"at": f"{fault.at_us}us", "node": bad, "restart": f"{fault.lasts_us // 2}us"}]
    payload = r.choice([64, 512, 1024, 4096, 8192])
    intervals = {}
    for i in range(hosts):
        intervals[i] = fill(net, r, f"a{i}", f"b{i}", 3 * hosts, 2, payload, 25 / hosts)
    gone = fault.detect_us + 2 * delay / 1e3
    net.expect = [*(gap_of(f, intervals[i], gone) for i in range(hosts) for f in (f"a{i}b{i}", f"b{i}a{i}")), ARRIVES,
                  # the node whose links have all failed has no other way; the others have
                  f"all(n['dropped'] == 0 for n in report['nodes'] if n['name'] != '{bad}')",
                  f"all(x['place'].split(' > ')[-1].split('.')[0] == '{bad}' or x['place'].split('.')[0] == '{bad}'"
                  " for x in report['lossless']['losses'])",
                  f"set(node('{bad}').reasons) <= {{'port_down', 'stopped'}}"]
    return net


@scenario(short=[{"seed": s} for s in range(1, 7)], long=[{}], seeds=1)
def failover_paths(seed=1):
    """The first node of a path fails with all its links: flows of the policy take the other paths, or a backup."""
    return failover_paths_net(seed, False, 1)


@scenario(short=[{"seed": s} for s in range(1, 4)], long=[{}], seeds=1)
def failover_restart(seed=1):
    """The node starts again, and its links with it."""
    return failover_paths_net(seed, True, 1)


@scenario(short=[{"seed": s} for s in range(1, 3)], long=[{}], seeds=0.1)
def failover_policies(seed=1):
    """The primary paths of a thousand policies are over the links that fail: the gap is that of one."""
    return failover_paths_net(seed, False, 1000)


def lossless_row(r, rate, outage_ms, required):
    """Hosts and nodes with PFC; two to four nodes."""
    nodes = r.choice([2, 2, 3, 4])
    net = Net("failover-pfc", "1ms", drain="2s", memory="4G", lossless="required" if required else "off", sample="1ms")
    for i in range(nodes):
        net.node(f"n{i}", lcores=r.choice(LCORES), memory={"buffers": "160K"}, pfc=[3])
        net.tune(f"n{i}", lambda c: [p["pfc"].update(outage=outage_ms) for p in c["ports"]])
    net.host("a", 1, pfc=[3])
    net.host("b", 2, pfc=[3])
    net.link("a.eth0", "n0.h", rate=f"{rate}G").link(f"n{nodes - 1}.h", "b.eth0", rate=f"{rate}G")
    with_hold(net, hold_of(r))
    return net, nodes


def failover_lossless_net(seed, longer):
    """All links between two nodes fail, for less than pfc.outage, or for longer."""
    r = random.Random(seed)
    rate, outage_ms = r.choice((10, 25, 100)), r.choice((5, 10, 30))
    outage = outage_ms * 1000
    net, nodes = lossless_row(r, rate, outage_ms, not longer)
    bad, begin, detect = r.randrange(nodes - 1), r.randrange(2000, 4000), int(evenly(r, 1, 300))
    # between them, all are dead for this time; each fails somewhat earlier, and returns somewhat later
    dead = int(outage * (r.uniform(1.3, 2) if longer else r.uniform(0.3, 0.8)))
    spread = min(1000, outage // 20)
    dead_until = begin + spread + dead
    links = []
    for i in range(nodes - 1):
        delay = int(evenly(r, 100, 5e4))
        for k in range(r.randint(1, 3)):
            keys = {}
            if i == bad:
                at = begin + r.randrange(spread)
                until = dead_until + r.randrange(spread)
                links.append((f"n{i}.w{k}", f"n{i + 1}.e{k}"))
                keys["failures"] = [{"at": f"{at}us", "for": f"{until - at}us", "detect": f"{detect}us",
                                     "direction": r.choice(["both", "a-to-b"])}]
            net.link(f"n{i}.w{k}", f"n{i + 1}.e{k}", rate=f"{rate}G", delay=f"{delay}ns", **keys)
    net.lab["run"] = f"{dead_until + spread + 8000}us"
    net.flow("a", "b", **{"name": "ab", "queue-pairs": r.choice([4, 16]), "message": "256K", "mtu": r.choice([1024, 4096]), "timeout": 0})
    down = "[x for x in report['lossless']['losses'] if x['reason'] == 'port_down']"
    net.expect = ["host('a').pauses_received > 0", "flow('ab').failed == 0",
                  f"max(q['heard_ns'] for q in flow('ab').qps) > {(dead_until + detect) * 1000}"]
    if longer:
        net.expect += [f"sum(x['packets'] for x in {down}) > 0", f"all(x['place'].startswith(('n{bad}.w', 'n{bad + 1}.e')) for x in {down})",
                       f"min(x['first_ns'] for x in {down}) >= {(begin + outage) * 1000}",
                       f"max(x['last_ns'] for x in {down}) <= {(dead_until + spread + detect + 1000) * 1000}",
                       "set(r for n in report['nodes'] for r in n['reasons']) <= {'port_down', 'pfc'}"]
    else:
        net.expect += [NO_DROPS, *only_cut(links)]
    return net


@scenario(short=[{"longer": longer, "seed": s} for longer in (False, True) for s in (1, 2, 3)],
          long=[{"longer": False}, {"longer": True}], seeds=0.5)
def failover_lossless(longer, seed=1):
    """No way lives: what is lossless waits, its senders are paused, and nothing is lost. After pfc.outage it is dropped by
    name, so that nobody is paused for ever."""
    return failover_lossless_net(seed, longer)


def failover_moves_net(seed):
    """Links of some hops fail, and one of each lives. Its rate may be far below that of the senders."""
    r = random.Random(seed)
    rate, outage_ms = r.choice((25, 100)), r.choice((5, 10, 30))
    net, nodes = lossless_row(r, rate, outage_ms, True)
    between = [r.randint(1, 3) for _ in range(nodes - 1)]
    victims = some_of(r, between, bad_hops(r, nodes))
    begin, longest = r.randrange(1000, 3000), evenly(r, 200, 1e4)
    faults = {v: Flaps(r, begin + r.choice([0, r.randrange(0, 3000)]), longest) for v in victims}
    ends = []
    for i in range(nodes - 1):
        delay = int(evenly(r, 100, 5e4))
        for k in range(between[i]):
            keys = {"failures": [faults[i, k].failure()]} if (i, k) in faults else {}
            ends += [(f"n{i}.w{k}", f"n{i + 1}.e{k}")] if keys else []
            net.link(f"n{i}.w{k}", f"n{i + 1}.e{k}", rate=f"{r.choice((10, 25, rate))}G", delay=f"{delay}ns", **keys)
    net.lab["run"] = f"{int(min(max(f.end_us() for f in faults.values()) + 3000, begin + 14000))}us"
    net.flow("a", "b", **{"name": "ab", "queue-pairs": r.choice([4, 16]), "message": "256K", "mtu": r.choice([1024, 4096]), "timeout": 12, "retries": 100})
    net.expect = ["flow('ab').failed == 0", "flow('ab').received > 200", NO_DROPS, *only_cut(ends)]
    return net


@scenario(short=[{"seed": s} for s in range(1, 5)], long=[{}], seeds=0.5)
def failover_moves(seed=1):
    """What is lossless and queued for a link that fails leaves by another one, while PFC pauses whoever sends too fast for that."""
    return failover_moves_net(seed)


def failover_hold_net(seed):
    """Two links, one of which flaps with pauses that are longer than the first hold-down."""
    r = random.Random(seed)
    times, lasts, every, detect = r.randint(6, 9), int(evenly(r, 100, 5000)), r.randrange(16000, 40000), r.randrange(300, 1000)
    hold = r.choice([5, 10])
    flaps = Flaps(r, 3000, 200)
    flaps.times, flaps.lasts_us, flaps.every_us, flaps.detect_us = times, max(lasts, detect), every, detect
    flaps.direction = "both"
    delay = int(evenly(r, 100, 1e5))
    net, ends = row("failover-hold", r, 2, [2], [[100, 100]], [[delay, delay]], {(0, 0): flaps}, flaps.end_us() + 1000, 100)
    net.tunes = {}
    with_hold(net, {"hold": hold, "hold-max": 10000, "window": 10000})
    interval = fill(net, r, "a", "b", 2, 2, r.choice([256, 1024]), 100)
    net.extra["schedule"] = [{"at": net.lab["run"], "node": "n0", "command": "show nexthops"}]
    # a failure hits traffic if it has come back since the last one; each hold-down is twice as long as the one before
    hits = 1 + sum(hold * 2 ** (k - 1) * 1000 < every - flaps.lasts_us for k in range(1, times))
    most = sum(f["queue-pairs"] for f in net.flows) * ((detect + delay / 1e3 + REACTION_US) / interval + 2)
    net.expect = [f"0 < sum(w.cut for w in [way('{ends[0][0]}'), way('{ends[0][1]}')]) <= {hits * most:.0f}",
                  f"' {hold * 2 ** (times - 1)} ' in [x for x in command(0).output.split('\\n') if x.startswith('w0 ') and '(link)' in x][0]",
                  NO_DROPS, *only_cut(ends), told(interval), "any(p['failover_gap_most_ns'] > 0 for n in report['nodes'] for p in n['ports'])"]
    return net


@scenario(short=[{"seed": s} for s in range(1, 4)], long=[{}], seeds=0.2)
def failover_hold(seed=1):
    """A link that flaps carries traffic ever more seldom: its hold-down doubles."""
    return failover_hold_net(seed)


def failover_bfd_net(seed):
    r = random.Random(seed)
    begin, delay = 3_000_000 + r.randrange(20000), int(evenly(r, 100, 2e6))
    interval, multiplier = r.choice([3300, 10000, 20000]), r.choice([2, 3, 5])
    links = r.randint(2, 4)
    bad = Flaps(r, begin, 200)
    bad.times, bad.lasts_us = 1, r.randrange(150_000, 200_000)
    rates = [r.choice((25, 100, 400)) for _ in range(links)]
    net, ends = row("failover-bfd", r, 2, [links], [rates], [[delay] * links], {(0, 0): bad}, begin + bad.lasts_us, 100)
    net.links[2]["failures"][0]["detect"] = "never"  # after those to the hosts
    for n, side in (("n0", "w"), ("n1", "e")):
        net.tune(n, lambda c, side=side: (c.update({"bfd-profiles": [{"name": "wan", "transmit": interval, "receive": interval, "multiplier": multiplier}]}),
                                          [p.update(bfd="wan") for p in c["ports"] if p["name"].startswith(side)]))
    payload, every = r.choice([64, 1024, 4096]), r.choice([40, 100])
    for a, b in (("a", "b"), ("b", "a")):
        net.flow(a, b, transport="datagram", **{"name": a + b, "start": f"{begin - 20000}us", "queue-pairs": 8, "message": payload,
                                                "mtu": max(256, payload), "rate": f"{int((payload + LINE) * 8 / every * 1e6)}",
                                                "dscp": 0, "priority": 0})
    # the end that hears nothing tells the other
    gone = multiplier * interval + 3 * delay / 1e3
    net.expect = [gap_of("ab", every, gone), gap_of("ba", every, gone), NO_DROPS, *only_cut(ends), ARRIVES]
    return net


@scenario(short=[{"seed": s} for s in range(1, 4)], long=[{}], seeds=0.2)
def failover_bfd(seed=1):
    """A link loses everything in one direction or both, and no device says so: the gap is BFD's detection time and 100 us."""
    return failover_bfd_net(seed)
