//! `bevy_unlag`'s proxy smoothing against lightyear's interpolation: the same paths, sent at the same rate
//! over the same links, drawn at the same time.
//!
//! A server moves four actors along paths of the lab at 64 ticks per second and sends them in every third
//! tick: lightyear by its replication over netcode, we by our updates. Each client draws 60 frames per second
//! behind a link of its own; the packets that both send in one tick have the same delay or are both lost.
//!
//! lightyear measures its links by the machine's clock, so the benchmark runs in real time. Its drawn
//! positions are compared with the truth at the time of its interpolation timeline. It interpolates linearly,
//! as it does by default: once with its default configuration and once with a
//! [`min_delay`](lightyear::prelude::InterpolationConfig::min_delay) tuned for the link: the longest downlink
//! latency and two intervals.

#[expect(dead_code, reason = "the lab asks for more")]
#[path = "../../unlag_lab/src/smoothing/error_metrics.rs"]
mod error_metrics;
mod lightyear_side;
mod link;
mod truth;
mod unlag_side;

use core::time::Duration;
use std::time::Instant;

use bevy_unlag_core::Snapshot;
use lightyear::prelude::InterpolationConfig;

use crate::{figures::Figures, scene::TICK};
use error_metrics::{DrawnSample, Runs, measure_errors};
use link::Link;
use truth::{Path, Truth};

/// Ticks between two updates.
const INTERVAL: u32 = 3;
/// Duration of a client's frame.
const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);
/// Seconds until all clients have joined and adapted to their links.
const LEARNING: f64 = 12.0;
const SEED: u64 = 101;

/// Measured links.
const LINKS: [Link; 6] = [
    Link { key: "10ms", latency: 0.01, jitter: 0.01, loss: 0.0 },
    Link { key: "25ms", latency: 0.025, jitter: 0.01, loss: 0.0 },
    Link { key: "50ms", latency: 0.05, jitter: 0.01, loss: 0.0 },
    Link { key: "100ms", latency: 0.1, jitter: 0.01, loss: 0.0 },
    Link { key: "150ms", latency: 0.15, jitter: 0.01, loss: 0.0 },
    Link { key: "article", latency: 0.05, jitter: 0.066, loss: 0.05 },
];

/// Index of the link for the figures per path.
const BY_PATH: usize = 2;

/// Compared clients.
const SIDES: [&str; 4] = ["lightyear", "lightyear_tuned", "ours", "ours_linear"];

/// Returns an interpolation configuration tuned for a link.
fn tuned(link: &Link) -> InterpolationConfig {
    let longest = link.latency + link.jitter;
    InterpolationConfig::default().with_min_delay(Duration::from_secs_f64(longest) + TICK * INTERVAL * 2)
}

/// Runs all links for a number of seconds in real time. Returns the error metrics per link, side and path, and the
/// milliseconds by which a frame was late at most.
///
/// # Errors
/// Returns a message if a client does not join.
fn watch(seconds: f64) -> Result<(Vec<[Runs; 4]>, f64), String> {
    let all = LEARNING + seconds + 1.0;
    let truths = Path::ALL.map(|(path, _)| path.truth(all + 2.0, SEED));
    let truths = truths.into_iter().collect::<Result<Vec<Truth>, String>>()?;
    let sent: Vec<Vec<Snapshot>> =
        truths.iter().map(|truth| truth.snapshots().iter().map(|s| s.quantised()).collect()).collect();
    let actors = truths.len();

    let mut server = lightyear_side::Server::new(
        sent.iter().map(|path| path.iter().map(Snapshot::position).collect()).collect(),
    );
    let mut our_server = unlag_side::Server::new(actors);
    let mut theirs = Vec::new();
    for (i, link) in LINKS.iter().enumerate() {
        for config in [InterpolationConfig::default(), tuned(link)] {
            let id = theirs.len() as u64 + 2;
            theirs.push(lightyear_side::Watcher::join(
                &mut server,
                id,
                actors,
                (*link, SEED + i as u64),
                config,
            )?);
        }
    }
    let mut ours: Vec<_> =
        (0..).zip(&LINKS).map(|(i, link)| unlag_side::Watcher::new(actors, *link, SEED + i)).collect();

    let begin = Instant::now();
    let (mut latest, mut offset) = (0.0_f64, 0.0);
    let mut frames: Vec<Duration> =
        (0..theirs.len() + ours.len()).map(|i| FRAME.mul_f64(0.37 + 0.61 * i as f64 % 1.0)).collect();
    let mut server_due = Duration::ZERO;
    loop {
        let client = frames.iter().enumerate().min_by_key(|(_, due)| **due).map_or(0, |(i, _)| i);
        let now = frames[client].min(server_due);
        if now.as_secs_f64() > all {
            break;
        }
        let behind = begin.elapsed();
        std::thread::sleep(now.saturating_sub(behind));
        latest = latest.max(behind.saturating_sub(now).as_secs_f64() * 1_000.0);
        if now == server_due {
            server_due += TICK;
            server.frame();
            let tick = server.tick();
            offset = f64::from(tick) - now.as_secs_f64() * 64.0;
            our_server.frame(tick, sent.iter().map(|path| path[(tick as usize).min(path.len() - 1)]));
            theirs.iter_mut().for_each(|client| client.serve(now));
            ours.iter_mut().for_each(|client| client.serve(&our_server, now));
            continue;
        }
        frames[client] += FRAME;
        let ticks = now.as_secs_f64() * 64.0 + offset;
        match theirs.get_mut(client) {
            Some(client) => client.frame(now, ticks),
            None => ours[client - theirs.len()].frame(now, ticks),
        }
    }

    let from = LEARNING + offset / 64.0;
    let mut watched = Vec::new();
    for (pair, ours) in theirs.chunks_exact(2).zip(&ours) {
        let [plain, tuned] = pair else { continue };
        let verdict = |all: &[Vec<DrawnSample>]| -> Result<Runs, String> {
            let one = |(truth, seen): (&Truth, &Vec<DrawnSample>)| {
                let seen: Vec<_> = seen.iter().filter(|seen| seen.now >= from).copied().collect();
                if seen.is_empty() {
                    Err("a client drew no actor".to_owned())
                } else {
                    Ok(measure_errors(truth, &seen, false))
                }
            };
            Ok(Runs(truths.iter().zip(all).map(one).collect::<Result<_, String>>()?))
        };
        let sides =
            [verdict(&plain.seen)?, verdict(&tuned.seen)?, verdict(&ours.seen[0])?, verdict(&ours.seen[1])?];
        watched.push(sides);
    }
    Ok((watched, latest))
}

/// Adds the results of a number of seconds.
///
/// # Errors
/// Returns a message if nothing was drawn.
pub fn add(figures: &mut Figures, seconds: f64) -> Result<(), String> {
    let (watched, latest) = watch(seconds)?;
    for (link, sides) in LINKS.iter().zip(&watched) {
        for (side, runs) in SIDES.iter().zip(sides) {
            let frozen = runs.mean(|v| v.frozen_percent);
            figures.add(format!("{side}_freeze_percent_{}", link.key), frozen)?;
            let delay = runs.mean(|v| v.delay) - link.latency;
            figures.add(format!("{side}_delay_ms_{}", link.key), delay * 1_000.0)?;
        }
    }
    for (i, (_, path)) in Path::ALL.into_iter().enumerate() {
        for (side, runs) in SIDES.iter().zip(&watched[BY_PATH]) {
            figures.add(format!("{side}_rms_cm_{path}"), runs.0[i].rms)?;
        }
    }
    figures.add("watch_late_ms", latest)
}
