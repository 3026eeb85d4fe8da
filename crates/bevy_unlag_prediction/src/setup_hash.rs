//! What this side is tuned like, as a number.

use core::marker::PhantomData;

use bevy::{ecs::system::StaticSystemParam, prelude::*};
use bevy_unlag_core::MoveModel;

/// [`MoveModel::config_hash`] of this app, found once a second: a correction compares it, and
/// hashing a whole configuration would be most of what a correction costs.
#[derive(Resource, Debug)]
pub struct ConfigHash<M> {
    hash: Option<u32>,
    age: u32,
    model: PhantomData<fn() -> M>,
}

impl<M> Default for ConfigHash<M> {
    fn default() -> Self {
        Self { hash: None, age: 0, model: PhantomData }
    }
}

impl<M> ConfigHash<M> {
    /// Ticks after which a change of an extension's configuration is noticed.
    const EVERY: u32 = 64;

    /// The lowest bits, as they travel; 0 before the first tick.
    pub(crate) fn low(&self) -> u16 {
        self.hash.unwrap_or(0) as u16
    }
}

pub(crate) fn hash_config<M: MoveModel>(
    model: Res<M::Config>,
    world: StaticSystemParam<M::World>,
    mut hash: ResMut<ConfigHash<M>>,
) {
    hash.age += 1;
    if hash.hash.is_none() || hash.age >= ConfigHash::<M>::EVERY || model.is_changed() {
        hash.hash = Some(M::config_hash(&model, &world));
        hash.age = 0;
    }
}
