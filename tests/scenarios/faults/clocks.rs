//! Row F20: clocks that run fast or slow, and the wall clock, which is set by whoever likes.

use std::net::{Ipv4Addr, SocketAddr};

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{prediction::ClockSteering, prelude::*};
use lightyear::{
    crossbeam::CrossbeamIo,
    link::{Link, Linked},
    prelude::{
        Authentication, Client, Connect, Connected, LinkOf, PeerAddr,
        client::{NetcodeClient, NetcodeConfig},
        server::{self, NetcodeServer, Start},
    },
};
use unlag_examples::app;

use super::{preset, trial::Trial};

/// The longest step of this client's tick from one frame to the next.
#[derive(Resource, Default)]
struct Steps {
    last: Option<Tick>,
    longest: i32,
}

fn follow(tick: Res<CurrentTick>, mut steps: ResMut<Steps>) {
    let step = steps.last.map_or(0, |last| tick.0.since(last));
    steps.longest = steps.longest.max(step.abs());
    steps.last = Some(tick.0);
}

#[test]
fn f20_a_clock_at_five_percent_is_held_by_steering() {
    for speed in [0.95, 1.05] {
        let what = format!("a clock at {speed}");
        let mut trial = Trial::tour(&what, 2, preset("Average (UE)"), 1);
        trial.game.clients[0].init_resource::<Steps>().add_systems(Last, follow);
        trial.game.set_clock(0, speed);
        trial.run(10.0);
        let behind = |trial: &Trial| {
            let tick = |app: &App| app.world().resource::<CurrentTick>().0;
            tick(&trial.game.server).since(tick(&trial.game.clients[0]))
        };
        let (began, before) = (behind(&trial), trial.corrections());
        trial.run(60.0);
        let (drift, corrections) = (behind(&trial) - began, trial.most_since(&before));
        let steered = trial.game.clients[0].world().resource::<ClockSteering>().speed;
        let longest = trial.game.clients[0].world().resource::<Steps>().longest;
        println!("{what}: {drift} ticks in a minute at a speed of {steered:.3}, {corrections} corrections");
        assert!((0.949..=1.051).contains(&steered), "{steered}");
        assert!(longest <= 1, "a jump of {longest} ticks");
        assert!(drift.abs() <= 16, "{drift} ticks in a minute");
        assert!(corrections <= 1, "{corrections} corrections");
        trial.game.set_clock(0, 1.0);
        trial.run(5.0);
        trial.check();
    }
}

/// What the wall clock decides is whether a connect token is too old when it is shown: nothing else reads it. A
/// clock that jumps an hour ahead during play makes the token one that has long expired, as this one has.
#[test]
fn f20_the_wall_clock_ends_no_connection() {
    const KEY: [u8; 32] = [3; 32];
    let mut server = app::server(app::ServerOptions::default());
    let mut client = app::scripted_client(3, Default::default(), Default::default(), false);
    for app in [&mut server, &mut client] {
        app.insert_resource(TimeUpdateStrategy::ManualDuration(app::TICK));
    }
    let config = server::NetcodeConfig {
        server_addr_check: false,
        ..server::NetcodeConfig::default().with_protocol_id(5).with_key(KEY)
    };
    let listener = server.world_mut().spawn(NetcodeServer::new(config)).id();
    server.world_mut().trigger(Start { entity: listener });
    app::finish(&mut server);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let (here, there) = CrossbeamIo::new_pair();
    server.world_mut().spawn((
        LinkOf { server: listener },
        Link::default(),
        PeerAddr(address),
        Linked,
        there,
    ));
    let authentication =
        Authentication::Manual { server_addr: address, client_id: 1, private_key: KEY, protocol_id: 5 };
    let seconds = NetcodeConfig { token_expire_secs: 1, ..default() };
    let netcode = NetcodeClient::new(authentication, seconds).expect("a client");
    let link = client.world_mut().spawn((Client, netcode, here)).id();
    client.world_mut().trigger(Connect { entity: link });
    app::finish(&mut client);
    let mut run = |frames| {
        for _ in 0..frames {
            client.update();
            server.update();
        }
        client.world().get::<Connected>(link).is_some()
    };
    assert!(run(128), "joined");
    std::thread::sleep(core::time::Duration::from_millis(2_100));
    assert!(run(640), "still there, with a token that expired a second ago");
}
