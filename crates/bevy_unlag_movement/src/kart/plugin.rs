//! Sets up what karts need beside the level.

use bevy::prelude::*;

use super::{KartConfig, KartState};
use crate::placing;

/// Adds [`KartConfig`] and keeps [`PawnCapsule`](crate::PawnCapsule)s where karts are, unless
/// [`KartConfig::pawns`] ignores them. Add it beside [`MovementPlugin`](crate::MovementPlugin), which
/// brings the level.
///
/// A kart with a state, which is every kart on a server, is where its state says; any other pawn is
/// where it was last drawn. So the pawns of an app are karts or capsules, not both.
#[derive(Clone, Copy, Default, Debug)]
pub struct KartPlugin;

impl Plugin for KartPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<KartConfig>()
            .add_systems(PreUpdate, warn_of_nonsense.run_if(resource_exists_and_changed::<KartConfig>));
        placing::add_systems::<KartConfig, KartState>(app);
    }
}

fn warn_of_nonsense(config: Res<KartConfig>) {
    if let Err(error) = config.check() {
        warn!("{error}");
    }
}
