"""LLVM IR written in Python: values with operators, and what builds functions of them."""

from vgpu.ir.builder import Builder, Variable
from vgpu.ir.value import LANES, Value, constant, element_bits, vector

__all__ = ["LANES", "Builder", "Value", "Variable", "constant", "element_bits", "vector"]
