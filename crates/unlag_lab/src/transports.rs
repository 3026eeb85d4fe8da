//! UDP, WebTransport and WebSocket side by side: agreement, delay and bytes over relays with loss, processor time of a
//! server, junk.

mod cost;
mod junk;
mod matches;
mod stalls;
mod udp_relay;

use unlag_examples::transport::TransportName;

use crate::prelude::*;

/// The transports in the order of the figures.
const TRANSPORTS: [TransportName; 3] =
    [TransportName::Udp, TransportName::WebTransport, TransportName::WebSocket];

/// Returns the name of a transport in keys.
fn key_of(transport: TransportName) -> &'static str {
    match transport {
        TransportName::Udp => "udp",
        TransportName::WebTransport => "webtransport",
        TransportName::WebSocket => "websocket",
    }
}

pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    matches::measure(options, &mut figures)?;
    cost::measure(options, &mut figures)?;
    junk::measure(options, &mut figures)?;
    Ok(figures)
}
