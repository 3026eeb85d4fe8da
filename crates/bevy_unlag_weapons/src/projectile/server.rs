//! Server-side projectile simulation: catching up from the shooter's view time, then in step with the server.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, SUB_TICKS, Sampler, Tick, ViewTime};
use bevy_unlag_rewind::{Meeting, RewindFilter, RewindQuery, RewindTime, Rewound, TargetHit, View};
use bevy_unlag_smoothing::SentLog;

use super::{
    CatchUp, Launch, Launches, Piece, ProjectileEndKind, ProjectileLaunch, ProjectileRules, Seen, Trajectory,
    burst::{Blasts, Burst},
    flying,
    trajectory::reflected,
};
use crate::{
    Arsenal, HitList, Mailed, Projectile, ProjectileEnd, ShotRefusal, ShotResult, ShotVerdict, Weapon,
    judge::Answers,
};

/// Distance from a pawn after a bounce, in metres.
const SKIN: f32 = 0.01;
/// Maximum number of bounces off pawns within one tick of age, because each is broadcast: a projectile
/// squeezed between two pawns hits none for the rest of that tick.
const MOST_TURNS: usize = 2;

/// All projectiles in flight on this server, in the order in which they were fired.
#[derive(Resource, Default)]
pub struct Flights(Vec<InFlight>);

impl Flights {
    /// Returns the newest launch of each projectile: a transport sends them to a late joiner, which receives
    /// all later messages as usual.
    pub fn launches(&self) -> impl ExactSizeIterator<Item = ProjectileLaunch> {
        self.0.iter().map(|flight| flight.launch)
    }

    /// Removes all projectiles without sending their end: for a match restart, about which clients are
    /// notified anyway. Do not call it while the weapon systems run.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// A projectile in flight.
pub(super) struct InFlight {
    pub shot: Launch,
    pub launch: ProjectileLaunch,
    /// Tick in which the shot was validated.
    launched: Tick,
    path: Trajectory,
    /// Number of whole ticks of age that have been tested for hits.
    tested: u32,
    /// Flight distance, in metres.
    pub distance: f32,
    /// The pawn that it bounced off last.
    off: Option<Entity>,
    /// Flight times of the last bounces off pawns, in 1/256 of a tick, newest first.
    turns: [Option<u32>; MOST_TURNS],
}

/// Read-only context of the simulation.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Air<'w, 's> {
    pub query: RewindQuery<'w, 's>,
    tick: Res<'w, CurrentTick>,
    sampler: Res<'w, Sampler>,
    arsenal: Res<'w, Arsenal>,
    rules: Res<'w, ProjectileRules>,
    sent: Query<'w, 's, &'static SentLog>,
}

/// Messages about projectiles to clients and the game.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Heralds<'w, 's> {
    pub answers: Answers<'w, 's>,
    launches: MessageWriter<'w, ProjectileLaunch>,
    ends: MessageWriter<'w, ProjectileEnd>,
}

impl Heralds<'_, '_> {
    fn launched(&mut self, shooter: Entity, launch: ProjectileLaunch) {
        self.launches.write(launch);
        self.answers.mail(shooter, Mailed::Launched(launch));
    }

    /// Sends the end to all clients, and the hits to the shooter.
    fn ended(&mut self, flight: &InFlight, end: ProjectileEnd, list: HitList) {
        let shooter = flight.shot.shooter;
        self.ends.write(end);
        self.answers.mail(shooter, Mailed::Ended(end));
        let result = if list.first().is_some() { ShotResult::Hit(list) } else { ShotResult::Miss };
        let (shot, clamped) = (flight.launch.shot, flight.shot.clamped);
        self.answers.tell(shooter, ShotVerdict { shot, result, clamped });
    }
}

/// Result of a simulated tick.
enum Next {
    Flies,
    Bounced,
    Ends(Burst),
}

pub(crate) fn fly(
    mut launches: ResMut<Launches>,
    mut flights: ResMut<Flights>,
    air: Air,
    mut heralds: Heralds,
    mut blasts: Local<Blasts>,
) {
    let flights = &mut flights.0;
    for shot in launches.0.drain(..) {
        air.take_off(shot, flights, &mut heralds);
    }
    flights.retain_mut(|flight| {
        let weapon = air.arsenal.get(flight.launch.weapon);
        let Some((weapon, projectile)) = weapon.and_then(|weapon| Some((weapon, flying(weapon)?))) else {
            // The arsenal has been replaced, and the new one has no such projectile weapon.
            let age = f64::from(flight.tested);
            let end = flight.end(age, flight.path.at(age).0, ProjectileEndKind::Gone);
            heralds.ended(flight, end, HitList::default());
            return false;
        };
        !air.fly(flight, (weapon, projectile), &mut heralds, &mut blasts)
    });
}

impl<'w, 's> Air<'w, 's> {
    fn take_off(&self, mut shot: Launch, flights: &mut Vec<InFlight>, heralds: &mut Heralds) {
        let Some(projectile) = self.arsenal.get(shot.round.weapon).and_then(flying) else { return };
        let own = flights.iter().filter(|flight| flight.shot.id == shot.id).count();
        let full = own >= self.rules.per_shooter || flights.len() >= self.rules.total;
        let result = if full { ShotResult::Refused(ShotRefusal::TooMany) } else { ShotResult::Launched };
        let verdict = ShotVerdict { shot: shot.round.shot, result, clamped: shot.clamped };
        heralds.answers.tell(shot.shooter, verdict);
        if full {
            return;
        }
        let now = self.tick.0;
        if shot.at.is_none() {
            // It was fired at present poses, so the properties of a view do not apply.
            shot.seen = Seen::default();
        }
        let time = shot.at.unwrap_or(ViewTime::at(now));
        let launch = ProjectileLaunch::of(&shot.round, projectile, shot.id, shot.from, time);
        let path = Trajectory::new(&launch, projectile, self.sampler.tick_seconds);
        heralds.launched(shot.shooter, launch);
        let turns = [None; MOST_TURNS];
        flights.push(InFlight {
            shot,
            launch,
            launched: now,
            path,
            tested: 0,
            distance: 0.0,
            off: None,
            turns,
        });
    }

    /// Returns the newest view time up to which displayed poses are known: all clients have been sent
    /// snapshots around it, and no screen shows it earlier either.
    ///
    /// This holds for pawns that are sent at the usual interval or more often. A pawn that is sent less often
    /// is drawn with a longer delay than all others. Only the client knows that delay, and its shot reports
    /// it for up to [`MAX_OVERRIDES`](crate::MAX_OVERRIDES) such pawns near its line of fire. The additional
    /// delay holds for the whole flight, so the snapshots of these pawns lie around *their* moment, and the
    /// projectile meets them where they are drawn. A pawn that the shot does not name is posed where its
    /// newest snapshot is extrapolated to, which no screen shows: it is off by the distance that it covers in
    /// the ticks by which its interval exceeds the usual one.
    fn frontier(&self) -> ViewTime {
        ViewTime::at(self.tick.0.offset(-self.sampler.snapshot_ticks.max(0)))
    }

    /// Advances a projectile as far as displayed poses are known. Returns whether it has ended.
    fn fly(
        &self,
        flight: &mut InFlight,
        (weapon, projectile): (&Weapon, &Projectile),
        heralds: &mut Heralds,
        blasts: &mut Blasts,
    ) -> bool {
        let frontier = self.frontier();
        // The work is bounded by the flight time and the number of bounces.
        loop {
            let until = flight.moment(f64::from(flight.tested) + 1.0);
            let catching_up = self.rules.catch_up == CatchUp::Present && until.since(self.now(flight)) <= 0;
            if until.since(frontier) > 0 && !catching_up {
                return false;
            }
            match self.step(flight, projectile) {
                Next::Flies => {}
                Next::Bounced => heralds.launched(flight.shot.shooter, flight.launch),
                Next::Ends(burst) => {
                    let then = self.at(flight, flight.moment(burst.age));
                    let list = burst.apply(flight, (weapon, projectile), (self, &then), blasts, heralds);
                    heralds.ended(flight, flight.end(burst.age, burst.point, burst.kind()), list);
                    return true;
                }
            }
        }
    }

    fn now(&self, flight: &InFlight) -> ViewTime {
        ViewTime::at(flight.launched)
    }

    /// Returns the poses that the shooter's screen shows at a view time.
    fn at<'a>(&'a self, flight: &'a InFlight, time: ViewTime) -> Rewound<'a, 'w, 's> {
        let shot = &flight.shot;
        let filter = RewindFilter { not_of: shot.not_of, ..RewindFilter::without(shot.shooter) };
        let caught_up = self.rules.catch_up == CatchUp::Seen || time.since(self.now(flight)) > 0;
        let present = || self.query.at(RewindTime::Now).ok();
        if let Some(present) = (!caught_up).then(present).flatten() {
            return present.of(filter);
        }
        let sent = self.sent.get(shot.shooter).ok().filter(|_| shot.seen.sent);
        let fired = shot.at.unwrap_or(flight.launch.time);
        let view = shot.seen.view(fired, flight.launched, self.tick.0);
        let asked = view.time;
        let then = self.query.admitted(View { sent, ..view }).of(filter);
        if time == asked { then } else { then.later(time) }
    }

    /// Simulates one tick of age.
    fn step(&self, flight: &mut InFlight, projectile: &Projectile) -> Next {
        flight.path.advance(|from, way, max, radius| self.query.world().touch(from, way, max, radius));
        flight.tested += 1;
        for index in 0..flight.path.pieces().len() {
            for piece in flight.path.pieces()[index].halves() {
                if let Some(next) = self.meet(flight, &piece, projectile) {
                    return next;
                }
            }
        }
        let Some(end) = flight.path.end() else { return Next::Flies };
        let velocity = flight.path.at(end.age).1;
        Next::Ends(Burst { age: end.age, point: end.point, normal: end.normal, velocity, direct: None })
    }

    /// Tests one segment for a hit of a pawn or a moving collider.
    fn meet(&self, flight: &mut InFlight, piece: &Piece, projectile: &Projectile) -> Option<Next> {
        let (from, to) = (flight.moment(piece.from), flight.moment(piece.to));
        let met = {
            let off = flight.off;
            let nobody = flight.is_squeezed(piece.from);
            let allowed = |entity| !nobody && Some(entity) != off;
            let filter = RewindFilter {
                not_of: flight.shot.not_of,
                only: (nobody || off.is_some()).then_some(&allowed),
                ..RewindFilter::without(flight.shot.shooter)
            };
            let (then, later) = (self.at(flight, from).of(filter), self.at(flight, to).of(filter));
            then.fly(&later, (piece.a, piece.b), projectile.radius, flight.shot.from)
        };
        match met {
            Some(Meeting::Target { hit, part }) => {
                let (age, point) = (piece.age(part), hit.point);
                flight.distance += point.distance(piece.a);
                let standing = self.at(flight, flight.moment(age)).pose(hit.entity).ok();
                let middle = standing.map_or(point, |pose| pose.position);
                let velocity = flight.path.at(age).1;
                if flight.bounces_off((hit.entity, point, middle), (age, velocity), projectile) {
                    flight.path = Trajectory::new(&flight.launch, projectile, self.sampler.tick_seconds);
                    return Some(Next::Bounced);
                }
                let direct = Some(TargetHit { distance: flight.distance, ..hit });
                Some(Next::Ends(Burst { age, point, normal: None, velocity, direct }))
            }
            Some(Meeting::Mover { part, .. }) => {
                let (age, point) = (piece.age(part), piece.a.lerp(piece.b, part));
                let velocity = flight.path.at(age).1;
                let normal = Some(-velocity.try_normalize().unwrap_or(Vec3::NEG_Y));
                Some(Next::Ends(Burst { age, point, normal, velocity, direct: None }))
            }
            None => {
                flight.distance += piece.a.distance(piece.b);
                None
            }
        }
    }
}

impl InFlight {
    /// Returns the view time at an age in ticks.
    fn moment(&self, age: f64) -> ViewTime {
        self.launch.time.later((age * SUB_TICKS as f64).round() as i64)
    }

    /// Relaunches the projectile off a pawn that it met, if it bounces off pawns.
    fn bounces_off(
        &mut self,
        (entity, at, middle): (Entity, Vec3, Vec3),
        (age, velocity): (f64, Vec3),
        projectile: &Projectile,
    ) -> bool {
        let Some((from, velocity)) = off_somebody((at, middle), velocity, projectile, self.path.bounces())
        else {
            return false;
        };
        self.launch = self.launch.off(age, from, velocity, self.path.bounces() + 1);
        (self.tested, self.off) = (0, Some(entity));
        self.turns.rotate_right(1);
        self.turns[0] = Some(self.launch.flown);
        true
    }

    /// Whether it has reached the maximum number of bounces off pawns within the last tick of its age.
    fn is_squeezed(&self, age: f64) -> bool {
        let first = self.turns[MOST_TURNS - 1];
        first.is_some_and(|first| i64::from(self.flown(age)) - i64::from(first) < SUB_TICKS)
    }

    /// Returns the total flight time at an age of the current launch, in 1/256 of a tick.
    fn flown(&self, age: f64) -> u32 {
        let passed = (age * SUB_TICKS as f64).round().clamp(0.0, 1e9) as u32;
        self.launch.flown.saturating_add(passed)
    }

    fn end(&self, age: f64, point: Vec3, kind: ProjectileEndKind) -> ProjectileEnd {
        let (shooter, shot) = self.launch.key();
        ProjectileEnd { shooter, shot, flown: self.flown(age), point, kind }
    }
}

/// Returns position and velocity after a bounce off a pawn centred at `middle`, as off an upright pillar;
/// `None` if the projectile does not bounce off pawns.
pub(super) fn off_somebody(
    (at, middle): (Vec3, Vec3),
    velocity: Vec3,
    projectile: &Projectile,
    bounces: u8,
) -> Option<(Vec3, Vec3)> {
    let bounce = projectile.bounce.filter(|bounce| bounce.off_pawns && bounces < bounce.times)?;
    let outwards = (at - middle).with_y(0.0).try_normalize();
    let back = || -velocity.with_y(0.0).try_normalize().unwrap_or(Vec3::Y);
    let normal = outwards.unwrap_or_else(back);
    Some((at + normal * SKIN, reflected(velocity, normal, bounce.keep)))
}
