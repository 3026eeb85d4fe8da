//! Validation of weapon definitions.

use checked_ron::RonError;

use super::Arsenal;
use crate::{
    spread::MAX_PELLETS,
    weapon::{
        Bounce, DamageTable, FireMode, Projectile, Recoil, Reload, Shot, Splash, Spread, SpreadSource, Weapon,
    },
    weapon_extension::MAX_ROUNDS,
};

/// Allowed range of a number: the field and its inclusive bounds.
struct Range(&'static str, f32, f32);

type FieldError = (&'static str, String);

fn within(value: f32, Range(field, low, high): Range) -> Result<(), FieldError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err((field, format!("{value} is not from {low} to {high}; choose a number that is")))
}

pub(super) fn check(weapons: &[Weapon]) -> Result<(), RonError> {
    if weapons.len() > Arsenal::MAX_WEAPONS {
        let problem =
            format!("there are {} weapons, but at most {} are allowed", weapons.len(), Arsenal::MAX_WEAPONS);
        return Err(RonError::whole(problem));
    }
    for (index, weapon) in weapons.iter().enumerate() {
        let twice = weapons[..index].iter().any(|other| other.name == weapon.name);
        let named = if twice {
            Err(("name", "an earlier weapon has the same name; give each weapon its own".to_owned()))
        } else {
            Ok(())
        };
        named.and_then(|()| check_weapon(weapon)).map_err(|(field, problem)| {
            RonError::at(format!("weapon {index} (\"{}\"), {field}", weapon.name), problem)
        })?;
    }
    Ok(())
}

const METRES: f32 = 10_000.0;
const SECONDS: f32 = 60.0;
const POINTS: f32 = 1e6;

fn check_weapon(weapon: &Weapon) -> Result<(), FieldError> {
    within(weapon.interval, Range("interval", 0.01, SECONDS))?;
    within(weapon.switch, Range("switch", 0.0, SECONDS))?;
    within(weapon.max_rewind.unwrap_or(0.0), Range("max_rewind", 0.0, SECONDS))?;
    shot(&weapon.shot)?;
    mode(weapon.mode)?;
    spread(&weapon.spread, &weapon.shot)?;
    recoil(&weapon.recoil)?;
    damage(&weapon.damage)?;
    for (field, rounds) in [("ammo.magazine", weapon.ammo.magazine), ("ammo.reserve", weapon.ammo.reserve)] {
        within(f32::from(rounds), Range(field, 0.0, f32::from(MAX_ROUNDS)))?;
    }
    match weapon.ammo.reload {
        Reload::Magazine { time } => within(time, Range("ammo.reload.time", 0.0, SECONDS)),
        Reload::Rounds { first, each } => {
            within(first, Range("ammo.reload.first", 0.0, SECONDS))?;
            within(each, Range("ammo.reload.each", 0.0, SECONDS))
        }
    }?;
    if weapon.is_beam() && weapon.mode != FireMode::Auto {
        return Err(("mode", "a beam fires for as long as the trigger is down; write Auto".to_owned()));
    }
    Ok(())
}

fn shot(shot: &Shot) -> Result<(), FieldError> {
    match *shot {
        Shot::Ray { range, pierce, pierced, radius } => {
            within(range, Range("shot.range", 0.1, METRES))?;
            within(pierced, Range("shot.pierced", 0.0, 1.0))?;
            within(radius, Range("shot.radius", 0.0, 10.0))?;
            if radius > 0.0 && pierce > 0 {
                return Err(("shot.pierce", "a ray with a radius pierces nothing; write 0".to_owned()));
            }
            Ok(())
        }
        Shot::Pellets { count, range } => {
            within(f32::from(count), Range("shot.count", 1.0, MAX_PELLETS as f32))?;
            within(range, Range("shot.range", 0.1, METRES))
        }
        Shot::Projectile(projectile) => flight(&projectile),
        Shot::Melee { reach, half_angle, half_height, backstab } => {
            within(reach, Range("shot.reach", 0.1, 20.0))?;
            within(half_angle, Range("shot.half_angle", 1.0, 180.0))?;
            within(half_height, Range("shot.half_height", 0.01, 20.0))?;
            within(backstab, Range("shot.backstab", 0.0, 100.0))
        }
        Shot::Beam { range, radius } => {
            within(range, Range("shot.range", 0.1, METRES))?;
            within(radius, Range("shot.radius", 0.0, 10.0))
        }
    }
}

fn flight(projectile: &Projectile) -> Result<(), FieldError> {
    let Projectile { speed, radius, gravity, life, bounce, splash } = *projectile;
    within(speed, Range("shot.speed", 0.1, 5_000.0))?;
    within(radius, Range("shot.radius", 0.0, 5.0))?;
    within(gravity, Range("shot.gravity", -1_000.0, 1_000.0))?;
    within(life, Range("shot.life", 0.05, 30.0))?;
    if let Some(Bounce { keep, .. }) = bounce {
        within(keep, Range("shot.bounce.keep", 0.0, 1.0))?;
    }
    if let Some(Splash { radius, damage, edge, own, throw }) = splash {
        within(radius, Range("shot.splash.radius", 0.1, 100.0))?;
        within(damage, Range("shot.splash.damage", 0.0, POINTS))?;
        within(edge, Range("shot.splash.edge", 0.0, 1.0))?;
        within(own, Range("shot.splash.own", 0.0, 10.0))?;
        within(throw, Range("shot.splash.throw", 0.0, 1_000.0))?;
    }
    Ok(())
}

fn mode(mode: FireMode) -> Result<(), FieldError> {
    match mode {
        FireMode::Semi | FireMode::Auto => Ok(()),
        FireMode::Burst { rounds, pace } => {
            within(f32::from(rounds), Range("mode.rounds", 2.0, 100.0))?;
            within(pace, Range("mode.pace", 0.01, SECONDS))
        }
        FireMode::Charge { least, full } => {
            within(least, Range("mode.least", 0.0, SECONDS))?;
            within(full, Range("mode.full", least.max(0.01), SECONDS))
        }
    }
}

/// Checks a recovery rate in degrees per second. Angles are rounded, so with less than 1 nothing would
/// recover in a tick.
fn recovery(field: &'static str, value: f32) -> Result<(), FieldError> {
    if value == 0.0 { Ok(()) } else { within(value, Range(field, 1.0, 10_000.0)) }
}

fn spread(spread: &Spread, shot: &Shot) -> Result<(), FieldError> {
    let most = 80.0;
    within(spread.still, Range("spread.still", 0.0, most))?;
    within(spread.moving, Range("spread.moving", 0.0, most))?;
    within(spread.airborne, Range("spread.airborne", 0.0, most))?;
    within(spread.aiming, Range("spread.aiming", 0.0, 10.0))?;
    within(spread.bloom, Range("spread.bloom", 0.0, most))?;
    within(spread.most_bloom, Range("spread.most_bloom", 0.0, most))?;
    recovery("spread.recovery", spread.recovery)?;
    if spread.source == SpreadSource::Server && matches!(shot, Shot::Projectile(_)) {
        let problem =
            "clients show a projectile before the server has processed its shot; write Seed or Client";
        return Err(("spread.source", problem.to_owned()));
    }
    Ok(())
}

fn recoil(recoil: &Recoil) -> Result<(), FieldError> {
    within(recoil.pattern.len() as f32, Range("recoil.pattern's length", 0.0, 255.0))?;
    recovery("recoil.recovery", recoil.recovery)?;
    for (right, up) in &recoil.pattern {
        within(*right, Range("recoil.pattern", -45.0, 45.0))?;
        within(*up, Range("recoil.pattern", -45.0, 45.0))?;
    }
    Ok(())
}

fn damage(damage: &DamageTable) -> Result<(), FieldError> {
    // Negative damage heals.
    within(damage.head, Range("damage.head", -POINTS, POINTS))?;
    within(damage.body, Range("damage.body", -POINTS, POINTS))?;
    within(damage.limb, Range("damage.limb", -POINTS, POINTS))?;
    let mut before = 0.0;
    for (distance, part) in &damage.falloff.0 {
        within(*distance, Range("damage.falloff", before, METRES))?;
        within(*part, Range("damage.falloff", 0.0, 100.0))?;
        before = *distance;
    }
    within(damage.falloff.0.len() as f32, Range("damage.falloff's length", 0.0, 64.0))
}
