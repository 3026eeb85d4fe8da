//! Provokes corrections by displacing a character on the server, and times the client.

use std::collections::VecDeque;

use bevy::math::Vec3;
use bevy_unlag_movement::CapsuleState;

use crate::statistics::{mean, median};

/// Age of a correction in ticks.
pub const DEPTH: u64 = 10;

/// Frames between two displacements: more than the correction and its check take.
const PERIOD: usize = 40;
/// Corrections of one side before the next takes its turn, so that a slowdown of the machine affects all of
/// them.
const BLOCK: usize = 20;
/// Minimum distance of a displacement in metres.
const SHOVE: f32 = 0.3;
/// Number of recorded positions of a character.
const TRAIL: usize = 512;

/// Server with a predicting client.
pub trait Side {
    /// Returns the name for error messages.
    fn name(&self) -> String;
    /// Runs one frame of client and server. Returns the processor time of the client's frame in µs.
    fn frame(&mut self) -> f64;
    /// Moves the first character on the server.
    fn shove(&mut self, to: Vec3);
    /// Returns the predicted characters on the client.
    fn client_states(&self) -> Vec<CapsuleState>;
    /// Returns the same characters on the server.
    fn server_states(&self) -> Vec<CapsuleState>;
    /// Returns the client's counters since its start.
    fn counts(&self) -> Counts;
    /// Returns the number of characters that a correction steps again.
    fn predicted(&self) -> usize;
}

/// Counters of a client.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Counts {
    /// Number of corrections.
    pub corrections: u64,
    /// Sum of the ticks that they went back.
    pub ticks: u64,
    /// Sum of the repeated steps.
    pub steps: u64,
}

/// Timings of a side.
pub struct Timing {
    /// Trimmed mean of the processor time of a correction in µs, without the lowest and the highest percent.
    pub mean_us: f64,
    /// Median processor time of a correction in µs.
    pub correction_us: f64,
    /// Median processor time of a client frame without a correction in µs.
    pub frame_us: f64,
    /// Number of corrections.
    pub corrections: usize,
    /// Repeated steps per correction.
    pub steps: u64,
}

#[derive(Default)]
struct Samples {
    /// Cost of every correction, without the frame around it.
    costs: Vec<f64>,
    /// Median of the frames around every correction.
    frames: Vec<f64>,
    /// Number of corrections that changed the result: without them the client would have ended elsewhere.
    effective: usize,
    /// Past positions of the character on the server, newest first; known to be free of obstacles.
    trail: VecDeque<Vec3>,
}

/// Measures a number of corrections on every side.
///
/// # Errors
/// Returns a message if a correction failed its checks.
pub fn measure<const N: usize>(
    mut sides: [&mut dyn Side; N],
    corrections: usize,
) -> Result<[Timing; N], String> {
    let mut samples = [(); N].map(|()| Samples::default());
    for (side, samples) in sides.iter_mut().zip(&mut samples) {
        for _ in 0..PERIOD {
            side.frame();
            samples.note(&**side);
        }
    }
    for first in (0..corrections).step_by(BLOCK) {
        for (side, samples) in sides.iter_mut().zip(&mut samples) {
            for n in first..corrections.min(first + BLOCK) {
                one(&mut **side, samples)
                    .map_err(|line| format!("{}, correction {n}: {line}", side.name()))?;
            }
        }
    }
    let timings = sides.iter().zip(samples).map(|(side, samples)| samples.timing(&**side));
    let timings = timings.collect::<Result<Vec<_>, _>>()?;
    timings.try_into().map_err(|_| "a side is missing".into())
}

/// Provokes one correction and checks it.
fn one(side: &mut dyn Side, samples: &mut Samples) -> Result<(), String> {
    let here = side.server_states().first().ok_or("the server has no character")?.position;
    let back = samples.trail.iter().find(|place| place.distance(here) >= SHOVE);
    side.shove(*back.ok_or("the character does not move")?);

    let mut quiet = Vec::with_capacity(PERIOD);
    let mut corrected = None;
    let (mut reached, mut as_before) = (false, false);
    for _ in 0..PERIOD {
        let (then, before) = (side.counts(), side.client_states());
        let micros = side.frame();
        samples.note(side);
        let now = side.counts();
        let (ticks, steps) = (now.ticks - then.ticks, now.steps - then.steps);
        match now.corrections - then.corrections {
            0 if steps == 0 => quiet.push(micros),
            1 if corrected.is_none() => {
                if ticks != DEPTH || steps != DEPTH * side.predicted() as u64 {
                    return Err(format!("the correction went {ticks} ticks back and repeated {steps} steps"));
                }
                corrected = Some((micros, before, side.client_states()));
            }
            more => return Err(format!("one shove, {more} corrections, {steps} repeated steps")),
        }
        if let Some((_, wrong, right)) = &corrected {
            let server = side.server_states();
            reached |= server == *right && server.len() == side.predicted();
            as_before |= server == *wrong;
        }
    }
    let (micros, ..) = corrected.ok_or("the client was not corrected")?;
    if !reached {
        return Err("the server never reached the state of the corrected client".into());
    }
    samples.effective += usize::from(!as_before);
    let frame = median(&mut quiet);
    samples.frames.push(frame);
    samples.costs.push(micros - frame);
    Ok(())
}

impl Samples {
    fn note(&mut self, side: &dyn Side) {
        self.trail.truncate(TRAIL - 1);
        if let Some(state) = side.server_states().first() {
            self.trail.push_front(state.position);
        }
    }

    fn timing(mut self, side: &dyn Side) -> Result<Timing, String> {
        let corrections = self.costs.len();
        // A displaced character that runs against the same box may soon be where it would have been anyway,
        // but not often.
        if self.effective * 10 < corrections * 9 {
            let name = side.name();
            return Err(format!(
                "{name}: only {} of {corrections} displacements had an effect",
                self.effective
            ));
        }
        Ok(Timing {
            mean_us: trimmed_mean(&mut self.costs),
            correction_us: median(&mut self.costs),
            frame_us: median(&mut self.frames),
            corrections,
            steps: DEPTH * side.predicted() as u64,
        })
    }
}

/// Returns the mean without the lowest and the highest percent, or NaN without numbers.
fn trimmed_mean(numbers: &mut [f64]) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let rest = &numbers[numbers.len() / 100..numbers.len() - numbers.len() / 100];
    mean(rest.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::quantile;

    #[test]
    fn quantile_and_trimmed_mean_ignore_outliers_and_are_nan_without_numbers() {
        let mut numbers: Vec<f64> = (0..200).rev().map(f64::from).collect();
        numbers[0] = 1.0e9;
        assert_eq!(quantile(&mut numbers, 0.5), 100.0);
        assert_eq!(trimmed_mean(&mut numbers), 99.5);
        assert!(quantile(&mut [], 0.5).is_nan() && trimmed_mean(&mut []).is_nan());
    }
}
