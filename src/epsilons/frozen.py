"""Frozen objects as plain data, and back: mechanisms, laws, margins, whole releases.

An object is what its constructor is given. So a class that is `storable` must keep each argument of
its constructor under the argument's own name; reading it back calls the constructor, with all of
its checks. Numbers stay what they are: integers of any size, fractions, floats to the last bit.
Arguments that a class names in `LATER` are written only where they differ from their defaults: so
what needs none of them is written as before they were there.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import inspect
import math
import pkgutil
import re
import zlib
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, TypeVar

import numpy as np

from epsilons.errors import ArgumentError, EpsilonsError

__all__ = ["from_plain", "storable", "to_plain"]

Class = TypeVar("Class", bound=type)

_CLASSES: Final[dict[str, type]] = {}
"""The classes that can be read back, by name: those of modules that are loaded."""

ROOMS: Final = ("local", "mechanisms", "noise", "release", "risk")
"""The rooms that have such classes."""

_LONG: Final = 64
"""Arrays, and rows of fractions, with more entries are packed."""

_MOST: Final = 2**28
"""Bytes that what is packed may have."""

_KINDS: Final = ("<f8", "<i8", "|b1")

_FRACTION: Final = re.compile(r"-?[0-9]+(/[0-9]+)?")
"""Fractions as they are written here. Of "1e999999999" Python would make all digits."""

_REFUSED: Final = (
    AttributeError,
    KeyError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
    ZeroDivisionError,
)
"""What constructors raise of what is not theirs."""


def storable(cls: Class) -> Class:
    """Declare that objects of a class can be written as plain data, and read back.

    They are known by their room and their name.
    """
    if _CLASSES.setdefault(_name(cls), cls) is not cls:
        raise ValueError(f"two storable classes are called {_name(cls)}")
    return cls


def _name(cls: type) -> str:
    room = cls.__module__.removeprefix("epsilons.").partition(".")[0]
    return f"{room}.{cls.__name__}"


def _class_of(kind: str) -> type:
    """The class of a name; where it is not known yet, all modules of its room are loaded.

    Raises:
        KeyError: there is none.
    """
    room = kind.partition(".")[0]
    if kind not in _CLASSES and room in ROOMS:
        package = importlib.import_module(f"epsilons.{room}")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"epsilons.{room}.{module.name}")
    return _CLASSES[kind]


def to_plain(thing: Any) -> Any:
    """Write a frozen object as plain data.

    Args:
        thing: an object of a storable class, or what such objects are made of.

    Raises:
        TypeError: it is something else.
    """
    if thing is None or isinstance(thing, (bool, str)):
        return thing
    if isinstance(thing, np.ndarray):
        return _array(thing)
    if isinstance(thing, np.generic):
        return to_plain(thing.item())
    if isinstance(thing, int):
        return int(thing)
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else {"is": "float", "of": str(thing)}
    if isinstance(thing, Fraction):
        return {"is": "fraction", "of": str(thing)}
    for cls in type(thing).__mro__:
        if _CLASSES.get(_name(cls)) is cls:
            later = getattr(cls, "LATER", ())
            given = inspect.signature(cls).parameters
            parts = {
                name: to_plain(getattr(thing, name))
                for name, each in given.items()
                if name not in later or getattr(thing, name) != each.default
            }
            return {"is": _name(cls), **parts}
    if isinstance(thing, (tuple, list)):
        if len(thing) > _LONG and all(type(each) is Fraction for each in thing):
            return {"is": "fractions", "packed": _packed(" ".join(map(str, thing)).encode())}
        return [to_plain(each) for each in thing]
    raise TypeError(f"objects of type {type(thing).__name__} cannot be stored")


def from_plain(data: Any) -> Any:
    """Read an object back.

    Args:
        data: as `to_plain` gives it; lists become tuples.

    Raises:
        ArgumentError: it is something else, or a constructor refuses what it is given.
    """
    if isinstance(data, list):
        return tuple(from_plain(each) for each in data)
    if not isinstance(data, dict):
        return data
    kind = data.get("is")
    parts = {name: each for name, each in data.items() if name != "is"}
    try:
        if kind in _READERS:
            return _READERS[kind](**parts)
        return _class_of(str(kind))(**{name: from_plain(each) for name, each in parts.items()})
    except EpsilonsError:
        raise
    except _REFUSED as error:
        raise ArgumentError(
            f"A stored object of the kind {kind!r} cannot be read: it is not one, or was changed."
        ) from error


def _array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    if array.dtype == object:
        return {"is": "integers", "of": [int(each) for each in array.tolist()]}
    kind = {"f": "<f8", "i": "<i8", "b": "|b1"}.get(array.dtype.kind)
    if kind is None or array.ndim != 1:
        raise TypeError(f"arrays of type {array.dtype} and shape {array.shape} cannot be stored")
    plain = array.astype(kind, copy=False)
    if len(plain) <= _LONG:
        return {"is": "array", "type": kind, "of": [to_plain(each) for each in plain]}
    return {"is": "array", "type": kind, "packed": _packed(plain.tobytes())}


def _read_array(type: str, of: Any = None, packed: str | None = None) -> np.ndarray[Any, Any]:
    if type not in _KINDS:
        raise ValueError(type)
    if packed is None:
        return np.array([from_plain(each) for each in of], dtype=type)
    return np.frombuffer(_unpacked(packed), dtype=type).copy()


def _read_fractions(packed: str) -> tuple[Fraction, ...]:
    return tuple(map(_read_fraction, _unpacked(packed).decode("ascii").split(" ")))


def _read_fraction(of: str) -> Fraction:
    if _FRACTION.fullmatch(of) is None:
        raise ValueError("fraction")
    return Fraction(of)


def _packed(held: bytes) -> str:
    return base64.b64encode(zlib.compress(held)).decode("ascii")


def _unpacked(packed: str) -> bytes:
    """The bytes that were packed, if they are not too many."""
    try:
        unpack = zlib.decompressobj()
        held = unpack.decompress(base64.b64decode(packed, validate=True), _MOST)
    except (binascii.Error, zlib.error) as error:
        raise ValueError("packed") from error
    if unpack.unconsumed_tail or not unpack.eof:
        raise ValueError("packed")
    return held


def _read_integers(of: list[int]) -> np.ndarray[Any, Any]:
    return np.fromiter((int(each) for each in of), dtype=object, count=len(of))


_READERS: Final[dict[Any, Callable[..., Any]]] = {
    "float": lambda of: float(of),
    "fraction": _read_fraction,
    "array": _read_array,
    "fractions": _read_fractions,
    "integers": _read_integers,
}
