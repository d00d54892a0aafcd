"""Watches: what a session writes and shows, and its questions afterwards."""
