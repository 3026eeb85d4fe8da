//! A link that loses, doubles and shuffles: every shot counts once, and nobody honest is refused.

use core::time::Duration;
use std::collections::HashMap;

use bevy::prelude::*;
use bevy_unlag::prelude::*;
use unlag_examples::lockstep::{Match, MatchOptions};

use crate::{Options, figures::Figures};

/// 25 % lost, doubled and overtaken each way.
fn hard() -> LinkConditions {
    LinkConditions {
        latency: Duration::from_millis(50),
        jitter: Duration::from_millis(10),
        loss: 0.25,
        duplication: 0.25,
        reorder: 0.25,
        reorder_delay: Duration::from_millis(30),
        ..LinkConditions::PERFECT
    }
}

/// What the server counted, by shooter and shot.
#[derive(Resource, Default)]
struct Counted {
    judged: HashMap<(Entity, Tick), u32>,
    hurt: HashMap<(Entity, Tick, Entity), u32>,
}

fn count(
    pawns: Query<(Entity, &bevy_unlag::weapons::OutgoingVerdicts)>,
    mut damage: MessageReader<Damage>,
    mut counted: ResMut<Counted>,
) {
    for (pawn, mailbox) in &pawns {
        for mailed in &mailbox.0 {
            if let bevy_unlag::weapons::Mailed::Verdict(verdict) = mailed {
                *counted.judged.entry((pawn, verdict.shot)).or_default() += 1;
            }
        }
    }
    for hit in damage.read() {
        *counted.hurt.entry((hit.shooter, hit.shot, hit.target)).or_default() += 1;
    }
}

/// Weapons in hand of everybody, by name, on one side.
fn arms(app: &mut App, own: bool) -> HashMap<NetId, ArmsState> {
    let world = app.world_mut();
    let mut pawns = world.query::<(&NetId, &SoldierState, Has<LocalControl>)>();
    pawns
        .iter(world)
        .filter(|(.., local)| *local || !own)
        .map(|(id, state, _)| (*id, state.extension))
        .collect()
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let wanted = if options.quick { 2_000 } else { 100_000 };
    let players = 8;
    let (mut shots, mut twice, mut refused, mut lost, mut apart, mut seconds) = (0, 0, 0, 0, 0, 0.0);
    let mut reasons = [0; ShotRefusal::ALL.len()];
    let mut seed = options.seed;
    while shots < wanted {
        let mut game =
            Match::start(&MatchOptions { players, conditions: hard(), seed, ..MatchOptions::default() })?;
        seed += 1;
        game.server.init_resource::<Counted>().add_systems(FixedLast, count);
        let stretch = if options.quick { 30.0 } else { 300.0 };
        game.fight(stretch);
        seconds += stretch;
        let total = game.report().total();
        shots += total.shots;
        refused += total.refused;
        lost += total.lost;
        for (sum, one) in reasons.iter_mut().zip(total.reasons) {
            *sum += one;
        }
        let counted = game.server.world().resource::<Counted>();
        twice += counted.judged.values().chain(counted.hurt.values()).filter(|count| **count > 1).count();
        let servers = arms(&mut game.server, false);
        for client in &mut game.clients {
            let own = arms(client, true);
            apart += own
                .iter()
                .filter(|(id, arms)| {
                    servers.get(id).is_none_or(|known| known.slots != arms.slots || known.shots != arms.shots)
                })
                .count();
        }
    }
    let why: Vec<_> = ShotRefusal::ALL
        .iter()
        .zip(reasons)
        .filter(|(_, count)| *count > 0)
        .map(|(why, count)| format!("{why:?} {count}"))
        .collect();
    let link = "25 % lost, doubled and overtaken each way, 100 ms";
    figures.add(
        "double_counted",
        twice as f64,
        format!("shots judged or hurting somebody twice of {shots} in {seconds:.0} s; {link}; goal 0"),
    )?;
    figures.add(
        "honest_refused_per_1e4",
        refused as f64 * 1e4 / shots as f64,
        format!("of 10,000 shots were refused ({}), {lost} verdicts lost; goal 1", why.join(", ")),
    )?;
    figures.add(
        "arms_apart_at_rest",
        apart as f64,
        "players whose ammunition or count of shots differs on both sides when all is quiet; goal 0",
    )
}
