"""Recorded streams as the explorer asks them: operators, events, and paths between events."""
