//! Movement bases: moving platforms that carry pawns.

mod history;
mod recorded;
mod schedule;
mod track;

pub use history::PoseHistory;
pub use recorded::RecordedBase;
pub use schedule::{BaseAnnouncement, BaseSchedule, BaseScheduleConfig};
pub use track::{BaseTrack, Shuttle, Turntable};

use bevy::prelude::*;
use bevy_unlag_core::Wire;
use serde::{Deserialize, Serialize};

/// Identifier of a movement base. It is part of the predicted state, so it must be the same on all
/// machines.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize, Reflect, Wire,
)]
pub struct BaseId(pub u16);

impl BaseId {
    /// The fixed world.
    pub const NONE: Self = Self(0);
}

/// Platform that moves by itself and carries pawns that stand on it: a lift, a turntable, a train.
/// Unreal's movement base. The colliders on its entity and its descendants move with it; a descendant
/// with a `MovementBase` of its own, such as a bone or a node, has its track relative to this one. None
/// of them needs a rigid body.
///
/// Its pose is a function of time alone, so a replayed move finds it where it was. Decisions of the server during
/// the game become part of that function: the commands of [`MovementBase::move_to`], and the poses of a
/// [`RecordedBase`]. [`MovementPlugin`](crate::MovementPlugin) writes the entity's `Transform` from it, except for a
/// [`RecordedBase`] on the server.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_rapier3d::prelude::Collider;
/// use bevy_unlag_movement::{BaseId, MovementBase};
///
/// /// A lift, on client and server.
/// fn spawn_lift(mut commands: Commands) {
///     let home = Isometry3d::from_xyz(0.0, 0.1, -8.0);
///     commands.spawn((MovementBase::scheduled(BaseId(1), home), Collider::cuboid(1.5, 0.1, 1.5)));
/// }
///
/// /// Calls it, on the server alone: 4 m up at 2 m/s.
/// fn call_lift(mut bases: Query<&mut MovementBase>) {
///     for mut base in bases.iter_mut().filter(|base| base.id == BaseId(1)) {
///         base.move_to(Isometry3d::from_xyz(0.0, 4.1, -8.0), 2.0);
///     }
/// }
/// ```
///
/// In the book: *Movement bases and volumes*, `book/src/reference/bases_and_volumes.md`.
#[doc(alias = "FBasedMovementInfo")]
#[doc(alias = "func_train")]
#[doc(alias = "moving platform")]
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Debug)]
#[require(Transform)]
pub struct MovementBase {
    /// Unique identifier, the same on all machines; not [`BaseId::NONE`].
    pub id: BaseId,
    /// Pose of the base as a function of time.
    pub track: BaseTrack,
}

impl MovementBase {
    /// Creates a base that moves on command, and stays at `home` until the first one: see [`BaseSchedule`].
    #[must_use]
    pub fn scheduled(id: BaseId, home: Isometry3d) -> Self {
        Self { id, track: BaseTrack::Scheduled(BaseSchedule::at(home)) }
    }

    /// Commands a base that moves on command to a pose, at a mean speed in metres per second; see
    /// [`BaseSchedule::move_to`]. Call it on the server.
    pub fn move_to(&mut self, to: Isometry3d, speed: f32) {
        match self.schedule_mut() {
            Some(schedule) => schedule.move_to(to, speed),
            None => warn_once!("MovementBase {} does not move on command: its track is another", self.id.0),
        }
    }

    /// Returns the schedule of a base that moves on command.
    #[must_use]
    pub fn schedule(&self) -> Option<&BaseSchedule> {
        match &self.track {
            BaseTrack::Scheduled(schedule) => Some(schedule),
            _ => None,
        }
    }

    /// Returns the schedule of a base that moves on command, for commands.
    pub fn schedule_mut(&mut self) -> Option<&mut BaseSchedule> {
        match &mut self.track {
            BaseTrack::Scheduled(schedule) => Some(schedule),
            _ => None,
        }
    }
}

/// Adds the systems of bases that the server moves during the game.
pub(crate) fn add_systems(app: &mut App) {
    schedule::add_systems(app);
    recorded::add_systems(app);
}
