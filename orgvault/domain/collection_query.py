"""Which records of a collection are asked for: filters on columns, since when, in which order."""

from collections.abc import Mapping, Sequence

from orgvault.domain.collection import Record, Scalar
from orgvault.values import dataclass

STAMPS = ("id", "created", "updated")


@dataclass(frozen=True, kw_only=True)
class Query:
    """What is asked of the records of one collection.

    `where` are values that columns must have; `since` an instant, after which a record was last
    changed, or at it; `order` a column, `id`, `created` or `updated`.
    """

    where: Mapping[str, Scalar]
    since: str = ""
    order: str = "created"
    descending: bool = False
    limit: int | None = None


def matching(records: Sequence[Record], query: Query) -> list[Record]:
    """The records that fit, in order; those without a value for the order's column come last."""
    fit = [
        one
        for one in records
        if one.updated >= query.since
        and all(value_of(one, name) == value for name, value in query.where.items())
    ]
    fit.sort(key=lambda one: one.id)
    held = [one for one in fit if value_of(one, query.order) is not None]
    held.sort(key=lambda one: _key(value_of(one, query.order)), reverse=query.descending)
    bare = [one for one in fit if value_of(one, query.order) is None]
    return [*held, *bare][: query.limit]


def value_of(record: Record, name: str) -> Scalar | None:
    """What a record has in a column, or as its own `id`, `created` or `updated`."""
    if name in STAMPS:
        return str(getattr(record, name))
    return record.values.get(name)


def _key(value: Scalar | None) -> tuple[float, str]:
    """Numbers by size, texts without regard to case; a column holds one kind of them."""
    return (0.0, value.casefold()) if isinstance(value, str) else (float(value or 0), "")
