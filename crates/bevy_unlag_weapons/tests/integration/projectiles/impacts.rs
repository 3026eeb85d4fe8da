//! Ends of projectiles on the server: direct hits, splash damage and limits.

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, RoundTrip, ViewTime};
use bevy_unlag_rewind::StampOverride;
use bevy_unlag_weapons::{
    Arsenal, Bounce, FireInput, PredictedShot, Projectile, ProjectileEndKind, ProjectileRules, ShooterView,
    ShotMessage, ShotRefusal, ShotResult, Splash, Weapon,
};

use crate::projectiles::stage::{EYE, SHOOTER, Server, launcher, rocket, round, round_from};

fn splash() -> Splash {
    Splash { radius: 4.0, damage: 80.0, edge: 0.25, own: 0.5, throw: 10.0 }
}

fn grenade() -> Projectile {
    Projectile { splash: Some(splash()), ..rocket() }
}

/// Fires at present poses and runs until the projectile ends. Returns all outgoing messages.
fn fly(server: &mut Server, round: &PredictedShot) -> Vec<ShotMessage> {
    for _ in 0..30 {
        server.tick();
    }
    server.damage.clear();
    server.arrive(round);
    (0..400).flat_map(|_| server.tick()).collect()
}

fn verdict(said: &[ShotMessage]) -> ShotResult {
    let last = said.iter().rev().find_map(|mailed| match mailed {
        ShotMessage::Verdict(verdict) => Some(verdict.result),
        _ => None,
    });
    last.expect("a verdict")
}

fn end(said: &[ShotMessage]) -> (Vec3, ProjectileEndKind) {
    let mut ends = said.iter().filter_map(|mailed| match mailed {
        ShotMessage::Ended(end) => Some((end.point, end.kind)),
        _ => None,
    });
    let end = ends.next().expect("an end");
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
fn direct_hit_counts_by_group_and_splash_falls_off_with_distance() {
    let mut server = Server::new(&launcher(grenade()));
    for (id, x) in [(2, 0.0), (3, 1.6), (4, 3.2), (5, 6.0)] {
        server.target(id, Vec3::new(x, 0.0, -15.0));
    }
    let said = fly(&mut server, &round(1, None, Vec3::new(0.0, 1.2, -15.0) - EYE));
    let (_, kind) = end(&said);
    assert!(matches!(kind, ProjectileEndKind::Hit { target: NetId(2), .. }), "{kind:?}");
    let [direct, near, far] = [2, 3, 4].map(|id| damage_of(&server, id).expect("hurt"));
    // It explodes at the target's chest: the larger of both damages counts.
    assert!((75.0..=80.0).contains(&direct), "{direct}");
    assert!(near < direct && far < near && far > 15.0, "{direct} {near} {far}");
    assert_eq!(damage_of(&server, 5), None, "out of reach");
    let thrown = server.damage.iter().find(|damage| damage.hits.target == NetId(4)).expect("thrown");
    assert!(thrown.throw.x > 2.0 && thrown.throw.length() < 10.0, "{:?}", thrown.throw);
    let ShotResult::Hit(list) = verdict(&said) else { panic!("{:?}", verdict(&said)) };
    assert_eq!(list.iter().map(|count| count.target.0).collect::<Vec<_>>(), [2, 3, 4]);
    let reports: Vec<_> =
        server.reports.iter().map(|report| (report.verdict.result, report.is_impact)).collect();
    assert_eq!(reports, [(ShotResult::Launched, false), (ShotResult::Hit(list), true)]);
}

#[test]
fn hit_without_splash_does_the_damage_of_its_group() {
    let mut server = Server::new(&launcher(rocket()));
    server.target(2, Vec3::new(0.0, 0.0, -15.0));
    let said = fly(&mut server, &round(1, None, Vec3::new(0.0, 1.25, -15.0) - EYE));
    assert!(matches!(verdict(&said), ShotResult::Hit(_)));
    assert_eq!(damage_of(&server, 2), Some(60.0));
}

#[test]
fn wall_blocks_splash_and_shooter_takes_reduced_damage() {
    let run = |with_wall: bool| {
        let mut server = Server::new(&launcher(grenade()));
        // It explodes at a wall beside its shooter.
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
    let own = own.expect("damage to the shooter itself");
    assert!(own > 5.0 && own < 40.0, "half of the damage to others: {own}");
}

#[test]
fn distant_shooter_takes_its_own_splash_but_is_not_in_the_verdict() {
    // Lobbed over a wall that hides the shooter completely from the impact.
    let lobbed = Projectile { speed: 8.0, gravity: 9.81, ..grenade() };
    let run = |time: Option<f64>, with_wall: bool, target: bool| {
        let weapon = launcher(lobbed);
        let mut server =
            if time.is_some() { Server::networked(&weapon) } else { Server::distrustful(&weapon) };
        server.wall(Vec3::new(60.0, 0.5, 60.0), Vec3::new(0.0, -0.5, 0.0));
        if with_wall {
            server.wall(Vec3::new(5.0, 0.95, 0.1), Vec3::new(0.0, 0.95, -1.2));
        }
        if target {
            server.target(2, Vec3::new(0.0, 0.0, -5.0));
        }
        for _ in 0..30 {
            server.tick();
        }
        let view = time.map(|age| ViewTime::after(server.now(), -age));
        server.arrive(&round(1, view, Vec3::new(0.0, 7.7, -2.0)));
        let said: Vec<ShotMessage> = (0..200).flat_map(|_| server.tick()).collect();
        assert_eq!(end(&said).1, ProjectileEndKind::Wall);
        let own = server.damage.iter().find(|damage| damage.hits.target == SHOOTER);
        (own.map(|own| (own.amount, own.throw)), damage_of(&server, 2), verdict(&said))
    };
    for time in [Some(5.0), None] {
        let (own, _, result) = run(time, false, false);
        let (amount, throw) = own.unwrap_or_else(|| panic!("{time:?}: its own blast"));
        assert!(amount > 3.0 && amount < 40.0 && throw.z > 1.0, "{time:?}: {amount}, {throw}");
        assert_eq!(result, ShotResult::Miss, "{time:?}");
        assert_eq!(run(time, true, false).0, None, "{time:?}: behind the wall");
    }
    let (own, other, result) = run(Some(5.0), false, true);
    let ShotResult::Hit(list) = result else { panic!("{result:?}") };
    assert!(own.is_some() && other.is_some());
    assert_eq!(list.iter().map(|count| count.target.0).collect::<Vec<_>>(), [2]);
}

#[test]
fn shot_without_view_time_from_a_client_is_not_evaluated_at_present_poses() {
    let bullet = Projectile { speed: 1_000.0, ..rocket() };
    let run = |mut server: Server, ago: i32| {
        let shooter = server.shooter;
        server.app.world_mut().entity_mut(shooter).insert(RoundTrip::first(Duration::from_millis(125)));
        let place = |tick: u32| Vec3::new(f32::from(tick as u16) * 0.1 - 6.0, 0.0, -6.0);
        let target = server.target(2, place(0));
        for tick in 0..60 {
            server.put(target, place(tick));
            server.tick();
        }
        // Where the target is when the shot is validated, or `ago` before.
        let aim = place(59 - ago as u32) + Vec3::Y * 1.2 - EYE;
        server.arrive(&round(1, None, aim));
        let said: Vec<ShotMessage> = (0..30).flat_map(|_| server.tick()).collect();
        matches!(verdict(&said), ShotResult::Hit(_))
    };
    let rocket = launcher(bullet);
    // Bots and hosts see the present.
    assert!(run(Server::new(&rocket), 0) && !run(Server::new(&rocket), 8));
    // Without a view time the projectile meets targets at the most likely one: a round trip ago.
    assert!(!run(Server::distrustful(&rocket), 0) && run(Server::distrustful(&rocket), 8));
}

#[test]
fn rewind_limit_of_a_weapon_holds_for_its_projectiles() {
    let bullet = Projectile { speed: 1_000.0, ..rocket() };
    let run = |max_rewind: Option<f32>| {
        let mut server = Server::new(&Weapon { max_rewind, ..launcher(bullet) });
        let mut at = Vec3::new(-4.0, 0.0, -6.0);
        let target = server.target(2, at);
        for _ in 0..60 {
            at.x += 0.1;
            server.put(target, at);
            server.tick();
        }
        // All others were drawn 3 ticks ago, and this one, according to the shot, 18 ticks ago.
        let view = ViewTime::after(server.now(), -2.5);
        let own = view.later(-15 * 256);
        let from = own.tick.offset(-(own.tick.0 as i32 % 3));
        let named = StampOverride { target: NetId(2), from, to: Some(from.offset(3)), shift: -15 * 256 };
        let x = server.drawn(target, own).expect("the target was sent").pose.position.x;
        let aim = Vec3::new(x, 1.2, -6.0) - EYE;
        let mut round = round(1, Some(view), aim);
        let sight = ShooterView::new(Some(view), FireInput::rounded(EYE)).with([named]);
        round.fire = FireInput::new(&sight, round.shot).with_aim(round.look, round.look);
        server.arrive(&round);
        let said: Vec<ShotMessage> = (0..250).flat_map(|_| server.tick()).collect();
        verdict(&said)
    };
    assert!(matches!(run(None), ShotResult::Hit(_)), "{:?}", run(None));
    assert_eq!(run(Some(0.1)), ShotResult::Miss, "the limit is 0.1 s");
}

#[test]
fn grenade_bounces_off_the_floor_and_explodes_after_its_lifetime() {
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
fn disc_bounces_off_pawns() {
    let bounce = Some(Bounce { times: 3, keep: 0.8, off_pawns: true });
    let mut server = Server::new(&launcher(Projectile { bounce, life: 2.0, ..rocket() }));
    server.target(2, Vec3::new(0.0, 0.0, -10.0));
    let said = fly(&mut server, &round(1, None, Vec3::new(0.02, 1.2, -10.0) - EYE));
    let launches: Vec<_> = said
        .iter()
        .filter_map(|mailed| match mailed {
            ShotMessage::Launched(launch) => Some(*launch),
            _ => None,
        })
        .collect();
    assert_eq!(launches.len(), 2, "it is relaunched off the pawn that it met");
    assert!(launches[1].velocity().z > 10.0 && launches[1].bounces == 1 && launches[1].flown > 0);
    assert_eq!((verdict(&said), server.damage.len()), (ShotResult::Miss, 0));
}

#[test]
fn disc_between_two_pawns_sends_a_bounded_number_of_launches() {
    let bounce = Some(Bounce { times: 250, keep: 1.0, off_pawns: true });
    let disc = Projectile { speed: 1_000.0, bounce, life: 2.0, ..rocket() };
    let mut server = Server::new(&launcher(disc));
    server.target(2, Vec3::new(0.0, 0.0, -0.8));
    server.target(3, Vec3::new(0.0, 0.0, 0.8));
    (0..30).for_each(|_| drop(server.tick()));
    server.arrive(&round(1, None, Vec3::new(0.0, 1.2, -2.0) - EYE.with_y(1.2)));
    let (mut all, mut most) = (0, 0);
    for _ in 0..200 {
        let launched = |mailed: &ShotMessage| matches!(mailed, ShotMessage::Launched(_));
        let launches = server.tick().iter().filter(|mailed| launched(mailed)).count();
        (all, most) = (all + launches, most.max(launches));
    }
    // Without a limit it would be 13 in a tick, and 251 in all.
    assert!(all >= 3, "it bounces to and fro: {all}");
    // A server tick may contain the end of one tick of age and the start of the next.
    assert!(most <= 4, "{most} launches in a tick");
}

#[test]
fn projectile_of_a_removed_weapon_ends_as_gone() {
    let mut server = Server::new(&launcher(grenade()));
    server.target(2, Vec3::new(0.0, 0.0, -25.0));
    (0..30).for_each(|_| drop(server.tick()));
    server.arrive(&round(1, None, Vec3::new(0.0, 1.2, -25.0) - EYE));
    let mut said = server.tick();
    (0..10).for_each(|_| said.extend(server.tick()));
    server.app.insert_resource(Arsenal::default());
    (0..100).for_each(|_| said.extend(server.tick()));
    let (point, kind) = end(&said);
    assert_eq!((kind, verdict(&said)), (ProjectileEndKind::Gone, ShotResult::Miss));
    assert!(point.z < -3.0 && point.z > -8.0 && server.damage.is_empty(), "{point}");
}

#[test]
fn projectiles_beyond_the_limits_are_refused() {
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
                ShotMessage::Verdict(verdict) if verdict.result == ShotResult::Launched => launched += 1,
                ShotMessage::Verdict(verdict) => {
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
fn projectile_of_a_despawned_shooter_flies_on() {
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
fn rewound_shot_meets_the_targets_that_its_screen_showed() {
    let mut server = Server::new(&launcher(Projectile { speed: 60.0, ..rocket() }));
    let target = server.target(2, Vec3::new(-6.0, 0.0, -12.0));
    let mut at = Vec3::new(-6.0, 0.0, -12.0);
    for _ in 0..60 {
        at.x += 0.1;
        server.put(target, at);
        server.tick();
    }
    // Where it was 12 ticks ago, and where it was when the shot arrived, 0.2 s later.
    let view = ViewTime::after(server.now(), -12.0);
    let met = Vec3::new(at.x - 1.2 + 12.0 / 60.0 * 6.4, 1.2, -12.0);
    server.arrive(&round_from(1, Some(view), EYE, met - EYE));
    let mut said = Vec::new();
    for tick in 0..6 {
        // It runs away as soon as the shot is fired.
        at.x += if tick < 1 { 0.1 } else { 3.0 };
        server.put(target, at);
        said.extend(server.tick());
    }
    (0..20).for_each(|_| said.extend(server.tick()));
    assert!(matches!(verdict(&said), ShotResult::Hit(_)), "{:?}", verdict(&said));
}

#[test]
#[ignore = "measurement, run it alone"]
#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn print_cost_of_a_thousand_projectiles() {
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
