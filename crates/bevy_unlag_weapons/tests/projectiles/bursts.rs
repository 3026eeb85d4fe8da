//! What a projectile does where it ends.

use bevy::prelude::*;
use bevy_unlag_core::{NetId, ViewTime};
use bevy_unlag_weapons::{
    Bounce, Mailed, Projectile, ProjectileEndKind, ProjectileRules, Round, ShotRefusal, ShotResult, Splash,
};

use crate::stage::{EYE, SHOOTER, Server, launcher, rocket, round, round_from};

fn splash() -> Splash {
    Splash { radius: 4.0, damage: 80.0, edge: 0.25, own: 0.5, throw: 10.0 }
}

fn grenade() -> Projectile {
    Projectile { splash: Some(splash()), ..rocket() }
}

/// Fires into the present, and lets it end. What was said of it.
fn fly(server: &mut Server, round: &Round) -> Vec<Mailed> {
    for _ in 0..30 {
        server.tick();
    }
    server.damage.clear();
    server.arrive(round);
    (0..400).flat_map(|_| server.tick()).collect()
}

fn verdict(said: &[Mailed]) -> ShotResult {
    let last = said.iter().rev().find_map(|mailed| match mailed {
        Mailed::Verdict(verdict) => Some(verdict.result),
        _ => None,
    });
    last.expect("a verdict")
}

fn end(said: &[Mailed]) -> (Vec3, ProjectileEndKind) {
    let mut ends = said.iter().filter_map(|mailed| match mailed {
        Mailed::Ended(end) => Some((end.point, end.kind)),
        _ => None,
    });
    let end = ends.next().expect("it ends");
    assert_eq!(ends.next(), None, "once");
    end
}

fn damage_of(server: &Server, id: u16) -> Option<f32> {
    let mut of = server.damage.iter().filter(|damage| damage.hits.target == NetId(id));
    let amount = of.next().map(|damage| damage.amount);
    assert!(of.next().is_none(), "once");
    amount
}

#[test]
fn a_direct_hit_counts_by_group_and_the_splash_falls_off_around_it() {
    let mut server = Server::new(&launcher(grenade()));
    for (id, x) in [(2, 0.0), (3, 1.6), (4, 3.2), (5, 6.0)] {
        server.target(id, Vec3::new(x, 0.0, -15.0));
    }
    let said = fly(&mut server, &round(1, None, Vec3::new(0.0, 1.2, -15.0) - EYE));
    let (_, kind) = end(&said);
    assert!(matches!(kind, ProjectileEndKind::Hit { target: NetId(2), .. }), "{kind:?}");
    let [direct, near, far] = [2, 3, 4].map(|id| damage_of(&server, id).expect("hurt"));
    // It bursts on its chest: the more of both counts.
    assert!((75.0..=80.0).contains(&direct), "{direct}");
    assert!(near < direct && far < near && far > 15.0, "{direct} {near} {far}");
    assert_eq!(damage_of(&server, 5), None, "out of reach");
    let thrown = server.damage.iter().find(|damage| damage.hits.target == NetId(4)).expect("thrown");
    assert!(thrown.throw.x > 2.0 && thrown.throw.length() < 10.0, "{:?}", thrown.throw);
    let ShotResult::Hit(list) = verdict(&said) else { panic!("{:?}", verdict(&said)) };
    assert_eq!(list.iter().map(|count| count.target.0).collect::<Vec<_>>(), [2, 3, 4]);
}

#[test]
fn without_a_splash_a_hit_hurts_as_its_group_says() {
    let mut server = Server::new(&launcher(rocket()));
    server.target(2, Vec3::new(0.0, 0.0, -15.0));
    let said = fly(&mut server, &round(1, None, Vec3::new(0.0, 1.25, -15.0) - EYE));
    assert!(matches!(verdict(&said), ShotResult::Hit(_)));
    assert_eq!(damage_of(&server, 2), Some(60.0));
}

#[test]
fn a_wall_hides_from_a_blast_and_a_shooter_takes_its_part() {
    let run = |with_wall: bool| {
        let mut server = Server::new(&launcher(grenade()));
        // It bursts at a wall beside its shooter.
        server.wall(Vec3::new(5.0, 5.0, 0.5), Vec3::new(0.0, 0.0, -3.0));
        server.target(2, Vec3::new(1.5, 0.0, -1.0));
        if with_wall {
            server.wall(Vec3::new(0.05, 5.0, 2.0), Vec3::new(0.8, 0.0, -1.0));
        }
        let said = fly(&mut server, &round(1, None, Vec3::NEG_Z));
        let (point, kind) = end(&said);
        assert_eq!(kind, ProjectileEndKind::Wall);
        assert!((point.z + 2.45).abs() < 0.05, "{point}");
        (damage_of(&server, 2), damage_of(&server, SHOOTER.0))
    };
    let (open, own) = run(false);
    let (hidden, _) = run(true);
    assert!(open.is_some_and(|amount| amount > 20.0), "{open:?}");
    assert_eq!(hidden, None, "behind the wall");
    let own = own.expect("its own blast");
    assert!(own > 5.0 && own < 40.0, "half of what others take: {own}");
}

#[test]
fn a_grenade_bounces_off_the_floor_and_bursts_when_its_time_is_over() {
    let bounce = Some(Bounce { times: 200, keep: 0.6, off_pawns: false });
    let spec = Projectile { speed: 12.0, gravity: 9.81, life: 2.0, radius: 0.1, bounce, ..grenade() };
    let mut server = Server::new(&launcher(spec));
    server.wall(Vec3::new(60.0, 0.5, 60.0), Vec3::new(0.0, -0.5, 0.0));
    server.target(2, Vec3::new(2.0, 0.0, -17.0));
    let said = fly(&mut server, &round(1, None, Vec3::new(0.0, 0.3, -1.0)));
    let (point, kind) = end(&said);
    assert_eq!(kind, ProjectileEndKind::Fuse);
    assert!((0.09..0.6).contains(&point.y) && point.z < -7.0, "{point}");
    assert!(damage_of(&server, 2).is_some(), "{point}");
}

#[test]
fn a_disc_bounces_off_people() {
    let bounce = Some(Bounce { times: 3, keep: 0.8, off_pawns: true });
    let mut server = Server::new(&launcher(Projectile { bounce, life: 2.0, ..rocket() }));
    server.target(2, Vec3::new(0.0, 0.0, -10.0));
    let said = fly(&mut server, &round(1, None, Vec3::new(0.02, 1.2, -10.0) - EYE));
    let launches: Vec<_> = said
        .iter()
        .filter_map(|mailed| match mailed {
            Mailed::Launched(launch) => Some(*launch),
            _ => None,
        })
        .collect();
    assert_eq!(launches.len(), 2, "it is launched again off whom it met");
    assert!(launches[1].velocity().z > 10.0 && launches[1].bounces == 1 && launches[1].flown > 0);
    assert_eq!((verdict(&said), server.damage.len()), (ShotResult::Miss, 0));
}

#[test]
fn as_many_fly_as_may_and_no_more() {
    let slow = Projectile { speed: 1.0, life: 30.0, ..rocket() };
    let mut server = Server::new(&launcher(slow));
    server.app.insert_resource(ProjectileRules { per_shooter: 20, ..default() });
    for _ in 0..30 {
        server.tick();
    }
    let (mut launched, mut refused) = (0, 0);
    for number in 0..500 {
        server.arrive(&round(number, None, Vec3::NEG_Z));
        for mailed in server.tick() {
            match mailed {
                Mailed::Verdict(verdict) if verdict.result == ShotResult::Launched => launched += 1,
                Mailed::Verdict(verdict) => {
                    assert_eq!(verdict.result, ShotResult::Refused(ShotRefusal::TooMany));
                    refused += 1;
                }
                _ => {}
            }
        }
    }
    assert_eq!((launched, refused), (20, 480));
    server.app.insert_resource(ProjectileRules { total: 20, ..default() });
    server.arrive(&round(900, None, Vec3::NEG_Z));
    assert_eq!(verdict(&server.tick()), ShotResult::Refused(ShotRefusal::TooMany));
}

#[test]
fn what_a_shooter_that_is_gone_fired_flies_on() {
    let mut server = Server::new(&launcher(rocket()));
    server.target(2, Vec3::new(0.0, 0.0, -25.0));
    for _ in 0..30 {
        server.tick();
    }
    server.arrive(&round(1, None, Vec3::new(0.0, 1.2, -25.0) - EYE));
    server.tick();
    let shooter = server.shooter;
    server.app.world_mut().despawn(shooter);
    (0..100).for_each(|_| drop(server.tick()));
    assert_eq!(damage_of(&server, 2), Some(60.0));
}

#[test]
fn a_shot_from_the_past_is_caught_up_with_whom_its_screen_showed() {
    let mut server = Server::new(&launcher(Projectile { speed: 60.0, ..rocket() }));
    let target = server.target(2, Vec3::new(-6.0, 0.0, -12.0));
    let mut at = Vec3::new(-6.0, 0.0, -12.0);
    for _ in 0..60 {
        at.x += 0.1;
        server.put(target, at);
        server.tick();
    }
    // Where it was 12 ticks ago and where it was when the shot was there, 0.2 s later.
    let view = ViewTime::after(server.now(), -12.0);
    let met = Vec3::new(at.x - 1.2 + 12.0 / 60.0 * 6.4, 1.2, -12.0);
    server.arrive(&round_from(1, Some(view), EYE, met - EYE));
    let mut said = Vec::new();
    for tick in 0..6 {
        // It runs off as soon as the shot was fired.
        at.x += if tick < 1 { 0.1 } else { 3.0 };
        server.put(target, at);
        said.extend(server.tick());
    }
    (0..20).for_each(|_| said.extend(server.tick()));
    assert!(matches!(verdict(&said), ShotResult::Hit(_)), "{:?}", verdict(&said));
}

#[test]
#[ignore = "a measurement: run it alone"]
fn what_a_thousand_cost() {
    let slow = Projectile { speed: 5.0, life: 30.0, radius: 0.05, gravity: 0.0, ..rocket() };
    for among in [0, 64] {
        let mut server = Server::new(&launcher(slow));
        for id in 0..among {
            let (row, column) = (f32::from(id / 8), f32::from(id % 8));
            server.target(100 + id, Vec3::new(column * 3.0 - 12.0, 0.0, -60.0 - row * 3.0));
        }
        for x in 0..100_u8 {
            let at = Vec3::new(f32::from(x % 10) * 6.0 - 30.0, 12.0, -f32::from(x / 10) * 8.0);
            server.wall(Vec3::splat(1.0), at);
        }
        server.app.insert_resource(ProjectileRules { per_shooter: 1_024, ..default() });
        (0..30).for_each(|_| drop(server.tick()));
        let time = |server: &mut Server| {
            let start = std::time::Instant::now();
            (0..50).for_each(|_| drop(server.tick()));
            start.elapsed().as_secs_f64() / 50.0 * 1e6
        };
        let without = time(&mut server);
        for number in 0..1_024_u32 {
            let aim = Vec3::new((number % 32) as f32 / 32.0 - 0.5, (number / 32) as f32 / 64.0, -1.0);
            server.arrive(&round(number, None, aim));
        }
        (0..8).for_each(|_| drop(server.tick()));
        let with = time(&mut server);
        println!("{among} targets: {:.2} us a projectile and tick", (with - without) / 1_024.0);
    }
}
