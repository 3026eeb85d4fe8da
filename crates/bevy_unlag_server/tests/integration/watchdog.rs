//! The watchdog, in real time.

use core::time::Duration;
use std::{thread, time::Instant};

use bevy::prelude::*;
use bevy_unlag_server::{ServerHealth, WatchdogConfig, WatchdogPlugin};

/// Time after which a test gives up waiting.
const PATIENCE: Duration = Duration::from_secs(20);

/// The next update stands still until the watchdog has noticed.
#[derive(Resource)]
struct StandsStill;

fn stand_still(health: Res<ServerHealth>, mut commands: Commands) {
    wait_until(|| !health.is_healthy());
    commands.remove_resource::<StandsStill>();
}

fn wait_until(mut done: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !done() {
        if began.elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
    true
}

#[test]
fn stall_is_noticed_with_its_schedule_until_updates_go_on() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, WatchdogPlugin))
        .insert_resource(WatchdogConfig { limit: Duration::from_secs(1) })
        .add_systems(Update, stand_still.run_if(resource_exists::<StandsStill>));
    let health = app.world().resource::<ServerHealth>().clone();

    // The control: updates longer than the limit in all, but never apart.
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1_500) {
        app.update();
        assert_eq!(health.stalled_in(), None);
        thread::sleep(Duration::from_millis(10));
    }

    app.insert_resource(StandsStill);
    app.update();
    assert_eq!(health.stalled_in(), Some("Update"));
    let goes_on = wait_until(|| {
        app.update();
        health.is_healthy()
    });
    assert!(goes_on);

    assert!(wait_until(|| !health.is_healthy()));
    assert_eq!(health.stalled_in(), Some("the time between two updates"));
}
