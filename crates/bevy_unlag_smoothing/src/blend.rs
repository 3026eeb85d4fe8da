//! What hides that a proxy is suddenly somewhere else: never part of its pose, so never judged.

use bevy::prelude::*;
use bevy_unlag_core::{
    DrawnPose, Easing, NetRole, ProxySmoothing, SnapshotHistory, Tick, ViewStamp, VisualOffset,
};

use crate::{SmoothingStats, inbox::SnapshotInbox, proxy::ProxyTime};

/// How proxies come over from where they were seen to where they are.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
pub struct BlendConfig {
    /// A step further than this, in metres, is not hidden, unless the pawn is so fast that it may
    /// have gone that far since its last update. Default: 3.84, Unreal's `NetworkNoSmoothUpdateDistance`.
    /// Raising it lets pawns be seen to slide that far, through walls as well.
    pub snap_distance: f32,
    /// Metres per second that a pawn may have been faster than it was seen to be, while nothing was
    /// heard of it. Default: 10. Lowering it takes more of those who were knocked away in a gap for
    /// teleported.
    pub snap_speed: f32,
    /// Metres per second at which a pawn comes over that was lost sight of and is found again. Default:
    /// 6; but it takes 0.2 s at least and 0.5 s at most. Lowering it is softer, and wrong for longer.
    pub recovery_speed: f32,
    /// Seconds in which a pawn that is simulated to the present comes over to what an update says.
    /// Default: 0.045, an interval of 20 updates a second. Raising it makes it softer, and wrong for
    /// longer.
    pub bridge_seconds: f32,
    /// How much of such a step is taken at once, in parts of what the pawn moves in a frame. Default:
    /// 0.25, and a centimetre. Raising it is right sooner, and trembles.
    pub unseen_share: f32,
    /// [`ProxySmoothing::Exponential`]: seconds until 37 % of a step are left. Default: 0.1, Unreal's
    /// `NetworkSimulatedSmoothLocationTime`. Raising it is softer, and further behind.
    pub exponential_seconds: f32,
    /// The same for rotations. Default: 0.05, Unreal's `NetworkSimulatedSmoothRotationTime`.
    pub exponential_turn_seconds: f32,
    /// [`ProxySmoothing::Exponential`]: the looks are never further behind than this, in metres.
    /// Default: 2.56, Unreal's `NetworkMaxSmoothUpdateDistance`. So far beside the looks may be what a shot
    /// hits.
    pub exponential_distance: f32,
}

impl Default for BlendConfig {
    fn default() -> Self {
        Self {
            snap_distance: 3.84,
            snap_speed: 10.0,
            recovery_speed: 6.0,
            bridge_seconds: 0.045,
            unseen_share: 0.25,
            exponential_seconds: 0.1,
            exponential_turn_seconds: 0.05,
            exponential_distance: 2.56,
        }
    }
}

/// What was seen of a proxy in the last frame.
#[derive(Component, Clone, Copy, Debug, Default)]
pub(crate) struct Seen(Option<Sight>);

#[derive(Clone, Copy, Debug)]
struct Sight {
    position: Vec3,
    velocity: Vec3,
    rotation: Quat,
    stamp: ViewStamp,
    mode: Option<ProxySmoothing>,
    teleports: u8,
}

/// Metres that nobody sees something jump.
const UNSEEN: f32 = 0.01;
/// No frame is so long that a pawn is taken to have gone straight on for it.
const LONGEST_FRAME: f32 = 0.1;

pub(crate) fn blend(
    (time, config): (Res<Time<Real>>, Res<BlendConfig>),
    mut stats: ResMut<SmoothingStats>,
    mut proxies: Query<
        (
            &NetRole,
            &DrawnPose,
            &SnapshotHistory,
            &ProxyTime,
            Option<&ProxySmoothing>,
            &mut Seen,
            &mut VisualOffset,
        ),
        With<SnapshotInbox>,
    >,
) {
    let frame = time.delta_secs().min(LONGEST_FRAME);
    for (role, drawn, history, proxy, mode, mut seen, mut offset) in &mut proxies {
        if *role != NetRole::SimulatedProxy {
            continue;
        }
        if !drawn.pose.alive {
            *seen = Seen(None);
            offset.set_if_neq(VisualOffset::default());
            continue;
        }
        let (mode, pose) = (mode.copied(), drawn.pose);
        let teleports =
            from_of(drawn.stamp).and_then(|from| history.get(from)).map_or(0, |from| from.teleports);
        if let Some(before) = seen.0 {
            if before.teleports != teleports || mode == Some(ProxySmoothing::Raw) {
                // It shall be seen to be somewhere else.
                offset.set_if_neq(VisualOffset::default());
            } else if before.mode != mode || breaks(before.stamp, drawn.stamp, mode) {
                // Who is fast may have gone far while nothing was heard of it.
                let speed = before.velocity.length().max(pose.velocity.length()) + config.snap_speed;
                let allowed = config.snap_distance.max(speed * (proxy.waited as f32 + frame));
                let next = come_over(&before, drawn, mode, frame, &config);
                if next.offset.length() <= allowed {
                    stats.blends += 1;
                    *offset = next;
                } else {
                    stats.snaps += 1;
                    *offset = VisualOffset::default();
                }
            }
        }
        let eased = !matches!(offset.easing, Easing::Exponential { .. });
        *seen = Seen(Some(Sight {
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

/// Whether what is drawn now does not go on from what was drawn a frame ago.
fn breaks(before: ViewStamp, now: ViewStamp, mode: Option<ProxySmoothing>) -> bool {
    if mode.is_some_and(|mode| !mode.is_played_out()) {
        return from_of(before) != from_of(now);
    }
    match (before, now) {
        // The path was guessed, and now it is known better.
        (ViewStamp::Extrapolated { from: a, .. }, ViewStamp::Extrapolated { from: b, .. }) => a != b,
        (ViewStamp::Extrapolated { .. }, ViewStamp::Interpolated { .. }) => true,
        // The path goes on at its end; before that, something came late that changes it.
        (ViewStamp::Interpolated { from, to, .. }, ViewStamp::Interpolated { from: a, to: b, time }) => {
            (from, to) != (a, b) && time.ticks_since(to) < 0.0
        }
        (ViewStamp::Interpolated { to, .. }, ViewStamp::Extrapolated { time, .. }) => {
            time.ticks_since(to) < 0.0
        }
        _ => false,
    }
}

/// The offset that leaves a pawn where it is seen, and how it fades.
fn come_over(
    before: &Sight,
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
            offset: (before.position - pose.position).clamp_length_max(config.exponential_distance),
            velocity: Vec3::ZERO,
            turn,
            easing: Easing::Exponential {
                seconds: config.exponential_seconds,
                turn_seconds: config.exponential_turn_seconds,
            },
        },
        Some(ProxySmoothing::Simulate) => {
            // As much of the step as nobody sees is taken at once.
            let unseen = config.unseen_share * pose.velocity.length() * frame + UNSEEN;
            VisualOffset {
                offset: on - on.clamp_length_max(unseen),
                velocity: Vec3::ZERO,
                turn,
                easing: Easing::Bridge { seconds: config.bridge_seconds },
            }
        }
        // What it was guessed to do it shall not go on doing: who stopped would be seen to slide.
        _ => {
            let seconds = on.length() / config.recovery_speed.max(0.1);
            let easing =
                if seconds > 0.2 { Easing::Bridge { seconds: seconds.min(0.5) } } else { Easing::Spring };
            VisualOffset { offset: on, velocity: Vec3::ZERO, turn, easing }
        }
    }
}
