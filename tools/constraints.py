"""Writes constraints.txt: all that pip installs today into a fresh environment."""

import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADING = """\
# Every version that the project is built, run and tested with, the transitive ones too.
# 'make constraints' writes this file anew, with the newest versions.
"""


def main() -> int:
    """Install everything without constraints, then write down what came."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *project["project"]["optional-dependencies"]["dev"],
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        pip = [f"{folder}/bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "install", *wanted], check=True, env=environment)
        pins = subprocess.check_output([*pip, "freeze"], env=environment, text=True)
    if " @ " in pins:
        print("Not every package came from a registry:", pins, sep="\n", file=sys.stderr)
        return 1
    (ROOT / "constraints.txt").write_text(HEADING + pins, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
