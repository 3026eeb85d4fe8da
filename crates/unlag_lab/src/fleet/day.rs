//! Simulated day of a fleet with 100,000 players: machines, egress, waits and cost, from the measured figures of a
//! match.

mod machines;
mod simulation;

use crate::prelude::*;
use simulation::{Day, simulate};

/// Players of the day, each of whom comes once.
const PLAYERS: usize = 100_000;
/// Share of the players who come within each hour, in percent, from midnight.
const ARRIVALS: [f64; 24] = [
    4.0, 2.6, 1.7, 1.2, 1.0, 1.0, 1.2, 1.7, 2.3, 2.8, 3.2, 3.6, 4.0, 4.2, 4.5, 4.9, 5.4, 6.0, 6.8, 7.6, 8.2,
    8.2, 7.4, 6.5,
];
/// Hour at which the day begins, with nobody there: the quietest one.
const FIRST_HOUR: usize = 4;
/// Mean length of a session, in seconds; exponentially distributed. It ends with the match that is played then.
const SESSION_S: f64 = 3_600.0;
/// Players of a match.
const MATCH_PLAYERS: usize = 8;
/// Length of a match, in seconds.
const MATCH_S: f64 = 600.0;
/// Time between two matches of a player, in seconds.
const PAUSE_S: f64 = 30.0;
/// Time after its first player after which a match begins without the others, in seconds: the matchmaker's default.
const FILL_S: f64 = 20.0;
/// Time in which the cluster starts a pod on a machine that runs, in seconds, before the process itself starts.
const POD_S: f64 = 2.0;
/// Cores of a machine.
const MACHINE_CORES: usize = 16;
/// Time from the order of a machine until processes start on it, in seconds.
const MACHINE_S: f64 = 90.0;
/// Time without a process after which a machine is given back, in seconds.
const MACHINE_IDLE_S: f64 = 600.0;
/// Warm buffer, as in `deploy/agones/autoscaler.yaml`: ready processes in percent of all, limits of the number of
/// processes, and seconds between two adjustments.
const BUFFER: WarmBuffer = WarmBuffer { percent: 5, least: 4, most: 2_000, sync_s: 10.0 };
/// Price of a core for an hour, in US dollars: an example.
const USD_PER_CORE_HOUR: f64 = 0.04;
/// Price of a gigabyte of egress, in US dollars: an example.
const USD_PER_GB: f64 = 0.05;

/// Server processes that are ready before a match asks for one: the buffer policy of Agones.
#[derive(Clone, Copy, Debug)]
pub struct WarmBuffer {
    percent: usize,
    least: usize,
    most: usize,
    sync_s: f64,
}

impl WarmBuffer {
    /// Returns the number of processes for so many that play.
    fn target(&self, allocated: usize) -> usize {
        (allocated * 100).div_ceil(100 - self.percent).clamp(self.least, self.most)
    }
}

/// Needs of a match, as measured.
#[derive(Clone, Copy, Debug)]
pub struct MatchNeeds {
    /// Matches that one core carries.
    pub per_core: usize,
    /// Time from the start of a process until it listens, in seconds.
    pub ready_s: f64,
    /// Bytes per second that a player gets, with the headers of UDP and IP.
    pub bytes_per_s: f64,
}

/// Adds the day, with the figures that this run has measured.
///
/// # Errors
/// Returns a message if a core carries no match.
pub fn measure(options: &Options, needs: MatchNeeds, figures: &mut Figures) -> Result<(), String> {
    if needs.per_core == 0 {
        return Err("a core carries no match, so no day can be simulated; use a faster machine".to_owned());
    }
    let Day { peak_players, peak_cores, core_hours, played_s, mut waits } =
        simulate(PLAYERS, needs, Some(BUFFER), options.seed);
    let egress_gb = played_s * needs.bytes_per_s / 1e9;
    let usd = core_hours * USD_PER_CORE_HOUR + egress_gb * USD_PER_GB;
    let mut unprepared = simulate(PLAYERS, needs, None, options.seed).waits;
    let (players, entries, cold_entries) = (PLAYERS as u64, waits.len() as u64, unprepared.len() as u64);
    figures.add_counted("day_peak_players", peak_players as f64, players, "players")?;
    let note = format!("entries, {} matches a core, {MACHINE_CORES} cores a machine", needs.per_core);
    figures.add_counted("day_peak_cores", peak_cores as f64, entries, note)?;
    figures.add_counted("day_core_hours", core_hours, entries, "entries to matches")?;
    let note = format!("entries, {:.0} B/s for each of the players", needs.bytes_per_s);
    figures.add_counted("day_egress_gb", egress_gb, entries, note)?;
    let note = format!("entries, the median {:.2} s", median(&mut waits));
    figures.add_counted("day_wait_s_p99", quantile(&mut waits, 0.99), entries, note)?;
    let note = format!("entries without a warm buffer, the median {:.2} s", median(&mut unprepared));
    figures.add_counted("control_day_wait_s_p99", quantile(&mut unprepared, 0.99), cold_entries, note)?;
    let note = format!("players, at {USD_PER_CORE_HOUR} USD a core hour and {USD_PER_GB} USD a GB");
    figures.add_counted("day_usd_per_1000_players", usd * 1e3 / PLAYERS as f64, players, note)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEEDS: MatchNeeds = MatchNeeds { per_core: 4, ready_s: 0.3, bytes_per_s: 8_000.0 };
    const FEW: usize = 4_000;

    fn day(needs: MatchNeeds, buffer: Option<WarmBuffer>) -> Day {
        simulate(FEW, needs, buffer, 1)
    }

    #[test]
    fn each_player_plays_whole_matches_and_waits_at_most_for_fill_pod_and_machine() {
        for buffer in [Some(BUFFER), None] {
            let day = day(NEEDS, buffer);
            assert!(day.waits.len() >= FEW, "{} entries", day.waits.len());
            assert_eq!(day.played_s, MATCH_S * day.waits.len() as f64);
            assert!((MATCH_PLAYERS..FEW).contains(&day.peak_players), "{}", day.peak_players);
            let bound = FILL_S + MACHINE_S + POD_S + NEEDS.ready_s + BUFFER.sync_s;
            assert!(day.waits.iter().all(|wait| (0.0..=bound).contains(wait)), "{}", largest(day.waits));
        }
    }

    #[test]
    fn wait_without_a_warm_buffer_is_longer() {
        let (mut warm, mut cold) = (day(NEEDS, Some(BUFFER)).waits, day(NEEDS, None).waits);
        let (warm, cold) = (median(&mut warm), median(&mut cold));
        assert!(cold > warm + 1.0, "{cold} s instead of {warm} s");
    }

    #[test]
    fn day_with_fewer_matches_on_a_core_needs_more_cores() {
        let (dense, sparse) =
            (day(NEEDS, Some(BUFFER)), day(MatchNeeds { per_core: 1, ..NEEDS }, Some(BUFFER)));
        assert!(sparse.peak_cores > dense.peak_cores && sparse.core_hours > dense.core_hours);
    }

    #[test]
    fn day_of_a_seed_is_always_the_same() {
        let (first, second) = (day(NEEDS, Some(BUFFER)), day(NEEDS, Some(BUFFER)));
        assert_eq!(first.waits, second.waits);
        assert_ne!(first.waits, simulate(FEW, NEEDS, Some(BUFFER), 2).waits);
    }

    #[test]
    fn buffer_leaves_its_share_of_the_processes_ready() {
        assert_eq!(
            [0, 1, 4, 95, 1_899, 9_999].map(|played| BUFFER.target(played)),
            [4, 4, 5, 100, 1_999, 2_000]
        );
    }

    #[test]
    fn buffer_is_that_of_the_manifest() {
        let manifest = include_str!("../../../../deploy/agones/autoscaler.yaml");
        let value = |key: &str| {
            let line = manifest.lines().find_map(|line| line.trim().strip_prefix(key));
            line.and_then(|rest| rest.strip_prefix(':')).map(str::trim)
        };
        let WarmBuffer { percent, least, most, sync_s } = BUFFER;
        for (key, expected) in [
            ("bufferSize", format!("{percent}%")),
            ("minReplicas", least.to_string()),
            ("maxReplicas", most.to_string()),
            ("seconds", sync_s.to_string()),
        ] {
            assert_eq!(value(key), Some(expected.as_str()), "{key}");
        }
    }

    /// Returns the number after a text.
    fn number_after(text: &str, before: &str) -> Option<usize> {
        let (_, rest) = text.split_once(before)?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    #[test]
    fn manifest_requests_the_measured_share_of_a_core() {
        let manifest = include_str!("../../../../deploy/agones/fleet.yaml");
        let handbook = include_str!("../../../../book/src/operations/deployment.md");
        let (_, server) = manifest.split_once("- name: server").expect("the server's container");
        let per_core = number_after(handbook, "`matches_per_core` | ").expect("the measured figure");
        // In thousandths of a core.
        assert_eq!(number_after(server, "cpu: "), Some(1_000_usize.div_ceil(per_core)));
    }

    #[test]
    fn shares_of_the_hours_add_up_to_a_day() {
        assert!((ARRIVALS.iter().sum::<f64>() - 100.0).abs() < 1e-9);
    }
}
