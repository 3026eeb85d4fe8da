//! Distance between drawn and rewound hit boxes, measured through real snapshots.

use bevy::ecs::system::SystemState;

use crate::prelude::*;

/// Link with heavy loss.
const LINK: LinkConditions = LinkConditions {
    latency: Duration::from_millis(50),
    jitter: Duration::from_millis(30),
    loss: 0.3,
    ..LinkConditions::PERFECT
};

/// Returns the largest distance between the corners of a humanoid's hit boxes in two poses, in metres.
fn corner_distance(rig: &LimbRig, boxes: &HitBoxes, a: &PoseSample, b: &PoseSample) -> f32 {
    let (mut room_a, mut room_b) = (LimbPoses::default(), LimbPoses::default());
    let (a, b) = (rig.in_world(a, &mut room_a), rig.in_world(b, &mut room_b));
    let mut largest = 0.0_f32;
    for hit_box in boxes.boxes() {
        let Some(cuboid) = hit_box.shape.raw.as_cuboid() else { continue };
        let half = Vec3::from_array(cuboid.half_extents.into());
        let limb = usize::from(hit_box.limb);
        for corner in 0..8 {
            let sign = |bit: i32| if corner & bit == 0 { -1.0 } else { 1.0 };
            let at = half * Vec3::new(sign(1), sign(2), sign(4));
            largest = largest.max((a[limb] * at).distance(b[limb] * at));
        }
    }
    largest
}

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let seconds = options.extent(8.0, 60.0);
    let mut played = Match::start(&MatchOptions {
        players: 6,
        seconds,
        conditions: LINK,
        seed: options.seed,
        ..default()
    })?;
    let mut errors = Vec::new();
    let mut asked = SystemState::<RewindQuery>::new(played.server.world_mut());
    played.set_firing(true);
    let steps = (seconds * 20.0) as u32;
    for _ in 0..steps {
        // No multiple of a frame.
        played.run(Duration::from_micros(50_370));
        let server = played.server.world_mut();
        let ids: Vec<(NetId, Entity)> =
            server.query::<(Entity, &NetId)>().iter(server).map(|(entity, id)| (*id, entity)).collect();
        let apps = &mut *played;
        for client in &mut apps.clients {
            let world = client.world_mut();
            let Some(time) = world.resource::<DrawnViewTime>().0 else { continue };
            let bases = world.resource::<DrawnBaseTime>().0;
            let mut proxies =
                world.query_filtered::<(&NetId, &DrawnPose, &LimbRig, &HitBoxes), Without<LocalControl>>();
            for (id, drawn, rig, boxes) in proxies.iter(world) {
                let (from, to, at) = match drawn.stamp {
                    ViewStamp::Interpolated { from, to, time } => (from, Some(to), time),
                    ViewStamp::Extrapolated { from, time } => (from, None, time),
                    ViewStamp::Present => continue,
                };
                if !drawn.pose.alive {
                    continue;
                }
                let Ok(shift) = i16::try_from(at.since(time)) else { continue };
                let Some((_, entity)) = ids.iter().find(|(named, _)| named == id) else { continue };
                let named = [StampOverride { target: *id, from, to, shift }];
                let limits = RewindLimits { max_age: Duration::from_secs(1), ..RewindLimits::default() };
                let view =
                    QueryView { overrides: &named, bases, limits: Some(&limits), ..QueryView::from(time) };
                let query = asked.get(apps.server.world()).expect("the server has a RewindQuery");
                let then = query.at(RewindTime::View(view)).ok();
                if let Some(judged) = then.and_then(|then| then.pose(*entity).ok()) {
                    errors.push(f64::from(corner_distance(rig, boxes, &drawn.pose, &judged)) * 1e3);
                }
            }
        }
    }
    let p999 = upper_quantile(&mut errors, 999);
    let note = format!("largest {:.4} of {}", largest(errors.iter().copied()), errors.len());
    figures.add_noted("pose_p999_mm", p999, note)
}
