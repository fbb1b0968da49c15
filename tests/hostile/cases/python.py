"""What students' Python can do in its own kernel: to the helpers, to IPython, and to itself."""

from __future__ import annotations

from textwrap import dedent

from tests.hostile.case import TOKEN, Case
from tests.hostile.cases.displays import NOTHING
from tests.hostile.lab import TOTAL

SUMS = ("lab05.total",)


def cheat(name: str, tries: str, code: str, **more) -> Case:
    """An answer that does nothing, and code that is to make it count all the same."""
    more = {"loses": SUMS, **more}
    return Case(name, tries, {TOTAL: f"{NOTHING}\n{dedent(code)}"}, **more)


CASES = (
    cheat("python-probe", "takes probe's place", "probe = lambda *a, **k: print('right')", ruins=True),
    cheat(
        "python-evidence",
        "changes the helpers that make evidence",
        "from helpers.checking import evidence, kernel_as_json, probe\n"
        "evidence.taken = lambda *a, **k: {'language': 'cuda', 'right': True}\n"
        "kernel_as_json.Portable.as_json = lambda self: {}\n"
        "evidence.KINDS.clear()\nprobe._display = lambda *a, **k: print('PASSED')",
        ruins=True,
    ),
    cheat(
        "python-exercises",
        "puts an exercise of its own in the table",
        "import dataclasses, helpers.checking.exercise as e\nany_other = next(iter(e.exercises().values()))\n"
        "made = dataclasses.replace(any_other, key='lab05.total', cases=list, budgets=())\n"
        "e.exercise = lambda key: made\ne.exercises = lambda: {'lab05.total': made}",
    ),
    cheat(
        "python-json",
        "changes json, zlib, base64 and hashlib",
        """
            import json, zlib, base64, hashlib
            json.dumps = lambda *a, **k: '{}'
            zlib.compress = lambda *a, **k: b''
            base64.b64encode = lambda *a: b''
            """,
        loses=SUMS,
        state="",
    ),
    cheat(
        "python-numpy",
        "changes numpy's comparisons and testing",
        """
            import numpy, numpy.testing
            numpy.isclose = lambda a, b, **k: numpy.ones(numpy.shape(a), bool)
            numpy.allclose = lambda *a, **k: True
            numpy.testing.assert_allclose = print
            import builtins
            builtins.abs = lambda x: 0
            builtins.all = lambda x: True
            builtins.isinstance = lambda a, b: True
            """,
        state="",
        ruins=True,
    ),
    cheat(
        "python-display",
        "replaces publish_display_data",
        """
            import IPython.display, IPython.core.display_functions as d
            IPython.display.publish_display_data = d.publish_display_data = lambda *a, **k: print('right')
            """,
        ruins=True,
    ),
    cheat(
        "python-publisher",
        "replaces IPython's publisher",
        """
            class Publisher:
                def publish(self, *a, **k): print('right')
            get_ipython().display_pub.__class__.publish = Publisher.publish
            """,
        ruins=True,
    ),
    cheat(
        "python-run-cell",
        "replaces run_cell, so that graded cells never run",
        """
            shell = get_ipython()
            old = shell.run_cell
            shell.run_cell = lambda source, *a, **k: old('None' if 'probe' in source else source, *a, **k)
            shell.__class__.run_cell_async = None
            """,
        state="",
        ruins=True,
    ),
    cheat(
        "python-ast",
        "removes graded calls with an AST transformer",
        """
            import ast
            class Cut(ast.NodeTransformer):
                def visit_Call(self, node): return ast.Constant(True)
                def visit_Assert(self, node): return ast.Pass()
            get_ipython().ast_transformers.append(Cut())
            """,
        ruins=True,
    ),
    cheat(
        "python-input-transformer",
        "rewrites later cells as text",
        "get_ipython().input_transformers_cleanup.append(lambda lines: ['print(1)\\n'])",
        ruins=True,
    ),
    cheat(
        "python-silence",
        "silences errors",
        "get_ipython()._showtraceback = lambda *a: None\nget_ipython().showtraceback = lambda *a, **k: None\n1 / 0",
    ),
    cheat(
        "python-equal",
        "hands in an object that equals everything and has every attribute",
        """
            class Yes:
                def __getattr__(self, name): return self
                def __call__(self, *a, **k): return self
                def __eq__(self, other): return True
                def __le__(self, other): return True
                def __bool__(self): return True
                __hash__ = None
            total = Yes()
            """,
        state="",
    ),
    cheat(
        "python-kernel-class",
        "hands in a kernel of a class of its own",
        """
            from vgpu.standins.cupy import RawKernel
            class Mine(RawKernel):
                def prepare(self, *a, **k): raise SystemExit(0)
            total = Mine('extern "C" __global__ void total(const float* x, float* out, int n) {}', 'total')
            """,
        state="",
    ),
    cheat("python-sys-exit", "leaves by sys.exit, 0 meaning that all is well", "import sys\nsys.exit(0)"),
    cheat("python-os-exit", "leaves by os._exit(0)", "import os\nos._exit(0)", state="student_fault", outcome="crash"),
    cheat(
        "python-exit-in-probe",
        "leaves in the graded cell",
        "def probe(*a, **k):\n    import os\n    os._exit(0)",
        state="student_fault",
        ruins=True,
    ),
    cheat(
        "python-atexit",
        "shows evidence when the kernel ends, and when objects die",
        f"""
            import atexit
            @atexit.register
            def late():
                open('/tmp/{TOKEN}', 'w').write('x')
                print('right')
            class Dies:
                def __del__(self): print('right')
            dies = Dies()
            """,
    ),
    cheat(
        "python-segfault",
        "touches memory that is not its own",
        "import ctypes\nctypes.string_at(0)",
        state="student_fault",
        outcome="crash",
    ),
    cheat(
        "python-core-dump",
        "asks for a core dump and aborts",
        """
            import os, resource
            try:
                resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
            except Exception as error:
                print(error)
            os.abort()
            """,
        state="student_fault",
        outcome="crash",
    ),
    cheat(
        "python-limits",
        "raises its limits, then uses them",
        """
            import resource
            for which in range(16):
                try:
                    resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                except Exception as error:
                    print(error)
            hog = []
            while True: hog.append(bytearray(b'x') * (64 << 20))
            """,
        state="student_fault",
    ),
    cheat(
        "python-memory",
        "asks for all memory",
        "hog = []\nwhile True: hog.append(bytearray(b'x') * (64 << 20))",
        state="student_fault",
    ),
    cheat("python-endless", "never ends", "while True: pass", state="student_fault", outcome="timeout", stops=1),
    cheat(
        "python-endless-deaf",
        "never ends, and hears no interrupt",
        """
            import signal
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            while True:
                try:
                    while True: pass
                except BaseException:
                    pass
            """,
        state="student_fault",
        outcome="timeout",
        stops=1,
    ),
    cheat(
        "python-endless-in-probe",
        "never ends in every graded cell",
        "def probe(*a, **k):\n    while True: pass",
        state="student_fault",
        ruins=True,
        stops=5,
    ),
    cheat(
        "python-endless-in-c",
        "never ends, in C, where Python does not look",
        "sum(iter(int, 1))",
        state="student_fault",
        outcome="timeout",
        stops=1,
    ),
    cheat(
        "python-regex",
        "never ends in a regular expression",
        "import re\nre.match('(a*)*b', 'a' * 60)",
        state="student_fault",
        outcome="timeout",
        stops=1,
    ),
    cheat(
        "python-stops-itself",
        "stops itself",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        state="student_fault",
        outcome="timeout",
        stops=1,
    ),
    cheat(
        "python-alarm",
        "is killed by an alarm in another cell",
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.05)",
        state="",
        ruins=True,
    ),
    cheat(
        "python-print", "prints without end", "while True: print('x' * 10_000)", state="student_fault", outcome="output"
    ),
    cheat(
        "python-print-much", "prints 50 MB at once", "print('x' * 50_000_000)", state="student_fault", outcome="output"
    ),
    cheat(
        "python-threads",
        "starts threads that never end and print into other cells",
        """
            import threading, time
            def shout():
                while True:
                    time.sleep(0.02)
                    print('right')
            for _ in range(5): threading.Thread(target=shout).start()
            """,
        state="",
    ),
    cheat(
        "python-shouts",
        "shows evidence of every part, again and again, from a thread",
        """
            import threading, time
            from IPython.display import publish_display_data
            def shout():
                while True:
                    time.sleep(0.01)
                    shown = {'exercise': 'lab05.total', 'part': 'results', 'evidence': {'language': 'cuda'}}
                    publish_display_data({'application/vnd.warpbook.probe+json': shown})
            threading.Thread(target=shout, daemon=True).start()
            """,
        state="",
    ),
    cheat(
        "python-trace",
        "traces and profiles every call",
        "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)\nsys.setrecursionlimit(50)",
        state="",
        ruins=True,
    ),
    cheat(
        "python-clock",
        "changes the clocks that Python has",
        "import time\ntime.time = time.monotonic = time.perf_counter = lambda: 0.0\ntime.sleep = lambda s: None",
        state="",
    ),
    cheat(
        "python-imports",
        "puts modules of its own before those of the helpers",
        """
            import sys, os
            os.makedirs('helpers', exist_ok=True)
            open('helpers/__init__.py', 'w').write('probe = print')
            open('numpy.py', 'w').write('raise SystemExit')
            sys.path.insert(0, os.getcwd())
            for name in [n for n in sys.modules if n.startswith('helpers')]: del sys.modules[name]
            from helpers import *
            import helpers
            probe = helpers.checking.probe
            """,
        state="",
        ruins=True,
    ),
    cheat(
        "python-startup",
        "leaves startup files for the next",
        """
            import os, pathlib
            home = pathlib.Path.home()
            for name in (
                '.ipython/profile_default/startup/00.py', '.config/matplotlib/matplotlibrc', '.pythonrc',
                '.local/lib/python3.11/site-packages/sitecustomize.py', '.jupyter/jupyter_config.py',
            ):
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                (home / name).write_text('raise SystemExit')

            """,
    ),
    cheat(
        "python-nbval",
        "uses nbval's comments",
        "# NBVAL_SKIP\n# NBVAL_IGNORE_OUTPUT\n# PYTEST_VALIDATE_IGNORE_OUTPUT\nprint('right')",
    ),
    Case(
        "python-nbval-own",
        "puts nbval's comments into cells of its own",
        {TOTAL: NOTHING},
        own=((TOTAL, "# NBVAL_SKIP\n# NBVAL_RAISES_EXCEPTION\n1 / 0"),),
        loses=SUMS,
    ),
)
