//! Health pings, and the watchdog that stops them.

use core::time::Duration;
use std::thread;

use bevy_unlag_server::{ServerHealth, WatchdogConfig};

use super::server::*;

#[test]
fn pings_stop_while_the_server_stands_still() {
    let stand_in = start_stand_in();
    let mut app = server(stand_in.address());
    app.insert_resource(WatchdogConfig { limit: Duration::from_millis(200) });
    let health = app.world().resource::<ServerHealth>().clone();
    update_until(&mut app, "pings", |_| pings(&stand_in) > 5);

    // Nobody updates the app.
    wait_until("the watchdog's alarm", || !health.is_healthy());
    thread::sleep(Duration::from_millis(200));
    let last = pings(&stand_in);
    thread::sleep(Duration::from_millis(400));
    assert_eq!(pings(&stand_in), last, "twenty intervals, and no ping");

    update_until(&mut app, "pings go on", |_| pings(&stand_in) > last + 5);
}
