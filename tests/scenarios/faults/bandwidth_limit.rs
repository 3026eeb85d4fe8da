//! Row F11: a link with limited bandwidth and a queue.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag::{
    net::{Bandwidth, DownlinkBudget, MessageClass, NetSystems},
    prelude::*,
};
use lightyear::{
    link::{Link, RecvPayload},
    prelude::{Client, LinkSystems},
};
use unlag_examples::{app::ServerOptions, stepped_match::MatchOptions, weapon_set::WeaponSet};

use super::{preset, trial::Trial};
use crate::statistics::upper_quantile;

/// Bandwidth limit of the downlink; excess packets wait in a queue.
#[derive(Resource)]
struct Bottleneck {
    bytes_per_second: f64,
    queue: VecDeque<(f64, RecvPayload)>,
    /// End of the last packet on the link, in seconds.
    busy_until: f64,
    /// Queueing time of each packet, in seconds.
    queueing_times: Vec<f64>,
}

/// UDP and IP header bytes of a datagram.
const UDP_IP_HEADER: usize = 28;

fn limit_downlink(
    time: Res<Time<Real>>,
    mut line: ResMut<Bottleneck>,
    mut links: Query<&mut Link, With<Client>>,
) {
    let now = time.elapsed_secs_f64();
    let line = &mut *line;
    for mut link in &mut links {
        line.queue.extend(link.recv.drain().map(|packet| (now, packet)));
        while let Some((came, packet)) = line.queue.front() {
            let starts = line.busy_until.max(*came);
            let ends = starts + (packet.len() + UDP_IP_HEADER) as f64 / line.bytes_per_second;
            if ends > now + time.delta_secs_f64() {
                break;
            }
            line.busy_until = ends;
            line.queueing_times.push(starts - came);
            if let Some((_, packet)) = line.queue.pop_front() {
                link.recv.push_raw(packet);
            }
        }
    }
}

/// Downlink figures of a fight of six players.
#[derive(Debug)]
struct DownlinkFigures {
    /// 99th percentile of the queueing time, in seconds.
    wait: f64,
    /// Bytes received per client and second.
    bytes: f64,
    snapshots: f64,
    tracers: f64,
}

fn expect_limited_fight(bytes_per_second: f64, budget: u32) -> DownlinkFigures {
    let server = ServerOptions { weapon_set: WeaponSet::All, ..default() };
    let conditions = preset("Good broadband");
    let options = MatchOptions { players: 6, conditions, seed: 12, server, ..default() };
    let what = format!("{bytes_per_second} bytes/s, a budget of {budget}");
    let mut trial = Trial::new(&what, options);
    trial.game.server.insert_resource(DownlinkBudget { bytes_per_second: budget });
    for client in &mut trial.game.clients {
        let (queue, queueing_times) = (VecDeque::new(), Vec::new());
        client.insert_resource(Bottleneck { bytes_per_second, queue, busy_until: 0.0, queueing_times });
        let place = limit_downlink.after(LinkSystems::Receive).before(NetSystems::ReceiveSimulated);
        client.add_systems(PreUpdate, place);
        // The uplink has the same rate, limited by the simulated link itself.
        let world = client.world_mut();
        for mut sim in world.query::<&mut NetSim>().iter_mut(world) {
            sim.up.bytes_per_second = bytes_per_second as u32;
        }
    }
    let count = |trial: &mut Trial, class| -> u64 {
        trial.game.clients.iter().map(|c| c.world().resource::<Bandwidth>().of(class).messages).sum()
    };
    let classes = [MessageClass::Snapshots, MessageClass::Tracers];
    let before = classes.map(|class| count(&mut trial, class));
    let bytes = downlink_bytes(&mut trial);
    const TIME: f64 = 7.0;
    trial.game.set_firing(true);
    trial.run(TIME);
    let each = |after: u64, before: u64| (after - before) as f64 / TIME / 6.0;
    let after = classes.map(|class| count(&mut trial, class));
    let bytes = each(downlink_bytes(&mut trial), bytes);
    trial.game.set_firing(false);
    trial.run(3.0);
    let mut waits: Vec<f64> = Vec::new();
    for client in &trial.game.clients {
        waits.extend(&client.world().resource::<Bottleneck>().queueing_times);
    }
    trial.assert_invariants();
    let squeezed = DownlinkFigures {
        wait: upper_quantile(&mut waits, 990),
        bytes,
        snapshots: each(after[0], before[0]),
        tracers: each(after[1], before[1]),
    };
    println!("{what}: {squeezed:.3?}");
    squeezed
}

fn downlink_bytes(trial: &mut Trial) -> u64 {
    let clients = trial.game.clients.iter_mut().map(|client| {
        let world = client.world_mut();
        let mut sims = world.query::<&NetSim>();
        sims.iter(world).map(|sim| sim.bytes().1).sum::<u64>()
    });
    clients.sum()
}

// Row F11.
#[test]
fn slow_downlink_queues_packets_under_100_ms_and_drops_tracers_first() {
    let usual = DownlinkBudget::default().bytes_per_second;
    let [wide, narrow] = [64_000.0, 16_000.0].map(|line| expect_limited_fight(line, usual));
    for squeezed in [&wide, &narrow] {
        assert!(squeezed.wait < 0.1 && squeezed.tracers > 1.0, "{squeezed:?}");
    }
    // A nearly saturated link, with a server budget to match.
    let starved = expect_limited_fight(8_000.0, 1_000);
    assert!(starved.wait < 0.1, "{starved:?}");
    assert!(starved.tracers < wide.tracers * 0.25, "{starved:?}");
    assert!(starved.snapshots > 5.0 && starved.bytes < wide.bytes, "{starved:?}");
}
