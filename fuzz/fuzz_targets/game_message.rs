//! Game messages: everything received was sent by the rules of its type, and no message is lost without
//! cause.
//!
//! The first byte selects whether a server or a client receives. The rest is a script: one byte selects the
//! operation; the bytes of a message follow.

#![no_main]

use core::time::Duration;
use std::sync::OnceLock;

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, NetId, Wire, WireError};
use bevy_unlag_lightyear::{
    AddGameMessage, Delivery, GameMessageStats, MessageDirection, MessageLimits, MessageRules, MessageSource,
    Received,
    fuzzing::{InjectedMessage, LinkProbe, message_key},
};
use libfuzzer_sys::fuzz_target;
use lightyear::prelude::{ControlledBy, Lifetime};

/// Maximum number of frames per script.
const MAX_FRAMES: u32 = 60;
/// Limit of messages that wait for their pawns, small enough for scripts to exceed it.
const WAITING: usize = 4;
/// Largest number that can be decoded.
const LARGEST: u32 = 1_000;
/// Pawn that spawns and despawns. Pawn 1 is the client's own, pawn 2 belongs to no client.
const GUEST: u16 = 3;
const WAVES_PER_SECOND: f32 = 5.0;

const RULES: [MessageRules; 4] = [
    MessageRules::to_server().per_second(10_000.0),
    MessageRules::to_server().unreliable().per_second(WAVES_PER_SECOND),
    MessageRules::to_owner(),
    MessageRules::to_everyone().unreliable(),
];
const WAVE: usize = 1;

trait Number: Wire + Send + Sync + 'static {
    /// Index in [`RULES`].
    const KIND: usize;
    fn number(&self) -> u32;
}

macro_rules! numbers {
    ($($name:ident = $kind:literal),*) => {$(
        struct $name(u32);

        impl Wire for $name {
            fn write(&self, w: &mut BitWriter) {
                w.bits(self.0, 32);
            }

            fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
                Some(r.bits(32)?).filter(|number| *number <= LARGEST).map(Self).ok_or(WireError::Invalid)
            }
        }

        impl Number for $name {
            const KIND: usize = $kind;

            fn number(&self) -> u32 {
                self.0
            }
        }
    )*};
}
numbers!(Say = 0, Wave = 1, Tell = 2, Spark = 3);

#[derive(Clone, Copy, PartialEq, Debug)]
struct Content {
    kind: usize,
    about: Option<u16>,
    number: u32,
}

#[derive(Resource, Default)]
struct ReceivedMessages(Vec<Content>);

fn record_received<M: Number>(
    mut messages: MessageReader<Received<M>>,
    names: Query<&NetId>,
    mut received: ResMut<ReceivedMessages>,
) {
    for Received { from, about, message } in messages.read() {
        let up = RULES[M::KIND].direction == MessageDirection::ToServer;
        assert_eq!(*from != MessageSource::Server, up, "a message of the wrong direction was received");
        let about = about.map(|pawn| names.get(pawn).expect("the message's pawn exists").0);
        received.0.push(Content { kind: M::KIND, about, number: message.number() });
    }
}

fn add<M: Number>(app: &mut App) {
    app.add_game_message::<M>(RULES[M::KIND]).add_systems(Update, record_received::<M>);
}

fn game(app: &mut App) {
    app.init_resource::<ReceivedMessages>().insert_resource(MessageLimits { waiting: WAITING, ..default() });
    add::<Say>(app);
    add::<Wave>(app);
    add::<Tell>(app);
    add::<Spark>(app);
}

fn keys() -> &'static [u16; 4] {
    static KEYS: OnceLock<[u16; 4]> = OnceLock::new();
    KEYS.get_or_init(|| {
        [
            message_key::<Say>(RULES[0]),
            message_key::<Wave>(RULES[1]),
            message_key::<Tell>(RULES[2]),
            message_key::<Spark>(RULES[3]),
        ]
    })
}

/// Independent decoder: returns the content of a message if it is valid for this side and channel.
fn open(bytes: &[u8], lane: InjectedMessage, server: bool) -> Option<Content> {
    let mut r = BitReader::new(bytes);
    let key = r.bits(16).ok()? as u16;
    let kind = keys().iter().position(|known| *known == key)?;
    let MessageRules { direction, delivery, .. } = RULES[kind];
    if lane != lane_of(delivery) || server != (direction == MessageDirection::ToServer) {
        return None;
    }
    let about = if r.bool().ok()? { Some(r.golomb(4).ok()?) } else { None };
    let number = r.bits(32).ok()?;
    (number <= LARGEST && r.bytes_read() == bytes.len()).then_some(Content { kind, about, number })
}

fn lane_of(delivery: Delivery) -> InjectedMessage {
    if delivery == Delivery::Reliable { InjectedMessage::Reliable } else { InjectedMessage::Unreliable }
}

struct Run {
    probe: LinkProbe,
    server: bool,
    guest: Option<Entity>,
    /// Messages sent so far, valid or not.
    put: u64,
    /// Valid messages of this frame.
    new: Vec<Content>,
    /// Valid messages whose pawn did not exist.
    late: Vec<Content>,
    received: u64,
    waves: u32,
    seconds: f32,
}

impl Run {
    fn start(server: bool) -> Self {
        let mut probe = if server { LinkProbe::server(game) } else { LinkProbe::client(game) };
        let owner = ControlledBy { owner: probe.link, lifetime: Lifetime::SessionBased };
        let world = probe.app.world_mut();
        let own = world.spawn(NetId(1)).id();
        if server {
            world.entity_mut(own).insert(owner);
        }
        world.spawn(NetId(2));
        let (new, late) = (Vec::new(), Vec::new());
        Self { probe, server, guest: None, put: 0, new, late, received: 0, waves: 0, seconds: 0.0 }
    }

    fn put(&mut self, lane: InjectedMessage, bytes: &[u8]) {
        self.probe.put(lane, bytes);
        self.put += 1;
        self.new.extend(open(bytes, lane, self.server));
    }

    fn toggle_guest(&mut self) {
        let world = self.probe.app.world_mut();
        self.guest = match self.guest.take() {
            Some(guest) => {
                world.despawn(guest);
                None
            }
            None => Some(world.spawn(NetId(GUEST)).id()),
        };
    }

    fn is_here(&self, pawn: u16) -> bool {
        pawn == 1 || pawn == 2 || pawn == GUEST && self.guest.is_some()
    }

    fn frame(&mut self, time: Duration) {
        self.probe.pass(time);
        self.seconds += time.as_secs_f32();
        let contents = core::mem::take(&mut self.probe.app.world_mut().resource_mut::<ReceivedMessages>().0);
        for content in contents {
            self.received += 1;
            self.waves += u32::from(content.kind == WAVE);
            assert!(content.about.is_none_or(|pawn| self.is_here(pawn)), "{content:?}");
            assert!(
                !self.server || content.about.is_none_or(|pawn| pawn == 1),
                "{content:?} is about a foreign pawn"
            );
            let list = if self.new.contains(&content) { &mut self.new } else { &mut self.late };
            let known = list.iter().position(|known| *known == content);
            list.remove(known.unwrap_or_else(|| panic!("{content:?} was received but not sent")));
        }
        for content in core::mem::take(&mut self.new) {
            let here = content.about.is_none_or(|pawn| self.is_here(pawn));
            let may_be_refused =
                self.server && (content.kind == WAVE || content.about.is_some_and(|pawn| pawn != 1));
            assert!(!here || may_be_refused, "{content:?} was lost");
            if !here && !self.server {
                self.late.push(content);
            }
        }
        let stats = *self.probe.app.world().resource::<GameMessageStats>();
        assert_eq!(stats.received, self.received);
        assert!(stats.waiting <= if self.server { 0 } else { WAITING }, "{stats:?}");
        let counted = stats.received + stats.refused + stats.waiting as u64 + stats.expired;
        assert_eq!(counted, self.put, "{stats:?}");
        // A burst of ten seconds' worth, then one second's worth per second.
        let most = WAVES_PER_SECOND * (self.seconds + 10.0) + 1.0;
        assert!(self.waves as f32 <= most || !self.server, "{} waves", self.waves);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((side, mut script)) = bytes.split_first() else { return };
    let mut run = Run::start(side & 1 == 0);
    let mut frames = MAX_FRAMES;
    while let Some((first, rest)) = script.split_first() {
        let (what, much) = (first & 7, usize::from(first >> 3));
        let length = match what {
            0 | 1 => much,
            2..=5 => much & 15,
            _ => 0,
        };
        let (body, rest) = rest.split_at(length.min(rest.len()));
        script = rest;
        match what {
            0 => run.put(InjectedMessage::Reliable, body),
            1 => run.put(InjectedMessage::Unreliable, body),
            2..=5 => {
                let kind = usize::from(what - 2);
                let other = much & 16 != 0;
                let lane = match lane_of(RULES[kind].delivery) {
                    InjectedMessage::Reliable if other => InjectedMessage::Unreliable,
                    InjectedMessage::Unreliable if other => InjectedMessage::Reliable,
                    lane => lane,
                };
                run.put(lane, &[&keys()[kind].to_le_bytes()[..], body].concat());
            }
            6 => run.toggle_guest(),
            _ if frames == 0 => break,
            _ => {
                frames -= 1;
                run.frame(Duration::from_millis([15, 16, 1_000, 6_000][much & 3]));
            }
        }
    }
    run.frame(Duration::from_millis(16));
});
