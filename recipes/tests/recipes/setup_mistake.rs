//! A mistake in the setup of an app is reported at its start, with its fix.

use unlag_recipes::{floor, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::{SetupDiagnostics, SetupIssue},
    prelude::*,
    rapier::plugin::{NoUserData, RapierPhysicsPlugin},
};

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers));
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}

/// The mistake: rapier steps once a frame, and not once a tick as the moves do.
fn client_with_other_physics(app: &mut App) {
    app.add_plugins((RapierPhysicsPlugin::<NoUserData>::default(), client));
}

/// A test of a game asserts this of its own apps.
fn issues(app: &App) -> Vec<SetupIssue> {
    app.world().resource::<SetupDiagnostics>().all().iter().map(|(issue, _)| *issue).collect()
}
// ANCHOR_END: game

#[test]
fn physics_out_of_step_is_reported_and_a_healthy_app_is_not() {
    play(server, &[client, client_with_other_physics], |game| {
        assert_eq!(issues(&game.server), []);
        assert_eq!(issues(&game.clients[0]), []);
        assert_eq!(issues(&game.clients[1]), [SetupIssue::Physics]);
        let (_, line) = &game.clients[1].world().resource::<SetupDiagnostics>().all()[0];
        assert!(line.contains("let MovementPlugin add rapier"), "{line}");
    });
}
