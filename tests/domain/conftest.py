"""What several tests of the domain look at: a full org.yaml, every key of the format once."""

import pytest

ORG = """\
# yaml-language-server: $schema=../../schemas/org.schema.json
version: 1
guild: {name: Harbor, about: One line., description: Longer.}
owner: sam
operators:
  - {name: sam, role: owner, email: sam@example.org}
  - {name: kim, role: reviewer, email: kim@example.org}
timezone: Europe/Berlin
protected: [Areas/Health/] # adds to the built-in list, never removes
pages: {folder: Org, claims: false}
commit: {sign: false}
group: {router: recent}
runs: {keep_days: null}
ledger: {margin: 0.10}
defaults:
  max_tool_calls: 40
  memory:
    core_budget_tokens: 1800
    reflect: {model: builtin/extractive, min_turns: 3}
agents:
  atlas: {}
  nova:
    id: nova
    name: Nova
    focus: Builds and repairs the site generator
    lead: atlas # an agent or an operator
    home: Org/Home/nova
    personality: >-
      Careful, dry,
      curious.
    goal: A site that builds.
    perspective: From the reader's side.
    style: Short.
    voice: "yes"
    principles: [One change at a time.]
    description: The builder.
    task: "[[Nova task]]"
    model: sonnet
    tools: [Read, Edit, "Bash(git log:*)"]
    permission_mode: default
    wakes_per_day: 12
    max_tool_calls: 30
    listen: true
    capabilities: [notes, scripts, coding, memory, memory_write]
    knowledge: [.agents/skills/nova/, Projects/Site/]
    notes: {read: [Projects/Site/**], write: [Projects/Site/log.md]}
    connectors: [git, calendar]
    secrets: [{name: CALENDAR_TOKEN, description: Read access to the calendar}]
    repositories: [{name: site, path: ~/code/site}]
    client: {command: [claude, -p, --output-format, json], env: {LANG: C.UTF-8}}
    memory:
      tiers: [core, episodic, semantic]
      core_budget_tokens: 2000
      reflect: {trigger: [wake_done]}
      self_improvement: {max_proposals_per_week: 2}
"""


@pytest.fixture
def org_text() -> str:
    return ORG
