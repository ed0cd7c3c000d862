"""The part that both clients share."""

from __future__ import annotations

import re
from ctypes import c_char_p
from functools import partial
from typing import Any, Callable, Generic, Iterable, Mapping, TypeVar

from . import _callbacks
from . import _structs as s
from ._arguments import encoded
from ._copies import NotCopied, name_of
from ._handles import NativeClient
from ._library import text
from ._request import Request
from .options import ClientOptions, client_signals, native_client_options


def native_labels(labels: Mapping[str, str] | None) -> tuple[Any, Any, int]:
    names = [encoded(name, "label") for name in labels or {}]
    values = [encoded(value, "label value") for value in (labels or {}).values()]
    array = c_char_p * len(names)
    return array(*names), array(*values), len(names)


_Handle = TypeVar("_Handle", bound=NativeClient)


class BaseClient(NotCopied, Generic[_Handle]):
    _instead = "make a client in the process that uses it"

    def __init__(self, make: Callable[[s.ClientOptions, _callbacks.ClientSignals], _Handle],
                 deliver: _callbacks.Deliver, nodes: Iterable[str],
                 options: ClientOptions) -> None:
        self._nodes = list(nodes) if not isinstance(nodes, str) else nodes
        self._options = options
        native = native_client_options(self._nodes, options)
        self._request = partial(Request, native.max_ttl_ns)
        self._handle = make(native, client_signals(options, deliver))

    def __repr__(self) -> str:
        """Without user and password."""
        if not hasattr(self, "_handle"):  # refused: the URLs may be malformed
            return super().__repr__()
        nodes = [re.sub(r"^((?!unix:)\w+://).*@", r"\1", text(encoded(node, "node")), flags=re.I)
                 for node in self._nodes]
        name = self._options.get("name")
        return f"<{name_of(type(self))} {nodes}{f' name={name!r}' if name else ''} " \
               f"{'closed' if self._handle.closed else 'open'}>"
