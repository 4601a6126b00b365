"""Write mechanisms, noise distributions, margins and releases as plain data, and read them back.

These objects are frozen, and defined by their constructor's arguments. So a `storable` class must
keep each argument of its constructor as an attribute of the same name. Reading an object back calls
the constructor, with all its checks. Numbers are stored exactly: integers of any size, fractions,
and floats to the last bit.

A class is stored under a fixed kind, independent of its module and its name:

    @storable("noise.Laplace")
"""

from __future__ import annotations

import base64
import binascii
import copy
import importlib
import inspect
import math
import re
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

import numpy as np

from epsilons.errors import ArgumentError, EpsilonsError
from epsilons.listed import shown

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["from_plain", "remembered", "shared", "storable", "to_plain"]

Class = TypeVar("Class", bound=type)

Owner = TypeVar("Owner")
Result = TypeVar("Result")
Given = ParamSpec("Given")

_SHARED: Final = 8
"""The number of shared results that an object keeps."""

_NONE: Final[Any] = object()
"""What stands for a result that is not kept."""


def remembered(
    method: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Result]:
    """Let a method of a frozen object compute its result once for each list of arguments.

    Results are kept with the object, but not stored. Their keys contain the method's name, not the
    method, because the object must be picklable. Arguments must be hashable. Each call returns its
    own copy, so a caller can change an array without changing later results.
    """
    return _kept(method, copy.deepcopy)


def shared(
    function: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Result]:
    """Do as `remembered` does, for a result that is frozen itself: all calls return the same one.

    The first argument is the frozen object.
    """
    return _kept(function, None)


def _kept(
    method: Callable[Concatenate[Owner, Given], Result], copied: Callable[[Result], Result] | None
) -> Callable[Concatenate[Owner, Given], Result]:
    name = f"{method.__module__}.{method.__qualname__}"

    @wraps(method)
    def found(self: Owner, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        known = vars(self).setdefault("_remembered", {})
        key: tuple[Any, ...] = (name, args)
        if kwargs:
            key += (*kwargs.items(), repr(kwargs))  # 0.0 == -0.0, but not as text
        result: Result = known.get(key, _NONE)
        if result is _NONE:
            if copied is None and len(known) >= _SHARED:
                known.clear()  # another thread may be here too, so `result` is not read from it
            result = known[key] = method(self, *args, **kwargs)
        return result if copied is None else copied(result)

    return found


_CLASSES: Final[dict[str, type]] = {}
"""The storable classes of all loaded modules, by kind."""

_KIND_OF: Final[dict[type, str]] = {}
"""The kinds of the same classes."""

_DECLARED: Final = re.compile(r"""^@(?:frozen\.)?storable\(\s*"([^"]+)\"""", re.MULTILINE)
"""Matches the kinds that a module's source declares."""

_LONG: Final = 64
"""Arrays, and lists of fractions, with more entries than this are compressed."""

_MOST: Final = 2**28
"""The maximum number of bytes after decompression."""

_KINDS: Final = ("<f8", "<i8", "|b1")

_FRACTION: Final = re.compile(r"-?[0-9]+(/[0-9]+)?")
"""Fractions as `to_plain` writes them. Python would expand "1e999999999" to a billion digits."""

_SIZES: Final = frozenset({"base", "divisor", "rate", "scale", "whole_scale"})
"""Arguments that are not negative in any stored object: sizes of noise, and what divides it."""

_REFUSED: Final = (
    AttributeError,
    KeyError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,
    ZeroDivisionError,
)
"""Exceptions that constructors raise for invalid arguments."""


def storable(kind: str) -> Callable[[Class], Class]:
    """Declare that objects of a class can be written as plain data and read back.

    Args:
        kind: the name under which the objects are stored. It must be a string literal, because
            `modules_of` finds the module of a class by reading the sources.

    Raises:
        ValueError: another class is stored under this kind.
    """

    def declare(cls: Class) -> Class:
        if _CLASSES.setdefault(kind, cls) is not cls:
            raise ValueError(f"two storable classes are stored as {kind}")
        _KIND_OF[cls] = kind
        return cls

    return declare


def _class_of(kind: str) -> type:
    """Return the class of a kind, after importing its module if necessary.

    Raises:
        KeyError: there is no such kind.
    """
    if kind not in _CLASSES:
        importlib.import_module(modules_of("epsilons")[kind])
    return _CLASSES[kind]


@cache
def modules_of(package: str) -> dict[str, str]:
    """The module of every kind that a package declares, read from its sources without imports.

    Raises:
        ValueError: two modules declare the same kind.
    """
    from importlib import resources  # only for reading back, and slow to import

    found: dict[str, str] = {}
    for module, path in _sources(package, resources.files(package)):
        for kind in _DECLARED.findall(path.read_text("utf-8")):
            if kind in found:
                raise ValueError(f"two storable classes are stored as {kind}")
            found[kind] = module
    return found


def _sources(package: str, folder: Traversable) -> Iterator[tuple[str, Traversable]]:
    """The modules of a package and of its subpackages, each with its source file."""
    for each in folder.iterdir():
        if each.name == "__init__.py":
            yield package, each
        elif each.name.endswith(".py"):
            yield f"{package}.{each.name.removesuffix('.py')}", each
        elif each.is_dir() and each.name.isidentifier() and each.name != "__pycache__":
            yield from _sources(f"{package}.{each.name}", each)


def to_plain(thing: Any) -> Any:
    """Write a frozen object as plain data.

    Args:
        thing: an object of a storable class, or a value that such objects contain.

    Raises:
        TypeError: objects of this type cannot be stored.
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
        if cls in _KIND_OF:
            names = inspect.signature(cls).parameters
            parts = {name: to_plain(getattr(thing, name)) for name in names}
            return {"is": _KIND_OF[cls], **parts}
    if isinstance(thing, (tuple, list)):
        if len(thing) > _LONG and all(type(each) is Fraction for each in thing):
            return {"is": "fractions", "packed": _packed(" ".join(map(str, thing)).encode())}
        return [to_plain(each) for each in thing]
    raise TypeError(f"objects of type {type(thing).__name__} cannot be stored")


def from_plain(data: Any) -> Any:
    """Read an object from plain data.

    Args:
        data: the result of `to_plain`; lists become tuples.

    Raises:
        ArgumentError: `data` is not a stored object, or a constructor rejects its arguments.
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
        held = {name: from_plain(each) for name, each in parts.items()}
        for name in held.keys() & _SIZES:
            if isinstance(held[name], (int, float, Fraction)) and held[name] < 0:
                raise ValueError(name)
        return _class_of(str(kind))(**held)
    except EpsilonsError:
        raise
    except _REFUSED as error:
        raise ArgumentError(
            f"A stored object of the kind {shown(kind)} cannot be read: it is not one, or was "
            "changed."
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
    """Decompress bytes.

    Raises:
        ValueError: the data are malformed, or expand to more than `_MOST` bytes.
    """
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
