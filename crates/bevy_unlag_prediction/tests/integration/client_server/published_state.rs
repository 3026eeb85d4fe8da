//! Published state of remote pawns while their moves are late.

use std::collections::HashMap;

use bevy::math::Vec3;
use bevy_unlag_core::{CaughtUpStates, PublishedState, Tick};
use bevy_unlag_prediction::PublishedExtrapolation;

use crate::client_server::common::*;

#[test]
fn published_copy_of_a_late_pawn_walks_for_an_eighth_of_a_second() {
    let mut pair = Pair::new(1, LinkProfile::late(0.05));
    pair.play(|_| WalkerInput::EAST);
    pair.run(3.0);
    pair.up.cut = true;
    // Packets in flight still arrive.
    pair.run(0.06);
    let last = pair.server.tick();
    let mut seen = Vec::new();
    for _ in 0..16 {
        let before = pair.theirs();
        pair.run_server_frame();
        assert_eq!(pair.theirs(), before, "the authoritative state is not extrapolated");
        seen.push(*pair.server.get::<PublishedState<Walker>>());
    }
    assert!(pair.server.get::<PublishedExtrapolation<Walker>>().is_running());
    // The copy walks for an eighth of a second, eight ticks; only lateness beyond three ticks is
    // extrapolated.
    let walking = seen.windows(2).filter(|two| two[1].state.at.x - two[0].state.at.x > 0.01).count();
    assert!((2..=9).contains(&walking), "{walking} ticks");
    let at_rest = seen.last().expect("a published state").state;
    assert_eq!(at_rest.walk, Vec3::ZERO, "the copy stands in the end");
    assert!(
        at_rest.at.x - pair.theirs().at.x <= 8.5 * 5.0 * DT as f32,
        "it walks for at most an eighth of a second"
    );
    assert!(pair.server.tick().since(last) >= 16);
}

#[test]
fn extrapolated_copy_never_shoots_or_blinks() {
    let mut pair = Pair::new(1, LinkProfile::late(0.05));
    pair.play(|_| WalkerInput::EAST.with(WalkerInput::FIRE | WalkerInput::BLINK));
    pair.run(3.0);
    let events = |pair: &Pair| pair.server.res::<MessageLog<Walker>>().events.len();
    pair.up.cut = true;
    pair.run(0.08);
    let (place, heard) = (pair.theirs(), events(&pair));
    for _ in 0..12 {
        pair.run_server_frame();
        let shown = pair.server.get::<PublishedState<Walker>>().state;
        assert_eq!((shown.shots, shown.blinks), (place.shots, place.blinks));
    }
    assert_eq!(events(&pair), heard);
}

#[test]
fn published_tick_never_decreases() {
    for seed in 1..6 {
        let mut pair = Pair::new(seed, LinkProfile { loss: 0.1, burst: 6.0, ..LinkProfile::BAD });
        pair.play(zigzag);
        pair.run(20.0);
        pair.server.hitch(0.4);
        pair.run(3.0);
        pair.client.hitch(0.7);
        pair.run(3.0);
        pair.cut(true);
        pair.run(1.0);
        pair.cut(false);
        pair.run(5.0);
        let shown = &pair.log.shown;
        assert!(shown.windows(2).all(|two| two[1].0.since(two[0].0) >= 0), "seed {seed}");
        assert!(shown.iter().any(|(_, at)| at.x > 1.0));
    }
}

#[test]
fn late_moves_that_run_together_leave_no_hole_in_the_published_path() {
    let mut pair = Pair::new(1, LinkProfile::late(0.05));
    pair.play(zigzag);
    pair.run(3.0);
    let (mut published, mut last) = (Vec::new(), Vec::new());
    let mut record = |pair: &mut Pair| {
        pair.run_server_frame();
        let shown = *pair.server.get::<PublishedState<Walker>>();
        let caught_up = &pair.server.get::<CaughtUpStates<Walker>>().0;
        published.extend(caught_up.iter().copied().chain([shown]));
        last.push(shown.tick);
    };
    for _ in 0..20 {
        // The moves of a lost packet come with the next one.
        pair.up.lose_next = 2;
        (0..40).for_each(|_| record(&mut pair));
    }
    published.dedup_by_key(|one| one.tick);
    for pair in published.windows(2) {
        assert_eq!(pair[1].tick.since(pair[0].tick), 1, "{:?} follows {:?}", pair[1].tick, pair[0].tick);
    }
    for one in &published {
        assert_eq!(Some(one.state.at), pair.log.server.get(&one.move_tick).map(|run| run.at));
    }
    // Control: the states at the ends of the ticks alone have holes.
    last.dedup();
    let holes = last.windows(2).filter(|two| two[1].since(two[0]) > 1).count();
    assert!(holes >= 10, "{holes} holes");
}

/// Returns the published ticks and positions, from the move of tick 1,064 on.
fn shown(jitter: f64) -> Vec<(Tick, Vec3)> {
    let mut pair = Pair::new(3, LinkProfile { jitter, ..LinkProfile::late(0.05) });
    // The server learns the lateness of the moves first; the comparison starts afterwards.
    pair.play(|tick| match tick {
        ..1_000 => WalkerInput { x: if tick % 200 < 100 { 127 } else { -127 }, ..WalkerInput::NOTHING },
        1_000..1_064 => WalkerInput::NOTHING,
        _ => circle(tick),
    });
    pair.run(60.0);
    assert_eq!((pair.corrections(), pair.server.stats().extrapolated_moves), (0, 0));
    let first =
        pair.log.client.iter().find(|made| made.tick.0 == 1_064).expect("the client simulated the move").at;
    let begin = pair.log.shown.iter().position(|(_, at)| *at == first).expect("the move was published");
    pair.log.shown[begin..].to_vec()
}

#[test]
fn uplink_jitter_does_not_show_in_published_states() {
    let (calm, jittery) = (shown(0.0), shown(0.03));
    let shift = jittery[0].0.since(calm[0].0);
    assert!((0..=6).contains(&shift), "{shift} ticks later");
    let calm: HashMap<Tick, Vec3> = calm.into_iter().collect();
    let (mut same, mut all, mut late) = (0, 0, 0);
    for two in jittery.windows(2) {
        // The run without jitter lacks the last ones, since its published ticks are earlier by `shift`.
        let Some(at) = calm.get(&two[1].0.offset(-shift)) else { continue };
        all += 1;
        same += usize::from(*at == two[1].1);
        late += usize::from(two[0].0 == two[1].0);
    }
    assert!(
        all > 2_500 && same == all,
        "{same} of {all} ticks equal those without jitter, {shift} ticks later"
    );
    assert!(late * 20 < all, "{late} of {all} ticks published nothing new");
}

#[test]
fn moves_run_evenly_after_an_outage() {
    for (seed, outage) in [(1, 0.3), (2, 0.5), (3, 1.0)] {
        let mut pair = Pair::new(seed, LinkProfile::AVERAGE);
        pair.play(circle);
        pair.run(6.0);
        pair.cut(true);
        pair.run(outage);
        pair.cut(false);
        pair.run(0.5);
        let mut even = 0;
        for _ in 0..256 {
            let steps = pair.theirs().steps;
            pair.run_server_frame();
            even += u32::from(pair.theirs().steps == steps + 1);
        }
        assert!(even > 225, "{even} of 256 ticks ran one move after {outage} s");
    }
}

#[test]
fn link_without_jitter_is_not_buffered() {
    let mut pair = Pair::new(3, LinkProfile::late(0.05));
    pair.play(zigzag);
    pair.run(10.0);
    let input_latencies = pair.log.input_latencies(2.0, 8.0);
    assert!(
        input_latencies[input_latencies.len() - 1] < 0.05 + 2.5 * DT,
        "{} s",
        input_latencies[input_latencies.len() - 1]
    );
}

#[test]
fn buffering_never_exceeds_the_configured_maximum() {
    let mut pair = Pair::new(3, LinkProfile { jitter: 0.2, ..LinkProfile::late(0.25) })
        .tuned(|config| config.max_buffer = 0.062_5);
    pair.play(zigzag);
    pair.run(30.0);
    let input_latencies = pair.log.input_latencies(5.0, 25.0);
    let median = input_latencies[input_latencies.len() / 2];
    assert!(median < 0.25 + 0.05, "{median} s");
}

#[test]
fn silent_pawn_is_published_at_rest_at_its_true_position() {
    let mut pair = Pair::new(2, LinkProfile::late(0.05));
    pair.play(|_| WalkerInput::EAST);
    pair.run(3.0);
    pair.up.cut = true;
    pair.run(2.0);
    let seen = pair.log.shown.last().expect("a state is published").1;
    assert!(seen.distance(pair.theirs().at) < 0.02, "published at {seen}, but it is at {}", pair.theirs().at);
}
