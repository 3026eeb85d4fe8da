//! Strip of the last ticks of the own pawn: F8 shows and hides it.

use bevy::prelude::*;
use bevy_unlag::weapons::ShotResult;
use unlag_examples::{
    screen::{
        LiveText, ShownIf,
        ui::{DIM, TEXT, label, placed, shaded},
    },
    timeline::{Timeline, TimelineTick},
};

/// Ticks that are shown.
const SHOWN: usize = 96;

/// Whether the strip is shown.
#[derive(Resource, Default)]
pub struct ShowsTimeline(pub bool);

/// F8 shows and hides the strip.
pub fn toggle(keys: Res<ButtonInput<KeyCode>>, mut shows: ResMut<ShowsTimeline>) {
    if keys.just_pressed(KeyCode::F8) {
        shows.0 = !shows.0;
    }
}

/// Spawns the strip. Each column is a tick, the newest on the right.
pub fn spawn(mut commands: Commands) {
    let shown = ShownIf::new(&mut commands, |shows: Res<ShowsTimeline>| shows.0);
    let place = Node { left: percent(50), top: px(150), margin: UiRect::left(px(-400)), ..placed() };
    let lines = [
        LiveText::new(&mut commands, |ticks: Res<Timeline>| strip("sent      ", &ticks, sent)),
        LiveText::new(&mut commands, |ticks: Res<Timeline>| strip("answered  ", &ticks, answered)),
        LiveText::new(&mut commands, |ticks: Res<Timeline>| strip("corrected ", &ticks, corrected)),
        LiveText::new(&mut commands, |ticks: Res<Timeline>| strip("judged    ", &ticks, judged)),
    ];
    let last = LiveText::new(&mut commands, last_correction);
    commands.spawn((Pickable::IGNORE, shown, shaded(place))).with_children(|panel| {
        let title =
            "F8: the last ticks, one a column; s sent, . on its way, | answered, x lost, C corrected, H M R";
        panel.spawn((label(title, 12.0, DIM), Pickable::IGNORE));
        for line in lines {
            panel.spawn((line, label("", 12.0, TEXT), Pickable::IGNORE));
        }
        panel.spawn((last, label("", 12.0, TEXT), Pickable::IGNORE));
    });
}

fn strip(name: &str, timeline: &Timeline, mark: fn(&TimelineTick) -> char) -> String {
    let skipped = timeline.ticks().len().saturating_sub(SHOWN);
    name.chars().chain(timeline.ticks().skip(skipped).map(mark)).collect()
}

fn sent(tick: &TimelineTick) -> char {
    if tick.sent.is_some() { 's' } else { ' ' }
}

fn answered(tick: &TimelineTick) -> char {
    match (tick.is_lost, tick.answered.is_some()) {
        (true, _) => 'x',
        (false, true) => '|',
        (false, false) => '.',
    }
}

fn corrected(tick: &TimelineTick) -> char {
    if tick.correction.is_some() { 'C' } else { ' ' }
}

fn judged(tick: &TimelineTick) -> char {
    match tick.judged {
        Some((_, ShotResult::Hit(_))) => 'H',
        Some((_, ShotResult::Miss)) => 'M',
        Some((_, ShotResult::Refused(_))) => 'R',
        Some((_, ShotResult::Launched)) => 'L',
        None => ' ',
    }
}

fn last_correction(timeline: Res<Timeline>) -> String {
    let last = timeline.ticks().rev().find_map(|tick| Some((tick.tick, tick.correction.as_ref()?)));
    last.map_or_else(String::new, |(tick, found)| {
        let Some(first) = found.field.get(..90).or(Some(&found.field)) else { return String::new() };
        format!("tick {}: {:.1} cm, {}; {first}", tick.0, found.error * 100.0, found.cause)
    })
}
