"""The experiment on statements: it refuses jars that the installed PySpark cannot run."""

from pathlib import Path

import click
import pytest

from benchmark_workflowgen.experiments.statements import check_jars


@pytest.mark.parametrize(
    ("spark", "version", "message"),
    [
        ("4.1", "4.1.4", None),
        ("4.1", "4.3.0", "are for 4.1, and this is PySpark 4.3.0"),
        (None, "4.1.4", "are for no line of Spark"),
    ],
)
def test_jars_are_of_the_line_of_pyspark(
    tmp_path: Path, spark: str | None, version: str, message: str | None
) -> None:
    names = ["delta-spark_{}_2.13-4.4.0.jar", "iceberg-spark-runtime-{}_2.13-1.12.0.jar"]
    for name in names if spark else []:
        (tmp_path / name.format(spark)).touch()
    (tmp_path / "delta-storage-4.4.0.jar").touch()
    if message is None:
        check_jars(tmp_path, version)
    else:
        with pytest.raises(click.UsageError, match=message):
            check_jars(tmp_path, version)
