//! Visuals of the hit boxes at their effective poses, read back from the nodes of the drawn pawn.

use bevy::{color::palettes::tailwind, light::NotShadowCaster, prelude::*};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::rewind::{BodyBounds, DrawnLimbs, FileShape, HitBoxes, HitGroup, RewindSystems};
use unlag_examples::screen::{
    checkerboard,
    scene::{glass, matte},
};

use crate::{document::Document, pawn::Pawn};

/// Draws the boxes, the bounds and the floor.
pub fn plugin(app: &mut App) {
    app.insert_resource(ClearColor(Color::srgb(0.16, 0.18, 0.22)))
        .insert_resource(GlobalAmbientLight { brightness: 700.0, ..default() })
        .init_resource::<BoxesOutsideBounds>()
        .add_systems(Startup, spawn_scene)
        .add_systems(
            PostUpdate,
            (paint, find_boxes_outside_bounds, outline).chain().after(RewindSystems::ReadLimbs),
        );
}

/// Indices of the boxes that exceed the bounds in the current pose.
#[derive(Resource, Default, PartialEq, Eq, Debug)]
pub struct BoxesOutsideBounds(pub Vec<usize>);

/// Translucent mesh of a box: its index, and the pose of the mesh in the box.
#[derive(Component)]
struct BoxVisual(usize, Isometry3d);

fn spawn_scene(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let half = Vec3::new(3.0, 0.05, 3.0);
    let floor = matte(Color::srgb(0.34, 0.37, 0.42));
    commands.spawn((
        Mesh3d(meshes.add(checkerboard(half, 0.5, 0.86))),
        MeshMaterial3d(materials.add(floor)),
        // Slightly below the ground plane, to avoid z-fighting.
        Transform::from_xyz(0.0, -half.y - 0.002, 0.0),
    ));
    commands.spawn((
        DirectionalLight { illuminance: 5_500.0, shadow_maps_enabled: false, ..default() },
        Transform::from_xyz(3.0, 6.0, -4.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

/// Returns the colour of a hit group.
pub fn colour(group: HitGroup) -> Srgba {
    match group {
        HitGroup::Head => tailwind::AMBER_400,
        HitGroup::Body => tailwind::SKY_400,
        HitGroup::Limb => tailwind::EMERALD_400,
    }
}

fn mesh(shape: &Collider) -> Option<(Mesh, Isometry3d)> {
    Some(match FileShape::of(shape)? {
        FileShape::Box { half } => (Cuboid::from_size(Vec3::from(half) * 2.0).into(), Isometry3d::IDENTITY),
        FileShape::Ball { radius } => (Sphere::new(radius).into(), Isometry3d::IDENTITY),
        FileShape::Capsule { a, b, radius } => {
            let (length, pose) = capsule(a, b);
            (Capsule3d::new(radius, length).into(), pose)
        }
    })
}

/// Returns the length and the pose of a capsule; Bevy's capsules are centred and stand along Y.
fn capsule(a: [f32; 3], b: [f32; 3]) -> (f32, Isometry3d) {
    let (a, b) = (Vec3::from(a), Vec3::from(b));
    let along = (b - a).try_normalize().unwrap_or(Vec3::Y);
    (a.distance(b), Isometry3d::new((a + b) * 0.5, Quat::from_rotation_arc(Vec3::Y, along)))
}

/// Returns the drawn poses of the pawn's boxes.
pub fn poses<'a>(set: &'a HitBoxes, limbs: &'a DrawnLimbs) -> impl Iterator<Item = (usize, Isometry3d)> + 'a {
    let pose = |(index, hit_box): (usize, &bevy_unlag::rewind::HitBox)| {
        Some((index, *limbs.0.get(usize::from(hit_box.limb))? * hit_box.offset))
    };
    set.boxes().iter().enumerate().filter_map(pose)
}

/// Spawns and places a translucent mesh for every box.
fn paint(
    pawns: Query<(Ref<HitBoxes>, &DrawnLimbs), With<Pawn>>,
    mut glasses: Query<(Entity, &BoxVisual, &mut Transform, &mut GlobalTransform)>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let Ok((set, limbs)) = pawns.single() else { return };
    if set.is_changed() {
        for (entity, ..) in &glasses {
            commands.entity(entity).despawn();
        }
        for (index, pose) in poses(&set, limbs) {
            let hit_box = &set.boxes()[index];
            let Some((mesh, local)) = mesh(&hit_box.shape) else { continue };
            let material = glass(colour(hit_box.group).with_alpha(0.22).into());
            let place = Transform::from_isometry(pose * local);
            commands.spawn((
                BoxVisual(index, local),
                Mesh3d(meshes.add(mesh)),
                MeshMaterial3d(materials.add(material)),
                NotShadowCaster,
                place,
                GlobalTransform::from(place),
            ));
        }
        return;
    }
    let poses: Vec<(usize, Isometry3d)> = poses(&set, limbs).collect();
    for (_, BoxVisual(index, local), mut transform, mut global) in &mut glasses {
        if let Some((_, pose)) = poses.iter().find(|(other, _)| other == index) {
            *transform = Transform::from_isometry(*pose * *local);
            // Transform propagation has already run in this frame.
            *global = GlobalTransform::from(*transform);
        }
    }
}

fn find_boxes_outside_bounds(
    pawns: Query<(&HitBoxes, &DrawnLimbs), With<Pawn>>,
    mut strays: ResMut<BoxesOutsideBounds>,
) {
    let Ok((set, limbs)) = pawns.single() else { return };
    let leaves = |(index, hit_box): (usize, &bevy_unlag::rewind::HitBox)| {
        let reach = BodyBounds::of(hit_box, &limbs.0)?;
        (!set.bounds().contains(&reach)).then_some(index)
    };
    strays.set_if_neq(BoxesOutsideBounds(set.boxes().iter().enumerate().filter_map(leaves).collect()));
}

fn outline(
    document: Res<Document>,
    strays: Res<BoxesOutsideBounds>,
    pawns: Query<(&HitBoxes, &DrawnLimbs), With<Pawn>>,
    mut gizmos: Gizmos,
) {
    let Ok((set, limbs)) = pawns.single() else { return };
    for (index, pose) in poses(set, limbs) {
        let hit_box = &set.boxes()[index];
        let colour = if index == document.selected {
            Srgba::WHITE
        } else if strays.0.contains(&index) {
            tailwind::RED_500
        } else {
            colour(hit_box.group)
        };
        match FileShape::of(&hit_box.shape) {
            Some(FileShape::Box { half }) => {
                gizmos.primitive_3d(&Cuboid::from_size(Vec3::from(half) * 2.0), pose, colour);
            }
            Some(FileShape::Ball { radius }) => {
                gizmos.primitive_3d(&Sphere::new(radius), pose, colour).resolution(24);
            }
            Some(FileShape::Capsule { a, b, radius }) => {
                let (length, local) = capsule(a, b);
                gizmos.primitive_3d(&Capsule3d::new(radius, length), pose * local, colour).resolution(24);
            }
            None => {}
        }
        if index == document.selected {
            gizmos.axes(Transform::from_isometry(pose), 0.15);
        }
    }
    let bounds = set.bounds();
    let colour = if strays.0.is_empty() { tailwind::SLATE_400 } else { tailwind::RED_500 };
    let middle = Isometry3d::from_translation(Vec3::Y * (bounds.low + bounds.high) * 0.5);
    let cylinder = Cylinder::new(bounds.radius, bounds.high - bounds.low);
    gizmos.primitive_3d(&cylinder, middle, colour.with_alpha(0.35)).resolution(24);
}
