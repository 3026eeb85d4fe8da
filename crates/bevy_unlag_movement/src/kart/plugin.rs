//! Plugin that adds karts to the level.

use bevy::prelude::*;

use super::{KartConfig, KartModel};
use crate::{pawn_capsules, reflection};

/// Adds [`KartConfig`] and updates the [`PawnCapsule`](crate::PawnCapsule)s of karts, unless
/// [`KartConfig::pawns`] ignores other pawns. Add it in addition to
/// [`MovementPlugin`](crate::MovementPlugin), which provides the level.
///
/// The capsule of a kart with a state, which is every kart on a server, is where its state says; that of
/// any other pawn is where it was last drawn. Therefore the pawns of an app are either karts or
/// capsules, not both.
#[derive(Clone, Copy, Default, Debug)]
pub struct KartPlugin;

impl Plugin for KartPlugin {
    fn build(&self, app: &mut App) {
        reflection::register_kart_types(app);
        app.init_resource::<KartConfig>().add_systems(
            PreUpdate,
            warn_about_invalid_config.run_if(resource_exists_and_changed::<KartConfig>),
        );
        pawn_capsules::add_systems::<KartConfig, KartModel>(app);
    }
}

fn warn_about_invalid_config(config: Res<KartConfig>) {
    if let Err(error) = config.check() {
        warn!("{error}");
    }
}
