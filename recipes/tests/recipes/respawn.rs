//! Death and respawn.

use unlag_recipes::{component, floor, play, position, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    weapons::{Hazard, HealthPlugin, Respawn, RespawnDue, WeaponSystems},
};

const SPAWN: Vec3 = Vec3::new(30.0, 0.1, 0.0);

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, floor, soldiers)).add_systems(
        FixedLast,
        (
            die.after(WeaponSystems::ApplyDamage).before(WeaponSystems::Respawn),
            come_back.after(WeaponSystems::Respawn),
        ),
    );
}

/// The health is at zero. The game decides about the effect: here the body is gone.
fn die(mut deaths: MessageReader<Died>, mut soldiers: Query<&mut SoldierState>) {
    for death in deaths.read() {
        if let Ok(mut state) = soldiers.get_mut(death.victim) {
            state.body.alive = false;
        }
    }
}

/// A second later, see `RespawnRules`: the game finds a place, and `Respawn` restores the health.
fn come_back(
    mut due: MessageReader<RespawnDue>,
    mut soldiers: Query<(&mut SoldierState, &mut Loadout)>,
    mut respawns: MessageWriter<Respawn>,
) {
    for RespawnDue { pawn } in due.read() {
        if let Ok((mut state, mut loadout)) = soldiers.get_mut(*pawn) {
            state.body.alive = true;
            state.body.teleport_to(SPAWN);
            // Full magazines.
            loadout.set_changed();
            respawns.write(Respawn { pawn: *pawn });
        }
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}
// ANCHOR_END: game

/// Whether a pawn is alive, as an app has it: by its own state or as it is drawn.
fn is_alive(app: &mut App, id: NetId) -> bool {
    let state = component::<SoldierState>(app, id).map(|state| state.body.alive);
    state.or(component::<DrawnPose>(app, id).map(|drawn| drawn.pose.alive)).unwrap_or_default()
}

#[test]
fn dead_soldier_comes_back_elsewhere_with_full_health() {
    play(server, &[client, client], |game| {
        let world = game.server.world_mut();
        let mut soldiers = world.query::<(Entity, &NetId)>();
        let target = soldiers.iter(world).find(|(_, id)| id.0 == 1).map(|(pawn, _)| pawn);
        let target = target.expect("the first soldier");
        world.write_message(Hazard { target, amount: 1_000.0, cause: 1 });
        game.run(0.7);
        for app in game.apps_mut() {
            assert!(!is_alive(app, NetId(1)) && is_alive(app, NetId(2)));
        }
        game.run(1.2);
        for app in game.apps_mut() {
            assert!(is_alive(app, NetId(1)));
            assert!(position(app, NetId(1)).distance(SPAWN) < 0.2, "{}", position(app, NetId(1)));
        }
        assert_eq!(component::<Health>(&mut game.server, NetId(1)), Some(Health::full(100.0)));
    });
}
