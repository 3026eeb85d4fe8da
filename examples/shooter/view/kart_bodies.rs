//! Karts: their bodies, and the key that enters and leaves them.

use bevy::{camera::visibility::VisibilitySystems, prelude::*, transform::TransformSystems};
use bevy_unlag::{
    core::{PawnModel, VisualSystems},
    movement::KartModel,
    prelude::*,
};
use unlag_examples::{
    karts::{REACH, UseVehicle},
    screen::{
        ShownIf,
        scene::spawn_kart_parts,
        ui::{TEXT, banner, label},
    },
};

/// Draws karts, and sends the wish to enter or leave one.
pub fn plugin(app: &mut App) {
    app.add_observer(build_kart)
        .add_systems(Startup, spawn_hint)
        .add_systems(Update, use_vehicle)
        .add_systems(
            PostUpdate,
            place
                .after(VisualSystems::Draw)
                .before(TransformSystems::Propagate)
                .before(VisibilitySystems::VisibilityPropagate),
        );
}

/// Body of a kart. It is not a child of the pawn, whose transform is the simulated pose and not the drawn one.
#[derive(Component)]
#[relationship(relationship_target = KartBodies)]
struct KartBodyOf(Entity);

#[derive(Component)]
#[relationship_target(relationship = KartBodyOf, linked_spawn)]
struct KartBodies(Vec<Entity>);

fn build_kart(
    added: On<Add, PawnModel>,
    models: Query<&PawnModel>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    if !models.get(added.entity).is_ok_and(PawnModel::is::<KartModel>) {
        return;
    }
    let mut paint =
        |base_color| materials.add(StandardMaterial { base_color, reflectance: 0.3, ..default() });
    let (red, dark) = (paint(Color::srgb(0.78, 0.20, 0.12)), paint(Color::srgb(0.08, 0.08, 0.09)));
    let body = (KartBodyOf(added.entity), Transform::default(), Visibility::default());
    commands.spawn(body).with_children(|kart| spawn_kart_parts(kart, &mut meshes, [&red, &dark]));
}

fn place(karts: Query<(&DrawnPose, Option<&VisualOffset>, &KartBodies)>, mut bodies: Query<&mut Transform>) {
    for (drawn, offset, parts) in &karts {
        let at = drawn.pose.position + offset.map_or(Vec3::ZERO, |offset| offset.offset);
        for part in parts.iter() {
            if let Ok(mut transform) = bodies.get_mut(part) {
                *transform = Transform::from_translation(at).with_rotation(drawn.pose.rotation);
            }
        }
    }
}

fn use_vehicle(
    keys: Res<ButtonInput<KeyCode>>,
    controls: Query<&PlayerControls>,
    mut server: Outbox<UseVehicle>,
) {
    if keys.just_pressed(KeyCode::KeyE) && controls.iter().any(|controls| controls.enabled) {
        server.send(&UseVehicle);
    }
}

/// Spawns a line that tells that a kart can be entered.
fn spawn_hint(mut commands: Commands) {
    let hint = (label("E - enter or leave the kart", 18.0, TEXT), Pickable::IGNORE);
    let shown = ShownIf::new(&mut commands, can_enter);
    commands.spawn((banner(56.0), shown, children![hint]));
}

fn can_enter(
    own: Query<(&DrawnPose, Has<KartBodies>), With<LocalControl>>,
    karts: Query<&DrawnPose, (With<KartBodies>, Without<LocalControl>)>,
) -> bool {
    own.iter().any(|(own, drives)| {
        let near = |kart: &DrawnPose| kart.pose.position.distance(own.pose.position) < REACH;
        !drives && karts.iter().any(near)
    })
}
