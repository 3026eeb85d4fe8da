//! Invariants of the soak test, checked continuously and at every rest.

use bevy_unlag::guard::{KickReason, Kicked, LinkTraffic};
use std::collections::BTreeMap;

use lightyear::prelude::{PeerId, RemoteId, server::ClientOf};

use super::HONEST;
use crate::prelude::*;

/// Kicks since the last check.
#[derive(Resource, Default)]
struct RecordedKicks(Vec<Kicked>);

/// Records kicks.
pub fn record_kicks(server: &mut App) {
    server.init_resource::<RecordedKicks>().add_systems(
        Last,
        |mut kicked: MessageReader<Kicked>, mut all: ResMut<RecordedKicks>| {
            all.0.extend(kicked.read());
        },
    );
}

pub struct Invariants {
    seed: u64,
    /// Current second of the match.
    pub second: u64,
    pub breaks: u32,
    /// Number of kicks of cheaters for their packets.
    pub kicked: u32,
    /// Hash of all positions at every rest.
    pub digest: u32,
}

impl Invariants {
    pub fn new(seed: u64) -> Self {
        Self { seed, second: 0, breaks: 0, kicked: 0, digest: 0x811C_9DC5 }
    }

    /// Reports a broken invariant.
    pub fn report_break(&mut self, what: String) {
        self.breaks += 1;
        eprintln!("invariant broken in second {} of seed {}: {what}", self.second, self.seed);
    }

    /// Checks that all numbers are finite, and that honest players have neither kicks nor strikes.
    pub fn check_values_and_kicks(&mut self, game: &mut Match) {
        let apps = game.apps_mut().take(1 + HONEST);
        let odd: Vec<_> = apps.enumerate().filter_map(|(index, app)| Some((index, odd(app)?))).collect();
        for (index, what) in odd {
            let whose = if index == 0 { "the server".to_owned() } else { format!("player {}", index - 1) };
            self.report_break(format!("{what} at {whose}"));
        }
        let kicked = core::mem::take(&mut game.server.world_mut().resource_mut::<RecordedKicks>().0);
        for kicked in kicked {
            if !is_honest(kicked.peer) {
                let deserved = matches!(kicked.reason, KickReason::InvalidPackets | KickReason::Flood);
                self.kicked += u32::from(deserved);
            } else if kicked.reason != KickReason::Replaced {
                // A player that rejoins before its old link has timed out replaces itself.
                self.report_break(format!("honest {:?} was kicked: {:?}", kicked.peer, kicked.reason));
            }
        }
        let world = game.server.world_mut();
        let mut links = world.query_filtered::<(&RemoteId, &LinkTraffic), With<ClientOf>>();
        let honest = links.iter(world).filter(|(peer, _)| is_honest(peer.0));
        let struck: Vec<_> =
            honest.filter(|(_, traffic)| traffic.strikes > 0.0).map(|(p, t)| (p.0, *t)).collect();
        for (peer, traffic) in struck {
            self.report_break(format!("honest {peer:?} has strikes: {traffic:?}"));
        }
    }

    /// Pauses all input for a while, then checks that both sides agree.
    pub fn check_at_rest(&mut self, game: &mut Match, plays: impl Fn(usize) -> bool) {
        let mut scripts: Vec<Option<ScriptedPlayer>> = Vec::new();
        for client in &mut game.clients {
            let world = client.world_mut();
            scripts.push(world.remove_resource::<ScriptedPlayer>());
            world.insert_resource(ScriptedPlayer::idle());
            for (mut gather, mut trigger) in
                world.query::<(&mut InputAccumulator, &mut WeaponControls)>().iter_mut(world)
            {
                *gather = InputAccumulator::default();
                trigger.set_fire(false);
            }
        }
        game.run(Duration::from_secs(4));
        // Spawns and despawns of the last moment may still be in flight.
        for _ in 0..4 {
            let there: Vec<_> = states(&mut game.server).into_keys().collect();
            let playing: Vec<_> = (0..HONEST).filter(|player| plays(*player)).collect();
            if playing.into_iter().all(|player| names(&mut game.clients[player]) == there) {
                break;
            }
            game.run(Duration::from_millis(500));
        }
        let server = states(&mut game.server);
        for player in 0..HONEST {
            if !plays(player) || !game.is_playing(player) {
                continue;
            }
            let Some((id, own)) = own(&mut game.clients[player]) else {
                self.report_break(format!("player {player} plays without a pawn"));
                continue;
            };
            match server.get(&id) {
                None => self.report_break(format!("the server does not know player {player}'s pawn")),
                Some(there) => {
                    let apart = own.body.position.distance(there.body.position);
                    if apart > 0.01 {
                        self.report_break(format!(
                            "player {player} is {apart} m away from its position on the server"
                        ));
                    }
                    if own.extension.slots != there.extension.slots {
                        self.report_break(format!("player {player}'s ammunition differs from the server's"));
                    }
                }
            }
            let seen = names(&mut game.clients[player]);
            let there: Vec<_> = server.keys().copied().collect();
            if seen != there {
                self.report_break(format!("player {player} has the pawns {seen:?} instead of {there:?}"));
            }
        }
        for (id, state) in &server {
            let place = state.body.position;
            for bits in [u32::from(id.0), place.x.to_bits(), place.y.to_bits(), place.z.to_bits()] {
                self.digest = (self.digest ^ bits).wrapping_mul(0x0100_0193);
            }
        }
        for (client, script) in game.clients.iter_mut().zip(scripts) {
            if let Some(script) = script {
                client.insert_resource(script);
            }
        }
        self.check_values_and_kicks(game);
    }
}

fn is_honest(peer: PeerId) -> bool {
    matches!(peer, PeerId::Netcode(id) if id <= HONEST as u64)
}

/// Returns a description of the first value that is not finite.
fn odd(app: &mut App) -> Option<String> {
    let world = app.world_mut();
    let mut states = world.query::<(&NetId, &SoldierState)>();
    let bad = |state: &SoldierState| !(state.body.position.is_finite() && state.body.velocity.is_finite());
    if let Some((id, _)) = states.iter(world).find(|(_, state)| bad(state)) {
        return Some(format!("non-finite value in the state of {id:?}"));
    }
    let mut drawn = world.query::<(&NetId, &DrawnPose)>();
    let bad = |drawn: &DrawnPose| !(drawn.pose.position.is_finite() && drawn.pose.rotation.is_finite());
    let (id, _) = drawn.iter(world).find(|(_, pose)| bad(pose))?;
    Some(format!("non-finite value in the drawn pose of {id:?}"))
}

fn states(app: &mut App) -> BTreeMap<NetId, SoldierState> {
    let world = app.world_mut();
    world.query::<(&NetId, &SoldierState)>().iter(world).map(|(id, state)| (*id, *state)).collect()
}

fn own(app: &mut App) -> Option<(NetId, SoldierState)> {
    let world = app.world_mut();
    let mut own = world.query_filtered::<(&NetId, &SoldierState), With<LocalControl>>();
    own.iter(world).next().map(|(id, state)| (*id, *state))
}

fn names(app: &mut App) -> Vec<NetId> {
    let world = app.world_mut();
    let mut names: Vec<_> = world.query::<&NetId>().iter(world).copied().collect();
    names.sort_unstable();
    names
}
