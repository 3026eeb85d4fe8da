//! Landmarks on the outer walls, by which players tell the directions. They are above everything that can be hit.

use core::f32::consts::PI;

use bevy::{light::NotShadowCaster, prelude::*};

use crate::{arena::HALF_SIZE, screen::scene::matte};

/// Height of the outer walls, in metres.
const WALL: f32 = 4.0;
/// Distance of the middle of a wall from the arena's middle, in metres.
const MIDDLE: f32 = HALF_SIZE + 0.5;

/// Spawns one landmark in the middle of each wall, with a shape and a colour of its own.
pub(super) fn spawn(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let (red, yellow) = (Color::srgb(0.75, 0.16, 0.14), Color::srgb(0.90, 0.70, 0.12));
    let (blue, green) = (Color::srgb(0.16, 0.32, 0.75), Color::srgb(0.15, 0.55, 0.25));
    let mut add = |mesh: Mesh, colour, at: Vec3, turn: f32| {
        let place = Transform::from_translation(at).with_rotation(Quat::from_rotation_y(turn));
        let mesh = Mesh3d(meshes.add(mesh));
        commands.spawn((mesh, MeshMaterial3d(materials.add(matte(colour))), place, NotShadowCaster));
    };
    // North: a tower with bands.
    for band in 0..4_u8 {
        let colour = if band % 2 == 0 { red } else { Color::srgb(0.9, 0.9, 0.88) };
        let height = WALL + 1.0 + 2.0 * f32::from(band);
        add(Cuboid::new(1.6, 2.0, 0.9).into(), colour, Vec3::new(0.0, height, -MIDDLE), 0.0);
    }
    // South: a gate.
    for x in [-2.5, 2.5] {
        add(Cuboid::new(0.8, 5.0, 0.8).into(), blue, Vec3::new(x, WALL + 2.5, MIDDLE), 0.0);
    }
    add(Cuboid::new(7.0, 0.9, 0.9).into(), blue, Vec3::new(0.0, WALL + 5.4, MIDDLE), 0.0);
    // East: a pyramid.
    let pyramid = Cone::new(2.6, 6.0).mesh().resolution(4);
    add(pyramid.into(), yellow, Vec3::new(MIDDLE, WALL + 3.0, 0.0), PI / 4.0);
    // West: a ball on a column.
    add(Cylinder::new(0.4, 4.0).into(), green, Vec3::new(-MIDDLE, WALL + 2.0, 0.0), 0.0);
    add(Sphere::new(1.5).into(), green, Vec3::new(-MIDDLE, WALL + 5.0, 0.0), 0.0);
}
