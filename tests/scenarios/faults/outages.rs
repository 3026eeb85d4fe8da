//! Rows F12, F13, F17 and F18: outages and server stalls during a fight.

use std::collections::HashSet;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    core::{ExtendedEvent, StepEvent, Tick},
    link_conditioner::{LinkConditions, Pulse},
    prelude::*,
    weapons::{Shot, ShotRefusal, ShotResult, WeaponEvent},
};
use unlag_examples::{app::ServerOptions, stepped_match::MatchOptions, weapon_set::WeaponSet};

use super::{preset, trial::Trial};
use crate::{
    fire::{ClientShotLog, ServerShotLog, record_shots},
    seconds,
    shooting_range::{ShootingRange, ShotLog},
    start,
};

/// The average link without random loss.
fn usual() -> LinkConditions {
    LinkConditions { loss: 0.0, ..preset("Average (UE)") }
}

const NO_PACKETS: LinkConditions = LinkConditions { loss: 1.0, ..LinkConditions::PERFECT };
/// The maximum round trip of [`usual`], in seconds.
const ROUND_TRIP: f64 = 0.12;

/// A fight of four players.
fn fight(what: &str, seed: u64, weapon_set: WeaponSet) -> Trial {
    let server = ServerOptions { weapon_set, ..default() };
    let options = MatchOptions { players: 4, conditions: usual(), seed, server, ..default() };
    let mut trial = Trial::new(what, options);
    trial.game.set_firing(true);
    trial.run(5.0);
    trial
}

fn set(trial: &mut Trial, up: LinkConditions, down: LinkConditions) {
    for client in &mut trial.game.clients {
        let world = client.world_mut();
        world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| (sim.up, sim.down) = (up, down));
    }
}

fn direction_name(up: bool, down: bool) -> &'static str {
    match (up, down) {
        (true, true) => "both ways",
        (true, false) => "up",
        _ => "down",
    }
}

fn cut_links(trial: &mut Trial, time: f64, up: bool, down: bool) {
    let dark = |dark| if dark { NO_PACKETS } else { usual() };
    set(trial, dark(up), dark(down));
    trial.run(time);
    set(trial, usual(), usual());
}

/// `T_conv` of a tour with one outage, in seconds.
fn convergence_time(time: f64, up: bool, down: bool, seed: u64) -> f64 {
    let what = format!("an outage of {time} s {}", direction_name(up, down));
    let mut tour = Trial::tour(&what, 2, usual(), seed);
    cut_links(&mut tour, time, up, down);
    let from = tour.client_times();
    tour.run(4.0);
    let convergence_time = tour.convergence_time(&from);
    println!("{what}, seed {seed}: agreement after {convergence_time:.3} s");
    tour.assert_invariants();
    convergence_time
}

/// Runs a fight with three outages and asserts that every shot is accounted for.
fn assert_fight_accounted_for(time: f64, up: bool, down: bool, seed: u64) {
    let what = format!("a fight with outages of {time} s {}", direction_name(up, down));
    let mut trial = fight(&what, seed, WeaponSet::All);
    for _ in 0..3 {
        cut_links(&mut trial, time, up, down);
        trial.run(2.0);
    }
    trial.game.set_firing(false);
    // A verdict is overdue after five seconds.
    trial.run(4.0);
    let rounds = trial.game.server.world().resource::<ServerShotLog>().left.len();
    println!("{what}: {rounds} shots");
    assert!(rounds > 40, "only {rounds} shots");
    trial.assert_invariants();
    trial.assert_shots_answered();
}

// Row F12.
#[test]
fn owners_recover_and_every_shot_is_accounted_for_after_an_outage_both_ways() {
    for (time, seed) in [(0.25, 1), (1.0, 2), (2.0, 1)] {
        let convergence_time = convergence_time(time, true, true, seed);
        assert!(
            convergence_time <= ROUND_TRIP + 0.25,
            "agreement {convergence_time} s after an outage of {time} s, seed {seed}"
        );
        assert_fight_accounted_for(time, true, true, 2);
    }
}

// Row F13.
#[test]
fn owners_recover_and_every_shot_is_accounted_for_after_an_outage_one_way() {
    for (up, down) in [(true, false), (false, true)] {
        let convergence_time = convergence_time(1.0, up, down, 3);
        assert!(convergence_time <= ROUND_TRIP + 0.25, "{convergence_time} s");
        assert_fight_accounted_for(1.0, up, down, 3);
    }
}

/// Shots of three players whose links go dark for `dark` seconds at the end of every `period`, three times; their
/// connections end after `timeout` without a packet.
fn assert_shots_answered(dark: f64, period: f64, timeout: f64) {
    let pulse = Pulse { period: seconds(period), length: seconds(dark), loss: 1.0, latency: seconds(0.0) };
    let conditions = LinkConditions { pulse: Some(pulse), ..preset("Good broadband") };
    let server = ServerOptions { weapon_set: WeaponSet::All, ..default() };
    let options = MatchOptions { players: 3, conditions, seed: 5, server, ..MatchOptions::default() };
    let mut game = start(MatchOptions { timeout: seconds(timeout), ..options });
    record_shots(&mut game);
    game.set_firing(true);
    game.run(seconds(3.5 * period));
    game.set_firing(false);
    game.run(seconds(2.0 * period));
    let (mut fired, mut unanswered, mut missing, mut after) = (0, 0, 0, [0; 3]);
    for client in &game.clients {
        let log = client.world().resource::<ClientShotLog>();
        unanswered += log.unanswered().len();
        for shot in log.fired.keys() {
            let answers = log.verdicts.get(shot).map_or(&[][..], |answers| answers);
            fired += 1;
            missing += answers
                .iter()
                .filter(|answer| **answer == ShotResult::Refused(ShotRefusal::MissingMove))
                .count();
            assert!(answers.len() <= 1, "{shot} has several answers: {answers:?}");
            // Ticks count from the start of the server.
            let at = f64::from(*shot) / 64.0 / period;
            if at >= 1.0 && at.fract() < 1.0 - dark / period {
                after[(at as usize).min(3) - 1] += 1;
            }
        }
    }
    println!(
        "{dark} s of {period}: {fired} shots, {missing} of moves that never ran, {after:?} after blackouts"
    );
    assert_eq!(unanswered, 0, "of {fired} shots, {dark} s dark");
    assert!(missing >= 3, "control: {missing} of {fired} shots were lost in the dark");
    assert!(after.iter().all(|after| *after > 5), "control: {after:?} shots after the blackouts");
    assert_eq!((0..3).filter(|i| game.is_playing(*i)).count(), 3, "no connection has ended");
}

#[test]
#[ignore = "long: `unlag_lab weapons` has the same figures"]
fn every_shot_is_answered_also_those_whose_moves_a_blackout_has_lost() {
    for (dark, period, timeout) in [(0.5, 5.0, 3.0), (2.0, 8.0, 3.0), (4.0, 12.0, 10.0)] {
        assert_shots_answered(dark, period, timeout);
    }
}

/// Ticks of the shots whose move the server ran.
#[derive(Resource, Default)]
struct RanOnServer(HashSet<Tick>);

fn with_beam(app: &mut App) {
    let weapon = Weapon { shot: Shot::Beam { range: 40.0, radius: 0.1 }, ..Weapon::rifle() };
    app.insert_resource(Arsenal::new(vec![weapon]).expect("a valid weapon"));
    app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    });
}

#[test]
fn newest_answer_to_a_beam_is_a_refusal_exactly_for_the_moves_that_a_blackout_has_lost() {
    let mut range = ShootingRange::start(with_beam, &[Vec3::ZERO, Vec3::new(0.0, 0.05, -8.0)], 2);
    range.server.init_resource::<RanOnServer>().add_systems(
        Last,
        |mut steps: MessageReader<StepEvent<Soldier>>, mut ran: ResMut<RanOnServer>| {
            for step in steps.read() {
                match step.event {
                    ExtendedEvent::Extension(WeaponEvent::Fired(round)) => ran.0.insert(round.shot),
                    ExtendedEvent::Extension(WeaponEvent::NotFired { shot, .. }) => ran.0.insert(shot),
                    _ => false,
                };
            }
        },
    );
    let hold = |range: &mut ShootingRange, held| {
        let world = range.clients[0].world_mut();
        let mut own = world.query_filtered::<&mut WeaponControls, With<LocalControl>>();
        own.single_mut(world).expect("a trigger").set_fire(held);
    };
    let usual = LinkConditions { latency: seconds(0.04), ..LinkConditions::PERFECT };
    hold(&mut range, true);
    for dark in [0.6, 2.0] {
        range.run(seconds(1.0));
        range.set_conditions(NO_PACKETS);
        range.run(seconds(dark));
        range.set_conditions(usual);
        range.run(seconds(1.0));
    }
    hold(&mut range, false);
    range.run(seconds(7.0));
    let ran = range.server.world_mut().remove_resource::<RanOnServer>().unwrap_or_default().0;
    let ShotLog { mut verdicts, fired, .. } = ShootingRange::take_log(&mut range.clients[0]);
    verdicts.sort_by_key(|verdict| verdict.shot.0);
    let lost = fired.iter().filter(|shot| !ran.contains(&shot.round.shot)).count();
    println!("{} shots, {lost} of moves that never ran, {} answers", fired.len(), verdicts.len());
    for shot in &fired {
        let answer = verdicts.iter().rev().find(|verdict| verdict.shot.0 <= shot.round.shot.0);
        let answer = answer.unwrap_or_else(|| panic!("{:?} has no answer", shot.round.shot));
        let missing = answer.result == ShotResult::Refused(ShotRefusal::MissingMove);
        assert_eq!(missing, !ran.contains(&shot.round.shot), "{:?}: {answer:?}", shot.round.shot);
    }
    assert!(lost > 100 && fired.len() - lost > 150, "control: {lost} of {} shots", fired.len());
    assert!(verdicts.len() * 2 < fired.len(), "one answer for each gap and each change: {}", verdicts.len());
}

/// Seconds until the server has run a further move of every pawn, with a resolution of 10 ms; infinity after
/// 1 s.
fn seconds_until_moves_run(trial: &mut Trial) -> f64 {
    let run = |trial: &mut Trial| -> Vec<u64> {
        let world = trial.game.server.world_mut();
        let mut pawns = world.query::<(&NetId, &PredictionStats)>();
        let mut all: Vec<_> = pawns.iter(world).map(|(id, stats)| (*id, stats.moves)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, moves)| moves).collect()
    };
    let before = run(trial);
    for step in 1..=100 {
        trial.run(0.01);
        if run(trial).iter().zip(&before).all(|(now, before)| now > before) {
            return f64::from(step) * 0.01;
        }
    }
    f64::INFINITY
}

// Rows F17 and F18.
#[test]
fn server_runs_moves_again_and_confirms_no_unseen_hits_after_a_stall() {
    for (stall, most) in [(0.15, 0), (1.2, 2), (2.5, 2)] {
        let what = format!("a server stall of {stall} s");
        let mut tour = Trial::tour(&what, 2, usual(), 4);
        let before = tour.corrections();
        tour.game.stall_server(seconds(stall));
        tour.run(stall);
        let from = tour.client_times();
        let again = seconds_until_moves_run(&mut tour);
        tour.run(4.0);
        let (corrections, convergence_time) =
            (tour.max_corrections_since(&before), tour.convergence_time(&from));
        println!(
            "{what}: moves run after {again:.2} s, agreement after {convergence_time:.3} s, {corrections} corrections"
        );
        assert!(again <= 0.5, "the server runs moves again after {again} s");
        assert!(corrections <= most, "{corrections} corrections");
        assert!(convergence_time <= ROUND_TRIP + 0.5, "{convergence_time} s");
        tour.assert_invariants();

        let mut trial = fight(&what, 5, WeaponSet::default());
        for _ in 0..3 {
            trial.game.stall_server(seconds(stall));
            trial.run(stall + 2.0);
        }
        trial.game.set_firing(false);
        trial.run(3.0);
        let total = trial.game.report().total();
        println!("{total:?}");
        // A confirmed hit that the shooter's screen did not show is an unearned one. Around stalls of 1.2 s eight
        // seeds gave 93 to 99 %, this one 98.7; `docs/faults.md` says why 98 is not promised.
        let drawn = total.drawn_of_confirmed().unwrap_or(0.0);
        assert!(
            total.confirmed > 10 && drawn >= 96.0,
            "{drawn} % of {} confirmed hits were on the shooter's screen",
            total.confirmed
        );
        // A view older than the rewind limit when the server resumes is clamped, and its verdict reports that. All
        // other hits were on the screen.
        let unclamped = total.unclamped();
        let drawn = unclamped.drawn_of_confirmed().unwrap_or(0.0);
        assert!(
            unclamped.confirmed > 10 && drawn == 100.0,
            "{drawn} % of {} confirmed hits with unclamped views were on the shooter's screen",
            unclamped.confirmed
        );
        trial.assert_invariants();
    }
}
