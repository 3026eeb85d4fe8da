//! Quantiles, means and time differences.

use std::time::Instant;

/// Sorts `values` and returns the quantile `q` (nearest rank, no interpolation), or NaN without values.
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    values.get((last * q).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Sorts `values` and returns the median (nearest rank), or NaN without values.
pub fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

/// Sorts `values` and returns the smallest one that at least `per_mille` thousandths of all values do not exceed, or
/// NaN without values.
pub fn upper_quantile(values: &mut [f64], per_mille: usize) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() * per_mille / 1_000).or(values.last()).copied().unwrap_or(f64::NAN)
}

/// Returns the mean, or NaN without values.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count)
}

/// Returns the largest value, or negative infinity without values.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the microseconds since `start`.
pub fn micros(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}
