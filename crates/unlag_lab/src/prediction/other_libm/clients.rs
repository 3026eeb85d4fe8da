//! Process with the clients: connects them over UDP and runs a frame of each per command.

use std::{
    io::{Write, stdin, stdout},
    net::{Ipv4Addr, SocketAddr},
};

use bevy::tasks::{ComputeTaskPool, TaskPoolBuilder};
use clap::Args;
use lightyear::prelude::{Client, Connected, Disconnected};
use serde::{Deserialize, Serialize};
use unlag_examples::{app, connection, reconnect, shot_stats::ShotStats};

use crate::prelude::*;

/// Frame time of the clients.
pub const FRAME: Duration = Duration::from_millis(10);

/// Options of the clients' process.
#[derive(Args, Clone, Debug)]
pub struct ClientArgs {
    /// UDP port of the server on this machine.
    #[arg(long)]
    pub port: u16,
    /// Number of clients.
    #[arg(long)]
    pub clients: u64,
    /// Seed of the links.
    #[arg(long)]
    pub seed: u64,
    /// Link preset of the clients.
    #[arg(long)]
    pub link: String,
    /// Add one unit in the last place to each coordinate of the own pawns in every tick.
    #[arg(long)]
    pub one_ulp: bool,
}

impl ClientArgs {
    /// Returns the command line that these options are read from, without the program.
    pub fn to_command_line(&self) -> Vec<String> {
        let Self { port, clients, seed, link, one_ulp } = self;
        let mut line = vec![
            "libm-clients".to_owned(),
            format!("--port={port}"),
            format!("--clients={clients}"),
            format!("--seed={seed}"),
            format!("--link={link}"),
        ];
        line.extend(one_ulp.then(|| "--one-ulp".to_owned()));
        line
    }
}

/// Ticks and end positions, as bits, of the moves of a pawn.
pub type Moves = Vec<(u32, [u32; 3])>;

/// Counters of all clients.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Shots of all players.
    pub shots: ShotStats,
    /// Corrections of their moves.
    pub corrections: u64,
    /// Changes that the server ordered, such as deaths and respawns.
    pub server_changes: u64,
    /// Results of the maths library, as bits.
    pub maths: Vec<u64>,
}

/// Runs the clients until standard input ends.
///
/// # Errors
/// Returns a message if a client cannot connect, or if standard input or output fails.
pub fn run(args: &ClientArgs) -> Result<(), String> {
    ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let mut clients = (0..args.clients)
        .map(|number| connect(args, server, number))
        .collect::<Result<Vec<App>, String>>()?;
    for line in stdin().lines() {
        let line = line.map_err(|error| format!("cannot read commands: {error}"))?;
        let (command, seed) = line.split_once(' ').unwrap_or((line.as_str(), "0"));
        let seed: u64 = seed.parse().map_err(|error| format!("'{seed}' is not a seed: {error}"))?;
        match command {
            "frame" => {
                clients.iter_mut().for_each(App::update);
                say(&())?;
            }
            "playing" => say(&are_playing(&mut clients, server)?)?,
            "tour" => {
                clear_traces(&mut clients);
                set_scripts(&mut clients, |number| ScriptedPlayer::touring(seed.wrapping_mul(31) + number));
                say(&())?;
            }
            "fight" => {
                set_scripts(&mut clients, |number| ScriptedPlayer::new(seed.wrapping_mul(31) + number));
                say(&())?;
            }
            "cease-fire" => {
                for client in &mut clients {
                    client.world_mut().resource_mut::<ScriptedPlayer>().may_fire = false;
                }
                say(&())?;
            }
            "traces" => say(&own_moves(&mut clients))?,
            "report" => say(&report(&mut clients))?,
            other => return Err(format!("unknown command '{other}'")),
        }
    }
    Ok(())
}

/// Writes a reply as a line of JSON.
fn say(reply: &impl Serialize) -> Result<(), String> {
    let text = serde_json::to_string(reply).map_err(|error| format!("cannot reply: {error}"))?;
    let mut out = stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(|error| format!("cannot reply: {error}"))
}

fn connect(args: &ClientArgs, server: SocketAddr, number: u64) -> Result<App, String> {
    let seed = args.seed.wrapping_mul(1_000_003).wrapping_add(number);
    let mut client = app::scripted_client(seed, ServerOptions { trace: true, ..default() });
    client.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME)).insert_resource(ScriptedPlayer::idle());
    if args.one_ulp {
        client.add_systems(FixedUpdate, add_one_ulp.after(MoveSystems::Step).before(MoveSystems::React));
    }
    // Without loss, so that only a difference in arithmetic can cause a correction.
    let conditions = LinkConditions { loss: 0.0, ..preset(&args.link)?.conditions() };
    let sim = NetSim::new(seed ^ 0x5eed).with(conditions);
    connection::connect(&mut client, server, number + 1, sim)?;
    finish(&mut client);
    Ok(client)
}

/// Makes the next move start one unit in the last place beside the place where this one ended.
fn add_one_ulp(mut own: Query<&mut SoldierState, With<LocalControl>>) {
    for mut state in &mut own {
        let place = &mut state.body.position;
        *place = Vec3::from_array(place.to_array().map(f32::next_up));
    }
}

fn are_playing(clients: &mut [App], server: SocketAddr) -> Result<bool, String> {
    let mut all = true;
    for (number, client) in (1..).zip(clients) {
        let world = client.world_mut();
        let mut ended = world.query_filtered::<(), (With<Client>, With<Disconnected>)>();
        if ended.iter(world).next().is_some() {
            reconnect::reconnect(world, server, number)?;
        }
        let mut connected = world.query_filtered::<(), (With<Client>, With<Connected>)>();
        let mut own = world.query_filtered::<(), (With<LocalControl>, With<SoldierState>)>();
        all &= connected.iter(world).count() == 1 && own.iter(world).count() == 1;
    }
    Ok(all)
}

fn set_scripts(clients: &mut [App], script: impl Fn(u64) -> ScriptedPlayer) {
    for (number, client) in (0..).zip(clients) {
        client.insert_resource(script(number));
    }
}

fn clear_traces(clients: &mut [App]) {
    for client in clients {
        let world = client.world_mut();
        world.query::<&mut MoveTrace>().iter_mut(world).for_each(|mut trace| trace.0.clear());
    }
}

fn own_moves(clients: &mut [App]) -> Vec<(u16, Moves)> {
    let mut all = Vec::new();
    for client in clients {
        let world = client.world_mut();
        let mut own = world.query_filtered::<(&NetId, &MoveTrace), With<LocalControl>>();
        for (id, trace) in own.iter(world) {
            let bits = |(tick, place): &(Tick, Vec3)| (tick.0, place.to_array().map(f32::to_bits));
            all.push((id.0, trace.0.iter().map(bits).collect()));
        }
    }
    all
}

fn report(clients: &mut [App]) -> Report {
    let mut report = Report { maths: maths_results(), ..default() };
    for client in clients {
        let world = client.world_mut();
        let mut shots = world.resource::<ShotStats>().clone();
        shots.close();
        report.shots.merge(&shots);
        for stats in world.query_filtered::<&PredictionStats, With<LocalControl>>().iter(world) {
            report.corrections += stats.corrections;
            report.server_changes += u64::from(stats.server_changes());
        }
    }
    report
}

/// Returns bits of many results of this process's maths library, the same ones in every process.
pub fn maths_results() -> Vec<u64> {
    /// Arguments of each function.
    const ARGUMENTS: u32 = 4_096;
    let functions: [fn(f64) -> f64; 6] =
        [f64::sin, f64::cos, f64::exp, |x| x.atan2(0.7), |x| x.abs().powf(1.3), |x| (x / 4.0).asin()];
    let single: [fn(f32) -> f32; 5] = [f32::sin, f32::cos, f32::exp, |x| x.atan2(0.7), |x| (x / 4.0).asin()];
    let arguments = || (1..=ARGUMENTS).map(|k| f64::from(k) * 0.618_033_988_749_894_9 % 6.0 - 3.0);
    let double = functions.iter().flat_map(|f| arguments().map(move |x| f(x).to_bits()));
    let single = single.iter().flat_map(|f| arguments().map(move |x| u64::from(f(x as f32).to_bits())));
    double.chain(single).collect()
}
