//! Signals, raised in this process. A second SIGTERM would end the tests.

use bevy::prelude::*;
use bevy_unlag_server::{ReloadSettings, ServerState, SignalPlugin, StopSignal};
use signal_hook::{
    consts::{SIGHUP, SIGTERM},
    low_level::raise,
};

/// Number of reloads.
#[derive(Resource, Default)]
struct Reloads(u32);

fn app(reloads: bool) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, SignalPlugin { reloads }))
        .init_resource::<Reloads>()
        .add_observer(|_: On<ReloadSettings>, mut reloads: ResMut<Reloads>| reloads.0 += 1);
    app.update();
    app
}

fn seen(app: &mut App) -> (ServerState, u32) {
    app.update();
    (*app.world().resource::<ServerState>(), app.world().resource::<Reloads>().0)
}

#[test]
fn hang_up_reloads_or_drains_and_a_termination_drains() {
    let stop = StopSignal::register().expect("handlers");
    let (mut reloads, mut drains) = (app(true), app(false));
    assert_eq!(seen(&mut drains), (ServerState::Starting, 0), "the control");
    raise(SIGHUP).expect("a signal");
    assert_eq!(seen(&mut reloads), (ServerState::Starting, 1));
    assert_eq!(seen(&mut drains), (ServerState::Draining, 0));
    raise(SIGHUP).expect("a signal");
    assert_eq!(seen(&mut reloads), (ServerState::Starting, 2));
    assert!(!stop.is_received(), "SIGHUP is no wish to stop");
    raise(SIGTERM).expect("a signal");
    assert_eq!(seen(&mut reloads), (ServerState::Draining, 2));
    assert!(stop.is_received());
}
