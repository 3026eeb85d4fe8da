//! Server-side projectile simulation: catching up from the shooter's view time, then in step with the server.

use bevy::prelude::*;
use bevy_unlag_core::{SUB_TICKS, ViewTime, split_height};
use bevy_unlag_rewind::{FlightStepHit, QueryView, RewindFilter, RewindTime, Rewound, TargetHit};

use super::{
    CatchUp, LaunchView, PathSegment, PendingLaunch, PendingLaunches, ProjectileEndKind, ProjectileLaunch,
    Trajectory, flying,
    impact::{Impact, ImpactBuffers},
    trajectory::{direction_or_down, reflect},
};
use crate::{
    projectile::{
        ProjectileEnd,
        server_projectile::{
            MAX_PAWN_BOUNCES_PER_TICK, ProjectileContext, ProjectileOutput, ServerProjectile,
        },
    },
    shot_messages::ShotMessage,
    verdict::{HitList, ShotRefusal, ShotResolved, ShotResult, ShotVerdict},
    weapon::{Projectile, Weapon},
};

/// Distance from a pawn after a bounce, in metres.
const SKIN: f32 = 0.01;

/// All projectiles in flight on this server, in the order in which they were fired.
#[derive(Resource, Default)]
pub struct ProjectilesInFlight(Vec<ServerProjectile>);

impl ProjectilesInFlight {
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

impl ProjectileOutput<'_, '_> {
    fn launched(&mut self, shooter: Entity, launch: ProjectileLaunch) {
        self.launches.write(launch);
        self.shot_output.broadcast(shooter, ShotMessage::Launched(launch));
    }

    /// Sends the end to all clients, and the hits to the shooter.
    fn ended(&mut self, flight: &ServerProjectile, end: ProjectileEnd, list: HitList) {
        let shooter = flight.shot.shooter;
        self.ends.write(end);
        self.shot_output.broadcast(shooter, ShotMessage::Ended(end));
        let result = ShotResult::from(list);
        let verdict = ShotVerdict { shot: flight.launch.shot, result, clamped: flight.shot.clamped };
        self.shot_output.resolve(ShotResolved { shooter, verdict, is_impact: true, rewind: None });
    }
}

/// Result of a simulated tick.
enum StepOutcome {
    Flies,
    Bounced,
    DisplayedEnd(Impact),
}

pub(crate) fn fly(
    mut launches: ResMut<PendingLaunches>,
    mut flights: ResMut<ProjectilesInFlight>,
    air: ProjectileContext,
    mut output: ProjectileOutput,
    mut blasts: Local<ImpactBuffers>,
) {
    let flights = &mut flights.0;
    for shot in launches.0.drain(..) {
        air.launch(shot, flights, &mut output);
    }
    flights.retain_mut(|flight| {
        let weapon = air.arsenal.get(flight.launch.weapon);
        let Some((weapon, projectile)) = weapon.and_then(|weapon| Some((weapon, flying(weapon)?))) else {
            // The arsenal has been replaced, and the new one has no such projectile weapon.
            let age = f64::from(flight.tested);
            let end = flight.end(age, flight.path.at(age).0, ProjectileEndKind::Gone);
            output.ended(flight, end, HitList::default());
            return false;
        };
        !air.fly(flight, (weapon, projectile), &mut output, &mut blasts)
    });
}

impl<'w, 's> ProjectileContext<'w, 's> {
    fn launch(
        &self,
        mut shot: PendingLaunch,
        flights: &mut Vec<ServerProjectile>,
        output: &mut ProjectileOutput,
    ) {
        let Some(projectile) = self.arsenal.get(shot.round.weapon).and_then(flying) else { return };
        let own = flights.iter().filter(|flight| flight.shot.id == shot.id).count();
        let full = own >= self.rules.per_shooter || flights.len() >= self.rules.total;
        let result = if full { ShotResult::Refused(ShotRefusal::TooMany) } else { ShotResult::Launched };
        let verdict = ShotVerdict { shot: shot.round.shot, result, clamped: shot.clamped };
        let (shooter, rewind) = (shot.shooter, shot.rewind.filter(|_| !full));
        output.shot_output.resolve(ShotResolved { shooter, verdict, is_impact: false, rewind });
        if full {
            return;
        }
        let now = self.tick.0;
        if shot.at.is_none() {
            // It was fired at present poses, so the properties of a view do not apply.
            shot.seen = LaunchView::default();
        }
        let time = shot.at.unwrap_or(ViewTime::at(now));
        let launch = ProjectileLaunch::of(&shot.round, projectile, shot.id, shot.from, time);
        let path = self.path(&launch, projectile);
        output.launched(shot.shooter, launch);
        let pawn_bounces = [None; MAX_PAWN_BOUNCES_PER_TICK];
        flights.push(ServerProjectile {
            shot,
            launch,
            launched: now,
            path,
            tested: 0,
            distance: 0.0,
            off: None,
            pawn_bounces,
        });
    }

    fn path(&self, launch: &ProjectileLaunch, projectile: &Projectile) -> Trajectory {
        Trajectory::new(launch, projectile, self.sampler.tick_seconds).in_gravity(&self.gravity)
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
    fn newest_known_view_time(&self) -> ViewTime {
        ViewTime::at(self.tick.0.offset(-self.sampler.snapshot_ticks.max(0)))
    }

    /// Advances a projectile as far as displayed poses are known. Returns whether it has ended.
    fn fly(
        &self,
        flight: &mut ServerProjectile,
        (weapon, projectile): (&Weapon, &Projectile),
        output: &mut ProjectileOutput,
        blasts: &mut ImpactBuffers,
    ) -> bool {
        let newest_known_view_time = self.newest_known_view_time();
        // The work is bounded by the flight time and the number of bounces.
        loop {
            let until = flight.moment(f64::from(flight.tested) + 1.0);
            let catching_up = self.rules.catch_up == CatchUp::Present && until.since(self.now(flight)) <= 0;
            if until.since(newest_known_view_time) > 0 && !catching_up {
                return false;
            }
            match self.step(flight, projectile) {
                StepOutcome::Flies => {}
                StepOutcome::Bounced => output.launched(flight.shot.shooter, flight.launch),
                StepOutcome::DisplayedEnd(burst) => {
                    let then = self.at(flight, flight.moment(burst.age));
                    let list = burst.apply(flight, (weapon, projectile), (self, &then), blasts, output);
                    output.ended(flight, flight.end(burst.age, burst.point, burst.kind()), list);
                    return true;
                }
            }
        }
    }

    fn now(&self, flight: &ServerProjectile) -> ViewTime {
        ViewTime::at(flight.launched)
    }

    /// Returns the poses that the shooter's screen shows at a view time.
    fn at<'a>(&'a self, flight: &'a ServerProjectile, time: ViewTime) -> Rewound<'a, 'w, 's> {
        let shot = &flight.shot;
        let exclude_team = shot.spared.passed();
        let filter = RewindFilter { exclude_team, ..RewindFilter::exclude(shot.shooter) };
        let caught_up = self.rules.catch_up == CatchUp::Displayed || time.since(self.now(flight)) > 0;
        let present = || self.query.at(RewindTime::Now).ok();
        if let Some(present) = (!caught_up).then(present).flatten() {
            return present.with_filter(filter);
        }
        let sent = self.sent.get(shot.shooter).ok().filter(|_| shot.seen.sent);
        let fired = shot.at.unwrap_or(flight.launch.time);
        let view = shot.seen.view(fired, flight.launched, self.tick.0);
        let requested = view.time;
        let then = self.query.at_validated(QueryView { sent, ..view }).with_filter(filter);
        if time == requested { then } else { then.later(time) }
    }

    /// Simulates one tick of age.
    fn step(&self, flight: &mut ServerProjectile, projectile: &Projectile) -> StepOutcome {
        flight.path.advance(|from, way, max, radius| self.query.world().cast_contact(from, way, max, radius));
        flight.tested += 1;
        for index in 0..flight.path.segments().len() {
            for piece in flight.path.segments()[index].halves() {
                if let Some(next) = self.meet(flight, &piece, projectile) {
                    return next;
                }
            }
        }
        let Some(end) = flight.path.end() else { return StepOutcome::Flies };
        StepOutcome::DisplayedEnd(Impact {
            age: end.age,
            point: end.point,
            normal: end.normal,
            velocity: flight.path.at(end.age).1,
            up: flight.path.up(),
            direct: None,
        })
    }

    /// Tests one segment for a hit of a pawn or a moving collider.
    fn meet(
        &self,
        flight: &mut ServerProjectile,
        piece: &PathSegment,
        projectile: &Projectile,
    ) -> Option<StepOutcome> {
        let (from, to) = (flight.moment(piece.from), flight.moment(piece.to));
        let met = {
            let off = flight.off;
            let nobody = flight.reached_pawn_bounce_limit(piece.from);
            let allowed = |entity| !nobody && Some(entity) != off;
            let filter = RewindFilter {
                exclude_team: flight.shot.spared.passed(),
                predicate: (nobody || off.is_some()).then_some(&allowed),
                ..RewindFilter::exclude(flight.shot.shooter)
            };
            let (then, later) =
                (self.at(flight, from).with_filter(filter), self.at(flight, to).with_filter(filter));
            then.cast_step(&later, (piece.a, piece.b), projectile.radius, flight.shot.from)
        };
        let Some(FlightStepHit { part, what }) = met else {
            flight.distance += piece.a.distance(piece.b);
            return None;
        };
        let hit = what.ok();
        let age = piece.age(part);
        let point = hit.map_or_else(|| piece.a.lerp(piece.b, part), |hit| hit.point);
        let (velocity, up) = (flight.path.at(age).1, flight.path.up());
        let mut direct = None;
        if let Some(hit) = hit {
            flight.distance += point.distance(piece.a);
            let standing = self.at(flight, flight.moment(age)).pose(hit.entity).ok();
            let pillar = standing.map_or((point, up), |pose| (pose.position, pose.up()));
            if flight.try_bounce_off_pawn((hit.entity, point, pillar), (age, velocity), projectile) {
                flight.path = self.path(&flight.launch, projectile);
                return Some(StepOutcome::Bounced);
            }
            // It ends at a teammate that blocks it as at a wall.
            let blocked = flight.shot.spared.is_blocked_by(self.query.team_of(&hit));
            direct = (!blocked).then_some(TargetHit { distance: flight.distance, ..hit });
        }
        let normal = direct.is_none().then(|| -direction_or_down(velocity, up));
        Some(StepOutcome::DisplayedEnd(Impact { age, point, normal, velocity, up, direct }))
    }
}

impl ServerProjectile {
    /// Returns the view time at an age in ticks.
    fn moment(&self, age: f64) -> ViewTime {
        self.launch.time.later((age * SUB_TICKS as f64).round() as i64)
    }

    /// Relaunches the projectile off a pawn that it met, if it bounces off pawns.
    fn try_bounce_off_pawn(
        &mut self,
        (entity, at, pillar): (Entity, Vec3, (Vec3, Vec3)),
        (age, velocity): (f64, Vec3),
        projectile: &Projectile,
    ) -> bool {
        let Some((from, velocity)) = bounce_off_pawn((at, pillar), velocity, projectile, self.path.bounces())
        else {
            return false;
        };
        self.launch = self.launch.off(age, from, velocity, self.path.bounces() + 1);
        (self.tested, self.off) = (0, Some(entity));
        self.pawn_bounces.rotate_right(1);
        self.pawn_bounces[0] = Some(self.launch.flown);
        true
    }

    /// Whether it has reached the maximum number of bounces off pawns within the last tick of its age.
    fn reached_pawn_bounce_limit(&self, age: f64) -> bool {
        let first = self.pawn_bounces[MAX_PAWN_BOUNCES_PER_TICK - 1];
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

/// Returns position and velocity after a bounce at `at` off a pawn at `middle`, as off a pillar along its up
/// direction; `None` if the projectile does not bounce off pawns.
pub(super) fn bounce_off_pawn(
    (at, (middle, up)): (Vec3, (Vec3, Vec3)),
    velocity: Vec3,
    projectile: &Projectile,
    bounces: u8,
) -> Option<(Vec3, Vec3)> {
    let bounce = projectile.bounce.filter(|bounce| bounce.off_pawns && bounces < bounce.times)?;
    let level = |vector: Vec3| split_height(vector, up).0.try_normalize();
    let outwards = level(at - middle);
    let back = || -level(velocity).unwrap_or(up);
    let normal = outwards.unwrap_or_else(back);
    Some((at + normal * SKIN, reflect(velocity, normal, bounce.keep)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weapon::Bounce;

    #[test]
    fn bounce_off_a_pawn_is_level_for_the_pawn() {
        let bounce = Some(Bounce { times: 3, keep: 1.0, off_pawns: true });
        let disc = Projectile { speed: 9.0, radius: 0.0, gravity: 0.0, life: 1.0, bounce, splash: None };
        for up in [Vec3::Y, Vec3::NEG_Y, Vec3::X, Vec3::NEG_Z] {
            // It meets the pawn on its side, above its middle, and falls.
            let aside = up.any_orthonormal_vector();
            let (at, velocity) = (aside * 0.3 + up * 1.2, aside * -8.0 - up * 2.0);
            let bounced = bounce_off_pawn((at, (Vec3::ZERO, up)), velocity, &disc, 0);
            let (from, velocity) = bounced.expect("it bounces");
            assert!(from.distance(at + aside * SKIN) < 1e-5, "{up}: {from}");
            assert!(velocity.distance(aside * 8.0 - up * 2.0) < 1e-4, "{up}: {velocity}");
        }
    }
}
