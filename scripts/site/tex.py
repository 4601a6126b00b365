"""Convert formulas in Unicode, as the pages write them, to TeX.

Pages write e^{−|x|/s}, Σ_{i≤k} ε_i and √(pq), which are readable in a plain text file. On the site,
KaTeX renders them. A `Reader` parses the longest formula that begins at a position in a text. It
knows only the notation, not the meaning. A text that it cannot parse is not a formula.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from dataclasses import dataclass

from scripts.site.notation import (
    ACCENTS,
    BARS,
    BIG,
    CLOSING,
    DIFFERENTIAL,
    EXPECTED,
    FUNCTIONS,
    GREEK,
    LONG,
    LOWERED,
    NUMBER,
    OPENING,
    OPERATORS,
    PARTNERS,
    PLACE,
    PLAIN,
    PRIMES,
    RAISED,
    RELATIONS,
    SHORT,
    SPACES,
    SYMBOLS,
    WORD,
)

__all__ = ["FormulaError", "Reader", "display", "normal"]


class FormulaError(ValueError):
    """Raised where the rest of a text cannot be parsed as a formula."""


def normal(text: str) -> str:
    """Return the text with mathematical accents (hats, bars) decomposed, and others composed."""
    parts = {char: unicodedata.normalize("NFD", char) for char in set(text) if char.isalpha()}
    return "".join(
        parts[char] if char in parts and parts[char][1:] in ACCENTS else char for char in text
    )


def display(block: str) -> str:
    """Convert a displayed formula of one or several lines to TeX.

    Args:
        block: The lines of the block on the page.

    Returns:
        TeX for display mode. Lines are aligned at the first = if it has the same column in all
        lines.

    Raises:
        FormulaError: the block is not a formula.
    """
    lines = [line.rstrip() for line in textwrap.dedent(normal(block)).rstrip().splitlines()]
    column = {line.find("=") for line in lines}
    if len(lines) == 1:
        return _one(lines[0])
    rows = []
    at = column.pop() if len(column) == 1 else -1
    for line in lines:
        left, right = (line[:at].rstrip(), line[at:]) if at > 0 else ("", line)
        rows.append(f"{Reader(left).line()} & {Reader(right).line()}")
    body = r" \\ ".join(rows)
    return rf"\begin{{aligned}} {body} \end{{aligned}}"


def _one(line: str) -> str:
    """Convert a line to TeX. If it is long, each of its formulas gets a separate row."""
    parts = re.split(r"(?<=[,;])  +", line)
    if len(line) < LONG or len(parts) == 1:
        return Reader(line).line()
    body = r" \\ ".join(Reader(part).line() for part in parts)
    return rf"\begin{{gathered}} {body} \end{{gathered}}"


@dataclass
class Reader:
    """A recursive-descent parser for formulas in a text.

    Attributes:
        text: The text, with mathematical accents decomposed (`normal`).
        at: The position of the next character.
        letters: Number of Latin letters, Greek letters and big symbols read. A formula has at least
            one.
        words: Number of words of prose read inside the formula.
    """

    text: str
    at: int = 0
    letters: int = 0
    words: int = 0

    def line(self) -> str:
        """Convert the entire text: formulas, and the words and commas between them."""
        made = []
        while self.at < len(self.text):
            here, spaces = self.at, self._spaces()
            if spaces:
                made.append(r"\quad " if spaces > 1 else self._space(here))
                continue
            try:
                made.append(self.expression(prose=True))
            except FormulaError:
                self.at = here
                made.append(self._loose())
        return "".join(made).strip()

    def expression(self, *, prose: bool = False) -> str:
        """Parse operands separated by operators, as many as possible."""
        made = [self.operand(prose=prose)]
        while True:
            here = self.at
            try:
                made += [self._operator(), self.operand(prose=True)]
            except FormulaError:
                self.at = here
                return "".join(made)

    def operand(self, *, prose: bool) -> str:
        """Parse a product of adjacent factors, with an optional sign."""
        made = []
        if self._next() in ("−", "±", "+") and self._next(1) not in ("", " "):
            made.append(OPERATORS[self._take()])
        made.append(self._factor(prose=prose))
        while True:
            here = self.at
            try:
                made.append(self._beside())
            except FormulaError:
                self.at = here
                return "".join(made)

    def _beside(self) -> str:
        """Parse one more factor of the same product."""
        found = DIFFERENTIAL.match(self.text, self.at)
        if found and self.text[self.at - 1] in ")}²|":
            self.at = found.end()
            return rf"\,{found[0].strip()}"
        if self._next() == "|" and not self._opens():
            raise FormulaError
        if EXPECTED.match(self.text, self.at - 1):
            self.at += 1
            return rf"\,{self.operand(prose=False)}"
        return self._factor(prose=False)

    def _factor(self, *, prose: bool) -> str:
        """Parse a letter, number, function, root, sum or bracket, with super- and subscripts."""
        char = self._next()
        if char in BIG:
            return self._big()
        if char == "√":
            return self._root()
        if char in OPENING:
            return self._bracket() + self._scripts()
        if char in BARS:
            return self._bars() + self._scripts()
        if char in SYMBOLS:
            self.at += 1
            return SYMBOLS[char] + self._scripts()
        if GREEK.match(char):
            self.letters += 1
            return self._accented() + self._scripts()
        if found := NUMBER.match(self.text, self.at):
            self.at = found.end()
            return found[0].replace(",", "{,}") + self._scripts()
        if found := WORD.match(self.text, self.at):
            return self._named(found[0], prose=prose)
        raise FormulaError

    def _named(self, word: str, *, prose: bool) -> str:
        """Convert a letter, a function or a word. Adjacent letters are a product."""
        if word in FUNCTIONS:
            return self._function(word)
        end = self.at + len(word)
        if len(word) == 1 or self.text[end : end + 1] in ACCENTS:
            return self._letter()
        if self.text[end : end + 1] == "(" and len(word) > 2:
            self.at = end
            return rf"\operatorname{{{word}}}" + self._bracket() + self._scripts()
        mixed = not word.islower() and not word.istitle()
        if (len(word) == 2 and word not in SHORT) or mixed:
            return self._letter()
        self.at = end
        scripts = self._scripts()
        if word in ("hi", "lo"):
            return rf"\mathit{{{word}}}{scripts}"
        if not prose and not scripts:
            raise FormulaError
        self.words += not scripts
        return rf"\text{{{word}}}{scripts}"

    def _letter(self) -> str:
        self.letters += 1
        return self._accented() + self._scripts()

    def _function(self, word: str) -> str:
        """Parse a function and its argument, which is in brackets or after a space."""
        self.at += len(word)
        scripts = self._scripts()
        made = FUNCTIONS[word] + scripts
        here = self.at
        try:
            if self._spaces() == 1 and (self._next() in BIG or not WORD.fullmatch(self._word())):
                return made + " " + self.operand(prose=False)
            if self._word() and len(self._word()) == 1 and self.at > here:
                return made + " " + self.operand(prose=False)
        except FormulaError:
            pass
        self.at = here
        if self._next() not in ("(", "[", "|", "⌊", "{"):
            if scripts:
                return made
            raise FormulaError
        return made + self._factor(prose=False)

    def _big(self) -> str:
        """Parse a sum, product or integral, with its range and its summand or integrand."""
        self.letters += 1
        made = BIG[self._take()] + self._scripts()
        here = self.at
        try:
            self._spaces()
            return made + self.operand(prose=False)
        except FormulaError:
            self.at = here
            return made

    def _root(self) -> str:
        self.at += 1
        self.letters += 1
        if self._next() == "(":
            inside = self._bracket()
            return rf"\sqrt{{{inside[1:-1]}}}"
        return rf"\sqrt{{{self._factor(prose=True)}}}"

    def _bracket(self) -> str:
        """Parse a bracket, its content, and the closing bracket."""
        opened = self._take()
        made = [OPENING[opened]]
        while self._next() not in PARTNERS[opened]:
            made.append(self._inside())
        if not self._next():
            raise FormulaError
        return "".join(made) + CLOSING[self._take()]

    def _bars(self) -> str:
        bar = self._take()
        if self._next() == "·":  # a norm or absolute value as a function, |·|
            made = [BARS[bar], OPERATORS[self._take()]]
        else:
            self._spaces()
            made = [BARS[bar], self.expression(prose=True)]
        self._spaces()
        if self._next() != bar:
            raise FormulaError
        self.at += 1
        return "".join(made) + BARS[bar]

    def _inside(self) -> str:
        """Parse the next part inside brackets: an expression, a comma, a bar or a word."""
        here = self.at
        if self._spaces():
            return self._space(here)
        try:
            return self.expression(prose=True)
        except FormulaError:
            self.at = here
            return self._loose()

    def _loose(self) -> str:
        """Parse punctuation, an operator or a word between expressions."""
        char = self._next()
        if char in PLAIN or char in OPERATORS:
            self.at += 1
            return PLAIN.get(char) or OPERATORS[char]
        found = WORD.match(self.text, self.at)
        if not found:
            raise FormulaError(f"{char!r} at {self.at}")
        self.at = found.end()
        if found[0] in FUNCTIONS:
            return FUNCTIONS[found[0]]
        self.words += 1
        return rf"\text{{{found[0]}}}"

    def _scripts(self) -> str:
        """Parse primes, superscripts and subscripts, in any order."""
        made = ""
        while True:
            char = self._next()
            if char in PRIMES and not re.match(r"'s\b", self.text[self.at :]):
                made += PRIMES[self._take()]
            elif char in ("!", "*") and self.at and self.text[self.at - 1] != " ":
                self.at += 1
                made += "!" if char == "!" else "^{*}"
            elif char in RAISED:
                made += f"^{{{self._run(RAISED)}}}"
            elif char in LOWERED:
                made += f"_{{{self._run(LOWERED)}}}"
            elif char in ("^", "_"):
                self.at += 1
                made += char + self._script()
            else:
                return made.replace("}^{", "}{}^{") if made.count("^{") > 1 else made

    def _script(self) -> str:
        """Parse the script after ^ or _: braces, a bracket, a sign, letters or digits."""
        if self._next() == "{":
            inside = self._bracket()
            return f"{{{inside[2:-2]}}}"
        if self._next() in ("(", "|"):
            return f"{{{self._factor(prose=False)}}}"
        if self._next() in RELATIONS:
            return f"{{{RELATIONS[self._take()]}}}"
        sign = OPERATORS[self._take()] if self._next() == "−" else ""
        char = self._next()
        if char in SYMBOLS:
            self.at += 1
            return f"{{{sign}{SYMBOLS[char]}}}"
        if GREEK.match(char):
            return f"{{{sign}{self._accented()}}}"
        found = PLACE.match(self.text, self.at)
        if not found:
            raise FormulaError
        self.at = found.end()
        word = found[0]
        return f"{{{sign}{word}}}" if len(word) < 3 else rf"{{{sign}\text{{{word}}}}}"

    def _accented(self) -> str:
        letter, accent = self._take(), ACCENTS.get(self._next())
        if accent is None:
            return letter
        self.at += 1
        return rf"\{accent}{{{letter}}}"

    def _run(self, table: dict[str, str]) -> str:
        made = ""
        while self._next() in table:
            made += table[self._take()]
        return made

    def _operator(self) -> str:
        """Parse an operator, with or without a space before and after it."""
        spaces = self._spaces()
        char = self._next()
        if spaces > 1 or char not in OPERATORS:
            raise FormulaError
        self.at += 1
        after = self._spaces()
        if bool(spaces) != bool(after) and char in "−+/·":
            raise FormulaError
        return OPERATORS[char]

    def _opens(self) -> bool:
        """Return whether a bar opens a pair: text follows directly, and another bar comes later."""
        rest = self.text[self.at + 1 :]
        return bool(rest) and rest[0] not in " )],.;" and "|" in rest

    def _space(self, start: int) -> str:
        """Return the TeX for a space: explicit next to a word, thin between letters."""
        before, after = self.text[start - 1 : start], self._next()
        wordy = re.search(r"[A-Za-z]{2,}$", self.text[:start]) or re.match(
            r"[A-Za-z]{2,}", self.text[self.at :]
        )
        if before in OPERATORS or after in OPERATORS:
            return " "
        if wordy:
            return r"\ "
        return r"\," if before.isalnum() and after.isalnum() else " "

    def _word(self) -> str:
        found = re.compile(r"\S+").match(self.text, self.at)
        return found[0] if found else ""

    def _spaces(self) -> int:
        found = SPACES.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return len(found[0])

    def _next(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def _take(self) -> str:
        self.at += 1
        return self.text[self.at - 1]
