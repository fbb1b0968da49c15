"""A river and its catchment, by rule: `catchment(days, seed)` gives rain, temperature and the flow they lead to.

The rule is a small conceptual model in the manner of hydrologists' HBV (Bergström, 1976, SMHI reports RHO 7). What
falls below 0 °C stays as snow, and melts when it gets warm. Rain and meltwater meet the soil: the wetter it is, the
larger the share that runs through to the groundwater, which drains into the river. Plants take the rest.

A linear model of past rain and temperature can't follow it, for two reasons. How much of the same rain reaches the
river is *multiplied* by how wet the soil is: in April nearly all, in July about half. And snow makes today's flow
depend on what fell months ago, and on whether it was frozen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

YEAR = 365


@dataclass(frozen=True)
class Catchment:
    """Daily series, each of shape (days,), in float32.

    rain: what falls, as water or snow, in mm. temperature: in °C. flow: what leaves by the river, in mm, with a
    measurement error of some per cent. snow, soil: what the catchment holds, in mm; these aren't measured, so no model
    may see them.
    """

    rain: np.ndarray
    temperature: np.ndarray
    flow: np.ndarray
    snow: np.ndarray
    soil: np.ndarray


def weather(days: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rain (days,) in mm and temperature (days,) in °C: wet and dry spells, warm and cold ones, and the seasons."""
    dice = np.random.default_rng(seed)
    season = np.cos(2 * np.pi * (np.arange(days) - 200) / YEAR)  # 1 in July, -1 in January
    wet_after_wet, wet_after_dry = 0.65, 0.25
    draws, amounts = dice.random(days), dice.exponential(6.0, days) + dice.exponential(3.0, days)
    shocks = dice.normal(0, 2.5, days)
    rain, spell = np.zeros(days), np.zeros(days)
    wet, warm = False, 0.0
    for day in range(days):
        wet = draws[day] < (wet_after_wet if wet else wet_after_dry)
        rain[day] = amounts[day] if wet else 0.0
        warm = 0.8 * warm + shocks[day]
        spell[day] = warm
    return rain.astype(np.float32), (5 + 11 * season + spell).astype(np.float32)


def respond(
    rain: np.ndarray,
    temperature: np.ndarray,
    *,
    capacity: float = 180.0,
    power: float = 3.0,
    melt: float = 3.0,
    drain: float = 0.12,
) -> np.ndarray:
    """What the catchment makes of this weather, (3, days): flow without error, snow and soil, in mm.

    rain, temperature: (days,), in mm and °C. capacity: mm that the soil holds. power: how sharply the share that runs
    through grows with wetness. melt: mm of snow a day for each °C above 0. drain: share of the groundwater that reaches
    the river in a day. It begins without snow and with soil half full, so the first year says little.
    """
    stores = np.zeros((3, len(rain)))  # flow, snow, soil
    snow, soil, ground = 0.0, capacity / 2, 10.0
    for day, (fallen, degrees) in enumerate(zip(rain.tolist(), temperature.tolist(), strict=True)):
        melted = min(snow, melt * max(degrees, 0.0))
        snow += (fallen if degrees < 0 else 0.0) - melted
        arriving = melted + (fallen if degrees >= 0 else 0.0)
        through = arriving * (soil / capacity) ** power
        taken = min(soil, 0.25 * max(degrees, 0.0) * soil / capacity)
        soil = soil + arriving - through - taken
        through, soil = through + max(soil - capacity, 0.0), min(soil, capacity)
        ground += through
        flow = drain * ground
        ground -= flow
        stores[:, day] = flow, snow, soil
    return stores


def catchment(days: int, seed: int, *, error: float = 0.03, **constants: float) -> Catchment:
    """Let weather fall on a catchment for so many days. The same arguments give the same days.

    error: standard deviation of the measured flow, as a share of it. constants: those of `respond`. A first year, which
    is not returned, fills the stores.
    """
    rain, temperature = weather(days + YEAR, seed)
    flow, snow, soil = respond(rain, temperature, **constants)
    dice = np.random.default_rng((seed, 1))
    measured = flow * (1 + error * dice.normal(size=days + YEAR))
    after = slice(YEAR, None)
    return Catchment(
        rain[after], temperature[after], *(part[after].astype(np.float32) for part in (measured, snow, soil))
    )


def efficiency(simulated: np.ndarray, measured: np.ndarray) -> float:
    """Nash and Sutcliffe's efficiency: 1 is perfect, and 0 as good as the mean of what was measured.

    Both arrays have the shape (days,). Source: Nash and Sutcliffe, 1970, doi.org/10.1016/0022-1694(70)90255-6.
    """
    return float(1 - np.square(measured - simulated).sum() / np.square(measured - measured.mean()).sum())
