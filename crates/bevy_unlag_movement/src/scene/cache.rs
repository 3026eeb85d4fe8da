//! What a pawn's last steps gathered: the next step is nearly always in the same place.

use core::cell::RefCell;

use bevy::prelude::*;
use bevy_rapier3d::parry::bounding_volume::Aabb;

use super::MoverScene;
use crate::part::Part;

/// Pawns that share a place take turns and gather every time.
const PLACES: usize = 256;

/// Fixed parts in a region of the world, and room for those that last a step.
pub(super) struct Entry {
    scene: u64,
    version: u64,
    own: Entity,
    mask: u32,
    /// What it holds, if it holds anything.
    pub(super) region: Option<Aabb>,
    /// Whether it is good for other steps.
    pub(super) lasting: bool,
    /// Fixed parts, then, during a step, others.
    pub(super) parts: Vec<Part>,
    /// How many of them are fixed.
    pub(super) fixed: usize,
    /// All parts in the space of a step that is not the world.
    pub(super) turned: Vec<Part>,
}

impl Entry {
    fn new(own: Entity) -> Self {
        Self {
            scene: 0,
            version: 0,
            own,
            mask: 0,
            region: None,
            lasting: true,
            parts: Vec::new(),
            fixed: 0,
            turned: Vec::new(),
        }
    }

    /// Ends what lasts a step.
    pub(super) fn close(&mut self) {
        self.parts.truncate(self.fixed);
        self.turned.clear();
        if !self.lasting {
            self.region = None;
        }
    }
}

// Of the thread: any number of them may step pawns at once. What a step sees does not depend on
// it, only how long that takes.
thread_local! {
    static TABLE: RefCell<[Option<Box<Entry>>; PLACES]> = const { RefCell::new([const { None }; PLACES]) };
}

fn place(own: Entity) -> usize {
    own.index_u32() as usize % PLACES
}

/// What is known of `own`'s surroundings, for as long as it takes: a step in a step gets another.
pub(super) fn take(scene: &MoverScene, own: Entity, mask: u32) -> Box<Entry> {
    let known = TABLE.try_with(|table| table.try_borrow_mut().ok()?[place(own)].take()).ok().flatten();
    let mut entry = known.unwrap_or_else(|| Box::new(Entry::new(own)));
    let version = scene.fixed.version();
    let same = entry.scene == scene.id && entry.own == own && entry.mask == mask;
    let good = |region: &Aabb| same && scene.fixed.is_unchanged(entry.version, region);
    if !entry.region.is_some_and(|region| good(&region)) {
        entry.region = None;
    }
    (entry.scene, entry.version, entry.own, entry.mask) = (scene.id, version, own, mask);
    entry
}

/// Keeps it for the next step.
pub(super) fn put(mut entry: Box<Entry>) {
    entry.close();
    let place = place(entry.own);
    // Without a table, as in a thread that ends, there is no next step.
    let _ = TABLE.try_with(|table| {
        if let Ok(mut table) = table.try_borrow_mut() {
            table[place] = Some(entry);
        }
    });
}
