"""``python -m benchmark_workflowgen.inference``."""

from benchmark_workflowgen.inference.command import main

if __name__ == "__main__":
    main()
