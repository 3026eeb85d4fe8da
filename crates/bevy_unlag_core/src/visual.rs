//! A pawn's looks are another entity than its body.

use bevy::{prelude::*, transform::TransformSystems};

use crate::{DrawnPose, Fault, Findings, LeftAt, cubic::Weights};

/// Makes this entity the looks of a pawn: its [`Transform`] follows what is drawn, while the
/// pawn's own is what is simulated. Without one, nothing but [`DrawnPose`](crate::DrawnPose) says
/// where the pawn appears.
#[derive(Component, Clone, Copy, Debug)]
#[relationship(relationship_target = Visuals)]
#[require(Transform, LeftAt)]
pub struct VisualOf(pub Entity);

/// The looks of this pawn.
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = VisualOf, linked_spawn)]
pub struct Visuals(Vec<Entity>);

/// What is added to a pawn's drawn pose to hide a correction or a pop. How it fades does not depend
/// on the frame rate.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default)]
pub struct VisualOffset {
    /// Metres.
    pub offset: Vec3,
    /// Metres per second.
    pub velocity: Vec3,
    /// What the drawn rotation is turned by.
    pub turn: Quat,
    /// How it fades.
    pub easing: Easing,
}

/// How a [`VisualOffset`] fades.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Easing {
    /// Along a critically damped spring: soft at both ends, a tenth is left after 200 ms.
    #[default]
    Spring,
    /// As Unreal's `Exponential` smoothing does it: fast at first.
    Exponential {
        /// Seconds until 37 % of the distance are left.
        seconds: f32,
        /// Seconds until 37 % of the turn are left.
        turn_seconds: f32,
    },
    /// Along a cubic that ends in this many seconds, so that nothing is left that lags behind.
    Bridge {
        /// Seconds that are left.
        seconds: f32,
    },
}

impl VisualOffset {
    /// Stiffness at which an offset is down to a tenth after 200 ms: (1 + ωt)·e^(−ωt) = 0.1.
    const OMEGA: f32 = 19.45;
    /// Per second: a tenth of a turn is left after 200 ms as well. A turn fades evenly, because nobody
    /// sees how fast it begins to.
    const TURN_RATE: f32 = 11.5;

    /// Lets `seconds` pass.
    pub fn decay(&mut self, seconds: f32) {
        match &mut self.easing {
            Easing::Spring => {
                let w = Self::OMEGA;
                let rate = self.velocity + self.offset * w;
                let fade = (-w * seconds).exp();
                self.velocity = (self.velocity - rate * (w * seconds)) * fade;
                self.offset = (self.offset + rate * seconds) * fade;
                self.turn = Quat::IDENTITY.slerp(self.turn, (-Self::TURN_RATE * seconds).exp());
            }
            Easing::Exponential { seconds: time, turn_seconds } => {
                let left = |time: f32| (-seconds / time.max(1e-3)).exp();
                self.offset *= left(*time);
                self.turn = Quat::IDENTITY.slerp(self.turn, left(*turn_seconds));
            }
            Easing::Bridge { seconds: left } => {
                let u = seconds / left.max(f32::MIN_POSITIVE);
                if u >= 1.0 {
                    *self = Self::default();
                    return;
                }
                // From the offset to nothing, where it arrives at rest.
                let (way, tangent) = (-self.offset, self.velocity * *left);
                self.offset += Weights::place(u).of(way, tangent, Vec3::ZERO);
                self.velocity = Weights::slope(u).of(way, tangent, Vec3::ZERO) / *left;
                self.turn = Quat::IDENTITY.slerp(self.turn, 1.0 - u);
                *left -= seconds;
            }
        }
    }
}

/// When visuals are placed, in [`PostUpdate`] before transforms propagate.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VisualSystems {
    /// Offsets fade by the time that the frame took.
    Fade,
    /// The drawn pose of every pawn is found: proxies are sampled, the own pawn is carried on to
    /// this very frame.
    Draw,
    /// Visuals follow their pawn's [`DrawnPose`] and [`VisualOffset`].
    Follow,
}

/// Lets visuals follow what is drawn. The plugins that draw add it.
#[derive(Default)]
pub struct VisualPlugin;

impl Plugin for VisualPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Findings>()
            .configure_sets(
                PostUpdate,
                (VisualSystems::Fade, VisualSystems::Draw, VisualSystems::Follow)
                    .chain()
                    .before(TransformSystems::Propagate),
            )
            .add_systems(
                PostUpdate,
                (decay_offsets.in_set(VisualSystems::Fade), follow.in_set(VisualSystems::Follow)),
            );
        #[cfg(feature = "visibility")]
        app.add_systems(PostUpdate, hide_the_dead.in_set(VisualSystems::Follow));
    }
}

fn decay_offsets(time: Res<Time>, mut offsets: Query<&mut VisualOffset>) {
    for mut offset in &mut offsets {
        if *offset != VisualOffset::default() {
            offset.decay(time.delta_secs());
        }
    }
}

fn follow(
    pawns: Query<(&DrawnPose, Option<&VisualOffset>, &Visuals)>,
    mut transforms: Query<(&mut Transform, &mut LeftAt), With<VisualOf>>,
    mut findings: ResMut<Findings>,
) {
    for (drawn, offset, visuals) in &pawns {
        for visual in visuals.iter() {
            let Ok((mut transform, mut left)) = transforms.get_mut(visual) else { continue };
            if left.is_contested(&transform, true) {
                findings.report(Fault::SharedLooks, || {
                    format!(
                        "something else moves {visual}, the looks of a pawn, between frames: let VisualOf alone move \
                         it, move a child of it instead, and take physics and interpolation plugins off it"
                    )
                });
            }
            transform.translation = drawn.pose.position + offset.map_or(Vec3::ZERO, |o| o.offset);
            transform.rotation = offset.map_or(Quat::IDENTITY, |o| o.turn) * drawn.pose.rotation;
            left.leave(&transform);
        }
    }
}

#[cfg(feature = "visibility")]
fn hide_the_dead(pawns: Query<(&DrawnPose, &Visuals)>, mut looks: Query<&mut Visibility, With<VisualOf>>) {
    for (drawn, visuals) in &pawns {
        let wanted = if drawn.pose.alive { Visibility::Inherited } else { Visibility::Hidden };
        let mut found = looks.iter_many_mut(visuals.iter());
        while let Some(mut visibility) = found.fetch_next() {
            visibility.set_if_neq(wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_a_metre_is_a_tenth_of_it_after_200_ms_at_any_frame_rate() {
        for fps in [30, 60, 144] {
            let mut offset =
                VisualOffset { offset: Vec3::X * 0.3, turn: Quat::from_rotation_y(1.0), ..default() };
            let frames = fps / 5;
            for _ in 0..frames {
                offset.decay(1.0 / fps as f32);
            }
            let rest = 0.2 - frames as f32 / fps as f32;
            offset.decay(rest);
            assert!((offset.offset.x - 0.03).abs() < 5e-4, "{fps} fps: {}", offset.offset.x);
            let left = offset.turn.to_euler(EulerRot::YXZ).0;
            assert!((left - 0.1).abs() < 2e-3, "{fps} fps: {left} rad");
        }
    }

    #[test]
    fn a_bridge_ends_on_time_without_a_jump_of_the_velocity() {
        for fps in [30, 60, 144] {
            let easing = Easing::Bridge { seconds: 0.1 };
            let mut offset =
                VisualOffset { offset: Vec3::X * 0.3, velocity: Vec3::X, easing, ..VisualOffset::default() };
            let (mut last, mut velocity) = (0.3, 1.0);
            let dt = 1.0 / fps as f32;
            for _ in 0..=fps / 10 + 1 {
                offset.decay(dt);
                let moved = (offset.offset.x - last) / dt;
                // 0.3 m in 0.1 s cannot accelerate by more than 6 · 0.3 / 0.1² + 4 / 0.1.
                assert!((moved - velocity).abs() < 230.0 * dt, "{fps} fps: {velocity} to {moved}");
                (last, velocity) = (offset.offset.x, moved);
            }
            assert_eq!(offset, VisualOffset::default(), "{fps} fps");
        }
    }
}
