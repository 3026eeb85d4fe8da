//! Bounds on the state that lightyear keeps per link: reliable messages waiting for a missing one, and
//! incomplete fragmented messages. This module mirrors that state, so that packets which would make it grow
//! too large are refused.

use core::time::Duration;

use super::{channel_rules::Retention, limits::IngressRefusal};

/// Maximum distance of a message ahead of the first missing one of a reliable channel. lightyear itself
/// keeps up to 32,767 of them.
const MAX_AHEAD: usize = 256;
/// Maximum number of bytes of a reliable channel that wait for a missing message. A game's messages have at
/// most a kilobyte.
const MAX_WAITING_BYTES: usize = MAX_AHEAD * 1_024;
/// Maximum number of incomplete fragmented messages of a link.
const MAX_PARTIAL: usize = 4;
/// Approximate size of a fragment, in bytes.
const FRAGMENT_BYTES: usize = 1_200;
/// Time after which lightyear has certainly dropped the fragments of an unreliable message; it drops them
/// after three seconds.
const PARTIAL_TIMEOUT: Duration = Duration::from_secs(4);

/// Receive window of a reliable channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveWindow {
    /// The first missing message id.
    missing: u16,
    /// Bit set of the received messages, starting with the first missing id.
    received: [u64; MAX_AHEAD / 64],
    /// Bytes received since the last time that no message was missing.
    waiting_bytes: usize,
}

impl Default for ReceiveWindow {
    fn default() -> Self {
        Self { missing: 0, received: [0; MAX_AHEAD / 64], waiting_bytes: 0 }
    }
}

impl ReceiveWindow {
    /// Returns the distance from the first missing id; `None` for an old message.
    fn ahead(&self, id: u16) -> Option<usize> {
        let ahead = id.wrapping_sub(self.missing);
        (ahead < 1 << 15).then_some(usize::from(ahead))
    }

    /// Whether lightyear has received the message already.
    fn has(&self, id: u16) -> bool {
        self.ahead(id)
            .is_none_or(|ahead| ahead < MAX_AHEAD && self.received[ahead / 64] >> (ahead % 64) & 1 == 1)
    }

    fn admits(&self, id: u16) -> bool {
        // The missing message is always welcome, and lightyear does not store duplicates.
        self.has(id)
            || self
                .ahead(id)
                .is_none_or(|ahead| ahead == 0 || ahead < MAX_AHEAD && self.waiting_bytes < MAX_WAITING_BYTES)
    }

    fn mark(&mut self, id: u16, bytes: usize) {
        let Some(ahead) = self.ahead(id).filter(|ahead| *ahead < MAX_AHEAD && !self.has(id)) else { return };
        self.received[ahead / 64] |= 1 << (ahead % 64);
        self.waiting_bytes += bytes;
        while self.received[0] & 1 == 1 {
            self.missing = self.missing.wrapping_add(1);
            let mut carried = 0;
            for word in self.received.iter_mut().rev() {
                let next = *word & 1;
                *word = *word >> 1 | carried << 63;
                carried = next;
            }
        }
        if self.received == [0; MAX_AHEAD / 64] {
            self.waiting_bytes = 0;
        }
    }
}

/// A fragmented message with missing fragments.
#[derive(Clone, Copy, Debug)]
struct PartialMessage {
    channel: u16,
    id: u16,
    parts: u64,
    /// Bit set of the received fragments.
    received: u64,
    /// Time at which the last fragment arrived.
    last: Duration,
    reliable: bool,
}

/// A fragment of a large message.
#[derive(Clone, Copy, Debug)]
pub(super) struct FragmentHeader {
    pub channel: u16,
    pub id: u16,
    pub index: u64,
    pub parts: u64,
}

/// Mirror of the state that lightyear keeps for one link.
#[derive(Clone, Debug, Default)]
pub(super) struct ReassemblyState {
    windows: Vec<ReceiveWindow>,
    open: [Option<PartialMessage>; MAX_PARTIAL],
}

impl ReassemblyState {
    pub(super) fn new(windows: usize) -> Self {
        Self { windows: vec![ReceiveWindow::default(); windows], open: [None; MAX_PARTIAL] }
    }

    /// Checks whether a whole message may be passed on.
    pub(super) fn admits(&self, retention: Retention, id: Option<u16>) -> Result<(), IngressRefusal> {
        match (retention, id) {
            (Retention::Windowed(window), Some(id)) => {
                let admits = self.windows.get(window).is_some_and(|window| window.admits(id));
                if admits { Ok(()) } else { Err(IngressRefusal::BeyondWindow) }
            }
            _ => Ok(()),
        }
    }

    /// Records a whole message of `bytes` bytes.
    pub(super) fn record(&mut self, retention: Retention, id: Option<u16>, bytes: usize) {
        if let (Retention::Windowed(window), Some(id)) = (retention, id)
            && let Some(window) = self.windows.get_mut(window)
        {
            window.mark(id, bytes);
        }
    }

    /// Checks whether a fragment may be passed on; messages may have at most `most` fragments.
    pub(super) fn admits_fragment(
        &self,
        retention: Retention,
        part: FragmentHeader,
        most: u16,
        now: Duration,
    ) -> Result<(), IngressRefusal> {
        let FragmentHeader { index, parts, .. } = part;
        if parts == 0
            || index >= parts
            || parts > u64::from(most.min(64))
            || retention == Retention::Superseded
        {
            return Err(IngressRefusal::Fragments);
        }
        self.admits(retention, Some(part.id))?;
        match self.open.iter().flatten().find(|open| open.is(part, now)) {
            Some(open) if open.parts == parts => Ok(()),
            Some(_) => Err(IngressRefusal::Fragments),
            None if self.has(retention, part.id) || self.free_slot(now).is_some() => Ok(()),
            None => Err(IngressRefusal::BeyondWindow),
        }
    }

    /// Records a fragment.
    pub(super) fn record_fragment(&mut self, retention: Retention, part: FragmentHeader, now: Duration) {
        let FragmentHeader { channel, id, parts, .. } = part;
        let at = self.open.iter().position(|open| open.is_some_and(|open| open.is(part, now)));
        let fresh = if self.has(retention, id) { None } else { self.free_slot(now) };
        let Some(at) = at.or(fresh) else { return };
        let reliable = retention != Retention::Temporary;
        let slot = self.open[at].filter(|open| open.is(part, now));
        let mut open =
            slot.unwrap_or(PartialMessage { channel, id, parts, received: 0, last: now, reliable });
        open.received |= 1 << (part.index % 64);
        open.last = now;
        let complete = open.received == u64::MAX >> (64 - parts.clamp(1, 64));
        self.open[at] = (!complete).then_some(open);
        if complete {
            self.record(retention, Some(id), parts as usize * FRAGMENT_BYTES);
        }
    }

    fn has(&self, retention: Retention, id: u16) -> bool {
        let Retention::Windowed(window) = retention else { return false };
        self.windows.get(window).is_some_and(|window| window.has(id))
    }

    fn free_slot(&self, now: Duration) -> Option<usize> {
        self.open.iter().position(|open| open.is_none_or(|open| open.is_expired(now)))
    }
}

impl PartialMessage {
    fn is(&self, part: FragmentHeader, now: Duration) -> bool {
        self.channel == part.channel && self.id == part.id && !self.is_expired(now)
    }

    fn is_expired(&self, now: Duration) -> bool {
        !self.reliable && now.saturating_sub(self.last) > PARTIAL_TIMEOUT
    }
}

#[cfg(test)]
#[path = "reassembly/tests.rs"]
mod tests;
