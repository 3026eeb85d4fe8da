//! Slider of the update rate.

use bevy::{prelude::*, ui_widgets::ValueChange};
use unlag_examples::{
    kart::race_settings::RaceSettings,
    screen::slider::{SliderRangeInfo, SliderSetting, Sliders, spawn_slider},
};

/// Applies the slider to the update rate, and shows the effective rate.
pub struct RatePlugin;

impl Plugin for RatePlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(turn).add_systems(Update, show);
    }
}

/// Marks the slider of the update rate.
#[derive(Component, Clone, Copy)]
struct Rate;

impl SliderSetting for Rate {
    fn scale(self) -> SliderRangeInfo {
        let (least, largest) = RaceSettings::RATES;
        SliderRangeInfo { name: "Updates", least, largest, decimals: 0 }
    }
}

pub fn spawn(panel: &mut ChildSpawnerCommands) {
    spawn_slider(panel, Rate);
}

fn turn(change: On<ValueChange<f32>>, mut knobs: Sliders<Rate>, switches: Res<RaceSettings>) {
    if knobs.changed(&change).is_some() {
        switches.set_rate(change.value);
        info!("updates at {:.1} Hz", switches.rate());
    }
}

/// Shows the effective rate, which is coarser than the slider because updates are sent at whole ticks.
fn show(mut knobs: Sliders<Rate>, switches: Res<RaceSettings>) {
    let (rate, ticks) = (switches.rate(), switches.interval());
    let every = if ticks == 1 { "every tick".to_owned() } else { format!("every {ticks} ticks") };
    knobs.show(|Rate| rate, |Rate| format!("{rate:.1} Hz, {every}"));
}
