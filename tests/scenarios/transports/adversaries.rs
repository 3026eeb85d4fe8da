//! Sessions without a connect token (junk, silence, half a handshake), and players who do what they must not.

use std::{io::Write, net::TcpStream};

use bevy_unlag::guard::{
    BanList, BanTarget, IngressLimits, IngressRefusal, JoinRefusal, JoinRefused, KickReason, Kicked,
};
use lightyear::prelude::{Link, LinkStart, Linked, PeerAddr, Unlinked};

use super::*;
use crate::ingress::{channel, message, send as send_packet};

/// Adds an app whose sessions send what they like: they have no netcode client.
fn strangers(venue: &mut Venue, transport: SessionTransport, count: usize) -> usize {
    let (address, through) = (venue.address(Some(transport)), venue.transport(Some(transport)));
    let mut app = app::scripted_client(9, Default::default());
    bevy_unlag_testkit::finish(&mut app);
    let world = app.world_mut();
    for _ in 0..count {
        let mut session = world.spawn(PeerAddr(address));
        connection::insert_transport(&mut session, &through);
        let entity = session.id();
        world.trigger(LinkStart { entity });
    }
    world.flush();
    venue.clients.push(app);
    venue.clients.len() - 1
}

/// Sends a packet in each open session. Returns their number.
fn send(venue: &mut Venue, strangers: usize, packet: &[u8]) -> usize {
    let world = venue.clients[strangers].world_mut();
    let mut links = world.query_filtered::<&mut Link, (With<Linked>, Without<Unlinked>)>();
    links.iter_mut(world).map(|mut link| link.send(packet.to_vec().into())).count()
}

fn open(venue: &mut Venue, strangers: usize) -> usize {
    let world = venue.clients[strangers].world_mut();
    world.query_filtered::<(), (With<Linked>, Without<Unlinked>)>().iter(world).count()
}

#[test]
fn junk_gets_no_link_and_players_play_on() {
    for transport in SESSIONS {
        let mut venue = Venue::development();
        let player = venue.join(1, Some(transport));
        assert!(venue.run_until(10.0, |venue| venue.acks(player) > 5), "{transport}");
        let junk = strangers(&mut venue, transport, 24);
        assert!(
            venue.run_until(10.0, |venue| open(venue, junk) == 24),
            "{transport}: {}",
            open(&mut venue, junk)
        );
        let before = venue.acks(player);
        let mut sent = 0;
        for packet in [&[0x15; 64][..], &[0; 1_078], &[0xff; 1_100], b"x"] {
            sent += send(&mut venue, junk, packet);
            venue.run(0.3);
        }
        assert!(sent >= 24, "{transport}: {sent}");
        assert_eq!(venue.links(), (1, 1), "{transport}: only the player has a link");
        assert_eq!(venue.stats().refused.of(IngressRefusal::NotNetcode), 24, "{transport}: one packet each");
        assert!(venue.run_until(5.0, |venue| open(venue, junk) == 0), "{transport}: the sessions are cut");
        assert!(venue.run_until(5.0, |venue| venue.acks(player) > before + 20), "{transport}");
        assert_eq!(venue.stats().pending, 0, "{transport}");
    }
}

#[test]
fn silent_sessions_of_one_host_are_bounded_and_expire() {
    for transport in SESSIONS {
        let mut venue = Venue::development();
        let mut limits = venue.server.world_mut().resource_mut::<IngressLimits>();
        (limits.pending_timeout, limits.max_pending_per_host) = (Duration::from_secs(2), 16);
        venue.run(0.1);
        strangers(&mut venue, transport, 40);
        let mut most = 0;
        let is_full = |venue: &mut Venue| {
            most = most.max(venue.stats().pending);
            most >= 16 && venue.stats().refused.of(IngressRefusal::ConnectionRequests) >= 24
        };
        assert!(venue.run_until(10.0, is_full), "{transport}");
        assert_eq!(most, 16, "{transport}");
        assert_eq!(venue.links(), (0, 0), "{transport}");
        // The clients stay and are silent; those that were refused try again, and give up.
        assert!(venue.run_until(20.0, |venue| venue.stats().pending == 0), "{transport}: they expire");
        let player = venue.join(1, Some(transport));
        assert!(
            venue.run_until(10.0, |venue| venue.is_connected(player)),
            "{transport}: there is room again"
        );
    }
}

#[test]
fn sessions_of_an_app_that_stands_still_are_bounded() {
    for transport in SESSIONS {
        let mut venue = Venue::development();
        venue.server.world_mut().resource_mut::<IngressLimits>().max_pending_per_host = 16;
        venue.run(0.1);
        let index = strangers(&mut venue, transport, 40);
        // Only the clients run; each session sends a request without a token and ends, again and again.
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(3) {
            venue.clients[index].update();
            send(&mut venue, index, &[0; 1_078]);
            thread::sleep(Duration::from_millis(4));
        }
        venue.server.update();
        assert!(venue.stats().pending <= 16, "{transport}: {}", venue.stats().pending);
        assert_eq!(venue.links(), (0, 0), "{transport}");
    }
}

/// Lets a player misbehave beside an honest one, until it is kicked. Returns the reason.
fn kicked_for(
    transport: SessionTransport,
    mut misbehave: impl FnMut(&mut App),
) -> (KickReason, Option<IngressRefusal>) {
    let mut venue = Venue::development();
    let honest = venue.join(1, Some(transport));
    let hostile = venue.join(2, Some(transport));
    let plays = |venue: &mut Venue| [honest, hostile].iter().all(|client| venue.acks(*client) > 5);
    assert!(venue.run_until(10.0, plays), "{transport}");
    let mut kick = None;
    let is_kicked = |venue: &mut Venue| {
        misbehave(&mut venue.clients[hostile]);
        kick = venue.server.world_mut().resource_mut::<Messages<Kicked>>().drain().next();
        kick.is_some()
    };
    assert!(venue.run_until(15.0, is_kicked), "{transport}");
    let kick = kick.expect("a kick");
    assert_eq!(kick.peer, PeerId::Netcode(2), "{transport}");
    assert!(venue.run_until(5.0, |venue| venue.links() == (1, 1)), "{transport}: {:?}", venue.links());
    let before = venue.acks(honest);
    assert!(
        venue.run_until(5.0, |venue| venue.acks(honest) > before + 20),
        "{transport}: the other plays on"
    );
    (kick.reason, kick.refusal)
}

#[test]
fn player_who_floods_its_session_is_kicked() {
    for transport in SESSIONS {
        let (reason, _) = kicked_for(transport, |client| {
            for _ in 0..40 {
                send_packet(client, &[4; 13]);
            }
        });
        assert_eq!(reason, KickReason::Flood, "{transport}");
    }
}

#[test]
fn player_who_sends_what_only_a_server_may_is_kicked() {
    for transport in SESSIONS {
        let reason = kicked_for(transport, |client| {
            let bytes = message(channel(client, "ServerEventChannel"), Some(0), &[1, 2, 3]);
            send_packet(client, &bytes);
        });
        assert_eq!(reason, (KickReason::InvalidPackets, Some(IngressRefusal::Channel)), "{transport}");
    }
}

#[test]
fn banned_player_is_refused() {
    for transport in SESSIONS {
        let mut venue = Venue::development();
        let mut bans = venue.server.world_mut().resource_mut::<BanList>();
        assert!(bans.ban(BanTarget::Client(7), Duration::from_secs(60)));
        let banned = venue.join(7, Some(transport));
        let other = venue.join(8, Some(transport));
        let mut refusal = None;
        let is_refused = |venue: &mut Venue| {
            let world = venue.clients[banned].world_mut();
            refusal = world.resource_mut::<Messages<JoinRefused>>().drain().next().or(refusal.take());
            refusal.is_some() && venue.is_connected(other)
        };
        assert!(venue.run_until(10.0, is_refused), "{transport}");
        assert_eq!(refusal.map(|refused| refused.reason), Some(JoinRefusal::Banned), "{transport}");
        assert!(!venue.is_connected(banned), "{transport}");
    }
}

#[test]
fn connections_without_a_handshake_expire() {
    let mut venue = Venue::development();
    venue.server.world_mut().resource_mut::<IngressLimits>().pending_timeout = Duration::from_secs(2);
    venue.run(0.1);
    let address = venue.address(Some(SessionTransport::WebSocket));
    let connect = |index: usize| {
        let mut stream = TcpStream::connect(address).expect("a connection");
        // Nothing, half a record of TLS, or HTTP without TLS.
        let bytes: &[u8] = [&[][..], &[0x16, 3, 1, 2, 0, 1], b"GET / HTTP/1.1\r\n\r\n"][index % 3];
        let _ = stream.write_all(bytes);
        stream
    };
    let streams: Vec<_> = (0..24).map(connect).collect();
    // Those without TLS end at once.
    let waits = |venue: &mut Venue| venue.stats().pending >= 16;
    assert!(venue.run_until(5.0, waits), "{}", venue.stats().pending);
    assert!(venue.run_until(8.0, |venue| venue.stats().pending == 0), "{}", venue.stats().pending);
    let player = venue.join(1, Some(SessionTransport::WebSocket));
    assert!(venue.run_until(10.0, |venue| venue.is_connected(player)), "there is room again");
    drop(streams);
}
