//! `bevy_unlag` side of the rollback benchmark: a server and a client that exchange the bytes of their
//! mailboxes.

use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{CurrentTick, MoveInput, MoveModel, MoveSystems, NetRole, ProxyUpdate, Snapshot, Tick};
use bevy_unlag_movement::{CapsuleModel, CapsuleState};
use bevy_unlag_prediction::{
    AuthorityPawn, AutonomousPawn, IncomingMoveAcks, IncomingMoves, OutgoingMoveAcks, OutgoingMoves,
    PredictionPlugin, PredictionStats,
};
use bevy_unlag_smoothing::{SmoothingPlugin, SnapshotInbox};
use cpu_time::ThreadTime;

use crate::{
    CHARACTERS,
    corrections::{Counts, DEPTH, Side},
    scene::{self, Walker, shove, states, step_walkers},
};

/// Frames until the pawn walks and the queue lengths have settled.
const WARM_UP: usize = 400;

/// Downlink traffic of a frame: acknowledgements for the pawn, and snapshots of the other characters.
type Downstream = (Vec<Vec<u8>>, Vec<Snapshot>);

/// Server with all characters, and client with one pawn and a proxy for every other character.
pub struct UnlagSide {
    client: App,
    server: App,
    /// Pawn on the client and on the server.
    pawn: [Entity; 2],
    /// Other characters on the client and on the server, in the same order.
    others: [Vec<Entity>; 2],
    /// Downlink traffic in flight.
    down: VecDeque<Downstream>,
    /// Frames that it takes.
    delay: usize,
    frames: u32,
}

impl UnlagSide {
    /// Connects client and server and adjusts the delay such that a correction is [`DEPTH`] ticks old.
    ///
    /// # Errors
    /// Returns a message if client and server do not synchronise.
    pub fn new() -> Result<Self, String> {
        let (mut client, mut server) = (scene::app(), scene::app());
        client.add_plugins((PredictionPlugin::<CapsuleModel>::default(), SmoothingPlugin));
        server
            .add_plugins(PredictionPlugin::<CapsuleModel>::default())
            .add_systems(FixedUpdate, step_walkers::<With<Walker>>.in_set(MoveSystems::Step));
        let state = scene::start(Walker(0));
        let pawn = [
            client.world_mut().spawn(AutonomousPawn::<CapsuleModel>::default()).id(),
            server.world_mut().spawn((AuthorityPawn::<CapsuleModel>::default(), state)).id(),
        ];
        let walkers = (1..CHARACTERS).map(|i| Walker(i as u16));
        let proxies = walkers.clone().map(|_| (NetRole::SimulatedProxy, SnapshotInbox::default()));
        let others = [
            client.world_mut().spawn_batch(proxies.collect::<Vec<_>>()).collect(),
            server
                .world_mut()
                .spawn_batch(walkers.map(|w| (w, scene::start(w))).collect::<Vec<_>>())
                .collect(),
        ];
        scene::finish_plugins(&mut client);
        scene::finish_plugins(&mut server);
        let mut side = Self { client, server, pawn, others, down: VecDeque::new(), delay: 0, frames: 0 };
        side.run(WARM_UP);
        // Without delay a correction is as old as the server's move queue is long; the link's delay adds the
        // rest.
        let depth = side.measured_depth()?;
        let missing = DEPTH.checked_sub(depth);
        side.delay = missing.ok_or(format!("ours: {depth} moves are queued without any delay"))? as usize;
        side.run(WARM_UP);
        Ok(side)
    }

    fn run(&mut self, frames: usize) {
        for _ in 0..frames {
            self.frame();
        }
    }

    /// Provokes a correction and returns the number of replayed moves.
    fn measured_depth(&mut self) -> Result<u64, String> {
        let from = self.server_states().first().ok_or("ours: the server has no pawn")?.position;
        self.run(20);
        let before = self.counts();
        self.shove(from);
        self.run(40);
        let after = self.counts();
        match after.corrections - before.corrections {
            1 => Ok(after.ticks - before.ticks),
            n => Err(format!("ours: {n} corrections after one displacement")),
        }
    }

    /// Returns what the server sends in this frame.
    fn send(&mut self) -> Downstream {
        let world = self.server.world_mut();
        let answers = world.get_mut::<OutgoingMoveAcks>(self.pawn[1]);
        let answers = answers.map(|mut mailbox| core::mem::take(&mut mailbox.0)).unwrap_or_default();
        let tick = world.resource::<CurrentTick>().0;
        let states = self.others[1].iter().filter_map(|other| world.get::<CapsuleState>(*other));
        (answers, states.map(|state| CapsuleModel::snapshot(state, tick)).collect())
    }

    fn receive(&mut self, (answers, snapshots): Downstream) {
        let world = self.client.world_mut();
        if let Some(mut mailbox) = world.get_mut::<IncomingMoveAcks>(self.pawn[0]) {
            answers.into_iter().for_each(|bytes| mailbox.deliver(bytes));
        }
        for (other, snapshot) in self.others[0].iter().zip(snapshots) {
            if let Some(mut inbox) = world.get_mut::<SnapshotInbox>(*other) {
                inbox.0.push(ProxyUpdate::new(snapshot, &[]));
            }
        }
    }
}

impl Side for UnlagSide {
    fn name(&self) -> String {
        "ours".into()
    }

    fn frame(&mut self) -> f64 {
        let sent = self.send();
        self.down.push_back(sent);
        while self.down.len() > self.delay
            && let Some(arrived) = self.down.pop_front()
        {
            self.receive(arrived);
        }
        self.frames += 1;
        let wish = scene::input(Walker(0), Tick(self.frames));
        if let Some(mut input) = self.client.world_mut().get_mut::<MoveInput<CapsuleModel>>(self.pawn[0]) {
            input.0 = wish;
        }
        let start = ThreadTime::now();
        self.client.update();
        let micros = start.elapsed().as_secs_f64() * 1e6;

        let mut moves = self.client.world_mut().get_mut::<OutgoingMoves>(self.pawn[0]);
        let moves = moves.as_mut().map(|mailbox| core::mem::take(&mut mailbox.0)).unwrap_or_default();
        if let Some(mut mailbox) = self.server.world_mut().get_mut::<IncomingMoves>(self.pawn[1]) {
            moves.into_iter().for_each(|bytes| mailbox.deliver(bytes));
        }
        self.server.update();
        micros
    }

    fn shove(&mut self, to: Vec3) {
        shove(&mut self.server, self.pawn[1], to);
    }

    fn client_states(&self) -> Vec<CapsuleState> {
        states(&self.client, &self.pawn[..1])
    }

    fn server_states(&self) -> Vec<CapsuleState> {
        states(&self.server, &self.pawn[1..])
    }

    fn counts(&self) -> Counts {
        let stats = self.client.world().get::<PredictionStats>(self.pawn[0]).copied().unwrap_or_default();
        Counts {
            corrections: stats.corrections + u64::from(stats.server_changes()),
            ticks: stats.replayed,
            steps: stats.replayed,
        }
    }

    fn predicted(&self) -> usize {
        1
    }
}
