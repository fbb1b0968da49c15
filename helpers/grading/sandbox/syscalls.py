"""The system calls that Python has no function for, or has one only from 3.12 on: by ctypes, and nowhere else."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Sequence

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x00020000, 0x02000000, 0x04000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x08000000, 0x10000000, 0x20000000, 0x40000000
ALL_BUT_USER = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 36, 38, 22

# The numbers of calls that the C library has no name for; those above 423 are the same everywhere.
_NUMBERS = {
    "x86_64": {
        "pivot_root": 155, "add_key": 248, "request_key": 249, "keyctl": 250, "perf_event_open": 298, "bpf": 321,
        "userfaultfd": 323, "io_uring_setup": 425,
    },
    "aarch64": {
        "pivot_root": 41, "add_key": 217, "request_key": 218, "keyctl": 219, "perf_event_open": 241, "bpf": 280,
        "userfaultfd": 282, "io_uring_setup": 425,
    },
}  # fmt: skip
REFUSED = ("add_key", "request_key", "keyctl", "perf_event_open", "bpf", "userfaultfd", "io_uring_setup")
"""Keys belong to a user, whatever the namespace, and jobs are one user; the others are the way into many faults of the
kernel. Nothing that a learner does needs any."""

# A filter of calls is a program of (code, jump if true, jump if false, constant), linux/filter.h, seccomp(2).
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_…
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOWED, _NOT_PERMITTED = 0x7FFF0000, 0x00050000 | errno.EPERM
_OTHER_NUMBERS = 0x40000000  # calls of x86_64 by the numbers of x32
_MOUNT_SETATTR, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID = 442, 0x8000, 1, 2
_KEYCTL_JOIN_SESSION_KEYRING = 1

_libc = None


def _call(name: str, *arguments: object) -> int:
    """Call a function of the C library; a failure raises OSError with its reason and what was asked."""
    global _libc
    if _libc is None:
        _libc = ctypes.CDLL(None, use_errno=True)
    ctypes.set_errno(0)
    result = getattr(_libc, name)(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        asked = ", ".join(item.decode() if isinstance(item, bytes) else str(item) for item in arguments)
        raise OSError(number, f"{name}({asked}): {os.strerror(number)}")
    return result


def _number(name: str) -> ctypes.c_long:
    try:
        return ctypes.c_long(_NUMBERS[platform.machine()][name])
    except KeyError:
        raise OSError(f"the number of {name} on {platform.machine()} is not known here") from None


def unshare(flags: int) -> None:
    _call("unshare", ctypes.c_int(flags))


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    texts = (text.encode() or None for text in (source, target, kind))
    _call("mount", *texts, ctypes.c_ulong(flags), options.encode() or None)


def unmount(target: str) -> None:
    """Take a mount away; what still uses it keeps it until it ends."""
    _call("umount2", target.encode(), ctypes.c_int(MNT_DETACH))


def read_only(target: str) -> None:
    """Make a mount and all below it read-only, without set-user-id programs (Linux 5.12 and newer)."""
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID, 0, 0, 0)
    here, flags, size = ctypes.c_int(-100), ctypes.c_uint(_AT_RECURSIVE), ctypes.c_size_t(32)
    _call("syscall", ctypes.c_long(_MOUNT_SETATTR), here, target.encode(), flags, ctypes.byref(attributes), size)


def pivot_root(new: str, old: str) -> None:
    _call("syscall", _number("pivot_root"), new.encode(), old.encode())


def prctl(option: int, value: int = 0) -> None:
    _call("prctl", ctypes.c_int(option), ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))


def new_session_keyring() -> None:
    """Leave the keyring shared with the parent, in which one job could leave something for the next."""
    _call("syscall", _number("keyctl"), ctypes.c_long(_KEYCTL_JOIN_SESSION_KEYRING), None)


def refuse(names: Sequence[str] = REFUSED) -> None:
    """Let these calls fail with EPERM from now on, here and in all processes that are started from here.

    Calls by the numbers of another architecture fail too. The process must have no way to new privileges.
    """
    numbers = [_number(name).value for name in names]
    to_refusal = len(numbers) + 1  # from the first comparison with a number to the last line
    program = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_IF_EQUAL, 0, to_refusal + 2, _ARCHITECTURES[platform.machine()]),
        (_LOAD, 0, 0, 0),  # the number
        (_IF_AT_LEAST, to_refusal, 0, _OTHER_NUMBERS),
        *((_IF_EQUAL, to_refusal - 1 - at, 0, number) for at, number in enumerate(numbers)),
        (_RETURN, 0, 0, _ALLOWED),
        (_RETURN, 0, 0, _NOT_PERMITTED),
    ]
    lines = b"".join(struct.pack("=HBBI", *line) for line in program)
    held = ctypes.create_string_buffer(lines, len(lines))
    filtered = struct.pack("@HP", len(program), ctypes.addressof(held))
    of_filter, unused = ctypes.c_ulong(2), ctypes.c_ulong(0)
    _call("prctl", ctypes.c_int(PR_SET_SECCOMP), of_filter, ctypes.create_string_buffer(filtered), unused, unused)


def drop_capabilities() -> None:
    """Give up every capability, for good: also programs started later, set-user-id ones included, have none."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # a number that this kernel does not know, or nothing to drop
            break
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    _call("capset", header, (ctypes.c_uint32 * 6)())
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def own_user_namespace(user: int, group: int) -> None:
    """Enter a new user namespace, in which this process's user and group are called `user` and `group`."""
    outside_user, outside_group = os.geteuid(), os.getegid()
    # A process that has changed its user is not dumpable; its files in /proc, uid_map too, then belong to root.
    prctl(PR_SET_DUMPABLE, 1)
    unshare(CLONE_NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {outside_user} 1"),
        ("gid_map", f"{group} {outside_group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
