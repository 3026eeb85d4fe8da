//! Karts among other pawns, and the `MoveModel` hooks that servers and proxies use.

use bevy::{ecs::system::SystemState, prelude::*};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{MoveDiagnostics, MoveInput, MoveModel, PawnClass, PoseSample, StepContext, Tick};
use bevy_unlag_movement::{
    KartConfig, KartInput, KartModel, KartPlugin, KartPush, KartState, LocalMovesPlugin, MoverWorld,
    PawnCapsule, PawnCollision,
};

use super::{EAST, FULL, build_with_karts, bumps, expect_parked, flat_level, rolling_kart, run, tune};
use crate::common::{DT, Level, last_state, settle, spawn};

fn other_kart(feet: Vec3) -> PawnCapsule {
    PawnCapsule { feet, up: Vec3::Y, radius: 0.7, half_height: 0.7, id: 1 }
}

#[test]
fn other_kart_blocks_only_with_block_collision() {
    for (pawns, passes) in
        [(PawnCollision::Block, false), (PawnCollision::Ignore, true), (PawnCollision::Push, true)]
    {
        let mut app = build_with_karts(flat_level());
        tune(&mut app, |config| config.pawns = pawns);
        spawn(&mut app, other_kart(Vec3::new(10.0, 0.02, 0.0)));
        let start = rolling_kart(&mut app, Vec3::ZERO, EAST, 10.0);
        let (states, events) = run(&mut app, start, 128, |_, _| FULL);
        let last = last_state(&states);
        assert_eq!(last.position.x > 12.0, passes, "{pawns:?}: {last:?}");
        assert_eq!(bumps(&events).is_empty(), passes, "{pawns:?}: {events:?}");
        if !passes {
            assert!((last.position.x - (10.0 - 1.4)).abs() < 0.02, "{last:?}");
        }
    }
}

#[test]
fn karts_in_one_app_block_each_other_while_alive() {
    let mut app = flat_level().build_with(|app| {
        app.add_plugins((KartPlugin, LocalMovesPlugin::<KartModel>::default()));
    });
    let drive = MoveInput::<KartModel>(FULL);
    let a = app.world_mut().spawn((KartState::at(Vec3::new(-5.0, 0.05, 0.0), EAST), drive)).id();
    let b = app.world_mut().spawn((KartState::at(Vec3::new(5.0, 0.05, 0.0), EAST - 32_768), drive)).id();
    for _ in 0..128 {
        app.update();
    }
    let [a, b] = [a, b].map(|kart| *app.world().get::<KartState>(kart).expect("the kart must exist"));
    let apart = b.position.x - a.position.x;
    assert!((1.37..1.42).contains(&apart), "{apart} m: {a:?} {b:?}");
    // Dead karts do not block.
    let mut karts = app.world_mut().query::<&mut KartState>();
    karts.iter_mut(app.world_mut()).next().expect("the kart must exist").alive = false;
    for _ in 0..128 {
        app.update();
    }
    let places: Vec<f32> = karts.iter(app.world()).map(|s| s.position.x).collect();
    assert!(places.iter().any(|x| x.abs() > 5.0), "{places:?}");
}

/// Calls a function with the config, step context and world of a level.
fn with_model<R>(
    app: &mut App,
    question: impl FnOnce(&KartConfig, &StepContext, &MoverWorld<'_, '_>) -> R,
) -> R {
    let entity = app.world_mut().spawn_empty().id();
    let mut system =
        SystemState::<(MoverWorld<'static, 'static>, Res<'static, KartConfig>)>::new(app.world_mut());
    let (world, config) = system.get(app.world()).expect("the level must provide the mover's world");
    let ctx = StepContext { tick: Tick(1), dt: DT, entity, replaying: false };
    question(&config, &ctx, &world)
}

#[test]
fn kart_is_nudged_only_into_free_space() {
    let mut app = build_with_karts(flat_level().block(Vec3::new(0.8, 0.0, -5.0), Vec3::new(2.0, 3.0, 5.0)));
    let kart = expect_parked(&mut app, Vec3::ZERO, EAST);
    with_model(&mut app, |config, ctx, world| {
        let try_nudge = |by| KartModel::try_nudge(config, &kart, by, ctx, world);
        let back = try_nudge(Vec3::X * -0.2).expect("the place must be free");
        assert_eq!(back, KartState { position: kart.position - Vec3::X * 0.2, ..kart });
        assert_eq!(try_nudge(Vec3::X * 0.2), None);
        assert_eq!(try_nudge(Vec3::NAN), None);
    });
}

#[test]
fn kart_detects_near_pawns_and_changes_of_surroundings_level_and_config() {
    let mut app = build_with_karts(flat_level());
    let kart = expect_parked(&mut app, Vec3::ZERO, EAST);
    let of = |app: &mut App| {
        with_model(app, |config, ctx, world| {
            (
                KartModel::is_near_pawn(config, &kart, ctx, world),
                KartModel::surroundings_hash(config, &kart, world),
                KartModel::level_hash(world),
                KartModel::config_hash(config, world),
            )
        })
    };
    let alone = of(&mut app);
    assert!(!alone.0);
    let near = spawn(&mut app, other_kart(Vec3::X * 1.6));
    assert!(of(&mut app).0);
    app.world_mut().despawn(near);
    settle(&mut app);
    spawn(&mut app, (Collider::cuboid(1.0, 1.0, 1.0), Transform::from_xyz(90.0, 0.0, 0.0)));
    let far = of(&mut app);
    assert_eq!((far.0, far.1, far.3), (alone.0, alone.1, alone.3), "a distant collider must not matter here");
    assert_ne!(far.2, alone.2, "the level hash must change");
    spawn(&mut app, (Collider::cuboid(0.3, 1.0, 1.0), Transform::from_xyz(1.6, 0.0, 0.0)));
    assert_ne!(of(&mut app).1, alone.1);
    tune(&mut app, |config| config.drag += 1e-3);
    assert_ne!(of(&mut app).3, alone.3);
}

#[test]
fn kart_snapshot_carries_pose_tangent_velocity_and_spin() {
    let mut app = build_with_karts(flat_level());
    let start = expect_parked(&mut app, Vec3::ZERO, EAST);
    let (states, _) = run(&mut app, start, 128, |_, _| KartInput { steering: -127, ..FULL });
    let last = states[127];
    let snapshot = KartModel::snapshot(&last, Tick(9));
    assert!((snapshot.position() - last.position).length() < 1e-3);
    let through = (states[128].position - states[126].position) / (2.0 * DT);
    assert!((last.velocity - through).length() > 0.2, "the state's velocity must lag behind in a corner");
    assert!((snapshot.velocity() - through).length() < 0.06, "{:?} and {through}", snapshot.velocity());
    assert!(snapshot.grounded && snapshot.alive);
    let forward = snapshot.rotation() * Vec3::NEG_Z;
    assert!((forward - last.forward()).length() < 1e-3, "{forward} instead of {}", last.forward());
    let spin = snapshot.spin().expect("the snapshot of a kart must contain its spin");
    assert!((spin - last.speed() / 10.0).abs() < 0.02, "{spin}");
    let config = KartConfig::default();
    let pushed = KartModel::push(&config, &last, &KartPush::Teleport(Vec3::Y));
    assert!(!KartModel::snapshot(&pushed, Tick(10)).continues_to(&snapshot));
    assert_ne!(KartModel::kind(&pushed), KartModel::kind(&last), "the teleported kart must be airborne");
    assert_ne!(KartModel::teleports(&pushed), KartModel::teleports(&last));
}

/// Extrapolates a pose by whole ticks with `proxy_step`.
fn extrapolated(app: &mut App, state: &KartState, acceleration: Vec3, ticks: u32) -> PoseSample {
    let snapshot = KartModel::snapshot(state, Tick(1));
    let exact = PoseSample { position: state.position, ..PoseSample::from(&snapshot) };
    let mut pose = PoseSample { acceleration, ..exact };
    with_model(app, |config, ctx, world| {
        for _ in 0..ticks {
            pose = KartModel::proxy_step(config, PawnClass::default(), &pose, ctx, world);
        }
    });
    pose
}

#[test]
fn extrapolated_kart_follows_its_curve_for_ten_ticks() {
    let mut app = build_with_karts(flat_level());
    let start = rolling_kart(&mut app, Vec3::ZERO, EAST, 15.0);
    for input in [FULL, KartInput { steering: 127, ..FULL }, KartInput { steering: -60, throttle: 30 }] {
        let (states, _) = run(&mut app, start, 64 + 10, |_, _| input);
        let (known, truth) = (states[64], last_state(&states));
        let acceleration = (known.velocity - states[62].velocity) / (2.0 * DT);
        let guessed = extrapolated(&mut app, &known, acceleration, 10);
        let off = guessed.position.distance(truth.position);
        assert!(off < 0.03, "{off} m off after {} m with {input:?}", known.position.distance(truth.position));
        assert!((guessed.velocity - truth.tangent()).length() < 0.3, "{guessed:?} {truth:?}");
        let forward = guessed.rotation * Vec3::NEG_Z;
        assert!(forward.dot(truth.forward()) > 0.9999, "{guessed:?} {truth:?}");
    }
}

#[test]
fn extrapolated_kart_brakes_to_rest_stops_at_walls_and_falls() {
    let mut app = build_with_karts(
        Level::new()
            .block(Vec3::new(-20.0, -1.0, -20.0), Vec3::new(20.0, 0.0, 20.0))
            .block(Vec3::new(6.0, 0.0, -5.0), Vec3::new(7.0, 3.0, 5.0)),
    );
    let away = rolling_kart(&mut app, Vec3::ZERO, EAST - 32_768, 3.0);
    let braked = extrapolated(&mut app, &away, Vec3::X * 10.0, 64);
    assert_eq!((braked.velocity, braked.acceleration), (Vec3::ZERO, Vec3::ZERO), "{braked:?}");
    assert!((braked.position.x + 0.45).abs() < 0.02, "must brake over v² / 2a: {braked:?}");
    let ahead = rolling_kart(&mut app, Vec3::ZERO, EAST, 20.0);
    let stopped = extrapolated(&mut app, &ahead, Vec3::ZERO, 64);
    assert!(
        (stopped.position.x - (6.0 - 0.7)).abs() < 0.01 && stopped.velocity.length() < 0.1,
        "{stopped:?}"
    );
    let over = rolling_kart(&mut app, Vec3::new(15.0, 0.0, 10.0), EAST, 20.0);
    let fallen = extrapolated(&mut app, &over, Vec3::ZERO, 48);
    assert!(fallen.falling && !fallen.grounded && fallen.position.y < -0.5, "{fallen:?}");
    assert!((fallen.position.x - 30.0).abs() < 1.0, "{fallen:?}");
}
