//! Acknowledgements and corrections, and their effect on the client.

use bevy_unlag_core::{BitReader, VisualOffset, Wire};
use bevy_unlag_prediction::{
    AckedMove, CorrectionCause, IncomingMoveAcks, MoveAck, PredictionDebug, SavedMoves,
};

use crate::client_server::common::*;

type Ack = MoveAck<WalkerState, Push>;

fn read(bytes: &[u8]) -> Ack {
    Ack::read(&mut BitReader::new(bytes)).expect("an acknowledgement of the server")
}

#[test]
fn moves_are_saved_with_their_start_state_until_acknowledged() {
    let mut pair = Pair::new(1, LinkProfile::late(0.1));
    pair.play(zigzag);
    pair.run(2.0);
    let saved = pair.client.get::<SavedMoves<Walker>>();
    // The round trip takes 13 ticks, and acknowledgements are two ticks apart.
    assert!((13..19).contains(&saved.len()), "{} moves", saved.len());
    let moves: Vec<_> = saved.iter().collect();
    for two in moves.windows(2) {
        assert_eq!((two[0].tick.offset(1), two[0].result), (two[1].tick, two[1].start));
        assert_eq!(two[0].input, zigzag(two[0].tick.0));
    }
    pair.down.cut = true;
    pair.run(1.0);
    assert!(pair.client.get::<SavedMoves<Walker>>().len() > 60, "unacknowledged moves are kept");
    pair.down.cut = false;
    pair.run(0.3);
    assert!(
        pair.client.get::<SavedMoves<Walker>>().len() < 19,
        "one acknowledgement covers all moves before it"
    );
}

#[test]
fn ack_of_a_good_move_has_at_most_ten_bytes_and_covers_earlier_moves() {
    let mut pair = Pair::new(1, LinkProfile::late(0.05));
    pair.play(circle);
    pair.run(2.0);
    pair.sent = Some(Default::default());
    pair.run(2.0);
    let (_, down) = pair.sent.take().expect("recording is on");
    assert!((60..=66).contains(&down.len()), "{} acknowledgements in 128 ticks", down.len());
    for bytes in &down {
        assert!(bytes.len() <= 10, "{} bytes", bytes.len());
        assert_eq!(read(bytes).adjustment, None);
    }
    let saved = pair.client.get::<SavedMoves<Walker>>();
    let answered = saved.last_acked().expect("an acknowledgement");
    assert!(saved.iter().all(|one| one.tick.is_newer_than(answered)));
}

#[test]
fn acknowledgements_keep_the_configured_interval() {
    for interval in [1_u8, 2, 6] {
        let mut pair = Pair::new(1, LinkProfile::late(0.02))
            .tuned(|config| config.ack_interval = f32::from(interval) / 64.0);
        pair.play(circle);
        pair.run(1.0);
        let before = pair.server.stats().acks;
        pair.run(6.0);
        let acks = pair.server.stats().acks - before;
        let expected = 384 / u64::from(interval);
        assert!(acks.abs_diff(expected) < 4, "{acks} acknowledgements, one in {interval} ticks");
    }
}

/// Returns the ticks between the corrections of a client whose speed differs on the server.
fn correction_gaps(speed: f32, delay: f64) -> Vec<i32> {
    let mut pair = Pair::new(1, LinkProfile::late(delay));
    pair.server.res_mut::<WalkerConfig>().speed = speed;
    pair.play(|_| WalkerInput::EAST);
    pair.run(1.0);
    let mut corrected = Vec::new();
    let count = |pair: &Pair| pair.server.stats().by_cause.iter().sum::<u32>();
    let mut before = count(&pair);
    while pair.seconds() < 6.0 {
        pair.run_server_frame();
        if count(&pair) != before {
            before = count(&pair);
            corrected.push(pair.server.tick());
        }
    }
    corrected.windows(2).map(|two| two[1].since(two[0])).collect()
}

#[test]
fn small_errors_are_corrected_less_often_than_large_ones() {
    let small = correction_gaps(4.5, 0.03);
    assert!(small.len() > 20 && small.iter().all(|gap| *gap >= 4), "{small:?}");
    let large = correction_gaps(15.0, 0.1);
    assert!(large.len() > 100 && large.contains(&2) && large.iter().all(|gap| *gap >= 2), "{large:?}");
}

#[test]
fn correction_sets_the_state_and_replays_before_the_next_move() {
    let mut pair = Pair::new(1, LinkProfile::late(0.15));
    pair.play(zigzag);
    pair.run(2.0);
    pair.server.edit::<WalkerState>().at.z += 1.3;
    pair.run_until_server_change();
    // All in the frame in which the correction arrived; the last step of that frame is this tick's own
    // move.
    let stats = pair.client.stats();
    assert!(stats.last_replay >= 19, "{stats:?}");
    assert_eq!(u64::from(stats.last_replay), stats.replayed);
    let saved = pair.client.get::<SavedMoves<Walker>>();
    assert_eq!(saved.len() as u32, stats.last_replay + 1);
    let newest = saved.iter().next_back().expect("a move");
    assert_eq!((newest.tick, newest.result), (pair.client.tick(), pair.mine()));
    assert!((pair.mine().at.z - 1.3).abs() < 1e-3 || pair.mine().at.z > 1.3, "{:?}", pair.mine());
    let seen = &pair.seen().corrections[0];
    assert!((seen.error - 1.3).abs() < 1e-3 && seen.cause == CorrectionCause::ServerChange, "{seen:?}");
    assert_eq!(seen.replayed, stats.last_replay);
    let from = pair.seconds();
    pair.run(3.0);
    assert_eq!((pair.corrections(), pair.log.seconds_to_convergence(from)), (0, 0.0));
}

#[test]
fn visual_offset_hides_a_correction_and_decays_within_200_ms() {
    let mut pair = Pair::new(1, LinkProfile::late(0.05));
    pair.run(2.0);
    pair.server.edit::<WalkerState>().at.z += 0.3;
    pair.run_until_server_change();
    let offset = pair.client.get::<VisualOffset>().offset;
    assert!((offset.z + 0.3).abs() < 0.05, "the drawn pawn stays in place: {offset}");
    pair.run(0.2);
    let offset = pair.client.get::<VisualOffset>().offset;
    assert!(offset.length() < 0.04, "{offset} after 200 ms");
}

#[test]
fn correction_beyond_the_snap_distance_and_the_pawns_run_is_not_eased() {
    let eased = |by: f32, speed: f32, wish: WalkerInput| {
        let mut pair = Pair::new(1, LinkProfile::late(0.1));
        for side in [&mut pair.client, &mut pair.server] {
            side.res_mut::<WalkerConfig>().speed = speed;
        }
        pair.play(move |_| wish);
        pair.run(2.0);
        pair.server.edit::<WalkerState>().at.z += by;
        pair.run_until_server_change();
        pair.client.get::<VisualOffset>().offset.length() > 0.5 * by
    };
    assert!(eased(2.3, 5.0, WalkerInput::NOTHING));
    assert!(!eased(2.7, 5.0, WalkerInput::NOTHING));
    assert!(eased(2.7, 30.0, WalkerInput::EAST), "it runs almost a metre between acknowledgements");
    assert!(!eased(9.3, 30.0, WalkerInput::EAST));
}

#[test]
fn replays_are_flagged_and_emit_no_event_twice() {
    let mut pair = Pair::new(2, LinkProfile { loss: 0.05, ..LinkProfile::AVERAGE });
    pair.server.res_mut::<PredictionDebug>().force_corrections = 0.3;
    pair.play(|tick| if tick % 40 == 7 { WalkerInput::EAST.with(WalkerInput::FIRE) } else { zigzag(tick) });
    pair.run(5.0);
    for _ in 0..10 {
        pair.server.edit::<WalkerState>().at.z += 0.2;
        pair.run(1.0);
    }
    let stats = pair.client.stats();
    assert!(stats.replayed > 50, "{stats:?}");
    let flagged = |ground: &WalkerWorld| {
        let relaxed = core::sync::atomic::Ordering::Relaxed;
        (u64::from(ground.live.load(relaxed)), u64::from(ground.again.load(relaxed)))
    };
    assert_eq!(flagged(pair.client.res()), (stats.moves, stats.replayed));
    assert_eq!(flagged(pair.server.res()).1, 0, "the server replays nothing");
    let events = &pair.seen().events;
    let shots = events.iter().filter(|event| event.event == WalkerEvent::Shot);
    let fired = pair.log.client.iter().filter(|made| made.tick.0 % 40 == 7).count();
    assert_eq!(shots.count(), fired, "each shot has one event");
}

#[test]
fn stale_acks_and_moves_change_nothing() {
    let hash = |again: bool| {
        let mut pair = Pair::new(3, LinkProfile { jitter: 0.0, ..LinkProfile::AVERAGE });
        pair.play(zigzag);
        pair.sent = Some(Default::default());
        pair.run(3.0);
        pair.server.edit::<WalkerState>().at.z += 0.7;
        for _ in 0..20 {
            pair.run(0.1);
            let (up, down) = pair.sent.clone().expect("recording is on");
            if again {
                for bytes in down.iter().rev().skip(5).take(40) {
                    pair.client.edit::<IncomingMoveAcks>().deliver(bytes.clone());
                }
                for bytes in up.iter().rev().skip(14).take(40) {
                    pair.server.edit::<bevy_unlag_prediction::IncomingMoves>().deliver(bytes.clone());
                }
            }
        }
        let changes = pair.client.stats().server_changes();
        assert_eq!((changes, pair.corrections(), pair.server.stats().extrapolated_moves), (1, 0, 0));
        pair.log.hash
    };
    assert_eq!(hash(true), hash(false));
}

#[test]
fn ack_of_another_epoch_is_ignored() {
    let mut pair = Pair::new(3, LinkProfile::late(0.05));
    pair.play(zigzag);
    pair.run(2.0);
    let foreign = Ack {
        epoch: 0,
        sequence: 0,
        acked: AckedMove::Move(pair.client.tick().0 as u16),
        queued_moves: 0,
        ack_delay: core::time::Duration::ZERO,
        lag: 0,
        delay: 0,
        loss: Default::default(),
        resolving: false,
        outcomes: 0,
        ran: Default::default(),
        pushes: Vec::new(),
        adjustment: None,
    };
    pair.sent = Some(Default::default());
    pair.run(0.2);
    let own = pair
        .sent
        .take()
        .and_then(|(_, down)| down.last().map(|bytes| read(bytes).epoch))
        .expect("an acknowledgement");
    let before = pair.client.get::<SavedMoves<Walker>>().len();
    for epoch in (0..8).filter(|epoch| *epoch != own) {
        let mut w = bevy_unlag_core::BitWriter::default();
        Ack { epoch, ..foreign.clone() }.write(&mut w);
        pair.client.edit::<IncomingMoveAcks>().deliver(w.finish());
    }
    pair.run_client_frame();
    assert!(pair.client.get::<SavedMoves<Walker>>().len() + 3 > before, "no move was acknowledged");
    assert_eq!(pair.corrections(), 0);
}

#[test]
fn forced_correction_carries_the_true_state_and_changes_nothing() {
    let run = |share: f32| {
        let mut pair = Pair::new(4, LinkProfile { jitter: 0.0, ..LinkProfile::AVERAGE });
        pair.server.res_mut::<PredictionDebug>().force_corrections = share;
        pair.play(zigzag);
        pair.run(10.0);
        assert_eq!(pair.corrections(), 0, "its state equals the client's");
        let stats = pair.server.stats();
        (pair.log.hash, stats.corrections_of(CorrectionCause::Forced), stats.acks)
    };
    let (hash, none, _) = run(0.0);
    let (forced, some, acks) = run(0.5);
    assert_eq!((hash, none), (forced, 0));
    assert!((acks / 2).abs_diff(u64::from(some)) < 20, "{some} of {acks}");
}
