"""``python -m benchmark_workflowgen``."""

from __future__ import annotations

from benchmark_workflowgen.cli import main

if __name__ == "__main__":
    main(prog_name="python -m benchmark_workflowgen")
