//! Values on the panel.

use core::time::Duration;

use bevy::{prelude::*, time::common_conditions::on_real_timer};
use bevy_unlag::{
    net::{Bandwidth, MessageClass},
    prediction::{CorrectionCause, CorrectionView},
    prelude::*,
    rewind::RewindView,
    smoothing::SmoothingStats,
};
use lightyear::prelude::Client;
use unlag_examples::{
    screen::ui::{DIM, FONT, TEXT, TEXT_INTERVAL, label, line},
    shot_stats::ShotStats,
};

/// Updates every [`Readout`], and logs the round trip.
pub struct ReadoutPlugin;

impl Plugin for ReadoutPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Throughput>().add_systems(
            Update,
            (
                measure_throughput.run_if(on_real_timer(Duration::from_secs(1))),
                (read_out, show_causes).run_if(on_real_timer(TEXT_INTERVAL)),
                log_rtt.run_if(on_real_timer(Duration::from_millis(250))),
            ),
        );
    }
}

/// Bytes per second sent and received.
#[derive(Resource, Default)]
struct Throughput(f64, f64);

/// A value on the panel.
#[derive(Component, Clone, Copy)]
pub enum Readout {
    Frame,
    Ping,
    Delay,
    Moves,
    Corrections,
    Errors,
    Replayed,
    Up,
    Down,
    Fired,
    Drawn,
    Confirmed,
    ConfirmedOfDrawn,
    DrawnOfConfirmed,
    Unjudged,
    Unanswered,
    Replay,
    Clock,
    View,
    ShotView,
    Messages(MessageClass),
    Cause(CorrectionCause),
}

/// Network statistics.
pub const NETWORK: [(Readout, &str); 9] = [
    (Readout::Frame, "Frame"),
    (Readout::Ping, "Ping"),
    (Readout::Delay, "Playout delay"),
    (Readout::Moves, "Moves sent"),
    (Readout::Corrections, "Corrections"),
    (Readout::Errors, "  last / largest"),
    (Readout::Replayed, "  moves replayed"),
    (Readout::Up, "Up"),
    (Readout::Down, "Down"),
];
/// Shot statistics.
pub const SHOTS: [(Readout, &str); 6] = [
    (Readout::Fired, "Fired"),
    (Readout::Drawn, "Hits drawn"),
    (Readout::Confirmed, "Hits confirmed"),
    (Readout::ConfirmedOfDrawn, "Confirmed of drawn"),
    (Readout::DrawnOfConfirmed, "Drawn of confirmed"),
    (Readout::Unjudged, "Refused / lost"),
];

/// Prediction statistics.
pub const PREDICTION: [(Readout, &str); 5] = [
    (Readout::Unanswered, "Unacked moves"),
    (Readout::Replay, "Replay, moves / time"),
    (Readout::Clock, "Clock"),
    (Readout::View, "F4: draw corrections"),
    (Readout::ShotView, "F5: draw shots"),
];
/// Bandwidth of the message classes.
pub const MESSAGES: [(Readout, &str); 6] = [
    (Readout::Messages(MessageClass::Moves), "Moves"),
    (Readout::Messages(MessageClass::MoveAcks), "Move acks"),
    (Readout::Messages(MessageClass::Snapshots), "Snapshots"),
    (Readout::Messages(MessageClass::Replication), "Replication"),
    (Readout::Messages(MessageClass::Verdicts), "Verdicts"),
    (Readout::Messages(MessageClass::Tracers), "Tracers"),
];

/// Line of a correction cause, or the placeholder line for `None`.
#[derive(Component)]
pub struct CauseLine(Option<CorrectionCause>);

/// Spawns a hidden line for every correction cause; lines with a count above zero are shown.
pub fn spawn_causes(panel: &mut ChildSpawnerCommands) {
    panel.spawn((CauseLine(None), line(16.0), children![label("none", FONT, DIM)]));
    for cause in CorrectionCause::ALL {
        let hidden = Node { display: Display::None, ..line(16.0) };
        let value = (Readout::Cause(cause), label("", FONT, TEXT));
        panel.spawn((CauseLine(Some(cause)), hidden, children![label(cause.name(), FONT, DIM), value]));
    }
}

/// Returns the number of corrections with this cause over this app's pawns: the own pawn on a client, all
/// pawns on a server.
fn corrections(pawns: &Query<&PredictionStats>, cause: CorrectionCause) -> u32 {
    // The first state is not a correction.
    if cause == CorrectionCause::InitialState {
        return 0;
    }
    pawns.iter().map(|stats| stats.corrections_of(cause)).sum()
}

fn show_causes(pawns: Query<&PredictionStats>, mut lines: Query<(&CauseLine, &mut Node)>) {
    for (CauseLine(cause), mut node) in &mut lines {
        let shown = match cause {
            Some(cause) => corrections(&pawns, *cause) > 0,
            None => CorrectionCause::ALL.iter().all(|cause| corrections(&pawns, *cause) == 0),
        };
        let wanted = if shown { Display::Flex } else { Display::None };
        if node.display != wanted {
            node.display = wanted;
        }
    }
}

fn measure_throughput(
    time: Res<Time<Real>>,
    links: Query<&NetSim, With<Client>>,
    mut last: Local<(f64, (u64, u64))>,
    mut throughput: ResMut<Throughput>,
) {
    let (now, bytes) = (time.elapsed_secs_f64(), links.iter().next().map_or((0, 0), NetSim::bytes));
    let (then, before) = core::mem::replace(&mut *last, (now, bytes));
    let rate = |new: u64, old: u64| new.saturating_sub(old) as f64 / (now - then).max(1e-3);
    *throughput = Throughput(rate(bytes.0, before.0), rate(bytes.1, before.1));
}

/// Corrections at the last update: count, summed size in metres, size of the newest in metres.
#[derive(Default)]
struct CorrectionsAtLastUpdate(u64, f32, f32);

fn read_out(
    time: Res<Time<Real>>,
    mut frame: Local<f32>,
    mut paid_back: Local<f64>,
    own: Query<&PredictionStats, With<LocalControl>>,
    smoothing: Option<Res<SmoothingStats>>,
    shot_stats: Option<Res<ShotStats>>,
    throughput: Res<Throughput>,
    bandwidth: Res<Bandwidth>,
    (view, shot_view): (Res<CorrectionView>, Res<RewindView>),
    pawns: Query<&PredictionStats>,
    mut seen: Local<CorrectionsAtLastUpdate>,
    mut texts: Query<(&Readout, &mut Text)>,
) {
    // Sampled now and then; an exponential mean is steady enough to read.
    *frame += (time.delta_secs() - *frame) * 0.3;
    let stats = own.single().ok();
    if stats.is_some_and(|stats| stats.corrections < seen.0) {
        // The counters restart after a reconnection.
        *seen = CorrectionsAtLastUpdate::default();
    }
    if let Some(stats) = stats.filter(|stats| stats.corrections > seen.0) {
        let new = (stats.summed_correction - seen.1) / (stats.corrections - seen.0) as f32;
        *seen = CorrectionsAtLastUpdate(stats.corrections, stats.summed_correction, new);
    }
    // It lasts a quarter of a second, which is too short to read.
    if stats.is_some_and(|stats| stats.resolving) {
        *paid_back = time.elapsed_secs_f64() + 1.0;
    }
    let pays_back = time.elapsed_secs_f64() < *paid_back;
    let (last, percent) = (seen.2 * 100.0, |part: Option<f64>| part.map(|part| format!("{part:.1} %")));
    let shot_stats = shot_stats.as_deref();
    for (readout, mut text) in &mut texts {
        let value = match readout {
            Readout::Frame => Some(format!("{:.1} ms", *frame * 1e3)),
            Readout::Ping => stats.map(|s| format!("{:.0} ms", s.rtt.as_secs_f64() * 1e3)),
            Readout::Delay => smoothing.as_deref().map(|s| format!("{:.0} ms", s.delay_ms)),
            Readout::Moves => stats.map(|s| s.moves.to_string()),
            Readout::Corrections => stats.map(|s| s.corrections.to_string()),
            Readout::Errors => stats.map(|s| format!("{last:.1} / {:.1} cm", s.largest_correction * 100.0)),
            Readout::Replayed => stats.map(|s| s.replayed.to_string()),
            Readout::Up => stats.map(|_| format!("{:.0} B/s", throughput.0)),
            Readout::Down => stats.map(|_| format!("{:.0} B/s", throughput.1)),
            Readout::Fired => shot_stats.map(|l| l.shots.to_string()),
            Readout::Drawn => shot_stats.map(|l| l.drawn.to_string()),
            Readout::Confirmed => shot_stats.map(|l| l.confirmed.to_string()),
            Readout::ConfirmedOfDrawn => percent(shot_stats.and_then(ShotStats::confirmed_of_drawn)),
            Readout::DrawnOfConfirmed => percent(shot_stats.and_then(ShotStats::drawn_of_confirmed)),
            Readout::Unjudged => shot_stats.map(|l| match l.last_refusal {
                Some(why) => format!("{} ({why:?}) / {}", l.refused, l.lost),
                None => format!("0 / {}", l.lost),
            }),
            Readout::Unanswered => stats.map(|s| s.unacknowledged_moves.to_string()),
            Readout::Replay => stats
                .filter(|s| s.replayed > 0)
                .map(|s| format!("{} / {:.2} ms", s.last_replay, s.last_replay_time.as_secs_f64() * 1e3)),
            Readout::Clock => stats.map(|_| if pays_back { "paying back" } else { "agrees" }.to_owned()),
            Readout::View => Some(if view.enabled { "on" } else { "off" }.to_owned()),
            Readout::ShotView => Some(if shot_view.enabled { "on" } else { "off" }.to_owned()),
            Readout::Messages(class) => Some(bandwidth.of(*class)).map(|traffic| {
                format!("{:.0} B/s, {:.0}/s", traffic.bytes_per_second, traffic.messages_per_second)
            }),
            Readout::Cause(cause) => Some(corrections(&pawns, *cause).to_string()),
        };
        text.set_if_neq(Text(value.unwrap_or_else(|| "-".to_owned())));
    }
}

fn log_rtt(own: Query<&PredictionStats, With<LocalControl>>) {
    for stats in own.iter().filter(|stats| !stats.rtt.is_zero()) {
        info!(target: "shooter", "rtt {:.0} ms", stats.rtt.as_secs_f64() * 1e3);
    }
}
