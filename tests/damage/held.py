"""Holding what damage is answered by: an error that names it, or what is right."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner

from lipstick.cli import main
from lipstick.errors import CaptureDamagedError
from semiring.errors import LipstickError
from tests.damage.kinds import Done, damage
from tests.damage.subjects import ACapture, AStore, ATable, Subject

EACH = 40
"""Damages of one subject: it is made once for so many seeds."""
SUBJECTS: tuple[type[Subject], ...] = (ACapture, ATable, ACapture, AStore)


@dataclass(slots=True)
class Held:
    """What has been held.

    Attributes
    ----------
    damages
        By what was damaged and how.
    answers
        By whether they were refused, right, or those of an earlier commit.
    fsck
        By whether it named the damage.
    """

    folder: Path
    damages: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    fsck: Counter[str] = field(default_factory=Counter)
    _subjects: dict[int, Subject] = field(default_factory=dict)

    def subject(self, number: int) -> Subject:
        """The subject of a number, made where it is not yet."""
        if number not in self._subjects:
            self._subjects.clear()
            kind = SUBJECTS[number % len(SUBJECTS)]
            self._subjects[number] = kind(self.folder / f"subject-{number}", number)
        return self._subjects[number]

    def hold(self, seed: int) -> None:
        """Damage a copy of a subject, and ask it everything.

        Raises
        ------
        AssertionError
            With the seed, the file and the byte, for an answer that is neither right nor refused
            by an error that names the place, and where fsck does not see the damage.
        """
        subject = self.subject(seed // EACH)
        path = self.folder / f"damaged-{seed}"
        shutil.copytree(subject.path, path)
        try:
            done = damage(path, seed)
            if done is not None:
                self.damages[f"{type(subject).__name__} {done.kind}"] += 1
                where = f"seed {seed}: {done} of {subject.what}"
                refused = self._answers(subject, path, where)
                self._fsck(subject, path, done, where, refused=refused)
        finally:
            shutil.rmtree(path)
            (self.folder / f"away-{seed}").unlink(missing_ok=True)

    def _answers(self, subject: Subject, path: Path, where: str) -> bool:
        refused = False
        for name, right in subject.right.items():
            try:
                answer = subject.answer(name, path)
            except Exception as error:
                raise AssertionError(f"{where}: {name}: {type(error).__name__}: {error}") from error
            if _same(answer, right):
                self.answers["right"] += 1
            elif subject.older(name, answer):
                self.answers["of an earlier commit"] += 1
            elif isinstance(answer, subject.named) and subject.places(answer, path):
                self.answers["refused"] += 1
                refused = True
            else:
                raise AssertionError(f"{where}: {name}: {answer!r} in place of {right!r}")
        return refused

    def _fsck(self, subject: Subject, path: Path, done: Done, where: str, *, refused: bool) -> None:
        result = CliRunner().invoke(main, ["fsck", str(path), "--format", "json"])
        told = f"{where}: fsck exits with {result.exit_code}: {result.output}"
        if done.file == "format.json" and result.exit_code == 2:
            return  # of a later version, for all that can be known
        assert result.exit_code in (0, 1), told
        # A store has files that nothing depends on: checkpoints, the lock, an end of the log. What
        # stands beside the files of a table is read by nothing, and called left over.
        idle = isinstance(subject, AStore) or "left over" in told
        assert result.exit_code == 1 or (idle and not refused), told
        self.fsck["named" if result.exit_code == 1 else "harmless"] += 1
        if result.exit_code == 1:
            if done.file == "format.json":
                return  # the log does not follow on the identity of the store that it says
            files = [name.rpartition("/")[2] for name in (done.file, str(done.place))]
            assert any(name in result.output for name in (path.name, *files)), told


def _same(answer: object, right: object) -> bool:
    if isinstance(right, LipstickError):
        damaged = isinstance(answer, CaptureDamagedError)
        return type(answer) is type(right) and not damaged
    return answer == right
