//! Broad phase of rewind queries: for every stored tick, a row with the bounds of all targets.

mod row;
mod slot_order;

use std::collections::HashMap;

use bevy::{ecs::entity::EntityHashMap, prelude::*};
use bevy_unlag_core::{CurrentTick, LimbRig, NetId, PoseSampler, ProxySmoothing, Tick};

use bevy_unlag_smoothing::PublishedPath;

use crate::{
    history::FrameHistory,
    hit_boxes::HitBoxes,
    limits::RewindLimits,
    swept_bounds::SweptBounds,
    target_entry::{DespawnedTarget, TargetEntry},
    team::Team,
    view::HitLayers,
};
pub(crate) use row::{Probe, Row};
use slot_order::SlotOrder;

/// Number of slots in a block of a row.
pub(crate) const LANES: usize = 8;
/// Ticks that a shot may be queued before it is resolved, plus the ticks by which its view of a target
/// may precede that of the others. Beyond these a query tests every target.
const SLACK: i32 = 16;
/// Ticks after which the lanes are sorted for the first time. Later every row is written once in between.
const UNSORTED_TICKS: usize = 16;

/// Broad phase of rewind queries: all current and recently despawned targets, with bounds in each recent
/// tick of everything that can have been drawn of them. A query at one moment reads one row, however many
/// targets there are.
#[doc(alias = "CLagCompensationManager")]
#[derive(Resource, Default)]
pub struct RewindTable {
    slots: Vec<Option<Slot>>,
    by_entity: EntityHashMap<usize>,
    by_id: HashMap<NetId, usize>,
    /// Ring buffer by tick.
    rows: Vec<Row>,
    /// Bounds of the extrapolation from the newest snapshots, with which a row starts.
    ahead: Row,
    /// Bounds at the present positions.
    present: Row,
    newest: Option<Tick>,
    /// Orders of lanes: that of [`ahead`](Self::ahead), and the one before.
    orders: [SlotOrder; 2],
    /// Number of rows that can still start before the lanes are sorted again.
    until_sorted: usize,
}

/// Entry of a target in the table.
#[derive(Debug)]
struct Slot {
    entity: Entity,
    id: NetId,
    /// Newest snapshot that is included in the rows.
    sent: Option<Tick>,
    /// Bounds of the extrapolation from that snapshot.
    beyond: SweptBounds,
    /// Smoothing mode for which the rows were written.
    mode: Option<ProxySmoothing>,
    /// Present position and rotation for which the bounds at the present were written.
    present: Option<(Vec3, Quat)>,
    boxes: HitBoxes,
    rig: Option<LimbRig>,
    /// Whether the target was found by the last update.
    seen: bool,
    /// Tick of the target's despawn and its saved state.
    despawned: Option<Box<(Tick, DespawnedTarget)>>,
}

/// Row of the table to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowKey {
    /// The present.
    Present,
    /// Bounds of everything drawn in a tick.
    Tick(Tick),
    /// No row: every target is a candidate.
    All,
}

impl RewindTable {
    /// Returns the number of targets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_entity.len()
    }

    /// Returns whether there is no target.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_entity.is_empty()
    }

    /// Returns the number of slots, including empty ones.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn slot(&self, entity: Entity) -> Option<usize> {
        self.by_entity.get(&entity).copied()
    }

    /// Returns the slot of a network id.
    pub(crate) fn named(&self, id: NetId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    pub(crate) fn place(&self, slot: usize) -> Option<TargetEntry<'_>> {
        let slot = self.slots.get(slot)?.as_ref()?;
        let remains = slot.despawned.as_deref().map(|(_, remains)| remains);
        Some(TargetEntry {
            entity: slot.entity,
            id: slot.id,
            boxes: &slot.boxes,
            rig: slot.rig.as_ref(),
            remains,
        })
    }

    /// Calls `each` with the slot of every target whose bounds intersect `probe`, and with the distance
    /// in metres along a ray before which it cannot hit the target. If the tick is not stored, calls it
    /// with every slot.
    pub(crate) fn near(&self, row: RowKey, probe: &Probe, mut each: impl FnMut(usize, f32)) {
        match self.row_of(row) {
            Some(row) => match row.order {
                Some(order) => {
                    let order = &self.orders[order];
                    row.near(probe, |lane, enter| each(order.slot(lane), enter));
                }
                None => row.near(probe, each),
            },
            None => (0..self.slots.len()).for_each(|slot| each(slot, 0.0)),
        }
    }

    /// Returns the bounds of everything that can have been drawn of a slot's target.
    pub(crate) fn envelope(&self, row: RowKey, slot: usize) -> SweptBounds {
        let of = |row: &Row| row.get(lane_of(&self.orders, row, slot));
        self.row_of(row).and_then(of).unwrap_or(SweptBounds::EVERYWHERE)
    }

    fn row_of(&self, row: RowKey) -> Option<&Row> {
        match row {
            RowKey::Present => Some(&self.present),
            RowKey::Tick(tick) => self.row(tick),
            RowKey::All => None,
        }
    }

    fn row(&self, tick: Tick) -> Option<&Row> {
        self.rows.get(self.index(tick)?)
    }

    /// Returns the index of the row of a tick, if it is stored.
    fn index(&self, tick: Tick) -> Option<usize> {
        let index = tick.0 as usize & self.rows.len().checked_sub(1)?;
        (self.rows.get(index)?.tick == Some(tick)).then_some(index)
    }

    /// Advances the ring to the tick `now`.
    fn advance(&mut self, now: Tick, keep: i32) {
        let wanted = ((keep + SLACK).max(1).cast_unsigned() as usize).next_power_of_two();
        let backwards = self.newest.is_some_and(|newest| newest.is_newer_than(now));
        if self.rows.len() != wanted || backwards {
            self.rows = (0..wanted).map(|_| Row::default()).collect();
            self.newest = None;
            // All targets have to be written again.
            self.slots.iter_mut().flatten().for_each(|slot| slot.sent = None);
            self.ahead.clear(None);
            self.until_sorted = UNSORTED_TICKS;
        }
        self.present.tick = Some(now);
        self.ahead.tick = Some(now);
        let steps = self.newest.map_or(1, |newest| now.since(newest).clamp(0, wanted as i32));
        if steps == 0 {
            return;
        }
        self.newest = Some(now);
        self.present.fit();
        if self.until_sorted == 0 {
            self.sort_lanes();
            self.until_sorted = wanted;
        }
        self.ahead.fit();
        for age in (0..steps).rev() {
            let tick = now.offset(-age);
            self.rows[tick.0 as usize & (wanted - 1)].start(tick, &self.ahead);
        }
        self.until_sorted = self.until_sorted.saturating_sub(steps.cast_unsigned() as usize);
    }

    /// Sorts the lanes of further rows by the places of the targets, so that a ray passes most blocks.
    fn sort_lanes(&mut self) {
        // All rows have been started since the last time, so none has the order before.
        let index = self.ahead.order.map_or(0, |order| 1 - order);
        let order = &mut self.orders[index];
        order.sort(self.slots.iter().map(|place| place.as_ref()?.beyond.middle()));
        self.ahead.clear(Some(index));
        for (slot, place) in self.slots.iter().enumerate() {
            if let Some(place) = place.as_ref().filter(|place| place.sent.is_some()) {
                self.ahead.set(order.lane(slot), place.beyond);
            }
        }
    }

    /// Writes the new snapshots of a pawn into its rows.
    fn write_new_snapshots(
        &mut self,
        slot: usize,
        (path, history): (&PublishedPath, &FrameHistory),
        boxes: &HitBoxes,
        sampler: &PoseSampler,
        now: Tick,
    ) {
        let remembered = self.rows.len() as i32;
        let Some(place) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return };
        let Some(newest) = path.sent.newest() else { return };
        if place.sent == Some(newest.tick) {
            return;
        }
        // Poses drawn before a change of hit boxes are tested against the old ones.
        let body = |tick: Tick| history.bounds_since(tick, boxes.bounds());
        let first = place.sent;
        place.sent = Some(newest.tick);
        place.beyond = SweptBounds::beyond(newest, sampler, &body(newest.tick));
        let beyond = place.beyond;
        self.ahead.set(lane_of(&self.orders, &self.ahead, slot), beyond);
        // Covers everything sent since the last snapshot included in the rows.
        let oldest = now.offset(-remembered);
        let known = first.filter(|first| first.is_newer_than(oldest)).unwrap_or(oldest);
        let start = path.sent.count_until(known).saturating_sub(1);
        let mut snapshots = path.sent.iter().skip(start);
        let mut from = snapshots.next();
        for to in snapshots {
            if let Some(from) = from.replace(to) {
                SweptBounds::between((from, to), sampler, &body(from.tick), |start, end, swept| {
                    self.write(slot, start, end, swept);
                });
            }
        }
        self.write(slot, newest.tick, now.offset(1), beyond);
    }

    fn follow_present(&mut self, slot: usize, path: &PublishedPath, boxes: &HitBoxes) {
        let Some(place) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return };
        let pose = path.present();
        let here = pose.map(|pose| (pose.position, pose.rotation));
        if place.present != here {
            place.present = here;
            let around = pose.map_or(SweptBounds::NOWHERE, |pose| SweptBounds::at(pose, &boxes.bounds()));
            self.present.set(slot, around);
        }
    }

    fn write(&mut self, slot: usize, start: Tick, end: Tick, swept: SweptBounds) {
        let ticks = end.since(start).clamp(0, self.rows.len() as i32);
        for age in 1..=ticks {
            if let Some(index) = self.index(end.offset(-age)) {
                let row = &mut self.rows[index];
                row.set(lane_of(&self.orders, row, slot), swept);
            }
        }
    }

    /// Removes a slot's bounds from the present and from rows to come.
    fn clear_ahead(&mut self, slot: usize) {
        self.present.set(slot, SweptBounds::NOWHERE);
        self.ahead.set(lane_of(&self.orders, &self.ahead, slot), SweptBounds::NOWHERE);
    }

    /// Removes a slot's bounds from all rows.
    fn clear_rows(&mut self, slot: usize) {
        for row in &mut self.rows {
            row.set(lane_of(&self.orders, row, slot), SweptBounds::NOWHERE);
        }
        self.clear_ahead(slot);
    }

    fn insert(&mut self, entity: Entity, id: NetId, boxes: &HitBoxes, rig: Option<&LimbRig>) -> usize {
        let slot = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        let beyond = SweptBounds::NOWHERE;
        self.slots[slot] = Some(Slot {
            entity,
            id,
            sent: None,
            beyond,
            mode: None,
            present: None,
            boxes: boxes.clone(),
            rig: rig.copied(),
            seen: true,
            despawned: None,
        });
        self.by_entity.insert(entity, slot);
        // If two entities have the same network id, the newer one wins.
        self.by_id.insert(id, slot);
        self.clear_rows(slot);
        slot
    }

    fn remove(&mut self, slot: usize) {
        if let Some(left) = self.slots.get_mut(slot).and_then(Option::take) {
            if self.by_entity.get(&left.entity) == Some(&slot) {
                self.by_entity.remove(&left.entity);
            }
            if self.by_id.get(&left.id) == Some(&slot) {
                self.by_id.remove(&left.id);
            }
        }
        self.clear_rows(slot);
    }
}

/// Returns the lane of a slot in a row.
fn lane_of(orders: &[SlotOrder; 2], row: &Row, slot: usize) -> usize {
    row.order.map_or(slot, |order| orders[order].lane(slot))
}

type Pawn = (
    Entity,
    &'static NetId,
    &'static PublishedPath,
    &'static mut FrameHistory,
    &'static HitBoxes,
    Option<&'static LimbRig>,
    Option<&'static ProxySmoothing>,
);

/// Returns whether both rigs pose limbs with the same function. The compiler may merge identical
/// functions, which is harmless; a function with two addresses only costs an extra entry.
fn is_same_rig(a: Option<&LimbRig>, b: Option<&LimbRig>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            a.limbs == b.limbs && a.scale == b.scale && core::ptr::fn_addr_eq(a.pose, b.pose)
        }
        (None, None) => true,
        _ => false,
    }
}

/// Updates the table, after frames were recorded and after snapshots were sent.
pub(crate) fn update_table(
    (tick, sampler, limits): (Res<CurrentTick>, Res<PoseSampler>, Res<RewindLimits>),
    mut table: ResMut<RewindTable>,
    mut pawns: Query<Pawn>,
) {
    let (now, keep) = (tick.0, limits.ticks(sampler.tick_seconds));
    let table = &mut *table;
    for slot in 0..table.slots.len() {
        let despawned = table.slots[slot].as_ref().and_then(|place| place.despawned.as_deref());
        if despawned.is_some_and(|(since, _)| !limits.hit_despawned || now.since(*since) > keep + SLACK) {
            table.remove(slot);
        }
    }
    table.advance(now, keep);
    for (entity, id, path, mut history, boxes, rig, mode) in &mut pawns {
        let known = table.by_entity.get(&entity).copied();
        let slot = match known.filter(|slot| table.place(*slot).is_some_and(|place| place.id == *id)) {
            Some(slot) => slot,
            None => {
                known.into_iter().for_each(|slot| table.remove(slot));
                table.insert(entity, *id, boxes, rig)
            }
        };
        if let Some(Some(place)) = table.slots.get_mut(slot) {
            place.seen = true;
            let mut outdated = false;
            if !(place.boxes.is_same_set(boxes) && is_same_rig(place.rig.as_ref(), rig)) {
                let old = core::mem::replace(&mut place.boxes, boxes.clone());
                history.store_old_hit_boxes(old, core::mem::replace(&mut place.rig, rig.copied()), now);
                // The bounds have changed, so all of them have to be written again.
                outdated = true;
            }
            if place.mode != mode.copied() {
                // Past poses are computed with the current mode, so all bounds have to be written again.
                place.mode = mode.copied();
                outdated = true;
            }
            if outdated {
                (place.sent, place.present) = (None, None);
                table.clear_ahead(slot);
            }
        }
        table.write_new_snapshots(slot, (path, &history), boxes, &sampler.of(mode), now);
        table.follow_present(slot, path, boxes);
    }
    // A pawn without hit boxes is not a target any more.
    for slot in 0..table.slots.len() {
        let Some(place) = &mut table.slots[slot] else { continue };
        if !core::mem::take(&mut place.seen) && place.despawned.is_none() {
            table.remove(slot);
        }
    }
}

type Buried = (
    &'static mut PublishedPath,
    &'static mut FrameHistory,
    Option<&'static ProxySmoothing>,
    Option<&'static Team>,
    Option<&'static HitLayers>,
);

/// Keeps a despawned target where it was seen, for as long as shots from that time may arrive.
pub(crate) fn on_despawn(
    despawned: On<Remove, FrameHistory>,
    tick: Res<CurrentTick>,
    mut table: ResMut<RewindTable>,
    mut pawns: Query<Buried>,
) {
    let Some(slot) = table.by_entity.get(&despawned.entity).copied() else { return };
    let Ok((mut path, mut history, mode, team, layers)) = pawns.get_mut(despawned.entity) else {
        table.remove(slot);
        return;
    };
    let remains = DespawnedTarget {
        path: core::mem::take(&mut *path),
        history: core::mem::take(&mut *history),
        mode: mode.copied(),
        team: team.copied(),
        layers: layers.copied(),
    };
    if let Some(Some(place)) = table.slots.get_mut(slot) {
        place.despawned = Some(Box::new((tick.0, remains)));
    }
    // Removes the target from the present; it remains in the past.
    table.present.set(slot, SweptBounds::NOWHERE);
    table.by_entity.remove(&despawned.entity);
}
