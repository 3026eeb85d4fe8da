//! Restart of the match on a running server: removes the state of the old match on both sides.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, MatchReset, Tick, Wire};
use lightyear::prelude::{server::ClientOf, *};

use super::{handshake::PendingSetup, session_log::SERVER};
use crate::{
    bandwidth::Bandwidth,
    message_class::MessageClass,
    models::current_setup,
    protocol::{RestartMessage, ServerEventChannel, Setup},
    session::match_epoch::{KnownEpoch, MatchEpoch},
    system_sets::ReceiveSystems,
};

/// Restarts the match at the start of the server's next frame. Trigger it on a server. See
/// [`MatchRestarted`].
///
/// Projectiles in flight are removed without an end event. Moves and shots from before the restart are never
/// executed, even if they arrive later, and no shot is rewound into the old match: its view time is refused.
/// Ticks continue.
///
/// If the level changes, load the new one before the restart, or in an observer of [`MatchRestarted`]: its
/// hash is announced a tick later, and every client compares it as when joining.
#[doc(alias = "RestartGame")]
#[doc(alias = "mp_restartgame")]
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Event, Debug, Default)]
pub struct RestartMatch;

/// The match was restarted. Triggered on the server immediately, where the game should place its players, and
/// on each client when the announcement arrives, where the game should remove what it shows of the old match:
/// decals, corpses, scores.
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct MatchRestarted {
    /// Match number of the server; wraps after 255.
    pub epoch: u8,
    /// The last server tick of the old match.
    pub tick: Tick,
}

pub(super) fn server_plugin(app: &mut App) {
    app.init_resource::<MatchEpoch>()
        .add_observer(|_: On<RestartMatch>, mut epoch: ResMut<MatchEpoch>| epoch.requested = true)
        .add_systems(First, begin.run_if(|epoch: Res<MatchEpoch>| epoch.requested))
        .add_systems(
            PostUpdate,
            announce_restart.run_if(|epoch: Res<MatchEpoch>| epoch.is_pending()).before(MessageSystems::Send),
        );
}

pub(super) fn client_plugin(app: &mut App) {
    app.add_observer(reset_epoch).add_systems(
        PreUpdate,
        receive_restart
            .after(MessageSystems::Receive)
            .after(ReplicationSystems::Receive)
            .before(ReceiveSystems::Snapshots),
    );
}

fn begin(tick: Res<CurrentTick>, mut epoch: ResMut<MatchEpoch>, mut commands: Commands) {
    let now = tick.0;
    epoch.requested = false;
    epoch.number = epoch.number.wrapping_add(1);
    epoch.unannounced = Some(now);
    commands.trigger(MatchReset { tick: now });
    info!(target: SERVER, number = epoch.number, tick = now.0, "match restarted");
    commands.trigger(MatchRestarted { epoch: epoch.number, tick: now });
}

/// Announces the restart a tick later, when the game has set up the new match.
fn announce_restart(
    world: &mut World,
    links: &mut QueryState<&mut MessageSender<RestartMessage>, (With<ClientOf>, With<Connected>)>,
) {
    let tick = world.resource::<CurrentTick>().0;
    let mut epoch = world.resource_mut::<MatchEpoch>();
    let Some(began) = epoch.unannounced.filter(|began| tick.is_newer_than(*began)) else { return };
    epoch.unannounced = None;
    let number = epoch.number;
    let bytes = (current_setup(world, number, None), began).to_bytes();
    let mut sent = 0;
    for mut link in links.iter_mut(world) {
        sent += 1;
        link.send::<ServerEventChannel>(RestartMessage(bytes.clone()));
    }
    world.resource_mut::<Bandwidth>().count(MessageClass::Hello, bytes.len(), sent);
}

/// Resets the match state: another connection may be to another server, which numbers its own matches.
fn reset_epoch(connected: On<Add, Connected>, links: Query<(), With<Client>>, mut commands: Commands) {
    if links.contains(connected.entity) {
        commands.entity(connected.entity).try_remove::<KnownEpoch>();
    }
}

fn receive_restart(
    mut links: Query<(Entity, Option<&KnownEpoch>, &mut MessageReceiver<RestartMessage>), With<Client>>,
    mut bandwidth: ResMut<Bandwidth>,
    mut commands: Commands,
) {
    for (entity, known, mut link) in &mut links {
        let mut known = known.map(|known| known.0);
        for message in bandwidth.receive(&mut link) {
            let Ok((setup, tick)) = <(Setup, Tick)>::from_bytes(&message.0) else { continue };
            // Announcements may overtake each other.
            if known.is_some_and(|known| setup.epoch.wrapping_sub(known).cast_signed() <= 0) {
                continue;
            }
            known = Some(setup.epoch);
            commands.trigger(MatchReset { tick });
            commands.entity(entity).insert((PendingSetup(setup), KnownEpoch(setup.epoch)));
            commands.trigger(MatchRestarted { epoch: setup.epoch, tick });
        }
    }
}
