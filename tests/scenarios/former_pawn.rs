//! Pawn that a player leaves: its client draws it without a gap.

use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier3d::prelude::Collider;
use bevy_unlag::{link_conditioner::LinkConditions, net::Possess, prelude::*};
use bevy_unlag_testkit::{SteppedApps, headless_app};

/// The link and the first pawn of the player.
#[derive(Resource, Default)]
struct Player(Option<(Entity, Entity)>);

/// Places at which the player's client has drawn the first pawn, by frame; `None` while it was not drawn.
#[derive(Resource, Default)]
struct Screen(Vec<Option<Vec3>>);

fn level(mut commands: Commands) {
    commands.spawn((Collider::cuboid(200.0, 0.5, 200.0), Transform::from_xyz(0.0, -0.5, 0.0)));
}

fn server() -> App {
    let mut server = headless_app();
    server
        .add_plugins(UnlagServerPlugins::default())
        .init_resource::<Player>()
        .add_systems(Startup, level)
        .add_observer(|joined: On<PlayerJoined>, mut player: ResMut<Player>, mut commands: Commands| {
            let owner = player_pawn(joined.link, joined.peer);
            let pawn = commands.spawn((SoldierPawn, NetId(1), owner)).id();
            player.0 = Some((joined.link, pawn));
        });
    server
}

fn client() -> App {
    let mut client = headless_app();
    client
        .add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default()))
        .init_resource::<Screen>()
        .add_systems(Startup, level)
        .add_systems(PreUpdate, |mut own: Query<&mut InputAccumulator>| {
            own.iter_mut().for_each(|mut input| input.axes(Vec2::Y));
        })
        .add_systems(
            Last,
            |pawns: Query<(&NetId, &DrawnPose, &VisualOffset)>, mut screen: ResMut<Screen>| {
                let pawn = pawns.iter().find(|(id, ..)| id.0 == 1);
                let drawn = pawn.filter(|(_, drawn, _)| drawn.pose.alive);
                screen.0.push(drawn.map(|(_, drawn, offset)| drawn.pose.position + offset.offset));
            },
        );
    client
}

#[test]
fn pawn_that_its_player_leaves_in_motion_is_drawn_without_a_gap_or_a_jump() {
    for (round_trip, seed) in [(50, 1), (150, 2), (150, 3), (300, 4)] {
        let mut game = SteppedApps::new(server());
        let latency = Duration::from_millis(round_trip / 2);
        let mut sim = NetSim::new(seed);
        sim.set(LinkConditions { latency, loss: 0.05, ..default() });
        game.join_over(client(), sim).expect("a connect token");
        game.run(Duration::from_secs(3));
        for pawn in [false, true, false] {
            game.clients[0].world_mut().resource_mut::<Screen>().0.clear();
            let world = game.server.world_mut();
            let (link, first) = world.resource::<Player>().0.expect("a player has joined");
            world.trigger(Possess { link, pawn: pawn.then_some(first) });
            world.flush();
            game.run(Duration::from_secs(2));
            let world = game.clients[0].world_mut();
            let controls = world.query_filtered::<(), With<LocalControl>>().iter(world).count();
            assert_eq!(controls, usize::from(pawn));
            let screen = &world.resource::<Screen>().0;
            let places: Vec<Vec3> = screen.iter().copied().flatten().collect();
            assert_eq!(places.len(), screen.len(), "{round_trip} ms: frames without the pawn");
            let widest = places.windows(2).map(|pair| pair[0].distance(pair[1])).fold(0.0, f32::max);
            // A soldier walks 9 cm in a frame.
            assert!(widest < 0.3, "{round_trip} ms: it jumps {widest} m");
        }
    }
}
