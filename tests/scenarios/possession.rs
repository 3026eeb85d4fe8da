//! Possession: players change pawns without a reconnect and without corrections.

mod controlling_player;
mod departures;
mod host;
mod motion;
mod owned;
mod refusals;

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    HostSoldierPawn,
    link_conditioner::LinkConditions,
    movement::{KartModel, KartState},
    net::Possessed,
    prelude::*,
};
use bevy_unlag_testkit::{SteppedApps, TracePlugin, headless_app};

fn characters() -> Characters {
    Characters::of::<Soldier>().with::<KartModel>()
}

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(400.0, 0.5, 400.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    // A slope on which a kart rolls.
    let slope = Transform::from_xyz(0.0, 0.0, -60.0).with_rotation(Quat::from_rotation_x(0.15));
    commands.spawn((Collider::cuboid(60.0, 0.5, 40.0), slope));
}

/// The pawns of the player, and what the server has reported.
#[derive(Resource, Default)]
struct Pawns {
    link: Option<Entity>,
    soldier: Option<Entity>,
    kart: Option<Entity>,
    possessed: Vec<Option<Entity>>,
}

fn server() -> App {
    let mut server = headless_app();
    server
        .add_plugins((UnlagServerPlugins { characters: characters(), ..default() }, TracePlugin))
        .init_resource::<Pawns>()
        .add_systems(Startup, level)
        .add_observer(|joined: On<PlayerJoined>, mut pawns: ResMut<Pawns>, mut commands: Commands| {
            let owner = player_pawn(joined.link, joined.peer);
            let soldier = (CharacterPawn::<Soldier>::default(), Transform::from_xyz(0.0, 0.1, 0.0), owner);
            pawns.link = Some(joined.link);
            pawns.soldier = Some(commands.spawn(soldier).id());
            let kart = (NpcPawn::<KartModel>::default(), Transform::from_xyz(6.0, 0.1, 0.0));
            pawns.kart = Some(commands.spawn(kart).id());
        })
        .add_observer(|done: On<Possessed>, mut pawns: ResMut<Pawns>| pawns.possessed.push(done.pawn));
    server
}

/// A client that walks or drives forwards and turns.
fn client() -> App {
    let mut client = headless_app();
    client
        .add_plugins((
            UnlagClientPlugins { characters: characters(), ..default() },
            PlayerControlsPlugin::default(),
            TracePlugin,
        ))
        .add_systems(Startup, level)
        .add_systems(PreUpdate, |time: Res<Time>, mut own: Query<&mut InputAccumulator>| {
            let turn = (time.elapsed_secs() * 0.7).sin();
            own.iter_mut().for_each(|mut input| input.axes(Vec2::new(turn, 1.0)));
        });
    client
}

fn start(round_trip: u64, loss: f32) -> SteppedApps {
    let mut game = SteppedApps::new(server());
    let latency = Duration::from_millis(round_trip / 2);
    let mut sim = NetSim::new(7);
    sim.set(LinkConditions { latency, loss, ..default() });
    game.join_over(client(), sim).expect("the client joins");
    game.run(Duration::from_secs(2));
    game
}

fn possess(game: &mut SteppedApps, which: impl Fn(&Pawns) -> Option<Entity>) {
    let world = game.server.world_mut();
    let pawns = world.resource::<Pawns>();
    let (link, pawn) = (pawns.link.expect("a player has joined"), which(pawns));
    world.trigger(Possess { link, pawn });
    world.flush();
}

fn own(game: &mut SteppedApps) -> Option<NetId> {
    let world = game.clients[0].world_mut();
    world.query_filtered::<&NetId, With<LocalControl>>().iter(world).next().copied()
}

fn id(game: &SteppedApps, which: impl Fn(&Pawns) -> Option<Entity>) -> NetId {
    let world = game.server.world();
    let pawn = which(world.resource::<Pawns>()).expect("the pawn is spawned");
    *world.get::<NetId>(pawn).expect("the pawn has an id")
}

fn corrections(game: &mut SteppedApps) -> u64 {
    let world = game.clients[0].world_mut();
    world.query::<&PredictionStats>().iter(world).map(|stats| stats.corrections).sum()
}

#[test]
fn switching_between_soldier_and_kart_causes_no_correction() {
    let mut game = start(150, 0.05);
    let (soldier, kart) = (id(&game, |pawns| pawns.soldier), id(&game, |pawns| pawns.kart));
    assert_eq!(own(&mut game), Some(soldier));
    for round in 0..20u64 {
        possess(&mut game, |pawns| pawns.kart);
        game.run(Duration::from_millis(700 + 13 * round));
        assert_eq!(own(&mut game), Some(kart), "round {round}");
        possess(&mut game, |pawns| pawns.soldier);
        game.run(Duration::from_millis(700 + 17 * round));
        assert_eq!(own(&mut game), Some(soldier), "round {round}");
    }
    assert_eq!(corrections(&mut game), 0);
    assert_eq!(game.server.world().resource::<Pawns>().possessed.len(), 40);
}

#[test]
fn spectator_controls_nothing_until_the_server_gives_a_pawn() {
    let mut game = start(100, 0.0);
    possess(&mut game, |_| None);
    game.run(Duration::from_secs(1));
    assert_eq!(own(&mut game), None);
    let kart = id(&game, |pawns| pawns.kart);
    possess(&mut game, |pawns| pawns.kart);
    game.run(Duration::from_secs(1));
    assert_eq!(own(&mut game), Some(kart));
    let world = game.server.world_mut();
    let at = world.query::<&KartState>().iter(world).next().map(MoveModelPosition::at);
    game.run(Duration::from_secs(2));
    let world = game.server.world_mut();
    let later = world.query::<&KartState>().iter(world).next().map(MoveModelPosition::at);
    assert!(at.zip(later).is_some_and(|(at, later)| at.distance(later) > 2.0), "the kart does not obey");
}

#[test]
fn player_whose_new_pawn_disappears_becomes_a_spectator_and_can_come_back() {
    for delay in [0, 40, 120, 400] {
        let mut game = start(150, 0.05);
        possess(&mut game, |pawns| pawns.kart);
        game.run(Duration::from_millis(delay));
        let world = game.server.world_mut();
        let kart = world.resource::<Pawns>().kart.expect("the kart is spawned");
        world.despawn(kart);
        game.run(Duration::from_secs(1));
        assert_eq!(own(&mut game), None, "after {delay} ms");
        possess(&mut game, |pawns| pawns.soldier);
        game.run(Duration::from_secs(1));
        let soldier = id(&game, |pawns| pawns.soldier);
        assert_eq!(own(&mut game), Some(soldier), "after {delay} ms");
    }
}

/// Position of a kart.
trait MoveModelPosition {
    fn at(&self) -> Vec3;
}

impl MoveModelPosition for KartState {
    fn at(&self) -> Vec3 {
        KartModel::position(self)
    }
}
