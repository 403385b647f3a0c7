"""What the processor that is compiled for can do: asked of the code that LLVM makes for it, which knows best."""

from __future__ import annotations

import functools
from typing import Any

from llvmlite import binding
from numba.core.registry import cpu_target

from streed.kernels.records import LANES

_COUNT = f"""
declare <{LANES} x i8> @llvm.ctpop.v{LANES}i8(<{LANES} x i8>)
define <{LANES} x i8> @count(<{LANES} x i8> %bits) {{
  %ones = call <{LANES} x i8> @llvm.ctpop.v{LANES}i8(<{LANES} x i8> %bits)
  ret <{LANES} x i8> %ones
}}"""

_SHUFFLE = """
define <16 x i8> @shuffle(<16 x i8> %bytes) {
  %turned = shufflevector <16 x i8> %bytes, <16 x i8> undef, <16 x i32>
    <i32 7, i32 3, i32 12, i32 0, i32 9, i32 5, i32 14, i32 1,
     i32 11, i32 2, i32 8, i32 15, i32 4, i32 13, i32 6, i32 10>
  ret <16 x i8> %turned
}"""

_COMPRESS = """
declare <16 x i32> @llvm.experimental.vector.compress.v16i32(<16 x i32>, <16 x i1>, <16 x i32>)
define <16 x i32> @compress(<16 x i32> %all, i16 %mask) {
  %bits = bitcast i16 %mask to <16 x i1>
  %some = call <16 x i32> @llvm.experimental.vector.compress.v16i32(<16 x i32> %all, <16 x i1> %bits, <16 x i32> undef)
  ret <16 x i32> %some
}"""


@functools.cache
def this_machine() -> Any:
    """The target machine of numba's code generation."""
    return cpu_target.target_context.codegen()._tm


def shuffled_bytes(machine: Any) -> int:
    """How many bytes are shuffled at once where bits are counted by shuffles: 32 or 16; 0 where they are not."""
    assembly = _assembly(_COUNT, machine)
    if "pshufb" not in assembly:
        return 0
    return 32 if "ymm" in assembly or "zmm" in assembly else 16


def shuffles(machine: Any) -> bool:
    """Whether an instruction shuffles bytes, whether or not bits are counted by it."""
    return "pshufb" in _assembly(_SHUFFLE, machine)


def compresses(machine: Any) -> bool:
    """Whether an instruction moves chosen lanes of a vector to its beginning."""
    return "pcompressd" in _assembly(_COMPRESS, machine)


def _assembly(text: str, machine: Any) -> str:
    module = binding.parse_assembly(text)
    module.triple = machine.triple
    assembly: str = machine.emit_assembly(module)
    return assembly
