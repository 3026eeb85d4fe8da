//! Two clocks never run equally fast, and numbers end.

use bevy::prelude::*;
use bevy_unlag_core::Tick;

use crate::common::*;

#[test]
fn a_slow_and_a_fast_clock_are_held() {
    for clock in [0.995, 1.005] {
        let mut pair = Pair::new(1, Weather::AVERAGE);
        pair.client.clock = clock;
        pair.play(circle);
        pair.run(5.0);
        let behind = |pair: &Pair| pair.server.tick().since(pair.client.tick());
        let began = behind(&pair);
        for _ in 0..20 {
            pair.run(10.0);
            let off = (behind(&pair) - began).abs();
            assert!(off <= 16, "a clock of {clock} is off by {off} ticks after {} s", pair.seconds());
        }
        let (client, server) = (pair.client.stats(), pair.server.stats());
        assert_eq!(
            (client.corrections, server.withheld, pair.account().detected),
            (0, 0, 0),
            "{clock}: {client:?}"
        );
        assert!(server.carried == 0, "{clock}: {server:?}");
        let made = &pair.log.client;
        assert!(made.windows(2).all(|two| two[1].tick.since(two[0].tick) == 1), "no tick jumps");
    }
}

#[test]
fn a_clock_that_nobody_steers_is_off_in_no_time() {
    // What the test above would miss if steering did nothing.
    let mut pair = Pair::new(1, Weather::AVERAGE);
    (pair.client.clock, pair.steers) = (0.995, false);
    pair.run(5.0);
    let behind = |pair: &Pair| pair.server.tick().since(pair.client.tick());
    let began = behind(&pair);
    pair.run(100.0);
    assert!(behind(&pair) - began > 24);
}

#[test]
fn a_clock_far_off_is_slowed_down_as_much_as_can_be_and_flagged_if_it_does_not_listen() {
    let mut pair = Pair::new(1, Weather::AVERAGE);
    pair.client.clock = 1.04;
    pair.play(zigzag);
    pair.run(60.0);
    let honest = pair.account().detected;
    assert_eq!(honest, 0, "steered: {:?}", pair.account());
}

/// Everything at once, in a world that begins at a tick: the final states, and how often it was
/// corrected.
fn through(began: Tick) -> (Place, Place, u64, u64, i32) {
    let weather = Weather { loss: 0.1, twice: 0.2, ..Weather::AVERAGE };
    let mut pair = Pair::of(began, 3, weather);
    pair.play(|tick| match tick {
        ..1_500 if tick % 101 == 50 => Wish::EAST.with(Wish::BLINK | Wish::FIRE),
        ..1_500 => zigzag(tick),
        _ => Wish::NOTHING,
    });
    pair.run(8.0);
    pair.push(Push::Shove(3));
    pair.run(1.0);
    pair.server.edit::<Place>().at.z += 1.3;
    pair.run(1.0);
    pair.cut(true);
    pair.run(0.6);
    pair.cut(false);
    pair.run(3.0);
    pair.server.hitch(1.2);
    pair.run(20.0);
    let outcomes = pair.seen().outcomes.len() as u64;
    let apart = pair.server.tick().since(pair.client.tick());
    (pair.mine(), pair.theirs(), pair.corrections(), outcomes, apart)
}

#[test]
fn every_number_wraps_and_nothing_happens() {
    let usual = through(Tick(0));
    assert_eq!((usual.0.at, usual.0.blinks, usual.0.shots), (usual.1.at, usual.1.blinks, usual.1.shots));
    assert!(usual.1.shots > 8 && usual.4.abs() < 32, "{usual:?}");
    for began in [u32::MAX - 300, (1 << 31) - 100, 65_000, u32::MAX - 10_000, u32::MAX] {
        // A time line's number depends on the tick it began at; what happens does not.
        assert_eq!(through(Tick(began)), usual, "a world that began at {began}");
    }
}

#[test]
fn others_see_a_pawn_whatever_the_tick_is() {
    for began in [0, u32::MAX - 10_000, (1 << 31) + 5, u32::MAX - 100] {
        let mut pair: Pair = Pair::of(Tick(began), 9, Weather::AVERAGE);
        pair.play(circle);
        pair.run(5.0);
        let (tick, at) = *pair.log.shown.last().expect("it is shown");
        assert!((0..4).contains(&pair.server.tick().since(tick)), "shown as of {tick:?} from {began}");
        assert!(at != Vec3::ZERO, "it is seen to move from {began}");
    }
}

#[test]
fn who_begins_anew_far_away_gets_there() {
    // A second and a bit there and back, half as many packets again, and then silence for so long
    // that the server gives up.
    let weather = Weather { twice: 0.5, ..Weather::late(0.6) };
    let mut pair = Pair::new(3, weather).tuned(|config| config.forced_update = 1.0);
    pair.play(circle);
    pair.run(6.0);
    pair.cut(true);
    pair.run(4.0);
    pair.cut(false);
    pair.run(5.0);
    let steps = pair.server.stats().moves;
    pair.run(4.0);
    let made = pair.server.stats().moves - steps;
    assert!((200..300).contains(&made), "{made} moves in four seconds");
}

#[test]
fn packets_are_counted_beyond_the_end_of_their_numbers() {
    let mut pair = Pair::new(4, Weather { loss: 0.1, ..Weather::AVERAGE });
    pair.play(circle);
    // 256 packets are four seconds.
    for _ in 0..10 {
        pair.run(4.0);
        let measured = pair.server.stats().loss;
        assert!((0.02..0.25).contains(&measured), "{measured}");
    }
    assert_eq!(pair.corrections(), 0);
}

#[test]
fn what_comes_twice_does_not_hide_what_is_lost() {
    let mut pair = Pair::new(4, Weather { loss: 0.2, twice: 0.5, ..Weather::AVERAGE });
    pair.play(circle);
    pair.run(20.0);
    let measured = pair.server.stats().loss;
    assert!((0.13..0.3).contains(&measured), "{measured} instead of 0.2");
}
