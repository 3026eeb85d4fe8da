//! A chat: lines to everybody, of a limited length and rate.

use unlag_recipes::{floor, play, soldiers};

// ANCHOR: game
use bevy::prelude::*;
use bevy_unlag::{
    core::Wire,
    lightyear::prelude::{PeerId, RemoteId},
    net::{MessageRules, MessageSource},
    prelude::*,
};

/// From a player.
#[derive(Wire, Clone)]
struct Say(#[wire(max = 120)] String);

/// To everybody: the player's id, by the server, and the line.
#[derive(Wire, Clone)]
struct Said {
    player: u64,
    #[wire(max = 120)]
    line: String,
}

/// On both sides. More than two lines a second are not sent, and dropped by the server.
fn chat(app: &mut App) {
    app.add_game_message::<Say>(MessageRules::to_server().per_second(2.0))
        .add_game_message::<Said>(MessageRules::to_everyone());
}

fn server(app: &mut App) {
    app.add_plugins((UnlagServerPlugins::default(), floor, soldiers, chat)).add_systems(Update, relay);
}

/// The server knows who speaks by the link. A name in the message could be anybody's.
fn relay(mut lines: MessageReader<Received<Say>>, links: Query<&RemoteId>, mut everybody: Outbox<Said>) {
    for said in lines.read() {
        let MessageSource::Client(link) = said.from else { continue };
        if let Ok(RemoteId(PeerId::Netcode(player))) = links.get(link) {
            let line = said.message.0.chars().filter(|c| !c.is_control()).collect();
            everybody.send(&Said { player: *player, line });
        }
    }
}

fn client(app: &mut App) {
    app.add_plugins((UnlagClientPlugins::default(), PlayerControlsPlugin::default(), floor, chat))
        .init_resource::<ChatLog>()
        .add_systems(Update, |mut lines: MessageReader<Received<Said>>, mut log: ResMut<ChatLog>| {
            log.0.extend(lines.read().map(|said| format!("{}: {}", said.message.player, said.message.line)));
        });
}

/// The lines of this session. In a game nodes of the user interface.
#[derive(Resource, Default)]
struct ChatLog(Vec<String>);
// ANCHOR_END: game

/// Says a line once, with a line break in it.
fn speaker(app: &mut App) {
    app.add_plugins(client).add_systems(
        Update,
        |time: Res<Time>, mut is_said: Local<bool>, mut server: Outbox<Say>| {
            if time.elapsed_secs() > 2.0 && !*is_said {
                *is_said = true;
                server.send(&Say("over\n here".to_owned()));
            }
        },
    );
}

#[test]
fn line_is_read_once_by_everybody_under_its_speakers_id() {
    play(server, &[client, speaker], |game| {
        game.run(2.0);
        for client in &game.clients {
            assert_eq!(client.world().resource::<ChatLog>().0, ["2: over here"]);
        }
    });
}
