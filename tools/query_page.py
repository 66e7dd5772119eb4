"""Write docs/reference/query.md from the views; `--check` fails when it is stale."""

import argparse
import sys
from pathlib import Path

from orgvault.services.querying import VIEWS, View

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "query.md"
HEAD = """\
# Questions in SQL

Generated from the records by `tools/query_page.py`; do not edit.

`orgvault query "SELECT …"` answers one SELECT in DuckDB's SQL (https://duckdb.org/docs/sql/introduction)
from the rows that you may read: people from all, an agent from its own, a lead from those of the
agents it leads too. It changes nothing, and reaches nothing but the views below.

```sql
SELECT agent, count(*) FILTER (corrected) / count(*) FILTER (outcome = 'done') AS per_card
FROM episodes GROUP BY agent ORDER BY agent
```

```sql
SELECT date_trunc('week', finished_at) AS week, sum(cost_usd) AS usd
FROM episodes GROUP BY week ORDER BY week
```

```sql
SELECT operation.verdict, count(*) AS times
FROM (SELECT unnest(operations) AS operation FROM reflections)
GROUP BY ALL ORDER BY times DESC
```

```sql
SELECT c.id, c.text, list_distinct(list(e.card)) AS cards
FROM claims c JOIN episodes e ON e.agent = c.agent AND list_contains(c.evidence, e.run)
WHERE c.state = 'active' GROUP BY ALL
```

`SHOW TABLES` lists the views, `DESCRIBE episodes` the columns of one, `SUMMARIZE episodes` what
they hold. Without ORDER BY the rows have no order that you can rely on.

| `--format` | gives |
|---|---|
| `table` | aligned columns, of at most 1,000 rows (the default) |
| `csv` | RFC 4180: CRLF, nothing for null, `""` for an empty text |
| `json` | one object (also `--json`): `columns` (name, type) and `rows`, an object for each row |
| `md` | a table of Markdown in which every cell is only text |

- Times are UTC instants, shown with `Z`. Money is exact, to the micro-dollar, as in the
  statistics.
- Lists, structs and maps are JSON in a cell. In JSON, NaN and infinities are null, and a column
  name that occurs twice gets a number.
- A query may take 60 seconds (the time that you take to read does not count), 1 GB of memory and
  64 KiB of text.
- Refused: several statements, anything but SELECT, a PIVOT that does not name its values, and
  functions and views that tell of files, settings or memory.
- A row or a file that cannot be read is named on stderr and left out.
- People also see the rows of agents that have left the roster. Of the cards, an agent sees those
  whose `agent` it is.
- Some names are words of SQL: write `"at"` and `"index"` in double quotes.
"""


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    text = HEAD + "".join(map(section, VIEWS))
    if not parser.parse_args().check:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        print("docs/reference/query.md is stale: run `python tools/query_page.py`")
        return 1
    return 0


def section(view: View) -> str:
    """The columns of one view."""
    rows = (f"| `{one.name}` | `{one.type}` | {one.text} |\n" for one in view.columns)
    table = "| column | type | holds |\n|---|---|---|\n" + "".join(rows)
    return f"\n## {view.name}\n\n{view.text}\n\n{table}"


if __name__ == "__main__":
    sys.exit(main())
