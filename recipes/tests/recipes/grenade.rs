//! A grenade: it bounces off floor, walls and pawns, and explodes when its fuse has burnt down.

use unlag_recipes::{component, corrections, floor, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    weapons::{DrawnProjectile, HealthPlugin, ProjectileDisappeared, ProjectileEndKind, RonFile},
};

/// `life` is the fuse. A grenade that has bounced `times` times explodes at the next wall.
const WEAPONS: &str = r#"[(
    name: "grenade",
    shot: Projectile((
        speed: 7.0, gravity: 9.8, radius: 0.1, life: 2.0,
        bounce: Some((times: 10, keep: 0.4, off_pawns: true)),
        splash: Some((radius: 5.0, damage: 80.0)),
    )),
    interval: 1.0,
    ammo: (magazine: 1, reserve: 0, reload: Magazine(time: 1.0)),
    damage: (head: 0.0, body: 0.0, limb: 0.0),
)]"#;

/// On both sides, before the suite's plugins.
fn arsenal(app: &mut App) {
    app.insert_resource(Arsenal::from_ron(WEAPONS).expect("valid weapons"));
}

fn server(app: &mut App) {
    app.add_plugins((arsenal, UnlagServerPlugins::default(), HealthPlugin, floor, soldiers));
}

fn client(app: &mut App) {
    app.add_plugins((arsenal, UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor))
        .add_systems(Last, (draw, explode));
}

/// The suite spawns and despawns an entity for each grenade that the screen shows. A game adds a mesh.
fn draw(grenades: Query<(Entity, &DrawnProjectile)>, mut commands: Commands) {
    for (grenade, drawn) in &grenades {
        commands.entity(grenade).insert(Transform::from_translation(drawn.position));
    }
}

/// An explosion. A game spawns particles and plays a sound.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
struct Explosion(Vec3);

fn explode(mut ends: MessageReader<ProjectileDisappeared>, mut commands: Commands) {
    for end in ends.read().filter(|end| end.kind != ProjectileEndKind::Gone) {
        commands.spawn(Explosion(end.point));
    }
}
// ANCHOR_END: game

/// Throws once, upwards and ahead, two seconds after the client's start.
fn thrower(app: &mut App) {
    app.add_plugins(client);
    unlag_recipes::fire_along(app, Vec3::new(0.0, 0.5, -1.0), |seconds| (2.0..2.2).contains(&seconds));
}

/// Returns the height and the vertical speed of the grenade on a screen.
fn flight(client: &mut App) -> Option<(f32, f32)> {
    let world = client.world_mut();
    let mut grenades = world.query::<(&Transform, &DrawnProjectile)>();
    grenades.iter(world).next().map(|(place, drawn)| (place.translation.y, drawn.velocity.y))
}

#[test]
fn grenade_bounces_and_explodes_at_the_same_place_on_every_screen() {
    play(server, &[thrower, client], |game| {
        let mut bounces = [0; 2];
        let mut before = [None; 2];
        for _ in 0..256 {
            game.run(1.0 / 64.0);
            let now = [0, 1].map(|screen| flight(&mut game.clients[screen]));
            for ((bounces, before), now) in bounces.iter_mut().zip(before).zip(now) {
                let fell = before.is_some_and(|(_, speed)| speed < 0.0);
                *bounces +=
                    usize::from(fell && now.is_some_and(|(height, speed)| height < 0.6 && speed > 0.0));
            }
            before = now;
        }
        assert!(bounces.iter().all(|bounces| *bounces >= 1), "{bounces:?} bounces");
        let mut places = Vec::new();
        for client in &mut game.clients {
            let world = client.world_mut();
            places.extend(world.query::<&Explosion>().iter(world).map(|explosion| explosion.0));
        }
        let [own, other] = places[..] else { panic!("one explosion on each screen: {places:?}") };
        assert!(own.distance(other) < 0.05 && own.z < -4.0, "{own} and {other}");
        let health = component::<Health>(&mut game.server, NetId(2)).expect("a soldier with health");
        assert!((20.0..95.0).contains(&health.current), "{health:?}");
        assert_eq!(corrections(&mut game.clients[0]), 0);
    });
}
