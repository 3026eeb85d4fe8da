//! The operator's commands for maps and texts on a running server.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    net::{PlayerReturned, RestartMatch, Spectator},
    prelude::*,
};
use bevy_unlag_server::{AdminAnswer, AdminCommand, AdminRequest};
use lightyear::prelude::{Connected, server::ClientOf};

use crate::{
    arena::{ArenaMap, ArenaPart},
    maps::{self, MapChanged, OperatorText},
};

/// Time between the announcement of a map and the restart of the match, at which the levels are compared: by then the
/// clients have loaded it.
const RESTART_DELAY: Duration = Duration::from_millis(500);
/// Longest text of an operator, in bytes.
const MAX_TEXT: usize = 400;

/// Answers the operator's commands for maps and texts. Clients that join learn the map.
pub fn plugin(app: &mut App) {
    app.add_systems(Update, (answer_map, answer_say, restart.run_if(resource_exists::<PendingRestart>)))
        .add_observer(tell_joiner)
        .add_observer(tell_returned);
}

fn answer_map(
    mut requests: MessageReader<AdminRequest>,
    mut answers: MessageWriter<AdminAnswer>,
    parts: Query<Entity, With<ArenaPart>>,
    players: Query<Entity, (With<ClientOf>, With<Connected>)>,
    mut changes: Outbox<MapChanged>,
    mut commands: Commands,
) {
    for AdminRequest { id, command } in requests.read() {
        let AdminCommand::Map { name } = command else { continue };
        let result = if let Some(map) = ArenaMap::find(name) {
            maps::load(map, &parts, &mut commands);
            players.iter().for_each(|link| changes.send_to(link, &MapChanged(map)));
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

fn tell_joiner(joined: On<PlayerJoined>, map: Res<ArenaMap>, mut changes: Outbox<MapChanged>) {
    changes.send_to(joined.link, &MapChanged(*map));
}

fn tell_returned(returned: On<PlayerReturned>, map: Res<ArenaMap>, mut changes: Outbox<MapChanged>) {
    changes.send_to(returned.link, &MapChanged(*map));
}
