"""Libraries of checks, run under a watch: which of their results are tied to queries."""
