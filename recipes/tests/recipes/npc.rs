//! An AI character: it walks up to the nearest player and fires.

use unlag_recipes::{component, floor, play, position, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{prelude::*, weapons::HealthPlugin};

const GUARD: NetId = NetId(100);

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, floor, soldiers))
        .add_systems(Startup, spawn_guard)
        .add_systems(FixedUpdate, think.before(MoveSystems::Sample));
}

fn spawn_guard(mut commands: Commands) {
    let place = Transform::from_xyz(0.0, 0.1, -20.0);
    // The controls are those of a player: axes, view and buttons, and a trigger.
    let controls = (NpcControls::default(), WeaponControls::default());
    commands.spawn((NpcPawn::<Soldier>::default(), GUARD, place, controls));
}

fn think(
    tick: Res<CurrentTick>,
    guard: Single<(&SoldierState, &mut NpcControls, &mut WeaponControls)>,
    players: Query<&SoldierState, Without<NpcControls>>,
) {
    let (own, mut controls, mut trigger) = guard.into_inner();
    let way = |player: &SoldierState| Soldier::position(player) - Soldier::position(own);
    let nearest = players.iter().map(way).min_by(|a, b| a.length().total_cmp(&b.length()));
    let Some(way) = nearest else { return };
    controls.0.look_along(way);
    controls.0.set_axes(if way.length() > 8.0 { Vec2::Y } else { Vec2::ZERO });
    // One pull in a quarter of a second.
    trigger.set_fire(way.length() < 12.0 && tick.0.0.is_multiple_of(16));
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}
// ANCHOR_END: game

#[test]
fn guard_walks_up_to_the_player_and_hits_it() {
    play(server, &[client], |game| {
        game.run(2.5);
        // It has spawned 20 m away, and stops at 8 m.
        for app in [&mut game.server, &mut game.clients[0]] {
            let distance = position(app, GUARD).distance(position(app, NetId(1)));
            assert!((7.0..8.5).contains(&distance), "{distance} m");
        }
        let health = component::<Health>(&mut game.server, NetId(1)).expect("a soldier with health");
        assert!(health.current < 70.0, "{health:?}");
    });
}
