"""The frontmatter of a note: its keys, between two lines `---` at the very top."""

import re

# With either line end, and after a byte order mark; `keys` is what stands between the lines.
FRONTMATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?P<keys>(?:.*\n)*?)---[ \t]*(?:\r?\n|\Z)")
