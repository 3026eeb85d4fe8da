//! Screens of players, rebuilt from a file.

use std::{collections::BTreeMap, io::Cursor};

use bevy_unlag_core::{
    BaseView, NetId, PoseSampler, ProxySmoothing, SnapshotHistory, Tick, ViewStamp, ViewTime,
};
use bevy_unlag_record::*;

use crate::example_match::{ExampleMatch, recorded};

/// Fails if a screen has what its player was not sent, or draws it with other code than a client.
#[test]
fn screen_has_the_bits_of_a_client_that_received_what_the_player_was_sent() {
    let (bytes, expected) = recorded(4, Tick(u32::MAX - 200), 600, RecorderConfig::default());
    let mut recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
    let sampler = PoseSampler::default();
    let bases = BaseView::default();
    let mut compared = 0;
    for player in (0..4).map(PlayerNumber) {
        // Snapshots that the player's client received, with its own capacity.
        let mut client: BTreeMap<NetId, SnapshotHistory> = BTreeMap::new();
        for (tick, entry) in &expected.entries {
            if let Entry::Publication(publication) = entry {
                for (pawn, update) in publication.sent_to(player) {
                    let history = client.entry(*pawn).or_default();
                    update.iter().for_each(|snapshot| {
                        history.insert(*snapshot);
                    });
                }
            }
            let Entry::Acks(_) = entry else { continue };
            if tick.0 % 7 != 0 {
                continue;
            }
            let time = ViewTime { tick: tick.offset(-9), fraction: tick.0 as u8 };
            let screen = recording.screen_at(player, time).expect("it was recorded");
            assert!(!screen.pawns().any(|pawn| pawn == NetId(player.0 * 3)), "the own pawn is predicted");
            for (pawn, history) in &client {
                let mode = (*pawn == NetId(3)).then_some(ProxySmoothing::Linear);
                let Some(stamp @ ViewStamp::Interpolated { .. }) = history.stamp(time) else { continue };
                let live = history.pose(stamp, &sampler.of(mode.as_ref()), &bases);
                assert_eq!(screen.stamp(*pawn, time), Some(stamp));
                assert_eq!(screen.pose(*pawn, stamp, &sampler, &bases), live, "{pawn:?} at {time:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 500, "{compared} poses");
}

#[test]
fn snapshots_that_a_player_was_not_sent_are_not_on_its_screen() {
    let (bytes, expected) = recorded(3, Tick(0), 300, RecorderConfig::default());
    let mut recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
    let segments = recording.read_span(Tick(0), Tick(299)).expect("it was recorded");
    let mut left_out = 0;
    for player in (0..3).map(PlayerNumber) {
        let screen = PlayerScreen::of(player, &segments);
        for pawn in screen.pawns() {
            let sent = expected.entries.iter().filter_map(|(_, entry)| match entry {
                Entry::Publication(publication) => Some(publication),
                _ => None,
            });
            let mut sent: Vec<Tick> = sent
                .flat_map(|publication| publication.sent_to(player))
                .filter(|(id, _)| *id == pawn)
                .flat_map(|(_, update)| update.iter().map(|snapshot| snapshot.tick))
                .collect();
            sent.sort_by_key(|tick| tick.since(Tick(0)));
            sent.dedup();
            let on_screen: Vec<Tick> = screen.snapshots(pawn).map(|snapshot| snapshot.tick).collect();
            assert_eq!(on_screen, sent);
            left_out += usize::from(on_screen.len() < 100);
        }
    }
    assert!(left_out > 0, "the control: some player was sent less than everything");
}

#[test]
fn pawn_out_of_sight_is_not_drawn_until_it_is_sent_again() {
    let mut recorder = ExampleMatch::new(2, Tick(0), RecorderConfig::default());
    let file = crate::example_match::TempFile::new();
    recorder.recorder.open_file(&file.0);
    recorder.run(100);
    let notice =
        HiddenNotice { player: PlayerNumber(0), since: recorder.tick.offset(-1), pawns: vec![NetId(3)] };
    recorder.recorder.hidden(&notice);
    drop(recorder);
    let mut recording = Recording::open(&file.0).expect("a recording");
    let drawn = |recording: &mut Recording, player, tick| {
        let time = ViewTime { tick: Tick(tick), fraction: 9 };
        recording.screen_at(PlayerNumber(player), time).expect("recorded").stamp(NetId(3 - player * 3), time)
    };
    assert!(drawn(&mut recording, 0, 98).is_some());
    assert!(drawn(&mut recording, 0, 100).is_none(), "it was told so");
    assert!(drawn(&mut recording, 1, 100).is_some(), "the other player was not");
}

#[test]
fn recorded_frame_is_drawn_by_the_stamps_that_it_names() {
    let (bytes, _) = recorded(3, Tick(0), 300, RecorderConfig::default());
    let mut recording = Recording::read(Cursor::new(&bytes)).expect("a recording");
    let time = ViewTime { tick: Tick(200), fraction: 0 };
    let screen = recording.screen_at(PlayerNumber(0), time).expect("recorded");
    let lost = ViewStamp::Extrapolated { from: Tick(192), time };
    let view = RecordedView { time, stamps: vec![(NetId(3), lost)], ..RecordedView::default() };
    assert_eq!(screen.stamp_in(&view, NetId(3)), Some(lost));
    assert_eq!(screen.stamp_in(&view, NetId(6)), screen.stamp(NetId(6), time));
    assert_ne!(screen.stamp(NetId(3), time), Some(lost), "the control");
    let view = RecordedView { is_complete: true, ..view };
    assert_eq!((screen.stamp_in(&view, NetId(3)), screen.stamp_in(&view, NetId(6))), (Some(lost), None));
}
