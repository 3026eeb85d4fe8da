//! Visuals of pawns: separate entities that follow the drawn pose.

use bevy::{prelude::*, transform::TransformSystems};

use crate::{
    drawn_pose::DrawnPose,
    hermite::HermiteWeights,
    reflection,
    setup_diagnostics::{SetupDiagnostics, SetupIssue, TransformWatch},
    system_sets::VisualSystems,
};

/// Makes this entity the visuals of a pawn. Its [`Transform`] follows the drawn pose, while the pawn's own
/// transform is the simulated one. Without visuals the drawn pose is only available as
/// [`DrawnPose`](crate::DrawnPose). With the feature `visibility` it requires [`Visibility`], which meshes on its
/// children need.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_core::{DrawnPose, VisualOf, Visuals};
///
/// /// Gives every pawn that is drawn a visual. It follows the pawn, and is despawned with it.
/// fn dress(pawns: Query<Entity, (With<DrawnPose>, Without<Visuals>)>, mut commands: Commands) {
///     for pawn in &pawns {
///         commands.spawn((VisualOf(pawn), Transform::default()));
///     }
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, Reflect)]
#[reflect(Component, Debug)]
#[relationship(relationship_target = Visuals)]
#[require(Transform, TransformWatch)]
#[cfg_attr(feature = "visibility", require(Visibility))]
pub struct VisualOf(pub Entity);

/// Visual entities of this pawn.
#[derive(Component, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
#[relationship_target(relationship = VisualOf, linked_spawn)]
pub struct Visuals(Vec<Entity>);

/// Offset from a pawn's drawn pose that hides a correction or a jump. It fades independently of the frame
/// rate.
#[doc(alias = "MeshTranslationOffset")]
#[doc(alias = "VisualCorrection")]
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct VisualOffset {
    /// Offset in metres.
    pub offset: Vec3,
    /// Velocity of the offset, in metres per second.
    pub velocity: Vec3,
    /// Rotation applied to the drawn rotation.
    pub turn: Quat,
    /// Easing with which the offset fades.
    pub easing: Easing,
}

/// Easing of a [`VisualOffset`].
#[derive(Clone, Copy, PartialEq, Debug, Default, Reflect)]
pub enum Easing {
    /// Critically damped spring: soft at both ends, a tenth is left after 200 ms.
    #[default]
    Spring,
    /// Exponential decay as in Unreal's `Exponential` smoothing: fast at first.
    Exponential {
        /// Seconds until 37 % of the distance are left.
        seconds: f32,
        /// Seconds until 37 % of the rotation are left.
        turn_seconds: f32,
    },
    /// Cubic that ends after this many seconds, so that no lag remains.
    Bridge {
        /// Remaining seconds.
        seconds: f32,
    },
}

impl VisualOffset {
    /// Stiffness with which a tenth of an offset is left after 200 ms: (1 + ωt)·e^(−ωt) = 0.1.
    const OMEGA: f32 = 19.45;
    /// Rate per second with which a tenth of a rotation is left after 200 ms. Rotations decay exponentially,
    /// because the abrupt start of a turn is not visible.
    const TURN_RATE: f32 = 11.5;

    /// Advances the fade by `seconds`.
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
                // From the offset to zero, where it arrives at rest.
                let (way, tangent) = (-self.offset, self.velocity * *left);
                self.offset += HermiteWeights::place(u).of(way, tangent, Vec3::ZERO);
                self.velocity = HermiteWeights::slope(u).of(way, tangent, Vec3::ZERO) / *left;
                self.turn = Quat::IDENTITY.slerp(self.turn, 1.0 - u);
                *left -= seconds;
            }
        }
    }
}

/// Moves visuals to the drawn poses of their pawns. The plugins that draw pawns add it.
#[derive(Default)]
pub struct VisualPlugin;

impl Plugin for VisualPlugin {
    fn build(&self, app: &mut App) {
        reflection::register_types(app);
        app.init_resource::<SetupDiagnostics>()
            .configure_sets(
                PostUpdate,
                (VisualSystems::Fade, VisualSystems::Draw, VisualSystems::Follow)
                    .chain()
                    .before(TransformSystems::Propagate),
            )
            .add_systems(
                PostUpdate,
                (decay_offsets.in_set(VisualSystems::Fade), place_visuals.in_set(VisualSystems::Follow)),
            );
        #[cfg(feature = "visibility")]
        app.add_systems(PostUpdate, hide_dead_pawns.in_set(VisualSystems::Follow));
    }
}

fn decay_offsets(time: Res<Time>, mut offsets: Query<&mut VisualOffset>) {
    for mut offset in &mut offsets {
        if *offset != VisualOffset::default() {
            offset.decay(time.delta_secs());
        }
    }
}

fn place_visuals(
    pawns: Query<(&DrawnPose, Option<&VisualOffset>, &Visuals)>,
    mut transforms: Query<(&mut Transform, &mut TransformWatch), With<VisualOf>>,
    mut diagnostics: ResMut<SetupDiagnostics>,
) {
    for (drawn, offset, visuals) in &pawns {
        for visual in visuals.iter() {
            let Ok((mut transform, mut left)) = transforms.get_mut(visual) else { continue };
            if left.is_contested(&transform, true) {
                diagnostics.report(SetupIssue::ContestedVisual, || {
                    format!(
                        "another system moves {visual}, the visual of a pawn, between frames: only VisualOf \
                         may move it; move a child of it instead, and remove physics and interpolation \
                         plugins from it"
                    )
                });
            }
            transform.translation = drawn.pose.position + offset.map_or(Vec3::ZERO, |o| o.offset);
            transform.rotation = offset.map_or(Quat::IDENTITY, |o| o.turn) * drawn.pose.rotation;
            left.remember(&transform);
        }
    }
}

#[cfg(feature = "visibility")]
fn hide_dead_pawns(pawns: Query<(&DrawnPose, &Visuals)>, mut looks: Query<&mut Visibility, With<VisualOf>>) {
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
    fn spring_offset_fades_to_a_tenth_after_200_ms_at_any_frame_rate() {
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
    fn bridge_offset_ends_on_time_without_a_velocity_jump() {
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
