//! Third row: moving platforms, crates and other pawns.

use bevy::prelude::*;
use bevy_unlag_movement::{BaseId, PawnCollision};

use crate::{
    expectation::Expectation::{
        Above, Below, Beyond, Carried, Moved, NeverAirborne, Peak, Rode, Short, Steady,
    },
    script::{FORWARD, IDLE, arrival, go, hold},
    tuning::Tuning,
};

use super::{
    BaseMotion, Kind, Prop, Role, Shape, Station,
    prop::{deck, stairs_behind},
};

const LIFT: u16 = 1;
const SHUTTLE: u16 = 2;
const TURNTABLE: u16 = 3;
const CAR: u16 = 4;

/// Returns the stations.
pub(super) fn row() -> Vec<Station> {
    vec![lift(), shuttle(), turntable(), car(), crates(), block(), push()]
}

/// The pawn stands still on a lift that goes up and down.
fn lift() -> Station {
    let (low, high) = (Vec3::new(0.0, 0.05, -4.0), Vec3::new(0.0, 3.05, -4.0));
    Station::new("lift: stand still", 4.2)
        .label(2.6, -2.4)
        .props([
            Prop::new(Kind::Machine, Shape::Box(Vec3::new(1.2, 0.05, 1.2)), low)
                .role(Role::Base(LIFT, BaseMotion::Shuttle { to: high, travel: 2.5, pause: 2.0 })),
            deck(1.3, -5.25, -8.0, 3.1),
        ])
        .script([
            arrival(LIFT, low, 12.0),
            go(0.0, -4.0, 1.5),
            arrival(LIFT, high, 8.0),
            arrival(LIFT, low, 8.0),
        ])
        .expectations([Rode(BaseId(LIFT)), Peak(3.05), Below(0.2), Steady(0.01), Carried(2.8), NeverAirborne])
}

/// The pawn crosses a gap on a moving platform.
fn shuttle() -> Station {
    let (near, far) = (Vec3::new(0.0, 0.9, -3.05), Vec3::new(0.0, 0.9, -5.95));
    Station::new("shuttle", 3.8)
        .start(1.0)
        .label(2.6, -4.0)
        .props([deck(1.3, 1.0, -2.0, 1.0), deck(1.3, -7.0, -9.5, 1.0)])
        .props(stairs_behind(1.3, 1.0, 1.0))
        .props([Prop::new(Kind::Machine, Shape::Box(Vec3::new(1.0, 0.1, 1.0)), near)
            .role(Role::Base(SHUTTLE, BaseMotion::Shuttle { to: far, travel: 2.0, pause: 2.0 }))])
        .script([
            arrival(SHUTTLE, near, 10.0),
            go(0.0, -3.05, 1.2),
            arrival(SHUTTLE, far, 6.0),
            go(0.0, -8.2, 1.4),
        ])
        .expectations([Rode(BaseId(SHUTTLE)), Beyond(-7.4), Above(0.98), Steady(0.01), Carried(2.5)])
}

/// The pawn stands near the rim for half a turn.
fn turntable() -> Station {
    Station::new("turntable", 5.2)
        .label(1.8, -3.0)
        .props([Prop::new(
            Kind::Machine,
            Shape::Disc { radius: 2.2, half_height: 0.1 },
            Vec3::new(0.0, 0.1, -5.0),
        )
        .role(Role::Base(TURNTABLE, BaseMotion::Turns(8.0)))
        // A stripe that makes the rotation visible.
        .with(Prop::slab(Kind::Crate, [-0.1, 0.1, -2.1], [0.1, 0.12, 2.1]).role(Role::Decor))])
        .script([go(0.0, -3.9, 1.5), hold(3.6, IDLE)])
        .expectations([Rode(BaseId(TURNTABLE)), Steady(0.02), Carried(1.2), NeverAirborne])
}

/// The pawn stands on a box that rides on a platform: the collider belongs to a child of the base.
fn car() -> Station {
    let (left, right) = (Vec3::new(-1.5, 0.1, -5.0), Vec3::new(1.5, 0.1, -5.0));
    Station::new("platform with a box", 6.6)
        .label(1.9, -3.0)
        .props([Prop::new(Kind::Machine, Shape::Box(Vec3::new(1.5, 0.1, 2.0)), left)
            .role(Role::Base(CAR, BaseMotion::Shuttle { to: right, travel: 3.0, pause: 2.5 }))
            .with(Prop::slab(Kind::Step, [-0.7, 0.1, -1.8], [0.7, 0.5, -0.4]))])
        .script([arrival(CAR, left, 14.0), go(-1.5, -6.1, 2.0), arrival(CAR, right, 8.0), hold(0.5, IDLE)])
        .expectations([Rode(BaseId(CAR)), Above(0.58), Steady(0.02), Carried(2.5)])
}

/// Dynamic rapier bodies do not block a pawn; it pushes them.
fn crates() -> Station {
    let one = |x: f32, y: f32, z: f32| {
        Prop::new(Kind::Crate, Shape::Box(Vec3::splat(0.3)), Vec3::new(x, y, z)).role(Role::Crate)
    };
    Station::new("crates: push", 4.2)
        .label(1.9, -4.0)
        .props([one(-0.35, 0.31, -4.0), one(0.35, 0.31, -4.0), one(0.0, 0.92, -4.0), one(0.9, 0.31, -5.2)])
        .script([hold(1.2, FORWARD)])
        .expectations([Moved(0.3), Beyond(-4.0)])
}

fn block() -> Station {
    Station::new("pawn: blocks (N)", 3.6)
        .label(2.5, -4.0)
        .tuning(Tuning { pawns: PawnCollision::Block, ..default() })
        .dummy(Vec3::new(0.0, 0.0, -4.0))
        .script([hold(1.4, FORWARD)])
        .expectations([Short(-3.4), Beyond(-2.8)])
}

fn push() -> Station {
    Station::new("pawn: pushes (N)", 3.6)
        .label(2.5, -4.0)
        .tuning(Tuning { pawns: PawnCollision::Push, ..default() })
        // Off centre: exactly aligned pawns would have no side to move to.
        .dummy(Vec3::new(0.15, 0.0, -4.0))
        .script([hold(1.4, FORWARD)])
        .expectations([Moved(0.05), Beyond(-4.5)])
}
