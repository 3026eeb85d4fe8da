//! On-screen log of move events.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag::core::{ExtendedEvent, MoveModel, StepEvent};
use bevy_unlag_movement::{
    AbilityEvent, MoveEvent,
    abilities::{DashEvent, TeleportEvent},
};
use unlag_examples::screen::ui::{TEXT, label, placed};

use crate::pawn::{Pawn, Player};

/// Number of visible lines.
const LINES: usize = 6;
/// Time until a line starts to fade, and duration of the fade, in seconds.
const FADE: (f32, f32) = (2.5, 3.0);

/// Shows the most recent events.
pub fn plugin(app: &mut App) {
    app.init_resource::<Log>().add_systems(Startup, spawn).add_systems(Update, (listen, show).chain());
}

/// The most recent events, newest first.
#[derive(Resource, Default)]
struct Log(VecDeque<Entry>);

struct Entry {
    text: String,
    /// Number of consecutive events of this kind.
    count: u32,
    /// Time of the newest of them.
    at: f32,
}

/// Line of the log, counted from the newest.
#[derive(Component)]
struct Line(usize);

fn spawn(mut commands: Commands) {
    let column = Node {
        right: px(14),
        top: px(12),
        flex_direction: FlexDirection::Column,
        align_items: AlignItems::End,
        row_gap: px(2),
        ..placed()
    };
    commands.spawn(column).with_children(|column| {
        for line in 0..LINES {
            column.spawn((
                Line(line),
                label("", 14.0, TEXT),
                TextShadow { offset: Vec2::splat(1.0), color: Color::BLACK },
            ));
        }
    });
}

fn listen(
    time: Res<Time>,
    players: Query<(), With<Player>>,
    mut events: MessageReader<StepEvent<Pawn>>,
    mut log: ResMut<Log>,
) {
    let at = time.elapsed_secs();
    for event in events.read().filter(|event| players.contains(event.entity)) {
        let text = describe(&event.event);
        // Another event of the same kind increments the count and replaces the text.
        let kind = |text: &str| text.split(' ').next().map(str::to_owned);
        match log.0.front_mut().filter(|last| kind(&last.text) == kind(&text)) {
            Some(last) => *last = Entry { text, count: last.count + 1, at },
            None => log.0.push_front(Entry { text, count: 1, at }),
        }
        log.0.truncate(LINES);
    }
}

fn show(time: Res<Time>, log: Res<Log>, mut lines: Query<(&Line, &mut Text, &mut TextColor)>) {
    for (Line(line), mut text, mut colour) in &mut lines {
        let Some(entry) = log.0.get(*line) else {
            text.set_if_neq(Text::default());
            continue;
        };
        let age = time.elapsed_secs() - entry.at;
        let alpha = 1.0 - ((age - FADE.0) / FADE.1).clamp(0.0, 1.0);
        let times = if entry.count > 1 { format!("  x{}", entry.count) } else { String::new() };
        text.set_if_neq(Text(format!("{}{times}", entry.text)));
        colour.set_if_neq(TextColor(TEXT.with_alpha(alpha)));
    }
}

/// Describes an event in one line. Its first word is the kind of the event.
fn describe(event: &<Pawn as MoveModel>::Event) -> String {
    match event {
        ExtendedEvent::Body(event) => describe_move(event),
        ExtendedEvent::Extension(AbilityEvent::First(event)) => match event {
            TeleportEvent::Teleported { from, to } => format!("Teleported {:.1} m", from.distance(*to)),
            TeleportEvent::Blocked => "Teleport blocked".to_owned(),
        },
        ExtendedEvent::Extension(AbilityEvent::Second(AbilityEvent::First(event))) => match event {
            DashEvent::Started { .. } => "Dash".to_owned(),
            DashEvent::Ended => "Dash ended".to_owned(),
        },
        ExtendedEvent::Extension(AbilityEvent::Second(AbilityEvent::Second(()))) => "Climb".to_owned(),
    }
}

fn describe_move(event: &MoveEvent) -> String {
    match event {
        MoveEvent::Landed { speed } => format!("Landed at {speed:.1} m/s"),
        MoveEvent::Jumped { count } => format!("Jumped, number {count}"),
        MoveEvent::WalkedOffLedge => "Walked off".to_owned(),
        MoveEvent::Stepped { height } => format!("Stepped {height:+.2} m"),
        MoveEvent::HitWall { normal, speed } => {
            let what = if normal.y < -0.5 { "ceiling" } else { "wall" };
            format!("Hit a {what} at {speed:.1} m/s")
        }
        MoveEvent::ModeChanged { from, to } => format!("Mode {from:?} to {to:?}"),
        MoveEvent::BaseChanged { from, to } => format!("Base {} to {}", from.0, to.0),
        MoveEvent::VolumeChanged { from, to } => format!("Volume {} to {}", from.0, to.0),
        MoveEvent::Crouched => "Crouched".to_owned(),
        MoveEvent::Stood => "Stood up".to_owned(),
        MoveEvent::Launched { velocity } => format!("Launched at {:.1} m/s", velocity.length()),
        MoveEvent::Stuck { depth } => format!("Stuck, {depth:.2} m deep"),
    }
}
