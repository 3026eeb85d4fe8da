//! Movement bases that move as the server records them: crates of the physics engine, things that the game moves.

use bevy::prelude::*;
use bevy_unlag_core::{
    CurrentTick, Snapshot, SnapshotHistory, Tick, TickSystems, angle_to_units, up_and_heading,
};

use super::{BaseId, BaseTrack, MovementBase, PoseHistory};
use crate::system_sets::MoverSceneSystems;

/// Speed in metres per second beyond which a motion counts as a jump, which does not continue.
const MAX_DRIFT_SPEED: f32 = 60.0;
/// Place of a base whose first pose is not known yet: below all pawns.
const NOWHERE: Vec3 = Vec3::new(0.0, -20_000.0, 0.0);

/// Makes a [`MovementBase`] of an entity that no formula moves: a crate of the physics engine, a cart that the game
/// pushes. Insert it on both sides, with [`MovementBase::recorded`] and the same colliders.
///
/// On the server the base is where the entity's [`Transform`] is. On a client it follows the snapshots of the entity,
/// which the server publishes with `RecordTransform` of `bevy_unlag_smoothing`, and continues its motion up to the
/// tick of each move. So pawns ride on it and are predicted; they are corrected where it changes its motion suddenly.
/// On clients its `Transform` is drawn where pawns stand on it, which is ahead of its
/// [`DrawnPose`](bevy_unlag_core::DrawnPose).
///
/// A moving one costs a rebuild of the scene's list of bases in every tick: use it for a few dozen things.
#[doc(alias = "bReplicatePhysicsToAutonomousProxy")]
#[derive(Component, Clone, Copy, PartialEq, Eq, Default, Debug, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct RecordedBase;

impl MovementBase {
    /// Creates the base of a [`RecordedBase`].
    #[must_use]
    pub fn recorded(id: BaseId) -> Self {
        let mut history = PoseHistory::default();
        history.push(-1e9, Isometry3d::from_translation(NOWHERE));
        Self { id, track: BaseTrack::History(history) }
    }
}

pub(super) fn add_systems(app: &mut App) {
    app.add_systems(FixedUpdate, follow_snapshots.before(MoverSceneSystems::Sync).in_set(TickSystems))
        .add_systems(FixedPostUpdate, record_transforms.in_set(TickSystems));
}

/// Returns the pose that clients get for this one: server and clients place the base alike, to the bit while it
/// rests.
fn as_sent(transform: &Transform) -> Isometry3d {
    let (up, yaw) = up_and_heading(transform.rotation.normalize());
    let snapshot = Snapshot {
        up,
        yaw: angle_to_units(yaw),
        // With a spin, headings are sent more precisely.
        spin: Some(0),
        ..Snapshot::new(Tick(0), transform.translation, Vec3::ZERO)
    };
    pose_of(&snapshot.quantised())
}

fn pose_of(snapshot: &Snapshot) -> Isometry3d {
    Isometry3d::new(snapshot.position(), snapshot.rotation())
}

/// Records where the bases of this server are at the end of the tick.
fn record_transforms(
    (tick, fixed): (Res<CurrentTick>, Res<Time<Fixed>>),
    mut bases: Query<(&Transform, &mut MovementBase), (With<RecordedBase>, Without<SnapshotHistory>)>,
) {
    let tick_seconds = fixed.timestep().as_secs_f64();
    let seconds = f64::from(tick.0.0) * tick_seconds;
    for (transform, mut base) in &mut bases {
        let BaseTrack::History(history) = &base.track else { continue };
        if !transform.is_finite() {
            continue;
        }
        let pose = as_sent(transform);
        // A base at rest changes nothing.
        if !history.is_at_rest(&pose)
            && let BaseTrack::History(history) = &mut base.track
        {
            record(history, seconds, pose, tick_seconds);
        }
    }
}

fn record(history: &mut PoseHistory, seconds: f64, pose: Isometry3d, tick_seconds: f64) {
    let mut velocity = Vec3::ZERO;
    if let Some((at, before)) = history.newest() {
        if at < seconds - 1.5 * tick_seconds {
            // It rested until now.
            history.push(seconds - tick_seconds, before);
        }
        velocity = Vec3::from(pose.translation - before.translation) / tick_seconds as f32;
    }
    history.push(seconds, pose);
    let is_jump = velocity.length() > MAX_DRIFT_SPEED;
    history.set_drift(if is_jump { Vec3::ZERO } else { velocity }, Vec3::ZERO);
}

/// Places the bases of a client where its server has sent them.
fn follow_snapshots(
    fixed: Res<Time<Fixed>>,
    mut bases: Query<(&SnapshotHistory, &mut MovementBase), With<RecordedBase>>,
) {
    let tick_seconds = fixed.timestep().as_secs_f64();
    for (snapshots, mut base) in &mut bases {
        let Some(newest) = snapshots.newest() else { continue };
        let BaseTrack::History(history) = &base.track else { continue };
        let known = history.newest().is_some_and(|(at, _)| at == seconds_of(newest, tick_seconds));
        let rests = newest.velocity() == Vec3::ZERO && newest.spin().unwrap_or(0.0) == 0.0;
        if known || rests && history.is_at_rest(&pose_of(newest)) {
            continue;
        }
        base.track = BaseTrack::History(history_of(snapshots, newest, tick_seconds));
    }
}

fn seconds_of(snapshot: &Snapshot, tick_seconds: f64) -> f64 {
    f64::from(snapshot.tick.0) * tick_seconds
}

fn history_of(snapshots: &SnapshotHistory, newest: &Snapshot, tick_seconds: f64) -> PoseHistory {
    let mut history = PoseHistory::default();
    let mut last: Option<&Snapshot> = None;
    for snapshot in snapshots.iter() {
        let seconds = seconds_of(snapshot, tick_seconds);
        if let Some(last) = last.filter(|last| !last.continues_to(snapshot)) {
            // A jump takes one tick, as on the server.
            history.push(seconds - tick_seconds, pose_of(last));
        }
        history.push(seconds, pose_of(snapshot));
        last = Some(snapshot);
    }
    let spin = newest.up.direction() * newest.spin().unwrap_or(0.0);
    history.set_drift(newest.velocity(), spin);
    history
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: f64 = 1.0 / 64.0;

    fn at(x: f32) -> Isometry3d {
        Isometry3d::from_translation(Vec3::X * x)
    }

    fn recorded() -> PoseHistory {
        match MovementBase::recorded(BaseId(1)).track {
            BaseTrack::History(history) => history,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rest_is_recorded_once_and_a_start_after_it_is_not_smeared() {
        let mut history = recorded();
        for tick in 100..200 {
            if !history.is_at_rest(&at(2.0)) {
                record(&mut history, f64::from(tick) * TICK, at(2.0), TICK);
            }
        }
        assert!(history.positions().count() < 6, "{history:?}");
        assert!(history.pose(99.0 * TICK).translation.y < -10_000.0, "before it was spawned");
        for tick in 200..210u16 {
            record(&mut history, f64::from(tick) * TICK, at(2.0 + f32::from(tick - 199) * 0.1), TICK);
        }
        for tick in [150.0, 199.0] {
            assert!((history.pose(tick * TICK).translation.x - 2.0).abs() < 1e-5, "at tick {tick}");
        }
        assert!((history.pose(204.0 * TICK).translation.x - 2.5).abs() < 1e-4);
        // It continues at 6.4 m/s.
        assert!((history.pose(211.0 * TICK).translation.x - 3.2).abs() < 1e-3, "{history:?}");
    }

    #[test]
    fn client_places_a_resting_base_where_the_server_does_to_the_bit() {
        let turned = Quat::from_euler(EulerRot::YXZ, 2.1, 0.2, -0.1);
        let transform = Transform::from_xyz(3.123_45, 0.777, -8.1).with_rotation(turned);
        let server = as_sent(&transform);
        let (up, yaw) = up_and_heading(turned);
        let snapshot = |tick| {
            let state = Snapshot::new(Tick(tick), transform.translation, Vec3::ZERO);
            Snapshot { up, yaw: angle_to_units(yaw), spin: Some(0), ..state }.quantised()
        };
        let mut received = SnapshotHistory::default();
        received.insert(snapshot(6));
        received.insert(snapshot(9));
        let client = history_of(&received, &snapshot(9), TICK);
        assert_eq!(client.pose(9.0 * TICK), server);
        assert_eq!(client.pose(30.0 * TICK), server);
        assert!(server.rotation.angle_between(turned) < 0.03, "{server:?}");
        let off = Vec3::from(server.translation).distance(transform.translation);
        assert!(off < 1e-3, "{off} m");
    }

    #[test]
    fn moving_base_is_extrapolated_and_a_jump_takes_one_tick() {
        let mut received = SnapshotHistory::default();
        let velocity = Vec3::X * 2.0;
        for tick in [10, 13] {
            received.insert(Snapshot::new(Tick(tick), velocity * tick as f32 * TICK as f32, velocity));
        }
        let newest = *received.newest().expect("a snapshot");
        let history = history_of(&received, &newest, TICK);
        for tick in [10.0, 11.5, 13.0, 16.0] {
            let off = history.pose(tick * TICK).translation.x - (2.0 * tick * TICK) as f32;
            assert!(off.abs() < 1e-3, "{off} m at tick {tick}");
        }
        received.insert(Snapshot { teleports: 1, ..Snapshot::new(Tick(20), Vec3::X * 9.0, Vec3::ZERO) });
        let newest = *received.newest().expect("a snapshot");
        let history = history_of(&received, &newest, TICK);
        assert!(history.pose(19.0 * TICK).translation.x < 0.5);
        assert_eq!(history.pose(20.0 * TICK), at(9.0));
        assert_eq!(history.pose(25.0 * TICK), at(9.0));
    }
}
