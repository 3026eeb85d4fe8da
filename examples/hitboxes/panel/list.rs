//! List of the boxes.

use bevy::prelude::*;
use bevy_unlag::rewind::{Bone, FileBox};
use unlag_examples::screen::ui::{DIM, FONT, TEXT, heading, label, line};

use crate::{
    document::{Document, Form},
    view::{BoxesOutsideBounds, colour},
};

/// Number of visible lines.
const LINES: usize = 21;

/// Cell of a line: the name or the kind of its box.
#[derive(Component, Clone, Copy)]
pub enum Cell {
    Name(usize),
    Kind(usize),
}

pub fn spawn(panel: &mut ChildSpawnerCommands) {
    heading(panel, "Boxes (Tab)");
    for row in 0..LINES {
        let cells =
            children![(Cell::Name(row), label("", FONT, TEXT)), (Cell::Kind(row), label("", FONT, DIM))];
        panel.spawn((line(16.0), cells));
    }
}

pub fn name(hit_box: &FileBox) -> String {
    match &hit_box.bone {
        Bone::Name(name) => name.chars().take(22).collect(),
        Bone::Limb(limb) => format!("limb {limb}"),
    }
}

/// Fills the list.
pub fn fill(
    document: Res<Document>,
    strays: Res<BoxesOutsideBounds>,
    mut cells: Query<(&Cell, &mut Text, &mut TextColor)>,
) {
    if !document.is_changed() && !strays.is_changed() {
        return;
    }
    let boxes = &document.file.boxes;
    // Keeps the selected box in view.
    let first = document.selected.saturating_sub(LINES / 2).min(boxes.len().saturating_sub(LINES));
    for (cell, mut text, mut paint) in &mut cells {
        let (Cell::Name(row) | Cell::Kind(row)) = cell;
        let row = first + row;
        let Some(hit_box) = boxes.get(row) else {
            text.set_if_neq(Text::default());
            continue;
        };
        let is_out = strays.0.contains(&row);
        let (words, tint) = match cell {
            Cell::Name(_) => {
                let mark = if row == document.selected { "> " } else { "  " };
                let tint = if is_out { Color::srgb(1.0, 0.35, 0.3) } else { TEXT };
                (format!("{mark}{}", name(hit_box)), tint)
            }
            Cell::Kind(_) => {
                let (out, form) = (if is_out { "OUT  " } else { "" }, Form::of(&hit_box.shape).name());
                let words = format!("{out}{form}  {:?}  x{}", hit_box.group, hit_box.factor);
                (words, colour(hit_box.group).into())
            }
        };
        text.set_if_neq(Text(words));
        paint.set_if_neq(TextColor(tint));
    }
}
