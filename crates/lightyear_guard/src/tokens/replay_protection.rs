//! Replay protection for connect tokens: each is used once.

use core::time::Duration;

use bevy::{platform::collections::HashMap, prelude::*};

use super::{JoinRefusal, token_request::MAX_LIFETIME};

/// Maximum number of remembered tokens, some 3 MB. Only tokens issued with the server's key count.
const MAX_TOKENS: usize = 32_768;
/// Time by which the wall clock may be set back without making a used token valid again.
const MAX_CLOCK_STEP: Duration = Duration::from_secs(3_600);

/// State of a token.
enum TokenState {
    /// A link has sent it and has not joined yet. Repeated requests of that link are no second use.
    PendingOn(Entity),
    Used,
}

/// Remembered tokens. Times are of the server's monotonic clock, since its start.
#[derive(Default)]
pub(super) struct SeenTokens {
    tokens: HashMap<[u8; 16], (TokenState, Duration)>,
    swept: Duration,
}

impl SeenTokens {
    /// Records that a link has sent a token that is valid for `left`.
    ///
    /// # Errors
    /// The reason why the link may not join; `None` when another link is about to join with the token.
    pub fn show(
        &mut self,
        name: [u8; 16],
        link: Entity,
        left: Duration,
        now: Duration,
        is_there: impl Fn(Entity) -> bool,
    ) -> Result<(), Option<JoinRefusal>> {
        if now >= self.swept + Duration::from_secs(1) || self.tokens.len() >= MAX_TOKENS {
            self.tokens.retain(|_, (_, until)| *until > now);
            self.swept = now;
        }
        let (until, is_full) =
            (now + left.min(MAX_LIFETIME) + MAX_CLOCK_STEP, self.tokens.len() >= MAX_TOKENS);
        match self.tokens.get_mut(&name) {
            Some((TokenState::Used, _)) => return Err(Some(JoinRefusal::Used)),
            Some((TokenState::PendingOn(other), _)) if *other != link && is_there(*other) => {
                return Err(None);
            }
            Some(known) => *known = (TokenState::PendingOn(link), until),
            None if is_full => return Err(Some(JoinRefusal::Full)),
            None => {
                self.tokens.insert(name, (TokenState::PendingOn(link), until));
            }
        }
        Ok(())
    }

    /// Whether a client has joined with the token.
    pub fn is_used(&self, name: &[u8; 16]) -> bool {
        matches!(self.tokens.get(name), Some((TokenState::Used, _)))
    }

    /// Marks the token as used: the link that sent it has joined.
    pub fn mark_used(&mut self, name: &[u8; 16]) {
        if let Some((fate, _)) = self.tokens.get_mut(name) {
            *fate = TokenState::Used;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIFE: Duration = Duration::from_secs(30);

    fn links() -> (Entity, Entity) {
        let mut world = World::new();
        (world.spawn_empty().id(), world.spawn_empty().id())
    }

    #[test]
    fn token_is_used_once_however_often_the_request_is_repeated() {
        let (mut shown, (a, b)) = (SeenTokens::default(), links());
        let show = |shown: &mut SeenTokens, link, b_is_there| {
            shown.show([1; 16], link, LIFE, Duration::ZERO, |other| other != b || b_is_there)
        };
        assert_eq!(show(&mut shown, b, true), Ok(()));
        for _ in 0..20 {
            assert_eq!(show(&mut shown, b, true), Ok(()), "lost requests are repeated");
        }
        assert_eq!(show(&mut shown, a, true), Err(None), "another link is about to join with it");
        assert_eq!(show(&mut shown, a, false), Ok(()), "the first link has gone without joining");
        shown.mark_used(&[1; 16]);
        assert_eq!(show(&mut shown, a, true), Err(Some(JoinRefusal::Used)));
        assert_eq!(show(&mut shown, b, true), Err(Some(JoinRefusal::Used)));
        assert_eq!(shown.show([2; 16], b, LIFE, Duration::ZERO, |_| true), Ok(()), "another token");
    }

    #[test]
    fn used_token_is_remembered_past_its_expiry_by_the_tolerated_clock_step() {
        let (mut shown, (a, b)) = (SeenTokens::default(), links());
        assert_eq!(shown.show([1; 16], a, LIFE, Duration::ZERO, |_| true), Ok(()));
        shown.mark_used(&[1; 16]);
        let hour = Duration::from_secs(3_600);
        assert_eq!(shown.show([1; 16], b, hour, hour, |_| true), Err(Some(JoinRefusal::Used)));
        assert_eq!(shown.tokens.len(), 1);
        assert_eq!(shown.show([2; 16], b, LIFE, hour + LIFE, |_| true), Ok(()));
        assert_eq!(shown.tokens.len(), 1, "then it is forgotten");
    }

    #[test]
    fn full_token_memory_refuses_new_tokens_and_forgets_no_used_one() {
        let (mut shown, (a, _)) = (SeenTokens::default(), links());
        let name = |n: usize| {
            let mut name = [0; 16];
            name[..8].copy_from_slice(&n.to_be_bytes());
            name
        };
        for n in 0..MAX_TOKENS {
            assert_eq!(shown.show(name(n), a, LIFE, Duration::ZERO, |_| true), Ok(()));
            shown.mark_used(&name(n));
        }
        assert_eq!(shown.show(name(MAX_TOKENS), a, LIFE, LIFE, |_| true), Err(Some(JoinRefusal::Full)));
        assert_eq!(shown.show(name(5), a, LIFE, LIFE, |_| true), Err(Some(JoinRefusal::Used)));
        assert_eq!(shown.tokens.len(), MAX_TOKENS);
        let later = MAX_CLOCK_STEP + LIFE + LIFE;
        assert_eq!(shown.show(name(MAX_TOKENS), a, LIFE, later, |_| true), Ok(()));
        assert_eq!(shown.tokens.len(), 1);
    }
}
