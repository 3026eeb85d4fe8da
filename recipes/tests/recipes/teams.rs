//! Two teams, without friendly fire.

use unlag_recipes::{component, fire_along, floor, play, record, recorded};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    rewind::Team,
    weapons::{FireRules, FriendlyFire},
};

const MATE: NetId = NetId(2);
const FOE: NetId = NetId(3);

/// It is enough to set the rule and the teams on the server: clients learn both.
fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor))
        .insert_resource(FireRules { friendly_fire: FriendlyFire::PassThrough, ..default() })
        .add_observer(|joined: On<PlayerJoined>, mut players: Local<u16>, mut commands: Commands| {
            *players += 1;
            // In a row: the shooter, 8 m ahead its mate, and 8 m further the foe.
            let place = Transform::from_xyz(0.0, 0.1, 8.0 - 8.0 * f32::from(*players));
            let team = if *players < FOE.0 { Team(1) } else { Team(2) };
            let owner = player_pawn(joined.link, joined.peer);
            commands.spawn((SoldierPawn, NetId(*players), team, place, owner));
        });
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor));
}
// ANCHOR_END: game

/// The first player fires straight ahead, a little downwards.
fn shooter(app: &mut App) {
    app.add_plugins((client, record::<ShotFired>));
    fire_along(app, Vec3::new(0.0, -0.03, -1.0), |_| true);
}

fn recording_server(app: &mut App) {
    app.add_plugins((server, record::<Damage>));
}

#[test]
fn shots_pass_through_a_team_mate_and_hit_the_foe() {
    play(recording_server, &[shooter, client, client], |game| {
        game.run(1.5);
        let hurt = |app: &App, id| recorded::<Damage>(app).iter().filter(|hit| hit.hits.target == id).count();
        assert!(hurt(&game.server, FOE) > 5);
        assert_eq!(hurt(&game.server, MATE), 0);
        let last = recorded::<ShotFired>(&game.clients[0]).last().and_then(ShotFired::drawn);
        assert_eq!(last.map(|hit| hit.target), Some(FOE), "the screen shows the same");
        for app in game.apps_mut() {
            assert_eq!([MATE, FOE].map(|id| component::<Team>(app, id)), [Some(Team(1)), Some(Team(2))]);
        }
        // The control: with friendly fire the mate is in the way.
        game.server.world_mut().resource_mut::<FireRules>().friendly_fire = FriendlyFire::Damage;
        game.run(1.0);
        assert!(hurt(&game.server, MATE) > 3);
    });
}
