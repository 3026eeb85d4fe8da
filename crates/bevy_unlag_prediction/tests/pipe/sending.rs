//! Content and rate of move packets.

use core::time::Duration;

use bevy_unlag_core::{BitReader, BitWriter, Tick, Wire};
use bevy_unlag_prediction::{Crowd, MAX_MOVES, MovePacket, MoveRun, SavedMoves, SendRate, StateCheck};

use crate::common::*;

/// Returns the packets of a pair in some seconds, after two seconds of warm-up.
fn packets(pair: &mut Pair, seconds: f64) -> Vec<MovePacket<Wish>> {
    pair.run(2.0);
    pair.sent = Some(Default::default());
    pair.run(seconds);
    let (up, _) = pair.sent.take().expect("recording is on");
    up.iter().map(|bytes| MovePacket::read(&mut BitReader::new(bytes)).expect("a packet")).collect()
}

#[test]
fn a_packet_says_when_what_was_wanted_and_where_that_led() {
    let state = Place { at: bevy::math::Vec3::new(3.0, 0.0, -400.0), running: true, ..Place::default() };
    let check = StateCheck::of::<Walker>(&state, Tick(70_000), false);
    let run = |age, length, x| MoveRun { age, length, input: Wish { x, z: -1, buttons: Wish::RUN } };
    let packet = MovePacket {
        epoch: 5,
        sequence: 254,
        newest: 70_000_u32 as u16,
        heard: Some(254),
        check,
        runs: vec![run(0, 1, 5), run(1, 30, 6), run(40, 2, -127)],
    };
    let mut w = BitWriter::default();
    packet.write(&mut w);
    let bytes = w.finish();
    let read = MovePacket::<Wish>::read(&mut BitReader::new(&bytes)).expect("the packet is valid");
    assert_eq!(read, packet);
    assert_eq!(read.newest_tick(Tick(70_010)), Tick(70_000));
    assert_eq!(read.heard_tick(Tick(70_010)).map(|heard| heard.0 & 0xff), Some(254));
    assert!(bytes.len() <= 20, "{} bytes", bytes.len());
    // A change of position, mode or shots shows in the check.
    for other in [
        Place { at: state.at + bevy::math::Vec3::X * 0.02, ..state },
        Place { running: false, ..state },
        Place { shots: 1, ..state },
    ] {
        let other = StateCheck::of::<Walker>(&other, Tick(70_000), false);
        assert!(other.distance(check) > 0.0173);
    }
}

#[test]
fn move_packets_with_redundancy_fit_the_byte_budget() {
    for (weather, most) in [(Weather::BROADBAND, 25.0), (Weather { loss: 0.2, ..Weather::AVERAGE }, 40.0)] {
        let mut pair = Pair::new(5, weather);
        pair.play(circle);
        pair.run(10.0);
        let before = pair.client.stats();
        pair.run(30.0);
        let after = pair.client.stats();
        let packets = after.packets - before.packets;
        let bytes = (after.move_bytes - before.move_bytes) as f64 / packets as f64;
        assert!(packets > 1_900 && bytes <= most, "{bytes} bytes a packet at {weather:?}");
    }
}

#[test]
fn beats_a_reliable_message_a_tick() {
    let weather = Weather { loss: 0.1, ..Weather::AVERAGE };
    let late = |weather: Weather| {
        let mut pair = Pair::new(6, Weather { ordered: weather.resent_after.is_some(), ..weather });
        pair.down.weather = Weather::AVERAGE;
        pair.play(circle);
        pair.run(32.0);
        let waits = pair.log.waits(1.0, 30.0);
        waits[waits.len() * 999 / 1_000]
    };
    // A reliable channel sends again after a round trip without an acknowledgement.
    let (ours, reliable) = (late(weather), late(Weather { resent_after: Some(0.14), ..weather }));
    assert!(ours < 0.2 && ours + 0.05 < reliable, "ours {ours} s, reliable {reliable} s");
}

#[test]
fn moves_in_which_nothing_relevant_changes_wait_for_each_other() {
    let rate = SendRate { interval: 4, throttled: 4, stationary: 4, ..SendRate::default() };
    let mut pair = Pair::new(7, Weather::late(0.02)).tuned(|config| config.send = rate);
    // The direction changes by less than 5° per tick and sharply every 64 ticks.
    pair.play(|tick| match tick / 64 % 2 {
        0 => Wish { x: 120, z: (tick % 8) as i8, ..Wish::NOTHING },
        _ => Wish { x: -120, z: (tick % 8) as i8, ..Wish::NOTHING },
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
fn a_relevant_change_never_waits() {
    let rate = SendRate { interval: 8, throttled: 8, stationary: 8, ..SendRate::default() };
    let turn = |of: Wish, to: Wish| {
        let mut pair = Pair::new(7, Weather::late(0.02)).tuned(|config| config.send = rate);
        pair.play(move |tick| if tick % 37 == 20 { to } else { of });
        let sent = packets(&mut pair, 8.0);
        let news: Vec<u16> = sent.iter().map(|packet| packet.newest).collect();
        let from = pair.log.client.iter().find(|made| made.when > 2.0).expect("moves").tick.0;
        let to = pair.client.tick().0;
        let turns: Vec<u32> = (from..=to).filter(|tick| tick % 37 == 20).collect();
        assert!(turns.len() > 10);
        turns.iter().all(|tick| news.contains(&(*tick as u16)))
    };
    let east = Wish::EAST;
    assert!(turn(east, Wish { x: 120, z: 40, buttons: 0 }), "a turn of 18°");
    assert!(turn(east, Wish::NOTHING), "a stop");
    assert!(turn(Wish::NOTHING, Wish { x: 20, ..Wish::NOTHING }), "a start");
    assert!(turn(east, east.with(Wish::RUN)), "a button");
    assert!(!turn(east, Wish { x: 127, z: 5, buttons: 0 }), "a turn of 2° may wait");
}

#[test]
fn what_waited_goes_along_with_what_could_not_be_combined_with_it() {
    let rate = SendRate { interval: 8, throttled: 8, stationary: 8, ..SendRate::default() };
    let mut pair = Pair::new(7, Weather::late(0.02)).tuned(|config| config.send = rate);
    // Five ticks one way, then the other.
    pair.play(|tick| if tick / 5 % 2 == 0 { Wish::EAST } else { Wish::WEST });
    let sent = packets(&mut pair, 4.0);
    let both =
        sent.iter().filter(|packet| packet.runs.len() >= 2 && packet.runs[1].age == packet.runs[0].length);
    assert!(both.count() > 40, "{sent:?}");
    assert_eq!((pair.server.stats().carried, pair.corrections()), (0, 0));
}

#[test]
fn the_send_rate_is_a_setting_and_no_frame_rate() {
    let rate = |interval, frame: f64| {
        let mut pair = Pair::new(7, Weather::late(0.02)).tuned(|config| config.send.interval = interval);
        pair.client.frame = Duration::from_secs_f64(frame);
        pair.play(|_| Wish::EAST);
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
fn a_crowd_a_narrow_link_and_standing_still_throttle() {
    let rate = |crowd: Crowd, wish: Wish| {
        let mut pair = Pair::new(7, Weather::late(0.02))
            .tuned(|config| config.send = SendRate { stationary: 2, ..SendRate::default() });
        pair.client.app.insert_resource(crowd);
        pair.play(move |_| wish);
        packets(&mut pair, 8.0).len() as f64 / 8.0
    };
    let crowd = |players, bytes_per_second| Crowd { players, bytes_per_second };
    for (crowd, wish, expected) in [
        (crowd(64, Some(6_000)), Wish::EAST, 64.0),
        (crowd(65, None), Wish::EAST, 32.0),
        (crowd(2, Some(5_999)), Wish::EAST, 32.0),
        (crowd(2, None), Wish::NOTHING, 32.0),
    ] {
        let sent = rate(crowd, wish);
        assert!((sent - expected).abs() < 2.0, "{sent} a second: {crowd:?}, {wish:?}");
    }
}

#[test]
fn full_list_of_saved_moves_drops_the_oldest_and_counts_them() {
    let mut pair = Pair::new(8, Weather::AVERAGE);
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
    let forgotten = pair.client.stats().forgotten;
    assert!((90..120).contains(&forgotten), "{forgotten} moves were dropped");
    let walked = pair.mine().steps;
    // The pawn walks on, and the first acknowledgement replays the rest of the list.
    let back = pair.seconds();
    pair.cut(false);
    pair.run(3.0);
    assert!(pair.mine().steps > walked + 150);
    assert!(pair.client.stats().replayed > 0, "{:?}", pair.client.stats());
    let converged = pair.log.converged(back);
    assert!(converged < 0.09 + 0.25, "{converged} s");
}

#[test]
fn move_packet_never_exceeds_the_maximum_number_of_moves() {
    let mut pair = Pair::new(9, Weather { loss: 0.5, ..Weather::BAD });
    pair.play(|tick| if tick / 300 % 2 == 0 { Wish::NOTHING } else { circle(tick) });
    for packet in packets(&mut pair, 10.0) {
        assert!(packet.runs.iter().map(|run| usize::from(run.length)).sum::<usize>() <= MAX_MOVES);
    }
}
