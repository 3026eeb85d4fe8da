//! Displayed projectiles while clients join, leave, or lose sight of all pawns.

use bevy::prelude::*;
use bevy_unlag_core::DrawnPose;
use bevy_unlag_weapons::{
    Bounce, ClearProjectiles, Projectile, ProjectileEnd, ProjectileEndKind, ProjectileLaunch,
    ProjectilesInFlight, ShotMessage,
};

use crate::projectiles::{
    screens::Game,
    stage::{DT, EYE, SHOOTER, Screen, launcher, rocket, round, wall},
};

#[test]
fn display_forgets_all_projectiles_when_the_connection_ends() {
    let slow = Projectile { speed: 5.0, life: 20.0, ..rocket() };
    let mut game = Game::new(&launcher(slow), 7.0);
    let view = game.view();
    let shot = round(1, Some(view), Vec3::NEG_Z);
    game.own.fire(&shot, Some(view));
    game.server.arrive(&shot);
    (0..20).for_each(|_| game.tick());
    // An end without a known launch.
    let unknown = ProjectileEnd {
        shooter: SHOOTER,
        shot: round(2, None, Vec3::NEG_Z).shot,
        flown: 0,
        point: EYE,
        kind: ProjectileEndKind::Gone,
    };
    for screen in [&mut game.own, &mut game.other] {
        assert_eq!(screen.flying().len(), 1);
        screen.receive(&ShotMessage::Ended(unknown));
    }
    game.tick();
    let launches: Vec<_> = game.server.app.world().resource::<ProjectilesInFlight>().launches().collect();
    for screen in [&mut game.own, &mut game.other] {
        screen.app.world_mut().write_message(ClearProjectiles);
        screen.frame(&game.server, None, DT);
        assert_eq!(screen.flying().len(), 0);
        let ended: Vec<_> = screen.picture.ended.iter().map(|ended| ended.kind).collect();
        assert_eq!(ended, [ProjectileEndKind::Gone], "once");
        // The same identifiers again.
        for number in [1, 2] {
            let shot = round(number, None, Vec3::NEG_Z).shot;
            screen.receive(&ShotMessage::Launched(ProjectileLaunch { shot, ..launches[0] }));
        }
    }
    (0..10).for_each(|_| game.tick());
    for screen in [&mut game.own, &mut game.other] {
        assert_eq!(screen.flying().len(), 2);
        assert_eq!((screen.picture.shown.len(), screen.picture.ended.len()), (3, 1));
    }
}

#[test]
fn late_joiner_sees_projectiles_in_flight_at_their_position() {
    // The launches may arrive before the screen has a view time.
    for shows in [false, true] {
        assert_late_joiner_sees_projectiles(shows);
    }
}

fn assert_late_joiner_sees_projectiles(shows: bool) {
    let bounce = Some(Bounce { times: 4, keep: 0.8, off_pawns: false });
    let spec = Projectile { speed: 10.0, gravity: 2.0, life: 3.0, bounce, ..rocket() };
    let weapon = launcher(spec);
    let mut game = Game::new(&weapon, 7.0);
    let (half, floor) = (Vec3::new(40.0, 0.5, 40.0), Vec3::new(0.0, -0.5, 0.0));
    game.wall(half, floor);
    game.server.arrive(&round(1, Some(game.view()), Vec3::new(0.2, 0.1, -1.0)));
    (0..100).for_each(|_| game.tick());
    let mut late = Screen::new(&weapon, false);
    wall(&mut late.app, half, floor);
    let pose = bevy_unlag_core::PoseSample { alive: true, ..default() };
    let shooter = late.shooter;
    late.app.world_mut().entity_mut(shooter).insert(DrawnPose { pose, ..default() });
    let view = Some(game.view()).filter(|_| shows);
    late.frame(&game.server, view, DT);
    let launches: Vec<_> = game.server.app.world().resource::<ProjectilesInFlight>().launches().collect();
    assert_eq!(launches.len(), 1);
    launches.iter().for_each(|launch| late.receive(&ShotMessage::Launched(*launch)));
    for _ in 0..if shows { 0 } else { 10 } {
        game.tick();
        late.frame(&game.server, None, DT);
        assert_eq!(late.flying().len(), 0, "its displayed position is not known yet");
    }
    let mut seen = 0;
    for _ in 0..150 {
        // Later messages reach the late joiner as well.
        for mailed in game.server.tick() {
            game.down.send(game.server.now().offset(game.way), mailed);
        }
        while let Some(mailed) = game.down.come(game.server.now()) {
            game.other.receive(&mailed);
            late.receive(&mailed);
        }
        let view = Some(game.view());
        game.other.frame(&game.server, view, DT);
        late.frame(&game.server, view, DT);
        let (there, here) = (game.other.flying(), late.flying());
        assert_eq!(there.len(), here.len());
        if let (Some(there), Some(here)) = (there.first(), here.first()) {
            assert_eq!(there.position, here.position);
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} frames");
    assert_eq!((late.picture.shown.len(), late.picture.ended.len()), (1, 1));
    assert_eq!(late.picture.ended[0].point, game.other.picture.ended[0].point);
    let flown = [late.picture.shown[0].flown, game.other.picture.shown[0].flown];
    assert!(flown[0] > 1.0 && flown[1] < 0.2, "{flown:?} s");
}

#[test]
fn projectile_fired_without_a_view_time_meets_pawns_shown_later() {
    for blind in [true, false] {
        let mut game = Game::new(&launcher(Projectile { life: 1.0, ..rocket() }), 7.0);
        let view = game.view();
        let time = (!blind).then_some(view);
        let shot = round(1, time, Vec3::new(6.0, 1.1, -12.0) - EYE);
        if blind {
            game.own.frame(&game.server, None, DT);
        }
        game.own.fire(&shot, time);
        (0..90).for_each(|_| game.tick());
        let hits: Vec<_> = game.own.picture.hits.iter().map(|drawn| drawn.hit.is_some()).collect();
        assert_eq!(hits, [true], "blind: {blind}");
    }
}

#[test]
fn projectile_stays_displayed_when_the_last_pawn_goes_out_of_sight() {
    let mut game = Game::new(&launcher(Projectile { life: 4.0, ..rocket() }), 7.0);
    (0..10).for_each(|_| game.tick());
    let shot = round(1, Some(game.view()), Vec3::NEG_Z);
    game.server.arrive(&shot);
    for _ in 0..60 {
        for mailed in game.server.tick() {
            game.other.receive(&mailed);
        }
        game.other.frame(&game.server, None, DT);
    }
    let flown = game.view().since(shot.fire.view(shot.shot, game.server.now(), EYE).time.expect("a moment"));
    let path = EYE + Vec3::NEG_Z * 40.0 * (flown as f32 / 256.0 * DT);
    let flying = game.other.flying();
    let off = flying.first().map(|drawn| drawn.position.distance(path));
    assert!(off.is_some_and(|off| off < 0.05), "{off:?} m from where it is");
}
