//! Sliders: a name, a value as text, a rail and a thumb.

use bevy::{
    ecs::system::SystemParam,
    prelude::*,
    ui_widgets::{Slider, SliderPrecision, SliderRange, SliderThumb, SliderValue, TrackClick, ValueChange},
};

use super::ui::{DIM, FONT, HEADING, TEXT, label, line};

/// The thumb's width and height, in pixels.
const THUMB: f32 = 14.0;

/// Puts the thumbs where the values are.
#[derive(Debug)]
pub struct SliderPlugin;

impl Plugin for SliderPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, place_thumbs);
    }
}

/// What a slider is like.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// What is written beside it.
    pub name: &'static str,
    /// Its value at the left.
    pub least: f32,
    /// Its value at the right.
    pub largest: f32,
    /// Digits behind the point.
    pub decimals: i32,
}

/// What a slider turns.
pub trait Knob: Component + Copy {
    /// What it is like.
    fn scale(self) -> Scale;
}

/// The value of a slider, as text.
#[derive(Component, Debug)]
pub struct KnobText<K>(K);

/// A line with name and value, and the slider below it.
pub fn spawn_knob<K: Knob>(panel: &mut ChildSpawnerCommands, knob: K) {
    let Scale { name, least, largest, decimals } = knob.scale();
    panel.spawn((line(16.0), children![label(name, FONT, DIM), (KnobText(knob), label("", FONT, TEXT))]));
    let rail =
        Node { height: px(6), width: percent(100), border_radius: BorderRadius::all(px(3)), ..default() };
    // Short by the thumb's width, so that the thumb's place is a plain percentage of it.
    let travel = Node {
        position_type: PositionType::Absolute,
        left: px(0),
        right: px(THUMB),
        top: px(0),
        bottom: px(0),
        ..default()
    };
    let thumb = Node {
        position_type: PositionType::Absolute,
        top: px(3),
        width: px(THUMB),
        height: px(THUMB),
        border_radius: BorderRadius::MAX,
        ..default()
    };
    panel.spawn((
        knob,
        Slider { track_click: TrackClick::Snap, ..default() },
        SliderValue(least),
        SliderRange::new(least, largest),
        SliderPrecision(decimals),
        Node { margin: UiRect::bottom(px(4)), ..line(20.0) },
        children![
            (rail, BackgroundColor(Color::srgb(0.30, 0.34, 0.40))),
            (travel, children![(SliderThumb, thumb, BackgroundColor(HEADING))]),
        ],
    ));
}

/// All sliders of one kind.
#[derive(SystemParam)]
pub struct Knobs<'w, 's, K: Knob> {
    sliders: Query<'w, 's, (Entity, &'static K, &'static SliderValue, &'static SliderRange)>,
    texts: Query<'w, 's, (&'static KnobText<K>, &'static mut Text)>,
    commands: Commands<'w, 's>,
}

impl<K: Knob> Knobs<'_, '_, K> {
    /// Which one was turned, if it is one of these and has another value now.
    pub fn turned(&mut self, change: &ValueChange<f32>) -> Option<K> {
        let (entity, knob, old, _) = self.sliders.get(change.source).ok()?;
        if old.0 == change.value {
            return None;
        }
        // At once, because a drag that follows a snap starts from it.
        self.commands.entity(entity).insert(SliderValue(change.value));
        Some(*knob)
    }

    /// Shows what is so, whoever made it so.
    pub fn show(&mut self, value: impl Fn(K) -> f32, text: impl Fn(K) -> String) {
        for (entity, knob, shown, range) in &self.sliders {
            let wanted = range.clamp(value(*knob));
            if (shown.0 - wanted).abs() > range.span() * 1e-4 {
                self.commands.entity(entity).insert(SliderValue(wanted));
            }
        }
        for (KnobText(knob), mut shown) in &mut self.texts {
            shown.set_if_neq(Text(text(*knob)));
        }
    }
}

fn place_thumbs(
    sliders: Query<(Entity, &SliderValue, &SliderRange), Changed<SliderValue>>,
    children: Query<&Children>,
    mut thumbs: Query<&mut Node, With<SliderThumb>>,
) {
    for (slider, value, range) in &sliders {
        let left = percent(range.thumb_position(range.clamp(value.0)) * 100.0);
        let mut thumbs = thumbs.iter_many_mut(children.iter_descendants(slider));
        while let Some(mut thumb) = thumbs.fetch_next() {
            thumb.left = left;
        }
    }
}
