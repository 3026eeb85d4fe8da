//! Signals of the operating system, by which operators, systemd and Kubernetes stop a server.
//!
//! On other systems than Unix only Ctrl-C is understood, by Bevy's `TerminalCtrlCHandlerPlugin`.

use core::sync::atomic::{AtomicBool, Ordering};
use std::{io, sync::Arc};

use bevy::prelude::*;

#[cfg(unix)]
use crate::{
    life_cycle::{ServerLifeCyclePlugin, ServerState},
    log_target::LOG,
};

/// The operator wants keys and settings to be read again: SIGHUP, with [`SignalPlugin::reloads`].
#[derive(Event, Clone, Copy, PartialEq, Eq, Debug, Reflect)]
#[reflect(Event, Debug)]
pub struct ReloadSettings;

/// Handles the signals of the process. SIGTERM and SIGINT (Ctrl-C) start a drain of the server:
/// [`ServerState::Draining`]. A second one of either ends the process at once, with code 0 and without a word to
/// the players, even when the app stands still. Adds [`ServerLifeCyclePlugin`] if it is missing.
///
/// Handlers belong to the process: with several apps a signal drains all that have this plugin.
#[derive(Clone, Copy, Debug, Default)]
pub struct SignalPlugin {
    /// Whether SIGHUP triggers [`ReloadSettings`], for which the game has an observer. Default false: SIGHUP starts a
    /// drain, as when the terminal of the server is closed.
    pub reloads: bool,
}

impl Plugin for SignalPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<ServerLifeCyclePlugin>() {
            app.add_plugins(ServerLifeCyclePlugin);
        }
        app.register_type::<ReloadSettings>();
        add_handlers(app, self.reloads);
    }
}

#[cfg(unix)]
fn add_handlers(app: &mut App, reloads: bool) {
    match CaughtSignals::register(reloads) {
        Ok(caught) => {
            // In `Last`, so that a server which is stopped during its first update has begun to listen.
            app.insert_resource(caught).add_systems(Last, take_signals);
        }
        Err(error) => {
            error!(target: LOG, %error, "signals cannot be handled: they end the server without a drain");
        }
    }
}

#[cfg(not(unix))]
fn add_handlers(app: &mut App, _: bool) {
    app.add_plugins(bevy::app::TerminalCtrlCHandlerPlugin).add_systems(Last, take_ctrl_c);
}

/// Whether the operator has asked this process to stop, by SIGTERM or SIGINT (Ctrl-C): for programs beside the servers
/// that are no Bevy apps, such as a matchmaker. Apps have [`SignalPlugin`]. A clone can be read from any thread.
#[derive(Clone, Debug)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Handles both signals from now on. A second one of either ends the process at once, with code 0. On other systems
    /// than Unix nothing is handled, and Ctrl-C ends the process.
    ///
    /// # Errors
    /// The operating system refuses the handlers.
    pub fn register() -> io::Result<Self> {
        let stop = Arc::<AtomicBool>::default();
        #[cfg(unix)]
        {
            use signal_hook::{
                consts::{SIGINT, SIGTERM},
                flag,
            };
            /// Exit code of a second signal: the operator has got what they asked for.
            const EXIT_CODE: i32 = 0;
            for signal in [SIGTERM, SIGINT] {
                // Handlers run in the order of their registration: this one first, so that it acts on the second
                // signal.
                flag::register_conditional_shutdown(signal, EXIT_CODE, stop.clone())?;
                flag::register(signal, stop.clone())?;
            }
        }
        Ok(Self(stop))
    }

    /// Whether a signal has come. Stays true.
    #[must_use]
    pub fn is_received(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Flags that the handlers set.
#[cfg(unix)]
#[derive(Resource)]
struct CaughtSignals {
    stop: StopSignal,
    hang_up: Arc<AtomicBool>,
    reloads: bool,
}

#[cfg(unix)]
impl CaughtSignals {
    fn register(reloads: bool) -> io::Result<Self> {
        let caught = Self { stop: StopSignal::register()?, hang_up: Arc::default(), reloads };
        signal_hook::flag::register(signal_hook::consts::SIGHUP, caught.hang_up.clone())?;
        Ok(caught)
    }
}

#[cfg(unix)]
fn take_signals(caught: Res<CaughtSignals>, mut state: ResMut<ServerState>, mut commands: Commands) {
    let hang_up = caught.hang_up.swap(false, Ordering::Relaxed);
    if hang_up && caught.reloads {
        info!(target: LOG, "reloading, by SIGHUP");
        commands.trigger(ReloadSettings);
    }
    let stops = caught.stop.is_received() || (hang_up && !caught.reloads);
    if stops && state.is_running() {
        info!(target: LOG, "draining, by a signal; a second SIGTERM or Ctrl-C ends the process at once");
        *state = ServerState::Draining;
    }
}

/// Turns Bevy's wish to exit on Ctrl-C, which it repeats in each update, into a drain.
#[cfg(not(unix))]
fn take_ctrl_c(mut exits: ResMut<Messages<AppExit>>, mut state: ResMut<ServerState>) {
    let ctrl_c = AppExit::from_code(130);
    let all: Vec<AppExit> = exits.drain().collect();
    if all.contains(&ctrl_c) && state.is_running() {
        *state = ServerState::Draining;
    }
    for exit in all.into_iter().filter(|exit| *exit != ctrl_c) {
        exits.write(exit);
    }
}
