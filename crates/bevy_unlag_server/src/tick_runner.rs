//! Runner of headless servers: one update in each tick.

use core::time::Duration;
use std::{thread, time::Instant};

use bevy::{app::PluginsState, ecs::schedule::SingleThreadedExecutor, prelude::*};

use crate::tick_phase::{TickPhase, TickPhaseConfig};

/// Time that an update begins after its tick is due, so that rounding never makes it too early.
const MARGIN: Duration = Duration::from_micros(2);
/// Delay after which missed updates are given up.
const STALL: Duration = Duration::from_millis(250);

/// Runs one update in each tick of [`Time<Fixed>`], when that tick is due, and sleeps in between. For servers without
/// a window, in place of [`ScheduleRunnerPlugin`](bevy::app::ScheduleRunnerPlugin); add it after `MinimalPlugins`,
/// which has that plugin.
///
/// A server that updates more often polls its sockets more often, but moves and shots wait for the next tick in any
/// case, and snapshots leave in a tick. Each update that brings no tick costs what the schedules cost: for a match of
/// eight about as much as its tick. Pings of lightyear, if they are on, include the wait for the next update; the
/// suite's clock does not.
///
/// Schedules run in the calling thread, also in a build that has Bevy's feature `multi_threaded`: systems of a server
/// are too short to be worth a thread each, and an empty server takes twenty times as long with two of them. A system
/// in [`Startup`] can give a schedule another executor.
///
/// Servers that share a core move their ticks apart: see [`TickPhaseConfig`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TickRunnerPlugin;

impl Plugin for TickRunnerPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<TickPhaseConfig>().set_runner(|mut app| {
            while app.plugins_state() == PluginsState::Adding {
                bevy::tasks::tick_global_task_pools_on_main_thread();
            }
            if app.plugins_state() != PluginsState::Cleaned {
                app.finish();
                app.cleanup();
            }
            for (_, schedule) in app.world_mut().resource_mut::<Schedules>().iter_mut() {
                schedule.set_executor(SingleThreadedExecutor::new());
            }
            run_by_ticks(&mut app, |app| app.should_exit().is_none());
            app.should_exit().unwrap_or(AppExit::Success)
        });
    }
}

/// Updates a finished app in each tick, as [`TickRunnerPlugin`] does, until `more` returns false. Asks before each
/// update. Shifts the ticks by [`TickPhaseConfig`].
pub fn run_by_ticks(app: &mut App, mut more: impl FnMut(&mut App) -> bool) {
    let mut due = Instant::now();
    let (mut phase, mut shift) = (TickPhase::of_this_thread(), Duration::ZERO);
    while more(app) {
        phase.begin_update();
        app.update();
        // The clock of the ticks stood still while they were shifted.
        if let Some(mut fixed) =
            app.world_mut().get_resource_mut::<Time<Fixed>>().filter(|_| shift > Duration::ZERO)
        {
            fixed.discard_overstep(shift);
        }
        let now = Instant::now();
        let last = app.world().get_resource::<Time<Real>>().and_then(Time::<Real>::last_update);
        // Time that a test sets by hand, or an app without time, says nothing about when the update was.
        let next = time_to_next_tick(app.world());
        let config = app.world().get_resource().copied().unwrap_or_default();
        let tick = app.world().get_resource::<Time<Fixed>>().map_or(next, Time::<Fixed>::timestep);
        shift = phase.end_update(tick, &config);
        app.insert_resource(phase.times());
        due = last.filter(|last| *last <= now).unwrap_or(now).max(due) + next + shift;
        if due > now {
            thread::sleep(due - now);
        } else if now - due > STALL {
            due = now;
        }
    }
}

/// Returns the real time from the beginning of the last update to the next tick; that of one tick while
/// [`Time<Virtual>`] is paused.
#[must_use]
pub fn time_to_next_tick(world: &World) -> Duration {
    let Some(fixed) = world.get_resource::<Time<Fixed>>() else { return Duration::from_millis(1) };
    let game = world.get_resource::<Time<Virtual>>();
    let speed = game.map_or(1.0, |time| if time.is_paused() { 0.0 } else { time.relative_speed_f64() });
    let left = fixed.timestep().saturating_sub(fixed.overstep());
    // Game time at a crawl makes no tick for hours.
    let seconds = if speed > 0.0 { left.as_secs_f64() / speed } else { f64::INFINITY };
    Duration::try_from_secs_f64(seconds).map_or(fixed.timestep(), |time| time.min(fixed.timestep())) + MARGIN
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of ticks and of updates.
    #[derive(Resource, Default)]
    struct Counts {
        ticks: u32,
        updates: u32,
    }

    fn app() -> App {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, TickRunnerPlugin))
            .insert_resource(Time::<Fixed>::from_hz(64.0))
            .init_resource::<Counts>()
            .add_systems(FixedUpdate, |mut counts: ResMut<Counts>| counts.ticks += 1)
            .add_systems(Update, |mut counts: ResMut<Counts>, mut exit: MessageWriter<AppExit>| {
                counts.updates += 1;
                if counts.updates == 20 {
                    exit.write(AppExit::from_code(3));
                }
            });
        app
    }

    #[test]
    fn every_update_but_the_first_has_a_tick() {
        let mut app = app();
        app.finish();
        app.cleanup();
        run_by_ticks(&mut app, |app| app.should_exit().is_none());
        let counts = app.world().resource::<Counts>();
        // A busy machine makes ticks late, so that one update has several of them.
        assert!(counts.ticks + 1 >= counts.updates, "{} ticks in {} updates", counts.ticks, counts.updates);
        assert_eq!(counts.updates, 20);
    }

    #[test]
    fn plugin_runs_the_app_until_it_exits_and_returns_its_code() {
        assert_eq!(app().run(), AppExit::from_code(3));
    }

    /// Threads in which systems have run.
    #[derive(Resource, Default)]
    struct Threads(Vec<thread::ThreadId>);

    #[test]
    fn schedules_run_in_the_calling_thread_whatever_features_bevy_has() {
        let mut app = app();
        let note = |mut threads: ResMut<Threads>| threads.0.push(thread::current().id());
        let caller = thread::current().id();
        app.init_resource::<Threads>()
            .add_systems(FixedUpdate, note)
            .add_systems(PostUpdate, note)
            .add_systems(Last, move |threads: Res<Threads>| {
                assert!(threads.0.iter().all(|thread| *thread == caller), "{:?}, not {caller:?}", threads.0);
            });
        assert_eq!(app.run(), AppExit::from_code(3));
    }

    #[test]
    fn next_tick_is_what_is_left_of_the_timestep_at_the_speed_of_the_game() {
        let mut world = World::new();
        let mut fixed = Time::<Fixed>::from_duration(Duration::from_millis(10));
        fixed.accumulate_overstep(Duration::from_millis(4));
        world.insert_resource(fixed);
        world.insert_resource(Time::<Virtual>::default());
        assert_eq!(time_to_next_tick(&world), Duration::from_millis(6) + MARGIN);
        world.resource_mut::<Time<Virtual>>().set_relative_speed(2.0);
        assert_eq!(time_to_next_tick(&world), Duration::from_millis(3) + MARGIN);
        // Speed 0.01 would take 0.6 s: sockets are polled once in a timestep at least.
        world.resource_mut::<Time<Virtual>>().set_relative_speed(0.01);
        assert_eq!(time_to_next_tick(&world), Duration::from_millis(10) + MARGIN);
        world.resource_mut::<Time<Virtual>>().pause();
        assert_eq!(time_to_next_tick(&world), Duration::from_millis(10) + MARGIN);
    }
}
