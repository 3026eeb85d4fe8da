//! Client and server whose arithmetic rounds differently: clients in a process in which the C library's variants with
//! fused multiply-add (FMA) are masked, as on a processor without them, or with the maths functions of another library.

mod clients;
mod process;

use std::path::Path;

use bevy::tasks::{ComputeTaskPool, TaskPoolBuilder};
use bevy_unlag_testkit::traces;
use unlag_examples::{app, connection};

use crate::prelude::*;
use clients::Report;
pub use clients::{ClientArgs, run};
use process::ClientProcess;

/// Link of the clients, which use it without its loss.
const LINK: &str = "Good broadband";
/// Number of clients, all in one process.
const CLIENTS: u64 = 3;
/// Simulated seconds within which all clients must join.
const JOINING: u32 = 20;

/// Difference between the arithmetic of the clients and that of the server.
#[derive(Clone, Copy, PartialEq)]
enum Difference<'a> {
    /// The C library's FMA variants are masked.
    MaskedFma,
    /// The maths functions are those of this shared library.
    Library(&'a Path),
    /// Each tick adds one unit in the last place to each coordinate of the own pawn.
    OneUlp,
}

/// A server in this process and clients in another one, all on stepped time.
struct Session {
    server: App,
    clients: ClientProcess,
    /// Frames of the clients so far, and ticks of the server.
    frames: u64,
    ticks: u64,
}

/// Results of a match.
struct Played {
    /// Largest distance in metres between client and server after the same move, on a tour without combat.
    error: f64,
    /// Moves whose ends were compared.
    compared: u64,
    /// Moves that the server ran, in the tour and the fight.
    moves: u64,
    report: Report,
}

impl Session {
    fn start(difference: Difference, seed: u64) -> Result<Self, String> {
        ComputeTaskPool::get_or_init(|| TaskPoolBuilder::new().num_threads(1).build());
        let mut server = app::server(ServerOptions { trace: true, ..default() });
        server.insert_resource(TimeUpdateStrategy::ManualDuration(TICK)).insert_resource(SpreadSecret(seed));
        connection::listen_udp(&mut server, 0);
        finish(&mut server);
        server.update();
        let port =
            connection::bound_port(server.world_mut()).ok_or("the server could not bind a UDP port")?;
        let args = ClientArgs {
            port,
            clients: CLIENTS,
            seed,
            link: LINK.to_owned(),
            one_ulp: difference == Difference::OneUlp,
        };
        let clients = ClientProcess::start(&args, difference)?;
        let mut this = Self { server, clients, frames: 0, ticks: 0 };
        for _ in 0..JOINING * 10 {
            // No faster than the wall clock: netcode's timeout is in simulated time, the socket is not.
            let began = Instant::now();
            this.run(0.1)?;
            std::thread::sleep(Duration::from_millis(100).saturating_sub(began.elapsed()));
            if this.clients.are_playing()? {
                return Ok(this);
            }
        }
        Err(format!("not every client of the other process joined within {JOINING} s"))
    }

    /// Runs a number of simulated seconds: frames of the clients every 10 ms, ticks of the server every 1/64 s.
    fn run(&mut self, seconds: f64) -> Result<(), String> {
        for _ in 0..(seconds / clients::FRAME.as_secs_f64()).round() as u64 {
            self.frames += 1;
            let now = self.frames as f64 * clients::FRAME.as_secs_f64();
            while (self.ticks as f64) * TICK.as_secs_f64() <= now {
                self.ticks += 1;
                self.server.update();
            }
            self.clients.frame()?;
        }
        Ok(())
    }

    /// Compares the results of all moves so far. Returns the largest distance in metres, and the number of moves.
    fn owner_error(&mut self) -> Result<(f64, u64), String> {
        let server = traces(&mut self.server);
        let (mut largest, mut compared) = (0.0_f64, 0);
        for (id, moves) in self.clients.traces()? {
            let results = server.get(&NetId(id)).ok_or("the server has no pawn of a client")?;
            let results: HashMap<Tick, Vec3> = results.iter().copied().collect();
            for (tick, place) in moves {
                if let Some(result) = results.get(&Tick(tick)) {
                    let distance = result.distance(Vec3::from_array(place.map(f32::from_bits)));
                    largest = largest.max(f64::from(distance));
                    compared += 1;
                }
            }
        }
        if compared == 0 { Err("no move was compared".to_owned()) } else { Ok((largest, compared)) }
    }
}

/// Plays a tour without combat, and then a fight.
fn play(difference: Difference, (tour, fight): (f64, f64), seed: u64) -> Result<Played, String> {
    let mut session = Session::start(difference, seed)?;
    session.clients.tour(seed)?;
    session.run(tour)?;
    let (error, compared) = session.owner_error()?;
    session.clients.fight(seed)?;
    session.run(fight)?;
    session.clients.cease_fire()?;
    session.run(8.0)?;
    let report = session.clients.report()?;
    let server = session.server.world_mut();
    let moves = server.query::<&PredictionStats>().iter(server).map(|stats| stats.moves).sum();
    Ok(Played { error, compared, moves, report })
}

/// Adds what a client sees whose maths library rounds differently from the server's, and the control in which each tick
/// adds one unit in the last place. `library` is a further maths library.
///
/// # Errors
/// Returns a message if the other process cannot be started or cannot join.
pub fn measure(options: &Options, library: Option<&Path>, figures: &mut Figures) -> Result<(), String> {
    let seconds = options.extent((20.0, 40.0), (600.0, 600.0));
    let mut matches = vec![
        (Difference::MaskedFma, seconds),
        (Difference::OneUlp, options.extent((120.0, 0.0), (600.0, 0.0))),
    ];
    matches.extend(library.map(|file| (Difference::Library(file), seconds)));
    let play_one =
        |(difference, seconds): &(Difference, (f64, f64))| play(*difference, *seconds, options.seed);
    let played = in_parallel(&matches, play_one, |_| Ok(()))?;
    let [masked, perturbed, further @ ..] = &played[..] else { return Err("a match is missing".to_owned()) };
    add(figures, "other_libm", masked)?;
    for played in further {
        add(figures, "given_libm", played)?;
    }
    let (error, note) = (perturbed.error * 100.0, "moves compared");
    figures.add_counted("control_owner_error_max_cm_one_ulp", error, perturbed.compared, note)?;
    let (corrections, note) = (perturbed.report.corrections, format!("moves of {CLIENTS} players"));
    figures.add_counted("control_corrections_one_ulp", corrections as f64, perturbed.moves, note)
}

/// Adds the figures of clients with another maths library.
fn add(figures: &mut Figures, name: &str, played: &Played) -> Result<(), String> {
    let own = clients::maths_results();
    let differing = own.iter().zip(&played.report.maths).filter(|(own, other)| own != other).count();
    let (results, note) = (own.len() as u64, "results of libm functions");
    figures.add_counted(format!("control_{name}_differing_results"), differing as f64, results, note)?;

    let note = "moves compared";
    let key = format!("owner_error_max_cm_{name}");
    figures.add_counted(key, played.error * 100.0, played.compared, note)?;
    let Report { corrections, server_changes, shots, .. } = &played.report;
    let note = format!("moves of {CLIENTS} players, {server_changes} changes by the server");
    figures.add_counted(format!("corrections_{name}"), *corrections as f64, played.moves, note)?;
    let agreement = shots.tally().agreement().unwrap_or(f64::NAN);
    let note = format!("drawn hits, {} confirmed, {} rounds", shots.confirmed, shots.shots);
    figures.add_counted(format!("agreement_{name}"), agreement, shots.drawn, note)
}
