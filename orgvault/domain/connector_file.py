"""Connectors as files: the manifest of each, the catalog of all, and what a package brings."""

from orgvault.domain.connector import Catalog, Manifest
from orgvault.domain.format_version import newer_format
from orgvault.domain.forms import dotted, in_words
from orgvault.domain.problem import Problem
from orgvault.domain.record import Violation, read
from orgvault.domain.yaml_record import read_document
from orgvault.domain.yaml_tree import compose
from orgvault.values import dataclass

FORMAT = 1


@dataclass(frozen=True)
class ManifestFile:
    """A manifest that was read, and the line on which its State key stands."""

    manifest: Manifest
    key_line: int = 0


def read_manifest(text: str, file: str) -> tuple[ManifestFile | None, tuple[Problem, ...]]:
    """The manifest in a file's text, or None and every problem with its line."""
    document = compose(text, file)
    if newer := newer_format(document.value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    manifest, problems = read_document(Manifest, document)
    if manifest is None:
        return None, problems
    if not manifest.state.command:
        line = document.line_of(("state", "command"))
        return None, (_no_command(file, line),)
    return ManifestFile(manifest, document.line_of(("state", "key"))), ()


def read_catalog(text: str, file: str) -> tuple[Catalog | None, tuple[Problem, ...]]:
    """The catalog in a file's text, or None and every problem with its line."""
    document = compose(text, file)
    if newer := newer_format(document.value, FORMAT, file, document.line_of(("version",))):
        return None, newer
    catalog, problems = read_document(Catalog, document)
    if catalog is None:
        return None, problems
    twice = tuple(
        Problem(
            file, document.line_of(("order", at)), f"order[{at}]: {name} stands there twice",
            "take one of them out",
        )
        for at, name in enumerate(catalog.order)
        if name in catalog.order[:at]
    )  # fmt: skip
    return (None, twice) if twice else (catalog, ())


def read_packaged(value: object, source: str) -> tuple[Manifest | None, tuple[Problem, ...]]:
    """The manifest that a package brings as a mapping, or None and every problem."""
    if newer := newer_format(value, FORMAT, source):
        return None, newer
    manifest, violations = read(Manifest, value)
    if manifest is None:
        return None, tuple(_packaged(one, source) for one in violations)
    if not manifest.state.command:
        return None, (_no_command(source, 0),)
    return manifest, ()


def _packaged(one: Violation, source: str) -> Problem:
    what = in_words(one.what)
    return Problem(source, 0, f"{dotted(one.path)}: {what}" if one.path else what, one.do)


def _no_command(file: str, line: int) -> Problem:
    return Problem(file, line, "state.command: no program is named", "write [program, arguments]")
