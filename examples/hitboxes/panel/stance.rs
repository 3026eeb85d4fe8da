//! Sliders of the pose.

use bevy::{prelude::*, ui_widgets::ValueChange};
use unlag_examples::screen::{
    slider::{SliderRangeInfo, SliderSetting, Sliders, spawn_slider},
    ui::heading,
};

use crate::stance::Stance;

/// Applies the sliders to the pose, and shows it.
pub struct StancePanelPlugin;

impl Plugin for StancePanelPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(turn).add_systems(Update, show);
    }
}

#[derive(Component, Clone, Copy)]
enum Part {
    Crouch,
    Speed,
    Phase,
    Pitch,
}

impl SliderSetting for Part {
    fn scale(self) -> SliderRangeInfo {
        let (name, least, largest, decimals) = match self {
            Self::Crouch => ("Crouch (C)", 0.0, 1.0, 2),
            Self::Speed => ("Speed (Space walks)", 0.0, 7.0, 1),
            Self::Phase => ("Stride", 0.0, 1.0, 2),
            Self::Pitch => ("Look up", -89.0, 89.0, 0),
        };
        SliderRangeInfo { name, least, largest, decimals }
    }
}

pub fn spawn(panel: &mut ChildSpawnerCommands) {
    heading(panel, "Pose");
    for part in [Part::Crouch, Part::Speed, Part::Phase, Part::Pitch] {
        spawn_slider(panel, part);
    }
}

fn turn(change: On<ValueChange<f32>>, mut knobs: Sliders<Part>, mut stance: ResMut<Stance>) {
    match knobs.changed(&change) {
        Some(Part::Crouch) => stance.crouch = change.value,
        Some(Part::Speed) => stance.speed = change.value,
        Some(Part::Phase) => {
            stance.phase = change.value;
            stance.walking = false;
        }
        Some(Part::Pitch) => stance.pitch = change.value,
        None => {}
    }
}

fn show(mut knobs: Sliders<Part>, stance: Res<Stance>) {
    let value = |part| match part {
        Part::Crouch => stance.crouch,
        Part::Speed => stance.speed,
        Part::Phase => stance.phase,
        Part::Pitch => stance.pitch,
    };
    knobs.show(value, |part| match part {
        Part::Crouch | Part::Phase => format!("{:.2}", value(part)),
        Part::Speed => format!("{:.1} m/s", value(part)),
        Part::Pitch => format!("{:.0} deg", value(part)),
    });
}
