//! Lightyear messages of the game pass the ingress filters in their registered directions, without further
//! configuration.

use bevy_unlag::link_conditioner::LinkConditions;
use core::time::Duration;

use bevy::time::TimeUpdateStrategy;
use lightyear::prelude::{
    AppChannelExt, AppMessageExt, AppTriggerExt, ChannelMode, ChannelSettings, Connected, EventSender,
    MessageReceiver, MessageSender, MessageSystems, NetworkDirection, ReliableSettings, RemoteEvent,
};
use serde::{Deserialize, Serialize};
use unlag_examples::{app, connection as links};

use super::*;

struct Talk;
struct Chatter;

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Chat(Vec<u8>);
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct BothWays(u32);
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct FromServer(u32);
#[derive(Serialize, Deserialize, Event, Clone, PartialEq, Debug)]
struct Wave(u32);

/// Messages and events that the server received.
#[derive(Resource, Default)]
struct ReceivedCounts {
    chats: Vec<usize>,
    both: u32,
    waves: u32,
    from_server: u32,
}

fn protocol(app: &mut App) {
    let reliable = ChannelMode::OrderedReliable(ReliableSettings::default());
    app.add_channel::<Talk>(ChannelSettings { mode: reliable, ..default() })
        .add_direction(NetworkDirection::Bidirectional);
    app.add_channel::<Chatter>(ChannelSettings { mode: ChannelMode::SequencedUnreliable, ..default() })
        .add_direction(NetworkDirection::ClientToServer);
    app.register_message::<Chat>().add_direction(NetworkDirection::ClientToServer);
    app.register_message::<BothWays>().add_direction(NetworkDirection::Bidirectional);
    app.register_message::<FromServer>().add_direction(NetworkDirection::ServerToClient);
    app.register_event::<Wave>().add_direction(NetworkDirection::ClientToServer);
}

fn hear(
    mut chats: Query<&mut MessageReceiver<Chat>, With<ClientOf>>,
    mut both: Query<&mut MessageReceiver<BothWays>, With<ClientOf>>,
    mut wrong: Query<&mut MessageReceiver<FromServer>, With<ClientOf>>,
    mut received_counts: ResMut<ReceivedCounts>,
) {
    for mut chat in &mut chats {
        received_counts.chats.extend(chat.receive().map(|chat| chat.0.len()));
    }
    for mut both in &mut both {
        received_counts.both += both.receive().count() as u32;
    }
    for mut wrong in &mut wrong {
        received_counts.from_server += wrong.receive().count() as u32;
    }
}

/// A server and a connected client with the game's messages.
fn pair(conditions: LinkConditions) -> (App, App) {
    let mut server = app::server(app::ServerOptions::default());
    let mut client = app::scripted_client(3, Default::default());
    protocol(&mut server);
    protocol(&mut client);
    server
        .init_resource::<ReceivedCounts>()
        .add_systems(PreUpdate, hear.after(MessageSystems::Receive))
        .add_observer(|_: On<RemoteEvent<Wave>>, mut received_counts: ResMut<ReceivedCounts>| {
            received_counts.waves += 1;
        });
    for app in [&mut server, &mut client] {
        app.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
    }
    let listener = links::listen_in_process(&mut server);
    bevy_unlag_testkit::finish(&mut server);
    links::join(&mut server, listener, &mut client, 1, NetSim::new(4).with(conditions)).expect("a token");
    bevy_unlag_testkit::finish(&mut client);
    (server, client)
}

fn run(server: &mut App, client: &mut App, seconds: f64) {
    for _ in 0..(seconds * 64.0) as u32 {
        server.update();
        client.update();
    }
}

fn received_counts(server: &App) -> (usize, u32, u32, u32) {
    let received_counts = server.world().resource::<ReceivedCounts>();
    (received_counts.chats.len(), received_counts.both, received_counts.waves, received_counts.from_server)
}

#[test]
fn registered_game_messages_and_fragments_pass_the_filters() {
    let loss = LinkConditions { latency: Duration::from_millis(40), loss: 0.1, ..LinkConditions::PERFECT };
    let (mut server, mut client) = pair(loss);
    run(&mut server, &mut client, 3.0);
    type Senders<'w> =
        (&'w mut MessageSender<Chat>, &'w mut MessageSender<BothWays>, &'w mut EventSender<Wave>);
    let world = client.world_mut();
    let mut links = world.query_filtered::<Senders<'static>, With<Connected>>();
    for length in [3, 900, 5_000, 8_000, 2_000, 7_000, 6_000, 5_000] {
        let (mut chats, mut both, mut waves) = links.single_mut(world).expect("connected");
        chats.send::<Talk>(Chat(vec![7; length]));
        both.send::<Talk>(BothWays(1));
        waves.trigger::<Talk>(Wave(2));
    }
    run(&mut server, &mut client, 6.0);
    assert_eq!(received_counts(&server), (8, 8, 8, 0));
    assert_eq!(
        server.world().resource::<ReceivedCounts>().chats,
        [3, 900, 5_000, 8_000, 2_000, 7_000, 6_000, 5_000],
        "messages must arrive in order"
    );
    let traffic = traffic(&mut server, 0);
    assert!(traffic.strikes == 0.0, "{traffic:?}");
    // Four large messages are reassembled at once; the others are retransmitted.
    assert!(
        dropped(&traffic).iter().all(|(refusal, _)| *refusal == IngressRefusal::BeyondWindow),
        "{:?}",
        dropped(&traffic)
    );
}

#[test]
fn game_messages_in_a_wrong_direction_or_channel_are_refused() {
    let (mut server, mut client) = pair(LinkConditions::PERFECT);
    run(&mut server, &mut client, 1.0);
    let ids = |app: &App, name| [&message_id(app, name)[..], &[5]].concat();
    let (talk, chatter) = (channel(&server, "Talk"), channel(&server, "Chatter"));
    let clock = channel(&server, "ClockChannel");
    let wrong = [
        ("a message that only servers send", message(talk, Some(0), &ids(&server, "FromServer"))),
        ("a message of the game on a channel of the suite", message(clock, None, &ids(&server, "BothWays"))),
        (
            "a message of the suite on a channel of the game",
            message(chatter, Some(0), &ids(&server, "MoveMessage")),
        ),
        ("a message that does not exist", message(chatter, Some(0), &[0x7F, 0xFF, 5])),
    ];
    for (name, bytes) in wrong {
        let before = traffic(&mut server, 0).refused.of(IngressRefusal::Message);
        send(&mut client, &bytes);
        run(&mut server, &mut client, 0.1);
        assert_eq!(traffic(&mut server, 0).refused.of(IngressRefusal::Message), before + 1, "{name}");
    }
    // Without and with the message number that the channel requires.
    send(&mut client, &message(chatter, None, &ids(&server, "BothWays")));
    run(&mut server, &mut client, 0.1);
    assert_eq!(traffic(&mut server, 0).refused.of(IngressRefusal::Malformed), 1);
    send(&mut client, &message(chatter, Some(3), &ids(&server, "BothWays")));
    run(&mut server, &mut client, 0.1);
    assert_eq!(received_counts(&server), (0, 1, 0, 0));

    // Without the filters lightyear accepts messages that only servers may send.
    server.world_mut().resource_mut::<IngressLimits>().enabled = false;
    send(&mut client, &message(talk, Some(0), &ids(&server, "FromServer")));
    run(&mut server, &mut client, 0.1);
    assert_eq!(received_counts(&server).3, 1, "lightyear alone refuses the message: the test shows nothing");
}
