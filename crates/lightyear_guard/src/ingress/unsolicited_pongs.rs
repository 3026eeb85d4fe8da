//! Strikes for unsolicited pongs: lightyear writes a log line for each.

use bevy::prelude::*;
use lightyear::prelude::{Connected, LinkOf, PingManager};

use super::LinkTraffic;

/// Strikes for a useless pong. On a bad network honest pongs arrive late, too: more than ten useless ones per
/// second are forgiven.
const USELESS_PONG_STRIKES: f32 = 0.25;

/// Number of useless pongs of a client so far.
#[derive(Component, Default)]
pub(super) struct UselessPongs(u32);

pub(super) fn count(
    mut links: Query<(&PingManager, &mut UselessPongs, &mut LinkTraffic), (With<LinkOf>, With<Connected>)>,
) {
    for (pings, mut useless, mut traffic) in &mut links {
        let now = pings.pongs_recv.saturating_sub(pings.latency_samples_recv());
        if now != useless.0 {
            traffic.strikes += now.saturating_sub(useless.0) as f32 * USELESS_PONG_STRIKES;
            useless.0 = now;
        }
    }
}
