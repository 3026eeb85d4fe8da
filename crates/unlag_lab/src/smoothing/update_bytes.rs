//! Bytes per proxy update.

use super::{
    Plan,
    ideal_link::{SendInterval, updates},
    truth::Path,
};
use crate::prelude::*;

/// Returns the average bytes of an update without entity and tick.
fn bytes(updates: &[ProxyUpdate]) -> f64 {
    // An update with the message's own tick spends two bits on it.
    let bits = |update: &ProxyUpdate| {
        let mut w = BitWriter::default();
        update.write(update.snapshot.tick, &mut w);
        w.len_bits() - 2
    };
    updates.iter().map(bits).sum::<usize>() as f64 / 8.0 / updates.len() as f64
}

/// Adds the bytes per update of our mover in the arena.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let runs = plan.seeds.iter().map(|seed| {
        let truth = Path::Recorded.truth(plan.seconds, *seed)?;
        Ok(bytes(&updates(&truth, SendInterval::Ticks(3), false)))
    });
    figures.add("bytes_per_update", mean(runs.collect::<Result<Vec<_>, String>>()?))
}
