//! Watchdog: a thread that notices when the updates of an app stand still.

use core::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering},
    time::Duration,
};
use std::{
    sync::{Arc, OnceLock, Weak},
    thread,
    time::Instant,
};

use bevy::{
    app::MainScheduleOrder,
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
};

use crate::log_target::LOG;

/// Interval at which the thread looks.
const PERIOD: Duration = Duration::from_millis(100);

/// Places in which an app can stand still: the main schedules, and the time outside of them.
const PLACES: [&str; 7] = [
    "First",
    "PreUpdate",
    "RunFixedMainLoop",
    "Update",
    "PostUpdate",
    "Last",
    "the time between two updates",
];

/// Setting of the watchdog. May be changed at any time.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct WatchdogConfig {
    /// Time without an update after which the app counts as stalled. Default 2 s, at least 0.2 s. Raising it
    /// tolerates longer hitches, such as the load of a map, and monitors learn of a stall later.
    pub limit: Duration,
}

impl Default for WatchdogConfig {
    fn default() -> Self {
        Self { limit: Duration::from_secs(2) }
    }
}

/// Whether the updates of the app go on. A clone can be read from any thread.
#[derive(Resource, Clone, Debug, Default, Reflect)]
#[reflect(opaque)]
#[reflect(Resource, Debug, Default)]
pub struct ServerHealth {
    /// 0, or the number of the place of the stall in [`PLACES`], counted from 1.
    stall: Arc<AtomicUsize>,
    /// 0, or the number of the measured section that was running, counted from 1.
    section: Arc<AtomicUsize>,
    /// Names of the measured sections, by their numbers. Empty without the feature `metrics`.
    section_names: Arc<OnceLock<SectionNames>>,
}

/// Function that names a measured section by its number, and the section at whose end it begins, if there is one.
type SectionNames = fn(usize) -> Option<(&'static str, Option<&'static str>)>;

impl ServerHealth {
    /// Whether the last update is not longer ago than [`WatchdogConfig::limit`]. True until the first update.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.stalled_in().is_none()
    }

    /// Returns the schedule in which the app stands still, if it does.
    #[must_use]
    pub fn stalled_in(&self) -> Option<&'static str> {
        PLACES.get(self.stall.load(Ordering::Relaxed).checked_sub(1)?).copied()
    }

    /// Tells how the sections are called whose beginning [`Heart`] notes.
    #[cfg(feature = "metrics")]
    pub(crate) fn name_sections(&self, names: SectionNames) {
        // The watchdog is added once.
        let _ = self.section_names.set(names);
    }

    /// Returns the measured system set that is running while the app stands still: the stall is in this set, or in
    /// systems between it and the set of [`stalled_after`](Self::stalled_after). `None` where no measured set follows
    /// in the schedule, and without the feature `metrics`, which measures the sets.
    #[must_use]
    pub fn stalled_set(&self) -> Option<&'static str> {
        let place = self.stalled_in()?;
        // The rest of a schedule has the schedule's name.
        self.stalled_section().map(|(set, _)| set).filter(|set| *set != place)
    }

    /// Returns the measured system set that ended last before the app stood still, if there is one in this schedule.
    /// `None` also without the feature `metrics`.
    #[must_use]
    pub fn stalled_after(&self) -> Option<&'static str> {
        self.stalled_section()?.1
    }

    fn stalled_section(&self) -> Option<(&'static str, Option<&'static str>)> {
        let number = self.section.load(Ordering::Relaxed).checked_sub(1)?;
        self.stalled_in().and_then(|_| (self.section_names.get()?)(number))
    }
}

/// Watches the updates of the app from a thread of its own. After [`WatchdogConfig::limit`] without one, an error in
/// the log names the schedule and, with the feature `metrics`, the system set that is running, and a warning how long
/// it took once updates go on; [`ServerHealth`] is false until then. The time in which the whole process was stopped
/// does not count. Costs seven empty schedules in each update and, with the feature `metrics`, a time stamp a set.
#[derive(Clone, Copy, Debug, Default)]
pub struct WatchdogPlugin;

impl Plugin for WatchdogPlugin {
    fn build(&self, app: &mut App) {
        let (heart, health) = (Heart::default(), ServerHealth::default());
        app.init_resource::<WatchdogConfig>()
            .insert_resource(health.clone())
            .insert_resource(heart.clone())
            .register_type::<WatchdogConfig>()
            .register_type::<ServerHealth>()
            .add_systems(First, beat);
        add_markers(app, &heart);
        #[cfg(feature = "metrics")]
        crate::metrics::measure_sets(app, &health);
        let watched = Arc::downgrade(&heart.0);
        let thread = thread::Builder::new().name("watchdog".to_owned());
        if let Err(error) = thread.spawn(move || watch(&watched, &health)) {
            error!(target: LOG, %error, "the watchdog's thread cannot start: stalls are not noticed");
        }
    }
}

/// Signs of life of the app. The thread ends when it is dropped.
#[derive(Resource, Clone, Default)]
pub(crate) struct Heart(Arc<Heartbeat>);

#[cfg(feature = "metrics")]
impl Heart {
    /// Notes the measured section that is running from now on, by its number; `None` outside of all.
    pub(crate) fn begin_section(&self, number: Option<usize>) {
        self.0.section.store(number.map_or(0, |number| number + 1), Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Heartbeat {
    /// Number of updates.
    beats: AtomicU64,
    /// Index in [`PLACES`] of the current place.
    place: AtomicUsize,
    /// Time without an update after which the app is stalled, in ms.
    limit: AtomicU64,
    /// 0, or the number of the measured section that is running, counted from 1.
    section: AtomicUsize,
}

fn beat(heart: Res<Heart>, config: Res<WatchdogConfig>) {
    let limit = u64::try_from(config.limit.as_millis()).unwrap_or(u64::MAX);
    heart.0.limit.store(limit, Ordering::Relaxed);
    heart.0.beats.fetch_add(1, Ordering::Relaxed);
}

/// Schedule before the main schedule of the same index in [`PLACES`].
#[derive(ScheduleLabel, Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Marker(usize);

/// Adds the schedules that note what is running. A system in the schedules themselves could run late in them.
fn add_markers(app: &mut App, heart: &Heart) {
    for place in 0..PLACES.len() {
        let heart = heart.0.clone();
        let mut schedule = Schedule::new(Marker(place));
        schedule.set_executor(SingleThreadedExecutor::new());
        schedule.add_systems(move || heart.place.store(place, Ordering::Relaxed));
        app.add_schedule(schedule);
    }
    let mut order = app.world_mut().resource_mut::<MainScheduleOrder>();
    order.insert_before(First, Marker(0));
    order.insert_before(PreUpdate, Marker(1));
    order.insert_before(RunFixedMainLoop, Marker(2));
    order.insert_before(Update, Marker(3));
    order.insert_before(PostUpdate, Marker(4));
    order.insert_before(Last, Marker(5));
    order.insert_after(Last, Marker(6));
}

/// Runs the thread until the app is dropped.
fn watch(heart: &Weak<Heartbeat>, health: &ServerHealth) {
    let (mut beats, mut silent, mut looked) = (0, Duration::ZERO, Instant::now());
    loop {
        thread::sleep(PERIOD);
        let Some(heart) = heart.upgrade() else { return };
        // A longer sleep than asked for: the process was stopped, or the machine has no time for this thread either.
        silent += looked.elapsed().min(PERIOD * 2);
        looked = Instant::now();
        let newest = heart.beats.load(Ordering::Relaxed);
        if newest != beats || newest == 0 {
            if let Some(place) = health.stalled_in() {
                let (set, after) = (health.stalled_set(), health.stalled_after());
                health.stall.store(0, Ordering::Relaxed);
                warn!(target: LOG, place, set, after, seconds = tenths(silent), "updates go on after a stall");
            }
            (beats, silent) = (newest, Duration::ZERO);
            continue;
        }
        let limit = Duration::from_millis(heart.limit.load(Ordering::Relaxed)).max(PERIOD * 2);
        if silent > limit && health.is_healthy() {
            let place = heart.place.load(Ordering::Relaxed);
            health.section.store(heart.section.load(Ordering::Relaxed), Ordering::Relaxed);
            health.stall.store(place + 1, Ordering::Relaxed);
            let (place, set, after) = (health.stalled_in(), health.stalled_set(), health.stalled_after());
            let seconds = tenths(silent);
            error!(
                target: LOG,
                place,
                set,
                after,
                seconds,
                "no update: the server stands still, and health checks fail"
            );
        }
    }
}

/// Returns seconds with one decimal.
fn tenths(time: Duration) -> f64 {
    (time.as_secs_f64() * 10.0).round() / 10.0
}
