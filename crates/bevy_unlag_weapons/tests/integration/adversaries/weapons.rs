//! Clients that claim to hold another weapon.

use bevy_unlag_weapons::{DamageTable, ShotRefusal, ShotResult, Weapon, WeaponId};

use crate::adversaries::stage::Duel;

fn rifle_and_cannon() -> [Weapon; 2] {
    let damage = DamageTable { head: 1_000.0, body: 1_000.0, limb: 1_000.0, ..Weapon::rifle().damage };
    [Weapon::rifle(), Weapon { name: "cannon".to_owned(), damage, ..Weapon::rifle() }]
}

#[test]
fn only_the_weapon_that_the_server_gave_does_damage() {
    // With the weapon in its loadout, a client can use it.
    let mut fair = Duel::new(&rifle_and_cannon());
    fair.modify(|_, input, _| input.extension.equip = Some(1));
    fair.run(40);
    fair.modify(|_, _, _| {});
    assert!(matches!(fair.tap_and_expect_verdict(), ShotResult::Hit(_)));
    assert_eq!((fair.damage[0].weapon, fair.damage[0].amount), (WeaponId(1), 1_000.0));

    // The client's own state claims the weapon.
    let mut duel = Duel::with_loadout(&rifle_and_cannon(), 1);
    let result = duel.expect_one_verdict(|knows, input, state| {
        state.extension.slots[0].weapon = Some(WeaponId(1));
        input.extension.fire = Some(knows.shot(input));
    });
    assert!(matches!(result, ShotResult::Hit(_)));
    assert_eq!((duel.damage[0].weapon, duel.damage[0].amount), (WeaponId(0), 34.0));

    // It equips a slot that is empty on the server, in this move and in the previous one.
    let mut duel = Duel::with_loadout(&rifle_and_cannon(), 1);
    duel.modify(|_, input, state| {
        state.extension.slots[1] = state.extension.slots[0];
        state.extension.slots[1].weapon = Some(WeaponId(1));
        input.extension.equip = Some(1);
    });
    duel.run(40);
    let result = duel.expect_one_verdict(|knows, input, state| {
        state.extension.slots[1].weapon = Some(WeaponId(1));
        state.extension.cooldown = 0;
        input.extension.fire = Some(knows.shot(input));
    });
    assert_eq!(result, ShotResult::Refused(ShotRefusal::Unarmed));
    assert!(duel.damage.is_empty());
    assert_eq!(duel.refused(ShotRefusal::Unarmed), 1);
}

#[test]
fn moves_with_an_invalid_slot_are_rejected() {
    for slot in [6, 7] {
        let mut duel = Duel::new(&rifle_and_cannon());
        assert!(matches!(duel.tap_and_expect_verdict(), ShotResult::Hit(_)), "an honest shot");
        let (moves, before) = (duel.stats().moves, duel.damage.len());
        duel.forge = Some(Box::new(move |_, input| input.extension.equip = Some(slot)));
        duel.hold(true);
        duel.run(60);
        duel.hold(false);
        assert!(duel.stats().malformed >= 40, "{:?}", duel.stats());
        assert_eq!(duel.damage.len(), before, "slot {slot}: the whole move is rejected");
        assert!(duel.stats().moves <= moves + 8, "only moves already in flight are simulated");
        // A client that continues honestly is served again.
        duel.forge = None;
        duel.run(200);
        assert!(matches!(duel.tap_and_expect_verdict(), ShotResult::Hit(_)));
    }
}
