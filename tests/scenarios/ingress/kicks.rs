//! Kicks of clients that misbehave: they receive the reason, and other clients are not affected.

use bevy_unlag::{
    guard::{Kick, KickReason, Kicked, KickedByServer},
    net::{GameMessageStats, MessageLimits},
};
use lightyear::{
    connection::ConnectionSystems,
    prelude::{Connected, PeerId},
};
use lightyear_transport::plugin::TransportSystems;
use unlag_examples::stepped_match::{Match, MatchOptions};

use super::*;
use crate::{captured_log::logged, seconds, start};

#[derive(Resource, Default)]
struct KickLog(Vec<Kicked>, Vec<KickReason>);

fn record_kicks(app: &mut App) {
    app.init_resource::<KickLog>().add_systems(
        Last,
        |mut kick_log: ResMut<KickLog>,
         kicked: Option<MessageReader<Kicked>>,
         told: Option<MessageReader<KickedByServer>>| {
            kick_log
                .0
                .extend(kicked.into_iter().flat_map(|mut kicked| kicked.read().copied().collect::<Vec<_>>()));
            kick_log.1.extend(
                told.into_iter().flat_map(|mut told| told.read().map(|told| told.0).collect::<Vec<_>>()),
            );
        },
    );
}

fn start_recorded(players: u64) -> Match {
    let mut game = start(MatchOptions { players, ..MatchOptions::default() });
    record_kicks(&mut game.server);
    for client in &mut game.clients {
        record_kicks(client);
    }
    // Past the time after joining in which no client is kicked.
    game.run(seconds(4.0));
    game
}

fn kick_log(app: &App) -> &KickLog {
    app.world().resource::<KickLog>()
}

fn is_connected(client: &mut App) -> bool {
    let world = client.world_mut();
    world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count() == 1
}

// Threat T6.
#[test]
fn client_is_kicked_for_11_invalid_packets_at_once() {
    let mut game = start_recorded(2);
    let bytes = message(channel(&game.server, "ServerEventChannel"), Some(0), &[1, 2, 3]);
    // A few of them are forgiven.
    for _ in 0..6 {
        send(&mut game.clients[0], &bytes);
        game.run(seconds(0.1));
    }
    let strikes = traffic(&mut game.server, 0).strikes;
    assert!((50.0..60.0).contains(&strikes) && kick_log(&game.server).0.is_empty(), "{strikes}");
    game.run(seconds(13.0));
    assert_eq!(traffic(&mut game.server, 0).strikes, 0.0);

    for _ in 0..11 {
        send(&mut game.clients[0], &bytes);
    }
    game.run(seconds(0.1));
    let [kicked] = kick_log(&game.server).0[..] else { panic!("{:?}", kick_log(&game.server).0) };
    assert_eq!((kicked.reason, kicked.refusal), (KickReason::InvalidPackets, Some(IngressRefusal::Channel)));
    game.run(seconds(1.0));
    assert_eq!(
        kick_log(&game.clients[0]).1,
        [KickReason::InvalidPackets],
        "the client must receive the reason"
    );
    assert!(!is_connected(&mut game.clients[0]) && link(&mut game.server, 0).is_none());
    // The other client plays on.
    let before = moves(&mut game, 1);
    game.run(seconds(1.0));
    assert!(moves(&mut game, 1) > before + 50 && is_connected(&mut game.clients[1]));
    assert_eq!(traffic(&mut game.server, 1).refused.total(), 0);
    assert_eq!(
        (kick_log(&game.server).0.len(), stats(&game.server).kicked),
        (1, 1),
        "the client must be kicked once"
    );
}

#[test]
fn strikes_are_logged_when_they_begin_and_again_only_after_there_were_none() {
    let lines = logged(|| {
        let mut game = start_recorded(1);
        let bytes = message(channel(&game.server, "ServerEventChannel"), Some(0), &[1, 2, 3]);
        // The second packet finds strikes of the first one, the third finds none.
        for pause in [0.1, 13.0, 0.1] {
            send(&mut game.clients[0], &bytes);
            game.run(seconds(pause));
        }
    });
    let line = "WARN lightyear_guard::strikes: client has strikes client=1 address=127.0.0.1:1 strikes=10.0 \
                limit=100.0 refusal=\"channel\"";
    let strikes: Vec<_> = lines.iter().filter(|line| line.contains("lightyear_guard::strikes")).collect();
    assert_eq!(strikes, [line, line], "{lines:#?}");
}

// Threat T3.
#[test]
fn client_is_kicked_for_pongs_without_pings() {
    let mut game = start_recorded(1);
    let (name, channel) = (message_id(&game.server, "Pong"), channel(&game.server, "PingChannel"));
    for frame in 0..1_500_u16 {
        if link(&mut game.server, 0).is_none() {
            break;
        }
        if frame % 2 == 0 {
            let pong = [&name[..], &frame.to_be_bytes(), &[0; 5]].concat();
            send(&mut game.clients[0], &message(channel, None, &pong));
        }
        game.run(seconds(0.01));
    }
    let [kicked] = kick_log(&game.server).0[..] else { panic!("{:?}", kick_log(&game.server).0) };
    assert_eq!((kicked.reason, kicked.refusal), (KickReason::InvalidPackets, None));
}

/// Rewrites the acknowledgements of all sent packets, as if no packet had arrived since the first one.
fn acknowledge_nothing(mut links: Query<&mut Link, With<Client>>) {
    for mut link in &mut links {
        let packets: Vec<_> = link.send.drain().collect();
        for packet in packets {
            let mut bytes = packet.to_vec();
            // After the kind and the packet number: the newest received packet, and the bits of those before
            // it.
            bytes[3..9].fill(0);
            link.send(bytes.into());
        }
    }
}

#[test]
fn client_that_acknowledges_no_packets_is_kicked_for_queue_overflow() {
    let mut game = start_recorded(2);
    let most = 40;
    game.server.world_mut().resource_mut::<MessageLimits>().unacknowledged = most;
    let deaf = |app: &mut App| {
        let systems = acknowledge_nothing.after(TransportSystems::Send).before(ConnectionSystems::Send);
        app.add_systems(PostUpdate, systems);
    };
    game.set_firing(true);
    game.run(seconds(10.0));
    assert!(kick_log(&game.server).0.is_empty(), "no client may be kicked before");
    deaf(&mut game.clients[0]);
    // Each shot has a verdict, so dozens pile up within a few seconds.
    game.run(seconds(20.0));
    let [kicked] = kick_log(&game.server).0[..] else { panic!("{:?}", kick_log(&game.server).0) };
    assert_eq!((kicked.reason, kicked.peer), (KickReason::QueueOverflow, PeerId::Netcode(1)));
    assert_eq!(
        game.server.world().resource::<GameMessageStats>().overflowed,
        0,
        "the queue of game messages must not overflow"
    );
    assert!(!is_connected(&mut game.clients[0]) && is_connected(&mut game.clients[1]));
}

#[test]
fn client_is_kicked_for_repeated_setup_messages() {
    let mut game = start_recorded(1);
    let (name, channel) = (message_id(&game.server, "SetupMessage"), channel(&game.server, "SetupChannel"));
    for number in 0..12_u16 {
        let bytes = [&name[..], &[1, 2]].concat();
        send(&mut game.clients[0], &message(channel, Some(number + 1), &bytes));
    }
    game.run(seconds(0.2));
    let [kicked] = kick_log(&game.server).0[..] else { panic!("{:?}", kick_log(&game.server).0) };
    assert_eq!((kicked.reason, kicked.refusal), (KickReason::InvalidPackets, Some(IngressRefusal::Content)));
}

#[test]
fn kicked_client_that_does_not_run_is_disconnected_as_well() {
    let mut game = start_recorded(1);
    let link_of = link(&mut game.server, 0).expect("joined");
    game.server.world_mut().trigger(Kick { entity: link_of, reason: KickReason::Game(7) });
    let received = traffic(&mut game.server, 0).packets;
    // The client does not run.
    game.stall_client(0, seconds(2.0));
    game.run(seconds(0.3));
    assert_eq!(traffic(&mut game.server, 0).packets, received, "packets of a kicked client must be ignored");
    game.run(seconds(0.5));
    assert!(link(&mut game.server, 0).is_none() && game.server.world().get_entity(link_of).is_err());
    assert_eq!(kick_log(&game.server).0[0].reason, KickReason::Game(7));
    // netcode keeps the client until its timeout, which must not disturb the server either.
    game.run(seconds(20.0));
    assert!(!is_connected(&mut game.clients[0]) && link(&mut game.server, 0).is_none());
}

// Threat T6.
#[test]
fn client_that_floods_is_kicked_while_others_play() {
    let mut game = start_recorded(4);
    let before: Vec<_> = (0..4).map(|client| moves(&mut game, client)).collect();
    let mut admitted = 0;
    for frame in 0..600 {
        if link(&mut game.server, 0).is_none() {
            assert!((64..400).contains(&frame), "kicked after {frame} hundredths of a second");
            break;
        }
        admitted = traffic(&mut game.server, 0).packets;
        // 20 times the rate of a client: 2,000 packets per second.
        for _ in 0..20 {
            send(&mut game.clients[0], &packet(4, &[]));
        }
        game.run(seconds(0.01));
    }
    let [kicked] = kick_log(&game.server).0[..] else { panic!("{:?}", kick_log(&game.server).0) };
    assert_eq!((kicked.reason, kicked.refusal), (KickReason::Flood, Some(IngressRefusal::Packets)));
    // The burst, plus the refill of the token bucket.
    assert!(admitted < 1_024 + 512 * 5 + 400, "{admitted} packets admitted");
    for (client, before) in before.into_iter().enumerate().skip(1) {
        assert_eq!(traffic(&mut game.server, client as u64).refused.total(), 0);
        assert!(is_connected(&mut game.clients[client]));
        assert!(moves(&mut game, client) > before + 100);
    }
}

#[test]
fn spoofed_datagrams_cost_their_victim_no_strikes() {
    let mut game = start_recorded(1);
    let before = moves(&mut game, 0);
    let mut count = 0;
    for _ in 0..200 {
        let link = link(&mut game.server, 0).expect("the client is connected");
        for _ in 0..20 {
            count += 1;
            // From an attacker who knows the player's address: bytes that netcode takes for encrypted, and
            // junk.
            let bytes = if count % 2 == 0 { vec![0x25; 80] } else { vec![0xFF; 80] };
            datagram(&mut game.server, link, &bytes);
        }
        game.run(seconds(0.01));
    }
    let traffic = traffic(&mut game.server, 0);
    assert_eq!(traffic.strikes, 0.0, "{:?}", dropped(&traffic));
    assert!(traffic.refused.of(IngressRefusal::NotNetcode) >= 1_900, "{:?}", dropped(&traffic));
    assert!(moves(&mut game, 0) > before + 100, "the server must keep running the player's moves");
}
