//! A game's own lightyear components and messages beside the suite's.

use lightyear::prelude::server::ClientOf;
use serde::{Deserialize, Serialize};

use super::*;

/// A component of the game's own.
#[derive(Component, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Score(u32);

/// A message of the game's own.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Chat(String);

/// Channel of [`Chat`].
struct ChatChannel;

/// Chats that an app has received.
#[derive(Resource, Default)]
struct Chats(Vec<Chat>);

fn protocol(app: &mut App) {
    app.component::<Score>().replicate();
    let mode = ChannelMode::OrderedReliable(ReliableSettings::default());
    app.add_channel::<ChatChannel>(ChannelSettings { mode, ..default() })
        .add_direction(NetworkDirection::Bidirectional);
    app.register_message::<Chat>().add_direction(NetworkDirection::Bidirectional);
    app.init_resource::<Chats>().add_systems(PreUpdate, receive_chats.after(MessageSystems::Receive));
}

fn receive_chats(mut links: Query<&mut MessageReceiver<Chat>>, mut chats: ResMut<Chats>) {
    links.iter_mut().for_each(|mut link| chats.0.extend(link.receive()));
}

/// Scores and chats that arrived at the client, and chats at the server.
fn received(game: &mut SteppedApps) -> (Vec<Score>, Vec<Chat>, Vec<Chat>) {
    let world = game.clients[0].world_mut();
    let scores = world.query::<&Score>().iter(world).cloned().collect();
    let chats = |app: &App| app.world().resource::<Chats>().0.clone();
    (scores, chats(&game.clients[0]), chats(&game.server))
}

#[test]
fn component_and_message_of_the_game_arrive_beside_the_suites() {
    let (mut server, mut client) = lightyear_apps();
    protocol(&mut server);
    protocol(&mut client);
    add_suite(&mut server, &mut client);
    let mut game = run_four_seconds(server, client);
    // Control: nothing arrives that was not sent, and no component without `Replicate`.
    game.server.world_mut().spawn(Score(1));
    game.run(Duration::from_secs(1));
    assert_eq!(received(&mut game), (vec![], vec![], vec![]));

    let hello = Chat("hello".to_owned());
    let world = game.clients[0].world_mut();
    let mut links = world.query_filtered::<&mut MessageSender<Chat>, With<Client>>();
    links.single_mut(world).expect("a link").send::<ChatChannel>(hello.clone());
    let world = game.server.world_mut();
    let mut links = world.query_filtered::<&mut MessageSender<Chat>, With<ClientOf>>();
    links.single_mut(world).expect("a link").send::<ChatChannel>(hello.clone());
    let score = world.spawn((Score(2), Replicate::to_clients(NetworkTarget::All))).id();
    game.run(Duration::from_secs(1));
    assert_eq!(received(&mut game), (vec![Score(2)], vec![hello.clone()], vec![hello.clone()]));
    game.server.world_mut().entity_mut(score).insert(Score(3));
    game.run(Duration::from_secs(1));
    assert_eq!(received(&mut game).0, [Score(3)]);
    assert_no_corrections(&mut game);
}
