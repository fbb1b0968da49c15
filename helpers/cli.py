"""The `warpbook` command: a table of small commands."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from helpers.checking import books
from helpers.checking.learner_state import workbook
from helpers.workbook.chapters import PAGES
from helpers.workbook.command import Command, UsageProblem, print_utf8, project_folder

# -- lab ------------------------------------------------------------------------------------------------


def lab_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "notebook", nargs="?", help="the notebook to open, default where `warpbook progress` says to go on"
    )
    track_argument(parser)
    parser.add_argument("--teacher", action="store_true", help="JupyterLab with all panels, and nbgrader's in them")
    parser.add_argument("--no-browser", action="store_true", help="print the address, open no browser")
    parser.add_argument("--port", type=int, help="the port to serve on, default 8888 or the next free one")


def track_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--track", default="whole", metavar="NAME",
        help="the way through the course: fast (about ten hours), labs, or whole; notebooks/README.md describes them",
    )  # fmt: skip


def lab(arguments: argparse.Namespace) -> int:
    from helpers.workbook import room

    root = workbook() if arguments.notebook else project_folder()
    if root and not arguments.notebook:
        notebook = room.page(root / "notebooks", arguments.track)
    else:
        notebook = Path(arguments.notebook).resolve()
    if not notebook.is_file():
        where = f" The chapters are in {root / 'notebooks'}." if root else ""
        raise UsageProblem(f"There is no notebook {notebook}.{where}")
    if root is None or not notebook.is_relative_to(root):
        root = notebook.parent
    command = room.command(
        root, notebook, port=arguments.port, no_browser=arguments.no_browser, teacher=arguments.teacher
    )
    if arguments.teacher and find_spec("nbgrader") is None:
        print("nbgrader isn't installed, so its panels are missing: python -m pip install nbgrader", flush=True)
    if "--no-browser" in command:
        print("Open the address that JupyterLab prints below in a browser. Stop it with Ctrl-C.", flush=True)
    return call(command, environment=room.environment(teacher=arguments.teacher))


# -- doctor, test, notebooks ----------------------------------------------------------------------------


def doctor_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="write the findings as JSON")
    parser.add_argument("--empty-cache", action="store_true", help="remove all compiled code that is kept on disk")


def doctor(arguments: argparse.Namespace) -> int:
    if arguments.empty_cache:
        return empty_cache()
    from helpers.workbook.doctor import as_json, as_text, examine_apart, exit_status

    findings = examine_apart()
    print(as_json(findings) if arguments.json else as_text(findings))
    return exit_status(findings)


def no_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def repair(arguments: argparse.Namespace) -> int:
    from helpers.workbook import install

    return install.install()


def empty_cache() -> int:
    from vgpu.base import on_disk

    try:
        removed, place = on_disk.empty(), on_disk.folder()
    except on_disk.Refused as problem:
        raise UsageProblem(str(problem)) from None
    print(f"{removed} entries removed from {place}." if place else "Nothing is kept: VGPU_CACHE=off.")
    return 0


def test_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pytest", nargs="*", help="what pytest is given; put -- before its options")
    tier = parser.add_mutually_exclusive_group()
    for name, what in (("check", "what three minutes are enough for"), ("all", "all that there is, for hours")):
        tier.add_argument(f"--{name}", dest="tier", action="store_const", const=name, help=what)
    parser.set_defaults(tier="test")


# A process more than there are cores, as many tests wait for a browser, a kernel or a sandbox. Each has a stretch
# of the tests, as what is compiled for one serves the next; whoever is done takes half of what another still has to
# do. At the end stands where the time went.
PROCESSES = min(8, (os.cpu_count() or 1) + 1)
PARALLEL = ("-n", str(PROCESSES), "--dist", "worksteal", "--durations", "20")


def test(arguments: argparse.Namespace) -> int:
    options = arguments.pytest or PARALLEL
    return call([sys.executable, "-m", "pytest", "--tier", arguments.tier, *options], cwd=project_folder())


def notebooks_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("notebooks", nargs="*", type=Path, help="which to run, default all of notebooks/")
    parser.add_argument("--store", action="store_true", help="write the outputs into the notebooks")
    from helpers.workbook.run import BUDGET

    parser.add_argument("--budget", type=float, default=BUDGET, help=f"seconds a notebook may take, default {BUDGET:g}")


def notebooks(arguments: argparse.Namespace) -> int:
    from helpers.workbook import run as runner

    paths = arguments.notebooks or sorted((project_folder() / "notebooks").glob("*.ipynb"))
    if not paths:
        raise UsageProblem("There is no notebook to run in notebooks/.")
    failed = 0
    for path in paths:
        result = runner.run(path, budget=arguments.budget, stored=not arguments.store)
        print(result.report(), flush=True)
        failed += bool(result.problems)
        if arguments.store and not result.problems:
            runner.store(result, path)
    return 1 if failed else 0


# -- gpu ------------------------------------------------------------------------------------------------


def gpu_arguments(parser: argparse.ArgumentParser) -> None:
    from helpers.workbook.gpu.parts import PARTS

    names = [part.name for part in PARTS]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"which, of {', '.join(names)}; default all")
    parser.add_argument("--to", type=Path, metavar="FILE", help="where to write the results, default build/gpu.json")
    parser.add_argument("--show", type=Path, metavar="FILE", help="run nothing, show the results in this file")


def gpu(arguments: argparse.Namespace) -> int:
    from helpers.workbook.gpu import run as runner
    from helpers.workbook.gpu.parts import PARTS

    print_utf8()
    if arguments.show:
        if not arguments.show.is_file():
            raise UsageProblem(f"There is no file {arguments.show}.")
        runner.show(arguments.show)
        return 0
    names = [part.name for part in PARTS]
    if unknown := set(arguments.parts) - set(names):
        raise UsageProblem(f"There is no part {', '.join(sorted(unknown))}. There are: {', '.join(names)}.")
    root = project_folder()
    return runner.run(root, arguments.to or root / "build" / "gpu.json", arguments.parts)


# -- script, progress, chapters, index -----------------------------------------------------------------


def chapter_path(name: str) -> Path:
    """The notebook that is meant by a number such as 04, or by its path."""
    folder = project_folder() / "notebooks"
    if re.fullmatch(r"\d+[b-z]?", name):
        found = sorted(folder.glob(f"{name.zfill(2 + name[-1].isalpha())}_*.ipynb"))
        if found:
            return found[0]
    elif Path(name).is_file():
        return Path(name)
    there = ", ".join(path.name.partition("_")[0] for path in sorted(folder.glob(PAGES)))
    raise UsageProblem(f"There is no chapter {name}. There are: {there}.")


SCRIPT_HELP = """\
The code of the chapter goes to the standard output, in order, for tools that want a program:

  warpbook script 04 > ch04.py
  ncu --kernel-name regex:copy python ch04.py
  warpbook script 04 --timed > ch04.py
  nsys profile python ch04.py

What a cell shows is printed. Exercises, predictions and explorers are left out. `benchmark` launches once, since ncu
replays each launch by itself; with --timed it warms up and repeats, as in the notebook. `profile`, `check` and the
like count on the virtual GPU and launch nothing on the real one, so tools do not see them.
"""


def script_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("chapter", help="its number, such as 04, or the path of a notebook")
    parser.add_argument("--timed", action="store_true", help="let benchmark warm up and repeat, for nsys")
    parser.epilog, parser.formatter_class = SCRIPT_HELP, argparse.RawDescriptionHelpFormatter


def script(arguments: argparse.Namespace) -> int:
    from helpers.workbook.script import as_script

    print_utf8()
    print(as_script(chapter_path(arguments.chapter), timed=arguments.timed), end="")
    return 0


def repeat_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("chapter", help="its number, such as 19b, or the path of a notebook")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds, from 0 on, default 3")


def repeat(arguments: argparse.Namespace) -> int:
    from helpers.workbook.repeat import repeat as run_again

    print_utf8()
    print(run_again(chapter_path(arguments.chapter), seeds=arguments.seeds))
    return 0


def progress(arguments: argparse.Namespace) -> int:
    from helpers.workbook.progress import progress as so_far

    try:
        print(so_far(project_folder() / "notebooks", arguments.track))
    except ValueError as problem:
        raise UsageProblem(str(problem)) from None
    return 0


def chapters_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("chapters", nargs="*", help="which, by number or path; default all")
    parser.add_argument("--seconds", action="store_true", help="run them, for the seconds that each takes")


def chapters(arguments: argparse.Namespace) -> int:
    from helpers.workbook.chapter_table import table

    paths = [chapter_path(name) for name in arguments.chapters]
    paths = paths or sorted((project_folder() / "notebooks").glob(PAGES))
    print(table(paths, run=arguments.seconds))
    return 0


def index_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", type=Path, help="where to write the page, default build/index")


def index(arguments: argparse.Namespace) -> int:
    from helpers.workbook.authoring.index import write

    root = project_folder()
    print(write(root, (arguments.folder or root / "build" / "index").resolve()))
    return 0


# -- site -----------------------------------------------------------------------------------------------


def site_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", type=Path, help="where to write the site, default build/site")
    parser.add_argument(
        "--draw", metavar="CHAPTER", nargs="*",
        help="draw the explorers of these chapters alone, such as 04; those of others stay as they are, or can't be "
        "moved; with no chapter, draw none",
    )  # fmt: skip
    parser.add_argument("--most", type=int, help="states of an explorer at most")


def site(arguments: argparse.Namespace) -> int:
    from helpers.site.build import build

    target = (arguments.folder or project_folder() / "build" / "site").resolve()
    print(build(target, arguments.draw, most=arguments.most))
    return 0


# -- new ------------------------------------------------------------------------------------------------


def new_arguments(parser: argparse.ArgumentParser) -> None:
    from helpers.workbook.authoring.scaffold import LANGUAGES

    kinds = parser.add_subparsers(metavar="exercise|chapter", required=True)
    exercise = kinds.add_parser("exercise", help="a folder of an exercise, with a solution that passes")
    exercise.add_argument("key", help="such as ch07.name or lab07.name; mine.name goes into warpbook_exercises/mine/")
    exercise.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0], help="of its answers, default numba")
    exercise.set_defaults(make="exercise")
    chapter = kinds.add_parser("chapter", help="a notebook that has what every chapter has")
    chapter.add_argument("number", type=int, help="such as 24")
    chapter.add_argument("title", nargs="+", help="such as: Texture memory")
    chapter.set_defaults(make="chapter")


def new(arguments: argparse.Namespace) -> int:
    from helpers.workbook.authoring import scaffold

    try:
        if arguments.make == "exercise":
            course = re.match(r"(ch|lab)\d", arguments.key)
            root = project_folder() if course else (books.own() or Path.cwd() / books.FOLDER).parent
            print(scaffold.exercise(root, arguments.key, arguments.language))
        else:
            print(scaffold.chapter(project_folder(), arguments.number, " ".join(arguments.title)))
    except ValueError as problem:
        raise UsageProblem(f"Nothing is written: {problem}.") from None
    return 0


def call(command: Sequence[str], cwd: Path | None = None, environment: dict[str, str] | None = None) -> int:
    """Run `command` to its end and give its exit status; Ctrl-C is the child's to handle, and SIGTERM is passed on."""
    process = subprocess.Popen(list(command), cwd=cwd, env=environment)
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        while True:
            with contextlib.suppress(KeyboardInterrupt):
                return process.wait()
    finally:
        signal.signal(signal.SIGTERM, before)


# -- the table ------------------------------------------------------------------------------------------


COMMANDS = (
    Command("lab", "open the workbook in JupyterLab", lab_arguments, lab),
    Command("doctor", "check this machine: packages, compilers, GPU, widgets", doctor_arguments, doctor),
    Command("repair", "install what is missing, and reinstall what is damaged", no_arguments, repair),
    Command("test", "run the tests, the notebooks included", test_arguments, test),
    Command("notebooks", "run the notebooks from clean kernels", notebooks_arguments, notebooks),
    Command("gpu", "measure what only an NVIDIA GPU can show, and keep the results", gpu_arguments, gpu),
    Command("progress", "show what you have answered and passed, and what comes next", track_argument, progress),
    Command("script", "write a chapter as a plain script, for ncu and nsys", script_arguments, script),
    Command("repeat", "train a chapter with several seeds, keep what comes out", repeat_arguments, repeat),
    Command(
        "chapters", "show what each chapter holds: cells, words, explorers, questions", chapters_arguments, chapters
    ),
    Command("index", "make a page of all plots and widgets by question", index_arguments, index),
    Command("site", "make the course and the engine's documentation a website", site_arguments, site),
    Command("new", "write an exercise or a chapter to begin with, full of TODOs", new_arguments, new),
)


def every_command() -> tuple[Command, ...]:
    """The table above and the commands for labs, which stand in a table of their own."""
    from helpers.workbook.grading_commands import COMMANDS as FOR_LABS

    return (*COMMANDS, *FOR_LABS)


EPILOGUE = """\
exit status: 0 all well, 1 a check or a test failed, 2 the command was not understood
start with `warpbook doctor` if anything behaves oddly
"""


def build_parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """The parser for a command line. Only the command that it names adds its arguments: that may import much."""
    parser = argparse.ArgumentParser(
        prog="warpbook",
        description="A workbook on GPU performance, with or without a GPU.",
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    rows = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in every_command():
        row = rows.add_parser(command.name, help=command.summary, description=command.summary + ".")
        if command.name in words:
            command.arguments(row)
        row.set_defaults(run=command.run)
    return parser


STOPPED_READING = 141
"""The exit status of a program that a shell ends because nothing reads its output any more, as in `… | head`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line `arguments` (default: the process's own) and return the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        parsed = build_parser(words).parse_args(words)
        status = parsed.run(parsed)
        sys.stdout.flush()
        return status
    except UsageProblem as problem:
        print(f"warpbook: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more when it ends
        return STOPPED_READING


if __name__ == "__main__":
    sys.exit(main())
