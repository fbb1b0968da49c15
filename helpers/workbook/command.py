"""What a command of `warpbook` is, and what all of them need to know."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from helpers.checking.learner_state import workbook


class UsageProblem(Exception):
    """The command cannot do what it was asked; the message says what to do instead. Exit status 2."""


def print_utf8() -> None:
    """Let `print` write UTF-8, whatever the terminal's encoding."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def project_folder() -> Path:
    """The folder of the workbook: where the command was called, else where `helpers` was installed from.

    Raises UsageProblem when neither holds notebooks/, as after `pip install` of a built wheel.
    """
    if folder := workbook():
        return folder
    raise UsageProblem(
        "No notebooks/ folder here or beside the installed helpers. Change into the folder of the workbook "
        "(the one with README.md) and call again."
    )


@dataclass(frozen=True)
class Command:
    """One row: the word typed, one line of help, what adds its arguments, and what runs it."""

    name: str
    summary: str
    arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
