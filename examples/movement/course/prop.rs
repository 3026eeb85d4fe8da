//! Props of the course.

use bevy::prelude::*;
use bevy_unlag_movement::MoveVolume;

/// Shape of a prop, in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// Half extents of a box.
    Box(Vec3),
    /// Radius of a ball.
    Ball(f32),
    /// Flat cylinder about Y.
    Disc {
        /// Radius.
        radius: f32,
        /// Half the thickness.
        half_height: f32,
    },
    /// The height field of [`hills`](super::hills).
    Hills,
    /// The triangle mesh of [`quilt`](super::quilt).
    Quilt,
}

/// Kind of a prop, which determines its colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Ground of the course.
    Ground,
    /// Steps and stairs.
    Step,
    /// Ramps.
    Slope,
    /// Walls and ceilings.
    Wall,
    /// Raised floors.
    Deck,
    /// Hills and meshes.
    Terrain,
    /// Moving platforms.
    Machine,
    /// Movable crates.
    Crate,
    /// One-way platforms, solid from above only.
    OneWayCollider,
    /// Jump pads.
    Pad,
    /// Water.
    Water,
    /// Mud, which slows pawns down.
    Mud,
    /// Gravity fields.
    Field,
    /// Ladders.
    Ladder,
}

/// Behaviour of a prop.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Role {
    /// Static collider.
    Fixed,
    /// Visual without a collider.
    Decor,
    /// Solid from above only.
    OneWayCollider,
    /// Dynamic body.
    Crate,
    /// Movement base: its id and its motion.
    Base(u16, BaseMotion),
    /// Movement volume. A gravity centre is relative to the station.
    Volume(MoveVolume),
}

/// Motion of a base.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum BaseMotion {
    /// Moves to another position and back.
    Shuttle {
        /// Other position of its centre.
        to: Vec3,
        /// Travel time of one direction, in seconds.
        travel: f32,
        /// Pause at each end, in seconds.
        pause: f32,
    },
    /// Rotates about Y; seconds per turn.
    Turns(f32),
}

/// A prop of the course.
#[derive(Clone, Debug)]
pub struct Prop {
    /// Shape.
    pub shape: Shape,
    /// Centre, relative to the station or to its parent.
    pub at: Vec3,
    /// Rotation.
    pub turn: Quat,
    /// Kind, which determines the colour.
    pub kind: Kind,
    /// Behaviour.
    pub role: Role,
    /// Props that ride on it.
    pub children: Vec<Prop>,
}

impl Prop {
    pub(super) fn new(kind: Kind, shape: Shape, at: Vec3) -> Self {
        Self { shape, at, turn: Quat::IDENTITY, kind, role: Role::Fixed, children: Vec::new() }
    }

    /// Creates a box from its lowest to its highest corner.
    pub(super) fn slab(kind: Kind, low: [f32; 3], high: [f32; 3]) -> Self {
        let (low, high) = (Vec3::from(low), Vec3::from(high));
        Self::new(kind, Shape::Box((high - low) / 2.0), (low + high) / 2.0)
    }

    pub(super) fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    pub(super) fn turned(mut self, turn: Quat) -> Self {
        self.turn = turn;
        self
    }

    pub(super) fn with(mut self, child: Self) -> Self {
        self.children.push(child);
        self
    }
}

/// Creates a ramp that climbs along -Z by `rise` metres from its foot.
pub(super) fn ramp(degrees: f32, half_width: f32, foot_z: f32, rise: f32) -> Prop {
    const THICK: f32 = 0.2;
    let slope = degrees.to_radians();
    let length = rise / slope.sin();
    let along = Vec3::new(0.0, slope.sin(), -slope.cos());
    let up = Vec3::new(0.0, slope.cos(), slope.sin());
    let top = Vec3::new(0.0, rise, foot_z - rise / slope.tan());
    let half = Vec3::new(half_width, THICK, length / 2.0);
    Prop::new(Kind::Slope, Shape::Box(half), top - along * (length / 2.0) - up * THICK)
        .turned(Quat::from_rotation_x(slope))
}

/// Creates a wall between two ground positions, given as `[x, z]`.
pub(super) fn wall(from: [f32; 2], to: [f32; 2], height: f32) -> Prop {
    let (from, to) = (Vec2::from(from), Vec2::from(to));
    let (way, middle) = (to - from, (from + to) / 2.0);
    let half = Vec3::new(way.length() / 2.0, height / 2.0, 0.12);
    Prop::new(Kind::Wall, Shape::Box(half), Vec3::new(middle.x, height / 2.0, middle.y))
        .turned(Quat::from_rotation_y((-way.y).atan2(way.x)))
}

/// Creates a raised floor between two z coordinates; `far` is further along -Z.
pub(super) fn deck(half_width: f32, near: f32, far: f32, height: f32) -> Prop {
    Prop::slab(Kind::Deck, [-half_width, 0.0, far], [half_width, height, near])
}

/// Creates stairs up to the near end of a deck.
pub(super) fn stairs_behind(half_width: f32, near: f32, height: f32) -> impl Iterator<Item = Prop> {
    // The step height is at most 0.45 m.
    let count = (height / 0.4).ceil() as u8;
    (1..count).map(move |i| {
        let (i, count) = (f32::from(i), f32::from(count));
        let z = near + (count - i) * 0.4;
        let top = height * i / count;
        Prop::slab(Kind::Step, [-half_width, 0.0, near], [half_width, top, z])
    })
}
