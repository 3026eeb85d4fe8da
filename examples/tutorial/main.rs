//! The game of the book's tutorial. Its chapters add one file each.

mod bad_link;
mod check;
mod level;
mod network;
mod others;
mod pawn;
mod tokens;
mod weapons;

use bevy::{app::ScheduleRunnerPlugin, ecs::error::warn, log::LogPlugin, prelude::*};
use bevy::{state::app::StatesPlugin, winit::WinitSettings};
use bevy_unlag::prelude::*;
use network::GAME;
use std::time::Duration;

fn main() -> Result<AppExit> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut app = App::new();
    // An error of a system is a line in the log: a peer must not be able to end the program.
    app.set_error_handler(warn);
    match words[..] {
        ["server"] => {
            app.add_plugins((without_window, server));
            network::listen(&mut app, "0.0.0.0:5888".parse()?, &ServerAccess::development(GAME));
        }
        ["client", number, address] => {
            app.add_plugins((with_window, client, window));
            network::connect(&mut app, TokenClient::development(number.parse()?, address.parse()?, GAME)?);
        }
        ["key"] => {
            tokens::print_key()?;
            return Ok(AppExit::Success);
        }
        ["token", token_file, key_file, number, address] => {
            tokens::write(token_file, key_file, number.parse()?, address.parse()?)?;
            return Ok(AppExit::Success);
        }
        ["server", key_file] => {
            app.add_plugins((without_window, server));
            network::listen(&mut app, "0.0.0.0:5888".parse()?, &tokens::access(key_file)?);
        }
        ["join", token_file] => {
            app.add_plugins((with_window, client, window));
            network::connect(&mut app, tokens::read(token_file)?);
        }
        ["--headless", ref chapters @ ..] => return Ok(check::run(chapters)),
        _ => {
            eprintln!("usage: server | client NUMBER ADDRESS");
            eprintln!("key | token TOKEN_FILE KEY_FILE NUMBER ADDRESS | server KEY_FILE | join TOKEN_FILE");
            return Ok(AppExit::error());
        }
    }
    Ok(app.run())
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), level::colliders));
    app.add_plugins(pawn::server);
    app.add_plugins(others::server);
    app.add_plugins(weapons::server);
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), level::colliders));
    app.add_plugins(pawn::client);
    app.add_plugins(others::client);
    app.add_plugins(weapons::client);
    app.add_plugins(bad_link::client);
    app.add_plugins(tokens::client);
}

/// Plugins that a client has beside `client` when it draws.
fn window(app: &mut App) {
    app.add_plugins(level::window);
    app.add_plugins(pawn::window);
    app.add_plugins(others::window);
    app.add_plugins(weapons::window);
    app.add_plugins(bad_link::window);
}

/// Bevy's plugins for a server: 200 frames a second, and nothing that draws.
fn without_window(app: &mut App) {
    let frame = ScheduleRunnerPlugin::run_loop(Duration::from_millis(5));
    app.add_plugins((MinimalPlugins.set(frame), TransformPlugin, StatesPlugin, LogPlugin::default()));
}

/// Bevy's plugins for a client. It runs at full speed in the background, too.
fn with_window(app: &mut App) {
    let primary_window = Some(Window { resolution: (960, 540).into(), ..default() });
    app.add_plugins(DefaultPlugins.set(WindowPlugin { primary_window, ..default() }))
        .insert_resource(WinitSettings::continuous());
}
