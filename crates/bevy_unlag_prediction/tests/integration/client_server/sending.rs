//! Content and rate of move packets.

use core::time::Duration;

use bevy_unlag_core::{BitReader, BitWriter, Tick, Wire};
use bevy_unlag_prediction::{MAX_MOVES, MovePacket, MoveRun, SavedMoves, SendRate, SendThrottle, StateCheck};

use crate::client_server::common::*;

/// Returns the packets of a pair in some seconds, after two seconds of warm-up.
fn packets(pair: &mut Pair, seconds: f64) -> Vec<MovePacket<WalkerInput>> {
    pair.run(2.0);
    pair.sent = Some(Default::default());
    pair.run(seconds);
    let (up, _) = pair.sent.take().expect("recording is on");
    up.iter().map(|bytes| MovePacket::read(&mut BitReader::new(bytes)).expect("a packet")).collect()
}

#[test]
fn move_packet_carries_tick_inputs_and_check_of_the_result() {
    let state =
        WalkerState { at: bevy::math::Vec3::new(3.0, 0.0, -400.0), running: true, ..WalkerState::default() };
    let check = StateCheck::of::<Walker>(&state, Tick(70_000), false);
    let run =
        |age, length, x| MoveRun { age, length, input: WalkerInput { x, z: -1, buttons: WalkerInput::RUN } };
    let packet = MovePacket {
        epoch: 5,
        sequence: 254,
        newest: 70_000_u32 as u16,
        ack_bits: Some(254),
        check,
        runs: vec![run(0, 1, 5), run(1, 30, 6), run(40, 2, -127)],
    };
    let mut w = BitWriter::default();
    packet.write(&mut w);
    let bytes = w.finish();
    let read = MovePacket::<WalkerInput>::read(&mut BitReader::new(&bytes)).expect("the packet is valid");
    assert_eq!(read, packet);
    assert_eq!(read.newest_tick(Tick(70_010)), Tick(70_000));
    assert_eq!(read.last_received_snapshot(Tick(70_010)).map(|tick| tick.0 & 0xff), Some(254));
    assert!(bytes.len() <= 20, "{} bytes", bytes.len());
    // A change of position, mode or shots shows in the check.
    for other in [
        WalkerState { at: state.at + bevy::math::Vec3::X * 0.02, ..state },
        WalkerState { running: false, ..state },
        WalkerState { shots: 1, ..state },
    ] {
        let other = StateCheck::of::<Walker>(&other, Tick(70_000), false);
        assert!(other.distance(check) > 0.0173);
    }
}

#[test]
fn move_packets_with_redundancy_fit_the_byte_budget() {
    for (profile, most) in
        [(LinkProfile::BROADBAND, 25.0), (LinkProfile { loss: 0.2, ..LinkProfile::AVERAGE }, 40.0)]
    {
        let mut pair = Pair::new(5, profile);
        pair.play(circle);
        pair.run(10.0);
        let before = pair.client.stats();
        pair.run(30.0);
        let after = pair.client.stats();
        let packets = after.packets - before.packets;
        let bytes = (after.move_bytes - before.move_bytes) as f64 / packets as f64;
        assert!(packets > 1_900 && bytes <= most, "{bytes} bytes a packet at {profile:?}");
    }
}

#[test]
fn redundant_packets_have_lower_latency_than_reliable_messages() {
    let profile = LinkProfile { loss: 0.1, ..LinkProfile::AVERAGE };
    let late = |profile: LinkProfile| {
        let mut pair = Pair::new(6, LinkProfile { ordered: profile.resent_after.is_some(), ..profile });
        pair.down.profile = LinkProfile::AVERAGE;
        pair.play(circle);
        pair.run(32.0);
        let input_latencies = pair.log.input_latencies(1.0, 30.0);
        input_latencies[input_latencies.len() * 999 / 1_000]
    };
    // A reliable channel sends again after a round trip without an acknowledgement.
    let (ours, reliable) = (late(profile), late(LinkProfile { resent_after: Some(0.14), ..profile }));
    assert!(ours < 0.2 && ours + 0.05 < reliable, "ours {ours} s, reliable {reliable} s");
}

#[test]
fn moves_without_a_relevant_change_share_a_packet() {
    let rate = SendRate { interval: 4, throttled: 4, stationary: 4, ..SendRate::default() };
    let mut pair = Pair::new(7, LinkProfile::late(0.02)).tuned(|config| config.send = rate);
    // The direction changes by less than 5° per tick and sharply every 64 ticks.
    pair.play(|tick| match tick / 64 % 2 {
        0 => WalkerInput { x: 120, z: (tick % 8) as i8, ..WalkerInput::NOTHING },
        _ => WalkerInput { x: -120, z: (tick % 8) as i8, ..WalkerInput::NOTHING },
    });
    let sent = packets(&mut pair, 16.0);
    assert!((240..300).contains(&sent.len()), "{} packets for 1,024 moves", sent.len());
    // Both sides still simulate each move.
    assert_eq!(pair.corrections(), 0);
    assert_eq!(pair.log.largest_error(0.0), 0.0);
    let (mine, theirs) = (pair.client.stats().moves, pair.server.stats().moves);
    assert!(theirs > mine - 12, "{theirs} of {mine} moves");
}

#[test]
fn relevant_change_is_sent_at_once() {
    let rate = SendRate { interval: 8, throttled: 8, stationary: 8, ..SendRate::default() };
    let turn = |of: WalkerInput, to: WalkerInput| {
        let mut pair = Pair::new(7, LinkProfile::late(0.02)).tuned(|config| config.send = rate);
        pair.play(move |tick| if tick % 37 == 20 { to } else { of });
        let sent = packets(&mut pair, 8.0);
        let news: Vec<u16> = sent.iter().map(|packet| packet.newest).collect();
        let from = pair.log.client.iter().find(|made| made.when > 2.0).expect("moves").tick.0;
        let to = pair.client.tick().0;
        let turns: Vec<u32> = (from..=to).filter(|tick| tick % 37 == 20).collect();
        assert!(turns.len() > 10);
        turns.iter().all(|tick| news.contains(&(*tick as u16)))
    };
    let east = WalkerInput::EAST;
    assert!(turn(east, WalkerInput { x: 120, z: 40, buttons: 0 }), "a turn of 18°");
    assert!(turn(east, WalkerInput::NOTHING), "a stop");
    assert!(turn(WalkerInput::NOTHING, WalkerInput { x: 20, ..WalkerInput::NOTHING }), "a start");
    assert!(turn(east, east.with(WalkerInput::RUN)), "a button");
    assert!(!turn(east, WalkerInput { x: 127, z: 5, buttons: 0 }), "a turn of 2° may wait");
}

#[test]
fn waiting_moves_are_sent_with_the_first_that_cannot_be_combined() {
    let rate = SendRate { interval: 8, throttled: 8, stationary: 8, ..SendRate::default() };
    let mut pair = Pair::new(7, LinkProfile::late(0.02)).tuned(|config| config.send = rate);
    // Five ticks one way, then the other.
    pair.play(|tick| if tick / 5 % 2 == 0 { WalkerInput::EAST } else { WalkerInput::WEST });
    let sent = packets(&mut pair, 4.0);
    let both =
        sent.iter().filter(|packet| packet.runs.len() >= 2 && packet.runs[1].age == packet.runs[0].length);
    assert!(both.count() > 40, "{sent:?}");
    assert_eq!((pair.server.stats().extrapolated_moves, pair.corrections()), (0, 0));
}

#[test]
fn send_rate_is_configured_and_independent_of_the_frame_rate() {
    let rate = |interval, frame: f64| {
        let mut pair = Pair::new(7, LinkProfile::late(0.02)).tuned(|config| config.send.interval = interval);
        pair.client.frame = Duration::from_secs_f64(frame);
        pair.play(|_| WalkerInput::EAST);
        packets(&mut pair, 8.0).len() as f64 / 8.0
    };
    for (interval, expected) in [(1, 64.0), (2, 32.0), (4, 16.0)] {
        for frame in [1.0 / 144.0, 1.0 / 300.0] {
            let sent = rate(interval, frame);
            assert!((sent - expected).abs() < 2.0, "{sent} a second with frames of {frame} s");
        }
    }
}

#[test]
fn many_players_a_slow_link_and_neutral_input_throttle_sending() {
    let rate = |throttle: SendThrottle, wish: WalkerInput| {
        let mut pair = Pair::new(7, LinkProfile::late(0.02))
            .tuned(|config| config.send = SendRate { stationary: 2, ..SendRate::default() });
        pair.client.app.insert_resource(throttle);
        pair.play(move |_| wish);
        packets(&mut pair, 8.0).len() as f64 / 8.0
    };
    let throttle = |players, bytes_per_second| SendThrottle { players, bytes_per_second };
    for (throttle, wish, expected) in [
        (throttle(64, Some(6_000)), WalkerInput::EAST, 64.0),
        (throttle(65, None), WalkerInput::EAST, 32.0),
        (throttle(2, Some(5_999)), WalkerInput::EAST, 32.0),
        (throttle(2, None), WalkerInput::NOTHING, 32.0),
    ] {
        let sent = rate(throttle, wish);
        assert!((sent - expected).abs() < 2.0, "{sent} a second: {throttle:?}, {wish:?}");
    }
}

#[test]
fn full_list_of_saved_moves_drops_the_oldest_and_counts_them() {
    let mut pair = Pair::new(8, LinkProfile::AVERAGE);
    pair.play(zigzag);
    pair.run(4.0);
    pair.cut(true);
    pair.run(4.5);
    let saved = pair.client.get::<SavedMoves<Walker>>();
    assert_eq!(saved.len(), SavedMoves::<Walker>::CAPACITY);
    assert_eq!(saved.iter().next_back().map(|newest| newest.tick), Some(pair.client.tick()));
    assert!(
        saved.iter().zip(saved.iter().skip(1)).all(|(a, b)| a.result == b.start),
        "the saved moves are consecutive"
    );
    let dropped_moves = pair.client.stats().dropped_moves;
    assert!((90..120).contains(&dropped_moves), "{dropped_moves} moves were dropped");
    let walked = pair.mine().steps;
    // The pawn walks on, and the first acknowledgement replays the rest of the list.
    let back = pair.seconds();
    pair.cut(false);
    pair.run(3.0);
    assert!(pair.mine().steps > walked + 150);
    assert!(pair.client.stats().replayed > 0, "{:?}", pair.client.stats());
    let seconds_to_convergence = pair.log.seconds_to_convergence(back);
    assert!(seconds_to_convergence < 0.09 + 0.25, "{seconds_to_convergence} s");
}

#[test]
fn move_packet_never_exceeds_the_maximum_number_of_moves() {
    let mut pair = Pair::new(9, LinkProfile { loss: 0.5, ..LinkProfile::BAD });
    pair.play(|tick| if tick / 300 % 2 == 0 { WalkerInput::NOTHING } else { circle(tick) });
    for packet in packets(&mut pair, 10.0) {
        assert!(packet.runs.iter().map(|run| usize::from(run.length)).sum::<usize>() <= MAX_MOVES);
    }
}
