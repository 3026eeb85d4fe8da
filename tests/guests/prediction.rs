//! lightyear's prediction and interpolation of other entities beside a soldier of the suite.

use bevy_unlag::core::TickSystems;
use lightyear::prelude::client::Remote;
use serde::{Deserialize, Serialize};

use super::*;

/// Position of a ball that lightyear predicts: one metre per second, until the server kicks it.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Ball(f32);

/// Position of a bird that lightyear interpolates: one metre per tick.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Bird(f32);

/// The bird that is interpolated; the other one is the control.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Smooth;

fn protocol(app: &mut App) {
    app.component::<Ball>().replicate().predict();
    app.component::<Smooth>().replicate();
    app.component::<Bird>().replicate();
    app.interpolate_with::<Bird>(InterpolationFns::interpolate(|from: Bird, to: Bird, t: f32| {
        Bird(from.0 + (to.0 - from.0) * t)
    }));
}

/// Fixed updates of the client: all, and those of the suite's systems.
#[derive(Resource, Clone, Copy, Default, Debug)]
struct FixedUpdates {
    all: u32,
    suite: u32,
}

fn roll(mut balls: Query<&mut Ball>) {
    balls.iter_mut().for_each(|mut ball| ball.0 += 1.0 / 64.0);
}

fn start() -> SteppedApps {
    let (mut server, mut client) = apps(protocol);
    server
        .add_systems(Startup, |mut commands: Commands| {
            let all = || Replicate::to_clients(NetworkTarget::All);
            commands.spawn((Ball(0.0), all(), PredictionTarget::to_clients(NetworkTarget::All)));
            let smooth = InterpolationTarget::to_clients(NetworkTarget::All);
            commands.spawn((Bird(0.0), Smooth, all(), smooth));
            commands.spawn((Bird(0.0), all()));
        })
        .add_systems(
            FixedUpdate,
            (roll, |tick: Res<CurrentTick>, mut balls: Query<&mut Ball>, mut birds: Query<&mut Bird>| {
                // No client knows that.
                if tick.0.0.is_multiple_of(32) {
                    balls.iter_mut().for_each(|mut ball| ball.0 += 5.0);
                }
                birds.iter_mut().for_each(|mut bird| bird.0 = tick.0.0 as f32);
            })
                .chain(),
        );
    let rollback_policy = RollbackPolicy { max_rollback_ticks: 60, ..default() };
    client
        .insert_resource(PredictionManager { rollback_policy, ..default() })
        .init_resource::<FixedUpdates>()
        .add_systems(
            FixedUpdate,
            (
                roll,
                |mut updates: ResMut<FixedUpdates>| updates.all += 1,
                (|mut updates: ResMut<FixedUpdates>| updates.suite += 1).in_set(TickSystems),
            ),
        );
    join(server, client)
}

/// The client's tick and its fixed updates.
fn counts(game: &SteppedApps) -> (u32, FixedUpdates) {
    let world = game.clients[0].world();
    (world.resource::<CurrentTick>().0.0, *world.resource::<FixedUpdates>())
}

fn ball(app: &mut App) -> f32 {
    let world = app.world_mut();
    world.query::<&Ball>().single(world).map_or(f32::NAN, |ball| ball.0)
}

#[test]
fn soldier_is_not_stepped_in_lightyears_rollback_of_a_ball() {
    let mut game = start();
    game.run(Duration::from_secs(3));
    let (tick, before) = counts(&game);
    game.run(Duration::from_secs(6));
    let (later, after) = counts(&game);
    let rollbacks = game.clients[0].world().resource::<PredictionMetrics>().rollbacks;
    let (all, suite) = (after.all - before.all, after.suite - before.suite);
    println!("{rollbacks} rollbacks, {all} fixed updates of which the suite made {suite}");
    // A kick every half second, each replayed at least once.
    assert!(rollbacks >= 8, "{rollbacks} rollbacks");
    // Control: systems outside the suite's set do run again.
    assert!(all > suite + 50, "{all} fixed updates, {suite} of the suite");
    assert_eq!(later - tick, suite);
    assert!((375..=395).contains(&suite), "{suite} ticks in six seconds");
    assert_no_corrections(&mut game);
    // The ball follows the server's, up to a kick that has not arrived.
    let error = (ball(&mut game.clients[0]) - ball(&mut game.server)).abs();
    assert!(error < 6.0, "{error}");
}

/// Largest step of a bird on the client's screen, from frame to frame.
fn largest_step(steps: &[f32]) -> f32 {
    steps.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f32::max)
}

#[test]
fn bird_is_interpolated_by_lightyear_beside_the_soldier() {
    let mut game = start();
    game.run(Duration::from_secs(3));
    let (mut smooth, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        game.run(SteppedApps::CLIENT_FRAME);
        let world = game.clients[0].world_mut();
        for (bird, is_smooth) in world.query_filtered::<(&Bird, Has<Smooth>), With<Remote>>().iter(world) {
            if is_smooth { smooth.push(bird.0) } else { plain.push(bird.0) }
        }
    }
    assert_eq!((smooth.len(), plain.len()), (300, 300));
    let (interpolated, control) = (largest_step(&smooth), largest_step(&plain));
    println!("largest step {interpolated} ticks, without interpolation {control}");
    // A frame of 10 ms is 0.64 ticks; a lost packet may cost two.
    assert!(interpolated < 2.5, "{interpolated}");
    assert!(control >= 3.0, "{control}");
    assert!(smooth[299] - smooth[0] > 150.0, "it must fly: {} to {}", smooth[0], smooth[299]);
    assert_no_corrections(&mut game);
}
