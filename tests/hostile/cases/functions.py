"""Evidence of a function is what it returned: values of every kind, and none that is only called right."""

from __future__ import annotations

from textwrap import dedent

from tests.hostile.case import Case
from tests.hostile.cases.spies import FILES

KEY = ("lab01.configure",)
ANSWER = "lab01-configure"
WRONG = "def configure(rows, columns):\n    return (1, 1), (32, 8)\n"


def cheat(name: str, tries: str, code: str, **more) -> Case:
    return Case(name, tries, {ANSWER: WRONG + dedent(code)}, **{"loses": KEY, "state": "", **more})


def returns(name: str, tries: str, value: str, before: str = "", **more) -> Case:
    """A function that returns something odd."""
    return cheat(name, tries, f"{dedent(before)}\ndef configure(rows, columns):\n    return {value}\n", **more)


def shows(name: str, tries: str, value: str, **more) -> Case:
    """A probe of the student's own that shows something else as what the function returned."""
    code = f"""
def probe(answer, key, part, inputs=None):
    from IPython.display import publish_display_data
    from helpers.checking import evidence
    calls = inputs["calls"]
    results = {value}
    shown = {{"exercise": key, "part": part, "evidence": {{"language": "python", "results": results}}}}
    publish_display_data({{"application/vnd.warpbook.probe+json": shown}})
"""
    return Case(name, tries, {ANSWER: WRONG + code}, loses=KEY, state="", **more)


EQUAL = """
class Same:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = None
class Number(int):
    def __eq__(self, other): return True
    __hash__ = None
"""
DEEP = "deep = ()\nfor _ in range(900): deep = (deep,)"
BOMB = "{'array': '<f8', 'shape': [2_000_000], 'data': evidence.plain(np.zeros(9_000_000))['data']}"
NEGATIVE = "{'array': '<f8', 'shape': [-1], 'data': ''}"
OBJECTS = "{'array': '|O', 'shape': [1], 'data': 'eJwDAAAAAAE='}"
GRID = "(-(-columns // 32), -(-rows // 8)), (32, 8)"

CASES = (
    returns("function-equal", "returns an object that equals everything", "Same()", EQUAL),
    returns("function-equal-number", "returns numbers that equal everything", "(Number(1),) * 2, Number(1)", EQUAL),
    returns("function-arrays", "returns arrays that are compared element by element", "np.ones((2, 2), bool)"),
    returns("function-empty", "returns an array of nothing", "np.zeros(0)"),
    returns("function-nan", "returns NaN", "float('nan')"),
    returns("function-text", "returns the text of the result", f"str(({GRID}))"),
    returns("function-deep", "returns tuples in tuples without end", "deep", DEEP),
    returns("function-large", "returns an array of 64 MB of zeros", "np.zeros(8_000_000)"),
    returns("function-itself", "returns a list that holds itself", "loop", "loop = []\nloop.append(loop)"),
    returns(
        "function-public-only",
        "has a table of the public cases",
        "known.get((rows, columns), ((1, 1), (32, 8)))",
        "known = {(8, 32): ((1, 1), (32, 8)), (9, 33): ((2, 2), (32, 8)), (480, 640): ((20, 60), (32, 8))}",
        outcome="wrong",
    ),
    returns("function-almost", "is right for wide images only", GRID, outcome="wrong"),
    cheat(
        "function-remembers",
        "answers by the number of the call",
        """
        calls = iter([((1, 1), (1, 256)), ((1, 1), (32, 8)), ((2, 2), (32, 8))] * 100)
        configure = lambda *size: next(calls)
        """,
    ),
    cheat(
        "function-reads-the-row",
        "looks for what is expected in the rows",
        """
        def configure(rows, columns):
            from helpers.exercises.lab01.configure import cases
            return cases._case(rows, columns).expected
        """,
        outcome="wrong",
    ),
    cheat(
        "function-reads-its-inputs",
        "looks for what is expected in the source of the graded cell and in the frames around it",
        """
        def configure(rows, columns):
            import sys
            frame = sys._getframe()
            while frame:
                for thing in frame.f_locals.values():
                    if isinstance(thing, dict) and ("expected" in thing or "cases" in thing):
                        return thing["expected"]
                frame = frame.f_back
            return [cell for cell in get_ipython().user_ns["In"] if "expected" in cell][0]
        """,
        outcome="wrong",
    ),
    cheat(
        "function-finds-the-row",
        "looks for the rows' files, compiled ones too",
        FILES
        + """
found = [path for path in files() if "lab01" in path and path.endswith((".pyc", "configure.py"))]
for path in found:
    words = open(path, "rb").read()
    if b"MOST_BLOCKS" in words:
        def configure(rows, columns):
            width = 32
            while width // 2 >= columns: width //= 2
            return (-(-columns // width), min(65535, -(-rows // (256 // width)))), (width, 256 // width)
""",
        outcome="wrong",
    ),
    shows("function-no-results", "shows no results", "[]"),
    shows("function-more-results", "shows five thousand results", "[{'value': 1}] * 5000"),
    shows("function-odd-results", "shows results of odd kinds", "[None, 7, {'value': {'gpu': ['x']}}] * 9"),
    shows("function-bomb", "shows an array of a few bytes that unpacks to many", f"[{{'value': {BOMB}}}] * 30"),
    shows("function-negative", "shows an array of a shape below zero", f"[{{'value': {NEGATIVE}}}] * 30"),
    shows("function-objects", "shows an array of Python's objects", f"[{{'value': {OBJECTS}}}] * 30"),
    returns("function-huge-numbers", "returns numbers of four thousand digits", "(10**4000, 1), (-(10**4000), 1)"),
    returns("function-truths", "returns truths for numbers", f"tuple(tuple(map(bool, each)) for each in ({GRID}))"),
    returns("function-nested-arrays", "returns arrays in arrays", "np.array([np.ones(2), np.ones(3)], dtype=object)"),
    returns("function-scalar", "returns one of NumPy's numbers for a tuple", "np.int64(1)", outcome="wrong"),
    returns("function-hidden-array", "returns an array within a tuple", "(np.ones(2), 1), (32, 8)", outcome="wrong"),
    returns("function-generator", "returns a generator", "(each for each in ((1, 1), (32, 8)))"),
    returns("function-scalars", "returns NumPy's scalars in lists", "[np.int64(1), np.float16(32)]"),
    returns(
        "function-payload",
        "returns NaN with a message in it, in an array that is a view of its inputs' memory",
        "np.frombuffer(np.uint64(0x7ff8_dead_beef_cafe).tobytes(), '<f8')",
    ),
    returns("function-keys", "returns a dictionary with odd keys", "{'tuple': [1], 'array': 2, 'gpu': 'H100', '': {}}"),
    returns("function-surrogates", "returns halves of characters", "'\\ud800' * 100"),
    returns(
        "function-shouts",
        "raises an exception with HTML, ANSI and a formula in its words",
        "(_ for _ in ()).throw(ValueError('=cmd|x\\x1b[2J<script>alert(1)</script>]]>|[a](javascript:b)' * 9))",
    ),
    returns(
        "function-raises-odd",
        "raises an exception that has no words",
        "1 / 0",
        "class Odd(Exception):\n    def __str__(self): raise Odd\n    __repr__ = __str__\nZeroDivisionError = Odd",
    ),
    shows(
        "function-forged-numbers",
        "shows numbers that no array has",
        "[{'value': {'array': 'f4,f4', 'shape': [1], 'data': ''}}] * 30",
    ),
    shows(
        "function-forged-names",
        "shows numbers by odd names",
        "[{'value': {'float': 'nan' * 99}}, {'value': {'float': 7}}] * 9",
    ),
    shows(
        "function-forged-deep",
        "shows dictionaries in tuples in dictionaries",
        "[{'value': {'dict': {'': {'tuple': [{'dict': {'': {'tuple': []}}}] * 50}}}}] * 99",
    ),
)
