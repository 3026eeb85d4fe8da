//! Cubic Hermite basis.

use core::ops::{Add, Mul};

/// Weights of a cubic Hermite curve, for its position or its slope: of the difference between the ends
/// (`ease`), the start tangent (`leave`) and the end tangent (`arrive`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct HermiteWeights {
    pub(crate) ease: f32,
    pub(crate) leave: f32,
    pub(crate) arrive: f32,
}

impl HermiteWeights {
    /// Returns the weights of the offset from the start, at the fraction `t`.
    pub(crate) fn place(t: f32) -> Self {
        let (t2, t3) = (t * t, t * t * t);
        Self { ease: 3.0 * t2 - 2.0 * t3, leave: t3 - 2.0 * t2 + t, arrive: t3 - t2 }
    }

    /// Returns the weights of the slope at the fraction `t`, per unit of the fraction.
    pub(crate) fn slope(t: f32) -> Self {
        let t2 = t * t;
        Self { ease: 6.0 * t - 6.0 * t2, leave: 3.0 * t2 - 4.0 * t + 1.0, arrive: 3.0 * t2 - 2.0 * t }
    }

    /// Returns the weighted sum. A tangent is a velocity times the time between the ends.
    pub(crate) fn of<V: Mul<f32, Output = V> + Add<Output = V>>(self, way: V, leaving: V, arriving: V) -> V {
        way * self.ease + leaving * self.leave + arriving * self.arrive
    }
}
