//! Record of the updates of a frame that each player was sent.

use bevy_unlag_record::PlayerNumber;

/// A player, the range of its flags, and whether its bandwidth budget left any update out.
type Row = (PlayerNumber, core::ops::Range<usize>, bool);

/// One row of flags per player. The buffers are reused.
#[derive(Default, Debug)]
pub(super) struct SentRows {
    flags: Vec<bool>,
    rows: Vec<Row>,
}

impl SentRows {
    /// Adds a player's row: of `all` updates those with the indices `sent`. `over_budget`: whether its bandwidth
    /// budget left any out.
    pub fn push(
        &mut self,
        player: PlayerNumber,
        (all, over_budget): (usize, bool),
        sent: impl Iterator<Item = usize>,
    ) {
        let start = self.flags.len();
        self.flags.resize(start + all, false);
        for index in sent.filter(|index| *index < all) {
            self.flags[start + index] = true;
        }
        self.rows.push((player, start..start + all, over_budget));
    }

    /// Returns a player's row; it is empty without one.
    pub fn of(&self, player: PlayerNumber) -> (&[bool], bool) {
        let row = self.rows.iter().find(|(number, ..)| *number == player);
        let flags = row.and_then(|(_, range, _)| self.flags.get(range.clone())).unwrap_or_default();
        (flags, row.is_some_and(|(.., over_budget)| *over_budget))
    }

    pub fn clear(&mut self) {
        self.flags.clear();
        self.rows.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_indices_that_were_sent() {
        let mut rows = SentRows::default();
        rows.push(PlayerNumber(3), (3, false), [0, 2].into_iter());
        rows.push(PlayerNumber(1), (3, true), [1, 9].into_iter());
        assert_eq!(rows.of(PlayerNumber(3)), (&[true, false, true][..], false));
        assert_eq!(rows.of(PlayerNumber(1)), (&[false, true, false][..], true));
        assert_eq!(rows.of(PlayerNumber(2)), (&[][..], false));
        rows.clear();
        assert_eq!(rows.of(PlayerNumber(3)), (&[][..], false));
    }
}
