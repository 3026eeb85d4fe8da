//! Shot evidence: replays reproduce the recorded results, and no bytes cause harm.

use core::time::Duration;
use std::collections::BTreeMap;

use bevy::{ecs::system::RunSystemOnce, prelude::*, time::TimeUpdateStrategy};
use bevy_rapier3d::prelude::Collider;
use bevy_unlag_core::{
    BasePoses, CurrentTick, NetId, PathKnotConfig, PoseSampler, ProxySmoothing, Snapshot, Tick, ViewTime,
};
use bevy_unlag_movement::{CapsuleModel, MovementPlugin};
use bevy_unlag_rewind::{
    BodyBounds, CandidateEvidence, ClaimedTarget, CoverProtection, EvidenceNotes, EvidencePart, FileShape,
    FrameHistory, HitBox, HitBoxes, HitGroup, Miss, Occluder, QueryView, RewindFilter, RewindLimits,
    RewindPlugin, RewindQuery, RewindTime, ShotEvidence, StampOverride, TargetHit, Team, humanoid_hit_boxes,
    humanoid_rig,
};
use bevy_unlag_smoothing::PublishedPath;
use bevy_unlag_smoothing::RecordTransform;
use rand::{Rng, SeedableRng, rngs::SmallRng};

const TICK: Duration = Duration::from_nanos(15_625_000);
const TARGETS: u16 = 20;
const RIDER: NetId = NetId(100);

/// Returns the pose of the lift.
fn lift(base: u16, seconds: f64) -> Option<Isometry3d> {
    let turn = Quat::from_rotation_y(seconds as f32 * 0.7);
    (base == 1).then(|| Isometry3d::new(Vec3::new(0.0, (seconds as f32).sin() + 1.0, -6.0), turn))
}

fn balls_and_capsules() -> HitBoxes {
    let capsule = Collider::capsule(Vec3::Y * 0.3, Vec3::Y * 1.3, 0.3);
    let boxes = [
        HitBox { factor: 0.5, ..HitBox::new(0, HitGroup::Body, capsule) },
        HitBox::new(0, HitGroup::Head, Collider::ball(0.2)).at(Isometry3d::from_xyz(0.0, 1.7, 0.1)),
    ];
    HitBoxes::new(boxes, BodyBounds { radius: 0.5, low: -0.1, high: 2.0 }).nearest_first()
}

fn path(id: u16, tick: u32) -> Vec3 {
    let t = tick as f32 / 64.0 * (1.0 + f32::from(id % 5) * 0.4) + f32::from(id);
    Vec3::new((t * 0.9).sin() * 8.0, 0.0, (t * 1.3 + f32::from(id)).cos() * 8.0)
}

struct ShotQuery {
    from: Vec3,
    way: Vec3,
    view: Option<ViewTime>,
    overrides: Vec<StampOverride>,
    limits: RewindLimits,
    queued_ticks: u32,
}

struct Scene {
    app: App,
    targets: Vec<(Entity, NetId)>,
    rider: Entity,
    rng: SmallRng,
}

impl Scene {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin))
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .add_plugins(RewindPlugin::<CapsuleModel>::default())
            .insert_resource(BasePoses::new(TICK, lift));
        app.finish();
        app.cleanup();
        let world = app.world_mut();
        // A wall, a moving door and an occluder on the lift.
        world.spawn((Collider::cuboid(3.0, 1.0, 0.2), Transform::from_xyz(2.0, 1.0, 1.0)));
        let door = Occluder { shape: Collider::cuboid(1.0, 1.0, 0.1), base: 0 };
        world.spawn((NetId(90), RecordTransform::default(), door));
        let shield = Occluder { shape: Collider::cylinder(0.4, 1.2), base: 1 };
        world.spawn((shield, Transform::default()));
        let rider = world.spawn((RIDER, FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig())).id();
        let mut scene = Self { app, targets: Vec::new(), rider, rng: SmallRng::seed_from_u64(11) };
        (0..TARGETS).for_each(|id| scene.spawn(id));
        scene
    }

    fn spawn(&mut self, id: u16) {
        let mut target = self.app.world_mut().spawn((NetId(id), RecordTransform::default()));
        match id % 4 {
            0 => target.insert(balls_and_capsules()),
            1 => target.insert((humanoid_hit_boxes(), humanoid_rig(), ProxySmoothing::Linear)),
            2 => target.insert((humanoid_hit_boxes(), humanoid_rig(), ProxySmoothing::Exponential)),
            _ => target.insert((humanoid_hit_boxes(), humanoid_rig(), Team((id % 2) as u8))),
        };
        let entity = target.id();
        self.targets.retain(|(_, known)| known.0 != id);
        self.targets.push((entity, NetId(id)));
    }

    fn now(&self) -> Tick {
        self.app.world().resource::<CurrentTick>().0
    }

    fn tick(&mut self) {
        let tick = self.now().0 + 1;
        let world = self.app.world_mut();
        for (entity, id) in &self.targets {
            // Teleports half of the targets every 90 ticks.
            let elsewhere = f32::from(u8::from(tick / 90 % 2 == u32::from(id.0 % 2))) * 4.0;
            let mut transform =
                world.get_mut::<Transform>(*entity).expect("the target must have a transform");
            transform.translation = path(id.0, tick) + Vec3::X * elsewhere;
            transform.rotation = Quat::from_rotation_y(tick as f32 * 0.02 + f32::from(id.0));
            world.get_mut::<RecordTransform>(*entity).expect("the target must be recorded").teleports =
                (tick / 90) as u8;
        }
        let mut movers = world.query::<(&NetId, &mut Transform, &Occluder)>();
        for (_, mut transform, _) in movers.iter_mut(world) {
            transform.translation = Vec3::new((tick as f32 * 0.05).sin() * 5.0, 1.0, -2.0);
        }
        self.app.update();
        let tick = self.now().0;
        let world = self.app.world_mut();
        if tick.is_multiple_of(3) {
            let mut pawns = world.query::<(&mut PublishedPath, Option<&ProxySmoothing>)>();
            for (mut history, mode) in pawns.iter_mut(world) {
                history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), mode);
            }
            // A pawn that alternates between riding on the lift and walking.
            let base = u16::from(!(tick / 30).is_multiple_of(3));
            let place = Vec3::new((tick as f32 * 0.1).sin() * 2.0, 0.0, (tick as f32 * 0.07).cos() * 2.0);
            let snapshot =
                Snapshot { base, alive: tick % 400 > 40, ..Snapshot::new(Tick(tick), place, Vec3::X) };
            let mut history =
                world.get_mut::<PublishedPath>(self.rider).expect("the rider must have a history");
            history.sent.insert(snapshot.quantised());
        }
    }

    fn random_query(&mut self) -> ShotQuery {
        let now = self.now();
        let rng = &mut self.rng;
        let age = rng.random_range(0.0..34.0);
        let time = ViewTime::after(now, -age);
        let id = if rng.random_bool(0.1) { RIDER.0 } else { rng.random_range(0..TARGETS) };
        let rider = lift(1, f64::from(now.0) / 64.0).expect("the lift must have a pose").translation;
        let seen = if id == RIDER.0 { rider.into() } else { path(id, time.tick.0) };
        let mut aside =
            |most: f32| Vec3::new(rng.random_range(-most..most), 0.0, rng.random_range(-most..most));
        let from = Vec3::Y * 1.6 + aside(12.0);
        let at = seen + Vec3::Y * 1.2 + aside(0.4);
        let rng = &mut self.rng;
        let mut overrides = Vec::new();
        if rng.random_bool(0.4) {
            let from = Tick(time.tick.0 / 3 * 3).offset(rng.random_range(-2..1) * 3);
            let to = rng.random_bool(0.7).then(|| from.offset(rng.random_range(1..4) * 3));
            let shift = if rng.random_bool(0.3) { rng.random_range(-3_000..1_500) } else { 0 };
            overrides.push(StampOverride { target: NetId(id), from, to, shift });
        }
        let limits = RewindLimits {
            max_distance: if rng.random_bool(0.2) { 2.0 } else { f32::INFINITY },
            cover: rng.random_bool(0.5).then_some(CoverProtection {
                grace: Duration::from_millis(30),
                max_exempt_age: Duration::from_millis(60),
            }),
            ..default()
        };
        let nonsense = rng.random_bool(0.01);
        let way = if nonsense { Vec3::NAN } else { (at - from) * rng.random_range(0.1..3.0) };
        let view = rng.random_bool(0.95).then_some(time);
        ShotQuery { from, way, view, overrides, limits, queued_ticks: rng.random_range(0..3) }
    }

    /// Casts the rays. Returns the results with their evidence.
    fn ask(&mut self, questions: Vec<ShotQuery>) -> Vec<(Result<TargetHit, Miss>, ShotEvidence)> {
        let shooter = self.targets[0].0;
        let ask = move |query: RewindQuery| {
            let mut answers = Vec::new();
            for question in &questions {
                let view = question.view.map(|time| QueryView {
                    overrides: &question.overrides,
                    limits: Some(&question.limits),
                    queued_ticks: question.queued_ticks,
                    bases: Some(time.later(400)),
                    ..QueryView::from(time)
                });
                let Ok(then) = query.at(view.map_or(RewindTime::Now, RewindTime::View)) else { continue };
                let filter = RewindFilter { exclude_team: Some(Team(1)), ..RewindFilter::exclude(shooter) };
                let then = then.with_filter(filter);
                let max = if question.limits.max_distance < 3.0 { f32::INFINITY } else { 40.0 };
                let answer = then.cast_ray(question.from, question.way, max);
                answers.push((answer, then.evidence(question.from, question.way, max)));
            }
            answers
        };
        self.app.world_mut().run_system_once(ask).expect("the query must run")
    }

    fn shots(&mut self, ticks: u32, a_tick: usize) -> Vec<(Result<TargetHit, Miss>, ShotEvidence)> {
        (0..60).for_each(|_| self.tick());
        let mut shots = Vec::new();
        for tick in 0..ticks {
            self.tick();
            if tick % 97 == 50 {
                // A target is respawned under the same id, and another one changes its shape.
                let (gone, id) = self.targets[3];
                self.app.world_mut().despawn(gone);
                self.spawn(id.0);
                let changed = self.targets[5].0;
                self.app.world_mut().entity_mut(changed).insert(balls_and_capsules());
            }
            let questions = (0..a_tick).map(|_| self.random_query()).collect();
            shots.extend(self.ask(questions));
        }
        shots
    }
}

fn verdict_name(answer: &Result<TargetHit, Miss>) -> &'static str {
    match answer {
        Ok(_) => "hit",
        Err(Miss::InvalidQuery) => "invalid query",
        Err(Miss::NoTarget) => "no target",
        Err(Miss::NearMiss(_)) => "near miss",
        Err(Miss::Blocked { by: None, .. }) => "blocked by a wall",
        Err(Miss::Blocked { by: Some(_), .. }) => "blocked by a door",
        Err(Miss::NotPresent(_)) => "not present",
        Err(Miss::NotSent(_)) => "not sent",
        Err(Miss::MovedTooFar(_)) => "moved too far",
        Err(Miss::InCover(_)) => "in cover",
    }
}

#[test]
fn ten_thousand_shots_replay_from_bytes_to_identical_results() {
    let mut scene = Scene::new();
    let shots = scene.shots(560, 24);
    assert!(shots.len() >= 10_000, "{} shots", shots.len());
    let sampler = PoseSampler::default();
    let (mut kinds, mut bytes, mut different) = (BTreeMap::<_, u32>::new(), 0, 0);
    for (index, (answer, evidence)) in shots.iter().enumerate() {
        *kinds.entry(verdict_name(answer)).or_default() += 1;
        let packed = evidence.to_bytes();
        bytes += packed.len();
        let read = ShotEvidence::from_bytes(&packed).expect("the record must survive its bytes");
        assert_eq!(read.to_bytes(), packed, "the encoding must be lossless");
        let replayed = read.replay(&sampler);
        // NaN would not equal itself, but none occurs.
        different += u32::from(replayed != *answer || read.answer != *answer);
        if replayed != *answer {
            println!("shot {index}: {answer:?} was replayed as {replayed:?}");
        }
        if index % 100 == 0 {
            let text = ron::to_string(evidence).expect("the record must serialise to text");
            assert!(text.contains(&format!("tick:({})", evidence.tick.0)), "{text}");
            let read: ShotEvidence = ron::from_str(&text).expect("the record must survive its text");
            assert_eq!(read.to_bytes(), packed, "text must be lossless");
            assert_eq!(read.replay(&sampler), *answer);
        }
    }
    println!("{kinds:?}; {} bytes per shot", bytes / shots.len());
    assert_eq!(different, 0);
    assert_eq!(kinds.len(), 10, "every kind of verdict must occur: {kinds:?}");
    assert!(kinds["hit"] > 2_000, "{kinds:?}");
}

#[test]
fn evidence_notes_round_trip_and_do_not_change_the_replay() {
    let mut scene = Scene::new();
    let sampler = PoseSampler::default();
    let mut noted = 0;
    for (index, (answer, evidence)) in scene.shots(20, 24).into_iter().enumerate() {
        let plain = evidence.to_bytes().len();
        let hit = answer.ok().filter(|_| index % 3 == 0);
        let claim = ClaimedTarget { target: NetId(index as u16), padding: 0.4 };
        let notes = EvidenceNotes {
            claimed: evidence.time.requested.map(|requested| requested.later(77)),
            claim: (index % 2 == 0).then_some((claim, hit)),
            refused: (index % 5 == 0).then_some(index as u8),
        };
        let evidence = ShotEvidence { notes, ..evidence };
        let read = ShotEvidence::from_bytes(&evidence.to_bytes()).expect("the record must be readable");
        assert_eq!((read.notes, read.replay(&sampler)), (notes, answer));
        assert!(evidence.to_bytes().len() < plain + 60, "notes must cost less than 60 bytes");
        noted += u32::from(hit.is_some());
    }
    assert!(noted > 10, "{noted}");
    let wild = ClaimedTarget { target: NetId(1), padding: f32::NAN };
    let wild = EvidenceNotes { claim: Some((wild, None)), ..default() };
    let read = ShotEvidence::from_bytes(&ShotEvidence { notes: wild, ..default() }.to_bytes());
    assert_eq!(
        read.expect("the record must be readable").notes.claim.map(|(claim, _)| claim.padding),
        Some(0.0)
    );
}

#[test]
fn evidence_with_300_hit_box_sets_round_trips() {
    let sets = (0..300).map(|n| {
        let shape = Collider::ball(n as f32 * 0.01 + 0.1);
        HitBoxes::new([HitBox::new(0, HitGroup::Body, shape)], BodyBounds::ball(9.0))
    });
    let candidate = CandidateEvidence {
        entity: Entity::from_raw_u32(1).expect("the index must be valid"),
        target: NetId(1),
        mode: None,
        snapshots: Vec::new(),
        live: None,
        set: 299,
        limbs: Vec::new(),
        live_set: 256,
        live_limbs: Vec::new(),
    };
    let evidence =
        ShotEvidence { sets: sets.collect(), candidates: vec![candidate.clone()], ..ShotEvidence::default() };
    let read = ShotEvidence::from_bytes(&evidence.to_bytes()).expect("the record must be readable");
    assert_eq!((read.sets.len(), &read.candidates[0]), (300, &candidate));
}

#[test]
fn changed_snapshots_walls_or_times_change_the_replayed_verdict() {
    let mut scene = Scene::new();
    let sampler = PoseSampler::default();
    let (mut hits, mut moved, mut walls, mut elsewhen) = (0, 0, 0, 0);
    for (answer, evidence) in scene.shots(120, 24) {
        let Ok(hit) = answer else { continue };
        if evidence.time.used.is_none() {
            continue;
        }
        hits += 1;
        let mut changed = evidence.clone();
        let candidate = changed.candidates.iter_mut().find(|candidate| candidate.target == hit.target);
        // Moves the hit target by a metre to the side.
        let side = if evidence.direction.x.abs() > evidence.direction.z.abs() { 2 } else { 0 };
        candidate
            .expect("the hit target must be a candidate")
            .snapshots
            .iter_mut()
            .for_each(|s| s.position[side] += 1_024);
        moved += u32::from(changed.replay(&sampler) != answer);
        let wall = ShotEvidence { wall: Some(hit.distance * 0.5), ..evidence.clone() };
        walls += u32::from(matches!(wall.replay(&sampler), Err(Miss::Blocked { .. })));
        let mut late = evidence.clone();
        late.time.used = late.time.used.map(|time| time.later(-2_000));
        elsewhen += u32::from(late.replay(&sampler) != answer);
    }
    println!("{hits} hits: {moved} changed with a snapshot, {walls} with a wall, {elsewhen} with the time");
    assert!(hits > 300, "{hits}");
    assert_eq!((moved, walls), (hits, hits));
    assert!(elsewhen * 10 > hits * 9, "{elsewhen} of {hits}");
}

#[test]
fn random_and_corrupted_evidence_is_rejected_or_replays_without_panic() {
    let mut scene = Scene::new();
    let sampler = PoseSampler::default();
    let shots = scene.shots(20, 24);
    let mut rng = SmallRng::seed_from_u64(5);
    let (mut read, mut lines) = (0, 0u64);
    let mut check = |bytes: &[u8]| {
        let Ok(evidence) = ShotEvidence::from_bytes(bytes) else { return };
        read += 1;
        let _ = evidence.replay(&sampler);
        evidence.lines(&sampler, &mut |_, _, _| lines += 1);
        evidence.labels(&sampler, &mut |_, text| lines += text.len() as u64);
        assert!(evidence.candidates.len() <= bytes.len());
    };
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..rng.random_range(0..200)).map(|_| rng.random()).collect();
        check(&bytes);
    }
    for round in 0..40_000 {
        let mut bytes = shots[round % shots.len()].1.to_bytes();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..bytes.len());
            bytes[at] ^= 1 << rng.random_range(0..8);
        }
        if round % 5 == 0 {
            bytes.truncate(rng.random_range(0..bytes.len()));
        }
        check(&bytes);
    }
    println!("{read} of 60,000 inputs were read");
    assert!(read > 5_000, "too few inputs were read: {read}");
}

#[test]
fn numbers_out_of_range_versions_and_oversized_records_are_refused() {
    let read = |evidence: &ShotEvidence| ShotEvidence::from_bytes(&evidence.to_bytes());
    let wall = |wall| ShotEvidence { wall: Some(wall), ..default() };
    let small = f32::from_bits(1);
    assert_eq!(read(&wall(-small)).expect("a number").wall.map(f32::to_bits), Some((-small).to_bits()));
    for number in [f32::NAN, f32::INFINITY, -1e8] {
        assert!(read(&wall(number)).is_err(), "{number}");
        let text = ron::to_string(&wall(number)).expect("text");
        assert!(ron::from_str::<ShotEvidence>(&text).is_err(), "{text}");
    }
    let with = |shape| ShotEvidence {
        sets: vec![HitBoxes::new([HitBox::new(0, HitGroup::Body, shape)], BodyBounds::ball(9.0))],
        ..default()
    };
    assert!(read(&with(Collider::ball(0.5))).is_ok());
    assert!(read(&with(Collider::ball(-0.5))).is_err());
    assert!(read(&with(Collider::cuboid(0.5, f32::NAN, 0.5))).is_err());

    let bytes = ShotEvidence::default().to_bytes();
    assert!(ShotEvidence::from_bytes(&[&bytes[..], &[0]].concat()).is_err(), "a byte too many");
    assert!(ShotEvidence::from_bytes(&[&[1], &bytes[1..]].concat()).is_err(), "another version");
    let with = |left_out: usize| ShotEvidence { left_out: vec![NetId(1); left_out], ..default() };
    let rest = with(1 << 19).to_bytes().len() - (1 << 19);
    assert!(read(&with((1 << 20) - rest)).is_ok(), "a mebibyte");
    assert!(read(&with((1 << 20) - rest + 1)).is_err(), "too long");
}

#[test]
fn shape_that_cannot_be_serialised_becomes_its_bounding_box() {
    let cylinder = HitBox::new(0, HitGroup::Body, Collider::cylinder(0.5, 0.3));
    let sets = vec![HitBoxes::new([cylinder], BodyBounds::ball(2.0))];
    let read = ShotEvidence::from_bytes(&ShotEvidence { sets, ..default() }.to_bytes()).expect("a record");
    let shape = &read.sets[0].boxes()[0].shape;
    assert_eq!(FileShape::of(shape), Some(FileShape::Box { half: [0.3, 0.5, 0.3] }));
}

#[test]
fn evidence_lines_draw_every_box_of_every_candidate() {
    let mut scene = Scene::new();
    let sampler = PoseSampler::default();
    let shots = scene.shots(60, 24);
    let alone = |evidence: &ShotEvidence| {
        let old = evidence.time.used.is_some_and(|used| evidence.tick.since(used.tick) > 8);
        let [candidate] = evidence.candidates.as_slice() else { return false };
        old && candidate.limbs.len() == 19 && candidate.live_limbs.len() == 19
    };
    let found = shots.iter().find(|(answer, evidence)| answer.is_ok() && alone(evidence));
    let (answer, evidence) = found.expect("a shot must hit the only target near it");
    let hit = answer.expect("the shot must hit");
    let mut lines: BTreeMap<_, Vec<(Vec3, Vec3)>> = BTreeMap::new();
    evidence.lines(&sampler, &mut |a, b, part| lines.entry(format!("{part:?}")).or_default().push((a, b)));
    let counts: Vec<_> = lines.iter().map(|(part, lines)| (part.as_str(), lines.len())).collect();
    assert_eq!(counts, [("Envelope", 12), ("Hit", 3), ("Live", 19 * 12), ("Ray", 1), ("Tested", 19 * 12)]);
    let (start, end) = lines["Ray"][0];
    assert_eq!(start, evidence.origin);
    assert!(end.distance(hit.point) < 1e-3);
    for (a, b) in &lines["Hit"] {
        assert!(a.midpoint(*b).distance(hit.point) < 1e-3 && a.distance(*b) > 0.01, "{a} to {b}");
    }
    // The hit lies on a tested box and within the envelope, and the target is no longer there.
    let around = |part: &str| {
        let points = lines[part].iter().flat_map(|(a, b)| [*a, *b]);
        points.fold((Vec3::MAX, Vec3::MIN), |(low, high), p| (low.min(p), high.max(p)))
    };
    let (low, high) = around("Tested");
    assert!(hit.point.cmpge(low - 0.01).all() && hit.point.cmple(high + 0.01).all());
    let (outer_low, outer_high) = around("Envelope");
    assert!(low.cmpge(outer_low).all() && high.cmple(outer_high).all());
    assert_ne!(around("Live"), around("Tested"));
    let mut labels = Vec::new();
    evidence.labels(&sampler, &mut |at, text| labels.push((at, text.to_owned())));
    let text = &labels[0].1;
    assert!(labels.len() == 1 && text.starts_with(&format!("{}: ", hit.target.0)), "{text}");
    assert!(text.ends_with(&format!("{:?}", hit.group)), "{text}");
    let mut parts = Vec::new();
    for (_, evidence) in &shots {
        evidence.labels(&sampler, &mut |_, text| {
            let part = text.split_once(" at ").map(|(_, part)| part.split(',').next().unwrap_or(part));
            parts.extend(part.map(|part| part.parse::<f32>().expect("a number")));
        });
    }
    assert!(parts.iter().all(|part| (0.0..=1.0).contains(part)), "{parts:?}");
    assert!(parts.iter().any(|part| *part > 0.5), "{parts:?}");
    // Every part must have its own name.
    assert_ne!(EvidencePart::Drawn, EvidencePart::Tested);
}
