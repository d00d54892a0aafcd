"""Requests and replies: their messages, and how they get to a store and back."""
