"""Runs of workflows: states, invocations, and their records in a store."""
