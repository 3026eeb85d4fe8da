//! A finger on the trigger, and a line that is cut: the server fires for nobody.

use bevy::prelude::*;
use bevy_unlag::{
    core::{ExtendedEvent, StepEvent},
    prelude::*,
};
use unlag_examples::stepped_match::{Match, MatchOptions};

use super::preset;
use crate::{hold_still, own_id, seconds, start, state};

/// Ticks between two rounds of the rifle, and in seconds.
const INTERVAL: i32 = 6;
const PAUSE: f64 = 0.093_75;
/// Ticks for which moves may be late and still run, all at once when they come: the server's patience, and what it
/// holds back for the sake of jitter.
const LATE: i32 = 16 + 4;

/// Rounds that left on the server: in which of its ticks, and their names.
#[derive(Resource, Default)]
struct Left(Vec<(Tick, Tick)>);

fn note(mut left: ResMut<Left>, tick: Res<CurrentTick>, mut steps: MessageReader<StepEvent<Soldier>>) {
    for step in steps.read() {
        if let ExtendedEvent::Extension(WeaponEvent::Fired(round)) = step.event {
            left.0.push((tick.0, round.shot));
        }
    }
}

fn usual() -> LinkConditions {
    LinkConditions { loss: 0.0, ..preset("Average (UE)") }
}

/// One player who stands and fires without end.
fn range(seed: u64) -> (Match, NetId) {
    let mut game = start(MatchOptions { players: 1, conditions: usual(), seed, ..default() });
    game.server.init_resource::<Left>().add_systems(Update, note);
    hold_still(&mut game.clients[0]);
    let world = game.clients[0].world_mut();
    let mut own = world.query_filtered::<&mut WeaponControls, With<LocalControl>>();
    own.single_mut(world).expect("a trigger").set(true);
    game.run(seconds(3.0));
    let id = own_id(&mut game.clients[0]);
    (game, id)
}

fn set_up(game: &mut Match, up: LinkConditions) {
    let world = game.clients[0].world_mut();
    world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| sim.up = up);
}

fn shots(app: &mut App, id: NetId) -> u32 {
    state(app, id).extension.shots
}

#[test]
fn t16_nobody_fires_for_who_is_silent_and_no_burst_makes_up_for_it() {
    for (silence, seed) in [(0.25, 1), (0.25, 2), (1.0, 1), (1.0, 2), (2.0, 1), (2.0, 2)] {
        let what = format!("{silence} s of silence, seed {seed}");
        let (mut game, id) = range(seed);
        assert!(shots(&mut game.server, id) > 20, "{what}: it fires");

        set_up(&mut game, LinkConditions { loss: 1.0, ..LinkConditions::PERFECT });
        // What it has fired by now is on its way at the most.
        let fired = shots(&mut game.clients[0], id);
        game.run(seconds(silence));
        let (here, there) = (shots(&mut game.clients[0], id), shots(&mut game.server, id));
        let left = game.server.world().resource::<Left>().0.len();
        // On its own screen it goes on until it hears nothing of its rounds any more.
        assert!(here > fired, "{what}: its finger let go: {fired} to {here}");
        let beyond = there.saturating_sub(fired);
        assert!(beyond <= 2, "{what}: {beyond} rounds left that nobody has asked for");

        set_up(&mut game, usual());
        game.run(seconds(3.0));
        let rounds = &game.server.world().resource::<Left>().0;
        let after = rounds.len() - left;
        eprintln!("{what}: {fired} fired before, {there} by its end, {after} in 3 s after it");
        assert!(f64::from(after as u32) > 2.0 / PAUSE, "{what}: it does not fire again: {after} rounds");
        for pair in rounds.windows(2) {
            let apart = pair[1].1.since(pair[0].1);
            assert!(apart >= INTERVAL, "{what}: rounds {pair:?} are {apart} ticks apart");
        }
        // Of any two rounds: not more between them than there was time for.
        for (i, (began, _)) in rounds.iter().enumerate() {
            for (more, (ended, _)) in rounds[i..].iter().enumerate() {
                let most = (ended.since(*began) + LATE) / INTERVAL + 1;
                assert!(more as i32 <= most, "{what}: {more} more rounds from {began:?} to {ended:?}");
            }
        }
    }
}
