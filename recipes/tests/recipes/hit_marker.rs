//! A hit marker: at once when the screen shows a hit, and another one when the server confirms it.

use unlag_recipes::{floor, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{core::Tick, prelude::*, weapons::ShotResult};

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers));
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .add_systems(Update, (show, confirm).chain());
}

/// A mark at the crosshair: white until the server has confirmed the hit, then red. A game despawns it after a moment.
#[derive(Component)]
struct HitMarker {
    shot: Tick,
    is_confirmed: bool,
}

/// In the frame of the shot: what the screen shows at its crosshair.
fn show(mut shots: MessageReader<ShotFired>, mut commands: Commands) {
    for fired in shots.read().filter(|fired| fired.drawn().is_some()) {
        commands.spawn(HitMarker { shot: fired.round.shot, is_confirmed: false });
    }
}

/// A round trip later: what the server says.
fn confirm(
    mut verdicts: MessageReader<ShotVerdict>,
    mut markers: Query<(Entity, &mut HitMarker)>,
    mut commands: Commands,
) {
    for verdict in verdicts.read() {
        for (entity, mut marker) in markers.iter_mut().filter(|(_, marker)| marker.shot == verdict.shot) {
            match verdict.result {
                ShotResult::Hit(_) => marker.is_confirmed = true,
                _ => commands.entity(entity).despawn(),
            }
        }
    }
}
// ANCHOR_END: game

/// Fires straight ahead, where the other soldier stands, from three seconds after the start for a second.
fn shooter(app: &mut App) {
    app.add_plugins(client);
    unlag_recipes::fire_along(app, Vec3::new(0.0, -0.03, -1.0), |seconds| (3.0..4.0).contains(&seconds));
}

/// Returns the numbers of all and of the confirmed markers.
fn markers(client: &mut App) -> (usize, usize) {
    let world = client.world_mut();
    let mut markers = world.query::<&HitMarker>();
    (markers.iter(world).count(), markers.iter(world).filter(|marker| marker.is_confirmed).count())
}

#[test]
fn marker_appears_with_the_shot_and_is_confirmed_a_round_trip_later() {
    play(server, &[shooter, client], |game| {
        let (mut waited, mut frames) = (None, 0);
        while waited.is_none() && frames < 320 {
            game.run(1.0 / 64.0);
            frames += 1;
            let (shown, confirmed) = markers(&mut game.clients[0]);
            if confirmed > 0 {
                waited = Some(shown);
            }
        }
        // At eleven rounds a second there is a second one before the first is confirmed, 100 ms later.
        assert!(waited.is_some_and(|shown| shown >= 2), "{waited:?}");
        game.run(2.0);
        let (shown, confirmed) = markers(&mut game.clients[0]);
        assert!((10..=12).contains(&shown) && confirmed == shown, "{confirmed} of {shown}");
    });
}
