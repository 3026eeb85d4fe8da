//! Weapons of one's own: a file in RON, a loadout for each soldier, and damage on the server.

use unlag_recipes::{component, floor, play, record, recorded};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    weapons::{HealthPlugin, HeldWeapon, RonFile},
};

/// A game reads it from a file that servers and clients have.
const WEAPONS: &str = r#"[
    (
        name: "rifle",
        shot: Ray(range: 200.0),
        mode: Auto,
        interval: 0.1,
        damage: (head: 100.0, body: 34.0, limb: 20.0),
    ),
    (
        name: "pistol",
        shot: Ray(range: 60.0),
        interval: 0.25,
        spread: (still: 0.2, moving: 0.5),
        ammo: (magazine: 4, reserve: 8, reload: Magazine(time: 1.5)),
        damage: (head: 20.0, body: 10.0, limb: 5.0, falloff: [(5.0, 1.0), (60.0, 0.5)]),
    ),
]"#;

/// On both sides, before the suite's plugins. The error names the weapon and the field that is wrong.
fn arsenal(app: &mut App) {
    app.insert_resource(Arsenal::from_ron(WEAPONS).expect("valid weapons"));
}

fn server(app: &mut App) {
    app.add_plugins((arsenal, UnlagServerPlugins::default(), HealthPlugin, floor)).add_observer(
        |joined: On<PlayerJoined>, arsenal: Res<Arsenal>, mut players: Local<u16>, mut commands: Commands| {
            let place = Transform::from_xyz(0.0, 0.1, -8.0 * f32::from(*players));
            *players += 1;
            let weapons = ["rifle", "pistol"].into_iter().filter_map(|name| arsenal.named(name)).collect();
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((SoldierPawn, NetId(*players), Loadout(weapons), Health::default(), place, owner));
        },
    );
}

fn client(app: &mut App) {
    app.add_plugins((arsenal, UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}
// ANCHOR_END: game

/// The first player draws the pistol and pulls the trigger three times a second, straight ahead.
fn shooter(app: &mut App) {
    app.add_plugins(client).add_systems(
        PreUpdate,
        |time: Res<Time>, own: Single<(&mut InputAccumulator, &mut WeaponControls)>| {
            let (mut input, mut trigger) = own.into_inner();
            input.look_along(Vec3::new(0.0, -0.03, -1.0));
            trigger.equip = Some(1);
            trigger.set_fire(time.elapsed_secs() % 0.33 < 0.1);
        },
    );
}

fn recording_server(app: &mut App) {
    app.add_plugins((server, record::<Damage>));
}

#[test]
fn pistol_is_seen_in_the_hand_hurts_and_runs_dry() {
    play(recording_server, &[shooter, client], |game| {
        game.run(1.2);
        let pistol = game.server.world().resource::<Arsenal>().named("pistol");
        let held = component::<HeldWeapon>(&mut game.clients[1], NetId(1)).and_then(|held| held.weapon);
        assert_eq!((held, held.is_some()), (pistol, true), "the other screen shows the pistol");

        let hits = recorded::<Damage>(&game.server);
        // A magazine of four, and the reload takes longer than the match until here.
        assert!((2..=4).contains(&hits.len()), "{} hits", hits.len());
        assert!(hits.iter().all(|hit| Some(hit.weapon) == pistol && hit.amount < 20.0), "{hits:?}");
        let hurt: f32 = hits.iter().map(|hit| hit.amount).sum();
        let health = component::<Health>(&mut game.server, NetId(2)).expect("a soldier with health");
        assert!((health.current + hurt - 100.0).abs() < 0.01, "{health:?} after {hurt}");
        let own = component::<SoldierState>(&mut game.clients[0], NetId(1)).expect("the own soldier");
        assert_eq!(own.extension.held_slot().magazine, 0, "as predicted");
    });
}
