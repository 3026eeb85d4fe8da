//! Maps and texts of the operator on a running server, by the admin command, as an example of a level that changes.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    core::Wire,
    net::{MessageRules, PlayerReturned, RestartMatch, Spectator},
    prelude::*,
};
use bevy_unlag_server::{AdminAnswer, AdminCommand, AdminRequest};
use lightyear::prelude::{Connected, server::ClientOf};

use crate::arena::{self, ArenaMap, ArenaPart};

/// Time between the announcement of a map and the restart of the match, at which the levels are compared: by then the
/// clients have loaded it.
const RESTART_DELAY: Duration = Duration::from_millis(500);
/// Longest text of an operator, in bytes.
const MAX_TEXT: usize = 400;

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

/// Answers the operator's commands for maps and texts. Clients that join learn the map.
pub fn server_plugin(app: &mut App) {
    app.add_systems(Update, (answer_map, answer_say, restart.run_if(resource_exists::<PendingRestart>)))
        .add_observer(tell_joiner)
        .add_observer(tell_returned);
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
fn load(map: ArenaMap, parts: &Query<Entity, With<ArenaPart>>, commands: &mut Commands) {
    parts.iter().for_each(|part| commands.entity(part).despawn());
    commands.insert_resource(map);
    commands.run_system_cached(arena::spawn);
}

fn answer_map(
    mut requests: MessageReader<AdminRequest>,
    mut answers: MessageWriter<AdminAnswer>,
    parts: Query<Entity, With<ArenaPart>>,
    players: Query<Entity, (With<ClientOf>, With<Connected>)>,
    mut maps: Outbox<MapChanged>,
    mut commands: Commands,
) {
    for AdminRequest { id, command } in requests.read() {
        let AdminCommand::Map { name } = command else { continue };
        let result = if let Some(map) = ArenaMap::find(name) {
            load(map, &parts, &mut commands);
            players.iter().for_each(|link| maps.send_to(link, &MapChanged(map)));
            commands.insert_resource(PendingRestart(RESTART_DELAY));
            Ok(format!("the match restarts on the map {}", map.name()))
        } else {
            let names = ArenaMap::ALL.map(ArenaMap::name).join(", ");
            Err(format!("there is no such map; maps: {names}"))
        };
        answers.write(AdminAnswer { id: *id, result });
    }
}

fn answer_say(
    mut requests: MessageReader<AdminRequest>,
    mut answers: MessageWriter<AdminAnswer>,
    players: Query<(), (With<ClientOf>, With<Connected>, Without<Spectator>)>,
    mut everyone: Outbox<OperatorText>,
) {
    for AdminRequest { id, command } in requests.read() {
        let AdminCommand::Say { text } = command else { continue };
        let result = if text.len() <= MAX_TEXT {
            everyone.send(&OperatorText(text.clone()));
            Ok(format!("said to {} players", players.iter().count()))
        } else {
            Err(format!("a text may have {MAX_TEXT} bytes"))
        };
        answers.write(AdminAnswer { id: *id, result });
    }
}

/// Time until the match restarts on another map.
#[derive(Resource)]
struct PendingRestart(Duration);

fn restart(time: Res<Time<Real>>, mut pending: ResMut<PendingRestart>, mut commands: Commands) {
    pending.0 = pending.0.saturating_sub(time.delta());
    if pending.0.is_zero() {
        commands.remove_resource::<PendingRestart>();
        commands.trigger(RestartMatch);
    }
}

fn tell_joiner(joined: On<PlayerJoined>, map: Res<ArenaMap>, mut maps: Outbox<MapChanged>) {
    maps.send_to(joined.link, &MapChanged(*map));
}

fn tell_returned(returned: On<PlayerReturned>, map: Res<ArenaMap>, mut maps: Outbox<MapChanged>) {
    maps.send_to(returned.link, &MapChanged(*map));
}
