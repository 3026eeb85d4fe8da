//! Client of a spectator, with a window or without.

use std::process::{ExitCode, Termination};

use bevy::prelude::*;
use bevy_unlag::{
    net::{SpectatorPlugin, SpectatorStream},
    prelude::*,
    record::{Playback, PlaybackView},
};
use bevy_unlag_server::say;
use unlag_examples::{
    app::{self, ServerOptions},
    connection,
    connection_monitor::ConnectionMonitor,
    playback_view,
    screen::{
        self, LiveText, WindowArgs,
        ui::{TEXT, banner, label},
    },
    spectating,
    transport::ClientTransport,
};

use crate::{client_window::exit_on_fatal_error, native, play::Play};

/// Watches a match without a window, and prints what was seen.
///
/// # Errors
/// Returns one line when the match cannot be watched.
pub fn headless(token: TokenClient, transport: ClientTransport, play: &Play) -> Result<ExitCode, String> {
    let sim = NetSim::new(play.seed).with(play.conditions()?);
    say(spectating::watch(token, transport, sim, play.seconds)?);
    Ok(ExitCode::SUCCESS)
}

/// Watches a match in a window.
///
/// # Errors
/// Returns one line when there is no screen, or when the link preset is unknown.
pub fn in_window(
    token: TokenClient,
    transport: ClientTransport,
    play: &Play,
    args: &WindowArgs,
) -> Result<ExitCode, String> {
    screen::display(native::HEADLESS_HINT)?;
    let server = token.server();
    let mut sim = NetSim::new(play.seed);
    sim.apply(play.preset_of(&play.presets()?)?);
    let mut app = App::new();
    app.set_error_handler(bevy::ecs::error::warn);
    let title = format!("bevy_unlag shooter, watching {server}");
    screen::add_window(&mut app, title, args, play.seconds as f32, "shooter=info");
    app::add_client(&mut app, ServerOptions::game(default()));
    app.add_plugins((PlayerControlsPlugin::default(), SpectatorPlugin::default(), playback_view::plugin))
        .add_systems(Startup, spawn_notice)
        .add_systems(
            Update,
            (follow_somebody.run_if(resource_added::<Playback>), exit_on_fatal_error).chain(),
        );
    app.insert_resource(transport);
    connection::connect_with_token(&mut app, token, sim);
    app.insert_resource(ConnectionMonitor::spectator(server));
    Ok(app.run().report())
}

/// Begins behind the first player.
fn follow_somebody(mut playback: ResMut<Playback>) {
    let first = playback.roster().players().find_map(|player| player.pawn);
    if let Some(pawn) = first {
        playback.set_view(PlaybackView::ThirdPerson(pawn));
    }
}

fn spawn_notice(mut commands: Commands) {
    let text = LiveText::new(&mut commands, notice);
    commands.spawn((banner(62.0), children![(text, label("", 18.0, TEXT), Pickable::IGNORE)]));
}

/// Says why there is no picture, or why it has ended.
fn notice(
    stream: Res<SpectatorStream>,
    monitor: Option<Res<ConnectionMonitor>>,
    playback: Option<Res<Playback>>,
) -> String {
    let notice = monitor.and_then(|monitor| monitor.notice.clone());
    let waiting = || playback.is_none().then(|| "waiting for the match: spectators see it later".to_owned());
    stream.error().map(str::to_owned).or(notice).or_else(waiting).unwrap_or_default()
}
