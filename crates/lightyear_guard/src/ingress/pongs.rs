//! Answers that nobody asked for: lightyear writes a line to the log for each.

use bevy::prelude::*;
use lightyear::prelude::{Connected, LinkOf, PingManager};

use super::LinkTraffic;

/// Strikes for an answer that was of no use. On a bad network honest ones come late, too: ten useless ones a second
/// and more are forgiven.
const USELESS: f32 = 0.25;

/// Answers of a client that were of no use so far.
#[derive(Component, Default)]
pub(super) struct Useless(u32);

pub(super) fn count(
    mut links: Query<(&PingManager, &mut Useless, &mut LinkTraffic), (With<LinkOf>, With<Connected>)>,
) {
    for (pings, mut useless, mut traffic) in &mut links {
        let now = pings.pongs_recv.saturating_sub(pings.latency_samples_recv());
        if now != useless.0 {
            traffic.strikes += now.saturating_sub(useless.0) as f32 * USELESS;
            useless.0 = now;
        }
    }
}
