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

/// Adds the bytes per update.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let of = |path: Path, every, accelerates| -> Result<f64, String> {
        let runs = plan.seeds.iter().map(|seed| {
            let truth = path.truth(plan.seconds, *seed)?;
            Ok(bytes(&updates(&truth, every, accelerates)))
        });
        Ok(mean(runs.collect::<Result<Vec<_>, String>>()?))
    };
    let default = SendInterval::Ticks(3);
    figures.add(
        "bytes_per_update",
        of(Path::Recorded, default, false)?,
        format!(
            "B of payload without entity and tick, our mover in the arena, an update every 3 ticks; goal 13; \
         {:.2} with acceleration, {:.2} at 10 Hz; a kart {:.2}",
            of(Path::Recorded, default, true)?,
            of(Path::Recorded, SendInterval::Hz(10), false)?,
            of(Path::Kart, default, false)?
        ),
    )
}
