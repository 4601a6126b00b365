"""Print the oldest or the newest versions of dependencies as a constraints file, or check a tag.

python scripts/versions.py oldest      the lower bounds in pyproject.toml
python scripts/versions.py newest      no constraints: pip takes the newest allowed versions
python scripts/versions.py tag v1.2.3  fail if the package has another version; "" fits any version
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LOWER = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?>=(?P<version>[0-9.]+)")


def oldest(project: dict) -> list[str]:
    """Return constraints that keep each dependency of users at its lower bound.

    For `numpy>=1.26`, the constraint is `numpy==1.26.*`. The tools of developers (`dev` and `docs`)
    are not constrained.
    """
    extras = project["optional-dependencies"].items()
    used = [each for name, needs in extras if name not in ("dev", "docs") for each in needs]
    needed = [*project["dependencies"], *used]
    matches = [_LOWER.match(each) for each in needed]
    return sorted({f"{found['name']}=={found['version']}.*" for found in matches if found})


def main(words: list[str]) -> int:
    """Print constraints, or compare a tag with the version of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    match words:
        case ["oldest"]:
            print("\n".join(oldest(project)))
        case ["newest"]:
            pass
        case ["tag", tag]:
            if tag and tag != f"v{project['version']}":
                print(f"The tag is {tag}, and the version of the package is {project['version']}.")
                return 1
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
