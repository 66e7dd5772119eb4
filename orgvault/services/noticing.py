"""After a run: what people did with proposals meanwhile, written down where it is to be read."""

from orgvault.errors import OrgvaultError
from orgvault.services import ledgering, reviewing
from orgvault.services.desk import Desk


def notice(desk: Desk, remarks: list[str]) -> None:
    """Book what was shipped and measure what is due, then withdraw what no longer holds.

    Whatever goes wrong is a remark: the run is recorded, and the next command looks again.
    """
    try:
        if ledgering.due(desk):
            remarks.extend(map(str, ledgering.sync(desk)[1]))
        reviewing.sync(desk)
    except (OrgvaultError, OSError) as failure:
        remarks.append(f"proposals are looked at with the next run: {failure}")
