"""Requests and replies: their messages and their transport."""
