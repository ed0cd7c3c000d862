"""A lock on its way to another owner."""

from __future__ import annotations

from urllib.parse import unquote

from ._copies import name_of
from .errors import InvalidArgumentError


class DetachedLease(str):
    """The result of `Lease.detach`. `Client.adopt` makes a lease of it, in any process and in any
    of the languages. It is one word of printable ASCII characters, secret like the token, and for
    one owner only. Raises InvalidArgumentError for any other text."""

    def __init__(self, text: str) -> None:
        fields = [unquote(field, errors="surrogateescape") for field in self.strip().split(",")]
        if len(fields) < 6 or fields[0] != "1" or not fields[2].isdecimal():
            raise InvalidArgumentError("detached: it is nothing that Lease.detach returned")
        self.token = fields[1]  #: for `Client.extend` and `release`
        number = int(fields[2])
        self.fencing_token = number or None  #: None: the lease had none
        self.resources = tuple(fields[5:])  #: for a permit, its name: "jobs#3"

    def __repr__(self) -> str:
        return f"<{name_of(type(self))} of {self.resource!r}>"

    @property
    def resource(self) -> str:
        return self.resources[0]
