"""The pages of the site in parts: code blocks, what they print, and commands."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = sorted(DOCS.glob("*.md"))
LANGUAGES = ("python", "sh", "text")  # run, run line by line, what the block before prints

_FENCED = re.compile(r"^```(.*?)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"`(examples/\w+\.py)`:\n\n```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`((?:egoscore|python|make) [^`]+)`(?!`)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and where it begins."""

    language: str
    text: str
    line: int

    @property
    def commands(self):
        """The commands of a block for the shell, without comments; what `\\` broke is one."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [words for line in lines if (words := shlex.split(line, comments=True))]


def blocks(page):
    """All fenced blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1].strip(), found[2], text[: found.start()].count("\n") + 1)
        for found in _FENCED.finditer(text)
    ]


def shown_files(page):
    """The files that a page names right above a block, with the text of the block."""
    return _FILE.findall(page.read_text(encoding="utf-8"))


def inline_commands(page):
    """Commands named in the text."""
    bare = _FENCED.sub("", page.read_text(encoding="utf-8"))
    return [shlex.split(" ".join(found.split())) for found in _INLINE.findall(bare)]


def plain(text, is_measured):
    """Printed text as it is compared: without colours and frames, with single spaces.

    Measured decimals are not compared, because other processors round differently.
    """
    letters = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    letters = re.sub(r"[\u2500-\u257f]+", " ", letters)
    letters = re.sub(r"[+-]?\d+\.\d+", "#", letters) if is_measured else letters
    return " ".join(letters.split())
