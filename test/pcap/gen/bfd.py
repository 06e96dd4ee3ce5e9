# SPDX-License-Identifier: BSD-3-Clause
"""BFD and S-BFD packets, made by scapy: the answers of a reflector, and everything that is refused."""

from scapy.contrib.bfd import BFD
from scapy.layers.inet import UDP
from scapy.packet import Raw

from gen.case import Case
from gen.node import LOOPBACK
from gen.topology import P0_OWN, P0_OWN4, P0_PEER, P0_PEER4, core
from gen.wire import HOST_A, port_unreachable, upper4, upper6

CONTROL, ECHO, SBFD = 3784, 3785, 7784
REFLECTOR = 0x0A000001
SESSIONS = {"bfd_profiles": [{"name": "quiet", "passive": True}]}
CS6 = 0xC0


def bfd(**fields):
    return BFD(**{"sta": 1, "my_discriminator": 0x11, "your_discriminator": 0, "min_tx_interval": 1000000,
                  "min_rx_interval": 10000, "echo_rx_interval": 0, **fields})


def control(message, src=P0_PEER, dst=P0_OWN, port=CONTROL, **fields):
    return upper6(src, dst, UDP(sport=50000, dport=port) / message, **{"hlim": 255, **fields})


def asks(src=P0_PEER, dst=LOOPBACK, sport=50001, hlim=64, **fields):
    """An initiator (RFC 7880 section 7.3): D is set."""
    message = bfd(**{"flags": "D", "your_discriminator": REFLECTOR, "min_rx_interval": 0, "detect_mult": 5, **fields})
    return upper6(src, dst, UDP(sport=sport, dport=SBFD) / message, hlim=hlim)


def answers(src=P0_PEER, dst=LOOPBACK, sport=50001, final=False, **fields):
    """The reflector (RFC 7880 section 7.2.2): D is clear, the discriminators are exchanged, multiplier and interval are copied."""
    message = bfd(**{"sta": 3, "flags": "F" if final else "", "my_discriminator": REFLECTOR, "your_discriminator": 0x11,
                     "min_rx_interval": 0, "detect_mult": 5, **fields})
    return upper6(dst, src, UDP(sport=SBFD, dport=sport) / message, hlim=255, tc=CS6)


def reflector():
    case = Case("sbfd_reflector", "S-BFD: the reflector answers initiators of the domain at any own address",
                "RFC 7880 7.2; RFC 7881 3", core(sbfd_reflector={"discriminator": REFLECTOR}))
    case.answered("p0", asks(), "bfd", answers())
    case.answered("p0", asks(dst=P0_OWN, sport=7785), "bfd", answers(dst=P0_OWN, sport=7785))
    case.answered("p0", asks(flags="DP"), "bfd", answers(final=True))
    other = {"my_discriminator": 0xDEADBEEF, "min_tx_interval": 3300, "detect_mult": 255}
    case.answered("p0", asks(**other), "bfd",
                  answers(your_discriminator=0xDEADBEEF, min_tx_interval=3300, detect_mult=255))
    for packet in (asks(flags=""), asks(your_discriminator=REFLECTOR + 1), asks(src=HOST_A), asks(version=2), asks(detect_mult=0),
                   asks(my_discriminator=0), asks(len=25), asks(flags="DM"), asks(flags="DA")):
        case.dropped("p0", packet, "bfd_refused")
    # an answer to no question
    case.dropped("p0", upper6(P0_PEER, LOOPBACK, UDP(sport=SBFD, dport=50001) / bfd(sta=3, your_discriminator=0x1000), hlim=255),
                 "bfd_refused")
    yield case


def refused():
    config = core(neighbors=[], **SESSIONS)
    for n in config["neighbors"]:
        if n["port"] == "p0":
            n["bfd"] = "quiet"
    case = Case("bfd_refused", "BFD packets that are malformed, from elsewhere, or of no session change nothing and get no answer",
                "RFC 5880 6.8.6; RFC 5881 5", config)
    bad = [bfd(version=0), bfd(version=2), bfd(len=23), bfd(len=25), bfd(detect_mult=0), bfd(flags="M"), bfd(my_discriminator=0),
           bfd(sta=2), bfd(sta=3), bfd(your_discriminator=0x12345678), bfd(flags="A", len=26) / Raw(b"\x01\x02"),
           bfd(flags="A", len=52) / Raw(b"\x05\x1c\x07\x00" + bytes(24)), Raw(bytes(bfd())[:23]), Raw(b"")]
    for message in bad:
        case.dropped("p0", control(message), "bfd_refused")
    for packet in (control(bfd(), hlim=254), control(bfd(), src="2001:db8:a::77"), control(bfd(), port=ECHO),
                   upper4(P0_PEER4, P0_OWN4, UDP(sport=50000, dport=CONTROL) / bfd(), ttl=254),
                   upper4("10.0.0.77", P0_OWN4, UDP(sport=50000, dport=CONTROL) / bfd(), ttl=255),
                   upper6(P0_PEER, P0_OWN, UDP(sport=50000, dport=CONTROL, chksum=0x1234) / bfd(), hlim=255),
                   # an echo packet of the node's own that it has not sent
                   upper6(P0_OWN, P0_OWN, UDP(sport=50000, dport=ECHO) / Raw(bytes(24)), hlim=254)):
        case.dropped("p0", packet, "bfd_refused")
    # not BFD: an own address as the source is still a forgery
    case.dropped("p0", upper6(P0_OWN, P0_OWN, UDP(sport=50000, dport=9) / Raw(b"x"), hlim=254), "own_source")
    yield case


def elsewhere():
    case = Case("bfd_not_configured", "without BFD its packets are like any other to a port that is not served",
                "RFC 5880 6.8.6", core())
    packet = control(bfd())
    case.dropped("p0", packet, "not_served", port_unreachable(packet))
    yield case


def cases():
    yield from reflector()
    yield from refused()
    yield from elsewhere()
