//! A health bar: the suite sends the health of each pawn to all clients.

use unlag_recipes::{floor, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    weapons::{Hazard, HealthPlugin},
};

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, floor, soldiers));
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .add_systems(Update, draw_bars);
}

/// A bar, as a share of its full length. In a game a node of the user interface.
#[derive(Component, Clone, Copy, Default)]
struct HealthBar(f32);

fn draw_bars(soldiers: Query<(Entity, &Health), Changed<Health>>, mut commands: Commands) {
    for (soldier, health) in &soldiers {
        commands.entity(soldier).insert(HealthBar(health.fraction()));
    }
}
// ANCHOR_END: game

/// Returns the lengths of the bars of all soldiers, by their ids.
fn bars(client: &mut App) -> Vec<(NetId, f32)> {
    let world = client.world_mut();
    let mut bars: Vec<_> =
        world.query::<(&NetId, &HealthBar)>().iter(world).map(|(id, bar)| (*id, bar.0)).collect();
    bars.sort_by_key(|(id, _)| *id);
    bars
}

#[test]
fn bar_follows_the_health_on_all_screens() {
    play(server, &[client, client], |game| {
        let world = game.server.world_mut();
        let mut soldiers = world.query::<(Entity, &NetId)>();
        let hurt: Vec<_> =
            soldiers.iter(world).map(|(target, id)| (target, f32::from(id.0) * 25.0)).collect();
        for (target, amount) in hurt {
            world.write_message(Hazard { target, amount, cause: 1 });
        }
        game.run(0.5);
        for client in &mut game.clients {
            assert_eq!(bars(client), [(NetId(1), 0.75), (NetId(2), 0.5)]);
        }
    });
}
