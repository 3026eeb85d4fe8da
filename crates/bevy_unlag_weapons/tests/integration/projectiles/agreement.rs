//! Agreement between the projectile hits on the shooter's screen and those of the server.

use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, ViewTime};
use bevy_unlag_weapons::{
    CatchUp, HitList, PredictedShot, Projectile, ProjectileRules, ShotMessage, ShotResult, Splash,
};

use crate::projectiles::stage::{DT, Dice, EYE, Screen, Server, Way, launcher, rocket, round, wall};

const SPRINT: f32 = 7.0;
/// Parameters of a projectile that hits in about the time in which its shot reaches the server.
const SPEED: f32 = 90.0;

/// Runs to and fro, and turns at random intervals of 0.2 to 0.9 s.
struct Sprinter {
    target: Entity,
    at: Vec3,
    way: Vec3,
    turns_in: f32,
}

impl Sprinter {
    fn run(&mut self, dice: &mut Dice) {
        self.turns_in -= DT;
        if self.turns_in <= 0.0 {
            self.turns_in = dice.between(0.2, 0.9);
            self.way = if dice.roll() < 0.8 { -self.way } else { self.way.with_z(dice.between(-0.3, 0.3)) };
        }
        if self.at.x.abs() > 12.0 {
            self.way.x = -self.at.x.signum();
        }
        self.at += self.way.normalize() * SPRINT * DT;
        self.at.z = self.at.z.clamp(-16.0, -5.0);
    }
}

/// Fires at sideways sprinters with a screen whose poses are `milliseconds` old when the shot arrives.
/// Returns the number of shots with the same target (or none) on screen and server, the number of hits, and
/// the number of shots.
fn agreement(
    milliseconds: f32,
    catch_up: CatchUp,
    splash: Option<Splash>,
    shots: usize,
) -> (usize, usize, usize) {
    let weapon = launcher(Projectile { speed: SPEED, splash, ..rocket() });
    let (mut server, mut screen) = (Server::new(&weapon), Screen::new(&weapon, true));
    // Behind the sprinters, with a pillar among them.
    for (half, at) in
        [(Vec3::new(40.0, 5.0, 0.5), Vec3::Z * -19.0), (Vec3::new(0.5, 2.0, 0.5), Vec3::Z * -9.0)]
    {
        server.wall(half, at);
        wall(&mut screen.app, half, at);
    }
    server.app.insert_resource(ProjectileRules { catch_up, ..default() });
    let mut dice = Dice::new(milliseconds as u64 + 1);
    let mut runners: Vec<Sprinter> = (0..6)
        .map(|index| {
            let at = Vec3::new(dice.between(-10.0, 10.0), 0.0, -5.0 - index as f32 * 2.0);
            let target = server.target(10 + index, at);
            screen.target(&server, target);
            Sprinter { target, at, way: Vec3::X, turns_in: dice.between(0.2, 0.9) }
        })
        .collect();
    let age = f64::from(milliseconds) / 15.625;
    let shown_late = (age * 0.5).max(3.1);
    let up = (age - shown_late).max(0.0).round() as i32;
    let mut uplink: Way<PredictedShot> = Way::new();
    let mut downlink: Way<ShotMessage> = Way::new();
    let (mut number, mut verdicts, mut drawn) = (0, HashMap::new(), HashMap::new());
    let mut tick = 0;
    while number < shots as u32 || tick % 400 != 0 {
        tick += 1;
        for runner in &mut runners {
            runner.run(&mut dice);
            server.put(runner.target, runner.at);
        }
        while let Some(round) = uplink.come(server.now()) {
            server.arrive(&round);
        }
        for mailed in server.tick() {
            if let ShotMessage::Verdict(verdict) = mailed
                && verdict.result != ShotResult::Launched
            {
                verdicts.insert(verdict.shot, verdict.result);
            }
            downlink.send(server.now().offset((shown_late as i32 - 3).max(0)), mailed);
        }
        if tick < 100 {
            continue;
        }
        while let Some(mailed) = downlink.come(server.now()) {
            screen.receive(&mailed);
        }
        // Frames of a screen that runs out of step with the server.
        for part in [0.0, 0.61] {
            let view = ViewTime::after(server.now(), part - shown_late);
            screen.frame(&server, Some(view), DT * if part == 0.0 { 0.39 } else { 0.61 });
            if part > 0.0 && tick % 5 == 0 && number < shots as u32 {
                let goal = &runners[(dice.roll() * 6.0) as usize];
                let Some(seen) = server.drawn(goal.target, view) else { continue };
                let flight = seen.pose.position.distance(EYE) / SPEED;
                let lead = seen.pose.position + seen.pose.velocity * flight * dice.between(0.6, 1.2);
                let aside = Vec3::new(dice.between(-0.7, 0.7), dice.between(0.1, 1.8), 0.0);
                number += 1;
                let round = round(number, Some(view), lead + aside - EYE);
                screen.fire(&round, Some(view));
                uplink.send(server.now().offset(up), round);
            }
        }
        for hit in screen.picture.hits.drain(..) {
            let before = drawn.insert(hit.shot, targets(&hit.hits));
            assert_eq!(before, None, "a shot is displayed once");
        }
    }
    let judged = |result: &ShotResult| match result {
        ShotResult::Hit(list) => targets(list),
        ShotResult::Miss => Vec::new(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        (verdicts.len(), drawn.len()),
        (shots, shots),
        "every shot has a verdict and a displayed result"
    );
    assert_eq!(screen.picture.shown.len(), shots);
    assert_eq!(screen.picture.ended.len(), shots);
    let same =
        drawn.iter().filter(|(shot, hits)| verdicts.get(shot).map(judged).as_ref() == Some(*hits)).count();
    let hits = drawn.values().filter(|hits| !hits.is_empty()).count();
    (same, hits, shots)
}

/// Returns the targets, in the order of their identifiers: whether one of two is the nearer one to an explosion differs
/// by less than is sent.
fn targets(hits: &HitList) -> Vec<NetId> {
    let mut targets: Vec<NetId> = hits.iter().map(|hit| hit.target).collect();
    targets.sort_unstable();
    targets
}

#[test]
fn screen_and_server_agree_on_the_targets_of_projectiles() {
    for milliseconds in [50.0, 150.0, 250.0] {
        let (same, hits, shots) = agreement(milliseconds, CatchUp::Displayed, None, 400);
        println!("{milliseconds} ms: {same} of {shots} agree; {hits} hits");
        assert!(hits > shots / 5, "{hits} hits");
        assert!(same * 1_000 >= shots * 995, "{milliseconds} ms: {same} of {shots}");
    }
    let (naive, _, shots) = agreement(150.0, CatchUp::Present, None, 400);
    println!("150 ms, the naive way: {naive} of {shots} agree");
    assert!(naive * 1_000 < shots * 970, "{naive} of {shots} the naive way");
}

#[test]
fn screen_and_server_agree_on_the_targets_of_splash() {
    let splash = Splash { radius: 3.5, damage: 80.0, edge: 0.25, own: 0.5, throw: 7.0 };
    for milliseconds in [50.0, 250.0] {
        let (same, hits, shots) = agreement(milliseconds, CatchUp::Displayed, Some(splash), 400);
        println!("{milliseconds} ms: {same} of {shots} agree; {hits} hits");
        assert!(hits > shots / 3, "{hits} hits");
        assert!(same * 1_000 >= shots * 980, "{milliseconds} ms: {same} of {shots}");
    }
}
