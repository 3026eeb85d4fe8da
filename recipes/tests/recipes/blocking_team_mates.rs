//! Teammates that stop shots without being hurt: they are cover for the other team.

use unlag_recipes::{fire_along, floor, play, record, recorded, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    rewind::Team,
    weapons::{FireRules, FriendlyFire},
};

const MATE: NetId = NetId(2);
const FOE: NetId = NetId(3);

/// The rule and the teams are set on the server: clients learn both. In a row stand the shooter, 8 m ahead its
/// mate, and 8 m further the foe.
fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers))
        .insert_resource(FireRules { friendly_fire: FriendlyFire::Block, ..default() })
        .add_observer(|added: On<Add, SoldierPawn>, ids: Query<&NetId>, mut commands: Commands| {
            let team = if ids.get(added.entity) == Ok(&FOE) { Team(2) } else { Team(1) };
            commands.entity(added.entity).insert(team);
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
fn shots_end_at_a_team_mate_and_hurt_nobody() {
    play(recording_server, &[shooter, client, client], |game| {
        game.run(1.5);
        let hurt = |app: &App, id| recorded::<Damage>(app).iter().filter(|hit| hit.hits.target == id).count();
        assert_eq!([MATE, FOE].map(|id| hurt(&game.server, id)), [0, 0]);
        let shots = recorded::<ShotFired>(&game.clients[0]);
        let last = shots.last().expect("the player fires");
        assert!(shots.len() > 5 && last.drawn().is_none(), "the screen shows no hit");
        // The trail ends at the mate, 8 m away.
        let length = last.rays.iter().map(|ray| ray.to.distance(last.from)).fold(0.0, f32::max);
        assert!((7.0..9.0).contains(&length), "the trail is {length} m long");
        // The control: where shots pass through the mate, they hit the foe.
        game.server.world_mut().resource_mut::<FireRules>().friendly_fire = FriendlyFire::PassThrough;
        game.run(1.0);
        assert_eq!(hurt(&game.server, MATE), 0);
        assert!(hurt(&game.server, FOE) > 3);
    });
}
