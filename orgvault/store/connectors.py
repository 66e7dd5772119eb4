"""Connectors of a vault: a folder each with its `connector.yaml`, and the catalog of them."""

import os
import re

from orgvault.domain.connector import Catalog, Connector
from orgvault.domain.connector_file import read_catalog, read_manifest
from orgvault.domain.forms import CONNECTOR
from orgvault.domain.problem import Problem
from orgvault.store.files import text_of
from orgvault.store.vault import ORG, Vault
from orgvault.values import dataclass

FOLDER = f"{ORG}/connectors"
CATALOG = f"{FOLDER}/catalog.yaml"
_NOT_UTF8 = "save it as UTF-8"


@dataclass(frozen=True)
class StoredConnector:
    """A connector of the vault, and the line on which its State key stands."""

    connector: Connector
    key_line: int


class Connectors:
    """The connectors that a vault holds itself."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    @staticmethod
    def path(name: str) -> str:
        """Where the manifest of a connector stands."""
        return f"{FOLDER}/{name}/connector.yaml"

    def order(self, problems: list[Problem]) -> tuple[str, ...]:
        """The names in the catalog, in its order; none when it is missing or cannot be read."""
        text = text_of(self._vault.read, CATALOG, problems, _NOT_UTF8)
        if text is None:
            return ()
        catalog, faults = read_catalog(text, CATALOG)
        problems.extend(faults)
        return (catalog or Catalog()).order

    def names(self, problems: list[Problem] | None = None) -> list[str]:
        """The names of the folders, sorted; what is no connector's goes to `problems`."""
        found = []
        for name in self._vault.names(FOLDER):
            if not os.path.isdir(self._vault.path(f"{FOLDER}/{name}")):
                continue
            if re.fullmatch(CONNECTOR, name):
                found.append(name)
            elif problems is not None:
                do = "name it with a-z, 0-9, - and _, or remove it"
                problems.append(Problem(f"{FOLDER}/{name}", 0, "not the name of a connector", do))
        return found

    def has(self, name: str) -> bool:
        """Whether the vault has a folder for a connector."""
        return bool(re.fullmatch(CONNECTOR, name)) and os.path.isdir(
            self._vault.path(f"{FOLDER}/{name}")
        )

    def get(self, name: str, problems: list[Problem]) -> StoredConnector | None:
        """One connector; None when the vault has none of that name, or it cannot be read."""
        if not self.has(name):
            return None
        path = self.path(name)
        text = text_of(self._vault.read, path, problems, _NOT_UTF8)
        if text is None:
            if not any(one.file == path for one in problems):
                do = "write it, or remove the folder"
                problems.append(Problem(path, 0, "the file is missing", do))
            return None
        read, faults = read_manifest(text, path)
        problems.extend(faults)
        if read is None:
            return None
        found = Connector(
            name=name,
            manifest=read.manifest,
            source=path,
            path=path,
            blob=self._vault.blob(text.encode()),
            folder=self._vault.path(f"{FOLDER}/{name}"),
        )
        return StoredConnector(found, read.key_line)
