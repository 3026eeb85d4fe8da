//! Panel of the own kart: owner mode and prediction statistics.

use bevy::prelude::*;
use bevy_unlag::{movement::KartState, prelude::*};
use unlag_examples::{
    kart::{
        error_meter::ErrorMeter,
        race_settings::{OwnerMode, RaceSettings},
    },
    screen::ui::{button, heading, readout, row},
};

type Own<'w, 's, T> = Single<'w, 's, &'static T, With<LocalControl>>;

/// Spawns the measurements and the buttons.
pub fn spawn(panel: &mut ChildSpawnerCommands) {
    heading(panel, "The own kart");
    readout(panel, "Speed", |own: Own<KartState>| format!("{:.1} m/s", own.speed()));
    readout(panel, "Ping", |own: Own<PredictionStats>| format!("{:.0} ms", own.rtt.as_secs_f64() * 1e3));
    readout(panel, "Unacknowledged moves", |own: Own<PredictionStats>| own.unacknowledged_moves.to_string());
    readout(panel, "Moves replayed", |own: Own<PredictionStats>| own.replayed.to_string());
    readout(panel, "Corrections / largest", |own: Own<PredictionStats>| {
        format!("{} / {:.1} cm", own.corrections, own.largest_correction * 100.0)
    });
    readout(panel, "Jumps in 3 s", |own: Own<ErrorMeter>| own.recent().jumps.to_string());
    readout(panel, "  longest", |own: Own<ErrorMeter>| format!("{:.0} cm", own.recent().worst_jump * 100.0));
    row(panel, |row| {
        for (mode, name) in [(OwnerMode::Overwrite, "overwrite"), (OwnerMode::Replay, "replay")] {
            let choose = move |switches: Res<RaceSettings>| {
                switches.set_owner(mode);
                info!("owner: {mode:?}");
            };
            let is_chosen = move |switches: Res<RaceSettings>| switches.owner() == mode;
            button(row, percent(49), name, choose, is_chosen);
        }
    });
}
