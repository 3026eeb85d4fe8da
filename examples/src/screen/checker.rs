//! Checkered floor mesh that makes speed visible.

use bevy::{
    asset::RenderAssetUsages,
    mesh::{Indices, PrimitiveTopology},
    prelude::*,
};

/// Builds the top face of a box as a checkerboard; `dark` scales the colour of the dark tiles. It is
/// geometry because a texture without mipmaps shimmers in the distance.
#[must_use]
pub fn checkerboard(half: Vec3, tile: f32, dark: f32) -> Mesh {
    let (columns, rows) = ((half.x * 2.0 / tile).ceil() as u32, (half.z * 2.0 / tile).ceil() as u32);
    let (mut positions, mut colours, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for (column, row) in (0..columns).flat_map(|column| (0..rows).map(move |row| (column, row))) {
        let at = |c: u32, r: u32| {
            let (x, z) = ((c as f32 * tile - half.x).min(half.x), (r as f32 * tile - half.z).min(half.z));
            [x, half.y, z]
        };
        let first = positions.len() as u32;
        positions.extend([
            at(column, row),
            at(column, row + 1),
            at(column + 1, row + 1),
            at(column + 1, row),
        ]);
        let shade = if (column + row) % 2 == 0 { 1.0 } else { dark };
        colours.extend([[shade, shade, shade, 1.0]; 4]);
        indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }
    let normals = vec![[0.0, 1.0, 0.0]; positions.len()];
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
        .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colours)
        .with_inserted_indices(Indices::U32(indices))
}
