//! Command line of the shooter: servers, hosts, clients, and matches without a window.

use core::net::SocketAddr;
use std::process::{ExitCode, Termination};

use bevy::prelude::*;
use bevy_unlag::{
    link_conditioner::{LinkConditions, LinkPreset},
    net::RestartMatch,
};
use bevy_unlag_server::{say, say_error};
use clap::Parser;
use unlag_examples::{
    app::{self, ServerOptions},
    args::exit_code,
    connection,
    dedicated::{self, OnOff},
    hero::Hero,
    match_report::{MatchReport, PlayerReport},
    matchmaking,
    reconnect::{self, ReconnectPolicy},
    recording, screen,
    screen_feed::ScreenFeed,
    scripted_player,
    slow_motion::SlowMotion,
    spectating,
    stepped_match::{self, MatchOptions},
    techniques::{Technique, Techniques},
    transport::ClientTransport,
    udp_match::{self, PlayerOptions, ServerThread},
    weapon_set::WeaponSet,
};

use crate::{
    cli::{Cli, Command},
    client_window::{client_window, script_of},
    play::Play,
    spectate,
    split_view::SplitFeeds,
    window,
};

/// Alternative to a window, for error messages.
pub const HEADLESS_HINT: &str = "use --headless to play without a window";

/// Runs the command of the command line, and returns the exit code of the process.
pub fn main() -> ExitCode {
    exit_code(run(Cli::parse()))
}

fn run(cli: Cli) -> Result<ExitCode, String> {
    match cli.command {
        Some(Command::Server(args)) => dedicated::serve(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Key(args)) => dedicated::write_key(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Token(args)) => dedicated::write_token(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Admin(args)) => dedicated::administer(&args).map(|()| ExitCode::SUCCESS),
        Some(Command::Client { matchmaker: Some(url), headless: true, players, play, .. }) => Ok(print(
            &udp_match::play_by_matchmaker(&url, players, play.seconds, play.conditions()?, play.seed),
            &play,
        )),
        Some(Command::Client {
            connect, token, spectate: true, transport, headless, window, play, ..
        }) => {
            let transport = transport.client()?;
            let token = match (&token, connect) {
                (Some(file), _) => dedicated::read_token(file)?,
                (None, address) => {
                    let server = connection::parse_address(&address.unwrap_or_default())?;
                    spectating::development_token(server, connection::random_client_id())?
                }
            };
            if headless {
                spectate::headless(token, transport, &play)
            } else {
                spectate::in_window(token, transport, &play, &window)
            }
        }
        Some(Command::Client { connect, token, matchmaker, transport, headless, window, play, .. }) => {
            let transport = transport.client()?;
            let (client, redial) = match (&token, matchmaker, connect) {
                (Some(file), ..) => (dedicated::read_token(file)?, ReconnectPolicy::never()),
                (None, Some(url), _) => (matchmaking::ask_alone(&url)?, ReconnectPolicy::never()),
                (None, None, address) => {
                    let server = connection::parse_address(&address.unwrap_or_default())?;
                    if headless {
                        reconnect::development_client(server)
                    } else {
                        reconnect::window_client(server)
                    }?
                }
            };
            let server = client.server();
            if headless {
                let player = PlayerOptions {
                    player: 1,
                    seed: play.seed,
                    conditions: play.conditions()?,
                    server: ServerOptions::game(default()),
                    transport,
                };
                let report = match udp_match::play_as(client, redial, player, play.seconds) {
                    Ok(report) => report,
                    // Scripts read why the client did not get in; a table would have nothing to show.
                    Err(end) if play.json => PlayerReport { end, ..default() },
                    Err(end) => return Err(end.text),
                };
                Ok(print(&MatchReport { players: vec![report] }, &play))
            } else {
                screen::display(HEADLESS_HINT)?;
                let title = format!("bevy_unlag shooter at {server}");
                let client = (client, redial, transport);
                Ok(client_window(client, None, &play, (title, &window))?.run().report())
            }
        }
        None if cli.headless => headless(&cli),
        None if cli.listen => listen(&cli),
        None => server_bots_and_window(&cli),
    }
}

/// Runs a match of scripted players and prints the report.
fn headless(cli: &Cli) -> Result<ExitCode, String> {
    let play = &cli.play;
    let server = ServerOptions { rewind: cli.rewind.into(), weapon_set: WeaponSet::All, ..default() };
    let record = cli.record()?;
    let report = if cli.udp {
        udp_match::play_match(cli.players, play.seconds, play.conditions()?, play.seed, server, record)?
    } else {
        let options = MatchOptions {
            players: cli.players,
            seconds: play.seconds,
            conditions: play.conditions()?,
            seed: play.seed,
            server,
            ..default()
        };
        stepped_match::play_recorded(&options, record)?
    };
    Ok(print(&report, play))
}

fn print(report: &MatchReport, play: &Play) -> ExitCode {
    if play.json {
        say(report.json());
    } else {
        say(report.table().trim_end());
    }
    let end = report.end();
    if end.is_early() {
        say_error(format_args!("error: {end}"));
        return ExitCode::from(2);
    }
    match play.min_agreement {
        Some(least) if report.agreement() < least => {
            say_error(format_args!(
                "agreement {:.2} % is below --min-agreement {least} %",
                report.agreement()
            ));
            ExitCode::from(1)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Runs a server and bots in threads, and a window that is a client of that server.
fn server_bots_and_window(cli: &Cli) -> Result<ExitCode, String> {
    screen::display(HEADLESS_HINT)?;
    let server = ServerThread::start_recorded(cli.port, window_options(cli), cli.record()?)?;
    let other = ScreenFeed::default();
    let _bots = udp_match::bots(server.address, bots(cli), cli.bots, &other);
    let window = ("bevy_unlag shooter".to_owned(), &cli.window);
    let (client, redial) = reconnect::window_client(server.address)?;
    let client = (client, redial, ClientTransport::Udp);
    let mut app = client_window(client, Some(server.switches.clone()), &cli.play, window)?;
    if let Some(slow_motion) = slow_motion(cli) {
        app.add_plugins(slow_motion);
    }
    app.insert_resource(SplitFeeds([server.switches.screen().clone(), other]));
    keep_rewind(&mut app, cli.rewind);
    Ok(app.run().report())
}

/// Returns the options of a server with a window.
fn window_options(cli: &Cli) -> ServerOptions {
    let slow_motion = slow_motion(cli);
    ServerOptions { interest: true, slow_motion, ..ServerOptions::game(cli.rewind.into()) }
}

fn slow_motion(cli: &Cli) -> Option<SlowMotion> {
    cli.slow_motion.map(|times| SlowMotion { factor: f64::from(times) })
}

/// Sets the switch of rewind to what the command line says.
fn keep_rewind(app: &mut App, rewind: OnOff) {
    if rewind == OnOff::Off {
        app.world_mut().resource_mut::<Techniques>().set(Technique::Rewind, 1);
    }
}

/// Returns the options of the bots. Each has a link of its own with the "Good broadband" preset.
fn bots(cli: &Cli) -> Vec<PlayerOptions> {
    let conditions =
        LinkPreset::named("Good broadband").map_or(LinkConditions::PERFECT, LinkPreset::conditions);
    let bot = |i| PlayerOptions {
        player: i + 2,
        seed: cli.play.seed.wrapping_mul(1_000_003).wrapping_add(i + 1),
        conditions,
        server: ServerOptions { slow_motion: slow_motion(cli), ..ServerOptions::game(default()) },
        ..default()
    };
    (0..cli.players - 1).map(bot).collect()
}

/// Runs a listen server: the host's window is the server; bots join it over UDP.
fn listen(cli: &Cli) -> Result<ExitCode, String> {
    screen::display(HEADLESS_HINT)?;
    // A listen server has no link of its own; a bad file is an error all the same.
    cli.play.presets()?;
    let (port, record) = (connection::check_port_is_free(cli.port)?, cli.record()?);
    let mut app = App::new();
    let title = format!("bevy_unlag shooter, hosting on UDP port {port}");
    window::add_window(&mut app, title, &cli.window, &cli.play);
    app::add_server(&mut app, window_options(cli));
    app::add_host::<Hero>(&mut app);
    keep_rewind(&mut app, cli.rewind);
    if let Some(file) = record {
        recording::record(&mut app, file, recording::REAL_TIME);
    }
    app.add_systems(Update, |keys: Res<ButtonInput<KeyCode>>, mut commands: Commands| {
        if keys.just_pressed(KeyCode::F9) {
            commands.trigger(RestartMatch);
        }
    });
    if cli.window.autoplay {
        app.add_plugins(scripted_player::plugin).insert_resource(script_of(&cli.window, &cli.play));
    }
    connection::listen_udp(&mut app, port);
    say(format_args!("hosting on UDP port {port}; connect with: shooter client --connect ADDRESS:{port}"));

    let _bots = udp_match::bots(
        SocketAddr::from(([127, 0, 0, 1], port)),
        bots(cli),
        cli.bots,
        &ScreenFeed::default(),
    );
    Ok(app.run().report())
}
