//! Projectiles of others at the server's present, for dodging.

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, DrawnPose, LocalControl, OwnMoveDelay, PoseSample, SUB_TICKS, ViewTime};
use bevy_unlag_weapons::{DisplayedProjectileHit, Projectile, ProjectileDisplay, ProjectileTime};

use crate::projectiles::{
    screens::Game,
    stage::{DT, EYE, launcher, rocket, round},
};

/// Ticks after the server's present in which it runs the move that the bystander's screen shows.
const UPLINK: i32 = 5;
const SPEED: f32 = 30.0;
/// Place of the bystander: the projectile passes at 1.2 m.
const BYSTANDER: Vec3 = Vec3::new(1.2, 1.0, -25.0);

/// A bystander's view of a projectile that passes, and the results of another one that hits its target.
#[derive(Default)]
struct Dodged {
    /// Distances between the drawn projectile and the server's, in metres, while that is within 3 m of the bystander.
    errors: Vec<f32>,
    /// First drawn position.
    first: Option<Vec3>,
    /// Largest drawn speed relative to its own.
    fastest: f32,
    damage: Vec<String>,
    hits: Vec<DisplayedProjectileHit>,
}

fn play(others: ProjectileTime) -> Dodged {
    let mut game = Game::new(&launcher(Projectile { speed: SPEED, ..rocket() }), 6.0);
    let alive = |position| DrawnPose { pose: PoseSample { alive: true, position, ..default() }, ..default() };
    let shooter = game.other.shooter;
    let world = game.other.app.world_mut();
    let own = world.query_filtered::<Entity, With<LocalControl>>().single(world).expect("an own pawn");
    world.entity_mut(own).insert(alive(BYSTANDER));
    world.entity_mut(shooter).insert(alive(Vec3::ZERO));
    world.insert_resource(ProjectileDisplay { others, ..default() });
    game.tick();
    let own_tick = game.other.app.world().resource::<CurrentTick>().0;
    let delay = OwnMoveDelay(Some(game.server.now().since(own_tick) + UPLINK));
    game.other.app.insert_resource(delay);

    let view = game.view();
    let passing = round(1, Some(view), Vec3::NEG_Z);
    let hitting = round(2, Some(view), Vec3::new(6.02, 1.1, -12.0) - EYE);
    [&passing, &hitting].into_iter().for_each(|shot| game.own.fire(shot, Some(view)));
    let mut dodged = Dodged::default();
    let mut last: Option<Vec3> = None;
    for tick in 0..70 {
        if tick == 5 {
            [&passing, &hitting].into_iter().for_each(|shot| game.server.arrive(shot));
        }
        game.tick();
        let Some(drawn) = game.other.flying().into_iter().find(|drawn| drawn.shot == passing.shot) else {
            continue;
        };
        dodged.first.get_or_insert(drawn.position);
        if let Some(last) = last.replace(drawn.position) {
            dodged.fastest = dodged.fastest.max(last.distance(drawn.position) / (SPEED * DT));
        }
        let age = ViewTime::at(game.server.now().offset(UPLINK)).since(view) as f32 / SUB_TICKS as f32;
        let there = EYE + Vec3::NEG_Z * SPEED * (age * DT);
        if there.distance(BYSTANDER) < 3.0 {
            dodged.errors.push(there.distance(drawn.position));
        }
    }
    dodged.damage = game.server.damage.iter().map(|damage| format!("{damage:?}")).collect();
    dodged.hits = game.own.picture.hits;
    dodged
}

#[test]
fn bystander_sees_a_projectile_where_the_server_has_it_before_it_arrives() {
    let (present, screen) = (play(ProjectileTime::ServerPresent), play(ProjectileTime::Screen));
    let most = present.errors.iter().copied().fold(0.0, f32::max);
    let least = screen.errors.iter().copied().fold(f32::INFINITY, f32::min);
    println!("{most} m, on the screen's time {least} m; {} times its speed", present.fastest);
    assert!(present.errors.len() >= 8 && most < 0.1, "{:?}", present.errors);
    assert!(screen.errors.len() >= 8 && least > 2.0, "control: {:?}", screen.errors);
    let first = present.first.expect("it is drawn");
    assert!(first.distance(EYE) < 1.0, "it leaves its shooter: {first}");
    assert!(present.fastest < 2.5, "the hand-over is smooth: {}", present.fastest);
}

#[test]
fn results_of_projectiles_do_not_depend_on_the_time_at_which_others_draw_them() {
    let (present, screen) = (play(ProjectileTime::ServerPresent), play(ProjectileTime::Screen));
    assert_eq!(present.damage.len(), 1, "one of them hits: {:?}", present.damage);
    assert_eq!(present.damage, screen.damage);
    assert_eq!(present.hits, screen.hits);
}

/// Positions at which the shooter's screen draws its own projectile, which starts near its pawn.
fn own_positions(others: ProjectileTime) -> Vec<Vec3> {
    let mut game = Game::new(&launcher(Projectile { speed: SPEED, ..rocket() }), 6.0);
    game.own.app.insert_resource(ProjectileDisplay { others, ..default() });
    game.tick();
    let own_tick = game.own.app.world().resource::<CurrentTick>().0;
    game.own.app.insert_resource(OwnMoveDelay(Some(game.server.now().since(own_tick) + UPLINK)));
    let view = game.view();
    game.own.fire(&round(1, Some(view), Vec3::NEG_Z), Some(view));
    let drawn = (0..20).flat_map(|_| {
        game.tick();
        game.own.flying()
    });
    drawn.map(|drawn| drawn.position).collect()
}

/// Fails if the own projectile catches up with the server's as those of others do.
#[test]
fn own_projectile_is_drawn_on_the_screens_time_whatever_the_time_of_others() {
    let present = own_positions(ProjectileTime::ServerPresent);
    assert!(present.len() >= 15, "control: it is drawn in {} frames", present.len());
    assert_eq!(present, own_positions(ProjectileTime::Screen));
}
