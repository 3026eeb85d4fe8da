//! The host of a listen server: it plays in the server's app, beside players who join over the network.

use unlag_recipes::{component, floor, play, position};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{HostSoldierPawn, prelude::*, weapons::HealthPlugin};

const HOST: NetId = NetId(1);
const GUEST: NetId = NetId(2);

/// The server's plugins, with controls: they act on the pawn that has `LocalControl`, the host's. With a window it is
/// `PlayerControlsPlugin::reading()`.
fn host(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), PlayerControlsPlugin::default(), HealthPlugin, floor))
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn((HostSoldierPawn, HOST, Health::default(), Transform::from_xyz(0.0, 0.1, 0.0)));
        })
        .add_systems(PreUpdate, play_as_host)
        .add_observer(|joined: On<PlayerJoined>, mut commands: Commands| {
            let place = Transform::from_xyz(0.0, 0.1, -12.0);
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((SoldierPawn, GUEST, Health::default(), place, owner));
        });
}

/// The host walks to the right, and fires at the guest.
fn play_as_host(
    own: Single<(&DrawnPose, &mut InputAccumulator, &mut WeaponControls), With<LocalControl>>,
    guest: Single<&SoldierState, Without<LocalControl>>,
) {
    let (drawn, mut input, mut trigger) = own.into_inner();
    input.look_along(Soldier::position(*guest) - drawn.pose.position - Vec3::Y * 0.5);
    input.axes(Vec2::X);
    trigger.set_fire(true);
}

fn guest(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}
// ANCHOR_END: game

#[test]
fn host_is_seen_by_the_guest_and_hits_it() {
    play(host, &[guest], |game| {
        game.run(0.5);
        // The guest sees the host where it was a moment ago, at 6 m/s.
        let [there, seen] = [&mut game.server, &mut game.clients[0]].map(|app| position(app, HOST));
        assert!(there.length() > 3.0, "the host has walked to {there}");
        assert!(seen.distance(there) < 2.0, "the guest sees it at {seen}, not at {there}");
        for app in game.apps_mut() {
            let health = component::<Health>(app, GUEST).expect("the guest has health");
            assert!(health.current < 100.0, "{health:?}");
        }
    });
}
