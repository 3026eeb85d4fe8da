//! Health, death and respawn: enough for a small game, and nothing that the rest of this crate needs. A game with
//! rules of its own leaves [`VitalsPlugin`] out and reads [`Damage`] itself.

mod harm;
mod health;
mod respawn;
mod teams;

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::TickPlugin;

use crate::Damage;

pub use harm::{DeathCause, Died, Hazard};
pub use health::{Dead, Health, Hurt, Score};
pub use respawn::{Protected, Respawn, RespawnDue};
pub use teams::smallest_team;

/// How players die and come back.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct VitalsRules {
    /// For how long whoever hurt somebody last gets the credit when that one falls to death or kills itself.
    /// Default: 5 s. Raising it gives credit for accidents.
    pub credit: Duration,
    /// The part of their damage that those on one's own side do, where
    /// [`FireRules::friendly_fire`](crate::FireRules::friendly_fire) lets them hit at all. Default: 1.
    pub team_damage: f32,
    /// Time from death until [`RespawnDue`]. Default: 1 s. A shot may be judged as of
    /// [`RewindLimits::max_age`](bevy_unlag_rewind::RewindLimits::max_age) ago: with less than that, one at
    /// who died can hit who came back.
    pub respawn: Duration,
    /// How long nothing hurts who came back. Default: 2 s.
    pub protection: Duration,
    /// Whether protection ends when its owner fires. Default: yes.
    pub fire_ends_protection: bool,
}

impl Default for VitalsRules {
    fn default() -> Self {
        Self {
            credit: Duration::from_secs(5),
            team_damage: 1.0,
            respawn: Duration::from_secs(1),
            protection: Duration::from_secs(2),
            fire_ends_protection: true,
        }
    }
}

/// When vitals change, in [`FixedLast`], one after the other.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VitalsSystems {
    /// All that hurt somebody in this tick is taken together; [`Died`] is written.
    Harm,
    /// Every [`Respawn`] of this tick is done; [`RespawnDue`] is written.
    Respawn,
}

/// Applies [`Damage`] and [`Hazard`] to the [`Health`] of pawns; on the server. What becomes of a body is up
/// to the game, which reads [`Died`] and [`RespawnDue`] and writes [`Respawn`]:
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_unlag_weapons::{Died, Respawn, RespawnDue, VitalsPlugin};
/// # #[derive(Component)] struct Body { alive: bool, place: Vec3 }
/// fn die(mut died: MessageReader<Died>, mut bodies: Query<&mut Body>) {
///     for death in died.read() {
///         if let Ok(mut body) = bodies.get_mut(death.victim) {
///             body.alive = false;
///         }
///     }
/// }
///
/// fn place(
///     mut due: MessageReader<RespawnDue>,
///     mut bodies: Query<&mut Body>,
///     mut respawns: MessageWriter<Respawn>,
/// ) {
///     for RespawnDue { pawn } in due.read() {
///         if let Ok(mut body) = bodies.get_mut(*pawn) {
///             (body.alive, body.place) = (true, Vec3::ZERO);
///             respawns.write(Respawn { pawn: *pawn });
///         }
///     }
/// }
///
/// App::new().add_plugins(VitalsPlugin).add_systems(FixedUpdate, (die, place));
/// ```
///
/// [`Health`] and [`Score`] may be replicated, for bars and boards on clients.
#[derive(Debug, Default)]
pub struct VitalsPlugin;

impl Plugin for VitalsPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<TickPlugin>() {
            app.add_plugins(TickPlugin);
        }
        app.init_resource::<VitalsRules>()
            .add_message::<Damage>()
            .add_message::<Hazard>()
            .add_message::<Died>()
            .add_message::<RespawnDue>()
            .add_message::<Respawn>()
            .configure_sets(FixedLast, (VitalsSystems::Harm, VitalsSystems::Respawn).chain())
            .add_systems(
                FixedLast,
                (
                    (respawn::end_protection, harm::harm).chain().in_set(VitalsSystems::Harm),
                    (respawn::respawn, respawn::tell_due).chain().in_set(VitalsSystems::Respawn),
                ),
            );
    }
}

/// Time as ticks, rounded up; at most an hour at 1 kHz.
fn ticks(time: Duration, tick: Duration) -> i32 {
    let ticks = time.as_nanos().div_ceil(tick.as_nanos().max(1));
    i32::try_from(ticks.min(3_600_000)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
