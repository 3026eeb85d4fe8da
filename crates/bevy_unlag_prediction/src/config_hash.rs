//! Cached hash of the app's movement configuration.

use core::marker::PhantomData;

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::MoveModel;

/// Cached [`MoveModel::config_hash`] of this app, updated once per second. Corrections compare it. Hashing
/// the whole configuration for each of them would be most of a correction's cost.
#[derive(Resource, Debug, Reflect)]
#[reflect(Resource, Default, type_path = false, where M: MoveModel)]
pub struct CachedConfigHash<M> {
    hash: Option<u32>,
    age: u32,
    // Only a type.
    #[reflect(ignore)]
    model: PhantomData<fn() -> M>,
}

impl<M> Default for CachedConfigHash<M> {
    fn default() -> Self {
        Self { hash: None, age: 0, model: PhantomData }
    }
}

impl<M> CachedConfigHash<M> {
    /// Ticks after which a change in an extension's configuration is detected.
    const UPDATE_INTERVAL: u32 = 64;

    /// Returns the lowest bits, as they are sent; 0 before the first tick.
    pub(crate) fn low(&self) -> u16 {
        self.hash.unwrap_or(0) as u16
    }
}

pub(crate) fn hash_config<M: MoveModel>(
    model: Res<M::Config>,
    world: StaticSystemParam<M::World>,
    mut hash: ResMut<CachedConfigHash<M>>,
) {
    hash.age += 1;
    if hash.hash.is_none() || hash.age >= CachedConfigHash::<M>::UPDATE_INTERVAL || model.is_changed() {
        hash.hash = Some(M::config_hash(&model, &world));
        hash.age = 0;
    }
}
