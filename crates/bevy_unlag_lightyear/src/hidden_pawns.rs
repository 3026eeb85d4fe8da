//! Pawns that a server conceals from one client without despawning them there.

#[cfg(feature = "smoothing")]
use bevy::ecs::entity::EntityHashMap;
use bevy::{ecs::entity::EntityHashSet, prelude::*};

/// Pawns that are concealed from one client; on the server's end of its link. The client keeps these pawns, but
/// receives nothing that tells where they are: no snapshots, tracers, events, and no messages of the game
/// [about](crate::Outbox::send_about) them. States such as team, health and weapon are sent as ever.
///
/// [`InterestPlugin`](crate::InterestPlugin) writes it by what the client's player can see. A game without that plugin
/// may insert and write it itself, before [`NetSystems::AnnounceHidden`](crate::NetSystems::AnnounceHidden). The client
/// draws a concealed pawn nowhere: see [`OutOfSight`](bevy_unlag_smoothing::OutOfSight). Use replication's
/// `lose_visibility` instead for pawns whose existence is a secret.
#[doc(alias = "fog of war")]
#[doc(alias = "relevancy")]
#[derive(Component, Clone, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct HiddenPawns {
    // Sets of entities of this world.
    #[reflect(ignore)]
    hidden: EntityHashSet,
    /// Whether `hidden` has changed since the client was told.
    #[cfg(feature = "smoothing")]
    #[reflect(ignore)]
    has_changed: bool,
    /// Pawns of which the client knows that they are hidden.
    #[cfg(feature = "smoothing")]
    #[reflect(ignore)]
    announced: EntityHashSet,
    /// Pawns that are shown again, with the number of updates that still bring the one before along: so a client draws
    /// the pawn from an update interval before it was shown, and also if it loses the first update.
    #[cfg(feature = "smoothing")]
    #[reflect(ignore)]
    revealed: EntityHashMap<u8>,
}

/// Updates of a pawn that is shown again which bring the one before along.
#[cfg(feature = "smoothing")]
const REVEALING_UPDATES: u8 = 2;

impl HiddenPawns {
    /// Conceals a pawn from the next snapshot on.
    pub fn hide(&mut self, pawn: Entity) {
        let is_new = self.hidden.insert(pawn);
        self.note_change(is_new);
    }

    /// Sends a pawn again, from the next snapshot on.
    pub fn show(&mut self, pawn: Entity) {
        let was_hidden = self.hidden.remove(&pawn);
        self.note_change(was_hidden);
    }

    fn note_change(&mut self, _has_changed: bool) {
        #[cfg(feature = "smoothing")]
        {
            self.has_changed |= _has_changed;
        }
    }

    /// Returns whether a pawn is concealed.
    #[must_use]
    pub fn contains(&self, pawn: Entity) -> bool {
        self.hidden.contains(&pawn)
    }

    /// Returns the concealed pawns, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Entity> + '_ {
        self.hidden.iter().copied()
    }

    /// Returns whether a client with these concealed pawns may know where `pawn` is.
    pub(crate) fn allow(pawns: Option<&Self>, pawn: Entity) -> bool {
        pawns.is_none_or(|pawns| !pawns.contains(pawn))
    }

    /// Sends all pawns again.
    #[cfg(feature = "rewind")]
    pub(crate) fn show_all(&mut self) {
        let was_any_hidden = !self.hidden.is_empty();
        self.hidden.clear();
        self.note_change(was_any_hidden);
    }

    /// Forgets a pawn that no longer exists.
    #[cfg(feature = "rewind")]
    pub(crate) fn forget(&mut self, pawn: Entity) {
        self.hidden.remove(&pawn);
        #[cfg(feature = "smoothing")]
        {
            self.announced.remove(&pawn);
            self.revealed.remove(&pawn);
        }
    }
}

#[cfg(feature = "smoothing")]
impl HiddenPawns {
    /// Notes which of the pawns that the client knows to be hidden are shown again, and returns to `fresh` those that
    /// it does not know yet.
    pub(crate) fn announce(&mut self, fresh: &mut Vec<Entity>) {
        fresh.clear();
        if !core::mem::take(&mut self.has_changed) {
            return;
        }
        let Self { hidden, announced, revealed, .. } = self;
        announced.retain(|pawn| {
            let is_hidden = hidden.contains(pawn);
            if !is_hidden {
                revealed.insert(*pawn, REVEALING_UPDATES);
            }
            is_hidden
        });
        fresh.extend(hidden.iter().copied().filter(|pawn| !announced.contains(pawn)));
        for pawn in fresh {
            revealed.remove(pawn);
            announced.insert(*pawn);
        }
    }

    /// Returns whether the next update of a pawn brings the one before along.
    pub(crate) fn is_revealed(&self, pawn: Entity) -> bool {
        self.revealed.contains_key(&pawn)
    }

    /// Notes that an update of a revealed pawn is sent.
    pub(crate) fn mark_sent(&mut self, pawn: Entity) {
        if let Some(left) = self.revealed.get_mut(&pawn) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.revealed.remove(&pawn);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concealed_pawn_is_forgotten_when_it_is_shown_or_despawned() {
        let [a, b] = [1, 2].map(|index| Entity::from_raw_u32(index).expect("a small number"));
        let mut pawns = HiddenPawns::default();
        pawns.hide(a);
        pawns.hide(b);
        assert!(pawns.contains(a) && pawns.iter().count() == 2);
        pawns.show(a);
        assert!(!pawns.contains(a) && pawns.contains(b));
        #[cfg(feature = "rewind")]
        {
            pawns.forget(b);
            assert_eq!(pawns.iter().count(), 0);
            pawns.hide(a);
            pawns.show_all();
            assert!(!pawns.contains(a));
        }
    }

    #[cfg(feature = "smoothing")]
    #[test]
    fn pawn_that_the_client_knew_to_be_hidden_is_revealed_with_two_updates() {
        let [a, b] = [1, 2].map(|index| Entity::from_raw_u32(index).expect("a small number"));
        let (mut pawns, mut fresh) = (HiddenPawns::default(), Vec::new());
        pawns.hide(a);
        pawns.announce(&mut fresh);
        assert!(fresh == [a] && !pawns.is_revealed(a));
        pawns.show(a);
        // Never announced.
        pawns.hide(b);
        pawns.show(b);
        pawns.announce(&mut fresh);
        assert!(fresh.is_empty() && pawns.is_revealed(a) && !pawns.is_revealed(b));
        pawns.mark_sent(a);
        assert!(pawns.is_revealed(a));
        pawns.mark_sent(a);
        assert!(!pawns.is_revealed(a));
    }
}
