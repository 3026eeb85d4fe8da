//! Panels: switches of the techniques, statistics of network, prediction and shots, the simulated link, the net graph,
//! debug controls, and the guided tour.

mod bandwidth;
mod debug_controls;
mod net_graph;
mod readout;
mod techniques;
mod timeline;
mod tour;

use bevy::{prelude::*, window::PrimaryWindow};
use bevy_unlag::prediction::CorrectionCause;
use unlag_examples::{
    hero::Hero,
    screen::{
        ShownIf,
        link_controls::{has_link, spawn_controls},
        ui::{DIM, FONT, column, label, left_panel, line, right_panel, section},
    },
};

pub use net_graph::ShowsGraph;

use crate::play::Play;

/// Size of the window, in logical pixels, for which the sizes of the user interface are given.
const DESIGN_SIZE: Vec2 = Vec2::new(1280.0, 720.0);
/// Smallest and largest scale of the user interface.
const SCALES: (f32, f32) = (0.4, 3.0);

/// Adds the panels, which F1 shows and hides, and everything that they show.
pub fn add(app: &mut App, play: &Play) {
    play.showcase.add(app);
    app.add_plugins((readout::plugin, debug_controls::plugin, net_graph::plugin, techniques::plugin))
        .insert_resource(ShowsPanels(!play.showcase.no_panels))
        .insert_resource(ShowsGraph(!play.showcase.no_panels))
        .insert_resource(bandwidth::ShowsTable(play.bandwidth))
        .init_resource::<timeline::ShowsTimeline>()
        .add_systems(Startup, (spawn, bandwidth::spawn, timeline::spawn, tour::spawn))
        .add_systems(Update, (bandwidth::toggle, timeline::toggle, tour::control, toggle, scale))
        .add_plugins(unlag_examples::timeline::plugin::<Hero>);
}

/// Whether the panels at the sides are shown.
#[derive(Resource)]
pub struct ShowsPanels(pub bool);

/// A panel at a side.
#[derive(Component)]
struct SidePanel;

/// F1 shows and hides the panels.
fn toggle(
    keys: Res<ButtonInput<KeyCode>>,
    mut shows: ResMut<ShowsPanels>,
    mut panels: Query<&mut Node, With<SidePanel>>,
) {
    if keys.just_pressed(KeyCode::F1) {
        shows.0 = !shows.0;
    }
    let display = if shows.0 { Display::Flex } else { Display::None };
    for mut panel in panels.iter_mut().filter(|panel| panel.display != display) {
        panel.display = display;
    }
}

/// Scales the user interface with the window.
fn scale(windows: Query<&Window, With<PrimaryWindow>>, mut scale: ResMut<UiScale>) {
    let Ok(window) = windows.single() else { return };
    let wanted = (window.size() / DESIGN_SIZE).min_element().clamp(SCALES.0, SCALES.1);
    if (scale.0 - wanted).abs() > 1e-3 {
        scale.0 = wanted;
    }
}

fn spawn(mut commands: Commands) {
    let (without, with) = (ShownIf::new(&mut commands, not(has_link)), ShownIf::new(&mut commands, has_link));
    let left = left_panel(&mut commands, |panel| {
        section(panel, "Network", true, readout::spawn_network);
        section(panel, "Shots", true, readout::spawn_shots);
        section(panel, "Simulated link", true, |panel| {
            panel.spawn((without, line(16.0), children![label("hosting: no link", FONT, DIM)]));
            panel.spawn((with, column())).with_children(spawn_controls);
        });
    });
    let right = right_panel(&mut commands, |panel| {
        section(panel, "Techniques ([ ] select, T)", true, techniques::spawn);
        section(panel, "Try it", true, debug_controls::spawn);
        section(panel, "Prediction", false, readout::spawn_prediction);
        section(panel, "Messages (F6: all)", false, readout::spawn_messages);
        section(panel, "Corrections by cause", false, |panel| {
            readout::spawn_no_corrections(panel);
            for cause in CorrectionCause::ALL {
                readout::spawn_cause(panel, cause);
            }
        });
    });
    for panel in [left, right] {
        commands.entity(panel).insert(SidePanel);
    }
}
