//! The admin command of the shooter's server, over its real socket: what players get of it.

use std::{thread, time::Instant};

use bevy_unlag::{
    guard::{KickReason, KickText, KickedByServer},
    net::{MatchRestarted, SetupMismatch},
};
use bevy_unlag_server::{AdminPlugin, send_admin_command};
use unlag_examples::{
    arena::{ArenaMap, ArenaPart},
    maps::OperatorText,
    operator_commands,
};

use super::*;

/// Messages that a client has received.
#[derive(Resource, Default)]
struct Told {
    kicks: Vec<KickReason>,
    texts: Vec<String>,
    restarts: usize,
    mismatches: usize,
}

fn record(client: &mut App) {
    client
        .init_resource::<Told>()
        .add_observer(|_: On<MatchRestarted>, mut told: ResMut<Told>| told.restarts += 1)
        .add_systems(
            Last,
            |mut kicked: MessageReader<KickedByServer>,
             mut said: MessageReader<Received<OperatorText>>,
             mut mismatch: MessageReader<SetupMismatch>,
             mut told: ResMut<Told>| {
                told.kicks.extend(kicked.read().map(|kicked| kicked.0));
                told.texts.extend(said.read().map(|said| said.message.0.clone()));
                told.mismatches += mismatch.read().count();
            },
        );
}

fn told(game: &Match, client: usize) -> &Told {
    game.clients[client].world().resource::<Told>()
}

/// The map of an app, and the number of its boxes.
fn level(app: &mut App) -> (ArenaMap, usize) {
    let world = app.world_mut();
    let parts = world.query_filtered::<(), With<ArenaPart>>().iter(world).count();
    (*world.resource::<ArenaMap>(), parts)
}

#[test]
fn operator_changes_the_map_talks_and_kicks_with_a_reason() {
    let file = std::env::temp_dir().join(format!("admin_scenario_{}", std::process::id()));
    let admin = AdminPlugin::open(&file).expect("an admin file");
    let options = MatchOptions { players: 2, conditions: link_150(), ..MatchOptions::default() };
    let mut game = Match::start_with(&options, |server| {
        server.add_plugins((admin, operator_commands::plugin));
    })
    .expect("the match starts");
    game.clients.iter_mut().for_each(record);
    let command = |game: &mut Match, command: &str| {
        let (file, line) = (file.clone(), command.to_owned());
        let operator = thread::spawn(move || send_admin_command(&file, &line));
        let began = Instant::now();
        while !operator.is_finished() {
            assert!(began.elapsed() < Duration::from_secs(20), "{command}: no answer");
            game.run(seconds(0.016));
        }
        operator.join().expect("no panic")
    };
    let all = level(&mut game.server).1;
    assert!(command(&mut game, "map moon").is_err_and(|error| error.contains("arena, open")));
    assert!(command(&mut game, "map open").is_ok() && command(&mut game, "say hello").is_ok());
    game.run(seconds(2.0));
    let open = level(&mut game.server);
    assert!(open.0 == ArenaMap::Open && open.1 < all, "{open:?} of {all}");
    for client in 0..2 {
        assert_eq!(level(&mut game.clients[client]), open);
        let told = told(&game, client);
        assert_eq!(
            (told.texts.as_slice(), told.restarts, told.mismatches),
            (&["hello".to_owned()][..], 1, 0)
        );
    }
    let id = own_id(&mut game.clients[0]);
    let name = {
        let world = game.server.world_mut();
        let mut pawns = world.query::<(&NetId, &bevy_unlag::net::SessionOf)>();
        let (_, session) = pawns.iter(world).find(|(other, _)| **other == id).expect("the pawn");
        bevy_unlag::guard::client_name(session.0)
    };
    let list = command(&mut game, "players").expect("a list");
    assert!(list.contains(&format!("client={name} ")) && list.contains(" ping_ms="), "{list}");
    assert!(command(&mut game, &format!("kick {name} camping")).is_ok());
    game.run(seconds(1.0));
    assert_eq!(told(&game, 0).kicks, [KickReason::Operator(KickText::new("camping"))]);
    assert!(told(&game, 1).kicks.is_empty());
}
