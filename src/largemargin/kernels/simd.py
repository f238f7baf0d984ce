"""Vectors of numbers that fit the registers of the processor, for compiled loops.

A loop over plain arrays leaves it to the compiler which numbers stay in registers, and for a matrix
product it decides badly. Here a local variable is a register: `load`, `fma` and the others are one
instruction for all lanes of it. The number of lanes follows from the processor that Numba compiles
for, and no result depends on it, since each lane is computed by itself.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic, models, register_model

from largemargin.kernels.exponential import (
    HIGH_32,
    HIGH_64,
    LOW_32,
    LOW_64,
    PER_LOG2,
    ROUND_32,
    ROUND_64,
)

I32, I64 = ir.IntType(32), ir.IntType(64)


def _register_bytes() -> int:
    features = cpu_target.target_context.codegen().magic_tuple()[-1]
    known = set(str(features).split(","))
    return 64 if "+avx512f" in known else 32 if "+avx2" in known else 16


REGISTER_BYTES = _register_bytes()


def lanes_of(dtype: np.dtype) -> int:
    """How many numbers of a type a register holds."""
    return REGISTER_BYTES // np.dtype(dtype).itemsize


class Vector(types.Type):
    """A register of float32 or float64; or, with as many lanes as one of float32 has, two of
    float64.
    """

    def __init__(self, scalar: types.Float, lanes: int | None = None) -> None:
        self.scalar = scalar
        self.lanes = lanes or REGISTER_BYTES * 8 // scalar.bitwidth
        super().__init__(name=f"Vector({scalar}, {self.lanes})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _llvm(fe_type))


def _llvm(vector):
    number = ir.FloatType() if vector.scalar == types.float32 else ir.DoubleType()
    return ir.VectorType(number, vector.lanes)


def _constant(kind, number):
    if isinstance(kind.element, ir.FloatType):
        number = float(np.float32(number))
    return ir.Constant(kind, [ir.Constant(kind.element, number)] * kind.count)


def _splat(builder, kind, scalar):
    empty = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(empty, scalar, ir.Constant(I32, 0))
    places = ir.Constant(ir.VectorType(I32, kind.count), [ir.Constant(I32, 0)] * kind.count)
    return builder.shuffle_vector(one, empty, places)


def _place(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(data, [index])


def _call(builder, name, kind, *args):
    """A function of LLVM on vectors."""
    bits = 32 if isinstance(kind.element, ir.FloatType) else 64
    of = ir.FunctionType(kind, [kind] * len(args))
    name = f"llvm.{name}.v{kind.count}f{bits}"
    return builder.call(cgutils.get_or_insert_function(builder.module, of, name), args)


def _vector_at(builder, kind, place):
    found = builder.load(builder.bitcast(place, kind.as_pointer()))
    found.align = 4
    return found


def _widened(builder, numbers, kind):
    return numbers if numbers.type == kind else builder.fpext(numbers, kind)


@intrinsic
def lanes(typingctx, flat):
    """How many numbers of an array's type a register holds."""

    def codegen(context, builder, signature, args):
        return ir.Constant(I64, Vector(signature.args[0].dtype).lanes)

    return types.intp(flat), codegen


@intrinsic
def load(typingctx, flat, index):
    """The numbers of a one-dimensional array from an index on."""
    vector = Vector(flat.dtype)

    def codegen(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args)
        return _vector_at(builder, _llvm(vector), place)

    return vector(flat, types.intp), codegen


@intrinsic
def store(typingctx, flat, index, numbers):
    """Write the numbers to a one-dimensional array from an index on."""

    def codegen(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args[:2])
        write = builder.store(args[2], builder.bitcast(place, args[2].type.as_pointer()))
        write.align = 4
        return context.get_dummy_value()

    return types.void(flat, types.intp, numbers), codegen


@intrinsic
def wide_zeros(typingctx, flat, factors):
    """Zero in the type of factors, with a lane for each of a register for an array's type."""
    wide = Vector(factors.dtype, Vector(flat.dtype).lanes)

    def codegen(context, builder, signature, args):
        return _constant(_llvm(wide), 0.0)

    return wide(flat, factors), codegen


@intrinsic
def add_multiple(typingctx, total, factors, index, numbers):
    """total + factors[index] times the numbers, in the type of the factors."""

    def codegen(context, builder, signature, args):
        kind = args[0].type
        place = _place(context, builder, signature.args[1], args[1], args[2])
        factor = _splat(builder, kind, builder.load(place))
        return _call(builder, "fmuladd", kind, factor, _widened(builder, args[3], kind), args[0])

    return total(total, factors, types.intp, numbers), codegen


@intrinsic
def add_square(typingctx, total, numbers):
    """total + the squares of the numbers, in the type of the total."""

    def codegen(context, builder, signature, args):
        terms = _widened(builder, args[1], args[0].type)
        return _call(builder, "fmuladd", args[0].type, terms, terms, args[0])

    return total(total, numbers), codegen


@intrinsic
def add_to(typingctx, sums, index, numbers):
    """Add numbers to those of a one-dimensional array in float64, from an index on."""

    def codegen(context, builder, signature, args):
        kind = ir.VectorType(ir.DoubleType(), args[2].type.count)
        place = _place(context, builder, signature.args[0], *args[:2])
        total = builder.fadd(_vector_at(builder, kind, place), _widened(builder, args[2], kind))
        write = builder.store(total, builder.bitcast(place, kind.as_pointer()))
        write.align = 4
        return context.get_dummy_value()

    return types.void(sums, types.intp, numbers), codegen


@intrinsic
def splat(typingctx, flat, index):
    """One number of an array in all lanes."""
    vector = Vector(flat.dtype)

    def codegen(context, builder, signature, args):
        place = _place(context, builder, signature.args[0], *args)
        return _splat(builder, _llvm(vector), builder.load(place))

    return vector(flat, types.intp), codegen


@intrinsic
def zeros(typingctx, flat):
    """Zero in all lanes of a register for an array's type."""
    vector = Vector(flat.dtype)

    def codegen(context, builder, signature, args):
        return _constant(_llvm(vector), 0.0)

    return vector(flat), codegen


@intrinsic
def fma(typingctx, a, b, c):
    """a b + c, rounded once where the processor can."""

    def codegen(context, builder, signature, args):
        return _call(builder, "fmuladd", args[0].type, *args)

    return a(a, a, a), codegen


@intrinsic
def add(typingctx, a, b):
    def codegen(context, builder, signature, args):
        return builder.fadd(*args)

    return a(a, a), codegen


@intrinsic
def multiply(typingctx, a, b):
    def codegen(context, builder, signature, args):
        return builder.fmul(*args)

    return a(a, a), codegen


@intrinsic
def distance(typingctx, a, b):
    """|a - b|"""

    def codegen(context, builder, signature, args):
        return _call(builder, "fabs", args[0].type, builder.fsub(*args))

    return a(a, a), codegen


@intrinsic
def root(typingctx, a):
    """The square root; of a number below zero, which is rounding, it is zero."""

    def codegen(context, builder, signature, args):
        zero = _constant(args[0].type, 0.0)
        kept = builder.select(builder.fcmp_ordered(">", args[0], zero), args[0], zero)
        return _call(builder, "sqrt", args[0].type, kept)

    return a(a), codegen


@intrinsic
def tanh(typingctx, a):
    """The hyperbolic tangent, (1 - e) / (1 + e) with e = e^(-2 |a|), and the sign of a."""

    def codegen(context, builder, signature, args):
        kind = args[0].type
        size = _call(builder, "fabs", kind, args[0])
        power = _exponential(builder, builder.fmul(_constant(kind, -2.0), size))
        one = _constant(kind, 1.0)
        found = builder.fdiv(builder.fsub(one, power), builder.fadd(one, power))
        return _call(builder, "copysign", kind, found, args[0])

    return a(a), codegen


@intrinsic
def exponential(typingctx, a):
    """e^a for a <= 0; what rounding has left above zero counts as zero."""

    def codegen(context, builder, signature, args):
        return _exponential(builder, args[0])

    return a(a), codegen


def _exponential(builder, x):
    """The method of `kernels.exponential`, for a register."""
    kind = x.type
    single = isinstance(kind.element, ir.FloatType)
    whole = ir.VectorType(I32 if single else I64, kind.count)
    last, shift, bias = (7, 23, 127) if single else (13, 52, 1023)
    high, low, turn = (HIGH_32, LOW_32, ROUND_32) if single else (HIGH_64, LOW_64, ROUND_64)

    def number(value):
        return _constant(kind, float(value))

    def integers(value):
        return ir.Constant(whole, [ir.Constant(whole.element, value)] * kind.count)

    zero, rounding = number(0.0), number(turn)
    x = builder.select(builder.fcmp_ordered("<", x, zero), x, zero)
    # below this n is the exponent of zero, and the result is zero
    least = number(-(bias - 0.25) * np.log(2))
    x = builder.select(builder.fcmp_ordered(">", x, least), x, least)
    shifted = _call(builder, "fmuladd", kind, x, number(PER_LOG2), rounding)
    n = builder.fsub(shifted, rounding)
    r = _call(builder, "fmuladd", kind, n, number(-float(high)), x)
    r = _call(builder, "fmuladd", kind, n, number(-float(low)), r)
    factorial, terms = 1.0, [1.0]
    for k in range(1, last + 1):
        factorial *= k
        terms.append(1 / factorial)
    power = number(terms.pop())
    while terms:
        power = _call(builder, "fmuladd", kind, power, r, number(terms.pop()))
    bits = builder.add(builder.bitcast(shifted, whole), integers(bias))
    scale = builder.bitcast(builder.shl(bits, integers(shift)), kind)
    return builder.fmul(power, scale)


@intrinsic
def transpose(typingctx, source, at, target, to, stride):
    """Write a square of numbers, as many rows as a register has lanes, the other way round: from
    `at` on in a source that is as wide as a tile of `stride[0]` numbers, to the place `to` of a
    target whose rows are `stride[1]` numbers long.
    """
    vector = Vector(source.dtype)

    def codegen(context, builder, signature, args):
        kind = _llvm(vector)
        count, steps = kind.count, [builder.extract_value(args[4], k) for k in range(2)]

        def place(which, array, first, row):
            index = builder.add(first, builder.mul(steps[which], ir.Constant(I64, row)))
            return _place(context, builder, signature.args[2 * which], array, index)

        rows = [_vector_at(builder, kind, place(0, args[0], args[1], r)) for r in range(count)]
        # squares of `half` numbers change places across the diagonal, for half = 1, 2, 4, ...
        half = 1
        while half < count:
            masks = [
                ir.Constant(ir.VectorType(I32, count), [ir.Constant(I32, k) for k in places])
                for places in (
                    [count + k - half if k & half else k for k in range(count)],
                    [count + k if k & half else k + half for k in range(count)],
                )
            ]
            for r in range(count):
                if not r & half:
                    pair = rows[r], rows[r + half]
                    rows[r], rows[r + half] = (builder.shuffle_vector(*pair, m) for m in masks)
            half *= 2
        for r in range(count):
            where = builder.bitcast(place(1, args[2], args[3], r), kind.as_pointer())
            builder.store(rows[r], where).align = 4
        return context.get_dummy_value()

    steps = types.UniTuple(types.intp, 2)
    return types.void(source, types.intp, target, types.intp, steps), codegen
