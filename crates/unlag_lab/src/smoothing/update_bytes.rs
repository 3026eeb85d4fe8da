//! Bytes per proxy update.

use super::{
    Plan,
    ideal_link::{SendInterval, not_resent, updates},
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

/// Adds the bytes per update of our mover in the arena, and how many of them are for the update before.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let (mut all, mut resent) = (Vec::new(), Vec::new());
    for seed in &plan.seeds {
        let truth = Path::Recorded.truth(plan.seconds, *seed)?;
        let sent = updates(&truth, SendInterval::Ticks(3), false);
        all.push(bytes(&sent));
        resent.push(bytes(&sent) - bytes(&not_resent(&sent)));
    }
    figures.add("bytes_per_update", mean(all))?;
    figures.add("resent_bytes_per_update", mean(resent))
}
