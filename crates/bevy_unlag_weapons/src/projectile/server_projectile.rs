//! Projectiles in flight on the server, and what their simulation reads and writes.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, PoseSampler, Tick, WorldGravity};
use bevy_unlag_rewind::RewindQuery;
use bevy_unlag_smoothing::SentSnapshots;

use crate::{
    arsenal::Arsenal,
    projectile::{PendingLaunch, ProjectileEnd, ProjectileLaunch, ProjectileRules, Trajectory},
    shot_validation::ShotOutput,
};

/// Maximum number of bounces off pawns within one tick of age, because each is broadcast: a projectile
/// squeezed between two pawns hits none for the rest of that tick.
pub(super) const MAX_PAWN_BOUNCES_PER_TICK: usize = 2;

/// A projectile in flight.
pub(super) struct ServerProjectile {
    pub shot: PendingLaunch,
    pub launch: ProjectileLaunch,
    /// Tick in which the shot was validated.
    pub launched: Tick,
    pub path: Trajectory,
    /// Number of whole ticks of age that have been tested for hits.
    pub tested: u32,
    /// Flight distance, in metres.
    pub distance: f32,
    /// The pawn that it bounced off last.
    pub off: Option<Entity>,
    /// Flight times of the last bounces off pawns, in 1/256 of a tick, newest first.
    pub pawn_bounces: [Option<u32>; MAX_PAWN_BOUNCES_PER_TICK],
}

/// Read-only context of the simulation.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct ProjectileContext<'w, 's> {
    pub query: RewindQuery<'w, 's>,
    pub tick: Res<'w, CurrentTick>,
    pub sampler: Res<'w, PoseSampler>,
    pub arsenal: Res<'w, Arsenal>,
    pub rules: Res<'w, ProjectileRules>,
    pub gravity: Res<'w, WorldGravity>,
    pub sent: Query<'w, 's, &'static SentSnapshots>,
}

/// Messages about projectiles to clients and the game.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct ProjectileOutput<'w, 's> {
    pub shot_output: ShotOutput<'w, 's>,
    pub launches: MessageWriter<'w, ProjectileLaunch>,
    pub ends: MessageWriter<'w, ProjectileEnd>,
}
