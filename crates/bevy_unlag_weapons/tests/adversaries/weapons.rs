//! Who says that something else is in hand.

use bevy_unlag_weapons::{Damages, ShotRefusal, ShotResult, Weapon, WeaponId};

use crate::stage::Duel;

fn rifle_and_cannon() -> [Weapon; 2] {
    let damage = Damages { head: 1_000.0, body: 1_000.0, limb: 1_000.0, ..Weapon::rifle().damage };
    [Weapon::rifle(), Weapon { name: "cannon".to_owned(), damage, ..Weapon::rifle() }]
}

#[test]
fn a_weapon_that_was_not_given_does_nothing_and_what_is_in_hand_does_its_own() {
    // Whoever has it uses it.
    let mut fair = Duel::new(&rifle_and_cannon());
    fair.modify(|_, input, _| input.extension.equip = Some(1));
    fair.run(40);
    fair.modify(|_, _, _| {});
    assert!(matches!(fair.tap(), ShotResult::Hit(_)));
    assert_eq!((fair.damage[0].weapon, fair.damage[0].amount), (WeaponId(1), 1_000.0));

    // Its own client thinks that it has it.
    let mut duel = Duel::with_loadout(&rifle_and_cannon(), 1);
    let result = duel.once(|knows, input, state| {
        state.extension.slots[0].weapon = Some(WeaponId(1));
        input.extension.fire = Some(knows.shot(input));
    });
    assert!(matches!(result, ShotResult::Hit(_)));
    assert_eq!((duel.damage[0].weapon, duel.damage[0].amount), (WeaponId(0), 34.0));

    // It takes in hand what is not there, in this move and in the one before.
    let mut duel = Duel::with_loadout(&rifle_and_cannon(), 1);
    duel.modify(|_, input, state| {
        state.extension.slots[1] = state.extension.slots[0];
        state.extension.slots[1].weapon = Some(WeaponId(1));
        input.extension.equip = Some(1);
    });
    duel.run(40);
    let result = duel.once(|knows, input, state| {
        state.extension.slots[1].weapon = Some(WeaponId(1));
        state.extension.cooldown = 0;
        input.extension.fire = Some(knows.shot(input));
    });
    assert_eq!(result, ShotResult::Refused(ShotRefusal::Unarmed));
    assert!(duel.damage.is_empty());
    assert_eq!(duel.refused(ShotRefusal::Unarmed), 1);
}

#[test]
fn slots_that_the_wire_has_room_for_and_nobody_has_are_no_moves() {
    for slot in [6, 7] {
        let mut duel = Duel::new(&rifle_and_cannon());
        assert!(matches!(duel.tap(), ShotResult::Hit(_)), "an honest one");
        let (moves, before) = (duel.stats().moves, duel.damage.len());
        duel.forge = Some(Box::new(move |_, input| input.extension.equip = Some(slot)));
        duel.hold(true);
        duel.run(60);
        duel.hold(false);
        assert!(duel.stats().malformed >= 40, "{:?}", duel.stats());
        assert_eq!(duel.damage.len(), before, "slot {slot}: nothing of it is believed");
        assert!(duel.stats().moves <= moves + 8, "only what was under way is run");
        // Who goes on honestly is served again.
        duel.forge = None;
        duel.run(200);
        assert!(matches!(duel.tap(), ShotResult::Hit(_)));
    }
}
