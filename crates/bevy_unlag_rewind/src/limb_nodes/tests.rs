//! Recorded limb poses compared with the drawn ones.

mod animated_server;
mod scripted_motion;

use bevy::{ecs::system::RunSystemOnce, prelude::*};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{DrawnPose, LimbPoses, NetId, SUB_TICKS, Tick, ViewTime, VisualOf, VisualOffset};

use super::*;
use crate::{
    drawn_query::DrawnQuery,
    hit_box::{BodyBounds, HitBox, HitGroup},
    hit_boxes::HitBoxes,
    humanoid::{HUMANOID_LIMBS, humanoid_hit_boxes},
    limb_plugin::LimbNodesPlugin,
    query::RewindQuery,
    view::{RewindFilter, RewindTime},
};
use animated_server::{Stage, build_skeleton, pose_skeleton};
use scripted_motion::{Dance, GAITS, dance, gait};

/// Adds the maximum corner error of each box at a moment, in metres.
fn collect_box_errors(history: &FrameHistory, time: ViewTime, dance: Dance, found: &mut Vec<f32>) {
    let mut room = LimbPoses::default();
    let truth = dance(f64::from(time.ticks_since(Tick(0))) / 64.0).1;
    let limbs = history.bones.at(time, &mut room).expect("recorded");
    assert_eq!(limbs.len(), HUMANOID_LIMBS.len());
    for ((limb, truth), (_, half)) in limbs.iter().zip(truth).zip(HUMANOID_LIMBS) {
        let off =
            [Vec3::new(1.0, 1.0, 1.0), Vec3::new(-1.0, 1.0, -1.0), Vec3::new(1.0, -1.0, -1.0), Vec3::NEG_ONE]
                .map(|corner| (*limb * (half * corner)).distance(truth * (half * corner)));
        found.push(off.into_iter().fold(0.0, f32::max));
    }
}

fn worst(errors: &mut [f32], part: f64) -> f32 {
    errors.sort_by(f32::total_cmp);
    errors[((errors.len() - 1) as f64 * part) as usize]
}

#[test]
fn recorded_limbs_match_the_shown_ones() {
    let mut stage = Stage::new(dance, 1);
    let (mut between, mut exact) = (Vec::new(), Vec::new());
    for tick in 0..512u32 {
        stage.app.update();
        if tick < 40 {
            continue;
        }
        let now = ViewTime::at(stage.now());
        collect_box_errors(stage.history(), now, dance, &mut exact);
        for step in 0..4i64 {
            let age = SUB_TICKS * 3 / 2 + (i64::from(tick) * 977 + step * 1_301) % (SUB_TICKS * 20);
            collect_box_errors(stage.history(), now.later(-age), dance, &mut between);
        }
    }
    let (exact, between, p99) =
        (worst(&mut exact, 1.0), worst(&mut between, 1.0), worst(&mut between.clone(), 0.99));
    println!("recorded against shown: on ticks {exact} m, between {between} m at most, {p99} m at p99");
    assert!(exact < 1e-4 && between <= 1e-3, "{exact} {between}");
}

#[test]
fn longer_recording_interval_costs_less_and_stays_accurate() {
    let run = |every: u32| {
        let (mut found, mut records, mut ticks) = (Vec::new(), 0u32, 0u32);
        for dance in GAITS {
            let mut stage = Stage::new(dance, every);
            let mut newest = None;
            for tick in 0..256u32 {
                stage.app.update();
                ticks += 1;
                let now_newest = stage.history().bones.newest();
                records += u32::from(now_newest != newest);
                newest = now_newest;
                if tick < 40 {
                    continue;
                }
                for step in 0..4i64 {
                    let age = SUB_TICKS * 8 + (i64::from(tick) * 977 + step * 1_301) % (SUB_TICKS * 16);
                    collect_box_errors(
                        stage.history(),
                        ViewTime::at(stage.now()).later(-age),
                        dance,
                        &mut found,
                    );
                }
            }
        }
        (worst(&mut found, 0.99), worst(&mut found.clone(), 1.0), f64::from(records) / f64::from(ticks))
    };
    for every in [1, 2, 4, 8] {
        let (p99, most, part) = run(every);
        println!(
            "every {every} ticks: box error p99 {:.2} mm, at most {:.2} mm, {part:.3} of the records",
            p99 * 1e3,
            most * 1e3
        );
        match every {
            1 => assert!(part > 0.98 && most <= 1e-3),
            4 => assert!(part <= 0.4 && p99 <= 0.010, "{part} {p99}"),
            // An interval of 8 exceeds the limit, so the measure is sensitive.
            8 => assert!(p99 > 0.010),
            _ => {}
        }
    }
}

/// Prints the cost of recording; asserts nothing about time.
#[test]
#[expect(clippy::disallowed_methods, reason = "a measurement")]
fn print_recording_cost() {
    for every in [1, 4] {
        let mut stage = Stage::new(gait::<6, 0>, every);
        for id in 2..65 {
            stage.spawn(id, every);
        }
        for _ in 0..40 {
            stage.app.update();
        }
        let world = stage.app.world_mut();
        let record = world.register_system(record);
        let mut took = Vec::new();
        for _ in 0..400 {
            let tick = world.resource::<CurrentTick>().0.offset(1);
            world.resource_mut::<CurrentTick>().0 = tick;
            let start = std::time::Instant::now();
            world.run_system(record).expect("it runs");
            took.push(start.elapsed().as_secs_f64() * 1e6);
        }
        // Averages over groups of ticks, because the cost is not the same in each tick.
        let mut rounds: Vec<f64> = took.chunks(4).map(|round| round.iter().sum::<f64>() / 4.0).collect();
        rounds.sort_by(f64::total_cmp);
        let median = rounds[rounds.len() / 2];
        println!("every {every} ticks: recording 64 pawns x 19 limbs takes {median:.1} us a tick");
    }
}

/// Returns the hit of a horizontal ray through the middle at this height, at a moment.
fn hit_at(stage: &mut Stage, height: f32, time: ViewTime) -> Option<HitGroup> {
    let ray = move |query: RewindQuery| {
        let then = query.at(RewindTime::At(time)).ok()?;
        then.cast_ray(Vec3::new(0.0, height, 9.0), Vec3::NEG_Z, 50.0).ok().map(|hit| hit.group)
    };
    stage.app.world_mut().run_system_once(ray).expect("it runs")
}

fn still(seconds: f64) -> scripted_motion::Moment {
    gait::<0, 0>(seconds)
}

#[test]
fn shot_with_view_before_a_swap_tests_old_boxes_on_old_nodes() {
    let mut stage = Stage::new(still, 1);
    let ball = |limb: u8, group| HitBox::new(limb, group, Collider::ball(0.05));
    let bounds = BodyBounds { radius: 3.0, low: -1.0, high: 9.0 };
    let pawn = stage.pawn;
    let spawn_node = |stage: &mut Stage, height: f32| {
        stage.app.world_mut().spawn((Transform::from_xyz(0.0, height, 0.0), ChildOf(pawn))).id()
    };
    let (low, high) = (spawn_node(&mut stage, 3.0), spawn_node(&mut stage, 5.0));
    let set = |group| HitBoxes::new([ball(0, group)], bounds);
    stage.app.world_mut().entity_mut(pawn).insert((LimbNodes::new(pawn, [low]), set(HitGroup::Head)));
    stage.run(30);
    stage.app.world_mut().entity_mut(pawn).insert((LimbNodes::new(pawn, [high]), set(HitGroup::Limb)));
    let swapped = stage.now().offset(1);
    stage.run(8);
    let at = |ticks: f64| ViewTime::after(swapped, ticks);
    for (ticks, low, high) in [
        (-4.0, Some(HitGroup::Head), None),
        (-0.1, Some(HitGroup::Head), None),
        (0.1, None, Some(HitGroup::Limb)),
        (4.0, None, Some(HitGroup::Limb)),
    ] {
        let found = (hit_at(&mut stage, 3.0, at(ticks)), hit_at(&mut stage, 5.0, at(ticks)));
        assert_eq!(found, (low, high), "{ticks} ticks after the swap");
    }
}

#[test]
fn limbs_of_despawned_nodes_are_at_the_root() {
    let mut stage = Stage::new(still, 1);
    stage.run(10);
    let (pawn, node) = (stage.pawn, stage.nodes[0]);
    stage.app.world_mut().entity_mut(node).despawn();
    stage.run(2);
    assert_eq!(stage.history().bones.newest_limbs()[0], Isometry3d::IDENTITY);
    assert!(stage.history().bones.newest_limbs()[1].translation.y > 1.0);

    // If the root is despawned, recording stops and earlier records stay.
    let before = stage.history().bones.newest();
    let mut nodes = stage.app.world().get::<LimbNodes>(pawn).expect("nodes").clone();
    nodes.root = node;
    stage.app.world_mut().entity_mut(pawn).insert(nodes);
    stage.run(3);
    assert_eq!(stage.history().bones.newest(), before);

    stage.app.world_mut().entity_mut(pawn).remove::<LimbNodes>();
    stage.run(1);
    assert!(stage.history().bones.is_empty(), "limb poses come from another source now");
}

#[test]
fn invalid_transforms_and_excess_nodes_give_finite_limbs() {
    let mut stage = Stage::new(still, 1);
    let pawn = stage.pawn;
    let world = stage.app.world_mut();
    let nan = world.spawn(Transform::from_translation(Vec3::NAN)).id();
    let flat = world.spawn(Transform::from_scale(Vec3::ZERO)).id();
    let many = [nan, flat].into_iter().chain(core::iter::repeat_n(nan, 98));
    world.entity_mut(pawn).insert(LimbNodes::new(pawn, many));
    stage.run(3);
    let limbs = stage.history().bones.newest_limbs();
    assert_eq!(limbs.len(), MAX_LIMBS);
    assert!(limbs.iter().all(|limb| limb.rotation.is_finite() && limb.translation.is_finite()));
}

/// Client that draws a copy of the pawn below a visual with an offset from a correction.
struct Screen {
    app: App,
    pawn: Entity,
    nodes: Vec<Entity>,
}

impl Screen {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            TransformPlugin,
            bevy_unlag_core::TickPlugin,
            bevy_unlag_core::VisualPlugin,
            LimbNodesPlugin,
        ))
        .init_resource::<bevy_unlag_core::BasePoses>()
        .init_resource::<bevy_unlag_core::DrawnBaseTime>();
        app.finish();
        app.cleanup();
        let world = app.world_mut();
        let offset = VisualOffset { offset: Vec3::new(0.3, 0.1, -0.2), ..default() };
        let pawn = world.spawn((NetId(1), DrawnPose::default(), humanoid_hit_boxes(), offset)).id();
        let visual = world.spawn(VisualOf(pawn)).id();
        let nodes = build_skeleton(world, visual);
        world.entity_mut(pawn).insert(LimbNodes::new(visual, nodes.iter().copied()));
        Self { app, pawn, nodes }
    }

    fn draw(&mut self, drawn: DrawnPose, limbs: &[Isometry3d]) {
        *self.app.world_mut().get_mut::<DrawnPose>(self.pawn).expect("drawn") = drawn;
        pose_skeleton(self.app.world_mut(), &self.nodes, limbs);
        self.app.update();
    }
}

#[test]
fn server_hits_agree_with_what_the_client_sees_hit() {
    let mut stage = Stage::new(dance, 1);
    let mut screen = Screen::new();
    let (mut rays, mut hits, mut differ) = (0u32, 0u32, 0u32);
    for tick in 0..400u32 {
        stage.app.update();
        stage.send_every(3);
        if tick < 60 || tick % 5 != 0 {
            continue;
        }
        let time = ViewTime::at(stage.now()).later(-6 * SUB_TICKS - i64::from(tick * 37 % 700));
        let Some(drawn) = stage.drawn(time) else { continue };
        let seconds = f64::from(time.ticks_since(Tick(0))) / 64.0;
        screen.draw(drawn, &dance(seconds).1);
        let body = drawn.pose.position;
        for step in 0..60u32 {
            let part = |salt: u32| ((tick * 60 + step).wrapping_mul(salt) >> 8 & 0xffff) as f32 / 65_536.0;
            let aim = body
                + Vec3::new(
                    part(2_654_435_761) * 1.4 - 0.7,
                    part(2_246_822_519) * 1.9,
                    part(3_266_489_917) - 0.5,
                );
            let eye = body + Vec3::new(4.0 * (tick as f32).sin(), 1.6, 4.0 * (tick as f32).cos());
            let direction = aim - eye;
            let seen = move |query: DrawnQuery| {
                query.cast_ray(eye, direction, 50.0, &RewindFilter::default()).map(|hit| hit.hit_box)
            };
            let judged = move |query: RewindQuery| {
                query
                    .at(RewindTime::At(time))
                    .ok()?
                    .cast_ray(eye, direction, 50.0)
                    .ok()
                    .map(|hit| hit.hit_box)
            };
            let seen = screen.app.world_mut().run_system_once(seen).expect("it runs");
            let judged = stage.app.world_mut().run_system_once(judged).expect("it runs");
            rays += 1;
            hits += u32::from(seen.is_some());
            differ += u32::from(seen != judged);
        }
    }
    println!("{rays} rays, {hits} hits, {differ} differ");
    assert!(hits > 800 && f64::from(differ) <= 0.005 * f64::from(hits), "{differ} of {hits} differ");
    // The limbs come from the nodes, not from the rig or the body.
    let limbs = screen.app.world().get::<DrawnLimbs>(screen.pawn).expect("limbs");
    assert_eq!(limbs.0.len(), HUMANOID_LIMBS.len());
}

#[test]
fn client_records_no_frames() {
    let mut screen = Screen::new();
    for _ in 0..20 {
        screen.draw(DrawnPose::default(), &still(0.0).1);
    }
    let world = screen.app.world_mut();
    assert_eq!(world.query::<&FrameHistory>().iter(world).count(), 0);
    // A server without drawn pawns has no drawn limbs.
    let mut stage = Stage::new(still, 1);
    stage.run(10);
    assert!(stage.app.world().get::<DrawnLimbs>(stage.pawn).expect("required").0.is_empty());
    assert!(!stage.history().bones.is_empty());
}

#[test]
fn listen_server_host_records_limbs_at_their_view_time() {
    let mut stage = Stage::new(still, 1);
    let pawn = stage.pawn;
    let world = stage.app.world_mut();
    let visual = world.spawn(VisualOf(pawn)).id();
    let node = world.spawn((Transform::default(), ChildOf(visual))).id();
    world.entity_mut(pawn).insert((DrawnPose::default(), LimbNodes::new(visual, [node])));
    for _ in 0..40 {
        stage.run(1);
        stage.send_every(3);
    }
    let shown = match stage.app.world().get::<DrawnPose>(pawn).expect("drawn").stamp {
        ViewStamp::Interpolated { time, .. } | ViewStamp::Extrapolated { time, .. } => time,
        ViewStamp::Present => panic!("it is drawn from snapshots"),
    };
    assert!(ViewTime::at(stage.now()).since(shown) >= SUB_TICKS, "one interval ago");
    assert_eq!(stage.history().bones.newest(), Some(shown));
}
