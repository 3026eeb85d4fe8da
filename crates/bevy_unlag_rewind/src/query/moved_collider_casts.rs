//! Ray casts with the moving collider backend. Feature `moved_colliders`.

use bevy::{math::Isometry3d, prelude::*};
use bevy_unlag_core::LimbPoses;

use super::{
    RewindQuery, Rewound,
    rewound::{MissReason, StoredTarget},
};
use crate::{
    moved_colliders::{ColliderMover, MovedColliders, MovedPoses, RewindBackend, Traced},
    query_result::Miss,
    system_sets::RewindSystems,
    table,
    target::{Body, HeadPriorityHit, hit_on},
    unit_ray::UnitRay,
    view::RewindTime,
};

pub(crate) fn plugin(app: &mut App) {
    app.init_resource::<RewindBackend>().init_resource::<MovedColliders>().add_systems(
        FixedPostUpdate,
        update_colliders.after(table::update_table).in_set(RewindSystems::UpdateTable),
    );
}

/// Moves the colliders to the pawns' present poses, and records the poses if the backend needs them.
fn update_colliders(backend: Res<RewindBackend>, moved: Res<MovedColliders>, query: RewindQuery) {
    match *backend {
        RewindBackend::Table => moved.lock().clear(),
        RewindBackend::MoveColliders(poses) => query.place_targets(&mut moved.lock(), poses),
    }
}

/// Iterates over the world poses of a body's boxes.
fn boxes(body: &Body<'_>, room: &mut LimbPoses) -> impl Iterator<Item = (usize, Isometry3d)> {
    body.shapes(room).map(|(index, _, pose)| (index, pose))
}

impl RewindQuery<'_, '_> {
    /// Returns the moving collider backend if it is selected.
    pub(super) fn moved(&self) -> Option<(&MovedColliders, MovedPoses)> {
        match (self.backend.as_deref(), &self.moved) {
            (Some(RewindBackend::MoveColliders(poses)), Some(moved)) => Some((moved, *poses)),
            _ => None,
        }
    }

    /// Moves all colliders to the present poses of their pawns.
    pub(crate) fn place_targets(&self, procedure: &mut ColliderMover, poses: MovedPoses) {
        let Ok(now) = self.at(RewindTime::Now) else { return };
        let keep = self.limits.ticks(self.sampler.tick_seconds);
        let mut room = LimbPoses::default();
        for slot in 0..self.table.slots() {
            let here = self.table.place(slot).is_some_and(|place| place.remains.is_none());
            match now.body(slot) {
                Ok(body) if here => {
                    procedure.stage.place_target(slot, body.boxes, boxes(&body, &mut room));
                    if poses == MovedPoses::Frames {
                        let boxes = boxes(&body, &mut room);
                        procedure.save(slot, body.entity, (self.tick.0, keep), body.boxes, boxes);
                    }
                }
                // A dead pawn has no boxes to record.
                _ => procedure.clear_records(slot),
            }
        }
        procedure.stage.optimize_bvh();
    }
}

impl Rewound<'_, '_, '_> {
    /// Returns the first hit of a ray, by moving colliders there and back.
    pub(super) fn cast_moved(
        &self,
        (moved, poses): (&MovedColliders, MovedPoses),
        ray: &UnitRay,
    ) -> Result<HeadPriorityHit, Miss> {
        let mut procedure = moved.lock();
        let mut reason = MissReason::default();
        let mut room = LimbPoses::default();
        for slot in 0..self.query.table.slots() {
            if poses == MovedPoses::Frames {
                if let Some(StoredTarget { place, target, .. }) =
                    self.known(slot).filter(|known| known.wanted)
                    && !procedure.move_to_record((slot, target.id), place.entity, self.moment.time)
                {
                    reason.consider(Miss::NotPresent(target.id));
                }
                continue;
            }
            match self.body(slot) {
                Ok(body) => {
                    procedure.move_to((slot, body.id), body.boxes, boxes(&body, &mut room));
                }
                Err(miss) => reason.consider(miss),
            }
        }
        let traced = procedure.trace(ray);
        procedure.restore();
        let traced = traced.ok_or(reason.0)?;
        let place = self.query.table.place(traced.slot).ok_or(Miss::NoTarget)?;
        let Traced { set, index, distance, .. } = &traced;
        let first = hit_on((place.entity, place.id), set, *index, *distance, ray.at(*distance));
        Ok(HeadPriorityHit::new(first, set, traced.head))
    }
}
