"""Write mechanisms, noise distributions, margins and releases as plain data, and read them back.

These objects are frozen, and defined by their constructor's arguments. So a `storable` class must
keep each argument of its constructor as an attribute of the same name. Reading an object back calls
the constructor, with all its checks. Numbers are stored exactly: integers of any size, fractions,
and floats to the last bit.

Every later version can read stored objects. So a class is stored under a fixed kind, independent of
its module and its name. Its arguments are stored under the names that they had at first:

    @storable("noise.Old")                               the kind, which never changes
    @storable("noise.Old", fields={"old": "new"})        an argument was renamed
    @storable("noise.Old", reads=without_the_old_one)    an argument was dropped
    @storable("noise.New", since="0.3.0")                versions before 0.3.0 do not store it

Arguments that a class lists in `LATER` are written only if they differ from their defaults. An
object with defaults for all of them is written as it was before they existed. A kind also fixes its
formulas: the numbers computed from a stored object never change, and a new formula needs a new
class with a new kind.
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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial, wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, TypeVar

import numpy as np

from epsilons.errors import ArgumentError, EpsilonsError
from epsilons.listed import shown

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["Deferred", "from_plain", "now", "remembered", "shared", "storable", "to_plain"]

Class = TypeVar("Class", bound=type)

Owner = TypeVar("Owner")
Result = TypeVar("Result")
Given = ParamSpec("Given")

Parts = dict[str, Any]


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


class Deferred:
    """A field of a frozen dataclass that is computed when it is first read.

    The argument of the constructor is the value, or a `functools.partial` that returns it. The
    latter must hold nothing that the object must not hold, such as data.

    Args:
        default: the default of the field; none if it is required.
    """

    def __init__(self, *default: Any) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        held = {} if instance is None else vars(instance)  # a dataclass asks for the default
        if self._name in held:
            held[self._name] = now(held[self._name])
            return held[self._name]
        if not self._default:
            raise AttributeError(self._name)
        return self._default[0]

    def __set__(self, instance: object, value: Any) -> None:
        vars(instance)[self._name] = value


def now(value: Any) -> Any:
    """Return a value that may be deferred."""
    return value() if isinstance(value, partial) else value


@dataclass(frozen=True)
class _Form:
    """The storage format of the objects of a class.

    Attributes:
        kind: the name under which the objects are stored.
        made: the class.
        fields: a mapping from stored names to constructor arguments, if these differ.
        reads: a function that converts stored arguments to constructor arguments, if some were
            dropped.
        since: the first version that stores this kind; "" for 0.2.0 or earlier.
    """

    kind: str
    made: type
    fields: Mapping[str, str]
    reads: Callable[[Parts], Parts] | None
    since: str


_FORMS: Final[dict[str, _Form]] = {}
"""The storage formats of all classes in loaded modules, by kind."""

_FORM_OF: Final[dict[type, _Form]] = {}
"""The same storage formats, by class."""

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


def storable(
    kind: str,
    *,
    fields: Mapping[str, str] = MappingProxyType({}),
    reads: Callable[[Parts], Parts] | None = None,
    since: str = "",
) -> Callable[[Class], Class]:
    """Declare that objects of a class can be written as plain data and read back.

    Args:
        kind: the name under which the objects are stored, which never changes. It must be a string
            literal, because `modules_of` finds the module of a class by reading the sources.
        fields: a mapping from stored names to constructor arguments, for arguments that were
            renamed.
        reads: a function that converts stored arguments to constructor arguments, if some were
            dropped.
        since: the first version that stores this kind; "" for 0.2.0 or earlier.

    Raises:
        ValueError: another class is stored under this kind.
    """

    def declare(cls: Class) -> Class:
        form = _FORMS.setdefault(kind, _Form(kind, cls, fields, reads, since))
        if form.made is not cls:
            raise ValueError(f"two storable classes are stored as {kind}")
        _FORM_OF[cls] = form
        return cls

    return declare


def _form_of(kind: str) -> _Form:
    """Return the storage format of a kind, after importing its module if necessary.

    Raises:
        KeyError: there is no such kind.
    """
    if kind not in _FORMS:
        importlib.import_module(modules_of("epsilons")[kind])
    return _FORMS[kind]


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
        if cls in _FORM_OF:
            return _object(thing, cls, _FORM_OF[cls])
    if isinstance(thing, (tuple, list)):
        if len(thing) > _LONG and all(type(each) is Fraction for each in thing):
            return {"is": "fractions", "packed": _packed(" ".join(map(str, thing)).encode())}
        return [to_plain(each) for each in thing]
    raise TypeError(f"objects of type {type(thing).__name__} cannot be stored")


def _object(thing: Any, cls: type, form: _Form) -> Parts:
    """An object of a storable class as plain data."""
    later = getattr(cls, "LATER", ())
    names = {argument: name for name, argument in form.fields.items()}
    parts = {
        names.get(argument, argument): to_plain(getattr(thing, argument))
        for argument, each in inspect.signature(cls).parameters.items()
        if argument not in later or getattr(thing, argument) != each.default
    }
    return {"is": form.kind, **parts}


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
        form = _form_of(str(kind))
        held = {form.fields.get(name, name): from_plain(each) for name, each in parts.items()}
        for name in held.keys() & _SIZES:
            if isinstance(held[name], (int, float, Fraction)) and held[name] < 0:
                raise ValueError(name)
        return form.made(**(held if form.reads is None else form.reads(held)))
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
