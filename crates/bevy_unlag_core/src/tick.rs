//! Integer simulation time: whole ticks, and ticks with a fixed-point fraction.

use core::time::Duration;

use bevy::{prelude::*, time::TimeSystems};
use bevy_unlag_derive::Wire;
use serde::{Deserialize, Serialize};

use crate::{
    game_clock::GameClockPlugin,
    reflection,
    required_plugin::require_plugin,
    system_sets::{MoveSystems, TickSystems},
};

/// A simulation tick. It wraps around and therefore implements no `Ord`; compare with [`Tick::since`] and
/// [`Tick::is_newer_than`].
#[doc(alias = "RepliconTick")]
#[derive(Wire, Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, Reflect)]
pub struct Tick(pub u32);

impl Tick {
    /// Returns the number of ticks from `earlier` to `self`, negative if `self` is the earlier one. Correct
    /// across the wrap for distances below 2³¹.
    #[must_use]
    pub fn since(self, earlier: Self) -> i32 {
        self.0.wrapping_sub(earlier.0).cast_signed()
    }

    /// Returns whether `self` is later than `other`.
    #[must_use]
    pub fn is_newer_than(self, other: Self) -> bool {
        self.since(other) > 0
    }

    /// Returns the tick `ticks` after this one, or before it if negative.
    #[must_use]
    pub fn offset(self, ticks: i32) -> Self {
        Self(self.0.wrapping_add_signed(ticks))
    }
}

/// Number of fractions into which a [`ViewTime`] divides a tick.
pub const SUB_TICKS: i64 = 256;

/// Converts a duration to 1/256 of a tick, rounded down.
///
/// A `tick_seconds` that is not positive and finite is replaced by 1/64 s. The result is at most 2^30 ticks
/// (half a year at 64 Hz), so a [`ViewTime`] moved by it still compares correctly.
#[must_use]
pub fn sub_ticks(time: Duration, tick_seconds: f32) -> i64 {
    const MOST: f64 = (SUB_TICKS << 30) as f64;
    let tick = if tick_seconds.is_finite() && tick_seconds > 0.0 { tick_seconds } else { 1.0 / 64.0 };
    (time.as_secs_f64() / f64::from(tick) * SUB_TICKS as f64).min(MOST) as i64
}

/// A moment between ticks: a tick and a fraction in 1/256 of a tick (61 µs at 64 Hz).
///
/// Playout clocks count in it, so that the moment that a client draws and the one that it reports to the
/// server are the same number.
#[doc(alias = "TickInstant")]
#[derive(Wire, Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, Reflect)]
pub struct ViewTime {
    /// Whole tick at or before the moment.
    pub tick: Tick,
    /// Fraction after that tick, in 1/256 of a tick.
    pub fraction: u8,
}

impl ViewTime {
    /// Returns the moment at which the step of `tick` ends.
    #[must_use]
    pub fn at(tick: Tick) -> Self {
        Self { tick, fraction: 0 }
    }

    /// Returns the moment `ticks` after `origin`, rounded down to 1/256 of a tick.
    #[must_use]
    pub fn after(origin: Tick, ticks: f64) -> Self {
        Self::at(origin).later((ticks * SUB_TICKS as f64).floor() as i64)
    }

    /// Returns the number of ticks from `tick` to this moment, negative if the moment is earlier.
    #[must_use]
    pub fn ticks_since(self, tick: Tick) -> f32 {
        self.tick.since(tick) as f32 + f32::from(self.fraction) / SUB_TICKS as f32
    }

    /// Returns the time from `earlier` to this moment in 1/256 of a tick, negative if this moment is the
    /// earlier one.
    #[must_use]
    pub fn since(self, earlier: Self) -> i64 {
        let ticks = i64::from(self.tick.since(earlier.tick));
        ticks * SUB_TICKS + i64::from(self.fraction) - i64::from(earlier.fraction)
    }

    /// Returns the moment that is `sub_ticks` (1/256 of a tick each) later.
    #[must_use]
    pub fn later(self, sub_ticks: i64) -> Self {
        let sub = i64::from(self.fraction) + sub_ticks;
        Self {
            tick: self.tick.offset(sub.div_euclid(SUB_TICKS) as i32),
            fraction: sub.rem_euclid(SUB_TICKS) as u8,
        }
    }
}

/// The tick that this app simulates.
///
/// It follows time, not the number of steps: ticks that a stalled app could not simulate are skipped, so the
/// distance between the ticks of two machines stays the same.
///
/// On the server it is the tick of every snapshot. On a client it numbers that client's own moves. It starts
/// at the server's tick when the client receives its pawn and is therefore behind the server by the downlink
/// latency.
#[doc(alias = "LocalTimeline")]
#[derive(Resource, Clone, Copy, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct CurrentTick(pub Tick);

impl CurrentTick {
    /// Returns the moment that the current frame shows: this tick plus the overstep of `fixed`.
    #[must_use]
    pub fn frame_time(&self, fixed: &Time<Fixed>) -> ViewTime {
        ViewTime::after(self.0, fixed.overstep_fraction_f64())
    }
}

/// Time lost by stalls of this app. [`Time<Virtual>`] drops the part of a frame beyond its `max_delta`, so
/// the ticks of that time are never simulated.
#[derive(Resource, Clone, Copy, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct Stall {
    /// Lost time that does not fill a whole tick yet.
    rest: Duration,
    /// Number of ticks skipped at the start of the current tick, usually 0.
    pub skipped: u32,
    /// Longest frame of the last second, in seconds of real time.
    pub longest_frame: f32,
    /// Seconds of real time since a frame took longer than [`Stall::HITCH_SECONDS`]. Very large if there was
    /// none.
    pub seconds_since_hitch: f32,
}

impl Default for Stall {
    fn default() -> Self {
        // No hitch so far.
        Self { rest: Duration::ZERO, skipped: 0, longest_frame: 0.0, seconds_since_hitch: 1e6 }
    }
}

impl Stall {
    /// Frame time in seconds above which a frame counts as a hitch. Unreal's
    /// `ServerForcedUpdateHitchThreshold`.
    #[doc(alias = "ServerForcedUpdateHitchThreshold")]
    pub const HITCH_SECONDS: f32 = 0.15;
    /// Maximum number of ticks that one stall skips: a day at 64 Hz.
    const MAX_SKIPPED: u32 = 86_400 * 64;

    /// Returns the lost game time that [`CurrentTick`] has not skipped yet.
    #[must_use]
    pub fn lost_time(&self) -> Duration {
        self.rest
    }
}

/// Increments [`CurrentTick`] once per fixed step and orders [`MoveSystems`]. Every other plugin of the
/// suite adds it.
#[derive(Default)]
pub struct TickPlugin;

impl Plugin for TickPlugin {
    fn build(&self, app: &mut App) {
        reflection::register_types(app);
        require_plugin(app, GameClockPlugin);
        app.configure_sets(
            FixedUpdate,
            (
                MoveSystems::Reconcile,
                MoveSystems::Sample,
                MoveSystems::Extend,
                MoveSystems::Step,
                MoveSystems::React,
            )
                .chain()
                .in_set(TickSystems),
        );
        app.init_resource::<CurrentTick>()
            .init_resource::<Stall>()
            .configure_sets(FixedFirst, MoveSystems::AdvanceTick.in_set(TickSystems))
            .configure_sets(FixedPostUpdate, MoveSystems::Publish.in_set(TickSystems))
            .add_systems(First, detect_stall.after(TimeSystems))
            .add_systems(FixedFirst, advance.in_set(MoveSystems::AdvanceTick));
    }
}

fn detect_stall(real: Res<Time<Real>>, game: Res<Time<Virtual>>, mut stall: ResMut<Stall>) {
    let frame = real.delta_secs();
    if frame > Stall::HITCH_SECONDS {
        stall.seconds_since_hitch = 0.0;
        stall.longest_frame = frame;
    } else {
        stall.seconds_since_hitch += frame;
        stall.longest_frame =
            if stall.seconds_since_hitch > 1.0 { frame } else { stall.longest_frame.max(frame) };
    }
    if !game.is_paused() && real.delta() > game.max_delta() {
        stall.rest += (real.delta() - game.max_delta()).mul_f64(game.effective_speed_f64());
    }
}

fn advance(fixed: Res<Time<Fixed>>, mut stall: ResMut<Stall>, mut tick: ResMut<CurrentTick>) {
    let ticks = stall.rest.as_nanos() / fixed.timestep().as_nanos().max(1);
    let skipped = u32::try_from(ticks).unwrap_or(u32::MAX).min(Stall::MAX_SKIPPED);
    stall.skipped = skipped;
    stall.rest = stall.rest.saturating_sub(fixed.timestep() * skipped);
    tick.0 = tick.0.offset(1 + skipped.cast_signed());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_compare_across_the_wrap() {
        let before = Tick(u32::MAX - 1);
        let after = before.offset(5);
        assert_eq!(after, Tick(3));
        assert!(after.is_newer_than(before));
        assert_eq!(after.since(before), 5);
        assert_eq!(before.since(after), -5);
    }

    #[test]
    fn sub_ticks_rounds_down_and_is_bounded_for_any_duration() {
        let tenth = Duration::from_millis(100);
        assert_eq!(sub_ticks(tenth, 0.02), 5 * SUB_TICKS);
        assert_eq!(sub_ticks(Duration::from_millis(99), 0.02), 1267, "rounded down");
        for odd in [0.0, -0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(sub_ticks(tenth, odd), sub_ticks(tenth, 1.0 / 64.0), "{odd}");
        }
        let all = [f32::MIN_POSITIVE, 1e-45, 1e-4, 0.02, 1e9, f32::MAX].into_iter();
        for tick in all.chain([0.0, -1.0, f32::NAN, f32::INFINITY]) {
            assert_eq!(sub_ticks(Duration::ZERO, tick), 0, "{tick}");
            let most = sub_ticks(Duration::MAX, tick);
            let (now, far) = (ViewTime::at(Tick(7)), ViewTime::at(Tick(7)).later(-most));
            assert_eq!(now.since(far), most, "{tick}: later(-most) must be exactly that far back");
        }
    }

    #[test]
    fn in_frame_returns_the_current_tick_plus_the_overstep() {
        let mut fixed = Time::<Fixed>::from_seconds(0.02);
        assert_eq!(CurrentTick(Tick(7)).frame_time(&fixed), ViewTime::at(Tick(7)));
        fixed.accumulate_overstep(Duration::from_millis(5));
        assert_eq!(CurrentTick(Tick(7)).frame_time(&fixed), ViewTime { tick: Tick(7), fraction: 64 });
        fixed.accumulate_overstep(Duration::from_millis(20));
        assert_eq!(CurrentTick(Tick(7)).frame_time(&fixed), ViewTime { tick: Tick(8), fraction: 64 });
    }

    #[test]
    fn view_time_fraction_is_positive_for_moments_before_the_origin() {
        let time = ViewTime::after(Tick(100), -0.25);
        assert_eq!(time, ViewTime { tick: Tick(99), fraction: 192 });
        assert!((time.ticks_since(Tick(100)) + 0.25).abs() < 1e-6);
        assert_eq!(time.since(ViewTime::at(Tick(100))), -64);
        assert_eq!(ViewTime::at(Tick(0)).later(-1), ViewTime { tick: Tick(u32::MAX), fraction: 255 });
    }
}
