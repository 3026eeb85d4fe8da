//! Damage of projectiles over the distance that they have flown.

use bevy::prelude::*;
use bevy_unlag_weapons::{DamageTable, Falloff, Weapon};

use crate::projectiles::stage::{EYE, Server, launcher, rocket, round};

/// Damage to the chest of a target at this distance.
fn damage_at(metres: f32, falloff: Falloff) -> f32 {
    let usual = launcher(rocket());
    let weapon = Weapon { damage: DamageTable { falloff, ..usual.damage.clone() }, ..usual };
    let mut server = Server::new(&weapon);
    server.target(2, Vec3::NEG_Z * metres);
    for _ in 0..30 {
        server.tick();
    }
    server.damage.clear();
    server.arrive(&round(1, None, Vec3::new(0.0, 1.25, -metres) - EYE));
    for _ in 0..120 {
        server.tick();
    }
    let [damage] = &server.damage[..] else { panic!("{:?} at {metres} m", server.damage) };
    damage.amount
}

#[test]
fn damage_of_a_direct_hit_falls_off_with_the_distance_flown() {
    let body = launcher(rocket()).damage.body;
    let falloff = || Falloff(vec![(10.0, 1.0), (30.0, 0.5)]);
    for (metres, share) in [(6.0, 1.0), (20.0, 0.75), (40.0, 0.5)] {
        let damage = damage_at(metres, falloff());
        // It hits up to 30 cm in front of the target's axis.
        assert!((damage / body - share).abs() < 0.02, "{damage} of {body} at {metres} m");
        assert_eq!(damage_at(metres, Falloff::default()), body, "without falloff, at {metres} m");
    }
}
