//! Blending of visible jumps of proxies. The offset is never part of the sampled pose and therefore never
//! used to validate hits.

use bevy::prelude::*;
use bevy_unlag_core::{
    DrawnPose, Easing, GameClock, NetRole, ProxySmoothing, SnapshotHistory, Tick, ViewStamp, VisualOffset,
};

use crate::{
    inbox::SnapshotInbox,
    last_drawn::{DrawnState, LastDrawn},
    proxy::ProxyTime,
    stats::SmoothingStats,
};

/// Settings of the blending of proxies from where they were drawn to where they are.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct BlendConfig {
    /// Maximum jump in metres that is blended, unless the pawn is fast enough to have moved that far since
    /// its last update. Default: 3.84, Unreal's `NetworkNoSmoothUpdateDistance`. Raising it lets pawns slide
    /// visibly over that distance, even through walls.
    #[doc(alias = "NetworkNoSmoothUpdateDistance")]
    pub snap_distance: f32,
    /// Speed in metres per second by which a pawn may have exceeded its drawn speed while no updates
    /// arrived. Default: 10. Lowering it treats more pawns that were knocked away during a gap as
    /// teleported.
    pub snap_speed: f32,
    /// Speed in metres per second at which a pawn returns to its path after a gap. The blend takes at most
    /// 0.5 s, and a shorter one than 0.2 s is replaced by a spring of 0.2 s. Default: 6. Lowering it makes
    /// the correction softer, and the drawn position wrong for longer.
    pub recovery_speed: f32,
    /// Seconds over which a pawn that is simulated to the present is blended to the state of an update.
    /// Default: 0.045, about one interval at 20 updates per second. Raising it makes the correction softer,
    /// and the drawn position wrong for longer.
    pub bridge_seconds: f32,
    /// Part of such a jump that is applied at once, relative to the pawn's movement in a frame and in
    /// addition to one centimetre. Default: 0.25. Raising it corrects sooner and causes trembling.
    pub immediate_fraction: f32,
    /// [`ProxySmoothing::Exponential`]: seconds until 37 % of a jump are left. Default: 0.1, Unreal's
    /// `NetworkSimulatedSmoothLocationTime`. Raising it is softer and increases the lag.
    #[doc(alias = "NetworkSimulatedSmoothLocationTime")]
    pub exponential_seconds: f32,
    /// The same for rotations. Default: 0.05, Unreal's `NetworkSimulatedSmoothRotationTime`.
    #[doc(alias = "NetworkSimulatedSmoothRotationTime")]
    pub exponential_turn_seconds: f32,
    /// [`ProxySmoothing::Exponential`]: maximum distance in metres by which the visuals lag behind. Default:
    /// 2.56, Unreal's `NetworkMaxSmoothUpdateDistance`. A shot may hit up to this distance from the visuals.
    #[doc(alias = "NetworkMaxSmoothUpdateDistance")]
    pub exponential_max_distance: f32,
}

impl Default for BlendConfig {
    fn default() -> Self {
        Self {
            snap_distance: 3.84,
            snap_speed: 10.0,
            recovery_speed: 6.0,
            bridge_seconds: 0.045,
            immediate_fraction: 0.25,
            exponential_seconds: 0.1,
            exponential_turn_seconds: 0.05,
            exponential_max_distance: 2.56,
        }
    }
}

/// Length of a jump in metres that is not visible.
const INVISIBLE_JUMP: f32 = 0.01;
/// Maximum frame time in seconds for which a pawn is extrapolated.
const LONGEST_FRAME: f32 = 0.1;

pub(crate) fn blend(
    (time, game, config): (Res<Time<Real>>, Res<GameClock>, Res<BlendConfig>),
    mut stats: ResMut<SmoothingStats>,
    mut proxies: Query<
        (
            &NetRole,
            &DrawnPose,
            &SnapshotHistory,
            &ProxyTime,
            Option<&ProxySmoothing>,
            &mut LastDrawn,
            &mut VisualOffset,
        ),
        With<SnapshotInbox>,
    >,
) {
    let frame = time.delta_secs().min(LONGEST_FRAME) * game.speed() as f32;
    for (role, drawn, history, proxy, mode, mut seen, mut offset) in &mut proxies {
        if *role != NetRole::SimulatedProxy && drawn.stamp != ViewStamp::Present {
            continue;
        }
        if !drawn.pose.alive {
            *seen = LastDrawn(None);
            if *role == NetRole::SimulatedProxy {
                offset.set_if_neq(VisualOffset::default());
            }
            continue;
        }
        let (mode, pose) = (mode.copied(), drawn.pose);
        let teleports =
            from_of(drawn.stamp).and_then(|from| history.get(from)).map_or(0, |from| from.teleports);
        if let Some(before) = seen.0 {
            let was_predicted = before.stamp == ViewStamp::Present;
            if drawn.stamp == ViewStamp::Present {
                // Prediction eases its own corrections.
            } else if before.teleports != teleports && !was_predicted || mode == Some(ProxySmoothing::Raw) {
                // Teleports and raw proxies must jump visibly.
                offset.set_if_neq(VisualOffset::default());
            } else if was_predicted
                || before.mode != mode
                || is_discontinuous(before.stamp, drawn.stamp, mode)
            {
                // A fast pawn may have moved far while no updates arrived.
                let speed = before.velocity.length().max(pose.velocity.length()) + config.snap_speed;
                let allowed = config.snap_distance.max(speed * (proxy.since_previous as f32 + frame));
                let next = blend_offset(&before, drawn, mode, frame, &config);
                // A player has let go of its pawn, which was drawn ahead of the others.
                if was_predicted || next.offset.length() <= allowed {
                    stats.blends += 1;
                    *offset = next;
                } else {
                    stats.snaps += 1;
                    *offset = VisualOffset::default();
                }
            }
        }
        let eased = !matches!(offset.easing, Easing::Exponential { .. });
        *seen = LastDrawn(Some(DrawnState {
            position: pose.position + offset.offset,
            velocity: pose.velocity + if eased { offset.velocity } else { Vec3::ZERO },
            rotation: offset.turn * pose.rotation,
            stamp: drawn.stamp,
            mode,
            teleports,
        }));
    }
}

fn from_of(stamp: ViewStamp) -> Option<Tick> {
    match stamp {
        ViewStamp::Interpolated { from, .. } | ViewStamp::Extrapolated { from, .. } => Some(from),
        ViewStamp::Present => None,
    }
}

/// Returns whether the current pose does not continue the one of the last frame.
fn is_discontinuous(before: ViewStamp, now: ViewStamp, mode: Option<ProxySmoothing>) -> bool {
    if mode.is_some_and(|mode| !mode.is_played_out()) {
        return from_of(before) != from_of(now);
    }
    match (before, now) {
        // The path was a guess and is now known better.
        (ViewStamp::Extrapolated { from: a, .. }, ViewStamp::Extrapolated { from: b, .. }) => a != b,
        (ViewStamp::Extrapolated { .. }, ViewStamp::Interpolated { .. }) => true,
        // The path may continue beyond its end; a change before the end was caused by a late update.
        (ViewStamp::Interpolated { from, to, .. }, ViewStamp::Interpolated { from: a, to: b, time }) => {
            (from, to) != (a, b) && time.ticks_since(to) < 0.0
        }
        (ViewStamp::Interpolated { to, .. }, ViewStamp::Extrapolated { time, .. }) => {
            time.ticks_since(to) < 0.0
        }
        _ => false,
    }
}

/// Returns the offset that keeps a pawn where it was drawn, and its easing.
fn blend_offset(
    before: &DrawnState,
    drawn: &DrawnPose,
    mode: Option<ProxySmoothing>,
    frame: f32,
    config: &BlendConfig,
) -> VisualOffset {
    let pose = &drawn.pose;
    let on = before.position + before.velocity * frame - pose.position;
    let turn = before.rotation * pose.rotation.inverse();
    match mode {
        Some(ProxySmoothing::Exponential) => VisualOffset {
            offset: (before.position - pose.position).clamp_length_max(config.exponential_max_distance),
            velocity: Vec3::ZERO,
            turn,
            easing: Easing::Exponential {
                seconds: config.exponential_seconds,
                turn_seconds: config.exponential_turn_seconds,
            },
        },
        Some(ProxySmoothing::Simulate) => {
            // Apply the invisible part of the jump at once.
            let unseen = config.immediate_fraction * pose.velocity.length() * frame + INVISIBLE_JUMP;
            VisualOffset {
                offset: on - on.clamp_length_max(unseen),
                velocity: Vec3::ZERO,
                turn,
                easing: Easing::Bridge { seconds: config.bridge_seconds },
            }
        }
        // Without the guessed velocity: a pawn that has stopped would otherwise slide on.
        _ => {
            let seconds = on.length() / config.recovery_speed.max(0.1);
            let easing =
                if seconds > 0.2 { Easing::Bridge { seconds: seconds.min(0.5) } } else { Easing::Spring };
            VisualOffset { offset: on, velocity: Vec3::ZERO, turn, easing }
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::ViewTime;

    use super::*;

    #[test]
    fn later_path_may_differ_from_the_end_of_the_earlier_one_on() {
        let between = |from, to, time| ViewStamp::Interpolated {
            from: Tick(from),
            to: Tick(to),
            time: ViewTime::at(Tick(time)),
        };
        assert!(!is_discontinuous(between(0, 3, 2), between(3, 6, 3), None));
        assert!(!is_discontinuous(between(0, 3, 2), between(3, 6, 4), None));
        assert!(is_discontinuous(between(0, 6, 2), between(0, 3, 2), None), "a late update");
    }
}
