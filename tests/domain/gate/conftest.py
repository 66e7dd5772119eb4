"""A small vault that the tests of the gate put their diffs to, and the answers they expect."""

from dataclasses import dataclass, field

import pytest

from orgvault.domain.gate import judge
from orgvault.domain.proposal import Accepted, Refusal, Rule
from orgvault.domain.roster import Roster
from tests.domain.gate_tree import ORG_PATH, MemoryTree, make_diff, make_roster

SKILL = ".agents/skills/nova/build-site.md"
ORG = """\
# The roster. Only people edit this file.
version: 1
guild: {name: Harbor}
owner: sam
operators: [{name: sam, role: owner}]
protected: [Areas/Health/]   # added
agents:
  atlas:
    goal: That cards are small.
    tools: [Read]
  nova:
    name: Nova
    lead: atlas                     # an agent
    personality: >-
      Careful, dry,
      curious.
    goal: A site that builds.   # said often
    voice: "yes"
    principles:
      - One change at a time.
      - "What I have not run: not finished."
    # what it may do
    model: sonnet
    tools: [Read, Edit]
    permission_mode: default
    wakes_per_day: 12
    capabilities: [notes, memory]
    knowledge: [.agents/skills/nova/]
    connectors: [git]
    secrets:
      - {name: TIDE, description: Tides}
    memory:
      core_budget_tokens: 2000
"""
BUILD = """\
---
name: build-site
description: Build the site and look at the result
allowed-tools: [Read, Bash]
---
# Build the site

1. Go to the checkout, on a fresh branch.
2. Run `make build`.
3. See [the links](check-links.md) and <https://example.org/manual>.

If the build stops, read the last line first.
"""


@dataclass
class Gate:
    """`judge` for nova, in a vault of org.yaml and some skill files."""

    files: dict[str, bytes] = field(
        default_factory=lambda: {
            ORG_PATH: ORG.encode(),
            SKILL: BUILD.encode(),
            ".agents/skills/nova/check-links.md": b"# Links\n",
            ".agents/skills/atlas/review.md": b"# Review\n",
            "AGENTS.md": b"# Rules\n",
        }
    )
    links: dict[str, str | None] = field(default_factory=dict)
    roster: Roster = field(default_factory=make_roster)
    agent: str = "nova"
    hooks: str = ""

    def judge(self, diff: bytes) -> Accepted | Refusal:
        tree = MemoryTree(self.files, self.links)
        return judge(diff, agent=self.agent, roster=self.roster, tree=tree, hooks=self.hooks)

    def change(
        self, path: str, new: str, old: str | None = None, context: int = 3
    ) -> Accepted | Refusal:
        """The answer to the diff that makes a file `new`; `old` is put there first."""
        if old is not None:
            self.files[path] = old.encode()
        return self.judge(make_diff(path, self.files[path].decode(), new, context=context))

    def accepted(self, path: str, new: str, old: str | None = None) -> Accepted:
        answer = self.change(path, new, old)
        assert isinstance(answer, Accepted), answer
        assert (answer.path, answer.old, answer.new) == (path, self.files[path], new.encode())
        return answer

    def refused(self, path: str, new: str, old: str | None = None) -> Refusal:
        answer = self.change(path, new, old)
        assert isinstance(answer, Refusal), answer
        return answer

    def no(self, diff: bytes) -> tuple[Rule, str]:
        """Rule and reason of a refused diff."""
        answer = self.judge(diff)
        assert isinstance(answer, Refusal), answer
        return answer.rule, answer.why


@pytest.fixture
def gate() -> Gate:
    return Gate()
