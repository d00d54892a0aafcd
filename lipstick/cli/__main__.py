"""``python -m lipstick.cli``."""

from __future__ import annotations

from lipstick.cli import main

main(prog_name="lipstick")
