//! Platforms that are no function of the tick: a lift that is called by a button, things that the server moves.

mod recorded;

use std::{collections::HashMap, time::Duration};

use bevy::prelude::*;
use bevy_rapier3d::prelude::{Collider, RigidBody};
use bevy_unlag::{
    ControlSystems,
    core::{Tick, Wire},
    link_conditioner::LinkConditions,
    movement::{BaseId, BaseScheduleConfig, MovementBase},
    net::{MessageRules, NetSystems, RestartMatch},
    prelude::*,
    weapons::ShotResult,
};
use bevy_unlag_testkit::{SteppedApps, TracePlugin, first_difference, headless_app, traces};

use crate::{seconds, state};

/// The rider's pawn. The others are numbered from here on, and watch from a balcony.
const RIDER: NetId = NetId(1);
const LIFT: BaseId = BaseId(3);
/// Spawn point of the rider, a little above the lift.
const SEAT: Vec3 = Vec3::new(0.0, 0.3, 0.0);
const BOTTOM: f32 = 0.1;
const TOP: f32 = 5.1;
/// Mean speed of the lift, in metres per second: it travels for 2.5 s.
const SPEED: f32 = 2.0;

/// Button of the lift.
#[derive(Wire, Clone, Copy, PartialEq, Debug)]
struct CallLift {
    up: bool,
}

/// The button that the player of a client presses in its next frame.
#[derive(Resource, Default)]
struct Button(Option<bool>);

/// Places of the rider relative to the platform, both as drawn on a client's screen, frame by frame.
#[derive(Resource, Default)]
struct Screen(Vec<Vec3>);

/// Shots of a client by their tick: whether its screen showed a hit, and the verdict.
#[derive(Resource, Default)]
struct Shots(HashMap<Tick, (Option<bool>, Option<ShotResult>)>);

fn link(round_trip: u64, loss: f32) -> LinkConditions {
    LinkConditions { latency: Duration::from_millis(round_trip / 2), loss, ..LinkConditions::PERFECT }
}

fn game(app: &mut App) {
    app.add_game_message::<CallLift>(MessageRules::to_server()).add_systems(Startup, level);
}

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    // A balcony beside the lift, for those who watch.
    commands.spawn((Collider::cuboid(1.5, 1.5, 4.0), Transform::from_xyz(8.0, 1.5, 0.0)));
    let lift = MovementBase::scheduled(LIFT, Isometry3d::from_xyz(0.0, BOTTOM, 0.0));
    commands.spawn((lift, Collider::cuboid(2.0, 0.1, 2.0), RigidBody::KinematicPositionBased));
}

fn server() -> App {
    let mut server = headless_app();
    server
        .add_plugins((UnlagServerPlugins::default(), TracePlugin, game))
        .add_systems(PreUpdate, obey.after(NetSystems::DeliverMessages))
        .init_resource::<LastPawn>()
        .add_observer(|joined: On<PlayerJoined>, mut last: ResMut<LastPawn>, mut commands: Commands| {
            last.0 += 1;
            let place = match last.0 {
                1 => SEAT,
                other => Vec3::new(8.0, 3.1, f32::from(other) - 2.0),
            };
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((SoldierPawn, NetId(last.0), Transform::from_translation(place), owner));
        });
    server
}

/// Number of the last pawn that was spawned.
#[derive(Resource, Default)]
struct LastPawn(u16);

/// A server on which a character of its own stands on the lift, in the first player's place.
fn server_with_npc_rider() -> App {
    let mut server = server();
    server.insert_resource(LastPawn(RIDER.0)).add_systems(Startup, |mut commands: Commands| {
        commands.spawn((NpcPawn::<Soldier>::default(), RIDER, Transform::from_translation(SEAT)));
    });
    server
}

fn obey(mut calls: MessageReader<Received<CallLift>>, mut lifts: Query<&mut MovementBase>) {
    for call in calls.read() {
        let height = if call.message.up { TOP } else { BOTTOM };
        for mut lift in &mut lifts {
            lift.move_to(Isometry3d::from_xyz(0.0, height, 0.0), SPEED);
        }
    }
}

fn client() -> App {
    let mut client = headless_app();
    client
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), TracePlugin, game))
        .init_resource::<Button>()
        .init_resource::<Screen>()
        .add_systems(Update, press)
        .add_systems(Last, look);
    client
}

fn press(mut button: ResMut<Button>, mut outbox: Outbox<CallLift>) {
    if let Some(up) = button.0.take() {
        outbox.send(&CallLift { up });
    }
}

fn look(
    platforms: Query<&Transform, With<MovementBase>>,
    pawns: Query<(&NetId, &DrawnPose, &VisualOffset), Without<LocalControl>>,
    mut screen: ResMut<Screen>,
) {
    let Ok(platform) = platforms.single() else { return };
    if let Some((_, drawn, offset)) = pawns.iter().find(|(id, ..)| **id == RIDER) {
        let place = drawn.pose.position + offset.offset - platform.translation;
        screen.0.push(platform.rotation.inverse() * place);
    }
}

/// Lets a client aim at the rider as its screen shows it, and fire twice a second.
fn add_shooting(client: &mut App) {
    client
        .init_resource::<Shots>()
        .add_systems(RunFixedMainLoop, shoot_at_rider.in_set(ControlSystems::Accumulate))
        .add_systems(Last, record_shots);
}

fn shoot_at_rider(
    time: Res<Time>,
    mut own: Query<(&DrawnPose, &mut InputAccumulator, &mut WeaponControls), With<LocalControl>>,
    others: Query<(&NetId, &DrawnPose), Without<LocalControl>>,
) {
    let Some((_, rider)) = others.iter().find(|(id, _)| **id == RIDER) else { return };
    for (drawn, mut view, mut trigger) in &mut own {
        let eye = drawn.pose.position + Vec3::Y * 1.64;
        view.look_along(rider.pose.position + Vec3::Y * 1.1 - eye);
        trigger.set_fire((time.elapsed_secs() * 2.0).fract() < 0.1);
    }
}

fn record_shots(
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut shots: ResMut<Shots>,
) {
    for shot in fired.read() {
        shots.0.entry(shot.round.shot).or_default().0 = Some(shot.drawn().is_some());
    }
    for verdict in verdicts.read() {
        shots.0.entry(verdict.shot).or_default().1 = Some(verdict.result);
    }
}

fn join(game: &mut SteppedApps, client: App, conditions: LinkConditions) -> usize {
    let sim = NetSim::new(game.clients.len() as u64).with(conditions);
    game.join_over(client, sim).expect("a connect token")
}

/// A server and clients, the first of which rides the lift.
fn start(players: usize, conditions: LinkConditions) -> SteppedApps {
    let mut game = SteppedApps::new(server());
    // One after the other: pawns are numbered in the order of joining.
    for _ in 0..players {
        join(&mut game, client(), conditions);
        game.run(seconds(2.0));
    }
    assert_eq!(state(&mut game.clients[0], RIDER).body.base, LIFT);
    game
}

fn call(game: &mut SteppedApps, up: bool) {
    game.clients[0].world_mut().resource_mut::<Button>().0 = Some(up);
}

fn corrections(game: &mut SteppedApps) -> u64 {
    let world = game.clients[0].world_mut();
    world.query::<&PredictionStats>().iter(world).map(|stats| stats.corrections).sum()
}

fn lift(app: &mut App) -> MovementBase {
    let world = app.world_mut();
    world.query::<&MovementBase>().iter(world).next().cloned().expect("there is a lift")
}

/// Height at which an app draws the lift.
fn drawn_height(app: &mut App) -> f32 {
    let world = app.world_mut();
    let mut lifts = world.query_filtered::<&Transform, With<MovementBase>>();
    lifts.iter(world).map(|lift| lift.translation.y).next().expect("there is a lift")
}

/// Asserts that owner and server got the same result of every move.
fn assert_predicted(game: &mut SteppedApps) {
    let (server, client) = (traces(&mut game.server), traces(&mut game.clients[0]));
    assert!(client[&RIDER].len() > 300, "{} moves", client[&RIDER].len());
    assert_eq!(first_difference(&server[&RIDER], &client[&RIDER], 0.01), None);
    assert_eq!(corrections(game), 0);
}

/// Asserts that a client has drawn the rider within 2 cm of its place on the platform.
fn assert_drawn_in_place(game: &mut SteppedApps, client: usize, frames: usize) {
    let seat = state(&mut game.server, RIDER).body.base_position;
    let drawn = &game.clients[client].world().resource::<Screen>().0;
    assert!(drawn.len() >= frames, "{} frames", drawn.len());
    let farthest = drawn.iter().map(|place| place.distance(seat)).fold(0.0, f32::max);
    assert!(farthest < 0.02, "the rider is drawn {farthest} m from its place on the platform");
}

/// Asserts that the server confirmed what a client's screen showed of its shots, and nothing else.
fn assert_resolved_as_drawn(game: &SteppedApps, client: usize) {
    let world = game.clients[client].world();
    let now = world.resource::<CurrentTick>().0;
    let (mut hits, mut misses) = (0, 0);
    for (shot, (drawn, result)) in &world.resource::<Shots>().0 {
        // The verdicts of the last shots are under way.
        let Some(drawn) = drawn.filter(|_| now.since(*shot) > 64) else { continue };
        let is_hit = matches!(result, Some(ShotResult::Hit(_)));
        assert_eq!(drawn, is_hit, "{shot:?}: {result:?}");
        *(if drawn { &mut hits } else { &mut misses }) += 1;
    }
    assert!(hits >= 12, "{hits} hits and {misses} misses");
}

#[test]
fn rider_of_a_called_lift_is_predicted_and_drawn_on_it() {
    let mut game = start(2, link(150, 0.05));
    game.clients[1].world_mut().resource_mut::<Screen>().0.clear();
    // The last but one is interrupted.
    for (up, wait) in [(true, 4.0), (false, 4.0), (true, 1.3), (false, 4.0)] {
        call(&mut game, up);
        game.run(seconds(wait));
        if wait > 3.0 {
            let height = if up { TOP } else { BOTTOM };
            for app in game.apps_mut() {
                assert_eq!(drawn_height(app), height);
            }
            let rider = state(&mut game.clients[0], RIDER).body;
            assert!((rider.position.y - height - 0.1 - 0.022).abs() < 0.01, "{rider:?}");
        } else {
            let height = drawn_height(&mut game.server);
            assert!((0.3..TOP - 0.3).contains(&height), "the lift is under way: {height}");
        }
    }
    assert_predicted(&mut game);
    assert_drawn_in_place(&mut game, 1, 1_000);
}

#[test]
fn shots_at_the_rider_of_a_called_lift_are_confirmed() {
    let mut game = SteppedApps::new(server());
    join(&mut game, client(), link(150, 0.05));
    game.run(seconds(2.0));
    let mut shooter = client();
    add_shooting(&mut shooter);
    join(&mut game, shooter, link(150, 0.05));
    game.run(seconds(2.0));
    game.clients[1].world_mut().resource_mut::<Shots>().0.clear();
    for up in [true, false, true, false] {
        call(&mut game, up);
        game.run(seconds(3.0));
    }
    assert_resolved_as_drawn(&game, 1);
}

#[test]
fn character_of_the_server_is_drawn_and_shot_on_a_called_lift() {
    let mut game = SteppedApps::new(server_with_npc_rider());
    let mut shooter = client();
    add_shooting(&mut shooter);
    join(&mut game, shooter, link(150, 0.05));
    game.run(seconds(3.0));
    assert_eq!(state(&mut game.server, RIDER).body.base, LIFT);
    game.clients[0].world_mut().resource_mut::<Screen>().0.clear();
    game.clients[0].world_mut().resource_mut::<Shots>().0.clear();
    for (up, height) in [(true, TOP), (false, BOTTOM), (true, TOP), (false, BOTTOM)] {
        call(&mut game, up);
        game.run(seconds(3.0));
        let feet = state(&mut game.server, RIDER).body.position.y;
        assert!((feet - height - 0.1 - 0.022).abs() < 0.01, "{feet} m on a lift at {height} m");
    }
    assert_drawn_in_place(&mut game, 0, 1_000);
    assert_resolved_as_drawn(&game, 0);
}

#[test]
fn lead_spares_riders_on_links_that_have_become_slower_a_correction() {
    for (max_lead, is_corrected) in [(250, false), (0, true)] {
        let mut game = start(1, link(20, 0.0));
        game.server.insert_resource(BaseScheduleConfig { max_lead: Duration::from_millis(max_lead) });
        game.set_conditions(link(300, 0.0));
        game.run(seconds(6.0));
        let before = corrections(&mut game);
        call(&mut game, true);
        game.run(seconds(5.0));
        let after = corrections(&mut game);
        assert_eq!(after > before, is_corrected, "lead {max_lead} ms: {} corrections", after - before);
        let [mine, theirs] =
            [&mut game.clients[0], &mut game.server].map(|app| state(app, RIDER).body.position);
        assert!(mine.distance(theirs) < 0.01 && mine.y > TOP, "{mine} and {theirs}");
    }
}

#[test]
fn late_joiner_has_the_lift_where_the_server_has_it() {
    let conditions = link(150, 0.05);
    let mut game = start(1, conditions);
    call(&mut game, true);
    // In the middle of a ride, and after it.
    for wait in [1.0, 4.0] {
        game.run(seconds(wait));
        let late = join(&mut game, client(), conditions);
        game.run(seconds(2.0));
        let now = f64::from(game.server.world().resource::<CurrentTick>().0.0) / 64.0;
        let [server, client] = [lift(&mut game.server), lift(&mut game.clients[late])];
        for step in 0..600 {
            let moment = now - 5.0 + f64::from(step) * 0.01;
            assert_eq!(client.track.pose(moment), server.track.pose(moment), "{step} steps");
        }
    }
    for app in game.apps_mut() {
        assert_eq!(drawn_height(app), TOP);
    }
}

#[test]
fn restarted_match_begins_with_the_lift_at_home() {
    let mut game = start(2, link(100, 0.05));
    call(&mut game, true);
    game.run(seconds(2.0));
    game.server.world_mut().trigger(RestartMatch);
    game.run(seconds(2.0));
    for app in game.apps_mut() {
        assert_eq!(drawn_height(app), BOTTOM);
    }
    call(&mut game, true);
    game.run(seconds(4.0));
    for app in game.apps_mut() {
        assert_eq!(drawn_height(app), TOP);
    }
}
