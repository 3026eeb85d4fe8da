//! A new round on a running server: everybody starts over, and nothing of the old round is left.

use unlag_recipes::{component, floor, play, position, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    net::{MatchRestarted, RestartMatch},
    prelude::*,
    weapons::{HealthPlugin, Respawn},
};

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, floor, soldiers))
        .insert_resource(RoundTimer(Timer::from_seconds(3.0, TimerMode::Repeating)))
        .add_systems(Update, end_round)
        .add_observer(place_players);
}

#[derive(Resource)]
struct RoundTimer(Timer);

/// Moves and shots that are under way are dropped, and no shot is rewound into the old round.
fn end_round(time: Res<Time>, mut timer: ResMut<RoundTimer>, mut commands: Commands) {
    if timer.0.tick(time.delta()).just_finished() {
        commands.trigger(RestartMatch);
    }
}

/// At the start of the round, on the server. `Respawn` restores the health.
fn place_players(
    _: On<MatchRestarted>,
    mut soldiers: Query<(Entity, &NetId, &mut SoldierState, &mut Loadout)>,
    mut respawns: MessageWriter<Respawn>,
) {
    for (pawn, id, mut state, mut loadout) in &mut soldiers {
        state.body.alive = true;
        state.body.teleport_to(Vec3::new(10.0 * f32::from(id.0), 0.1, 50.0));
        loadout.set_changed();
        respawns.write(Respawn { pawn });
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .add_systems(Update, leave_marks)
        .add_observer(clean_up);
}

/// A bullet hole.
#[derive(Component)]
struct Decal;

fn leave_marks(mut shots: MessageReader<ShotFired>, mut commands: Commands) {
    for ray in shots.read().flat_map(|shot| &shot.rays).filter(|ray| ray.drawn.is_none()) {
        commands.spawn((Decal, Transform::from_translation(ray.to)));
    }
}

/// On every client, when the announcement arrives.
fn clean_up(_: On<MatchRestarted>, decals: Query<Entity, With<Decal>>, mut commands: Commands) {
    decals.iter().for_each(|decal| commands.entity(decal).despawn());
}
// ANCHOR_END: game

/// Fires into the floor in its third second.
fn shooter(app: &mut App) {
    app.add_plugins(client);
    unlag_recipes::fire_along(app, Vec3::new(0.5, -1.0, 0.0), |seconds| seconds < 2.0);
}

fn decals(client: &mut App) -> usize {
    let world = client.world_mut();
    world.query::<&Decal>().iter(world).count()
}

#[test]
fn round_begins_at_the_start_with_full_health_and_without_marks() {
    play(server, &[shooter, client], |game| {
        assert!(decals(&mut game.clients[0]) > 3);
        let world = game.server.world_mut();
        let soldiers: Vec<_> = world.query_filtered::<Entity, With<SoldierPawn>>().iter(world).collect();
        for target in soldiers {
            world.write_message(bevy_unlag::weapons::Hazard { target, amount: 60.0, cause: 1 });
        }
        game.run(2.5);
        assert_eq!(decals(&mut game.clients[0]), 0);
        for app in game.apps_mut() {
            for id in [NetId(1), NetId(2)] {
                let start = Vec3::new(10.0 * f32::from(id.0), 0.0, 50.0);
                assert!(position(app, id).distance(start) < 0.2, "{}", position(app, id));
                assert_eq!(component::<Health>(app, id), Some(Health::full(100.0)));
            }
        }
    });
}
