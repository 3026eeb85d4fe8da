//! Messages for maps and texts of the operator, as an example of a level that changes.

use bevy::prelude::*;
use bevy_unlag::{core::Wire, net::MessageRules, prelude::*};

use crate::arena::{self, ArenaMap, ArenaPart};

/// Server to one client: the map that the match is played on.
#[derive(Clone, Copy, PartialEq, Debug, Wire)]
pub struct MapChanged(pub ArenaMap);

/// Server to everyone: a text of the operator.
#[derive(Clone, PartialEq, Debug, Wire)]
pub struct OperatorText(#[wire(max = 400)] pub String);

/// Registers the messages. Client and server both add it.
pub fn protocol(app: &mut App) {
    app.init_resource::<ArenaMap>()
        .add_game_message::<MapChanged>(MessageRules::to_owner())
        .add_game_message::<OperatorText>(MessageRules::to_everyone())
        .add_systems(Update, follow_map);
}

/// Loads the map that the server has announced.
fn follow_map(
    mut changes: MessageReader<Received<MapChanged>>,
    map: Res<ArenaMap>,
    parts: Query<Entity, With<ArenaPart>>,
    mut commands: Commands,
) {
    if let Some(change) = changes.read().last()
        && *map != change.message.0
    {
        load(change.message.0, &parts, &mut commands);
    }
}

/// Replaces the boxes of the arena.
pub(crate) fn load(map: ArenaMap, parts: &Query<Entity, With<ArenaPart>>, commands: &mut Commands) {
    parts.iter().for_each(|part| commands.entity(part).despawn());
    commands.insert_resource(map);
    commands.run_system_cached(arena::spawn);
}
