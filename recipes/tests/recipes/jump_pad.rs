//! A jump pad, which is predicted like a jump and sends nothing.

use unlag_recipes::{component, corrections, floor, play, position, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    movement::{MoveVolume, VolumeId},
    prelude::*,
    rapier::prelude::{Collider, Sensor},
};

/// On both sides: the pad, 10 m ahead of the first player.
fn pad(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        let launch = Some(Vec3::new(0.0, 9.0, -4.0));
        let pad = MoveVolume { launch, ..MoveVolume::trigger(VolumeId(1)) };
        commands.spawn((pad, Collider::cuboid(1.0, 0.6, 1.0), Sensor, Transform::from_xyz(0.0, 0.6, -10.0)));
    });
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers, pad));
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, pad));
}
// ANCHOR_END: game

fn walker(app: &mut App) {
    app.add_plugins(client)
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y));
}

#[test]
fn pad_throws_the_walker_up_without_corrections() {
    play(server, &[walker], |game| {
        let mut highest = [0.0_f32; 2];
        for _ in 0..60 {
            game.run(0.05);
            let apps = [&mut game.server, &mut game.clients[0]];
            for (highest, app) in highest.iter_mut().zip(apps) {
                *highest = highest.max(position(app, NetId(1)).y);
            }
        }
        game.run(0.5);
        // 9 m/s against 9.8 m/s² are 4.1 m; without the pad the walker stays on the floor.
        assert!(highest.iter().all(|highest| (highest - 4.13).abs() < 0.2), "{highest:?}");
        assert_eq!(corrections(&mut game.clients[0]), 0);
        let state = component::<SoldierState>(&mut game.clients[0], NetId(1)).expect("the own soldier");
        assert!(state.body.is_grounded() && state.body.position.z < -14.0, "{:?}", state.body);
    });
}
