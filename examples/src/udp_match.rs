//! Real-time match over UDP: every app runs in its own thread at its own frame rate.

use std::{net::SocketAddr, path::PathBuf, thread, time::Instant};

use bevy::{
    prelude::*,
    tasks::{AsyncComputeTaskPool, ComputeTaskPool, IoTaskPool, TaskPoolBuilder},
};
use bevy_unlag::{link_conditioner::LinkConditions, prelude::*};
use bevy_unlag_agones::AgonesPlugin;
use bevy_unlag_server::{MetricsPlugin, SignalPlugin, WatchdogPlugin, say_error};

use crate::{
    app::{self, ServerOptions},
    app_threads::{self, AppThreads, CLIENT_FRAME, run},
    connection,
    connection_monitor::ConnectionMonitor,
    logs,
    match_end::{EndReason, MatchEnd},
    match_report::{self, MatchReport, PlayerReport},
    match_rules, matchmaking,
    operation::Operation,
    reconnect::{self, ReconnectPolicy},
    recording,
    screen_feed::ScreenFeed,
    scripted_player::{BotSkill, ScriptedPlayer},
    server_debug::ServerDebugHandle,
    transport::ClientTransport,
};

/// A dedicated server in a thread, which ends when this is dropped.
pub struct ServerThread {
    /// Address to connect to.
    pub address: SocketAddr,
    /// Debug controls of the server.
    pub switches: ServerDebugHandle,
    _thread: AppThreads,
}

impl ServerThread {
    /// Starts a server on `port`; 0 takes any free one.
    ///
    /// # Errors
    /// Returns one line when the port is taken.
    pub fn start(port: u16, options: ServerOptions) -> Result<Self, String> {
        Self::start_recorded(port, options, None)
    }

    /// Starts a server like [`start`](Self::start), which records its match into a file, if there is one.
    ///
    /// # Errors
    /// Returns one line when the port is taken.
    pub fn start_recorded(
        port: u16,
        options: ServerOptions,
        record: Option<PathBuf>,
    ) -> Result<Self, String> {
        let (switches, mut thread) = (ServerDebugHandle::default(), AppThreads::default());
        let obeyed = switches.clone();
        let address = thread.spawn_server(move |more, ready| {
            let access = ServerAccess::development(connection::PROTOCOL_ID);
            let mut app = app::server(options);
            if let Some(file) = record {
                recording::record(&mut app, file, recording::REAL_TIME);
            }
            app_threads::serve(
                &mut app,
                port,
                &access,
                |_, port| ready(port),
                |app| {
                    obeyed.apply(app.world_mut());
                    more()
                },
            )
        })?;
        Ok(Self { address, switches, _thread: thread })
    }
}

/// Runs a dedicated server on `port`, with `metrics` if any and what its operator wants, and passes the bound port to
/// `ready`. SIGTERM or Ctrl-C starts a drain, see [`SignalPlugin`]; the function returns when it is over. With the
/// sidecar of Agones it is a server of a fleet, see [`AgonesPlugin`].
///
/// # Errors
/// Returns one line when the port is taken.
pub fn serve(
    port: u16,
    access: &ServerAccess,
    options: ServerOptions,
    metrics: Option<MetricsPlugin>,
    operation: Operation,
    ready: impl FnOnce(&mut World, u16),
) -> Result<(), String> {
    // By default Bevy takes a thread for each core of the machine, in each of its servers.
    let one = |name: &str| TaskPoolBuilder::new().num_threads(1).thread_name(name.to_owned()).build();
    ComputeTaskPool::get_or_init(|| one("compute"));
    AsyncComputeTaskPool::get_or_init(|| one("async compute"));
    IoTaskPool::get_or_init(|| one("io"));
    let mut app = app::server(options);
    let signals = SignalPlugin { reloads: operation.reloads() };
    app.add_plugins((logs::server_log_plugin(options.logs.format), signals, WatchdogPlugin));
    operation.add_to(&mut app);
    app.add_plugins((AgonesPlugin, match_rules::plugin));
    if let Some(metrics) = metrics {
        app.add_plugins(metrics);
    }
    app_threads::serve(&mut app, port, access, ready, |app| app.should_exit().is_none())
}

/// Configuration of a scripted player.
#[derive(Clone, Debug, Default)]
pub struct PlayerOptions {
    /// Its number, from 1; unique on a server.
    pub player: u64,
    /// Seed of its script and its link.
    pub seed: u64,
    /// Its link conditions; the same one-way values apply to the uplink and the downlink.
    pub conditions: LinkConditions,
    /// Options of the server.
    pub server: ServerOptions,
    /// Transport of its link.
    pub transport: ClientTransport,
}

/// Starts bots of this skill in threads. `watched` gets the screen of the first one.
#[must_use]
pub fn bots(
    server: SocketAddr,
    options: Vec<PlayerOptions>,
    skill: BotSkill,
    watched: &ScreenFeed,
) -> AppThreads {
    let mut threads = AppThreads::default();
    let mut watched = Some(watched.clone());
    for player in options {
        let feed = watched.take();
        threads.spawn(move |more| match reconnect::development_client(server) {
            Ok((bot, _)) => {
                let seed = player.seed;
                let mut bot = client(bot, player);
                bot.insert_resource(ScriptedPlayer::bot(seed, skill));
                run(&mut bot, CLIENT_FRAME, |bot| {
                    feed.iter().for_each(|feed| feed.publish(bot.world_mut()));
                    more()
                });
            }
            Err(error) => error!("bot {} cannot join: {error}", player.player),
        });
    }
    threads
}

fn client(client: TokenClient, player: PlayerOptions) -> App {
    let mut app = app::scripted_client(player.seed, player.server);
    let sim = NetSim::new(player.seed ^ 0x5eed).with(player.conditions);
    app.insert_resource(player.transport);
    connection::connect_with_token(&mut app, client, sim);
    bevy_unlag_testkit::finish(&mut app);
    app
}

/// Plays one scripted player against a server for `seconds`, then stops its fire for 3 s, so that the
/// verdicts can arrive.
///
/// # Errors
/// Returns one line when no server responds, the protocols differ, or the server goes away.
pub fn play(server: SocketAddr, player: PlayerOptions, seconds: f64) -> Result<PlayerReport, String> {
    let (token, redial) = reconnect::development_client(server)?;
    let report = play_as(token, redial, player, seconds).map_err(|end| end.text)?;
    if report.end.is_early() { Err(report.end.text) } else { Ok(report) }
}

/// Plays one scripted player with a connect token; see [`play`]. If it has joined, it gets its report however the match
/// ends: [`PlayerReport::end`] says why.
///
/// # Errors
/// Returns the end of a client that could not join: no server responds, or the server refused it, for instance.
pub fn play_as(
    token: TokenClient,
    redial: ReconnectPolicy,
    player: PlayerOptions,
    seconds: f64,
) -> Result<PlayerReport, MatchEnd> {
    let began = Instant::now();
    let mut watch = ConnectionMonitor::new(token.server(), redial);
    let mut app = client(token, player);
    match_report::keep_ended_connections(&mut app);
    let mut end = None;
    run(&mut app, CLIENT_FRAME, |app| {
        end = watch.fatal_error(app.world_mut());
        if let Some(notice) = watch.notice.take() {
            say_error(format_args!("notice: {notice}"));
        }
        let played = watch.time_since_join().as_secs_f64();
        app.world_mut().resource_mut::<ScriptedPlayer>().may_fire = played < seconds;
        end.is_none() && played < seconds + 3.0
    });
    let end = end.unwrap_or_default();
    if !watch.has_joined() {
        return Err(end);
    }
    // The wait for a server that has gone is no part of the match.
    let ended = if end.is_early() { watch.last_ok } else { Instant::now() };
    let mut report = PlayerReport::read(app.world_mut(), (ended - began).as_secs_f64());
    report.shot_stats.close();
    Ok(PlayerReport { end, ..report })
}

/// Plays scripted players in threads, each of which asks a matchmaker for a match by itself. The end of a player that
/// did not get into a match is in its report, too.
#[must_use]
pub fn play_by_matchmaker(
    url: &str,
    players: u64,
    seconds: f64,
    conditions: LinkConditions,
    seed: u64,
) -> MatchReport {
    let start = |i: u64| {
        let (url, seed) = (url.to_owned(), seed.wrapping_mul(1_000_003).wrapping_add(i));
        let player = PlayerOptions {
            player: i + 1,
            seed,
            conditions,
            server: ServerOptions::game(default()),
            ..default()
        };
        thread::spawn(move || {
            let token = matchmaking::ask_alone(&url).map_err(|line| EndReason::NoAnswer.because(line))?;
            play_as(token, ReconnectPolicy::never(), player, seconds)
        })
    };
    let threads: Vec<_> = (0..players).map(start).collect();
    let end = |thread: thread::JoinHandle<Result<PlayerReport, MatchEnd>>| {
        let panic = "a player's thread panicked";
        let played = thread.join().unwrap_or_else(|_| Err(EndReason::ConnectionLost.because(panic)));
        played.unwrap_or_else(|end| PlayerReport { end, ..default() })
    };
    MatchReport { players: threads.into_iter().map(end).collect() }
}

/// Plays a whole match over UDP: a server and scripted players, each in a thread. The server records it into a file, if
/// there is one.
///
/// # Errors
/// Returns one line when a player could not play.
pub fn play_match(
    players: u64,
    seconds: f64,
    conditions: LinkConditions,
    seed: u64,
    server: ServerOptions,
    record: Option<PathBuf>,
) -> Result<MatchReport, String> {
    let host = ServerThread::start_recorded(0, server, record)?;
    let start = |i: u64| {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(i);
        let player = PlayerOptions { player: i + 1, seed, conditions, server, ..default() };
        let address = host.address;
        thread::spawn(move || play(address, player, seconds))
    };
    let threads: Vec<_> = (0..players).map(start).collect();
    let mut report = MatchReport::default();
    for thread in threads {
        report.players.push(thread.join().map_err(|_| "a player's thread panicked".to_owned())??);
    }
    Ok(report)
}
