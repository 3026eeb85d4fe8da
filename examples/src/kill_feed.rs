//! Kills, told to everyone by the server.

use bevy::prelude::*;
use bevy_unlag::{
    core::Wire,
    net::MessageRules,
    prelude::*,
    weapons::{DeathCause, Died},
};

/// Server to everyone: a player has died.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Wire)]
pub struct Kill {
    /// The player who gets the kill, if there is one.
    pub killer: Option<NetId>,
    /// The player who died.
    pub victim: NetId,
    /// Weapon of the hardest blow; `None` for the world.
    pub weapon: Option<WeaponId>,
}

/// Registers the message. Client and server both add it.
pub(crate) fn protocol(app: &mut App) {
    app.add_message::<Kill>()
        .add_game_message::<Kill>(MessageRules::to_everyone())
        .add_systems(Update, receive);
}

/// Tells everyone about each death, on a server.
pub(crate) fn server_plugin(app: &mut App) {
    app.add_systems(Update, tell);
}

fn tell(
    mut deaths: MessageReader<Died>,
    names: Query<&NetId>,
    mut everyone: Outbox<Kill>,
    mut kills: MessageWriter<Kill>,
) {
    for death in deaths.read() {
        let Ok(victim) = names.get(death.victim) else { continue };
        let killer = death.killer.and_then(|killer| names.get(killer).ok()).copied();
        let weapon = match death.cause {
            DeathCause::Shot(damage) => Some(damage.weapon),
            DeathCause::Hazard(_) => None,
        };
        let kill = Kill { killer, victim: *victim, weapon };
        everyone.send(&kill);
        // For a host.
        kills.write(kill);
    }
}

fn receive(mut told: MessageReader<Received<Kill>>, mut kills: MessageWriter<Kill>) {
    kills.write_batch(told.read().map(|kill| kill.message));
}
