//! Second row: ledges, gaps, corners, terrain and one-way platforms.

use bevy::prelude::*;

use crate::{
    expectation::Expectation::{
        Above, Below, Beyond, Grounded, Level, NeverAirborne, NeverBeyond, Peak, Short, Smooth, Still,
    },
    script::{FORWARD, IDLE, Keys, go, hold},
    tuning::Tuning,
};

use super::{
    HILLS, Kind, Prop, Role, Shape, Station,
    prop::{deck, stairs_behind, wall},
};

/// Returns the stations.
pub(super) fn row() -> Vec<Station> {
    vec![
        ledge("ledge: walks off").script([hold(1.4, FORWARD)]).expectations([Below(0.05), Beyond(-4.0)]),
        ledge("ledge, crouched: stays").script([hold(2.4, Keys { crouch: true, ..FORWARD })]).expectations([
            Above(0.98),
            Beyond(-2.4),
            Short(-3.4),
        ]),
        ledge("ledge, option L: stays")
            .tuning(Tuning { stops_at_ledges: true, ..default() })
            .script([hold(1.4, FORWARD)])
            .expectations([Above(0.98), Beyond(-2.4), Short(-3.4)]),
        gap(),
        corner(),
        wedge(),
        hills(),
        seams(),
        one_way(),
    ]
}

/// Creates a deck with a ledge, one metre high.
fn ledge(name: &'static str) -> Station {
    Station::new(name, 3.8)
        .start(1.0)
        .label(2.4, -3.0)
        .props([deck(1.3, 1.0, -3.0, 1.0)])
        .props(stairs_behind(1.3, 1.0, 1.0))
}

fn gap() -> Station {
    Station::new("gap 3 m: jump", 3.8)
        .start(1.0)
        .label(2.6, -4.5)
        .props([deck(1.3, 1.0, -3.0, 1.0), deck(1.3, -6.0, -10.8, 1.0)])
        .props(stairs_behind(1.3, 1.0, 1.0))
        .script([go(0.0, -2.3, 1.5), hold(0.2, Keys { jump: true, ..FORWARD }), hold(0.7, FORWARD)])
        .expectations([Beyond(-6.0), Above(0.98), Grounded])
}

/// The pawn comes to rest between two walls without jitter.
fn corner() -> Station {
    Station::new("V corner: rest", 4.2)
        .label(2.4, -4.0)
        .props([wall([-1.7, -2.5], [0.1, -6.6], 1.8), wall([1.7, -2.5], [-0.1, -6.6], 1.8)])
        .script([hold(2.2, FORWARD)])
        .expectations([NeverBeyond(-6.2), Beyond(-3.5), Still])
}

/// A ceiling that slopes down to the floor: the pawn walks in until it is blocked, and out again.
fn wedge() -> Station {
    let (high, near, far) = (2.4_f32, -2.5_f32, -7.5_f32);
    let slope = (high / (near - far)).atan();
    let half = Vec3::new(1.3, 0.12, high.hypot(near - far) / 2.0);
    // The lower face of the box connects the high and the low end.
    let up = Vec3::new(0.0, slope.cos(), -slope.sin());
    let middle = Vec3::new(0.0, high / 2.0, (near + far) / 2.0) + up * half.y;
    Station::new("wedge: in and out", 3.8)
        .label(3.2, -2.5)
        .props([
            Prop::new(Kind::Wall, Shape::Box(half), middle).turned(Quat::from_rotation_x(-slope)),
            Prop::slab(Kind::Deck, [-1.3, 0.0, -7.8], [-1.2, 0.2, -2.5]),
            Prop::slab(Kind::Deck, [1.2, 0.0, -7.8], [1.3, 0.2, -2.5]),
        ])
        .script([hold(1.8, FORWARD), hold(1.2, Keys { forward: -1.0, ..IDLE })])
        .expectations([NeverBeyond(-4.4), Short(-1.5), Level(0.05)])
}

fn hills() -> Station {
    let middle = Vec3::new(0.0, 0.0, -2.0 - HILLS.z / 2.0);
    Station::new("height field", 6.6)
        .label(1.8, -3.5)
        .props([Prop::new(Kind::Terrain, Shape::Hills, middle)])
        .script([go(0.0, -12.2, 4.0)])
        .expectations([Beyond(-11.6), Peak(0.35), NeverAirborne])
}

/// The pawn crosses the seams between a box, a triangle mesh and a box without a bump.
fn seams() -> Station {
    Station::new("box | mesh | box", 3.8)
        .start(0.3)
        .label(1.6, -4.0)
        .props([
            Prop::slab(Kind::Deck, [-1.5, 0.0, -3.0], [1.5, 0.3, 1.0]),
            Prop::new(Kind::Terrain, Shape::Quilt, Vec3::new(0.0, 0.3, -5.0)),
            Prop::slab(Kind::Deck, [-1.5, 0.0, -9.0], [1.5, 0.3, -7.0]),
        ])
        .script([go(0.35, -8.2, 3.0)])
        .expectations([Beyond(-7.6), Level(0.005), Smooth, NeverAirborne])
}

/// The pawn jumps up through a one-way platform.
fn one_way() -> Station {
    Station::new("one-way: jump up", 3.8)
        .label(1.8, -2.5)
        .props([Prop::slab(Kind::OneWayCollider, [-1.3, 0.58, -5.5], [1.3, 0.68, -2.5])
            .role(Role::OneWayCollider)])
        .script([
            go(0.0, -3.6, 1.5),
            hold(0.5, IDLE),
            hold(0.2, Keys { jump: true, ..IDLE }),
            hold(1.0, IDLE),
        ])
        .expectations([Above(0.66), Beyond(-3.5), Grounded])
}
