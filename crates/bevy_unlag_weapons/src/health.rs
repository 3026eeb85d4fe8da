//! Health, death and respawn.
//!
//! Enough for a small game; nothing else in this crate depends on it. A game with its own rules leaves out
//! [`HealthPlugin`] and reads [`Damage`] itself.

mod components;
mod death;
mod respawn;
mod teams;

use core::time::Duration;

use crate::system_sets::WeaponSystems;
use bevy::prelude::*;
use bevy_unlag_core::{TickPlugin, TickSystems, require_plugin};

use crate::{reflection, verdict::Damage};

pub use components::{Dead, Health, LastAttacker, PlayerScore};
pub use death::{DeathCause, Died, Hazard};
pub use respawn::{Respawn, RespawnDue, SpawnProtection};
pub use teams::smallest_team;

/// Rules for kill credit, team damage, respawn and spawn protection.
#[doc(alias = "AGameMode")]
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct RespawnRules {
    /// Time for which the last attacker gets the kill when the victim dies from the world or by its own hand.
    /// Default: 5 s. Raising it gives credit for accidents.
    pub credit: Duration,
    /// Damage factor between teammates, where [`FireRules::friendly_fire`](crate::FireRules::friendly_fire)
    /// lets them be hit at all. Default: 1.
    pub team_damage: f32,
    /// Time from death to [`RespawnDue`]. Default: 1 s. A shot may be rewound by up to
    /// [`RewindLimits::max_age`](bevy_unlag_rewind::RewindLimits::max_age): with a shorter respawn time, a
    /// shot at the pawn before its death can hit it after its respawn.
    pub respawn: Duration,
    /// Duration of the spawn protection. Default: 2 s.
    pub protection: Duration,
    /// Whether the protection ends when the protected pawn fires. Default: yes.
    pub fire_ends_protection: bool,
}

impl Default for RespawnRules {
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

/// Applies [`Damage`] and [`Hazard`] to the [`Health`] of pawns; on the server. The game itself decides what
/// happens to a pawn: it reads [`Died`] and [`RespawnDue`] and writes [`Respawn`]:
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_unlag_weapons::{Died, Respawn, RespawnDue, HealthPlugin};
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
/// App::new().add_plugins(HealthPlugin).add_systems(FixedUpdate, (die, place));
/// ```
///
/// `bevy_unlag_lightyear` sends [`Health`] and [`PlayerScore`] to clients, for health bars and scoreboards.
#[derive(Debug, Default)]
pub struct HealthPlugin;

impl Plugin for HealthPlugin {
    fn build(&self, app: &mut App) {
        require_plugin(app, TickPlugin);
        reflection::register_health_types(app);
        app.init_resource::<RespawnRules>()
            .add_message::<Damage>()
            .add_message::<Hazard>()
            .add_message::<Died>()
            .add_message::<RespawnDue>()
            .add_message::<Respawn>()
            .configure_sets(
                FixedLast,
                (WeaponSystems::ApplyDamage, WeaponSystems::Respawn).chain().in_set(TickSystems),
            )
            .add_systems(
                FixedLast,
                (
                    (respawn::end_protection, death::apply_damage).chain().in_set(WeaponSystems::ApplyDamage),
                    (respawn::respawn, respawn::request_respawns).chain().in_set(WeaponSystems::Respawn),
                ),
            );
    }
}

/// Converts a duration to ticks, rounded up; at most one hour at 1 kHz.
fn ticks(time: Duration, tick: Duration) -> i32 {
    let ticks = time.as_nanos().div_ceil(tick.as_nanos().max(1));
    i32::try_from(ticks.min(3_600_000)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests;
