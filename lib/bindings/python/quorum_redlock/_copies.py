"""What exists once."""

from __future__ import annotations

from typing import Any, NoReturn


def name_of(kind: type[Any]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


class NotCopied:
    """Cannot be pickled or copied: a copy would be a second owner."""

    _instead = ""

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {name_of(type(self))} cannot be copied or pickled: {self._instead}")
