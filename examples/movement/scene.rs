//! Scene: light, and visuals of the props.

use bevy::{
    asset::RenderAssetUsages,
    light::NotShadowCaster,
    mesh::{Indices, PrimitiveTopology},
    platform::collections::HashMap,
    prelude::*,
};
use bevy_rapier3d::prelude::Collider;
use unlag_examples::screen::{
    checkerboard,
    scene::{glass, matte, sun},
};

use crate::{
    course::{Kind, Shape},
    spawning::Appearance,
};

/// Colour of the sky.
pub const SKY: Color = Color::srgb(0.66, 0.78, 0.88);

/// Adds light and materials to the course.
pub fn plugin(app: &mut App) {
    app.insert_resource(ClearColor(SKY))
        .insert_resource(GlobalAmbientLight { brightness: 900.0, ..default() })
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn(sun(false, 60.0));
        })
        .add_systems(Update, paint);
}

fn colour(kind: Kind) -> Color {
    match kind {
        Kind::Ground => Color::srgb(0.60, 0.63, 0.60),
        Kind::Step => Color::srgb(0.83, 0.72, 0.52),
        Kind::Slope => Color::srgb(0.78, 0.62, 0.48),
        Kind::Wall => Color::srgb(0.52, 0.57, 0.66),
        Kind::Deck => Color::srgb(0.70, 0.74, 0.78),
        Kind::Terrain => Color::srgb(0.52, 0.68, 0.48),
        Kind::Machine => Color::srgb(0.88, 0.62, 0.30),
        Kind::Crate => Color::srgb(0.66, 0.45, 0.30),
        Kind::OneWayCollider => Color::srgb(0.72, 0.56, 0.80),
        Kind::Pad => Color::srgb(0.95, 0.48, 0.55),
        Kind::Water => Color::srgb(0.22, 0.52, 0.82),
        Kind::Mud => Color::srgb(0.45, 0.34, 0.24),
        Kind::Field => Color::srgb(0.58, 0.46, 0.90),
        Kind::Ladder => Color::srgb(0.90, 0.80, 0.42),
    }
}

/// Returns the opacity of a translucent prop.
fn opacity(kind: Kind) -> f32 {
    match kind {
        Kind::Water => 0.55,
        Kind::Field | Kind::Ladder => 0.10,
        _ => 0.18,
    }
}

fn paint(
    props: Query<(Entity, &Appearance, Option<&Collider>), Added<Appearance>>,
    mut paints: Local<HashMap<(Kind, bool), Handle<StandardMaterial>>>,
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    for (entity, look, collider) in &props {
        let Some(mesh) = mesh(look, collider) else { continue };
        let paint = paints.entry((look.kind, look.glass)).or_insert_with(|| {
            let base_color = colour(look.kind);
            materials.add(if look.glass {
                glass(base_color.with_alpha(opacity(look.kind)))
            } else {
                matte(base_color)
            })
        });
        commands.entity(entity).insert((
            Mesh3d(meshes.add(mesh)),
            MeshMaterial3d(paint.clone()),
            NotShadowCaster,
        ));
    }
}

fn mesh(look: &Appearance, collider: Option<&Collider>) -> Option<Mesh> {
    match look.shape {
        // A uniform floor would give no sense of speed.
        Shape::Box(half) if look.kind == Kind::Ground => Some(checkerboard(half, 2.0, 0.82)),
        Shape::Box(half) => Some(Cuboid::from_size(half * 2.0).into()),
        Shape::Ball(radius) => Some(Sphere::new(radius).into()),
        Shape::Disc { radius, half_height } => Some(Cylinder::new(radius, half_height * 2.0).into()),
        // Built from the collider, so that the visual matches it exactly.
        Shape::Hills => collider?.as_heightfield().map(|field| {
            let (corners, faces) = field.raw.to_trimesh();
            triangles(corners, &faces)
        }),
        Shape::Quilt => collider?.as_trimesh().map(|mesh| {
            let raw = mesh.raw;
            triangles(raw.vertices().to_vec(), raw.indices())
        }),
    }
}

fn triangles(corners: Vec<Vec3>, faces: &[[u32; 3]]) -> Mesh {
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, corners)
        .with_inserted_indices(Indices::U32(faces.iter().flatten().copied().collect()))
        // Flat shading makes every triangle visible.
        .with_duplicated_vertices()
        .with_computed_flat_normals()
}
