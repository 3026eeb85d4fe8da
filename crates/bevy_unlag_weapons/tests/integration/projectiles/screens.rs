//! Displayed projectiles: each appears once, and moves from the muzzle to its end without a visible step.

use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_unlag_core::{DrawnPose, DrawnViewTime, LocalControl, NetId, ViewTime};
use bevy_unlag_rewind::{HitGroup, WorldTrace};
use bevy_unlag_weapons::{
    Bounce, DrawnProjectile, Projectile, ProjectileAppeared, ProjectileDisappeared, ProjectileEnd,
    ProjectileEndKind, ProjectileLaunch, ShotFired, ShotMessage, ShotRefusal, ShotResult, ShotVerdict,
    Trajectory, Weapon,
};

use crate::projectiles::stage::{DT, Dice, EYE, SHOOTER, Screen, Server, Way, launcher, rocket, round, wall};

/// The screens of a shooter and of a bystander, each some ticks behind a server.
pub struct Game {
    pub server: Server,
    pub own: Screen,
    pub other: Screen,
    pub down: Way<ShotMessage>,
    /// Delay of the screens in ticks.
    late: f64,
    /// Downlink latency in ticks.
    pub way: i32,
}

impl Game {
    pub fn new(weapon: &Weapon, late: f64) -> Self {
        let (mut server, mut own, mut other) =
            (Server::new(weapon), Screen::new(weapon, true), Screen::new(weapon, false));
        let target = server.target(2, Vec3::new(6.0, 0.0, -12.0));
        own.target(&server, target);
        other.target(&server, target);
        for _ in 0..40 {
            server.tick();
        }
        Self { server, own, other, down: Way::new(), late, way: late as i32 - 3 }
    }

    pub fn view(&self) -> ViewTime {
        ViewTime::after(self.server.now(), -self.late)
    }

    pub fn wall(&mut self, half: Vec3, at: Vec3) {
        self.server.wall(half, at);
        wall(&mut self.own.app, half, at);
        wall(&mut self.other.app, half, at);
    }

    pub fn tick(&mut self) {
        for mailed in self.server.tick() {
            self.down.send(self.server.now().offset(self.way), mailed);
        }
        while let Some(mailed) = self.down.come(self.server.now()) {
            self.own.receive(&mailed);
            self.other.receive(&mailed);
        }
        let view = Some(self.view());
        self.own.frame(&self.server, view, DT);
        self.other.frame(&self.server, view, DT);
    }
}

#[test]
fn confirmation_does_not_move_the_shooters_projectile() {
    let spec = Projectile { speed: 30.0, gravity: 9.81, life: 1.5, ..rocket() };
    let mut game = Game::new(&launcher(spec), 7.4);
    let view = game.view();
    let shot = round(1, Some(view), Vec3::new(0.0, 0.3, -1.0));
    game.own.fire(&shot, Some(view));
    let (mut step, mut before): (f32, Option<(Vec3, Vec3)>) = (0.0, None);
    for tick in 0..140 {
        if tick == 4 {
            game.server.arrive(&shot);
        }
        game.tick();
        let flying = game.own.flying();
        assert!(flying.len() <= 1, "it is displayed once only");
        let Some(drawn) = flying.first() else { continue };
        if let Some((position, velocity)) = before {
            step = step.max(drawn.position.distance(position + (velocity + drawn.velocity) * (0.5 * DT)));
        }
        before = Some((drawn.position, drawn.velocity));
        assert!(drawn.own && drawn.shooter == SHOOTER);
    }
    println!("visible step on the shooter's screen: {:.2} mm", step * 1_000.0);
    assert!(step < 0.005, "{step} m");
    for picture in [&game.own.picture, &game.other.picture] {
        assert_eq!((picture.shown.len(), picture.ended.len()), (1, 1));
        assert_eq!(picture.ended[0].kind, ProjectileEndKind::Fuse);
    }
    assert_eq!(game.own.picture.hits.len(), 1);
    assert_eq!(game.other.picture.hits.len(), 0);
    let apart = game.own.picture.ended[0].point.distance(game.other.picture.ended[0].point);
    assert!(apart < 1e-3, "{apart}");
}

#[test]
fn bystander_sees_a_projectile_leave_its_shooter_and_catch_up() {
    let mut game = Game::new(&launcher(Projectile { speed: 30.0, ..rocket() }), 6.0);
    let view = game.view();
    let shot = round(1, Some(view), Vec3::NEG_Z);
    let pose = bevy_unlag_core::PoseSample { alive: true, ..default() };
    let shooter = game.other.shooter;
    game.other.app.world_mut().entity_mut(shooter).insert(DrawnPose { pose, ..default() });
    let mut first = None;
    for tick in 0..60 {
        if tick == 5 {
            game.server.arrive(&shot);
        }
        game.tick();
        let flying = game.other.flying();
        let Some(drawn) = flying.first() else { continue };
        let path = EYE + Vec3::NEG_Z * 30.0 * (game.view().since(view) as f32 / 256.0 * DT);
        let off = drawn.position.distance(path);
        let (start, seen) = *first.get_or_insert((tick, off));
        if tick == start {
            assert!(drawn.position.distance(EYE) < 0.1, "it leaves the shooter: {}", drawn.position);
            assert!(seen > 1.0, "its flight time: {seen}");
        } else if tick > start + 9 {
            assert!(off < 0.01, "tick {tick}: {off} m off its path");
        }
    }
    assert!(first.is_some() && !game.other.flying().is_empty());
}

#[test]
fn clamped_view_time_is_eased_out() {
    let mut game = Game::new(&launcher(Projectile { speed: 25.0, ..rocket() }), 7.4);
    let view = game.view();
    let shot = round(1, Some(view), Vec3::NEG_Z);
    game.own.fire(&shot, Some(view));
    // The server clamps it to a view time that is 1.5 ticks later.
    let judged = round(1, Some(view.later(384)), Vec3::NEG_Z);
    let (mut step, mut before): (f32, Option<Vec3>) = (0.0, None);
    for tick in 0..40 {
        if tick == 4 {
            game.server.arrive(&judged);
        }
        game.tick();
        let Some(drawn) = game.own.flying().first().copied() else { continue };
        if let Some(before) = before {
            step = step.max(drawn.position.distance(before + drawn.velocity * DT));
        }
        before = Some(drawn.position);
    }
    let path = EYE + Vec3::NEG_Z * 25.0 * (game.view().since(view.later(384)) as f32 / 256.0 * DT);
    assert!(before.is_some_and(|drawn| drawn.distance(path) < 0.01), "it ends up on the server's path");
    println!("visible step after a moved moment: {:.1} mm a frame", step * 1_000.0);
    assert!(step > 1e-3 && step <= 0.05, "{step}");
}

#[test]
fn projectile_explodes_at_a_wall_immediately_and_only_once() {
    let mut game = Game::new(&launcher(rocket()), 8.0);
    game.wall(Vec3::new(5.0, 5.0, 0.5), Vec3::new(0.0, 0.0, -6.5));
    let view = game.view();
    let shot = round(1, Some(view), Vec3::NEG_Z);
    game.own.fire(&shot, Some(view));
    let mut ended_at = None;
    for tick in 0..60 {
        if tick == 12 {
            game.server.arrive(&shot);
        }
        game.tick();
        if !game.own.picture.ended.is_empty() {
            ended_at.get_or_insert(tick);
        }
    }
    assert!(ended_at.is_some_and(|tick| tick < 12), "before the server knows of it: {ended_at:?}");
    for picture in [&game.own.picture, &game.other.picture] {
        assert_eq!((picture.shown.len(), picture.ended.len()), (1, 1));
        let ended = picture.ended[0];
        assert_eq!(ended.kind, ProjectileEndKind::Wall);
        assert!((ended.point.z + 5.95).abs() < 0.01 && ended.normal.distance(Vec3::Z) < 1e-3, "{ended:?}");
    }
}

#[test]
fn refused_or_unconfirmed_projectile_disappears() {
    let slow = Projectile { speed: 5.0, life: 20.0, ..rocket() };
    let mut game = Game::new(&launcher(slow), 6.0);
    let view = game.view();
    for number in 1..3 {
        game.own.fire(&round(number, Some(view), Vec3::NEG_Z), Some(view));
    }
    game.tick();
    assert_eq!(game.own.flying().len(), 2);
    let refused = round(1, None, Vec3::NEG_Z).shot;
    let result = ShotResult::Refused(ShotRefusal::TooSoon);
    game.own.receive(&ShotMessage::Verdict(ShotVerdict { shot: refused, result, clamped: false }));
    game.tick();
    assert_eq!(game.own.flying().len(), 1);
    (0..(1.8 / DT) as u32).for_each(|_| game.tick());
    assert_eq!(game.own.flying().len(), 1);
    (0..(0.3 / DT) as u32).for_each(|_| game.tick());
    assert_eq!(game.own.flying().len(), 0);
    let gone = game.own.picture.ended.iter().filter(|ended| ended.kind == ProjectileEndKind::Gone).count();
    assert_eq!((gone, game.own.picture.ended.len()), (2, 2));
}

#[test]
fn duplicated_and_reordered_messages_show_each_projectile_once() {
    let mut dice = Dice::new(3);
    for case in 0..40 {
        let mut game = Game::new(&launcher(Projectile { life: 0.5, ..rocket() }), 7.0);
        game.wall(Vec3::new(5.0, 5.0, 0.5), Vec3::new(0.0, 0.0, -14.5));
        let mut said: Vec<(i32, ShotMessage)> = Vec::new();
        let mut shots = Vec::new();
        for tick in 0..180 {
            if tick % 10 == 0 && tick < 50 {
                let view = game.view();
                let aim = Vec3::new(dice.between(-0.3, 0.9), 0.0, -1.0);
                let shot = round(tick as u32, Some(view), aim);
                game.own.fire(&shot, Some(view));
                shots.push((tick + 4, shot));
            }
            shots.iter().filter(|(at, _)| *at == tick).for_each(|(_, shot)| game.server.arrive(shot));
            for mailed in game.server.tick() {
                // Once, twice or three times, with random delays.
                for _ in 0..1 + (dice.roll() * 3.0) as i32 {
                    said.push((tick + 4 + (dice.roll() * 45.0) as i32, mailed));
                }
            }
            for (at, mailed) in &said {
                if *at == tick {
                    game.own.receive(mailed);
                    game.other.receive(mailed);
                }
            }
            let view = Some(game.view());
            game.own.frame(&game.server, view, DT);
            game.other.frame(&game.server, view, DT);
        }
        for screen in [&mut game.own, &mut game.other] {
            assert_eq!(screen.flying().len(), 0);
            let picture = &screen.picture;
            assert_eq!((picture.shown.len(), picture.ended.len()), (5, 5), "case {case}");
            let mut names: Vec<u32> = picture.ended.iter().map(|ended| ended.shot.0).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), 5, "case {case}");
        }
        assert_eq!(game.own.picture.hits.len(), 5);
    }
}

#[test]
fn end_without_a_launch_shows_nothing() {
    let mut game = Game::new(&launcher(rocket()), 7.0);
    let kind = ProjectileEndKind::Hit { target: NetId(2), group: HitGroup::Body };
    for number in 0..9_000 {
        let shot = bevy_unlag_core::Tick(number);
        game.own.receive(&ShotMessage::Ended(ProjectileEnd {
            shooter: NetId(77),
            shot,
            flown: 5,
            point: EYE,
            kind,
        }));
        if number % 500 == 0 {
            game.tick();
        }
    }
    (0..10).for_each(|_| game.tick());
    assert!(game.own.picture.ended.is_empty() && game.own.flying().is_empty());
}

#[test]
fn host_sees_the_servers_projectile_and_no_duplicate() {
    for with_others in [false, true] {
        let mut server = Server::new(&launcher(Projectile { life: 0.5, ..rocket() }));
        let shooter = server.shooter;
        server.app.world_mut().entity_mut(shooter).insert(LocalControl);
        if with_others {
            let target = server.target(2, Vec3::new(6.0, 0.0, -12.0));
            server.app.world_mut().entity_mut(target).insert(DrawnPose::default());
        }
        (0..30).for_each(|_| drop(server.tick()));
        let view = server.app.world().resource::<DrawnViewTime>().0;
        assert_eq!(view.is_some(), with_others);
        let shot = round(1, view, Vec3::NEG_Z);
        server.arrive(&shot);
        let from = EYE;
        let fired = ShotFired { shooter, round: shot, from, time: view, rays: Vec::new() };
        server.app.world_mut().write_message(fired);
        let (mut shown, mut ended, mut most) = (0, 0, 0);
        for tick in 0..60 {
            server.tick();
            let world = server.app.world_mut();
            let flying = world.query::<&DrawnProjectile>().iter(world).count();
            assert!(tick > 0 || flying == 1, "immediately");
            most = most.max(flying);
            shown += world.resource_mut::<Messages<ProjectileAppeared>>().drain().count();
            ended += world.resource_mut::<Messages<ProjectileDisappeared>>().drain().count();
        }
        assert_eq!((most, shown, ended), (1, 1, 1));
    }
}

#[test]
fn server_and_screen_compute_bitwise_equal_paths_among_equal_walls() {
    let bounce = Some(Bounce { times: 30, keep: 0.7, off_pawns: false });
    let spec = Projectile { speed: 18.0, gravity: 9.81, radius: 0.12, life: 4.0, bounce, splash: None };
    let mut game = Game::new(&launcher(spec), 6.0);
    let mut dice = Dice::new(11);
    game.wall(Vec3::new(40.0, 0.5, 40.0), Vec3::new(0.0, -0.5, 0.0));
    for _ in 0..30 {
        let half = Vec3::new(dice.between(0.2, 2.0), dice.between(0.2, 3.0), dice.between(0.2, 2.0));
        game.wall(half, Vec3::new(dice.between(-15.0, 15.0), 0.5, dice.between(-25.0, -4.0)));
    }
    (0..5).for_each(|_| game.tick());
    let mut bounces = 0;
    for number in 0..60 {
        let aim = Vec3::new(dice.between(-0.8, 0.8), dice.between(-0.3, 0.6), -1.0);
        let launch =
            ProjectileLaunch::of(&round(number, None, aim), &spec, SHOOTER, EYE, ViewTime::default());
        let fly = move |world: WorldTrace, frame: f64| {
            let mut path = Trajectory::new(&launch, &spec, DT);
            let (mut age, mut bits) = (0.0, Vec::new());
            while age < 256.0 {
                let next = (age + frame).min(256.0);
                path.for_each_segment(
                    age,
                    next,
                    |from, way, max, radius| world.cast_contact(from, way, max, radius),
                    |_| true,
                );
                age = next;
                if age.fract() == 0.0 {
                    bits.push(path.at(age).0.to_array().map(f32::to_bits));
                }
            }
            (bits, path.bounces())
        };
        let here = game.server.app.world_mut().run_system_once(move |world: WorldTrace| fly(world, 1.0));
        let there = game.own.app.world_mut().run_system_once(move |world: WorldTrace| fly(world, 0.25));
        let (here, there) = (here.expect("the path exists"), there.expect("it runs"));
        assert_eq!(here, there, "shot {number}");
        bounces += u32::from(here.1);
    }
    assert!(bounces > 200, "{bounces}");
}

#[test]
fn disc_bounced_off_a_pawn_continues_as_one_on_every_screen() {
    let bounce = Some(Bounce { times: 4, keep: 0.9, off_pawns: true });
    let mut game = Game::new(&launcher(Projectile { bounce, life: 1.0, ..rocket() }), 7.0);
    let view = game.view();
    let shot = round(1, Some(view), Vec3::new(6.02, 1.1, -12.0) - EYE);
    game.own.fire(&shot, Some(view));
    let mut turned = [false; 2];
    for tick in 0..110 {
        if tick == 6 {
            game.server.arrive(&shot);
        }
        game.tick();
        for (screen, turned) in [&mut game.own, &mut game.other].into_iter().zip(&mut turned) {
            let flying = screen.flying();
            assert!(flying.len() <= 1);
            *turned |= flying.first().is_some_and(|drawn| drawn.velocity.z > 5.0);
        }
    }
    assert_eq!(turned, [true; 2], "it bounced back");
    for picture in [&game.own.picture, &game.other.picture] {
        assert_eq!((picture.shown.len(), picture.ended.len()), (1, 1));
        assert_eq!(picture.ended[0].kind, ProjectileEndKind::Fuse);
    }
    let apart = game.own.picture.ended[0].point.distance(game.other.picture.ended[0].point);
    assert!(apart < 0.1, "{apart}");
}
