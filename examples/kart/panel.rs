//! Panels: the update rate, the link and the own kart on the left, the remote kart on the right.

mod other;
mod own;

use bevy::prelude::*;
use unlag_examples::{
    kart::race_settings::RaceSettings,
    screen::{
        WindowArgs,
        link_controls::spawn_sliders,
        ui::{heading, help, left_panel, right_panel, slider},
    },
};

use crate::controls::{AUTOPLAY_HELP, HELP};

/// Maximum of the latency slider, in milliseconds, one way.
const MOST_LATENCY: f32 = 1_000.0;

/// Spawns the panels.
pub fn spawn(window: Res<WindowArgs>, mut commands: Commands) {
    left_panel(&mut commands, |panel| {
        heading(panel, "The server");
        slider(panel, "Updates", RaceSettings::RATES, 0, rate, set_rate);
        heading(panel, "The own link");
        spawn_sliders(panel, MOST_LATENCY);
        own::spawn(panel);
    });
    right_panel(&mut commands, other::spawn);
    help(&mut commands, &[if window.autoplay { AUTOPLAY_HELP } else { HELP }]);
}

/// Returns the effective rate, which is coarser than the slider because updates are sent at whole ticks.
fn rate(switches: Res<RaceSettings>) -> (f32, String) {
    let (rate, ticks) = (switches.rate(), switches.interval());
    let every = if ticks == 1 { "every tick".to_owned() } else { format!("every {ticks} ticks") };
    (rate, format!("{rate:.1} Hz, {every}"))
}

fn set_rate(In(rate): In<f32>, switches: Res<RaceSettings>) {
    switches.set_rate(rate);
    info!("updates at {:.1} Hz", switches.rate());
}
