"""An agent's persona: the prose of its block in org.yaml, labelled."""

from orgvault.domain.roster import Agent

_PROSE = ("description", "personality", "goal", "perspective", "style", "voice")


def persona(agent: Agent) -> str:
    """The labelled prose, one paragraph each, in the order of org.yaml; empty without any."""
    found = []
    for key in _PROSE:
        text = str(agent.block.get(key) or "").strip()
        if text:
            found.append(f"{key.capitalize()}: {text}")
    principles = [str(one).split("\n") for one in agent.block.get("principles") or ()]
    items = ["- " + "\n  ".join(line.strip() for line in lines) for lines in principles]
    if items:
        found.append("\n".join(["Principles:", *items]))
    return "\n\n".join(found)
