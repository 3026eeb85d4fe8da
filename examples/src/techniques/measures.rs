//! Number beside each switch: what its technique does in the running match.

use bevy::prelude::*;
use bevy_unlag::{
    core::{BasePoses, Interpolation, PoseSampler, SnapshotHistory, ViewStamp, VisualSystems},
    net::MatchRestarted,
    prediction::SavedMoves,
    prelude::*,
    smoothing::{OutOfSight, SmoothingStats},
};

use super::{Technique, Techniques};
use crate::{
    death_report::DeathReport,
    shot_stats::{HitCounts, ShotStats, ShotStatsSystems},
    timeline::Timeline,
};

/// Seconds for which the largest value is shown.
const PEAK_SECONDS: f64 = 4.0;
/// Seconds over which frames are averaged.
const FRAME_SECONDS: f32 = 2.0;
/// Moves over which lost ones are counted.
const MOVES: usize = 512;
/// Speed in metres per second from which on a move shows on the screen.
const MOVING: f32 = 1.0;

/// Largest value of the last seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Peak {
    value: f32,
    at: f64,
}

impl Peak {
    fn add(&mut self, value: f32, now: f64) {
        if value >= self.value || now - self.at > PEAK_SECONDS {
            *self = Self { value, at: now };
        }
    }
}

/// Effects of the techniques on this client, since a switch has changed.
#[derive(Resource, Clone, Debug, Default)]
pub struct Measures {
    /// Milliseconds from a move to the frame that shows it.
    own_delay: f32,
    /// Centimetres by which corrections have moved the own pawn, and the view.
    thrown: Peak,
    view_jump: Peak,
    /// Percentage of moves that never ran on the server.
    lost_moves: Option<f32>,
    /// Mean square of the distance in centimetres of remote pawns from the cubic through their updates.
    off_path: f32,
    /// Share of remote pawns that are drawn beyond their newest update.
    guessed: f32,
    /// Shot statistics when the switch was changed, and of projectiles.
    shots_before: HitCounts,
    shots: HitCounts,
    rockets_before: HitCounts,
    rockets: HitCounts,
    /// Deaths: those out of the killer's sight, and all by shots.
    deaths: (u32, u32),
    /// Pawns of others: those that the server conceals, and all.
    concealed: (usize, usize),
}

impl Measures {
    /// Returns the number of a technique; `None` before there is one.
    #[must_use]
    pub fn value(&self, technique: Technique) -> Option<f64> {
        Some(match technique {
            Technique::Prediction => f64::from(self.own_delay),
            Technique::Replay => f64::from(self.thrown.value),
            Technique::Easing => f64::from(self.view_jump.value),
            Technique::Redundancy => f64::from(self.lost_moves?),
            Technique::Interpolation => f64::from(self.off_path.max(0.0).sqrt()),
            Technique::Playout => f64::from(self.guessed * 100.0),
            Technique::Rewind => (self.shots - self.shots_before).confirmed_of_drawn()?,
            Technique::CatchUp => (self.rockets - self.rockets_before).confirmed_of_drawn()?,
            Technique::Cover => f64::from(self.deaths.0),
            Technique::Interest => self.concealed.0 as f64,
        })
    }

    /// Returns the number of a technique with its meaning.
    #[must_use]
    pub fn text(&self, technique: Technique) -> String {
        let Some(value) = self.value(technique) else {
            return match technique {
                Technique::Redundancy => "no moves yet",
                Technique::CatchUp => "fire rockets (3) at others",
                _ => "shoot at others",
            }
            .to_owned();
        };
        match technique {
            Technique::Prediction if value < 1.0 => "your moves appear at once".to_owned(),
            Technique::Prediction => format!("your moves appear after {value:.0} ms"),
            Technique::Replay => format!("corrections move you by {value:.0} cm"),
            Technique::Easing => format!("corrections jerk the view by {value:.0} cm"),
            Technique::Redundancy => format!("{value:.1} % of your moves get lost"),
            Technique::Interpolation => format!("others are {value:.1} cm off the curve (RMS)"),
            Technique::Playout => format!("{value:.0} % of the others' poses are guessed"),
            Technique::Rewind => {
                let counts = self.shots - self.shots_before;
                format!("{value:.0} % of {} drawn hits count", counts.drawn)
            }
            Technique::CatchUp => {
                let counts = self.rockets - self.rockets_before;
                format!("{value:.0} % of {} drawn rocket hits count", counts.drawn)
            }
            Technique::Cover => {
                format!("{} of {} deaths out of sight", self.deaths.0, self.deaths.1)
            }
            Technique::Interest => {
                format!("{} of {} others are concealed", self.concealed.0, self.concealed.1)
            }
        }
    }
}

/// Measures what the techniques do to the own pawn of the model `M`. It reads the [`Timeline`], whose plugin the app
/// must have.
pub fn plugin<M: MoveModel>(app: &mut App) {
    app.init_resource::<Techniques>()
        .init_resource::<Measures>()
        .init_resource::<BeforeReconciliation>()
        .add_observer(|_: On<MatchRestarted>, mut measures: ResMut<Measures>| *measures = Measures::default())
        .add_systems(
            FixedUpdate,
            (
                remember_place::<M>.before(MoveSystems::Reconcile),
                measure_corrections::<M>.after(MoveSystems::Reconcile).before(MoveSystems::Sample),
            ),
        )
        .add_systems(
            Update,
            (
                restart.run_if(resource_changed::<Techniques>),
                (count_moves, count_shots, count_deaths, count_concealed),
            )
                .chain()
                .after(ShotStatsSystems),
        )
        .add_systems(PostUpdate, (measure_own_delay::<M>, measure_others).after(VisualSystems::Draw));
}

/// Starts to measure again after a change of a switch.
fn restart(mut measures: ResMut<Measures>) {
    *measures = Measures {
        own_delay: measures.own_delay,
        lost_moves: measures.lost_moves,
        shots_before: measures.shots,
        rockets_before: measures.rockets,
        ..default()
    };
}

/// The own pawn before acknowledgements are applied: its position, where it is drawn, and its count of teleports.
#[derive(Resource, Default)]
struct BeforeReconciliation(Option<(Vec3, Vec3, u8)>);

type Own<'w, 's, M> =
    Query<'w, 's, (&'static <M as MoveModel>::State, &'static VisualOffset), With<LocalControl>>;

fn place<M: MoveModel>(own: &Own<M>) -> Option<(Vec3, Vec3, u8)> {
    let (state, offset) = own.single().ok()?;
    let position = M::position(state);
    Some((position, position + offset.offset, M::teleports(state)))
}

fn remember_place<M: MoveModel>(own: Own<M>, mut before: ResMut<BeforeReconciliation>) {
    before.0 = place::<M>(&own);
}

fn measure_corrections<M: MoveModel>(
    own: Own<M>,
    time: Res<Time<Real>>,
    before: Res<BeforeReconciliation>,
    mut measures: ResMut<Measures>,
) {
    let (Some(before), Some(after)) = (before.0, place::<M>(&own)) else { return };
    if before.2 == after.2 {
        let now = time.elapsed_secs_f64();
        measures.thrown.add(before.0.distance(after.0) * 100.0, now);
        measures.view_jump.add(before.1.distance(after.1) * 100.0, now);
    }
}

/// Finds the move whose result is on the screen.
fn measure_own_delay<M: MoveModel>(
    own: Query<(&DrawnPose, &SavedMoves<M>), With<LocalControl>>,
    (fixed, time): (Res<Time<Fixed>>, Res<Time<Real>>),
    mut measures: ResMut<Measures>,
) {
    let Ok((drawn, saved)) = own.single() else { return };
    // A pawn at rest looks the same with any delay.
    if drawn.pose.velocity.length() < MOVING {
        return;
    }
    let old = saved.iter().rev().position(|saved| M::position(&saved.start) == drawn.pose.position);
    let delay = old.map_or(0.0, |moves| {
        (fixed.timestep().as_secs_f32() * (moves + 1) as f32 + fixed.overstep().as_secs_f32()) * 1e3
    });
    let part = 1.0 - (-time.delta_secs() / 0.3).exp();
    measures.own_delay += (delay - measures.own_delay) * part;
}

fn measure_others(
    others: Query<(&DrawnPose, &SnapshotHistory), Without<LocalControl>>,
    (sampler, bases): (Res<PoseSampler>, Option<Res<BasePoses>>),
    (stats, time): (Option<Res<SmoothingStats>>, Res<Time<Real>>),
    mut last: Local<(u64, u64)>,
    mut measures: ResMut<Measures>,
) {
    let part = 1.0 - (-time.delta_secs() / FRAME_SECONDS).exp();
    let cubic = PoseSampler { interpolation: Interpolation::Hermite, ..*sampler };
    let mut squares = (0.0_f32, 0.0_f32);
    for (drawn, history) in &others {
        let ViewStamp::Interpolated { time, .. } = drawn.stamp else { continue };
        let view = bases.as_ref().map(|bases| bases.at(time)).unwrap_or_default();
        let Some(curve) = history.pose(drawn.stamp, &cubic, &view) else { continue };
        squares.0 += curve.position.distance_squared(drawn.pose.position) * 1e4;
        squares.1 += 1.0;
    }
    if squares.1 > 0.0 {
        measures.off_path += (squares.0 / squares.1 - measures.off_path) * part;
    }
    let Some(stats) = stats else { return };
    let since = |new: u64, old: u64| new.saturating_sub(old) as f32;
    let (drawn, guessed) = (since(stats.drawn, last.0), since(stats.extrapolated, last.1));
    *last = (stats.drawn, stats.extrapolated);
    if drawn > 0.0 {
        measures.guessed += (guessed / drawn - measures.guessed) * part;
    }
}

fn count_moves(timeline: Option<Res<Timeline>>, mut measures: ResMut<Measures>) {
    let Some(timeline) = timeline else { return };
    let answered = timeline.ticks().rev().filter(|tick| tick.answered.is_some()).take(MOVES);
    let (lost, all) = answered.fold((0, 0), |(lost, all), tick| (lost + u32::from(tick.is_lost), all + 1));
    measures.lost_moves = (all > 0).then(|| lost as f32 / all as f32 * 100.0);
}

fn count_shots(shots: Res<ShotStats>, mut measures: ResMut<Measures>) {
    (measures.shots, measures.rockets) = (shots.tally(), shots.projectiles);
}

fn count_deaths(mut deaths: MessageReader<Received<DeathReport>>, mut measures: ResMut<Measures>) {
    for death in deaths.read() {
        measures.deaths.1 += 1;
        measures.deaths.0 += u32::from(death.message.0.target.is_some_and(|target| target.is_covered));
    }
}

fn count_concealed(
    others: Query<Has<OutOfSight>, (With<DrawnPose>, Without<LocalControl>)>,
    mut measures: ResMut<Measures>,
) {
    let counts = others.iter().fold((0, 0), |(hidden, all), is| (hidden + usize::from(is), all + 1));
    measures.concealed = counts;
}
