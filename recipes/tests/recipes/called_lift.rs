//! A lift that is called by a button: it moves on command of the server, and its rider is predicted.

use unlag_recipes::{component, corrections, floor, play, position, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::Wire,
    movement::{BaseId, MovementBase},
    net::MessageRules,
    prelude::*,
    rapier::prelude::Collider,
};

const LIFT: BaseId = BaseId(1);
const RIDER: NetId = NetId(1);
/// Heights of the lift's middle, in metres. It is 20 cm thick, and 5 cm of it stand out of the floor.
const DOWN: f32 = -0.05;
const UP: f32 = 4.95;

/// From a player: the button that was pressed.
#[derive(Wire)]
struct CallLift {
    up: bool,
}

/// On both sides.
fn lift(app: &mut App) {
    app.add_game_message::<CallLift>(MessageRules::to_server().per_second(4.0)).add_systems(
        Startup,
        |mut commands: Commands| {
            let lift = MovementBase::scheduled(LIFT, Isometry3d::from_xyz(0.0, DOWN, 0.0));
            commands.spawn((lift, Collider::cuboid(2.0, 0.1, 2.0)));
        },
    );
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers, lift)).add_systems(Update, obey);
}

/// Everybody learns of the motion a little before it starts, so that riders are predicted.
fn obey(mut calls: MessageReader<Received<CallLift>>, mut lift: Single<&mut MovementBase>) {
    for call in calls.read() {
        let height = if call.message.up { UP } else { DOWN };
        // At 2.5 m/s on average, with a soft start and a soft stop.
        lift.move_to(Isometry3d::from_xyz(0.0, height, 0.0), 2.5);
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, lift))
        .init_resource::<Button>()
        .add_systems(Update, |mut button: ResMut<Button>, mut server: Outbox<CallLift>| {
            if let Some(up) = button.0.take() {
                server.send(&CallLift { up });
            }
        });
}

/// The button that the player presses in this frame.
#[derive(Resource, Default)]
struct Button(Option<bool>);
// ANCHOR_END: game

#[test]
fn rider_of_a_called_lift_goes_up_and_down_without_corrections() {
    play(server, &[client, client], |game| {
        let rider = component::<SoldierState>(&mut game.server, RIDER).expect("the first player's soldier");
        assert_eq!(rider.body.base, LIFT);
        // The player on the lift calls it up, the one beside it calls it down.
        for (player, up, height) in [(0, true, UP), (1, false, DOWN)] {
            game.clients[player].insert_resource(Button(Some(up)));
            game.run(3.5);
            for (number, app) in game.apps_mut().enumerate() {
                let above = position(app, RIDER).y - height;
                // Half the lift's thickness, and the 2 cm that feet hover.
                assert!((above - 0.12).abs() < 0.02, "app {number}: {above} m above the lift's middle");
            }
        }
        assert_eq!(corrections(&mut game.clients[0]), 0);
    });
}
