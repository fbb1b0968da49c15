"""`cupy.random`: random arrays on the device.

The numbers are NumPy's: the same seed gives other numbers than on a GPU, whose generators are different ones.
Distributions are the same, and so is the `dtype` that CuPy adds.
"""

from __future__ import annotations

import numpy as np

from vgpu.standins.cupy.convert import to_cupy, to_device, to_host
from vgpu.standins.cupy.missing import getter
from vgpu.standins.cupy.ndarray import ndarray
from vgpu.standins.cupy.tables import words

# Functions of CuPy that take a dtype, float64 or float32.
_FLOATS = words(
    """
    beta chisquare dirichlet exponential f gamma gumbel laplace logistic lognormal multivariate_normal
    noncentral_chisquare noncentral_f normal pareto power rand randn random_sample rayleigh
    standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform
    vonmises wald weibull
    """
)
_INTEGERS = words(
    """
    binomial geometric hypergeometric logseries multinomial negative_binomial poisson zipf
    """
)
_GENERATOR = words(
    """
    beta binomial chisquare dirichlet exponential f gamma geometric hypergeometric integers logseries
    normal poisson power random standard_exponential standard_gamma standard_normal uniform
    """
)


class RandomState:
    """A generator with its own state; `seed` None takes one from the system."""

    def __init__(self, seed=None, method=None):
        self._state = np.random.RandomState(_seed(seed))

    def seed(self, seed=None) -> None:
        """Restart the sequence."""
        self._state.seed(_seed(seed))

    def random_integers(self, low, high=None, size=None) -> ndarray:
        """Integers from low to high, both included."""
        low, high = (1, low) if high is None else (low, high)
        return self.randint(low, high + 1, size)

    def randint(self, low, high=None, size=None, dtype=int) -> ndarray:
        """Integers from low (included) to high (not included), or below low when high is None."""
        return to_device(self._state.randint(to_host(low), to_host(high), size), dtype)

    def choice(self, a, size=None, replace=True, p=None) -> ndarray:
        """Elements of `a`, or numbers below `a`, picked at random."""
        return to_device(self._state.choice(to_host(a), size, replace, to_host(p)))

    def permutation(self, a) -> ndarray:
        """The elements of `a`, or the numbers below `a`, in random order."""
        return to_device(self._state.permutation(to_host(a)))

    def shuffle(self, a: ndarray) -> None:
        """Shuffle an array along its first axis, in place."""
        if not isinstance(a, ndarray):
            raise TypeError("The array must be cupy.ndarray")
        self._state.shuffle(a._host)

    def bytes(self, length: int) -> bytes:
        """Random bytes, on the host."""
        return self._state.bytes(length)


class Generator:
    """What `default_rng` gives: NumPy's generator, its arrays on the device."""

    def __init__(self, bit_generator=None):
        self._generator = np.random.default_rng(_seed(bit_generator))


def _seed(seed):
    return seed.get() if isinstance(seed, ndarray) else seed


def _draw(name: str, has_dtype: bool):
    def method(self, *args, dtype=None, **kwargs):
        result = getattr(self._state, name)(*to_host(args), **{key: to_host(value) for key, value in kwargs.items()})
        if dtype is not None and has_dtype and np.dtype(dtype) not in (np.float32, np.float64):
            raise TypeError(f"cupy.random only supports float32 and float64 here, not {np.dtype(dtype)}")
        return to_device(result, dtype)

    method.__name__ = name
    method.__doc__ = getattr(np.random.RandomState, name).__doc__
    return method


def _generate(name: str):
    def method(self, *args, **kwargs):
        named = {key: to_host(value) for key, value in kwargs.items()}
        result = getattr(self._generator, name)(*to_host(args), **named)
        return to_cupy(result) if isinstance(result, np.ndarray) else to_device(result)

    method.__name__ = name
    method.__doc__ = getattr(np.random.Generator, name).__doc__
    return method


for _name in _FLOATS + _INTEGERS:
    setattr(RandomState, _name, _draw(_name, _name in _FLOATS))
for _name in _GENERATOR:
    setattr(Generator, _name, _generate(_name))
for _name in ("random", "sample", "ranf"):
    setattr(RandomState, _name, getattr(RandomState, "random_sample"))  # noqa: B009 (added above)

_global = RandomState()


def get_random_state() -> RandomState:
    """The generator behind the functions of this module."""
    return _global


def set_random_state(state: RandomState) -> None:
    """Choose another generator for the functions of this module."""
    global _global
    if not isinstance(state, RandomState):
        raise TypeError(f"a RandomState is needed, not {type(state)}")
    _global = state


def default_rng(seed=None) -> Generator:
    """A new generator."""
    return Generator(seed)


def _function(name: str):
    def function(*args, **kwargs):
        return getattr(_global, name)(*args, **kwargs)

    function.__name__ = name
    function.__doc__ = getattr(RandomState, name).__doc__
    return function


for _name in (
    _FLOATS
    + _INTEGERS
    + (
        [
            "seed",
            "randint",
            "random_integers",
            "choice",
            "permutation",
            "shuffle",
            "bytes",
            "random",
            "sample",
            "ranf",
        ]
    )
):
    globals()[_name] = _function(_name)

__getattr__ = getter("random.", dict.fromkeys(("BitGenerator", "XORWOW", "MRG32k3a", "Philox4x3210"), "default_rng"))
