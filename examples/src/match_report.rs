//! Match report as a table and as JSON.

use core::fmt::Write;

use bevy::prelude::*;
use bevy_unlag::{prelude::*, smoothing::PlayoutClocks, weapons::ShotRefusal};
use serde_json::{Value, json};

use crate::shot_stats::ShotStats;

/// Report of one player.
#[derive(Clone, Debug, Default)]
pub struct PlayerReport {
    /// Net id of its pawn, from 1 in the order of joining; 0 when it never joined.
    pub player: u16,
    /// Round trip in milliseconds, measured from the acknowledgements of moves.
    pub ping_ms: f64,
    /// Number of moves sent.
    pub moves: u64,
    /// Number of new acknowledgements received.
    pub acks: u64,
    /// Number of corrections received.
    pub corrections: u64,
    /// Number of changes that the server ordered, such as deaths and respawns.
    pub server_changes: u64,
    /// Mean size of a correction, in centimetres.
    pub mean_correction_cm: f64,
    /// Largest correction, in centimetres.
    pub largest_correction_cm: f64,
    /// Bytes sent per second: whole datagrams without UDP and IP headers.
    pub bytes_up: f64,
    /// Bytes received per second.
    pub bytes_down: f64,
    /// Mean payload of a move packet, in bytes.
    pub bytes_per_move: f64,
    /// Playout delay (interpolation delay), in milliseconds.
    pub playout_ms: f64,
    /// Shot statistics.
    pub shot_stats: ShotStats,
}

/// Report of a match.
#[derive(Clone, Debug, Default)]
pub struct MatchReport {
    /// Reports of the players, in order.
    pub players: Vec<PlayerReport>,
}

impl PlayerReport {
    /// Reads the report from a client app that has run for `seconds`.
    #[must_use]
    pub fn read(world: &mut World, seconds: f64) -> Self {
        let mut report = Self::default();
        let mut pawns = world.query_filtered::<(&NetId, &PredictionStats), With<LocalControl>>();
        if let Some((id, stats)) = pawns.iter(world).next() {
            report.player = id.0;
            report.ping_ms = stats.rtt.as_secs_f64() * 1e3;
            report.moves = stats.moves;
            report.acks = stats.acks;
            report.corrections = stats.corrections;
            report.server_changes = u64::from(stats.server_changes());
            report.mean_correction_cm =
                f64::from(stats.summed_correction) * 100.0 / stats.corrections.max(1) as f64;
            report.largest_correction_cm = f64::from(stats.largest_correction) * 100.0;
            report.bytes_per_move = stats.move_bytes as f64 / stats.moves.max(1) as f64;
        }
        if let Some(sim) = world.query::<&NetSim>().iter(world).next() {
            let (up, down) = sim.bytes();
            report.bytes_up = up as f64 / seconds;
            report.bytes_down = down as f64 / seconds;
        }
        if let Some(clock) = world.get_resource::<PlayoutClocks>().and_then(|playout| playout.primary()) {
            report.playout_ms = clock.delay_seconds() * 1e3;
        }
        if let Some(shot_stats) = world.get_resource::<ShotStats>() {
            report.shot_stats = shot_stats.clone();
        }
        report
    }
}

impl MatchReport {
    /// Returns the shot statistics of all players together.
    #[must_use]
    pub fn total(&self) -> ShotStats {
        let mut total = ShotStats::default();
        for player in &self.players {
            total.merge(&player.shot_stats);
        }
        total
    }

    /// Returns the lower of the two agreement shares in percent; 0 when there are no hits on one of the
    /// sides.
    #[must_use]
    pub fn agreement(&self) -> f64 {
        let total = self.total();
        total.confirmed_of_drawn().unwrap_or(0.0).min(total.drawn_of_confirmed().unwrap_or(0.0))
    }

    /// Formats the report as a text table.
    #[must_use]
    pub fn table(&self) -> String {
        let mut text = String::from(
            "player  ping ms  playout ms  moves  acks  corr.  mean cm  max cm  by server  up B/s  down B/s  B/move  \
             shots  drawn  confirmed  agreed  refused  lost  conf|drawn %  drawn|conf %\n",
        );
        let mut line = |name: &str, p: &PlayerReport| {
            let l = &p.shot_stats;
            let percent = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}"));
            let _ = writeln!(
                text,
                "{name:<6}  {:>7.1}  {:>10.1}  {:>5}  {:>4}  {:>5}  {:>7.2}  {:>6.2}  {:>9}  {:>6.0}  {:>8.0}  {:>6.1}  \
                 {:>5}  {:>5}  {:>9}  {:>6}  {:>7}  {:>4}  {:>12}  {:>12}",
                p.ping_ms,
                p.playout_ms,
                p.moves,
                p.acks,
                p.corrections,
                p.mean_correction_cm,
                p.largest_correction_cm,
                p.server_changes,
                p.bytes_up,
                p.bytes_down,
                p.bytes_per_move,
                l.shots,
                l.drawn,
                l.confirmed,
                l.agreed,
                l.refused,
                l.lost,
                percent(l.confirmed_of_drawn()),
                percent(l.drawn_of_confirmed()),
            );
        };
        for player in &self.players {
            line(&player.player.to_string(), player);
        }
        if self.players.len() > 1 {
            line("all", &self.summed());
        }
        let reasons = ShotRefusal::ALL.iter().zip(self.total().reasons).filter(|(_, count)| *count > 0);
        let reasons: Vec<_> = reasons.map(|(why, count)| format!("{why:?} {count}")).collect();
        if !reasons.is_empty() {
            let _ = writeln!(text, "refused: {}", reasons.join(", "));
        }
        text
    }

    fn summed(&self) -> PlayerReport {
        let n = self.players.len().max(1) as f64;
        let mean = |value: fn(&PlayerReport) -> f64| self.players.iter().map(value).sum::<f64>() / n;
        let sum = |value: fn(&PlayerReport) -> u64| self.players.iter().map(value).sum::<u64>();
        let corrections = sum(|p| p.corrections);
        let error: f64 = self.players.iter().map(|p| p.mean_correction_cm * p.corrections as f64).sum();
        PlayerReport {
            player: 0,
            ping_ms: mean(|p| p.ping_ms),
            moves: sum(|p| p.moves),
            acks: sum(|p| p.acks),
            corrections,
            server_changes: sum(|p| p.server_changes),
            mean_correction_cm: error / corrections.max(1) as f64,
            largest_correction_cm: self.players.iter().map(|p| p.largest_correction_cm).fold(0.0, f64::max),
            bytes_up: mean(|p| p.bytes_up),
            bytes_down: mean(|p| p.bytes_down),
            bytes_per_move: mean(|p| p.bytes_per_move),
            playout_ms: mean(|p| p.playout_ms),
            shot_stats: self.total(),
        }
    }

    /// Formats the report as one JSON object. Values without any data are `null`.
    #[must_use]
    pub fn json(&self) -> String {
        let players: Vec<_> = self.players.iter().map(player_json).collect();
        json!({ "players": players, "all": player_json(&self.summed()) }).to_string()
    }
}

fn player_json(p: &PlayerReport) -> Value {
    let rounded = |value: f64, digits: i32| (value * 10_f64.powi(digits)).round() / 10_f64.powi(digits);
    let l = &p.shot_stats;
    json!({
        "player": p.player,
        "ping_ms": rounded(p.ping_ms, 3),
        "playout_ms": rounded(p.playout_ms, 3),
        "moves": p.moves,
        "acks": p.acks,
        "corrections": p.corrections,
        "server_changes": p.server_changes,
        "mean_correction_cm": rounded(p.mean_correction_cm, 4),
        "largest_correction_cm": rounded(p.largest_correction_cm, 4),
        "bytes_up_per_s": rounded(p.bytes_up, 1),
        "bytes_down_per_s": rounded(p.bytes_down, 1),
        "bytes_per_move": rounded(p.bytes_per_move, 2),
        "shots": l.shots,
        "drawn_hits": l.drawn,
        "confirmed_hits": l.confirmed,
        "agreed": l.agreed,
        "refused": l.refused,
        "lost": l.lost,
        "confirmed_of_drawn_percent": l.confirmed_of_drawn().map(|value| rounded(value, 4)),
        "drawn_of_confirmed_percent": l.drawn_of_confirmed().map(|value| rounded(value, 4)),
    })
}
