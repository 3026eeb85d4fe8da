//! Firing over simulated links: shots, ammunition, projectiles and ping warnings.

mod ammo;
mod flight;
mod honest_shots;
mod impaired_link;
mod ping;

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_unlag::{
    ControlSystems,
    core::{ExtendedEvent, Tick},
    prelude::*,
    weapons::{OutgoingShotMessages, PredictedShot, ShotMessage, ShotRefusal, ShotResult, WeaponEvent},
};
use unlag_examples::stepped_match::Match;

use crate::own_id;

/// Identifies a shot: the shooter's network id and the shot's tick.
type ShotId = (NetId, Tick);

/// Record of the server's shots.
#[derive(Resource, Default)]
pub(crate) struct ServerShotLog {
    /// Shots that left, and the state after their move.
    pub left: BTreeMap<(u16, u32), (PredictedShot, SoldierState)>,
    /// Final verdicts, and the ticks in which they were issued.
    pub verdicts: BTreeMap<(u16, u32), Vec<(ShotResult, Tick)>>,
    /// Number of `Launched` results per shot.
    launched: BTreeMap<(u16, u32), u32>,
    /// Number of damage messages per shot and target.
    damage_counts: BTreeMap<(u16, u32, Entity), u32>,
}

impl ServerShotLog {
    pub fn refused(&self) -> impl Iterator<Item = (ShotId, ShotRefusal, Tick)> {
        self.verdicts.iter().flat_map(|((id, shot), results)| {
            let name = (NetId(*id), Tick(*shot));
            results.iter().filter_map(move |(result, at)| match result {
                ShotResult::Refused(why) => Some((name, *why, *at)),
                _ => None,
            })
        })
    }

    /// Shots with more than one verdict or launch, or that damaged a target more than once.
    pub fn counted_twice(&self) -> Vec<(u16, u32)> {
        let judged = self.verdicts.iter().filter(|(_, all)| all.len() > 1).map(|(name, _)| *name);
        let launched = self.launched.iter().filter(|(_, times)| **times > 1).map(|(name, _)| *name);
        let damage_counts =
            self.damage_counts.iter().filter(|(_, times)| **times > 1).map(|((id, shot, _), _)| (*id, *shot));
        judged.chain(launched).chain(damage_counts).collect()
    }
}

/// Records shots, verdicts and damage, after all ticks of a frame and before the network drains the
/// mailboxes.
fn record_server_shots(
    mut noted: ResMut<ServerShotLog>,
    tick: Res<CurrentTick>,
    pawns: Query<(&NetId, &OutgoingShotMessages)>,
    ids: Query<&NetId>,
    mut steps: MessageReader<bevy_unlag::core::StepEvent<Soldier>>,
    mut damage: MessageReader<Damage>,
) {
    for step in steps.read() {
        let ExtendedEvent::Extension(WeaponEvent::Fired(round)) = step.event else { continue };
        let Ok(id) = ids.get(step.entity) else { continue };
        noted.left.insert((id.0, round.shot.0), (round, step.state));
    }
    for (id, mailbox) in &pawns {
        for mailed in &mailbox.0 {
            let ShotMessage::Verdict(verdict) = mailed else { continue };
            let name = (id.0, verdict.shot.0);
            if verdict.result == ShotResult::Launched {
                *noted.launched.entry(name).or_default() += 1;
            } else {
                noted.verdicts.entry(name).or_default().push((verdict.result, tick.0));
            }
        }
    }
    for hit in damage.read() {
        let Ok(id) = ids.get(hit.shooter) else { continue };
        *noted.damage_counts.entry((id.0, hit.shot.0, hit.target)).or_default() += 1;
    }
}

/// Shots that a client displayed as its own, and the verdicts that it received.
#[derive(Resource, Default)]
pub(crate) struct ClientShotLog {
    pub fired: BTreeMap<u32, ShotFired>,
    pub verdicts: BTreeMap<u32, Vec<ShotResult>>,
}

impl ClientShotLog {
    /// Returns the shots without an answer.
    pub fn unanswered(&self) -> Vec<u32> {
        self.fired.keys().copied().filter(|shot| !self.verdicts.contains_key(shot)).collect()
    }
}

fn record_client_shots(
    mut shown: ResMut<ClientShotLog>,
    mut fired: MessageReader<ShotFired>,
    mut heard: MessageReader<ShotVerdict>,
) {
    for shot in fired.read() {
        shown.fired.insert(shot.round.shot.0, shot.clone());
    }
    for verdict in heard.read().filter(|verdict| verdict.result != ShotResult::Launched) {
        shown.verdicts.entry(verdict.shot.0).or_default().push(verdict.result);
    }
}

/// Records the shots and verdicts on the server and on all clients.
pub(crate) fn record_shots(game: &mut Match) {
    game.server.init_resource::<ServerShotLog>().add_systems(Update, record_server_shots);
    for client in &mut game.clients {
        client.init_resource::<ClientShotLog>().add_systems(Update, record_client_shots);
    }
}

/// The index of the client that owns this pawn.
fn client_of(game: &mut Match, id: NetId) -> usize {
    (0..game.clients.len()).find(|i| own_id(&mut game.clients[*i]) == id).expect("a client owns the pawn")
}

/// Reloads every 6.7 s, whether needed or not.
fn reload_periodically(
    time: Res<Time>,
    mut own: Query<&mut WeaponControls, With<LocalControl>>,
    mut due: Local<f32>,
) {
    if time.elapsed_secs() < *due {
        return;
    }
    *due = time.elapsed_secs() + 6.7;
    for mut trigger in &mut own {
        trigger.reload = true;
    }
}

/// Adds periodic reloads to a scripted player.
fn add_periodic_reloads(client: &mut App) {
    client.add_systems(RunFixedMainLoop, reload_periodically.in_set(ControlSystems::Accumulate));
}
