//! Texts: time, speed, view, what the screen of the followed player shows, the last mark, and the keys.

use bevy::prelude::*;
use bevy_unlag::record::{MatchIndex, Playback, PlaybackMark, PlaybackMarkKind, PlaybackView, ScreenSource};

use super::controls::HELP;
use crate::{
    recorded_names::{UNKNOWN, cause_name, refusal_name},
    screen::{
        LiveText, ShownIf,
        ui::{DIM, TEXT, label, placed, shaded},
    },
};

/// Ticks for which a mark is shown.
const MARK_TICKS: i32 = 192;

/// Lines of help beside those of the playback's own keys.
#[derive(Resource, Default)]
pub struct OwnHelp(pub Vec<&'static str>);

/// Shows the texts.
pub(super) fn plugin(app: &mut App) {
    app.init_resource::<OwnHelp>()
        .insert_resource(ShowsHelp(true))
        .add_systems(Startup, spawn)
        .add_systems(Update, toggle_help);
}

#[derive(Resource)]
struct ShowsHelp(bool);

fn toggle_help(keys: Res<ButtonInput<KeyCode>>, mut shows: ResMut<ShowsHelp>) {
    if keys.just_pressed(KeyCode::KeyH) {
        shows.0 = !shows.0;
    }
}

fn spawn(own: Res<OwnHelp>, mut commands: Commands) {
    let status = (LiveText::new(&mut commands, status), label("", 16.0, TEXT), Pickable::IGNORE);
    let screen = (LiveText::new(&mut commands, screen), label("", 13.0, DIM), Pickable::IGNORE);
    let marks = (LiveText::new(&mut commands, last_mark), label("", 13.0, DIM), Pickable::IGNORE);
    let place = Node { left: px(12), top: px(12), row_gap: px(3), ..placed() };
    commands.spawn((Pickable::IGNORE, shaded(place), children![status, screen, marks]));
    let shown = ShownIf::new(&mut commands, |shows: Res<ShowsHelp>| shows.0);
    let place = Node { right: px(12), top: px(12), row_gap: px(2), ..placed() };
    commands.spawn((Pickable::IGNORE, shown, shaded(place))).with_children(|help| {
        for line in HELP.iter().chain(&own.0) {
            help.spawn((label(*line, 12.0, TEXT), Pickable::IGNORE));
        }
    });
}

fn status(playback: Res<Playback>) -> String {
    let view = match playback.view() {
        PlaybackView::Free => "free camera".to_owned(),
        PlaybackView::ThirdPerson(pawn) => format!("behind {}", playback.name_of(pawn)),
        PlaybackView::FirstPerson(pawn) => format!("screen of {}", playback.name_of(pawn)),
    };
    let playing = match (playback.is_live(), playback.is_playing()) {
        (true, _) => "LIVE",
        (false, true) => "playing",
        (false, false) => "paused",
    };
    format!(
        "{:.2} s   tick {}   {playing} at {:.2} x   {view}",
        playback.seconds(),
        playback.time().tick.0,
        playback.speed()
    )
}

fn screen(playback: Res<Playback>) -> String {
    if let Some(error) = playback.error() {
        return error.to_owned();
    }
    let PlaybackView::FirstPerson(_) = playback.view() else {
        return "poses of the server".to_owned();
    };
    let Some(frame) = playback.frame() else {
        return "a pawn without a screen: poses of the server".to_owned();
    };
    let ticks = playback.time().since(frame.view.time) as f32 / 256.0;
    let source = match frame.source {
        ScreenSource::Recorded => "as recorded in this frame",
        ScreenSource::Between => "between recorded frames",
        ScreenSource::Estimated => "estimated: no shot is near",
    };
    format!("others are {:.0} ms old on it, {source}", ticks * playback.sampler().tick_seconds * 1e3)
}

fn last_mark(playback: Res<Playback>) -> String {
    let (now, index) = (playback.time().tick, playback.index());
    let past = index.marks().partition_point(|mark| mark.tick.since(now) <= 0);
    let last = index.marks()[..past].last().filter(|mark| now.since(mark.tick) <= MARK_TICKS);
    last.map_or_else(String::new, |mark| text_of(mark, index))
}

/// Returns what a mark says.
pub fn text_of(mark: &PlaybackMark, index: &MatchIndex) -> String {
    let name = |pawn: Option<_>| pawn.map_or("the world".to_owned(), |pawn| index.name_of(pawn));
    let of = name(mark.pawn);
    match &mark.kind {
        PlaybackMarkKind::Death => format!("{of} was killed by {}", name(mark.other)),
        PlaybackMarkKind::Correction { cause, error } => {
            format!("{of} was corrected by {error:.3} m: {}", cause_name(*cause).unwrap_or(UNKNOWN))
        }
        PlaybackMarkKind::Refusal { reason } => {
            format!("a shot of {of} was refused: {}", refusal_name(*reason).as_deref().unwrap_or(UNKNOWN))
        }
        PlaybackMarkKind::Game(text) => format!("{text}: {of}"),
    }
}
