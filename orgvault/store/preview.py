"""A vault that writes nothing: `--dry-run` takes the same path up to the last step."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import unified_diff

from orgvault.errors import VaultBusy
from orgvault.store.entry import Content, Message, Row
from orgvault.store.vault import Change, Identity, Vault


class Preview(Vault):
    """Computes every write and keeps it in `planned`: subject, rows, a diff for each text."""

    def record(
        self, message: Message, author: Identity, rows: Sequence[Row], at: str,
        contents: Sequence[Content] = (),
    ) -> None:  # fmt: skip
        """Plan rows and contents.  Raises what the write itself would raise."""
        del author, at
        self._may_write()
        try:
            self._would_wait()
        except VaultBusy as busy:
            self._remark(f"would be recorded, to be committed later: {busy.why}")
        missing = [one for one in contents if self.read(one.path) is None]
        self._plan(message, rows, [self._diff(one.path, one.text) for one in missing])

    def record_in_order(
        self, message: Message, author: Identity, make: Callable[[], Sequence[Row]], at: str
    ) -> None:
        """Plan rows.  Raises what the write itself would raise."""
        self.record(message, author, make(), at)

    @contextmanager
    def change(
        self, message: Message, author: Identity, at: str, rows: Sequence[Row] = ()
    ) -> Iterator[Change]:
        """Plan texts and rows.  Raises what the write itself would raise."""
        del author, at
        self._may_write()
        self._would_wait()
        change = Change(self, message, rows)
        yield change
        if change.texts:
            self._commits(-1).would_refuse(change.texts)
        diffs = [self._diff(text.path, text.content) for text in change.texts]
        if rows or change.rows or diffs:
            self._plan(change.message, (*rows, *change.rows), diffs)

    def put_aside(
        self, ref: str, base: str, path: str, content: bytes, message: Message, author: Identity,
        at: str,
    ) -> str:  # fmt: skip
        """Plan the commit beside the branch; its name is not known."""
        del path, content, author, at
        self.repository.trusted()
        self.planned.append(f"would commit as {ref}, on {base[:10]}: {message.subject}")
        return ""

    def _may_write(self) -> None:
        self.repository.trusted()
        self._branch()

    def settle(self) -> None:
        """Leave everything as it is."""

    def tidy(self) -> bool:
        """Leave everything as it is."""
        return False

    def _plan(self, message: Message, rows: Sequence[Row], diffs: Sequence[str]) -> None:
        shown = [f"  + {row.log}/{row.agent}: {row.line}" for row in rows]
        self.planned.append("\n".join([f"would commit: {message.subject}", *shown, *diffs]))

    def _diff(self, path: str, content: str | None) -> str:
        before = (self.read(path) or b"").decode(errors="replace").splitlines()
        after = (content or "").splitlines()
        return "\n".join(unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm=""))
