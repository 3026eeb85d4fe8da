//! Link setup, round-trip measurement on [`Time<Real>`] and the game speed.

use core::time::Duration;

use bevy::{prelude::*, time::TimeSystems};
use bevy_unlag_core::{GameClock, GameClockPlugin, RoundTrip};
#[cfg(feature = "prediction")]
use bevy_unlag_prediction::ClockSteering;
use lightyear::{
    link::Link,
    prelude::{ControlledBy, PingConfig, PingManager, Transport},
};
use lightyear_sync::ping::plugin::PingSystems;
use lightyear_transport::{packet::nack::PacketNackSettings, plugin::PacketAcked};

/// Speed of this app's [`Time<Virtual>`], 1 being real time. Default 1.
/// lightyear writes that speed every frame to steer a client's clock by up to a tenth, which would make
/// honest clocks look like speed cheats. Set the game's speed here instead. The correction that
/// [`ClockSteering`] requests, at most 6 %, is multiplied in.
///
/// Slow motion and a pause (0) of the whole game are set on the server: it announces every change, and its
/// clients set theirs, also those that join later. A client that sets another speed only has a clock that runs
/// wrong. The suite is made for speeds up to 1; faster ones than [`MAX`](Self::MAX) count as that.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_unlag_lightyear::GameSpeed;
///
/// /// On the server: slow motion after the last kill of a round.
/// fn slow_down(mut speed: ResMut<GameSpeed>) {
///     speed.0 = 0.3;
/// }
/// ```
#[doc(alias = "TimeDilation")]
#[doc(alias = "host_timescale")]
#[derive(Resource, Clone, Copy, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct GameSpeed(pub f32);

impl Default for GameSpeed {
    fn default() -> Self {
        Self(1.0)
    }
}

impl GameSpeed {
    /// Maximum speed: sixteen ticks in the time of one.
    pub const MAX: f32 = 16.0;

    /// Returns the speed, finite and from 0 to [`MAX`](Self::MAX).
    pub(crate) fn factor(self) -> f32 {
        if self.0.is_finite() { self.0.clamp(0.0, Self::MAX) } else { 1.0 }
    }
}

/// lightyear's own pings. The suite needs none: they measure the wall clock, which is wrong for a stepped app,
/// and cost packets. The transport's packet acknowledgements carry the same information for every packet; they
/// feed a [`RoundTrip`] on the link on [`Time<Real>`], so a stepped app measures stepped time.
///
/// lightyear's timelines synchronise by its pings, and its inputs, its prediction and its interpolation wait
/// for that. In an app that had lightyear's plugins before the suite's, they are on. A game that uses those
/// parts of lightyear otherwise inserts [`ON`](Self::ON), before links appear; the client's is the one that
/// counts. lightyear's steering of the clock stays without effect in any case; see [`GameSpeed`].
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct LightyearPings {
    /// Time between two pings in each direction. Default: `None`, no pings; if lightyear's plugins are the
    /// game's own, 100 ms, which costs at most 300 bytes per second in each direction. Lowering it costs as
    /// much more.
    pub interval: Option<Duration>,
}

impl LightyearPings {
    /// lightyear's own default: a ping every 100 ms.
    pub const ON: Self = Self { interval: Some(Duration::from_millis(100)) };

    /// Returns the settings of a new link. Without pings, lightyear still wants a time for the next one.
    pub(crate) fn manager(self) -> PingManager {
        PingManager::new(PingConfig { ping_interval: self.interval.unwrap_or(Duration::from_secs(3_600)) })
    }
}

pub(crate) fn plugin(app: &mut App) {
    bevy_unlag_core::require_plugin(app, GameClockPlugin);
    app.init_resource::<GameSpeed>()
        .init_resource::<LightyearPings>()
        .init_resource::<AppliedSpeed>()
        .add_observer(sample_rtt)
        .add_observer(wait_for_acks)
        .add_systems(First, apply_speed.before(TimeSystems))
        .add_systems(PreUpdate, publish_rtt.after(PingSystems::Receive));
}

/// The speed that [`apply_speed`] has set in this frame.
#[derive(Resource, Default)]
pub(crate) struct AppliedSpeed(pub Option<f32>);

fn apply_speed(
    speed: Res<GameSpeed>,
    #[cfg(feature = "prediction")] steering: Option<Res<ClockSteering>>,
    mut set: ResMut<AppliedSpeed>,
    (mut time, mut clock): (ResMut<Time<Virtual>>, ResMut<GameClock>),
) {
    #[cfg(feature = "prediction")]
    let steered = steering.map_or(1.0, |steering| steering.speed as f32);
    #[cfg(not(feature = "prediction"))]
    let steered = 1.0;
    clock.set_steering(f64::from(steered));
    let speed = speed.factor() * steered;
    if time.relative_speed() != speed {
        time.set_relative_speed(speed);
    }
    set.0 = Some(time.relative_speed());
}

/// Sets a minimum timeout for packet acknowledgements. lightyear considers a packet lost after 1.5 round
/// trips, which is 0 before the first measurement: every packet would count as lost, no acknowledgement would
/// count, and no round trip would ever be measured.
fn wait_for_acks(added: On<Add, Transport>, mut transports: Query<&mut Transport>) {
    if let Ok(mut transport) = transports.get_mut(added.entity) {
        let settings = PacketNackSettings { minimum_timeout: Duration::from_secs(1), ..default() };
        transport.set_packet_nack_settings(settings);
    }
}

fn sample_rtt(acked: On<PacketAcked>, mut links: Query<&mut RoundTrip>, mut commands: Commands) {
    let sample = acked.rtt_sample;
    match links.get_mut(acked.entity) {
        Ok(mut trip) => trip.sample(sample),
        Err(_) => {
            commands.entity(acked.entity).try_insert(RoundTrip::first(sample));
        }
    }
}

pub(crate) fn publish_rtt(mut links: Query<(&mut Link, &RoundTrip)>) {
    for (mut link, trip) in &mut links {
        link.stats.rtt = trip.rtt;
    }
}

/// Copies the round trip of each link to the pawns that its client owns.
pub(crate) fn copy_rtt_to_pawns(
    links: Query<&RoundTrip, With<Link>>,
    mut pawns: Query<(Entity, &ControlledBy, Option<&mut RoundTrip>), Without<Link>>,
    mut commands: Commands,
) {
    for (pawn, owner, known) in &mut pawns {
        let Ok(trip) = links.get(owner.owner) else { continue };
        match known {
            Some(mut known) => *known = *trip,
            None => {
                commands.entity(pawn).try_insert(*trip);
            }
        }
    }
}
