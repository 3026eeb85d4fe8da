//! Cache of the parts near a pawn, because its next step is nearly always at the same place.

use core::cell::RefCell;

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::Aabb;

use super::MoverScene;
use crate::part::Part;

/// Number of cache slots. Pawns that share a slot evict each other and collect their parts in every
/// step.
const CACHE_SLOTS: usize = 256;

/// Fixed parts in a region of the world, and buffers for the parts of a single step.
pub(super) struct CachedParts {
    scene: u64,
    version: u64,
    own: Entity,
    mask: u32,
    /// Region that is covered, if any.
    pub(super) region: Option<Aabb>,
    /// Whether the entry is valid for later steps.
    pub(super) cacheable: bool,
    /// Fixed parts, followed by moving parts during a step.
    pub(super) parts: Vec<Part>,
    /// Number of fixed parts.
    pub(super) fixed: usize,
    /// All parts in the space of a step whose frame is not world space.
    pub(super) turned: Vec<Part>,
}

impl CachedParts {
    fn new(own: Entity) -> Self {
        Self {
            scene: 0,
            version: 0,
            own,
            mask: 0,
            region: None,
            cacheable: true,
            parts: Vec::new(),
            fixed: 0,
            turned: Vec::new(),
        }
    }

    /// Removes what is valid for one step only.
    pub(super) fn close(&mut self) {
        self.parts.truncate(self.fixed);
        self.turned.clear();
        if !self.cacheable {
            self.region = None;
        }
    }
}

// Per thread, because several threads may step pawns at once. The cache affects the speed of a step but
// not its result.
thread_local! {
    static TABLE: RefCell<[Option<Box<CachedParts>>; CACHE_SLOTS]> =
        const { RefCell::new([const { None }; CACHE_SLOTS]) };
}

fn slot(own: Entity) -> usize {
    own.index_u32() as usize % CACHE_SLOTS
}

/// Takes the entry of `own` out of the cache for the duration of a step. A nested step gets another one.
pub(super) fn take(scene: &MoverScene, own: Entity, mask: u32) -> Box<CachedParts> {
    let known = TABLE.try_with(|table| table.try_borrow_mut().ok()?[slot(own)].take()).ok().flatten();
    let mut entry = known.unwrap_or_else(|| Box::new(CachedParts::new(own)));
    let version = scene.fixed.version();
    let same = entry.scene == scene.id.0 && entry.own == own && entry.mask == mask;
    let good = |region: &Aabb| same && scene.fixed.is_unchanged(entry.version, region);
    if !entry.region.is_some_and(|region| good(&region)) {
        entry.region = None;
    }
    (entry.scene, entry.version, entry.own, entry.mask) = (scene.id.0, version, own, mask);
    entry
}

/// Returns an entry to the cache.
pub(super) fn put(mut entry: Box<CachedParts>) {
    entry.close();
    let slot = slot(entry.own);
    // Without a table, as in a thread that is shutting down, the entry is dropped.
    let _ = TABLE.try_with(|table| {
        if let Ok(mut table) = table.try_borrow_mut() {
            table[slot] = Some(entry);
        }
    });
}
