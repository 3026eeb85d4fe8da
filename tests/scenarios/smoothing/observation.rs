//! Comparison of drawn remote pawns with the server's published states.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag::{
    core::{PublishedState, Tick, ViewStamp, ViewTime},
    prelude::*,
};
use unlag_examples::stepped_match::Match;

use crate::statistics::upper_quantile;

/// Published position and velocity of every pawn at every server tick.
#[derive(Resource, Default)]
struct PublishedStates(HashMap<(NetId, Tick), (Vec3, Vec3)>);

/// One drawn frame of a remote pawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawnFrame {
    /// Seconds on the client's clock.
    pub now: f64,
    /// Drawn position, including the offset that hides jumps.
    pub place: Vec3,
    /// Drawn position without that offset.
    pub pose: Vec3,
    /// Whether the pose was interpolated or extrapolated, and its view time.
    pub stamp: ViewStamp,
    pub alive: bool,
}

impl DrawnFrame {
    /// The view time of this frame, and the extrapolated ticks beyond the newest snapshot.
    pub fn time(&self) -> (ViewTime, f32) {
        match self.stamp {
            ViewStamp::Interpolated { time, .. } => (time, 0.0),
            ViewStamp::Extrapolated { from, time } => (time, time.ticks_since(from)),
            ViewStamp::Present => (ViewTime::default(), 0.0),
        }
    }
}

/// Drawn frames of each remote pawn on this app.
#[derive(Resource, Default)]
struct DrawnFrames(HashMap<NetId, Vec<DrawnFrame>>);

/// Starts recording published states and drawn frames.
pub fn start_recording(game: &mut Match) {
    game.server.init_resource::<PublishedStates>().add_systems(
        FixedLast,
        |pawns: Query<(&NetId, &PublishedState<Soldier>)>, mut stage: ResMut<PublishedStates>| {
            for (id, shown) in &pawns {
                let body = &shown.state.body;
                stage.0.entry((*id, shown.tick)).or_insert((body.position, body.velocity));
            }
        },
    );
    for app in game.apps_mut() {
        app.init_resource::<DrawnFrames>().add_systems(
            Last,
            |time: Res<Time<Real>>,
             proxies: Query<(&NetId, &DrawnPose, Option<&VisualOffset>), Without<LocalControl>>,
             mut eyes: ResMut<DrawnFrames>| {
                for (id, drawn, offset) in &proxies {
                    let pose = drawn.pose.position;
                    let place = pose + offset.map_or(Vec3::ZERO, |o| o.offset);
                    let (stamp, alive) = (drawn.stamp, drawn.pose.alive);
                    let frame = DrawnFrame { now: time.elapsed_secs_f64(), place, pose, stamp, alive };
                    eyes.0.entry(*id).or_default().push(frame);
                }
            },
        );
    }
}

/// The drawn frames of a living pawn since the time `from` on the app's clock.
pub fn drawn_frames(app: &App, id: NetId, from: f64) -> Vec<DrawnFrame> {
    let all = app.world().resource::<DrawnFrames>().0.get(&id).map_or(&[][..], Vec::as_slice);
    all.iter().filter(|frame| frame.now >= from && frame.alive).copied().collect()
}

/// The time on an app's clock, in seconds.
pub fn now(app: &App) -> f64 {
    app.world().resource::<Time<Real>>().elapsed_secs_f64()
}

/// The end of the first run of frames after `from` for which `astray` holds, in seconds on the client's
/// clock.
pub fn end_of_first(drawn_frames: &[DrawnFrame], from: f64, astray: impl Fn(&DrawnFrame) -> bool) -> f64 {
    /// The run ends when `astray` has not held for this long, in seconds.
    const CALM: f64 = 0.15;
    let mut last = from;
    for frame in drawn_frames.iter().filter(|frame| frame.now > from) {
        if astray(frame) {
            last = frame.now;
        } else if frame.now > last + CALM {
            break;
        }
    }
    last
}

/// The published position and velocity of a pawn at a view time, interpolated between ticks.
pub fn published_state(server: &App, id: NetId, time: ViewTime) -> Option<(Vec3, Vec3)> {
    let stage = &server.world().resource::<PublishedStates>().0;
    // Late moves skip ticks.
    let near = |step: i32| {
        let tick = |by: i32| time.tick.offset(if step > 0 { by + 1 } else { -by });
        (0..6).map(tick).find_map(|tick| Some((tick, *stage.get(&(id, tick))?)))
    };
    let ((from, a), (to, b)) = (near(-1)?, near(1)?);
    let (seconds, part) = (to.since(from) as f32 / 64.0, time.ticks_since(from) / to.since(from) as f32);
    let curve = CubicHermite::new([a.0, b.0], [a.1 * seconds, b.1 * seconds]).to_curve().ok()?;
    Some((curve.position(part), a.1.lerp(b.1, part)))
}

/// Smoothing quality of a remote pawn.
#[derive(Debug, Default)]
pub struct Report {
    /// Distance of each drawn frame from the published position at its view time, in metres.
    pub errors: Vec<f32>,
    /// Difference between each frame's step and the published one, in metres.
    pub steps: Vec<f32>,
    /// Duration of each freeze of a moving pawn, in seconds.
    pub freezes: Vec<f64>,
    /// Number of extrapolated frames.
    pub beyond: usize,
}

/// Compares consecutive drawn frames with the published states.
pub fn report(server: &App, id: NetId, drawn_frames: &[DrawnFrame]) -> Report {
    let mut report = Report::default();
    let mut frozen = 0.0;
    let truths: Vec<_> =
        drawn_frames.iter().map(|frame| published_state(server, id, frame.time().0)).collect();
    for (frame, published_state) in drawn_frames.iter().zip(&truths) {
        report.errors.extend(published_state.map(|(place, _)| frame.place.distance(place)));
        report.beyond += usize::from(frame.time().1 > 0.0);
    }
    for (pair, truths) in drawn_frames.windows(2).zip(truths.windows(2)) {
        let (Some(a), Some(b)) = (truths[0], truths[1]) else { continue };
        let (step, real) = (pair[1].place - pair[0].place, b.0 - a.0);
        report.steps.push(step.distance(real));
        let (dt, speed) = (pair[1].now - pair[0].now, b.1.length());
        if speed > 1.0 && step.length() < 0.15 * speed * dt as f32 {
            frozen += dt;
        } else if frozen > 0.0 {
            report.freezes.push(frozen);
            frozen = 0.0;
        }
    }
    report.freezes.extend((frozen > 0.0).then_some(frozen));
    report
}

impl Report {
    /// Adds the figures of another report.
    pub fn merge(&mut self, other: Self) {
        self.errors.extend(other.errors);
        self.steps.extend(other.steps);
        self.freezes.extend(other.freezes);
        self.beyond += other.beyond;
    }
}

impl core::fmt::Display for Report {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let of = |numbers: &[f32]| [0.5, 0.99, 1.0].map(|share| quantile(numbers, share) * 100.0);
        let (errors, steps) = (of(&self.errors), of(&self.steps));
        let longest = quantile(&self.freezes, 1.0);
        write!(
            f,
            "{} frames; p50, p99 and maximum: {errors:.2?} cm off, steps {steps:.2?} cm off; {} freezes, the \
             longest {longest:.3} s; {} frames beyond the newest snapshot",
            self.errors.len(),
            self.freezes.iter().filter(|time| **time > 0.0).count(),
            self.beyond
        )
    }
}

/// The quantile `share` of the numbers, or 0 if there are none.
pub fn quantile<T: Copy + Into<f64>>(numbers: &[T], share: f64) -> f64 {
    let mut numbers: Vec<f64> = numbers.iter().map(|number| (*number).into()).collect();
    upper_quantile(&mut numbers, (share * 1e3) as usize).max(0.0)
}
