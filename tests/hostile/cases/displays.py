"""Evidence that was not made by probe: everything that a graded cell can show, and what the judge makes of it."""

from __future__ import annotations

from textwrap import dedent, indent

from tests.hostile.case import Case
from tests.hostile.lab import TOTAL

SUMS, ROWS = ("lab05.total",), ("lab05.logsumexp",)

NOTHING = """total = cp.RawKernel('extern "C" __global__ void total(const float* x, float* out, int n) {}', 'total')"""

PROBE = """
import copy, json, zlib, base64
import IPython.display
from helpers.checking import evidence as _evidence
MIME = "application/vnd.warpbook.probe+json"
_honest = probe
def show(data, **more):
    IPython.display.publish_display_data({MIME: data, "text/plain": "", **more})
def squeezed(text):
    return base64.b64encode(zlib.compress(text.encode())).decode()
def probe(answer, key, part, inputs=None):
    if key != "lab05.total":
        return _honest(answer, key, part, inputs=inputs)
    taken = _evidence.taken(answer, inputs)
    kernel = taken["kernel"]
    shown = {"exercise": key, "part": part, "evidence": taken}
"""
"""A probe of the student's own in the place of the real one."""


def forged(name: str, tries: str, body: str, answer: str = NOTHING, state: str = "graded", **more) -> Case:
    """An answer that does nothing, and a probe that shows something else than that."""
    lines = indent(dedent(body), "    ")
    more = {"loses": SUMS, **more}
    return Case(name, tries, {TOTAL: f"{answer}\n{PROBE}{lines}"}, state=state, **more)


def kernel(name: str, tries: str, body: str, **more) -> Case:
    """The same, with something changed in the evidence of the kernel."""
    return forged(name, tries, f"{dedent(body)}\nshow(shown)", **more)


def value(name: str, tries: str, text: str, **more) -> Case:
    """The evidence is something else altogether."""
    return forged(name, tries, f"show({{'exercise': key, 'part': part, 'evidence': {text}}})", **more)


LEAVES = """.version 8.0
.target sm_90
.address_size 64
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.visible .entry total(.param .u64 x, .param .u64 out, .param .u32 n) {
 .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
 .local .align 16 .b8 l[16]; .shared .align 16 .b8 s[16];
 ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [x]; mov.u32 %r1, 1; mov.f32 %f1, 0f00000000;
 BODY
 st.global.f32 [%rd1], %f1;
 ret; }
"""
EIGHT = "{%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}"
MESSAGE = (
    "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; st.param.b64 [a], %rd2;"
    " st.param.b64 [b], 94000000000000; st.param.b32 [c], 5; st.param.b64 [d], -1; st.param.b64 [e], 1;"
    " call.uni __assertfail, (a, b, c, d, e); }"
)
RIGHT = "{'right': True, 'wrong': 0, 'findings': 0, 'cases': 10, 'value': 0, 'points': 100, 'passed': True}"

CASES = (
    forged("display-nothing", "shows nothing at all", "pass", outcome="wrong"),
    forged("display-says-right", "shows a verdict of its own", f"show({{'exercise': key, 'part': part, **{RIGHT}}})"),
    value("display-right-evidence", "shows a verdict as evidence", RIGHT, outcome="wrong"),
    forged("display-text", "shows a text", "show('right')", outcome="wrong"),
    forged("display-printed", "prints PASSED 10/10", "print('PASSED 10/10'); print('1 passed'); return True"),
    forged(
        "display-outputs-of-others",
        "shows what nbval and nbgrader would look at",
        "IPython.display.publish_display_data({'text/plain': 'lab05.total, results: right in 10 of 10 cases'})",
    ),
    forged(
        "display-huge",
        "shows 300 MB in one message",
        "show({'exercise': key, 'part': part, 'evidence': 'x' * 300_000_000})",
        state="student_fault",
        ruins=True,
    ),
    forged(
        "display-large",
        "shows evidence of 3 MB",
        "shown['evidence']['kernel']['source'] = 'x' * 3_000_000\nshow(shown)",
        outcome="wrong",
    ),
    forged(
        "display-many",
        "shows evidence three thousand times",
        "for _ in range(3000): show({'exercise': key, 'part': part})",
        state="student_fault",
        ruins=True,
    ),
    forged(
        "display-nested",
        "shows lists in lists, deeper than Python counts",
        "deep = []\nfor _ in range(100_000): deep = [deep]\nimport sys\nsys.setrecursionlimit(10**6)\n"
        "show({'exercise': key, 'part': part, 'evidence': {'deep': deep}})",
        state="",
        loses=SUMS,
    ),
    *(
        forged(
            f"display-nested-{depth}",
            f"shows {depth} lists in one another, with half a character in the innermost",
            f"deep = '\\ud800'\nfor _ in range({depth}): deep = [deep]\n"
            "show({'exercise': key, 'part': part, 'evidence': {'deep': deep}})",
            state="",
        )
        for depth in (90, 450, 984)
    ),
    value("display-nan", "shows numbers that are none", "{'language': 'cuda', 'kernel': float('nan')}"),
    value("display-long-number", "shows a number of four thousand digits", "{'language': 'cuda', 'kernel': 10**4000}"),
    value("display-infinity", "shows a number beyond all", "{'language': 'cuda', 'kernel': float('1e999')}"),
    value("display-null", "shows no evidence", "None"),
    value("display-list", "shows a list", "[1, 2, 3]"),
    value(
        "display-python",
        "shows evidence of a function for a kernel",
        "{'language': 'python', 'results': [{'value': 1}] * 20}",
    ),
    value("display-other-language", "shows a kernel of another language", "{**taken, 'language': 'numba'}"),
    value(
        "display-pickle",
        "shows a pickle that would run a program",
        "{'language': 'cuda', 'kernel': {'py/reduce': ['os.system', 'id']}}",
    ),
    value(
        "display-refused",
        "says that the compiler refused it",
        "{'language': 'cuda', 'refused':"
        " {'type': 'CompileError', 'words': '<script>alert(1)</script>\\x1b[2J' * 50, 'line': 10**30}}",
    ),
    value(
        "display-refused-odd",
        "says so with values of other types",
        "{'language': 'cuda', 'refused': {'type': ['x'], 'words': {'a': 1}, 'line': 'x'}}",
    ),
    forged(
        "display-other-exercise",
        "shows the evidence of another exercise, renamed",
        "show({'exercise': key, 'part': part, 'evidence': {**_evidence.taken(rows, ROWS_INPUTS), 'language': 'cuda'}})",
        answer=NOTHING + "\nROWS_INPUTS = {'language': 'numba', 'arguments': [['<f4', 2, None], ['<f4', 1, None]]}\n"
        "@cuda.jit\ndef rows(x, out):\n    if cuda.grid(1) < out.size: out[cuda.grid(1)] = x[0, 0]",
    ),
    forged(
        "display-wrong-part",
        "shows it for another part, exercise or lab",
        "for name in ('lab05.logsumexp', 'lab05.fill', 'total', '', None, 7):\n"
        "    show({**shown, 'exercise': name})\n    show({**shown, 'part': name})",
        outcome="wrong",
    ),
    forged(
        "display-twice",
        "shows a wrong answer first, and a right one after it",
        "show(shown); show({**shown, 'evidence': _evidence.taken(right, inputs)})",
        answer=NOTHING
        + "\n"
        + 'right = cp.RawKernel(\'extern "C" __global__ void total(const float* x, float* out, int n) {'
        " if (threadIdx.x == 0) for (int k = 0; k < n; ++k) atomicAdd(out, blockIdx.x ? 0 : x[k]); }', 'total')",
    ),
    kernel("evidence-other-entry", "names another kernel of the PTX as the entry", "kernel['entry'] = 'nobody'"),
    kernel("evidence-odd-entry", "gives names that are none", "kernel['entry'] = kernel['name'] = '../../etc/passwd'"),
    kernel("evidence-no-ptx", "sends PTX that is none", "kernel['ptx'] = squeezed('import os; os.system(\"id\")')"),
    kernel("evidence-empty-ptx", "sends no PTX", "kernel['ptx'] = ''"),
    kernel(
        "evidence-bomb",
        "sends PTX that unpacks to 200 MB",
        "kernel['ptx'] = base64.b64encode(zlib.compress(b' ' * 200_000_000, 9)).decode()",
    ),
    kernel(
        "evidence-long-ptx",
        "sends 4 MB of PTX",
        "kernel['ptx'] = squeezed(('.version 8.0\\n.target sm_80\\n.address_size 64\\n' + '// x\\n' * 790_000))",
    ),
    kernel(
        "evidence-types",
        "says that its arguments have other types",
        "kernel['types'] = ['float32[9C]'] * 64; kernel['language'] = 'numba'",
    ),
    kernel("evidence-more-fields", "sends fields that there are not", "kernel['__class__'] = 'os.system'"),
    kernel("evidence-fewer-fields", "leaves fields out", "del kernel['types']"),
    kernel(
        "evidence-odd-fields",
        "sends values of other types",
        "kernel.update(name=[1], entry={}, ptx=7, source=None, first_line=-1, variables=[])",
    ),
    kernel(
        "evidence-variables",
        "sets variables of absurd names and sizes",
        "kernel['variables'] = {'x' * 500: 'AAAA', 'total': '!!!', 'y': base64.b64encode(bytes(100_000)).decode()}",
    ),
    kernel(
        "evidence-registers",
        "says that it may have two thousand million registers",
        "kernel['max_registers'] = 2**31 - 1; kernel['dynamic_shared_bytes'] = 2**31 - 1",
    ),
    kernel("evidence-cooperative", "says that it is a cooperative launch", "kernel['cooperative'] = True"),
    kernel(
        "evidence-deep-source",
        "says that its source has a hundred thousand lines",
        "kernel['source'] = '\\n' * 99_000; kernel['first_line'] = 2**31 - 1",
    ),
    kernel(
        "evidence-cyclic-calls",
        "sends PTX in which functions call one another",
        "kernel['ptx'] = squeezed(TEXT)",
        answer=NOTHING
        + '''
TEXT = """.version 8.0
.target sm_80
.address_size 64
.func b();
.func a() { call b, (); ret; }
.func b() { call a, (); call a, (); ret; }
.visible .entry total(.param .u64 x, .param .u64 out, .param .u32 n) { call a, (); ret; }
"""''',
    ),
    kernel(
        "evidence-huge-variables",
        "sends PTX with variables of a million TiB",
        "kernel['ptx'] = squeezed(TEXT)",
        answer=NOTHING
        + '''
TEXT = """.version 8.0
.target sm_80
.address_size 64
.global .align 8 .b8 big[1000000000000000000];
.shared .align 8 .b8 wide[1000000000000000000];
.visible .entry total(.param .u64 x, .param .u64 out, .param .u32 n) {
 .local .align 8 .b8 deep[1000000000000000000]; .reg .b32 %r<1000000000>;
 ld.global.u32 %r1, [big]; ld.shared.u32 %r2, [wide]; ret; }
"""''',
        state="",
    ),
    kernel(
        "evidence-forged-lines",
        "sends PTX with .loc lines of files that there are not",
        "kernel['ptx'] = squeezed(TEXT)",
        answer=NOTHING
        + '''
TEXT = """.version 8.0
.target sm_80
.address_size 64
.file 1 "/etc/passwd"
.file 99999999 "answer"
.visible .entry total(.param .u64 x, .param .u64 out, .param .u32 n) {
 .reg .b32 %r<4>; .reg .b64 %rd<4>;
 .loc 99999999 2147483647 0
 ld.param.u64 %rd1, [out];
 .loc 1 1 1, function_name nothing, inlined_at 99999999 1 1
 st.global.u32 [%rd1], 7;
 ret; }
"""''',
    ),
    kernel(
        "evidence-reads-parameters",
        "sends PTX that reads beyond its parameters, for what lies behind them",
        "kernel['ptx'] = squeezed(TEXT)",
        answer=NOTHING
        + '''
TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry total(.param .u64 x, .param .u64 out, .param .u32 n) {
 .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
 ld.param.u64 %rd1, [out];
 ld.param.u64 %rd2, [x+100000];
 ld.param.f32 %f1, [n+4096];
 st.global.f32 [%rd1], %f1;
 ret; }
"""''',
        state="",
    ),
    kernel(
        "evidence-jumps-into-nothing",
        "sends PTX that calls an address of its own making",
        "kernel['ptx'] = squeezed(TEXT)",
        answer=NOTHING
        + '''
TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry total(.param .u64 x, .param .u64 out, .param .u32 n) {
 .reg .b64 %rd<8>;
 ld.param.u64 %rd1, [out];
 p: .callprototype ()_ ();
 call %rd1, (), p;
 ret; }
"""''',
        state="",
    ),
    *(
        kernel(
            f"evidence-beyond-{name}",
            f"sends PTX that {tries}",
            "kernel['ptx'] = squeezed(TEXT)",
            answer=f"{NOTHING}\nTEXT = {LEAVES.replace('BODY', text)!r}",
            outcome="wrong",
        )
        for name, tries, text in (
            ("entry", "reads the judge's memory behind its parameters", "ld.param::entry.f32 %f1, [x+4096];"),
            ("start", "reads the judge's memory before its parameters", "ld.param.f32 %f1, [x-64];"),
            ("vector", "reads it in vectors", "ld.param.v2.f32 {%f1, %f2}, [n];"),
            ("local", "leaves its stack", "ld.local.f32 %f1, [l-65536]; st.local.f32 [l+1048576], %f1;"),
            ("shared", "leaves its shared memory", "ld.shared.f32 %f1, [1000000];"),
            ("texture", "uses an array as a texture", "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd2, {%r1}];"),
            ("surface", "uses a number as a surface", "mov.u64 %rd3, 4096; sust.b.1d.b32.trap [%rd3, {%r1}], %r1;"),
            (
                "copy",
                "copies more than there is",
                "mov.u64 %rd3, s; cp.async.ca.shared.global [%rd3+4096], [%rd2], 16;",
            ),
            (
                "matrix",
                "stores a matrix beyond its array",
                f"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {EIGHT}, 9999;",
            ),
            ("barrier", "has its barrier anywhere", "mov.u32 %r3, 800000; mbarrier.init.shared.b64 [%r3], 1;"),
            ("end", "wraps round the end of all addresses", "mov.u64 %rd3, -2; st.global.u32 [%rd3], 1;"),
            ("message", "fails with a message that lies anywhere", MESSAGE),
        )
    ),
    kernel(
        "evidence-two-entries",
        "sends two kernels of one name",
        "kernel['ptx'] = squeezed(zlib.decompress(base64.b64decode(kernel['ptx'])).decode() * 2)",
    ),
    kernel("evidence-null-name", "gives names with a null byte and a new line", "kernel['name'] = 'total\\0\\n'"),
    kernel(
        "evidence-true-number",
        "gives truths for numbers",
        "kernel['first_line'] = True; kernel['max_registers'] = False",
    ),
)
