"""Explorers: controls over one picture that is computed again, from a running kernel, at every move."""

from helpers.widgets.explorer import Explorer, explore
from helpers.widgets.sectors import sectors
from helpers.widgets.threads import thread_grid
from helpers.widgets.timers import timer_bars

__all__ = ["Explorer", "explore", "sectors", "thread_grid", "timer_bars"]
