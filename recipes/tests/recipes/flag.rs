//! A state that all players see: who carries the flag.

use unlag_recipes::{component, floor, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::{Interpolate, InterpolationSpan, Wire},
    net::{AddPawnState, OwnPawnState},
    prelude::*,
};

/// On a pawn: it carries the flag of this team.
#[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
struct CarriesFlag {
    team: u8,
}

/// Nothing lies between two flags: the older one holds until the moment of the newer one.
impl Interpolate for CarriesFlag {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// On both sides, after the suite's plugins.
fn flags(app: &mut App) {
    app.add_pawn_state::<CarriesFlag>(OwnPawnState::Follow);
}

/// The server inserts, changes and removes the component. Without [`flags`] no client would learn of it.
fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers, flags)).add_systems(Update, take_flag);
}

/// The flag lies 5 m ahead of the first player, and nobody carries it yet.
fn take_flag(
    soldiers: Query<(Entity, &SoldierState), Without<CarriesFlag>>,
    carriers: Query<(), With<CarriesFlag>>,
    mut commands: Commands,
) {
    for (pawn, state) in soldiers.iter().filter(|_| carriers.is_empty()) {
        if Soldier::position(state).distance(Vec3::new(0.0, 0.0, -5.0)) < 0.5 {
            commands.entity(pawn).insert(CarriesFlag { team: 2 });
        }
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, flags));
}
// ANCHOR_END: game

fn walker(app: &mut App) {
    app.add_plugins(client)
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y));
}

#[test]
fn everybody_sees_the_carrier_also_who_joins_later() {
    play(server, &[walker, client], |game| {
        game.run(0.5);
        game.join(client);
        game.run(1.0);
        for app in game.apps_mut() {
            assert_eq!(component::<CarriesFlag>(app, NetId(1)), Some(CarriesFlag { team: 2 }));
            assert_eq!(component::<CarriesFlag>(app, NetId(2)), None);
        }
        // Dropped: the walker is far from the place of the flag.
        let world = game.server.world_mut();
        let mut carriers = world.query_filtered::<Entity, With<CarriesFlag>>();
        let carrier = carriers.single(world).expect("one carrier");
        world.entity_mut(carrier).remove::<CarriesFlag>();
        game.run(0.5);
        for app in game.apps_mut() {
            assert_eq!(component::<CarriesFlag>(app, NetId(1)), None);
        }
    });
}
