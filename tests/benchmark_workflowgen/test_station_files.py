"""Files of real observations."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark_workflowgen.arctic import ArcticStations, read_stations
from benchmark_workflowgen.errors import BenchmarkError

HEADER = (
    "year,month,air_temperature,sea_level_pressure,total_cloud,low_cloud,"
    "precipitation,relative_humidity\n"
)


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.csv"
    path.write_text(text)
    return path


def test_stations_are_read_in_order_of_time(tmp_path: Path) -> None:
    _write(
        tmp_path,
        "dikson",
        "# from the archive\n" + HEADER + "1961,2,-27.1,1016.0,5.5,,21,82\n"
        "1961,1,-24.8,-999.9,6.1,2.0,NA,84\n",
    )
    _write(tmp_path, "amderma", "Month,Year,AIR_TEMPERATURE,wind\n12,1999,-9999,3\n")
    stations = read_stations(tmp_path)
    assert list(stations) == ["amderma", "dikson"]
    assert [tuple(row.values()) for row in stations["dikson"].to_pylist()] == [
        (1961, 1, 0, -24.8, None, 6.1, 2.0, None, 84.0),
        (1961, 2, 0, -27.1, 1016.0, 5.5, None, 21.0, 82.0),
    ]
    assert [tuple(row.values()) for row in stations["amderma"].to_pylist()] == [
        (1999, 12, 0, None, None, None, None, None, None)
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("year,month\n1961,1\n", "no column 'air_temperature'"),
        (HEADER + "1961,13,1,1,1,1,1,1\n", "months are 1 to 12"),
        (HEADER + "1961,1,cold,1,1,1,1,1\n", "air_temperature"),
        (HEADER + ",1,1,1,1,1,1,1\n", "no year or no month"),
        (HEADER + "1961,1,1,1,1,1,1,1\n1961,1,2,1,1,1,1,1\n", "month 1 of 1961 occurs twice"),
        (HEADER + "1961,1,1\n", "Expected 8 columns"),
    ],
)
def test_what_is_not_of_the_format_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = _write(tmp_path, "station", text)
    with pytest.raises(BenchmarkError, match=message) as raised:
        read_stations(tmp_path)
    assert str(path) in str(raised.value)


def test_a_folder_without_files_is_named(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="no station files"):
        read_stations(tmp_path)


def test_a_run_takes_history_and_measurements_from_files(tmp_path: Path) -> None:
    rows = [f"{1998 + n // 12},{n % 12 + 1},{-n},1,1,1,1,1\n" for n in range(36)]
    for name in ("a", "b"):
        _write(tmp_path, name, HEADER + "".join(rows))
    run = ArcticStations(stations=2, executions=3, until=1999, folder=tmp_path)
    state = run.state()["station2"]
    assert state["Observations"].num_rows == 24
    assert state["Instrument"]["AirTemperature"].to_pylist() == [-24, -25, -26]
    with pytest.raises(BenchmarkError, match="files of 2 stations; 3 are asked for"):
        ArcticStations(stations=3, folder=tmp_path).state()
