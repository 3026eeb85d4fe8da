//! Error metrics of drawn poses against ground truth.

use bevy::math::DVec3;

use super::truth::Truth;
use crate::statistics::{largest, mean};

/// Drawn sample of a proxy.
#[derive(Clone, Copy, Debug)]
pub struct DrawnSample {
    /// Time of the frame in seconds on the server's clock.
    pub now: f64,
    /// Time that the sample represents, in seconds on the server's clock.
    pub view: f64,
    /// Drawn position.
    pub place: DVec3,
    /// Drawn heading in radians.
    pub yaw: f64,
}

/// Fraction of the truth's speed below which a frame counts as frozen.
const FROZEN: f64 = 0.15;
/// Minimum speed of the truth for a frozen frame, in metres per second.
const MOVING: f64 = 1.0;
/// Multiple of the truth's top speed beyond which, plus [`SLACK`], a frame counts as a pop.
const POP: f64 = 1.25;
/// Tolerance of a pop in metres.
const SLACK: f64 = 0.02;
/// Seconds around a teleport in which a sample between the two positions counts as a slide.
const TELEPORT_WINDOW: f64 = 0.3;

/// Error metrics. Distances in centimetres, angles in degrees, times in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorMetrics {
    /// RMS distance from the truth.
    pub rms: f64,
    /// Largest distance from the truth.
    pub max: f64,
    /// Largest difference between a frame's step and the truth's step in the same time.
    pub step_excess: f64,
    /// Number of frames that move too fast.
    pub pops: usize,
    /// Percentage of frames that hardly move although the truth does.
    pub frozen_percent: f64,
    /// Mean age of the samples.
    pub delay: f64,
    /// Slowest and fastest rate of the drawn time relative to real time, over 100 ms because the time of a
    /// sample is rounded.
    pub speed: (f64, f64),
    /// Largest error of the heading.
    pub yaw: f64,
    /// Number of samples whose heading is off by more than 90°.
    pub flips: usize,
    /// Number of samples between the two positions of a teleport.
    pub slides: usize,
    /// Number of all samples.
    pub samples: usize,
}

/// Compares consecutive samples with the truth at the time that they represent or, with `present`, at the
/// time of their frame.
pub fn measure_errors(truth: &Truth, seen: &[DrawnSample], present: bool) -> ErrorMetrics {
    let meant = |s: &DrawnSample| if present { s.now } else { s.view };
    let mut verdict = ErrorMetrics { speed: (f64::INFINITY, 0.0), ..ErrorMetrics::default() };
    let mut errors: Vec<f64> = Vec::with_capacity(seen.len());
    let (mut delays, mut frozen, mut moving) = (0.0, 0_usize, 0_usize);
    for s in seen {
        let real = truth.at(meant(s));
        errors.push(s.place.distance(real.position) * 100.0);
        let turned = (s.yaw - real.yaw).sin().atan2((s.yaw - real.yaw).cos()).abs().to_degrees();
        verdict.yaw = verdict.yaw.max(turned);
        verdict.flips += usize::from(turned > 90.0);
        delays += s.now - s.view;
    }
    for pair in seen.windows(2) {
        let [a, b] = pair else { continue };
        let dt = (b.now - a.now).max(1e-9);
        let (before, after) = (truth.at(meant(a)), truth.at(meant(b)));
        let step = b.place - a.place;
        if before.teleports == after.teleports {
            // The truth follows a clock that jumps, but the jump still counts as an error.
            let jumped = (meant(b) - meant(a) - dt).abs() > dt;
            let real = if jumped { after.velocity * dt } else { after.position - before.position };
            verdict.step_excess = verdict.step_excess.max((step - real).length() * 100.0);
            verdict.pops += usize::from(step.length() > POP * truth.top_speed * dt + SLACK);
        }
        let real = after.velocity.length();
        moving += usize::from(real > MOVING);
        frozen += usize::from(real > MOVING && step.length() < FROZEN * real * dt);
    }
    for window in seen.windows(7) {
        let [a, .., b] = window else { continue };
        let speed = (b.view - a.view) / (b.now - a.now).max(1e-9);
        verdict.speed = (verdict.speed.0.min(speed), verdict.speed.1.max(speed));
    }
    verdict.rms = mean(errors.iter().map(|e| e * e)).sqrt();
    verdict.max = largest(errors);
    // A fraction of all frames, not only of those in motion; a standing pawn is not frozen.
    verdict.frozen_percent = 100.0 * frozen as f64 / (seen.len().max(2) - 1) as f64;
    if moving == 0 {
        verdict.frozen_percent = f64::NAN;
    }
    verdict.delay = delays / seen.len() as f64;
    verdict.slides = slides(truth, seen, present);
    verdict.samples = seen.len();
    verdict
}

/// Counts samples near a teleport that are close to neither of its positions.
fn slides(truth: &Truth, seen: &[DrawnSample], present: bool) -> usize {
    let teleports = truth.teleports();
    let slides = |s: &&DrawnSample| {
        let at = if present { s.now } else { s.view };
        let near = teleports.iter().find(|teleport| (at - **teleport).abs() < TELEPORT_WINDOW);
        let beside = |moment: f64| truth.at(moment).position.distance(s.place) > 0.5;
        near.is_some_and(|teleport| {
            (-60..60).all(|k| beside(teleport + TELEPORT_WINDOW * (f64::from(k) + 0.5) / 60.0))
        })
    };
    seen.iter().filter(slides).count()
}

/// Returns the largest distance in centimetres by which samples lie beyond the positions where the truth
/// stopped, or NaN without stops. The samples of a stop range from its start to its end.
pub fn overshoot(truth: &Truth, seen: &[DrawnSample], present: bool) -> f64 {
    const BEFORE: f64 = 0.05;
    let mut most = f64::NAN;
    for (at, stood) in truth.stops() {
        let end = truth.at(at).position;
        let way = (end - truth.at(at - BEFORE).position).normalize_or_zero();
        let pictures = seen.iter().filter(|s| {
            let meant = if present { s.now } else { s.view };
            meant >= at && meant <= at + stood
        });
        let beyond: Vec<f64> = pictures.map(|s| (s.place - end).dot(way) * 100.0).collect();
        if beyond.len() < 6 || way == DVec3::ZERO {
            continue;
        }
        most = beyond.into_iter().fold(most.max(0.0), f64::max);
    }
    most
}

/// Error metrics of several runs.
#[derive(Clone, Default)]
pub struct Runs(pub Vec<ErrorMetrics>);

impl Runs {
    /// Returns the mean of a metric.
    pub fn mean(&self, of: impl Fn(&ErrorMetrics) -> f64) -> f64 {
        mean(self.0.iter().map(of))
    }

    /// Returns the largest value of a metric.
    pub fn worst(&self, of: impl Fn(&ErrorMetrics) -> f64) -> f64 {
        largest(self.0.iter().map(of))
    }

    /// Returns the sum of a count.
    pub fn sum(&self, of: impl Fn(&ErrorMetrics) -> usize) -> usize {
        self.0.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smoothing::truth::Path;

    fn watched(path: Path, draw: impl Fn(&Truth, f64) -> DVec3) -> (Truth, Vec<DrawnSample>) {
        let truth = path.truth(20.0, 3).expect("the path is valid");
        let frames = (60..1_100).map(|k| f64::from(k) / 60.0);
        let seen = frames
            .map(|now| DrawnSample {
                now,
                view: now - 0.1,
                place: draw(&truth, now - 0.1),
                yaw: truth.at(now - 0.1).yaw,
            })
            .collect();
        (truth, seen)
    }

    #[test]
    fn delayed_truth_has_no_error_except_against_the_present() {
        for path in [Path::Adad, Path::Kart, Path::Teleport, Path::StopStart] {
            let (truth, seen) = watched(path, |truth, at| truth.at(at).position);
            let verdict = measure_errors(&truth, &seen, false);
            assert!(verdict.max < 1e-9 && verdict.step_excess < 1e-9 && verdict.yaw < 1e-6, "{verdict:?}");
            assert_eq!((verdict.pops, verdict.flips, verdict.slides), (0, 0, 0), "{path:?}");
            assert!(verdict.frozen_percent == 0.0 && (verdict.delay - 0.1).abs() < 1e-9, "{verdict:?}");
            let present = measure_errors(&truth, &seen, true);
            assert!(
                present.rms > 5.0,
                "100 ms of delay must count as error against the present: {present:?}"
            );
        }
    }

    #[test]
    fn freezes_pops_overshoots_and_teleport_slides_are_detected() {
        let (truth, seen) =
            watched(Path::StopStart, |truth, at| truth.at((at * 10.0).floor() / 10.0).position);
        let verdict = measure_errors(&truth, &seen, false);
        assert!(verdict.frozen_percent > 30.0 && verdict.pops > 50, "ten samples per second: {verdict:?}");
        let beyond = |truth: &Truth, at: f64| {
            let now = truth.at(at);
            now.position + truth.at(at - 0.02).velocity * 0.1
        };
        let (truth, seen) = watched(Path::StopStart, beyond);
        let most = overshoot(&truth, &seen, false);
        assert!(most > 1.0, "{most} cm");
        let slow = |truth: &Truth, at: f64| {
            let places = (0..10).map(|k| truth.at(at - f64::from(k) * 0.01).position);
            places.sum::<DVec3>() / 10.0
        };
        let (truth, seen) = watched(Path::Teleport, slow);
        assert!(measure_errors(&truth, &seen, false).slides > 10);
    }
}
