//! Benefit and cost of cover protection. Bots on good and bad links run in and out of cover and shoot at what
//! their screens show; every shot is validated without the rule and with several settings of it.
//!
//! The network is a constant delay. A bot's own pawn is where its player steers it; the server has it one way
//! later; the other clients draw it after another way and a playout delay, from the snapshots that the server
//! sent and with the sampler that it validates with. Nobody dies.

use std::collections::VecDeque;

use bevy::ecs::system::SystemState;

use crate::prelude::*;

const BOTS: usize = 10;
/// One-way latency in ticks: round trips of 31 and 187 ms, the multiples of a tick near 20 and 200 ms.
const ONE_WAY: [usize; 2] = [1, 6];
/// Playout delay in ticks: a snapshot interval and one tick.
const PLAYOUT: usize = 4;
/// Ticks of recorded positions per bot.
const MEMORY: usize = 64;
/// Ticks between two rounds of a bot.
const FIRE: u32 = 8;
const SPEED: f32 = 5.0;
/// Acceleration in metres per second squared.
const PUSH: f32 = 40.0;
const EYE: f32 = 1.6;
/// Distance from the middle to the walls, and from a wall to a bot hiding behind it, in metres.
const RING: f32 = 11.0;
const BEHIND: f32 = 1.2;
/// Half the width, height and thickness of a wall in metres.
const HALF_WALL: f32 = 1.5;
const HALF_HEIGHT: f32 = 1.5;
const HALF_THICK: f32 = 0.2;
/// Ticks out of the shooter's sight beyond which a hit counts as around the corner: more than 100 ms and more
/// than 150 ms.
const CORNER_TICKS: [usize; 2] = [7, 10];

/// Compared settings: grace time and minimum age of the view, in milliseconds.
pub const COVER_RULES: [(u64, u64); 3] = [(50, 100), (100, 150), (150, 150)];

/// Outcome of the shots under one setting.
#[derive(Clone, Copy, Debug, Default)]
pub struct CoverRow {
    /// Hits drawn on the shooters' screens.
    pub drawn: u32,
    /// Drawn hits that the server confirmed.
    pub confirmed: u32,
    /// Confirmed hits on a target that had been out of the shooter's sight on the server for over 100 and
    /// over 150 ms.
    pub behind: [u32; 2],
    /// The same according to the target's own screen.
    pub on_screen: [u32; 2],
}

/// Outcomes without the rule, and with each of [`COVER_RULES`].
pub type CoverRows = [CoverRow; 1 + COVER_RULES.len()];

impl CoverRow {
    /// Returns P(confirmed | drawn) in percent.
    pub fn agreement(&self) -> f64 {
        f64::from(self.confirmed) / f64::from(self.drawn.max(1)) * 100.0
    }
}

/// Bot that hides behind a wall and leaves its cover to shoot.
struct Bot {
    entity: Entity,
    one_way: usize,
    /// Centre of its wall and the direction along it.
    wall: (Vec3, Vec3),
    place: Vec3,
    velocity: Vec3,
    goal: Vec3,
    /// Ticks until the next decision.
    patience: u32,
    out: bool,
    /// Recorded positions on the owner's client, newest first.
    past: VecDeque<Vec3>,
}

impl Bot {
    /// Returns the owner's position a number of ticks ago.
    fn at(&self, ago: usize) -> Vec3 {
        self.past.get(ago).or(self.past.back()).copied().unwrap_or(self.place)
    }

    fn step(&mut self, rng: &mut SmallRng) {
        let dt = TICK.as_secs_f32();
        self.patience = self.patience.saturating_sub(1);
        if self.patience == 0 {
            let (middle, along) = self.wall;
            let outwards = middle.normalize_or_zero();
            // Three or four moves in the open, then back into cover for a while.
            self.out = if self.out { rng.random_bool(0.7) } else { true };
            let side = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
            self.goal = if self.out {
                middle
                    + along * side * (HALF_WALL + rng.random_range(0.8..4.0))
                    + outwards * rng.random_range(-2.0..1.0)
            } else {
                middle + outwards * BEHIND + along * rng.random_range(-0.5..0.5)
            };
            self.patience = if self.out { rng.random_range(20..70) } else { rng.random_range(70..160) };
        }
        // The way around the wall leads past its edge.
        let (middle, along) = self.wall;
        let outwards = middle.normalize_or_zero();
        let (depth, goal_depth) = ((self.place - middle).dot(outwards), (self.goal - middle).dot(outwards));
        let aside = (self.place - middle).dot(along);
        let crosses = depth * goal_depth < 0.0 && aside.abs() < HALF_WALL + 0.5;
        let edge = middle + along * (HALF_WALL + 0.7) * aside.signum() + outwards * depth;
        let to = if crosses { edge } else { self.goal } - self.place;
        let wanted = to.clamp_length_max(1.0) * SPEED;
        self.velocity += (wanted - self.velocity).clamp_length_max(PUSH * dt);
        self.place += self.velocity * dt;
        self.past.push_front(self.place);
        self.past.truncate(MEMORY);
    }
}

/// Round on its way to the server.
#[derive(Clone, Copy)]
struct PendingShot {
    shooter: usize,
    arrives: u32,
    seen: ViewTime,
    eye: Vec3,
    way: Vec3,
    drawn: Option<NetId>,
}

struct Arena {
    app: App,
    query: SystemState<RewindQuery<'static, 'static>>,
    bots: Vec<Bot>,
    rounds: Vec<PendingShot>,
    rng: SmallRng,
}

/// Runs the bots and adds the outcomes to the figures.
///
/// # Errors
/// Returns a message if nothing was measured.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let mut arena = Arena::new(options.seed);
    let mut rows = CoverRows::default();
    for tick in 0..64 * options.extent(600, 2_400) {
        arena.tick();
        if tick > 2 * MEMORY as u32 {
            arena.fire();
            arena.validate_arrived(&mut rows);
        }
    }
    let [without, with @ ..] = rows;
    figures.add("cover_agreement_pc", without.agreement())?;
    let both = [100, 150].into_iter().enumerate();
    for (i, ms) in both.clone() {
        figures.add(format!("cover_behind_{ms}"), f64::from(without.behind[i]))?;
        figures.add(format!("cover_on_screen_{ms}"), f64::from(without.on_screen[i]))?;
    }
    let fewer = |with: u32, without: u32| (1.0 - f64::from(with) / f64::from(without)) * 100.0;
    for ((grace, beyond), row) in COVER_RULES.into_iter().zip(with) {
        let key = format!("cover_{grace}_{beyond}");
        for (i, ms) in both.clone() {
            figures.add(format!("{key}_fewer_{ms}_pc"), fewer(row.behind[i], without.behind[i]))?;
            figures.add(
                format!("{key}_fewer_on_screen_{ms}_pc"),
                fewer(row.on_screen[i], without.on_screen[i]),
            )?;
        }
        figures.add(format!("{key}_cost_pp"), without.agreement() - row.agreement())?;
    }
    Ok(())
}

impl Arena {
    fn new(seed: u64) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .add_plugins(RewindPlugin::<CapsuleModel>::default());
        app.finish();
        app.cleanup();
        let world = app.world_mut();
        let bots = (0..BOTS).map(|index| {
            let angle = index as f32 / BOTS as f32 * core::f32::consts::TAU;
            let turn = Quat::from_rotation_y(angle);
            let middle = turn * Vec3::NEG_Z * RING;
            world.spawn((
                Collider::cuboid(HALF_WALL, HALF_HEIGHT, HALF_THICK),
                Transform::from_translation(middle + Vec3::Y * HALF_HEIGHT).with_rotation(turn),
            ));
            let body = (RecordTransform::default(), humanoid_hit_boxes(), humanoid_rig());
            let place = middle + middle.normalize_or_zero() * BEHIND;
            Bot {
                entity: world.spawn((NetId(index as u16), body)).id(),
                one_way: ONE_WAY[index % 2],
                wall: (middle, turn * Vec3::X),
                place,
                velocity: Vec3::ZERO,
                goal: place,
                patience: 20 + 7 * index as u32,
                out: false,
                past: VecDeque::new(),
            }
        });
        let bots = bots.collect();
        let query = SystemState::new(app.world_mut());
        Self { app, query, bots, rounds: Vec::new(), rng: SmallRng::seed_from_u64(seed) }
    }

    fn now(&self) -> Tick {
        self.app.world().resource::<CurrentTick>().0
    }

    fn tick(&mut self) {
        for bot in &mut self.bots {
            bot.step(&mut self.rng);
            let mut transform =
                self.app.world_mut().get_mut::<Transform>(bot.entity).expect("the bot has a pawn");
            transform.translation = bot.at(bot.one_way);
            // Bots face the middle of the arena.
            transform.look_to(-bot.wall.0, Vec3::Y);
        }
        self.app.update();
        if self.now().0.is_multiple_of(3) {
            let world = self.app.world_mut();
            for mut history in world.query::<&mut PublishedPath>().iter_mut(world) {
                history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
            }
        }
    }

    /// Lets bots in the open shoot near a pawn that they see on their screen.
    fn fire(&mut self) {
        let now = self.now();
        let query = self.query.get(self.app.world()).expect("the server has a RewindQuery");
        for (shooter, bot) in self.bots.iter().enumerate() {
            if !bot.out || !(now.0 + shooter as u32).is_multiple_of(FIRE) {
                continue;
            }
            let age = bot.one_way + PLAYOUT;
            let fraction = self.rng.random::<u8>();
            let seen = ViewTime { tick: now.offset(-(age as i32)), fraction };
            // Uniform over one and a half silhouettes to either side.
            let off = Vec2::new(self.rng.random_range(-0.75..0.75), self.rng.random_range(0.3..1.7));
            let pick = self.rng.random_range(0..BOTS);
            let eye = bot.place + Vec3::Y * EYE;
            let Ok(screen) = query.at(RewindTime::At(seen)) else { continue };
            // First visible pawn, searched from a random start.
            let shown = (0..BOTS).map(|step| (pick + step) % BOTS).filter(|other| *other != shooter);
            let target = shown
                .filter_map(|other| screen.pose(self.bots[other].entity).ok())
                .find(|pose| query.world().is_clear(eye, pose.position + Vec3::Y * 1.3));
            let Some(target) = target else { continue };
            let across = (target.position - eye).cross(Vec3::Y).normalize_or_zero();
            let way = target.position + across * off.x + Vec3::Y * off.y - eye;
            let drawn = screen.with_filter(RewindFilter::exclude(bot.entity)).cast_ray(eye, way, 100.0);
            let (drawn, arrives) = (drawn.ok().map(|hit| hit.target), now.0 + bot.one_way as u32);
            self.rounds.push(PendingShot { shooter, arrives, seen, eye, way, drawn });
        }
    }

    /// Validates the rounds that arrive in this tick, without the rule and with each setting.
    fn validate_arrived(&mut self, rows: &mut CoverRows) {
        let now = self.now();
        let (due, later): (Vec<PendingShot>, _) =
            self.rounds.iter().partition(|round| round.arrives <= now.0);
        self.rounds = later;
        let query = self.query.get(self.app.world()).expect("the server has a RewindQuery");
        let ask = |round: &PendingShot, cover| {
            let limits = RewindLimits { cover, ..default() };
            let view = QueryView { limits: Some(&limits), ..QueryView::from(round.seen) };
            let then = query.at(RewindTime::View(view)).ok()?;
            let then = then.with_filter(RewindFilter::exclude(self.bots[round.shooter].entity));
            then.cast_ray(round.eye, round.way, 100.0).ok()
        };
        let rules = COVER_RULES.map(|(grace, beyond)| CoverProtection {
            grace: Duration::from_millis(grace),
            max_exempt_age: Duration::from_millis(beyond),
        });
        for round in &due {
            let without = ask(round, None);
            let [behind, on_screen] = without.map_or([[false; 2]; 2], |hit| {
                let (shooter, victim) = (&self.bots[round.shooter], &self.bots[usize::from(hit.target.0)]);
                let late = shooter.one_way + victim.one_way + PLAYOUT;
                let server = |ago| (shooter.at(ago + shooter.one_way), victim.at(ago + victim.one_way));
                let screen = |ago| (shooter.at(ago + late), victim.at(ago));
                [
                    CORNER_TICKS.map(|ticks| is_hidden(&self.bots, ticks, server)),
                    CORNER_TICKS.map(|ticks| is_hidden(&self.bots, ticks, screen)),
                ]
            });
            let with = rules.into_iter().map(|rule| ask(round, Some(rule)));
            for (row, answer) in rows.iter_mut().zip(core::iter::once(without).chain(with)) {
                row.drawn += u32::from(round.drawn.is_some());
                let Some(hit) = answer else { continue };
                row.confirmed += u32::from(round.drawn == Some(hit.target));
                for i in 0..CORNER_TICKS.len() {
                    row.behind[i] += u32::from(behind[i]);
                    row.on_screen[i] += u32::from(on_screen[i]);
                }
            }
        }
    }
}

/// Returns whether the victim has been out of the shooter's sight for a number of ticks, by geometry
/// alone: 15 points cover the extent of a pawn. `places` returns the positions of shooter and victim a
/// number of ticks ago.
fn is_hidden(bots: &[Bot], ticks: usize, places: impl Fn(usize) -> (Vec3, Vec3)) -> bool {
    (0..=ticks).all(|ago| {
        let (shooter, victim) = places(ago);
        let eye = shooter + Vec3::Y * EYE;
        let across = (victim - eye).cross(Vec3::Y).normalize_or_zero();
        [0.1, 0.5, 0.9, 1.3, 1.65].into_iter().all(|height| {
            [-0.45, 0.0, 0.45].into_iter().all(|aside| {
                let point = victim + Vec3::Y * height + across * aside;
                bots.iter().any(|bot| is_blocked_by(bot.wall, eye, point))
            })
        })
    })
}

/// Returns whether a segment intersects a wall.
fn is_blocked_by((middle, along): (Vec3, Vec3), a: Vec3, b: Vec3) -> bool {
    let outwards = middle.normalize_or_zero();
    let half = Vec3::new(HALF_WALL, 2.0 * HALF_HEIGHT, HALF_THICK);
    let within =
        |point: Vec3| Vec3::new((point - middle).dot(along), point.y, (point - middle).dot(outwards));
    let (from, to) = (within(a), within(b));
    let way = to - from;
    // Intersection of the parameter intervals between each pair of faces (slab test).
    let (mut enter, mut leave) = (0.0_f32, 1.0_f32);
    for axis in 0..3 {
        let speed = if way[axis].abs() < 1e-9 { 1e-9 } else { way[axis] };
        let (one, other) = ((-half[axis] - from[axis]) / speed, (half[axis] - from[axis]) / speed);
        enter = enter.max(one.min(other));
        leave = leave.min(one.max(other));
    }
    enter <= leave
}
