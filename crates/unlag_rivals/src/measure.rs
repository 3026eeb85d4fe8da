//! Shoves a character on the server, over and over, and times how its client takes it.

use std::collections::VecDeque;

use bevy::math::Vec3;
use bevy_unlag_movement::CapsuleState;

/// How far back a correction goes, in ticks.
pub const DEPTH: u64 = 10;

/// Frames from one shove to the next: more than both the correction and the proof of it take.
const PERIOD: usize = 40;
/// Corrections of one side in a row; then it is the next one's turn, so that a machine that slows
/// down slows all of them down.
const BLOCK: usize = 20;
/// Metres that a shove takes a character back at least.
const SHOVE: f32 = 0.3;
/// How many places are known where a character has been.
const TRAIL: usize = 512;

/// A server and a client that predicts.
pub trait Side {
    /// In errors.
    fn name(&self) -> String;
    /// One frame of client and server. Returns the processor time of the client's, in µs.
    fn frame(&mut self) -> f64;
    /// Puts the first character somewhere else on the server.
    fn shove(&mut self, to: Vec3);
    /// The predicted characters on the client.
    fn client_states(&self) -> Vec<CapsuleState>;
    /// The same ones on the server.
    fn server_states(&self) -> Vec<CapsuleState>;
    /// What has happened on the client since it began.
    fn counts(&self) -> Counts;
    /// How many characters a correction steps again.
    fn predicted(&self) -> usize;
}

/// What has happened on a client.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Counts {
    /// Corrections.
    pub corrections: u64,
    /// Ticks that they went back, all together.
    pub ticks: u64,
    /// Steps that were made again, all together.
    pub steps: u64,
}

/// What was measured of a side.
pub struct Timing {
    /// Mean processor time of a correction, in µs, one in a hundred at either end left out.
    pub mean_us: f64,
    /// Median processor time of a correction, in µs.
    pub correction_us: f64,
    /// The first and the third quartile.
    pub quartiles: [f64; 2],
    /// Median processor time of a client's frame without a correction, in µs.
    pub frame_us: f64,
    /// How many corrections.
    pub corrections: usize,
    /// Steps made again in one.
    pub steps: u64,
}

#[derive(Default)]
struct Samples {
    /// Of every correction, without the frame around it.
    costs: Vec<f64>,
    /// Of every correction's neighbours, their median.
    frames: Vec<f64>,
    /// Corrections after which the server did not come where the client had been.
    elsewhere: usize,
    /// Where the character has been on the server, newest first: there it fits in.
    trail: VecDeque<Vec3>,
}

/// Measures so many corrections on every side.
///
/// # Errors
/// When something was not corrected as it should have been.
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

/// One correction and its proof.
fn one(side: &mut dyn Side, samples: &mut Samples) -> Result<(), String> {
    let here = side.server_states().first().ok_or("there is nobody on the server")?.position;
    let back = samples.trail.iter().find(|place| place.distance(here) >= SHOVE);
    side.shove(*back.ok_or("nobody walks")?);

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
                    return Err(format!("it went {ticks} ticks back and made {steps} steps again"));
                }
                corrected = Some((micros, before, side.client_states()));
            }
            more => return Err(format!("one shove, {more} corrections more, {steps} steps made again")),
        }
        if let Some((_, wrong, right)) = &corrected {
            let server = side.server_states();
            reached |= server == *right && server.len() == side.predicted();
            as_before |= server == *wrong;
        }
    }
    let (micros, ..) = corrected.ok_or("the client was not corrected")?;
    if !reached {
        return Err("the server never got where the client was put".into());
    }
    samples.elsewhere += usize::from(!as_before);
    let frame = quantile(&mut quiet, 0.5);
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
        // A shoved character that runs against the same box again may soon be where it would have
        // been, but not often.
        if self.elsewhere * 10 < corrections * 9 {
            let name = side.name();
            return Err(format!("{name}: only {} of {corrections} shoves made a difference", self.elsewhere));
        }
        Ok(Timing {
            mean_us: mean(&mut self.costs),
            correction_us: quantile(&mut self.costs, 0.5),
            quartiles: [0.25, 0.75].map(|q| quantile(&mut self.costs, q)),
            frame_us: quantile(&mut self.frames, 0.5),
            corrections,
            steps: DEPTH * side.predicted() as u64,
        })
    }
}

/// The number that a part `q` of them is below; NaN of none.
pub fn quantile(numbers: &mut [f64], q: f64) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let last = numbers.len().saturating_sub(1) as f64;
    numbers.get((last * q).round() as usize).copied().unwrap_or(f64::NAN)
}

/// The mean without one in a hundred at either end; NaN of none.
fn mean(numbers: &mut [f64]) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let rest = &numbers[numbers.len() / 100..numbers.len() - numbers.len() / 100];
    rest.iter().sum::<f64>() / rest.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_means() {
        let mut numbers: Vec<f64> = (0..200).rev().map(f64::from).collect();
        numbers[0] = 1.0e9;
        assert_eq!(quantile(&mut numbers, 0.5), 100.0);
        assert_eq!(mean(&mut numbers), 99.5);
        assert!(quantile(&mut [], 0.5).is_nan() && mean(&mut []).is_nan());
    }
}
