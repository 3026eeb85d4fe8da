//! Pawns that a client's player cannot see are concealed from it, and nothing else changes.

use core::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    core::{SnapshotHistory, Tick},
    link_conditioner::LinkConditions,
    net::{
        AlwaysInSight, HiddenPawns, InterestConfig, InterestPlugin, InterestRule, InterestStats,
        SeesEverything, SightVerdict,
    },
    prelude::*,
    smoothing::OutOfSight,
};
use bevy_unlag_testkit::{SteppedApps, headless_app};
use unlag_examples::{
    arena,
    stepped_match::{Match, MatchOptions},
};

/// Links of the players in the order of joining.
#[derive(Resource, Default)]
struct Links(Vec<Entity>);

/// Places of the players: one on each side of the wall.
const PLACES: [Vec3; 2] = [Vec3::new(0.0, 0.1, 8.0), Vec3::new(0.0, 0.1, -8.0)];
/// A place beside the first player.
const IN_SIGHT: Vec3 = Vec3::new(4.0, 0.1, 6.0);

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    commands.spawn((Wall, Collider::cuboid(15.0, 2.5, 0.3), Transform::from_xyz(0.0, 2.5, 0.0)));
}

/// The wall between the players.
#[derive(Component)]
struct Wall;

/// Starts a match of two players on either side of the wall, and lets the server learn the level.
fn play(interest: bool) -> SteppedApps {
    let mut server = headless_app();
    server.add_plugins(UnlagServerPlugins::default());
    if interest {
        server.add_plugins(InterestPlugin::default());
    }
    server.init_resource::<Links>().add_systems(Startup, level).add_observer(
        |joined: On<PlayerJoined>, mut links: ResMut<Links>, mut commands: Commands| {
            let place = Transform::from_translation(PLACES[links.0.len() % 2]);
            links.0.push(joined.link);
            let id = NetId(links.0.len() as u16);
            commands.spawn((SoldierPawn, id, place, player_pawn(joined.link, joined.peer)));
        },
    );
    let mut game = SteppedApps::new(server);
    for seed in 0..2 {
        let mut client = headless_app();
        client
            .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
            .add_systems(Startup, level);
        let latency = Duration::from_millis(50);
        let conditions = LinkConditions { latency, ..LinkConditions::PERFECT };
        game.join_over(client, NetSim::new(seed).with(conditions)).expect("a connect token");
    }
    game.run(Duration::from_secs(4));
    game
}

/// The second player's pawn on the first player's screen: its drawn pose, and the tick of its newest snapshot.
fn on_screen(game: &mut SteppedApps) -> (DrawnPose, Tick) {
    let world = game.clients[0].world_mut();
    let mut pawns = world.query::<(&NetId, &DrawnPose, &SnapshotHistory)>();
    let (_, drawn, history) =
        pawns.iter(world).find(|(id, ..)| id.0 == 2).expect("the pawn exists on the client");
    (*drawn, history.newest().map_or(Tick(0), |newest| newest.tick))
}

fn pawn(game: &mut SteppedApps, id: u16) -> Entity {
    let world = game.server.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    pawns.iter(world).find(|(_, other)| other.0 == id).expect("the pawn").0
}

fn teleport(game: &mut SteppedApps, id: u16, place: Vec3) {
    let pawn = pawn(game, id);
    let mut state = game.server.world_mut().get_mut::<SoldierState>(pawn).expect("its state");
    state.body.teleport_to(place);
}

fn is_hidden(game: &mut SteppedApps) -> bool {
    let pawn = pawn(game, 2);
    let link = game.server.world().resource::<Links>().0[0];
    game.server.world().get::<HiddenPawns>(link).is_some_and(|hidden| hidden.contains(pawn))
}

#[test]
fn pawn_behind_a_wall_is_concealed_and_shown_when_it_comes_into_sight() {
    let mut game = play(true);
    assert!(is_hidden(&mut game));
    let (drawn, newest) = on_screen(&mut game);
    assert!(!drawn.pose.alive, "drawn behind the wall");
    game.run(Duration::from_secs(1));
    assert_eq!(on_screen(&mut game).1, newest, "a snapshot of a concealed pawn was sent");

    teleport(&mut game, 2, IN_SIGHT);
    game.run(Duration::from_secs(1));
    let (drawn, _) = on_screen(&mut game);
    assert!(drawn.pose.alive && drawn.pose.position.distance(IN_SIGHT) < 0.2, "{drawn:?}");

    teleport(&mut game, 2, PLACES[1]);
    game.run(Duration::from_secs(1));
    assert!(is_hidden(&mut game) && !on_screen(&mut game).0.pose.alive);
    let world = game.clients[0].world_mut();
    assert_eq!(world.query::<&OutOfSight>().iter(world).count(), 1);

    // Control: without the plugin it is drawn all the time.
    let mut game = play(false);
    assert!(on_screen(&mut game).0.pose.alive);
}

#[test]
fn pawn_is_shown_when_the_wall_disappears() {
    let mut game = play(true);
    assert!(is_hidden(&mut game));
    let world = game.server.world_mut();
    let wall = world.query_filtered::<Entity, With<Wall>>().single(world).expect("one wall");
    world.despawn(wall);
    game.run(Duration::from_secs(2));
    assert!(!is_hidden(&mut game) && on_screen(&mut game).0.pose.alive);
}

#[test]
fn exempt_pawns_and_clients_and_those_of_the_games_rule_are_not_concealed() {
    let mut game = play(true);
    let (pawn, link) = (pawn(&mut game, 2), game.server.world().resource::<Links>().0[0]);
    let shown = |game: &mut SteppedApps| {
        game.run(Duration::from_secs(1));
        !is_hidden(game) && on_screen(game).0.pose.alive
    };
    assert!(!shown(&mut game), "control");
    game.server.world_mut().entity_mut(pawn).insert(AlwaysInSight);
    assert!(shown(&mut game), "exempt pawn");
    game.server.world_mut().entity_mut(pawn).remove::<AlwaysInSight>();
    assert!(!shown(&mut game), "exempt no longer");
    game.server.world_mut().entity_mut(link).insert(SeesEverything);
    assert!(shown(&mut game), "exempt client");
    game.server.world_mut().entity_mut(link).remove::<SeesEverything>();
    game.server.insert_resource(InterestRule::new(move |pair| {
        if pair.pawn == pawn { SightVerdict::Show } else { SightVerdict::ByLevel }
    }));
    assert!(shown(&mut game), "the game's rule");
}

#[test]
fn pawn_that_is_shown_again_is_drawn_from_an_update_interval_before() {
    let mut game = play(true);
    assert!(is_hidden(&mut game));
    let (_, hidden_since) = on_screen(&mut game);
    let pawn = pawn(&mut game, 2);
    game.server.world_mut().entity_mut(pawn).insert(AlwaysInSight);
    let arrives = (0..200).any(|_| {
        game.run(Duration::from_millis(5));
        on_screen(&mut game).1 != hidden_since
    });
    assert!(arrives, "a new snapshot");
    let world = game.clients[0].world_mut();
    let mut histories = world.query::<(&NetId, &SnapshotHistory)>();
    let (_, history) = histories.iter(world).find(|(id, _)| id.0 == 2).expect("the pawn");
    let newest = history.newest().expect("it was sent").tick;
    let new = history.iter().filter(|snapshot| snapshot.tick.is_newer_than(hidden_since));
    let interval = SimulationRate::default().snapshot_ticks as i32;
    assert_eq!(new.map(|snapshot| newest.since(snapshot.tick)).collect::<Vec<_>>(), [interval, 0]);
}

#[test]
fn camera_behind_its_player_sees_around_the_corner() {
    for (eye_radius, hides) in [(0.0, true), (4.0, false)] {
        let mut game = play(true);
        game.server.world_mut().resource_mut::<InterestConfig>().eye_radius = eye_radius;
        teleport(&mut game, 1, Vec3::new(12.5, 0.1, 2.0));
        teleport(&mut game, 2, Vec3::new(12.5, 0.1, -6.0));
        game.run(Duration::from_secs(1));
        assert_eq!(is_hidden(&mut game), hides, "an arm of {eye_radius} m");
    }
}

#[test]
fn pawns_are_shown_while_there_are_too_few_rays() {
    let mut game = play(true);
    assert!(is_hidden(&mut game));
    game.server.world_mut().resource_mut::<InterestConfig>().rays_per_tick = 0;
    game.run(Duration::from_secs(1));
    assert!(!is_hidden(&mut game) && on_screen(&mut game).0.pose.alive);
    assert!(game.server.world().resource::<InterestStats>().tested > 0);
    game.server.world_mut().resource_mut::<InterestConfig>().rays_per_tick = 100;
    game.run(Duration::from_secs(1));
    assert!(is_hidden(&mut game));
}

#[test]
fn shots_at_pawns_that_come_and_go_behind_walls_are_judged_as_drawn() {
    let conditions = LinkConditions {
        latency: Duration::from_millis(70),
        jitter: Duration::from_millis(10),
        loss: 0.02,
        ..LinkConditions::PERFECT
    };
    let options = MatchOptions { players: 6, conditions, seed: 4, ..default() };
    let conceal = |server: &mut App| {
        server.add_plugins(InterestPlugin::default());
    };
    let mut game = Match::start_with(&options, conceal).expect("players");
    game.apps_mut().for_each(|app| arena::spawn_boxes(app, &arena::DIVISIONS));
    game.run(Duration::from_millis(500));
    game.fight(24.0);
    let shots = game.report().total();
    // The server took a shift of a pawn's view time, from before it was hidden, for one that goes on: 9 of 169 missed.
    assert!(shots.drawn > 100 && shots.missed + shots.elsewhere <= 1, "{shots:?}");
}
