//! Box of the guided tour. F7 begins and ends it, and Page Down and Page Up go to the next and the previous stop.

use bevy::{picking::hover::Hovered, prelude::*};
use unlag_examples::{
    screen::{
        LiveText, ShownIf,
        ui::{DIM, HEADING, PanelRoot, TEXT, button, label, paragraph, placed, row, shaded},
    },
    techniques::{ReachableServer, Techniques, reachable_server},
    tour::{STOPS, Tour, TourStop},
};

/// Width of the box in pixels.
const WIDTH: f32 = 620.0;

/// Goes through the stops by keys.
pub fn control(keys: Res<ButtonInput<KeyCode>>, mut tour: ResMut<Tour>) {
    if keys.just_pressed(KeyCode::F7) {
        tour.toggle();
    }
    for (key, forward) in [(KeyCode::PageDown, true), (KeyCode::PageUp, false)] {
        if keys.just_pressed(key) {
            tour.go(forward);
        }
    }
}

/// Spawns the box.
pub fn spawn(mut commands: Commands) {
    let shown = ShownIf::new(&mut commands, |tour: Res<Tour>| tour.stop().is_some());
    let node = Node {
        left: percent(50),
        bottom: px(152),
        width: px(WIDTH),
        margin: UiRect::left(px(-WIDTH / 2.0)),
        row_gap: px(3),
        ..placed()
    };
    let title = LiveText::new(&mut commands, |tour: Res<Tour>, techniques: Res<Techniques>| {
        tour.stop().map_or_else(String::new, |(number, stop)| {
            let (name, state) = (stop.technique.name(), techniques.state_name(stop.technique));
            format!("{number}/{}  {}  ({}; {name}: {state})", STOPS.len(), stop.title, stop.preset)
        })
    });
    let to_do = text_of(&mut commands, |stop| format!("Do:   {}", stop.to_do));
    let to_see = text_of(&mut commands, |stop| format!("See:  {}", stop.to_see));
    commands.spawn((PanelRoot, Hovered::default(), shown, shaded(node))).with_children(|panel| {
        panel.spawn((title, label("", 14.0, HEADING), Pickable::IGNORE));
        panel.spawn((to_do, paragraph("", 12.0, TEXT), Pickable::IGNORE));
        panel.spawn((to_see, paragraph("", 12.0, DIM), Pickable::IGNORE));
        row(panel, |row| {
            button(row, auto(), "Page Up: back", |mut tour: ResMut<Tour>| tour.go(false), || false);
            button(
                row,
                auto(),
                "T: switch",
                reachable_server.pipe(switch),
                |tour: Res<Tour>, techniques: Res<Techniques>| {
                    tour.stop().is_some_and(|(_, stop)| techniques.is_on(stop.technique))
                },
            );
            button(row, auto(), "Page Down: next", |mut tour: ResMut<Tour>| tour.go(true), || false);
            button(row, auto(), "F7: end", |mut tour: ResMut<Tour>| tour.toggle(), || false);
        });
    });
}

fn switch(In(server): In<ReachableServer>, tour: Res<Tour>, mut techniques: ResMut<Techniques>) {
    if let Some((_, stop)) = tour.stop()
        && server.obeys(stop.technique)
    {
        techniques.step(stop.technique);
    }
}

fn text_of(commands: &mut Commands, text: fn(&TourStop) -> String) -> LiveText {
    LiveText::new(commands, move |tour: Res<Tour>| {
        tour.stop().map_or_else(String::new, |(_, stop)| text(stop))
    })
}
