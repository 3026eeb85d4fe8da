//! Panel of the bounds and the file.

use bevy::prelude::*;
use bevy_unlag::rewind::{BodyBounds, HitBoxFile};
use unlag_examples::screen::{
    LiveText,
    ui::{DIM, FONT, button, heading, label, line, readout, row},
};

use crate::{document::Document, view::BoxesOutsideBounds};

/// Extents of the boxes over all poses, and the file that they belong to.
#[derive(Resource, Default)]
pub struct Reach {
    of: Option<HitBoxFile>,
    reach: Option<BodyBounds>,
}

/// Spawns the measurements, the buttons of the file and the result of the last action.
pub fn spawn(panel: &mut ChildSpawnerCommands) {
    heading(panel, "Bounds");
    readout(panel, "Radius / needed", |document: Res<Document>, known: Res<Reach>| {
        extent(document.file.bounds.radius, known.reach.as_ref().map(|reach| reach.radius), 1.0)
    });
    readout(panel, "Low / needed", |document: Res<Document>, known: Res<Reach>| {
        extent(document.file.bounds.low, known.reach.as_ref().map(|reach| reach.low), -1.0)
    });
    readout(panel, "High / needed", |document: Res<Document>, known: Res<Reach>| {
        extent(document.file.bounds.high, known.reach.as_ref().map(|reach| reach.high), 1.0)
    });
    readout(panel, "Boxes outside now", |strays: Res<BoxesOutsideBounds>| strays.0.len().to_string());
    row(panel, |row| {
        button(row, percent(33), "measure", |mut document: ResMut<Document>| document.measure(), || false);
        let dirty = |document: Res<Document>| document.dirty;
        button(row, percent(33), "save", |mut document: ResMut<Document>| document.save(), dirty);
        button(row, percent(33), "reload", |mut document: ResMut<Document>| document.reload(), || false);
    });
    let note = LiveText::new(&mut panel.commands(), |document: Res<Document>| {
        let changed = if document.dirty { "changed; " } else { "" };
        format!("{changed}{}", document.note).chars().take(42).collect::<String>()
    });
    panel.spawn((line(18.0), children![(note, label("", FONT, DIM))]));
}

/// Describes a bound. It is marked if the boxes reach beyond it, upwards (1) or downwards (-1).
fn extent(have: f32, need: Option<f32>, outwards: f32) -> String {
    let Some(need) = need else { return format!("{have:.3} m") };
    let mark = if (need - have) * outwards > 1e-3 { " !" } else { "" };
    format!("{have:.3} / {need:.3} m{mark}")
}

/// Measures the extents unless the mouse is dragging, because it samples thousands of poses.
pub fn measure(document: Res<Document>, mouse: Res<ButtonInput<MouseButton>>, mut reach: ResMut<Reach>) {
    if !mouse.pressed(MouseButton::Left) && reach.of.as_ref() != Some(&document.file) {
        *reach = Reach { of: Some(document.file.clone()), reach: document.reach() };
    }
}
