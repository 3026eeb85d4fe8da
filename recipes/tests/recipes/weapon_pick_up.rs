//! A weapon that lies in the level and is picked up by the first soldier who walks over it.

use unlag_recipes::{component, floor, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::{Interpolate, InterpolationSpan, Wire},
    net::{AddPawnState, OwnPawnState, ReplicatedPawn},
    prelude::*,
    smoothing::RecordTransform,
};

/// A weapon that waits to be taken.
#[derive(Component, Wire, Clone, Copy, PartialEq, Debug)]
struct PickUp {
    weapon: WeaponId,
}

/// Nothing lies between two weapons.
impl Interpolate for PickUp {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

/// On both sides: two weapons before the suite's plugins. Soldiers start with the first one.
fn arsenal(app: &mut App) {
    let pistol = Weapon { name: "pistol".to_owned(), interval: 0.25, ..Weapon::rifle() };
    app.insert_resource(Arsenal::new(vec![Weapon::rifle(), pistol]).expect("valid weapons"));
}

/// On both sides, after the suite's plugins.
fn pick_ups(app: &mut App) {
    app.add_pawn_state::<PickUp>(OwnPawnState::Follow);
}

/// A pick-up is sent like a pawn: at its place, with its state, also to those who join later.
fn server(app: &mut App) {
    app.add_plugins((arsenal, UnlagServerPlugins::default(), floor, soldiers, pick_ups))
        .add_systems(Startup, |mut commands: Commands| {
            let place = Transform::from_xyz(0.0, 0.5, -5.0);
            let pick_up = PickUp { weapon: WeaponId(1) };
            // An id of its own: those of the players begin at 1.
            commands.spawn((ReplicatedPawn, NetId(200), RecordTransform::default(), pick_up, place));
        })
        .add_systems(FixedUpdate, take.before(MoveSystems::Step));
}

/// The owner learns of its weapon with the next acknowledgement, and predicts it from then on.
fn take(
    pick_ups: Query<(Entity, &PickUp, &Transform)>,
    mut soldiers: Query<&mut SoldierState>,
    arsenal: Res<Arsenal>,
    mut commands: Commands,
) {
    for (entity, pick_up, place) in &pick_ups {
        for mut soldier in &mut soldiers {
            let is_near = Soldier::position(&soldier).distance(place.translation) < 1.0;
            // `None` if all slots are taken: the weapon stays.
            if is_near && soldier.extension.add_weapon(&arsenal, pick_up.weapon).is_some() {
                commands.entity(entity).despawn();
                break;
            }
        }
    }
}

fn client(app: &mut App) {
    app.add_plugins((arsenal, UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .add_plugins((floor, pick_ups))
        .add_observer(draw);
}

/// A model of the weapon at the place of the pick-up; it is despawned with it.
fn draw(added: On<Add, PickUp>, mut commands: Commands) {
    commands.spawn((VisualOf(added.entity), WeaponModel));
}

/// In a game a scene.
#[derive(Component)]
struct WeaponModel;
// ANCHOR_END: game

/// Walks ahead from the third second on.
fn walker(app: &mut App) {
    app.add_plugins(client).add_systems(
        PreUpdate,
        |time: Res<Time>, mut input: Single<&mut InputAccumulator>| {
            input.axes(if time.elapsed_secs() > 3.0 { Vec2::Y } else { Vec2::ZERO });
        },
    );
}

/// Returns the number of models that a client draws.
fn models(client: &mut App) -> usize {
    let world = client.world_mut();
    world.query::<&WeaponModel>().iter(world).count()
}

/// Returns the second weapon of the first soldier.
fn second_weapon(app: &mut App) -> Option<WeaponId> {
    component::<SoldierState>(app, NetId(1)).and_then(|state| state.extension.slots[1].weapon)
}

#[test]
fn walker_gets_the_weapon_and_it_vanishes_from_every_screen() {
    play(server, &[walker, client], |game| {
        game.run(0.3);
        assert_eq!([0, 1].map(|screen| models(&mut game.clients[screen])), [1, 1]);
        assert_eq!(second_weapon(&mut game.server), None);
        game.run(4.0);
        assert_eq!(second_weapon(&mut game.server), Some(WeaponId(1)));
        assert_eq!(second_weapon(&mut game.clients[0]), Some(WeaponId(1)), "its player can draw it");
        let late = game.join(client);
        game.run(0.5);
        for screen in [0, 1, late] {
            assert_eq!(models(&mut game.clients[screen]), 0, "client {screen}");
        }
    });
}
