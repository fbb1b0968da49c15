"""The log of one warp, in LLVM IR: the segments that it runs, and what its requests add to the counters of their sites.

`helpers.vgpu.launch.path` reads it.
"""

from __future__ import annotations

from helpers.vgpu.base.context import PATH, PATH_ENTRY
from helpers.vgpu.runtime.text import get_pointer, site

_COUNTED = {
    "requests": "requests_before", "sectors": "sectors_before", "shared_requests": "shared_before",
    "local_requests": "local_before",
}  # fmt: skip


def _keep() -> str:
    lines = []
    for slot, before in _COUNTED.items():
        lines += [
            site(f"{slot}_p", slot), f"%{slot} = load i64, ptr %{slot}_p",
            site(f"{before}_p", before), f"store i64 %{slot}, ptr %{before}_p",
        ]  # fmt: skip
    return "\n  ".join(lines)


def _added() -> str:
    """%SLOT_more for what came to each counter, and %all for their sum."""
    lines, total = [], "0"
    for slot, before in _COUNTED.items():
        lines += [
            site(f"{slot}_p", slot), f"%{slot} = load i64, ptr %{slot}_p",
            site(f"{before}_p", before), f"%{before} = load i64, ptr %{before}_p",
            f"%{slot}_more = sub i64 %{slot}, %{before}", f"%{slot}_sum = add i64 {total}, %{slot}_more",
        ]  # fmt: skip
        total = f"%{slot}_sum"
    return "\n  ".join([*lines, f"%all = add i64 0, {total}"])


def _write(values: dict[str, str]) -> str:
    """Take the next entry, if there is room for it, and go to %out; how many there should be is counted on."""
    stores = "\n  ".join(
        f"%{name}_at = getelementptr i64, ptr %entry, i64 {PATH_ENTRY.index(name)}\n  store i64 {value}, ptr %{name}_at"
        for name, value in values.items()
    )
    return f"""{get_pointer("path", "path")}
  %number = load i64, ptr %path
  %after = add i64 %number, 1
  store i64 %after, ptr %path
  %room_p = getelementptr i64, ptr %path, i64 {PATH.index("room")}
  %room = load i64, ptr %room_p
  %free = icmp ult i64 %number, %room
  br i1 %free, label %write, label %out
write:
  %past = mul i64 %number, {len(PATH_ENTRY)}
  %index = add i64 %past, {len(PATH)}
  %entry = getelementptr i64, ptr %path, i64 %index
  {stores}
  br label %out
out:
  ret void"""


FOLLOW = f"""
define void @wb_follow_segment(ptr %ctx, i64 %code, i32 %lanes) noinline {{
  %bits = zext i32 %lanes to i64
  {_write({"code": "%code", "lanes": "%bits"})}
}}

define void @wb_follow_before(ptr %site) noinline {{
  {_keep()}
  ret void
}}

define void @wb_follow_request(ptr %ctx, ptr %site, i64 %code) noinline {{
  {_added()}
  %any = icmp ne i64 %all, 0
  br i1 %any, label %note, label %out
note:
  {_write({"code": "%code"} | {slot: f"%{slot}_more" for slot in _COUNTED})}
}}
"""
