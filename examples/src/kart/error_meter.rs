//! Error and jumps of the drawn karts, measured against the server's positions.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag::{
    core::{Easing, ProxySmoothing, SnapshotHistory, Tick, ViewTime, VisualSystems},
    prelude::*,
    smoothing::ProxyTime,
};

use super::{
    copies::CopyOf,
    ground_truth::{GroundTruth, TruePose},
};
use crate::app::TICK;

/// Time window of the recent errors, in seconds.
const WINDOW: f64 = 3.0;
/// Maximum time that a frame waits for the true pose at its view time, in seconds.
const TRUTH_TIMEOUT: f64 = 0.5;

/// A frame that has been compared with the true pose.
#[derive(Clone, Copy, Debug)]
struct MeasuredFrame {
    at: f64,
    /// Position error in metres.
    error: f32,
    turn: f32,
    /// Distance from the extrapolation of the last frame, in metres, if it counts as a jump; else 0.
    jump: f32,
}

/// A drawn frame whose true pose may not be known yet.
#[derive(Clone, Copy, Debug)]
struct PendingFrame {
    at: f64,
    moment: ViewTime,
    position: Vec3,
    rotation: Quat,
    jump: f32,
}

/// Error statistics of a kart on this screen. A copy's error is measured against the true pose at its view
/// time; jumps are measured for every kart.
#[derive(Component, Clone, Debug, Default)]
pub struct ErrorMeter {
    frames: VecDeque<MeasuredFrame>,
    waiting: VecDeque<PendingFrame>,
    total: ErrorStats,
    last: Option<(Vec3, Vec3)>,
    /// Tick of the newest update, and the time at which it arrived.
    newest: Option<(Tick, f64)>,
}

/// Summed errors over a number of frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct ErrorStats {
    /// Number of frames.
    pub frames: u64,
    squares: f64,
    /// Largest position error, in metres.
    pub worst: f32,
    /// Largest heading error, in radians.
    pub worst_turn: f32,
    /// Number of jumps.
    pub jumps: u64,
    /// Longest jump, in metres.
    pub worst_jump: f32,
}

impl ErrorStats {
    fn add(&mut self, frame: &MeasuredFrame) {
        self.frames += 1;
        self.squares += f64::from(frame.error).powi(2);
        self.worst = self.worst.max(frame.error);
        self.worst_turn = self.worst_turn.max(frame.turn);
        self.jumps += u64::from(frame.jump > 0.0);
        self.worst_jump = self.worst_jump.max(frame.jump);
    }

    #[cfg(test)]
    pub(super) fn jumped(jumps: u64) -> Self {
        Self { frames: 100, jumps, ..Self::default() }
    }

    /// Returns the RMS of the position error, in metres.
    #[must_use]
    pub fn rms(&self) -> f32 {
        (self.squares / self.frames.max(1) as f64).sqrt() as f32
    }
}

/// Returns the distance between a kart's position and the one that its last frame led to, if it counts as a
/// jump; else 0. A kart that stands still between two updates jumps when the next update arrives, not while
/// it stands.
fn jump(before: Vec3, position: Vec3, way: Vec3) -> f32 {
    let step = position - before;
    let stands = step.length() < 0.2 * way.length();
    let beside = (step - way).length();
    if !stands && beside > 0.25 * way.length() + 0.02 { beside } else { 0.0 }
}

impl ErrorMeter {
    /// Returns the statistics of the last 3 seconds.
    #[must_use]
    pub fn recent(&self) -> ErrorStats {
        let mut tally = ErrorStats::default();
        self.frames.iter().for_each(|frame| tally.add(frame));
        tally
    }

    /// Returns the statistics since the last [`reset`](Self::reset).
    #[must_use]
    pub fn total(&self) -> &ErrorStats {
        &self.total
    }

    /// Resets the statistics.
    pub fn reset(&mut self) {
        *self = Self { last: self.last, newest: self.newest, ..Self::default() };
    }

    /// Records the position of a frame, and returns the length of its jump in metres.
    fn jumped(&mut self, position: Vec3, velocity: Vec3, dt: f32) -> f32 {
        let last = self.last.replace((position, velocity));
        last.map_or(0.0, |(before, speed)| jump(before, position, (speed + velocity) * (0.5 * dt)))
    }

    fn note(&mut self, frame: MeasuredFrame) {
        self.total.add(&frame);
        self.frames.push_back(frame);
        while self.frames.front().is_some_and(|first| frame.at - first.at > WINDOW) {
            self.frames.pop_front();
        }
    }

    /// Compares the waiting frames with the true poses, as far as those are known.
    fn compare(&mut self, now: f64, truth: impl Fn(ViewTime) -> Option<TruePose>) {
        while let Some(seen) = self.waiting.front().copied() {
            if let Some(place) = truth(seen.moment) {
                self.note(MeasuredFrame {
                    at: seen.at,
                    error: place.position.distance(seen.position),
                    turn: place.rotation.angle_between(seen.rotation),
                    jump: seen.jump,
                });
            } else if now - seen.at < TRUTH_TIMEOUT {
                break;
            }
            self.waiting.pop_front();
        }
    }

    /// Returns the server time that a kart's drawn pose is compared with. An interpolated kart is compared
    /// at its view time. A kart without a playout delay shows its newest update until the next one arrives,
    /// and is compared with the motion since then.
    fn moment(
        &mut self,
        mode: ProxySmoothing,
        history: &SnapshotHistory,
        proxy: &ProxyTime,
        now: f64,
    ) -> Option<ViewTime> {
        let newest = history.newest()?.tick;
        if self.newest.is_none_or(|(tick, _)| tick != newest) {
            self.newest = Some((newest, now));
        }
        match mode {
            ProxySmoothing::Raw | ProxySmoothing::Exponential => {
                let (tick, came) = self.newest?;
                Some(ViewTime::after(tick, (now - came) / TICK.as_secs_f64()))
            }
            _ => proxy.drawn,
        }
    }
}

/// Returns the velocity of the drawn kart, including its fading visual offset.
fn velocity_of(drawn: &DrawnPose, offset: &VisualOffset) -> Vec3 {
    let fades = match offset.easing {
        Easing::Exponential { seconds, .. } => offset.offset / -seconds.max(1e-3),
        _ => offset.velocity,
    };
    drawn.pose.velocity + fades
}

/// Adds a [`ErrorMeter`] to every drawn kart and updates it.
pub fn plugin(app: &mut App) {
    app.add_observer(|added: On<Add, DrawnPose>, mut commands: Commands| {
        commands.entity(added.entity).insert_if_new(ErrorMeter::default());
    })
    .add_systems(PostUpdate, (measure_copies, measure_own).after(VisualSystems::Draw));
}

fn measure_copies(
    time: Res<Time<Real>>,
    truth: Res<GroundTruth>,
    pawns: Query<&NetId>,
    mut copies: Query<(
        &CopyOf,
        &ProxySmoothing,
        &SnapshotHistory,
        &ProxyTime,
        &DrawnPose,
        &VisualOffset,
        &mut ErrorMeter,
    )>,
) {
    let (now, dt) = (time.elapsed_secs_f64(), time.delta_secs());
    for (CopyOf(pawn), mode, history, proxy, drawn, offset, mut meter) in &mut copies {
        let moment = meter.moment(*mode, history, proxy, now);
        let (Ok(id), Some(moment), true) = (pawns.get(*pawn), moment, drawn.pose.alive) else {
            meter.last = None;
            continue;
        };
        let position = drawn.pose.position + offset.offset;
        let jump = meter.jumped(position, velocity_of(drawn, offset), dt);
        let rotation = offset.turn * drawn.pose.rotation;
        meter.waiting.push_back(PendingFrame { at: now, moment, position, rotation, jump });
        meter.compare(now, |moment| truth.at(*id, moment));
    }
}

fn measure_own(
    time: Res<Time<Real>>,
    mut karts: Query<(&DrawnPose, &VisualOffset, &mut ErrorMeter), With<LocalControl>>,
) {
    for (drawn, offset, mut meter) in &mut karts {
        if !drawn.pose.alive {
            meter.last = None;
            continue;
        }
        let position = drawn.pose.position + offset.offset;
        let jump = meter.jumped(position, velocity_of(drawn, offset), time.delta_secs());
        meter.note(MeasuredFrame { at: time.elapsed_secs_f64(), error: 0.0, turn: 0.0, jump });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jump_is_the_deviation_from_the_motion_of_the_last_frame() {
        let way = Vec3::X * 0.2;
        assert_eq!(jump(Vec3::ZERO, Vec3::X * 0.21, way), 0.0, "it continues its motion");
        assert_eq!(jump(Vec3::ZERO, Vec3::ZERO, way), 0.0, "standing still is not a jump");
        assert!((jump(Vec3::ZERO, Vec3::X * 1.2, way) - 1.0).abs() < 1e-6);
        assert!((jump(Vec3::ZERO, Vec3::X * -0.8, way) - 1.0).abs() < 1e-6, "a jump back");
    }

    #[test]
    fn frame_without_a_true_pose_waits_for_it_until_a_timeout() {
        let mut meter = ErrorMeter::default();
        let at = |at: f64, x: f32| PendingFrame {
            at,
            moment: ViewTime::at(Tick(at as u32)),
            position: Vec3::X * x,
            rotation: Quat::IDENTITY,
            jump: 0.0,
        };
        let place = TruePose { position: Vec3::ZERO, rotation: Quat::IDENTITY };
        meter.waiting.extend([at(1.0, 0.03), at(1.1, 0.04)]);
        meter.compare(1.1, |_| None);
        assert_eq!((meter.total.frames, meter.waiting.len()), (0, 2));
        meter.compare(1.2, |_| Some(place));
        assert_eq!((meter.total.frames, meter.waiting.len()), (2, 0));
        assert!((meter.total.worst - 0.04).abs() < 1e-6);
        assert!((meter.recent().rms() - (0.0025f32 / 2.0).sqrt()).abs() < 1e-6);
        meter.waiting.push_back(at(2.0, 9.0));
        meter.compare(9.0, |_| None);
        assert!(
            meter.waiting.is_empty() && meter.total.frames == 2,
            "frames without a true pose are dropped in the end"
        );
    }
}
