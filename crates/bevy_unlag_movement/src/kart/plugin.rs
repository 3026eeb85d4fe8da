//! Plugin that adds karts to the level.

use core::marker::PhantomData;

use bevy::prelude::*;
use bevy_unlag_core::MoveModel;

use super::{KartConfig, KartModel};
use crate::{
    pawn_capsules::{self, HasStance},
    reflection,
};

/// Adds [`KartConfig`] and [`KartCollisionPlugin`] for the plain kart. Add it in addition to
/// [`MovementPlugin`](crate::MovementPlugin), which provides the level.
#[derive(Clone, Copy, Default, Debug)]
pub struct KartPlugin;

/// Updates the [`PawnCapsule`](crate::PawnCapsule)s of karts of the model `M`: [`KartModel`], or the kart with
/// an extension such as weapons. It has no effect while [`KartConfig::pawns`] ignores other pawns.
///
/// The capsule of a kart with a state, which is every kart on a server, is where its state says; that of
/// any other pawn is where it was last drawn. In an app with several models, each pawn needs its
/// [`PawnModel`](bevy_unlag_core::PawnModel).
pub struct KartCollisionPlugin<M = KartModel>(PhantomData<fn() -> M>);

impl<M> Default for KartCollisionPlugin<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: MoveModel<State: HasStance>> Plugin for KartCollisionPlugin<M> {
    fn build(&self, app: &mut App) {
        pawn_capsules::add_systems::<KartConfig, M>(app);
    }
}

impl Plugin for KartPlugin {
    fn build(&self, app: &mut App) {
        reflection::register_kart_types(app);
        app.init_resource::<KartConfig>()
            .add_plugins(KartCollisionPlugin::<KartModel>::default())
            .add_systems(
                PreUpdate,
                warn_about_invalid_config.run_if(resource_exists_and_changed::<KartConfig>),
            );
    }
}

fn warn_about_invalid_config(config: Res<KartConfig>) {
    if let Err(error) = config.check() {
        warn!("{error}");
    }
}
