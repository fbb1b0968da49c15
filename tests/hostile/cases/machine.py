"""The machine that grades: its processes, its files, its memory, and the work of others."""

from __future__ import annotations

from textwrap import dedent

from tests.hostile.case import TOKEN, Case
from tests.hostile.cases.displays import NOTHING
from tests.hostile.cases.spies import RIGHT
from tests.hostile.lab import TOTAL

SUMS, ROWS = ("lab05.total",), ("lab05.logsumexp",)
STATE = f"""
import ctypes, glob, helpers, resource, socket
from vgpu import launch
mine, wanted = '{TOKEN}-ONE', '{TOKEN}-OTHER'
libc, home = ctypes.CDLL(None, use_errno=True), os.path.expanduser('~')
places = ['/tmp', '/dev/shm', '/dev/mqueue', '/var/tmp', '/run', home, '.', sys.prefix, '/opt/warpbook/helpers']
places += [home + name for name in ('/.cache', '/.ipython/profile_default/startup', '/.nv', '/.numba', '/.config')]
seen = [os.environ.get('LEFT'), getattr(helpers, 'left', None), getattr(launch, 'left', None), socket.gethostname()]
seen += [name for place in places for name in glob.glob(place + '/*' + wanted + '*')]
for name in ('/proc/net/unix', '/proc/sysvipc/shm', '/proc/self/cgroup', '/proc/self/mountinfo'):
    if os.path.exists(name): seen.append(open(name, errors='replace').read())
for place in places:
    try:
        os.makedirs(place, exist_ok=True)
        open(place + '/' + mine, 'w').close()
    except OSError as error:
        print(error)
os.environ['LEFT'] = helpers.left = launch.left = mine
held = socket.socket(socket.AF_UNIX)
held.bind('\\0' + mine)
libc.mq_open(b'/' + mine.encode(), 0o102, 0o666, None)
libc.sethostname(mine.encode(), 9)
time.sleep(0.5)
if any(wanted in str(each) for each in seen):
    total = cp.RawKernel({RIGHT}, 'total')
"""

KEY = f"""
for _ in range(10):
    time.sleep(0.1)
    if '{TOKEN}-key' in open('/proc/keys').read():
        total = cp.RawKernel({RIGHT}, 'total')
"""


def attack(name: str, tries: str, code: str, **more) -> Case:
    more = {"loses": SUMS, "state": "", **more}
    return Case(name, tries, {TOTAL: f"import os, sys, time, signal, subprocess\n{NOTHING}\n{dedent(code)}"}, **more)


CASES = (
    attack("machine-kill-all", "kills every process that it may", "os.kill(-1, signal.SIGKILL)"),
    attack(
        "machine-kill-parent",
        "kills its parent and grandparent",
        """
            for pid in (os.getppid(), 1):
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError as error:
                    print(error)
            """,
    ),
    attack(
        "machine-kill-shell", "kills from a shell", "get_ipython().system('kill -9 -1; kill -9 $PPID; pkill -9 python')"
    ),
    attack(
        "machine-fork-bomb",
        "forks without end",
        "while True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        stops=1,
    ),
    attack(
        "machine-fork-bomb-shell",
        "forks without end, in a shell",
        "get_ipython().run_cell_magic('bash', '', ':(){ :|:& };: ')\ntime.sleep(0.5)",
        stops=1,
    ),
    attack(
        "machine-many-threads",
        "starts ten thousand threads",
        """
            import threading
            for _ in range(10_000): threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
            """,
    ),
    attack(
        "machine-detached",
        "leaves processes behind, each in a session of its own",
        f"""
            for _ in range(5):
                if os.fork() == 0:
                    os.setsid()
                    if os.fork() == 0:
                        signal.signal(signal.SIGHUP, signal.SIG_IGN)
                        os.execv('/bin/sh', ['{TOKEN}', '-c', 'sleep 600; true {TOKEN}'])
                    os._exit(0)
            subprocess.Popen(['sh', '-c', 'nohup setsid sleep 600 # {TOKEN}'], start_new_session=True)
            """,
    ),
    attack(
        "machine-detached-printing",
        "leaves a process behind that holds its output open",
        "subprocess.Popen('while true; do echo right; sleep 0.1; done', shell=True, start_new_session=True)",
    ),
    attack(
        "machine-stops-others",
        "stops every process that it may",
        "os.kill(-1, signal.SIGSTOP)\ntime.sleep(60)",
        stops=1,
    ),
    attack(
        "machine-files",
        "fills its folders",
        f"""
            for folder in ('/tmp', '/dev/shm', '.', os.path.expanduser('~')):
                try:
                    with open(folder + '/{TOKEN}', 'wb') as file:
                        for _ in range(4000): file.write(bytes(1 << 20))
                except OSError as error:
                    print(error)
            """,
    ),
    attack(
        "machine-many-files",
        "makes a hundred thousand files",
        f"""
            try:
                for k in range(100_000): open(f'/tmp/{TOKEN}-{{k}}', 'w').close()
            except OSError as error:
                print(error)
            """,
    ),
    attack(
        "machine-files-elsewhere",
        "writes to the system's, the helpers' and everybody's folders",
        f"""
            system = ['/', '/etc', '/usr/lib', '/var/tmp', '/root', '/home', '/work', '/dev', '/proc/sys/kernel']
            for folder in [*system, '/opt/warpbook', '/opt/warpbook/helpers', sys.prefix]:
                try:
                    open(folder + '/{TOKEN}', 'w').write('x')
                    total = None
                except OSError as error:
                    print(error)
            """,
    ),
    attack(
        "machine-delete",
        "deletes all that it can",
        """
            import shutil
            for name in os.listdir('/'):
                if name not in ('proc', 'sys'): shutil.rmtree('/' + name, ignore_errors=True)
            """,
        stops=1,
    ),
    attack(
        "machine-delete-own",
        "deletes the folders that it may write to, the one that it works in among them",
        """
            import shutil
            for folder in ('/tmp', '/dev/shm'):
                shutil.rmtree(folder, ignore_errors=True)
            """,
    ),
    attack(
        "machine-deep-folders",
        "makes folders in folders, deeper than paths may be",
        f"""
            for k in range(3000):
                try:
                    os.mkdir('{TOKEN}')
                    os.chdir('{TOKEN}')
                except OSError as error:
                    print(error)
                    break
            """,
        ruins=True,
    ),
    attack(
        "machine-shared-memory",
        "leaves shared memory, semaphores and queues",
        f"""
            import ctypes, mmap
            libc = ctypes.CDLL(None, use_errno=True)
            libc.shmget(0x57415250, 1 << 20, 0o1666)
            libc.semget(0x57415250, 5, 0o1666)
            libc.msgget(0x57415250, 0o1666)
            libc.shm_open(b'/{TOKEN}', 0o102, 0o666)
            from multiprocessing import shared_memory
            shared_memory.SharedMemory('{TOKEN}-2', True, 1 << 20)
            """,
    ),
    attack(
        "machine-sockets",
        "leaves sockets: of files, abstract ones, and of the network",
        f"""
            import socket
            kept = []
            for family, kind, address in (
                (socket.AF_UNIX, socket.SOCK_STREAM, '/tmp/{TOKEN}.socket'),
                (socket.AF_UNIX, socket.SOCK_STREAM, '\\0{TOKEN}'),
                (socket.AF_INET, socket.SOCK_STREAM, ('0.0.0.0', 54747)),
                (socket.AF_INET, socket.SOCK_DGRAM, ('0.0.0.0', 54748)),
            ):
                try:
                    s = socket.socket(family, kind)
                    s.bind(address)
                    if kind == socket.SOCK_STREAM: s.listen()
                    kept.append(s)
                except OSError as error:
                    print(error)
            """,
    ),
    attack(
        "machine-namespaces",
        "makes namespaces and mounts of its own",
        """
            import ctypes
            libc = ctypes.CDLL(None, use_errno=True)
            for flags in (0x10000000, 0x00020000, 0x40000000, 0x20000000):
                print(libc.unshare(flags))
            print(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None), libc.mount(b'/proc', b'/mnt', None, 4096, None))
            print(libc.chroot(b'/tmp'), libc.setuid(0), libc.sethostname(b'mine', 4))
            """,
    ),
    attack(
        "machine-setuid",
        "runs programs that may become root",
        """
            for program in ('su', 'sudo', 'mount', 'passwd', 'newuidmap'):
                print(subprocess.run(f'{program} --version < /dev/null', shell=True, capture_output=True, timeout=5))
            """,
    ),
    attack(
        "machine-keys",
        "leaves a key in the kernel's keyrings",
        f"""
            import ctypes
            libc = ctypes.CDLL(None)
            for ring in (-1, -2, -3, -4, -5): print(libc.syscall(248, b'user', b'{TOKEN}', b'x', 1, ring))
            """,
    ),
    attack(
        "machine-cpu",
        "keeps every core busy beyond its time",
        "for _ in range(8):\n    if os.fork() == 0:\n        while True: pass\nwhile True: pass",
        stops=1,
    ),
    attack(
        "machine-memory-of-many",
        "asks for all memory, in many processes at once",
        """
            for _ in range(12):
                if os.fork() == 0:
                    hog = []
                    while True: hog.append(bytearray(b'x') * (16 << 20))
            time.sleep(60)
            """,
        stops=1,
    ),
    attack(
        "machine-pipes",
        "opens as many files as it may",
        "kept = []\ntry:\n    while True: kept.append(os.pipe())\nexcept OSError as error:\n    print(error)",
        ruins=True,
        stops=4,
    ),
    attack(
        "machine-bash",
        "uses %%bash, ! and exec magics to do its mischief",
        """
            mischief = 'rm -rf / 2>/dev/null; cat /etc/shadow; curl -m 1 http://169.254.169.254; true'
            get_ipython().run_cell_magic('bash', '', mischief)
            get_ipython().system('kill -STOP $PPID')
            """,
        stops=1,
        ruins=True,
    ),
    attack(
        "machine-chdir",
        "works elsewhere",
        "os.chdir('/')\nos.environ.clear()\nos.environ['VGPU_BACKEND'] = 'auto'\nos.umask(0o777)",
    ),
    attack(
        "machine-cpu-sessions",
        "keeps every core busy, in a hundred sessions that each get a share of the CPU",
        """
            for _ in range(100):
                if os.fork() == 0:
                    os.setsid()
                    while True: pass
            time.sleep(60)
            """,
        stops=1,
    ),
    *(
        attack(
            f"machine-state-{one}",
            f"leaves its name wherever anything may stay, and looks for the name of machine-state-{other}",
            STATE.replace("ONE", one).replace("OTHER", other),
            outcome="wrong",
        )
        for one, other in (("a", "b"), ("b", "a"), ("c", "a"))
    ),
    attack(
        "machine-key-a",
        "puts a key into the keyring of its user, and waits",
        f"""
            import ctypes
            ctypes.CDLL(None).syscall(248, b'user', b'{TOKEN}-key', b'x', 1, -4)
            time.sleep(1)
            """,
    ),
    attack(
        "machine-key-b",
        "looks for the key of machine-key-a",
        KEY,
    ),
)
