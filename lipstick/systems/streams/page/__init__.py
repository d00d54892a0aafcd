"""Recorded streams for the explorer: operators, events, and paths between events."""
