# SPDX-License-Identifier: BSD-3-Clause
"""The cases: each module but node, wire and case is a family and has cases(), which yields them."""
