//! Continuous collision: fast projectiles never pass through targets.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{NetId, NetRole, ViewTime};
use bevy_unlag_rewind::{BodyBounds, FrameHistory, HitBox, HitBoxes, HitGroup};
use bevy_unlag_smoothing::RecordTransform;
use bevy_unlag_weapons::{Projectile, ShotMessage, ShotResult};

use crate::projectiles::stage::{DT, Dice, EYE, Server, launcher, rocket, round};

fn ball() -> HitBoxes {
    let ball = HitBox::new(0, HitGroup::Body, Collider::ball(0.1));
    HitBoxes::new([ball], BodyBounds { radius: 0.11, low: -0.11, high: 0.11 })
}

#[test]
fn bullet_at_1000_m_per_s_never_passes_through_a_20_cm_target() {
    let bullet = Projectile { speed: 1_000.0, radius: 0.0, life: 1.0, ..rocket() };
    let mut server = Server::new(&launcher(bullet));
    let mut dice = Dice::new(5);
    let mut targets: Vec<(Entity, Vec3, Vec3)> = (0..20)
        .map(|index| {
            let at = Vec3::new(index as f32 * 4.0 - 40.0, 3.0, -20.0 - index as f32);
            let body = (FrameHistory::default(), ball(), RecordTransform::default());
            let target = (NetId(100 + index), NetRole::Authority, Transform::from_translation(at), body);
            (server.app.world_mut().spawn(target).id(), at, Vec3::ZERO)
        })
        .collect();
    let (mut number, mut hits, mut verdicts, mut points) = (0, 0, 0, 0);
    let mut tick = 0;
    while verdicts < 10_000 {
        tick += 1;
        for (target, at, way) in &mut targets {
            if tick % 40 == 1 {
                *way = Vec3::new(dice.between(-1.0, 1.0), dice.between(-0.2, 0.2), dice.between(-1.0, 1.0))
                    * 7.0;
                way.y = if at.y > 5.0 { -0.5 } else { way.y };
                let home = Vec3::new(-at.x, 0.0, -40.0 - at.z) * 0.03;
                *way = (*way + home).clamp_length_max(8.0);
            }
            *at += *way * DT;
            server.put(*target, *at);
        }
        // A target that has just turned, or is about to, is drawn elsewhere later than its velocity
        // suggests.
        if tick > 60 && (20..34).contains(&(tick % 40)) && number < 10_000 {
            for _ in 0..20 {
                let index = (dice.roll() * 20.0) as usize;
                // The displayed position some time ago, and that of the target when the bullet arrives.
                let view = ViewTime::after(server.now(), -f64::from(dice.between(3.5, 12.0)));
                let Some(seen) = server.drawn(targets[index].0, view) else { continue };
                let flight = seen.pose.position.distance(EYE) / 1_000.0;
                let there = view.later((flight / DT * 256.0) as i64);
                let Some(met) = server.drawn(targets[index].0, there) else { continue };
                let aside = Vec3::new(dice.between(-0.02, 0.02), dice.between(-0.02, 0.02), 0.0);
                number += 1;
                // The position at the end of a tick.
                let step = 1_000.0 * DT;
                let off = (seen.pose.position.distance(EYE) / step).fract() * step;
                points += u32::from(off.min(step - off) < 0.1);
                server.arrive(&round(number, Some(view), met.pose.position + aside - EYE));
            }
        }
        for mailed in server.tick() {
            let ShotMessage::Verdict(verdict) = mailed else { continue };
            match verdict.result {
                ShotResult::Launched => {}
                ShotResult::Hit(_) => (verdicts, hits) = (verdicts + 1, hits + 1),
                ShotResult::Miss => verdicts += 1,
                ShotResult::Refused(why) => panic!("{why:?}"),
            }
        }
        assert!(tick < 20_000, "{verdicts} verdicts of {number}");
    }
    // Every target that was aimed at is hit, or another one in front of it.
    assert!(points < number / 20, "{points} of {number} are hit at the end of a tick");
    assert_eq!(hits, verdicts, "of {verdicts} bullets, {} passed through", verdicts - hits);
}
