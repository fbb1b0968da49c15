"""Every access of compiled code checked by means that share nothing with the engine's own checks.

After lowering and before machine code, `instrument` puts a call in front of each instruction that touches memory, of
kernels and of the runtime alike: it looks the bytes up in a sorted table of what the launch may touch (`extents`).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

import llvmlite.binding as llvm
import numpy as np

from vgpu.base.context import SLOT
from vgpu.runtime import jit
from vgpu.tests.fuzz.instrument import SITES, instrument

# What an interval allows, as bits; an access needs one of them.
BOOK_READ, BOOK_WRITE, DATA_READ, DATA_WRITE, OWN = 1, 2, 4, 8, 16
MOST = 4096  # intervals
_STACK = 1 << 20  # bytes above the checker's own frame that are those of its callers

_intervals = np.zeros((MOST, 3), np.uint64)  # start, end, rights; sorted
_state = np.zeros(4, np.uint64)  # how many intervals, the context of the only worker or 0, accesses checked
missed: Callable[[str, int, int, tuple], bool] | None = None  # told what the table lacks; whether it may pass

_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)


@_SIGNATURE
def _miss(address: int, size: int, tag: int) -> int:
    """Compiled code asks: nonzero where the access may pass after all."""
    return bool(missed(("book read", "book write", "data read", "data write")[tag & 3], address, size, SITES[tag >> 2]))


def _source() -> str:
    """The checker in LLVM IR: the last interval that begins at or below the address must hold all of the bytes."""
    table, state, miss = _intervals.ctypes.data, _state.ctypes.data, ctypes.cast(_miss, ctypes.c_void_p).value
    lanes = "\n".join(_lanes(n) for n in (2, 4, 8, 16, 32, 64))
    return f"""
define void @wbx_check(ptr %where, i64 %size, i64 %tag) noinline {{
entry:
  %here = alloca i64
  %a = ptrtoint ptr %where to i64
  %n = load i64, ptr inttoptr (i64 {state} to ptr)
  %seen = load i64, ptr inttoptr (i64 {state + 16} to ptr)
  %more = add i64 %seen, 1
  store i64 %more, ptr inttoptr (i64 {state + 16} to ptr)
  %nothing = icmp eq i64 %size, 0
  br i1 %nothing, label %fine, label %search
search:
  %low = phi i64 [0, %entry], [%low1, %step]
  %high = phi i64 [%n, %entry], [%high1, %step]
  %open = icmp ult i64 %low, %high
  br i1 %open, label %step, label %found
step:
  %sum = add i64 %low, %high
  %mid = lshr i64 %sum, 1
  %mo = mul i64 %mid, 24
  %mp = getelementptr i8, ptr inttoptr (i64 {table} to ptr), i64 %mo
  %start = load i64, ptr %mp
  %below = icmp ule i64 %start, %a
  %mid1 = add i64 %mid, 1
  %low1 = select i1 %below, i64 %mid1, i64 %low
  %high1 = select i1 %below, i64 %high, i64 %mid
  br label %search
found:
  %any = icmp ne i64 %low, 0
  br i1 %any, label %look, label %outside
look:
  %index = sub i64 %low, 1
  %io = mul i64 %index, 24
  %ip = getelementptr i8, ptr inttoptr (i64 {table} to ptr), i64 %io
  %begin = load i64, ptr %ip
  %ep = getelementptr i8, ptr %ip, i64 8
  %end = load i64, ptr %ep
  %rp = getelementptr i8, ptr %ip, i64 16
  %rights = load i64, ptr %rp
  %before = icmp ult i64 %a, %end
  %room = sub i64 %end, %a
  %fits = icmp ule i64 %size, %room
  %sort = and i64 %tag, 3
  %need = shl i64 1, %sort
  %has = and i64 %rights, %need
  %right = icmp ne i64 %has, 0
  %i0 = and i1 %before, %fits
  %i1 = and i1 %i0, %right
  br i1 %i1, label %whose, label %outside
whose:
  %own = and i64 %rights, {OWN}
  %isown = icmp ne i64 %own, 0
  %data = icmp uge i64 %sort, 2
  %ask = and i1 %isown, %data
  %ctx = load i64, ptr inttoptr (i64 {state + 8} to ptr)
  %known = icmp ne i64 %ctx, 0
  %ask1 = and i1 %ask, %known
  br i1 %ask1, label %mine, label %fine
mine:
  %cp = inttoptr i64 %ctx to ptr
  %sp = getelementptr i64, ptr %cp, i64 {SLOT["shared_base"]}
  %shared = load i64, ptr %sp
  %lp = getelementptr i64, ptr %cp, i64 {SLOT["local_base"]}
  %local = load i64, ptr %lp
  %s = icmp eq i64 %shared, %begin
  %l = icmp eq i64 %local, %begin
  %either = or i1 %s, %l
  br i1 %either, label %fine, label %outside
outside:
  %sort1 = and i64 %tag, 2
  %book = icmp eq i64 %sort1, 0
  %h = ptrtoint ptr %here to i64
  %up = sub i64 %a, %h
  %near = icmp ult i64 %up, {_STACK}
  %stack = and i1 %book, %near
  br i1 %stack, label %fine, label %tell
tell:
  %pass = call i64 inttoptr (i64 {miss} to ptr)(i64 %a, i64 %size, i64 %tag)
  br label %fine
fine:
  ret void
}}

define void @wbx_within(ptr %where, i64 %size, ptr %root, i64 %extent, i64 %tag) noinline {{
  %a = ptrtoint ptr %where to i64
  %r = ptrtoint ptr %root to i64
  %off = sub i64 %a, %r
  %c0 = icmp ule i64 %off, %extent
  %room = sub i64 %extent, %off
  %c1 = icmp ule i64 %size, %room
  %c = and i1 %c0, %c1
  br i1 %c, label %fine, label %tell
tell:
  %pass = call i64 inttoptr (i64 {miss} to ptr)(i64 %a, i64 %size, i64 %tag)
  br label %fine
fine:
  ret void
}}
{lanes}
"""


def _lanes(n: int) -> str:
    return f"""
define void @wbx_lanes_{n}(<{n} x ptr> %where, <{n} x i1> %mask, i64 %size, i64 %tag) noinline {{
entry:
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%i1, %next]
  %on = extractelement <{n} x i1> %mask, i32 %i
  br i1 %on, label %check, label %next
check:
  %p = extractelement <{n} x ptr> %where, i32 %i
  call void @wbx_check(ptr %p, i64 %size, i64 %tag)
  br label %next
next:
  %i1 = add i32 %i, 1
  %end = icmp eq i32 %i1, {n}
  br i1 %end, label %out, label %loop
out:
  ret void
}}
"""


# ---------------------------------------------------------------- in the engine


def set_map(rows: list[tuple[int, int, int]], context: int) -> None:
    """What may be touched from now on: (start, end, rights) rows; `context` is that of the only worker, or 0."""
    rows = sorted(row for row in rows if row[1] > row[0])
    _intervals[: len(rows)] = rows
    _state[:2] = len(rows), context


def checked() -> int:
    """How many accesses were looked up so far."""
    return int(_state[2])


def install() -> None:
    """From now on whatever this process compiles is checked. To be called before anything is."""
    assert jit._engine is None, "the engine has made code already"
    os.environ["VGPU_CACHE"] = "off"  # what others made is not checked, and what is made here is for nobody else
    make = llvm.Target.create_target_machine
    llvm.Target.create_target_machine = lambda target, **options: make(target, **{**options, "opt": 0})
    engine = jit._start()
    llvm.Target.create_target_machine = make
    module = llvm.parse_assembly(_source())
    module.verify()
    engine.add_module(module)
    engine.finalize_object()
    emit = jit._emit

    def checking(module) -> bytes:
        with llvm.parse_assembly(instrument(str(module))) as again:
            again.verify()
            return emit(again)

    jit._emit = checking
