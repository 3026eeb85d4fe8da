//! Interest: pawns that should be drawn and are not, what a modified client knows of pawns that its player cannot see,
//! and the cost.

mod cost;
mod level;
mod tally;
mod wanderer;
mod witness;

use bevy_unlag::net::{HiddenPawns, InterestConfig, InterestPlugin, InterestSystems, NetSystems};
pub use cost::Costs;
pub use level::Level;
use tally::Tally;
use wanderer::Wanderer;
use witness::Sightings;

use crate::{
    agreement::{self, CONTROL},
    prelude::*,
};

/// Round trips in milliseconds.
const ROUND_TRIPS: [u64; 5] = [0, 50, 100, 150, 200];
/// Number of seeded levels, beside the arena.
const LEVELS: u64 = 10;
/// Players of a match.
const PLAYERS: u64 = 10;
/// Seconds of a match before the measurement.
const SETTLING: f64 = 2.0;
/// Fastest speed of the players in metres per second: they walk, at 6 m/s, and do not sprint.
const SPEED: f32 = 6.1;
/// Percentage of tests without an answer beyond which the figures are void: what is not tested is shown.
const MAX_UNANSWERED: f64 = 1.0;

/// Pawns that a server conceals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// Pawns out of sight.
    OutOfSight,
    /// The control: the same, but pawns are shown late, by a round trip and 200 ms.
    Late,
    /// The control: nothing.
    Nothing,
}

/// A match that is measured.
#[derive(Clone, Copy, Debug)]
struct Case {
    level: Level,
    round_trip: u64,
    mode: Mode,
    seconds: f64,
}

pub fn measure(options: &Options) -> Result<Figures, String> {
    let seed = options.seed;
    let mut cases = Vec::new();
    for number in 0..=LEVELS {
        let level = Level { number, seed };
        let own = [ROUND_TRIPS[number as usize % ROUND_TRIPS.len()]];
        let (trips, seconds) = options.extent((&own[..], 8.0), (&ROUND_TRIPS[..], 66.0));
        cases.extend(trips.iter().map(|round_trip| Case {
            level,
            round_trip: *round_trip,
            mode: Mode::OutOfSight,
            seconds,
        }));
    }
    let seconds = options.extent(8.0, 66.0);
    for (number, mode, round_trip) in [(1, Mode::Late, 200), (2, Mode::Late, 200), (1, Mode::Nothing, 100)] {
        cases.push(Case { level: Level { number, seed }, round_trip, mode, seconds });
    }
    let played = in_parallel(&cases, |case| play(case, seed), |_| Ok(()))?;
    let sum = |with: &dyn Fn(&Case) -> bool| {
        let mut all = Sightings::default();
        cases.iter().zip(&played).filter(|(case, _)| with(case)).for_each(|(_, one)| all += one.0);
        all
    };

    let mut figures = Figures::default();
    let all = sum(&|case: &Case| case.mode == Mode::OutOfSight);
    let note = format!("of {} visible pawns in frames", all.visible_frames);
    figures.add_noted("missing_frames", all.missing_frames as f64, note)?;
    let late = sum(&|case: &Case| case.mode == Mode::Late);
    let note = format!("of {} visible pawns in frames", late.visible_frames);
    figures.add_noted("control_missing_frames_late", late.missing_frames as f64, note)?;
    let (unseen, ahead) = (all.unseen_seconds, all.mean_delay_ms());
    let note = format!("{unseen:.0} pawn-seconds out of sight, pawns drawn {ahead:.0} ms behind the player");
    figures.add_noted("known_while_hidden_percent", known_percent(&all), note)?;
    for (key, is_arena) in [("arena", true), ("levels", false)] {
        let some = sum(&|case: &Case| case.mode == Mode::OutOfSight && (case.level.number == 0) == is_arena);
        let note = format!("{:.0} pawn-seconds out of sight", some.unseen_seconds);
        figures.add_noted(format!("known_while_hidden_percent_{key}"), known_percent(&some), note)?;
    }
    let full = sum(&|case: &Case| case.mode == Mode::Nothing);
    figures.add("control_known_while_hidden_percent", known_percent(&full))?;
    let mut matches = Tally::default();
    played.iter().for_each(|one| matches += one.1);

    let crowd = cost::measure(options, &mut figures)?;
    let fight = fight(options, &mut figures)?;
    for (tally, place) in [(matches, "the matches"), (crowd, "the match of 64 players"), (fight, "the fight")]
    {
        let share = tally.unanswered_percent();
        if share > MAX_UNANSWERED {
            let table = figures.output(false)?;
            return Err(format!(
                "{table}in {place} {share:.1} % of the tests had no answer; raise rays_per_tick"
            ));
        }
    }
    Ok(figures)
}

/// Measures the agreement of hits in an arena whose walls hide most players from each other, with the plugin and, as
/// the control, without it.
fn fight(options: &Options, figures: &mut Figures) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for (key, hides) in [("agreement_with_interest", true), ("control_agreement_without_interest", false)] {
        let (players, seconds) = options.extent((6, 24.0), (8, 240.0));
        let fight =
            MatchOptions { players, conditions: CONTROL.conditions(), seed: options.seed, ..default() };
        let mut fight = Match::start_with(&fight, |server| {
            if hides {
                server.add_plugins(InterestPlugin::default());
            }
        })?;
        let level = Level { number: level::DIVIDED_ARENA, seed: options.seed };
        fight.apps_mut().for_each(|app| level.set_up(app));
        fight.run(Duration::from_millis(500));
        Tally::begin(&mut fight.server);
        fight.fight(seconds);
        agreement::add_agreement(figures, key, &fight.report().total())?;
        if hides {
            tally = *fight.server.world().resource::<Tally>();
            figures.add("hidden_percent_in_agreement", tally.hidden_percent())?;
        }
    }
    Ok(tally)
}

/// Returns the plugin for players that do not sprint.
fn interest_plugin() -> InterestPlugin {
    InterestPlugin { config: InterestConfig { max_speed: SPEED, ..default() } }
}

fn known_percent(sightings: &Sightings) -> f64 {
    sightings.known_seconds * 100.0 / sightings.unseen_seconds
}

/// Returns a link with a round trip in milliseconds.
fn link(round_trip: u64) -> LinkConditions {
    LinkConditions { latency: Duration::from_micros(round_trip * 500), ..LinkConditions::PERFECT }
}

/// Starts a match of wandering players in a level that the server knows.
fn start(case: &Case, seed: u64) -> Result<Match, String> {
    let seed = seed.wrapping_mul(31).wrapping_add(case.level.number * 7 + case.round_trip);
    let conditions = link(case.round_trip);
    let options = MatchOptions { players: PLAYERS, conditions, seed, fps: 60.0, ..default() };
    let mode = case.mode;
    let late = Duration::from_millis(case.round_trip + 200);
    let mut game = Match::start_with(&options, |server| {
        if mode != Mode::Nothing {
            server.add_plugins(interest_plugin());
        }
        if mode == Mode::Late {
            server.insert_resource(Lateness(late)).add_systems(
                PostUpdate,
                show_late.after(InterestSystems::Decide).before(NetSystems::AnnounceHidden),
            );
        }
    })?;
    game.apps_mut().for_each(|app| case.level.set_up(app));
    case.level.scatter_pawns(&mut game.server)?;
    for (player, client) in (0..).zip(&mut game.clients) {
        Wanderer::take_over(seed.wrapping_mul(1_009).wrapping_add(player), client);
    }
    // Physics takes the level in.
    game.run(Duration::from_millis(500));
    Ok(game)
}

/// Plays a match and returns what all clients saw, and what the server asked.
fn play(case: &Case, seed: u64) -> Result<(Sightings, Tally), String> {
    let mut game = start(case, seed)?;
    witness::watch(&mut game);
    game.run(Duration::from_secs_f64(SETTLING));
    for client in &mut game.clients {
        client.insert_resource(Sightings::default());
    }
    Tally::begin(&mut game.server);
    game.run(Duration::from_secs_f64(case.seconds));
    let mut all = Sightings::default();
    for client in &game.clients {
        all += *client.world().resource::<Sightings>();
    }
    Ok((all, *game.server.world().resource::<Tally>()))
}

/// Time by which the control shows pawns late.
#[derive(Resource, Clone, Copy)]
struct Lateness(Duration);

/// Keeps pawns concealed for some time after they would be shown.
fn show_late(
    (time, late): (Res<Time<Real>>, Res<Lateness>),
    mut links: Query<(Entity, &mut HiddenPawns)>,
    mut concealed: Local<HashMap<(Entity, Entity), Option<Duration>>>,
) {
    let now = time.elapsed();
    for (link, mut pawns) in &mut links {
        for pawn in pawns.iter() {
            concealed.entry((link, pawn)).or_insert(None);
        }
        concealed.retain(|(owner, pawn), until| {
            if *owner != link {
                return true;
            }
            if until.is_none() && pawns.contains(*pawn) {
                return true;
            }
            let until = *until.get_or_insert(now + late.0);
            if now < until {
                pawns.hide(*pawn);
            } else {
                pawns.show(*pawn);
            }
            now < until
        });
    }
}
