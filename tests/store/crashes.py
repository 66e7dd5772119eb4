"""A vault writer that dies where it is told to: a server that forks one writer for each order.

Reads lines of JSON `{"root": …, "what": …, "at": n, "group": bool}`; the writer
kills itself (or its whole group, git's children included) as it is about to do the n-th thing
that changes or opens a file, or starts a process.  Answers `killed`, or `done`.
"""

import json
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent))

from orgvault.store.vault import Content, Vault
from tests.vaults import AT, NOVA, message, row

EVENTS = {
    "open", "os.rename", "os.remove", "os.link", "os.mkdir", "os.truncate", "os.utime",
    "os.chmod", "shutil.copyfile", "subprocess.Popen",
}  # fmt: skip
CONTENTS = (".agents/org/runs/texts/a1/a1.md", ".agents/org/runs/texts/b2/b2.md")
TEXTS = ("Org/a.md", "Org/b.md", "Org/new/c.md", "Org/gone.md")


def act(root: str, what: str) -> None:
    """Record a row, alone or with contents, or change four texts with two rows."""
    vault = Vault.find(root)
    if what == "contents":
        contents = [Content(path, "new\n") for path in CONTENTS]
        vault.record(message("run(nova): new"), NOVA, [row("nova", "e-new")], AT, contents)
        return
    if what == "record":
        vault.record(message("wake(nova): new"), NOVA, [row("nova", "e-new")], AT)
        return
    with vault.change(message("memory(nova): new"), NOVA, AT, [row("nova", "e-new")]) as change:
        for path in TEXTS[:3]:
            change.write(path, "new\n")
        change.remove(TEXTS[3])
        change.add(row("nova", "r-new", log="reflections"))


def die_at(count: int, *, group: bool) -> None:
    """Have this process killed at the n-th event."""
    left = [count]

    def hook(event: str, _: object) -> None:
        if event in EVENTS:
            left[0] -= 1
            if left[0] == 0:
                if group:
                    os.killpg(0, signal.SIGKILL)
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def main() -> None:
    """Serve until the input ends."""
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            die_at(order["at"], group=order["group"])
            act(order["root"], order["what"])
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write("killed\n" if os.WIFSIGNALED(status) else f"done {status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
