"""Measurements of workflow runs, their graphs, and queries."""
