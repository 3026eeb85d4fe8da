//! Explanation of a verdict: why a shot counted or not, in one sentence.

mod deaths;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, PoseSample, Tick, ViewTime, Wire};
use bevy_unlag_rewind::{HitBoxes, HitGroup};

pub(crate) use deaths::RecentShots;
pub use deaths::{DeathExplained, DeathExplanationPlugin};

use crate::{
    shot_detail::ShotDetail,
    verdict::{ShotRefusal, ShotResult, TargetCount},
    weapon::{Weapon, WeaponId},
};

/// Distance in metres below which a line counts as one through a body: hit boxes are rounded in a recording's poses.
const TOUCHES: f32 = 0.02;
/// Way in metres from which on a sentence tells that the target has moved.
const MOVED: f32 = 0.1;

/// Facts about a shot and its verdict, small enough to be sent with each death. [`sentence`](Self::sentence) tells
/// them.
#[derive(Wire, Clone, Copy, PartialEq, Debug, Reflect)]
#[doc(alias = "kill cam")]
pub struct ShotExplanation {
    /// The shooter.
    pub shooter: NetId,
    /// Identifier of the shot: the tick of its move, on the shooter's count.
    pub shot: Tick,
    /// Weapon that fired it; `None` for a refused shot that never reached one.
    pub weapon: Option<WeaponId>,
    /// Whether it was a projectile, which hits pawns where they are when it arrives.
    pub is_projectile: bool,
    /// Tick of the server in which it was resolved.
    pub resolved: Tick,
    /// View time that the shooter's screen showed; `None` for the present, on a machine with authority.
    pub screen: Option<ViewTime>,
    /// View time at which the server resolved it; `None` for the present, and for a refused shot.
    pub used: Option<ViewTime>,
    /// Whether the server used another time or eye position than the screen showed.
    pub clamped: bool,
    /// Round trip of the shooter in milliseconds, if it was known.
    pub round_trip_ms: Option<u16>,
    /// Ticks for which the shot waited on the server.
    pub queued_ticks: u8,
    /// The pawn that was hit first, or that the shot missed most closely.
    pub target: Option<ExplainedTarget>,
    /// Verdict.
    pub result: ShotResult,
}

/// Target of an explained shot.
#[derive(Wire, Clone, Copy, PartialEq, Debug, Reflect)]
pub struct ExplainedTarget {
    /// The pawn.
    pub id: NetId,
    /// Distance in metres by which the shot passed it as the shooter's screen showed it; 0 if it went through.
    pub screen_gap: f32,
    /// Distance in metres by which the shot passed it where the server tested it.
    pub tested_gap: f32,
    /// Distance in metres between where the server tested it and where it was by then.
    pub moved: f32,
    /// Whether the level was between the shooter's eye and the target as the screen showed it.
    pub is_behind_wall: bool,
    /// Whether by then, on the server, the level was between the shooter's eye and the target's head and middle.
    pub is_covered: bool,
}

/// Whom a sentence addresses as "you".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Reflect)]
pub enum ExplanationViewer {
    /// Nobody, as in a replay.
    #[default]
    Nobody,
    /// The shooter.
    Shooter,
    /// The target.
    Target,
}

impl ExplainedTarget {
    /// Returns the places on a pawn, its head and its middle, of which [`is_covered`](Self::is_covered) tells whether
    /// the level hides both.
    #[must_use]
    pub fn cover_points(pose: &PoseSample, boxes: Option<&HitBoxes>) -> [Vec3; 2] {
        let head = boxes.map_or(1.6, |boxes| boxes.bounds().high * 0.9);
        [head, head * 0.55].map(|height| pose.position + pose.up() * height)
    }
}

impl ShotExplanation {
    /// Returns what is known of a shot of which there is only a verdict, such as one that the server refused to fire.
    #[must_use]
    pub fn of_verdict(shooter: NetId, shot: Tick, resolved: Tick, result: ShotResult) -> Self {
        Self {
            shooter,
            shot,
            weapon: None,
            is_projectile: false,
            resolved,
            screen: None,
            used: None,
            clamped: false,
            round_trip_ms: None,
            queued_ticks: 0,
            target: None,
            result,
        }
    }

    /// Returns the milliseconds from a view time to the tick in which the shot was resolved.
    fn ms_since(&self, time: ViewTime, tick_seconds: f32) -> f32 {
        -time.ticks_since(self.resolved) * tick_seconds * 1e3
    }

    /// Returns the age of the shooter's picture when the server resolved the shot, in milliseconds. `None` for the
    /// present.
    #[must_use]
    pub fn age_ms(&self, tick_seconds: f32) -> Option<f32> {
        self.screen.map(|screen| self.ms_since(screen, tick_seconds))
    }

    /// Returns the part of the age that is neither round trip nor waiting on the server: playout delay (interpolation
    /// delay) and the time until the next move. `None` if the round trip is not known.
    #[must_use]
    #[doc(alias = "interpolation delay")]
    pub fn playout_ms(&self, tick_seconds: f32) -> Option<f32> {
        let queued = f32::from(self.queued_ticks) * tick_seconds * 1e3;
        let rest = self.age_ms(tick_seconds)? - f32::from(self.round_trip_ms?) - queued;
        Some(rest.max(0.0))
    }

    /// Returns in one sentence why the shot counted or not. `name` returns the name of a pawn's player.
    #[must_use]
    pub fn sentence(
        &self,
        viewer: ExplanationViewer,
        tick_seconds: f32,
        name: impl Fn(NetId) -> String,
    ) -> String {
        let by = name(self.shooter);
        match self.result {
            ShotResult::Refused(why) => {
                let whose =
                    if viewer == ExplanationViewer::Shooter { "your".to_owned() } else { format!("{by}'s") };
                format!("Refused: {}", refusal(why, &whose))
            }
            ShotResult::Launched => "Launched: its projectile was still in flight.".to_owned(),
            ShotResult::Hit(hits) => {
                let group = hits.first().map_or(HitGroup::Body, TargetCount::group);
                self.hit_sentence(viewer, tick_seconds, group, &name)
            }
            ShotResult::Miss => self.miss_sentence(viewer, tick_seconds, &name),
        }
    }

    /// Returns what a sentence calls the target, if there is one.
    fn target_name(&self, viewer: ExplanationViewer, name: &dyn Fn(NetId) -> String) -> Option<String> {
        self.target.map(|target| match viewer {
            ExplanationViewer::Target => "you".to_owned(),
            _ => name(target.id),
        })
    }

    /// Returns what the shooter's screen showed, and how old that was.
    fn picture(
        &self,
        viewer: ExplanationViewer,
        tick_seconds: f32,
        name: &dyn Fn(NetId) -> String,
    ) -> String {
        let target = self.target_name(viewer, name).unwrap_or("nobody near its line".to_owned());
        let screen = match viewer {
            ExplanationViewer::Shooter => "your screen".to_owned(),
            _ => format!("{}'s screen", name(self.shooter)),
        };
        match (self.screen, self.age_ms(tick_seconds)) {
            (Some(time), Some(age)) => {
                let tick = f64::from(time.tick.0) + f64::from(time.fraction) / 256.0;
                format!("{screen} showed {target} at tick {tick:.1}, {age:.0} ms old")
            }
            _ => format!("{screen} showed {target} at the present"),
        }
    }

    fn hit_sentence(
        &self,
        viewer: ExplanationViewer,
        tick_seconds: f32,
        group: HitGroup,
        name: &dyn Fn(NetId) -> String,
    ) -> String {
        let is_target = viewer == ExplanationViewer::Target;
        let [its, it, was] = if is_target { ["your", "you", "were"] } else { ["its", "it", "was"] };
        let start = if is_target { format!("Hit by {}", name(self.shooter)) } else { "Hit".to_owned() };
        if self.is_projectile {
            let target = self.target_name(viewer, name).unwrap_or("its target".to_owned());
            return format!("{start}: the projectile reached {target} where {it} {was} on the server.");
        }
        let part = match group {
            HitGroup::Head => "head was",
            HitGroup::Body => "body was",
            HitGroup::Limb => "arm or leg was",
        };
        let picture = self.picture(viewer, tick_seconds, name);
        let moved = self.target.filter(|target| target.moved >= MOVED);
        let moved = moved.map(|target| format!("had moved {:.1} m", target.moved));
        let covered = self.target.filter(|target| target.is_covered).map(|_| format!("{was} behind cover"));
        let by_then: Vec<String> = moved.into_iter().chain(covered).collect();
        if by_then.is_empty() {
            return format!("{start}: {picture}; {its} {part} there.");
        }
        format!("{start}: {picture}; {its} {part} there, though by then {it} {}.", by_then.join(" and "))
    }

    fn miss_sentence(
        &self,
        viewer: ExplanationViewer,
        tick_seconds: f32,
        name: &dyn Fn(NetId) -> String,
    ) -> String {
        let picture = self.picture(viewer, tick_seconds, name);
        let it = if viewer == ExplanationViewer::Target { "you" } else { "it" };
        let Some(target) = self.target else { return format!("Missed: {picture}.") };
        let why = if self.is_projectile {
            "the projectile ended without reaching anybody".to_owned()
        } else if target.is_behind_wall {
            "a wall was in between".to_owned()
        } else if target.screen_gap > TOUCHES {
            format!("the shot passed {:.2} m beside {it}", target.screen_gap)
        } else if self.clamped {
            let used = self.used.map_or("the present".to_owned(), |used| {
                format!("its poses of {:.0} ms ago", self.ms_since(used, tick_seconds))
            });
            format!(
                "the server did not accept that view and tested {used}, where it passed {:.2} m beside {it}",
                target.tested_gap
            )
        } else if target.is_covered {
            format!("the server protected {it} behind cover")
        } else if target.tested_gap > TOUCHES {
            format!("where the server tested it, the shot passed {:.2} m beside {it}", target.tested_gap)
        } else {
            "its line grazed the edge of a hit box, and the server's did not".to_owned()
        };
        format!("Missed: {picture}; {why}.")
    }
}

fn refusal(why: ShotRefusal, whose: &str) -> String {
    match why {
        ShotRefusal::Dead => format!("{whose} pawn was dead when the shot arrived."),
        ShotRefusal::Eye => format!("a wall was between {whose} eye on the screen and on the server."),
        ShotRefusal::Aim => format!("the shot did not go where {whose} move looked."),
        ShotRefusal::TooOld => format!("{whose} screen was older than the server rewinds."),
        ShotRefusal::FromTheFuture => format!("{whose} view time lay ahead of the server."),
        ShotRefusal::View => format!("{whose} screen cannot have shown that view."),
        ShotRefusal::TooSoon => format!("{whose} weapon was not ready again."),
        ShotRefusal::Empty => format!("{whose} magazine was empty."),
        ShotRefusal::Reloading => format!("{whose} weapon was reloading."),
        ShotRefusal::NotCharged => format!("{whose} weapon was not charged."),
        ShotRefusal::Unarmed => "no weapon was held.".to_owned(),
        ShotRefusal::Pellets => "its pellets were not those of the weapon.".to_owned(),
        ShotRefusal::TooMany => "too many projectiles were in flight.".to_owned(),
        ShotRefusal::MissingMove => format!("{whose} move with the shot never reached the server."),
    }
}

impl ShotDetail {
    /// Returns the unit directions of the pellets as the server traced them, at least one. `weapon` is the one that
    /// fired the shot; `None` if it is not known.
    pub fn directions(&self, weapon: Option<&Weapon>) -> impl Iterator<Item = Vec3> {
        let pellets = u32::from(weapon.map_or(1, Weapon::pellets).max(1));
        (0..pellets).map(|pellet| self.fire.pellet_direction(&self.cone, self.server_seed, pellet))
    }

    /// Returns the round trip of the shooter in milliseconds, if it was known.
    #[must_use]
    pub fn round_trip_ms(&self) -> Option<u16> {
        let round_trip = self.view.as_ref()?.round_trip?;
        Some(round_trip.as_millis().min(60_000) as u16)
    }
}

#[cfg(test)]
mod tests {
    use bevy_unlag_core::check_wire;

    use super::*;
    use crate::verdict::HitList;

    const TICK: f32 = 1.0 / 64.0;

    fn shot(result: ShotResult) -> ShotExplanation {
        ShotExplanation {
            shooter: NetId(1),
            shot: Tick(815),
            weapon: Some(WeaponId(0)),
            is_projectile: false,
            resolved: Tick(821),
            screen: Some(ViewTime { tick: Tick(812), fraction: 102 }),
            used: Some(ViewTime { tick: Tick(812), fraction: 102 }),
            clamped: false,
            round_trip_ms: Some(60),
            queued_ticks: 1,
            target: Some(ExplainedTarget {
                id: NetId(2),
                screen_gap: 0.0,
                tested_gap: 0.0,
                moved: 0.0,
                is_behind_wall: false,
                is_covered: false,
            }),
            result,
        }
    }

    fn name(id: NetId) -> String {
        format!("Bot {}", id.0)
    }

    #[test]
    fn cover_is_tested_at_head_and_middle_along_the_pawns_up_direction() {
        let pose = PoseSample { position: Vec3::new(3.0, 1.0, -2.0), ..PoseSample::default() };
        let [head, middle] = ExplainedTarget::cover_points(&pose, None);
        assert!(head.distance(Vec3::new(3.0, 2.6, -2.0)) < 1e-5, "{head}");
        assert!(middle.distance(Vec3::new(3.0, 1.88, -2.0)) < 1e-5, "{middle}");
    }

    #[test]
    fn sentence_names_picture_age_and_reason() {
        use ExplanationViewer::{Nobody, Shooter, Target};

        let hit = shot(ShotResult::Hit([(NetId(2), HitGroup::Head)].into_iter().collect::<HitList>()));
        let text = hit.sentence(Shooter, TICK, name);
        assert_eq!(text, "Hit: your screen showed Bot 2 at tick 812.4, 134 ms old; its head was there.");
        let moved = ExplainedTarget { moved: 0.84, is_covered: true, ..hit.target.expect("a target") };
        let text = ShotExplanation { target: Some(moved), ..hit }.sentence(Target, TICK, name);
        assert_eq!(
            text,
            "Hit by Bot 1: Bot 1's screen showed you at tick 812.4, 134 ms old; your head was there, though by then \
             you had moved 0.8 m and were behind cover."
        );
        let miss = shot(ShotResult::Miss);
        let beside = ExplainedTarget { screen_gap: 0.423, ..miss.target.expect("a target") };
        let text = ShotExplanation { target: Some(beside), ..miss }.sentence(Nobody, TICK, name);
        assert!(text.starts_with("Missed: Bot 1's screen showed Bot 2") && text.contains("0.42 m beside it"));
        let wall = ExplainedTarget { is_behind_wall: true, ..beside };
        let text = ShotExplanation { target: Some(wall), ..miss }.sentence(Nobody, TICK, name);
        assert!(text.ends_with("a wall was in between."), "{text}");
        let none = ShotExplanation { target: None, ..miss }.sentence(Shooter, TICK, name);
        assert!(none.contains("nobody near its line"), "{none}");
    }

    #[test]
    fn age_consists_of_round_trip_queue_and_playout() {
        let shot = shot(ShotResult::Miss);
        let age = shot.age_ms(TICK).expect("a screen");
        assert!((age - 134.4).abs() < 0.1, "{age}");
        assert!(shot.playout_ms(TICK).is_some_and(|playout| (playout - (age - 60.0 - 15.625)).abs() < 0.1));
        assert_eq!(ShotExplanation { screen: None, ..shot }.playout_ms(TICK), None);
    }

    #[test]
    fn every_refusal_has_a_sentence_of_its_own() {
        let texts: std::collections::BTreeSet<_> = ShotRefusal::ALL
            .map(|why| shot(ShotResult::Refused(why)).sentence(ExplanationViewer::Shooter, TICK, name))
            .into_iter()
            .collect();
        assert_eq!(texts.len(), ShotRefusal::ALL.len());
        assert!(texts.iter().all(|text| text.starts_with("Refused: ") && text.ends_with('.')));
    }

    #[test]
    fn any_bytes_are_an_explanation_or_an_error() {
        assert_eq!(check_wire::<ShotExplanation>(3, 300), Ok(()));
    }
}
