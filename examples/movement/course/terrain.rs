//! Terrain: a height field and a triangle mesh.

use core::f32::consts::TAU;

use bevy::prelude::*;

/// Scale of the hills in metres: extent along X, height per unit, extent along Z.
pub const HILLS: Vec3 = Vec3::new(6.0, 1.0, 9.0);
/// Number of heights along X and along Z.
const HILLS_COUNT: (u16, u16) = (25, 37);

/// Returns the heights of the hills in column-major order, and the numbers of rows and columns. They are
/// level at the rim and at most 30° steep.
pub fn hills() -> (Vec<f32>, usize, usize) {
    let (columns, rows) = HILLS_COUNT;
    let part = |i: u16, count: u16| f32::from(i) / f32::from(count - 1);
    let height = |x: f32, z: f32| {
        // Three humps along the way; the middle is higher than the sides.
        let humps = (1.0 - (TAU * 3.0 * z).cos()) / 2.0;
        let sides = (1.0 - (TAU * x).cos()) / 2.0;
        0.5 * humps * sides + 0.02
    };
    let heights = (0..columns)
        .flat_map(|column| (0..rows).map(move |row| height(part(column, columns), part(row, rows))))
        .collect();
    (heights, usize::from(rows), usize::from(columns))
}

/// Returns a level floor of small triangles about the origin, 3 m by 4 m.
pub fn quilt() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    const SIDES: (u16, u16) = (6, 8);
    let (columns, rows) = SIDES;
    let corners = (0..=rows)
        .flat_map(|row| (0..=columns).map(move |column| (f32::from(column), f32::from(row))))
        .map(|(x, z)| Vec3::new(x * 0.5 - 1.5, 0.0, z * 0.5 - 2.0))
        .collect();
    let line = u32::from(columns) + 1;
    let triangles = (0..u32::from(rows))
        .flat_map(|row| (0..u32::from(columns)).map(move |column| row * line + column))
        .flat_map(|first| [[first, first + line, first + 1], [first + 1, first + line, first + line + 1]])
        .collect();
    (corners, triangles)
}
