//! Players and pawns of the recording.

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_unlag_core::{NetId, PawnClass, ProxySmoothing};
use bevy_unlag_record::{RecordedPawn, RecordedPlayer, RosterChange};
use bevy_unlag_rewind::Team;
use bevy_unlag_smoothing::PublishedPath;
use lightyear::{
    connection::host::HostClient,
    prelude::{server::ClientOf, *},
};

use super::MatchRecording;
use crate::{model_index::ModelIndex, parking::Published, spectators::Spectator};

type Pawn = (
    &'static NetId,
    Option<&'static ModelIndex>,
    Option<&'static PawnClass>,
    Option<&'static Team>,
    Option<&'static ProxySmoothing>,
    Option<&'static ControlledBy>,
);

type PlayerLink = (With<ClientOf>, With<Connected>, Without<HostClient>, Without<Spectator>);

/// Records which players and pawns are there, before anything of them is sent.
pub(super) fn follow(
    pawns: Query<Pawn, (With<PublishedPath>, Published)>,
    links: Query<(Entity, &RemoteId), PlayerLink>,
    mut recording: ResMut<MatchRecording>,
    (mut changes, mut controlled): (Local<Vec<RosterChange>>, Local<EntityHashMap<NetId>>),
) {
    let recording = &mut *recording;
    if recording.recorder().is_none() {
        return;
    }
    changes.clear();
    controlled.clear();
    controlled.extend(pawns.iter().filter_map(|(id, .., owner)| Some((owner?.owner, *id))));
    recording.links.retain(|link, _| links.contains(*link));
    for (link, peer) in &links {
        let number = recording.number_of(peer.0);
        recording.links.insert(link, number);
        let pawn = controlled.get(&link).copied();
        let name = recording.name_of(peer.0);
        let known = recording.roster().and_then(|roster| roster.player(number));
        if known.is_none_or(|known| known.pawn != pawn || known.name != name) {
            let player = RecordedPlayer { number, peer: peer.0.to_bits(), name: name.to_owned(), pawn };
            changes.push(RosterChange::Player(player));
        }
    }
    let Some(roster) = recording.roster() else { return };
    let has_left = roster.players().len() > recording.links.len() || !changes.is_empty();
    for player in roster.players().filter(|_| has_left) {
        if !recording.links.values().any(|number| *number == player.number) {
            changes.push(RosterChange::PlayerLeft(player.number));
        }
    }
    for (id, model, class, team, smoothing, _) in &pawns {
        let pawn = RecordedPawn {
            id: *id,
            model: model.map_or(0, |model| model.0),
            class: class.map_or(0, |class| class.0),
            team: team.map(|team| team.0),
            smoothing: smoothing.copied(),
        };
        if roster.pawn(*id) != Some(&pawn) {
            changes.push(RosterChange::Pawn(pawn));
        }
    }
    if roster.pawns().len() > pawns.iter().len() || !changes.is_empty() {
        let gone = roster.pawns().filter(|pawn| !pawns.iter().any(|(id, ..)| *id == pawn.id));
        changes.extend(gone.map(|pawn| RosterChange::PawnGone(pawn.id)));
    }
    if let Some(recorder) = recording.recorder() {
        changes.drain(..).for_each(|change| recorder.change_roster(change));
    }
}
