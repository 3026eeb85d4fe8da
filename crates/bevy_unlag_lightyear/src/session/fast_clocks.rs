//! Fast client clocks: the report to operator and game, and the option to end the connection.

use bevy::prelude::*;
use bevy_unlag_prediction::{TimeDiscrepancy, TimeDiscrepancyDetected};
use lightyear::prelude::{server::ClientOf, *};
use lightyear_guard::{Kick, KickReason, client_name};

use super::SessionConfig;

/// Seconds of real time between two log lines about one client.
const LOG_INTERVAL: f64 = 60.0;

/// Action of a server against a client whose clock runs too fast. With either, the time that the client gains is
/// taken back as [`TimeDiscrepancyConfig`](bevy_unlag_prediction::TimeDiscrepancyConfig) says.
#[doc(alias = "speed hack")]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
pub enum FastClockRule {
    /// The server writes a [`FastClock`] and, at most once a minute and client, a log line.
    #[default]
    Report,
    /// The server also kicks the client, with [`KickReason::FastClock`].
    Kick {
        /// Number of detections since the client joined at which it is kicked. 3 tells a cheat from a machine that
        /// was woken from sleep.
        detections: u32,
    },
}

/// Detections of a client's fast clock since it joined; on the server's end of its link, from the first one on.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct FastClockRecord {
    /// Number of detections.
    pub detections: u32,
    /// Seconds of real time at the last log line.
    logged_at: Option<f64>,
}

/// Fast client clocks since the server started.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct FastClockStats {
    /// Detections.
    pub detections: u64,
    /// Connections with at least one detection.
    pub clients: u64,
    /// Connections that were ended for it.
    pub kicked: u64,
}

/// On a server: a client's clock runs too fast. Written at each detection; `detections` says how often before.
#[doc(alias = "OnTimeDiscrepancyDetected")]
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct FastClock {
    /// The server's end of the link.
    pub link: Entity,
    /// The client.
    pub peer: PeerId,
    /// The pawn whose moves came too fast.
    pub pawn: Entity,
    /// Number of detections since the client joined, with this one.
    pub detections: u32,
    /// Speed of the client's clock in the last seconds, relative to the server's.
    pub speed: f64,
    /// Seconds by which the client's clock is ahead of its start.
    pub ahead: f64,
}

pub(super) fn server_plugin(app: &mut App) {
    app.add_message::<FastClock>().init_resource::<FastClockStats>().add_systems(PostUpdate, report);
    bevy_unlag_core::register_types! { app: FastClock, FastClockRecord, FastClockStats }
}

/// Reports each detection, and kicks the client if the rule says so.
fn report(
    real: Res<Time<Real>>,
    config: Res<SessionConfig>,
    mut detected: MessageReader<TimeDiscrepancyDetected>,
    pawns: Query<&ControlledBy>,
    mut links: Query<(&RemoteId, Option<&mut FastClockRecord>), With<ClientOf>>,
    mut reports: MessageWriter<FastClock>,
    mut stats: ResMut<FastClockStats>,
    mut commands: Commands,
) {
    let now = real.elapsed_secs_f64();
    for TimeDiscrepancyDetected { entity: pawn, discrepancy } in detected.read() {
        let Ok(&ControlledBy { owner: link, .. }) = pawns.get(*pawn) else { continue };
        let Ok((peer, known)) = links.get_mut(link) else { continue };
        let mut record = known.as_deref().copied().unwrap_or_default();
        stats.detections += 1;
        stats.clients += u64::from(record.detections == 0);
        record.detections = record.detections.saturating_add(1);
        let found = FastClock {
            link,
            peer: peer.0,
            pawn: *pawn,
            detections: record.detections,
            speed: discrepancy.speed(),
            ahead: discrepancy.lifetime,
        };
        if record.logged_at.is_none_or(|at| now - at >= LOG_INTERVAL) {
            record.logged_at = Some(now);
            log(&found, discrepancy);
        }
        reports.write(found);
        match known {
            Some(mut known) => *known = record,
            None => {
                commands.entity(link).try_insert(record);
            }
        }
        if matches!(config.fast_clocks, FastClockRule::Kick { detections } if record.detections == detections.max(1))
        {
            stats.kicked += 1;
            commands.trigger(Kick { entity: link, reason: KickReason::FastClock });
        }
    }
}

fn log(found: &FastClock, discrepancy: &TimeDiscrepancy) {
    let FastClock { peer, detections, speed, ahead, .. } = found;
    warn!(
        target: "bevy_unlag::clocks",
        client = %client_name(*peer),
        detections,
        speed,
        ahead,
        taken_back = discrepancy.resolving,
        "a client's clock runs too fast"
    );
}
