//! Client with a window, on the desktop and in a browser.

use core::time::Duration;

use bevy::{platform::time::Instant, prelude::*};
use bevy_unlag::prelude::*;
use unlag_examples::{
    app::{self, ServerOptions},
    connection,
    connection_monitor::ConnectionMonitor,
    match_end::MatchEnd,
    reconnect::ReconnectPolicy,
    screen::{self, WindowArgs},
    scripted_player::{self, BotSkill, ScriptedPlayer},
    server_debug::ServerDebugHandle,
    transport::ClientTransport,
};

use crate::{play::Play, window};

/// Creates a client with a window. `switches` are the debug controls of a server in this process.
pub fn client_window(
    (client, redial, transport): (TokenClient, ReconnectPolicy, ClientTransport),
    switches: Option<ServerDebugHandle>,
    play: &Play,
    (title, args): (String, &WindowArgs),
) -> Result<App, String> {
    let mut app = App::new();
    let (presets, mut sim) = (play.presets()?, NetSim::new(play.seed));
    sim.apply(play.preset_of(&presets)?);
    app.insert_resource(screen::link_controls::ShownPresets(presets));
    window::add_window(&mut app, title, args, play);
    if let Some(switches) = switches {
        app.insert_resource(switches);
    }
    app::add_client(&mut app, ServerOptions::game(default()));
    if args.autoplay {
        app.add_plugins(scripted_player::plugin).insert_resource(script_of(args, play));
    }
    app.insert_resource(transport).add_systems(Update, exit_on_fatal_error);
    let server = client.server();
    let join = move |world: &mut World| {
        connection::connect_in_world(world, client, sim);
        world.insert_resource(ConnectionMonitor::new(server, redial));
    };
    #[cfg(not(target_family = "wasm"))]
    join(app.world_mut());
    #[cfg(target_family = "wasm")]
    crate::web::join_once_drawn(&mut app, join);
    Ok(app)
}

/// Returns the player of `--autoplay`. The one of measurements turns too fast for people who watch a film.
pub fn script_of(args: &WindowArgs, play: &Play) -> ScriptedPlayer {
    match args.film {
        Some(_) => ScriptedPlayer::bot(play.seed, BotSkill::Hard),
        None => ScriptedPlayer::new(play.seed),
    }
}

/// Time for which the window shows the final error.
const ERROR_DISPLAY_TIME: Duration = Duration::from_secs(5);

/// Ends a client without a server: shows one line in the window and prints it on the terminal.
pub fn exit_on_fatal_error(world: &mut World, mut ended: Local<Option<Instant>>) {
    let Some(mut watch) = world.remove_resource::<ConnectionMonitor>() else { return };
    if ended.is_none()
        && let Some(end) = watch.fatal_error(world)
    {
        report_end(&end);
        watch.notice = Some(end.text);
        *ended = Some(Instant::now());
    }
    world.insert_resource(watch);
    if ended.is_some_and(|at| at.elapsed() > ERROR_DISPLAY_TIME) {
        world.write_message(AppExit::from_code(2));
    }
}

/// Tells the end of the match outside the window, too: on the terminal, or on the page.
fn report_end(end: &MatchEnd) {
    #[cfg(not(target_family = "wasm"))]
    bevy_unlag_server::say_error(format_args!("error: {end}"));
    #[cfg(target_family = "wasm")]
    crate::web::show_end(end);
}
