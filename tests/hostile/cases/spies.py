"""Code that looks for what a student must not see. Where it finds anything it answers rightly: points are the alarm."""

from __future__ import annotations

from textwrap import dedent, indent

from tests.hostile.case import Case
from tests.hostile.cases.displays import NOTHING
from tests.hostile.lab import TOTAL

SUMS = ("lab05.total",)
RIGHT = '''"""extern "C" __global__ void total(const float* x, float* out, int n) {
    __shared__ float s[32];
    int t = threadIdx.x; float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (t % 32 == 0) s[t / 32] = sum;
    __syncthreads();
    if (t == 0) { for (int w = 1; w < blockDim.x / 32; ++w) sum += s[w]; atomicAdd(out, sum); }
}"""'''

ROWS = rb"Only what one bloc[k] has found"
"""Words of the rows, as a pattern that is not found itself."""
FILES = """import os, sys
def files():
    skipped = ('/proc', '/sys', '/dev', '/usr', sys.prefix, sys.base_prefix)
    for folder, folders, names in os.walk('/'):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in skipped]
        yield from (os.path.join(folder, name) for name in names)
"""
WALK = f"ROWS = {ROWS!r}\n{FILES}"


def spy(name: str, tries: str, code: str, **more) -> Case:
    """Code that sets `found` where it finds what it must not: only then the answer is right, and has points."""
    lines = indent(f"{WALK}\n{dedent(code)}\n", "    ")
    source = (
        f"import os, sys, glob\nfound = None\ntry:\n{lines}"
        "except BaseException as error:\n    print(type(error), error)\n"
        f"print('found:', found)\n{NOTHING}\nif found:\n    total = cp.RawKernel({RIGHT}, 'total')"
    )
    return Case(name, tries, {TOTAL: source}, loses=SUMS, **more)


CASES = (
    spy(
        "spy-rows",
        "reads the exercises' rows",
        "from helpers.exercises.lab05 import budgets\nfrom helpers.exercises.lab05.total import cases as found",
    ),
    spy(
        "spy-rows-table",
        "asks the table of exercises",
        "from helpers.checking.exercise import exercise\nfound = exercise('lab05.total')",
    ),
    spy(
        "spy-rows-files",
        "looks for the rows' files in every folder, sources or compiled",
        """
            import re
            for path in files():
                if re.search('lab0[0-9]', path) and os.path.isfile(path):
                    found = found or re.search(ROWS, open(path, 'rb').read(1 << 20)) and path
            """,
    ),
    spy(
        "spy-rows-compiled",
        "looks for what Python has compiled",
        """
            for path in glob.glob('/opt/warpbook/**/exercises/**/*.pyc', recursive=True): found = path
            import importlib.util
            for name in ('lab05/__init__', 'lab05/total/cases'):
                cached = importlib.util.cache_from_source('/opt/warpbook/helpers/exercises/' + name + '.py')
                if os.path.exists(cached): found = cached
            """,
    ),
    spy(
        "spy-objects",
        "looks through all of Python's objects, and those frozen from the collector",
        """
            import gc
            gc.unfreeze()
            for thing in gc.get_objects():
                if type(thing).__name__ == 'Exercise' and thing.key.startswith('lab'): found = thing.key
            """,
    ),
    spy(
        "spy-own-memory",
        "looks through the memory that it has of the fork server",
        f"""
            import re
            ROWS = {ROWS!r}
            memory = open('/proc/self/mem', 'rb', 0)
            for line in open('/proc/self/maps').read().splitlines():
                place, rights = line.split()[:2]
                start, end = (int(n, 16) for n in place.split('-'))
                if 'r' not in rights or '[v' in line: continue
                for piece in range(start, min(end, start + (4 << 30)), 1 << 20):
                    try:
                        memory.seek(piece)
                        if re.search(ROWS, memory.read(min(end - piece, (1 << 20) + 100))): found = line
                    except OSError as error:
                        print(hex(piece), line, error)
            """,
    ),
    spy(
        "spy-processes",
        "looks at other processes, and reads their memory",
        """
            for pid in filter(str.isdigit, os.listdir('/proc')):
                if int(pid) == os.getpid(): continue
                for name in ('mem', 'environ', 'maps', 'fd/0', 'root/etc/shadow', 'cwd/ledger.jsonl'):
                    try:
                        with open(f'/proc/{pid}/{name}', 'rb') as file: found = file.read(10) or found
                    except OSError:
                        pass
            """,
    ),
    spy(
        "spy-parent",
        "traces its parent",
        """
            import ctypes
            libc = ctypes.CDLL(None)
            for pid in (1, 2, 3, os.getppid()):
                if libc.ptrace(16, pid, 0, 0) == 0: found = pid
            """,
    ),
    spy(
        "spy-files",
        "looks for solutions, ledgers, seeds, keys and other submissions in every folder",
        """
            for path in files():
                name = os.path.basename(path)
                if name.endswith('.ipynb'): found = path
                if name in ('ledger.jsonl', 'seed', 'results.jsonl', 'shadow', 'nbgrader_config.py'): found = path
            """,
    ),
    spy(
        "spy-environment",
        "looks for secrets in its environment",
        "import re\nfound = [name for name in os.environ if re.search('TOKEN|KEY|SECRET|PYTHONPATH|SSH', name)]",
    ),
    spy(
        "spy-open-files",
        "looks at the files and sockets that it has inherited",
        """
            import stat, socket
            for name in os.listdir('/proc/self/fd'):
                try:
                    where = os.readlink('/proc/self/fd/' + name)
                except OSError:
                    continue
                usual = ('/dev/', '/tmp/', '/proc/', '/memfd', '/opt', '/usr')
                if where.startswith('/') and not where.startswith(usual) and 'python' not in where: found = where
            """,
    ),
    spy(
        "spy-network",
        "asks the network",
        """
            import socket
            for address in (('127.0.0.1', 22), ('1.1.1.1', 53), ('169.254.169.254', 80)):
                with socket.socket() as s:
                    s.settimeout(0.2)
                    if s.connect_ex(address) == 0: found = address
            """,
    ),
    spy(
        "spy-sockets",
        "looks for sockets of others",
        "names = [line.split()[-1] for line in open('/proc/net/unix').read().splitlines()[1:]]\n"
        "found = [name for name in names if name.startswith(('/', '@')) and not name.startswith('/proc/self/fd/')]",
    ),
    spy(
        "spy-frames",
        "looks into the frames and modules around it",
        """
            import sys
            for frame in sys._current_frames().values():
                while frame:
                    for name in ('seed', 'expected', 'judge', 'lab'):
                        if name in frame.f_locals: found = name
                    frame = frame.f_back
            for name in list(sys.modules):
                *package, module = name.split('.')
                if package == ['helpers', 'grading'] and module in ('judge', 'secret', 'grade'): found = name
            """,
    ),
)
