//! The numbers on the panel.

use core::time::Duration;

use bevy::{prelude::*, time::common_conditions::on_real_timer};
use bevy_unlag::{prelude::*, smoothing::SmoothingStats};
use lightyear::prelude::Client;
use unlag_examples::ledger::ShotLedger;

use crate::hud::TEXT_INTERVAL;

/// Keeps every [`Readout`] up to date, and the log's round-trip times.
pub struct ReadoutPlugin;

impl Plugin for ReadoutPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Throughput>().add_systems(
            Update,
            (
                measure_throughput.run_if(on_real_timer(Duration::from_secs(1))),
                read_out.run_if(on_real_timer(TEXT_INTERVAL)),
                log_rtt.run_if(on_real_timer(Duration::from_millis(250))),
            ),
        );
    }
}

/// Bytes a second, up and down.
#[derive(Resource, Default)]
struct Throughput(f64, f64);

/// A number on the panel.
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
}

/// How the network fares.
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
/// How shots fare.
pub const SHOTS: [(Readout, &str); 6] = [
    (Readout::Fired, "Fired"),
    (Readout::Drawn, "Hits drawn"),
    (Readout::Confirmed, "Hits confirmed"),
    (Readout::ConfirmedOfDrawn, "Confirmed of drawn"),
    (Readout::DrawnOfConfirmed, "Drawn of confirmed"),
    (Readout::Unjudged, "Refused / lost"),
];

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

/// Corrections as of the last look: how many, metres of all, metres of the newest.
#[derive(Default)]
struct Seen(u64, f32, f32);

fn read_out(
    time: Res<Time<Real>>,
    mut frame: Local<f32>,
    own: Query<&PredictionStats, With<LocalControl>>,
    smoothing: Option<Res<SmoothingStats>>,
    ledger: Option<Res<ShotLedger>>,
    throughput: Res<Throughput>,
    mut seen: Local<Seen>,
    mut texts: Query<(&Readout, &mut Text)>,
) {
    // A frame is read now and then; a mean of those is steady enough to read.
    *frame += (time.delta_secs() - *frame) * 0.3;
    let stats = own.single().ok();
    if let Some(stats) = stats.filter(|stats| stats.corrections > seen.0) {
        let new = (stats.summed_correction - seen.1) / (stats.corrections - seen.0) as f32;
        *seen = Seen(stats.corrections, stats.summed_correction, new);
    }
    let (last, percent) = (seen.2 * 100.0, |part: Option<f64>| part.map(|part| format!("{part:.1} %")));
    let ledger = ledger.as_deref();
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
            Readout::Fired => ledger.map(|l| l.shots.to_string()),
            Readout::Drawn => ledger.map(|l| l.drawn.to_string()),
            Readout::Confirmed => ledger.map(|l| l.confirmed.to_string()),
            Readout::ConfirmedOfDrawn => percent(ledger.and_then(ShotLedger::confirmed_of_drawn)),
            Readout::DrawnOfConfirmed => percent(ledger.and_then(ShotLedger::drawn_of_confirmed)),
            Readout::Unjudged => ledger.map(|l| match l.last_refusal {
                Some(why) => format!("{} ({why:?}) / {}", l.refused, l.lost),
                None => format!("0 / {}", l.lost),
            }),
        };
        text.set_if_neq(Text(value.unwrap_or_else(|| "-".to_owned())));
    }
}

fn log_rtt(own: Query<&PredictionStats, With<LocalControl>>) {
    for stats in own.iter().filter(|stats| !stats.rtt.is_zero()) {
        info!(target: "shooter", "rtt {:.0} ms", stats.rtt.as_secs_f64() * 1e3);
    }
}
