"""Runs of workflows: their state, their invocations and what a store holds of them."""
