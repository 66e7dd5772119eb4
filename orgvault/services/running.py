"""`run exec`: one run of an agent by hand, with a command that is given."""

from collections.abc import Sequence

from orgvault.domain.clients_formats import as_text
from orgvault.domain.roster import Agent
from orgvault.domain.wake import Reason
from orgvault.services import finishing, starting
from orgvault.services.client_runs import environment, told_of
from orgvault.services.composing import Origin
from orgvault.services.desk import Desk
from orgvault.services.dispatching import Clients, Dispatched, end_left, ended_run
from orgvault.services.reflecting import Reflecting
from orgvault.services.run_faults import RunsAlready
from orgvault.store.run_locks import RunLocks


def planned(desk: Desk, agent_id: str) -> Agent:
    """The agent that would be run; writes nothing.  Raises what tells that it may not be."""
    agent = desk.agent(agent_id)
    desk.require("dispatch", f"run {agent.id}", agent)
    return agent


def execute(
    desk: Desk, agent_id: str, message: str, command: Sequence[str], clients: Clients,
    reflecting: Reflecting,
) -> Dispatched:  # fmt: skip
    """Start a run, have a command answer it, and record how it ended, as `reflect` does.

    The command is taken as it is given: no options are added.  Raises RunsAlready while a
    dispatcher runs the agent, and what `start` raises.
    """
    from dataclasses import replace

    agent = planned(desk, agent_id)
    locks, done = RunLocks(desk.vault.private), Dispatched()
    with locks.agent(agent.id) as ours:
        if not ours:
            raise RunsAlready(agent.id)
        end_left(agent, clients, locks)
        run = starting.new_run(desk, agent.id)
        with locks.run(run, agent.id):
            started = starting.start(desk, agent.id, Origin(message=message), run=run)
            env = environment(desk, agent, run, clients.environment)
            ended = clients.run(command, env, desk.vault.root, as_text(started.composed))
            told = replace(told_of(run, agent, ended), reason=Reason.MANUAL)
            finished = finishing.record_run(desk, agent, told, [], reflecting)
    done.runs.append(ended_run(ended, finished, ()))
    done.remarks.extend([*started.remarks, *finished.remarks])
    return done
