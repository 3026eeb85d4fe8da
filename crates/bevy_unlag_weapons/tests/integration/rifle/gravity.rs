//! Shots of pawns that stand on walls and ceilings.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{ExtendedState, MoveModel, NetId, ViewFrame, upright_rotation};
use bevy_unlag_movement::{CapsuleConfig, CapsuleModel, CapsuleState};
use bevy_unlag_weapons::{
    Aim, Arsenal, FireMode, Loadout, Recoil, Shot, ShotFired, ShotResult, Spread, Weapon, WeaponState,
};

use crate::rifle::range::Range;

/// Position of the shooter, far from the level ground of the range.
const PLACE: Vec3 = Vec3::new(0.0, 300.0, 0.0);
const UPS: [Vec3; 5] = [Vec3::Y, Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Y];

/// A range on a floor with another up direction.
struct TurnedRange {
    range: Range,
    up: Vec3,
}

impl TurnedRange {
    /// Stands the dummy at a place relative to the shooter, as if +Y were up.
    fn new(up: Vec3, weapon: Weapon, dummy: Vec3) -> Self {
        let mut range = Range::new(true);
        let turn = upright_rotation(up);
        let arsenal = Arsenal::new(vec![weapon]).expect("a valid weapon");
        range.app.insert_resource(arsenal);
        let world = range.app.world_mut();
        world.resource_mut::<CapsuleConfig>().up = up;
        let floor = Transform::from_translation(PLACE - up * 0.5).with_rotation(turn);
        world.spawn((Collider::cuboid(50.0, 0.5, 50.0), floor));
        for (pawn, place) in [(range.shooter, PLACE), (range.dummy, PLACE + turn * dummy)] {
            let body = CapsuleState { up, ..CapsuleState::at(place) };
            world.entity_mut(pawn).insert(ExtendedState { body, extension: WeaponState::default() });
        }
        world.entity_mut(range.shooter).insert(Loadout::default());
        range.hold(false, 40);
        Self { range, up }
    }

    fn body(&self) -> CapsuleState {
        let world = self.range.app.world();
        let state = world.get::<ExtendedState<CapsuleState, WeaponState>>(self.range.shooter);
        state.expect("a state").body
    }

    fn frame(&self) -> ViewFrame {
        CapsuleModel::view_frame(&self.body())
    }

    /// Direction from the shooter's eye to a place relative to the shooter, as if +Y were up.
    fn towards(&self, place: Vec3) -> Vec3 {
        let config = self.range.app.world().resource::<CapsuleConfig>();
        PLACE + upright_rotation(self.up) * place - CapsuleModel::eye(config, &self.body())
    }

    /// Fires once and returns what the screen showed and the server found.
    fn fire(&mut self, aim: Aim) -> (ShotFired, ShotResult, usize) {
        self.range.aim(aim);
        self.range.hold(false, 20);
        self.range.hold(true, 1);
        let seen = self.range.hold(false, 3);
        let (Some(fired), Some(verdict)) = (seen.fired.last(), seen.verdicts.last()) else {
            panic!("{:?}, {:?}", seen.fired, seen.verdicts)
        };
        (fired.clone(), verdict.result, seen.damage.len())
    }

    /// Aims along a direction in the world.
    fn aim_along(&self, direction: Vec3) -> Aim {
        Aim::from_direction(self.frame().to_local(direction))
    }
}

#[test]
fn drawn_hit_is_confirmed_whatever_is_up() {
    for up in UPS {
        let mut turned = TurnedRange::new(up, Weapon::rifle(), Vec3::new(-8.0, 0.0, -6.0));
        assert!(turned.body().is_grounded(), "{up}: {:?}", turned.body());
        let direction = turned.towards(Vec3::new(-8.0, 1.3, -6.0));
        let (fired, result, damage) = turned.fire(turned.aim_along(direction));
        assert_eq!(fired.drawn().map(|hit| hit.target), Some(NetId(2)), "{up}");
        assert!(matches!(result, ShotResult::Hit(_)) && damage == 1, "{up}: {result:?}");
        assert!((fired.from - turned.body().position).dot(up) > 1.5, "{up}: fired from {}", fired.from);

        // The formula for +Y misses everywhere else.
        let (fired, result, damage) = turned.fire(Aim::from_direction(direction));
        let upright = up == Vec3::Y;
        assert_eq!(fired.drawn().is_some(), upright, "{up}");
        assert_eq!(matches!(result, ShotResult::Hit(_)), upright, "{up}: {result:?}");
        assert_eq!(damage, if upright { 2 } else { 1 }, "{up}");
    }
}

#[test]
fn melee_arc_is_level_for_the_shooter() {
    let shot = Shot::Melee { reach: 2.0, half_angle: 40.0, half_height: 0.25, backstab: 1.0 };
    let knife = Weapon { shot, mode: FireMode::Semi, ..Weapon::rifle() };
    for up in UPS {
        // Beside the aim, where only a level arc reaches it.
        let mut turned = TurnedRange::new(up, knife.clone(), Vec3::new(0.95, 0.0, -1.35));
        let ahead = upright_rotation(up) * Vec3::NEG_Z;
        let (fired, result, damage) = turned.fire(turned.aim_along(ahead));
        assert_eq!(fired.drawn().map(|hit| hit.target), Some(NetId(2)), "{up}");
        assert!(matches!(result, ShotResult::Hit(_)) && damage == 1, "{up}: {result:?}");
    }
}

#[test]
fn pellets_stay_in_the_cone_around_the_aim_and_count_where_they_are_drawn() {
    let spread = Spread { still: 4.0, ..Spread::default() };
    let shot = Shot::Pellets { count: 12, range: 40.0 };
    let shotgun = Weapon { shot, spread, mode: FireMode::Semi, ..Weapon::rifle() };
    for up in UPS {
        let mut turned = TurnedRange::new(up, shotgun.clone(), Vec3::NEG_Z * 6.0);
        let direction = turned.towards(Vec3::new(0.0, 1.2, -6.0));
        let (fired, result, _) = turned.fire(turned.aim_along(direction));
        for ray in &fired.rays {
            let off = (ray.to - fired.from).angle_between(direction).to_degrees();
            assert!(off < 4.1, "{up}: a pellet {off} degrees off the aim");
        }
        let drawn = fired.rays.iter().filter(|ray| ray.drawn.is_some()).count();
        let ShotResult::Hit(list) = result else { panic!("{up}: {result:?}") };
        let counted: u8 = list.iter().map(|hit| hit.head + hit.body + hit.limb).sum();
        assert_eq!(usize::from(counted), drawn, "{up}");
        assert!((3..12).contains(&drawn), "{up}: {drawn} pellets");
    }
}

#[test]
fn recoil_kicks_along_the_up_direction_of_the_shooter() {
    let recoil = Recoil { pattern: vec![(0.0, 5.0)], recovery: 1.0 };
    let kicking = Weapon { recoil, ..Weapon::rifle() };
    for up in UPS {
        let mut turned = TurnedRange::new(up, kicking.clone(), Vec3::NEG_Z * 10.0);
        let ahead = turned.aim_along(upright_rotation(up) * Vec3::NEG_Z);
        let mut ways = Vec::new();
        for _ in 0..2 {
            let (fired, ..) = turned.fire(ahead);
            ways.push(fired.round.direction(fired.round.seed, 0));
        }
        let rise = ways[0].angle_between(ways[1]).to_degrees();
        assert!((4.2..5.1).contains(&rise), "{up}: {rise} degrees");
        assert!((ways[1].dot(up).asin().to_degrees() - rise).abs() < 0.1, "{up}: {ways:?}");
    }
}
