//! Players inside, for the counter and the list of the game server.

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_unlag_lightyear::{PlayerJoined, PlayerLeft, PlayerReturned};
use lightyear_guard::client_name;

use crate::connection::Agones;

/// Names of the players inside, by the server's end of their links: a player may be back before the old link is gone.
#[derive(Resource, Default)]
struct Inside(BTreeMap<Entity, String>);

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<Inside>().add_observer(note_join).add_observer(note_return).add_observer(note_leave);
}

fn note_join(joined: On<PlayerJoined>, mut inside: ResMut<Inside>, agones: Res<Agones>) {
    inside.0.insert(joined.link, client_name(joined.peer));
    agones.set_players(inside.0.values().cloned());
}

fn note_return(returned: On<PlayerReturned>, mut inside: ResMut<Inside>, agones: Res<Agones>) {
    inside.0.insert(returned.link, client_name(returned.peer));
    agones.set_players(inside.0.values().cloned());
}

fn note_leave(left: On<PlayerLeft>, mut inside: ResMut<Inside>, agones: Res<Agones>) {
    inside.0.remove(&left.link);
    agones.set_players(inside.0.values().cloned());
}
