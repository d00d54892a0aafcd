"""A grid of one's own."""

from pathlib import Path

Path("many.toml").write_text(
    """
[[experiment]]
name = "many stations"
kind = "arctic"
stations = 2
executions = 1
warm_up = 0
""".lstrip()
)
