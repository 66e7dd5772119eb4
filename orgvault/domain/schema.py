"""JSON Schemas from the descriptions of the records: what `record.read` accepts, for editors.

Two things no schema says: JSON Schema takes `1.0` for a whole number and the reader does not,
and a point in time must also be in the calendar.
"""

from dataclasses import MISSING, Field, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from orgvault.domain.record import Says, described, optional, plain

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES: dict[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
Schema = dict[str, Any]


def json_schema(record: type[Any], title: str, schema_id: str) -> Schema:
    """The JSON Schema (draft 2020-12) of a record; records inside it stand under `$defs`."""
    inner: dict[str, Schema] = {}
    body = _record(record, inner)
    return {
        "$schema": DIALECT,
        "$id": schema_id,
        "title": title,
        **body,
        **({"$defs": dict(sorted(inner.items()))} if inner else {}),
    }


def _record(record: type[Any], inner: dict[str, Schema]) -> Schema:
    fields = list(described(record))
    return {
        "description": " ".join((record.__doc__ or "").split()),
        "type": "object",
        "properties": {one.name: _property(one, about, inner) for one, about in fields},
        "required": [one.name for one, _ in fields if not optional(one)],
        "additionalProperties": False,
    }


def _property(one: Field[Any], about: Says, inner: dict[str, Schema]) -> Schema:
    schema = {"description": about.text, **_value(one.type, about, inner)}
    default = _default(one)
    # An empty text stands for a key that is absent, and need not itself be allowed.
    if default is not MISSING and default != "":
        schema["default"] = plain(default)
    return schema


def _default(one: Field[Any]) -> object:
    return one.default_factory() if one.default_factory is not MISSING else one.default


def _value(kind: Any, about: Says, inner: dict[str, Schema]) -> Schema:  # noqa: ANN401 - any type
    if get_origin(kind) is UnionType:
        of = next(one for one in get_args(kind) if one is not NoneType)
        return _or_null(_value(of, about, inner))
    if is_dataclass(kind) and isinstance(kind, type):
        if kind.__name__ not in inner:
            inner[kind.__name__] = {}  # holds its place, should it contain itself
            inner[kind.__name__] = _record(kind, inner)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if get_origin(kind) is tuple:
        return {"type": "array", "items": _value(get_args(kind)[0], about, inner)}
    if get_origin(kind) is dict:
        names = (
            {"propertyNames": {"pattern": _whole(about.key_pattern)}} if about.key_pattern else {}
        )
        return {
            "type": "object",
            **names,
            "additionalProperties": _value(get_args(kind)[1], about, inner),
        }
    return _scalar(kind, about)


def _scalar(kind: type[Any], about: Says) -> Schema:
    if kind is Any:  # what a record leaves to others to describe
        return {}
    is_text = issubclass(kind, str)
    schema: Schema = {"type": _TYPES[str if is_text else kind]}
    if is_text:
        choices = about.choices or (tuple(map(str, kind)) if issubclass(kind, StrEnum) else ())
        if choices:
            schema["enum"] = list(choices)
        if about.pattern:
            schema["pattern"] = _whole(about.pattern)
        if about.max_chars is not None:
            schema["maxLength"] = about.max_chars
        return schema
    if about.minimum is not None:
        schema["minimum"] = about.minimum
    if about.maximum is not None:
        schema["maximum"] = about.maximum
    return schema


def _or_null(schema: Schema) -> Schema:
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    nullable = {**schema, "type": [schema["type"], "null"]}
    if "enum" in nullable:
        nullable["enum"] = [*nullable["enum"], None]
    return nullable


def _whole(pattern: str) -> str:
    """Anchored: JSON Schema searches a pattern anywhere in the text."""
    return f"^(?:{pattern})$"
