//! Pawns that a shot names because they were drawn at another moment than the rest.

use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_unlag_core::{DrawnPose, Tick, ViewStamp, ViewTime};
use bevy_unlag_rewind::{DrawnQuery, StampOverride, humanoid_hit_boxes};
use bevy_unlag_smoothing::OutOfSight;

use crate::shapes::range::{CircularMotion, Range};

const FROM: Tick = Tick(5);

/// A pawn 5 m ahead that was drawn from an update of tick 5, extrapolated to tick 6.
fn spawn_scene() -> (Range, Entity) {
    let mut range = Range::new(0, true);
    let still = CircularMotion { middle: Vec3::NEG_Z * 5.0, radius: 0.0, speed: 0.0, start: 0.0 };
    let target = range.add(1, still, humanoid_hit_boxes());
    range.app.world_mut().entity_mut(target).insert(DrawnPose::default());
    range.run(20);
    let mut drawn = range.app.world_mut().get_mut::<DrawnPose>(target).expect("it is drawn");
    drawn.stamp = ViewStamp::Extrapolated { from: FROM, time: ViewTime::at(FROM.offset(1)) };
    drawn.pose.alive = true;
    (range, target)
}

/// Returns what a shot at tick 10 names along a direction.
fn named(range: &mut Range, direction: Vec3) -> Vec<StampOverride> {
    let look = move |query: DrawnQuery| {
        let mut found = [StampOverride::default(); 4];
        let time = ViewTime::at(FROM.offset(5));
        let count = query.overrides(Vec3::Y * 1.3, (direction, 0.0), time, 3, &mut found);
        found[..count].to_vec()
    };
    range.app.world_mut().run_system_once(look).expect("the query must run")
}

#[test]
fn pawn_near_the_aim_that_was_drawn_at_another_moment_is_named() {
    let (mut range, target) = spawn_scene();
    let found = named(&mut range, Vec3::NEG_Z);
    assert_eq!(
        found.iter().map(|one| (one.from, one.to, one.shift)).collect::<Vec<_>>(),
        [(FROM, None, -4 * 256)]
    );
    assert_eq!(named(&mut range, Vec3::X), [], "aside");
    // A corpse was drawn, too.
    range.app.world_mut().get_mut::<DrawnPose>(target).expect("it is drawn").pose.alive = false;
    assert_eq!(named(&mut range, Vec3::NEG_Z).len(), 1);
}

#[test]
fn pawn_that_is_out_of_sight_is_not_named() {
    let (mut range, target) = spawn_scene();
    // It was drawn for the last time before it was hidden.
    range.app.world_mut().entity_mut(target).insert(OutOfSight { since: FROM.offset(2) });
    assert_eq!(named(&mut range, Vec3::NEG_Z).len(), 1, "still drawn");
    range.app.world_mut().get_mut::<DrawnPose>(target).expect("it is drawn").pose.alive = false;
    assert_eq!(named(&mut range, Vec3::NEG_Z), []);
}
