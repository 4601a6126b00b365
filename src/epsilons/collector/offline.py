"""The page of a participant as one file, for who does not trust a server's script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib import resources
from typing import Any, Final

from epsilons.collector.question import Survey

__all__ = ["offline_page", "page"]

MODULES: Final = ("report.js", "words.js", "flow.js", "offline.js")
"""In the order in which they need each other."""

_IMPORT: Final = re.compile(r"^import \{[^}]*\} from \"\./[a-z]+\.js\";\n", re.M)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?function )", re.M)
_HEAD: Final = re.compile(r"<link rel=\"icon\".*?</script>\n", re.S)


@cache
def page(name: str) -> str:
    """A file of the pages, as text."""
    return (resources.files("epsilons.collector") / "pages" / name).read_text("utf-8")


def offline_page(survey: Survey) -> str:
    """One HTML file that asks, randomizes and sends, and loads nothing from anywhere.

    It holds the survey, and is the same for everyone: its hash can be published. It tests itself on
    the vectors of docs/local-reports.md before it asks anything.
    """
    script = "".join(_alone(name) for name in MODULES)
    style = page("page.css")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "connect-src https: http://localhost:* http://127.0.0.1:*; "
        "base-uri 'none'; form-action 'none'"
    )
    asked = survey.to_dict()
    del asked["invitations"]
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<style>{style}</style>\n"
        f"{_data('survey', asked)}{_data('vectors', json.loads(page('vectors.json')))}"
    )
    body = _HEAD.sub(lambda _: head, page("participant.html"))
    return body.replace("</body>", f'<script type="module">{script}</script>\n</body>')


def _alone(name: str) -> str:
    """A module without imports and exports: all become one, in which names are distinct."""
    return _EXPORT.sub("", _IMPORT.sub("", page(name)))


def _hash(text: str) -> str:
    """What a policy calls an inline text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(name: str, held: Any) -> str:
    # No text can end the element: there is no "<" in it.
    text = json.dumps(held, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>\n'
