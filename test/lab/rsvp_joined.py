# SPDX-License-Identifier: BSD-3-Clause
"""Sessions that wait for others, and for data (docs/rsvp.md): those of servers and those across the domain, joined at both gateways,
and those on demand. With messages that are lost, doubled and overtaken, and with restarts of nodes and of servers.

    a0, a1 == gw1 -- s1, s2 -- gw2 == b0, b1
"""
import random

from rsvp import schedule
from rsvp_servers import SESSION, address, network
from suite import scenario

BUFFER, POOL = 2048, 65536  # units: 4 MiB, for 4 MB by the letter
MODES = ("ext", "letter")


def lossy(net, r):
    for link in net.links:
        link.update(loss=0.1, duplication=0.05, reordering=0.05, jitter=f"{r.choice([10, 100, 1000])}us", faulty="both")


def restarts(net, r, names, first, last):
    """Up to three restarts of any of these nodes and servers, each between the two times (ms). Returns those that restart."""
    chosen = r.sample(names, r.randrange(1, 4))
    for name in chosen:
        at, length = f"{r.randrange(first, last)}ms", f"{r.randrange(50, 3000)}ms"
        if name in net.hosts:
            net.hosts[name]["keys"].setdefault("rsvp-restarts", []).append({"at": at, "for": length})
        else:
            net.extra["schedule"].append({"at": at, "node": name, "restart": length})
    return chosen


def state(i, session, *words):
    """In `show rsvp sessions`: the session is in one of these states."""
    return f"any(line.split()[:1] == [{session!r}] and any(f' {{word}} ' in line for word in {words!r}) for line in command({i}).output.splitlines())"


def left(i):
    """In `show rsvp counters`: nothing."""
    return (f"{{'sessions: 0', 'paths: 0', 'committed: 0', 'promised: 0', 'letter_sessions: 0', 'letter_reserved: 0'}} <= "
            f"{{' '.join(line.split()) for line in command({i}).output.splitlines()}}")


# --- joined sessions

SERVERS = {"gw1": "a0", "gw2": "b0"}


def join(net, gateway, server, mode):
    """What comes across the domain is carried on by the session to the server."""
    def change(config):
        credit = config["credit"]
        credit["accept"][0]["join"] = f"to-{server}"
        credit.update(letter={"grant": 4, "refresh": True}, buffer=BUFFER, pool=POOL)
        next(n for n in credit["neighbors"] if "port" in n)["mode"] = mode
        config["memory"]["buffers"] += POOL
    net.tune(gateway, change)


def joined(name, run, seed, modes, end):
    """`modes`: of the servers. They end their sessions at `end`, s."""
    net = network(name, run, seed, 1, tuple(SERVERS.values()), flow={"start": "1s"})
    for (gateway, server), mode in zip(SERVERS.items(), modes):
        net.hosts[server]["keys"].update({"rsvp": mode, "rsvp-end": f"{end}s", **({"rsvp-refresh": "2s"} if mode == "letter" else {})})
        join(net, gateway, server, mode)
    return net


UP = ("committed", "offered")


def all_up(first):
    """`show rsvp sessions` of gw1 and of gw2: everything has credit."""
    return [state(first + i, session, *UP) for i, server in enumerate(SERVERS.values()) for session in ("out", f"to-{server}")]


def told(i):
    """In `show rsvp paths`: the server that sends knows that its data has no way."""
    return f"any(' 2001:db8:' in line and '1/0x8002' in line for line in command({i}).output.splitlines())"


def over(first):
    """The servers had credit, and nothing is left: no session, timer, reservation or buffer, at them and at the nodes."""
    return [f"host('{h}').rsvp_up == host('{h}').rsvp_opened == 1 and host('{h}').rsvp_granted == 1 and host('{h}').rsvp_left == 0"
            for h in SERVERS.values()] + [left(first + i) for i in range(4)]


def ends(net, at, end):
    """Both gateways stop their sessions `at`; what is left at `end`, ms."""
    return [*((at, gateway, f"session stop {name}") for gateway, server in SERVERS.items() for name in ("out", f"to-{server}")),
            *((end, n, "show rsvp counters") for n in net.nodes)]


PAIRS = [{"modes": (a, b)} for a in MODES for b in MODES]


@scenario(short=PAIRS, long=PAIRS, seeds=0.1,
          expect=lambda modes, **_: [*all_up(0), f"not {state(3, 'out', *UP)}", state(3, "to-a0", *UP), told(4), *all_up(6), *over(12)])
def rsvp_joined(modes, seed=1):
    """A server takes no more data, so that the session across the domain loses its credit, and with it the server that sends: it is told.
    When there is a receiver again, all have credit again."""
    net = joined("rsvp-joined", "400s", seed, modes, 200)
    at = random.Random(seed).randrange(10000, 14000)
    return schedule(net, (at, "gw1", "show rsvp sessions"), (at, "gw2", "show rsvp sessions"), (at + 1, "gw2", "session stop to-b0"),
                    (at + 1000, "gw1", "show rsvp sessions"), (at + 1000, "gw1", "show rsvp paths"), (at + 2000, "gw2", "session start to-b0"),
                    (190000, "gw1", "show rsvp sessions"), (190000, "gw2", "show rsvp sessions"), *ends(net, 202000, 399000))


@scenario(short=[{"modes": m, "seed": n} for n, m in enumerate([("letter", "letter"), ("ext", "letter"), ("letter", "ext")], 1)], long=PAIRS, seeds=0.3,
          expect=lambda **_: [*all_up(0), *over(6)])
def rsvp_joined_in_trouble(modes, seed=1):
    """A tenth of all messages is lost, some are doubled and overtake others, and any of the nodes and servers restart: in the end all
    sessions have credit, and after it nothing is left."""
    r = random.Random(seed)
    net = joined("rsvp-joined-trouble", "900s", seed, modes, 400)
    lossy(net, r)
    schedule(net, (399000, "gw1", "show rsvp sessions"), (399000, "gw2", "show rsvp sessions"), *ends(net, 402000, 899000))
    restarts(net, r, [*net.nodes, *SERVERS.values()], 5000, 100000)
    return net


# --- sessions on demand

MESSAGES_A_SECOND = 10


@scenario(short=[{"seed": n} for n in (1, 2, 3)], long=[{}], seeds=0.3,
          expect=lambda **_: [state(0, "out", "on demand"), state(1, "out", "committed"), state(2, "out", "on demand"),
                              state(3, "out", "committed"), "1 <= command(4).output.count(' committed ') <= 2", state(5, "out", "on demand"),
                              *(left(6 + i) for i in range(4)), "flow('b').received > 0"])
def rsvp_on_demand(seed=1):
    """A session that begins with the first packet of its pair of servers, and ends when there is none for a while, twice. A tenth of
    everything is lost, nodes restart during the second time: a session that has just moved may have two paths. Packets of another pair, all the time, begin nothing."""
    r = random.Random(seed)
    idle, length = r.randrange(4, 9), 60
    starts = (r.randrange(2000, 6000), 100000 + r.randrange(2000))
    net = network("rsvp-demand", "400s", seed, 2, ())
    net.flows.clear()
    for name, near, far, start, seconds in (("a", "a0", "b0", starts[0], length), ("b", "a0", "b0", starts[1], length), ("c", "a1", "b1", 0, 200)):
        net.flow(near, far, name=name, family=6, transport="datagram", message=1024, rate=f"{MESSAGES_A_SECOND * 1024 * 8 // 1000}K",
                 start=f"{start}ms", messages=seconds * MESSAGES_A_SECOND)
    lossy(net, r)
    net.tune("gw1", lambda c: c["credit"]["sessions"][0].update({"on-demand": idle, "match": {"sources": address(net, "a0") + "/128",
                                                                                           "destinations": address(net, "b0") + "/128"}}))
    net.tune("gw2", lambda c: c["credit"].pop("sessions"))
    first, second = starts
    schedule(net, (first - 1000, "gw1", "show rsvp sessions"), (first + 1000 * length - 3000, "gw1", "show rsvp sessions"),
             (second - 1000, "gw1", "show rsvp sessions"), (second + 1000 * length - 3000, "gw1", "show rsvp sessions"),
             (second + 1000 * length - 3000, "gw2", "show rsvp paths"), (390000, "gw1", "show rsvp sessions"),
             *((399000, n, "show rsvp counters") for n in net.nodes))
    restarts(net, r, list(net.nodes), second + 2000, second + 30000)
    return net
