"""Search for neighbouring tables that can be distinguished, for a given time.

    python scripts/fuzz.py --minutes 30

It runs tests/fuzz repeatedly, each time with new cases. If a test fails, it prints the case and
exits with code 1.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Run until the time is up or a test fails, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--examples", type=int, default=500, help="cases of each group in a round")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="a word in the name of the groups")
    options = parser.parse_args(arguments)
    end = time.monotonic() + 60.0 * options.minutes
    rounds = 0
    while rounds == 0 or time.monotonic() < end:
        seed = secrets.randbits(32)
        environment = dict(os.environ, EPSILONS_FUZZ_EXAMPLES=str(options.examples))
        command = [sys.executable, "-m", "pytest", "-q", "-n", str(options.workers)]
        command += ["--dist=load", f"--hypothesis-seed={seed}", "tests/fuzz"]
        command += ["-k", options.only] if options.only else []
        code = subprocess.run(command, cwd=ROOT, env=environment).returncode
        if code:
            return code
        rounds += 1
        print(f"{rounds} rounds of {options.examples} cases for each group: nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
