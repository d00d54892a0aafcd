"""Tracked relations: their sources, views and tokens, and what names mean in a query."""
