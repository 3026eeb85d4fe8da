//! Log lines of a server about its clients: their targets, their fields and what they leave out.
//!
//! A line is logged where its fact is known; refusals of single packets are not lines, but are summed up here.

use core::{fmt::Write, net::SocketAddr, time::Duration};

use bevy::{
    log::tracing::field::{DisplayValue, display},
    prelude::*,
};
use lightyear::{
    netcode::{Error as NetcodeError, NetcodeServerError},
    prelude::{PeerAddr, PeerId},
};

use crate::{
    ingress::{IngressRefusal, IngressStats, RefusalCounts, suppressed_log_lines},
    tokens::{JoinRefusal, TokenStats},
};

/// Target of lines about the socket and the key of a server.
pub(crate) const SERVER: &str = "lightyear_guard::server";
/// Target of lines about refused joins, datagrams and packets.
pub(crate) const REFUSALS: &str = "lightyear_guard::refusals";
/// Target of lines about clients with strikes.
pub(crate) const STRIKES: &str = "lightyear_guard::strikes";
/// Target of lines about kicked clients.
pub(crate) const KICKS: &str = "lightyear_guard::kicks";

/// Settings of a server's log lines about its clients. May be changed at any time.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct LogConfig {
    /// Whether lines contain the addresses of clients, which are personal data. Default `true`. `false` leaves
    /// the field `address` out; attackers can then not be told apart by the log.
    pub addresses: bool,
    /// Least time between two lines that sum up refused datagrams and packets. Default 10 s. Lowering it makes a
    /// flood write as many more lines.
    pub summary_interval: Duration,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { addresses: true, summary_interval: Duration::from_secs(10) }
    }
}

impl LogConfig {
    /// Returns the field `address` of a log line, if addresses are logged.
    #[must_use]
    pub fn address(&self, peer: Option<&PeerAddr>) -> Option<DisplayValue<SocketAddr>> {
        peer.filter(|_| self.addresses).map(|peer| display(peer.0))
    }
}

/// Returns the field `client` of a log line: the number of a netcode client, lightyear's name of any other peer.
#[must_use]
pub fn client_name(peer: PeerId) -> String {
    match peer {
        PeerId::Netcode(id) => id.to_string(),
        other => format!("{other:?}"),
    }
}

/// On a link: its refused join was logged. Clients repeat their request ten times a second.
#[derive(Component)]
pub(crate) struct LoggedRefusal;

/// Logs a refused join.
pub(crate) fn log_refused_join(
    peer: PeerId,
    address: Option<DisplayValue<SocketAddr>>,
    refusal: JoinRefusal,
) {
    warn!(target: REFUSALS, client = %client_name(peer), address, reason = refusal.name(), "join refused");
}

/// Counts the requests that netcode refuses because the server is full, and logs each refused join once.
pub(crate) fn log_full_server(
    errors: Option<MessageReader<NetcodeServerError>>,
    links: Query<Option<&PeerAddr>, Without<LoggedRefusal>>,
    config: Res<LogConfig>,
    mut stats: ResMut<TokenStats>,
    mut commands: Commands,
) {
    let Some(mut errors) = errors else { return };
    for error in errors.read() {
        let NetcodeError::ServerIsFull(peer) = error.error else { continue };
        stats.count(JoinRefusal::Full);
        let Ok(address) = links.get(error.client_entity) else { continue };
        log_refused_join(peer, config.address(address), JoinRefusal::Full);
        commands.entity(error.client_entity).try_insert(LoggedRefusal);
    }
}

/// What [`log_summary`] has logged so far.
#[derive(Default)]
pub(crate) struct LoggedCounts {
    /// Time until the next line.
    wait: Duration,
    refused: RefusalCounts,
    suppressed: u64,
}

/// Sums up what was refused and suppressed since the last line.
pub(crate) fn log_summary(
    time: Res<Time<Real>>,
    config: Res<LogConfig>,
    stats: Res<IngressStats>,
    mut logged: Local<LoggedCounts>,
) {
    logged.wait = logged.wait.saturating_sub(time.delta());
    let suppressed = suppressed_log_lines();
    if !logged.wait.is_zero() || (stats.refused, suppressed) == (logged.refused, logged.suppressed) {
        return;
    }
    let (count, reasons) = offences_since(&logged.refused, &stats.refused);
    if count > 0 {
        warn!(target: REFUSALS, count, reasons, "datagrams and packets refused");
    }
    if suppressed > logged.suppressed {
        warn!(target: SERVER, count = suppressed - logged.suppressed, "log lines suppressed");
    }
    *logged = LoggedCounts { wait: config.summary_interval, refused: stats.refused, suppressed };
}

/// Returns the number of refusals since `before` and their reasons, without those that honest clients cause.
fn offences_since(before: &RefusalCounts, now: &RefusalCounts) -> (u64, String) {
    let (mut count, mut reasons) = (0, String::new());
    for refusal in IngressRefusal::ALL {
        let more = now.of(refusal).saturating_sub(before.of(refusal));
        let is_honest = matches!(
            refusal,
            IngressRefusal::BeyondWindow
                | IngressRefusal::PendingKick
                | IngressRefusal::UnknownPawn
                | IngressRefusal::Rejected
        );
        if more == 0 || is_honest {
            continue;
        }
        count += more;
        let separator = if reasons.is_empty() { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(reasons, "{separator}{} {more}", refusal.name());
    }
    (count, reasons)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_logged_unless_the_operator_declines_and_a_netcode_client_is_its_number() {
        let peer = PeerAddr(SocketAddr::from(([203, 0, 113, 7], 5_000)));
        let line = |config: LogConfig| config.address(Some(&peer)).map(|address| address.to_string());
        assert_eq!(line(LogConfig::default()).as_deref(), Some("203.0.113.7:5000"));
        assert_eq!(line(LogConfig { addresses: false, ..LogConfig::default() }), None);
        assert_eq!(LogConfig::default().address(None).map(|address| address.to_string()), None);
        assert_eq!(client_name(PeerId::Netcode(u64::MAX)), u64::MAX.to_string());
        assert_eq!(client_name(PeerId::Local(3)), "Local(3)");
    }

    #[test]
    fn summary_names_the_new_refusals_and_leaves_out_those_of_honest_clients() {
        let before = counts(&[(IngressRefusal::NotNetcode, 5)]);
        let now = counts(&[
            (IngressRefusal::NotNetcode, 8),
            (IngressRefusal::Content, 1),
            (IngressRefusal::UnknownPawn, 9),
        ]);
        assert_eq!(offences_since(&before, &now), (4, "not netcode 3, content 1".to_owned()));
        assert_eq!(offences_since(&now, &now), (0, String::new()));
    }

    fn counts(refusals: &[(IngressRefusal, usize)]) -> RefusalCounts {
        let mut counts = RefusalCounts::default();
        for (refusal, times) in refusals {
            (0..*times).for_each(|_| counts.count(*refusal));
        }
        counts
    }
}
