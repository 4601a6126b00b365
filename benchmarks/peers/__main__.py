"""`python -m benchmarks.peers`: create every environment, and print the results."""

from __future__ import annotations

import sys
import time

from benchmarks.peers.environments import ensure_all


def main() -> int:
    begin = time.monotonic()
    found = ensure_all()
    ready = [each for each in found.values() if each.ready]
    size = sum(each.size for each in ready)
    print(
        f"{len(ready)} of {len(found)} peers are installed, {size / 1e6:.0f} MB, "
        f"in {time.monotonic() - begin:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
