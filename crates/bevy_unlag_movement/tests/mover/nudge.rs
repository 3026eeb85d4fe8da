//! The end position that a server accepts from a client: only where the capsule can get.

use bevy::{ecs::system::SystemState, prelude::*};
use bevy_unlag_core::{MoveModel, StepContext, Tick};
use bevy_unlag_movement::{CapsuleConfig, CapsuleModel, CapsuleState, MoverWorld};

use crate::common::{DT, Level, expect_standing};

fn try_nudge(app: &mut App, state: &CapsuleState, by: Vec3) -> Option<CapsuleState> {
    let entity = app.world_mut().spawn_empty().id();
    let mut system =
        SystemState::<(MoverWorld<'static, 'static>, Res<'static, CapsuleConfig>)>::new(app.world_mut());
    let (world, config) = system.get(app.world()).expect("the level must provide the mover's world");
    let ctx = StepContext { tick: Tick(1), dt: DT, entity, replaying: false };
    CapsuleModel::try_nudge(&config, state, by, &ctx, &world)
}

/// A floor, a wall whose face is 2 cm beside a pawn at the origin, and a thin one half a metre behind it.
fn walled_level() -> App {
    let radius = CapsuleConfig::default().radius;
    let (near, thin) = (radius + 0.02, -radius - 0.5);
    Level::with_floor()
        .block(Vec3::new(near, 0.0, -5.0), Vec3::new(near + 1.0, 3.0, 5.0))
        .block(Vec3::new(-5.0, 0.0, thin - 0.05), Vec3::new(near, 3.0, thin))
        .build()
}

#[test]
fn capsule_is_nudged_exactly_by_the_offset_into_free_space() {
    let mut app = walled_level();
    let pawn = expect_standing(&mut app, Vec3::ZERO);
    for by in [Vec3::X * 0.005, Vec3::X * -0.1, Vec3::Z * 0.07, Vec3::Y * 0.05, Vec3::new(-0.03, 0.01, 0.02)]
    {
        let nudged = try_nudge(&mut app, &pawn, by);
        assert_eq!(nudged, Some(CapsuleState { position: pawn.position + by, ..pawn }), "{by}");
    }
}

/// Fails if the capsule accepts an end position without testing for walls.
#[test]
fn capsule_is_not_nudged_into_or_through_a_wall_or_the_floor() {
    let mut app = walled_level();
    let pawn = expect_standing(&mut app, Vec3::ZERO);
    for by in [Vec3::X * 0.04, Vec3::X * 0.1, Vec3::new(0.05, 0.0, 0.05), Vec3::Y * -0.1] {
        assert_eq!(try_nudge(&mut app, &pawn, by), None, "{by}: it would be inside");
    }
    // The place beyond the thin wall is free, but the way there is not.
    let beyond = Vec3::Z * -2.0;
    let there = CapsuleState { position: pawn.position + beyond, ..pawn };
    assert!(try_nudge(&mut app, &there, Vec3::X * -0.01).is_some(), "the place must be free");
    assert_eq!(try_nudge(&mut app, &pawn, beyond), None);
}

#[test]
fn crouched_capsule_is_nudged_where_a_standing_one_is_not() {
    let config = CapsuleConfig::default();
    let top = 2.0 * config.crouched_half_height + 0.3;
    let side = config.radius + 0.02;
    let mut app =
        Level::with_floor().block(Vec3::new(side, top, -5.0), Vec3::new(side + 3.0, 3.0, 5.0)).build();
    let standing = expect_standing(&mut app, Vec3::ZERO);
    let crouched = CapsuleState { crouched: true, ..standing };
    assert_eq!(try_nudge(&mut app, &standing, Vec3::X * 0.1), None);
    assert!(try_nudge(&mut app, &crouched, Vec3::X * 0.1).is_some());
}

#[test]
fn non_finite_offset_or_state_is_not_nudged() {
    let mut app = walled_level();
    let pawn = expect_standing(&mut app, Vec3::ZERO);
    for by in [Vec3::NAN, Vec3::INFINITY, Vec3::new(0.0, f32::NAN, 0.0)] {
        assert_eq!(try_nudge(&mut app, &pawn, by), None, "{by}");
    }
    let lost = CapsuleState { position: Vec3::NAN, ..pawn };
    assert!(try_nudge(&mut app, &lost, Vec3::X * 0.01).is_none());
}
