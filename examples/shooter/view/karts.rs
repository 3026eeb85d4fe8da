//! Karts: their bodies, and the key that enters and leaves them.

use bevy::{camera::visibility::VisibilitySystems, prelude::*, transform::TransformSystems};
use bevy_unlag::{
    core::{PawnModel, VisualSystems},
    movement::KartModel,
    prelude::*,
};
use unlag_examples::{
    karts::{REACH, UseVehicle},
    screen::ui::{TEXT, label},
};

/// Draws karts, and sends the wish to enter or leave one.
pub struct KartViewPlugin;

impl Plugin for KartViewPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(build_kart)
            .add_systems(Startup, spawn_hint)
            .add_systems(Update, (use_vehicle, show_hint))
            .add_systems(
                PostUpdate,
                place
                    .after(VisualSystems::Draw)
                    .before(TransformSystems::Propagate)
                    .before(VisibilitySystems::VisibilityPropagate),
            );
    }
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
    let wheel = meshes.add(Cylinder::new(0.26, 0.22));
    let boxes = [
        (Vec3::new(0.9, 0.22, 1.9), Vec3::new(0.0, 0.30, 0.0), &red),
        (Vec3::new(0.5, 0.18, 0.5), Vec3::new(0.0, 0.28, -1.15), &red),
        (Vec3::new(0.6, 0.55, 0.12), Vec3::new(0.0, 0.65, 0.75), &dark),
    ];
    let body = (KartBodyOf(added.entity), Transform::default(), Visibility::default());
    commands.spawn(body).with_children(|kart| {
        for (size, place, material) in boxes {
            let mesh = Mesh3d(meshes.add(Cuboid::from_size(size)));
            kart.spawn((mesh, MeshMaterial3d(material.clone()), Transform::from_translation(place)));
        }
        for (x, z) in [(-0.62, -0.72), (0.62, -0.72), (-0.62, 0.72), (0.62, 0.72)] {
            let upright = Quat::from_rotation_z(core::f32::consts::FRAC_PI_2);
            let place = Transform::from_xyz(x, 0.26, z).with_rotation(upright);
            kart.spawn((Mesh3d(wheel.clone()), MeshMaterial3d(dark.clone()), place));
        }
    });
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

/// Line that tells that a kart can be entered or left.
#[derive(Component)]
struct KartHint;

fn spawn_hint(mut commands: Commands) {
    commands.spawn((
        KartHint,
        Pickable::IGNORE,
        Visibility::Hidden,
        Node {
            position_type: PositionType::Absolute,
            top: percent(56),
            width: percent(100),
            justify_content: JustifyContent::Center,
            ..default()
        },
        children![(label("E - enter or leave the kart", 18.0, TEXT), Pickable::IGNORE)],
    ));
}

fn show_hint(
    own: Query<(&DrawnPose, Has<KartBodies>), With<LocalControl>>,
    karts: Query<&DrawnPose, (With<KartBodies>, Without<LocalControl>)>,
    mut hints: Query<&mut Visibility, With<KartHint>>,
) {
    let reachable = own.iter().any(|(own, drives)| {
        let near = |kart: &DrawnPose| kart.pose.position.distance(own.pose.position) < REACH;
        !drives && karts.iter().any(near)
    });
    for mut visibility in &mut hints {
        visibility.set_if_neq(if reachable { Visibility::Inherited } else { Visibility::Hidden });
    }
}
