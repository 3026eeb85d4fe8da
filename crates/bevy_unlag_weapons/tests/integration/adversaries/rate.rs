//! Clients that try to fire more shots.

use bevy_unlag_prediction::{PredictionConfig, TimeDiscrepancyConfig};
use bevy_unlag_weapons::{Ammo, FireMode, Reload, ShotRefusal, Weapon};

use crate::adversaries::stage::Duel;

const FRAMES: u32 = 128;

/// Number of hits of an honest client that holds the trigger down.
fn honest(weapon: &Weapon, frames: u32) -> usize {
    let mut duel = Duel::new(core::slice::from_ref(weapon));
    duel.hold(true);
    duel.run(frames);
    duel.hold(false);
    duel.run(40);
    assert_eq!(duel.verdicts.len(), duel.damage.len(), "all shots hit: {:?}", duel.verdicts);
    duel.damage.len()
}

#[test]
fn tenfold_rate_of_fire_on_the_client_gains_no_hits() {
    let honest = honest(&Weapon::rifle(), FRAMES);
    assert!(honest >= 20, "{honest} hits");

    let mut duel = Duel::new(&[Weapon::rifle()]);
    duel.modify(|knows, input, state| {
        // Its own simulation allows it.
        state.extension.cooldown = 0;
        input.extension.fire = Some(knows.shot(input));
        input.extension.trigger = true;
    });
    duel.run(FRAMES);
    duel.modify(|_, _, _| {});
    duel.run(40);
    assert!(duel.damage.len() <= honest, "{} hits for {honest}", duel.damage.len());
    assert!(!duel.damage.is_empty(), "legitimate shots count");
    let (asked, vain) = (duel.verdicts.len(), duel.refused(ShotRefusal::TooSoon));
    assert_eq!(vain as usize + duel.damage.len(), asked, "all other shots were too soon");
    assert!(asked >= 5 * honest, "{asked} shots were asked for");
}

/// Number of hits of a client that produces five moves in the time of four.
fn hurried(time: TimeDiscrepancyConfig) -> usize {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    duel.server.world_mut().resource_mut::<PredictionConfig>().time = time;
    duel.hold(true);
    for frame in 0..2 * FRAMES {
        duel.moves_a_tick = 1 + u32::from(frame.is_multiple_of(4));
        duel.run(1);
    }
    duel.hold(false);
    duel.moves_a_tick = 1;
    duel.run(60);
    duel.damage.len()
}

#[test]
fn fast_client_clock_gains_no_shots() {
    let fair = honest(&Weapon::rifle(), 2 * FRAMES);
    let (checked, believed) =
        (hurried(TimeDiscrepancyConfig::default()), hurried(TimeDiscrepancyConfig::UNREAL));
    println!("{checked} hits for {fair}, {believed} without clock checks");
    // The tolerated clock lead of a quarter of a second is worth three shots.
    assert!(checked <= fair + 3 && believed >= fair + 7);

    // A client at ten times the speed only sends moves for future ticks.
    let mut duel = Duel::new(&[Weapon::rifle()]);
    duel.moves_a_tick = 10;
    duel.hold(true);
    duel.run(2 * FRAMES);
    duel.moves_a_tick = 1;
    duel.hold(false);
    duel.run(40);
    assert!(duel.damage.len() <= fair, "{} hits for {fair}", duel.damage.len());
    assert!(duel.stats().withheld > 200, "{:?}", duel.stats());
}

#[test]
fn unlimited_ammunition_on_the_client_is_limited_by_the_server() {
    let ammo = Ammo { magazine: 3, reserve: 3, reload: Reload::Magazine { time: 0.25 } };
    let rifle = Weapon { ammo, mode: FireMode::Auto, ..Weapon::rifle() };
    let mut fair = Duel::new(core::slice::from_ref(&rifle));
    for _ in 0..60 {
        // A pull on an empty magazine reloads it.
        fair.hold(true);
        fair.run(6);
        fair.hold(false);
        fair.run(1);
    }
    fair.run(40);
    assert_eq!(fair.damage.len(), 6, "two magazines");

    for reloads in [false, true] {
        let mut duel = Duel::new(core::slice::from_ref(&rifle));
        duel.modify(move |knows, input, state| {
            let slot = &mut state.extension.slots[0];
            (slot.magazine, slot.reserve, state.extension.reload) = (3, 3, 0);
            if knows.tick.0.is_multiple_of(7) {
                input.extension.fire = Some(knows.shot(input));
            } else {
                input.extension.reload = reloads;
            }
        });
        duel.run(420);
        let all = if reloads { 6 } else { 3 };
        assert_eq!(duel.damage.len(), all, "reloads: {reloads}");
        assert!(duel.refused(ShotRefusal::Empty) >= 40, "{:?}", duel.verdicts);
        // The server corrects its ammunition immediately.
        duel.modify(|_, _, _| {});
        duel.run(40);
        let slot = duel.own_state().extension.slots[0];
        assert_eq!((slot.magazine, slot.reserve), if reloads { (0, 0) } else { (0, 3) });
    }
}
