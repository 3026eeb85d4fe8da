//! Order of messages in a server's packets, by the priorities of their channels.

use bevy::prelude::*;
use lightyear::prelude::{LinkOf, PriorityConfig, Transport};

/// Bytes per second that lightyear lets through: more than any link carries, so that it never drops a message. The
/// suite's own budgets decide before; lightyear does not report what it drops.
const UNLIMITED: u32 = 1_000_000_000;

/// Makes lightyear fill a client's packets in the order of channel priorities. Without it, lightyear ignores the
/// priorities: fragments come first, then the smallest messages. A game's own [`Transport`] is left as it is. Links get
/// it from their beginning, before lightyear's senders bring a default one.
pub(crate) fn server_plugin(app: &mut App) {
    if let Err(reason) = app.try_register_required_components_with::<LinkOf, Transport>(transport) {
        debug!("packets are not ordered by priority: {reason}");
    }
}

fn transport() -> Transport {
    Transport::new(PriorityConfig::new(UNLIMITED))
}
