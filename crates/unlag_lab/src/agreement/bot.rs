//! Scripted players of the agreement measurements: they strafe, jump and crouch around their home position
//! and shoot at all other players in turn.

use bevy::math::Vec3Swizzles;
use bevy_unlag::ControlSystems;
use unlag_examples::scripted_player::DEFAULT_TURN_RATE;

use super::scene::{Home, Scene, home};
use crate::prelude::*;

/// Half the width of a silhouette in metres.
const HALF_SILHOUETTE: f32 = 0.25;
/// Distance from the home position at which a player turns back, in metres.
const HOME_RADIUS: f32 = 3.0;
/// Seconds between two aim points: every round has its own.
const AIM_SECONDS: f32 = 0.09;

/// Seeded scripted player.
#[derive(Resource)]
pub struct Bot {
    rng: SmallRng,
    scene: Scene,
    /// Speed of the projectile in metres per second, if the player leads its target.
    speed: Option<f32>,
    /// Fraction of the exact lead that the player aims ahead.
    lead_fraction: f32,
    /// Whether the player shoots.
    pub may_fire: bool,
    direction: Vec2,
    /// Sideways share of the way back to the middle while the player returns.
    return_side: Option<f32>,
    jump_from: f32,
    crouch: bool,
    next_turn: f32,
    /// Aim point relative to the target's root: metres across the line of fire and metres above it.
    spot: Vec2,
    next_spot: f32,
    target: Option<NetId>,
    next_target: f32,
}

impl Bot {
    /// Hands control of a client's pawn to a scripted player. Equal seeds play alike.
    pub fn take_over(seed: u64, (scene, speed): (Scene, Option<f32>), client: &mut App) {
        let hands = Self {
            rng: SmallRng::seed_from_u64(seed),
            scene,
            // A lead misses strafing targets, which reverse too soon.
            speed: speed.filter(|_| scene == Scene::Sprinters),
            lead_fraction: 0.0,
            may_fire: false,
            direction: Vec2::ZERO,
            return_side: None,
            jump_from: f32::MAX,
            crouch: false,
            next_turn: 0.0,
            spot: Vec2::Y,
            next_spot: 0.0,
            target: None,
            next_target: 0.0,
        };
        client.insert_resource(hands).insert_resource(ScriptedPlayer::idle());
        client.add_systems(RunFixedMainLoop, play.in_set(ControlSystems::Accumulate));
    }

    /// Picks a new direction every 0.2 to 0.9 s and at the border of the field: mostly across the line to the
    /// target, at times with a jump or a crouch. On a moving base players only jump while they stand, because
    /// a jump while running would carry them off.
    fn pick_direction(&mut self, now: f32, outside: bool, rides: bool) {
        let leaves = outside && self.return_side.is_none();
        if now < self.next_turn && !leaves {
            return;
        }
        self.next_turn = now + self.rng.random_range(0.2..0.9);
        let side = if self.rng.random_bool(0.5) { 1.0 } else { -1.0 };
        self.direction = match self.rng.random_range(0..10) {
            // Full speed in any direction of view.
            _ if self.scene == Scene::Sprinters => Vec2::new(side, 0.0),
            0..6 => Vec2::new(side, 0.0),
            6..8 => Vec2::new(side, 1.0),
            8 => Vec2::new(side, -0.6),
            _ => Vec2::ZERO,
        };
        self.return_side = outside.then_some(side * 0.4);
        let stands = self.direction == Vec2::ZERO && !outside;
        let jumps = self.rng.random_bool(if !rides { 0.25 } else { 0.5 });
        self.jump_from = match (jumps, rides, stands) {
            (true, false, _) => now,
            (true, true, true) => now + 0.3,
            _ => f32::MAX,
        };
        self.crouch = self.rng.random_bool(0.15);
        if self.scene == Scene::Sprinters {
            (self.jump_from, self.crouch) = (f32::MAX, false);
        }
    }

    /// Picks a new aim point, uniformly over one and a half silhouettes to either side.
    fn pick_aim_point(&mut self, now: f32) {
        if now >= self.next_spot {
            self.next_spot = now + AIM_SECONDS;
            let aside = 3.0 * HALF_SILHOUETTE;
            self.spot = Vec2::new(self.rng.random_range(-aside..aside), self.rng.random_range(0.2..1.8));
            if self.speed.is_some() {
                self.lead_fraction = self.rng.random_range(0.6..1.2);
            }
        }
    }
}

type Own = (
    &'static NetId,
    &'static DrawnPose,
    &'static DrawnEye,
    &'static mut InputAccumulator,
    &'static Aim,
    &'static mut WeaponControls,
);

fn play(
    time: Res<Time>,
    mut hands: ResMut<Bot>,
    mut own: Query<Own, With<LocalControl>>,
    others: Query<(&NetId, &DrawnPose), Without<LocalControl>>,
    bases: Query<(&MovementBase, &Transform)>,
    world: WorldTrace,
) {
    let now = time.elapsed_secs();
    let Ok((id, drawn, height, mut gather, aim, mut trigger)) = own.single_mut() else { return };
    let hands = &mut *hands;
    let eye = drawn.pose.position + Vec3::Y * height.0;

    // Targets take turns so that all of their actions count alike; the order of network ids makes it
    // deterministic.
    let in_sight =
        |pose: &DrawnPose| pose.pose.alive && world.is_clear(eye, pose.pose.position + Vec3::Y * 1.2);
    let target = others.iter().find(|(id, other)| Some(**id) == hands.target && in_sight(other));
    let stays = target.is_some() && now < hands.next_target;
    let target = if stays {
        target
    } else {
        hands.next_target = now + hands.rng.random_range(0.6..1.5);
        hands.next_spot = 0.0;
        let mut seen: Vec<_> = others.iter().filter(|(_, other)| in_sight(other)).collect();
        seen.sort_by_key(|(id, _)| **id);
        (!seen.is_empty()).then(|| seen[hands.rng.random_range(0..seen.len())])
    };
    hands.target = target.map(|(id, _)| *id);

    hands.pick_aim_point(now);
    let look = match target {
        Some((_, other)) => {
            let flight = hands.speed.map_or(0.0, |speed| other.pose.position.distance(eye) / speed);
            let to = other.pose.position + other.pose.velocity * (flight * hands.lead_fraction) - eye;
            let across = Vec3::new(-to.z, 0.0, to.x).try_normalize().unwrap_or(Vec3::X);
            to + across * hands.spot.x + Vec3::Y * hands.spot.y
        }
        None => Vec3::new(-eye.x, 0.0, -eye.z),
    };
    let wanted = aim.rotate_towards(Aim::from_direction(look), DEFAULT_TURN_RATE * time.delta_secs());
    let yaw = units_to_angle(wanted.yaw);
    gather.set_view(f64::from(yaw), f64::from(units_to_angle(wanted.pitch.cast_unsigned())));

    let (middle, rides) = match home(*id, hands.scene) {
        Home::Floor(middle) => (middle, false),
        Home::Base(base) => {
            let found = bases.iter().find(|(other, _)| other.id == base);
            (found.map_or(Vec2::ZERO, |(_, place)| place.translation.xz()), true)
        }
    };
    let inwards = middle - drawn.pose.position.xz();
    hands.pick_direction(now, inwards.length() > HOME_RADIUS, rides);
    gather.axes(match hands.return_side {
        Some(side) => {
            let (sin, cos) = yaw.sin_cos();
            let way = inwards.normalize_or_zero() + inwards.normalize_or_zero().perp() * side;
            // Right and forward axes of the view; a yaw of 0 looks along -Z.
            Vec2::new(way.x * cos - way.y * sin, -way.x * sin - way.y * cos).clamp_length_max(1.0)
        }
        None => hands.direction,
    });
    gather.jump(now >= hands.jump_from);
    gather.crouch(hands.crouch);
    // The trigger is released between two targets: some rounds start with a press, most do not.
    trigger.set_fire(hands.may_fire && target.is_some() && stays);
}
