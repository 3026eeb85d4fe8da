//! Setup of the recorded match.

use std::time::{SystemTime, UNIX_EPOCH};

use bevy::prelude::*;
use bevy_unlag_core::PoseSampler;
use bevy_unlag_record::{RecordSetup, RecordedSampler};
use bevy_unlag_weapons::Arsenal;

use super::MatchRecording;
use crate::{
    models::{NetModels, current_setup},
    protocol::{PROTOCOL_VERSION, ProtocolVersion},
    session::registry_hash,
};

/// Returns the setup with which a stream begins, of the level as it is now.
pub(crate) fn stream_setup(world: &mut World) -> RecordSetup {
    let (game, level) = world.resource::<MatchRecording>().names();
    current_record_setup(world, game, level)
}

/// Returns the setup of this app, as it is recorded, and as a reader compares it with that of a file. The level has to
/// be there: its hash is of the colliders of this moment.
///
/// `game` is the name and version of the game, for people, and `level` the name by which it finds the level again.
#[expect(clippy::disallowed_methods, reason = "servers do not run in browsers")]
pub fn current_record_setup(
    world: &mut World,
    game: impl Into<String>,
    level: impl Into<String>,
) -> RecordSetup {
    let (game, level) = (game.into(), level.into());
    let hashes = current_setup(world, 0, None);
    let registry = registry_hash(world);
    let arsenal = world.get_resource::<Arsenal>();
    RecordSetup {
        protocol: PROTOCOL_VERSION,
        game_protocol: world.resource::<ProtocolVersion>().0,
        registry,
        tick_nanos: u32::try_from(world.resource::<Time<Fixed>>().timestep().as_nanos()).unwrap_or(u32::MAX),
        game,
        level,
        level_hash: hashes.level,
        characters: world
            .get_resource::<NetModels>()
            .map(|models| models.names().map(str::to_owned).collect())
            .unwrap_or_default(),
        characters_hash: hashes.config,
        weapons: arsenal
            .map(|arsenal| arsenal.iter().map(|(_, weapon)| weapon.name.clone()).collect())
            .unwrap_or_default(),
        weapons_hash: arsenal.map_or(0, Arsenal::hash),
        sampler: RecordedSampler(*world.resource::<PoseSampler>()),
        started: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
    }
}
