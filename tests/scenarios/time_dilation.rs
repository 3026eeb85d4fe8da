//! Pawns whose own time runs slower or faster than the others', over the link of the other scenarios: 150 ms, 2 % loss.

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    core::{DrawnViewTime, ExtendedEvent, StepEvent, Tick, TimeDilation, ViewTime},
    prelude::*,
    rewind::RewindMode,
    smoothing::PublishedPath,
    weapons::{Ammo, NotFired, ShotResult, WeaponEvent},
};
use bevy_unlag_testkit::{SteppedApps, TracePlugin, headless_app, traces};

use crate::{link_150, own_id, seconds, state, stats};

/// Ticks between two rounds of the rifle at a rate of 1.
const INTERVAL: u32 = 8;
/// Speed of a running pawn in its own time, in metres per second.
const RUN: f32 = 6.0;

fn level(app: &mut App) {
    let rifle = Weapon {
        interval: INTERVAL as f32 / 64.0,
        ammo: Ammo { magazine: 0, ..Ammo::default() },
        ..Weapon::rifle()
    };
    app.insert_resource(Arsenal::new(vec![rifle]).expect("a valid weapon"))
        .insert_resource(PredictionConfig { push_lead: 0.25, ..PredictionConfig::default() })
        .init_resource::<Log>()
        .add_plugins(TracePlugin)
        .add_systems(Last, record)
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
        });
}

/// Messages of an app, and what the server has published.
#[derive(Resource, Default)]
struct Log {
    fired: Vec<ShotFired>,
    verdicts: Vec<ShotVerdict>,
    /// Pawns and reasons of shots that a step has refused.
    not_fired: Vec<(NetId, NotFired)>,
    /// Pawns of shots that a step has fired, with the tick.
    rounds: Vec<(NetId, Tick)>,
    /// On the server: where each pawn was in each tick.
    paths: BTreeMap<(u16, u32), Vec3>,
    /// On clients: view time and pose of each remote pawn in each frame.
    drawn: Vec<(NetId, ViewTime, Vec3)>,
}

fn record(
    mut log: ResMut<Log>,
    (tick, view): (Option<Res<CurrentTick>>, Option<Res<DrawnViewTime>>),
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut steps: MessageReader<StepEvent<Soldier>>,
    ids: Query<&NetId>,
    paths: Query<(&NetId, &PublishedPath)>,
    drawn: Query<(&NetId, &DrawnPose), Without<LocalControl>>,
) {
    log.fired.extend(fired.read().cloned());
    log.verdicts.extend(verdicts.read());
    for step in steps.read() {
        let ExtendedEvent::Extension(event) = step.event else { continue };
        let Ok(id) = ids.get(step.entity) else { continue };
        match event {
            WeaponEvent::Fired(_) => log.rounds.push((*id, step.tick)),
            WeaponEvent::NotFired { why, .. } => log.not_fired.push((*id, why)),
            _ => {}
        }
    }
    if let Some(tick) = tick {
        let places = paths.iter().filter_map(|(id, path)| Some((id.0, path.present()?.position)));
        log.paths.extend(places.map(|(id, place)| ((id, tick.0.0), place)));
    }
    if let Some(time) = view.and_then(|view| view.0) {
        log.drawn.extend(drawn.iter().map(|(id, drawn)| (*id, time, drawn.pose.position)));
    }
}

/// Places of the pawns, in the order in which their players join.
#[derive(Resource)]
struct Places(Vec<Vec3>);

fn spawn_pawn(joined: On<PlayerJoined>, places: Res<Places>, mut number: Local<u16>, mut commands: Commands) {
    let place = Transform::from_translation(places.0[usize::from(*number)]);
    *number += 1;
    commands.spawn((SoldierPawn, NetId(*number), place, player_pawn(joined.link, joined.peer)));
}

/// A server and clients; client `i` controls `NetId(i + 1)` with `scripts[i]`.
fn start(places: &[Vec3], scripts: &[fn(&mut App)], rewind: RewindMode) -> SteppedApps {
    let mut server = headless_app();
    server
        .add_plugins((UnlagServerPlugins::default(), level))
        .insert_resource(RewindLimits { mode: rewind, ..RewindLimits::default() })
        .insert_resource(Places(places.to_vec()))
        .add_observer(spawn_pawn);
    let mut game = SteppedApps::new(server);
    for script in scripts {
        let mut client = headless_app();
        client.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), level, *script));
        let sim = NetSim::new(game.clients.len() as u64 + 40).with(link_150());
        let index = game.join_over(client, sim).expect("a connect token");
        let joined = game.run_until(seconds(10.0), |game| {
            let world = game.clients[index].world_mut();
            world.query_filtered::<(), (With<LocalControl>, With<SoldierState>)>().iter(world).count() == 1
        });
        assert!(joined, "client {index} has no pawn");
    }
    // Clocks and buffers settle.
    game.run(seconds(3.0));
    game
}

fn server_pawn(game: &mut SteppedApps, id: NetId) -> EntityWorldMut<'_> {
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    let pawn = pawns.iter(world).find(|(_, other)| **other == id).map(|(pawn, _)| pawn);
    world.entity_mut(pawn.expect("the pawn"))
}

/// Changes the rate of a pawn as a game does.
fn push_rate(game: &mut SteppedApps, id: NetId, factor: f32) {
    let mut pawn = server_pawn(game, id);
    let mut pushes = pawn.get_mut::<ScheduledPushes<Soldier>>().expect("a pawn of a player");
    pushes.push(CapsulePush::TimeDilation(TimeDilation::new(factor)));
}

fn take_log(app: &mut App) -> Log {
    core::mem::take(&mut *app.world_mut().resource_mut::<Log>())
}

/// Runs straight ahead and fires over the heads.
fn runner(app: &mut App) {
    app.add_systems(PreUpdate, |own: Single<(&mut InputAccumulator, &mut WeaponControls)>| {
        let (mut input, mut trigger) = own.into_inner();
        input.look_along(Vec3::new(0.0, 0.5, -1.0));
        input.axes(Vec2::Y);
        trigger.set_fire(true);
    });
}

fn runners(count: usize) -> SteppedApps {
    let places: Vec<_> = (0..count).map(|lane| Vec3::new(lane as f32 * 5.0, 0.05, 190.0)).collect();
    start(&places, &vec![runner as fn(&mut App); count], RewindMode::On)
}

/// Largest distance between the owner's first result of a move and the server's, in metres.
fn owner_error(game: &mut SteppedApps, client: usize) -> f32 {
    let id = own_id(&mut game.clients[client]);
    let owner = traces(&mut game.clients[client]).remove(&id).unwrap_or_default();
    let server: BTreeMap<u32, Vec3> = traces(&mut game.server)
        .remove(&id)
        .unwrap_or_default()
        .into_iter()
        .map(|(tick, place)| (tick.0, place))
        .collect();
    let both = owner.iter().filter_map(|(tick, place)| Some(place.distance(*server.get(&tick.0)?)));
    both.fold(0.0, f32::max)
}

/// Distance that a client's pawn has covered in `time` seconds on its own machine and on the server.
fn distances(game: &mut SteppedApps, client: usize, time: f64) -> [f32; 2] {
    let id = own_id(&mut game.clients[client]);
    let at = |game: &mut SteppedApps| {
        let SteppedApps { server, clients, .. } = game;
        [&mut clients[client], server].map(|app| state(app, id).body.position)
    };
    let before = at(game);
    game.run(seconds(time));
    let after = at(game);
    [0, 1].map(|side| before[side].distance(after[side]))
}

#[test]
fn speed_and_fire_rate_are_proportional_on_owner_and_server_without_a_correction() {
    let factors = [0.1, 0.5, 1.0, 2.0, 4.0];
    let mut game = runners(factors.len());
    for (id, factor) in (1..).zip(factors) {
        push_rate(&mut game, NetId(id), factor);
    }
    // The order takes a quarter of a second.
    game.run(seconds(1.0));
    game.apps_mut().for_each(|app| drop(take_log(app)));
    let before: Vec<Vec3> = (1..=5).map(|id| state(&mut game.server, NetId(id)).body.position).collect();
    let first = distances(&mut game, 0, 4.0);
    println!("the slowest: {first:?} m");
    let server_log = take_log(&mut game.server);
    for (client, factor) in factors.into_iter().enumerate() {
        let id = NetId(client as u16 + 1);
        let place = state(&mut game.server, id).body.position;
        let moved = place.distance(before[client]);
        let expected = RUN * factor * 4.0;
        // A server runs the moves as they arrive.
        assert!(
            (moved - expected).abs() < 0.03 * expected + 0.1 * factor,
            "{factor}: {moved} of {expected} m"
        );
        let log = take_log(&mut game.clients[client]);
        let expected = 4.0 * 64.0 / INTERVAL as f32 * factor;
        let counts =
            [log.fired.len(), server_log.rounds.iter().filter(|(shooter, _)| *shooter == id).count()];
        println!("{factor}: {moved:.2} m, {counts:?} rounds of {expected}");
        for count in counts {
            assert!(
                (count as f32 - expected).abs() <= 2.0 + 0.03 * expected,
                "{factor}: {count} of {expected}"
            );
        }
        let stats = stats(&mut game.clients[client]);
        assert_eq!((stats.corrections, stats.late_pushes, stats.server_changes()), (0, 0, 0), "{stats:?}");
        let error = owner_error(&mut game, client);
        assert!(error < 1e-4, "{factor}: the owner was {error} m off");
    }
    assert_eq!(server_log.not_fired, []);
    assert!((first[0] - RUN * 0.4).abs() < 0.05 && (first[0] - first[1]).abs() < 0.05, "{first:?}");
}

/// The control: a change of the state beside the moves reaches the owner late.
#[test]
fn rate_written_into_the_state_reaches_the_owner_late() {
    let mut game = runners(1);
    let mut pawn = server_pawn(&mut game, NetId(1));
    let mut changed = pawn.get_mut::<SoldierState>().expect("a soldier");
    changed.body.time_dilation = TimeDilation::new(0.5);
    game.run(seconds(1.0));
    let (stats, error) = (stats(&mut game.clients[0]), owner_error(&mut game, 0));
    assert!(stats.server_changes() > 0 && error > 0.2, "{error} m: {stats:?}");
}

/// Hastens its own pawn without the server.
fn cheat(app: &mut App) {
    app.add_plugins(runner).add_systems(
        FixedUpdate,
        (|mut own: Single<&mut SoldierState, With<LocalControl>>| {
            own.body.time_dilation = TimeDilation::new(4.0);
        })
        .in_set(MoveSystems::Sample),
    );
}

#[test]
fn client_that_hastens_itself_gains_neither_shots_nor_distance() {
    let mut game = start(&[Vec3::new(0.0, 0.05, 190.0)], &[cheat], RewindMode::On);
    game.apps_mut().for_each(|app| drop(take_log(app)));
    let [_, moved] = distances(&mut game, 0, 4.0);
    let (server, client) = (take_log(&mut game.server), take_log(&mut game.clients[0]));
    let (honest, asked) = (4 * 64 / INTERVAL as usize, client.fired.len());
    println!("{} of {asked} rounds, {moved} m", server.rounds.len());
    assert!(asked > 2 * honest, "the cheat fires only {asked} rounds: the test shows nothing");
    assert!(server.rounds.len() <= honest + 2, "{} of {asked} rounds", server.rounds.len());
    assert!(server.not_fired.iter().any(|(_, why)| *why == NotFired::TooSoon), "{:?}", server.not_fired);
    assert!(moved < RUN * 4.0 * 1.05, "{moved} m");
}

/// Fires at the two targets in turn, a second each, where its screen shows them.
fn shooter(app: &mut App) {
    app.add_systems(
        PreUpdate,
        |time: Res<Time>,
         own: Single<(&DrawnPose, &mut InputAccumulator, &mut WeaponControls), With<LocalControl>>,
         others: Query<(&NetId, &DrawnPose), Without<LocalControl>>| {
            let (drawn, mut input, mut trigger) = own.into_inner();
            let wanted = NetId(3 + time.elapsed_secs() as u16 % 2);
            let Some((_, target)) = others.iter().find(|(id, _)| **id == wanted) else { return };
            let eye = drawn.pose.position + Vec3::Y * 1.64;
            input.look_along(target.pose.position + Vec3::Y * 1.1 - eye);
            input.axes(if time.elapsed_secs() % 1.6 < 0.8 { Vec2::X } else { Vec2::NEG_X });
            trigger.set_fire(true);
        },
    );
}

/// Runs to and fro in front of the shooters, and jumps.
fn target(app: &mut App) {
    app.add_systems(PreUpdate, |time: Res<Time>, mut input: Single<&mut InputAccumulator>| {
        let now = time.elapsed_secs();
        input.axes(if now % 1.4 < 0.7 { Vec2::X } else { Vec2::NEG_X });
        input.jump(now % 2.3 < 0.1);
    });
}

/// Shots that hit on the screen, and of those the ones that the server has confirmed. The verdicts on the shots of
/// the last half second are under way.
fn agreement(log: &Log) -> (usize, usize) {
    let last = log.fired.last().map(|shot| shot.round.shot.offset(-32)).unwrap_or_default();
    let due = log.fired.iter().filter(|shot| last.is_newer_than(shot.round.shot));
    let drawn = due.filter(|shot| shot.drawn().is_some());
    let confirmed = drawn.clone().filter(|shot| {
        let found = log.verdicts.iter().find(|verdict| verdict.shot == shot.round.shot);
        found.is_some_and(|verdict| matches!(verdict.result, ShotResult::Hit(_)))
    });
    (drawn.count(), confirmed.count())
}

/// A slowed and a hastened shooter, a slowed and a hastened target.
const RATES: [f32; 4] = [0.5, 2.0, 0.3, 2.0];

fn fight(rewind: RewindMode) -> SteppedApps {
    let places = [(-3.0, 0.0), (3.0, 0.0), (-4.0, -14.0), (4.0, -14.0)];
    let places = places.map(|(x, z)| Vec3::new(x, 0.05, z));
    let mut game = start(&places, &[shooter, shooter, target, target], rewind);
    for (id, rate) in (1..).zip(RATES) {
        push_rate(&mut game, NetId(id), rate);
    }
    game.run(seconds(1.0));
    game.apps_mut().for_each(|app| drop(take_log(app)));
    game.run(seconds(30.0));
    game
}

/// Distances of what a client drew of a pawn from where the server had it at the time shown, in metres, sorted.
fn drawn_errors(client: &Log, server: &Log, id: NetId) -> Vec<f32> {
    let at = |tick: Tick| server.paths.get(&(id.0, tick.0)).copied();
    let mut errors: Vec<f32> = client
        .drawn
        .iter()
        .filter(|(drawn, ..)| *drawn == id)
        .filter_map(|(_, time, place)| {
            let (from, to) = (at(time.tick)?, at(time.tick.offset(1))?);
            let true_place = from.lerp(to, time.ticks_since(time.tick));
            Some(place.distance(true_place))
        })
        .collect();
    errors.sort_by(f32::total_cmp);
    errors
}

#[test]
fn shots_of_and_at_slowed_and_hastened_pawns_are_resolved_as_drawn() {
    let mut game = fight(RewindMode::On);
    let server = take_log(&mut game.server);
    let (mut drawn, mut confirmed) = (0, 0);
    for (client, rate) in RATES.into_iter().enumerate() {
        let log = take_log(&mut game.clients[client]);
        let stats = stats(&mut game.clients[client]);
        assert_eq!((stats.corrections, stats.late_pushes, stats.server_changes()), (0, 0, 0), "{stats:?}");
        let error = owner_error(&mut game, client);
        assert!(error < 1e-4, "client {client}: the owner was {error} m off");
        for id in [NetId(3), NetId(4)].into_iter().filter(|id| id.0 != client as u16 + 1) {
            let errors = drawn_errors(&log, &server, id);
            let worst = errors[errors.len() * 99 / 100];
            println!("client {client} draws {id:?} {:.1} mm off, of {}", worst * 1e3, errors.len());
            assert!(errors.len() > 1_000 && worst < 0.03, "client {client}, {id:?}: {worst} m");
        }
        if client < 2 {
            let (hits, agreed) = agreement(&log);
            let (rounds, expected) = (log.fired.len() as f32, 30.0 * 64.0 / INTERVAL as f32 * rate);
            println!("shooter {client}: {agreed} of {hits} hits, {rounds} rounds of {expected}");
            assert!((rounds - expected).abs() < 0.03 * expected, "{rounds} rounds of {expected}");
            (drawn, confirmed) = (drawn + hits, confirmed + agreed);
        }
    }
    assert_eq!(server.not_fired, []);
    assert!(drawn > 300 && confirmed * 100 >= drawn * 99, "{confirmed} of {drawn}");
}

/// The control: tested against the present, almost half of the hits on these targets are none.
#[test]
fn shots_at_hastened_pawns_miss_without_rewind() {
    let mut game = fight(RewindMode::Off);
    let mut sums = (0, 0);
    for client in &mut game.clients[..2] {
        let (drawn, confirmed) = agreement(&take_log(client));
        sums = (sums.0 + drawn, sums.1 + confirmed);
    }
    assert!(sums.0 > 300 && sums.1 * 10 < sums.0 * 7, "{} of {}", sums.1, sums.0);
}
