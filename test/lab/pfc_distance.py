# SPDX-License-Identifier: BSD-3-Clause
"""Lossless over distance: PFC between data centres, in every way the drafts have, against what loses (docs/pfc.md)."""
import random

from suite import scenario
from wan import Wan, longest_us, refresh_us

# where the buffer is that the headroom is for, how its XON is said, and how it is heard at the other end of the WAN
ENDS = {"relay": ("gw2", "pe", "pause('gw2', 'said', 'pe')", "pause('gw1', 'heard', 'pe')"),
        "tunnel": ("pe2", "wan", "pause('pe2', 'tunnel', 'to-pe1')", "gate('pe1', 'wan')")}
NOTHING_LOST = ["lost == 0", "flow().retransmitted == 0", "flow().failed == 0"]
STALL = ("20ms", "50ms")


def slow_down(rate, km, seed):
    """Where the seed decides: a stall that begins and lasts as it likes, over any distance."""
    r = random.Random(seed)
    km = r.randrange(km // 10, km + 1)
    begin, length = r.randrange(5000, 30000), r.randrange(5000, 50000)
    return {"km": km, "stall": (f"{begin}us", f"{length}us"), "run": f"{begin + length + 10 * km + 20000}us"}


def distance_expect(scheme, rule="full", rate=100, **_):
    if scheme == "best-effort":
        return ["dropped('gw2') > 0", "lost == reason('gw2', 'queue_full')", "host('gpu1').pauses_received == 0",
                "flow().retransmitted > 0"]
    holder, port, said, heard = ENDS[scheme]
    if rule == "draft-he":
        return [f"reason('{holder}', 'headroom_exceeded') > 0", f"lost == reason('{holder}', 'headroom_exceeded')",
                f"buffer('{holder}', '{port}').xoffs > 0"]
    return [*NOTHING_LOST, f"buffer('{holder}', '{port}').xoffs == 1", "host('gpu1').paused_ns[3] > 0",
            # more than one way is really used, or this would prove nothing about the other rule
            f"buffer('{holder}', '{port}').headroom_most_bytes > {rate} * link('pe1.wan').delay_ns / 8 * 1.5",
            f"0 < {heard}.ended_ns - {said}.ended_ns <= link('pe1.wan').delay_ns + {longest_us(rate) / 2 * 1000}"]


SCHEMES = [{"scheme": "best-effort"}, {"scheme": "relay"}, {"scheme": "relay", "rule": "draft-he"}, {"scheme": "tunnel"},
           {"scheme": "tunnel", "rule": "draft-he"}]


@scenario(short=SCHEMES, expect=distance_expect, seeds=0.02)
def pfc_1000_km(scheme, rule="full"):
    """100 Gb/s over 1000 km, the receiver stops for 50 ms: best effort loses, draft-he's one-way buffer loses, the full
    headroom (D37) loses nothing, behind a relay and behind End.X.PFC; and traffic resumes one way after XON."""
    return Wan("pfc-1000-km", scheme, rule=rule, stall=STALL).net
