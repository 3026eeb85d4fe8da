//! Fourth row: movement volumes and abilities.

use bevy::prelude::*;
use bevy_unlag_movement::{GravityField, MoveVolume, MovementMode, VolumeId};

use crate::{
    expectation::Expectation::{
        Above, Beyond, CustomMode, Faster, Grounded, In, Launched, Mode, Near, Overturned, Peak, Short,
        Still, Up,
    },
    ladder_climbing::LADDER,
    script::{FORWARD, IDLE, Keys, go, hold},
};

use super::{
    Kind, Prop, Role, Shape, Station,
    prop::{deck, stairs_behind},
};

const PAD: VolumeId = VolumeId(1);
const POOL: VolumeId = VolumeId(2);
const MUD: VolumeId = VolumeId(3);
const SIDEWAYS: VolumeId = VolumeId(4);
const PLANET: VolumeId = VolumeId(5);

/// Returns the stations.
pub(super) fn row() -> Vec<Station> {
    vec![
        pad(),
        pool(),
        mud(),
        sideways(),
        planet(),
        ladder(),
        teleport("teleport (T): 10 m", None),
        teleport("teleport: blocked", Some(-10.0)),
        dash(),
    ]
}

/// A jump pad. A volume acts on the centre of a capsule, so it must be taller than the visible pad.
fn pad() -> Station {
    let throw = MoveVolume { launch: Some(Vec3::new(0.0, 8.0, -2.0)), ..MoveVolume::trigger(PAD) };
    Station::new("jump pad", 4.0)
        .label(2.0, -3.0)
        .props([
            Prop::slab(Kind::Pad, [-0.8, 0.0, -3.8], [0.8, 1.2, -2.2]).role(Role::Volume(throw)),
            Prop::slab(Kind::Pad, [-0.8, 0.0, -3.8], [0.8, 0.04, -2.2]).role(Role::Decor),
            deck(1.3, -4.6, -8.0, 1.5),
        ])
        .script([go(0.0, -2.6, 1.2), hold(2.0, IDLE)])
        .expectations([Launched, Peak(2.8), Above(1.45), Grounded])
}

/// The pawn jumps in, swims across, and climbs out onto the lower bank.
fn pool() -> Station {
    Station::new("water: swim, climb out", 4.4)
        .start(1.6)
        .label(2.8, -4.5)
        .props([
            deck(1.6, 1.0, -2.0, 1.6),
            deck(1.6, -7.0, -9.5, 1.3),
            Prop::slab(Kind::Wall, [-1.6, 0.0, -7.0], [-1.4, 1.6, -2.0]),
            Prop::slab(Kind::Wall, [1.4, 0.0, -7.0], [1.6, 1.6, -2.0]),
            Prop::slab(Kind::Water, [-1.4, 0.0, -7.0], [1.4, 1.45, -2.0])
                .role(Role::Volume(MoveVolume::water(POOL))),
        ])
        .props(stairs_behind(1.6, 1.0, 1.6))
        .script([go(0.0, -6.4, 4.0), hold(1.1, Keys { jump: true, ..FORWARD }), hold(0.5, IDLE)])
        .expectations([In(POOL), Mode(MovementMode::Swimming), Above(1.25), Beyond(-7.2), Grounded])
}

fn mud() -> Station {
    let slow = MoveVolume { speed_factor: 0.35, ..MoveVolume::trigger(MUD) };
    Station::new("mud: x 0.35", 4.0)
        .label(1.8, -3.0)
        .props([
            Prop::slab(Kind::Mud, [-1.6, 0.0, -11.0], [1.6, 1.2, -2.0]).role(Role::Volume(slow)),
            Prop::slab(Kind::Mud, [-1.6, 0.0, -11.0], [1.6, 0.03, -2.0]).role(Role::Decor),
        ])
        .script([hold(2.0, FORWARD)])
        .expectations([In(MUD), Beyond(-3.5), Short(-7.5)])
}

/// A field with gravity to the right.
fn sideways() -> Station {
    let pull =
        MoveVolume { gravity: Some(GravityField::Uniform(Vec3::X * 9.8)), ..MoveVolume::trigger(SIDEWAYS) };
    Station::new("gravity: sideways", 7.0)
        .start(1.0)
        .label(3.0, -3.6)
        .props([
            deck(1.3, 1.0, -3.0, 1.0),
            Prop::slab(Kind::Wall, [2.6, 0.0, -12.0], [2.9, 4.5, -3.4]),
            Prop::slab(Kind::Field, [-2.8, 0.0, -12.0], [2.6, 4.5, -3.6]).role(Role::Volume(pull)),
        ])
        .props(stairs_behind(1.3, 1.0, 1.0))
        // Walks slowly, because a fast pawn would miss the wall.
        .script([hold(2.4, Keys { walk: true, ..FORWARD }), hold(1.4, IDLE)])
        .expectations([In(SIDEWAYS), Up(Vec3::NEG_X), Grounded])
}

/// The pawn walks all the way around a small planet.
fn planet() -> Station {
    const RADIUS: f32 = 3.0;
    let centre = Vec3::new(0.0, 6.0, -7.0);
    let pull = MoveVolume {
        gravity: Some(GravityField::Towards { centre, strength: 20.0 }),
        ..MoveVolume::trigger(PLANET)
    };
    let mut station = Station::new("planet: walk round", 12.0)
        .label(10.6, -7.0)
        .props([
            Prop::new(Kind::Terrain, Shape::Ball(RADIUS), centre),
            Prop::new(Kind::Field, Shape::Ball(RADIUS + 2.4), centre).role(Role::Volume(pull)),
        ])
        .script([hold(3.4, FORWARD), hold(0.6, IDLE)])
        .expectations([In(PLANET), Overturned, Near(centre, RADIUS + 0.2), Grounded, Still]);
    station.start = centre + Vec3::Y * (RADIUS + 0.05);
    station
}

/// A custom movement mode; see `climb.rs`.
fn ladder() -> Station {
    let rungs = (1u8..10).map(|i| {
        let y = 0.33 * f32::from(i);
        Prop::slab(Kind::Ladder, [-0.45, y - 0.03, -3.99], [0.45, y + 0.03, -3.93]).role(Role::Decor)
    });
    Station::new("ladder: custom mode", 4.0)
        .label(3.9, -3.9)
        .props([
            deck(1.3, -4.0, -6.5, 3.0),
            Prop::slab(Kind::Ladder, [-0.6, 0.0, -4.2], [0.6, 4.2, -3.1])
                .role(Role::Volume(MoveVolume::trigger(LADDER))),
        ])
        .props(rungs)
        .script([go(0.0, -3.3, 1.2), hold(2.0, Keys { jump: true, pitch: 50.0, ..FORWARD }), hold(0.5, IDLE)])
        .expectations([In(LADDER), CustomMode, Above(2.95), Beyond(-4.2)])
}

/// A teleport ignores obstacles on its way, but not at its destination.
fn teleport(name: &'static str, block: Option<f32>) -> Station {
    let expectations = if block.is_some() { Short(-0.5) } else { Beyond(-9.5) };
    let blocks = block.map(|z| Prop::slab(Kind::Wall, [-1.3, 0.0, z - 0.5], [1.3, 2.2, z + 0.5])).into_iter();
    Station::new(name, 3.8)
        .label(2.4, -3.0)
        .props([Prop::slab(Kind::Wall, [-1.3, 0.0, -3.2], [1.3, 1.8, -3.0])])
        .props(blocks)
        .script([hold(0.05, Keys { teleport: true, ..IDLE }), hold(0.4, IDLE)])
        .expectations([expectations, Grounded])
}

fn dash() -> Station {
    Station::new("dash (F)", 3.8)
        .label(1.8, -3.0)
        .props([
            Prop::slab(Kind::Wall, [-1.5, 0.0, -8.0], [-1.3, 0.5, -1.0]),
            Prop::slab(Kind::Wall, [1.3, 0.0, -8.0], [1.5, 0.5, -1.0]),
        ])
        .script([hold(0.05, Keys { dash: true, ..FORWARD }), hold(0.3, FORWARD), hold(0.4, IDLE)])
        .expectations([Faster(15.0), Beyond(-4.0), Grounded])
}
