//! Teammates that stop shots without being hurt: they are cover for the other team.

use bevy::prelude::*;
use bevy_unlag::{
    prelude::*,
    rewind::Team,
    weapons::{FireRules, FriendlyFire},
};
use unlag_recipes::{floor, play, record, recorded};

const MATE: NetId = NetId(2);
const FOE: NetId = NetId(3);

/// The rule and the teams are set on the server: clients learn both.
fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor))
        .insert_resource(FireRules { friendly_fire: FriendlyFire::Block, ..default() })
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

/// The first player fires straight ahead, a little downwards.
fn shoot(own: Single<(&mut InputAccumulator, &mut WeaponControls)>) {
    let (mut input, mut trigger) = own.into_inner();
    input.look_along(Vec3::new(0.0, -0.03, -1.0));
    trigger.set_fire(true);
}

fn shooter(app: &mut App) {
    app.add_plugins((client, record::<ShotFired>)).add_systems(PreUpdate, shoot);
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
