"""Why a call gave nothing: fixed sentences, since the stats count by them."""

TRUNCATED = "its answer was cut short at the limit of tokens"
REFUSED = "it refused to answer"
BROKE_OFF = "it failed while it answered"
EMPTY = "its answer is empty"
TOO_LONG = "its answer is longer than 32 KiB"
OVERSIZED = "it sent more than 1 MiB"
WEB_PAGE = "it sent a web page"
NO_JSON = "it sent no JSON"
OTHER_FORM = "it sent JSON of another form"
NONSENSE = "what it answered is no HTTP that can be read"
UNFORESEEN = "asking it failed in a way that nobody foresaw"
CUT = "the connection was cut"


class Fault(Exception):
    """A call that gave nothing: `why` in a few words, without key, query, header or prompt.

    `cut` says that the connection broke off, so that asking again may help.
    """

    def __init__(self, why: str, *, cut: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.cut = cut
