"""The command line: `python -m vgpu run|profile|sanitize|trace|sass|occupancy PROGRAM [arguments]`."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DESCRIPTION = """\
Run CUDA programs on a machine without a GPU. PROGRAM is a CUDA C++ file with main, or a Python script that uses
numba.cuda, cupy or triton; with -m it is a module, such as pytest. A CUDA program may have more files, before its
arguments: vgpu run main.cu kernels.cu io.cpp -- arguments."""
CUDA_C, CPP = (".cu", ".cuda"), (".cpp", ".cc", ".cxx", ".c")
STOPPED = 124
"""The exit status of a program that was stopped after its time, as the command `timeout` has it."""


@dataclass(frozen=True)
class Verb:
    """A command: its help, and a context around the program's run that yields a function which makes the report."""

    help: str
    around: Callable[[argparse.Namespace], contextlib.AbstractContextManager[Callable[[], Any] | None]]


@contextlib.contextmanager
def _run(options: argparse.Namespace) -> Iterator[None]:
    yield None


@contextlib.contextmanager
def _trace(options: argparse.Namespace) -> Iterator[Callable[[], Any]]:
    from vgpu.programs.reports import TraceReport
    from vgpu.tools import streams

    with streams.record() as timeline:
        assert isinstance(timeline, streams.Timeline), "the program runs on the virtual GPU"
        yield lambda: TraceReport(timeline)


def _observing(report: str, **what: bool) -> Callable:
    @contextlib.contextmanager
    def around(options: argparse.Namespace) -> Iterator[Callable[[], Any]]:
        from vgpu.programs import reports
        from vgpu.programs.observed import observing

        with observing(**what, seeds=tuple(range(options.schedules))) as observed:
            yield lambda: getattr(reports, report)(observed)

    return around


VERBS = {
    "run": Verb("run a program", _run),
    "profile": Verb(
        "counters, occupancy and a modelled time of each kernel", _observing("ProfileReport", counters=True, races=True)
    ),
    "sanitize": Verb(
        "races, accesses out of bounds and other mistakes; exit status 1 where there is an error",
        _observing("SanitizeReport", sanitizer=True),
    ),
    "trace": Verb("when copies and kernels run, modelled, and what nothing orders; exit status 1 for a hazard", _trace),
    "sass": Verb("the machine code of each kernel, by source line", _observing("SassReport", counters=True)),
    "occupancy": Verb("the occupancy of each kernel, and what limits it", _observing("OccupancyReport", counters=True)),
}


def parser() -> argparse.ArgumentParser:
    """Reads the command line."""
    found = argparse.ArgumentParser(prog="vgpu", description=DESCRIPTION)
    verbs = found.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    for name, verb in VERBS.items():
        added = verbs.add_parser(name, help=verb.help, description=f"{verb.help[0].upper()}{verb.help[1:]}.")
        added.add_argument("--gpu", metavar="NAME", help="the modelled GPU, such as H100")
        if name == "sanitize":
            added.add_argument(
                "--schedules", type=int, default=0, metavar="N",
                help="run each launch under N random schedules, and report results that depend on the order",
            )  # fmt: skip
        if name != "run":
            added.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON")
            added.add_argument("--html", type=Path, metavar="FILE", help="write the report as a page")
            added.add_argument(
                "--seconds", type=float, metavar="N",
                help=f"stop after N seconds of CPU time, report what there is by then, and exit with {STOPPED}",
            )  # fmt: skip
        added.add_argument("-I", dest="folders", action="append", default=[], metavar="FOLDER", help="for a .cu file")
        added.add_argument(
            "-D", dest="macros", action="append", default=[], metavar="NAME=VALUE", help="for a .cu file"
        )
        added.add_argument("-std", metavar="STANDARD", help="for a .cu file: c++17 unless given")
        added.add_argument(
            "-arch", metavar="SM", help="for a .cu file: sm_90a and the like; that of the modelled GPU unless given"
        )
        added.add_argument("--kernel", metavar="NAME", help="launch this kernel of a .cu file, which needs no main")
        added.add_argument("--grid", default="1", metavar="N", help="its blocks: 4, or 16x16")
        added.add_argument("--block", default="256", metavar="N", help="threads of a block: 256, or 16x16")
        added.add_argument("--shared", type=int, default=0, metavar="BYTES", help="dynamic shared memory of a block")
        added.add_argument(
            "--arg", dest="given", action="append", default=[], metavar="VALUE",
            help="an argument: 1000, or float32[1000]=random (or range, zeros, a number)",
        )  # fmt: skip
        added.add_argument("-m", dest="module", action="store_true", help="PROGRAM is the name of a module")
        added.add_argument("program", metavar="PROGRAM")
        added.add_argument(
            "arguments", nargs=argparse.REMAINDER, metavar="...",
            help="more files of a CUDA program, then, behind -- where there are any, the program's own arguments",
        )  # fmt: skip
        added.set_defaults(schedules=0, json=None, html=None, seconds=None)
    added = verbs.add_parser("startup", help="let VGPU=1 python … use the virtual GPU in this environment, or no more")
    added.add_argument("switch", choices=("on", "off"))
    return found


def parse(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of a command line; ends the program at a wrong one."""
    return parser().parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: the program's, or 1 where the report has errors."""
    options = parse(given)
    if options.verb == "startup":
        return _startup(options.switch)
    if not options.module and not Path(options.program).is_file():
        print(f"There is no file {options.program}.", file=sys.stderr)
        return 2
    from vgpu.base.errors import VirtualGPUError
    from vgpu.hardware.device import device
    from vgpu.programs.cuda_c.split import CannotSplit
    from vgpu.programs.python import on_virtual_gpu

    on_virtual_gpu()
    if options.gpu:
        device(options.gpu)
    with VERBS[options.verb].around(options) as finish:
        if finish is not None and options.seconds is not None:
            threading.Thread(target=_stop, args=(finish, options), daemon=True).start()
        try:
            status = _execute(options)
        except (VirtualGPUError, CannotSplit) as error:  # the program didn't begin
            print(f"{options.program}: {error}", file=sys.stderr)
            return 1
    failed = finish is not None and _report(finish, options)  # of a program that failed, too
    return status or int(failed)


def _report(finish: Callable[[], Any], options: argparse.Namespace) -> bool:
    """Make the report and show it: whether it has errors, or can't be made with what is installed."""
    from vgpu.base.errors import Unsupported

    try:
        return show(finish(), options)
    except Unsupported as error:
        print(f"vgpu {options.verb}: {error}", file=sys.stderr)
        return True


def _stop(finish: Callable[[], Any], options: argparse.Namespace) -> None:
    """Wait until the process has used its CPU time, report, and end it, whatever the program is doing."""
    while (left := options.seconds - time.process_time()) > 0:
        time.sleep(min(left, 1))
    try:
        _report(finish, options)
        print(f"Stopped after {options.seconds:g} s of CPU time.", file=sys.stderr)
        sys.stdout.flush()
    finally:
        os._exit(STOPPED)


def _execute(options: argparse.Namespace) -> int:
    """Run the program, and return its exit status."""
    from vgpu.programs.python import run_python

    if options.module or Path(options.program).suffix not in (*CUDA_C, *CPP):
        return run_python(options.program, options.arguments, module=options.module)
    from vgpu.programs.cuda_c.run import run_cuda_c
    from vgpu.programs.kernels import launch

    flags = [f"-I{folder}" for folder in options.folders] + [f"-D{macro}" for macro in options.macros]
    flags += [f"-{name}={value}" for name in ("std", "arch") if (value := getattr(options, name))]
    if options.kernel is None:
        files, arguments = _files(options)
        return run_cuda_c(files, arguments, flags)
    arrays = launch(
        Path(options.program), options.kernel, options.grid, options.block, options.given, flags, options.shared
    )
    for array in arrays if options.verb == "run" else ():
        print(array)
    return 0


def _files(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The files of a CUDA program, and its arguments: sources that follow the first one belong to it, up to `--`."""
    words = options.arguments
    more = list(itertools.takewhile(lambda word: Path(word).suffix in (*CUDA_C, *CPP), words))
    rest = words[len(more) :]
    return [options.program, *more], rest[1:] if rest[:1] == ["--"] else rest


def _startup(switch: str) -> int:
    from vgpu.programs import pth

    if switch == "on":
        print(f"{pth.install()} is there. Now VGPU=1 python program.py uses the virtual GPU.")
    else:
        print(f"{pth.remove()} is gone.")
    return 0


def show(report: Any, options: argparse.Namespace) -> bool:
    """Print a report, write the files that are asked for, and return whether something is wrong."""
    from vgpu.programs.reports import write

    write(report, to_json=options.json, to_html=options.html)
    sys.stdout.flush()
    print(report.text())
    return report.failed
