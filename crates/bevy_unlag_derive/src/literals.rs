//! Values of literals in attributes. Other constants are unknown until the compiler evaluates them.

use syn::{Expr, ExprLit, ExprUnary, Lit, UnOp};

/// Returns the value of a literal number.
pub(crate) fn number(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Float(float), .. }) => float.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|number| -number),
        Expr::Paren(paren) => number(&paren.expr),
        Expr::Group(group) => number(&group.expr),
        _ => integer(expr).map(|integer| integer as f64),
    }
}

/// Returns the value of a literal integer.
pub(crate) fn integer(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => int.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => integer(expr).map(|integer| -integer),
        Expr::Paren(paren) => integer(&paren.expr),
        Expr::Group(group) => integer(&group.expr),
        _ => None,
    }
}
