//! Firing over a link that loses, duplicates and reorders packets, with magazines that run empty. Every shot
//! must count once, honest shots must not be refused, and both sides must agree on ammunition.

mod stress;

use stress::{StressInput, duplicate_acks, duplicate_moves, refill, reload};
use unlag_examples::{stepped_match::HARD_LINK, weapon_set::WeaponSet};

use crate::prelude::*;

/// Server's counters by shooter and shot.
#[derive(Resource, Default)]
struct ServerCounts {
    fired: HashMap<(Entity, Tick), u32>,
    judged: HashMap<(Entity, Tick), u32>,
    hurt: HashMap<(Entity, Tick, Entity), u32>,
}

fn count(
    pawns: Query<(Entity, &OutgoingShotMessages)>,
    mut happened: MessageReader<StepEvent<Soldier>>,
    mut damage: MessageReader<Damage>,
    mut counted: ResMut<ServerCounts>,
) {
    for step in happened.read() {
        if let ExtendedEvent::Extension(WeaponEvent::Fired(round)) = &step.event {
            *counted.fired.entry((step.entity, round.shot)).or_default() += 1;
        }
    }
    for (pawn, mailbox) in &pawns {
        for mailed in &mailbox.0 {
            // Projectiles get their verdict when they end.
            if let ShotMessage::Verdict(verdict) = mailed
                && verdict.result != ShotResult::Launched
            {
                *counted.judged.entry((pawn, verdict.shot)).or_default() += 1;
            }
        }
    }
    for hit in damage.read() {
        *counted.hurt.entry((hit.shooter, hit.shot, hit.target)).or_default() += 1;
    }
}

/// Client's counters of its own shots and their verdicts.
#[derive(Resource, Default)]
struct ClientShots {
    shown: HashMap<Tick, u32>,
    last: HashMap<Tick, ShotResult>,
}

fn record_shots(
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut books: ResMut<ClientShots>,
) {
    for shot in fired.read() {
        *books.shown.entry(shot.round.shot).or_default() += 1;
    }
    for verdict in verdicts.read().filter(|verdict| verdict.result != ShotResult::Launched) {
        books.last.insert(verdict.shot, verdict.result);
    }
}

/// Returns the weapons of all pawns, or with `own` of the local pawn only.
fn weapons(app: &mut App, own: bool) -> HashMap<NetId, WeaponState> {
    let world = app.world_mut();
    let mut pawns = world.query::<(&NetId, &SoldierState, Has<LocalControl>)>();
    pawns
        .iter(world)
        .filter(|(.., local)| *local || !own)
        .map(|(id, state, _)| (*id, state.extension))
        .collect()
}

/// Sums over all matches.
#[derive(Default)]
struct Totals {
    shots: u64,
    double_counted: usize,
    refused: u64,
    lost: u64,
    apart: usize,
    given: u64,
}

impl Totals {
    fn play(&mut self, seed: u64, stretch: f64) -> Result<(), String> {
        let server = ServerOptions { weapon_set: WeaponSet::All, ..default() };
        let options = MatchOptions { players: 8, conditions: HARD_LINK, seed, server, ..default() };
        let mut game = Match::start(&options)?;
        game.server
            .init_resource::<ServerCounts>()
            .insert_resource(StressInput::new(seed))
            .add_systems(FixedFirst, (duplicate_moves, refill))
            .add_systems(FixedLast, count);
        for (player, client) in (1..).zip(&mut game.clients) {
            client
                .init_resource::<ClientShots>()
                .insert_resource(StressInput::new(seed.wrapping_mul(31).wrapping_add(player)))
                .add_systems(FixedFirst, duplicate_acks)
                .add_systems(PreUpdate, reload)
                .add_systems(Last, record_shots);
        }
        game.set_firing(true);
        game.run(Duration::from_secs_f64(stretch));
        game.set_firing(false);
        for app in game.apps_mut() {
            app.world_mut().resource_mut::<StressInput>().on = false;
        }
        // All triggers are released; a script that keeps switching weapons would never come to rest.
        game.run(Duration::from_secs(1));
        for client in &mut game.clients {
            client.insert_resource(ScriptedPlayer::idle());
        }
        // A rocket flies for six seconds.
        game.run(Duration::from_secs(9));
        let servers = weapons(&mut game.server, false);
        let world = game.server.world();
        let ServerCounts { fired, judged, hurt } = world.resource::<ServerCounts>();
        let counts = fired.values().chain(judged.values()).chain(hurt.values());
        self.double_counted += counts.filter(|count| **count > 1).count();
        self.given += world.resource::<StressInput>().given;
        for client in &mut game.clients {
            let books = client.world().resource::<ClientShots>();
            self.shots += books.shown.len() as u64;
            self.double_counted += books.shown.values().filter(|count| **count > 1).count();
            for shot in books.shown.keys() {
                match books.last.get(shot) {
                    None | Some(ShotResult::Refused(ShotRefusal::MissingMove)) => self.lost += 1,
                    Some(ShotResult::Refused(_)) => self.refused += 1,
                    Some(_) => {}
                }
            }
            let own = weapons(client, true);
            let differs = |known: &WeaponState, own: &WeaponState| {
                (known.slots, known.slot, known.shots) != (own.slots, own.slot, own.shots)
            };
            let apart = |(id, weapons): &(&NetId, &WeaponState)| {
                servers.get(*id).is_none_or(|known| differs(known, weapons))
            };
            self.apart += own.iter().filter(apart).count();
        }
        Ok(())
    }
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let (wanted, stretch) = options.extent((1_000, 30.0), (100_000, 300.0));
    let mut sums = Totals::default();
    let mut seed = options.seed;
    while sums.shots < wanted {
        sums.play(seed, stretch)?;
        seed += 1;
        if sums.shots == 0 {
            return Err("no shot was fired".to_owned());
        }
    }
    let Totals { shots, double_counted, refused, lost, apart, given } = sums;
    let per_10_000 = |count: u64| count as f64 * 1e4 / shots as f64;
    figures.add_noted("double_counted", double_counted as f64, format!("{shots} shots"))?;
    figures.add("honest_refused_per_1e4", per_10_000(refused))?;
    figures.add("verdicts_lost_per_1e4", per_10_000(lost))?;
    figures.add_noted("ammo_differs", apart as f64, format!("{given} refills"))
}
