"""Load generator: reports of many people at a fixed rate, on persistent connections."""

from __future__ import annotations
