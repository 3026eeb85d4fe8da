//! Reaction of a body to a hit: it lights up for a moment.

use bevy::prelude::*;
use bevy_unlag::prelude::*;

/// Duration of the flash, in seconds.
const SECONDS: f32 = 0.12;

/// Flash of a pawn whose health has decreased: the time that is left, in seconds.
#[derive(Component, Clone, Copy, Debug)]
pub struct HitFlash(f32);

/// Health of a pawn in the last frame.
#[derive(Component, Clone, Copy, Debug)]
struct LastHealth(f32);

/// Lights up pawns that lose health.
pub(super) fn plugin(app: &mut App) {
    app.add_systems(Update, (begin, fade).chain());
}

fn begin(pawns: Query<(Entity, &Health, Option<&LastHealth>), Changed<Health>>, mut commands: Commands) {
    for (pawn, health, last) in &pawns {
        let mut pawn = commands.entity(pawn);
        if last.is_some_and(|last| health.current < last.0) {
            pawn.insert(HitFlash(SECONDS));
        }
        pawn.insert(LastHealth(health.current));
    }
}

fn fade(time: Res<Time>, mut pawns: Query<(Entity, &mut HitFlash)>, mut commands: Commands) {
    for (pawn, mut flash) in &mut pawns {
        flash.0 -= time.delta_secs();
        if flash.0 < 0.0 {
            commands.entity(pawn).remove::<HitFlash>();
        }
    }
}
