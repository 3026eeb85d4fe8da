//! Scripted kart driver: laps over the ramp and around the pillars, partly in reverse.

use bevy::{math::Vec3Swizzles, prelude::*};
use bevy_unlag::{
    core::{LocalControl, MoveInput, MoveSystems},
    movement::{KartInput, KartModel, KartState},
};

/// Waypoints of a lap in metres: along the ramp, around the pillars, back.
const WAYPOINTS: [Vec2; 9] = [
    Vec2::new(30.0, 56.0),
    Vec2::new(58.0, 36.0),
    Vec2::new(58.0, -20.0),
    Vec2::new(34.0, -46.0),
    Vec2::new(8.0, -30.0),
    Vec2::new(-20.0, -52.0),
    Vec2::new(-56.0, -30.0),
    Vec2::new(-58.0, 20.0),
    Vec2::new(-36.0, 54.0),
];
/// Waypoints after which the kart reverses, and its steering meanwhile.
const BACK_UP: [(usize, f32); 2] = [(3, 1.0), (6, -0.7)];
/// Distance at which a waypoint counts as reached, in metres.
const NEAR: f32 = 9.0;
/// Duration of braking and reversing, in ticks.
const BACK_TICKS: u32 = 210;
/// Number of ticks without progress after which the kart reverses.
const PATIENCE: u32 = 64;

/// State of a scripted driver. Deterministic: equal starts give equal laps.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Default)]
pub struct Driver {
    waypoint: usize,
    /// Remaining ticks in reverse, and the steering meanwhile.
    back: u32,
    wheels: f32,
    stuck: u32,
}

impl Driver {
    /// Returns the input of the next tick.
    pub fn drive(&mut self, kart: &KartState) -> KartInput {
        if self.back > 0 {
            self.back -= 1;
            return KartInput::new(-1.0, self.wheels);
        }
        let to = WAYPOINTS[self.waypoint] - kart.position.xz();
        if to.length() < NEAR {
            if let Some((_, wheels)) = BACK_UP.iter().find(|(waypoint, _)| *waypoint == self.waypoint) {
                (self.back, self.wheels) = (BACK_TICKS, *wheels);
            }
            self.waypoint = (self.waypoint + 1) % WAYPOINTS.len();
        }
        self.stuck = if kart.velocity.length() < 0.5 { self.stuck + 1 } else { 0 };
        if self.stuck > PATIENCE {
            (self.back, self.wheels, self.stuck) = (PATIENCE, 0.5, 0);
        }
        let forward = kart.forward().xz();
        // Positive when the waypoint is to the right.
        let aside = forward.perp_dot(to);
        let angle = aside.atan2(forward.dot(to));
        // Lift the throttle in bends.
        let throttle = if angle.abs() > 0.6 && kart.speed() > 13.0 { 0.1 } else { 1.0 };
        KartInput::new(throttle, (angle * 2.2).clamp(-1.0, 1.0))
    }
}

/// Drives this app's kart with a [`Driver`].
pub fn plugin(app: &mut App) {
    app.init_resource::<Driver>().add_systems(FixedUpdate, drive.in_set(MoveSystems::Sample));
}

fn drive(
    mut driver: ResMut<Driver>,
    mut karts: Query<(&KartState, &mut MoveInput<KartModel>), With<LocalControl>>,
) {
    for (state, mut input) in &mut karts {
        input.0 = driver.drive(state);
    }
}

#[cfg(test)]
mod tests {
    use bevy::ecs::system::SystemState;
    use bevy_unlag::{
        core::{MoveModel, StepContext, Tick},
        movement::{KartConfig, KartEvent, KartPlugin, MovementPlugin, MoverScene, MoverWorld},
    };

    use super::*;
    use crate::kart::track;

    #[test]
    fn driver_completes_laps_with_jumps_and_reversing_without_collisions() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin, KartPlugin));
        for (part, transform) in track::boxes() {
            let collider = bevy_rapier3d::prelude::Collider::cuboid(part.half.x, part.half.y, part.half.z);
            app.world_mut().spawn((transform, collider));
        }
        MoverScene::refresh(app.world_mut());
        let entity = app.world_mut().spawn_empty().id();
        let mut system =
            SystemState::<(MoverWorld<'static, 'static>, Res<'static, KartConfig>)>::new(app.world_mut());
        let (world, config) = system.get(app.world()).expect("the level has a mover world");
        for (place, yaw) in track::STARTS {
            let (mut kart, mut driver) = (KartState::at(place, yaw), Driver::default());
            let (mut laps, mut flown, mut back, mut bumps) = (0, 0, 0, 0);
            for tick in 1..64 * 90 {
                let waypoint = driver.waypoint;
                let input = driver.drive(&kart);
                laps += u32::from(driver.waypoint < waypoint);
                let ctx = StepContext { tick: Tick(tick), dt: 1.0 / 64.0, entity, replaying: false };
                let mut events = Vec::new();
                kart = KartModel::step(&config, &kart, &input, &ctx, &world, &mut events);
                flown += u32::from(!kart.grounded && kart.position.y > 0.5);
                back += u32::from(kart.speed() < -3.0);
                bumps += events.iter().filter(|e| matches!(e, KartEvent::Bumped { .. })).count();
            }
            assert!(
                laps >= 2 && flown > 30 && back > 60,
                "{laps} laps, {flown} ticks airborne, {back} in reverse, from {place}"
            );
            assert_eq!(bumps, 0, "the kart must not hit anything; it started at {place}");
        }
    }
}
