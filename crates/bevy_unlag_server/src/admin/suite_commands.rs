//! Answers to the commands that need nothing of the game: players, kicks, bans, drains.

use core::fmt::Write;

use bevy::prelude::*;
use bevy_unlag_core::RoundTrip;
use lightyear::{
    connection::host::HostClient,
    prelude::{server::ClientOf, *},
};
use lightyear_guard::{BanList, Kick, KickReason, KickText, PendingKick, client_name};

use super::{AdminAnswer, AdminCommand, AdminRequest};
use crate::life_cycle::{LifeCycleConfig, ServerState};

/// Links of players who stay.
type Players<'w, 's> = Query<
    'w,
    's,
    (Entity, &'static RemoteId, Option<&'static PeerAddr>, Option<&'static RoundTrip>),
    (With<ClientOf>, With<Connected>, Without<HostClient>, Without<PendingKick>),
>;

pub(super) fn answer(
    mut requests: MessageReader<AdminRequest>,
    players: Players,
    mut bans: ResMut<BanList>,
    (mut state, mut config): (Option<ResMut<ServerState>>, Option<ResMut<LifeCycleConfig>>),
    mut answers: MessageWriter<AdminAnswer>,
    mut commands: Commands,
) {
    for AdminRequest { id, command } in requests.read() {
        let result = match command {
            AdminCommand::Players => Ok(list(&players)),
            AdminCommand::Kick { client, reason } => {
                match kick(&players, *reason, &mut commands, |peer, _| peer == *client) {
                    0 => Err(format!("no player {client} is connected; see: players")),
                    _ => Ok(format!("kicked {client}")),
                }
            }
            AdminCommand::Ban { target, duration, reason } => {
                let minutes = duration.as_secs() / 60;
                if bans.ban(*target, *duration) {
                    let told = if reason.as_str().is_empty() {
                        KickText::new(&format!("banned for {minutes} min"))
                    } else {
                        *reason
                    };
                    let is_banned = |peer, address: Option<&PeerAddr>| {
                        bans.is_banned(peer, address.map(|address| address.0.ip()))
                    };
                    let kicked = kick(&players, told, &mut commands, is_banned);
                    Ok(format!("banned {target} for {minutes} min, kicked {kicked} of those inside"))
                } else {
                    Err(format!(
                        "{} bans are in force, which is the limit; unban somebody first",
                        BanList::MAX
                    ))
                }
            }
            AdminCommand::Unban { target } => {
                if bans.unban(*target) {
                    Ok(format!("{target} may join again"))
                } else {
                    Err(format!("{target} is not banned"))
                }
            }
            AdminCommand::Drain { reason } => match state.as_deref_mut() {
                Some(state) if state.is_running() => {
                    if let Some(config) = config.as_deref_mut()
                        && !reason.as_str().is_empty()
                    {
                        config.reason = *reason;
                    }
                    *state = ServerState::Draining;
                    Ok("draining".to_owned())
                }
                Some(state) => Err(format!("the server is {state} already")),
                None => Err("this server has no life cycle: it lacks ServerLifeCyclePlugin".to_owned()),
            },
            // The game's.
            AdminCommand::Map { .. } | AdminCommand::Say { .. } => continue,
        };
        answers.write(AdminAnswer { id: *id, result });
    }
}

/// Returns a line for each player.
fn list(players: &Players) -> String {
    let mut lines = String::new();
    for (_, peer, address, round_trip) in players {
        let separator = if lines.is_empty() { "" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = write!(lines, "{separator}client={}", client_name(peer.0));
        if let Some(address) = address {
            let _ = write!(lines, " address={}", address.0);
        }
        if let Some(trip) = round_trip {
            let _ = write!(lines, " ping_ms={:.0}", trip.rtt.as_secs_f64() * 1_000.0);
        }
    }
    if lines.is_empty() { "no players".to_owned() } else { lines }
}

/// Kicks the players of netcode for which `is` holds. Returns their number.
fn kick(
    players: &Players,
    reason: KickText,
    commands: &mut Commands,
    is: impl Fn(u64, Option<&PeerAddr>) -> bool,
) -> usize {
    let mut kicked = 0;
    for (entity, peer, address, _) in players {
        if let PeerId::Netcode(client) = peer.0
            && is(client, address)
        {
            commands.trigger(Kick { entity, reason: KickReason::Operator(reason) });
            kicked += 1;
        }
    }
    kicked
}
