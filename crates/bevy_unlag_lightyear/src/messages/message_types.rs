//! Registry of game message types.

use core::marker::PhantomData;

use bevy::{ecs::system::SystemId, platform::collections::HashMap, prelude::*};
use bevy_unlag_core::{BitReader, BitWriter, NetId, Wire, WireError};

use super::{Delivery, MessageDirection, MessageRules, MessageSource, MessageVerdict, Received};

/// Index of a message type in [`GameMessageTypes`].
#[derive(Resource)]
pub struct MessageTypeIndex<M>(pub(super) usize, pub(super) PhantomData<fn() -> M>);

/// The validation system of a message type.
#[derive(Resource)]
pub(super) struct MessageValidator<M: Send + Sync + 'static>(
    pub(super) SystemId<InRef<'static, Received<M>>, MessageVerdict>,
);

/// A message without its envelope, and its undecoded body.
pub(super) struct Envelope<'a> {
    pub from: MessageSource,
    pub about: Option<Entity>,
    pub body: BitReader<'a>,
    /// Length of the whole message, in bytes.
    pub bytes: usize,
}

/// A registered message type.
#[derive(Clone, Copy)]
pub(super) struct GameMessageType {
    pub name: &'static str,
    pub rules: MessageRules,
    /// Id on the wire.
    pub key: u16,
    /// Decodes the message, runs the validation system, and writes it for the game.
    pub deliver_message: fn(&mut World, Envelope<'_>) -> Result<MessageVerdict, WireError>,
}

/// All registered message types.
#[derive(Resource, Default)]
pub struct GameMessageTypes {
    pub(super) all: Vec<GameMessageType>,
    by_key: HashMap<u16, usize>,
}

impl GameMessageTypes {
    /// Registers a type, or replaces its rules. Returns its index.
    pub(super) fn add<M: Wire + Send + Sync + 'static>(&mut self, rules: MessageRules) -> usize {
        let name = core::any::type_name::<M>();
        let known = self.all.iter().position(|kind| kind.name == name);
        let number = known.unwrap_or(self.all.len());
        let kind = GameMessageType { name, rules, key: 0, deliver_message: deliver_message::<M> };
        match self.all.get_mut(number) {
            Some(known) => *known = kind,
            None => self.all.push(kind),
        }
        self.name();
        number
    }

    /// Assigns wire ids by name, independently of the order of registration. On a hash collision, the type
    /// that comes later in the alphabet gets the next free id.
    fn name(&mut self) {
        let mut order: Vec<usize> = (0..self.all.len()).collect();
        order.sort_unstable_by_key(|number| self.all[*number].name);
        self.by_key.clear();
        for number in order {
            let kind = &mut self.all[number];
            let hash = hash(kind.name, kind.rules);
            kind.key = (hash >> 16) as u16 ^ hash as u16;
            while self.by_key.contains_key(&kind.key) {
                kind.key = kind.key.wrapping_add(1);
            }
            self.by_key.insert(kind.key, number);
        }
    }

    /// Returns a hash that is equal for apps with the same message types and rules.
    pub(crate) fn hash(&self) -> u64 {
        self.all.iter().fold(0, |sum: u64, kind| {
            let one = u64::from(hash(kind.name, kind.rules)) << 16 | 1;
            // With another rate, a client's own limiter would let through messages that the server refuses.
            let rate = u64::from(kind.rules.per_second.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            sum.wrapping_add(one ^ rate)
        })
    }

    /// Returns the id of a registered type on the wire.
    #[cfg(all(feature = "prediction", feature = "smoothing"))]
    pub(crate) fn key_of<M: 'static>(&self) -> Option<u16> {
        let name = core::any::type_name::<M>();
        self.all.iter().find(|kind| kind.name == name).map(|kind| kind.key)
    }

    pub(super) fn by_key(&self, key: u16) -> Option<(usize, GameMessageType)> {
        let number = *self.by_key.get(&key)?;
        Some((number, *self.all.get(number)?))
    }
}

fn hash(name: &str, rules: MessageRules) -> u32 {
    let way = match rules.direction {
        MessageDirection::ToServer => 0,
        MessageDirection::ToOwner => 1,
        MessageDirection::ToEveryone => 2,
    };
    let rest = [way, u8::from(rules.delivery == Delivery::Reliable)];
    name.bytes()
        .chain(rest)
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Writes the envelope: message type, and the pawn that the message is about.
pub(super) fn write_envelope(key: u16, about: Option<NetId>) -> BitWriter {
    let mut w = BitWriter::default();
    w.bits(u32::from(key), 16);
    w.bool(about.is_some());
    if let Some(NetId(id)) = about {
        w.golomb(id, 4);
    }
    w
}

/// Reads what [`write_envelope`] wrote after the key.
pub(super) fn read_envelope_pawn(r: &mut BitReader<'_>) -> Result<Option<NetId>, WireError> {
    Ok(if r.bool()? { Some(NetId(r.golomb(4)?)) } else { None })
}

fn deliver_message<M: Wire + Send + Sync + 'static>(
    world: &mut World,
    mut envelope: Envelope<'_>,
) -> Result<MessageVerdict, WireError> {
    let message = M::read(&mut envelope.body)?;
    if envelope.body.bytes_read() < envelope.bytes {
        // Trailing bytes.
        return Err(WireError::Invalid);
    }
    let received = Received { from: envelope.from, about: envelope.about, message };
    let validator = match envelope.from {
        MessageSource::Server => None,
        MessageSource::Client(_) | MessageSource::Host => {
            world.get_resource::<MessageValidator<M>>().map(|validator| validator.0)
        }
    };
    let verdict = validator.map_or(MessageVerdict::Accept, |validator| {
        world.run_system_with(validator, &received).unwrap_or_else(|error| {
            error_once!("game messages are rejected because their validation system cannot run: {error}");
            MessageVerdict::Reject
        })
    });
    if verdict == MessageVerdict::Accept {
        world.write_message(received);
    }
    Ok(verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct A;
    struct B;
    struct C;

    macro_rules! empty {
        ($($name:ident),*) => {$(
            impl Wire for $name {
                fn write(&self, _: &mut BitWriter) {}
                fn read(_: &mut BitReader<'_>) -> Result<Self, WireError> {
                    Ok(Self)
                }
            }
        )*};
    }
    empty!(A, B, C);

    const RULES: MessageRules = MessageRules::to_server();

    #[test]
    fn wire_ids_do_not_depend_on_the_order_of_registration() {
        let mut here = GameMessageTypes::default();
        here.add::<A>(RULES);
        here.add::<B>(RULES);
        here.add::<C>(RULES);
        let mut there = GameMessageTypes::default();
        there.add::<C>(RULES);
        there.add::<A>(RULES);
        there.add::<B>(RULES);
        there.add::<A>(RULES);
        assert_eq!((here.all.len(), there.all.len()), (3, 3));
        assert_eq!(here.hash(), there.hash());
        there.add::<A>(RULES.per_second(4.0));
        assert_ne!(here.hash(), there.hash(), "a client with a higher rate would be kicked");
        there.add::<A>(RULES);
        assert_eq!(here.hash(), there.hash());
        for kind in &here.all {
            assert_eq!(there.by_key(kind.key).map(|(_, kind)| kind.name), Some(kind.name));
        }
        let other = there.add::<A>(RULES.unreliable());
        assert!(here.by_key(there.all[other].key).is_none(), "other rules give another id");
        assert_ne!(here.hash(), there.hash());
    }

    #[test]
    fn types_with_colliding_hashes_get_distinct_wire_ids() {
        let mut kinds = GameMessageTypes::default();
        for number in 0..2_000 {
            kinds.all.push(GameMessageType {
                name: Box::leak(format!("message {number}").into_boxed_str()),
                rules: RULES,
                key: 0,
                deliver_message: deliver_message::<C>,
            });
        }
        kinds.name();
        let short = |hash: u32| (hash >> 16) as u16 ^ hash as u16;
        let clashes = kinds.all.iter().filter(|kind| kind.key != short(hash(kind.name, kind.rules))).count();
        assert!(clashes > 5, "{clashes}: too few collisions for this test");
        assert!((0..kinds.all.len()).all(|n| kinds.by_key(kinds.all[n].key).is_some_and(|(at, _)| at == n)));
    }

    #[test]
    fn envelope_survives_a_round_trip() {
        for about in [None, Some(NetId(0)), Some(NetId(7)), Some(NetId(u16::MAX))] {
            let bytes = write_envelope(0xBEEF, about).finish();
            let mut r = BitReader::new(&bytes);
            assert_eq!((r.bits(16), read_envelope_pawn(&mut r)), (Ok(0xBEEF), Ok(about)));
            for cut in 0..bytes.len() {
                let mut r = BitReader::new(&bytes[..cut]);
                assert!(r.bits(16).is_err() || read_envelope_pawn(&mut r).is_err());
            }
        }
    }
}
