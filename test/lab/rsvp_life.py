# SPDX-License-Identifier: BSD-3-Clause
"""The example config/lab/credit-figure3.yaml: its report shows the life of a credit session."""
from examples import credit_figure3
from rsvp import committed
from suite import scenario


def said(i, what, least):
    """In `show rsvp messages`."""
    return f"sum(line.split() == {what.split()!r} for line in command({i}).output.splitlines()) >= {least}"


@scenario(short=[{}], expect=[
    said(1, "message: Path init", 16), said(1, "message: Reserve", 18), "command(1).output.count(' flags commit,') >= 2",
    committed(2, 2), "command(2).output.count(' l1-s1-l3 ') == 2", committed(3, 4), committed(4, 2), "command(4).output.count(' l1-s2-l3 ') == 2",
    committed(5, 4), said(7, "message: End", 7), said(7, "message: End ACK", 7), committed(8, 1), "command(8).output.count(' stopped ') == 1",
    "'sessions: 1' in {' '.join(line.split()) for line in command(9).output.splitlines()}"])
def rsvp_life():
    """Path inits along eight paths, offers, commits along the best one; a link fails, and the best of the other offers is used;
    End along all paths, and nobody knows the session."""
    return credit_figure3()
