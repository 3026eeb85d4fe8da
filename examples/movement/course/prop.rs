//! What stands on the course.

use bevy::prelude::*;
use bevy_unlag_movement::MoveVolume;

/// A shape, in metres.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Shape {
    /// Half extents.
    Box(Vec3),
    /// Its radius.
    Ball(f32),
    /// Flat and round, about Y.
    Disc {
        /// Its radius.
        radius: f32,
        /// Half of how thick it is.
        half_height: f32,
    },
    /// The height field of [`hills`](super::hills).
    Hills,
    /// The triangle mesh of [`quilt`](super::quilt).
    Quilt,
}

/// What something is, for its colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// What all stands on.
    Ground,
    /// Steps and stairs.
    Step,
    /// Ramps.
    Slope,
    /// What stops.
    Wall,
    /// Raised floors.
    Deck,
    /// Hills and meshes.
    Terrain,
    /// What moves by itself.
    Machine,
    /// What can be pushed.
    Crate,
    /// What stops from above only.
    OneWay,
    /// What throws.
    Pad,
    /// To swim in.
    Water,
    /// To be slow in.
    Mud,
    /// Another gravity.
    Field,
    /// To climb.
    Ladder,
}

/// What something does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Role {
    /// Stands there.
    Fixed,
    /// Is only seen.
    Decor,
    /// Stops from above only.
    OneWay,
    /// Can be pushed.
    Crate,
    /// Carries who stands on it; its number, and how it moves.
    Base(u16, Way),
    /// Changes how pawns move in it. A gravity's centre is relative to the station.
    Volume(MoveVolume),
}

/// How a base moves.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Way {
    /// To another place and back.
    Shuttle {
        /// The other place of its middle.
        to: Vec3,
        /// Seconds of one way.
        travel: f32,
        /// Seconds that it waits at each end.
        pause: f32,
    },
    /// About Y; seconds of a turn.
    Turns(f32),
}

/// Something on the course.
#[derive(Clone, Debug)]
pub struct Prop {
    /// Its shape.
    pub shape: Shape,
    /// Its middle, relative to the station or to its parent.
    pub at: Vec3,
    /// How it is turned.
    pub turn: Quat,
    /// What it is.
    pub kind: Kind,
    /// What it does.
    pub role: Role,
    /// What rides on it.
    pub children: Vec<Prop>,
}

impl Prop {
    pub(super) fn new(kind: Kind, shape: Shape, at: Vec3) -> Self {
        Self { shape, at, turn: Quat::IDENTITY, kind, role: Role::Fixed, children: Vec::new() }
    }

    /// A box from its lowest to its highest corner.
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

/// A ramp that climbs along -Z by `rise` metres from its foot.
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

/// An upright wall between two places on the ground, given as `[x, z]`.
pub(super) fn wall(from: [f32; 2], to: [f32; 2], height: f32) -> Prop {
    let (from, to) = (Vec2::from(from), Vec2::from(to));
    let (way, middle) = (to - from, (from + to) / 2.0);
    let half = Vec3::new(way.length() / 2.0, height / 2.0, 0.12);
    Prop::new(Kind::Wall, Shape::Box(half), Vec3::new(middle.x, height / 2.0, middle.y))
        .turned(Quat::from_rotation_y((-way.y).atan2(way.x)))
}

/// A raised floor between two places along Z, the further one last.
pub(super) fn deck(half_width: f32, near: f32, far: f32, height: f32) -> Prop {
    Prop::slab(Kind::Deck, [-half_width, 0.0, far], [half_width, height, near])
}

/// Stairs up to the near end of a deck, for who comes on foot.
pub(super) fn stairs_behind(half_width: f32, near: f32, height: f32) -> impl Iterator<Item = Prop> {
    // A step is 0.45 m at most.
    let count = (height / 0.4).ceil() as u8;
    (1..count).map(move |i| {
        let (i, count) = (f32::from(i), f32::from(count));
        let z = near + (count - i) * 0.4;
        let top = height * i / count;
        Prop::slab(Kind::Step, [-half_width, 0.0, near], [half_width, top, z])
    })
}
