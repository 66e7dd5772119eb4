"""HTTP within a total deadline; the one module that knows urllib3.

Every client's own limits are per read, and a name look-up has none.  So the work is done in a
daemon thread, and whoever waits for it goes away when the time is over and cuts its connection.
"""

from collections.abc import Callable, Mapping
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from orgvault.adapters.models.faults import CUT, NONSENSE, OVERSIZED, Fault
from orgvault.values import dataclass

if TYPE_CHECKING:
    from socket import socket

    from urllib3 import PoolManager
    from urllib3.connection import HTTPConnection

T = TypeVar("T")
MAX_BYTES = 1 << 20
# One sentence whatever was left of the time: the stats count reasons.
TOO_LATE = "no answer in time"
_PIECE_BYTES = 1 << 16


@dataclass(frozen=True)
class Reply:
    """What a server answered: status, body, and the headers that matter here."""

    status: int
    body: bytes
    kind: str = ""
    retry_after: str = ""


def within(limit_s: float, work: Callable[["Client"], T], proxy: str = "") -> T:
    """What `work` gives, if it does so within `limit_s` seconds, name look-ups included.

    Raises what `work` raises, and Fault when the time is over; then its connection is closed and
    its thread left to end, which keeps no process alive.
    """
    client = Client(limit_s, proxy)
    given: list[T] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            given.append(work(client))
        except Exception as failure:  # noqa: BLE001 - carried over to the thread that waits
            failed.append(failure)

    worker = Thread(target=run, name="orgvault-model", daemon=True)
    worker.start()
    worker.join(limit_s)
    late = worker.is_alive()
    client.close()
    if given:
        return given[0]
    raise Fault(TOO_LATE) if late else failed[0]


class Client:
    """Sends requests until its time, `limit_s` seconds from now, is over or it is closed.

    Certificates are verified, redirects are not followed, an answer may have 1 MiB.
    """

    def __init__(self, limit_s: float, proxy: str = "") -> None:
        # Imported before the clock starts: a slow disk is no slow server.
        import urllib3  # noqa: F401

        self._ends = monotonic() + limit_s
        self._proxy = proxy
        self._closed = Event()
        self._connections: list[HTTPConnection] = []
        self._sockets: list[socket] = []

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Reply:
        """The answer to one request, of any status.  Raises Fault when there is none."""
        from http.client import HTTPException

        from urllib3 import Timeout
        from urllib3.exceptions import HTTPError

        try:
            with _manager(self._proxy, self._opening) as manager:
                response = manager.urlopen(
                    method, url, body=body, headers={**headers, "Accept-Encoding": "identity"},
                    timeout=Timeout(total=self._left()), retries=False, redirect=False,
                    preload_content=False, decode_content=False,
                )  # fmt: skip
                received = b""
                while len(received) <= MAX_BYTES and (some := response.read(_PIECE_BYTES)):
                    received += some
                response.close()
        except (HTTPError, OSError) as failure:
            raise self._fault(failure, url) from None
        except (HTTPException, ValueError):
            raise Fault(NONSENSE) from None  # what we sent was looked at before: see providers
        if len(received) > MAX_BYTES:
            raise Fault(OVERSIZED)
        kind = response.headers.get("Content-Type", "")
        return Reply(response.status, received, kind, response.headers.get("Retry-After", ""))

    def wait(self, seconds: float) -> None:
        """Wait.  Raises Fault at once when the time would be over by then."""
        if seconds >= self._left():
            raise Fault(TOO_LATE)
        self._closed.wait(seconds)

    def close(self) -> None:
        """Cut every connection; what is under way in another thread ends with it."""
        self._closed.set()
        for sock in (*self._sockets, *(one.sock for one in self._connections)):
            _cut(sock)

    def _left(self) -> float:
        left = self._ends - monotonic()
        if left <= 0 or self._closed.is_set():
            raise Fault(TOO_LATE)
        return left

    def _opening(self, connection: "HTTPConnection") -> None:
        self._connections.append(connection)
        if connection.sock is not None:
            self._sockets.append(connection.sock)  # a connection may let go of it while it reads
        if self._closed.is_set():
            _cut(connection.sock)
            raise Fault(TOO_LATE)

    def _fault(self, failure: Exception, url: str) -> Fault:
        from urllib3 import exceptions as known

        parts = urlsplit(url)
        host = parts.hostname or ""
        place = f"{host}:{parts.port}" if parts.port else host
        match failure:
            case known.ProxyError() | known.ProxySchemeUnknown():
                return Fault(f"the proxy does not let it reach {place}")
            case known.NameResolutionError():
                return Fault(f"there is no {host} that can be found")
            case known.NewConnectionError():
                return Fault(f"nothing answers at {place}")
            case known.TimeoutError():
                return Fault(TOO_LATE)
            case known.SSLError():
                return Fault(f"{place} has no certificate that can be trusted")
            case known.ProtocolError() | OSError():
                return Fault(CUT, cut=True)
            case known.LocationValueError():
                return Fault(f"{place} is no address that can be asked")
        return Fault(NONSENSE)


def _manager(proxy: str, opening: Callable[["HTTPConnection"], None]) -> "PoolManager":
    """Connection pools for one request that tell of each connection before and after it is made.

    Before: a TLS handshake must be cut as well.  After: there was no socket to cut before.
    """
    from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager, ProxyManager
    from urllib3.connection import HTTPConnection, HTTPSConnection

    class Plain(HTTPConnection):
        def connect(self) -> None:
            opening(self)
            super().connect()
            opening(self)

    class Secure(HTTPSConnection):
        def connect(self) -> None:
            opening(self)
            super().connect()
            opening(self)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    manager = PoolManager(num_pools=1)
    if proxy:
        from urllib3.util import make_headers, parse_url

        login = parse_url(proxy).auth
        headers = make_headers(proxy_basic_auth=login) if login else None
        manager = ProxyManager(proxy, num_pools=1, proxy_headers=headers)
    manager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}
    return manager


def _cut(sock: "socket | None") -> None:
    from contextlib import suppress
    from socket import SHUT_RDWR

    if sock is not None:
        with suppress(OSError):
            sock.shutdown(SHUT_RDWR)
