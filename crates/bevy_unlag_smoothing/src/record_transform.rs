//! Recording of server-driven entities without a movement model: AI characters, physics props, platforms.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, PoseSampler, Snapshot, Tick, angle_to_units, up_and_heading};

use crate::published_path::PublishedPath;

/// Records this entity's [`Transform`] in every tick and replicates it in the same way as a player pawn:
/// sent compactly, drawn smoothly, and rewound for shots. For anything that moves on the server without a
/// [`MoveModel`](bevy_unlag_core::MoveModel). Its velocity is the displacement in the tick.
///
/// The up direction is transmitted with a precision of 1°, so something that tilts slowly is better drawn
/// from a component of its own.
#[doc(alias = "NetworkTransform")]
#[doc(alias = "bReplicateMovement")]
#[derive(Component, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(PublishedPath, Transform)]
pub struct RecordTransform {
    /// Increment this in the tick in which the entity is teleported, so that clients do not interpolate
    /// across the jump.
    pub teleports: u8,
    last: Option<(Tick, Vec3, f32, u8)>,
}

pub(crate) fn record(
    (tick, sampler): (Res<CurrentTick>, Res<PoseSampler>),
    mut things: Query<(&Transform, &mut RecordTransform, &mut PublishedPath)>,
) {
    for (transform, mut recorded, mut path) in &mut things {
        if !transform.is_finite() {
            continue;
        }
        let (position, rotation) = (transform.translation, transform.rotation.normalize());
        let (up, yaw) = up_and_heading(rotation);
        // A teleport does not count as velocity.
        let before = recorded.last.filter(|last| last.3 == recorded.teleports);
        let (velocity, spin) = before.map_or((Vec3::ZERO, 0.0), |(before, from, heading, _)| {
            let seconds = tick.0.since(before).max(1) as f32 * sampler.tick_seconds;
            let turned = (yaw - heading + core::f32::consts::PI).rem_euclid(core::f32::consts::TAU);
            ((position - from) / seconds, (turned - core::f32::consts::PI) / seconds)
        });
        recorded.last = Some((tick.0, position, yaw, recorded.teleports));
        let snapshot = Snapshot {
            up,
            yaw: angle_to_units(yaw),
            spin: Some(Snapshot::spin_units(spin)),
            teleports: recorded.teleports,
            ..Snapshot::new(tick.0, position, velocity)
        };
        path.record(tick.0, snapshot, velocity, sampler.tick_seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocity_is_the_displacement_of_a_tick_except_in_a_teleport() {
        let mut app = App::new();
        app.init_resource::<PoseSampler>().init_resource::<CurrentTick>();
        let crate_on_a_belt = app.world_mut().spawn(RecordTransform::default()).id();
        let mut velocity_after = |by: f32, teleports: u8| {
            let world = app.world_mut();
            let now = &mut world.resource_mut::<CurrentTick>().0;
            *now = now.offset(1);
            world.get_mut::<Transform>(crate_on_a_belt).expect("it has one").translation.x += by;
            world.get_mut::<RecordTransform>(crate_on_a_belt).expect("it has one").teleports += teleports;
            world.run_system_cached(record).expect("it runs");
            let path = world.get::<PublishedPath>(crate_on_a_belt).expect("it has one");
            path.present().expect("a pose").velocity.x
        };
        velocity_after(0.0, 0);
        let walked = velocity_after(0.1, 0);
        assert!((walked - 6.4).abs() < 0.05, "{walked} m/s");
        assert_eq!(velocity_after(5.0, 1), 0.0, "a teleport");
    }
}
