//! Plausibility checks of shots, before any hit test.

use bevy::prelude::*;
use bevy_unlag_rewind::RewindQuery;

use crate::{
    aim::Aim,
    fire_rules::FireRules,
    verdict::ShotRefusal,
    weapon::{Shot, SpreadSource, Weapon},
    weapon_extension::PredictedShot,
};

/// Returns the eye position that the shot is traced from: the drawn eye, or the nearest position within the
/// tolerance of the server's eye position, for a pawn with this up direction. A large distance alone is no reason for a
/// refusal: a pawn that was knocked back, or extrapolated because moves were missing, sees itself elsewhere for a round
/// trip. But no wall may be in between.
pub(super) fn eye(
    (own, up): (Vec3, Vec3),
    drawn: Vec3,
    rules: &FireRules,
    query: &RewindQuery,
) -> Result<Vec3, ShotRefusal> {
    let near = rules.clamp_eye((own, up), drawn, 1.0);
    if query.world().is_clear(own, near) { Ok(near) } else { Err(ShotRefusal::Eye) }
}

/// Maximum sustained turn rate of a player, in degrees per second: half a turn in 1/14 s. Packets that arrive
/// together may have been produced in one frame or held back.
const SUSTAINED_TURN_RATE: f32 = 2_500.0;

/// Checks that the aim lies on the path of the view since the previous move, and that neither that turn nor a
/// recent one was larger than a player can achieve within a frame. `frames` are the lengths of the two frames
/// in seconds.
pub(super) fn aim(
    round: &PredictedShot,
    frames: [f32; 2],
    dt: f32,
    rules: &FireRules,
) -> Result<(), ShotRefusal> {
    let aim = round.fire.aim(round.look);
    let between = |a: Aim, b: Aim| a.direction().angle_between(b.direction()).to_degrees();
    let (turn, beside) = match round.before {
        Some(before) => {
            // Half the detour through the aim; for a view that does not turn, this is its angle to the
            // aim.
            let round_about = between(before, aim) + between(aim, round.look) - between(before, round.look);
            (before.angle_to(aim), round_about / 2.0)
        }
        None => (0, between(aim, round.look)),
    };
    let by_hand = |turn: u16, frame: f32| {
        let most = (rules.max_turn * dt).max(rules.max_turn.min(SUSTAINED_TURN_RATE) * frame);
        f32::from(turn) * (360.0 / 65_536.0) <= most + rules.aim_tolerance
    };
    let turned = by_hand(turn, frames[0]) && by_hand(round.fastest_turn.by, frames[1]);
    if beside <= rules.aim_tolerance && turned { Ok(()) } else { Err(ShotRefusal::Aim) }
}

/// Checks that pellets are supplied only if the weapon accepts them, and then all of them.
pub(super) fn pellets(round: &PredictedShot, weapon: &Weapon) -> Result<(), ShotRefusal> {
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
    use crate::{
        fire_input::FireInput,
        spread::SpreadCone,
        weapon::{Spread, WeaponId},
        weapon_extension::FastestTurn,
    };
    use bevy_unlag_core::{Tick, Up};

    const TICK: f32 = 1.0 / 64.0;

    /// A shot with an aim of `aim` degrees to the left in a move that looks along `look`, after one along
    /// `before`.
    fn turned(before: Option<f32>, aim: f32, look: f32) -> PredictedShot {
        let of = |degrees: f32| Aim::new(degrees.to_radians(), 0.0);
        PredictedShot {
            shot: Tick(0),
            number: 1,
            weapon: WeaponId(0),
            fire: FireInput::default().with_aim(of(aim), of(look)),
            look: of(look),
            before: before.map(of),
            fastest_turn: FastestTurn {
                by: before.map_or(0, |before| of(before).angle_to(of(look))),
                ago: 0,
            },
            cone: SpreadCone { aim: of(aim), half_angle: 0, up: Up::Y },
            up: Vec3::Y,
            seed: 0,
            power: 255,
        }
    }

    #[test]
    fn aim_off_the_path_of_the_view_or_after_an_impossible_turn_is_refused() {
        let rules = FireRules::default();
        let fine = |round: PredictedShot, frame: f32| aim(&round, [frame * TICK, TICK], TICK, &rules).is_ok();
        assert!(fine(turned(Some(0.0), 0.0, 0.0), 1.0));
        // Between two ticks of a quick turn.
        assert!(fine(turned(Some(0.0), 40.0, 80.0), 1.0));
        assert!(fine(turned(None, 0.0, 0.0), 1.0));
        // Aims off the path.
        assert!(!fine(turned(Some(0.0), 30.0, 0.0), 1.0));
        assert!(!fine(turned(Some(0.0), 120.0, 80.0), 1.0));
        assert!(!fine(turned(None, 30.0, 0.0), 1.0));
        // Half a turn in one tick, by a client with short frames and by one with long frames.
        let still = FastestTurn::default();
        let half = |frame: f32| {
            fine(PredictedShot { fastest_turn: still, ..turned(Some(0.0), 180.0, 180.0) }, frame)
        };
        assert!(!half(1.0) && !half(4.0), "held back packets do not allow faster turns");
        assert!(half(6.0));
        assert!(fine(PredictedShot { fastest_turn: still, ..turned(Some(0.0), 120.0, 120.0) }, 1.0));
        // A turn some moves before.
        let by = Aim::default().angle_to(Aim::new(3.1, 0.0));
        let after = PredictedShot { fastest_turn: FastestTurn { by, ago: 3 }, ..turned(Some(0.0), 0.0, 0.0) };
        assert!(!fine(after, 1.0) && !fine(after, 9.0));
        assert!(aim(&after, [TICK, 9.0 * TICK], TICK, &rules).is_ok(), "the turn was within a long frame");
    }

    #[test]
    fn distant_eye_is_clamped_to_the_tolerance() {
        let rules = FireRules { eye_tolerance: 0.5, eye_height_tolerance: 1.0, ..FireRules::default() };
        let own = Vec3::new(10.0, 1.6, -4.0);
        let from = |off: Vec3| rules.clamp_eye((own, Vec3::Y), own + off, 1.0) - own;
        let near =
            |off: Vec3, wanted: Vec3| assert!(from(off).distance(wanted) < 1e-5, "{off}: {}", from(off));
        near(Vec3::new(0.3, -0.9, 0.3), Vec3::new(0.3, -0.9, 0.3));
        near(Vec3::new(0.0, 3.0, -2.0), Vec3::new(0.0, 1.0, -0.5));
        near(Vec3::new(3.0, -0.2, 4.0), Vec3::new(0.3, -0.2, 0.4));
        let none = FireRules { eye_tolerance: -1.0, eye_height_tolerance: f32::NAN, ..rules };
        assert_eq!(none.clamp_eye((own, Vec3::Y), own + Vec3::ONE, 1.0), own);
    }

    #[test]
    fn eye_tolerances_turn_with_the_up_direction() {
        let rules = FireRules { eye_tolerance: 0.5, eye_height_tolerance: 1.0, ..FireRules::default() };
        let own = Vec3::new(41.6, 0.0, -4.0);
        for (up, turn) in [
            (Vec3::NEG_Y, Quat::from_rotation_x(core::f32::consts::PI)),
            (Vec3::X, Quat::from_rotation_z(-core::f32::consts::FRAC_PI_2)),
        ] {
            assert!((turn * Vec3::Y).distance(up) < 1e-6);
            for (off, wanted) in [
                (Vec3::new(0.3, -0.9, 0.3), Vec3::new(0.3, -0.9, 0.3)),
                (Vec3::new(0.0, 3.0, -2.0), Vec3::new(0.0, 1.0, -0.5)),
                (Vec3::new(3.0, -0.2, 4.0), Vec3::new(0.3, -0.2, 0.4)),
            ] {
                let near = rules.clamp_eye((own, up), own + turn * off, 1.0) - own;
                assert!(near.distance(turn * wanted) < 1e-4, "{up}, {off}: {near}");
            }
        }
    }

    #[test]
    fn pellets_are_accepted_only_where_requested_and_inside_the_cone() {
        let listed = |offsets: &[Vec2]| {
            let mut round = turned(None, 0.0, 0.0);
            round.fire.set_pellets(offsets.iter().copied());
            round
        };
        let of =
            |source, shot| Weapon { shot, spread: Spread { source, ..Spread::default() }, ..Weapon::rifle() };
        let (ray, three) = (Weapon::rifle().shot, Shot::Pellets { count: 3, range: 9.0 });
        let fine = |offsets: &[Vec2], weapon: &Weapon| pellets(&listed(offsets), weapon).is_ok();
        for source in [SpreadSource::Seed, SpreadSource::Server] {
            assert!(fine(&[], &of(source, three)));
            assert!(!fine(&[Vec2::ZERO; 3], &of(source, three)), "the weapon accepts no client pellets");
        }
        let (one, three) = (of(SpreadSource::Client, ray), of(SpreadSource::Client, three));
        assert!(fine(&[Vec2::X], &one) && fine(&[Vec2::NEG_Y; 3], &three));
        assert!(!fine(&[], &one) && !fine(&[Vec2::X; 3], &one) && !fine(&[Vec2::X; 2], &three));
        // Such offsets cannot be listed, but they can be represented in the wire format.
        let mut outside = listed(&[]);
        outside.fire = FireInput::outside();
        assert_eq!(pellets(&outside, &one), Err(ShotRefusal::Pellets));
    }
}
