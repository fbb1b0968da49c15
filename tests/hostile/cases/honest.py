"""What happens to honest people, and must not cost them a mark."""

from __future__ import annotations

from textwrap import dedent

from tests.hostile.case import Case
from tests.hostile.lab import LOGSUMEXP, TOTAL

SUMS, ROWS = ("lab05.total",), ("lab05.logsumexp",)


def beside(name: str, tries: str, source: str, after: str = TOTAL, **more) -> Case:
    """A cell of the student's own beside right answers."""
    return Case(name, tries, own=((after, dedent(source)),), **more)


CASES = (
    Case("honest", "does nothing else"),
    beside("honest-warning", "warns", "import warnings\nwarnings.warn('careful')"),
    beside("honest-prints", "prints, also to stderr", "import sys\nprint('x' * 5000)\nprint('oh', file=sys.stderr)"),
    beside("honest-folder", "works in another folder", "import os\nos.makedirs('work')\nos.chdir('work')"),
    beside(
        "honest-folder-gone",
        "works in a folder that it then deletes",
        "import os\nos.mkdir('work')\nos.chdir('work')\nos.rmdir('../work')",
    ),
    beside("honest-input", "asks for input()", "name = input('Your name? ')"),
    beside("honest-slow", "waits a second in a cell of its own", "import time\ntime.sleep(1)"),
    beside("honest-error", "has a cell that fails", "1 / 0"),
    beside("honest-syntax", "has a cell that is no Python", "this is a note to myself"),
    beside(
        "honest-names",
        "uses names of the lab for something else",
        "x, n, out, s, t, seen, key, part, inputs, results, evidence, kernel = range(12)",
    ),
    beside("honest-np", "uses np for something else, once its kernel has run", "np = 'np'", "lab05-logsumexp-results"),
    beside(
        "honest-plots",
        "shows a plot",
        """
        %matplotlib inline
        import matplotlib.pyplot as plt
        plt.plot([1, 2, 3]);
        """,
    ),
    beside("honest-widget", "shows a widget", "import ipywidgets\nipywidgets.IntSlider(3)"),
    beside("honest-bar", "shows a progress bar", "from tqdm.auto import tqdm\nfor _ in tqdm(range(300)):\n    pass"),
    beside("honest-magic", "uses magics", "%timeit -n 1 -r 1 sum(range(100))\n!echo hello\n%env"),
    beside("honest-unknown-magic", "uses a magic that there is not", "%nonsense 1"),
    beside("honest-reload", "loads IPython's autoreload", "%load_ext autoreload\n%autoreload 2"),
    beside(
        "honest-thread",
        "starts a thread that prints for a while",
        """
            import threading, time
            def talk():
                for _ in range(20):
                    time.sleep(0.05)
                    print('still here')
            threading.Thread(target=talk).start()
            """,
    ),
    beside("honest-check", "asks for feedback once more", "from helpers import check\ncheck(total, 'lab05.total')"),
    beside(
        "honest-profile",
        "profiles its kernel",
        """
            from helpers import profile
            x, y = cp.ones(64, dtype='float32'), cp.zeros(1, dtype='float32')
            profile(total, 1, 32, (x, y, np.int32(64)))
            """,
    ),
    beside(
        "honest-wrong-line",
        "has a kernel of its own that fails",
        "@cuda.jit\ndef mine(a):\n    a[cuda.grid(1) + 10**6] = 1\nmine[1, 32](cp.zeros(4))",
    ),
    beside(
        "honest-many-files", "writes some files", "for k in range(50):\n    open(f'notes-{k}.txt', 'w').write('note')"
    ),
    Case(
        "honest-crash-elsewhere",
        "crashes the kernel in one question",
        {TOTAL: "import ctypes\nctypes.string_at(0)"},
        state="student_fault",
        loses=SUMS,
        outcome="crash",
    ),
    Case(
        "honest-typo-elsewhere",
        "has a typing error in one question",
        {TOTAL: "def total(:"},
        loses=SUMS,
        outcome="error",
    ),
    Case(
        "honest-endless-elsewhere",
        "has a loop without end in one question",
        {LOGSUMEXP: "while True: pass"},
        state="student_fault",
        loses=ROWS,
        outcome="timeout",
        stops=1,
    ),
)
