//! Spawn protection: no damage for the first seconds, and a shield that everybody sees.

use unlag_recipes::{component, fire_along, floor, play};

// ANCHOR: game
use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{
    core::{Interpolate, InterpolationSpan, Wire},
    net::{AddPawnState, OwnPawnState},
    prelude::*,
    weapons::{HealthPlugin, Respawn, RespawnRules, SpawnProtection},
};

/// On a pawn that is protected: a game draws a bubble around it.
#[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
struct Shield;

/// Nothing lies between two shields.
impl Interpolate for Shield {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// On both sides, after the suite's plugins.
fn shields(app: &mut App) {
    app.add_pawn_state::<Shield>(OwnPawnState::Follow);
}

/// `Respawn` protects a pawn, also a new one. By default the protection lasts two seconds, and ends with its first
/// shot.
fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, floor, shields))
        .insert_resource(RespawnRules { protection: Duration::from_secs(3), ..default() })
        .add_observer(spawn)
        .add_observer(|given: On<Add, SpawnProtection>, mut commands: Commands| {
            commands.entity(given.entity).insert(Shield);
        })
        .add_observer(|ended: On<Remove, SpawnProtection>, mut commands: Commands| {
            commands.entity(ended.entity).try_remove::<Shield>();
        });
}

fn spawn(
    joined: On<PlayerJoined>,
    mut players: Local<u16>,
    mut respawns: MessageWriter<Respawn>,
    mut commands: Commands,
) {
    let place = Transform::from_xyz(0.0, 0.1, -8.0 * f32::from(*players));
    *players += 1;
    let owner = player_pawn(joined.link, joined.peer);
    let pawn = commands.spawn((SoldierPawn, NetId(*players), Health::default(), place, owner)).id();
    respawns.write(Respawn { pawn });
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, shields));
}
// ANCHOR_END: game

/// Fires straight ahead, from its first moment on.
fn shooter(app: &mut App) {
    app.add_plugins(client);
    fire_along(app, Vec3::new(0.0, -0.03, -1.0), |_| true);
}

#[test]
fn newcomer_is_unhurt_behind_its_shield_until_it_ends() {
    play(server, &[shooter, client], |game| {
        game.run(0.5);
        for app in game.apps_mut() {
            let shields = [NetId(1), NetId(2)].map(|id| component::<Shield>(app, id));
            assert_eq!(shields, [None, Some(Shield)], "the shooter has given up its own");
        }
        assert_eq!(component::<Health>(&mut game.server, NetId(2)), Some(Health::full(100.0)));
        game.run(3.0);
        for app in game.apps_mut() {
            assert_eq!(component::<Shield>(app, NetId(2)), None);
        }
        let health = component::<Health>(&mut game.server, NetId(2)).expect("a soldier with health");
        assert!(health.current < 100.0, "{health:?}");
    });
}
