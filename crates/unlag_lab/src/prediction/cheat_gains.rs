//! Gains of players who cheat with time, in metres and hits, against an honest twin with the same seed.

use bevy_unlag::net::GameSpeed;
use unlag_examples::shot_stats::ShotStats;

use crate::{agreement::CONTROL, prelude::*};

/// Steps longer than this are respawns, in metres.
const LONGEST_STEP: f32 = 2.0;
/// Seconds before a player begins to cheat.
const SETTLING: u32 = 5;

/// Pattern by which a player cheats.
#[derive(Clone, Copy, PartialEq)]
enum Pattern {
    Honest,
    /// One second of three without a move; everything else, acknowledgements of snapshots too, is sent.
    Silent,
    /// Two seconds at 1.5 times the speed, two at half of it.
    Alternating,
    /// From 1.00 to 1.15 times the speed in a minute, again and again.
    Ramp,
    /// Twice the speed, on a server that lets it: the control.
    Unwatched,
}

impl Pattern {
    /// Returns the speed of the player's clock in a tenth of a second.
    fn speed(self, tenth: u32) -> f32 {
        match self {
            Self::Honest | Self::Silent => 1.0,
            Self::Alternating => {
                if (tenth / 20).is_multiple_of(2) {
                    1.5
                } else {
                    0.5
                }
            }
            Self::Ramp => 1.0 + 0.15 * (tenth % 600) as f32 / 600.0,
            Self::Unwatched => 2.0,
        }
    }

    fn is_silent(self, tenth: u32) -> bool {
        self == Self::Silent && tenth % 30 < 10
    }
}

/// Whether this client holds back its moves.
#[derive(Resource, Default)]
struct Silence(bool);

fn drop_moves(silence: Res<Silence>, mut pawns: Query<&mut OutgoingMoves>) {
    if silence.0 {
        pawns.iter_mut().for_each(|mut moves| moves.0.clear());
    }
}

/// Distances in metres that pawns have covered on the server, by network id, and their last positions.
#[derive(Resource, Default)]
struct Distances(HashMap<NetId, (f64, Vec3)>);

fn add_distances(pawns: Query<(&NetId, &SoldierState)>, mut distances: ResMut<Distances>) {
    for (id, state) in &pawns {
        let at = state.body.position;
        let (sum, last) = distances.0.entry(*id).or_insert((0.0, at));
        let step = at.distance(*last);
        if step < LONGEST_STEP {
            *sum += f64::from(step);
        }
        *last = at;
    }
}

/// Quantity that a match measures.
#[derive(Clone, Copy, PartialEq)]
enum Gain {
    /// Metres covered. Nobody fires: a death costs the way back, which would be most of the difference.
    Metres,
    /// Hits confirmed.
    Hits,
}

/// Returns how much a player with a pattern gets in so many minutes.
fn play(pattern: Pattern, gain: Gain, minutes: f64, seed: u64) -> Result<f64, String> {
    let options = MatchOptions { players: 3, conditions: CONTROL.conditions(), seed, ..default() };
    let mut game = Match::start(&options)?;
    game.server.init_resource::<Distances>().add_systems(Last, add_distances);
    game.clients[0].init_resource::<Silence>().add_systems(Update, drop_moves);
    if pattern == Pattern::Unwatched {
        game.server.world_mut().resource_mut::<PredictionConfig>().time = TimeDiscrepancyConfig::UNREAL;
    }
    game.set_firing(gain == Gain::Hits);
    game.run(Duration::from_secs(SETTLING.into()));
    let client = game.clients[0].world_mut();
    if !matches!(pattern, Pattern::Honest | Pattern::Silent) {
        client.resource_mut::<PredictionConfig>().steer_clock = false;
        client.insert_resource(ClockSteering::default());
    }
    let (_, id) = own_pawn(&mut game.clients[0])?;
    let before = gained(&game, gain, id);
    for tenth in 0..(minutes * 600.0) as u32 {
        let client = game.clients[0].world_mut();
        client.resource_mut::<GameSpeed>().0 = pattern.speed(tenth);
        client.resource_mut::<Silence>().0 = pattern.is_silent(tenth);
        game.run(Duration::from_millis(100));
    }
    Ok(gained(&game, gain, id) - before)
}

fn gained(game: &Match, gain: Gain, id: NetId) -> f64 {
    match gain {
        Gain::Metres => game.server.world().resource::<Distances>().0.get(&id).map_or(0.0, |(sum, _)| *sum),
        Gain::Hits => game.clients[0].world().resource::<ShotStats>().confirmed as f64,
    }
}

/// Adds what each pattern gains per minute over honest play.
///
/// # Errors
/// Returns a message if a player cannot join.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let minutes = options.extent(1.0, 10.0);
    let patterns = [
        ("", Pattern::Honest),
        ("cheat_gain_silent", Pattern::Silent),
        ("cheat_gain_alternating", Pattern::Alternating),
        ("cheat_gain_ramp", Pattern::Ramp),
        ("control_cheat_gain_unwatched", Pattern::Unwatched),
    ];
    let seeds = [options.seed, options.seed + 1];
    let mut matches = Vec::new();
    for (_, pattern) in patterns {
        for gain in [Gain::Metres, Gain::Hits] {
            matches.extend(seeds.map(|seed| (pattern, gain, seed)));
        }
    }
    let played =
        in_parallel(&matches, |(pattern, gain, seed)| play(*pattern, *gain, minutes, *seed), |_| Ok(()))?;
    let total = minutes * seeds.len() as f64;
    let rates: Vec<f64> = played.chunks(seeds.len()).map(|twins| twins.iter().sum::<f64>() / total).collect();
    let (honest_metres, honest_hits) = (rates[0], rates[1]);
    figures.add("honest_m_per_min", honest_metres)?;
    figures.add("honest_hits_per_min", honest_hits)?;
    for ((name, _), rates) in patterns.iter().zip(rates.chunks(2)).skip(1) {
        let note = |value: f64, unit| format!("{value:.1} {unit} a minute in {total:.0} min");
        figures.add_noted(format!("{name}_m_per_min"), rates[0] - honest_metres, note(rates[0], "m"))?;
        figures.add_noted(format!("{name}_hits_per_min"), rates[1] - honest_hits, note(rates[1], "hits"))?;
    }
    Ok(())
}
