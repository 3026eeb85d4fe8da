//! Bytes per proxy update.

use super::{
    Plan,
    ideal_link::{SendInterval, not_resent, record, updates},
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

/// Adds the bytes per update of our mover in the arena, how many of them are for the update before, and the percentage
/// of updates that are sent twice.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let (mut all, mut resent, mut twice) = (Vec::new(), Vec::new(), Vec::new());
    let sampler = PoseSampler { gravity: CapsuleConfig::default().gravity, ..PoseSampler::default() };
    for seed in &plan.seeds {
        let truth = Path::Recorded.truth(plan.seconds, *seed)?;
        let sent = updates(&truth, SendInterval::Ticks(3), false);
        all.push(bytes(&sent));
        resent.push(bytes(&sent) - bytes(&not_resent(&sent)));
        let sent = record(&truth, SendInterval::Ticks(3), &sampler, false);
        twice.push(100.0 * sent.iter().filter(|(_, twice)| *twice).count() as f64 / sent.len() as f64);
    }
    figures.add("bytes_per_update", mean(all))?;
    figures.add("resent_bytes_per_update", mean(resent))?;
    figures.add("repeated_updates_percent", mean(twice))
}
