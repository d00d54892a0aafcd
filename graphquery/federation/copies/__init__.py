"""Copies of members' stores, and which of them a host takes ahead."""
