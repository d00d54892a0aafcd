"""Contributions: what a value of the answer would be without each of its inputs."""
