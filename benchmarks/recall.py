"""How well recall finds, beside BM25 as everyone has it: `make bench-recall`.

Reads LoCoMo and XQuAD from `shared/recall` beside the repository (they may not be copied into it)
and prints recall@10, MRR and R@1 of SQLite's FTS5 with the porter stemmer and of our formula, with
the figures to reach.  `--steps` also takes our own additions away, one by one.
"""

import argparse
import json
import re
import sqlite3
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from orgvault.domain import ranking
from orgvault.domain.ranking import Shelf, rank
from orgvault.domain.words import telling

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = REPOSITORY.parent / "shared" / "recall"
MRR_CUT = 50
ADVERSARIAL = 5


@dataclass(frozen=True)
class Doc:
    """A text with the date that its data gives it."""

    id: str
    text: str
    time: str


@dataclass
class Corpus:
    """Documents in their order, and questions with the ids of what answers them."""

    docs: list[Doc] = field(default_factory=list)
    questions: list[tuple[str, set[str]]] = field(default_factory=list)


@dataclass(frozen=True)
class Set:
    """One column of the table: what is searched, how it is scored, and what to reach."""

    name: str
    file: str
    which: str
    language: str
    score: str
    aim: float


SETS = (
    Set("claims", "locomo_dev.jsonl", "obs", "", "R@10", 0.65),
    Set("turns", "locomo_dev.jsonl", "turn", "", "R@10", 0.61),
    Set("sessions", "locomo_dev.jsonl", "session", "", "R@10", 0.90),
    Set("German", "xquad_dev.jsonl", "note", "de", "R@1", 0.91),
    Set("Russian", "xquad_dev.jsonl", "note", "ru", "R@1", 0.91),
    Set("Chinese", "xquad_dev.jsonl", "note", "zh", "R@1", 0.91),
    Set("English", "xquad_dev.jsonl", "note", "en", "R@1", 0.0),
)

Search = Callable[[str], list[str]]
Ranker = Callable[[list[Doc]], Search]


def fts5(docs: list[Doc]) -> Search:
    """SQLite's own full-text search with the porter stemmer: any word that says something, BM25."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(id UNINDEXED, text, tokenize='porter')")
    database.executemany("INSERT INTO t VALUES (?, ?)", [(one.id, one.text) for one in docs])

    def search(query: str) -> list[str]:
        told = telling(re.findall(r"\w+", query.lower()))
        words = " OR ".join(f'"{word}"' for word in told)
        found = database.execute(
            "SELECT id FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (words, MRR_CUT)
        )
        return [row[0] for row in found]

    return search


def ours(docs: list[Doc], *, dated: bool = True, apart: bool = False) -> Search:
    """Our formula, with dates and neighbours."""
    shelf = Shelf(((one.text, one.time if dated else "") for one in docs), apart=apart)
    ids = [one.id for one in docs]

    def search(query: str) -> list[str]:
        return [ids[found.key] for found in rank(query, shelf)[:MRR_CUT]]

    return search


def without_grams(docs: list[Doc]) -> Search:
    """BM25 over folded words alone."""
    return ours(docs, dated=False, apart=True)


STEPS: tuple[tuple[str, Ranker, dict[str, object]], ...] = (
    ("words", without_grams, {"grams": lambda _: [], "stem": str}),
    ("+ half of 4-grams", without_grams, {"stem": str}),
    ("+ stems", without_grams, {}),
    ("+ neighbours", lambda docs: ours(docs, dated=False), {}),
    ("+ dates (all of ours)", ours, {}),
)


def main() -> int:
    """Measure and print; 1 when an aim is not met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="where the data is")
    parser.add_argument("--steps", action="store_true", help="also show what each idea adds")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    missing = [name for name in {one.file for one in SETS} if not (options.data / name).exists()]
    if missing:
        print(f"not measured: {', '.join(sorted(missing))} not found in {options.data}")
        return 0
    corpora = {one.name: load(options.data / one.file, one) for one in SETS}
    rankers = {"FTS5 porter": measured(fts5, corpora)}
    for name, ranker, changes in STEPS if options.steps else STEPS[-1:]:
        with patch.dict(vars(ranking), changes):
            rankers[name] = measured(ranker, corpora)
    met = report(rankers)
    if options.json:
        options.json.write_text(json.dumps(rankers, indent=2) + "\n", encoding="utf-8")
    return 0 if met else 1


def load(path: Path, wanted: Set) -> list[Corpus]:
    """The corpora of one column."""
    found: dict[str, Corpus] = defaultdict(Corpus)
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if wanted.language not in {"", one["conv"]}:
            continue
        corpus = found[one["conv"]]
        if one["kind"] != "doc":
            if one["gold"].get(wanted.which) and one["category"] != ADVERSARIAL:
                corpus.questions.append((one["text"], set(one["gold"][wanted.which])))
        elif one["set"] == wanted.which:
            corpus.docs.append(Doc(one["id"], one["text"], one.get("time") or ""))
    return list(found.values())


def measured(ranker: Ranker, corpora: dict[str, list[Corpus]]) -> dict[str, dict[str, float]]:
    """Each column's figures, as means over all of its questions."""
    found = {}
    for name, several in corpora.items():
        began = time.perf_counter()
        scores = [score for corpus in several for score in scored(ranker, corpus)]
        figures = {key: sum(one[key] for one in scores) / len(scores) for key in scores[0]}
        found[name] = figures | {"ms_a_question": 1e3 * (time.perf_counter() - began) / len(scores)}
    return found


def scored(ranker: Ranker, corpus: Corpus) -> Iterator[dict[str, float]]:
    """The figures of every question."""
    search = ranker(corpus.docs)
    for question, gold in corpus.questions:
        found = search(question)
        first = next((place for place, one in enumerate(found, 1) if one in gold), 0)
        yield {
            "R@10": len(gold & set(found[:10])) / len(gold),
            "R@1": len(gold & set(found[:1])) / len(gold),
            "MRR": 1 / first if first else 0.0,
        }


def report(rankers: dict[str, dict[str, dict[str, float]]]) -> bool:
    """Print the table; whether every aim is met."""
    table = Table(box=None, header_style="bold")
    table.add_column("")
    for one in SETS:
        table.add_column(one.name + (" R@10/MRR" if one.score == "R@10" else " R@1"))
    for name, figures in rankers.items():
        table.add_row(name, *(shown(one, figures[one.name]) for one in SETS))
    reference, *_, own = rankers.values()
    verdicts = [verdict(one, reference[one.name], own[one.name]) for one in SETS]
    table.add_row("aim", *(aim(one, reference[one.name]) for one in SETS))
    table.add_row("", *("met" if met else "not met" for met in verdicts))
    Console(width=160).print(table)
    return all(verdicts)


def shown(one: Set, figures: dict[str, float]) -> str:
    """A cell of the table."""
    mrr = f" / {figures['MRR']:.3f}" if one.score == "R@10" else ""
    return f"{figures[one.score]:.3f}{mrr}"


def aim(one: Set, reference: dict[str, float]) -> str:
    """What to reach."""
    mrr = f" / > {reference['MRR']:.3f}" if one.score == "R@10" else ""
    return f"≥ {one.aim:.2f}{mrr}" if one.aim else "-"


def verdict(one: Set, reference: dict[str, float], own: dict[str, float]) -> bool:
    """Whether it is reached: the aim, and for our rows also a better MRR than FTS5's."""
    better = one.score != "R@10" or own["MRR"] > reference["MRR"]
    return own[one.score] >= one.aim and better


if __name__ == "__main__":
    sys.exit(main())
