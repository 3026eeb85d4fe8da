//! Several characters in one app and one match.

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    Character, CharacterPawn, Characters, NpcControls, NpcPawn, SoldierWith,
    core::{MoveModel, PawnModel},
    link_conditioner::LinkPreset,
    movement::{KartConfig, KartModel, PawnCollision, abilities::Dash},
    prelude::*,
    rewind::Team,
    weapons::WithWeapons,
};
use bevy_unlag_testkit::{SteppedApps, TracePlugin, first_difference, headless_app, traces};

type Dasher = SoldierWith<Dash>;

fn characters() -> Characters {
    Characters::of::<Soldier>().with::<Dasher>().with::<KartModel>()
}

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

fn server(characters: Characters) -> App {
    let mut server = headless_app();
    server
        .add_plugins((UnlagServerPlugins { characters, ..default() }, TracePlugin))
        .add_systems(Startup, level)
        .add_observer(spawn_pawn);
    server
}

/// Spawns another character for each player.
fn spawn_pawn(joined: On<PlayerJoined>, mut number: Local<u16>, mut commands: Commands) {
    *number += 1;
    let place = Transform::from_xyz(f32::from(*number) * 6.0, 0.1, 0.0);
    let mut pawn = commands.spawn((place, player_pawn(joined.link, joined.peer)));
    match *number {
        1 => pawn.insert(SoldierPawn),
        2 => pawn.insert(CharacterPawn::<Dasher>::default()),
        _ => pawn.insert(CharacterPawn::<KartModel>::default()),
    };
}

/// A client that stands still.
fn idle_client(characters: Characters) -> App {
    let mut client = headless_app();
    client
        .add_plugins((
            UnlagClientPlugins { characters, ..default() },
            PlayerControlsPlugin::default(),
            TracePlugin,
        ))
        .add_systems(Startup, level);
    client
}

/// A client that walks or drives forwards.
fn client(characters: Characters) -> App {
    let mut client = idle_client(characters);
    client.add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
        own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
    });
    client
}

fn start(client: fn(Characters) -> App) -> SteppedApps {
    let mut game = SteppedApps::new(server(characters()));
    for _ in 0..3 {
        let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
        game.join(client(characters()), link).expect("the client joins");
    }
    game
}

fn has_model<C: Character>(app: &mut App, id: NetId) -> bool {
    let world = app.world_mut();
    world
        .query::<(&NetId, &PawnModel, Has<HitBoxes>)>()
        .iter(world)
        .any(|(net_id, model, hittable)| *net_id == id && model.is::<C>() && hittable)
}

#[test]
fn three_characters_in_one_match_move_without_corrections() {
    let mut game = start(client);
    game.run(Duration::from_secs(5));
    let server = traces(&mut game.server);
    for (client, id) in game.clients.iter_mut().zip([NetId(1), NetId(2), NetId(3)]) {
        let own = traces(client);
        let way = own[&id].first().zip(own[&id].last()).map_or(0.0, |(a, b)| a.1.distance(b.1));
        assert!(way > 10.0, "{id:?} moved only {way} m");
        assert_eq!(first_difference(&server[&id], &own[&id], 0.001), None, "{id:?}");
    }
}

#[test]
fn every_machine_knows_the_character_of_every_pawn() {
    let mut game = start(client);
    game.run(Duration::from_secs(2));
    for (number, app) in game.apps_mut().enumerate() {
        assert!(has_model::<Soldier>(app, NetId(1)), "app {number}");
        assert!(has_model::<Dasher>(app, NetId(2)), "app {number}");
        assert!(has_model::<KartModel>(app, NetId(3)), "app {number}");
    }
}

#[test]
fn client_with_other_characters_is_refused() {
    let mut game = SteppedApps::new(server(characters()));
    let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
    let other = Characters::of::<Soldier>().with::<KartModel>().with::<Dasher>();
    game.join(client(other), link).expect("the client connects");
    game.run(Duration::from_secs(2));
    let world = game.clients[0].world_mut();
    assert_eq!(world.query::<&PawnModel>().iter(world).count(), 0, "the client plays with other characters");
}

/// Drives a kart with weapons towards a parked one. Returns how far it comes, in metres.
fn drive_at_a_parked_kart(pawns: PawnCollision) -> f32 {
    type ArmedKart = WithWeapons<KartModel>;
    let mut app = server(Characters::of::<ArmedKart>());
    app.insert_resource(KartConfig { pawns, ..default() });
    app.add_systems(Startup, |mut commands: Commands| {
        let controls = NpcControls(CapsuleInput { forward: 127, ..default() });
        let kart = NpcPawn::<ArmedKart>::default();
        commands.spawn((kart, controls, NetId(1_000), Transform::from_xyz(0.0, 0.1, 0.0)));
        let parked = (NpcPawn::<ArmedKart>::default(), NpcControls::default());
        commands.spawn((parked, NetId(1_001), Transform::from_xyz(0.0, 0.1, -10.0)));
    });
    let mut game = SteppedApps::new(app);
    game.run(Duration::from_secs(5));
    let world = game.server.world_mut();
    let mut karts = world.query::<(&NetId, &<ArmedKart as MoveModel>::State)>();
    let (_, state) = karts.iter(world).find(|(id, _)| **id == NetId(1_000)).expect("the kart has a state");
    -ArmedKart::position(state).z
}

#[test]
fn armed_karts_block_each_other_with_block_collision() {
    let blocked = drive_at_a_parked_kart(PawnCollision::Block);
    assert!((5.0..9.5).contains(&blocked), "the kart came {blocked} m far");
    let control = drive_at_a_parked_kart(PawnCollision::Ignore);
    assert!(control > 12.0, "the kart came {control} m far");
}

fn set_team(game: &mut SteppedApps, team: u8) {
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    let pawn = pawns.iter(world).find(|(_, id)| **id == NetId(1)).map(|(pawn, _)| pawn);
    world.entity_mut(pawn.expect("the first pawn is there")).insert(Team(team));
}

fn assert_team(game: &mut SteppedApps, team: u8) {
    for (number, app) in game.apps_mut().enumerate() {
        let world = app.world_mut();
        let known = world.query::<(&NetId, &Team)>().iter(world).find(|(id, _)| **id == NetId(1));
        assert_eq!(known.map(|(_, team)| *team), Some(Team(team)), "app {number}");
    }
}

#[test]
#[ignore = "long: three minutes of play"]
fn team_that_changes_after_three_minutes_changes_on_every_screen() {
    let mut game = start(idle_client);
    game.run(Duration::from_secs(1));
    set_team(&mut game, 1);
    game.run(Duration::from_secs(2));
    assert_team(&mut game, 1);
    // More ticks than a history of updates bridges.
    game.run(Duration::from_secs(170));
    let link = LinkPreset::find("Average (UE)").expect("a built-in preset");
    game.join(idle_client(characters()), link).expect("a fourth client joins");
    game.run(Duration::from_secs(2));
    assert_team(&mut game, 1);
    set_team(&mut game, 2);
    game.run(Duration::from_secs(2));
    assert_team(&mut game, 2);
}
