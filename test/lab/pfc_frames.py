# SPDX-License-Identifier: BSD-3-Clause
"""Single PFC frames: those of strangers pause nothing, and those that count pause for exactly the time they say."""
import ipaddress
import random

from net import BLOCK
from suite import scenario
from wan import DX2, QUANTA_MAX, QUANTUM_BITS, XPFC, Wan

PFC_DA = "0180c2000001"
N, EVERY = 200, "50us"


def digits(mac):
    return mac.replace(":", "")


def pfc(source, quanta=QUANTA_MAX, da=PFC_DA, tag="", opcode=0x0101, enable=0x0008):
    """A PFC frame for priority 3, or a frame that resembles one."""
    times = "0000" * 3 + f"{quanta:04x}" + "0000" * 4
    return f"{da}{digits(source)}{tag}8808{opcode:04x}{enable:04x}{times}" + "00" * 26


def tunnelled(mac, source, sid, frame, sender="02:00:00:00:66:66"):
    """A frame in a tunnel: CS7, one container, Ethernet."""
    ip = f"6e000000{len(frame) // 2:04x}8f40" + ipaddress.ip_address(source).packed.hex() + ipaddress.ip_address(sid).packed.hex()
    return digits(mac) + digits(sender) + "86dd" + ip + frame


def container(node, sid):
    return f"{BLOCK}:{node['id']:x}:{sid.split(':')[2]}::"


GENUINE = "02:00:00:00:66:01"
# name: who sends it; the frame, of the network and the MAC of who is believed there; where it ends and as what
DC, WAN = "gpu2", "evil"
HANDED_ON = "to the host"
KINDS = {
    # from the data centre, to a PE that hands PFC of its gateway on
    "wrong-mac": (DC, "hosts", lambda net, peer: pfc("02:00:00:00:66:66"), "pe2", "pfc_bad_peer"),
    "own-mac": (DC, "hosts", lambda net, peer: pfc(net._mac("pe2.dc")), "pe2", "pfc_bad_peer"),
    "pause-802.3x": (DC, "hosts", lambda net, peer: pfc(peer, opcode=1), "pe2", "pause_frame"),
    "vlan-tagged": (DC, "hosts", lambda net, peer: pfc(peer, tag="81006003"), "pe2", "vlan"),
    "enable-vector": (DC, "hosts", lambda net, peer: pfc(peer, enable=0x0108), "pe2", "pfc_bad_cev"),
    "other-opcode": (DC, "hosts", lambda net, peer: pfc(peer, opcode=0x0102), "pe2", "pfc_bad_opcode"),
    # the same to a PE that obeys it itself
    "wrong-mac-obeyed": (DC, "tunnel", lambda net, peer: pfc("02:00:00:00:66:66"), "pe2", "pfc_bad_peer"),
    "pause-802.3x-obeyed": (DC, "tunnel", lambda net, peer: pfc(peer, opcode=1), "pe2", "pause_frame"),
    "vlan-tagged-obeyed": (DC, "tunnel", lambda net, peer: pfc(peer, tag="81006003"), "pe2", "vlan"),
    # from the data centre straight to the far PE's SID
    "dc-to-sid": (DC, "tunnel", lambda net, peer: tunnelled(net._mac("pe2.dc"), "fd00::100", container(net.nodes["pe1"], XPFC),
                                                          pfc(GENUINE)), "pe2", "boundary_drop"),
    # from the WAN
    **{f"{what}-{scheme}": (WAN, scheme, (lambda net, peer, sid=sid, source=source, frame=frame:
                                          tunnelled(net._mac("p.evil"), source, container(net.nodes["pe1"], sid), frame)),
                            "pe1", reason)
       for scheme, sid in (("hosts", DX2), ("tunnel", XPFC))
       for what, source, frame, reason in (
           ("foreign-source", "2001:db8:666::1", pfc(GENUINE), "boundary_source"),
           ("not-allowed", "fd00::666", pfc(GENUINE), "pfc_bad_peer"),
           ("802.3x-inside", "fd00::200", pfc(GENUINE, opcode=1), "pfc_bad_opcode"),
           # End.DX2 forwards all but MAC control frames, and no NIC accepts a tagged frame as PFC
           ("vlan-inside", "fd00::200", pfc(GENUINE, tag="81006003"), HANDED_ON if scheme == "hosts" else "pfc_bad_opcode"),
           ("unicast-inside", "fd00::200", pfc(GENUINE, da="020000000001"), "pfc_bad_da"))},
    # and those that do count, or this would prove nothing
    "genuine": (DC, "hosts", lambda net, peer: pfc(peer), "pe2", None),
    "genuine-obeyed": (DC, "tunnel", lambda net, peer: pfc(peer), "pe2", None),
    **{f"genuine-wan-{scheme}": (WAN, scheme, (lambda net, peer, sid=sid: tunnelled(
        net._mac("p.evil"), "fd00::200", container(net.nodes["pe1"], sid), pfc(GENUINE))), "pe1", None)
       for scheme, sid in (("hosts", DX2), ("tunnel", XPFC))},
}


def transit(config):
    """p is inside the domain with all its ports: a sender at `evil` has access to the WAN."""
    for port in config["ports"]:
        if port["name"] == "evil":
            port.update(side="wan", addresses=["fe80::66:1/64"])
            port.pop("vrf", None)
    for key in ("vrfs", "policies"):
        config.pop(key, None)
    config["sids"] = [s for s in config["sids"] if s["behavior"] == "uN"]
    config["neighbors"] = [n for n in config["neighbors"] if n["port"] != "evil"]


def allow_peer(config):
    for sid in config["sids"]:
        if sid["behavior"] in ("uDX2", "uA.PFC"):
            sid["allowed-sources"] = ["fd00::200/128"]


def strangers_expect(kind, **_):
    _, _, _, where, reason = KINDS[kind]
    paused = "host('gpu1').paused_ns[3] + sum(g['paused_ns'] for n in report['nodes'] for g in n['gates'])"
    if not reason:
        return [f"{paused} > 1e6", "lost == 0"]
    end = f"host('gpu1').check_errors == {N}" if reason == HANDED_ON else f"reason('{where}', '{reason}') == {N}"
    return [f"{paused} == 0", "host('gpu1').pauses_received == 0", "all(not n['pauses'] for n in report['nodes'])", end,
            f"lost == {N}", "flow('gpu1-gpu2').retransmitted == 0",
            "flow('gpu1-gpu2').goodput_gbps > 0.9 * rate('pe2.dc') / 1e9"]


@scenario(short=[{"kind": k} for k in ("wrong-mac", "pause-802.3x", "vlan-tagged", "dc-to-sid", "foreign-source-hosts",
                                       "foreign-source-tunnel", "not-allowed-tunnel", "genuine", "genuine-wan-tunnel")],
          long=[{"kind": k} for k in KINDS], expect=strangers_expect, seeds=0.3)
def pfc_strangers(kind, seed=1):
    """PFC that is not for us: of a wrong MAC, with a VLAN tag, 802.3x, from a foreign source, from outside the domain. Nothing
    pauses, throughput is full, and each frame is counted under its reason."""
    who, scheme, frame, _, _ = KINDS[kind]
    wan = Wan("pfc-strangers", scheme, rate=10, km=random.Random(seed).randrange(2, 200), middle=40, run="20ms", sample="1ms",
              flow={"rate": "2450M"})
    net = wan.net
    net.tune("pe1", allow_peer)
    if who == WAN:
        net.link("evil.eth0", "p.evil", rate="10G")
        net.host("evil", 66)
        net.tune("p", transit)
    send = {"at": "2ms", "repeat": N, "every": EVERY, "frame": frame(net, "")}
    net.hosts[who]["keys"]["send"] = [{**send, "frame": frame(net, net._mac(f"{who}.eth0"))}]
    return net


def quanta_out(mode, quanta, rate, far):
    """docs/protocol.md 5.5."""
    return quanta if mode == "transparent" else min(QUANTA_MAX, -(-quanta * far // rate))


def speeds_expect(rate, far, mode, quanta):
    out = quanta_out(mode, quanta, rate, far)
    exact = out * QUANTUM_BITS * 10**9 // (far * 10**9)
    asked = quanta * QUANTUM_BITS / rate
    found = ["lost == 0", "flow().retransmitted == 0"]
    # never less than was asked for, and less than a quantum more
    if mode == "scaled":
        found.append(f"-1 <= host('gpu1').paused_ns[3] - {asked} <= {QUANTUM_BITS / far + 2}")
    if -(-quanta * far // rate) > QUANTA_MAX:  # longer than one frame can say
        return [*found, "host('gpu1').pauses_received > 1"]
    return [*found, f"host('gpu1').paused_ns[3] == {exact}", "host('gpu1').pauses_received == 1"]


@scenario(short=[{"rate": 100, "far": 400, "mode": "scaled", "quanta": q} for q in (1, 12345, 65535)] +
          [{"rate": 100, "far": 100, "mode": "transparent", "quanta": 12345}, {"rate": 400, "far": 100, "mode": "scaled", "quanta": 12345}],
          long=[{"rate": r, "far": f, "mode": m, "quanta": q} for r, f in ((100, 400), (400, 100), (25, 100), (10, 25), (100, 40), (100, 100))
                for m in (("scaled", "transparent") if r == f else ("scaled",)) for q in (1, 12345, 16384, 65535)],
          expect=speeds_expect, seeds=0.03)
def pfc_speeds(rate, far, mode, quanta, seed=1):
    """One pause goes from a data centre of one speed to one of another: to the nanosecond, what `scaled` makes of its quanta
    lasts what was asked for, rounded up to the next quantum, and is renewed if one frame cannot say it; `transparent`, which is
    refused between different speeds, hands it on as it is."""
    wan = Wan("pfc-speeds", "hosts", rate=rate, far_rate=far, km=random.Random(seed).randrange(1, 300), mode=mode, run="4ms",
              flow={"rate": "1G"})
    wan.net.hosts["gpu1"]["keys"]["response"] = "0"  # the pause is measured at the host, from the arrival of its frame on
    wan.net.hosts["gpu2"]["keys"]["send"] = [{"at": "1ms", "frame": pfc(wan.net._mac("gpu2.eth0"), quanta=quanta)}]
    return wan.net
