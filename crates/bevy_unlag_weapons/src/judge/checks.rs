//! What a shot has to be before anybody looks whom it hits.

use bevy::{math::Vec3Swizzles, prelude::*};
use bevy_unlag_rewind::RewindQuery;

use crate::{Aim, FireRules, Round, Shot, ShotRefusal, SpreadSource, Weapon};

/// The drawn eye is near the server's own, and no wall stands between them.
pub(super) fn eye(own: Vec3, drawn: Vec3, rules: &FireRules, query: &RewindQuery) -> Result<(), ShotRefusal> {
    let off = (drawn - own).abs();
    let near = off.xz().length() <= rules.eye_tolerance && off.y <= rules.eye_height_tolerance;
    if near && query.world().clear(own, drawn) { Ok(()) } else { Err(ShotRefusal::Eye) }
}

/// It looks along the way that the view took since the move before, and that is no longer than a hand can turn
/// in so many ticks.
pub(super) fn aim(round: &Round, frame: u8, dt: f32, rules: &FireRules) -> Result<(), ShotRefusal> {
    let aim = round.fire.aim(round.look);
    let between = |a: Aim, b: Aim| a.direction().angle_between(b.direction()).to_degrees();
    let (before, beside) = match round.before {
        Some(before) => {
            let turned = between(before, round.look);
            // Half of the way round: for a view that is still that is how far it looks aside.
            let round_about = between(before, aim) + between(aim, round.look) - turned;
            (between(before, aim).max(turned), round_about / 2.0)
        }
        None => (0.0, between(aim, round.look)),
    };
    // A client's moves all turn in the first tick of a frame.
    let most = rules.max_turn * dt * f32::from(frame.max(1)) + rules.aim_tolerance;
    if beside <= rules.aim_tolerance && before <= most { Ok(()) } else { Err(ShotRefusal::Aim) }
}

/// Pellets are only listed where the client is asked to, and then all of them.
pub(super) fn pellets(round: &Round, weapon: &Weapon) -> Result<(), ShotRefusal> {
    let listed = round.fire.pellets();
    let due = match (weapon.spread.source, weapon.shot) {
        (SpreadSource::Client, Shot::Pellets { count, .. }) => usize::from(count),
        (SpreadSource::Client, _) => 1,
        _ => 0,
    };
    let within = |at: Vec2| at.length_squared() <= 1.02;
    if listed.len() == due && round.fire.pellets().all(within) { Ok(()) } else { Err(ShotRefusal::Pellets) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cone, FireInput, WeaponId};
    use bevy_unlag_core::Tick;

    /// A shot that looks `aim` degrees to the left in a move that looks `look`, after one that looked `before`.
    fn turned(before: Option<f32>, aim: f32, look: f32) -> Round {
        let of = |degrees: f32| Aim::new(degrees.to_radians(), 0.0);
        Round {
            shot: Tick(0),
            number: 1,
            weapon: WeaponId(0),
            fire: FireInput::default().looking(of(aim), of(look)),
            look: of(look),
            before: before.map(of),
            cone: Cone { aim: of(aim), half_angle: 0 },
            seed: 0,
            power: 255,
        }
    }

    #[test]
    fn a_shot_looks_where_its_move_does() {
        let rules = FireRules::default();
        let fine = |round: Round, frame: u8| aim(&round, frame, 1.0 / 64.0, &rules).is_ok();
        assert!(fine(turned(Some(0.0), 0.0, 0.0), 1));
        // Between two ticks of a quick turn.
        assert!(fine(turned(Some(0.0), 40.0, 80.0), 1));
        assert!(fine(turned(None, 0.0, 0.0), 1));
        // It looks elsewhere.
        assert!(!fine(turned(Some(0.0), 30.0, 0.0), 1));
        assert!(!fine(turned(Some(0.0), 120.0, 80.0), 1));
        assert!(!fine(turned(None, 30.0, 0.0), 1));
        // Half a turn in one tick, of a client with short frames and of one with long ones.
        assert!(!fine(turned(Some(0.0), 180.0, 180.0), 1));
        assert!(!fine(turned(Some(0.0), 180.0, 180.0), 0));
        assert!(fine(turned(Some(0.0), 180.0, 180.0), 6));
    }
}
