//! Row F21: numbers that begin anew.
//!
//! lightyear's numbers of packets and messages cannot be set from outside. Here they are used up: a client that sends
//! full packets beside its own, and a server that answers as many, wrap 65,536 of them in two minutes.
//!
//! `cargo test --release --workspace --test scenarios faults::wraps -- --ignored` runs forty minutes of common play.

use bevy::prelude::*;
use bevy_replicon::server::server_tick::ServerTick;
use bevy_unlag::{
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
use crate::fire::Shown;

/// Fights from a tick of the suite, of lightyear and of replicon on.
fn fight_from(tick: u32, time: f64) {
    let what = format!("ticks from {tick} on");
    let server = ServerOptions { weapon_set: WeaponSet::All, trace: true, ..default() };
    let options =
        MatchOptions { players: 3, conditions: preset("Average (UE)"), seed: 3, server, ..default() };
    let game = Match::start_with(&options, |server| {
        server.insert_resource(CurrentTick(Tick(tick)));
        server.world_mut().resource_mut::<ServerTick>().increment_by(tick);
        let mut lightyear = server.world_mut().resource_mut::<LocalTimeline>();
        for _ in 0..3 {
            // It does not wrap: two years and two months after it began it stands still.
            lightyear.apply_delta((tick / 3).cast_signed());
        }
    });
    let mut trial = Trial::watch(&what, 3, game.unwrap_or_else(|line| panic!("{line}")));
    let before = trial.corrections();
    trial.game.fight(time);
    let now = trial.game.server.world().resource::<CurrentTick>().0;
    assert!(now.0 < tick || (tick < 1 << 31 && now.0 > 1 << 31), "{now:?}: nothing wrapped");
    let total = trial.game.report().total();
    println!("{what}: {} corrections, {total:?}", trial.most_since(&before));
    let agreed = total.confirmed_of_drawn().unwrap_or(0.0);
    assert!(total.drawn > 10 && agreed >= 99.0, "{agreed} % of {}", total.drawn);
    assert_eq!(total.lost, 0);
    trial.check();
}

#[test]
fn f21_ticks_pass_2_to_the_31() {
    fight_from((1 << 31) - 600, 25.0);
}

#[test]
fn f21_ticks_pass_2_to_the_32() {
    fight_from(u32::MAX - 1_100, 25.0);
}

#[test]
#[ignore = "long: three minutes of play"]
fn f21_ticks_pass_2_to_the_32_after_10_000() {
    fight_from(u32::MAX - 10_000, 180.0);
}

/// Full packets that mean nothing beside those of the game.
const PACKETS: usize = 10;
/// Verdicts on shots that nobody fired, from this name on.
const VERDICTS: u32 = 10;
const NOBODYS: u32 = 1 << 30;

fn fill_moves(mut own: Query<&mut OutgoingMoves>) {
    for mut mailbox in &mut own {
        mailbox.0.extend((0..PACKETS * 3 / 5).map(|_| vec![0xFF; 1_000]));
    }
}

fn fill_answers(mut pawns: Query<(&mut OutgoingMoveAcks, &mut OutgoingShotMessages)>, mut frame: Local<u32>) {
    *frame += 1;
    for (mut answers, mut verdicts) in &mut pawns {
        answers.0.extend((0..PACKETS).map(|_| vec![0xFF; 1_000]));
        let names = (0..VERDICTS).map(|number| Tick(NOBODYS + *frame * VERDICTS + number));
        let miss = |shot| ShotVerdict { shot, result: ShotResult::Miss, clamped: false };
        verdicts.0.extend(names.map(|shot| ShotMessage::Verdict(miss(shot))));
    }
}

#[test]
fn f21_the_numbers_of_packets_and_messages_wrap() {
    let mut trial = Trial::tour("numbers of packets that wrap", 2, preset("Average (UE)"), 6);
    let limits = &mut *trial.game.server.world_mut().resource_mut::<IngressLimits>();
    limits.packets_per_second = 1e6;
    limits.bytes_per_second = 1e9;
    limits.datagrams_per_second = 1e6;
    trial.game.server.add_systems(Last, fill_answers);
    for client in &mut trial.game.clients {
        client.add_systems(Last, fill_moves);
    }
    let before = trial.corrections();
    trial.run(70.0);
    assert_eq!(trial.most_since(&before), 0, "corrections while numbers wrap");
    // And now they fight.
    for (seed, client) in (0..).zip(&mut trial.game.clients) {
        client.insert_resource(ScriptedPlayer::new(seed));
    }
    trial.game.set_firing(true);
    trial.run(40.0);
    trial.game.set_firing(false);
    trial.run(3.0);
    for (up, down) in trial.packets() {
        println!("{up:?}, {down:?}");
        assert!(up.sent > 66_000 && down.sent > 66_000, "{} up and {} down: none wraps", up.sent, down.sent);
    }
    let total = trial.game.report().total();
    println!("{total:?}");
    assert_eq!(total.lost, 0);
    // Who turns from the tour to a fight turns faster than any hand; all others count as they were drawn.
    assert!(total.drawn > 10 && (total.missed, total.elsewhere) == (0, 0), "{total:?}");
    // Each came, and none twice; what was said in the last frame is on its way.
    for client in &trial.game.clients {
        let heard = client.world().resource::<Shown>().verdicts.range(NOBODYS..);
        let (count, last) =
            (heard.clone().count(), heard.clone().last().map_or(0, |(shot, _)| shot - NOBODYS));
        println!("{count} verdicts, the last is {last}");
        assert!(count > 66_000, "{count} verdicts: the numbers of messages do not wrap");
        assert!(heard.clone().all(|(_, all)| all.len() == 1));
        let late = (last + 1 - VERDICTS) as usize - count;
        assert!(late < 20 * VERDICTS as usize, "{late} of {count} are missing");
    }
    trial.check();
}

#[test]
#[ignore = "long: forty minutes of play"]
fn f21_forty_minutes_of_play() {
    let options = MatchOptions { players: 2, conditions: preset("Average (UE)"), seed: 7, ..default() };
    let mut trial = Trial::new("forty minutes", options);
    trial.game.fight(2_400.0);
    for (up, down) in trial.packets() {
        assert!(up.sent > 66_000 && down.sent > 66_000, "{} up and {} down", up.sent, down.sent);
    }
    let total = trial.game.report().total();
    println!("{total:?}");
    assert_eq!(total.lost, 0);
    trial.check();
}
