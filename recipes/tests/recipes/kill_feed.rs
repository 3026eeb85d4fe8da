//! A kill feed: who has killed whom, and with what.

use unlag_recipes::{fire_along, floor, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::Wire,
    net::MessageRules,
    prelude::*,
    weapons::{DeathCause, HealthPlugin},
};

/// To everybody. Whoever joins later need not know it, so it is a message and not a state.
#[derive(Wire, Clone, PartialEq, Debug)]
struct Kill {
    killer: Option<NetId>,
    victim: NetId,
    /// `None`: a fall, lava, the void.
    weapon: Option<WeaponId>,
}

/// On both sides.
fn messages(app: &mut App) {
    app.add_game_message::<Kill>(MessageRules::to_everyone());
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), HealthPlugin, floor, soldiers, messages))
        .add_systems(Update, report);
}

fn report(mut deaths: MessageReader<Died>, ids: Query<&NetId>, mut everybody: Outbox<Kill>) {
    for death in deaths.read() {
        let Ok(victim) = ids.get(death.victim).copied() else { continue };
        let killer = death.killer.and_then(|killer| ids.get(killer).ok()).copied();
        let weapon = match death.cause {
            DeathCause::Shot(damage) => Some(damage.weapon),
            DeathCause::Hazard(_) => None,
        };
        everybody.send(&Kill { killer, victim, weapon });
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, messages))
        .init_resource::<KillFeed>()
        .add_systems(Update, list);
}

/// The newest five lines. In a game nodes of the user interface, with names for the ids.
#[derive(Resource, Default)]
struct KillFeed(Vec<String>);

fn list(mut kills: MessageReader<Received<Kill>>, arsenal: Res<Arsenal>, mut feed: ResMut<KillFeed>) {
    for Received { message: Kill { killer, victim, weapon }, .. } in kills.read() {
        let weapon = weapon
            .and_then(|weapon| arsenal.get(weapon))
            .map_or("an accident", |weapon| weapon.name.as_str());
        let killer = killer.map_or_else(String::new, |killer| format!("{} ", killer.0));
        feed.0.push(format!("{killer}[{weapon}] {}", victim.0));
        let excess = feed.0.len().saturating_sub(5);
        feed.0.drain(..excess);
    }
}
// ANCHOR_END: game

fn shooter(app: &mut App) {
    app.add_plugins(client);
    fire_along(app, Vec3::new(0.0, -0.03, -1.0), |_| true);
}

#[test]
fn every_screen_lists_a_kill_and_an_accident() {
    play(server, &[shooter, client, client], |game| {
        game.run(1.0);
        let world = game.server.world_mut();
        let mut soldiers = world.query::<(Entity, &NetId)>();
        let target = soldiers.iter(world).find(|(_, id)| id.0 == 1).map(|(pawn, _)| pawn);
        let target = target.expect("the first soldier");
        world.write_message(bevy_unlag::weapons::Hazard { target, amount: 1_000.0, cause: 1 });
        game.run(1.0);
        for client in &game.clients {
            let feed = &client.world().resource::<KillFeed>().0;
            assert!(feed.starts_with(&["1 [rifle] 2".to_owned()]), "{feed:?}");
            assert!(feed.ends_with(&["[an accident] 1".to_owned()]), "{feed:?}");
        }
    });
}
