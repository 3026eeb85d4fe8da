//! Behaviour of `#[derive(Wire)]`. The expansion and its errors are tested in `bevy_unlag_derive`.

use core::{f32::consts::PI, marker::PhantomData};

use bevy::prelude::*;

use crate::{
    BitReader, BitWriter, NetId, Tick, Wire, WireError, check_wire, check_wire_value,
    wire_format::{IntBits, WireFormat},
};

const LIMIT: f32 = 40.0;

#[derive(Wire, Clone, Copy, PartialEq, Default, Debug)]
struct Input {
    #[wire(range = -1.0..=1.0, bits = 8)]
    axes: Vec2,
    #[wire(angle, bits = 16)]
    yaw: f32,
    #[wire(range = -LIMIT..=LIMIT, step = 0.5)]
    height: f64,
    #[wire(range = 1..=Self::LAST_SLOT)]
    slot: u8,
    #[wire(bits = 2)]
    stance: u8,
    jump: bool,
    target: Option<NetId>,
}

impl Input {
    const LAST_SLOT: u8 = 6;
    /// 2 axes, yaw, 161 heights, 6 slots, stance, jump, no target.
    const BITS: usize = 2 * 8 + 16 + 8 + 3 + 2 + 1 + 1;
}

#[derive(Wire, Clone, PartialEq, Debug)]
enum Message {
    Ping,
    Chat(#[wire(max = 12)] String),
    Path {
        #[wire(max = 3, range = -100.0..=100.0, bits = 12)]
        points: Vec<Vec3>,
        #[wire(unit, bits = 24)]
        facing: Dir3,
        kind: Kind,
    },
    Signed(i64, [Option<i8>; 2], #[wire(range = -5..=-2)] i16),
    Nothing(()),
}

#[derive(Wire, Clone, Copy, PartialEq, Debug)]
enum Kind {
    Walk,
    Run,
}

#[derive(Wire, Clone, PartialEq, Debug)]
struct Generic<'a, T: Copy, const N: usize>
where
    T: PartialEq,
{
    items: [T; N],
    whole: f32,
    tick: Tick,
    #[wire(skip)]
    note: String,
    #[wire(skip)]
    life: PhantomData<&'a ()>,
}

#[derive(Wire, Clone, Copy, PartialEq, Debug)]
struct Unit;

/// A name for a type that the macro does not know.
type Number = u32;

#[derive(Wire, Clone, PartialEq, Debug)]
struct Aliases {
    #[wire(bits = 5)]
    bits: Number,
    #[wire(range = 3..=4)]
    range: Number,
    #[wire(with = IntBits::new(3))]
    with: [Number; 2],
}

mod reexport {
    pub(crate) use crate as suite;
}

#[derive(Wire, Clone, Copy, PartialEq, Debug)]
#[wire(crate = reexport::suite)]
struct NamedPath(u8);

fn encode<T: Wire>(value: &T) -> (Vec<u8>, usize) {
    let mut w = BitWriter::default();
    value.write(&mut w);
    let bits = w.len_bits();
    (w.finish(), bits)
}

fn delta_bits<T: Wire>(value: &T, base: &T) -> usize {
    let mut w = BitWriter::default();
    value.write_delta(base, &mut w);
    w.len_bits()
}

#[test]
fn derived_types_keep_the_contract_of_wire() {
    for result in [
        check_wire::<Input>(1, 1_000),
        check_wire::<Message>(2, 1_000),
        check_wire::<Kind>(3, 100),
        check_wire::<Generic<'static, Vec3, 2>>(4, 1_000),
        check_wire::<Unit>(5, 10),
        check_wire::<Aliases>(6, 500),
        check_wire::<NamedPath>(7, 100),
    ] {
        assert_eq!(result, Ok(()));
    }
}

#[test]
fn fields_take_the_bits_of_their_attributes() {
    assert_eq!(encode(&Input::default()).1, Input::BITS);
    assert_eq!(encode(&Input { target: Some(NetId(7)), ..Input::default() }).1, Input::BITS + 16);
    // Three bits for five variants.
    assert_eq!(encode(&Message::Ping).1, 3);
    assert_eq!(encode(&Message::Chat("abc".to_owned())).1, 3 + 4 + 24);
    let path = Message::Path { points: vec![Vec3::ONE; 2], facing: Dir3::X, kind: Kind::Run };
    assert_eq!(encode(&path).1, 3 + 2 + 2 * 36 + 24 + 1);
    assert_eq!(encode(&Message::Signed(-1, [None, Some(-1)], -3)).1, 3 + 64 + 1 + 9 + 2);
    assert_eq!(encode(&Unit).1, 0);
    assert_eq!(encode(&Aliases { bits: 0, range: 3, with: [0; 2] }).1, 5 + 1 + 6);
}

#[test]
fn plain_fields_have_the_bits_of_a_hand_written_form() {
    #[derive(Wire)]
    struct Plain {
        pitch: i8,
        flag: bool,
        place: Vec3,
        count: u32,
    }

    let mut w = BitWriter::default();
    w.signed(-7, 8);
    w.bool(true);
    [1.0, -2.0, 0.5].into_iter().for_each(|axis| w.f32(axis));
    w.bits(99, 32);
    let plain = Plain { pitch: -7, flag: true, place: Vec3::new(1.0, -2.0, 0.5), count: 99 };
    assert_eq!(encode(&plain).0, w.finish());
}

#[test]
fn quantised_value_is_what_a_reader_gets() {
    let wild = Input {
        axes: Vec2::new(f32::NAN, -7.0),
        yaw: 5.0 * PI,
        height: 1e9,
        slot: 0,
        stance: 200,
        ..Input::default()
    };
    assert_eq!(check_wire_value(wild), Ok(()));
    let heard = wild.quantised();
    assert_eq!((heard.axes, heard.height, heard.slot, heard.stance), (Vec2::new(0.0, -1.0), 40.0, 1, 3));
    assert_eq!(heard.yaw, -PI);
    // A stick at rest stays at rest, and buttons stay what they are.
    let rest = Input { slot: 4, jump: true, ..Input::default() };
    assert_eq!(rest.quantised(), rest);

    let long = Message::Path { points: vec![Vec3::splat(1e9); 5], facing: Dir3::NEG_Y, kind: Kind::Walk };
    assert_eq!(check_wire_value(long.clone()), Ok(()));
    let cut = Message::Path { points: vec![Vec3::splat(100.0); 3], facing: Dir3::NEG_Y, kind: Kind::Walk };
    assert_eq!(long.quantised(), cut);
    assert_eq!(
        Message::Chat("behind you!!!".to_owned()).quantised(),
        Message::Chat("behind you!!".to_owned())
    );

    let generic = Generic::<u8, 1> {
        items: [3],
        whole: -0.0,
        tick: Tick(9),
        note: "not sent".to_owned(),
        life: PhantomData,
    };
    assert_eq!(generic.clone().quantised(), Generic { note: String::new(), ..generic });
}

#[test]
fn unchanged_fields_take_one_bit_of_a_delta() {
    let base = Input { slot: 2, ..Input::default() };
    // Small fields take their own bits instead: two of the stance, one of the button, one of the target.
    let unchanged = 1 + 1 + 1 + 1 + 2 + 1 + 1;
    assert_eq!(delta_bits(&base, &base), unchanged);
    assert_eq!(delta_bits(&Input { jump: true, stance: 3, ..base }, &base), unchanged);
    assert_eq!(delta_bits(&Input { yaw: 1.0, ..base }, &base), unchanged + 16);
    assert_eq!(delta_bits(&Input { axes: Vec2::X, slot: 5, ..base }, &base), unchanged + 16 + 3);
    // A change below the resolution is none.
    assert_eq!(delta_bits(&Input { axes: Vec2::splat(0.001), ..base }, &base), unchanged);

    let path = |points: &[Vec3], kind| Message::Path { points: points.to_vec(), facing: Dir3::X, kind };
    let base = path(&[], Kind::Walk);
    assert_eq!(delta_bits(&path(&[], Kind::Run), &base), 1 + 2 + 1 + 1);
    assert_eq!(delta_bits(&Message::Ping, &base), 1 + 3);
    assert_eq!(delta_bits(&Message::Ping, &Message::Ping), 1);
    assert_eq!(delta_bits(&Kind::Run, &Kind::Run), 1);
}

#[test]
fn unknown_variants_and_values_beyond_a_range_are_refused() {
    for number in 5..8 {
        assert_eq!(<Message as Wire>::read(&mut BitReader::new(&[number, 0, 0])), Err(WireError::Invalid));
    }
    assert_eq!(<Message as Wire>::read(&mut BitReader::new(&[])), Err(WireError::Ended));
    // The unused number of 256 for an axis.
    assert_eq!(<Input as Wire>::read(&mut BitReader::new(&[0xff; 20])), Err(WireError::Invalid));
    let mut w = BitWriter::default();
    w.bits(1, 3);
    w.bits(13, 4);
    let bytes = w.finish();
    assert_eq!(
        <Message as Wire>::read(&mut BitReader::new(&bytes)),
        Err(WireError::Invalid),
        "a text of 13 bytes"
    );
}

#[test]
fn format_of_a_game_applies_to_arrays_and_options() {
    /// Powers of two up to 128.
    struct Power;

    impl WireFormat<u32> for Power {
        fn write(&self, value: &u32, w: &mut BitWriter) {
            w.bits(value.max(&1).ilog2().min(7), 3);
        }

        fn read(&self, r: &mut BitReader<'_>) -> Result<u32, WireError> {
            Ok(1 << r.bits(3)?)
        }
    }

    #[derive(Wire, Clone, Copy, PartialEq, Debug)]
    struct Powers {
        #[wire(with = Power)]
        all: [Option<u32>; 3],
    }

    let powers = Powers { all: [Some(0), None, Some(1_000)] };
    assert_eq!(encode(&powers).1, 4 + 1 + 4);
    assert_eq!(powers.quantised(), Powers { all: [Some(1), None, Some(128)] });
    assert_eq!(check_wire_value(powers), Ok(()));
}
