//! Gains of players who cheat with time, in metres and hits, against an honest twin with the same seed.

use bevy_unlag::net::GameSpeed;
use unlag_examples::shot_stats::ShotStats;

use crate::{agreement::CONTROL, prelude::*};

/// Steps longer than this are respawns, in metres.
const LONGEST_STEP: f32 = 2.0;
/// Seconds before a player begins to cheat.
const SETTLING: u32 = 5;
/// Length of a silence, and time from the beginning of one to the next, in tenths of a second.
const SILENCE: u32 = 10;
const CYCLE: u32 = 30;

/// Pattern by which a player cheats.
#[derive(Clone, Copy, PartialEq)]
enum Pattern {
    Honest,
    /// One second of three without a new move. The last packet of moves is sent again instead, with the
    /// acknowledgements of the snapshots that have arrived since.
    SilentWithAcks,
    /// One second of three without any packet of moves, and so without acknowledgements of snapshots.
    SilentWithoutAcks,
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
            Self::Honest | Self::SilentWithAcks | Self::SilentWithoutAcks => 1.0,
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

    fn has_silences(self) -> bool {
        matches!(self, Self::SilentWithAcks | Self::SilentWithoutAcks)
    }

    /// Returns whether the player withholds its new moves in a tenth of a second.
    fn is_silent(self, tenth: u32) -> bool {
        self.has_silences() && tenth % CYCLE < SILENCE
    }
}

/// Moves that this client withholds.
#[derive(Resource, Default)]
struct Silence {
    active: bool,
    /// Whether the last packet is sent again, with new acknowledgements, for each one withheld.
    acknowledges: bool,
    /// Last packet that was sent before the silence.
    last_packet: Option<Vec<u8>>,
}

fn withhold_moves(
    tick: Res<CurrentTick>,
    received: Res<LastReceivedSnapshot>,
    mut silence: ResMut<Silence>,
    mut pawns: Query<&mut OutgoingMoves>,
) {
    for mut moves in &mut pawns {
        if !silence.active {
            if let Some(packet) = moves.0.last() {
                silence.last_packet = Some(packet.clone());
            }
            continue;
        }
        let again = silence.last_packet.as_deref().filter(|_| silence.acknowledges);
        let again = again.and_then(|packet| acknowledging(packet, *received, tick.0));
        match again {
            Some(packet) => moves.0.iter_mut().for_each(|withheld| withheld.clone_from(&packet)),
            None => moves.0.clear(),
        }
    }
}

/// Returns an encoded packet of moves with the acknowledgement of the newest snapshot received by now.
fn acknowledging(packet: &[u8], received: LastReceivedSnapshot, now: Tick) -> Option<Vec<u8>> {
    let mut packet = MovePacket::<<Soldier as MoveModel>::Input>::from_bytes(packet).ok()?;
    packet.ack_bits = received.to_ack_bits(packet.newest_tick(now));
    Some(packet.to_bytes())
}

/// Returns the age in milliseconds of the newest snapshot that a pawn's owner has acknowledged.
fn ack_age(server: &App, pawn: Entity) -> Option<f64> {
    let newest = server.world().get::<SnapshotAcks>(pawn)?.tick?;
    let now = server.world().resource::<CurrentTick>().0;
    Some(f64::from(now.since(newest)) * TICK.as_secs_f64() * 1_000.0)
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

/// Kind of a match.
#[derive(Clone, Copy, PartialEq)]
enum Combat {
    /// For metres: a death costs the way back, which would be most of the difference.
    NobodyFires,
    /// For hits.
    EverybodyFires,
}

/// Metres and rounds of a player.
#[derive(Clone, Copy)]
struct Score {
    metres: f64,
    /// Moves that the server ran or extrapolated.
    moves: u64,
    /// Rounds fired by the client.
    rounds: u64,
    /// Rounds that the server refused or never answered.
    rejected: u64,
    /// Hits that the server confirmed.
    hits: u64,
}

impl Score {
    fn read(game: &Match, id: NetId, pawn: Entity) -> Self {
        let shots = game.clients[0].world().resource::<ShotStats>();
        let server = game.server.world();
        let metres = server.resource::<Distances>().0.get(&id).map_or(0.0, |(sum, _)| *sum);
        let moves =
            server.get::<PredictionStats>(pawn).map_or(0, |stats| stats.moves + stats.extrapolated_moves);
        let rejected = shots.refused + shots.lost;
        Self { metres, moves, rounds: shots.shots, rejected, hits: shots.confirmed }
    }
}

/// Result of a match.
struct Played {
    score: Score,
    /// Age of the newest acknowledged snapshot at the end of each silence, in milliseconds.
    ack_ages: Vec<f64>,
}

/// Plays a match in which the first player follows a pattern for so many minutes.
fn play(pattern: Pattern, combat: Combat, minutes: f64, seed: u64) -> Result<Played, String> {
    let options = MatchOptions { players: 3, conditions: CONTROL.conditions(), seed, ..default() };
    let mut game = Match::start(&options)?;
    game.server.init_resource::<Distances>().add_systems(Last, add_distances);
    let acknowledges = pattern == Pattern::SilentWithAcks;
    game.clients[0]
        .insert_resource(Silence { acknowledges, ..default() })
        .add_systems(Update, withhold_moves);
    if pattern == Pattern::Unwatched {
        game.server.world_mut().resource_mut::<PredictionConfig>().time = TimeDiscrepancyConfig::UNREAL;
    }
    game.set_firing(combat == Combat::EverybodyFires);
    game.run(Duration::from_secs(SETTLING.into()));
    let client = game.clients[0].world_mut();
    if pattern != Pattern::Honest && !pattern.has_silences() {
        client.resource_mut::<PredictionConfig>().steer_clock = false;
        client.insert_resource(ClockSteering::default());
    }
    let (_, id) = own_pawn(&mut game.clients[0])?;
    let pawn = named_pawn(&mut game.server, id)?;
    let before = Score::read(&game, id, pawn);
    let mut ack_ages = Vec::new();
    for tenth in 0..(minutes * 600.0) as u32 {
        let client = game.clients[0].world_mut();
        client.resource_mut::<GameSpeed>().0 = pattern.speed(tenth);
        client.resource_mut::<Silence>().active = pattern.is_silent(tenth);
        game.run(Duration::from_millis(100));
        if pattern.is_silent(tenth) && !pattern.is_silent(tenth + 1) {
            ack_ages.extend(ack_age(&game.server, pawn));
        }
    }
    let after = Score::read(&game, id, pawn);
    let score = Score {
        metres: after.metres - before.metres,
        moves: after.moves - before.moves,
        rounds: after.rounds - before.rounds,
        rejected: after.rejected - before.rejected,
        hits: after.hits - before.hits,
    };
    Ok(Played { score, ack_ages })
}

/// Adds what each pattern gains per minute over honest play.
///
/// # Errors
/// Returns a message if a player cannot join.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let minutes = options.extent(1.0, 10.0);
    let patterns = [
        ("", Pattern::Honest),
        ("cheat_gain_silent_with_acks", Pattern::SilentWithAcks),
        ("cheat_gain_silent_without_acks", Pattern::SilentWithoutAcks),
        ("cheat_gain_alternating", Pattern::Alternating),
        ("cheat_gain_ramp", Pattern::Ramp),
        ("control_cheat_gain_unwatched", Pattern::Unwatched),
    ];
    let seeds = [options.seed, options.seed + 1];
    let mut matches = Vec::new();
    for (_, pattern) in patterns {
        for combat in [Combat::NobodyFires, Combat::EverybodyFires] {
            matches.extend(seeds.map(|seed| (pattern, combat, seed)));
        }
    }
    let play_one = |(pattern, combat, seed): &(Pattern, Combat, u64)| play(*pattern, *combat, minutes, *seed);
    let played = in_parallel(&matches, play_one, |_| Ok(()))?;
    let total = minutes * seeds.len() as f64;
    let mut honest = (0.0, 0.0);
    for ((name, pattern), played) in patterns.iter().zip(played.chunks(2 * seeds.len())) {
        let (walks, fights) = played.split_at(seeds.len());
        let metres = walks.iter().map(|one| one.score.metres).sum::<f64>();
        let moves = walks.iter().map(|one| one.score.moves).sum::<u64>();
        let count = |of: fn(&Score) -> u64| fights.iter().map(|one| of(&one.score)).sum::<u64>();
        let (rounds, rejected, hits) =
            (count(|score| score.rounds), count(|score| score.rejected), count(|score| score.hits));
        let (metres_per_min, hits_per_min) = (metres / total, hits as f64 / total);
        let metres_note = format!("moves, {metres_per_min:.1} m a minute, {metres:.0} m in {total:.0} min");
        let hits_note = format!(
            "rounds, {hits_per_min:.1} hits a minute, {hits} hits in {total:.0} min, {rejected} rounds refused or \
             unanswered"
        );
        if *pattern == Pattern::Honest {
            honest = (metres_per_min, hits_per_min);
            figures.add_counted("honest_m_per_min", metres_per_min, moves, metres_note)?;
            figures.add_counted("honest_hits_per_min", hits_per_min, rounds, hits_note)?;
            continue;
        }
        figures.add_counted(format!("{name}_m_per_min"), metres_per_min - honest.0, moves, metres_note)?;
        figures.add_counted(format!("{name}_hits_per_min"), hits_per_min - honest.1, rounds, hits_note)?;
        let ages: Vec<f64> = played.iter().flat_map(|one| one.ack_ages.iter().copied()).collect();
        let key = match pattern {
            Pattern::SilentWithAcks => "silence_ack_age_ms",
            Pattern::SilentWithoutAcks => "control_silence_ack_age_ms_without_acks",
            _ => continue,
        };
        let silences = ages.len() as u64;
        figures.add_counted(key, mean(ages), silences, "silences")?;
    }
    Ok(())
}
