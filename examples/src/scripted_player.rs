//! Scripted players that strafe, turn at random, jump, and shoot at the pawns on their screen.

use bevy::{math::Vec3Swizzles, prelude::*};
use bevy_unlag::{ControlSystems, SoldierBody, core::units_to_angle, prelude::*, rewind::WorldTrace};
use clap::ValueEnum;
use rand::{Rng, SeedableRng, rngs::SmallRng};

use crate::arena::HALF_SIZE;

/// Half the width of a pawn's silhouette, in metres.
const HALF_SILHOUETTE: f32 = 0.25;

/// Waypoints of the tour: up the stairs, over the platform, down the ramp, across a low step, around the
/// cover.
const WAYPOINTS: [Vec2; 8] = [
    Vec2::new(9.0, -13.0),
    Vec2::new(3.0, -13.0),
    Vec2::new(0.0, -11.5),
    Vec2::new(0.0, -4.0),
    Vec2::new(9.0, 0.0),
    Vec2::new(15.0, 0.5),
    Vec2::new(12.0, -8.0),
    Vec2::new(13.0, -13.0),
];

/// State of a scripted player.
#[doc(alias = "bot")]
#[derive(Resource, Debug)]
pub struct ScriptedPlayer {
    rng: SmallRng,
    /// Whether it fires. Default: true.
    pub may_fire: bool,
    /// Turn rate of its view, in radians per second. Default: [`DEFAULT_TURN_RATE`].
    pub turn_rate: f32,
    active: bool,
    /// Next waypoint of a touring player; `None` for a player that fights.
    waypoint: Option<usize>,
    walk: Vec2,
    jump: bool,
    crouch: bool,
    next_turn: f32,
    /// Offset of its aim point from the target's root; replaced at `next_aim_offset`.
    aim_offset: Vec3,
    next_aim_offset: f32,
    target: Option<Entity>,
    next_weapon: f32,
    weapon: u8,
    /// Skill of a bot; `None` for a player of measurements.
    skill: Option<BotSkill>,
    /// When the target came into sight.
    in_sight_since: Option<f32>,
}

/// Skill of a bot that plays with people.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BotSkill {
    /// Reacts slowly, aims badly and pauses often.
    Easy,
    /// About as good as a casual player.
    #[default]
    Normal,
    /// Reacts fast and aims well.
    Hard,
}

impl BotSkill {
    /// Returns the turn rate of its view, in radians per second.
    fn turn_rate(self) -> f32 {
        [2.5, 5.0, 10.0][self as usize]
    }

    /// Returns the largest distance of its aim point from the target's middle, in metres.
    fn aim_error(self) -> f32 {
        [1.3, 0.6, 0.25][self as usize]
    }

    /// Returns the time from the sight of a target to the first shot, in seconds.
    fn reaction(self) -> f32 {
        [0.9, 0.4, 0.18][self as usize]
    }

    /// Returns the length of its bursts and of the pauses after them, in seconds.
    fn burst(self) -> (f32, f32) {
        [(0.4, 1.2), (0.7, 0.6), (1.5, 0.3)][self as usize]
    }

    /// Returns whether it fires at a target that has been in sight for these seconds.
    fn fires(self, in_sight: f32) -> bool {
        let (burst, pause) = self.burst();
        let since = in_sight - self.reaction();
        since >= 0.0 && since % (burst + pause) < burst
    }
}

impl ScriptedPlayer {
    /// Creates a scripted player that fights. Equal seeds give equal behaviour.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            rng: SmallRng::seed_from_u64(seed),
            may_fire: true,
            turn_rate: DEFAULT_TURN_RATE,
            active: true,
            waypoint: None,
            walk: Vec2::ZERO,
            jump: false,
            crouch: false,
            next_turn: 0.0,
            aim_offset: Vec3::Y,
            next_aim_offset: 0.0,
            target: None,
            next_weapon: 0.0,
            weapon: 0,
            skill: None,
            in_sight_since: None,
        }
    }

    /// Creates a bot that aims at its targets, for people to play with.
    #[must_use]
    pub fn bot(seed: u64, skill: BotSkill) -> Self {
        Self { skill: Some(skill), turn_rate: skill.turn_rate(), ..Self::new(seed) }
    }

    /// Switches weapons every 2 to 5 s, mostly to one that suits the distance.
    fn choose_weapon(&mut self, now: f32, distance: f32, arsenal: &Arsenal) -> Option<u8> {
        if now < self.next_weapon || arsenal.iter().len() < 2 {
            return None;
        }
        self.next_weapon = now + self.rng.random_range(2.0..5.0);
        let [rifle, shotgun, rockets, knife] = [0, 1, 2, 3];
        self.weapon = match self.rng.random_range(0..4) {
            0 => rockets,
            _ if distance < 2.5 => knife,
            _ if distance < 9.0 => shotgun,
            _ => rifle,
        };
        Some(self.weapon)
    }

    /// Creates a player that never fires and walks a tour over the stairs, the ramp, the platform and the
    /// cover.
    #[must_use]
    pub fn touring(seed: u64) -> Self {
        Self { may_fire: false, waypoint: Some(seed as usize % WAYPOINTS.len()), ..Self::new(seed) }
    }

    /// Creates a player without any input.
    #[must_use]
    pub fn idle() -> Self {
        Self { active: false, may_fire: false, ..Self::new(0) }
    }

    /// Picks a new movement direction every 0.2 to 0.9 s: mostly across the line to the target, sometimes
    /// towards it, occasionally with a jump or a crouch.
    fn turn(&mut self, now: f32, outside: bool) {
        if now < self.next_turn {
            return;
        }
        self.next_turn = now + self.rng.random_range(0.2..0.9);
        let side = if self.rng.random_bool(0.5) { 1.0 } else { -1.0 };
        self.walk = match self.rng.random_range(0..10) {
            0..6 => Vec2::new(side, 0.0),
            6..8 => Vec2::new(side, 1.0),
            8 => Vec2::new(side, -0.6),
            _ => Vec2::ZERO,
        };
        if outside {
            self.walk = Vec2::new(side * 0.4, 1.0);
        }
        self.jump = self.rng.random_bool(0.25);
        self.crouch = self.rng.random_bool(0.1);
    }

    /// Picks a new aim offset every 0.15 s, uniformly over one and a half silhouettes on either side; a bot picks one
    /// around the target's middle.
    fn pick_aim_offset(&mut self, now: f32) {
        if now >= self.next_aim_offset {
            self.next_aim_offset = now + 0.15;
            if let Some(skill) = self.skill {
                let error = skill.aim_error();
                let aside = self.rng.random_range(-error..error);
                let height = 1.1 + self.rng.random_range(-error..error) * 0.5;
                self.aim_offset = Vec3::new(aside, height, 0.0);
                return;
            }
            let aside = 3.0 * HALF_SILHOUETTE;
            self.aim_offset =
                Vec3::new(self.rng.random_range(-aside..aside), self.rng.random_range(0.2..1.8), 0.0);
        }
    }
}

/// Default turn rate of a scripted player's view, in radians per second: half a turn in a fifth of a second.
pub const DEFAULT_TURN_RATE: f32 = 15.0;

/// Drives this app's pawn by its [`ScriptedPlayer`].
pub fn plugin(app: &mut App) {
    app.add_systems(RunFixedMainLoop, play.in_set(ControlSystems::Accumulate));
}

fn play(
    time: Res<Time>,
    mut script: ResMut<ScriptedPlayer>,
    mut own: Query<(&DrawnPose, &mut InputAccumulator, &Aim, &mut WeaponControls), With<LocalControl>>,
    others: Query<(Entity, &NetId, &DrawnPose), (With<SoldierBody>, Without<LocalControl>)>,
    arsenal: Res<Arsenal>,
    world: WorldTrace,
) {
    let now = time.elapsed_secs();
    let Ok((drawn, mut gather, aim, mut trigger)) = own.single_mut() else { return };
    let script = &mut *script;
    if !script.active {
        return;
    }
    let eye = drawn.pose.position + Vec3::Y * 1.6;
    let chest = |pose: &DrawnPose| pose.pose.position + Vec3::Y * 1.2;

    // The nearest visible pawn; ties are broken by net id, which keeps runs reproducible.
    let mut seen: Vec<_> = others.iter().filter(|(_, _, other)| other.pose.alive).collect();
    seen.sort_by(|a, b| {
        let distance = |p: &DrawnPose| p.pose.position.distance_squared(eye);
        distance(a.2).total_cmp(&distance(b.2)).then(a.1.cmp(b.1))
    });
    let target = seen.iter().find(|(_, _, other)| world.is_clear(eye, chest(other))).or(seen.first());
    let in_sight = target.is_some_and(|(_, _, other)| world.is_clear(eye, chest(other)));
    if script.target != target.map(|t| t.0) {
        script.target = target.map(|t| t.0);
        script.next_aim_offset = 0.0;
    }

    if let Some(waypoint) = script.waypoint {
        let here = drawn.pose.position.xz();
        let waypoint = if here.distance(WAYPOINTS[waypoint]) < 0.8 {
            (waypoint + 1) % WAYPOINTS.len()
        } else {
            waypoint
        };
        script.waypoint = Some(waypoint);
        let to = WAYPOINTS[waypoint] - here;
        script.turn(now, false);
        // Mostly towards the next waypoint, with some sway.
        gather.set_view(f64::from((-to.x).atan2(-to.y) + script.walk.x * 0.5), 0.0);
        gather.axes(Vec2::Y);
        gather.jump(script.jump);
        return;
    }

    script.pick_aim_offset(now);
    let look = match target {
        Some((_, _, other)) => {
            let to = other.pose.position - eye;
            let across = Vec3::new(-to.z, 0.0, to.x).try_normalize().unwrap_or(Vec3::X);
            to + across * script.aim_offset.x + Vec3::Y * script.aim_offset.y
        }
        None => Vec3::new(-eye.x, 0.0, -eye.z),
    };
    let wanted = aim.rotate_towards(Aim::from_direction(look), script.turn_rate * time.delta_secs());
    gather.set_view(
        f64::from(units_to_angle(wanted.yaw)),
        f64::from(units_to_angle(wanted.pitch.cast_unsigned())),
    );

    let far = target.is_none_or(|(_, _, other)| other.pose.position.distance(eye) > 14.0);
    let outside = far || eye.x.abs().max(eye.z.abs()) > HALF_SIZE - 2.0;
    script.turn(now, outside);
    gather.axes(script.walk);
    gather.jump(script.jump);
    gather.crouch(script.crouch);
    let distance = target.map_or(f32::MAX, |(_, _, other)| other.pose.position.distance(eye));
    trigger.equip = script.choose_weapon(now, distance, &arsenal).or(trigger.equip);
    // Semi-automatic weapons need the trigger to be released between shots.
    let lets_go = script.weapon > 0 && (now * 4.0).fract() > 0.5;
    let in_reach = script.weapon != 3 || distance < 3.0;
    if !in_sight {
        script.in_sight_since = None;
    }
    let in_sight_since = *script.in_sight_since.get_or_insert(now);
    let is_ready = script.skill.is_none_or(|skill| skill.fires(now - in_sight_since));
    trigger.set_fire(script.may_fire && in_sight && is_ready && in_reach && drawn.pose.alive && !lets_go);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harder_bots_react_faster_aim_better_and_fire_more() {
        let skills = [BotSkill::Easy, BotSkill::Normal, BotSkill::Hard];
        let share = |skill: BotSkill| {
            (0..1_000).filter(|step| skill.fires(*step as f32 * 0.01)).count() as f32 / 1_000.0
        };
        for pair in skills.windows(2) {
            let [easier, harder] = [pair[0], pair[1]];
            assert!(easier.reaction() > harder.reaction() && easier.aim_error() > harder.aim_error());
            assert!(easier.turn_rate() < harder.turn_rate() && share(easier) + 0.1 < share(harder));
        }
        let mut bot = ScriptedPlayer::bot(7, BotSkill::Hard);
        for now in 1..200_u16 {
            bot.pick_aim_offset(f32::from(now));
            assert!(bot.aim_offset.x.abs() <= 0.25 && (bot.aim_offset.y - 1.1).abs() <= 0.125);
        }
    }
}
