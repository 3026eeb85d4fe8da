//! Decision which pawns are concealed from which clients.

use core::time::Duration;

use bevy::{
    ecs::entity::{EntityHashMap, EntityHashSet},
    platform::time::Instant,
    prelude::*,
};
use bevy_unlag_core::{CurrentTick, PoseSample, RoundTrip, SimulationRate, Tick};
use bevy_unlag_rewind::{BodyBounds, HitBoxes, LevelChanges, Team, WorldTrace};
use bevy_unlag_smoothing::PublishedPath;
use lightyear::prelude::{server::ClientOf, *};

use super::{
    config::InterestConfig,
    lattice::{Rays, Sight, SightLattice, View},
    pairs::SightPairs,
    region::{Motion, Region, Root, Search, collect},
    rule::{AlwaysInSight, InterestRule, SeesEverything, SightPair, SightVerdict},
};
use crate::{hidden_pawns::HiddenPawns, parking::Published, snapshots::UpdateInterval};

/// Bounds in metres of a pawn without hit boxes.
const DEFAULT_BOUNDS: BodyBounds = BodyBounds { radius: 0.5, low: 0.0, high: 1.9 };
/// Ticks after a change of the level in which physics may still lack it.
const SETTLING: i32 = 4;
/// Distance in metres from the last place beyond which a pawn's surroundings are collected at once: it was teleported.
const FAR: f32 = 2.0;

/// Counters of the interest of this server.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct InterestStats {
    /// Pairs of a client and a pawn that were tested in the last tick.
    pub tested: u32,
    /// Those among them for which rays were lacking; they count as in sight.
    pub unanswered: u32,
    /// Pawns among those placed in the last tick whose surroundings are not known; they count as in sight, and see
    /// everything.
    pub unplaced: u32,
    /// Rays cast in total.
    pub rays: u64,
    /// Time that the decision took in the last tick.
    pub time: Duration,
    /// Times that the lattice was full and started over.
    pub restarts: u64,
}

/// Surroundings of a pawn: where its eyes and its body can be soon.
#[derive(Default)]
struct Place {
    position: Vec3,
    eyes: Vec<u32>,
    body: Vec<u32>,
    is_known: bool,
}

/// Pawn that is tested.
struct Candidate {
    entity: Entity,
    pose: PoseSample,
    bounds: BodyBounds,
    owner: Option<Entity>,
    team: Option<Team>,
    is_exempt: bool,
    update_ticks: u32,
}

/// Pair without an answer.
struct Question {
    link: Entity,
    viewer: usize,
    target: usize,
    urgency: f32,
}

/// State and buffers of [`decide`].
#[derive(Default)]
pub(super) struct Memory {
    last: Option<Tick>,
    places: EntityHashMap<Place>,
    living: EntityHashSet,
    candidates: Vec<Candidate>,
    questions: Vec<Question>,
    view: View,
    search: Search,
}

/// Tick of the last change of the level, while physics may lack it. Everything is shown meanwhile.
#[derive(Resource, Default)]
pub(super) struct Settling(Option<Tick>);

/// Forgets all sights when the level changes.
pub(super) fn follow_level(
    tick: Res<CurrentTick>,
    mut changes: LevelChanges,
    mut lattice: ResMut<SightLattice>,
    mut settling: ResMut<Settling>,
) {
    if changes.any() {
        settling.0 = Some(tick.0);
    }
    let Some(changed) = settling.0 else { return };
    lattice.clear();
    if !(0..=SETTLING).contains(&tick.0.since(changed)) {
        settling.0 = None;
    }
}

type Pawn = (
    Entity,
    &'static PublishedPath,
    Option<&'static HitBoxes>,
    Option<&'static ControlledBy>,
    Option<&'static Team>,
    Has<AlwaysInSight>,
    Option<&'static UpdateInterval>,
);

type Viewer = (
    Entity,
    &'static mut SightPairs,
    &'static mut HiddenPawns,
    Has<SeesEverything>,
    Option<&'static RoundTrip>,
);

pub(super) fn decide(
    (tick, rate, config, rule): (
        Res<CurrentTick>,
        Res<SimulationRate>,
        Res<InterestConfig>,
        Res<InterestRule>,
    ),
    (world, settling): (WorldTrace, Res<Settling>),
    mut lattice: ResMut<SightLattice>,
    pawns: Query<Pawn, Published>,
    mut links: Query<Viewer, (With<ClientOf>, With<Connected>)>,
    mut stats: ResMut<InterestStats>,
    mut memory: Local<Memory>,
) {
    let now = tick.0;
    let last = memory.last.replace(now);
    if last == Some(now) {
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "not std's in browsers")]
    let began = Instant::now();
    let Memory { places, living, candidates, questions, view, search, .. } = &mut *memory;
    let interval = config.interval_ticks.max(1);
    let tick_seconds = rate.tick_seconds();
    let is_settled = settling.0.is_none();
    if lattice.is_full() {
        lattice.clear();
        stats.restarts += 1;
    }
    if lattice.is_empty() {
        places.clear();
    }

    candidates.clear();
    for (entity, path, boxes, owner, team, is_exempt, updates) in &pawns {
        let Some(pose) = path.present() else { continue };
        candidates.push(Candidate {
            entity,
            pose: *pose,
            bounds: boxes.map_or(DEFAULT_BOUNDS, HitBoxes::bounds),
            owner: owner.map(|owner| owner.owner),
            team: team.copied(),
            is_exempt,
            update_ticks: updates.map_or(rate.snapshot_ticks, |own| own.0),
        });
    }
    candidates.sort_unstable_by_key(|pawn| pawn.entity);
    living.clear();
    living.extend(pawns.iter().map(|(entity, ..)| entity));
    places.retain(|pawn, _| living.contains(pawn));
    (stats.tested, stats.unanswered, stats.unplaced) = (0, 0, 0);

    let is_clear = |a: Vec3, b: Vec3| world.is_clear(a, b);
    let mut rays = Rays { is_clear: &is_clear, left: config.rays_per_tick, cast: 0 };
    // A frame may hold several ticks: due is what any of them has reached.
    let turn = |tick: Tick, index: usize| tick.0.wrapping_add(index as u32) / interval;
    let is_due = |index: usize| last.is_none_or(|last| turn(now, index) != turn(last, index));
    for (index, pawn) in candidates.iter().enumerate() {
        let known = places.get(&pawn.entity);
        let is_far = known.is_none_or(|known| known.position.distance(pawn.pose.position) > FAR);
        if !pawn.pose.alive || !(is_far || is_due(index)) {
            continue;
        }
        let trip = pawn.owner.and_then(|owner| links.get(owner).ok()).and_then(|link| link.4.copied());
        let seconds = Seconds::of(&config, trip.as_ref(), tick_seconds, pawn.update_ticks);
        let place = places.entry(pawn.entity).or_default();
        place.position = pawn.pose.position;
        place.is_known =
            surroundings(&mut lattice, (pawn, &mut *place), (&config, seconds), &mut rays, search);
        stats.unplaced += u32::from(!place.is_known);
    }

    questions.clear();
    let hold = (config.hold_seconds / tick_seconds.max(1e-4)).ceil() as i32;
    for (link, mut pairs, mut hidden, sees_all, _) in &mut links {
        let own = candidates.iter().position(|pawn| pawn.owner == Some(link) && pawn.pose.alive);
        let viewer = own.filter(|_| !sees_all);
        if viewer.is_some_and(|viewer| !is_due(viewer)) {
            continue;
        }
        hidden.bypass_change_detection().keep(|pawn| living.contains(&pawn));
        pairs.keep(|pawn| living.contains(&pawn));
        let Some(viewer) = viewer.filter(|_| is_settled) else {
            candidates.iter().for_each(|pawn| hidden.show(pawn.entity));
            continue;
        };
        let eyes = places.get(&candidates[viewer].entity).filter(|place| place.is_known);
        lattice.look(eyes.map_or(&[][..], |place| place.eyes.as_slice()), view);
        for (target, pawn) in candidates.iter().enumerate() {
            let shows = pawn.owner == Some(link)
                || pawn.is_exempt
                || !pawn.pose.alive
                || config.teammates && pawn.team.is_some() && pawn.team == candidates[viewer].team;
            let pair = SightPair { client: link, viewer: candidates[viewer].entity, pawn: pawn.entity };
            let verdict = if shows { SightVerdict::Show } else { rule.judge(&pair) };
            match verdict {
                SightVerdict::Show => hidden.show(pawn.entity),
                SightVerdict::Hide => hidden.hide(pawn.entity),
                SightVerdict::ByLevel => {
                    stats.tested += 1;
                    let body = places.get(&pawn.entity).filter(|place| place.is_known);
                    let Some((_, body)) = eyes.zip(body) else {
                        stats.unanswered += 1;
                        pairs.apply(pawn.entity, Sight::Unknown, now, hold, &mut hidden);
                        continue;
                    };
                    match view.of(&body.body) {
                        Sight::Unknown => questions.push(Question {
                            link,
                            viewer,
                            target,
                            urgency: urgency(&candidates[viewer], pawn, pairs.unanswered(pawn.entity)),
                        }),
                        sight => pairs.apply(pawn.entity, sight, now, hold, &mut hidden),
                    }
                }
            }
        }
    }

    // Near and moving pawns first, and those that have waited longest.
    questions.sort_unstable_by(|a, b| b.urgency.total_cmp(&a.urgency));
    for question in questions.iter() {
        let Ok((_, mut pairs, mut hidden, ..)) = links.get_mut(question.link) else { continue };
        let target = candidates[question.target].entity;
        let [Some(eyes), Some(body)] =
            [candidates[question.viewer].entity, target].map(|pawn| places.get(&pawn))
        else {
            continue;
        };
        let sight = lattice.search(&eyes.eyes, &body.body, &mut rays);
        stats.unanswered += u32::from(sight == Sight::Unknown);
        pairs.apply(target, sight, now, hold, &mut hidden);
    }
    stats.rays += rays.cast;
    stats.time = began.elapsed();
}

/// Returns how urgent a test of a pair is.
fn urgency(viewer: &Candidate, target: &Candidate, unanswered: u32) -> f32 {
    let distance = viewer.pose.position.distance(target.pose.position);
    let speed = viewer.pose.velocity.length() + target.pose.velocity.length();
    (1.0 + speed) * (1.0 + unanswered as f32) / (1.0 + distance)
}

/// Times for which motion is taken into account, in seconds.
#[derive(Clone, Copy, Debug)]
struct Seconds {
    /// From the newest move that the server knows to the frame that shows a snapshot of now.
    eyes: f32,
    /// From now to the next snapshot after the next test.
    body: f32,
}

impl Seconds {
    fn of(config: &InterestConfig, trip: Option<&RoundTrip>, tick: f32, update_ticks: u32) -> Self {
        let latency = trip.map_or(config.max_round_trip, |trip| {
            (trip.rtt.as_secs_f32() + 2.0 * trip.jitter.as_secs_f32()).min(config.max_round_trip)
        });
        let tests = (config.interval_ticks.max(1) + 1) as f32 * tick;
        let margin = tests + update_ticks.max(1) as f32 * tick + config.margin_seconds;
        Self { eyes: (latency + config.playout_seconds + margin).max(0.0), body: margin.max(0.0) }
    }
}

/// Collects the surroundings of a pawn. Returns whether they are known.
fn surroundings(
    lattice: &mut SightLattice,
    (pawn, place): (&Candidate, &mut Place),
    (config, seconds): (&InterestConfig, Seconds),
    rays: &mut Rays<'_>,
    search: &mut Search,
) -> bool {
    let Candidate { pose, bounds, .. } = pawn;
    let root = Root {
        position: pose.position,
        up: pose.up(),
        velocity: pose.velocity,
        middle: (bounds.low + bounds.high) * 0.5,
    };
    if !(root.position.is_finite() && root.velocity.is_finite()) {
        return false;
    }
    let motion = Motion {
        speed: Vec2::new(config.max_speed, config.vertical_speed),
        jump: config.jump_height,
        response: config.response_seconds,
    };
    let eyes = (0.0, config.eyes.x, config.eyes.y);
    let eyes = Region::new(&root, eyes, &motion, seconds.eyes, lattice.spacing());
    let body = (bounds.radius, bounds.low, bounds.high);
    let body = Region::new(&root, body, &motion, seconds.body, lattice.spacing());
    let Place { eyes: eye_points, body: body_points, .. } = place;
    collect(lattice, &root, [&eyes, &body], rays, search, (eye_points, body_points))
}
