//! Arena level: static boxes, identical on every machine.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::core::Wire;

/// Map of the arena. Client and server must have the same.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Wire)]
pub enum ArenaMap {
    /// Everything: cover, a platform, stairs and a ramp.
    #[default]
    Arena,
    /// The floor and the outer walls.
    Open,
}

impl ArenaMap {
    /// All maps.
    pub const ALL: [Self; 2] = [Self::Arena, Self::Open];

    /// Returns the name that operators use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Arena => "arena",
            Self::Open => "open",
        }
    }

    /// Returns the map of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|map| map.name() == name)
    }

    /// Returns the boxes of the map.
    #[must_use]
    pub fn boxes(self) -> Vec<ArenaBox> {
        let mut all = boxes();
        if self == Self::Open {
            all.retain(|part| matches!(part.surface, Surface::Floor | Surface::Wall));
        }
        all
    }
}

/// Kind of a box, which determines its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// Ground.
    Floor,
    /// Outer wall.
    Wall,
    /// Stairs, ramp or platform.
    Steps,
    /// Cover.
    Cover,
}

/// A box of the arena.
#[derive(Clone, Copy, Debug)]
pub struct ArenaBox {
    /// Centre, in metres.
    pub centre: Vec3,
    /// Half extents, in metres.
    pub half: Vec3,
    /// Slope about X, in radians.
    pub slope: f32,
    /// Kind of the box.
    pub surface: Surface,
}

impl ArenaBox {
    /// Returns the distance from a point to the box in a direction, a unit vector, up to `most` metres. `None` if it is
    /// not met, and from inside.
    #[must_use]
    pub fn cast(&self, from: Vec3, way: Vec3, most: f32) -> Option<f32> {
        let met = self.collider().cast_ray(self.centre, self.rotation(), from, way, most, true);
        met.filter(|distance| *distance > 0.0)
    }

    fn collider(&self) -> Collider {
        Collider::cuboid(self.half.x, self.half.y, self.half.z)
    }

    fn rotation(&self) -> Quat {
        Quat::from_rotation_x(self.slope)
    }
}

/// Marks the entity of an arena box.
#[derive(Component, Clone, Copy, Debug)]
pub struct ArenaPart(pub ArenaBox);

/// Half the arena's width and depth, in metres.
pub const HALF_SIZE: f32 = 20.0;

/// Walls with doors that divide the arena, so that most players do not see each other: centre and half extents, in
/// metres. No map has them; see [`spawn_boxes`].
pub const DIVISIONS: [(Vec3, Vec3); 5] = [
    (Vec3::new(-2.0, 2.0, -8.5), Vec3::new(0.15, 2.0, 11.5)),
    (Vec3::new(-2.0, 2.0, 13.0), Vec3::new(0.15, 2.0, 7.0)),
    (Vec3::new(-16.0, 2.0, 2.0), Vec3::new(4.0, 2.0, 0.15)),
    (Vec3::new(-0.5, 2.0, 2.0), Vec3::new(8.5, 2.0, 0.15)),
    (Vec3::new(15.5, 2.0, 2.0), Vec3::new(4.5, 2.0, 0.15)),
];

/// Spawns the colliders of further boxes, given by centre and half extents, in an app of a match.
pub fn spawn_boxes(app: &mut App, boxes: &[(Vec3, Vec3)]) {
    for (centre, half) in boxes {
        let collider = Collider::cuboid(half.x, half.y, half.z);
        app.world_mut().spawn((Transform::from_translation(*centre), collider));
    }
}

fn boxes() -> Vec<ArenaBox> {
    let flat = |centre: [f32; 3], half: [f32; 3], surface| ArenaBox {
        centre: centre.into(),
        half: half.into(),
        slope: 0.0,
        surface,
    };
    let mut all = vec![
        flat([0.0, -0.5, 0.0], [HALF_SIZE + 1.0, 0.5, HALF_SIZE + 1.0], Surface::Floor),
        flat([0.0, 2.0, -HALF_SIZE - 0.5], [HALF_SIZE + 1.0, 2.0, 0.5], Surface::Wall),
        flat([0.0, 2.0, HALF_SIZE + 0.5], [HALF_SIZE + 1.0, 2.0, 0.5], Surface::Wall),
        flat([-HALF_SIZE - 0.5, 2.0, 0.0], [0.5, 2.0, HALF_SIZE], Surface::Wall),
        flat([HALF_SIZE + 0.5, 2.0, 0.0], [0.5, 2.0, HALF_SIZE], Surface::Wall),
        // Platform that the stairs and the ramp lead up to.
        flat([0.0, 0.75, -13.0], [4.0, 0.75, 3.0], Surface::Steps),
        flat([-7.0, 0.6, 2.0], [1.5, 0.6, 0.5], Surface::Cover),
        flat([7.0, 0.6, -2.0], [0.5, 0.6, 1.5], Surface::Cover),
        flat([-11.0, 1.0, -9.0], [0.8, 1.0, 0.8], Surface::Cover),
        flat([11.0, 1.0, 9.0], [0.8, 1.0, 0.8], Surface::Cover),
        flat([3.0, 0.5, 11.0], [2.0, 0.5, 0.6], Surface::Cover),
        flat([-3.0, 1.5, 6.0], [0.5, 1.5, 0.5], Surface::Cover),
        flat([12.0, 0.2, 0.0], [1.5, 0.2, 1.5], Surface::Steps),
    ];
    // Six steps of 0.25 m, from the east.
    for step in 0..6 {
        let top = 0.25 * (6 - step) as f32;
        let x = 4.25 + 0.5 * step as f32;
        all.push(flat([x, top / 2.0, -13.0], [0.25, top / 2.0, 2.0], Surface::Steps));
    }
    // Ramp of 22°, from the south.
    let (rise, slope) = (1.5_f32, 0.384_f32);
    let length = rise / slope.sin();
    let along = Vec3::new(0.0, slope.sin(), -slope.cos());
    let up = Vec3::new(0.0, slope.cos(), slope.sin());
    let top = Vec3::new(0.0, rise, -10.0);
    all.push(ArenaBox {
        centre: top - along * (length / 2.0) - up * 0.2,
        half: Vec3::new(1.5, 0.2, length / 2.0),
        slope,
        surface: Surface::Steps,
    });
    all
}

/// Spawn points of players.
pub const SPAWNS: [Vec3; 8] = [
    Vec3::new(-15.0, 0.1, -15.0),
    Vec3::new(15.0, 0.1, 15.0),
    Vec3::new(-15.0, 0.1, 15.0),
    Vec3::new(15.0, 0.1, -8.0),
    Vec3::new(0.0, 0.1, 16.0),
    Vec3::new(-16.0, 0.1, 0.0),
    Vec3::new(16.0, 0.1, 4.0),
    Vec3::new(-8.0, 0.1, -5.0),
];

/// Spawns the colliders of the [`ArenaMap`]; without that resource, of the default one. Apps with a window add visuals
/// to each [`ArenaPart`].
pub fn spawn(map: Option<Res<ArenaMap>>, mut commands: Commands) {
    for part in map.map(|map| *map).unwrap_or_default().boxes() {
        commands.spawn((
            ArenaPart(part),
            Transform::from_translation(part.centre).with_rotation(part.rotation()),
            part.collider(),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ray_meets_a_box_at_its_near_side_and_only_within_its_length() {
        let part = ArenaBox {
            centre: Vec3::new(0.0, 1.0, -10.0),
            half: Vec3::new(1.0, 1.0, 2.0),
            slope: 0.0,
            surface: Surface::Cover,
        };
        let eye = Vec3::Y * 1.6;
        assert_eq!(part.cast(eye, Vec3::NEG_Z, 50.0), Some(8.0));
        assert_eq!(part.cast(eye, Vec3::NEG_Z, 7.0), None);
        assert_eq!(part.cast(eye + Vec3::X * 1.1, Vec3::NEG_Z, 50.0), None);
        assert_eq!(part.cast(eye, Vec3::Z, 50.0), None);
        let ramp = ArenaBox { slope: 0.3, ..part };
        let along = ramp.cast(eye + Vec3::Y * 0.5, Vec3::NEG_Z, 50.0);
        // The far end is higher.
        assert!(along.is_some_and(|met| met > 8.0), "{along:?}");
    }
}
