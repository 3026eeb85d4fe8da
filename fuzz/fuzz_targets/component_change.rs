//! Component changes by a pawn's owner: any bytes are a change or ignored, and the newest readable one
//! applies.
//!
//! The input is a script: one byte selects the operation and its amount; the bytes of a change follow.

#![no_main]

use core::time::Duration;

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Interpolate, InterpolationSpan, Tick, Wire, WireError};
use bevy_unlag_lightyear::{
    Bandwidth, MessageClass, ReplicatePredicted,
    fuzzing::{InjectedMessage, LinkProbe},
};
use bevy_unlag_prediction::MAX_MAILBOX_MESSAGES;
use libfuzzer_sys::fuzz_target;
use lightyear::prelude::{ControlledBy, Lifetime};

/// Maximum number of frames per script.
const MAX_FRAMES: u32 = 60;

#[derive(Component, Clone, Copy, PartialEq, Debug)]
struct Hat {
    tilt: f32,
    /// Less than 6.
    kind: u8,
}

const BARE: Hat = Hat { tilt: 0.0, kind: 0 };

impl Wire for Hat {
    fn write(&self, w: &mut BitWriter) {
        w.f32(self.tilt);
        w.bits(u32::from(self.kind), 3);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        let (tilt, kind) = (r.f32()?, r.bits(3)? as u8);
        if kind < 6 { Ok(Self { tilt, kind }) } else { Err(WireError::Invalid) }
    }
}

impl Interpolate for Hat {
    fn interpolate(from: &Self, _: &Self, _: &InterpolationSpan) -> Self {
        *from
    }
}

fn read(bytes: &[u8]) -> Option<(Hat, Tick)> {
    let mut r = BitReader::new(bytes);
    let tick = Tick::read(&mut r).ok()?;
    Some((Hat::read(&mut r).ok()?, tick))
}

fn written(hat: &Hat, tick: Tick) -> Vec<u8> {
    let mut w = BitWriter::default();
    tick.write(&mut w);
    hat.write(&mut w);
    w.finish()
}

struct Run {
    probe: LinkProbe,
    own: Entity,
    other: Entity,
    /// Expected component of the client's own pawn.
    hat: Hat,
    received_tick: Option<Tick>,
    /// Changes received in this frame.
    received: Vec<Option<(Hat, Tick)>>,
    counted: u64,
}

impl Run {
    fn start() -> Self {
        let mut probe = LinkProbe::server(|app| {
            app.replicate_predicted::<Hat>();
        });
        let owner = ControlledBy { owner: probe.link, lifetime: Lifetime::SessionBased };
        let world = probe.app.world_mut();
        let (own, other) = (world.spawn((BARE, owner)).id(), world.spawn(BARE).id());
        Self { probe, own, other, hat: BARE, received_tick: None, received: Vec::new(), counted: 0 }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.probe.put(InjectedMessage::Change, bytes);
        self.received.push(read(bytes));
    }

    fn frame(&mut self) {
        self.probe.pass(Duration::from_millis(16));
        // Messages beyond the limit are not read.
        self.received.truncate(MAX_MAILBOX_MESSAGES);
        self.counted += self.received.len() as u64;
        let newer = |tick: Tick, than: Option<Tick>| than.is_none_or(|than| tick.is_newer_than(than));
        let mut newest: Option<(Hat, Tick)> = None;
        for (hat, tick) in self.received.drain(..).flatten() {
            if newer(tick, newest.map(|(_, tick)| tick)) {
                newest = Some((hat, tick));
            }
        }
        if let Some((hat, tick)) = newest.filter(|(_, tick)| newer(*tick, self.received_tick)) {
            (self.hat, self.received_tick) = (hat, Some(tick));
        }
        let world = self.probe.app.world();
        let hat = |pawn| world.get::<Hat>(pawn).copied();
        assert_eq!((hat(self.own), hat(self.other)), (Some(self.hat), Some(BARE)));
        assert!(self.hat.tilt.is_finite() && self.hat.kind < 6);
        let moves = world.resource::<Bandwidth>().of(MessageClass::Moves);
        assert_eq!(moves.messages, self.counted, "the number of read messages differs from the limit");
    }
}

fuzz_target!(|script: &[u8]| {
    let mut run = Run::start();
    let mut frames = MAX_FRAMES;
    let mut script = script;
    while let Some((first, rest)) = script.split_first() {
        let much = first >> 2;
        let length = if first & 3 < 2 { usize::from(much & 15) } else { 0 };
        let (bytes, rest) = rest.split_at(length.min(rest.len()));
        script = rest;
        match first & 3 {
            0 | 1 => run.put(bytes),
            // A change by an honest owner.
            2 => {
                let hat = Hat { tilt: f32::from(much) - 7.5, kind: much % 6 };
                let tick = run.received_tick.unwrap_or(Tick(u32::MAX)).offset(i32::from(much) + 1);
                let bytes = written(&hat, tick);
                assert_eq!(read(&bytes), Some((hat, tick)));
                run.put(&bytes);
            }
            _ if frames == 0 => break,
            _ => {
                frames -= 1;
                run.frame();
            }
        }
    }
    run.frame();
});
