//! The camera of a spectator follows a team mate, in the first person.

use unlag_recipes::{floor, play, position};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{prelude::*, rewind::Team};

/// The first player plays, all others watch until the next round.
fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor)).add_observer(
        |joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            if *players == 1 {
                commands.spawn((SoldierPawn, NetId(1), Team(1), player_pawn(joined.link, joined.peer)));
            }
        },
    );
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .insert_resource(OwnTeam(Team(1)))
        .add_systems(Startup, |mut commands: Commands| {
            // In a game with a `Camera3d`.
            commands.spawn((Camera, Transform::default()));
        })
        .add_systems(PostUpdate, follow.after(bevy_unlag::core::VisualSystems::Follow));
}

#[derive(Resource)]
struct OwnTeam(Team);

/// The camera of this screen.
#[derive(Component)]
struct Camera;

/// Height of the eye above the root of a standing soldier: `CapsuleConfig::eye_height`.
const EYE: Vec3 = Vec3::new(0.0, 1.64, 0.0);

/// Without a pawn of one's own: looks out of the eyes of a living team mate. The next one is `nth(1)`.
fn follow(
    team: Res<OwnTeam>,
    own: Query<(), With<LocalControl>>,
    mates: Query<(&DrawnPose, &Team)>,
    mut camera: Single<&mut Transform, With<Camera>>,
) {
    let mut mates = mates.iter().filter(|(drawn, mate)| drawn.pose.alive && **mate == team.0);
    let Some((drawn, _)) = mates.next().filter(|_| own.is_empty()) else { return };
    camera.translation = drawn.pose.position + EYE;
    camera.rotation = drawn.pose.rotation * Quat::from_rotation_x(drawn.pose.pitch);
}
// ANCHOR_END: game

/// Looks to the left and down, and walks ahead.
fn walker(app: &mut App) {
    app.add_plugins(client).add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| {
        input.look_along(Vec3::new(-1.0, -0.5, 0.0));
        input.axes(Vec2::Y);
    });
}

#[test]
fn spectator_looks_out_of_the_eyes_of_its_team_mate() {
    play(server, &[walker, client], |game| {
        game.run(2.0);
        let watcher = &mut game.clients[1];
        let drawn = position(watcher, NetId(1));
        assert!(drawn.x < -8.0, "the team mate has walked: {drawn}");
        let world = watcher.world_mut();
        let mut cameras = world.query_filtered::<&Transform, With<Camera>>();
        let camera = cameras.single(world).expect("one camera");
        assert!(camera.translation.distance(drawn + EYE) < 0.05, "{} over {drawn}", camera.translation);
        let ahead = Vec3::new(-1.0, -0.5, 0.0).normalize();
        assert!(camera.forward().dot(ahead) > 0.99, "{:?}", camera.forward());
    });
}
