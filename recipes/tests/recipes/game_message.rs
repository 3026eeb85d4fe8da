//! A message to the server with rules of the game: a door opens for a player who is near.

use unlag_recipes::{floor, play, record, recorded, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::Wire,
    net::{MessageRules, MessageVerdict},
    prelude::*,
};

/// From a player: open that door.
#[derive(Wire, Clone)]
struct OpenDoor {
    #[wire(bits = 6)]
    door: u8,
}

/// To everybody: that door opens.
#[derive(Wire, Clone, PartialEq, Debug)]
struct DoorOpens {
    #[wire(bits = 6)]
    door: u8,
}

/// A door on the server.
#[derive(Component)]
struct Door {
    number: u8,
    open: bool,
}

/// On both sides, in any order.
fn door_messages(app: &mut App) {
    app.add_game_message::<OpenDoor>(MessageRules::to_server().per_second(4.0))
        .add_game_message::<DoorOpens>(MessageRules::to_everyone());
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers, door_messages))
        .add_systems(Startup, |mut commands: Commands| {
            commands.spawn((Door { number: 7, open: false }, Transform::from_xyz(0.0, 0.0, -14.0)));
        })
        .validate_game_message::<OpenDoor, _>(validate)
        .add_systems(Update, open);
}

/// Runs for each request, before the game can read it.
fn validate(
    request: InRef<Received<OpenDoor>>,
    players: Query<&SoldierState>,
    doors: Query<(&Door, &Transform)>,
) -> MessageVerdict {
    let player = request.about.and_then(|pawn| players.get(pawn).ok());
    let door = doors.iter().find(|(door, _)| door.number == request.message.door);
    match (player, door) {
        (Some(player), Some((_, place))) if Soldier::position(player).distance(place.translation) < 3.0 => {
            MessageVerdict::Accept
        }
        (_, Some(_)) => MessageVerdict::Reject,
        // No honest client asks for a door that does not exist.
        (_, None) => MessageVerdict::Kick(4),
    }
}

fn open(
    mut requests: MessageReader<Received<OpenDoor>>,
    mut doors: Query<&mut Door>,
    mut everybody: Outbox<DoorOpens>,
) {
    for request in requests.read() {
        for mut door in doors.iter_mut().filter(|door| door.number == request.message.door && !door.open) {
            door.open = true;
            everybody.send(&DoorOpens { door: door.number });
        }
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, door_messages));
}

/// The player walks ahead and asks all the time; more than four requests a second are not sent.
fn asker(app: &mut App) {
    app.add_plugins(client)
        .add_systems(PreUpdate, |mut input: Single<&mut InputAccumulator>| input.axes(Vec2::Y))
        .add_systems(Update, |own: Single<Entity, With<LocalControl>>, mut server: Outbox<OpenDoor>| {
            server.send_about(*own, &OpenDoor { door: 7 });
        });
}
// ANCHOR_END: game

fn recording_asker(app: &mut App) {
    app.add_plugins((asker, record::<Received<DoorOpens>>));
}

fn recording_client(app: &mut App) {
    app.add_plugins((client, record::<Received<DoorOpens>>));
}

fn recording_server(app: &mut App) {
    app.add_plugins((server, record::<Received<OpenDoor>>));
}

#[test]
fn door_opens_once_for_a_player_who_is_near() {
    play(recording_server, &[recording_asker, recording_client], |game| {
        game.run(3.0);
        for client in &game.clients {
            let heard: Vec<_> = recorded::<Received<DoorOpens>>(client).iter().map(|m| &m.message).collect();
            assert_eq!(heard, [&DoorOpens { door: 7 }]);
        }
        // It has asked for four seconds, and is near for one of them.
        let accepted = recorded::<Received<OpenDoor>>(&game.server).len();
        assert!((2..=8).contains(&accepted), "{accepted} requests were accepted");
    });
}
