"""What is measured: runs of workflows, their graphs, and queries."""
