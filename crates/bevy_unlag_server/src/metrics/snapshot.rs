//! Counters of the app at one moment, and their text.

use bevy::prelude::*;
use bevy_unlag_lightyear::{Bandwidth, FastClockStats, GameMessageStats, LeaveReason, MessageClass};
use bevy_unlag_prediction::PredictionStats;
use bevy_unlag_weapons::{ProjectilesInFlight, ShotRefusal};
use lightyear_guard::{IngressRefusal, IngressStats, JoinRefusal, TokenStats, suppressed_log_lines};

use super::{
    event_counts::{EventCounts, KICKS, VERDICTS},
    exposition::Exposition,
    kernel_drops::kernel_drops,
    move_counts::{MoveCounts, MoveTotals},
    resident_memory::resident_bytes,
    set_times::SetTimes,
};
use crate::{
    life_cycle::{Player, ServerState},
    tick_phase::CoreTimes,
};

/// States in their order.
const STATES: [ServerState; 5] = [
    ServerState::Starting,
    ServerState::Ready,
    ServerState::Allocated,
    ServerState::Draining,
    ServerState::Stopped,
];

/// Counters of the app at one moment.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    /// State of the server.
    pub state: ServerState,
    players: u64,
    projectiles: u64,
    queued_moves: u64,
    suppressed_log_lines: u64,
    events: EventCounts,
    moves: MoveCounts,
    times: SetTimes,
    core: CoreTimes,
    bandwidth: Bandwidth,
    fast_clocks: FastClockStats,
    ingress: IngressStats,
    messages: GameMessageStats,
    tokens: TokenStats,
}

impl Snapshot {
    /// Reads the counters of the app.
    pub fn take(world: &mut World) -> Self {
        let mut pawns = world.query::<(Entity, &PredictionStats)>();
        let pawns: Vec<_> = pawns.iter(world).map(|(pawn, stats)| (pawn, *stats)).collect();
        let mut totals = world.resource_mut::<MoveTotals>();
        pawns.iter().for_each(|(pawn, stats)| totals.update(*pawn, stats));
        let moves = totals.sums();
        let projectiles = world.get_resource::<ProjectilesInFlight>();
        Self {
            state: *world.resource::<ServerState>(),
            projectiles: projectiles.map_or(0, |flights| flights.launches().len() as u64),
            queued_moves: pawns.iter().map(|(_, stats)| u64::from(stats.queued_moves)).sum(),
            suppressed_log_lines: suppressed_log_lines(),
            events: world.resource::<EventCounts>().clone(),
            moves,
            times: world.resource::<SetTimes>().clone(),
            core: world.get_resource().copied().unwrap_or_default(),
            bandwidth: copy(world),
            fast_clocks: copy(world),
            ingress: copy(world),
            messages: copy(world),
            tokens: copy(world),
            players: world.query_filtered::<(), Player>().iter(world).count() as u64,
        }
    }

    /// Returns the text of all metrics.
    pub fn text(&self, is_healthy: bool) -> String {
        let mut text = Exposition::default();
        self.write_state(is_healthy, &mut text);
        self.write_times(&mut text);
        self.write_players(&mut text);
        self.write_traffic(&mut text);
        self.write_moves(&mut text);
        self.write_shots(&mut text);
        text.finish()
    }

    fn write_state(&self, is_healthy: bool, text: &mut Exposition) {
        let names = STATES.map(|state| state.to_string());
        let states = names.iter().zip(STATES);
        text.gauge(
            "bevy_unlag_healthy",
            "Whether updates go on: 0 while the watchdog sees a stall, when all other values stand still.",
            u8::from(is_healthy),
        );
        text.gauges(
            "bevy_unlag_server_state",
            "1 for the state of the server, 0 for the others.",
            "state",
            states.map(|(name, state)| (name.as_str(), u64::from(state == self.state))),
        );
        if let Some(bytes) = resident_bytes() {
            text.gauge("process_resident_memory_bytes", "Resident memory of the process.", bytes);
        }
        text.counter(
            "bevy_unlag_log_lines_suppressed_total",
            "Log lines over the limit of their kind.",
            self.suppressed_log_lines,
        );
    }

    fn write_times(&self, text: &mut Exposition) {
        text.histogram(
            "bevy_unlag_tick_seconds",
            "Time of one tick: its fixed schedules, without receiving and sending.",
            &self.times.tick,
        );
        text.histogram(
            "bevy_unlag_frame_seconds",
            "Time of one frame, with all of its ticks, and of frames without a tick.",
            &self.times.frame,
        );
        text.histograms(
            "bevy_unlag_set_seconds",
            "Time from the end of the measured set before, or the start of the schedule, to the end of this set.",
            "set",
            self.times.sections(),
        );
        text.counter(
            "bevy_unlag_skipped_ticks_total",
            "Ticks that were never simulated because the server stalled.",
            self.times.skipped_ticks,
        );
        text.counter(
            "bevy_unlag_core_wait_seconds_total",
            "Time for which updates were ready to run while other threads had the core.",
            self.core.waited.as_secs_f64(),
        );
        text.counter(
            "bevy_unlag_tick_shift_seconds_total",
            "Time by which the ticks were shifted to follow those of other servers on the core.",
            self.core.shifted.as_secs_f64(),
        );
    }

    fn write_players(&self, text: &mut Exposition) {
        let Self { events, tokens, .. } = self;
        text.gauge("bevy_unlag_players", "Connected players.", self.players);
        text.counter("bevy_unlag_joins_total", "Players who have joined without a pawn.", events.joins);
        text.counter(
            "bevy_unlag_returns_total",
            "Players who have come back within the grace period.",
            events.returns,
        );
        text.counters(
            "bevy_unlag_leaves_total",
            "Connections of players that have ended.",
            "reason",
            LeaveReason::ALL.into_iter().map(LeaveReason::name).zip(events.leaves),
        );
        // Clients alone know the reason `Other`.
        let known = JoinRefusal::ALL.into_iter().filter(|refusal| *refusal != JoinRefusal::Other);
        let refused = known.map(|refusal| (refusal.name(), tokens.refused(refusal)));
        text.counters(
            "bevy_unlag_join_refusals_total",
            "Refused requests to join; a client repeats its request ten times a second.",
            "reason",
            refused.chain([("foreign token", tokens.foreign), ("zero key", tokens.zero_key)]),
        );
        text.counters(
            "bevy_unlag_kicks_total",
            "Kicked players.",
            "reason",
            KICKS.into_iter().zip(events.kicks),
        );
        text.counter(
            "bevy_unlag_fast_clocks_total",
            "Detections of a client's clock that runs too fast.",
            self.fast_clocks.detections,
        );
    }

    fn write_traffic(&self, text: &mut Exposition) {
        let Self { ingress, messages, .. } = self;
        let received = MessageClass::ALL.into_iter().filter(|class| class.is_uplink());
        text.counters(
            "bevy_unlag_received_bytes_total",
            "Payload of received messages, without the framing of lightyear, netcode and UDP.",
            "class",
            received.map(|class| (class.name(), self.bandwidth.of(class).bytes)),
        );
        let sent = || MessageClass::ALL.into_iter().filter(|class| !class.is_uplink());
        text.counters(
            "bevy_unlag_sent_bytes_total",
            "Payload of sent messages, without framing and retransmissions.",
            "class",
            sent().map(|class| (class.name(), self.bandwidth.of(class).bytes)),
        );
        text.counters(
            "bevy_unlag_deferred_total",
            "Messages and snapshots of pawns that the downlink budget kept from being sent when they were due.",
            "class",
            sent().map(|class| (class.name(), self.bandwidth.of(class).deferred)),
        );
        text.counter(
            "bevy_unlag_packets_total",
            "Packets of players that passed all filters.",
            ingress.packets,
        );
        text.counters(
            "bevy_unlag_ingress_dropped_total",
            "Datagrams, packets and messages that were dropped.",
            "reason",
            IngressRefusal::ALL.into_iter().map(|refusal| (refusal.name(), ingress.refused.of(refusal))),
        );
        if let Some(dropped) = kernel_drops() {
            text.counter(
                "bevy_unlag_ingress_kernel_dropped_total",
                "Datagrams that the system dropped because the receive buffer of a UDP socket was full.",
                dropped,
            );
        }
        text.gauge(
            "bevy_unlag_pending_addresses",
            "Addresses that are remembered without a connection.",
            ingress.pending,
        );
        text.gauge(
            "bevy_unlag_queued_datagrams",
            "Received datagrams that wait in the sockets for the next frame.",
            ingress.queued,
        );
        text.gauge(
            "bevy_unlag_queued_reliable_messages",
            "Reliable messages of the game that are queued or unacknowledged, of all players.",
            messages.queued,
        );
    }

    fn write_moves(&self, text: &mut Exposition) {
        text.counter("bevy_unlag_moves_total", "Moves that have run.", self.moves.moves());
        text.counter(
            "bevy_unlag_extrapolated_moves_total",
            "Moves that did not arrive in time.",
            self.moves.extrapolated(),
        );
        text.counter(
            "bevy_unlag_withheld_moves_total",
            "Moves that were not run because the client's clock was too fast.",
            self.moves.withheld(),
        );
        text.counters(
            "bevy_unlag_corrections_total",
            "Acknowledgements with a correction; one misprediction has several on a link with latency.",
            "cause",
            self.moves.corrections(),
        );
        text.gauge(
            "bevy_unlag_queued_moves",
            "Received moves that have not run yet, of all players.",
            self.queued_moves,
        );
    }

    fn write_shots(&self, text: &mut Exposition) {
        let events = &self.events;
        text.counter(
            "bevy_unlag_shots_total",
            "Shots that were resolved; of beams one a tick.",
            events.shots,
        );
        text.counter(
            "bevy_unlag_clamped_shots_total",
            "Shots that were resolved at another time or from another eye position than their screen showed.",
            events.clamped_shots,
        );
        text.counters(
            "bevy_unlag_verdicts_total",
            "Verdicts on shots; a projectile has one when it is launched and one when it ends.",
            "outcome",
            VERDICTS.into_iter().zip(events.verdicts),
        );
        // Clients alone know of shots whose move never ran.
        let known = ShotRefusal::ALL.into_iter().filter(|why| *why != ShotRefusal::MissingMove);
        let known: Vec<_> =
            known.map(|why| (format!("{why:?}"), events.refused_shots[why as usize])).collect();
        text.counters(
            "bevy_unlag_shot_refusals_total",
            "Refused shots.",
            "reason",
            known.iter().map(|(why, count)| (why.as_str(), *count)),
        );
        text.histogram(
            "bevy_unlag_rewind_age_seconds",
            "Age of the poses against which shots were tested.",
            &events.rewind,
        );
        text.gauge("bevy_unlag_projectiles", "Projectiles in flight.", self.projectiles);
    }
}

/// Returns a resource that the app may lack.
fn copy<T: Resource + Copy + Default>(world: &World) -> T {
    world.get_resource::<T>().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn text_obeys_the_rules_of_prometheus() {
        let text = Snapshot::default().text(true);
        let mut kinds = BTreeMap::new();
        let mut samples = BTreeSet::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').expect("a name and a type");
                assert_eq!(kinds.insert(name, kind), None, "{name} comes twice");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
                assert!(kind != "histogram" || name.ends_with("_seconds"), "{name}");
                assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
            } else if !line.starts_with("# HELP ") {
                let (sample, value) = line.rsplit_once(' ').expect("a sample and a value");
                assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
                assert!(samples.insert(sample), "{sample} comes twice");
                // Nothing is escaped, so labels have two quotes each.
                assert!(!sample.contains(['\\', '\n']), "{line}");
                assert_eq!(sample.matches('"').count(), 2 * sample.matches("=\"").count(), "{line}");
            }
        }
        assert!(kinds.len() > 25 && samples.len() > 300, "{} metrics", kinds.len());
        for name in kinds.keys() {
            assert!(text.contains(&format!("# HELP {name} ")), "{name}");
        }
    }

    #[test]
    fn exactly_the_state_of_the_server_is_marked() {
        for state in STATES {
            let text = Snapshot { state, ..Snapshot::default() }.text(false);
            let of = |name: ServerState| format!("bevy_unlag_server_state{{state=\"{name}\"}} ");
            for other in STATES {
                let line = format!("\n{}{}\n", of(other), u8::from(other == state));
                assert!(text.contains(&line), "{state}: {line}");
            }
            assert!(text.contains("\nbevy_unlag_healthy 0\n"));
        }
    }

    #[test]
    fn snapshot_of_an_app_has_the_counters_of_its_resources() {
        let mut app = App::new();
        app.add_plugins((
            crate::metrics::event_counts::plugin,
            crate::metrics::move_counts::plugin,
            crate::metrics::set_times::plugin,
        ));
        app.insert_resource(ServerState::Allocated)
            .insert_resource(IngressStats { packets: 77, pending: 5, queued: 8, ..default() })
            .insert_resource(GameMessageStats { queued: 9, ..default() });
        for queued in [2, 3] {
            let mut stats = PredictionStats::default();
            (stats.moves, stats.queued_moves) = (10, queued);
            app.world_mut().spawn(stats);
        }
        let text = Snapshot::take(app.world_mut()).text(true);
        for line in [
            "bevy_unlag_server_state{state=\"allocated\"} 1",
            "bevy_unlag_packets_total 77",
            "bevy_unlag_pending_addresses 5",
            "bevy_unlag_queued_datagrams 8",
            "bevy_unlag_queued_reliable_messages 9",
            "bevy_unlag_moves_total 20",
            "bevy_unlag_queued_moves 5",
            "bevy_unlag_joins_total 0",
        ] {
            assert!(text.lines().any(|sample| sample == line), "{line} is not in:\n{text}");
        }
    }
}
