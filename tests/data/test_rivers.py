import numpy as np

from helpers.data import rivers


def test_the_same_seed_gives_the_same_days():
    one, again, other = rivers.catchment(400, 0), rivers.catchment(400, 0), rivers.catchment(400, 1)
    assert np.array_equal(one.flow, again.flow) and not np.array_equal(one.flow, other.flow)
    assert all(series.shape == (400,) and series.dtype == np.float32 for series in vars(one).values())


def test_nothing_leaves_that_has_not_fallen_and_the_stores_keep_their_bounds():
    days = rivers.catchment(20 * rivers.YEAR, 2)
    assert 0 < days.flow.sum() < days.rain.sum()
    assert days.snow.min() >= 0 and 0 <= days.soil.min() <= days.soil.max() <= 180


def test_snow_lies_in_winter_only_and_its_flood_comes_after():
    days = rivers.catchment(20 * rivers.YEAR, 3)
    snow, flow = (series.reshape(20, rivers.YEAR).mean(0) for series in (days.snow, days.flow))
    assert snow[200] < 1 < snow[40]
    assert flow[60:150].max() > 3 * flow[200:260].mean()


def test_the_same_rain_raises_the_flow_more_in_april_than_in_august():
    rain, temperature = rivers.weather(5 * rivers.YEAR, 0)
    raised = []
    for day in (4 * rivers.YEAR + 104, 4 * rivers.YEAR + 226):
        more = rain.copy()
        more[day] += 30
        raised.append((rivers.respond(more, temperature) - rivers.respond(rain, temperature))[0, day : day + 30].sum())
    assert raised[0] > 1.3 * raised[1] > 0


def test_efficiency_is_one_for_the_truth_and_nought_for_its_mean():
    measured = np.array([1.0, 2.0, 6.0])
    assert rivers.efficiency(measured, measured) == 1
    assert rivers.efficiency(np.full(3, 3.0), measured) == 0
    assert rivers.efficiency(np.full(3, 9.0), measured) < 0
