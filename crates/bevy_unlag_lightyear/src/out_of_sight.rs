//! Notices about pawns that are concealed from a client: from the server's [`HiddenPawns`] to the client's
//! [`OutOfSight`].

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, NetId, NetRole, Tick, Wire};
use bevy_unlag_smoothing::{OutOfSight, SmoothingSystems};
use lightyear::prelude::{server::ClientOf, *};

use crate::{
    bandwidth::{Bandwidth, ServerMessages},
    budget::SnapshotSendQueue,
    hidden_pawns::HiddenPawns,
    net_ids::NetIdMap,
    protocol::OutOfSightMessage,
    snapshots::SnapshotQueue,
    system_sets::{NetSystems, ReceiveSystems, SendSystems},
};

/// Maximum number of pawns in one notice.
const MAX_PAWNS: usize = 256;

pub(crate) fn server_plugin(app: &mut App) {
    app.configure_sets(PostUpdate, NetSystems::AnnounceHidden.before(SendSystems::Snapshots))
        .add_systems(PostUpdate, announce.in_set(NetSystems::AnnounceHidden));
}

pub(crate) fn client_plugin(app: &mut App) {
    app.add_systems(PreUpdate, deliver.in_set(ReceiveSystems::Snapshots).before(SmoothingSystems::Receive));
}

/// Encodes notices: the last tick of which the client was sent snapshots, and the pawns.
fn write(since: Tick, pawns: &[NetId], mut send: impl FnMut(Vec<u8>)) {
    for some in pawns.chunks(MAX_PAWNS) {
        let mut bytes = since.0.to_le_bytes().to_vec();
        bytes.extend(some.iter().flat_map(|pawn| pawn.0.to_le_bytes()));
        send(bytes);
    }
}

/// Decodes a notice; `None` if it is invalid.
fn read(bytes: &[u8]) -> Option<(Tick, impl Iterator<Item = NetId> + '_)> {
    let (head, pawns) = bytes.split_first_chunk::<4>()?;
    if pawns.len() % 2 != 0 || pawns.len() > MAX_PAWNS * 2 {
        return None;
    }
    let ids = pawns.chunks_exact(2).map(|id| NetId(u16::from_le_bytes([id[0], id[1]])));
    Some((Tick::from_bytes(head).ok()?, ids))
}

fn announce(
    tick: Res<CurrentTick>,
    names: Query<&NetId>,
    mut links: Query<
        (
            Entity,
            &mut HiddenPawns,
            &mut MessageSender<OutOfSightMessage>,
            &mut SnapshotSendQueue,
            &mut SnapshotQueue,
        ),
        (With<ClientOf>, With<Connected>),
    >,
    mut bandwidth: ResMut<Bandwidth>,
    #[cfg(feature = "record")] mut recording: Option<ResMut<crate::record::MatchRecording>>,
    mut fresh: Local<Vec<Entity>>,
) {
    for (_link, mut pawns, mut sender, mut budget, mut snapshots) in &mut links {
        pawns.bypass_change_detection().announce(&mut fresh);
        if fresh.is_empty() {
            continue;
        }
        let mut ids: Vec<NetId> = fresh.iter().filter_map(|pawn| names.get(*pawn).ok()).copied().collect();
        ids.sort_unstable();
        // The snapshots of this tick are withheld already.
        let since = tick.0.offset(-1);
        ids.iter().for_each(|id| snapshots.sent.mark_gone(*id, since));
        #[cfg(feature = "record")]
        if let Some(recording) = &mut recording {
            recording.note_hidden(_link, since, &ids);
        }
        write(since, &ids, |bytes| {
            budget.spend(bytes.len());
            bandwidth.send(&mut sender, bytes);
        });
    }
}

fn deliver(
    names: Res<NetIdMap>,
    mut messages: ServerMessages<OutOfSightMessage>,
    pawns: Query<Option<&OutOfSight>, With<NetRole>>,
    mut commands: Commands,
) {
    for message in messages.take() {
        let Some((since, ids)) = read(&message.0) else {
            warn_once!("the server sent a notice about hidden pawns that cannot be read");
            continue;
        };
        for pawn in ids.filter_map(|id| names.get(id)) {
            // A pawn that is not here yet has not been drawn either. A notice may overtake an older one.
            let Ok(known) = pawns.get(pawn) else { continue };
            if known.is_none_or(|known| since.is_newer_than(known.since)) {
                commands.entity(pawn).try_insert(OutOfSight { since });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_survive_a_round_trip_in_bounded_messages() {
        let pawns: Vec<_> = (0..600u16).map(|id| NetId(id * 7)).collect();
        let mut read_back = Vec::new();
        write(Tick(70), &pawns, |bytes| {
            assert!(bytes.len() <= 4 + 2 * MAX_PAWNS, "{} bytes", bytes.len());
            let (since, ids) = read(&bytes).expect("a notice of ours");
            assert_eq!(since, Tick(70));
            read_back.extend(ids);
        });
        assert_eq!(read_back, pawns);
    }

    #[test]
    fn invalid_notices_are_refused() {
        for length in [0, 3, 5, 4 + 2 * MAX_PAWNS + 2] {
            assert!(read(&vec![1; length]).is_none(), "{length} bytes");
        }
        assert!(read(&[1; 4]).is_some_and(|(_, mut ids)| ids.next().is_none()));
    }
}
