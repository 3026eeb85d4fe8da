//! Weapons as data, over the network: what a definition says is what the server's damage and the shooter's screen show.

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{
    prelude::*,
    rewind::HitGroup,
    weapons::{DamageTable, Falloff, FireMode, Shot, ShotResult},
};

use crate::shooting_range::{ShootingRange, ShotLog};

fn damage_table() -> DamageTable {
    DamageTable { head: 100.0, body: 40.0, limb: 20.0, falloff: Falloff(vec![(8.0, 1.0), (28.0, 0.5)]) }
}

/// A level with one weapon, a semi-automatic ray.
fn range_with(app: &mut App, shot: Shot) {
    let weapon = Weapon { shot, mode: FireMode::Semi, damage: damage_table(), ..Weapon::rifle() };
    app.insert_resource(Arsenal::new(vec![weapon]).expect("a valid weapon"));
    app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
    });
}

fn thin(app: &mut App) {
    range_with(app, Shot::Ray { range: 60.0, pierce: 0, pierced: 0.5, radius: 0.0 });
}

fn thick(app: &mut App) {
    range_with(app, Shot::Ray { range: 60.0, pierce: 0, pierced: 0.5, radius: 0.4 });
}

fn piercing(app: &mut App) {
    range_with(app, Shot::Ray { range: 60.0, pierce: 1, pierced: 0.5, radius: 0.0 });
}

/// Fires from the first pawn at a point relative to the drawn feet of another. Returns the logs of the shooter's
/// client and of the server.
fn fire_at(range: &mut ShootingRange, target: NetId, offset: Vec3) -> (ShotLog, ShotLog) {
    let eye = range.eye(0);
    let world = range.clients[0].world_mut();
    let mut pawns = world.query::<(&NetId, &DrawnPose)>();
    let drawn = pawns.iter(world).find(|(id, _)| **id == target).expect("the target is drawn").1;
    let direction = drawn.pose.position + offset - eye;
    range.fire(0, direction);
    let logs = (ShootingRange::take_log(&mut range.clients[0]), ShootingRange::take_log(&mut range.server));
    assert_eq!((logs.0.fired.len(), logs.0.verdicts.len()), (1, 1), "one shot, one verdict");
    logs
}

#[test]
fn damage_depends_on_the_zone_and_the_distance_of_the_hit() {
    let places = [Vec3::ZERO, Vec3::new(0.0, 0.05, -6.0), Vec3::new(9.0, 0.05, -24.0)];
    let mut range = ShootingRange::start(thin, &places, 3);
    let mut zones = Vec::new();
    // Beside the middle: there is nothing between the legs.
    let [head, chest, leg] = [1.65, 1.2, 0.3].map(|height| Vec3::new(0.08, height, 0.0));
    for (target, at) in
        [(NetId(2), head), (NetId(2), chest), (NetId(2), leg), (NetId(3), head), (NetId(3), chest)]
    {
        let eye = range.eye(0);
        let (client, server) = fire_at(&mut range, target, at);
        let drawn = client.fired[0].drawn();
        let drawn = drawn.unwrap_or_else(|| panic!("the screen shows no hit of {target:?} at {at}"));
        let [damage] = server.damage[..] else { panic!("{target:?} at {at}: {:?}", server.damage) };
        let distance = eye.distance(damage.point);
        let (hits, expected) = (damage.hits, damage_table().to(drawn.group, distance));
        let counted = match drawn.group {
            HitGroup::Head => hits.head,
            HitGroup::Body => hits.body,
            HitGroup::Limb => hits.limb,
        };
        assert_eq!((counted, hits.head + hits.body + hits.limb), (1, 1), "{drawn:?}, {hits:?}");
        assert!((damage.amount - expected).abs() < 0.02 * expected, "{} of {expected}", damage.amount);
        zones.push((target, drawn.group, damage.amount));
    }
    println!("{zones:?}");
    let groups: Vec<_> = zones.iter().map(|(_, group, _)| *group).collect();
    let [head, body, limb] = [HitGroup::Head, HitGroup::Body, HitGroup::Limb];
    assert_eq!(groups, [head, body, limb, head, body]);
    assert_eq!([zones[0].2, zones[1].2, zones[2].2], [100.0, 40.0, 20.0], "nearer than the first distance");
    assert!(zones[3].2 < 65.0 && zones[4].2 < 26.0, "distance costs damage: {zones:?}");
}

#[test]
fn piercing_ray_hits_the_second_target_with_less_damage_and_not_the_third() {
    let places = [0.0, -4.0, -6.0, -8.0].map(|z| Vec3::new(0.0, 0.05, z));
    let mut range = ShootingRange::start(piercing, &places, 4);
    let (client, server) = fire_at(&mut range, NetId(3), Vec3::Y * 1.2);
    let ShotResult::Hit(list) = client.verdicts[0].result else { panic!("{:?}", client.verdicts) };
    let targets: Vec<_> = list.iter().map(|hit| hit.target).collect();
    assert_eq!(targets, [NetId(2), NetId(3)]);
    let amounts: Vec<_> = server.damage.iter().map(|damage| damage.amount).collect();
    assert_eq!(amounts, [40.0, 20.0], "half of it behind the first target");
}

#[test]
fn sphere_cast_hits_targets_that_a_ray_misses_on_screen_and_server_alike() {
    let places = [Vec3::ZERO, Vec3::new(0.0, 0.05, -10.0)];
    let beside = Vec3::new(0.7, 1.2, 0.0);
    for (prepare, hits) in [(thick as fn(&mut App), 1), (thin, 0)] {
        let mut range = ShootingRange::start(prepare, &places, 2);
        let (client, server) = fire_at(&mut range, NetId(2), beside);
        let drawn = client.fired[0].drawn().is_some();
        let confirmed = matches!(client.verdicts[0].result, ShotResult::Hit(_));
        assert_eq!(
            (drawn, confirmed, server.damage.len()),
            (hits == 1, hits == 1, hits),
            "{:?}",
            client.verdicts
        );
    }
}
