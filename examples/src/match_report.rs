//! Match report as a table and as JSON.

use core::fmt::Write;

use bevy::prelude::*;
use bevy_unlag::{prelude::*, smoothing::PlayoutClocks};
use serde_json::{Map, Value, json};

use crate::{match_end::MatchEnd, shot_stats::ShotStats};

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
    /// End of the match.
    pub end: MatchEnd,
}

/// Report of a match.
#[derive(Clone, Debug, Default)]
pub struct MatchReport {
    /// Reports of the players, in order.
    pub players: Vec<PlayerReport>,
}

/// Data of ended connections for the report: their entities are gone when it is read.
#[derive(Resource, Clone, Copy, Default)]
struct EndedConnections {
    /// The last pawn, with its playout delay in milliseconds.
    pawn: Option<(NetId, PredictionStats, f64)>,
    /// Bytes sent and received over links that were replaced.
    bytes: (u64, u64),
}

/// Keeps what [`PlayerReport::read`] needs of a connection that ends before the report is read.
pub fn keep_ended_connections(app: &mut App) {
    app.init_resource::<EndedConnections>().add_observer(keep_pawn).add_observer(keep_link);
}

fn keep_pawn(
    lost: On<Remove, LocalControl>,
    pawns: Query<(&NetId, &PredictionStats)>,
    playout: Option<Res<PlayoutClocks>>,
    mut ended: ResMut<EndedConnections>,
) {
    if let Ok((id, stats)) = pawns.get(lost.entity) {
        ended.pawn = Some((*id, *stats, playout.map_or(0.0, |playout| playout_ms(&playout))));
    }
}

fn keep_link(gone: On<Remove, NetSim>, links: Query<&NetSim>, mut ended: ResMut<EndedConnections>) {
    if let Ok(sim) = links.get(gone.entity) {
        let (up, down) = sim.bytes();
        ended.bytes.0 += up;
        ended.bytes.1 += down;
    }
}

fn playout_ms(playout: &PlayoutClocks) -> f64 {
    playout.primary().map_or(0.0, |clock| clock.delay_seconds() * 1e3)
}

impl PlayerReport {
    /// Reads the report from a client app that has run for `seconds`.
    #[must_use]
    pub fn read(world: &mut World, seconds: f64) -> Self {
        let mut report = Self::default();
        let ended = world.get_resource::<EndedConnections>().copied().unwrap_or_default();
        let mut pawns = world.query_filtered::<(&NetId, &PredictionStats), With<LocalControl>>();
        let pawn = pawns.iter(world).next().map(|(id, stats)| (*id, *stats));
        report.playout_ms = world.get_resource::<PlayoutClocks>().map_or(0.0, playout_ms);
        if pawn.is_none()
            && let Some((_, _, playout_ms)) = ended.pawn
        {
            report.playout_ms = playout_ms;
        }
        if let Some((id, stats)) = pawn.or(ended.pawn.map(|(id, stats, _)| (id, stats))) {
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
        let sim = world.query::<&NetSim>().iter(world).next().map_or((0, 0), NetSim::bytes);
        report.bytes_up = (ended.bytes.0 + sim.0) as f64 / seconds;
        report.bytes_down = (ended.bytes.1 + sim.1) as f64 / seconds;
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

    /// Returns how the match ended: the first early end of a player, if there is one.
    #[must_use]
    pub fn end(&self) -> MatchEnd {
        self.players.iter().map(|player| &player.end).find(|end| end.is_early()).cloned().unwrap_or_default()
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
                "{name:<6}  {:>7.1}  {:>10.1}  {:>5}  {:>4}  {:>5}  {:>7.2}  {:>6.2}  {:>9}  {:>6.0}  {:>8.0}  \
                 {:>6.1}  {:>5}  {:>5}  {:>9}  {:>6}  {:>7}  {:>4}  {:>12}  {:>12}",
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
        let total = self.total();
        let reasons: Vec<_> = total.refusals().map(|(why, count)| format!("{why:?} {count}")).collect();
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
            end: self.end(),
        }
    }

    /// Formats the report as one JSON object. Values without any data are `null`. `refusal_reasons` has the number of
    /// refused rounds by reason, without the reasons that did not occur; `end_reason` is a name of
    /// [`EndReason`](crate::match_end::EndReason), and `end_text` the line for people, `null` for a completed match.
    #[must_use]
    pub fn json(&self) -> String {
        let players: Vec<_> = self.players.iter().map(player_json).collect();
        let end = self.end();
        json!({
            "players": players,
            "all": player_json(&self.summed()),
            "end_reason": end.reason.name(),
            "end_text": end.is_early().then_some(end.text),
        })
        .to_string()
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
        "refusal_reasons": l.refusals().map(|(why, count)| (format!("{why:?}"), json!(count))).collect::<Map<_, _>>(),
        "lost": l.lost,
        "confirmed_of_drawn_percent": l.confirmed_of_drawn().map(|value| rounded(value, 4)),
        "drawn_of_confirmed_percent": l.drawn_of_confirmed().map(|value| rounded(value, 4)),
        "end_reason": p.end.reason.name(),
    })
}

#[cfg(test)]
mod tests {
    use bevy_unlag::weapons::ShotRefusal;

    use super::*;
    use crate::match_end::EndReason;

    fn json_of(report: &MatchReport) -> Value {
        serde_json::from_str(&report.json()).expect("an object")
    }

    #[test]
    fn json_has_refusal_reasons_of_each_player_and_of_all() {
        let mut players = vec![PlayerReport::default(); 2];
        players[0].shot_stats.refused = 3;
        players[0].shot_stats.reasons[ShotRefusal::Aim as usize] = 3;
        players[1].shot_stats.reasons[ShotRefusal::Aim as usize] = 1;
        let json = json_of(&MatchReport { players });
        assert_eq!(json["players"][0]["refusal_reasons"], json!({ "Aim": 3 }));
        assert_eq!(json["all"]["refusal_reasons"], json!({ "Aim": 4 }));
        assert_eq!(json_of(&MatchReport::default())["all"]["refusal_reasons"], json!({}));
    }

    #[test]
    fn json_says_how_the_match_ended() {
        let mut players = vec![PlayerReport::default(); 2];
        let completed = json_of(&MatchReport { players: players.clone() });
        assert_eq!((&completed["end_reason"], &completed["end_text"]), (&json!("completed"), &Value::Null));
        players[1].end = EndReason::Kicked.because("too many packets");
        let json = json_of(&MatchReport { players });
        assert_eq!((&json["end_reason"], &json["end_text"]), (&json!("kicked"), &json!("too many packets")));
        assert_eq!(json["players"][0]["end_reason"], "completed");
        assert_eq!(
            (&json["players"][1]["end_reason"], &json["all"]["end_reason"]),
            (&json!("kicked"), &json!("kicked"))
        );
    }

    #[test]
    fn report_survives_the_end_of_its_connection() {
        let mut app = App::new();
        keep_ended_connections(&mut app);
        let mut stats = PredictionStats::default();
        stats.moves += 12;
        let pawn = app.world_mut().spawn((NetId(4), stats, LocalControl)).id();
        assert_eq!(PlayerReport::read(app.world_mut(), 1.0).moves, 12);
        app.world_mut().despawn(pawn);
        let report = PlayerReport::read(app.world_mut(), 1.0);
        assert_eq!((report.player, report.moves), (4, 12));
        // The pawn of the next connection counts.
        app.world_mut().spawn((NetId(5), PredictionStats::default(), LocalControl));
        assert_eq!(PlayerReport::read(app.world_mut(), 1.0).player, 5);
    }
}
