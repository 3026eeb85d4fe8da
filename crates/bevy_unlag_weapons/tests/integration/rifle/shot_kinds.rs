//! Weapons other than rifles: the screen shows the hits that the server finds.

use bevy::{ecs::system::SystemState, prelude::*};
use bevy_unlag_core::{ExtendedState, NetId};
use bevy_unlag_movement::CapsuleState;
use bevy_unlag_rewind::{DrawnQuery, RewindFilter};
use bevy_unlag_weapons::{
    FireMode, Shot, ShotResult, Spread, SpreadSource, Tracer, TracerPath, Weapon, WeaponId, WeaponState,
    pellet_offset,
};

use crate::rifle::range::{EYE, Range, ShotRecord};

/// Target that the first shot hits on the screen and on the server, with the dummy at `dummy` and the aim at
/// `at`.
fn first(weapon: &Weapon, dummy: Vec3, at: Vec3) -> [Option<NetId>; 2] {
    let mut range = Range::with(weapon.clone());
    let state = ExtendedState { body: CapsuleState::at(dummy), extension: WeaponState::default() };
    range.app.world_mut().entity_mut(range.dummy).insert(state);
    range.hold(false, 4);
    range.aim_at(at);
    range.hold(true, 1);
    let seen = range.hold(false, 3);
    let drawn = seen.fired[0].drawn().map(|hit| hit.target);
    let judged = match seen.verdicts[0].result {
        ShotResult::Hit(list) => list.first().map(|hit| hit.target),
        ShotResult::Miss => None,
        other => panic!("{other:?}"),
    };
    [drawn, judged]
}

const DUMMY: [Option<NetId>; 2] = [Some(NetId(2)); 2];

#[test]
fn melee_hits_beside_the_aim_and_only_within_its_reach() {
    let shot = Shot::Melee { reach: 2.0, half_angle: 40.0, half_height: 0.6, backstab: 1.0 };
    let knife = Weapon { shot, mode: FireMode::Semi, ..Weapon::rifle() };
    let ahead = Vec3::new(0.0, 1.4, -10.0);
    assert_eq!(first(&knife, Vec3::new(0.9, 0.0, -1.4), ahead), DUMMY, "a ray would miss it");
    assert_eq!(first(&knife, Vec3::new(0.0, 0.0, -2.6), ahead), [None; 2]);
    assert_eq!(first(&knife, Vec3::new(1.6, 0.0, 0.2), ahead), [None; 2]);
}

#[test]
fn radius_of_a_beam_or_ray_is_the_same_on_the_screen_and_on_the_server() {
    for (radius, hits) in [(0.0, [None; 2]), (0.5, DUMMY)] {
        let ray = Shot::Ray { range: 40.0, pierce: 0, pierced: 0.5, radius };
        for shot in [Shot::Beam { range: 40.0, radius }, ray] {
            let weapon = Weapon { shot, ..Weapon::rifle() };
            let hit = first(&weapon, Vec3::new(0.6, 0.0, -8.0), Vec3::new(0.0, 1.3, -8.0));
            assert_eq!(hit, hits, "{shot:?}");
        }
    }
}

#[test]
fn piercing_shot_is_drawn_to_its_last_target() {
    let shot = Shot::Ray { range: 50.0, pierce: 2, pierced: 0.5, radius: 0.0 };
    let mut range = Range::with(Weapon { shot, ..Weapon::rifle() });
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    range.hold(true, 1);
    let seen = range.hold(false, 3);
    let ray = seen.fired[0].rays[0];
    assert!(ray.drawn.is_some() && ray.to.z < -40.0, "{ray:?}");
}

#[test]
fn server_spread_is_shown_without_hits_and_traced_by_the_server() {
    let spread = Spread { still: 4.0, source: SpreadSource::Server, ..Spread::default() };
    let shot = Shot::Pellets { count: 12, range: 40.0 };
    let mut range = Range::with(Weapon { shot, spread, ..Weapon::rifle() });
    range.aim_at(Vec3::new(0.0, 1.3, -10.0));
    range.hold(true, 1);
    let shown: Vec<Tracer> = {
        let messages = range.app.world().resource::<Messages<Tracer>>();
        messages.get_cursor().read(messages).copied().collect()
    };
    let [Tracer { shooter: NetId(1), weapon: WeaponId(0), trail: TracerPath::Spread { cone, seed } }] =
        shown[..]
    else {
        panic!("{shown:?}")
    };
    let ShotRecord { fired, damage, .. } = range.app.world().resource::<ShotRecord>();
    assert_ne!(seed, fired[0].round.seed, "the client cannot know the directions");
    assert!(
        fired[0].rays.iter().all(|ray| ray.drawn.is_none() && ray.to.z < -20.0),
        "the rays pass through targets"
    );
    let hits = damage.first().map_or(0, |damage| damage.hits.head + damage.hits.body + damage.hits.limb);
    // As many of the pellets in the tracer meet the dummy as hit it.
    let ways: Vec<Vec3> = (0..12).map(|pellet| cone.direction(pellet_offset(seed, pellet))).collect();
    let shooter = range.shooter;
    let world = range.app.world_mut();
    let mut query = SystemState::<DrawnQuery>::new(world);
    let query = query.get(world).expect("the resources of the query");
    let filter = RewindFilter::exclude(shooter);
    let meets =
        |way: &&Vec3| query.cast_ray(EYE, **way, 40.0, &filter).is_some_and(|hit| hit.target == NetId(2));
    assert_eq!(ways.iter().filter(meets).count(), usize::from(hits));
    assert!((1..12).contains(&hits), "{hits}");
}
