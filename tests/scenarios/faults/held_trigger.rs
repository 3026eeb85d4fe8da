//! Threat T16 (`book/src/operations/link_protection.md`): a held trigger during an outage. The server fires
//! no shots that the client did not request, and lets it catch up on none.

use bevy::prelude::*;
use bevy_unlag::{
    core::{ExtendedEvent, StepEvent, Tick},
    link_conditioner::LinkConditions,
    prelude::*,
    weapons::WeaponEvent,
};
use unlag_examples::stepped_match::{Match, MatchOptions};

use super::preset;
use crate::{hold_still, own_id, seconds, start, state};

/// Ticks between two shots of the rifle.
const INTERVAL: i32 = 6;
/// The same in seconds.
const PAUSE: f64 = 0.093_75;
/// Ticks for which moves may be late and still run, all at once on arrival: the time that the server waits
/// for missing moves, plus the delay of its jitter buffer.
const MAX_LATENESS: i32 = 16 + 4;

/// Shots that left on the server: the server tick and the shot's tick.
#[derive(Resource, Default)]
struct FiredShots(Vec<(Tick, Tick)>);

fn record_fired_shots(
    mut left: ResMut<FiredShots>,
    tick: Res<CurrentTick>,
    mut steps: MessageReader<StepEvent<Soldier>>,
) {
    for step in steps.read() {
        if let ExtendedEvent::Extension(WeaponEvent::Fired(round)) = step.event {
            left.0.push((tick.0, round.shot));
        }
    }
}

fn usual() -> LinkConditions {
    LinkConditions { loss: 0.0, ..preset("Average (UE)") }
}

/// One player who stands still with a held trigger.
fn start_with_held_trigger(seed: u64) -> (Match, NetId) {
    let mut game = start(MatchOptions { players: 1, conditions: usual(), seed, ..default() });
    game.server.init_resource::<FiredShots>().add_systems(Update, record_fired_shots);
    hold_still(&mut game.clients[0]);
    let world = game.clients[0].world_mut();
    let mut own = world.query_filtered::<&mut WeaponControls, With<LocalControl>>();
    own.single_mut(world).expect("a trigger").set_fire(true);
    game.run(seconds(3.0));
    let id = own_id(&mut game.clients[0]);
    (game, id)
}

fn set_uplink(game: &mut Match, up: LinkConditions) {
    let world = game.clients[0].world_mut();
    world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| sim.up = up);
}

fn shots(app: &mut App, id: NetId) -> u32 {
    state(app, id).extension.shots
}

// Threat T16.
#[test]
fn server_fires_no_shots_for_a_silent_client_and_no_burst_afterwards() {
    for (silence, seed) in [(0.25, 1), (0.25, 2), (1.0, 1), (1.0, 2), (2.0, 1), (2.0, 2)] {
        let what = format!("an outage of {silence} s, seed {seed}");
        let (mut game, id) = start_with_held_trigger(seed);
        assert!(shots(&mut game.server, id) > 20, "{what}: too few shots before the outage");

        set_uplink(&mut game, LinkConditions { loss: 1.0, ..LinkConditions::PERFECT });
        // At most the shots fired so far are in flight.
        let fired = shots(&mut game.clients[0], id);
        game.run(seconds(silence));
        let (here, there) = (shots(&mut game.clients[0], id), shots(&mut game.server, id));
        let left = game.server.world().resource::<FiredShots>().0.len();
        // The client's screen fires on until its shots remain unacknowledged for too long.
        assert!(here > fired, "{what}: the client stopped firing: {fired} to {here}");
        let beyond = there.saturating_sub(fired);
        assert!(beyond <= 2, "{what}: {beyond} shots left without a request");

        set_uplink(&mut game, usual());
        game.run(seconds(3.0));
        let rounds = &game.server.world().resource::<FiredShots>().0;
        let after = rounds.len() - left;
        eprintln!("{what}: {fired} shots before, {there} by its end, {after} in the 3 s after it");
        assert!(f64::from(after as u32) > 2.0 / PAUSE, "{what}: too few shots after the outage: {after}");
        for pair in rounds.windows(2) {
            let apart = pair[1].1.since(pair[0].1);
            assert!(apart >= INTERVAL, "{what}: shots {pair:?} are {apart} ticks apart");
        }
        // Between any two shots there are no more than the fire interval allows.
        for (i, (began, _)) in rounds.iter().enumerate() {
            for (more, (ended, _)) in rounds[i..].iter().enumerate() {
                let most = (ended.since(*began) + MAX_LATENESS) / INTERVAL + 1;
                assert!(more as i32 <= most, "{what}: {more} more shots from {began:?} to {ended:?}");
            }
        }
    }
}
