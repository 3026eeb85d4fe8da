//! Arena of the agreement measurements: the shooter's arena without its cover, with three moving platforms
//! and a home position for every player that all others can see.

use bevy_rapier3d::prelude::RigidBody;
use unlag_examples::arena::{ArenaPart, Surface};

use crate::prelude::*;

/// Height of the platforms' tops in their lowest position in metres: low enough to step onto.
const PLATFORM_TOP: f32 = 0.3;

/// Place around which a player stays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Home {
    /// Around a point on the floor.
    Floor(Vec2),
    /// On a movement base.
    Base(BaseId),
}

/// Homes of the players in order; further players start over.
pub const HOMES: [Home; 6] = [
    Home::Floor(Vec2::new(1.0, 2.0)),
    Home::Base(BaseId(1)),
    Home::Floor(Vec2::new(-9.0, 10.0)),
    Home::Base(BaseId(2)),
    Home::Floor(Vec2::new(13.0, -1.0)),
    Home::Base(BaseId(3)),
];

/// Homes of sprinters, 16 to 25 m apart.
const SPRINTER_HOMES: [Vec2; 4] =
    [Vec2::new(-9.0, -9.0), Vec2::new(9.0, 9.0), Vec2::new(9.0, -7.0), Vec2::new(-9.0, 7.0)];

/// Behaviour of the players.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scene {
    /// Players strafe, jump and crouch, half of them on moving platforms.
    #[default]
    Platforms,
    /// Players sprint on the floor across each other's lines of fire and turn at random.
    Sprinters,
}

/// Returns a lift, a platform that moves back and forth, and a turntable. None leaves a gap below it in which
/// a pawn could be squeezed.
fn platforms() -> [(BaseId, BaseTrack, Collider); 3] {
    let lift = Shuttle {
        from: Vec3::new(-12.0, PLATFORM_TOP - 1.6, -8.0),
        to: Vec3::new(-12.0, PLATFORM_TOP + 2.5 - 1.6, -8.0),
        travel_seconds: 2.5,
        pause_seconds: 0.5,
        ..default()
    };
    let middle = PLATFORM_TOP - 0.14;
    let shuttle = Shuttle {
        from: Vec3::new(3.0, middle, -14.0),
        to: Vec3::new(14.0, middle, -14.0),
        travel_seconds: 4.0,
        pause_seconds: 0.5,
        ..default()
    };
    let table = Turntable { pivot: Vec3::new(11.0, middle, 12.0), seconds_per_turn: 8.0, ..default() };
    [
        (BaseId(1), BaseTrack::Shuttle(lift), Collider::cuboid(5.0, 1.6, 5.0)),
        (BaseId(2), BaseTrack::Shuttle(shuttle), Collider::cuboid(5.0, 0.14, 5.0)),
        (BaseId(3), BaseTrack::Turntable(table), Collider::cylinder(0.14, 5.5)),
    ]
}

/// Changes the arena of every app of a match and teleports every player to its home. Simulate some time
/// afterwards: players with a platform are dropped onto it.
pub fn set_up(game: &mut Match, scene: Scene) {
    for app in game.apps_mut() {
        let world = app.world_mut();
        let mut parts = world.query::<(Entity, &ArenaPart)>();
        let plain = |part: &ArenaPart| matches!(part.0.surface, Surface::Floor | Surface::Wall);
        let gone: Vec<_> = parts.iter(world).filter(|(_, part)| !plain(part)).map(|found| found.0).collect();
        for part in gone {
            world.despawn(part);
        }
        let platforms = platforms().into_iter().filter(|_| scene == Scene::Platforms);
        for (id, track, collider) in platforms {
            // The occluder stops shots where the shooter's screen showed the platform. A collider without a
            // rigid body would count as static world geometry wherever it is.
            let occluder = Occluder { shape: collider.clone(), base: id.0 };
            world.spawn((MovementBase { id, track }, occluder, collider, RigidBody::KinematicPositionBased));
        }
    }
    let world = game.server.world_mut();
    let mut pawns = world.query::<(&NetId, &mut SoldierState)>();
    for (id, mut state) in pawns.iter_mut(world) {
        state.body.teleport_to(drop_at(home(*id, scene)));
    }
}

/// Returns the home of a player.
pub fn home(player: NetId, scene: Scene) -> Home {
    let index = usize::from(player.0.saturating_sub(1));
    match scene {
        Scene::Platforms => HOMES[index % HOMES.len()],
        Scene::Sprinters => Home::Floor(SPRINTER_HOMES[index % SPRINTER_HOMES.len()]),
    }
}

fn drop_at(home: Home) -> Vec3 {
    match home {
        Home::Floor(place) => Vec3::new(place.x, 0.1, place.y),
        Home::Base(id) => {
            let machine = platforms().into_iter().find(|(other, ..)| *other == id);
            let place = machine.map_or(Vec3::ZERO, |(_, track, _)| track.pose(0.0).translation.into());
            place.with_y(PLATFORM_TOP + 2.6)
        }
    }
}
