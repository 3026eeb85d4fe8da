//! Panel of the own kart: owner mode and prediction statistics.

use bevy::{
    picking::hover::Hovered, prelude::*, time::common_conditions::on_real_timer, ui_widgets::Activate,
};
use bevy_unlag::{movement::KartState, prelude::*};
use unlag_examples::{
    kart::{
        error_meter::ErrorMeter,
        race_settings::{OwnerMode, RaceSettings},
    },
    screen::ui::{TEXT_INTERVAL, button, button_colour, line, readouts},
};

/// Shows the measurements and handles the buttons.
pub struct OwnPlugin;

impl Plugin for OwnPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(choose).add_systems(Update, (colour, read_out.run_if(on_real_timer(TEXT_INTERVAL))));
    }
}

/// Owner mode that a button selects.
#[derive(Component, Clone, Copy)]
struct Choice(OwnerMode);

/// A value on the panel.
#[derive(Component, Clone, Copy)]
enum Readout {
    Speed,
    Ping,
    Unanswered,
    Replayed,
    Corrections,
    Jumps,
    Furthest,
}

const READOUTS: [(Readout, &str); 7] = [
    (Readout::Speed, "Speed"),
    (Readout::Ping, "Ping"),
    (Readout::Unanswered, "Unacknowledged moves"),
    (Readout::Replayed, "Moves replayed"),
    (Readout::Corrections, "Corrections / largest"),
    (Readout::Jumps, "Jumps in 3 s"),
    (Readout::Furthest, "  longest"),
];

pub fn spawn(panel: &mut ChildSpawnerCommands) {
    readouts(panel, "The own kart", &READOUTS);
    let row = Node { column_gap: px(6), margin: UiRect::top(px(6)), ..line(24.0) };
    panel.spawn(row).with_children(|row| {
        row.spawn(button(Choice(OwnerMode::Overwrite), percent(49), "overwrite"));
        row.spawn(button(Choice(OwnerMode::Replay), percent(49), "replay"));
    });
}

fn choose(pressed: On<Activate>, buttons: Query<&Choice>, switches: Res<RaceSettings>) {
    if let Ok(Choice(mode)) = buttons.get(pressed.entity) {
        switches.set_owner(*mode);
        info!("owner: {mode:?}");
    }
}

fn colour(switches: Res<RaceSettings>, mut buttons: Query<(&Choice, &Hovered, &mut BackgroundColor)>) {
    for (Choice(mode), hovered, mut colour) in &mut buttons {
        colour.set_if_neq(button_colour(*mode == switches.owner(), hovered));
    }
}

fn read_out(
    own: Query<(&KartState, &PredictionStats, &ErrorMeter), With<LocalControl>>,
    mut texts: Query<(&Readout, &mut Text)>,
) {
    let own = own.iter().next();
    for (readout, mut text) in &mut texts {
        let value = own.map(|(state, stats, meter)| {
            let recent = meter.recent();
            match readout {
                Readout::Speed => format!("{:.1} m/s", state.speed()),
                Readout::Ping => format!("{:.0} ms", stats.rtt.as_secs_f64() * 1e3),
                Readout::Unanswered => stats.unacknowledged_moves.to_string(),
                Readout::Replayed => stats.replayed.to_string(),
                Readout::Corrections => {
                    format!("{} / {:.1} cm", stats.corrections, stats.largest_correction * 100.0)
                }
                Readout::Jumps => recent.jumps.to_string(),
                Readout::Furthest => format!("{:.0} cm", recent.worst_jump * 100.0),
            }
        });
        text.set_if_neq(Text(value.unwrap_or_else(|| "-".to_owned())));
    }
}
