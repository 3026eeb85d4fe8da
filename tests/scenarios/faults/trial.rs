//! Invariants of every row of the fault matrix, and the convergence time of owners.

use std::collections::HashMap;

use bevy::{ecs::resource::IsResource, math::Vec3Swizzles, prelude::*};
use bevy_unlag::{
    core::Tick,
    guard::{IngressRefusal, IngressStats, LinkTraffic},
    link_conditioner::{LinkConditions, LinkCounters},
    prediction::{MoveTrace, SavedMoves},
    prelude::*,
    weapons::{ShotRefusal, ShotResult},
};
use lightyear::prelude::{Client, Connected, server::ClientOf};
use unlag_examples::{
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
};

use crate::{
    fire::{ClientShotLog, ServerShotLog, record_shots},
    hold_still, own_id, seconds, start, state, stats,
};

/// A match that is observed from its start.
pub struct Trial {
    pub game: Match,
    what: String,
    seed: u64,
    /// Entity counts of the server and of every client at the start.
    entities: Vec<usize>,
    /// The reason of server refusals that the players did not cause.
    pub expected_refusal: Option<IngressRefusal>,
}

/// The first invalid value on an app.
#[derive(Resource, Default)]
struct InvalidValue(Option<String>);

/// Moves as this client first simulated them: the time on its own clock, the tick and the resulting position.
#[derive(Resource, Default)]
struct OwnerMoves(Vec<(f64, Tick, Vec3)>);

/// Resulting positions of the moves that the server ran.
#[derive(Resource, Default)]
struct ServerMoves(HashMap<(NetId, Tick), Vec3>);

/// A mismatch between an owner and the server, in seconds on the owner's clock.
#[derive(Clone, Copy, Debug)]
pub struct OwnerMismatch {
    pub from: f64,
    pub to: f64,
}

/// Starting points of tours, each at a stop of the tour: a pawn may get stuck on the straight path from
/// elsewhere.
const TOUR_STARTS: [(u64, f32, f32); 3] = [(0, 9.0, -13.0), (6, 12.0, -8.0), (7, 13.0, -13.0)];
/// The smallest position error of an owner that counts as a mismatch, in metres.
const MISMATCH_DISTANCE: f32 = 0.01;
/// Mismatched moves less than this many seconds apart belong to one mismatch.
const MISMATCH_GAP: f64 = 0.1;

impl Drop for Trial {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed trial: {}, seed {}", self.what, self.seed);
        }
    }
}

fn watch(
    time: Res<Time<Real>>,
    pawns: Query<(&NetId, &SoldierState)>,
    drawn: Query<(&NetId, &DrawnPose, Option<&VisualOffset>)>,
    mut odd: ResMut<InvalidValue>,
) {
    if odd.0.is_some() {
        return;
    }
    let mut says = |id: &NetId, what: &str| odd.0 = Some(format!("{what} of {id:?} at {:?}", time.elapsed()));
    for (id, state) in &pawns {
        let body = &state.body;
        if !body.position.is_finite() || !body.velocity.is_finite() {
            says(id, "non-finite state");
        }
    }
    for (id, drawn, offset) in &drawn {
        let pose = &drawn.pose;
        let offset = offset.is_none_or(|o| o.offset.is_finite());
        if !(pose.position.is_finite() && pose.rotation.is_finite() && pose.velocity.is_finite() && offset) {
            says(id, "non-finite drawn pose");
        }
    }
}

fn record_owner_moves(
    time: Res<Time<Real>>,
    mut own: Query<&mut MoveTrace, With<LocalControl>>,
    mut made: ResMut<OwnerMoves>,
) {
    for mut trace in &mut own {
        made.0.extend(trace.0.drain(..).map(|(tick, place)| (time.elapsed_secs_f64(), tick, place)));
    }
}

fn record_server_moves(mut pawns: Query<(&NetId, &mut MoveTrace)>, mut ran: ResMut<ServerMoves>) {
    for (id, mut trace) in &mut pawns {
        ran.0.extend(trace.0.drain(..).map(|(tick, place)| ((*id, tick), place)));
    }
}

impl Trial {
    /// Starts a match and observes it. Players fire only after [`Match::set_firing`].
    pub fn new(what: &str, options: MatchOptions) -> Self {
        let server = unlag_examples::app::ServerOptions { trace: true, ..options.server };
        Self::watch(what, options.seed, start(MatchOptions { server, ..options }))
    }

    /// Observes a match that was started with `trace` set.
    pub fn watch(what: &str, seed: u64, game: Match) -> Self {
        let (what, expected_refusal) = (what.to_owned(), None);
        let mut this = Self { game, what, seed, entities: Vec::new(), expected_refusal };
        record_shots(&mut this.game);
        this.game.server.init_resource::<ServerMoves>().add_systems(Last, record_server_moves);
        for client in &mut this.game.clients {
            client.init_resource::<OwnerMoves>().add_systems(Last, record_owner_moves);
        }
        for app in this.apps() {
            app.init_resource::<InvalidValue>().add_systems(Last, watch);
        }
        this.game.run(seconds(3.0));
        this.entities = this.apps().map(entity_count).collect();
        this
    }

    /// Starts a match of players who tour the level without firing.
    pub fn tour(what: &str, players: u64, conditions: LinkConditions, seed: u64) -> Self {
        let options = MatchOptions { players, conditions, seed, ..MatchOptions::default() };
        let mut trial = Self::new(what, options);
        for (client, (stop, x, z)) in TOUR_STARTS.into_iter().enumerate().take(trial.game.clients.len()) {
            let id = own_id(&mut trial.game.clients[client]);
            let world = trial.game.server.world_mut();
            let mut pawns = world.query::<(&NetId, &mut SoldierState)>();
            for (_, mut state) in pawns.iter_mut(world).filter(|(other, _)| **other == id) {
                state.body.teleport_to(Vec3::new(x, 0.1, z));
            }
            trial.game.clients[client].world_mut().insert_resource(ScriptedPlayer::touring(seed * 8 + stop));
        }
        trial.game.run(seconds(2.0));
        trial
    }

    pub fn run(&mut self, time: f64) {
        self.game.run(seconds(time));
    }

    fn apps(&mut self) -> impl Iterator<Item = &mut App> {
        self.game.apps_mut()
    }

    /// The time on a client's clock, in seconds.
    pub fn now(&self, client: usize) -> f64 {
        self.game.clients[client].world().resource::<Time<Real>>().elapsed_secs_f64()
    }

    /// The prediction statistics of each client.
    pub fn stats(&mut self) -> Vec<PredictionStats> {
        self.game.clients.iter_mut().map(stats).collect()
    }

    /// The number of corrections of each client.
    pub fn corrections(&mut self) -> Vec<u64> {
        self.stats().iter().map(|stats| stats.corrections).collect()
    }

    /// The highest number of corrections of one client since `before`.
    pub fn max_corrections_since(&mut self, before: &[u64]) -> u64 {
        self.corrections().iter().zip(before).map(|(now, before)| now - before).max().unwrap_or(0)
    }

    /// The uplink and downlink packet counters of each client.
    pub fn packets(&mut self) -> Vec<(LinkCounters, LinkCounters)> {
        let clients = self.game.clients.iter_mut().flat_map(|client| {
            let world = client.world_mut();
            let mut sims = world.query::<&NetSim>();
            sims.iter(world).map(|sim| (sim.up_counters(), sim.down_counters())).collect::<Vec<_>>()
        });
        clients.collect()
    }

    /// The share of moves that the server extrapolated, over all pawns.
    pub fn extrapolated_share(&mut self) -> f64 {
        let world = self.game.server.world_mut();
        let mut counts = world.query_filtered::<&PredictionStats, With<NetId>>();
        let (run, carried) =
            counts.iter(world).fold((0, 0), |sum, s| (sum.0 + s.moves, sum.1 + s.extrapolated_moves));
        carried as f64 / (run + carried).max(1) as f64
    }

    /// Mismatches since the time `from` on the client's clock: its position differed by [`MISMATCH_DISTANCE`]
    /// or more from the server's after the same move, or it made moves that the server never ran.
    pub fn mismatches(&mut self, client: usize, from: f64) -> Vec<OwnerMismatch> {
        let id = own_id(&mut self.game.clients[client]);
        let made = &self.game.clients[client].world().resource::<OwnerMoves>().0;
        let ran = &self.game.server.world().resource::<ServerMoves>().0;
        // Moves in flight have not been run yet.
        let end = self.now(client) - 0.75;
        let mut mismatches: Vec<OwnerMismatch> = Vec::new();
        for (at, tick, place) in made.iter().filter(|(at, ..)| (from..end).contains(at)) {
            let astray =
                ran.get(&(id, *tick)).is_none_or(|there| there.distance(*place) >= MISMATCH_DISTANCE);
            match mismatches.last_mut().filter(|last| at - last.to < MISMATCH_GAP) {
                _ if !astray => {}
                Some(last) => last.to = *at,
                None => mismatches.push(OwnerMismatch { from: *at, to: *at }),
            }
        }
        mismatches
    }

    /// The distance that a client's own pawn has walked since the time `from` on its clock, in metres.
    pub fn distance_walked(&self, client: usize, from: f64) -> f32 {
        let made = &self.game.clients[client].world().resource::<OwnerMoves>().0;
        let places: Vec<_> =
            made.iter().filter(|(at, ..)| *at >= from).map(|(_, _, place)| place.xz()).collect();
        places.windows(2).map(|pair| pair[0].distance(pair[1])).sum()
    }

    /// `T_conv`: the seconds from the times `from` on the clients' clocks until the last mismatch ends.
    pub fn convergence_time(&mut self, from: &[f64]) -> f64 {
        let last =
            |i: usize| self.mismatches(i, from[i]).last().map_or(0.0, |mismatch| mismatch.to - from[i]);
        (0..from.len()).map(last).fold(0.0, f64::max)
    }

    /// The time on each client's clock, in seconds.
    pub fn client_times(&self) -> Vec<f64> {
        (0..self.game.clients.len()).map(|i| self.now(i)).collect()
    }

    /// Gives all pawns neutral input for 2 s, then asserts the invariants of every row.
    pub fn assert_invariants(&mut self) {
        self.game.set_firing(false);
        self.game.clients.iter_mut().for_each(hold_still);
        self.run(2.0);
        self.assert_pawns_agree();
        self.assert_shots_accounted_for();
        self.assert_links_clean();
        self.assert_no_growth();
    }

    fn assert_pawns_agree(&mut self) {
        for app in self.apps() {
            assert_eq!(app.world().resource::<InvalidValue>().0, None);
        }
        let names: Vec<_> = self.apps().map(names).collect();
        assert!(names.iter().all(|some| *some == names[0]), "the pawns differ between apps: {names:?}");
        for i in 0..self.game.clients.len() {
            let id = own_id(&mut self.game.clients[i]);
            let (here, there) = (state(&mut self.game.clients[i], id), state(&mut self.game.server, id));
            let apart = here.body.position.distance(there.body.position);
            assert!(apart < MISMATCH_DISTANCE, "client {i} is {apart} m from the server");
            assert_eq!(
                here.extension.slots, there.extension.slots,
                "client {i}'s ammunition differs from the server's"
            );
        }
    }

    /// Asserts that every verdict arrived once and every hit was counted once.
    fn assert_shots_accounted_for(&mut self) {
        let noted = self.game.server.world().resource::<ServerShotLog>();
        assert_eq!(noted.counted_twice(), [], "shots were counted twice");
        for i in 0..self.game.clients.len() {
            let id = own_id(&mut self.game.clients[i]);
            let noted = self.game.server.world().resource::<ServerShotLog>();
            let shown = self.game.clients[i].world().resource::<ClientShotLog>();
            for shot in shown.fired.keys() {
                let answered = noted.verdicts.contains_key(&(id.0, *shot));
                let seen = shown.verdicts.get(shot).map_or(&[][..], |answers| answers);
                // The client itself answers for a move that never ran.
                let missing = seen.contains(&ShotResult::Refused(ShotRefusal::MissingMove));
                assert_eq!(
                    answered,
                    !seen.is_empty() && !missing,
                    "{id:?} {shot}: the client, which has {seen:?}, lacks the server's verdict"
                );
                let left = noted.left.contains_key(&(id.0, *shot));
                assert!(answered || !left, "{id:?} {shot}: left without a verdict");
            }
            let twice: Vec<_> = shown.verdicts.iter().filter(|(_, all)| all.len() > 1).collect();
            assert!(twice.is_empty(), "{id:?}: verdicts arrived twice: {twice:?}");
        }
    }

    /// Asserts that every client has an answer to each of its shots. A verdict is overdue after five seconds.
    pub fn assert_shots_answered(&self) {
        for (i, client) in self.game.clients.iter().enumerate() {
            let shown = client.world().resource::<ClientShotLog>();
            let unanswered = shown.unanswered();
            assert!(
                unanswered.is_empty(),
                "client {i} has no answer to {unanswered:?} of {}",
                shown.fired.len()
            );
        }
    }

    /// Asserts that no client has strikes or refused packets, and that none was kicked.
    fn assert_links_clean(&mut self) {
        let world = self.game.server.world_mut();
        let mut links = world.query_filtered::<&LinkTraffic, (With<ClientOf>, With<Connected>)>();
        let traffic: Vec<_> = links.iter(world).copied().collect();
        assert_eq!(traffic.len(), self.game.clients.len(), "a client lost its connection");
        for traffic in traffic {
            let expected_refusal = self.expected_refusal.map_or(0, |refusal| traffic.refused.of(refusal));
            assert_eq!(traffic.refused.total(), expected_refusal, "{traffic:?}");
            assert_eq!(traffic.strikes, 0.0, "{traffic:?}");
        }
        assert_eq!(self.game.server.world().resource::<IngressStats>().kicked, 0);
        for client in &mut self.game.clients {
            let world = client.world_mut();
            let mut links = world.query_filtered::<(), (With<Client>, With<Connected>)>();
            assert_eq!(links.iter(world).count(), 1);
        }
    }

    /// Asserts that entities, queues and links have not grown.
    fn assert_no_growth(&mut self) {
        let now: Vec<_> = self.apps().map(entity_count).collect();
        assert_eq!(now, self.entities, "entities of the server and the clients");
        for client in &mut self.game.clients {
            let world = client.world_mut();
            for sim in world.query::<&NetSim>().iter(world) {
                let (up, down) = sim.in_flight();
                assert!(up + down < 1_000, "{up} and {down} packets in flight");
            }
            for saved in world.query::<&SavedMoves<Soldier>>().iter(world) {
                assert!(saved.iter().len() < 128, "{} saved moves", saved.iter().len());
            }
        }
    }
}

/// Number of entities that are not resources.
pub fn entity_count(app: &mut App) -> usize {
    let world = app.world_mut();
    world.query_filtered::<Entity, Without<IsResource>>().iter(world).count()
}

/// The network ids of the pawns on an app, sorted.
fn names(app: &mut App) -> Vec<NetId> {
    let world = app.world_mut();
    let mut names: Vec<_> = world.query::<&NetId>().iter(world).copied().collect();
    names.sort_unstable();
    names
}
