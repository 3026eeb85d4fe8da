//! Shots that are fired, refused or clamped.

use bevy::prelude::*;
use bevy_unlag_core::{ExtendedState, NetId};
use bevy_unlag_movement::CapsuleState;
use bevy_unlag_rewind::HitGroup;
use bevy_unlag_weapons::{FireRules, HitClaims, HitList, ShotRefusal, ShotResult, ShotVerdict, WeaponState};

use crate::rifle::range::{EYE, Range, ShotRecord, hit};

#[test]
fn tap_fires_one_shot_and_the_server_confirms_the_displayed_hit() {
    let mut range = Range::new(true);
    let dummy = range.dummy;
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    range.hold(true, 1);
    let seen = range.hold(false, 10);
    assert_eq!(seen.fired.len(), 1);
    let drawn = seen.fired[0].drawn().expect("the screen shows a hit");
    assert_eq!((drawn.target, drawn.group), (NetId(2), HitGroup::Body));
    let shot = seen.fired[0].round.shot;
    assert_eq!(seen.verdicts, [ShotVerdict { shot, result: hit(HitGroup::Body), clamped: false }]);
    assert_eq!(seen.damage.len(), 1);
    assert_eq!((seen.damage[0].target, seen.damage[0].amount), (dummy, 34.0));
}

#[test]
fn held_trigger_keeps_the_rate_of_fire() {
    let mut range = Range::new(true);
    range.aim_at(Vec3::new(30.0, 1.3, -10.0));
    let seen = range.hold(true, 64);
    let rounds = 64 / 6;
    assert!((rounds..=rounds + 1).contains(&seen.fired.len()), "{} rounds in a second", seen.fired.len());
    assert!(seen.verdicts.iter().all(|verdict| verdict.result == ShotResult::Miss));
    assert!(seen.damage.is_empty());
}

#[test]
fn dead_shooter_does_not_fire_and_is_refused_after_the_trade_window() {
    let mut range = Range::new(true);
    let shooter = range.shooter;
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    let world = range.app.world_mut();
    let mut state = world.get_mut::<ExtendedState<CapsuleState, WeaponState>>(shooter).expect("a state");
    state.body.alive = false;
    // A shot of a client that does not know of its death yet, 18 of 32 ticks after it.
    range.hold(false, 10);
    let fire = range.round(EYE, Vec3::NEG_Z);
    assert_eq!(range.expect_verdict_of(fire), hit(HitGroup::Head));

    range.hold(false, 40);
    range.app.world_mut().resource_mut::<ShotRecord>().clear();
    let seen = range.hold(true, 3);
    assert!(seen.fired.is_empty() && seen.verdicts.is_empty(), "the trigger of a dead pawn does nothing");

    // A client that sends such a shot nevertheless gets a refusal.
    let fire = range.round(EYE, Vec3::NEG_Z);
    assert_eq!(range.expect_verdict_of(fire), ShotResult::Refused(ShotRefusal::Dead));
    assert!(range.app.world().resource::<ShotRecord>().damage.is_empty());
}

#[test]
fn shot_starts_near_the_server_eye_and_never_behind_a_wall() {
    let mut range = Range::new(true);
    let refused = ShotResult::Refused(ShotRefusal::Eye);
    let from = |range: &mut Range, aside: Vec3| {
        let (eye, chest) = (EYE + aside, Vec3::new(0.0, 1.3, -10.0));
        let fire = range.round(eye, chest - eye);
        range.expect_verdict_of(fire)
    };
    let clamped =
        |range: &Range| range.app.world().resource::<ShotRecord>().verdicts.last().is_some_and(|v| v.clamped);
    let hit = hit(HitGroup::Body);
    let FireRules { eye_tolerance, eye_height_tolerance, .. } = FireRules::default();
    for (way, tolerance) in [
        (Vec3::X, eye_tolerance),
        (Vec3::NEG_X, eye_tolerance),
        (Vec3::Z, eye_tolerance),
        (Vec3::Y, eye_height_tolerance),
    ] {
        assert_eq!(from(&mut range, way * (tolerance - 0.02)), hit, "{way}");
        assert!(!clamped(&range));
        // From the nearest accepted position.
        from(&mut range, way * (tolerance + 0.02));
        assert!(clamped(&range), "{way}");
    }
    let corner = Vec3::new(1.0, 0.0, 1.0) * (eye_tolerance * 0.8);
    from(&mut range, corner);
    assert!(clamped(&range), "the horizontal tolerance is a circle");
    // The aim passes the dummy if traced from the forged eye.
    assert_eq!(from(&mut range, Vec3::X * 1.6), ShotResult::Miss);

    let wall = bevy_rapier3d::prelude::Collider::cuboid(0.02, 3.0, 2.0);
    range.app.world_mut().spawn((wall, Transform::from_xyz(0.45, 0.0, 0.0)));
    range.hold(false, 2);
    assert_eq!(from(&mut range, Vec3::X * 0.6), refused, "behind the wall");
    assert_eq!(from(&mut range, Vec3::X * 0.3), hit, "in front of the wall");
    assert_eq!(from(&mut range, Vec3::NEG_X * 0.6), hit, "on the other side");
}

#[test]
fn hit_claim_counts_within_its_padding_and_number_of_shots() {
    let miss = ShotResult::Miss;
    let hit = hit(HitGroup::Body);
    let unreal = HitClaims::UNREAL_TOURNAMENT;
    for (claims, own, next, third) in [
        (HitClaims::default(), miss, miss, miss),
        (HitClaims { rounds: 0, ..unreal }, hit, miss, miss),
        (unreal, hit, hit, miss),
    ] {
        let mut range = Range::new(true);
        range.app.world_mut().resource_mut::<FireRules>().claims = claims;
        // Past an arm, into the air.
        let beside = range.round(EYE, Vec3::new(0.5, 1.3, -10.0) - EYE);
        let round = |claim| {
            let mut fire = beside;
            fire.claim = claim;
            fire
        };
        assert_eq!(range.expect_verdict_of(round(None)), miss);
        assert_eq!(range.expect_verdict_of(round(Some(NetId(9)))), miss, "the claim names no pawn");
        let same = |result| match result {
            ShotResult::Hit(list) => {
                let body = list.iter().map(|hit| (hit.target, HitGroup::Body));
                ShotResult::Hit(body.collect::<HitList>())
            }
            other => other,
        };
        let sent = [Some(NetId(2)), None, None].map(|claim| same(range.expect_verdict_of(round(claim))));
        assert_eq!(sent, [own, next, third], "{claims:?}");
        // With claims enabled, the client claims the hit that its screen showed.
        range.aim_at(Vec3::new(0.0, 1.3, -10.0));
        range.hold(true, 1);
        let seen = range.hold(false, 10);
        let claimed = claims.enabled().then_some(NetId(2));
        assert_eq!(seen.rounds.last().map(|fire| fire.claim), Some(claimed), "{claims:?}");
    }
}

#[test]
fn no_shot_is_fired_without_the_plugin() {
    let mut range = Range::new(false);
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    assert!(range.hold(true, 30).fired.is_empty());
}
