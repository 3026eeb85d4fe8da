//! Panel of the remote kart: visibility and error of each copy.

use bevy::{ecs::system::SystemParam, prelude::*};
use bevy_unlag::{
    core::{ProxySmoothing, SUB_TICKS},
    prelude::*,
    smoothing::{PlayoutClocks, ProxyTime},
};
use unlag_examples::{
    app::TICK,
    kart::{
        copies::{CopyOf, MODES},
        error_meter::ErrorMeter,
        ground_truth::GroundTruth,
    },
    screen::{
        LiveText,
        ui::{DIM, FONT, TEXT, button, choice_button, heading, label, line, readout, row},
    },
};

use crate::view_settings::{COLOURS, Ghost, View, ViewSettings};

/// Spawns the measurements and the buttons.
pub fn spawn(panel: &mut ChildSpawnerCommands) {
    heading(panel, "The remote kart, against the server");
    panel
        .spawn((line(16.0), children![label("", FONT, DIM), label("3 s: rms / max cm, max deg", FONT, DIM)]));
    for (mode, (smoothing, name)) in MODES.into_iter().enumerate() {
        let error = LiveText::new(&mut panel.commands(), move |karts: RemoteKart| karts.error(smoothing));
        row(panel, |row| {
            let dot = Node { width: px(12), height: px(12), border_radius: BorderRadius::MAX, ..default() };
            row.spawn((dot, BackgroundColor(COLOURS[mode])));
            button(
                row,
                px(104),
                name,
                move |mut picture: ResMut<ViewSettings>| picture.shown[mode] = !picture.shown[mode],
                move |picture: Res<ViewSettings>| picture.shown[mode],
            );
            let rest = Node { flex_grow: 1.0, justify_content: JustifyContent::End, ..default() };
            row.spawn((rest, children![(error, label("-", FONT, TEXT))]));
        });
    }
    heading(panel, "Its view time");
    let dash = || "-".to_owned();
    readout(panel, "Playout delay", move |karts: RemoteKart| karts.delay().unwrap_or_else(dash));
    readout(panel, "Hermite behind the server", move |karts: RemoteKart| karts.behind().unwrap_or_else(dash));
    readout(panel, "Updates seen every", move |karts: RemoteKart| karts.interval().unwrap_or_else(dash));
    choices(panel, "Lanes", [("side by side", true), ("in place", false)], |picture| {
        &mut picture.side_by_side
    });
    let ghosts = [("truth", Ghost::AtViewTime), ("server now", Ghost::Now), ("off", Ghost::Off)];
    choices(panel, "Ghost", ghosts, |picture| &mut picture.ghost);
    let views = [("own", View::Own), ("other", View::Other), ("above", View::Above)];
    choices(panel, "Camera", views, |picture| &mut picture.view);
}

/// Spawns a row of buttons that set a field of the view settings.
fn choices<T: Copy + PartialEq + Send + Sync + 'static, const N: usize>(
    panel: &mut ChildSpawnerCommands,
    name: &str,
    choices: [(&str, T); N],
    field: fn(&mut ViewSettings) -> &mut T,
) {
    row(panel, |row| {
        row.spawn((Node { width: px(52), ..default() }, children![label(name, FONT, DIM)]));
        for choice in choices {
            choice_button(row, auto(), choice, field);
        }
        row.spawn(Node { flex_grow: 1.0, ..default() });
    });
}

/// The copies of the remote kart, and the clocks that they are compared with.
#[derive(SystemParam)]
struct RemoteKart<'w, 's> {
    playout: Res<'w, PlayoutClocks>,
    truth: Res<'w, GroundTruth>,
    pawns: Query<'w, 's, &'static NetId>,
    copies:
        Query<'w, 's, (&'static CopyOf, &'static ProxySmoothing, &'static ProxyTime, &'static ErrorMeter)>,
}

impl RemoteKart<'_, '_> {
    fn copy(&self, mode: ProxySmoothing) -> Option<(&CopyOf, &ProxyTime, &ErrorMeter)> {
        let (copy, _, proxy, meter) = self.copies.iter().find(|(_, known, ..)| **known == mode)?;
        Some((copy, proxy, meter))
    }

    fn error(&self, mode: ProxySmoothing) -> String {
        let Some((.., meter)) = self.copy(mode) else { return "-".to_owned() };
        let tally = meter.recent();
        let (rms, worst) = (tally.rms() * 100.0, tally.worst * 100.0);
        let digits = usize::from(worst < 100.0);
        format!("{rms:.digits$} / {worst:.digits$}, {:.1}", tally.worst_turn.to_degrees())
    }

    fn delay(&self) -> Option<String> {
        let (_, proxy, _) = self.copy(ProxySmoothing::Hermite)?;
        let clock = self.playout.clock(proxy.interval()).or(self.playout.primary())?;
        Some(format!("{:.0} ms", clock.delay_seconds() * 1e3))
    }

    fn behind(&self) -> Option<String> {
        let (copy, proxy, _) = self.copy(ProxySmoothing::Hermite)?;
        let now = self.truth.now(*self.pawns.get(copy.0).ok()?)?;
        let ticks = now.since(proxy.drawn?) as f64 / SUB_TICKS as f64;
        Some(format!("{:.0} ms", ticks * TICK.as_secs_f64() * 1e3))
    }

    fn interval(&self) -> Option<String> {
        let ticks = self.copy(ProxySmoothing::Hermite)?.1.interval();
        Some(if ticks == 1 { "tick".to_owned() } else { format!("{ticks} ticks") })
    }
}
