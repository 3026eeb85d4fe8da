//! Server and two clients over netcode, driven by a script of operations. Nothing may panic, all positions
//! must stay finite, and the honest client must stay connected.

#![no_main]

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag::{link_conditioner::LinkConditions, prelude::*};
use libfuzzer_sys::fuzz_target;
use lightyear::{
    link::{Link, RecvPayload},
    prelude::{Client, Connected, Disconnect, server::ClientOf},
};
use unlag_examples::stepped_match::{Match, MatchOptions};

/// Simulated time per script, short enough to run many scripts.
const MAX_TIME: Duration = Duration::from_secs(6);

/// Index of the client with the hostile traffic; the other one is honest.
const HOSTILE: usize = 0;

struct Run {
    game: Match,
    left: Duration,
    /// Remaining time for which the server may stall; all clients time out after three seconds.
    stalls: Duration,
}

impl Run {
    fn pass(&mut self, milliseconds: u64) {
        let time = Duration::from_millis(milliseconds).min(self.left);
        self.left -= time;
        self.game.run(time);
    }

    fn stall_server(&mut self, milliseconds: u64) {
        let time = Duration::from_millis(milliseconds).min(self.stalls);
        self.stalls -= time;
        self.game.stall_server(time);
    }

    fn links(&mut self, change: impl Fn(&mut NetSim)) {
        let world = self.game.clients[HOSTILE].world_mut();
        world.query::<&mut NetSim>().iter_mut(world).for_each(|mut sim| change(&mut sim));
    }

    /// Sends a packet of lightyear's, encrypted with the client's key.
    fn send(&mut self, packet: &[u8]) {
        let world = self.game.clients[HOSTILE].world_mut();
        for mut link in world.query_filtered::<&mut Link, With<Client>>().iter_mut(world) {
            link.send(packet.to_vec().into());
        }
    }

    /// Delivers a datagram on every link of the server, as a sender with a forged address could.
    fn arrive(&mut self, datagram: &[u8]) {
        let world = self.game.server.world_mut();
        for mut link in world.query_filtered::<&mut Link, With<ClientOf>>().iter_mut(world) {
            link.recv.push_raw(RecvPayload::from(datagram));
        }
    }

    fn leave(&mut self) {
        let world = self.game.clients[HOSTILE].world_mut();
        let links: Vec<_> = world.query_filtered::<Entity, With<Client>>().iter(world).collect();
        links.into_iter().for_each(|entity| world.trigger(Disconnect { entity }));
    }

    fn check(&mut self) {
        for app in self.game.apps_mut() {
            let world = app.world_mut();
            for state in world.query::<&SoldierState>().iter(world) {
                assert!(state.body.position.is_finite() && state.body.velocity.is_finite(), "{state:?}");
            }
            for drawn in world.query::<&DrawnPose>().iter(world) {
                assert!(drawn.pose.position.is_finite() && drawn.pose.rotation.is_finite(), "{drawn:?}");
            }
        }
        let world = self.game.clients[1].world_mut();
        let honest = world.query_filtered::<(), (With<Client>, With<Connected>)>().iter(world).count();
        assert_eq!(honest, 1, "the honest client lost its connection");
    }
}

/// Splits a number of bytes off a script.
fn take<'a>(script: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = script.split_at(count.min(script.len()));
    *script = rest;
    taken
}

fuzz_target!(|script: &[u8]| {
    let options = MatchOptions { players: 2, fps: 64.0, ..MatchOptions::default() };
    let game = Match::start(&options).unwrap_or_else(|line| panic!("{line}"));
    let mut run = Run { game, left: MAX_TIME, stalls: Duration::from_secs(1) };
    run.game.set_firing(true);
    let mut script = script;
    while let Some((first, rest)) = script.split_first() {
        script = rest;
        let much = first >> 4;
        match first & 15 {
            0..4 => run.pass(16 * (u64::from(much) + 1)),
            4 => run.links(|sim| sim.up.loss = f32::from(much) / 15.0),
            5 => run.links(|sim| sim.down.loss = f32::from(much) / 15.0),
            6 => run.links(|sim| {
                sim.up.duplication = f32::from(much) / 15.0;
                sim.down.duplication = sim.up.duplication;
            }),
            7 => run.links(|sim| {
                let delay = Duration::from_millis(u64::from(much) * 10);
                (sim.up.reorder, sim.up.reorder_delay) = (0.5, delay);
                (sim.down.reorder, sim.down.reorder_delay) = (0.5, delay);
            }),
            8 => run.game.stall_client(HOSTILE, Duration::from_millis(u64::from(much) * 50)),
            9 => run.stall_server(u64::from(much) * 20),
            // Datagrams with a forged sender.
            10 => {
                let length = take(&mut script, 2).iter().fold(0, |n, byte| n << 8 | usize::from(*byte));
                let datagram = take(&mut script, length % 1_400);
                run.arrive(datagram);
            }
            // Forged packets.
            11 | 12 => {
                let packet = take(&mut script, usize::from(much) * 4 + 13);
                run.send(packet);
            }
            // A message with any id on any channel, in a valid packet.
            13 | 14 => {
                let [channel, message] = *take(&mut script, 2) else { break };
                let body = take(&mut script, usize::from(much) * 2);
                let id: &[u8] = if first & 15 == 13 { &[0] } else { &[1, 0, much] };
                let head = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
                let length = [1 + body.len() as u8];
                let packet = [&head[..], &[channel & 63, 1], id, &length, &[message & 63], body].concat();
                run.send(&packet);
            }
            _ if much == 15 => run.leave(),
            _ => run.links(|sim| sim.set(LinkConditions::PERFECT)),
        }
        if run.left.is_zero() {
            break;
        }
    }
    run.left = Duration::from_secs(1);
    run.pass(500);
    run.check();
});
