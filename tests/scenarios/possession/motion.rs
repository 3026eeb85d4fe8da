//! Changes of control on slopes, in the air, beside another pawn and under fire.

use bevy_unlag::{
    ControlSystems,
    core::Tick,
    movement::PawnCollision,
    prediction::{CorrectionCause, ServerCorrection},
    weapons::ShotResult,
};

use super::*;

const OWN: NetId = NetId(1);
const OTHER: NetId = NetId(2);
const SHOOTER: NetId = NetId(3);

/// Path of the player between two soldiers.
#[derive(Resource, Clone, Copy, PartialEq, Debug)]
enum Scene {
    /// It walks down a slope of 20°.
    Slope,
    /// It sprints and jumps all the time.
    Air,
    /// Its pawns touch, and pawns ignore each other.
    Touching,
    /// Its pawns touch, and pawns block each other.
    Blocking,
    /// Another player shoots at both.
    UnderFire,
}

impl Scene {
    /// Places of the two soldiers.
    fn places(self) -> [Vec3; 2] {
        match self {
            Self::Slope => [Vec3::new(0.0, 17.8, 46.8), Vec3::new(3.0, 17.8, 46.8)],
            Self::Touching | Self::Blocking => [Vec3::new(0.0, 0.1, 0.0), Vec3::new(0.7, 0.1, 0.0)],
            Self::Air | Self::UnderFire => [Vec3::new(0.0, 0.1, 0.0), Vec3::new(4.0, 0.1, 0.0)],
        }
    }
}

fn ground(scene: Res<Scene>, mut config: ResMut<CapsuleConfig>, mut commands: Commands) {
    let (half, turn) = match *scene {
        Scene::Slope => (Vec3::new(40.0, 0.5, 60.0), Quat::from_rotation_x(-0.35)),
        _ => (Vec3::new(400.0, 0.5, 400.0), Quat::IDENTITY),
    };
    let place = if turn == Quat::IDENTITY { Vec3::NEG_Y * 0.5 } else { Vec3::ZERO };
    let transform = Transform::from_translation(place).with_rotation(turn);
    commands.spawn((Collider::cuboid(half.x, half.y, half.z), transform));
    if *scene == Scene::Blocking {
        config.pawns = PawnCollision::Block;
    }
}

/// Observations of the server.
#[derive(Resource, Default)]
struct ServerRecord {
    /// Causes of the differences that the server found, with their sizes in metres.
    causes: Vec<(CorrectionCause, f32)>,
    /// Shooter, shot and target of each damage.
    damage: Vec<(NetId, Tick, NetId)>,
}

fn scene_server(scene: Scene) -> App {
    let mut server = headless_app();
    server
        .add_plugins(UnlagServerPlugins::default())
        .insert_resource(scene)
        .init_resource::<Pawns>()
        .init_resource::<ServerRecord>()
        .add_systems(
            Startup,
            (ground, |scene: Res<Scene>, mut commands: Commands| {
                let place = Transform::from_translation(scene.places()[1]);
                commands.spawn((NpcPawn::<Soldier>::default(), OTHER, place));
            }),
        )
        .add_observer(
            |joined: On<PlayerJoined>,
             scene: Res<Scene>,
             mut pawns: ResMut<Pawns>,
             mut commands: Commands| {
                let owner = player_pawn(joined.link, joined.peer);
                if pawns.link.is_none() {
                    pawns.link = Some(joined.link);
                    let place = Transform::from_translation(scene.places()[0]);
                    commands.spawn((SoldierPawn, OWN, place, owner));
                } else {
                    commands.spawn((SoldierPawn, SHOOTER, Transform::from_xyz(2.0, 0.1, 14.0), owner));
                }
            },
        )
        .add_observer(|done: On<Possessed>, mut pawns: ResMut<Pawns>| pawns.possessed.push(done.pawn))
        .add_systems(Last, watch);
    server
}

fn watch(
    mut found: MessageReader<ServerCorrection<Soldier>>,
    mut damage: MessageReader<Damage>,
    names: Query<&NetId>,
    mut seen: ResMut<ServerRecord>,
) {
    seen.causes.extend(found.read().map(|found| (found.cause, found.error)));
    for hit in damage.read() {
        if let Ok([shooter, target]) = names.get_many([hit.shooter, hit.target]) {
            seen.damage.push((*shooter, hit.shot, *target));
        }
    }
}

fn scene_client(scene: Scene) -> App {
    let mut client = headless_app();
    client
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .insert_resource(scene)
        .add_systems(Startup, ground);
    client
}

/// Moves the player who changes pawns.
fn play(scene: Res<Scene>, time: Res<Time>, mut own: Query<&mut InputAccumulator, With<LocalControl>>) {
    let now = time.elapsed_secs();
    for mut input in &mut own {
        match *scene {
            Scene::Slope => input.axes(Vec2::Y),
            Scene::Air => {
                input.axes(Vec2::Y);
                input.sprint(true);
                input.jump((now * 4.0).fract() < 0.5);
            }
            // To and fro, against the other pawn and away from it.
            Scene::Touching | Scene::Blocking => input.axes(Vec2::X * (now * 1.7).sin().signum()),
            Scene::UnderFire => input.axes(Vec2::new((now * 1.3).sin().signum(), 0.0)),
        }
    }
}

/// Shots of the other player by their tick: the target on the screen, and the verdict.
#[derive(Resource, Default)]
struct Shots {
    fired: Vec<(Tick, Option<NetId>)>,
    verdicts: Vec<ShotVerdict>,
}

/// Shoots at the two soldiers in turn.
fn shoot(
    time: Res<Time>,
    mut own: Query<(&DrawnPose, &mut InputAccumulator, &mut WeaponControls), With<LocalControl>>,
    others: Query<(&NetId, &DrawnPose), Without<LocalControl>>,
) {
    let now = time.elapsed_secs();
    let wanted = if now % 1.4 < 0.7 { OWN } else { OTHER };
    let Some((_, target)) = others.iter().find(|(id, _)| **id == wanted) else { return };
    for (drawn, mut input, mut trigger) in &mut own {
        let chest = target.pose.position + Vec3::Y * 1.2;
        let wanted = Aim::from_direction(chest - (drawn.pose.position + Vec3::Y * 1.64));
        let CapsuleInput { yaw, pitch, .. } = input.current();
        // No faster than a player turns.
        let look = Aim { yaw, pitch }.rotate_towards(wanted, 15.0 * time.delta_secs());
        input.look_along(look.direction());
        trigger.set_fire((now * 4.0).fract() < 0.2);
    }
}

fn record_shots(
    mut fired: MessageReader<ShotFired>,
    mut verdicts: MessageReader<ShotVerdict>,
    mut shots: ResMut<Shots>,
) {
    shots.fired.extend(fired.read().map(|shot| (shot.round.shot, shot.drawn().map(|hit| hit.target))));
    shots.verdicts.extend(verdicts.read());
}

fn sim(seed: u64) -> NetSim {
    let mut sim = NetSim::new(seed);
    sim.set(LinkConditions { latency: Duration::from_millis(75), loss: 0.05, ..default() });
    sim
}

/// Result of one run: corrections of the player, and how many changes began in the air.
struct Outcome {
    game: SteppedApps,
    corrections: u64,
    in_the_air: u32,
    walked: f32,
}

/// Lets the player change between its two soldiers `changes` times.
fn run(scene: Scene, seed: u64, changes: u64) -> Outcome {
    let mut game = SteppedApps::new(scene_server(scene));
    let mut client = scene_client(scene);
    client.add_systems(RunFixedMainLoop, play.in_set(ControlSystems::Accumulate));
    game.join_over(client, sim(seed)).expect("the client joins");
    if scene == Scene::UnderFire {
        game.run(Duration::from_millis(500));
        let mut shooter = scene_client(scene);
        shooter
            .init_resource::<Shots>()
            .add_systems(RunFixedMainLoop, shoot.in_set(ControlSystems::Accumulate))
            .add_systems(Last, record_shots);
        game.join_over(shooter, sim(seed + 100)).expect("the shooter joins");
    }
    game.run(Duration::from_secs(2));
    let (mut in_the_air, mut walked) = (0, 0.0);
    let body = |game: &mut SteppedApps, id: NetId| {
        let world = game.server.world_mut();
        let mut pawns = world.query::<(Entity, &NetId, &SoldierState)>();
        let (pawn, _, state) = pawns.iter(world).find(|(_, of, _)| **of == id).expect("a soldier");
        (pawn, state.body)
    };
    for change in 0..changes {
        let [from, to] = if change % 2 == 0 { [OWN, OTHER] } else { [OTHER, OWN] };
        assert_eq!(own(&mut game), Some(from), "{scene:?}, seed {seed}, change {change}");
        in_the_air += u32::from(body(&mut game, from).1.velocity.y.abs() > 0.5);
        let (pawn, before) = body(&mut game, to);
        possess(&mut game, |_| Some(pawn));
        game.run(Duration::from_millis(600 + (change * 97 + seed * 41) % 300));
        walked += body(&mut game, to).1.position.distance(before.position);
    }
    game.run(Duration::from_secs(1));
    assert_eq!(game.server.world().resource::<Pawns>().possessed.len() as u64, changes);
    Outcome { corrections: corrections(&mut game), game, in_the_air, walked }
}

const SEEDS: [u64; 3] = [1, 2, 3];

#[test]
fn changes_on_a_slope_cause_no_correction() {
    for seed in SEEDS {
        let outcome = run(Scene::Slope, seed, 12);
        assert!(outcome.walked > 12.0, "seed {seed}: it walks down {} m", outcome.walked);
        assert_eq!(
            outcome.corrections,
            0,
            "seed {seed}: {:?}",
            outcome.game.server.world().resource::<ServerRecord>().causes
        );
    }
}

#[test]
fn changes_at_full_speed_and_in_the_air_cause_no_correction() {
    for seed in SEEDS {
        let outcome = run(Scene::Air, seed, 16);
        assert!(outcome.in_the_air >= 4, "seed {seed}: {} changes in the air", outcome.in_the_air);
        assert_eq!(
            outcome.corrections,
            0,
            "seed {seed}: {:?}",
            outcome.game.server.world().resource::<ServerRecord>().causes
        );
    }
}

#[test]
fn changes_between_two_pawns_that_touch_cause_no_correction() {
    for seed in SEEDS {
        let outcome = run(Scene::Touching, seed, 12);
        assert_eq!(
            outcome.corrections,
            0,
            "seed {seed}: {:?}",
            outcome.game.server.world().resource::<ServerRecord>().causes
        );
    }
}

/// A client knows the pawn that it has left a round trip late, as it knows all other pawns: where pawns block each
/// other, contact with it while it comes to rest is corrected. The change itself is not.
#[test]
fn changes_between_two_pawns_that_block_each_other_cause_corrections_of_contact_only() {
    for seed in SEEDS {
        let outcome = run(Scene::Blocking, seed, 12);
        let causes = &outcome.game.server.world().resource::<ServerRecord>().causes;
        // Some are `Unknown`: by then the server has moved the pawn on, away from the other one.
        use CorrectionCause::{MissingMoves, OtherPawn, Unknown};
        let of_contact = |cause| matches!(cause, OtherPawn | MissingMoves | Unknown);
        assert!(causes.iter().all(|(cause, _)| of_contact(*cause)), "seed {seed}: {causes:?}");
        // The pawns are 0.7 m wide, and contact lasts for a round trip.
        assert!(causes.iter().all(|(_, error)| *error < 1.0), "seed {seed}: {causes:?}");
        assert!(outcome.corrections <= 24, "seed {seed}: {} corrections in 12 changes", outcome.corrections);
    }
}

#[test]
fn changes_under_fire_cause_no_correction_and_shots_hit_the_pawn_that_was_drawn() {
    let mut confirmed = [0, 0];
    for seed in SEEDS {
        let mut outcome = run(Scene::UnderFire, seed, 16);
        assert_eq!(outcome.corrections, 0, "seed {seed}");
        let game = &mut outcome.game;
        let shooter = game.clients[1].world().resource::<Shots>();
        let damage = &game.server.world().resource::<ServerRecord>().damage;
        for (shot, drawn) in &shooter.fired {
            let verdict = shooter.verdicts.iter().find(|verdict| verdict.shot == *shot);
            let Some(ShotVerdict { result, .. }) = verdict else { continue };
            let hit = match result {
                ShotResult::Hit(list) => list.first().map(|hit| hit.target),
                ShotResult::Miss => None,
                other => panic!("seed {seed}, {shot:?}: {other:?}"),
            };
            assert_eq!(hit, *drawn, "seed {seed}, {shot:?}: the verdict is not what the screen showed");
            let hurt =
                damage.iter().find(|(by, of, _)| *by == SHOOTER && of == shot).map(|(.., target)| *target);
            assert_eq!(hurt, hit, "seed {seed}, {shot:?}: the damage is another pawn's");
            for (count, id) in confirmed.iter_mut().zip([OWN, OTHER]) {
                *count += u32::from(hit == Some(id));
            }
        }
    }
    assert!(confirmed.iter().all(|hits| *hits > 20), "{confirmed:?} hits of the two pawns");
}
