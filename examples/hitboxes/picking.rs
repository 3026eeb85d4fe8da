//! Selection of the box under the mouse.

use bevy::{picking::hover::Hovered, prelude::*, window::PrimaryWindow};
use bevy_unlag::rewind::{DrawnLimbs, HitBoxes};
use unlag_examples::screen::{cursor::is_over_panel, ui::PanelRoot};

use crate::{document::Document, pawn::Pawn, view::poses};

/// Selects a box by a click.
pub fn pick(
    buttons: Res<ButtonInput<MouseButton>>,
    panels: Query<&Hovered, With<PanelRoot>>,
    windows: Query<&Window, With<PrimaryWindow>>,
    cameras: Query<(&Camera, &GlobalTransform)>,
    pawns: Query<(&HitBoxes, &DrawnLimbs), With<Pawn>>,
    mut document: ResMut<Document>,
) {
    if !buttons.just_pressed(MouseButton::Left) || is_over_panel(panels) {
        return;
    }
    let (Ok(window), Ok((camera, eye)), Ok((set, limbs))) =
        (windows.single(), cameras.single(), pawns.single())
    else {
        return;
    };
    let Some(ray) = window.cursor_position().and_then(|at| camera.viewport_to_world(eye, at).ok()) else {
        return;
    };
    let met = poses(set, limbs).filter_map(|(index, pose)| {
        let back = pose.inverse();
        let (origin, direction) = (back * ray.origin, back.rotation * Vec3::from(ray.direction));
        let shape = &set.boxes()[index].shape;
        let distance = shape.cast_local_ray(origin, direction, 50.0, true)?;
        Some((index, distance))
    });
    if let Some((index, _)) = met.min_by(|a, b| a.1.total_cmp(&b.1)) {
        document.selected = index;
    }
}
