//! Interpolation error where updates are lost.

use super::{
    Plan,
    error_metrics::{Runs, measure_errors},
    ideal_link::{SendInterval, drawn_samples, not_resent, updates},
    truth::Path,
};
use crate::prelude::*;

/// Paths of players on foot with their names in JSON keys.
const PATHS: [(Path, &str); 4] = [
    (Path::Adad, "adad"),
    (Path::StopStart, "stopstart"),
    (Path::Jump, "jump"),
    (Path::Recorded, "recorded"),
];

/// Adds the errors of players whose every third update is lost, with and without the updates that are sent again.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn add(figures: &mut Figures, plan: &Plan) -> Result<(), String> {
    for (path, name) in PATHS {
        let (mut resent, mut bare) = (Runs::default(), Runs::default());
        for seed in &plan.seeds {
            let truth = path.truth(plan.seconds, *seed)?;
            let sent = updates(&truth, SendInterval::Ticks(3), false);
            let arrives = |(number, update): (usize, &ProxyUpdate)| (number % 3 != 2).then_some(*update);
            let arrived: Vec<_> = sent.iter().enumerate().filter_map(arrives).collect();
            let see = |updates: &[ProxyUpdate]| {
                measure_errors(&truth, &drawn_samples(&truth, updates, Interpolation::Hermite), false)
            };
            resent.0.push(see(&arrived));
            bare.0.push(see(&not_resent(&arrived)));
        }
        let note = format!("the largest {:.3}", resent.worst(|v| v.max));
        figures.add_noted(format!("lost_update_rms_cm_{name}"), resent.mean(|v| v.rms), note)?;
        let note = format!("the largest {:.3}", bare.worst(|v| v.max));
        figures.add_noted(format!("control_lost_update_rms_cm_{name}"), bare.mean(|v| v.rms), note)?;
    }
    Ok(())
}
