//! Row F20: clocks that run fast or slow, and the wall clock, which is set by whoever likes.

use std::time::{Duration, SystemTime};

use bevy::prelude::*;
use bevy_unlag::{guard::WallClock, prediction::ClockSteering, prelude::*};
use lightyear::prelude::{Client, Connected};
use unlag_examples::stepped_match::MatchOptions;

use super::{preset, trial::Trial};
use crate::{seconds, start};

/// The longest step of this client's tick from one frame to the next.
#[derive(Resource, Default)]
struct Steps {
    last: Option<Tick>,
    longest: i32,
}

fn follow(tick: Res<CurrentTick>, mut steps: ResMut<Steps>) {
    let step = steps.last.map_or(0, |last| tick.0.since(last));
    steps.longest = steps.longest.max(step.abs());
    steps.last = Some(tick.0);
}

#[test]
fn f20_a_clock_at_five_percent_is_held_by_steering() {
    for speed in [0.95, 1.05] {
        let what = format!("a clock at {speed}");
        let mut trial = Trial::tour(&what, 2, preset("Average (UE)"), 1);
        trial.game.clients[0].init_resource::<Steps>().add_systems(Last, follow);
        trial.game.set_clock(0, speed);
        trial.run(10.0);
        let behind = |trial: &Trial| {
            let tick = |app: &App| app.world().resource::<CurrentTick>().0;
            tick(&trial.game.server).since(tick(&trial.game.clients[0]))
        };
        let (began, before) = (behind(&trial), trial.corrections());
        trial.run(60.0);
        let (drift, corrections) = (behind(&trial) - began, trial.most_since(&before));
        let steered = trial.game.clients[0].world().resource::<ClockSteering>().speed;
        let longest = trial.game.clients[0].world().resource::<Steps>().longest;
        println!("{what}: {drift} ticks in a minute at a speed of {steered:.3}, {corrections} corrections");
        assert!((0.949..=1.051).contains(&steered), "{steered}");
        assert!(longest <= 1, "a jump of {longest} ticks");
        assert!(drift.abs() <= 16, "{drift} ticks in a minute");
        assert!(corrections <= 1, "{corrections} corrections");
        trial.game.set_clock(0, 1.0);
        trial.run(5.0);
        trial.check();
    }
}

const HOUR: Duration = Duration::from_secs(3_600);
/// A clock that somebody has set an hour ahead, and an hour back.
const SET: [fn() -> SystemTime; 2] = [|| SystemTime::now() + HOUR, || SystemTime::now() - HOUR];

/// Why this client is not let in.
#[derive(Resource, Default)]
struct Refused(Vec<JoinRefusal>);

/// What the wall clock decides is whether a connect token is too old when it is shown: nothing else reads it. A
/// clock that jumps an hour ahead during play makes the tokens of all who play ones that have long expired.
#[test]
fn f20_the_wall_clock_ends_no_connection() {
    let mut trial = Trial::tour("a wall clock that is set", 2, preset("Average (UE)"), 1);
    let before = trial.corrections();
    for clock in SET {
        trial.game.server.insert_resource(WallClock(clock));
        // Far longer than a connection lasts without a word.
        trial.run(10.0);
        for client in 0..2 {
            assert!(trial.game.is_playing(client), "still there, with a token that expired an hour ago");
        }
    }
    assert_eq!(trial.most_since(&before), 0, "and nobody is corrected");
    trial.check();
}

/// The control of the test above: the clock that is set is the one that the server looks at.
#[test]
fn f20_whoever_joins_by_a_clock_that_is_ahead_is_told_so() {
    let mut game = start(MatchOptions { players: 1, ..default() });
    for (clock, told) in SET.into_iter().zip([&[JoinRefusal::Expired][..], &[]]) {
        game.server.insert_resource(WallClock(clock));
        let late = game.join().expect("a token");
        let client = &mut game.clients[late];
        client.init_resource::<Refused>().add_systems(
            Last,
            |mut heard: MessageReader<JoinRefused>, mut refused: ResMut<Refused>| {
                refused.0.extend(heard.read().map(|refused| refused.0));
            },
        );
        game.run(seconds(2.0));
        assert_eq!(game.clients[late].world().resource::<Refused>().0, told);
        let world = game.clients[late].world_mut();
        let connected = world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count();
        assert_eq!(connected, usize::from(told.is_empty()), "{told:?}");
        assert!(game.is_playing(0));
    }
}
