//! Junk at the port for WebTransport while players play: datagrams that are no QUIC, and sessions that are no netcode.

use std::net::{Ipv4Addr, UdpSocket};

use lightyear::{
    link::{Link, LinkStart, Linked, Unlinked},
    prelude::PeerAddr,
};
use unlag_examples::{app, connection, transport::ClientTransport};

use super::*;
use crate::load::LoadSession;

/// Honest players.
const PLAYERS: usize = 8;
/// Sessions that send junk at the same time.
const SESSIONS: usize = 16;
/// Junk datagrams in a tick.
const DATAGRAMS: usize = 32;

/// Adds the number of players that are lost.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let mut session = LoadSession::over(TransportName::WebTransport, options.seed)?;
    session.fill(PLAYERS, LinkConditions::PERFECT)?;
    session.run(1.0)?;
    let (address, transport) = session.reach();
    let before = session.server.state()?.refused;
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
    let mut rng = SmallRng::seed_from_u64(options.seed);
    let mut strangers = strangers(options.seed);
    let (mut opened, mut sent) = (0, 0);
    for tick in 0..options.extent(8_u32, 30) * 64 {
        if tick.is_multiple_of(64) {
            opened += open(&mut strangers, address, &transport);
        }
        for _ in 0..DATAGRAMS {
            let bytes: Vec<u8> = (0..rng.random_range(1..1_400)).map(|_| rng.random()).collect();
            sent += u64::from(socket.send_to(&bytes, address).is_ok());
        }
        send_junk(&mut strangers, &mut rng);
        strangers.update();
        session.run_in_real_time(1.0 / 64.0)?;
    }
    let playing = (0..PLAYERS).filter(|client| session.is_playing(*client)).count();
    let note = format!("{sent} datagrams, {opened} sessions, {PLAYERS} players");
    figures.add_noted("junk_lost_players_webtransport", (PLAYERS - playing) as f64, note)?;
    let refused = session.server.state()?.refused - before;
    figures.add("control_junk_refused_webtransport", refused as f64)
}

fn strangers(seed: u64) -> App {
    let mut app = app::scripted_client(seed, ServerOptions::default());
    finish(&mut app);
    app
}

/// Opens sessions without a netcode client in place of those that have ended. Returns their number.
fn open(app: &mut App, address: core::net::SocketAddr, transport: &ClientTransport) -> usize {
    let world = app.world_mut();
    let ended: Vec<_> = world.query_filtered::<Entity, (With<Link>, With<Unlinked>)>().iter(world).collect();
    for entity in ended {
        world.despawn(entity);
    }
    let open = world.query::<&Link>().iter(world).count();
    for _ in open..SESSIONS {
        let entity = world.spawn(PeerAddr(address)).id();
        connection::insert_transport(&mut world.entity_mut(entity), transport);
        world.trigger(LinkStart { entity });
    }
    world.flush();
    SESSIONS - open
}

fn send_junk(app: &mut App, rng: &mut SmallRng) {
    let world = app.world_mut();
    let mut links = world.query_filtered::<&mut Link, (With<Linked>, Without<Unlinked>)>();
    for mut link in links.iter_mut(world) {
        let bytes: Vec<u8> = (0..rng.random_range(1..1_100)).map(|_| rng.random()).collect();
        link.send(bytes.into());
    }
}
