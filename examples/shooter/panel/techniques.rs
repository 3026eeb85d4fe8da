//! Switches of the techniques, with the number beside each. `[` and `]` select one, and T switches it.

use bevy::prelude::*;
use unlag_examples::{
    screen::{
        LiveText,
        ui::{DIM, label, line, live_button},
    },
    techniques::{ReachableServer, Technique, Techniques, measures::Measures, reachable_server},
    tour::Tour,
};

/// Technique that T switches.
#[derive(Resource, Clone, Copy, Debug)]
pub struct Selected(Technique);

impl Default for Selected {
    fn default() -> Self {
        Self(Technique::Prediction)
    }
}

/// Handles the keys.
pub fn plugin(app: &mut App) {
    app.init_resource::<Selected>().add_systems(Update, (follow_tour, reachable_server.pipe(switch)).chain());
}

/// Selects the technique of each stop.
fn follow_tour(tour: Res<Tour>, mut selected: ResMut<Selected>) {
    if tour.is_changed()
        && let Some((_, stop)) = tour.stop()
    {
        selected.0 = stop.technique;
    }
}

fn switch(
    In(server): In<ReachableServer>,
    keys: Res<ButtonInput<KeyCode>>,
    mut selected: ResMut<Selected>,
    mut techniques: ResMut<Techniques>,
) {
    let by = match (keys.just_pressed(KeyCode::BracketLeft), keys.just_pressed(KeyCode::BracketRight)) {
        (true, _) => Technique::ALL.len() - 1,
        (false, true) => 1,
        (false, false) => 0,
    };
    if by > 0 {
        selected.0 = Technique::ALL[(selected.0 as usize + by) % Technique::ALL.len()];
    }
    if keys.just_pressed(KeyCode::KeyT) && server.obeys(selected.0) {
        techniques.step(selected.0);
    }
}

/// Spawns a switch for each technique.
pub fn spawn(panel: &mut ChildSpawnerCommands) {
    for technique in Technique::ALL {
        let name = move |selected: Res<Selected>| {
            format!("{} {}", if selected.0 == technique { '>' } else { ' ' }, technique.name())
        };
        let state = move |In(server): In<ReachableServer>, techniques: Res<Techniques>| {
            if server.obeys(technique) { techniques.state_name(technique) } else { "-" }.to_owned()
        };
        let press = move |In(server): In<ReachableServer>, mut techniques: ResMut<Techniques>| {
            if server.obeys(technique) {
                techniques.step(technique);
            }
        };
        let is_on = move |techniques: Res<Techniques>| techniques.is_on(technique);
        live_button(panel, (name, reachable_server.pipe(state)), reachable_server.pipe(press), is_on);
        let number = move |In(server): In<ReachableServer>, measures: Res<Measures>| match server {
            ReachableServer::No if technique.is_of_server() => "  the server is another process".to_owned(),
            server if !server.obeys(technique) => "  a host has no link".to_owned(),
            _ => format!("  {}", measures.text(technique)),
        };
        let number = LiveText::new(&mut panel.commands(), reachable_server.pipe(number));
        panel.spawn((line(15.0), children![(number, label("", 11.0, DIM))]));
    }
}
