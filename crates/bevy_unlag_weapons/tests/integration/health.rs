//! Health and spawn protection of armed pawns: a listen server host shoots a dummy.

use core::time::Duration;

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag_core::{
    CurrentTick, DrawnPose, ExtendedState, NetId, NetRole, PathKnotConfig, PoseSampler, VisualPlugin,
};
use bevy_unlag_movement::{CapsuleModel, CapsuleState, MovementPlugin};
use bevy_unlag_prediction::{HostPawn, PredictionPlugin};
use bevy_unlag_rewind::{FrameHistory, RewindPlugin, humanoid_hit_boxes, humanoid_rig};
use bevy_unlag_smoothing::PublishedPath;
use bevy_unlag_weapons::{
    Aim, Arsenal, DeathCause, Died, Health, HealthPlugin, PlayerScore, Respawn, RespawnDue, RespawnRules,
    SpawnProtection, WeaponControls, WeaponId, WeaponState, WeaponsPlugin, WithWeapons,
};

type Soldier = WithWeapons<CapsuleModel>;
type SoldierState = ExtendedState<CapsuleState, WeaponState>;

const TICK: Duration = Duration::from_nanos(15_625_000);
const EYE: Vec3 = Vec3::new(0.0, 1.66, 0.0);

#[derive(Resource, Default)]
struct Deaths(Vec<Died>);

struct Range {
    app: App,
    shooter: Entity,
    dummy: Entity,
}

/// The game's part: a pawn dies, and respawns where it was.
fn play(
    mut died: MessageReader<Died>,
    mut due: MessageReader<RespawnDue>,
    mut bodies: Query<&mut SoldierState>,
    mut respawns: MessageWriter<Respawn>,
    mut seen: ResMut<Deaths>,
) {
    for death in died.read() {
        seen.0.push(*death);
        if let Ok(mut state) = bodies.get_mut(death.victim) {
            state.body.alive = false;
        }
    }
    for RespawnDue { pawn } in due.read() {
        if let Ok(mut state) = bodies.get_mut(*pawn) {
            state.body.alive = true;
            respawns.write(Respawn { pawn: *pawn });
        }
    }
}

impl Range {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, MovementPlugin, RewindPlugin::<Soldier>::default()))
            .add_plugins((PredictionPlugin::<Soldier>::default(), WeaponsPlugin::<CapsuleModel>::default()))
            .add_plugins(HealthPlugin)
            .insert_resource(TimeUpdateStrategy::ManualDuration(TICK))
            .init_resource::<Deaths>()
            .add_systems(FixedUpdate, play);
        if !app.is_plugin_added::<VisualPlugin>() {
            app.add_plugins(VisualPlugin);
        }
        app.finish();
        app.cleanup();
        let ground = bevy_rapier3d::prelude::Collider::cuboid(50.0, 0.5, 50.0);
        app.world_mut().spawn((ground, Transform::from_xyz(0.0, -0.5, 0.0)));
        let weapons = WeaponState::new(app.world().resource::<Arsenal>(), &[WeaponId(0)], 7);
        let soldier = |place| SoldierState { body: CapsuleState::at(place), extension: weapons };
        let body = || {
            let seen = (FrameHistory::default(), humanoid_hit_boxes(), humanoid_rig());
            (seen, Health::default(), PlayerScore::default(), NetRole::Authority)
        };
        let shooter = (NetId(1), HostPawn::<Soldier>::default(), soldier(Vec3::ZERO), body());
        let shooter = app.world_mut().spawn(shooter).insert(WeaponControls::default()).id();
        let dummy = (NetId(2), soldier(Vec3::NEG_Z * 10.0), DrawnPose::default(), body());
        let dummy = app.world_mut().spawn(dummy).id();
        let mut range = Self { app, shooter, dummy };
        range.hold(false, 10);
        *range.app.world_mut().get_mut::<Aim>(shooter).expect("an aim") =
            Aim::from_direction(Vec3::new(0.0, 1.2, -10.0) - EYE);
        range
    }

    /// Runs frames of one tick each, and publishes the present poses of all pawns as a network would.
    fn hold(&mut self, down: bool, frames: usize) {
        for _ in 0..frames {
            self.app.world_mut().get_mut::<WeaponControls>(self.shooter).expect("a trigger").set_fire(down);
            self.app.update();
            let world = self.app.world_mut();
            for mut history in world.query::<&mut PublishedPath>().iter_mut(world) {
                history.next_update(&PathKnotConfig::default(), &PoseSampler::default(), None);
            }
        }
    }

    fn died(&self) -> &[Died] {
        &self.app.world().resource::<Deaths>().0
    }
}

#[test]
fn rifle_kills_with_three_hits_and_again_after_the_spawn_protection() {
    let mut range = Range::new();
    let (mut left, mut deaths) = (vec![], 0);
    let mut frames = 0;
    while deaths < 2 && frames < 600 {
        range.hold(true, 1);
        frames += 1;
        let health = range.app.world().get::<Health>(range.dummy).expect("health").current;
        if left.last() != Some(&health) {
            left.push(health);
        }
        deaths = range.died().len();
    }
    assert_eq!(left, [66.0, 32.0, 0.0, 100.0, 66.0, 32.0, 0.0]);
    let [first, second] = range.died() else { panic!("{:?}", range.died()) };
    assert_eq!((first.victim, first.killer), (range.dummy, Some(range.shooter)));
    let DeathCause::Shot(damage) = first.cause else { panic!("{first:?}") };
    assert_eq!((damage.weapon, damage.hits.body), (WeaponId(0), 1));
    assert!((damage.point.z + 10.0).abs() < 1.0);
    // Dead for 64 ticks, protected for 128; then three shots, six ticks apart.
    let between = second.tick.since(first.tick);
    assert!((64 + 128 + 12..64 + 128 + 24).contains(&between), "{between}");
    assert_eq!(
        range.app.world().get::<PlayerScore>(range.shooter),
        Some(&PlayerScore { kills: 2, deaths: 0 })
    );
    assert_eq!(range.app.world().get::<PlayerScore>(range.dummy), Some(&PlayerScore { kills: 0, deaths: 2 }));
}

/// Fails if frames are not marked when their pawn fires.
#[test]
fn firing_ends_the_spawn_protection_unless_the_rules_keep_it() {
    for ends in [true, false] {
        let mut range = Range::new();
        range.app.world_mut().resource_mut::<RespawnRules>().fire_ends_protection = ends;
        let until = range.app.world().resource::<CurrentTick>().0.offset(40);
        for pawn in [range.shooter, range.dummy] {
            range.app.world_mut().entity_mut(pawn).insert(SpawnProtection { until });
        }
        range.hold(false, 5);
        let has = |range: &Range, pawn: Entity| range.app.world().entity(pawn).contains::<SpawnProtection>();
        assert!(has(&range, range.shooter));
        range.hold(true, 3);
        assert_eq!(has(&range, range.shooter), !ends);
        assert!(has(&range, range.dummy), "being shot at does not end the protection");
        range.hold(false, 40);
        assert!(!has(&range, range.shooter) && !has(&range, range.dummy));
    }
}
