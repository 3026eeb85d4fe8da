//! Clients that try to choose the directions of pellets.

use bevy::prelude::*;
use bevy_unlag_core::{BitReader, BitWriter, Wire};
use bevy_unlag_weapons::{
    FireInput, FireMode, MAX_PELLETS, Shot, ShotRefusal, ShotResult, Spread, SpreadSource, Weapon,
    pellet_offset,
};

use crate::adversaries::stage::Duel;

const PELLETS: u8 = 12;
const SHOTS: usize = 12;

fn shotgun(source: SpreadSource) -> Weapon {
    Weapon {
        shot: Shot::Pellets { count: PELLETS, range: 60.0 },
        mode: FireMode::Auto,
        spread: Spread { still: 4.0, source, ..Spread::default() },
        ..Weapon::rifle()
    }
}

/// Number of pellets of each shot that hit.
fn hits(duel: &Duel) -> Vec<u32> {
    let of = |result: &ShotResult| match result {
        ShotResult::Hit(list) => {
            list.iter().map(|hit| u32::from(hit.head) + u32::from(hit.body) + u32::from(hit.limb)).sum()
        }
        ShotResult::Miss => 0,
        other => panic!("{other:?}"),
    };
    duel.verdicts.iter().map(|verdict| of(&verdict.result)).collect()
}

fn honest(source: SpreadSource) -> Vec<u32> {
    let mut duel = Duel::new(&[shotgun(source)]);
    (0..SHOTS).for_each(|_| _ = duel.tap_and_expect_verdict());
    hits(&duel)
}

/// Hits of a client that tampers with the spread seed.
fn tampered(source: SpreadSource) -> Vec<u32> {
    // The seed whose pellets stay closest to the centre.
    let far =
        |seed: u16| (0..u32::from(PELLETS)).map(|pellet| pellet_offset(seed, pellet).length()).sum::<f32>();
    let best = (0..u16::MAX).min_by(|a, b| far(*a).total_cmp(&far(*b))).expect("numbers");
    let mut duel = Duel::new(&[shotgun(source)]);
    for shot in 0..SHOTS {
        duel.expect_one_verdict(move |knows, input, state| {
            // The pawn seed and the shot count, which are all inputs of the spread on a client.
            state.extension.seed = u32::from(best).wrapping_mul(0x9e37_79b1) ^ shot as u32;
            state.extension.shots = 77 + shot as u32;
            input.extension.fire = Some(knows.shot(input));
        });
    }
    hits(&duel)
}

#[test]
fn forged_spread_seed_gains_nothing() {
    for source in [SpreadSource::Seed, SpreadSource::Server] {
        let (fair, tampered) = (honest(source), tampered(source));
        assert_eq!(fair.len(), SHOTS);
        assert_eq!(tampered, fair, "{source:?}: pellet for pellet the same");
        let all: u32 = fair.iter().sum();
        assert!((SHOTS as u32..SHOTS as u32 * u32::from(PELLETS)).contains(&all), "{all} of them hit");
    }
    assert_ne!(honest(SpreadSource::Seed), honest(SpreadSource::Server), "clients cannot predict these");
}

#[test]
fn client_pellets_may_be_centred_but_must_lie_in_the_cone() {
    let fair: u32 = honest(SpreadSource::Client).iter().sum();
    let mut duel = Duel::new(&[shotgun(SpreadSource::Client)]);
    let list = |duel: &mut Duel, offsets: Vec<Vec2>| {
        duel.expect_one_verdict(move |knows, input, _| {
            let mut fire = knows.shot(input);
            fire.set_pellets(offsets.iter().copied());
            input.extension.fire = Some(fire);
        })
    };
    for _ in 0..SHOTS {
        list(&mut duel, vec![Vec2::ZERO; usize::from(PELLETS)]);
    }
    // This is the cost of this source: a cheat has no spread.
    let chosen: u32 = hits(&duel).iter().sum();
    println!("{chosen} pellets of {} hit for {fair} honest ones", SHOTS * usize::from(PELLETS));
    assert_eq!(chosen, SHOTS as u32 * u32::from(PELLETS));
    assert!(fair < chosen);

    let refused = ShotResult::Refused(ShotRefusal::Pellets);
    for count in [0, 1, 11, 13, MAX_PELLETS] {
        assert_eq!(list(&mut duel, vec![Vec2::ZERO; count]), refused, "{count} pellets");
    }
    let result = duel.expect_one_verdict(|knows, input, _| {
        let mut fire = knows.shot(input);
        fire.set_pellets([Vec2::X; PELLETS as usize].into_iter());
        input.extension.fire = Some(outside(&fire));
    });
    assert_eq!(result, refused, "a pellet is outside of the cone");
    assert_eq!(duel.refused(ShotRefusal::Pellets), 6);
}

#[test]
fn pellets_for_a_weapon_without_client_spread_are_refused() {
    for source in [SpreadSource::Seed, SpreadSource::Server] {
        let mut duel = Duel::new(&[shotgun(source)]);
        let result = duel.expect_one_verdict(|knows, input, _| {
            let mut fire = knows.shot(input);
            fire.set_pellets([Vec2::ZERO; PELLETS as usize].into_iter());
            input.extension.fire = Some(fire);
        });
        assert_eq!(result, ShotResult::Refused(ShotRefusal::Pellets), "{source:?}");
        assert!(duel.damage.is_empty());
    }
}

/// Returns the shot with its last pellet outside of the cone, where only the wire format can put it. The list
/// of pellets is the last part of the wire format.
fn outside(fire: &FireInput) -> FireInput {
    let mut w = BitWriter::default();
    fire.write(&mut w);
    let (length, bytes) = (w.len_bits(), w.finish());
    let (mut r, mut forged) = (BitReader::new(&bytes), BitWriter::default());
    for _ in 0..length - 16 {
        forged.bool(r.bool().expect("a bit"));
    }
    forged.signed(127, 8);
    forged.signed(127, 8);
    let forged = FireInput::read(&mut BitReader::new(&forged.finish())).expect("a shot");
    assert!(forged.pellets().any(|at| at.length() > 1.2), "{forged:?}");
    forged
}
