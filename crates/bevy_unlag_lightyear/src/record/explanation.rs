//! Verdicts of a recording, explained.

use std::collections::BTreeMap;

use bevy::prelude::*;
use bevy_unlag_core::{BasePoses, LimbRig, NetId, PoseSample, ViewTime};
use bevy_unlag_record::{
    IndexedShot, Playback, PlayerNumber, RecordError, RecordedHit, RecordedShot, ScreenFrame, ScreenPlayback,
    ScreenSource, ShotOutcome,
};
use bevy_unlag_rewind::HitBoxes;
use bevy_unlag_weapons::{
    Arsenal, ExplainedTarget, ShotDetail, ShotExplanation, ShotRefusal, ShotResult, TargetCount, Weapon,
    WeaponId,
};

use super::shots::shot_detail;

/// Distance in metres from the line of a shot up to which a pawn counts as its target.
const NEAR: f32 = 4.0;

/// Facts that an explanation needs and a recording lacks: the game's weapons, bodies and level.
pub struct ExplanationScene<'a> {
    /// Weapons.
    pub arsenal: &'a Arsenal,
    /// Poses of movement bases.
    pub bases: &'a BasePoses,
    /// Hit boxes and rig of a pawn.
    pub body: &'a dyn Fn(NetId) -> (HitBoxes, LimbRig),
    /// Distance in metres from a point to the level in a direction, up to a limit. `None` if nothing is hit.
    pub wall: &'a dyn Fn(Vec3, Vec3, f32) -> Option<f32>,
}

impl core::fmt::Debug for ExplanationScene<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ExplanationScene").finish_non_exhaustive()
    }
}

/// A shot of a recording with its explanation, and what each side saw of it.
#[derive(Clone, PartialEq, Debug)]
pub struct ExplainedShot {
    /// Reason for which it counted or not.
    pub explanation: ShotExplanation,
    /// Eye position from which the server traced it, in metres.
    pub eye: Vec3,
    /// Unit directions of its pellets as the server traced them, at least one.
    pub directions: Vec<Vec3>,
    /// Range in metres.
    pub range: f32,
    /// Target on the shooter's screen, when it fired.
    pub on_shooters_screen: Option<PoseSample>,
    /// Target where the server tested it.
    pub tested: Option<PoseSample>,
    /// Target on the server in the tick of the verdict.
    pub on_server: Option<PoseSample>,
    /// View of the target's own screen when it made the move that the server ran in that tick.
    pub targets_screen: Option<TargetsScreen>,
}

/// The screen of the target of a shot, in the tick of the verdict.
#[derive(Clone, PartialEq, Debug)]
pub struct TargetsScreen {
    /// Shooter on it; `None` if it was not drawn.
    pub shooter: Option<PoseSample>,
    /// Age of its picture in milliseconds.
    pub age_ms: f32,
    /// Source of its view time.
    pub source: ScreenSource,
}

/// Explains shots of a [`Playback`]. It keeps the screens of players, so that shots close to each other cost little.
#[derive(Debug, Default)]
pub struct ShotExplainer {
    screens: BTreeMap<PlayerNumber, (u32, ScreenPlayback)>,
}

impl ShotExplainer {
    /// Explains a shot. The playback jumps to the tick of its verdict, or of the launch of a projectile.
    ///
    /// # Errors
    /// Returns the error of the recording, or [`RecordError::Empty`] if the shot is in no part that can be read.
    pub fn explain(
        &mut self,
        playback: &mut Playback,
        indexed: &IndexedShot,
        scene: &ExplanationScene<'_>,
    ) -> Result<ExplainedShot, RecordError> {
        let now = ViewTime::at(indexed.tick);
        if playback.time() != now {
            playback.seek(now);
        }
        if indexed.weapon.is_none() {
            return Ok(without_weapon(indexed));
        }
        let shot = playback.shot(indexed.shooter, indexed.shot).map(|(_, shot)| shot.clone());
        let shot = shot.ok_or(RecordError::Empty)?;
        let detail = shot_detail(&shot).ok();
        let weapon = scene.arsenal.get(WeaponId(shot.weapon));
        let range = weapon.map_or(100.0, Weapon::range);
        let mut found = ExplainedShot {
            explanation: facts(&shot, indexed, detail.as_ref(), weapon),
            eye: shot.eye,
            directions: match &detail {
                Some(detail) => detail.directions(weapon).collect(),
                None => vec![shot.direction],
            },
            range,
            ..without_weapon(indexed)
        };
        let frame = shot.claimed.clone().map(|view| ScreenFrame { view, source: ScreenSource::Recorded });
        let shooter = frame.as_ref().map(|frame| frame.view.player);
        let screen = match shooter {
            Some(player) => Some(self.screen(playback, player)?),
            None => None,
        };
        let shown = |pawn: NetId| match (&frame, screen) {
            (Some(frame), Some(screen)) => {
                playback.pose_on_screen(screen, frame, pawn, scene.bases).map(|(pose, _)| pose)
            }
            _ => playback.server_pose(pawn, now, scene.bases),
        };
        let gap = |pawn: NetId, pose: &PoseSample| {
            let (boxes, rig) = (scene.body)(pawn);
            let rays = found.directions.iter().map(|way| (shot.eye, *way, range));
            rays.filter_map(|ray| boxes.distance_to_ray(&rig, pose, ray)).min_by(f32::total_cmp)
        };
        let hit = indexed.outcome.hits().first().map(|hit| hit.target);
        let nearest = || {
            let pawns = playback.roster().pawns().map(|pawn| pawn.id).filter(|id| *id != indexed.shooter);
            let near = pawns.filter_map(|id| {
                let pose = shown(id).filter(|pose| pose.alive && is_near(pose, &shot, range))?;
                Some((id, gap(id, &pose)?))
            });
            let near = near.filter(|(_, gap)| *gap <= NEAR).min_by(|a, b| a.1.total_cmp(&b.1));
            near.map(|(id, _)| id)
        };
        let Some(target) = hit.or_else(nearest) else { return Ok(found) };
        let on_screen = shown(target);
        let tested = match (&frame, screen, shot.used) {
            (Some(frame), Some(screen), Some(used)) if used != frame.view.time => {
                let mut other = frame.clone();
                other.view.time = used;
                other.view.stamps.clear();
                playback.pose_on_screen(screen, &other, target, scene.bases).map(|(pose, _)| pose)
            }
            (Some(_), Some(_), Some(_)) => on_screen,
            _ => playback.server_pose(target, now, scene.bases),
        };
        let on_server = playback.server_pose(target, now, scene.bases);
        let zero = |gap: Option<f32>| gap.filter(|gap| gap.is_finite()).unwrap_or(0.0);
        let is_blocked = |pose: &PoseSample| is_hidden(shot.eye, pose, &(scene.body)(target).0, scene.wall);
        let moved = tested.zip(on_server).map_or(0.0, |(then, now)| then.position.distance(now.position));
        found.explanation.target = Some(ExplainedTarget {
            id: target,
            screen_gap: zero(on_screen.as_ref().and_then(|pose| gap(target, pose))),
            tested_gap: zero(tested.as_ref().and_then(|pose| gap(target, pose))),
            moved,
            is_behind_wall: on_screen.as_ref().is_some_and(|pose| {
                let way = pose.position + pose.up() - shot.eye;
                let nearest =
                    found.directions.iter().copied().max_by(|a, b| a.dot(way).total_cmp(&b.dot(way)));
                nearest.is_some_and(|direction| {
                    let before = (way.dot(direction) - 0.5).clamp(0.0, range);
                    (scene.wall)(shot.eye, direction, before).is_some()
                })
            }),
            is_covered: on_server.as_ref().is_some_and(is_blocked),
        });
        (found.on_shooters_screen, found.tested, found.on_server) = (on_screen, tested, on_server);
        let victim = playback.roster().player_of(target).map(|player| player.number);
        if let Some(victim) = victim {
            let screen = self.screen(playback, victim)?;
            let frame = screen.frame(now);
            found.targets_screen = frame.map(|frame| TargetsScreen {
                shooter: playback
                    .pose_on_screen(screen, &frame, indexed.shooter, scene.bases)
                    .map(|(pose, _)| pose),
                age_ms: now.since(frame.view.time) as f32 / 256.0 * playback.sampler().tick_seconds * 1e3,
                source: frame.source,
            });
        }
        Ok(found)
    }

    fn screen(
        &mut self,
        playback: &mut Playback,
        player: PlayerNumber,
    ) -> Result<&ScreenPlayback, RecordError> {
        let generation = playback.generation();
        if self.screens.get(&player).is_none_or(|(of, _)| *of != generation) {
            self.screens.retain(|_, (of, _)| *of == generation);
            self.screens.insert(player, (generation, playback.screen_of(player)?));
        }
        self.screens.get(&player).map(|(_, screen)| screen).ok_or(RecordError::Empty)
    }
}

/// Returns whether a pawn can be near the line of a shot at all.
fn is_near(pose: &PoseSample, shot: &RecordedShot, range: f32) -> bool {
    let way = pose.position + pose.up() - shot.eye;
    let along = way.dot(shot.direction);
    (-NEAR..range + NEAR).contains(&along)
        && (way - shot.direction * along).length() < NEAR + 0.2 * along.max(0.0)
}

/// Returns whether the level is between an eye and both the head and the middle of a pawn.
fn is_hidden(
    eye: Vec3,
    pose: &PoseSample,
    boxes: &HitBoxes,
    wall: &dyn Fn(Vec3, Vec3, f32) -> Option<f32>,
) -> bool {
    ExplainedTarget::cover_points(pose, Some(boxes)).into_iter().all(|point| {
        let way = point - eye;
        let length = way.length();
        length > 0.1 && wall(eye, way / length, length - 0.05).is_some()
    })
}

/// Explains a verdict without a shot: the server refused to fire it.
fn without_weapon(indexed: &IndexedShot) -> ExplainedShot {
    let result = result(&indexed.outcome);
    ExplainedShot {
        explanation: ShotExplanation::of_verdict(indexed.shooter, indexed.shot, indexed.tick, result),
        eye: Vec3::ZERO,
        directions: Vec::new(),
        range: 0.0,
        on_shooters_screen: None,
        tested: None,
        on_server: None,
        targets_screen: None,
    }
}

fn facts(
    shot: &RecordedShot,
    indexed: &IndexedShot,
    detail: Option<&ShotDetail>,
    weapon: Option<&Weapon>,
) -> ShotExplanation {
    ShotExplanation {
        weapon: Some(WeaponId(shot.weapon)),
        is_projectile: weapon.is_some_and(Weapon::is_projectile),
        screen: shot.claimed.as_ref().map(|view| view.time),
        used: shot.used,
        clamped: shot.clamped,
        round_trip_ms: detail.and_then(ShotDetail::round_trip_ms),
        queued_ticks: indexed.tick.since(shot.arrived).clamp(0, 255) as u8,
        ..ShotExplanation::of_verdict(shot.shooter, shot.shot, indexed.tick, result(&indexed.outcome))
    }
}

/// Returns a recorded verdict as one of the weapons crate.
fn result(outcome: &ShotOutcome) -> ShotResult {
    match outcome {
        ShotOutcome::Miss => ShotResult::Miss,
        ShotOutcome::Launched => ShotResult::Launched,
        ShotOutcome::Refused(reason) => {
            let known = ShotRefusal::ALL.get(usize::from(*reason)).copied();
            ShotResult::Refused(known.unwrap_or(ShotRefusal::MissingMove))
        }
        ShotOutcome::Hit { .. } => {
            let counts = outcome.hits().iter().map(|hit| {
                let RecordedHit { target, head, body, limb } = *hit;
                TargetCount { target, head, body, limb }
            });
            ShotResult::Hit(counts.flat_map(TargetCount::hits).collect())
        }
    }
}
