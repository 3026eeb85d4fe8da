//! Knock-back: a hit throws its target back, without a correction of the player who is thrown.

use unlag_recipes::{corrections, fire_along, floor, play, position, server_changes, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::prelude::*;

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers)).add_systems(FixedLast, knock_back);
}

/// Puts the push into a move that the target's client has not made yet, so that both sides make the same
/// move.
fn knock_back(mut hits: MessageReader<Damage>, mut pawns: Query<&mut ScheduledPushes<Soldier>>) {
    for hit in hits.read() {
        if let Ok(mut pushes) = pawns.get_mut(hit.target) {
            pushes.push(CapsulePush::Launch(hit.direction.with_y(0.3) * 3.0));
        }
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}
// ANCHOR_END: game

/// The first player fires twice a second at the other one, straight ahead.
fn shooter(app: &mut App) {
    app.add_plugins(client);
    fire_along(app, Vec3::new(0.0, -0.03, -1.0), |seconds| seconds % 0.5 < 0.05);
}

#[test]
fn push_moves_the_target_without_corrections() {
    play(server, &[shooter, client], |game| {
        game.run(2.5);
        let place = position(&mut game.clients[1], NetId(2));
        assert!(place.z < -10.0, "it stood at -8 m and has been thrown to {place}");
        assert_eq!(corrections(&mut game.clients[1]), 0);
    });
}

/// The control: a change of the state on the server is not a part of any move, so the owner learns of it late.
fn careless_server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers)).add_systems(FixedLast, throw);
}

fn throw(mut hits: MessageReader<Damage>, mut pawns: Query<&mut SoldierState>) {
    for hit in hits.read() {
        if let Ok(mut state) = pawns.get_mut(hit.target) {
            state.body.launch(hit.direction.with_y(0.3) * 3.0);
        }
    }
}

#[test]
fn change_of_the_state_reaches_the_owner_late() {
    play(careless_server, &[shooter, client], |game| {
        game.run(2.5);
        assert!(server_changes(&mut game.clients[1]) > 0);
    });
}
