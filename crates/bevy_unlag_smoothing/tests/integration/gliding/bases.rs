//! Passengers of a moving and turning platform, which the screen shows at another moment than passengers.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{
    BasePoses, CurrentTick, DrawnBaseTime, DrawnPose, Snapshot, Tick, TickPlugin, ViewTime, VisualOffset,
};

use super::harness::*;

/// A platform that turns at 0.6 rad/s and moves up and down by 3 m within 4 s.
fn platform(seconds: f64) -> Isometry3d {
    let height = (3.0 * (seconds * core::f64::consts::FRAC_PI_2).sin()) as f32;
    Isometry3d::new(Vec3::Y * height, Quat::from_rotation_y((seconds * 0.6) as f32))
}

fn bases() -> BasePoses {
    BasePoses::new(Duration::from_nanos(15_625_000), |base, seconds| (base == 7).then(|| platform(seconds)))
}

/// Snapshot of a passenger that stands 6 m from the centre.
fn passenger(tick: u32, on_base: bool) -> Snapshot {
    let local = Vec3::new(6.0, 0.0, 0.0);
    let poses = bases();
    let view = poses.at(ViewTime::at(Tick(tick)));
    let place: Vec3 = view.pose(7).expect("a base").transform_point(local).into();
    let world = Snapshot::new(Tick(tick), place, view.velocity(7, local));
    if on_base { world.on_base(7, place, true, &view) } else { world }
}

/// Returns the largest distance of a passenger from its place on the drawn platform, in metres.
fn expect_slide(on_base: bool) -> f32 {
    let mut stage = Harness::new();
    stage.app.add_plugins(TickPlugin).insert_resource(bases());
    stage.app.insert_resource(Time::<Fixed>::from_duration(Duration::from_nanos(15_625_000)));
    let pawn = stage.pawn(None, 20.0, move |tick| passenger(tick, on_base), |_| 6, |_| Some(0.1));
    stage.run(4.0);
    let mut slid = 0.0f32;
    for _ in 0..600 {
        stage.run(FRAME * 0.5);
        let world = stage.app.world();
        let overstep = world.resource::<Time<Fixed>>().overstep().as_secs_f64() / TICK;
        let now = ViewTime::after(world.resource::<CurrentTick>().0, overstep);
        let drawn = world.get::<DrawnPose>(stage.pawns[pawn].entity).expect("drawn").pose;
        let offset = world.get::<VisualOffset>(stage.pawns[pawn].entity).expect("an offset").offset;
        let seat = bases().at(now).pose(7).expect("a base").transform_point(Vec3::new(6.0, 0.0, 0.0));
        slid = slid.max((drawn.position + offset).distance(seat.into()));
        assert_eq!(world.resource::<DrawnBaseTime>().0.is_some(), on_base);
    }
    slid
}

#[test]
fn passenger_does_not_slide_on_its_moving_base() {
    let (sent_on_base, sent_in_world) = (expect_slide(true), expect_slide(false));
    assert!(sent_on_base < 0.002, "{sent_on_base} m");
    assert!(sent_in_world > 0.3, "the control must slide, not by only {sent_in_world} m");
}

#[test]
fn pawn_that_steps_off_a_base_is_blended_without_a_jump() {
    // The passenger stands on the rim and leaves it at 6 s, to stand still in the air.
    let path = |tick: u32| {
        let seconds = f64::from(tick) * TICK;
        if seconds < 6.0 {
            return passenger(tick, true);
        }
        let at = platform(6.0).transform_point(Vec3::new(6.0, 0.0, 0.0));
        Snapshot::new(Tick(tick), Vec3::from(at), Vec3::ZERO)
    };
    let mut stage = Harness::new();
    stage.app.add_plugins(TickPlugin).insert_resource(bases());
    stage.app.insert_resource(Time::<Fixed>::from_duration(Duration::from_nanos(15_625_000)));
    let pawn = stage.pawn(None, 10.0, path, |_| 3, |_| Some(0.05));
    stage.run(9.0);
    // The platform is drawn 0.15 s ahead of the pawn that leaves it: 0.9 m, in a tick or while an offset
    // fades.
    let step = largest_step(stage.pawns[pawn].after(5.0));
    assert!(step < 1.2, "{step} m");
    assert!(stage.pawns[pawn].after(8.0).windows(2).all(|pair| pair[0].place == pair[1].place));
}
