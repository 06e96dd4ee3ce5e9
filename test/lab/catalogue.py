# SPDX-License-Identifier: BSD-3-Clause
"""All scenarios, in the order in which they run."""
import scenarios  # noqa: F401
import hosts  # noqa: F401
import promise  # noqa: F401
import faults  # noqa: F401
import chaos  # noqa: F401
import deadlock  # noqa: F401
import deadlock_relay  # noqa: F401
import isolation  # noqa: F401
import owners  # noqa: F401
import cpu  # noqa: F401
import fat_tree  # noqa: F401
import ruan  # noqa: F401
import pfc_distance  # noqa: F401
import pfc_frames  # noqa: F401
import promises  # noqa: F401
import outages  # noqa: F401
import floods  # noqa: F401
import reloads  # noqa: F401
import bfd  # noqa: F401
import credit  # noqa: F401
import credit_tenants  # noqa: F401
import credit_faults  # noqa: F401
import credit_deadlock  # noqa: F401
import credit_chaos  # noqa: F401
import credit_servers  # noqa: F401
import credit_shares  # noqa: F401
import rsvp  # noqa: F401
import rsvp_life  # noqa: F401
import rsvp_servers  # noqa: F401
import rsvp_letter  # noqa: F401
import rsvp_joined  # noqa: F401
import failover  # noqa: F401
import steer  # noqa: F401
from suite import SCENARIOS  # noqa: F401
