//! Row F21: counters that wrap.
//!
//! lightyear's packet and message numbers cannot be set from outside. The tests use them up: clients that
//! send full packets in addition to their own, and a server that sends as many, wrap 65,536 of them in two
//! minutes.
//!
//! `cargo test --release --workspace --test scenarios faults::counter_wraps -- --ignored` also runs forty
//! minutes of normal play.

use bevy::prelude::*;
use bevy_replicon::server::server_tick::ServerTick;
use bevy_unlag::{
    core::Tick,
    prediction::{OutgoingMoveAcks, OutgoingMoves},
    prelude::*,
    weapons::{OutgoingShotMessages, ShotMessage},
};
use lightyear::prelude::LocalTimeline;
use unlag_examples::{
    app::ServerOptions,
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
    weapon_set::WeaponSet,
};

use super::{preset, trial::Trial};
use crate::fire::ClientShotLog;

/// Runs a fight for `time` seconds, in which the ticks of the suite, of lightyear and of replicon start near
/// `tick`, and asserts that the suite's tick wraps or passes 2^31 and that no shot is lost.
fn assert_fight_from_tick(tick: u32, time: f64) {
    let what = format!("ticks from {tick}");
    let server = ServerOptions { weapon_set: WeaponSet::All, trace: true, ..default() };
    let options =
        MatchOptions { players: 3, conditions: preset("Average (UE)"), seed: 3, server, ..default() };
    let game = Match::start_with(&options, |server| {
        server.insert_resource(CurrentTick(Tick(tick)));
        server.world_mut().resource_mut::<ServerTick>().increment_by(tick);
        let mut lightyear = server.world_mut().resource_mut::<LocalTimeline>();
        for _ in 0..3 {
            // lightyear's tick does not wrap: it stops two years and two months after its start.
            lightyear.apply_delta((tick / 3).cast_signed());
        }
    });
    let mut trial = Trial::watch(&what, 3, game.unwrap_or_else(|line| panic!("{line}")));
    let before = trial.corrections();
    trial.game.fight(time);
    let now = trial.game.server.world().resource::<CurrentTick>().0;
    assert!(now.0 < tick || (tick < 1 << 31 && now.0 > 1 << 31), "{now:?}: nothing wrapped");
    let total = trial.game.report().total();
    println!("{what}: {} corrections, {total:?}", trial.max_corrections_since(&before));
    let agreed = total.confirmed_of_drawn().unwrap_or(0.0);
    assert!(total.drawn > 10 && agreed >= 99.0, "{agreed} % of {}", total.drawn);
    assert_eq!(total.lost, 0);
    trial.assert_invariants();
}

// Row F21.
#[test]
fn fight_continues_past_tick_2_to_the_31() {
    assert_fight_from_tick((1 << 31) - 600, 25.0);
}

// Row F21.
#[test]
fn fight_continues_past_tick_2_to_the_32() {
    assert_fight_from_tick(u32::MAX - 1_100, 25.0);
}

// Row F21.
#[test]
#[ignore = "long: three minutes of play"]
fn fight_continues_past_tick_2_to_the_32_after_10_000_ticks() {
    assert_fight_from_tick(u32::MAX - 10_000, 180.0);
}

/// Full packets of padding per frame, in addition to those of the game.
const PADDING_PACKETS: usize = 10;
/// Verdicts per frame on shots that no player fired, with ticks from [`FIRST_FAKE_SHOT`].
const VERDICTS_PER_FRAME: u32 = 10;
const FIRST_FAKE_SHOT: u32 = 1 << 30;

fn pad_uplink(mut own: Query<&mut OutgoingMoves>) {
    for mut mailbox in &mut own {
        mailbox.0.extend((0..PADDING_PACKETS * 3 / 5).map(|_| vec![0xFF; 1_000]));
    }
}

fn pad_downlink(mut pawns: Query<(&mut OutgoingMoveAcks, &mut OutgoingShotMessages)>, mut frame: Local<u32>) {
    *frame += 1;
    for (mut answers, mut verdicts) in &mut pawns {
        answers.0.extend((0..PADDING_PACKETS).map(|_| vec![0xFF; 1_000]));
        let names = (0..VERDICTS_PER_FRAME)
            .map(|number| Tick(FIRST_FAKE_SHOT + *frame * VERDICTS_PER_FRAME + number));
        let miss = |shot| ShotVerdict { shot, result: ShotResult::Miss, clamped: false };
        verdicts.0.extend(names.map(|shot| ShotMessage::Verdict(miss(shot))));
    }
}

// Row F21.
#[test]
fn wrapping_packet_and_message_numbers_cause_no_corrections_or_lost_verdicts() {
    let mut trial = Trial::tour("wrapping packet numbers", 2, preset("Average (UE)"), 6);
    let limits = &mut *trial.game.server.world_mut().resource_mut::<IngressLimits>();
    limits.packets_per_second = 1e6;
    limits.bytes_per_second = 1e9;
    limits.datagrams_per_second = 1e6;
    trial.game.server.add_systems(Last, pad_downlink);
    for client in &mut trial.game.clients {
        client.add_systems(Last, pad_uplink);
    }
    let before = trial.corrections();
    trial.run(70.0);
    assert_eq!(trial.max_corrections_since(&before), 0, "corrections while packet numbers wrap");
    // Then a fight.
    for (seed, client) in (0..).zip(&mut trial.game.clients) {
        client.insert_resource(ScriptedPlayer::new(seed));
    }
    trial.game.set_firing(true);
    trial.run(40.0);
    trial.game.set_firing(false);
    trial.run(3.0);
    for (up, down) in trial.packets() {
        println!("{up:?}, {down:?}");
        assert!(
            up.sent > 66_000 && down.sent > 66_000,
            "{} up and {} down: the packet numbers do not wrap",
            up.sent,
            down.sent
        );
    }
    let total = trial.game.report().total();
    println!("{total:?}");
    assert_eq!(total.lost, 0);
    // A script that switches from the tour to the fight turns faster than any player, so its first shots may
    // be refused; every other shot counts as it was drawn.
    assert!(total.drawn > 10 && (total.missed, total.elsewhere) == (0, 0), "{total:?}");
    // Every verdict arrived exactly once, except those of the last frames, which are in flight.
    for client in &trial.game.clients {
        let heard = client.world().resource::<ClientShotLog>().verdicts.range(FIRST_FAKE_SHOT..);
        let (count, last) =
            (heard.clone().count(), heard.clone().last().map_or(0, |(shot, _)| shot - FIRST_FAKE_SHOT));
        println!("{count} verdicts, the last is {last}");
        assert!(count > 66_000, "{count} verdicts: the message numbers do not wrap");
        assert!(heard.clone().all(|(_, all)| all.len() == 1));
        let late = (last + 1 - VERDICTS_PER_FRAME) as usize - count;
        assert!(late < 20 * VERDICTS_PER_FRAME as usize, "{late} of {count} are missing");
    }
    trial.assert_invariants();
}

// Row F21.
#[test]
#[ignore = "long: forty minutes of play"]
fn no_shot_is_lost_in_forty_minutes_of_play() {
    let options = MatchOptions { players: 2, conditions: preset("Average (UE)"), seed: 7, ..default() };
    let mut trial = Trial::new("forty minutes", options);
    trial.game.fight(2_400.0);
    for (up, down) in trial.packets() {
        assert!(up.sent > 66_000 && down.sent > 66_000, "{} up and {} down", up.sent, down.sent);
    }
    let total = trial.game.report().total();
    println!("{total:?}");
    assert_eq!(total.lost, 0);
    trial.assert_invariants();
}
