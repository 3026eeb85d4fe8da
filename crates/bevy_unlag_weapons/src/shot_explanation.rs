//! Explanation of a verdict: why a shot counted or not, in one sentence.

mod deaths;

use bevy::prelude::*;
use bevy_unlag_core::{NetId, Tick, ViewTime, Wire};
use bevy_unlag_rewind::HitGroup;

pub(crate) use deaths::RecentShots;
pub use deaths::{DeathExplained, DeathExplanationPlugin};

use crate::{
    shot_journal::ShotDetail,
    spread::pellet_offset,
    verdict::{ShotRefusal, ShotResult, TargetCount},
    weapon::WeaponId,
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

impl ShotExplanation {
    /// Returns the age of the shooter's picture when the server resolved the shot, in milliseconds. `None` for the
    /// present.
    #[must_use]
    pub fn age_ms(&self, tick_seconds: f32) -> Option<f32> {
        self.screen.map(|screen| -screen.ticks_since(self.resolved) * tick_seconds * 1e3)
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

    /// Returns what the shooter's screen showed, and how old that was.
    fn picture(
        &self,
        viewer: ExplanationViewer,
        tick_seconds: f32,
        name: &dyn Fn(NetId) -> String,
    ) -> String {
        let target = match (self.target, viewer) {
            (Some(_), ExplanationViewer::Target) => "you".to_owned(),
            (Some(target), _) => name(target.id),
            (None, _) => "nobody near its line".to_owned(),
        };
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
        let (its, it) = if is_target { ("your", "you") } else { ("its", "it") };
        let start = if is_target { format!("Hit by {}", name(self.shooter)) } else { "Hit".to_owned() };
        if self.is_projectile {
            let target = match self.target {
                Some(_) if is_target => "you".to_owned(),
                Some(target) => name(target.id),
                None => "its target".to_owned(),
            };
            let where_to = if is_target { "you were" } else { "it was" };
            return format!("{start}: the projectile reached {target} where {where_to} on the server.");
        }
        let part = match group {
            HitGroup::Head => "head was",
            HitGroup::Body => "body was",
            HitGroup::Limb => "arm or leg was",
        };
        let mut text = format!("{start}: {}; {its} {part} there", self.picture(viewer, tick_seconds, name));
        if let Some(target) = self.target {
            let covered = if target.is_covered { " and was behind cover" } else { "" };
            let covered = if is_target && target.is_covered { " and were behind cover" } else { covered };
            if target.moved >= MOVED {
                text += &format!(", though by then {it} had moved {:.1} m{covered}", target.moved);
            } else if target.is_covered {
                text += &format!(", though by then {it}{}", if is_target { " were" } else { " was" });
                text += " behind cover";
            }
        }
        text + "."
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
                let age = -used.ticks_since(self.resolved) * tick_seconds * 1e3;
                format!("its poses of {age:.0} ms ago")
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
    /// Returns the unit direction of a pellet as the server traced it.
    #[must_use]
    pub fn direction(&self, pellet: u32) -> Vec3 {
        let listed = self.fire.pellets().nth(pellet as usize);
        self.cone.direction(listed.unwrap_or_else(|| pellet_offset(self.server_seed, pellet)))
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
