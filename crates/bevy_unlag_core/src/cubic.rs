//! The cubic that leaves one end with one tangent and arrives at the other with another.

use core::ops::{Add, Mul};

/// How much the way between the ends, the tangent at the first and that at the second count: for the
/// place along a cubic, or for its slope.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    pub(crate) ease: f32,
    pub(crate) leave: f32,
    pub(crate) arrive: f32,
}

impl Weights {
    /// For the place after this part of the way, from the first end.
    pub(crate) fn place(t: f32) -> Self {
        let (t2, t3) = (t * t, t * t * t);
        Self { ease: 3.0 * t2 - 2.0 * t3, leave: t3 - 2.0 * t2 + t, arrive: t3 - t2 }
    }

    /// For the slope there, over the part of the way.
    pub(crate) fn slope(t: f32) -> Self {
        let t2 = t * t;
        Self { ease: 6.0 * t - 6.0 * t2, leave: 3.0 * t2 - 4.0 * t + 1.0, arrive: 3.0 * t2 - 2.0 * t }
    }

    /// All three together. A tangent is a velocity times the time between the ends.
    pub(crate) fn of<V: Mul<f32, Output = V> + Add<Output = V>>(self, way: V, leaving: V, arriving: V) -> V {
        way * self.ease + leaving * self.leave + arriving * self.arrive
    }
}
