//! Log lines that sum up refused datagrams and packets.

use core::{fmt::Write, time::Duration};

use bevy::prelude::*;

use super::{IngressRefusal, IngressStats, RefusalCounts, suppressed_log_lines};
use crate::log_lines::{LogConfig, REFUSALS, SERVER};

/// Counts that [`log_summary`] has logged so far.
#[derive(Default)]
pub(super) struct LoggedCounts {
    /// Time until the next line.
    wait: Duration,
    refused: RefusalCounts,
    suppressed: u64,
}

/// Sums up what was refused and suppressed since the last line.
pub(super) fn log_summary(
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
