//! Projectiles where +Y is not up: on the server, on the shooter's screen and on a bystander's.

use bevy::prelude::*;
use bevy_unlag_core::{LocalGravity, WorldGravity};
use bevy_unlag_movement::CapsuleConfig;
use bevy_unlag_weapons::{PredictedShot, Projectile, ProjectileEndKind};

use crate::projectiles::{
    screens::Game,
    stage::{DT, EYE, launcher, rocket, round},
};

fn lob() -> Projectile {
    Projectile { speed: 16.0, gravity: 9.81, life: 1.5, ..rocket() }
}

/// Fires a lob in apps prepared by `prepare`, and returns the game and where the projectile ended on the
/// shooter's screen.
fn fly(up: Vec3, mut prepare: impl FnMut(&mut App)) -> (Game, Vec3) {
    let mut game = Game::new(&launcher(lob()), 7.4);
    (0..3).for_each(|_| game.tick());
    for app in [&mut game.server.app, &mut game.own.app, &mut game.other.app] {
        prepare(app);
    }
    // The published gravity follows within a tick.
    (0..3).for_each(|_| game.tick());
    let view = game.view();
    let shot = PredictedShot { up, ..round(1, Some(view), Vec3::NEG_Z) };
    game.own.fire(&shot, Some(view));
    let mut before: Option<(Vec3, Vec3)> = None;
    for tick in 0..130 {
        if tick == 5 {
            game.server.arrive(&shot);
        }
        game.tick();
        let flying = game.own.flying();
        let Some(drawn) = flying.first() else { continue };
        if let Some((position, velocity)) = before {
            let step = drawn.position.distance(position + (velocity + drawn.velocity) * (0.5 * DT));
            assert!(step < 0.005, "tick {tick}: it jumps by {step} m");
        }
        before = Some((drawn.position, drawn.velocity));
    }
    let end = game.own.picture.ended[0].point;
    (game, end)
}

/// Position at which a lob ends after its life, if gravity is uniform.
fn expected(pull: Vec3) -> Vec3 {
    EYE + Vec3::NEG_Z * (16.0 * 1.5) + pull * (0.5 * 1.5 * 1.5)
}

fn assert_one_path(game: &Game, what: &str) {
    for picture in [&game.own.picture, &game.other.picture] {
        assert_eq!((picture.shown.len(), picture.ended.len()), (1, 1), "{what}");
        assert_eq!(picture.ended[0].kind, ProjectileEndKind::Fuse, "{what}");
    }
    let apart = game.own.picture.ended[0].point.distance(game.other.picture.ended[0].point);
    assert!(apart < 1e-3, "{what}: {apart} m");
}

#[test]
fn projectile_falls_along_the_gravity_of_the_movement_on_every_machine() {
    for up in [Vec3::Y, Vec3::X, Vec3::NEG_Y] {
        let (game, end) = fly(up, |app| app.world_mut().resource_mut::<CapsuleConfig>().up = up);
        let wanted = expected(-up * 9.81);
        assert!(end.distance(wanted) < 0.05, "{up}: {end} instead of {wanted}");
        assert_one_path(&game, "uniform");
        if up != Vec3::Y {
            assert!(end.distance(expected(Vec3::NEG_Y * 9.81)) > 10.0, "{up}: the formula for +Y must miss");
        }
    }
}

#[test]
fn gravity_of_the_place_counts_and_not_that_of_the_shooter() {
    // Weightless beyond 8 m, and half of the ordinary gravity before.
    let field = |point: Vec3| LocalGravity { up: Vec3::X, scale: if point.z < -8.0 { 0.0 } else { 0.5 } };
    let (game, end) = fly(Vec3::Y, |app| {
        app.insert_resource(WorldGravity::new(field));
    });
    assert_one_path(&game, "zones");
    // It falls for half a second, and drifts on for a whole one.
    let wanted = EYE + Vec3::new(-0.5 * 4.905 * 0.25 - 4.905 * 0.5, 0.0, -24.0);
    assert!(end.distance(wanted) < 0.2, "{end} instead of {wanted}");
}

#[test]
fn without_a_field_a_projectile_falls_against_the_up_direction_of_its_shooter() {
    let (game, end) = fly(Vec3::X, |app| {
        app.insert_resource(WorldGravity::default());
    });
    assert_one_path(&game, "unknown");
    assert!(end.distance(expected(Vec3::NEG_X * 9.81)) < 0.05, "{end}");
}

#[test]
fn direct_hit_is_drawn_and_counted_upside_down() {
    let mut game = Game::new(&launcher(rocket()), 7.0);
    for app in [&mut game.server.app, &mut game.own.app, &mut game.other.app] {
        app.world_mut().resource_mut::<CapsuleConfig>().up = Vec3::NEG_Y;
    }
    (0..3).for_each(|_| game.tick());
    let view = game.view();
    let aim = Vec3::new(6.0, 1.2, -12.0) - EYE;
    let shot = PredictedShot { up: Vec3::NEG_Y, ..round(1, Some(view), aim) };
    game.own.fire(&shot, Some(view));
    for tick in 0..80 {
        if tick == 5 {
            game.server.arrive(&shot);
        }
        game.tick();
    }
    assert!(game.own.picture.hits[0].hit.is_some(), "{:?}", game.own.picture.hits);
    assert_eq!(game.server.damage.len(), 1);
}
