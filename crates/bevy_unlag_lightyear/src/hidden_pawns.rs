//! Pawns that a server conceals from one client without despawning them there.

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
    pub(crate) hidden: EntityHashSet,
    /// Pawns of which the client knows that they are hidden.
    #[cfg(feature = "smoothing")]
    #[reflect(ignore)]
    pub(crate) announced: EntityHashSet,
}

impl HiddenPawns {
    /// Conceals a pawn from the next snapshot on.
    pub fn hide(&mut self, pawn: Entity) {
        self.hidden.insert(pawn);
    }

    /// Sends a pawn again, from the next snapshot on.
    pub fn show(&mut self, pawn: Entity) {
        self.hidden.remove(&pawn);
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

    /// Forgets pawns that no longer exist.
    #[cfg(feature = "rewind")]
    pub(crate) fn keep(&mut self, lives: impl Fn(Entity) -> bool) {
        self.hidden.retain(|pawn| lives(*pawn));
        self.announced.retain(|pawn| lives(*pawn));
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
            pawns.keep(|pawn| pawn == a);
            assert_eq!(pawns.iter().count(), 0);
        }
    }
}
