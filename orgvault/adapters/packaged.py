"""Files that are installed with orgvault."""

import os

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def template(name: str) -> str:
    """A file of `orgvault/templates/`."""
    with open(os.path.join(_PACKAGE, "templates", name), encoding="utf-8") as file:
        return file.read()


def schema(name: str) -> str:
    """The JSON Schema of a file format: in the package, or beside it in a checkout."""
    for folder in (_PACKAGE, os.path.dirname(_PACKAGE)):
        path = os.path.join(folder, "schemas", f"{name}.schema.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    raise FileNotFoundError(name)
