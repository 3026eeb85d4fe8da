//! Sliders with a name, a value as text, a rail and a thumb.

use bevy::{
    ecs::system::SystemParam,
    prelude::*,
    ui_widgets::{Slider, SliderPrecision, SliderRange, SliderThumb, SliderValue, TrackClick, ValueChange},
};

use super::ui::{DIM, FONT, HEADING, TEXT, label, line};

/// Width and height of the thumb, in pixels.
const THUMB: f32 = 14.0;

/// Positions the thumbs according to the slider values.
#[derive(Debug)]
pub struct SliderPlugin;

impl Plugin for SliderPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, place_thumbs);
    }
}

/// Name and range of a slider.
#[derive(Clone, Copy, Debug)]
pub struct SliderRangeInfo {
    /// Label beside the slider.
    pub name: &'static str,
    /// Value at the left end.
    pub least: f32,
    /// Value at the right end.
    pub largest: f32,
    /// Number of digits after the decimal point.
    pub decimals: i32,
}

/// A setting that a slider controls.
pub trait SliderSetting: Component + Copy {
    /// Returns the name and the range of its slider.
    fn scale(self) -> SliderRangeInfo;
}

/// Text that shows the value of a slider.
#[derive(Component, Debug)]
pub struct SliderText<K>(K);

/// Spawns a line with name and value, and the slider below it.
pub fn spawn_slider<K: SliderSetting>(panel: &mut ChildSpawnerCommands, knob: K) {
    let SliderRangeInfo { name, least, largest, decimals } = knob.scale();
    panel.spawn((line(16.0), children![label(name, FONT, DIM), (SliderText(knob), label("", FONT, TEXT))]));
    let rail =
        Node { height: px(6), width: percent(100), border_radius: BorderRadius::all(px(3)), ..default() };
    // Shorter than the rail by the thumb's width, so that the thumb's position is a plain percentage.
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
pub struct Sliders<'w, 's, K: SliderSetting> {
    sliders: Query<'w, 's, (Entity, &'static K, &'static SliderValue, &'static SliderRange)>,
    texts: Query<'w, 's, (&'static SliderText<K>, &'static mut Text)>,
    commands: Commands<'w, 's>,
}

impl<K: SliderSetting> Sliders<'_, '_, K> {
    /// Returns the setting whose slider changed, if it is of this kind and its value is new.
    pub fn changed(&mut self, change: &ValueChange<f32>) -> Option<K> {
        let (entity, knob, old, _) = self.sliders.get(change.source).ok()?;
        if old.0 == change.value {
            return None;
        }
        // Applied at once, because a drag that follows a click on the track starts from this value.
        self.commands.entity(entity).insert(SliderValue(change.value));
        Some(*knob)
    }

    /// Shows the current values, whatever set them.
    pub fn show(&mut self, value: impl Fn(K) -> f32, text: impl Fn(K) -> String) {
        for (entity, knob, shown, range) in &self.sliders {
            let wanted = range.clamp(value(*knob));
            if (shown.0 - wanted).abs() > range.span() * 1e-4 {
                self.commands.entity(entity).insert(SliderValue(wanted));
            }
        }
        for (SliderText(knob), mut shown) in &mut self.texts {
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
