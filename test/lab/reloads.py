# SPDX-License-Identifier: BSD-3-Clause
"""Reloads that take flow control away while it is in force: refused by name, and nothing is lost (docs/pfc.md)."""
import copy

from net import loses
from outages import stalled, tunnelled
from suite import scenario
from wan import XPFC


def without(key):
    return lambda c: c.pop(key)


def without_pfc(port):
    return lambda c: next(p for p in c["ports"] if p["name"] == port).pop("pfc")


def other_sid(config):
    """The relay listens to another SID."""
    next(s for s in config["sids"] if s["behavior"] == "uDX2")["sid"] = "5f00:0:e1d3::/48"
    config["pfc-relays"][0]["sid"] = "5f00:0:e1d3::/48"


def without_pauses(config):
    config["sids"] = [s for s in config["sids"] if s["sid"] != XPFC + "/48"]


# what goes: network, node, change, what the plan says
TAKEN = {
    "relay-of-the-paused": ("relay", "pe1", without("pfc-relays"), "pfc-relays gw goes: it pauses the gateway at dc in priority 3"),
    "relay-of-the-pausing": ("relay", "pe2", without("pfc-relays"), "pfc-relays gw goes: through it the gateway at dc pauses priority 3"),
    "sid-of-the-relay": ("relay", "pe1", other_sid, "pfc-relays gw changes: it pauses the gateway at dc in priority 3"),
    "pfc-that-pauses": ("relay", "gw2", without_pfc("pe"), "ports pe: the neighbour is paused in priority 3"),
    "pfc-that-obeys": ("relay", "gw2", without_pfc("dc"), "ports dc: the neighbour pauses priority 3"),
    "tunnel": ("tunnel", "pe2", without("pfc-tunnels"), "pfc-tunnels to-pe1: it pauses priority 3 of its far end"),
    "end-x-pfc": ("tunnel", "pe1", without_pauses, "goes: pauses hold priority 3 of wan"),
}


def reload_expect(what, force=False, **_):
    if force:
        return ["command(0).ok", "lost > 0"]
    return ["command(0).ok == False", f"{TAKEN[what][3]!r} in command(0).output", f"{TAKEN[what][3]!r} in command(1).output",
            "command(1).ok == False", "lost == 0", "flow().retransmitted == 0", "host('gpu2').pauses_sent > 0"]


@scenario(short=[*({"what": w} for w in TAKEN), {"what": "relay-of-the-paused", "force": True}, {"what": "tunnel", "force": True}],
          long=[{"what": w} for w in TAKEN], seeds=2, expect=reload_expect)
def reload_in_a_pause(what, force=False, seed=1):
    """A reload would take away the flow control that keeps a receiver's buffers from overflowing: it is refused, its dry run
    says why, and nothing is lost. The negative control forces it."""
    scheme, node, change, _ = TAKEN[what]
    name = f"reload-{what}"
    net, at = stalled(name, "frames", seed, 2000) if scheme == "relay" else tunnelled(name, seed, 2000)
    new = copy.deepcopy(net.config(node))
    change(new)
    net.lab.update(loses(force))
    net.files = {f"{node}-new.yaml": new}
    flags = (" --force",) if force else ("", " --dry-run")
    net.extra["schedule"] = [{"at": f"{at}us", "node": node, "command": f"reload {node}-new.yaml{flag}"} for flag in flags]
    return net
