//! Which tokens a server has seen, so that each is used once.

use core::time::Duration;

use bevy::{platform::collections::HashMap, prelude::*};

use super::{JoinRefusal, issue::LONGEST};

/// Tokens that are remembered at once, some 3 MB. Only a matchmaker's own tokens get here.
const MOST: usize = 32_768;
/// How far the wall clock may be set back without making a used token good again.
const STEP: Duration = Duration::from_secs(3_600);

/// What became of a token.
enum Fate {
    /// A link shows it and has not joined yet. What it asks again is no second use.
    ShownBy(Entity),
    Used,
}

/// The tokens that have been shown. Times are of the server's own monotonic clock, since it started.
#[derive(Default)]
pub(super) struct Shown {
    tokens: HashMap<[u8; 16], (Fate, Duration)>,
    swept: Duration,
}

impl Shown {
    /// A link shows a token that is good for `left`.
    ///
    /// # Errors
    /// Why it may not join with it; `None` when another one is about to.
    pub fn show(
        &mut self,
        name: [u8; 16],
        link: Entity,
        left: Duration,
        now: Duration,
        is_there: impl Fn(Entity) -> bool,
    ) -> Result<(), Option<JoinRefusal>> {
        if now >= self.swept + Duration::from_secs(1) || self.tokens.len() >= MOST {
            self.tokens.retain(|_, (_, until)| *until > now);
            self.swept = now;
        }
        let (until, is_full) = (now + left.min(LONGEST) + STEP, self.tokens.len() >= MOST);
        match self.tokens.get_mut(&name) {
            Some((Fate::Used, _)) => return Err(Some(JoinRefusal::Used)),
            Some((Fate::ShownBy(other), _)) if *other != link && is_there(*other) => return Err(None),
            Some(known) => *known = (Fate::ShownBy(link), until),
            None if is_full => return Err(Some(JoinRefusal::Full)),
            None => {
                self.tokens.insert(name, (Fate::ShownBy(link), until));
            }
        }
        Ok(())
    }

    /// Whether somebody has joined with it.
    pub fn is_used(&self, name: &[u8; 16]) -> bool {
        matches!(self.tokens.get(name), Some((Fate::Used, _)))
    }

    /// Who showed it has joined.
    pub fn use_up(&mut self, name: &[u8; 16]) {
        if let Some((fate, _)) = self.tokens.get_mut(name) {
            *fate = Fate::Used;
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
    fn a_token_is_used_once_however_often_it_is_shown_before() {
        let (mut shown, (a, b)) = (Shown::default(), links());
        let show = |shown: &mut Shown, link, b_is_there| {
            shown.show([1; 16], link, LIFE, Duration::ZERO, |other| other != b || b_is_there)
        };
        assert_eq!(show(&mut shown, b, true), Ok(()));
        for _ in 0..20 {
            assert_eq!(show(&mut shown, b, true), Ok(()), "lost packets are sent again");
        }
        assert_eq!(show(&mut shown, a, true), Err(None), "somebody else is about to join with it");
        assert_eq!(show(&mut shown, a, false), Ok(()), "who showed it first has gone without joining");
        shown.use_up(&[1; 16]);
        assert_eq!(show(&mut shown, a, true), Err(Some(JoinRefusal::Used)));
        assert_eq!(show(&mut shown, b, true), Err(Some(JoinRefusal::Used)));
        assert_eq!(shown.show([2; 16], b, LIFE, Duration::ZERO, |_| true), Ok(()), "another token");
    }

    #[test]
    fn a_used_token_is_remembered_beyond_its_time_by_as_much_as_a_clock_may_be_set_back() {
        let (mut shown, (a, b)) = (Shown::default(), links());
        assert_eq!(shown.show([1; 16], a, LIFE, Duration::ZERO, |_| true), Ok(()));
        shown.use_up(&[1; 16]);
        let hour = Duration::from_secs(3_600);
        assert_eq!(shown.show([1; 16], b, hour, hour, |_| true), Err(Some(JoinRefusal::Used)));
        assert_eq!(shown.tokens.len(), 1);
        assert_eq!(shown.show([2; 16], b, LIFE, hour + LIFE, |_| true), Ok(()));
        assert_eq!(shown.tokens.len(), 1, "then it is forgotten");
    }

    #[test]
    fn memory_is_bounded_and_a_full_one_lets_nobody_in_rather_than_anybody_twice() {
        let (mut shown, (a, _)) = (Shown::default(), links());
        let name = |n: usize| {
            let mut name = [0; 16];
            name[..8].copy_from_slice(&n.to_be_bytes());
            name
        };
        for n in 0..MOST {
            assert_eq!(shown.show(name(n), a, LIFE, Duration::ZERO, |_| true), Ok(()));
            shown.use_up(&name(n));
        }
        assert_eq!(shown.show(name(MOST), a, LIFE, LIFE, |_| true), Err(Some(JoinRefusal::Full)));
        assert_eq!(shown.show(name(5), a, LIFE, LIFE, |_| true), Err(Some(JoinRefusal::Used)));
        assert_eq!(shown.tokens.len(), MOST);
        let later = STEP + LIFE + LIFE;
        assert_eq!(shown.show(name(MOST), a, LIFE, later, |_| true), Ok(()));
        assert_eq!(shown.tokens.len(), 1);
    }
}
