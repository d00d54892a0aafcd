"""The example that is shipped: captures of a small shop, made ready to be opened without Spark.

`python -m tests.example` writes its folder. The captures are sealed with the paths and the times of
the tables beside them, so a copy is made where these can be: in the user's cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

PLACE = "EXAMPLE"
"""The text in shipped manifests that stands for the folder of the tables."""

TIME = 1_767_603_600 * 10**9
"""The time at which the tables were written, 5 January 2026, in nanoseconds."""

SHIPPED = Path(str(files("lipstick.demo"))) / "example"


def cache() -> Path:
    """Return the folder of lipstick in the user's cache (XDG)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "lipstick"


def example() -> Path:
    """Return the folder with the captures of the example, which is made on the first call.

    Raises
    ------
    OSError
        Where it cannot be written.
    """
    shipped = sorted(path for path in SHIPPED.rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in shipped)).hexdigest()[:12]
    folder = cache() / f"example-{digest}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=".example-", dir=folder.parent))
        try:
            shutil.copytree(SHIPPED, unfinished, dirs_exist_ok=True)
            for table in (unfinished / "tables").iterdir():
                os.utime(table, ns=(TIME, TIME))
            for manifest in unfinished.glob("captures/*/manifest.json"):
                replace_place(manifest, PLACE, str(folder))
            unfinished.replace(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return folder / "captures"


def replace_place(manifest: Path, place: str, other: str) -> None:
    """Seal a manifest anew whose tables are in another folder."""
    from lipstick.capture.documents import seal, unseal
    from lipstick.capture.manifest import FORMAT, KIND

    content = unseal(manifest, manifest.read_bytes(), KIND, FORMAT).content
    text = json.dumps(content).replace(json.dumps(place)[1:-1], json.dumps(other)[1:-1])
    manifest.write_bytes(seal(KIND, FORMAT, json.loads(text)))
