//! How many bytes an update of a proxy takes.

use bevy_unlag::core::{BitWriter, PathKnotConfig, ProxyUpdate};

use super::{
    Plan,
    judge::spread,
    perfect::{Every, updates},
    truth::Path,
};
use crate::figures::Figures;

/// Bytes of an update beside its entity and tick, on average.
fn bytes(updates: &[ProxyUpdate]) -> f64 {
    // The tick takes two of them when it is the one of the message.
    let bits = |update: &ProxyUpdate| {
        let mut w = BitWriter::default();
        update.write(update.snapshot.tick, &mut w);
        w.len_bits() - 2
    };
    updates.iter().map(bits).sum::<usize>() as f64 / 8.0 / updates.len() as f64
}

/// Adds the bytes of an update.
///
/// # Errors
/// When nothing could be measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    let of = |path: Path, every, accelerates| -> Result<f64, String> {
        let runs = plan.seeds.iter().map(|seed| {
            let truth = path.truth(plan.seconds, *seed)?;
            Ok(bytes(&updates(&truth, every, &PathKnotConfig::default(), accelerates)))
        });
        Ok(spread(runs.collect::<Result<Vec<_>, String>>()?).mean)
    };
    let default = Every::Ticks(3);
    figures.add(
        "bytes_per_update",
        of(Path::Recorded, default, false)?,
        format!(
            "B of payload beside entity and tick, our mover in the arena, an update every 3 ticks; goal 13; {:.2} with \
             acceleration, {:.2} at 10 Hz; a kart {:.2}",
            of(Path::Recorded, default, true)?,
            of(Path::Recorded, Every::Hz(10), false)?,
            of(Path::Kart, default, false)?
        ),
    )
}
