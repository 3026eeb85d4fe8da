//! Half the gravity in a part of the level: for soldiers and for everything that flies.

use unlag_recipes::{corrections, floor, play, position};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::WorldGravity,
    movement::{GravityField, MoveVolume, VolumeId},
    prelude::*,
    rapier::prelude::{Collider, Sensor},
};

const MOON: Vec3 = Vec3::new(50.0, 0.0, 0.0);

/// On both sides: a ball of 30 m with half the usual gravity. `GravityField::Towards` would make it a planet.
fn moon(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        let gravity = Some(GravityField::Uniform(Vec3::NEG_Y * 4.9));
        let volume = MoveVolume { gravity, ..MoveVolume::trigger(VolumeId(1)) };
        commands.spawn((volume, Collider::ball(30.0), Sensor, Transform::from_translation(MOON)));
    });
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, moon)).add_observer(
        |joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            let place = if *players == 1 { Vec3::ZERO } else { MOON };
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((
                SoldierPawn,
                NetId(*players),
                Transform::from_translation(place + Vec3::Y * 0.1),
                owner,
            ));
        },
    );
}
// ANCHOR_END: game

/// A client whose player jumps every two seconds.
fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, moon))
        .add_systems(PreUpdate, |time: Res<Time>, mut input: Single<&mut InputAccumulator>| {
            input.jump(time.elapsed_secs() % 2.0 < 0.2);
        });
}

#[test]
fn jump_is_twice_as_high_in_half_the_gravity() {
    play(server, &[client, client], |game| {
        let mut highest = [0.0_f32; 2];
        for _ in 0..60 {
            game.run(0.05);
            for (highest, id) in highest.iter_mut().zip([NetId(1), NetId(2)]) {
                *highest = highest.max(position(&mut game.server, id).y);
            }
        }
        // `jump_speed` squared over twice the gravity, and the 2 cm of the hover band.
        assert!((highest[0] - 0.92).abs() < 0.05 && (highest[1] - 1.82).abs() < 0.05, "{highest:?}");
        assert!(game.clients.iter_mut().all(|client| corrections(client) == 0));
        for app in game.apps_mut() {
            let gravity = app.world().resource::<WorldGravity>();
            let scale = |place: Vec3| gravity.at(place + Vec3::Y).map(|here| here.scale);
            assert_eq!(scale(Vec3::ZERO), Some(1.0));
            assert!(scale(MOON).is_some_and(|scale| (scale - 0.5).abs() < 1e-3), "grenades fall alike");
        }
    });
}
