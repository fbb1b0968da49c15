"""Which words follow an opcode, form by form, as the "PTX ISA" manual has them and ptxas takes them.

Their order is free after the name, but for the space that is written standing before the one that is read. What isn't
understood is refused: on a GPU it means something else, or nothing.
"""

from __future__ import annotations

from functools import lru_cache

from vgpu.ptx.operand_shapes import Words

RANKS = tuple(f"{rank}d" for rank in range(1, 6))

# A name, then words, each one of several, which `|` parts; those in brackets may be missing.
_RANK, _DONE, _HINT = "|".join(RANKS), "mbarrier::complete_tx::bytes", "[L2::cache_hint]"
_LOADS, _STORES = "[tile|tile::gather4|im2col|im2col::w|im2col::w::128]", "[tile|tile::scatter4|im2col_no_offs]"
_OPERATION, _PAIRS = "add|min|max|inc|dec|and|or|xor", "[cta_group::1|cta_group::2]"
_SPACES = "const|global|local|shared|shared::cta|shared::cluster|param|param::entry"
_FIRST = "L2::evict_last|L2::evict_normal|L2::evict_first|L2::evict_unchanged"
_THEN = "[L2::evict_first|L2::evict_unchanged]"
_NEAR, _ANY, _SCOPE = "[shared|shared::cta] b64", "[shared|shared::cta|shared::cluster] b64", "[cta|cluster]"


def _read(words: str) -> tuple[tuple[bool, Words], ...]:
    """For each place whether a word has to be there, and the words that may be."""
    return tuple((one[0] != "[", tuple(one.strip("[]").split("|"))) for one in words.split())


_FORMS = tuple((tuple(name.split(".")), _read(words)) for name, words in (
    ("cp.async", "ca|cg shared|shared::cta global [L2::64B|L2::128B|L2::256B] [L2::cache_hint]"),
    ("cp.async.commit_group", ""),
    ("cp.async.wait_group", ""),
    ("cp.async.wait_all", ""),
    ("cp.async.mbarrier.arrive", f"[noinc] {_NEAR}"),
    ("cp.async.bulk", f"shared::cluster global {_DONE} [multicast::cluster] {_HINT}"),
    ("cp.async.bulk", f"shared::cta global {_DONE} {_HINT}"),
    ("cp.async.bulk", f"shared::cluster shared::cta {_DONE}"),
    ("cp.async.bulk", f"global shared::cta bulk_group {_HINT} [cp_mask]"),
    ("cp.async.bulk.prefetch", f"L2 global {_HINT}"),
    ("cp.async.bulk.commit_group", ""),
    ("cp.async.bulk.wait_group", "[read]"),
    ("cp.async.bulk.tensor", f"{_RANK} shared::cluster global {_LOADS} {_DONE} [multicast::cluster] {_PAIRS} {_HINT}"),
    ("cp.async.bulk.tensor", f"{_RANK} shared::cta global {_LOADS} {_DONE} {_PAIRS} {_HINT}"),
    ("cp.async.bulk.tensor", f"{_RANK} global shared::cta {_STORES} bulk_group {_HINT}"),
    ("cp.async.bulk.prefetch.tensor", f"{_RANK} L2 global {_LOADS} {_HINT}"),
    ("cp.reduce.async.bulk", f"shared::cluster shared::cta {_DONE} {_OPERATION} u32|s32|u64|b32"),
    ("cp.reduce.async.bulk", f"global shared::cta bulk_group {_HINT} {_OPERATION} [noftz] "
     "u32|s32|u64|s64|b32|b64|f16|bf16|f32|f64"),
    ("cp.reduce.async.bulk.tensor", f"{_RANK} global shared::cta {_STORES} bulk_group {_HINT} {_OPERATION}"),
    *((f"mbarrier.{name}", _NEAR) for name in ("init", "inval")),
    *((f"mbarrier.{name}{more}", f"[release|relaxed] {_SCOPE} {_ANY}")
      for name in ("arrive", "arrive_drop") for more in ("", ".expect_tx")),
    *((f"mbarrier.{name}", f"noComplete [release] [cta] {_NEAR}") for name in ("arrive", "arrive_drop")),
    *((f"mbarrier.{name}", f"[relaxed] {_SCOPE} {_ANY}") for name in ("expect_tx", "complete_tx")),
    *((f"mbarrier.{name}{more}", f"[acquire|relaxed] {_SCOPE} {_NEAR}")
      for name in ("test_wait", "try_wait") for more in ("", ".parity")),
    ("mbarrier.pending_count", "b64"),
    *((name, "[cta] sync|arrive [aligned]") for name in ("bar", "barrier")),
    *((name, f"[cta] red {how} [aligned]") for name in ("bar", "barrier") for how in ("popc u32", "and|or pred")),
    ("bar.warp.sync", ""),
    ("barrier.cluster", "arrive [release|relaxed] [aligned]"),
    ("barrier.cluster", "wait [acquire] [aligned]"),
    ("fence", "[sc|acq_rel|acquire|release] cta|cluster|gpu|sys"),
    ("fence", "acquire|release sync_restrict::shared::cta|sync_restrict::shared::cluster cluster"),
    ("fence.mbarrier_init", "release cluster"),
    ("fence.proxy", "alias"),
    ("fence.proxy", "async [global|shared::cta|shared::cluster]"),
    ("fence.proxy", "async::generic acquire|release sync_restrict::shared::cta|sync_restrict::shared::cluster cluster"),
    ("fence.proxy", "tensormap::generic acquire|release cta|cluster|gpu|sys"),
    ("membar", "cta|gl|sys"),
    ("membar.proxy", "alias|async"),
    ("vote", "[sync] all|any|uni pred"),
    ("vote", "[sync] ballot b32"),
    ("activemask", "b32"),
    ("match", "any|all sync b32|b64"),
    ("shfl", "[sync] up|down|bfly|idx b32"),
    ("elect", "sync"),
    ("redux", "sync add|min|max u32|s32"),
    ("redux", "sync and|or|xor b32"),
    ("redux", "sync min|max [abs] [NaN] f32"),
    ("cvta", f"[to] {_SPACES} u32|u64"),
    ("isspacep", _SPACES),
    *((name, "[shared::cluster] u32|u64") for name in ("mapa", "getctarank")),
    ("prefetch", "[global|local] L1|L2"),
    ("prefetch", "[global] L2::evict_last|L2::evict_normal"),
    ("prefetch", "[const|param] tensormap"),
    ("prefetchu", "L1"),
    ("discard", "[global] L2"),
    ("applypriority", "[global] L2::evict_normal"),
    ("pmevent", "[mask]"),
    ("nanosleep", "u32"),
    ("griddepcontrol", "wait|launch_dependents"),
    ("setmaxnreg", "inc|dec sync aligned u32"),
    ("createpolicy.fractional", f"{_FIRST} {_THEN} b64"),
    ("createpolicy.range", f"[global] {_FIRST} {_THEN} b64"),
    ("createpolicy.cvt", "L2 b64"),
))  # fmt: skip
FORMED = {name[0] for name, _ in _FORMS}
"""Opcodes whose words are checked by their forms."""


@lru_cache(maxsize=4096)
def wrong_words(opcode: str, words: Words) -> str | None:
    """What words an instruction has that its nearest form hasn't, or lacks; None where a form has them all."""
    words = (opcode, *words)
    named = [form for form in _FORMS if words[: len(form[0])] == form[0]]
    if not named:
        return "is no instruction of PTX"
    longest = max(len(name) for name, _ in named)
    found = min((_misfits(form, words[longest:]) for name, form in named if len(name) == longest), key=len)
    return found[0] if found else None


def _misfits(form: tuple[tuple[bool, Words], ...], words: Words) -> list[str]:
    left, missing, spaces = list(range(len(words))), [], []
    for needed, choice in form:
        taken = next((number for number in left if words[number] in choice), None)
        if taken is not None:
            left.remove(taken)
            spaces += [taken] * (words[taken].partition("::")[0] in ("shared", "global"))
        elif needed:
            missing.append(f"lacks {' or '.join(f'.{word}' for word in choice)}")
    more = [f"has .{words[number]}, which isn't valid here" for number in left]
    return more + missing + ["copies between these spaces in the other direction"] * (spaces != sorted(spaces))
