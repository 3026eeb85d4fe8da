//! A boss that the server moves by its `Transform`, with hit boxes and health, and without a movement model.

use unlag_recipes::{Game, component, floor, play, position, record, recorded, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::LimbRig,
    net::ReplicatedPawn,
    prelude::*,
    rapier::prelude::Collider,
    rewind::{BodyBounds, HitBox},
    smoothing::RecordTransform,
    weapons::HealthPlugin,
};

/// Ids from here on are bosses, in this game.
const BOSS: NetId = NetId(40_000);

/// The parts that can be hit, the same on both sides: a body of 1.2 m around the boss's origin, and a head above it.
fn boss_body() -> impl Bundle {
    let head = HitBox::new(0, HitGroup::Head, Collider::ball(0.5)).at(Isometry3d::from_xyz(0.0, 1.7, 0.0));
    let body = HitBox::new(0, HitGroup::Body, Collider::ball(1.2));
    (HitBoxes::new([body, head], BodyBounds::ball(2.3)), LimbRig::rigid())
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, floor, soldiers))
        .add_systems(Startup, |mut commands: Commands| {
            let health = Health::full(500.0);
            commands.spawn((ReplicatedPawn, BOSS, RecordTransform::default(), health, boss_body()));
        })
        .add_systems(FixedUpdate, prowl);
}

/// To and fro, 20 m ahead of the players and to their right. It may be an animation, a path or a behaviour tree: what
/// counts is the `Transform` at the end of the tick, which is recorded, sent and rewound.
fn prowl(time: Res<Time>, mut boss: Single<&mut Transform, With<RecordTransform>>) {
    boss.translation = Vec3::new(10.0 + 6.0 * time.elapsed_secs().sin(), 1.5, -20.0);
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .add_observer(give_body);
}

/// A pawn without a model has no `Character` that gives it a body.
fn give_body(named: On<Add, NetId>, names: Query<&NetId>, mut commands: Commands) {
    if names.get(named.entity).is_ok_and(|id| id.0 >= BOSS.0) {
        commands.entity(named.entity).insert(boss_body());
    }
}
// ANCHOR_END: game

/// Fires at the middle of the boss, where the screen shows it.
fn shoot(
    own: Single<(&DrawnPose, &mut InputAccumulator, &mut WeaponControls)>,
    pawns: Query<(&NetId, &DrawnPose)>,
) {
    let Some((_, boss)) = pawns.iter().find(|(id, _)| **id == BOSS) else { return };
    let (drawn, mut input, mut trigger) = own.into_inner();
    input.look_along(boss.pose.position - drawn.pose.position - Vec3::Y * 1.64);
    trigger.set_fire(true);
}

fn shooter(app: &mut App) {
    app.add_plugins((client, record::<ShotFired>)).add_systems(PreUpdate, shoot);
}

fn recording_server(app: &mut App) {
    app.add_plugins((server, record::<Damage>));
}

#[test]
fn boss_is_seen_on_its_way_and_hit_where_it_is_drawn() {
    play(recording_server, &[shooter, client], |game| {
        let shown = |game: &mut Game| game.apps_mut().map(|app| position(app, BOSS).x).collect::<Vec<_>>();
        let before = shown(game);
        game.run(1.0);
        let after = shown(game);
        assert!(before.iter().zip(&after).all(|(from, to)| (from - to).abs() > 0.5), "{before:?}, {after:?}");

        let drawn =
            recorded::<ShotFired>(&game.clients[0]).iter().filter(|shot| shot.drawn().is_some()).count();
        let hits = recorded::<Damage>(&game.server);
        // The last shots are under way.
        assert!(drawn > 10 && hits.len() + 6 >= drawn, "{} of {drawn} hits", hits.len());
        for app in game.apps_mut() {
            let health = component::<Health>(app, BOSS).expect("everybody knows the boss's health");
            assert!(health.current < 400.0, "{health:?}");
        }
    });
}
