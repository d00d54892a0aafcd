"""``python -m benchmark_workflowgen inference``: Figs 14 and 15 beside the paper's numbers."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmark_workflowgen.harness import output_option, preset_values, write_results
from benchmark_workflowgen.inference import accuracy, storage


@click.command()
@click.option("--runs", type=click.IntRange(min=1), help="Per setting.  [default: of the preset]")
@click.option("--units", type=click.IntRange(min=100), help="Of time, per run.")
@click.option("--seed", default=1, show_default=True)
@output_option
def main(runs: int | None, units: int | None, seed: int, output: Path | None) -> None:
    """Accuracy (Fig. 14) and storage (Fig. 15) of inferred provenance, measured again."""
    grid = preset_values("inference")
    fig14 = [
        accuracy.measure(setting, units or grid["accuracy"]["units"],
                         runs or grid["accuracy"]["runs"], seed)
        for setting in grid["accuracy"]["settings"]
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        fig15 = [
            storage.measure(setting, grid["storage"]["tuples"], Path(folder))
            for setting in grid["storage"]["settings"]
        ]
    _show(fig14, fig15)
    write_results(output, {"fig14": fig14, "fig15": fig15})


def _show(fig14: list[dict[str, Any]], fig15: list[dict[str, Any]]) -> None:
    console = Console()
    table = Table(title="Fig. 14: exact sets, in per cent (mean, deviation over runs)")
    table.add_column("method")
    for row in fig14:
        table.add_column(", ".join(f"{k} {v}" for k, v in row["setting"].items()))
    for name in ("basic", "probabilistic", "multi_step"):
        table.add_row(f"paper: {name}", *(str(row["paper"][name]) for row in fig14))
    for name in fig14[0]["measured"]:
        shares = [row["measured"][name] for row in fig14]
        table.add_row(name, *(f"{s['mean']:.1f} ± {s['deviation']:.1f}" for s in shares))
    console.print(table)
    table = Table(title="Fig. 15: bytes")
    for column in ("window", "trigger", "recorded", "inferred", "ratio", "paper (KB)"):
        table.add_column(column, justify="right")
    for row in fig15:
        paper = row["paper_kilobytes"]
        table.add_row(
            str(row["setting"]["window"]), str(row["setting"]["trigger"]),
            f"{row['explicit']:,}", f"{row['inference']:,}", f"{row['ratio']:.1f}",
            f"{paper['explicit']} / {paper['inference']}",
        )  # fmt: skip
    console.print(table)
