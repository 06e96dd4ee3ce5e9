# SPDX-License-Identifier: BSD-3-Clause
"""Losses of lossless packets that a link answers for, because it lost the PFC that would have prevented them.

A node that runs out of headroom has not kept its promise, unless the word of its own pause could not reach the sender. That is
looked up in the report: the node must have said XOFF before, and a link on the way of that word must have lost PFC then."""

SAID_NS = 100_000  # from XOFF of a buffer until its word is on the WAN: the link to the PE, and the PE's control lcore


def _begun(report, place, priority, at):
    """When the XOFF of a buffer began that was in force at that time; None: it was not."""
    for t in report["tracks"]["tracks"]:
        if t["kind"] == "xoff" and t["place"] + (f".{t['port']}" if "port" in t else "") == place and t["class"] == priority:
            for begin, end, *_ in t["intervals"]:
                if begin <= at <= end:
                    return begin
    return None


def _cuts(report, ways):
    """When these ways carried no PFC."""
    return [(begin, end) for t in report["tracks"]["tracks"] if t["kind"] == "link down" and t["place"] in ways for begin, end, *_ in t["intervals"]]


def _deaf_ways(report, place, across):
    """Ways that lost PFC: out of a place, or across the WAN on the way back from there."""
    ways = [(w, link) for link in report["links"] for w in (link["a_to_b"], link["b_to_a"]) if w["pfc_lost"]]
    return {w["name"]: link for w, link in ways if across or w["name"].startswith((f"{place} > ", f"{place}."))}


def _explained(report, loss, across):
    """across: a relay or a tunnel carries the word over the WAN, and holds a pause that it knows of: only one that begins in a cut
    is not known. On a link a pause must be repeated, and ends soon after the last repetition that came through."""
    begun = _begun(report, loss["place"], loss["priority"], loss["first_ns"])
    if loss["reason"] not in ("headroom_exceeded", "receive buffer full") or begun is None:
        return False
    deaf = _deaf_ways(report, loss["place"], across)
    for begin, end in _cuts(report, deaf):
        if across and begin - SAID_NS <= begun <= end and begin <= loss["first_ns"]:
            return True
        # until half a pause later it is said again, and then it takes the link and the response of the neighbour
        rate, delay = min((link["rate_bps"], link["delay_ns"]) for link in deaf.values())
        if not across and begin <= loss["first_ns"] <= end + 65535 * 512e9 / rate / 2 + 2 * delay + SAID_NS:
            return True
    return False


def excused(report, across):
    """Is every broken promise of this run one of a loss that a link answers for?"""
    losses = [x for x in report["lossless"]["losses"] if x["lossless"] and x["cause"] in ("node", "host that pauses too late")]
    waits = [text for text in report["lossless"]["broken"] if "still paused" in text]
    return bool(losses) and not waits and all(_explained(report, x, across) for x in losses)
