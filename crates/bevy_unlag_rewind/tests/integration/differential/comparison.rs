//! Comparison of the rewind queries with the oracle.

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_rewind::{HitGroup, Miss, RewindLimits, RewindQuery, RewindTime, TargetHit};

use crate::differential::{
    oracle::{Line, OracleHit, OracleTarget, RayMethod, all_targets, first, is_possible},
    random_queries::{QueryGenerator, RandomQuery},
    random_world::RandomWorld,
};

/// Allowed differences between the query and the oracle.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// Error along the ray, in metres.
    metres: f64,
    /// Error of a shape's size, in metres, for a grazing ray that starts at the given distance in metres.
    graze: fn(f32) -> f32,
    /// Whether a target has shapes that parry tests iteratively. Such a test misses about one in ten
    /// thousand rays that pass right through a shape, and is off by centimetres for grazing rays. These
    /// answers are not comparable and are only counted.
    iterated: fn(&OracleTarget<'_>) -> bool,
}

impl Tolerance {
    pub const CLOSED_FORMS: Self = Self {
        metres: 1e-4,
        graze: |way| 1e-5 + 3e-7 * way,
        iterated: |seen| seen.set.boxes().iter().any(|hit_box| hit_box.shape.as_cylinder().is_some()),
    };
    /// Tolerance for parry's own ray casts: iterative for capsules, and for balls limited by the difference
    /// of two squares of the distance.
    pub const PARRY: Self = Self {
        metres: 1e-3,
        graze: |way| 1e-4 + 2e-6 * way * way,
        iterated: |seen| {
            let closed = |shape: &Collider| shape.as_cuboid().is_some() || shape.as_ball().is_some();
            seen.set.boxes().iter().any(|hit_box| !closed(&hit_box.shape))
        },
    };
}

/// Counters of the compared queries.
#[derive(Clone, Default, Debug)]
pub struct ComparisonStats {
    pub queries: usize,
    /// Different answers that are right for shapes whose sizes differ within the tolerance.
    pub grazes: usize,
    /// Two boxes of one group of one target at the same distance.
    pub ties: usize,
    /// Different answers about targets with iteratively tested shapes.
    pub iterated: usize,
    /// Answers that are right where parry's own ray cast is further off.
    pub inexact: usize,
    seen: BTreeMap<&'static str, usize>,
}

/// Situations that must occur, at least once in so many queries.
const REQUIRED_SITUATIONS: [(&str, usize); 18] = [
    ("hit", 3),
    ("missed", 10),
    ("a head", 50),
    ("a head behind another box", 200),
    ("from the inside", 100),
    ("several targets", 50),
    ("overridden", 200),
    ("clamped", 50),
    ("refused", 1_000),
    ("an earlier set of boxes", 100),
    ("despawned since", 200),
    ("crouched", 50),
    ("on a base", 100),
    ("dead now", 500),
    ("alive now but dead then", 50),
    ("elsewhere now", 100),
    ("blocked", 100),
    ("a head behind a wall", 10_000),
];

impl ComparisonStats {
    pub fn add(&mut self, other: &Self) {
        self.queries += other.queries;
        self.grazes += other.grazes;
        self.ties += other.ties;
        self.iterated += other.iterated;
        self.inexact += other.inexact;
        other.seen.iter().for_each(|(what, count)| *self.seen.entry(what).or_default() += count);
    }

    /// Asserts that every required situation occurred often enough.
    pub fn assert_coverage(&self) {
        for (what, share) in REQUIRED_SITUATIONS {
            let count = self.seen.get(what).copied().unwrap_or_default();
            assert!(count * share >= self.queries, "{what}: only {count} of {}", self.queries);
        }
    }

    fn count_situation(&mut self, what: &'static str, times: usize) {
        *self.seen.entry(what).or_default() += times;
    }

    fn count_situations_of(
        &mut self,
        crowd: &RandomWorld,
        seen: &[OracleTarget<'_>],
        line: &Line,
        answer: Option<OracleHit>,
    ) {
        let Some(answer) = answer else { return self.count_situation("missed", 1) };
        let target =
            seen.iter().find(|target| target.person.id == answer.id).expect("the hit target must be present");
        let met = |target: &OracleTarget<'_>| target.met(line, 0.0, RayMethod::Cast).next().is_some();
        let history = crowd.history(target.person);
        let here = history.present();
        let moved = here.map(|here| here.position.distance(target.sample.position));
        let on_base = history.sent.newest().is_some_and(|newest| newest.base != 0);
        let newest = &target.person.sets.last().expect("a target must have a set").1;
        for (what, yes) in [
            ("hit", true),
            ("a head", answer.group == HitGroup::Head),
            ("a head behind another box", target.is_behind(answer.index, line)),
            ("from the inside", answer.distance == 0.0),
            ("several targets", seen.iter().filter(|target| met(target)).count() > 1),
            ("overridden", target.named),
            ("an earlier set of boxes", !target.set.is_same_set(newest)),
            ("despawned since", target.person.gone.is_some()),
            ("crouched", target.sample.crouch > 0.0),
            ("on a base", on_base),
            ("dead now", here.is_some_and(|here| !here.alive)),
            ("elsewhere now", moved.is_some_and(|moved| moved > 4.0)),
        ] {
            self.count_situation(what, usize::from(yes));
        }
    }
}

/// Compares `rays` rays at one query time.
pub fn assert_rays_agree(
    crowd: &RandomWorld,
    query: &RewindQuery<'_, '_>,
    asked: &RandomQuery,
    aim: &mut QueryGenerator,
    (rays, tolerance): (usize, Tolerance),
    checked: &mut ComparisonStats,
) {
    let half = |entity: Entity| entity.index_u32().is_multiple_of(2);
    let filter = asked.filter(&half);
    let limits = asked.limits.unwrap_or(*crowd.app.world().resource::<RewindLimits>());
    let admitted = match asked.time() {
        RewindTime::View(view) => {
            let arrived = crowd.now().offset(-(view.queued_ticks.cast_signed()));
            limits.validate(view.time, arrived, 1.0 / 64.0, None).map(Some)
        }
        _ => Ok(None),
    };
    let then = match (query.at(asked.time()), admitted) {
        (Ok(then), Ok(_)) => then.with_filter(filter),
        (Err(refused), Err(expected)) if refused == expected => {
            checked.count_situation("refused", 1);
            return;
        }
        (then, expected) => panic!("{asked:?}: {:?}, expected {expected:?}", then.err()),
    };
    let seen = all_targets(crowd, asked.time(), &filter);
    if then.time().clamped() {
        checked.count_situation("clamped", rays);
    }
    // Targets that live now but were dead at the query time.
    let risen = crowd.people.iter().any(|person| {
        let lives = crowd.history(person).present().is_some_and(|here| here.alive);
        let dead = then.pose(person.entity).is_err_and(|miss| matches!(miss, Miss::NotPresent(_)));
        lives && dead && person.gone.is_none()
    });
    checked.count_situation("alive now but dead then", if risen { rays } else { 0 });
    for _ in 0..rays {
        let line = aim.ray(&seen);
        let answer = then.cast_ray(line.origin, line.direction, line.max);
        checked.queries += 1;
        let Some(direction) = line.direction.try_normalize().filter(|_| line.max >= 0.0) else {
            assert_eq!(answer, Err(Miss::InvalidQuery));
            continue;
        };
        let line = Line { direction, ..line };
        // Nothing behind a wall counts, not even a head.
        let wall = crowd.wall(&line);
        if wall == Some(0.0) {
            // For an origin inside a wall, and possibly inside a target as well, the order is undefined.
            continue;
        }
        let (whole, line) = (line, Line { max: wall.unwrap_or(line.max), ..line });
        let expected = first(&seen, &line, RayMethod::Cast);
        let blocked = matches!(answer, Err(Miss::Blocked { .. }));
        assert!(!blocked || wall.is_some(), "{answer:?} without a wall");
        let answer = answer.ok();
        checked.count_situation("blocked", usize::from(blocked));
        let cut = expected.is_some_and(|expected| {
            expected.group != HitGroup::Head
                && first(&seen, &whole, RayMethod::Cast).is_some_and(|other| other.index != expected.index)
        });
        checked.count_situation("a head behind a wall", usize::from(cut));
        if let Some(hit) = &answer {
            assert!(
                seen.iter().any(|target| target.person.id == hit.target),
                "seed {} at {:?}: {asked:?} {line:?} hit {hit:?}, which is not present: {:?}",
                crowd.seed,
                crowd.now(),
                crowd.people.iter().find(|person| person.id == hit.target).map(|person| &person.gone)
            );
            assert_well_formed(hit, &seen, &line);
        }
        let answer = answer.map(|hit| OracleHit {
            id: hit.target,
            index: usize::from(hit.hit_box),
            group: hit.group,
            distance: f64::from(hit.distance),
        });
        if !same(answer, expected, tolerance.metres) {
            let exactly = first(&seen, &line, RayMethod::SphereTracing);
            let find = |answer: OracleHit| seen.iter().find(|target| target.person.id == answer.id);
            let targets = [answer.and_then(find), exactly.and_then(find)];
            let count = if same(answer, exactly, tolerance.metres) {
                &mut checked.inexact
            } else if tie(answer, exactly, tolerance.metres) {
                &mut checked.ties
            } else if targets.into_iter().flatten().any(tolerance.iterated) {
                &mut checked.iterated
            } else if is_possible(&seen, &line, answer, tolerance.metres, tolerance.graze) {
                &mut checked.grazes
            } else {
                panic!(
                    "seed {} at {:?}: {asked:?} {line:?}\n  answered {answer:?}\n\
                     expected {expected:?} or {exactly:?}\n{}",
                    crowd.seed,
                    crowd.now(),
                    exactly.map(|exactly| describe(crowd, &seen, exactly)).unwrap_or_default()
                )
            };
            *count += 1;
        }
        checked.count_situations_of(crowd, &seen, &line, expected);
    }
}

/// Describes the target that should have been hit.
fn describe(crowd: &RandomWorld, seen: &[OracleTarget<'_>], answer: OracleHit) -> String {
    let Some(target) = seen.iter().find(|target| target.person.id == answer.id) else { return String::new() };
    let person = target.person;
    let history = crowd.history(person);
    let sent: Vec<_> = history.sent.iter().map(|s| (s.tick.0, s.base, s.position(), s.teleports)).collect();
    let (since, sets) = (person.gone.as_ref().map(|gone| gone.0), person.sets.iter().map(|set| set.0));
    let sets: Vec<_> = sets.collect();
    format!("{:?} gone {since:?} sets {sets:?} seen {:?}\nsent {sent:?}", person.mode, target.sample)
}

/// Checks that the fields of a hit are consistent.
fn assert_well_formed(hit: &TargetHit, seen: &[OracleTarget<'_>], line: &Line) {
    let target =
        seen.iter().find(|target| target.person.id == hit.target).expect("the hit target must be present");
    let hit_box = &target.set.boxes()[usize::from(hit.hit_box)];
    assert_eq!(
        (hit.entity, hit.group, hit.factor),
        (target.person.entity, hit_box.group, hit_box.factor),
        "{hit:?}"
    );
    let point = line.origin + line.direction * hit.distance;
    assert!(point.distance(hit.point) <= 1e-4 * (1.0 + hit.distance * 0.01), "{hit:?} {point}");
}

fn same(a: Option<OracleHit>, b: Option<OracleHit>, off: f64) -> bool {
    tie(a, b, off) && a.map(|a| a.index) == b.map(|b| b.index)
}

/// Whether both answers have the same target, hit group and distance.
fn tie(a: Option<OracleHit>, b: Option<OracleHit>, off: f64) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            let far = off * (a.distance * 0.01).max(1.0);
            (a.id, a.group) == (b.id, b.group) && (a.distance - b.distance).abs() <= far
        }
        (None, None) => true,
        _ => false,
    }
}
