"""``python -m lipstick``."""

from __future__ import annotations

from lipstick.cli import main

main(prog_name="lipstick")
