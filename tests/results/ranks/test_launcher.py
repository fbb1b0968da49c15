"""Real processes: they report, they fail in words, and nothing of them is left behind, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
import time

import psutil
import pytest

from helpers import ranks, torchrun
from helpers.results.ranks import launcher as module
from tests.notebook_kernel import NotebookKernel

pytestmark = pytest.mark.slow

HANGS = """
    import os, time
    from helpers import ranks
    print(os.getpid(), flush=True)
    open(os.environ["PIDS"], "a").write(f"{os.getpid()}\\n")
    time.sleep(600)
"""


def written(folder, text: str) -> str:
    path = folder / "script.py"
    path.write_text(textwrap.dedent(text))
    return str(path)


def gone(pids: list[int], seconds: float = 20) -> bool:
    """Whether none of the processes lives any more, or will within so many seconds."""
    end = time.monotonic() + seconds
    while alive := [pid for pid in pids if psutil.pid_exists(pid)]:
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return not alive


def pids_in(path, count: int, seconds: float = 60) -> list[int]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = path.read_text().split() if path.exists() else []
        if len(found) == count:
            return list(map(int, found))
        time.sleep(0.05)
    raise TimeoutError(f"{count} ranks did not start")


def below() -> set[int]:
    """What the warden has started."""
    return {process.pid for process in psutil.Process(module._warden.process.pid).children(recursive=True)}


def test_ranks_report_and_print_in_order(tmp_path, capsys):
    script = written(
        tmp_path,
        """
        import sys
        import torch, torch.distributed as dist
        from helpers import ranks
        dist.init_process_group("gloo")
        number = torch.tensor([2.0 ** dist.get_rank()])
        with ranks.traffic() as traffic, ranks.span("sums", 1):
            dist.all_reduce(number)
        print("sum", number.item(), sys.argv[1])
        ranks.report(total=number, traffic=traffic.as_dict())
        """,
    )
    run = torchrun(script, ranks=3, arguments=["word"])
    assert run.every("total") == [[7.0]] * 3
    assert run[1]["traffic"] == {"all_reduce": [1, 4, 3]}
    assert [each.rank for each in run.spans] == [0, 1, 2] and all(0 <= each.start < each.end for each in run.spans)
    assert capsys.readouterr().out.splitlines() == [f"rank {rank}: sum 7.0 word" for rank in range(3)]
    assert below() == set()


def test_a_rank_that_raises_is_named_and_the_others_are_killed(tmp_path):
    script = written(
        tmp_path,
        """
        import torch.distributed as dist
        dist.init_process_group("gloo")
        if dist.get_rank() == 1:
            raise ValueError("no such layer")
        dist.barrier()
        """,
    )
    with pytest.raises(
        ranks.RanksFailed, match=r"rank 1 failed(?s:.*)raise ValueError(?s:.*)ValueError: no such layer"
    ):
        torchrun(script, ranks=2)
    assert below() == set()


def test_half_of_an_error_hides_none_that_is_whole(tmp_path):
    """As where a rank is ended while it writes down that another has gone."""
    run = module._Run(tmp_path / "script.py", 2, [], tmp_path, 60)
    told = {"message": {"extraInfo": {"py_callstack": "Traceback (most recent call last):\nValueError: no such layer"}}}
    for rank, text in enumerate(("{", json.dumps(told))):
        (tmp_path / f"logs/run/attempt_0/{rank}").mkdir(parents=True)
        (tmp_path / f"logs/run/attempt_0/{rank}/error.json").write_text(text)
    assert run.words(1).endswith("rank 1 failed; the other rank was ended.\nValueError: no such layer")


def test_a_rank_that_a_signal_kills_is_named(tmp_path):
    script = written(
        tmp_path, "import os, signal\nif os.environ['RANK'] == '1':\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    with pytest.raises(ranks.RanksFailed, match="Rank 1 ended with exit code -9, so a signal killed it"):
        torchrun(script, ranks=2)


def test_without_forks_each_rank_is_an_interpreter_of_its_own(tmp_path, monkeypatch):
    """As on Windows and macOS."""
    monkeypatch.setattr(module, "START", "spawn")
    monkeypatch.setattr(module, "_warden", None)
    script = """
        from helpers import ranks
        import os
        ranks.report(rank=int(os.environ["RANK"]))
        if os.environ["RANK"] == "1":
            raise KeyError("missing")
    """
    with pytest.raises(ranks.RanksFailed, match=r"rank 1 failed(?s:.*)raise KeyError(?s:.*)KeyError: 'missing'"):
        torchrun(written(tmp_path, script), ranks=2)
    assert below() == set()
    module._warden.close()


def test_ranks_that_hang_are_killed_when_the_time_is_up(tmp_path):
    with pytest.raises(ranks.RanksFailed, match="had not ended after 3 s") as told:
        torchrun(written(tmp_path, HANGS), ranks=2, timeout=3, environment={"PIDS": str(tmp_path / "pids")})
    if sys.platform == "linux":
        assert str(told.value).endswith("".join(f"\nRank {rank} stood at line 6: time.sleep(600)" for rank in (0, 1)))
    assert gone(pids_in(tmp_path / "pids", 2)) and below() == set()


@pytest.mark.skipif(sys.platform != "linux", reason="ranks are forked on Linux only")
def test_no_rank_begins_before_all_are_forked(tmp_path):
    """Else one may be forked while another keeps torchrun busy, under a lock that stays closed in the fork."""
    script = written(
        tmp_path,
        """
        import os, psutil
        from helpers import ranks
        ranks.report(forked=len(psutil.Process(os.getppid()).children()))
        """,
    )
    assert torchrun(script, ranks=6).every("forked")[0] == 6


@pytest.mark.skipif(sys.platform != "linux", reason="ranks are forked on Linux only")
def test_what_a_script_leaves_keeps_no_rank_from_its_end(tmp_path):
    """Nor what nothing else keeps: as DDP's reducer does, this object waits where it is taken down."""
    (tmp_path / "waits.py").write_text("import time\n\nclass Waits:\n    def __del__(self):\n        time.sleep(600)\n")
    script = written(tmp_path, "from waits import Waits\nleft = Waits()")
    assert len(torchrun(script, ranks=2, timeout=30)) == 2


def test_what_cannot_be_started_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="run the cell that writes it"):
        torchrun(tmp_path / "none.py", ranks=2)
    with pytest.raises(ValueError, match="from 1 to 16, not 0"):
        torchrun(written(tmp_path, "pass"), ranks=0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
@pytest.mark.parametrize("end", ["interrupt", "restart", "kill"])
def test_nothing_is_left_of_what_a_kernel_started(tmp_path, end):
    """A real kernel, ended as JupyterLab's buttons end it, or by the system."""
    script, pids = written(tmp_path, HANGS), tmp_path / "pids"
    with NotebookKernel(PIDS=str(pids)) as notebook:
        ticket = notebook.send(f"from helpers import torchrun\ntorchrun({script!r}, ranks=2)")
        found = pids_in(pids, 2)
        if end == "interrupt":
            notebook.manager.interrupt_kernel()
            assert notebook.result(ticket)[0] == "KeyboardInterrupt"
        elif end == "restart":
            notebook.manager.restart_kernel(now=True)
        else:
            os.kill(notebook.manager.provisioner.pid, signal.SIGKILL)
        assert gone(found)


def test_ranks_are_started_again_after_a_failure(tmp_path, capsys):
    script = written(
        tmp_path,
        """
        import os, signal
        import torch, torch.distributed as dist
        from helpers import ranks
        dist.init_process_group("gloo")
        attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
        print("attempt", attempt, flush=True)
        if attempt == "0" and dist.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        total = torch.ones(1)
        dist.all_reduce(total)
        ranks.report(total=total, attempt=attempt)
        """,
    )
    run = torchrun(script, ranks=2, restarts=1)
    assert run.every("attempt") == ["1", "1"] and run.every("total") == [[2.0]] * 2
    assert "--max-restarts=1" in run.command
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("rank 0")] == [
        "rank 0: attempt 0",
        "rank 0: attempt 1",
    ]
