# SPDX-License-Identifier: BSD-3-Clause
"""The register of scenarios. Each file of scenarios is imported by catalogue.py; there its order is that of reports."""
import collections
import inspect

Scenario = collections.namedtuple("Scenario", "name build short long expect seeds violates apart against excused")
SCENARIOS = []


def scenario(short, long=None, expect=(), seeds=1.0, name=None, violates=None, apart=None, against=None, excused=None):
    """Registers the function below as a scenario of its name; short and long: lists of its keyword arguments; seeds: what
    share of a campaign's seeds each of the long ones runs, at least 3, for what is costly or about means. expect: assertions,
    or a function that makes them of the keyword arguments. violates: a negative control; the run must end with a violation of
    the invariant of this name. A builder with an argument `seed` gets the run's. apart: an expression; runs in which it is true
    are not held to the assertions, but counted apart. excused: an expression; where it is true another party answers for what a
    lossless class has lost, all other assertions hold, and the run is counted apart. against: keyword arguments of another run, changed, to compare with; what
    assertions know as `base`."""
    def add(build):
        SCENARIOS.append(Scenario(name or build.__name__, build, short, long or short, expect if callable(expect) else list(expect),
                                  seeds, violates, apart, against, excused))
        return build
    return add


def expectations(case, parameters):
    return case.expect(**parameters) if callable(case.expect) else case.expect


def build(case, parameters, seed=None):
    """The topology, of a seed where the builder asks for one; else of its default."""
    takes = seed is not None and "seed" in inspect.signature(case.build).parameters
    return case.build(**parameters, **({"seed": seed} if takes else {}))
