"""Provenance graphs in the explorer: pictures of them, and what is known of their nodes."""
