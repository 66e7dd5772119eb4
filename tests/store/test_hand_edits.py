"""A claim's file that a person has edited, and that orgvault counts up afterwards."""

import re
from pathlib import Path

from tests.harbor import BUILD, FRICTION, LINKS, make_harbor


def test_yaml_06_a_repeat_keeps_what_a_person_wrote(tmp_path: Path) -> None:
    harbor = make_harbor(tmp_path)
    harbor.finish("nova", "run-1", "--transcript", BUILD)
    folder = harbor.root / ".agents/org/memory/nova/claims"
    (path,) = (one for one in folder.iterdir() if FRICTION in one.read_text("utf-8"))
    mine = "# mine\r\n" + path.read_text("utf-8").replace("\n", "  # so\r\n")
    path.write_bytes(mine.encode())
    harbor.finish("nova", "run-2", "--transcript", LINKS)
    now = path.read_bytes().decode()
    assert "times_seen: 2 " in now
    expected = mine.replace("times_seen: 1 ", "times_seen: 2 ")
    expected = expected.replace("[run-1]", "[run-1, run-2]")
    (card,) = re.findall(r"^proposal: (imp-\w{8})", now, re.MULTILINE)
    expected = expected.replace("proposal: null", f"proposal: {card}")
    expected = expected.replace("proposed_evidence: []", "proposed_evidence: [run-1, run-2]")
    assert now == expected.replace(_last_seen(mine), _last_seen(now))


def _last_seen(text: str) -> str:
    return next(line for line in text.split("\r\n") if line.startswith("last_seen"))
