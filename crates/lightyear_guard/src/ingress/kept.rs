//! Bounds on the state that lightyear keeps per link: reliable messages waiting for a missing one, and
//! incomplete fragmented messages. This module mirrors that state, so that packets which would make it grow
//! too large are refused.

use core::time::Duration;

use super::{limits::Refusal, rules::Keeps};

/// How far ahead of the first missing message of a reliable channel another message may be. lightyear itself
/// keeps up to 32,767 of them.
const AHEAD: usize = 256;
/// How many bytes of a reliable channel may wait for a missing message. A game's messages have at most a
/// kilobyte.
const HELD: usize = AHEAD * 1_024;
/// How many fragmented messages of a link may be incomplete at once.
const OPEN: usize = 4;
/// Approximate size of a fragment, in bytes.
const PART: usize = 1_200;
/// Time after which lightyear has certainly dropped the fragments of an unreliable message; it drops them
/// after three seconds.
const FORGOTTEN: Duration = Duration::from_secs(4);

/// Receive window of a reliable channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The first missing message id.
    missing: u16,
    /// Bit set of the received messages, starting with the first missing id.
    come: [u64; AHEAD / 64],
    /// Bytes received since the last time that no message was missing.
    held: usize,
}

impl Default for Window {
    fn default() -> Self {
        Self { missing: 0, come: [0; AHEAD / 64], held: 0 }
    }
}

impl Window {
    /// Returns the distance from the first missing id; `None` for an old message.
    fn ahead(&self, id: u16) -> Option<usize> {
        let ahead = id.wrapping_sub(self.missing);
        (ahead < 1 << 15).then_some(usize::from(ahead))
    }

    /// Whether lightyear has received the message already.
    fn has(&self, id: u16) -> bool {
        self.ahead(id).is_none_or(|ahead| ahead < AHEAD && self.come[ahead / 64] >> (ahead % 64) & 1 == 1)
    }

    fn admits(&self, id: u16) -> bool {
        // The missing message is always welcome, and lightyear does not store duplicates.
        self.has(id) || self.ahead(id).is_none_or(|ahead| ahead == 0 || ahead < AHEAD && self.held < HELD)
    }

    fn mark(&mut self, id: u16, bytes: usize) {
        let Some(ahead) = self.ahead(id).filter(|ahead| *ahead < AHEAD && !self.has(id)) else { return };
        self.come[ahead / 64] |= 1 << (ahead % 64);
        self.held += bytes;
        while self.come[0] & 1 == 1 {
            self.missing = self.missing.wrapping_add(1);
            let mut carried = 0;
            for word in self.come.iter_mut().rev() {
                let next = *word & 1;
                *word = *word >> 1 | carried << 63;
                carried = next;
            }
        }
        if self.come == [0; AHEAD / 64] {
            self.held = 0;
        }
    }
}

/// A fragmented message with missing fragments.
#[derive(Clone, Copy, Debug)]
struct Open {
    channel: u16,
    id: u16,
    parts: u64,
    /// Bit set of the received fragments.
    come: u64,
    /// When the last fragment arrived.
    last: Duration,
    reliable: bool,
}

/// A fragment of a large message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub channel: u16,
    pub id: u16,
    pub index: u64,
    pub parts: u64,
}

/// Mirror of the state that lightyear keeps for one link.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    windows: Vec<Window>,
    open: [Option<Open>; OPEN],
}

impl Kept {
    pub(super) fn new(windows: usize) -> Self {
        Self { windows: vec![Window::default(); windows], open: [None; OPEN] }
    }

    /// Checks whether a whole message may be passed on.
    pub(super) fn admits(&self, keeps: Keeps, id: Option<u16>) -> Result<(), Refusal> {
        match (keeps, id) {
            (Keeps::InOrder(window), Some(id)) => {
                let admits = self.windows.get(window).is_some_and(|window| window.admits(id));
                if admits { Ok(()) } else { Err(Refusal::Ahead) }
            }
            _ => Ok(()),
        }
    }

    /// Records a whole message of `bytes` bytes.
    pub(super) fn take(&mut self, keeps: Keeps, id: Option<u16>, bytes: usize) {
        if let (Keeps::InOrder(window), Some(id)) = (keeps, id)
            && let Some(window) = self.windows.get_mut(window)
        {
            window.mark(id, bytes);
        }
    }

    /// Checks whether a fragment may be passed on; messages may have at most `most` fragments.
    pub(super) fn admits_part(
        &self,
        keeps: Keeps,
        part: Part,
        most: u16,
        now: Duration,
    ) -> Result<(), Refusal> {
        let Part { index, parts, .. } = part;
        if parts == 0 || index >= parts || parts > u64::from(most.min(64)) || keeps == Keeps::Leftovers {
            return Err(Refusal::Fragments);
        }
        self.admits(keeps, Some(part.id))?;
        match self.open.iter().flatten().find(|open| open.is(part, now)) {
            Some(open) if open.parts == parts => Ok(()),
            Some(_) => Err(Refusal::Fragments),
            None if self.has(keeps, part.id) || self.room(now).is_some() => Ok(()),
            None => Err(Refusal::Ahead),
        }
    }

    /// Records a fragment.
    pub(super) fn take_part(&mut self, keeps: Keeps, part: Part, now: Duration) {
        let Part { channel, id, parts, .. } = part;
        let at = self.open.iter().position(|open| open.is_some_and(|open| open.is(part, now)));
        let fresh = if self.has(keeps, id) { None } else { self.room(now) };
        let Some(at) = at.or(fresh) else { return };
        let reliable = keeps != Keeps::Briefly;
        let slot = self.open[at].filter(|open| open.is(part, now));
        let mut open = slot.unwrap_or(Open { channel, id, parts, come: 0, last: now, reliable });
        open.come |= 1 << (part.index % 64);
        open.last = now;
        let complete = open.come == u64::MAX >> (64 - parts.clamp(1, 64));
        self.open[at] = (!complete).then_some(open);
        if complete {
            self.take(keeps, Some(id), parts as usize * PART);
        }
    }

    fn has(&self, keeps: Keeps, id: u16) -> bool {
        matches!(keeps, Keeps::InOrder(window) if self.windows.get(window).is_some_and(|window| window.has(id)))
    }

    fn room(&self, now: Duration) -> Option<usize> {
        self.open.iter().position(|open| open.is_none_or(|open| open.is_forgotten(now)))
    }
}

impl Open {
    fn is(&self, part: Part, now: Duration) -> bool {
        self.channel == part.channel && self.id == part.id && !self.is_forgotten(now)
    }

    fn is_forgotten(&self, now: Duration) -> bool {
        !self.reliable && now.saturating_sub(self.last) > FORGOTTEN
    }
}

#[cfg(test)]
#[path = "kept/tests.rs"]
mod tests;
