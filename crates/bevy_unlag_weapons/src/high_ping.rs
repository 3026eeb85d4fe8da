//! Warning about a high round trip time, and what it means for the player's shots.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, NetRole, RoundTrip};
use bevy_unlag_rewind::{HighPing, RewindLimits};

use crate::reflection;

/// Settings and state of the high ping warning. The round trip is checked at intervals, and the warning is
/// hidden again after a while, so that it informs without distracting.
#[derive(Resource, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
#[doc(alias("HighPingRange", "ShowCoolTime"))]
pub struct HighPingWarning {
    /// Round trip above which the warning is shown. Default: `None`, where rewinding starts to fade out
    /// according to [`RewindLimits::high_ping`] on this client, or 200 ms if that is not set.
    pub limit: Option<Duration>,
    /// Time from joining to the first check. Default: 3 s, in which the measurement settles.
    pub first: Duration,
    /// Time between two checks. Default: 20 s. Lowering it shows the warning more often.
    pub interval: Duration,
    /// Duration of the warning. Default: 5 s. If it is longer than the interval, the warning stays as long as
    /// the ping is high.
    pub duration: Duration,
    /// Time since joining or the last check; `None` before joining.
    passed: Option<Duration>,
    looked: bool,
    /// Remaining time for which the warning is shown.
    shown: Option<Duration>,
    round_trip: Option<Duration>,
}

impl Default for HighPingWarning {
    fn default() -> Self {
        Self {
            limit: None,
            first: Duration::from_secs(3),
            interval: Duration::from_secs(20),
            duration: Duration::from_secs(5),
            passed: None,
            looked: false,
            shown: None,
            round_trip: None,
        }
    }
}

/// Requests that the user interface shows the warning.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct ShowHighPing {
    /// Smoothed round trip.
    pub round_trip: Duration,
    /// The limit that it exceeds.
    pub limit: Duration,
    /// Round trips at which rewinding starts to fade out and at which it ends, so that players have to lead
    /// their targets; `None` if it never does.
    pub rewind: Option<HighPing>,
}

/// Requests that the user interface hides the warning.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct HideHighPing;

enum Change {
    Shown(ShowHighPing),
    Hidden,
}

impl HighPingWarning {
    /// Limit if neither this resource nor [`RewindLimits`] sets one.
    pub const DEFAULT_LIMIT: Duration = Duration::from_millis(200);

    /// Whether the warning is shown.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        self.shown.is_some()
    }

    /// Returns the round trip at the last check; `None` before the first one.
    #[must_use]
    pub fn round_trip(&self) -> Option<Duration> {
        self.round_trip
    }

    /// Returns the round trip above which the warning is shown.
    #[must_use]
    pub fn effective_limit(&self, limits: &RewindLimits) -> Duration {
        let fades = limits.high_ping.map(|high_ping| high_ping.fade_from);
        self.limit.or(fades).unwrap_or(Self::DEFAULT_LIMIT)
    }

    /// Resets the state after this client has left.
    fn leave(&mut self) -> Option<Change> {
        let was_shown = self.shown.take().is_some();
        (self.passed, self.looked, self.round_trip) = (None, false, None);
        was_shown.then_some(Change::Hidden)
    }

    /// Advances the timers and checks the round trip when due.
    fn pass(
        &mut self,
        time: Duration,
        round_trip: Option<Duration>,
        limits: &RewindLimits,
    ) -> Option<Change> {
        let passed = self.passed.map_or(Duration::ZERO, |passed| passed.saturating_add(time));
        self.passed = Some(passed);
        let was_shown = self.is_shown();
        self.shown = self.shown.and_then(|left| left.checked_sub(time)).filter(|left| !left.is_zero());
        let due = if self.looked { self.interval } else { self.first };
        if let Some(round_trip) = round_trip.filter(|_| passed >= due) {
            (self.passed, self.looked, self.round_trip) = (Some(Duration::ZERO), true, Some(round_trip));
            let limit = self.effective_limit(limits);
            self.shown = (round_trip > limit).then_some(self.duration).filter(|shown| !shown.is_zero());
            if self.is_shown() && !was_shown {
                return Some(Change::Shown(ShowHighPing { round_trip, limit, rewind: limits.high_ping }));
            }
        }
        (was_shown && !self.is_shown()).then_some(Change::Hidden)
    }
}

/// Maintains [`HighPingWarning`] on clients; does nothing on servers, including listen server hosts. A user
/// interface reads [`ShowHighPing`] and [`HideHighPing`], or the resource.
#[derive(Debug, Default)]
pub struct HighPingPlugin;

impl Plugin for HighPingPlugin {
    fn build(&self, app: &mut App) {
        reflection::register_high_ping_types(app);
        app.init_resource::<HighPingWarning>()
            .init_resource::<RewindLimits>()
            .add_message::<ShowHighPing>()
            .add_message::<HideHighPing>()
            .add_systems(PreUpdate, warn);
    }
}

/// Runs the checks with the round trip of the client's link.
fn warn(
    time: Res<Time<Real>>,
    limits: Res<RewindLimits>,
    roles: Query<&NetRole>,
    links: Query<&RoundTrip, Without<NetId>>,
    mut warning: ResMut<HighPingWarning>,
    mut shown: MessageWriter<ShowHighPing>,
    mut hidden: MessageWriter<HideHighPing>,
) {
    let joined = roles.iter().any(|role| *role == NetRole::AutonomousProxy);
    if !joined && warning.passed.is_none() {
        return;
    }
    // The timers run in every frame, but change detection should only report a shown or hidden warning.
    let state = warning.bypass_change_detection();
    let change = if joined {
        let round_trip = links.iter().map(|trip| trip.rtt).max();
        state.pass(time.delta(), round_trip, &limits)
    } else {
        state.leave()
    };
    let Some(change) = change else { return };
    warning.set_changed();
    match change {
        Change::Shown(message) => {
            shown.write(message);
        }
        Change::Hidden => {
            hidden.write(HideHighPing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::time::TimeUpdateStrategy;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[derive(Resource, Default)]
    struct Received {
        shown: Vec<(u128, ShowHighPing)>,
        hidden: Vec<u128>,
    }

    fn see(
        time: Res<Time<Real>>,
        mut shown: MessageReader<ShowHighPing>,
        mut hidden: MessageReader<HideHighPing>,
        mut seen: ResMut<Received>,
    ) {
        let now = time.elapsed().as_millis();
        seen.shown.extend(shown.read().map(|message| (now, *message)));
        seen.hidden.extend(hidden.read().map(|_| now));
    }

    /// A client whose link has the given round trip in milliseconds. It joins at 0 s.
    fn client(round_trip: u64) -> (App, Entity) {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, HighPingPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(MS(100)))
            .init_resource::<Received>()
            .add_systems(Update, see);
        app.finish();
        app.cleanup();
        app.world_mut().spawn(RoundTrip::first(MS(round_trip)));
        let pawn = app.world_mut().spawn((NetId(3), NetRole::AutonomousProxy)).id();
        app.update();
        (app, pawn)
    }

    fn run(app: &mut App, seconds: u64) {
        (0..seconds * 10).for_each(|_| app.update());
    }

    fn seen(app: &App) -> &Received {
        app.world().resource::<Received>()
    }

    fn warning(app: &App) -> HighPingWarning {
        *app.world().resource::<HighPingWarning>()
    }

    /// Fails if the warning is not hidden.
    #[test]
    fn high_ping_is_shown_3_s_after_joining_and_every_20_s_for_5_s() {
        let (mut app, _) = client(250);
        run(&mut app, 4);
        let message = ShowHighPing { round_trip: MS(250), limit: MS(200), rewind: None };
        assert!(warning(&app).is_shown() && warning(&app).round_trip() == Some(MS(250)));
        run(&mut app, 60);
        let seen = seen(&app);
        let began: Vec<u128> = seen.shown.iter().map(|(at, _)| at / 1_000).collect();
        assert_eq!(began, [3, 23, 43, 63]);
        assert!(seen.shown.iter().all(|(_, shown)| *shown == message), "{:?}", seen.shown);
        assert_eq!(seen.hidden.len(), 3);
        for ((shown, _), hidden) in seen.shown.iter().zip(&seen.hidden) {
            assert_eq!(hidden - shown, 5_000);
        }
    }

    #[test]
    fn ping_at_the_limit_shows_nothing_and_an_improved_one_hides_the_warning() {
        let (mut app, _) = client(200);
        run(&mut app, 50);
        assert!(seen(&app).shown.is_empty());
        assert_eq!(warning(&app).round_trip(), Some(MS(200)));

        let (mut app, _) = client(201);
        app.world_mut().resource_mut::<HighPingWarning>().duration = MS(60_000);
        run(&mut app, 5);
        assert!(warning(&app).is_shown());
        let world = app.world_mut();
        for mut trip in world.query::<&mut RoundTrip>().iter_mut(world) {
            *trip = RoundTrip::first(MS(40));
        }
        run(&mut app, 15);
        assert!(warning(&app).is_shown(), "the next check is not due yet");
        run(&mut app, 5);
        assert!(!warning(&app).is_shown());
        assert_eq!((seen(&app).shown.len(), seen(&app).hidden.len()), (1, 1));
    }

    #[test]
    fn warning_uses_the_rewind_limit_unless_it_has_its_own() {
        let (mut app, _) = client(130);
        let rule = HighPing { fade_from: MS(120), stop_at: MS(180) };
        app.world_mut().resource_mut::<RewindLimits>().high_ping = Some(rule);
        run(&mut app, 5);
        let message = ShowHighPing { round_trip: MS(130), limit: MS(120), rewind: Some(rule) };
        assert_eq!(seen(&app).shown[0].1, message);

        // The warning's own limit takes precedence.
        let (mut app, _) = client(130);
        app.world_mut().resource_mut::<RewindLimits>().high_ping = Some(rule);
        app.world_mut().resource_mut::<HighPingWarning>().limit = Some(MS(150));
        run(&mut app, 5);
        assert!(seen(&app).shown.is_empty());
    }

    #[test]
    fn warning_waits_for_a_measurement_and_resets_with_the_next_server() {
        let (mut app, pawn) = client(250);
        let world = app.world_mut();
        let link = world.query_filtered::<Entity, With<RoundTrip>>().single(world).expect("a link");
        world.despawn(link);
        run(&mut app, 8);
        assert!(seen(&app).shown.is_empty());
        // Round trips of pawns are only known to servers and do not count.
        app.world_mut().spawn((NetId(9), RoundTrip::first(MS(900))));
        run(&mut app, 1);
        assert!(seen(&app).shown.is_empty());
        app.world_mut().spawn(RoundTrip::first(MS(300)));
        run(&mut app, 1);
        assert!(warning(&app).is_shown(), "as soon as there is a measurement");
        app.world_mut().despawn(pawn);
        app.update();
        assert!(!warning(&app).is_shown() && warning(&app).round_trip().is_none());
        assert_eq!(seen(&app).hidden.len(), 1);
        run(&mut app, 30);
        assert_eq!(seen(&app).shown.len(), 1, "the client is not connected");
        app.world_mut().spawn((NetId(4), NetRole::AutonomousProxy));
        run(&mut app, 2);
        assert_eq!(seen(&app).shown.len(), 1);
        run(&mut app, 2);
        assert_eq!(seen(&app).shown.len(), 2, "3 s after joining");
    }

    #[test]
    fn host_is_not_warned_of_its_clients_pings() {
        let (mut app, pawn) = client(900);
        app.world_mut().entity_mut(pawn).insert(NetRole::Authority);
        run(&mut app, 30);
        assert!(seen(&app).shown.is_empty());
    }

    #[test]
    fn zero_intervals_and_durations_do_not_toggle_the_warning() {
        let (mut app, _) = client(250);
        *app.world_mut().resource_mut::<HighPingWarning>() =
            HighPingWarning { first: MS(0), interval: MS(0), ..HighPingWarning::default() };
        run(&mut app, 10);
        assert_eq!((seen(&app).shown.len(), seen(&app).hidden.len()), (1, 0), "the warning stays");
        app.world_mut().resource_mut::<HighPingWarning>().duration = MS(0);
        run(&mut app, 10);
        assert_eq!((seen(&app).shown.len(), seen(&app).hidden.len()), (1, 1), "the warning never appears");
    }
}
