//! A pawn's looks are another entity than its body.

use bevy::{prelude::*, transform::TransformSystems};

use crate::DrawnPose;

/// Makes this entity the looks of a pawn: its [`Transform`] follows what is drawn, while the
/// pawn's own is what is simulated. Without one, nothing but [`DrawnPose`](crate::DrawnPose) says
/// where the pawn appears.
#[derive(Component, Clone, Copy, Debug)]
#[relationship(relationship_target = Visuals)]
#[require(Transform)]
pub struct VisualOf(pub Entity);

/// The looks of this pawn.
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = VisualOf, linked_spawn)]
pub struct Visuals(Vec<Entity>);

/// What is added to a pawn's drawn position to hide a correction. It decays along a critically
/// damped spring, so the curve is the same at any frame rate.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default)]
pub struct VisualOffset {
    /// Metres.
    pub offset: Vec3,
    /// Metres per second.
    pub velocity: Vec3,
}

impl VisualOffset {
    /// Stiffness at which an offset is down to a tenth after 200 ms: (1 + ωt)·e^(−ωt) = 0.1.
    const OMEGA: f32 = 19.45;

    /// Lets `seconds` pass.
    pub fn decay(&mut self, seconds: f32) {
        let w = Self::OMEGA;
        let rate = self.velocity + self.offset * w;
        let fade = (-w * seconds).exp();
        self.velocity = (self.velocity - rate * (w * seconds)) * fade;
        self.offset = (self.offset + rate * seconds) * fade;
    }
}

/// When visuals are placed, in [`PostUpdate`] before transforms propagate.
#[derive(SystemSet, Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum VisualSystems {
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
        app.configure_sets(
            PostUpdate,
            (VisualSystems::Draw, VisualSystems::Follow).chain().before(TransformSystems::Propagate),
        )
        .add_systems(
            PostUpdate,
            (decay_offsets.in_set(VisualSystems::Draw), follow.in_set(VisualSystems::Follow)),
        );
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
    mut transforms: Query<(&mut Transform, Option<&mut Visibility>), With<VisualOf>>,
) {
    for (drawn, offset, visuals) in &pawns {
        for visual in visuals.iter() {
            let Ok((mut transform, visibility)) = transforms.get_mut(visual) else { continue };
            transform.translation = drawn.pose.position + offset.map_or(Vec3::ZERO, |o| o.offset);
            transform.rotation = drawn.pose.rotation;
            if let Some(mut visibility) = visibility {
                let wanted = if drawn.pose.alive { Visibility::Inherited } else { Visibility::Hidden };
                visibility.set_if_neq(wanted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_a_metre_is_a_tenth_of_it_after_200_ms_at_any_frame_rate() {
        for fps in [30, 60, 144] {
            let mut offset = VisualOffset { offset: Vec3::X * 0.3, velocity: Vec3::ZERO };
            let frames = fps / 5;
            for _ in 0..frames {
                offset.decay(1.0 / fps as f32);
            }
            let rest = 0.2 - frames as f32 / fps as f32;
            offset.decay(rest);
            assert!((offset.offset.x - 0.03).abs() < 5e-4, "{fps} fps: {}", offset.offset.x);
        }
    }
}
