"""Writes schemas/*.schema.json from the records; with --check only says which have drifted."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from orgvault.domain import connector, run
from orgvault.domain.card import Card
from orgvault.domain.chat import Said
from orgvault.domain.claim import Claim
from orgvault.domain.collection import Collection
from orgvault.domain.episode import Correction, Episode
from orgvault.domain.ledger import Entry
from orgvault.domain.org import OrgFile
from orgvault.domain.org_agents import CompiledOrg
from orgvault.domain.proposal import Proposal
from orgvault.domain.reflection import Reflection
from orgvault.domain.routine import Routine
from orgvault.domain.schema import json_schema
from orgvault.domain.script import Script
from orgvault.domain.wake import Status, WakeEvent

FOLDER = Path(__file__).resolve().parent.parent / "schemas"
ENDING = ".schema.json"
RECORDS: dict[str, tuple[type[Any], str]] = {
    "org": (OrgFile, "org.yaml, the owner's"),
    "org-agents": (CompiledOrg, "org-agents.json, compiled from org.yaml"),
    "episode": (Episode, "An episode: the record of one finished run"),
    "wake": (WakeEvent, "A wake's event: added, taken or closed"),
    "status": (Status, "A status: what a run says about itself"),
    "correction": (Correction, "A correction: work that was sent back"),
    "reflection": (Reflection, "A reflection: one model call with its verdicts"),
    "claim": (Claim, "A claim: one first-person statement"),
    "card": (Card, "A card's frontmatter"),
    "proposal": (Proposal, "A proposal: the machine's truth beside its card"),
    "ledger": (Entry, "A ledger entry: the measurement of one shipped proposal"),
    "run-manifest": (run.Manifest, "A run's manifest: how its prompt was composed"),
    "run-opening": (run.OpeningRow, "A message that a run opens with"),
    "chat": (Said, "A message of the group chat"),
    "routine": (Routine, "A routine: a standing instruction with its dates"),
    "collection": (Collection, "collection.yaml: a table that the owner shaped"),
    "script": (Script, "script.yaml: a script of an agent"),
    "connector": (connector.Manifest, "connector.yaml: what a connector adds to a prompt"),
    "catalog": (connector.Catalog, "catalog.yaml: the order in which connectors speak"),
}


def main() -> int:
    """Write the schemas, or compare them; 1 when any has drifted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 on drift")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where they stand")
    given = parser.parse_args()
    wanted = {f"{name}{ENDING}": text(name) for name in RECORDS}
    if given.check:
        drifted = drift(given.folder, wanted)
        for name in drifted:
            print(f"{given.folder / name} is not what the records say: run `make schemas`")
        return 1 if drifted else 0
    given.folder.mkdir(parents=True, exist_ok=True)
    for path in given.folder.glob(f"*{ENDING}"):
        if path.name not in wanted:
            path.unlink()
    for name, content in wanted.items():
        (given.folder / name).write_text(content, encoding="utf-8", newline="\n")
    return 0


def text(name: str) -> str:
    """The text of one schema file."""
    record, title = RECORDS[name]
    schema = json_schema(record, title, f"{name}{ENDING}")
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def drift(folder: Path, wanted: dict[str, str]) -> list[str]:
    """The names of the files that are missing, too many, or say something else."""
    found = {path.name: path.read_bytes() for path in folder.glob(f"*{ENDING}")}
    return sorted(
        name
        for name in {*found, *wanted}
        if found.get(name) != wanted.get(name, "").encode() or name not in wanted
    )


if __name__ == "__main__":
    sys.exit(main())
