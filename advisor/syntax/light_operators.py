"""Operators and kinds of numbers: libcst's by CPython's. All nodes of a kind share one, which has no white space."""

from __future__ import annotations

import ast

import libcst as cst

NUMBERS: dict[type, type[cst.BaseNumber]] = {int: cst.Integer, float: cst.Float, complex: cst.Imaginary}
BINARY: dict[type[ast.operator], cst.BaseBinaryOp] = {
    ast.Add: cst.Add(),
    ast.Sub: cst.Subtract(),
    ast.Mult: cst.Multiply(),
    ast.MatMult: cst.MatrixMultiply(),
    ast.Div: cst.Divide(),
    ast.FloorDiv: cst.FloorDivide(),
    ast.Mod: cst.Modulo(),
    ast.Pow: cst.Power(),
    ast.LShift: cst.LeftShift(),
    ast.RShift: cst.RightShift(),
    ast.BitAnd: cst.BitAnd(),
    ast.BitOr: cst.BitOr(),
    ast.BitXor: cst.BitXor(),
}
UNARY: dict[type[ast.unaryop], cst.BaseUnaryOp] = {
    ast.USub: cst.Minus(),
    ast.UAdd: cst.Plus(),
    ast.Not: cst.Not(),
    ast.Invert: cst.BitInvert(),
}
BOOLEAN: dict[type[ast.boolop], cst.BaseBooleanOp] = {ast.And: cst.And(), ast.Or: cst.Or()}
COMPARED: dict[type[ast.cmpop], cst.BaseCompOp] = {
    ast.Eq: cst.Equal(),
    ast.NotEq: cst.NotEqual(),
    ast.Lt: cst.LessThan(),
    ast.LtE: cst.LessThanEqual(),
    ast.Gt: cst.GreaterThan(),
    ast.GtE: cst.GreaterThanEqual(),
    ast.Is: cst.Is(),
    ast.IsNot: cst.IsNot(),
    ast.In: cst.In(),
    ast.NotIn: cst.NotIn(),
}
AUGMENTED: dict[type[ast.operator], cst.BaseAugOp] = {
    ast.Add: cst.AddAssign(),
    ast.Sub: cst.SubtractAssign(),
    ast.Mult: cst.MultiplyAssign(),
    ast.MatMult: cst.MatrixMultiplyAssign(),
    ast.Div: cst.DivideAssign(),
    ast.FloorDiv: cst.FloorDivideAssign(),
    ast.Mod: cst.ModuloAssign(),
    ast.Pow: cst.PowerAssign(),
    ast.LShift: cst.LeftShiftAssign(),
    ast.RShift: cst.RightShiftAssign(),
    ast.BitAnd: cst.BitAndAssign(),
    ast.BitOr: cst.BitOrAssign(),
    ast.BitXor: cst.BitXorAssign(),
}
