//! Scripted attacks: a client that may be honest, and an attacker on its uplink.

use core::time::Duration;
use std::collections::VecDeque;

use bevy::prelude::*;
use bevy_unlag_core::{MoveInput, Tick};
use bevy_unlag_prediction::{
    AutonomousPawn, IncomingMoveAcks, MovePacket, MoveRun, OutgoingMoves, PredictionConfig, SavedMoves,
    StateCheck,
};
use proptest::{collection::vec, prelude::*};

use crate::properties::{
    decoding::{encoded, runs, vector, wish},
    monitored_server::{Server, TICK, app, frame},
    walker::{Walker, WalkerInput, WalkerState},
};

/// Number of the client's packets that the attacker remembers.
const REMEMBERED: usize = 256;

/// Forged packets.
#[derive(Clone, Debug)]
pub(crate) struct Forged {
    /// Added to the server's epoch.
    pub(crate) epoch: u8,
    pub(crate) sequence: u8,
    /// Ticks from the server's tick to the newest move's.
    pub(crate) lead: i16,
    pub(crate) runs: Vec<MoveRun<WalkerInput>>,
    /// Difference between the claimed result and the server's, in metres.
    pub(crate) off: Vec3,
    /// Number of packets, and the ticks by which each is newer than the one before.
    pub(crate) packets: u8,
    pub(crate) stride: u8,
}

/// Action of a script.
#[derive(Clone, Debug)]
pub(crate) enum AttackStep {
    /// One frame of the server with this length, during which the client has some ticks.
    Frame {
        length: Duration,
        ticks: u8,
        wish: WalkerInput,
    },
    /// Several server frames of one tick each, with a number of client ticks in each.
    Ticks {
        frames: u8,
        ticks: u8,
        wish: WalkerInput,
    },
    /// Whether acknowledgements to the client are lost.
    Deaf(bool),
    /// Flips these bits of the client's next packet.
    Flip(Vec<u16>),
    /// Repeats an earlier packet several times.
    Again {
        ago: u8,
        times: u8,
    },
    /// Holds back the client's packets.
    Withhold,
    /// Stops holding back packets and delivers them, in their order or reversed.
    Release {
        reversed: bool,
    },
    Bytes(Vec<u8>),
    Forge(Forged),
    /// Pushes the pawn on the server.
    Push(Vec3),
}

fn forged() -> impl Strategy<Value = Forged> {
    let epoch = prop_oneof![6 => Just(0u8), 1 => Just(1), 1 => any::<u8>()];
    let lead = prop_oneof![6 => -20..10i16, 4 => -200..70i16, 1 => any::<i16>()];
    let off = prop_oneof![2 => Just(Vec3::ZERO), 2 => vector().prop_map(|v| v * 0.05), 1 => vector()];
    let packets = prop_oneof![8 => 1..4u8, 4 => 4..40u8];
    (epoch, any::<u8>(), lead, runs(6), off, packets, 0..4u8).prop_map(
        |(epoch, sequence, lead, runs, off, packets, stride)| {
            let off = if off.is_finite() { off } else { Vec3::ZERO };
            Forged { epoch, sequence, lead, runs, off, packets, stride }
        },
    )
}

fn act() -> impl Strategy<Value = AttackStep> {
    let millis = prop_oneof![4 => 1..60u16, 2 => 60..500u16, 1 => 500..6_000u16];
    let ticks = prop_oneof![6 => Just(1u8), 2 => 0..4u8, 1 => 0..40u8];
    prop_oneof![
        12 => (millis, ticks, wish()).prop_map(|(millis, ticks, wish)| AttackStep::Frame {
            length: Duration::from_millis(millis.into()),
            ticks,
            wish,
        }),
        12 => (1..40u8, prop_oneof![4 => Just(1u8), 1 => 0..3u8], wish())
            .prop_map(|(frames, ticks, wish)| AttackStep::Ticks { frames, ticks, wish }),
        1 => any::<bool>().prop_map(AttackStep::Deaf),
        4 => vec(any::<u16>(), 1..4).prop_map(AttackStep::Flip),
        3 => (any::<u8>(), 1..80u8).prop_map(|(ago, times)| AttackStep::Again { ago, times }),
        2 => Just(AttackStep::Withhold),
        3 => any::<bool>().prop_map(|reversed| AttackStep::Release { reversed }),
        2 => vec(any::<u8>(), 0..120).prop_map(AttackStep::Bytes),
        10 => forged().prop_map(AttackStep::Forge),
        2 => vector().prop_map(AttackStep::Push),
    ]
}

pub(crate) fn script() -> impl Strategy<Value = Vec<AttackStep>> {
    vec(act(), 1..60)
}

/// Server, client and attacker.
pub(crate) struct Attack {
    pub(crate) server: Server,
    client: App,
    own: Entity,
    deaf: bool,
    flips: Vec<u16>,
    withholding: bool,
    withheld: Vec<Vec<u8>>,
    remembered: VecDeque<Vec<u8>>,
}

impl Attack {
    pub(crate) fn new(config: PredictionConfig, now: Tick) -> Self {
        let mut client = app(Tick(0));
        client.insert_resource(config);
        let own = client.world_mut().spawn(AutonomousPawn::<Walker>::default()).id();
        Self {
            server: Server::new(config, now),
            client,
            own,
            deaf: false,
            flips: Vec::new(),
            withholding: false,
            withheld: Vec::new(),
            remembered: VecDeque::new(),
        }
    }

    /// Runs a script until its end or the first violation.
    pub(crate) fn play(&mut self, script: &[AttackStep]) -> Result<(), String> {
        for (i, act) in script.iter().enumerate() {
            self.act(act).map_err(|why| format!("act {i}, {why}"))?;
        }
        Ok(())
    }

    fn act(&mut self, act: &AttackStep) -> Result<(), String> {
        match act {
            AttackStep::Frame { length, ticks, wish } => self.pass(*length, *ticks, *wish)?,
            AttackStep::Ticks { frames, ticks, wish } => {
                for _ in 0..*frames {
                    self.pass(TICK, *ticks, *wish)?;
                }
            }
            AttackStep::Deaf(deaf) => self.deaf = *deaf,
            AttackStep::Flip(bits) => self.flips.clone_from(bits),
            AttackStep::Again { ago, times } => {
                let ago = usize::from(*ago);
                if let Some(bytes) = self.remembered.iter().rev().nth(ago).cloned() {
                    (0..*times).for_each(|_| self.server.deliver(bytes.clone()));
                }
            }
            AttackStep::Withhold => self.withholding = true,
            AttackStep::Release { reversed } => {
                self.withholding = false;
                if *reversed {
                    self.withheld.reverse();
                }
                self.withheld.drain(..).for_each(|bytes| self.server.deliver(bytes));
            }
            AttackStep::Bytes(bytes) => self.server.deliver(bytes.clone()),
            AttackStep::Forge(forged) => self.forge(forged),
            AttackStep::Push(by) => self.server.push(*by),
        }
        Ok(())
    }

    /// Runs some client ticks and carries their packets, then a server frame.
    fn pass(&mut self, length: Duration, ticks: u8, wish: WalkerInput) -> Result<(), String> {
        for _ in 0..ticks {
            self.client.world_mut().get_mut::<MoveInput<Walker>>(self.own).expect("the own pawn").0 = wish;
            frame(&mut self.client, TICK);
            let mut sent = self.client.world_mut().get_mut::<OutgoingMoves>(self.own);
            for bytes in core::mem::take(&mut sent.as_mut().expect("the client's mailbox").0) {
                self.carry(bytes);
            }
        }
        let answers = self.server.frame(length)?;
        if !self.deaf {
            let mut mailbox = self.client.world_mut().get_mut::<IncomingMoveAcks>(self.own);
            let mailbox = mailbox.as_mut().expect("the client's mailbox");
            answers.into_iter().for_each(|answer| mailbox.deliver(answer));
        }
        let own = self.client.world().entity(self.own);
        let finite = own.get::<WalkerState>().is_none_or(|place| place.position.is_finite());
        let saved = own.get::<SavedMoves<Walker>>().map_or(0, SavedMoves::len);
        if !finite || saved > SavedMoves::<Walker>::CAPACITY {
            return Err(format!("the client has {saved} saved moves at {:?}", own.get::<WalkerState>()));
        }
        Ok(())
    }

    fn carry(&mut self, mut bytes: Vec<u8>) {
        for bit in self.flips.drain(..) {
            let at = usize::from(bit) % (bytes.len() * 8);
            bytes[at / 8] ^= 1 << (at % 8);
        }
        if self.remembered.len() == REMEMBERED {
            self.remembered.pop_front();
        }
        self.remembered.push_back(bytes.clone());
        if self.withholding {
            self.withheld.push(bytes);
        } else {
            self.server.deliver(bytes);
        }
    }

    fn forge(&mut self, forged: &Forged) {
        for i in 0..forged.packets {
            let ticks = i32::from(forged.lead) + i32::from(i) * i32::from(forged.stride);
            // The tick in which the server will read the packet.
            let newest = self.server.now().offset(1 + ticks);
            let claimed =
                WalkerState { position: self.server.place().position + forged.off, ..self.server.place() };
            let sequence = forged.sequence.wrapping_add(i);
            let coarse = MovePacket::<WalkerInput>::is_coarse(sequence);
            self.server.deliver(encoded(&MovePacket {
                epoch: self.server.epoch.wrapping_add(forged.epoch) & 7,
                sequence,
                newest: newest.0 as u16,
                ack_bits: (forged.sequence & 1 == 0).then_some(forged.epoch.wrapping_mul(37)),
                check: StateCheck::of::<Walker>(&claimed, newest, coarse),
                runs: forged.runs.clone(),
            }));
        }
    }
}
