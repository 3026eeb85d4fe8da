//! Order of the targets in the rows of the table, in which neighbours share a block.

use bevy::math::Vec3A;

/// Cells of the map along an axis.
const CELLS: f32 = 1_023.0;

/// Permutation between the slots of targets and the lanes of a row. Slots that were added later have the
/// lane of their own number.
#[derive(Debug, Default)]
pub(super) struct SlotOrder {
    lanes: Vec<u32>,
    /// Code of the cell that each lane's target is in, and its slot; sorted.
    slots: Vec<(u32, u32)>,
}

impl SlotOrder {
    #[inline]
    pub fn lane(&self, slot: usize) -> usize {
        self.lanes.get(slot).map_or(slot, |lane| *lane as usize)
    }

    #[inline]
    pub fn slot(&self, lane: usize) -> usize {
        self.slots.get(lane).map_or(lane, |(_, slot)| *slot as usize)
    }

    /// Sorts the slots along a curve through the cells of the map, seen from above. `places` has an entry
    /// per slot; targets without a place come last. Does not allocate if the capacity suffices.
    pub fn sort(&mut self, places: impl Iterator<Item = Option<Vec3A>> + Clone) {
        let (low, high) = places
            .clone()
            .flatten()
            .fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(low, high), at| (low.min(at), high.max(at)));
        let scale = Vec3A::splat(CELLS) / (high - low).max(Vec3A::splat(1e-3));
        let code = |at: Vec3A| {
            let cell = (at - low) * scale;
            spread(cell.x as u32) | spread(cell.z as u32) << 1
        };
        self.slots.clear();
        self.slots.extend((0..).zip(places).map(|(slot, place)| (place.map_or(u32::MAX, code), slot)));
        self.slots.sort_unstable();
        self.lanes.clear();
        self.lanes.resize(self.slots.len(), 0);
        for (lane, (_, slot)) in (0..).zip(&self.slots) {
            self.lanes[*slot as usize] = lane;
        }
    }
}

/// Moves the lowest ten bits to the even places.
fn spread(bits: u32) -> u32 {
    let bits = (bits | bits << 8) & 0x00FF_00FF;
    let bits = (bits | bits << 4) & 0x0F0F_0F0F;
    let bits = (bits | bits << 2) & 0x3333_3333;
    (bits | bits << 1) & 0x5555_5555
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_have_neighbouring_lanes_and_every_slot_has_one() {
        // Two crowds, of which every other slot is in the same one, and slots without a target.
        let place = |slot: usize| {
            let aside = if slot.is_multiple_of(2) { 0.0 } else { 90.0 };
            (slot % 16 != 5).then(|| Vec3A::new(aside + slot as f32 * 0.05, 1.0, aside))
        };
        let mut order = SlotOrder::default();
        for count in [0, 1, 64, 40] {
            order.sort((0..count).map(place));
            for slot in 0..count + 9 {
                assert_eq!(order.slot(order.lane(slot)), slot, "{slot} of {count}");
                assert_eq!(order.lane(order.slot(slot)), slot);
                assert_eq!(order.lane(slot) >= count, slot >= count, "later slots keep their number");
            }
        }
        order.sort((0..64).map(place));
        let crowds: Vec<_> =
            (0..64).map(|lane| place(order.slot(lane)).map(|place| place.x > 45.0)).collect();
        assert!(crowds[..32].iter().all(|crowd| *crowd == Some(false)), "{crowds:?}");
        assert!(crowds[32..60].iter().all(|crowd| *crowd == Some(true)), "{crowds:?}");
        assert!(crowds[60..].iter().all(Option::is_none), "{crowds:?}");
    }
}
