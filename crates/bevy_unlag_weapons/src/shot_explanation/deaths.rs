//! Explanations of deaths on a running server.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{BasePoses, LimbRig, NetId, PoseSampler, ProxySmoothing, TickSystems, ViewTime};
use bevy_unlag_rewind::{HitBoxes, WorldTrace};
use bevy_unlag_smoothing::PublishedPath;

use super::{ExplainedTarget, ShotExplanation};
use crate::{
    arsenal::Arsenal,
    health::{DeathCause, Died},
    shot_journal::JournalShot,
    system_sets::WeaponSystems,
    verdict::{Damage, ShotResult},
    weapon::Weapon,
};

/// Explains on the server each death by a shot, as [`DeathExplained`], from what the server knows: no recording is
/// needed. A game sends it to the victim. Costs some hundred bytes for each of the last 1,024 shots.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeathExplanationPlugin;

impl Plugin for DeathExplanationPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<RecentShots>().register_type::<DeathExplained>().add_message::<DeathExplained>();
        app.add_systems(FixedLast, explain.in_set(TickSystems).after(WeaponSystems::ApplyDamage));
    }
}

/// Explains why a pawn died; written on the server, in the tick of [`Died`].
#[derive(Message, Clone, Copy, PartialEq, Debug, Reflect)]
#[reflect(Message, Debug)]
pub struct DeathExplained {
    /// The pawn that died.
    pub victim: Entity,
    /// The shooter.
    pub shooter: Entity,
    /// Reason for which the shot counted.
    pub explanation: ShotExplanation,
}

/// The last shots that the server has resolved.
#[derive(Resource, Default)]
pub(crate) struct RecentShots(VecDeque<JournalShot>);

impl RecentShots {
    const MOST: usize = 1_024;

    pub fn push(&mut self, shot: JournalShot) {
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back(shot);
    }

    /// Returns the shot that caused damage. Identifiers of shots are those of moves: of several with the same one, the
    /// last.
    fn find(&self, damage: &Damage) -> Option<&JournalShot> {
        self.0.iter().rev().find(|shot| shot.shooter == damage.shooter && shot.verdict.shot == damage.shot)
    }
}

type Pawn<'a> =
    (&'a NetId, &'a PublishedPath, Option<&'a ProxySmoothing>, Option<&'a HitBoxes>, Option<&'a LimbRig>);

fn explain(
    mut died: MessageReader<Died>,
    (recent, arsenal, sampler): (Res<RecentShots>, Res<Arsenal>, Res<PoseSampler>),
    bases: Option<Res<BasePoses>>,
    pawns: Query<Pawn>,
    world: WorldTrace,
    mut explained: MessageWriter<DeathExplained>,
) {
    let none = BasePoses::default();
    let bases = bases.as_deref().unwrap_or(&none);
    for death in died.read() {
        let DeathCause::Shot(damage) = death.cause else { continue };
        let Some(shot) = recent.find(&damage) else { continue };
        let Ok((id, path, mode, boxes, rig)) = pawns.get(death.victim) else { continue };
        let view = shot.detail.view.as_ref();
        let base_time = view.map_or(ViewTime::at(death.tick), |view| view.bases);
        let pose_at = |time| path.sent.pose_at(time, &sampler.of(mode), &bases.at(base_time));
        let on_screen = shot.seen.time.and_then(pose_at).or(path.present().copied());
        let tested = view.map(|view| view.time).and_then(pose_at).or(path.present().copied());
        let present = path.present();
        let weapon = arsenal.get(shot.weapon);
        let gap = |pose| {
            let (boxes, rig) = boxes.zip(rig)?;
            let range = weapon.map_or(100.0, Weapon::range);
            let ways = shot.detail.directions(weapon);
            let gaps = ways.filter_map(|way| boxes.distance_to_ray(rig, pose, (shot.eye, way, range)));
            gaps.min_by(f32::total_cmp)
        };
        let is_covered = present.is_some_and(|pose| {
            let points = ExplainedTarget::cover_points(pose, boxes);
            points.into_iter().all(|point| !world.is_clear(shot.eye, point))
        });
        let moved = tested.zip(present).map_or(0.0, |(then, now)| then.position.distance(now.position));
        let target = ExplainedTarget {
            id: *id,
            screen_gap: on_screen.as_ref().and_then(gap).unwrap_or(0.0),
            tested_gap: tested.as_ref().and_then(gap).unwrap_or(0.0),
            moved: if moved.is_finite() { moved } else { 0.0 },
            is_behind_wall: false,
            is_covered,
        };
        let result = ShotResult::Hit(damage.hits.hits().collect());
        let explanation = ShotExplanation {
            weapon: Some(shot.weapon),
            is_projectile: weapon.is_some_and(Weapon::is_projectile),
            screen: shot.seen.time,
            used: view.map(|view| view.time),
            clamped: shot.verdict.clamped,
            round_trip_ms: shot.detail.round_trip_ms(),
            queued_ticks: view.map_or(0, |view| view.queued_ticks.min(255) as u8),
            target: Some(target),
            ..ShotExplanation::of_verdict(shot.id, damage.shot, death.tick, result)
        };
        explained.write(DeathExplained { victim: death.victim, shooter: damage.shooter, explanation });
    }
}
