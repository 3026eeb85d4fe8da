//! Panel of the bounds and the file.

use bevy::{
    picking::hover::Hovered, prelude::*, time::common_conditions::on_real_timer, ui_widgets::Activate,
};
use bevy_unlag::rewind::{BodyBounds, HitBoxFile};
use unlag_examples::screen::ui::{
    DIM, FONT, TEXT, TEXT_INTERVAL, button, button_colour, label, line, readouts,
};

use crate::{document::Document, view::BoxesOutsideBounds};

/// Shows the measurements and handles the buttons.
pub struct BoundsPlugin;

impl Plugin for BoundsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Reach>()
            .add_observer(choose)
            .add_systems(Update, (measure, read_out).chain().run_if(on_real_timer(TEXT_INTERVAL)));
        app.add_systems(Update, colour);
    }
}

/// Extents of the boxes over all poses, and the file that they belong to.
#[derive(Resource, Default)]
struct Reach {
    of: Option<HitBoxFile>,
    reach: Option<BodyBounds>,
}

#[derive(Component, Clone, Copy)]
enum Readout {
    Radius,
    Low,
    High,
    Out,
}

const READOUTS: [(Readout, &str); 4] = [
    (Readout::Radius, "Radius / needed"),
    (Readout::Low, "Low / needed"),
    (Readout::High, "High / needed"),
    (Readout::Out, "Boxes outside now"),
];

#[derive(Component, Clone, Copy)]
enum Choice {
    Measure,
    Save,
    Reload,
}

/// Text with the result of the last action.
#[derive(Component)]
struct Note;

pub fn spawn(panel: &mut ChildSpawnerCommands) {
    readouts(panel, "Bounds", &READOUTS);
    let row = Node { column_gap: px(4), margin: UiRect::top(px(4)), ..line(22.0) };
    panel.spawn(row).with_children(|row| {
        row.spawn(button(Choice::Measure, percent(33), "measure"));
        row.spawn(button(Choice::Save, percent(33), "save"));
        row.spawn(button(Choice::Reload, percent(33), "reload"));
    });
    panel.spawn((line(18.0), children![(Note, label("", FONT, DIM))]));
}

fn choose(pressed: On<Activate>, buttons: Query<&Choice>, mut document: ResMut<Document>) {
    match buttons.get(pressed.entity) {
        Ok(Choice::Measure) => document.measure(),
        Ok(Choice::Save) => document.save(),
        Ok(Choice::Reload) => document.reload(),
        Err(_) => {}
    }
}

/// Measures the extents unless the mouse is dragging, because it samples thousands of poses.
fn measure(document: Res<Document>, mouse: Res<ButtonInput<MouseButton>>, mut reach: ResMut<Reach>) {
    if !mouse.pressed(MouseButton::Left) && reach.of.as_ref() != Some(&document.file) {
        *reach = Reach { of: Some(document.file.clone()), reach: document.reach() };
    }
}

fn read_out(
    document: Res<Document>,
    strays: Res<BoxesOutsideBounds>,
    reach: Res<Reach>,
    mut texts: Query<(&Readout, &mut Text, &mut TextColor), Without<Note>>,
    mut notes: Query<&mut Text, With<Note>>,
) {
    let bounds = document.file.bounds;
    for (readout, mut text, mut paint) in &mut texts {
        let pair = |have: f32, need: fn(&BodyBounds) -> f32, enough: fn(f32, f32) -> bool| match &reach.reach
        {
            Some(reach) => (format!("{have:.3} / {:.3} m", need(reach)), enough(have, need(reach))),
            None => (format!("{have:.3} m"), true),
        };
        let (words, good) = match readout {
            Readout::Radius => pair(bounds.radius, |reach| reach.radius, |have, need| have >= need - 1e-3),
            Readout::Low => pair(bounds.low, |reach| reach.low, |have, need| have <= need + 1e-3),
            Readout::High => pair(bounds.high, |reach| reach.high, |have, need| have >= need - 1e-3),
            Readout::Out => (strays.0.len().to_string(), strays.0.is_empty()),
        };
        text.set_if_neq(Text(words));
        paint.set_if_neq(TextColor(if good { TEXT } else { Color::srgb(1.0, 0.35, 0.3) }));
    }
    for mut note in &mut notes {
        let changed = if document.dirty { "changed; " } else { "" };
        let words: String = format!("{changed}{}", document.note).chars().take(42).collect();
        note.set_if_neq(Text(words));
    }
}

fn colour(mut buttons: Query<(&Choice, &Hovered, &mut BackgroundColor)>, document: Res<Document>) {
    for (choice, hovered, mut colour) in &mut buttons {
        let active = matches!(choice, Choice::Save) && document.dirty;
        colour.set_if_neq(button_colour(active, hovered));
    }
}
