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
    screen::{
        LiveText, ShownIf,
        ui::{DIM, FONT, TEXT, label, line, readout},
    },
    shot_stats::ShotStats,
};

/// Measures the throughput, and logs the round trip.
pub fn plugin(app: &mut App) {
    app.init_resource::<Throughput>().add_systems(
        Update,
        (
            measure_throughput.run_if(on_real_timer(Duration::from_secs(1))),
            log_rtt.run_if(on_real_timer(Duration::from_millis(250))),
        ),
    );
}

type Own<'w, 's> = Single<'w, 's, &'static PredictionStats, With<LocalControl>>;

/// Bytes per second sent and received.
#[derive(Resource, Default)]
struct Throughput(f64, f64);

/// Corrections at the last update: count, summed size in metres, size of the newest in metres.
#[derive(Default)]
struct CorrectionsAtLastUpdate(u64, f32, f32);

/// Spawns the network statistics.
pub fn spawn_network(panel: &mut ChildSpawnerCommands) {
    readout(panel, "Frame", |time: Res<Time<Real>>, mut frame: Local<f32>| {
        // Sampled now and then; an exponential mean is steady enough to read.
        *frame += (time.delta_secs() - *frame) * 0.3;
        format!("{:.1} ms", *frame * 1e3)
    });
    readout(panel, "Ping", |own: Own| format!("{:.0} ms", own.rtt.as_secs_f64() * 1e3));
    readout(panel, "Playout delay", |stats: Res<SmoothingStats>| format!("{:.0} ms", stats.delay_ms));
    readout(panel, "Moves sent", |own: Own| own.moves.to_string());
    readout(panel, "Corrections", |own: Own| own.corrections.to_string());
    readout(panel, "  last / largest", |own: Own, mut seen: Local<CorrectionsAtLastUpdate>| {
        if own.corrections < seen.0 {
            // The counters restart after a reconnection.
            *seen = CorrectionsAtLastUpdate::default();
        }
        if own.corrections > seen.0 {
            let new = (own.summed_correction - seen.1) / (own.corrections - seen.0) as f32;
            *seen = CorrectionsAtLastUpdate(own.corrections, own.summed_correction, new);
        }
        format!("{:.1} / {:.1} cm", seen.2 * 100.0, own.largest_correction * 100.0)
    });
    readout(panel, "  moves replayed", |own: Own| own.replayed.to_string());
    readout(panel, "Up", |_: Own, throughput: Res<Throughput>| format!("{:.0} B/s", throughput.0));
    readout(panel, "Down", |_: Own, throughput: Res<Throughput>| format!("{:.0} B/s", throughput.1));
}

/// Spawns the shot statistics.
pub fn spawn_shots(panel: &mut ChildSpawnerCommands) {
    let percent = |part: Option<f64>| part.map_or_else(|| "-".to_owned(), |part| format!("{part:.1} %"));
    readout(panel, "Fired", |stats: Res<ShotStats>| stats.shots.to_string());
    readout(panel, "Hits drawn", |stats: Res<ShotStats>| stats.drawn.to_string());
    readout(panel, "Hits confirmed", |stats: Res<ShotStats>| stats.confirmed.to_string());
    readout(panel, "Confirmed of drawn", move |stats: Res<ShotStats>| percent(stats.confirmed_of_drawn()));
    readout(panel, "Drawn of confirmed", move |stats: Res<ShotStats>| percent(stats.drawn_of_confirmed()));
    readout(panel, "Refused / lost", |stats: Res<ShotStats>| match stats.last_refusal {
        Some(why) => format!("{} ({why:?}) / {}", stats.refused, stats.lost),
        None => format!("0 / {}", stats.lost),
    });
}

/// Spawns the prediction statistics.
pub fn spawn_prediction(panel: &mut ChildSpawnerCommands) {
    let on_off = |on: bool| if on { "on" } else { "off" }.to_owned();
    readout(panel, "Unacked moves", |own: Own| own.unacknowledged_moves.to_string());
    readout(panel, "Replay, moves / time", |own: Own| match own.replayed {
        0 => "-".to_owned(),
        _ => format!("{} / {:.2} ms", own.last_replay, own.last_replay_time.as_secs_f64() * 1e3),
    });
    readout(panel, "Clock", |own: Own, time: Res<Time<Real>>, mut paid_back: Local<f64>| {
        // It lasts a quarter of a second, which is too short to read.
        if own.resolving {
            *paid_back = time.elapsed_secs_f64() + 1.0;
        }
        if time.elapsed_secs_f64() < *paid_back { "paying back" } else { "agrees" }.to_owned()
    });
    readout(panel, "F4: draw corrections", move |view: Res<CorrectionView>| on_off(view.enabled));
    readout(panel, "F5: draw shots", move |view: Res<RewindView>| on_off(view.enabled));
}

/// Spawns the bandwidth of the message classes.
pub fn spawn_messages(panel: &mut ChildSpawnerCommands) {
    let classes = [
        (MessageClass::Moves, "Moves"),
        (MessageClass::MoveAcks, "Move acks"),
        (MessageClass::Snapshots, "Snapshots"),
        (MessageClass::Replication, "Replication"),
        (MessageClass::Verdicts, "Verdicts"),
        (MessageClass::Tracers, "Tracers"),
    ];
    for (class, name) in classes {
        readout(panel, name, move |bandwidth: Res<Bandwidth>| {
            let traffic = bandwidth.of(class);
            format!("{:.0} B/s, {:.0}/s", traffic.bytes_per_second, traffic.messages_per_second)
        });
    }
}

/// Spawns a line for a correction cause, shown while its count is above zero.
pub fn spawn_cause(panel: &mut ChildSpawnerCommands, cause: CorrectionCause) {
    let is_shown = move |pawns: Query<&PredictionStats>| corrections(&pawns, cause) > 0;
    let count = move |pawns: Query<&PredictionStats>| corrections(&pawns, cause).to_string();
    let shown = ShownIf::new(&mut panel.commands(), is_shown);
    let value = LiveText::new(&mut panel.commands(), count);
    let cells = children![label(cause.name(), FONT, DIM), (value, label("", FONT, TEXT))];
    panel.spawn((shown, line(16.0), cells));
}

/// Spawns a line that is shown while there are no corrections.
pub fn spawn_no_corrections(panel: &mut ChildSpawnerCommands) {
    let none = |pawns: Query<&PredictionStats>| {
        CorrectionCause::ALL.iter().all(|cause| corrections(&pawns, *cause) == 0)
    };
    let shown = ShownIf::new(&mut panel.commands(), none);
    panel.spawn((shown, line(16.0), children![label("none", FONT, DIM)]));
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

fn log_rtt(own: Query<&PredictionStats, With<LocalControl>>) {
    for stats in own.iter().filter(|stats| !stats.rtt.is_zero()) {
        info!(target: "shooter", "rtt {:.0} ms", stats.rtt.as_secs_f64() * 1e3);
    }
}
