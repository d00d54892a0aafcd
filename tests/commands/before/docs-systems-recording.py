"""A build, and the recordings of two hosts."""

import subprocess
from pathlib import Path

Path("a.txt").write_text("a\n")
Path("Makefile").write_text("lib.a: a.txt\n\tcat a.txt > lib.a\n")
for host in ("web", "database"):
    command = ["lipstick", "record", "--save", f"{host}.gz", "--", "cat", "a.txt"]
    subprocess.run(command, check=True)
