"""``python -m tests.damage.kills 0-200``: kill processes that save, and that write tables.

All processes ask one Spark Connect server, which goes on when its client is killed; with
``--own-spark`` each has a Spark of its own, which is killed with it. With ``--output FILE`` the
seeds that are done are kept in a file, and a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeAlias

from tests.damage.killed import KINDS, Place, check, work

_CONTEXT = multiprocessing.get_context("forkserver")
Whole: TypeAlias = tuple[int, float]

_SETTLED = 1.0
"""Seconds in which a server does to its end what a client had asked that was killed."""
_LONGEST = 240
"""Seconds after which a process is taken to hang."""

_SERVER = """
import sys
from pyspark.sql import SparkSession
folder, port = sys.argv[1:]
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
for key, value in {
    "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": port,
    "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2",
    "spark.sql.warehouse.dir": f"{folder}/warehouse", "spark.sql.session.timeZone": "UTC",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
print("ready", flush=True)
sys.stdin.read()
spark.stop()
"""


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Yield the address of a Spark Connect server that stays while clients are killed."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    unwanted = ("SPARK_REMOTE", "SPARK_API_MODE", "SPARK_CONF_DIR", "SPARK_CONNECT_MODE_ENABLED")
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(folder), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={key: value for key, value in os.environ.items() if key not in unwanted},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(60)


class Kills:
    """Kills, each of a process of its own, and what they leave.

    Parameters
    ----------
    place
        Where the processes work.
    """

    def __init__(self, setting: Place) -> None:
        self._place = setting
        self._whole: dict[str, Whole] = {}
        """The steps and seconds of a process of each kind that was run to its end."""
        self.outcomes: Counter[str] = Counter()
        _CONTEXT.set_forkserver_preload(["tests.damage.killed"])

    def kill(self, seed: int) -> str:
        """Kill a process at a point that a seed says, and check what it leaves.

        Raises
        ------
        AssertionError
            When that is neither all nor nothing, and no error says so.
        """
        kind = KINDS[seed % len(KINDS)]
        if kind not in self._whole:
            whole = self._work(kind, 10_000 + KINDS.index(kind), None, None)
            assert whole is not None
            self._whole[kind] = whole
        steps, longest = self._whole[kind]
        chance = random.Random(seed)
        step = seconds = None
        if chance.random() < 0.5:
            step = chance.randint(1, steps)
        else:
            seconds = chance.uniform(0, longest)
        where = f"seed {seed}, {kind}, " + (f"step {step}" if step else f"after {seconds:.2f} s")
        number = self.outcomes.total()
        ended = self._work(kind, number, step, seconds) is not None
        time.sleep(_SETTLED)
        outcome = self._checked(kind, number, where) + (", at its end" if ended else "")
        self.outcomes[f"{kind} {outcome}"] += 1
        return f"{where}: {outcome}"

    def _work(
        self, kind: str, number: int, step: int | None, seconds: float | None
    ) -> Whole | None:
        """Run a process; return the steps and seconds it took if it was not killed."""
        log = self._place.folder / "log"
        log.unlink(missing_ok=True)
        process = _CONTEXT.Process(
            target=work, args=(self._place, kind, number, step, seconds, log)
        )
        process.start()
        process.join(_LONGEST)
        code = process.exitcode
        assert code in (0, -signal.SIGKILL), f"the process ended with {code}"
        logged = log.read_text()
        if code:
            return None
        _, _, steps, took = logged.split()
        return int(steps), float(took)

    def _checked(self, kind: str, number: int, where: str) -> str:
        receiver, its = _CONTEXT.Pipe()
        process = _CONTEXT.Process(target=_check, args=(self._place, kind, number, its))
        process.start()
        its.close()
        assert receiver.poll(_LONGEST), f"{where}: nothing is said of it"
        outcome = receiver.recv()
        process.join(_LONGEST)
        assert isinstance(outcome, str), f"{where}: {outcome}"
        assert not outcome.startswith("!"), f"{where}: {outcome}"
        return outcome


def _check(setting: Place, kind: str, number: int, told: Connection) -> None:
    os.setpgrp()
    try:
        told.send(check(setting, kind, number))
    except BaseException as error:
        told.send(f"! {type(error).__name__}: {error}")
    told.close()
    if setting.remote is None:
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill the processes of a range of seeds; return 1 if one left what it must not."""
    parser = argparse.ArgumentParser(prog="python -m tests.damage.kills", description=__doc__)
    parser.add_argument("seeds", help="a seed, or a range of them: 0-200")
    parser.add_argument("--output", type=Path, help="a file with a line of JSON per seed done")
    parser.add_argument("--own-spark", action="store_true", help="a Spark for each process")
    parser.add_argument("--most", type=int, default=10**9, help="kill at most so many, then stop")
    given = parser.parse_args(arguments)
    first, _, last = given.seeds.partition("-")
    lines = given.output.read_text().splitlines() if given.output and given.output.exists() else []
    done = {each["seed"]: each["outcome"] for each in map(json.loads, lines)}
    left = [seed for seed in range(int(first), int(last or int(first) + 1)) if seed not in done]
    failed = sum(outcome.startswith("!") for outcome in done.values())
    with tempfile.TemporaryDirectory(prefix="kills-") as name:
        folder = Path(name)
        with _spark(folder, own=given.own_spark) as remote:
            kills = Kills(Place(folder, remote))
            for seed in left[: given.most]:
                try:
                    outcome = kills.kill(seed)
                except AssertionError as error:
                    outcome = f"! {error}"
                    failed += 1
                print(outcome, flush=True)
                if given.output is not None:
                    with given.output.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"seed": seed, "outcome": outcome}) + "\n")
    print(f"{failed} failed; {dict(sorted(kills.outcomes.items()))}; {len(done)} done before")
    return 1 if failed else 0


@contextmanager
def _spark(folder: Path, *, own: bool) -> Iterator[str | None]:
    if own:
        yield None
    else:
        with server(folder) as remote:
            yield remote


if __name__ == "__main__":
    raise SystemExit(main())
