//! Table of pawns: where each is, and where its eyes can be soon.

use bevy::{ecs::entity::EntityHashMap, platform::time::Instant, prelude::*};
use bevy_unlag_core::{CurrentTick, RoundTrip, SimulationRate, Tick};
use bevy_unlag_rewind::{BodyBounds, HitBoxes, LevelChanges, LevelCopy, Team, WorldTrace};
use bevy_unlag_smoothing::PublishedPath;
use lightyear::prelude::{server::ClientOf, *};

use super::{
    InterestStats,
    config::InterestConfig,
    reach::{self, Body, Root},
    rule::AlwaysInSight,
    shaft::Fan,
    walls::{Effort, Level, TestedLevel, Walls},
};
use crate::{parking::Published, snapshots::UpdateInterval};

/// Bounds in metres of a pawn without hit boxes.
const DEFAULT_BOUNDS: BodyBounds = BodyBounds { radius: 0.5, low: 0.0, high: 1.9 };
/// Ticks after a change of the level in which physics may still lack it.
const SETTLING: i32 = 4;
/// Distance in metres from the expected place beyond which a pawn was teleported.
const FAR: f32 = 1.0;
/// Growth of the speed beyond the fastest one, in metres per second, from which on a pawn was knocked away.
const KNOCK: f32 = 0.5;

/// Pawn with its place.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub entity: Entity,
    pub owner: Option<Entity>,
    pub team: Option<Team>,
    pub is_exempt: bool,
    pub is_alive: bool,
    pub root: Root,
    pub body: Body,
    /// Ticks between two snapshots.
    pub update_ticks: u32,
    /// Where the eyes can be when the next snapshot is drawn, and some ticks later. Only of players.
    pub near: Fan,
    pub far: Fan,
    /// Tick at which it last moved in a way that no prediction covers.
    pub surprise: Option<Tick>,
    /// Tick at which it was last seen to exist.
    updated: Tick,
}

impl Place {
    fn new(entity: Entity, root: Root) -> Self {
        Self {
            entity,
            owner: None,
            team: None,
            is_exempt: false,
            is_alive: true,
            root,
            body: Body { floor: f32::NEG_INFINITY, ..Body::default() },
            update_ticks: 3,
            near: Fan::default(),
            far: Fan::default(),
            surprise: None,
            updated: Tick::default(),
        }
    }

    #[cfg(test)]
    pub fn for_test(root: Root, body: Body, near: Fan, far: Fan) -> Self {
        Self { body, near, far, ..Self::new(Entity::PLACEHOLDER, root) }
    }
}

/// Pawns by slot. A pawn keeps its slot until it is despawned.
#[derive(Resource, Default)]
pub(super) struct Places {
    slots: EntityHashMap<usize>,
    places: Vec<Option<Place>>,
    free: Vec<usize>,
    /// Slot of the living pawn of each client.
    viewers: EntityHashMap<usize>,
    /// Pawns that have disappeared since the last tick.
    pub gone: Vec<Entity>,
    pub now: Tick,
    last: Option<Tick>,
    /// Whether a tick has passed since the last frame.
    pub is_due: bool,
}

impl Places {
    /// Returns the pawn in a slot.
    pub fn get(&self, slot: usize) -> Option<&Place> {
        self.places.get(slot)?.as_ref()
    }

    /// Returns all pawns by slot.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Place)> {
        self.places.iter().enumerate().filter_map(|(slot, place)| Some((slot, place.as_ref()?)))
    }

    /// Returns the slot of the living pawn of a client.
    pub fn viewer(&self, client: Entity) -> Option<usize> {
        self.viewers.get(&client).copied()
    }

    /// Returns whether the turn of a slot has come, of which each has one in `interval` ticks. A frame may hold several
    /// ticks.
    pub fn has_turn(&self, slot: usize, interval: u32) -> bool {
        let turn = |tick: Tick| tick.0.wrapping_add(slot as u32) / interval;
        self.last.is_none_or(|last| turn(self.now) != turn(last))
    }

    /// Returns the ticks from now to the last snapshot before the next turn of a slot, of a pawn with this many ticks
    /// between two snapshots.
    pub fn ticks_ahead(&self, slot: usize, interval: u32, update_ticks: u32) -> u32 {
        let rest = interval - self.now.0.wrapping_add(slot as u32) % interval - 1;
        let last = self.now.0.wrapping_add(rest);
        rest.saturating_sub(last % update_ticks.max(1))
    }

    fn slot(&mut self, entity: Entity) -> usize {
        let (places, free) = (&mut self.places, &mut self.free);
        *self.slots.entry(entity).or_insert_with(|| {
            free.pop().unwrap_or_else(|| {
                places.push(None);
                places.len() - 1
            })
        })
    }

    /// Removes the pawns that were not seen in this tick.
    fn remove_gone(&mut self) {
        self.gone.clear();
        for (slot, place) in self.places.iter_mut().enumerate() {
            if let Some(gone) = place.take_if(|place| place.updated != self.now) {
                self.slots.remove(&gone.entity);
                self.free.push(slot);
                self.gone.push(gone.entity);
            }
        }
    }
}

/// Tick of the last change of the level, while physics may lack it. Everything is shown meanwhile.
#[derive(Resource, Default)]
pub(super) struct Settling(Option<Tick>);

impl Settling {
    pub fn is_over(&self) -> bool {
        self.0.is_none()
    }
}

/// Forgets all walls when the level changes, and copies it as soon as physics has the change.
pub(super) fn follow_level(
    tick: Res<CurrentTick>,
    (mut changes, world): (LevelChanges, WorldTrace),
    (mut walls, mut level): (ResMut<Walls>, ResMut<TestedLevel>),
    mut settling: ResMut<Settling>,
) {
    if changes.any() {
        settling.0 = Some(tick.0);
        walls.clear();
        level.0 = LevelCopy::default();
    }
    let Some(changed) = settling.0 else { return };
    if !(0..=SETTLING).contains(&tick.0.since(changed)) {
        level.0 = world.copy_level();
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

/// Follows the pawns, and finds where the eyes of those can be whose turn has come.
pub(super) fn place_pawns(
    (tick, rate, config): (Res<CurrentTick>, Res<SimulationRate>, Res<InterestConfig>),
    pawns: Query<Pawn, Published>,
    trips: Query<&RoundTrip, With<ClientOf>>,
    (level, mut walls): (Res<TestedLevel>, ResMut<Walls>),
    mut places: ResMut<Places>,
    mut effort: ResMut<Effort>,
    mut stats: ResMut<InterestStats>,
) {
    #[expect(clippy::disallowed_methods, reason = "not std's in browsers")]
    let began = Instant::now();
    let places = &mut *places;
    places.is_due = places.last != Some(tick.0);
    if !places.is_due {
        return;
    }
    places.now = tick.0;
    places.viewers.clear();
    *effort = Effort::of_rays(config.rays_per_tick);
    let (tick_seconds, interval) = (rate.tick_seconds(), config.interval_ticks.max(1));
    for (entity, path, boxes, owner, team, is_exempt, updates) in &pawns {
        let Some(pose) = path.present().filter(|pose| pose.position.is_finite() && pose.velocity.is_finite())
        else {
            continue;
        };
        let slot = places.slot(entity);
        let has_turn = places.has_turn(slot, interval);
        let ahead = places.ticks_ahead(slot, interval, rate.snapshot_ticks) as f32 * tick_seconds;
        let root = Root { position: pose.position, up: pose.up(), velocity: pose.velocity };
        let bounds = boxes.map_or(DEFAULT_BOUNDS, HitBoxes::bounds);
        let place = places.places[slot].get_or_insert_with(|| Place::new(entity, root));
        if is_surprising(&place.root, &root, tick_seconds, &config) {
            place.surprise = Some(tick.0);
        }
        place.root = root;
        let radius = bounds.radius.min(config.body_radius);
        place.body = Body { radius, low: bounds.low, high: bounds.high, ..place.body };
        if has_turn {
            place.body.floor = reach::floor(&root, &place.body, &*level);
        }
        place.owner = owner.map(|owner| owner.owner);
        place.team = team.copied();
        place.is_exempt = is_exempt;
        place.is_alive = pose.alive;
        place.update_ticks = updates.map_or(rate.snapshot_ticks, |own| own.0).max(1);
        place.updated = tick.0;
        let Some(owner) = place.owner.filter(|_| place.is_alive) else { continue };
        places.viewers.insert(owner, slot);
        if has_turn {
            let seconds = config.seconds_until_drawn(trips.get(owner).ok()) + ahead;
            let spare = config.spare_ticks() as f32 * tick_seconds;
            let world = (&*level as &dyn Level, &mut *walls, &mut *effort);
            [place.near, place.far] = reach::fans(&config, &root, &place.body, (seconds, spare), world);
        }
    }
    places.remove_gone();
    stats.time = began.elapsed();
}

/// Returns whether a pawn has moved in a way that no prediction covers: it was teleported or knocked away.
fn is_surprising(before: &Root, now: &Root, tick_seconds: f32, config: &InterestConfig) -> bool {
    // NaN is a surprise.
    let is_near = (before.position + before.velocity * tick_seconds).distance(now.position) <= FAR;
    let [old, new] = [before, now].map(|root| root.velocity.length().max(config.max_speed));
    !is_near || new > old + KNOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(last: u32, now: u32) -> Places {
        Places { now: Tick(now), last: Some(Tick(last)), ..Places::default() }
    }

    #[test]
    fn every_slot_has_one_turn_in_an_interval() {
        for slot in 0..5 {
            let turns = (1..=300).filter(|now| places(now - 1, *now).has_turn(slot, 3));
            assert_eq!(turns.count(), 100);
            // In longer frames as well.
            assert!((0..100).all(|frame| places(frame * 3, frame * 3 + 3).has_turn(slot, 3)));
        }
    }

    #[test]
    fn ticks_ahead_reach_to_the_last_snapshot_before_the_next_turn() {
        for (slot, now) in [(0, 0), (0, 4), (1, 7), (2, 9), (5, 100)] {
            let places = places(now, now);
            let next =
                (now + 1..).find(|tick| places_turn(*tick, slot) != places_turn(now, slot)).expect("a turn");
            let last = (now..next).rev().find(|tick| tick % 3 == 0).unwrap_or(now);
            assert_eq!(places.ticks_ahead(slot, 3, 3), last - now, "slot {slot}, tick {now}");
        }
    }

    fn places_turn(tick: u32, slot: usize) -> u32 {
        (tick + slot as u32) / 3
    }

    #[test]
    fn slots_of_despawned_pawns_are_used_again() {
        let [a, b] = [1, 2].map(|index| Entity::from_raw_u32(index).expect("a small number"));
        let mut places = Places::default();
        assert_eq!((places.slot(a), places.slot(b), places.slot(a)), (0, 1, 0));
        let place = |entity, updated| Some(Place { updated, ..Place::new(entity, Root::default()) });
        places.now = Tick(5);
        places.places = vec![place(a, Tick(4)), place(b, Tick(5))];
        places.remove_gone();
        assert_eq!(places.gone, [a]);
        assert!(places.get(0).is_none() && places.iter().count() == 1);
        assert_eq!(places.slot(a), 0);
    }

    #[test]
    fn teleports_and_knocks_are_surprises() {
        let config = InterestConfig::default();
        let at = |x: f32, speed: f32| Root { position: Vec3::X * x, up: Vec3::Y, velocity: Vec3::X * speed };
        let is_surprise = |a: Root, b: Root| is_surprising(&a, &b, 1.0 / 64.0, &config);
        assert!(!is_surprise(at(0.0, 6.0), at(0.1, -6.0)));
        assert!(is_surprise(at(0.0, 6.0), at(5.0, 6.0)), "teleport");
        assert!(is_surprise(at(0.0, 6.0), at(0.1, 20.0)), "knock");
        assert!(is_surprise(at(0.0, 6.0), at(f32::NAN, 6.0)));
    }
}
