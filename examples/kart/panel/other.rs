//! Panel of the remote kart: visibility and error of each copy.

use bevy::{
    picking::hover::Hovered, prelude::*, time::common_conditions::on_real_timer, ui_widgets::Activate,
};
use bevy_unlag::{
    core::{ProxySmoothing, SUB_TICKS, VisualSystems},
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
    screen::ui::{DIM, FONT, TEXT, TEXT_INTERVAL, button, button_colour, heading, label, line, readouts},
};

use crate::view_settings::{COLOURS, Ghost, View, ViewSettings};

/// Shows the measurements and handles the buttons.
pub struct OtherPlugin;

impl Plugin for OtherPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(choose).add_systems(Update, colour).add_systems(
            PostUpdate,
            read_out.after(VisualSystems::Draw).run_if(on_real_timer(TEXT_INTERVAL)),
        );
    }
}

/// Setting that a button changes.
#[derive(Component, Clone, Copy, PartialEq)]
enum Choice {
    Show(usize),
    SideBySide(bool),
    Ghost(Ghost),
    View(View),
}

/// A value on the panel: of one copy, or of all.
#[derive(Component, Clone, Copy)]
enum Readout {
    Error(usize),
    Delay,
    Behind,
    Interval,
}

const READOUTS: [(Readout, &str); 3] = [
    (Readout::Delay, "Playout delay"),
    (Readout::Behind, "Hermite behind the server"),
    (Readout::Interval, "Updates seen every"),
];

pub fn spawn(panel: &mut ChildSpawnerCommands) {
    heading(panel, "The remote kart, against the server");
    panel
        .spawn((line(16.0), children![label("", FONT, DIM), label("3 s: rms / max cm, max deg", FONT, DIM)]));
    for (mode, (_, name)) in MODES.iter().enumerate() {
        panel.spawn(Node { column_gap: px(6), ..line(25.0) }).with_children(|row| {
            let dot = Node { width: px(12), height: px(12), border_radius: BorderRadius::MAX, ..default() };
            row.spawn((dot, BackgroundColor(COLOURS[mode])));
            row.spawn(button(Choice::Show(mode), px(104), name));
            let rest = Node { flex_grow: 1.0, justify_content: JustifyContent::End, ..default() };
            row.spawn((rest, children![(Readout::Error(mode), label("-", FONT, TEXT))]));
        });
    }
    readouts(panel, "Its view time", &READOUTS);
    let rows: [(&str, &[(Choice, &'static str)]); 3] = [
        ("Lanes", &[(Choice::SideBySide(true), "side by side"), (Choice::SideBySide(false), "in place")]),
        (
            "Ghost",
            &[
                (Choice::Ghost(Ghost::AtViewTime), "truth"),
                (Choice::Ghost(Ghost::Now), "server now"),
                (Choice::Ghost(Ghost::Off), "off"),
            ],
        ),
        (
            "Camera",
            &[
                (Choice::View(View::Own), "own"),
                (Choice::View(View::Other), "other"),
                (Choice::View(View::Above), "above"),
            ],
        ),
    ];
    for (name, choices) in rows {
        let row = Node { column_gap: px(6), margin: UiRect::top(px(5)), ..line(24.0) };
        panel.spawn(row).with_children(|row| {
            row.spawn((Node { width: px(52), ..default() }, children![label(name, FONT, DIM)]));
            for (choice, text) in choices {
                row.spawn(button(*choice, auto(), text));
            }
            row.spawn(Node { flex_grow: 1.0, ..default() });
        });
    }
}

fn choose(pressed: On<Activate>, buttons: Query<&Choice>, mut picture: ResMut<ViewSettings>) {
    match buttons.get(pressed.entity) {
        Ok(Choice::Show(mode)) => picture.shown[*mode] = !picture.shown[*mode],
        Ok(Choice::SideBySide(on)) => picture.side_by_side = *on,
        Ok(Choice::Ghost(ghost)) => picture.ghost = *ghost,
        Ok(Choice::View(view)) => picture.view = *view,
        Err(_) => {}
    }
}

fn colour(picture: Res<ViewSettings>, mut buttons: Query<(&Choice, &Hovered, &mut BackgroundColor)>) {
    for (choice, hovered, mut colour) in &mut buttons {
        let active = match *choice {
            Choice::Show(mode) => picture.shown[mode],
            Choice::SideBySide(on) => picture.side_by_side == on,
            Choice::Ghost(ghost) => picture.ghost == ghost,
            Choice::View(view) => picture.view == view,
        };
        colour.set_if_neq(button_colour(active, hovered));
    }
}

fn read_out(
    (playout, truth): (Res<PlayoutClocks>, Res<GroundTruth>),
    pawns: Query<&NetId>,
    copies: Query<(&CopyOf, &ProxySmoothing, &ProxyTime, &ErrorMeter)>,
    mut texts: Query<(&Readout, &mut Text)>,
) {
    let of = |mode: ProxySmoothing| copies.iter().find(|(_, known, ..)| **known == mode);
    let cubic = of(ProxySmoothing::Hermite);
    for (readout, mut text) in &mut texts {
        let value = match readout {
            Readout::Error(mode) => of(MODES[*mode].0).map(|(.., meter)| {
                let tally = meter.recent();
                let (rms, worst) = (tally.rms() * 100.0, tally.worst * 100.0);
                let digits = usize::from(worst < 100.0);
                format!("{rms:.digits$} / {worst:.digits$}, {:.1}", tally.worst_turn.to_degrees())
            }),
            Readout::Delay => cubic
                .and_then(|(_, _, proxy, _)| playout.clock(proxy.interval()).or(playout.primary()))
                .map(|clock| format!("{:.0} ms", clock.delay_seconds() * 1e3)),
            Readout::Behind => cubic.and_then(|(copy, _, proxy, _)| {
                let now = truth.now(*pawns.get(copy.0).ok()?)?;
                let ticks = now.since(proxy.drawn?) as f64 / SUB_TICKS as f64;
                Some(format!("{:.0} ms", ticks * TICK.as_secs_f64() * 1e3))
            }),
            Readout::Interval => cubic.map(|(_, _, proxy, _)| {
                let ticks = proxy.interval();
                if ticks == 1 { "tick".to_owned() } else { format!("{ticks} ticks") }
            }),
        };
        text.set_if_neq(Text(value.unwrap_or_else(|| "-".to_owned())));
    }
}
