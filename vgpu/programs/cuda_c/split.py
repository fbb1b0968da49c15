"""Split a CUDA program into what NVRTC compiles and what the host's compiler compiles. Lines stay where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from vgpu.programs.cuda_c.text import (
    Item,
    blanked,
    closing,
    edited,
    items,
    masked,
    opening,
    pieces,
    spans,
    without_brackets,
)

_OF_HOST = re.compile(r"\bcuda[A-Z]\w*\s*\(|\bstd::|\bstr(?:n?cpy|len|n?cmp|n?cat|dup)\s*\(")
DEVICE = {"__device__", "__global__", "__constant__", "__managed__"}
ON_DEVICE = re.compile(
    r"cooperative_groups|cuda_(?:fp16|bf16|fp8|fp6|fp4|pipeline)|cuda_awbarrier|cuComplex|math_constants|mma\.h"
    r"|cub/(?:block|warp|thread|util)|cuda/|cute/|cutlass/(?!util/|cluster_launch)|nv/|vgpu/"
)
"""Headers that kernels may include; all others are the host's."""
NOT_ON_HOST = re.compile(r"cooperative_groups|cuda_pipeline|cuda_awbarrier")
_RANDOM = "curand_kernel.h"
_ON_HOST = ((re.compile("mma.h"), "cuda_bf16.h"), (re.compile("cub/"), "cub/cub.cuh"))
"""Headers for which the host has others: with the types of narrow numbers, and with CUB's device-wide functions."""
_PARTS_OF_CUB = re.compile(r"\b(Block|Warp)((?:[A-Z][a-z]+)+)\b")
_NAMED = re.compile(r"\b(?:struct|class|union|enum(?:\s+class)?)\s+(?:(?:alignas|__\w+__|__declspec)\s+)*(\w+)")
_LAUNCH = re.compile(r"<<\s?<(.*?)>>\s?>\s*\(", re.DOTALL)  # nvcc takes spaces in <<< as well
_WORD = re.compile(r"\w+")
_NAMELESS = re.compile(r"\s*(?:const\s+)?(?!void\b)[\w:]+(?:<.*>)?(?:\s|[*&]|const\b|__restrict__)*", re.DOTALL)
_STANDARD, _MORE = {"cmath", "functional", "limits", "type_traits", "utility"}, {"array", "complex", "tuple"}
"""Headers that stand for those of the standard library which kernels use, and those that only stand for themselves."""
_CUTLASS = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:cute|cutlass)/", re.MULTILINE)
_FUNCTORS = re.compile(r"(?:thrust|cub)/")
"""Headers whose functions take what is marked for the device only, and run it on the host here."""
_MACRO = re.compile(r"^[ \t]*#[ \t]*define\b(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_QUALIFIER = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+((?=.*__(?:device|global|host)__)(?:\w+[ \t]*)+)$", re.MULTILINE
)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


class CannotSplit(ValueError):
    """A program that isn't understood; the message says where and what to do."""


def with_own_headers(path: Path, folders: tuple[Path, ...]) -> str:
    """The text of a file with the headers that are found beside it, or in `folders`, put in their places, once each."""
    seen: set[Path] = set()

    def read(file: Path) -> str:
        seen.add(file.resolve())
        text = file.read_text(encoding="utf-8-sig", errors="replace")  # a header's mark would stand within

        def included(match: re.Match[str]) -> str:
            for folder in (file.parent, *folders):
                found = folder / match[2]
                if found.is_file():
                    if found.resolve() in seen:
                        return ""
                    line = text.count("\n", 0, match.start()) + 1
                    return f'#line 1 "{found.name}"\n{read(found)}\n#line {line} "{file.name}"\n//'
            return match[0]

        return _INCLUDE.sub(included, re.sub(r"^[ \t]*#[ \t]*pragma[ \t]+once", "", text, flags=re.MULTILINE))

    return read(path)


class Split:
    """A program's text, split. Raises CannotSplit where brackets don't match, or where a kernel isn't understood."""

    def __init__(self, source: str):
        try:
            source = _all_named(_spelled_out(source))
            self.items = list(items(source))
            self.source = _unstatic(source, self.items)
            self.host = _host(self.source, self.items)
        except ValueError as error:
            raise CannotSplit(f"the program isn't understood: {error}") from None

    @property
    def kernels(self) -> tuple[str, ...]:
        """The names of the kernels."""
        return tuple(item.name for item in self.items if _is_kernel(item))

    @property
    def templates(self) -> set[str]:
        """The names of the kernels that are templates."""
        return {item.name for item in self.items if _is_kernel(item) and item.head.startswith("template")}

    @property
    def own(self) -> set[str]:
        """The names that other files don't see: variables of the device, and kernels that are `static`."""
        static = {item.name for item in self.items if _is_kernel(item) and "static" in item.words}
        return self._variables(DEVICE) | static

    @property
    def managed(self) -> set[str]:
        """The names of the managed variables."""
        return self._variables({"__managed__"})

    def _variables(self, marks: set[str]) -> set[str]:
        found = (item for item in self.items if item.kind == "other" and item.words & marks)
        return set().union(*(_declared(item, item.head) for item in found if "extern" not in item.words))

    @property
    def has_main(self) -> bool:
        """Whether it is a program, and not only kernels."""
        return any(item.kind == "function" and item.name == "main" and item.body for item in self.items)

    def device(self, mentioned: str = "") -> str:
        """What NVRTC compiles; `mentioned`: the kernels' instances, whose types it has to have too."""
        return _device(self.source, self.items, mentioned)


def _spelled_out(source: str) -> str:
    """The source without macros that stand for what tells the halves apart, such as `#define DEVICE __device__`."""
    for name, words in dict(_QUALIFIER.findall(source)[::-1]).items():  # the first of several definitions
        source = re.sub(rf"(?<!define )\b{name}\b", words, source)
    return source


def _all_named(source: str) -> str:
    """The source with a name for each parameter of a kernel: the host's half passes them by their names."""
    edits = []
    for item in filter(_is_kernel, items(source)):
        opens, closes = item.parameters()
        text = masked(source[opens + 1 : closes])
        ends = (opens + 1 + end for start, end in spans(text) if _NAMELESS.fullmatch(text, start, end))
        edits += [(end, end, f" vgpu_given_{number}") for number, end in enumerate(ends)]
    return edited(source, edits)


def headers_of(device: str) -> str:
    """What stands for the host's headers before a device half: the parts of CUB, and of the standard library, it uses.

    NVRTC can't compile all of CUB, and has no standard library; `cuda::std` has what kernels can use of one.
    """
    left_out = set(re.findall(r"^// (\S+)", device, re.MULTILINE))
    names = []
    if "cub/cub.cuh" in left_out:
        named = {(of.lower(), re.sub("(?=[A-Z])", "_", what).lower()) for of, what in _PARTS_OF_CUB.findall(device)}
        names += sorted(f"cub/{of}/{of}{what}.cuh" for of, what in named)
    standard = sorted(_STANDARD | left_out & _MORE) if re.search(r"\bstd::", device) else []
    if _CUTLASS.search(device):
        standard = [name for name in standard if name != "cmath"]  # CUTLASS defines some of it for NVRTC itself
    names += [f"cuda/std/{name}" for name in standard]
    lines = [f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in names]
    if re.search(r"\bCUtensorMap\b", device) and not re.search(r"\bCUtensorMap_st\b[^;]*\{", device):
        lines.append(_TENSOR_MAP)
    return "".join([*lines, "namespace std { using namespace cuda::std; }\n" if standard else ""])


_TENSOR_MAP = """\
struct alignas(64) CUtensorMap_st { unsigned long long opaque[16]; };
typedef struct CUtensorMap_st CUtensorMap;
"""  # as in cuda.h, which NVRTC can't compile


def _is_kernel(item: Item) -> bool:
    return item.kind == "function" and "__global__" in item.words and item.body is not None


# ---------------------------------------------------------------- kernels


def _device(source: str, found: list[Item], mentioned: str) -> str:
    kept, masks = _of_device(source, found, mentioned), masked(source)
    edits = [(item.start, item.end, blanked(source, item.start, item.end)) for item in found if item not in kept]
    for item in kept:
        if item.kind == "type":
            edits += [(start, end, "{ __trap(); }") for start, end in _host_members(masks, item)]
    text = edited(source, edits).replace(_RANDOM, f"vgpu/{_RANDOM}")
    return _INCLUDE.sub(lambda match: match[0] if ON_DEVICE.match(match[2]) else f"// {match[2]}", text)


def _host_members(text: str, item: Item) -> Iterator[tuple[int, int]]:
    """Where the bodies are of member functions that call what only the host has: kernels can't call them."""
    opens = text.find("{", item.start, item.end)
    at = opens + 1
    while 0 < at < item.end:
        begins = text.find("{", at, item.end)
        if begins < 0:
            return
        ends = closing(text, begins)
        head = re.search(r"[^;{}]*$", text[at:begins])
        if head and "(" in head[0] and "__device__" not in head[0] and _OF_HOST.search(text, begins, ends):
            yield begins, ends + 1
        at = ends + 1


def _of_device(source: str, found: list[Item], mentioned: str) -> set[Item]:
    """What is marked for the device, and the types, constants and functions that it mentions, directly or not."""
    texts = {item: masked(source[item.start : item.end]) for item in found}
    kept = {
        item for item in found
        if item.words & DEVICE or ("__device__" in texts[item] and "thrust::" not in texts[item])
    }  # fmt: skip
    kept |= {
        item
        for item in found
        if re.match(r"using\s+namespace\s+(?!std\b)|static_assert|template\s*<[^{]*;", item.head)
        and not re.search(r"\bstd::(?:list|map|set|string|vector)\b", texts[item])  # NVRTC has none of them
    }
    names: dict[str, list[Item]] = {}
    for item in found:
        if item not in kept and (item.kind != "function" or "constexpr" in item.words):
            for name in _declared(item, texts[item]):
                names.setdefault(name, []).append(item)
    macros = {_WORD.findall(text)[1]: text for text in _MACRO.findall(source)}
    waiting = [mentioned, *(texts[item] for item in kept)]
    while waiting:
        for word in set(_WORD.findall(waiting.pop())):
            waiting += [macros.pop(word)] if word in macros else []
            for item in names.pop(word, ()):
                if item not in kept:
                    kept.add(item)
                    waiting.append(texts[item])
    return kept


def _declared(item: Item, text: str) -> set[str]:
    """The names that a type, a constant or a constexpr function declares."""
    if item.kind == "function":
        return {item.name}
    if declaration := re.fullmatch(r"\s*using\s+(?!namespace\b)(?:\w+\s*::\s*)+(\w+)\s*;", text):
        return {declaration[1]}
    if re.match(r"\s*(?:typedef|(?:template\b.*?)?using)\b", text, re.DOTALL):
        return set(re.findall(r"\w+", text.rpartition("}")[2] or text)) | set(re.findall(r"using\s+(\w+)", text))
    named = _NAMED.findall(without_brackets(item.head))
    if item.kind == "type":
        enumerators = re.findall(r"\w+", text) if re.match(r"\s*(?:typedef\s+)?enum\b", text) else []
        return {*named, *enumerators, *re.findall(r"\w+", text.rpartition("}")[2])}
    return set(re.findall(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=|\{|;|,)", text))


# ---------------------------------------------------------------- the host


def _host(source: str, found: list[Item]) -> str:
    text = masked(source)
    called = _called(found, text) if any(_FUNCTORS.match(each[2]) for each in _INCLUDE.finditer(source)) else None
    device_only = {item.name for item in found if item.words >= {"__device__"} and "__host__" not in item.words}
    edits: list[tuple[int, int, str]] = []
    for item in found:
        if item.kind == "function":
            edits += [] if called and item in called else _of_function(source, item)
        elif item.kind == "type":
            edits += _members(source, text, item, called is not None)
        elif item.words & DEVICE:
            edits += _without_value(source, item, device_only)
    edits += _launches(source, _with_macros(source, text), [(start, end) for start, end, _ in edits])
    whole = edited(source, edits).replace(_RANDOM, f"vgpu/{_RANDOM}")
    whole = re.sub(r"\b__(CUDACC|NVCC)__\b", r"VGPU_\1", whole)  # the program is compiled by nvcc, the headers aren't
    return _INCLUDE.sub(_on_host, whole)


def _called(found: list[Item], text: str) -> set[Item]:
    """The functions for the device that the host runs, too: those that types with an operator() mention."""
    functions = {item.name: item for item in found if item.kind == "function" and "__device__" in item.words}
    waiting = [item for item in found if "operator()" in re.sub(r"\s", "", text[item.start : item.end])]
    called: set[Item] = set()
    while waiting:
        item = waiting.pop()
        for word in set(re.findall(r"\w+", text[item.start : item.end])):
            if (other := functions.pop(word, None)) is not None and other.body is not None:
                called.add(other)
                waiting.append(other)
    return called


def _on_host(match: re.Match[str]) -> str:
    for name, instead in _ON_HOST:
        if name.match(match[2]):
            return f"#include <{instead}>"
    return f"// {match[2]}" if NOT_ON_HOST.match(match[2]) else match[0]


def _unstatic(source: str, found: list[Item]) -> str:
    """Kernels and variables of the device without `static`: both halves have to see their names."""
    edits = [
        (item.start + match.start(), item.start + match.end(), " " * 6)
        for item in found
        if _is_kernel(item) or (item.kind == "other" and item.words & DEVICE)
        for match in re.finditer(r"\bstatic\b", item.head)
    ]
    return edited(source, edits)


def _with_macros(source: str, text: str) -> str:
    """The masked source, but with the texts of macros, which may launch kernels."""
    for match in _MACRO.finditer(source):
        code = match[0].replace("#", " ", 1).replace("\\\n", " \n")
        text = text[: match.start()] + masked(code) + text[match.end() :]
    return text


def _without_value(source: str, item: Item, device_only: set[str]) -> list[tuple[int, int, str]]:
    """A variable of the device without its value, where that is a function that the host doesn't have."""
    start = item.head.find("=")
    if start < 0 or not device_only & set(re.findall(r"\w+", item.head[start:])):
        return []
    end = item.start + item.head.rindex(";")
    return [(item.start + start, end, blanked(source, item.start + start, end))]


def _of_function(source: str, item: Item) -> list[tuple[int, int, str]]:
    words = item.words
    if _is_kernel(item):
        assert item.body is not None
        opens, closes = item.parameters()
        given = pieces(masked(source[opens + 1 : closes]))
        references = [_name(each) for each in given if _is_reference(each)]  # whose addresses are passed
        body = "{ " + "".join(f"const void *vgpu_at_{name} = &{name}; " for name in references)
        listed = ""
        for each in given:
            place = f"vgpu_at_{_name(each)}" if _is_reference(each) else _name(each)
            listed += f", {{&{place}, sizeof({place})}}" + ("..." if "..." in each else "")
        body += f"vgpu_arguments given[] = {{{{0, 0}}{listed}}}; "
        body += "vgpu_launch(given + 1, sizeof(given) / sizeof(*given) - 1); }"
        return [(item.body[0], item.body[1] + 1, body)]
    if "__device__" in words and "__host__" not in words:
        return [(item.start, item.end, "")]
    return []


def _is_reference(parameter: str) -> bool:
    return "&" in re.sub(r"<.*>", "", parameter.partition("=")[0])


def _name(parameter: str) -> str:
    """A parameter's name: "x" of `const float *__restrict__ x`, of `float x[]` or of `int x = 3`."""
    plain = re.sub(r"\[[^\]]*\]", "", parameter.partition("=")[0])
    found = re.findall(r"\w+", plain)
    if not found:
        raise ValueError(f"a kernel's parameter {parameter!r} has no name")
    return found[-1]


def _members(source: str, text: str, item: Item, calls: bool) -> list[tuple[int, int, str]]:
    """The bodies of member functions that only kernels call, as traps: they may use what the host doesn't have.

    calls: whether the host calls what has an operator(), for Thrust.
    """
    edits = []
    for match in re.finditer(r"\b__device__\b", text[item.start : item.end]):
        at = item.start + match.end()
        head = re.match(r"[^;{}]*", text[at:])
        assert head is not None
        before = text[max(item.start, *(text.rfind(mark, item.start, at) + 1 for mark in ";{}")) : at]
        if (calls and re.search(r"operator\s*\(", head[0])) or "__host__" in head[0] or "__host__" in before:
            continue
        opens = at + head.end()
        if opens < item.end and text[opens] == "{" and "(" in head[0]:
            edits.append((opens, closing(text, opens) + 1, "{ __builtin_trap(); }"))
    return edits


def _launches(source: str, text: str, taken: list[tuple[int, int]]) -> list[tuple[int, int, str]]:
    """`kernel<<<grid, block>>>(arguments)` as two calls: the configuration, then the kernel's stub."""
    edits = []
    for match in _LAUNCH.finditer(text):
        at, (begins, ends) = match.start(), match.span(1)
        if any(start <= at < end for start, end in taken):
            continue
        closes = closing(text, match.end() - 1)
        first = _callee(text, at)
        edits += [
            (first, match.end() - 1, f"(vgpu_configure({source[begins:ends]}), {source[first:at]}"),
            (closes, closes + 1, "))"),
        ]
    return edits


def _callee(text: str, at: int) -> int:
    """Where the kernel's name begins that ends before `at`: with `::`, template arguments, `[i]`, or `(*pointer)`."""
    place = at
    while True:
        while place > 0 and text[place - 1].isspace():
            place -= 1
        if place > 0 and text[place - 1] in ")]>":
            place, brackets = opening(text, place - 1), text[place - 1]
            if brackets == ")" and not re.search(r"\w\s*$", text[:place]):
                return place
            continue
        begin = place
        while begin > 0 and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
            begin -= 1
        place = begin
        if text[max(0, begin - 2) : begin] == "::":
            place = begin - 2
            continue
        return begin
