# SPDX-License-Identifier: BSD-3-Clause
"""Lossless over distance: PFC between data centres, in all variants of the drafts, compared with lossy ones (docs/pfc.md).

Full size is 100 Gb/s over 1000 km. Most seeds run smaller bandwidth-delay products, of rates and distances that the seed
draws, because only the ratio of data in flight to reserved buffer matters.
"""
import random

from net import loses
from suite import scenario
from wan import QUANTA_MAX, QUANTUM_BITS, Wan, longest_us, refresh_us

# where the headroom is; how XON is sent there, and received at the other end of the WAN
ENDS = {"relay": ("gw2", "pe", "pause('gw2', 'said', 'pe')", "pause('gw1', 'heard', 'pe')"),
        "tunnel": ("pe2", "wan", "pause('pe2', 'tunnel', 'to-pe1')", "gate('pe1', 'wan')")}
NOTHING_LOST = ["lost == 0", "flow().retransmitted == 0", "flow().failed == 0"]
STALL = ("20ms", "50ms")
SCHEMES = [{"scheme": "best-effort"}, {"scheme": "relay"}, {"scheme": "relay", "rule": "draft-he"}, {"scheme": "tunnel"},
           {"scheme": "tunnel", "rule": "draft-he"}]


def distance_expect(scheme, rule="full"):
    if scheme == "best-effort":
        return ["dropped('gw2') > 0", "lost == reason('gw2', 'queue_full')", "host('gpu1').pauses_received == 0",
                "flow().retransmitted > 0"]
    holder, port, said, heard = ENDS[scheme]
    if rule == "draft-he":
        return [f"reason('{holder}', 'headroom_exceeded') > 0", f"lost == reason('{holder}', 'headroom_exceeded')",
                f"buffer('{holder}', '{port}').xoffs > 0"]
    return [*NOTHING_LOST, f"buffer('{holder}', '{port}').xoffs == 1", "host('gpu1').paused_ns[3] > 0",
            # more than one way is really used, or this would prove nothing about the other rule
            f"buffer('{holder}', '{port}').headroom_most_bytes > rate('pe2.dc') * one_way() / 8e9 * 1.5",
            f"0 < {heard}.ended_ns - {said}.ended_ns <= one_way() + {QUANTA_MAX * QUANTUM_BITS / 2} / rate('pe2.dc') * 1e9"]


@scenario(short=SCHEMES, expect=distance_expect, seeds=0.01)
def pfc_1000_km(scheme, rule="full"):
    """100 Gb/s over 1000 km, the receiver stops for 50 ms: best effort loses, draft-he's one-way buffer loses, the full
    headroom (D37) loses nothing, behind a relay and behind End.X.PFC; traffic resumes within one way and one refresh."""
    return Wan("pfc-1000-km", scheme, rule=rule, stall=STALL, **loses(scheme == "best-effort" or rule != "full")).net


@scenario(short=[{"scheme": "relay"}, {"scheme": "tunnel"}, {"scheme": "tunnel", "rule": "draft-he"}], long=SCHEMES, expect=distance_expect)
def pfc_any_distance(scheme, rule="full", seed=1):
    """The same with a rate, a distance and a stall that the seed draws."""
    r = random.Random(seed)
    rate, most = r.choice([(10, 2000), (25, 800), (40, 400), (100, 120)])
    km = r.randrange(most // 8, most + 1)
    fill = 5e6 * 8 / rate / 1e3  # us until the receiver's buffer and the gateway's are at XOFF, and a little
    begin, stall = r.randrange(2000, 8000), 10 * km + fill + r.randrange(0, 20000)
    return Wan("pfc-any-distance", scheme, rate=rate, km=km, rule=rule, stall=(f"{begin}us", f"{int(stall)}us"),
               run=f"{int(begin + stall + 20 * km + 8000)}us", sample="1ms", **loses(scheme == "best-effort" or rule != "full")).net


def lossy_expect(mode, loss, jitter=2.0, **_):
    if mode == "regenerate":
        return ["lost == way('pe2.wan').lost", "flow().retransmitted == 0", "host('gpu2').pauses_sent > 0"]
    # packets lost at the very end of the run are not retransmitted
    return ["host('gpu2').buffer_overflow > 0"]


@scenario(short=[{"mode": "regenerate", "loss": 0.01}, {"mode": "regenerate", "loss": 0.2, "seed": 6}, {"mode": "transparent", "loss": 0.01}],
          long=[*({"mode": "regenerate", "loss": p, "jitter": j} for p in (0.01, 0.1, 0.3) for j in (0, 2.0)),
                {"mode": "transparent", "loss": 0.01}, {"mode": "scaled", "loss": 0.01}],
          expect=lossy_expect, apart="PARAM['mode'] == 'regenerate' and way('pe2.wan').pfc_lost_run > 3")
def pfc_lossy_tunnel(mode, loss, jitter=2.0, seed=1):
    """The WAN loses frames of the tunnel and delays them by up to twice the longest pause. With headroom for three losses in a
    row `regenerate` loses no data unless more of them were lost in a row; `transparent` and `scaled` do."""
    r = random.Random(seed)
    rate, km = r.choice([(10, 1000), (25, 400), (100, 100)])
    late = jitter * longest_us(rate)
    more = 3 * refresh_us(rate, mode) + late
    begin, stall = r.randrange(2000, 8000), 90 * longest_us(rate) + r.randrange(0, 20000)
    return Wan("pfc-lossy-tunnel", "hosts", detect=2000, rate=rate, km=km, mode=mode, more_us=more, jitter_us=more + 50,
               stall=(f"{begin}us", f"{int(stall)}us"), run=f"{int(begin + stall + 20 * km + 5000)}us", sample="1ms",
               wan={"loss": loss, "jitter": f"{int(late * 1000)}ns", "faulty": "b-to-a"}, **loses(mode != "regenerate")).net


def lossy_sid_expect(held, **_):
    if held:
        return ["lost == way('pe2.wan').lost", "flow().retransmitted == 0", "pause('pe2', 'tunnel', 'to-pe1').pauses > 0",
                "gate('pe1', 'wan').pauses == pause('pe2', 'tunnel', 'to-pe1').pauses"]
    return ["reason('pe2', 'headroom_exceeded') > 0", "gate('pe1', 'wan').pauses > pause('pe2', 'tunnel', 'to-pe1').pauses"]


@scenario(short=[{"held": True, "loss": 0.01}, {"held": True, "loss": 0.2, "seed": 7}, {"held": False, "loss": 0.01}],
          long=[*({"held": True, "loss": p, "jitter": j} for p in (0.01, 0.1, 0.3) for j in (0, 2.0)), {"held": False, "loss": 0.01}],
          expect=lossy_sid_expect, apart="PARAM['held'] and way('pe2.wan').pfc_lost_run > 3")
def pfc_lossy_sid(held, loss, jitter=2.0, seed=1):
    """The same in a tunnel to End.X.PFC: with `jitter` of the SID a pause has no holes and nothing is lost, unless more than
    three frames were lost in a row; to the letter of draft-ruan, where a pause lasts as long as its frame says, data is."""
    r = random.Random(seed)
    rate, km = r.choice([(10, 1000), (25, 400), (100, 100)])
    late = jitter * longest_us(rate)
    more = 3 * refresh_us(rate, "transparent") + late
    # the buffers of pe2 behind the port must fill first, and then for long enough to show a hole
    begin, stall = r.randrange(2000, 8000), 90 * longest_us(rate) + r.randrange(0, 20000)
    return Wan("pfc-lossy-sid", "tunnel", detect=2000, outage=0, rate=rate, km=km, more_us=more,
               jitter_us=more + 50 if held else None,
               stall=(f"{begin}us", f"{int(stall)}us"), run=f"{int(begin + stall + 20 * km + 5000)}us", sample="1ms",
               wan={"loss": loss, "jitter": f"{int(late * 1000)}ns", "faulty": "b-to-a"}, **loses(not held)).net


@scenario(short=[{"mode": m} for m in ("transparent", "scaled", "regenerate")], seeds=0.01,
          expect=lambda mode: lossy_expect(mode, 0.01) if mode == "regenerate" else
          ["reason('gw2', 'headroom_exceeded') > 0", "flow().retransmitted > 0"],
          apart="PARAM['mode'] == 'regenerate' and way('pe2.wan').pfc_lost_run > 3")
def pfc_modes_1000_km(mode):
    """The three modes of the relay at full size, over a WAN that loses 1 % of the tunnel's frames and delays them by up to 1 ms,
    three times the longest pause."""
    more = 3 * refresh_us(100, mode) + 1000
    return Wan("pfc-modes-1000-km", "relay", mode=mode, more_us=more, jitter_us=more + 50, stall=STALL,
               wan={"loss": 0.01, "jitter": "1ms", "faulty": "b-to-a"}, **loses(mode != "regenerate")).net


def xon_expect(reserved, **_):
    starved = "host('gpu2').starved_ns / report['run_ns']"
    return [*NOTHING_LOST, "host('gpu1').paused_ns[3] > 0", f"{starved} <= 0.01" if reserved else f"{starved} > 0.05"]


@scenario(short=[{"scheme": s, "reserved": r} for s in ("relay", "tunnel") for r in (True, False)], expect=xon_expect)
def pfc_xon_side(scheme, reserved, seed=1):
    """A receiver that takes less than is sent: with what drains in a round trip left in the buffer when XON is sent it never
    waits (1 % at most); without, it waits a large part of the time."""
    r = random.Random(seed)
    rate, km = r.choice([(10, 1000), (25, 400), (40, 200)])
    drain = rate * r.uniform(0.4, 0.8)
    # XON may be delayed by a scheduler's round and the frames before it
    xon = int(drain * 125 * (10 * km + 300 + 2 * 256 * 9234 * 8 / rate / 1e3)) if reserved else None
    return Wan("pfc-xon-side", scheme, rate=rate, km=km, xon=xon, drain=f"{int(drain * 1000)}M", run=f"{200 * km}us",
               sample="1ms").net


def congested_expect(at, **_):
    return ["flow('gpu1-gpu2').retransmitted == 0", f"reason('{at}', 'queue_full') > 0", "host('gpu1').paused_ns[3] > 0",
            # only data of the flow that is too fast was lost: no frame of the tunnel, no acknowledgement
            "lost == flow('flood').sent - flow('flood').received", "lost == sum(dropped(n['name']) for n in report['nodes'])",
            "way('pe2.wan').pfc > 0", "into('pe1.wan').pfc == way('pe2.wan').pfc"]


@scenario(short=[{"at": "pe2"}, {"at": "p"}], long=[{"at": a, "mode": m} for a in ("pe2", "p") for m in ("regenerate", "transparent")],
          expect=congested_expect)
def pfc_congested_wan(at, mode="regenerate", seed=1):
    """Best-effort traffic overflows the WAN in the direction in which PFC goes, where it enters or halfway: the relay's frames
    (CS7) are not lost, and neither is the data they protect."""
    r = random.Random(seed)
    rate, km = r.choice([(10, 1000), (25, 400)])
    slow, fast = rate * 6 // 5, 4 * rate
    begin, stall = r.randrange(2000, 8000), 10 * km + 10000 + r.randrange(0, 10000)
    wan = Wan("pfc-congested-wan", "relay", rate=rate, km=km, mode=mode, middle=slow if at == "p" else fast,
              wan_rate=fast if at == "p" else slow, jitter_us=1000, more_us=refresh_us(rate, mode),
              stall=(f"{begin}us", f"{int(stall)}us"), run=f"{int(begin + stall + 20 * km)}us", sample="1ms")
    net = wan.net
    net.host("gpu3", 3)
    net.host("gpu4", 4)
    net.link("gpu3.eth0", "pe2.flood", rate=f"{fast}G").link("gpu4.eth0", "pe1.flood", rate=f"{fast}G")
    net.flow("gpu3", "gpu4", name="flood", transport="datagram", message=4096, rate=f"{2 * rate}G", dscp=0, priority=0)
    return net


@scenario(short=[{"wan": 0.8, "drain": 0.4}, {"wan": 0.48, "drain": 0.44}],
          long=[{"wan": w, "drain": d, "mode": m} for w, d in ((0.8, 0.4), (0.48, 0.44)) for m in ("regenerate", "transparent")],
          expect=[*NOTHING_LOST, "pause('pe1', 'said', 'dc').pauses > 20", "pause('pe1', 'relayed', 'dc').pauses > 2",
                  # the relay's XON does not resume the gateway while the PE's own buffer is full
                  "buffer('pe1', 'dc').headroom_most_bytes < 400e3"])
def pfc_two_voices(wan, drain, mode="regenerate", seed=1):
    """A PE's own WAN port is slower than the traffic it receives, so that its buffers pause the gateway repeatedly while the relay does
    so too: neither ends the other's pauses, and nothing is lost on either side of the WAN."""
    r = random.Random(seed)
    rate, km = 25, r.randrange(300, 450)
    return Wan("pfc-two-voices", "relay", rate=rate, km=km, mode=mode, wan_rate=int(rate * wan), drain=f"{int(rate * drain)}G",
               flow={"rate": f"{rate * 250}M"}, run=f"{250 * km}us", sample="1ms").net
