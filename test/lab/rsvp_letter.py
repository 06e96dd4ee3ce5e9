# SPDX-License-Identifier: BSD-3-Clause
"""Servers that speak RSVP by the letter of the draft (docs/rsvp.md, letter mode), in IPv6 and IPv4, at both ends of a domain:
each is granted credit by its gateway for what it sends, and grants credit to its gateway for what it receives.

    a0, a1 == gw1 -- s1, s2 -- gw2 == b0, b1
"""
import random

from rsvp import schedule
from rsvp_servers import SESSION, ends, ends_of, network
from suite import scenario

SERVERS = ends((2, 2))
MODE = {"mode": "letter"}
BUFFER = 2048  # units: 4 MiB, for 4 MB
BUSY = {"rate": "100M", "message": "64K", "messages": 100, "retries": 1000000}  # 6.4 MB of each flow


def letters(name, run, seed, families, mode=None, **rsvp):
    net = network(name, run, seed, 2, SERVERS, {"rsvp": "letter", **rsvp}, mode or MODE, families, BUSY)
    for gateway in SESSION:
        net.tune(gateway, lambda c: c["credit"].update(letter={"grant": 4}, buffer=BUFFER, pool=65536))
        net.tune(gateway, lambda c: c["memory"].update(buffers=c["memory"]["buffers"] + 65536))
    return net


def lossy(net, seed):
    """What a server and its gateway say to each other is lost, doubled and overtaken."""
    r = random.Random(seed)
    for link in net.links:
        if link["a"].split(".")[0] in net.hosts:
            link.update(loss=0.1, duplication=0.05, reordering=0.05, jitter=f"{r.choice([10, 100, 1000])}us", faulty="both")
    return net


def own_sessions(net, families):
    """(gateway, session to a server)"""
    return [("gw1" if h[0] == "a" else "gw2", f"to-{h}{suffix}") for h in SERVERS for suffix, _ in ends_of(net, h, families)]


def asked(net, families, at, end):
    """The sessions of both gateways, before they are stopped, and what is left of them half a minute before the end of the run."""
    stops = [(at + 2000, gateway, f"session stop {name}") for gateway, name in own_sessions(net, families)]
    outer = [(at + 60000, gateway, "session stop out") for gateway in SESSION]
    return schedule(net, *((at, n, "show rsvp sessions") for n in SESSION), *((at, n, "show rsvp counters") for n in SESSION), *stops, *outer,
                    *((end - 30000, n, "show rsvp counters") for n in SESSION))


def up(families):
    """Each server has credit for what it sends, in each family, and has granted the gateway some."""
    n = len(families)
    return [f"host('{h}').rsvp_up == host('{h}').rsvp_opened == {n} and host('{h}').rsvp_granted == {n}" for h in SERVERS] + \
        [f"sum(any(word in line for word in (' offered ', ' committed ')) for line in command({i}).output.splitlines()) == {1 + 2 * n}"
         for i in (0, 1)]


def gone(families, first=4):
    """No session, timer or buffer is left, at the servers and at the gateways."""
    stopped = first + 4 * len(families) + 2
    return [f"host('{h}').rsvp_left == 0" for h in SERVERS] + \
        [f"{{'sessions: 0', 'paths: 0', 'committed: 0', 'promised: 0', 'letter_sessions: 0', 'letter_reserved: 0'}} <= "
         f"{{' '.join(line.split()) for line in command({stopped + i}).output.splitlines()}}" for i in (0, 1)]


def counted(counter):
    """By both gateways, before the sessions end."""
    return f"sum(count(i, '{counter}') for i in (2, 3))"


FAMILIES = [{"families": (6,)}, {"families": (4,)}, {"families": (6, 4)}]


@scenario(short=FAMILIES, long=FAMILIES, seeds=0.1,
          expect=lambda families, **_: [*up(families), *gone(families), f"{counted('letter_rx')} > 30", f"{counted('letter_late')} == 0"])
def rsvp_letter_life(families, seed=1):
    """Sessions of servers by the letter, in both directions, from the first 28 to the last 31. No increment comes twice."""
    net = letters("rsvp-letter", "200s", seed, families, **{"rsvp-end": "30s"})
    return asked(net, families, 29000, 200000)


@scenario(short=[{"families": (6, 4), "seed": n} for n in (1, 2, 3)], long=[{"families": (6, 4)}], seeds=0.3,
          expect=lambda families, **_: [*up(families), *gone(families), f"{counted('letter_late')} > 0"])
def rsvp_letter_under_loss(families, seed=1):
    """A tenth of what servers and gateways say to each other is lost, some is doubled and overtakes other messages: each session
    gets its credit all the same, increments count once, and after the end nothing is left."""
    net = lossy(letters("rsvp-letter-loss", "600s", seed, families, **{"rsvp-end": "120s"}), seed)
    return asked(net, families, 119000, 600000)


@scenario(short=[{"what": what, "refresh": True} for what in ("a0", "gw1")] + [{"what": "a0", "refresh": False}],
          long=[{"what": what, "refresh": True} for what in ("a0", "b1", "gw1", "gw2")], seeds=0.2,
          expect=lambda what, refresh, **_: [*up((6, 4)), *gone((6, 4))] if refresh else [f"host('{what}').rsvp_up == 2", f"host('{what}').rsvp_granted == 0"])
def rsvp_letter_restart(what, refresh, seed=1):
    """A server, or a gateway, forgets everything for a second, without a word. Where sessions are refreshed they come back in both
    directions, and end without a trace. By the draft's text, which has no refresh, the other side does not notice."""
    at = random.Random(seed).randrange(8000, 12000)
    net = letters("rsvp-letter-restart", "300s", seed, (6, 4), **{"rsvp-end": "120s", **({"rsvp-refresh": "2s"} if refresh else {})})
    for gateway in SESSION:
        net.tune(gateway, lambda c: c["credit"]["letter"].update(refresh=refresh))
    asked(net, (6, 4), 119000, 300000)
    if what in SESSION:
        net.extra["schedule"].append({"at": f"{at}ms", "node": what, "restart": "1s"})
    else:
        net.hosts[what]["keys"]["rsvp-restarts"] = [{"at": f"{at}ms", "for": "1s"}]
    return net


@scenario(short=[{"mode": "ext"}], expect=lambda mode: [f"host('{h}').rsvp_up == 0 and host('{h}').rsvp_granted == 0" for h in SERVERS] +
          [f"{counted('letter_rx')} == 0", f"{counted('refused_unknown_class')} > 0"])
def rsvp_letter_misread(mode):
    """A gateway that takes such a server for one of ext mode understands none of its messages, and grants nothing."""
    net = letters("rsvp-letter-misread", "20s", 1, (6,), {"mode": mode})
    return asked(net, (6,), 10000, 49000)
