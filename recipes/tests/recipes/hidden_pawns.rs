//! Pawns behind walls are not sent, so that no modified client can show them.

use unlag_recipes::{component, play};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    net::{AlwaysInSight, InterestPlugin},
    prelude::*,
    rapier::prelude::Collider,
};

/// On both sides: a floor with a wall across it. Fixed colliders hide; movement bases do not.
fn level(app: &mut App) {
    app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::cuboid(50.0, 0.5, 50.0), Transform::from_xyz(0.0, -0.5, 0.0)));
        commands.spawn((Collider::cuboid(15.0, 2.5, 0.3), Transform::from_xyz(0.0, 2.5, 0.0)));
    });
}

/// After the server's other plugins. Clients need nothing.
fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), level, InterestPlugin::default())).add_observer(
        |joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            // The first player on this side of the wall, the others on the far one.
            let z = if *players == 1 { 8.0 } else { -8.0 };
            let place = Transform::from_xyz(4.0 * f32::from(*players), 0.1, z);
            let owner = player_pawn(joined.link, joined.peer);
            let mut pawn = commands.spawn((SoldierPawn, NetId(*players), place, owner));
            if *players == 3 {
                // It carries the flag, say: everybody sees where it is.
                pawn.insert(AlwaysInSight);
            }
        },
    );
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), level));
}

/// On a client: a concealed pawn is `OutOfSight`, and not alive as it is drawn. The feature `visibility` of
/// `bevy_unlag`, which is on by default, hides its visual then.
fn is_drawn(drawn: &DrawnPose) -> bool {
    drawn.pose.alive
}
// ANCHOR_END: game

#[test]
fn pawn_behind_the_wall_is_not_drawn_and_the_marked_one_is() {
    play(server, &[client, client, client], |game| {
        game.run(3.0);
        let seen_by = |viewer: usize, game: &mut unlag_recipes::Game| {
            [1, 2, 3].map(|id| {
                component::<DrawnPose>(&mut game.clients[viewer], NetId(id))
                    .is_some_and(|drawn| is_drawn(&drawn))
            })
        };
        assert_eq!(seen_by(0, game), [true, false, true]);
        assert_eq!(seen_by(1, game), [false, true, true], "on the same side");
    });
}
