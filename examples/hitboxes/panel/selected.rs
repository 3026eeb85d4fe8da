//! Sliders and buttons of the selected box.

use bevy::prelude::*;
use bevy_unlag::rewind::{FileBox, FileShape, HitGroup};
use unlag_examples::screen::{
    LiveText,
    ui::{HEADING, button, label, line, row, slider},
};

use super::list::name;
use crate::document::{Document, Form};

/// Minimum size, in metres.
const SMALLEST: f32 = 0.01;

/// Spawns the title, the buttons and the sliders.
pub fn spawn(panel: &mut ChildSpawnerCommands) {
    let title = LiveText::new(&mut panel.commands(), |document: Res<Document>| {
        format!("Box {}: {}", document.selected, name(document.current()))
    });
    panel.spawn((line(22.0), children![(title, label("", 14.0, HEADING))]));
    row(panel, |row| {
        for (group, name) in [(HitGroup::Head, "head"), (HitGroup::Body, "body"), (HitGroup::Limb, "limb")] {
            let choose = move |mut document: ResMut<Document>| document.regroup(group);
            let is_chosen = move |document: Res<Document>| document.current().group == group;
            button(row, percent(33), name, choose, is_chosen);
        }
    });
    row(panel, |row| {
        for form in Form::ALL {
            let choose = move |mut document: ResMut<Document>| document.reshape(form);
            let is_chosen = move |document: Res<Document>| Form::of(&document.current().shape) == form;
            button(row, percent(33), form.name(), choose, is_chosen);
        }
    });
    for (axis, name) in ["Half x, or radius", "Half y, or half the length", "Half z"].into_iter().enumerate()
    {
        let get = move |hit_box: &FileBox| size(&hit_box.shape, axis);
        let set =
            move |hit_box: &mut FileBox, value: f32| resize(&mut hit_box.shape, axis, value.max(SMALLEST));
        field(panel, name, (SMALLEST, 0.6), 3, get, centimetres, set);
    }
    for (axis, name) in ["Right", "Up", "Back"].into_iter().enumerate() {
        let get = move |hit_box: &FileBox| Some(hit_box.offset.translation[axis]);
        let set = move |hit_box: &mut FileBox, value: f32| hit_box.offset.translation[axis] = value;
        field(panel, name, (-0.5, 0.5), 3, get, centimetres, set);
    }
    // Adding zero avoids "-0".
    let degrees = |value: f32| format!("{:.0} deg", value.round() + 0.0);
    for (axis, name) in ["About x", "About y", "About z"].into_iter().enumerate() {
        let get = move |hit_box: &FileBox| Some(hit_box.offset.rotation[axis]);
        let set = move |hit_box: &mut FileBox, value: f32| hit_box.offset.rotation[axis] = value;
        field(panel, name, (-180.0, 180.0), 0, get, degrees, set);
    }
    let times = |value: f32| format!("x {value:.2}");
    let get = |hit_box: &FileBox| Some(hit_box.factor);
    field(panel, "Damage factor", (0.0, 4.0), 2, get, times, |hit_box, value| hit_box.factor = value);
    row(panel, |row| {
        button(row, percent(49), "copy", |mut document: ResMut<Document>| document.add(), || false);
        button(row, percent(49), "delete", |mut document: ResMut<Document>| document.delete(), || false);
    });
}

/// Spawns the slider of a value of the selected box. A shape that has no such value shows "-".
fn field(
    panel: &mut ChildSpawnerCommands,
    name: &str,
    range: (f32, f32),
    decimals: i32,
    get: impl Fn(&FileBox) -> Option<f32> + Send + Sync + 'static,
    text: fn(f32) -> String,
    set: impl Fn(&mut FileBox, f32) + Send + Sync + 'static,
) {
    let show = move |document: Res<Document>| match get(document.current()) {
        Some(value) => (value, text(value)),
        None => (0.0, "-".to_owned()),
    };
    let edit = move |In(value): In<f32>, mut document: ResMut<Document>| {
        document.edit(|hit_box| set(hit_box, value));
    };
    slider(panel, name, range, decimals, show, edit);
}

fn centimetres(metres: f32) -> String {
    format!("{:.1} cm", metres * 100.0)
}

/// Returns half the length of a capsule's segment, and its direction.
fn line_of(a: [f32; 3], b: [f32; 3]) -> (f32, Vec3) {
    let whole = Vec3::from(b) - Vec3::from(a);
    (whole.length() * 0.5, whole.try_normalize().unwrap_or(Vec3::Y))
}

fn size(shape: &FileShape, axis: usize) -> Option<f32> {
    match (*shape, axis) {
        (FileShape::Box { half }, _) => half.get(axis).copied(),
        (FileShape::Ball { radius } | FileShape::Capsule { radius, .. }, 0) => Some(radius),
        (FileShape::Capsule { a, b, .. }, 1) => Some(line_of(a, b).0),
        _ => None,
    }
}

fn resize(shape: &mut FileShape, axis: usize, value: f32) {
    match shape {
        FileShape::Box { half } => half[axis] = value,
        FileShape::Ball { radius } | FileShape::Capsule { radius, .. } if axis == 0 => *radius = value,
        FileShape::Capsule { a, b, .. } if axis == 1 => {
            let (middle, along) = ((Vec3::from(*a) + Vec3::from(*b)) * 0.5, line_of(*a, *b).1);
            (*a, *b) = ((middle - along * value).to_array(), (middle + along * value).to_array());
        }
        _ => {}
    }
}
