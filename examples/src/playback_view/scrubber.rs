//! Bar of the whole recording, with marks.

use crate::screen::ui::{PanelRoot, placed, shaded, slider};
use bevy::{picking::hover::Hovered, prelude::*};
use bevy_unlag::{
    core::Tick,
    record::{Playback, PlaybackMarkKind},
};
use std::collections::BTreeSet;

/// Places along the bar that can have a mark of each kind.
const PLACES: f64 = 800.0;
/// Width of a slider's thumb in pixels, by which its rail is longer than its travel.
const THUMB: f32 = 14.0;

/// Shows the bar.
pub(super) fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn).add_systems(Update, add_marks.run_if(resource_exists::<Playback>));
}

/// Strip of the marks.
#[derive(Component)]
struct MarkStrip;

fn spawn(mut commands: Commands) {
    let place = Node { left: px(12), right: px(12), bottom: px(8), ..placed() };
    let strip = Node { height: px(10), margin: UiRect::right(px(THUMB)), ..default() };
    commands.spawn((PanelRoot, Hovered::default(), shaded(place))).with_children(|bar| {
        bar.spawn((MarkStrip, Pickable::IGNORE, strip));
        let names = "deaths red, corrections yellow, refusals violet, other marks blue";
        slider(bar, names, (0.0, 1.0), 4, value, set);
    });
}

fn value(playback: Res<Playback>) -> (f32, String) {
    let (now, all) = (playback.seconds(), playback.duration());
    ((now / all.max(1e-3)) as f32, format!("{now:.2} of {all:.2} s"))
}

fn set(In(share): In<f32>, mut playback: ResMut<Playback>) {
    let seconds = f64::from(share) * playback.duration();
    playback.seek_seconds(seconds);
}

fn colour(kind: &PlaybackMarkKind) -> (u8, Color) {
    match kind {
        PlaybackMarkKind::Death => (0, Color::srgb(1.0, 0.30, 0.25)),
        PlaybackMarkKind::Correction { .. } => (1, Color::srgb(1.0, 0.85, 0.25)),
        PlaybackMarkKind::Refusal { .. } => (2, Color::srgb(0.75, 0.45, 1.0)),
        PlaybackMarkKind::Game(_) => (3, Color::srgb(0.35, 0.75, 1.0)),
    }
}

/// Adds the marks that have been read since the last frame.
fn add_marks(
    playback: Res<Playback>,
    strip: Single<Entity, With<MarkStrip>>,
    (mut shown, mut taken, mut of): (Local<usize>, Local<BTreeSet<(u8, u32)>>, Local<(Tick, Tick)>),
    mut commands: Commands,
) {
    let marks = playback.index().marks();
    let length = playback.duration().max(1e-3);
    if *of != playback.span() {
        // The match goes on: all marks move.
        (*of, *shown) = (playback.span(), 0);
        taken.clear();
        commands.entity(*strip).despawn_children();
    }
    for mark in &marks[(*shown).min(marks.len())..] {
        let share = playback.seconds_at(mark.tick) / length;
        if !(0.0..=1.0).contains(&share) {
            continue;
        }
        let (lane, colour) = colour(&mark.kind);
        // Marks at the same place are one.
        if !taken.insert((lane, (share * PLACES) as u32)) {
            continue;
        }
        let left = percent((share * 100.0) as f32);
        let (tall, top) = if lane == 0 { (10.0, 0.0) } else { (5.0, 5.0) };
        let margin = UiRect::left(px(THUMB / 2.0 - 1.0));
        let node = Node { left, top: px(top), width: px(2), height: px(tall), margin, ..placed() };
        commands.spawn((ChildOf(*strip), Pickable::IGNORE, node, BackgroundColor(colour)));
    }
    *shown = marks.len();
}
