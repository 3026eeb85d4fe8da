//! Projectiles and teammates: on the server and on the shooter's screen.

use bevy::prelude::*;
use bevy_unlag_core::NetId;
use bevy_unlag_rewind::Team;
use bevy_unlag_weapons::{
    Bounce, FireRules, FriendlyFire, Projectile, ProjectileEndKind, ShotMessage, ShotResult, Splash,
};

use crate::projectiles::{
    screens::Game,
    stage::{EYE, SHOOTER, Server, launcher, rocket, round},
};

const FRIEND: Team = Team(1);
const ENEMY: Team = Team(2);

fn give_team(app: &mut App, id: NetId, team: Team) {
    let world = app.world_mut();
    let mut pawns = world.query::<(Entity, &NetId)>();
    let pawn = pawns.iter(world).find(|(_, other)| **other == id).map(|(pawn, _)| pawn).expect("a pawn");
    world.entity_mut(pawn).insert(team);
}

/// Fires at a friend 15 m ahead, with an enemy 3 m behind and one 2 m beside it.
fn server(projectile: Projectile, rule: FriendlyFire) -> (Server, Vec<ShotMessage>) {
    let mut server = Server::new(&launcher(projectile));
    server.app.world_mut().resource_mut::<FireRules>().friendly_fire = rule;
    for (id, at) in [(2, Vec3::NEG_Z * 15.0), (3, Vec3::NEG_Z * 18.0), (4, Vec3::new(2.0, 0.0, -15.0))] {
        server.target(id, at);
    }
    for (id, team) in [(SHOOTER, FRIEND), (NetId(2), FRIEND), (NetId(3), ENEMY), (NetId(4), ENEMY)] {
        give_team(&mut server.app, id, team);
    }
    for _ in 0..30 {
        server.tick();
    }
    server.damage.clear();
    server.arrive(&round(1, None, Vec3::new(0.0, 1.2, -15.0) - EYE));
    let said = (0..200).flat_map(|_| server.tick()).collect();
    (server, said)
}

fn end(said: &[ShotMessage]) -> (ProjectileEndKind, Vec3) {
    let ends = said.iter().filter_map(|mailed| match mailed {
        ShotMessage::Ended(end) => Some((end.kind, end.point)),
        _ => None,
    });
    let ends: Vec<_> = ends.collect();
    assert_eq!(ends.len(), 1, "{ends:?}");
    ends[0]
}

fn verdict(said: &[ShotMessage]) -> Option<ShotResult> {
    said.iter().rev().find_map(|mailed| match mailed {
        ShotMessage::Verdict(verdict) => Some(verdict.result),
        _ => None,
    })
}

fn damaged(server: &Server) -> Vec<u16> {
    let mut ids: Vec<u16> = server.damage.iter().map(|damage| damage.hits.target.0).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn rocket_hits_passes_or_ends_at_a_teammate_by_the_rule() {
    let (hit, said) = server(rocket(), FriendlyFire::Damage);
    assert!(matches!(end(&said).0, ProjectileEndKind::Hit { target: NetId(2), .. }), "{:?}", end(&said));
    assert_eq!(damaged(&hit), [2]);

    let (passed, said) = server(rocket(), FriendlyFire::PassThrough);
    assert!(matches!(end(&said).0, ProjectileEndKind::Hit { target: NetId(3), .. }), "{:?}", end(&said));
    assert_eq!(damaged(&passed), [3]);

    let (blocked, said) = server(rocket(), FriendlyFire::Block);
    let (kind, point) = end(&said);
    assert_eq!((kind, verdict(&said)), (ProjectileEndKind::Wall, Some(ShotResult::Miss)));
    assert!((-15.5..-14.5).contains(&point.z), "{point}");
    assert!(damaged(&blocked).is_empty());
}

#[test]
fn splash_spares_teammates_and_reaches_enemies_beside_them() {
    let splash = Splash { radius: 4.0, damage: 80.0, edge: 0.25, own: 0.5, throw: 10.0 };
    let grenade = Projectile { splash: Some(splash), ..rocket() };
    let hurt = |rule| damaged(&server(grenade, rule).0);
    assert_eq!(hurt(FriendlyFire::Damage), [2, 3, 4]);
    // It flies on to the enemy behind, and from there reaches the other one.
    assert_eq!(hurt(FriendlyFire::PassThrough), [3, 4]);
    assert_eq!(hurt(FriendlyFire::Block), [3, 4]);
}

#[test]
fn own_screen_ends_a_blocked_rocket_without_a_hit() {
    for (rule, hit, kind) in [
        (FriendlyFire::Damage, Some(NetId(2)), None),
        (FriendlyFire::PassThrough, None, Some(ProjectileEndKind::Fuse)),
        (FriendlyFire::Block, None, Some(ProjectileEndKind::Wall)),
    ] {
        let mut game = Game::new(&launcher(Projectile { life: 1.0, ..rocket() }), 7.0);
        for app in [&mut game.server.app, &mut game.own.app, &mut game.other.app] {
            app.world_mut().resource_mut::<FireRules>().friendly_fire = rule;
            give_team(app, SHOOTER, FRIEND);
            give_team(app, NetId(2), FRIEND);
        }
        let view = game.view();
        let shot = round(1, Some(view), Vec3::new(6.0, 1.2, -12.0) - EYE);
        game.own.fire(&shot, Some(view));
        for tick in 0..110 {
            if tick == 6 {
                game.server.arrive(&shot);
            }
            game.tick();
        }
        let [drawn] = game.own.picture.hits[..] else { panic!("{:?}", game.own.picture.hits) };
        assert_eq!(drawn.hit.map(|hit| hit.target), hit, "{rule:?}");
        assert_eq!(game.server.damage.len(), usize::from(hit.is_some()), "{rule:?}");
        for picture in [&game.own.picture, &game.other.picture] {
            let [ended] = picture.ended[..] else { panic!("{rule:?}: {:?}", picture.ended) };
            assert!(kind.is_none_or(|kind| ended.kind == kind), "{rule:?}: {ended:?}");
        }
        let apart = game.own.picture.ended[0].point.distance(game.other.picture.ended[0].point);
        assert!(apart < 0.3, "{rule:?}: {apart} m");
    }
}

#[test]
fn disc_bounces_off_a_teammate_that_blocks_it_and_passes_through_one_that_does_not() {
    let bounce = Some(Bounce { times: 3, keep: 0.8, off_pawns: true });
    let disc = Projectile { bounce, life: 1.0, ..rocket() };
    for (rule, launches) in [(FriendlyFire::Block, 2), (FriendlyFire::Damage, 2)] {
        let (server, said) = server(disc, rule);
        let launched = said.iter().filter(|mailed| matches!(mailed, ShotMessage::Launched(_))).count();
        assert_eq!((launched, damaged(&server)), (launches, vec![]), "{rule:?}");
    }
    let (_, said) = server(disc, FriendlyFire::PassThrough);
    let away = said.iter().find_map(|mailed| match mailed {
        ShotMessage::Launched(launch) if launch.bounces > 0 => Some(launch.from),
        _ => None,
    });
    assert!(away.is_some_and(|from| from.z < -17.0), "it bounces off the enemy behind: {away:?}");
}
