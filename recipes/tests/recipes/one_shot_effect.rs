//! A one-shot effect on every screen: dust where a soldier lands hard.

use unlag_recipes::{floor, play, position, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::{ExtendedEvent, Wire},
    movement::MoveEvent,
    net::{PawnEvent, SharePawnEvents},
    prelude::*,
};

/// A soldier has landed hard.
#[derive(Wire, Clone, Debug)]
struct Thud;

/// On both sides, after the suite's plugins: selects the events of a move that others see. The owner plays
/// them in the move, every other screen when it draws the pawn there, and a replay is silent.
fn effects(app: &mut App) {
    app.share_pawn_events::<Soldier, Thud>(|event| match event {
        ExtendedEvent::Body(MoveEvent::Landed { speed }) if *speed > 5.5 => Some(Thud),
        _ => None,
    })
    .add_systems(Last, dust);
}

/// A puff of dust. A game spawns particles and plays a sound.
#[derive(Component)]
struct Dust;

fn dust(mut thuds: MessageReader<PawnEvent<Thud>>, pawns: Query<&Transform>, mut commands: Commands) {
    for thud in thuds.read() {
        if let Ok(place) = pawns.get(thud.pawn) {
            commands.spawn((Dust, *place));
        }
    }
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers, effects));
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, effects));
}
// ANCHOR_END: game

#[test]
fn hard_landing_raises_dust_once_on_every_screen() {
    play(server, &[client, client], |game| {
        // Launched at 4 m/s it lands softly, at 7 m/s hard.
        for (speed, rest) in [(4.0, 0.8), (7.0, 1.5)] {
            let world = game.server.world_mut();
            let mut pawns = world.query::<(&NetId, &mut ScheduledPushes<Soldier>)>();
            for (_, mut pushes) in pawns.iter_mut(world).filter(|(id, _)| id.0 == 1) {
                pushes.push(CapsulePush::Launch(Vec3::Y * speed));
            }
            game.run(0.6);
            assert!(position(&mut game.clients[1], NetId(1)).y > 0.2, "it is in the air");
            game.run(rest);
        }
        for (number, app) in game.apps_mut().enumerate() {
            let world = app.world_mut();
            assert_eq!(world.query::<&Dust>().iter(world).count(), 1, "app {number}");
        }
    });
}
