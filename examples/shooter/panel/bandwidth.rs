//! Table of the bandwidth of each message class; F6 toggles it.

use core::fmt::Write;

use bevy::prelude::*;
use bevy_unlag::net::{Bandwidth, ClassTraffic, DownlinkBudget, GameMessageStats, MessageClass};
use lightyear::prelude::{Client, Connected, server::ClientOf};
use unlag_examples::screen::{
    LiveText, ShownIf,
    ui::{TEXT, banner, label, shaded},
};

/// Key that toggles the table.
const KEY: KeyCode = KeyCode::F6;
/// Font size of the table; Bevy's built-in font is monospaced.
const SMALL: f32 = 11.0;

/// Whether the table is shown.
#[derive(Resource)]
pub struct ShowsTable(pub bool);

/// Spawns the table.
pub fn spawn(mut commands: Commands) {
    let shown = ShownIf::new(&mut commands, |shows: Res<ShowsTable>| shows.0);
    let text = LiveText::new(&mut commands, text);
    commands.spawn((
        banner(2.0),
        shown,
        // Covers the scores: a small window has no other space for it.
        GlobalZIndex(1),
        children![(
            Pickable::IGNORE,
            shaded(Node::default()),
            children![(label("", SMALL, TEXT), Pickable::IGNORE, text)],
        )],
    ));
}

/// Shows and hides the table.
pub fn toggle(keys: Res<ButtonInput<KeyCode>>, mut shows: ResMut<ShowsTable>) {
    if keys.just_pressed(KEY) {
        shows.0 = !shows.0;
    }
}

fn text(
    shows: Res<ShowsTable>,
    bandwidth: Res<Bandwidth>,
    messages: Res<GameMessageStats>,
    budget: Option<Res<DownlinkBudget>>,
    links: Query<Has<ClientOf>, (With<Connected>, Or<(With<Client>, With<ClientOf>)>)>,
) -> String {
    if !shows.0 {
        return String::new();
    }
    // A server adds up all its links.
    let clients = links.iter().filter(|server| *server).count().max(1) as f32;
    let budget = budget.as_deref().copied().unwrap_or_default().bytes_per_second as f32 * clients;
    table(&bandwidth, budget, &messages)
}

/// Message classes that count against the downlink budget.
const BUDGETED: [MessageClass; 3] =
    [MessageClass::Snapshots, MessageClass::Tracers, MessageClass::GameDownlink];

fn table(bandwidth: &Bandwidth, budget: f32, messages: &GameMessageStats) -> String {
    let mut text = String::new();
    for (title, up, sum) in [("TO THE SERVER", true, bandwidth.up()), ("TO CLIENTS", false, bandwidth.down())]
    {
        _ = writeln!(text, "{title:<14}{:>8}{:>7}{:>7}{:>9}", "B/s", "/s", "share", "kB");
        for class in MessageClass::ALL.into_iter().filter(|class| class.is_uplink() == up) {
            row(&mut text, class.name(), bandwidth.of(class), sum.bytes_per_second);
        }
        row(&mut text, "all", sum, sum.bytes_per_second);
        text.push('\n');
    }
    let used: f32 = BUDGETED.into_iter().map(|class| bandwidth.of(class).bytes_per_second).sum();
    let share = if budget > 0.0 { used / budget * 100.0 } else { 0.0 };
    _ = writeln!(text, "{:<14}{budget:>8.0}{share:>12.1} % used", "budget");
    let GameMessageStats { waiting, refused, expired, .. } = messages;
    _ = write!(text, "game: {waiting} waiting, {refused} refused, {expired} expired   F6 hides");
    text
}

fn row(text: &mut String, name: &str, traffic: ClassTraffic, all: f32) {
    let share = if all > 0.0 { traffic.bytes_per_second / all * 100.0 } else { 0.0 };
    let (bytes, count) = (traffic.bytes_per_second, traffic.messages_per_second);
    let sum = traffic.bytes as f64 / 1e3;
    _ = writeln!(text, "{name:<14}{bytes:>8.0}{count:>7.0}{share:>6.0}%{sum:>9.1}");
}
