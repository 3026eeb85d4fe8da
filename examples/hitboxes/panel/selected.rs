//! Sliders and buttons of the selected box.

use bevy::{
    picking::hover::Hovered,
    prelude::*,
    ui_widgets::{Activate, ValueChange},
};
use bevy_unlag::rewind::{FileShape, HitGroup};
use unlag_examples::screen::{
    slider::{SliderRangeInfo, SliderSetting, Sliders, spawn_slider},
    ui::{HEADING, button, button_colour, label, line},
};

use super::list::name;
use crate::document::{Document, Form};

/// Minimum size, in metres.
const SMALLEST: f32 = 0.01;

/// Applies the sliders and buttons, and shows the selected box.
pub struct SelectedPlugin;

impl Plugin for SelectedPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(turn).add_observer(choose).add_systems(Update, (show, show_title, colour));
    }
}

/// A value of the box. The meaning of a size depends on the shape.
#[derive(Component, Clone, Copy, PartialEq, Eq)]
enum Field {
    Size(usize),
    Move(usize),
    Turn(usize),
    Factor,
}

impl SliderSetting for Field {
    fn scale(self) -> SliderRangeInfo {
        let (name, least, largest, decimals) = match self {
            Self::Size(0) => ("Half x, or radius", SMALLEST, 0.6, 3),
            Self::Size(1) => ("Half y, or half the length", SMALLEST, 0.6, 3),
            Self::Size(_) => ("Half z", SMALLEST, 0.6, 3),
            Self::Move(0) => ("Right", -0.5, 0.5, 3),
            Self::Move(1) => ("Up", -0.5, 0.5, 3),
            Self::Move(_) => ("Back", -0.5, 0.5, 3),
            Self::Turn(0) => ("About x", -180.0, 180.0, 0),
            Self::Turn(1) => ("About y", -180.0, 180.0, 0),
            Self::Turn(_) => ("About z", -180.0, 180.0, 0),
            Self::Factor => ("Damage factor", 0.0, 4.0, 2),
        };
        SliderRangeInfo { name, least, largest, decimals }
    }
}

/// Title of the panel.
#[derive(Component)]
struct Title;

#[derive(Component, Clone, Copy)]
enum Choice {
    Group(HitGroup),
    Form(Form),
    Copy,
    Delete,
}

pub fn spawn(panel: &mut ChildSpawnerCommands) {
    panel.spawn((line(22.0), children![(Title, label("", 14.0, HEADING))]));
    let row = || Node { column_gap: px(4), margin: UiRect::bottom(px(4)), ..line(22.0) };
    panel.spawn(row()).with_children(|row| {
        for (group, name) in [(HitGroup::Head, "head"), (HitGroup::Body, "body"), (HitGroup::Limb, "limb")] {
            row.spawn(button(Choice::Group(group), percent(33), name));
        }
    });
    panel.spawn(row()).with_children(|row| {
        for (form, name) in [(Form::Box, "box"), (Form::Ball, "ball"), (Form::Capsule, "capsule")] {
            row.spawn(button(Choice::Form(form), percent(33), name));
        }
    });
    let triple = |field: fn(usize) -> Field| (0..3).map(field);
    for field in
        triple(Field::Size).chain(triple(Field::Move)).chain(triple(Field::Turn)).chain([Field::Factor])
    {
        spawn_slider(panel, field);
    }
    panel.spawn(row()).with_children(|row| {
        row.spawn(button(Choice::Copy, percent(49), "copy"));
        row.spawn(button(Choice::Delete, percent(49), "delete"));
    });
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

fn turn(change: On<ValueChange<f32>>, mut knobs: Sliders<Field>, mut document: ResMut<Document>) {
    let Some(field) = knobs.changed(&change) else { return };
    let value = change.value;
    document.edit(|hit_box| match field {
        Field::Size(axis) => resize(&mut hit_box.shape, axis, value.max(SMALLEST)),
        Field::Move(axis) => hit_box.offset.translation[axis] = value,
        Field::Turn(axis) => hit_box.offset.rotation[axis] = value,
        Field::Factor => hit_box.factor = value,
    });
}

fn show(mut knobs: Sliders<Field>, document: Res<Document>) {
    let hit_box = document.current();
    let value = |field| match field {
        Field::Size(axis) => size(&hit_box.shape, axis),
        Field::Move(axis) => hit_box.offset.translation.get(axis).copied(),
        Field::Turn(axis) => hit_box.offset.rotation.get(axis).copied(),
        Field::Factor => Some(hit_box.factor),
    };
    knobs.show(
        |field| value(field).unwrap_or_default(),
        |field| match (field, value(field)) {
            (_, None) => "-".to_owned(),
            (Field::Size(_) | Field::Move(_), Some(value)) => format!("{:.1} cm", value * 100.0),
            // Adding zero avoids "-0".
            (Field::Turn(_), Some(value)) => format!("{:.0} deg", value.round() + 0.0),
            (Field::Factor, Some(value)) => format!("x {value:.2}"),
        },
    );
}

fn show_title(document: Res<Document>, mut titles: Query<&mut Text, With<Title>>) {
    for mut title in &mut titles {
        let words = format!("Box {}: {}", document.selected, name(document.current()));
        title.set_if_neq(Text(words));
    }
}

fn choose(pressed: On<Activate>, buttons: Query<&Choice>, mut document: ResMut<Document>) {
    match buttons.get(pressed.entity) {
        Ok(Choice::Group(group)) => document.regroup(*group),
        Ok(Choice::Form(form)) if *form != Form::of(&document.current().shape) => document.reshape(*form),
        Ok(Choice::Copy) => document.add(),
        Ok(Choice::Delete) => document.delete(),
        _ => {}
    }
}

fn colour(document: Res<Document>, mut buttons: Query<(&Choice, &Hovered, &mut BackgroundColor)>) {
    let hit_box = document.current();
    for (choice, hovered, mut colour) in &mut buttons {
        let active = match choice {
            Choice::Group(group) => *group == hit_box.group,
            Choice::Form(form) => *form == Form::of(&hit_box.shape),
            Choice::Copy | Choice::Delete => false,
        };
        colour.set_if_neq(button_colour(active, hovered));
    }
}
