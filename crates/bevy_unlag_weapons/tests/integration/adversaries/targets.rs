//! Clients that shoot at targets they cannot hit.

use bevy::prelude::*;
use bevy_unlag_core::ViewTime;
use bevy_unlag_rewind::StampOverride;
use bevy_unlag_weapons::{FireInput, ShooterView, ShotResult, Weapon};

use crate::adversaries::stage::Duel;

#[test]
fn dead_target_is_not_hit_even_with_a_view_time_before_its_death() {
    let mut duel = Duel::new(&[Weapon::rifle()]);
    assert!(matches!(duel.tap_and_expect_verdict(), ShotResult::Hit(_)), "the target is alive");
    duel.run(400);
    duel.target_state(0).body.alive = false;
    duel.run(40);
    assert_eq!(duel.tap_and_expect_verdict(), ShotResult::Miss);
    duel.target_state(0).body.alive = true;
    duel.run(400);
    assert!(matches!(duel.tap_and_expect_verdict(), ShotResult::Hit(_)), "the target has respawned");

    // A view time at which it was alive, 12 ticks after its death was on every screen.
    duel.run(400);
    duel.target_state(0).body.alive = false;
    let last = ViewTime::at(duel.now().offset(-1));
    duel.run(20);
    let before = duel.damage.len();
    let result = duel.expect_one_verdict(move |knows, input, _| {
        assert!(knows.view.since(last) > 8 * 256, "its own screen shows the dead");
        input.extension.fire = Some(knows.shot_from(knows.eye, last, input));
    });
    assert_eq!(result, ShotResult::Miss);
    assert!(
        duel.verdicts.last().expect("a verdict").clamped,
        "the view time was clamped to that of its screen"
    );
    assert_eq!(duel.damage.len(), before);
}

#[test]
fn target_left_out_of_snapshots_is_not_hit() {
    for named in [false, true] {
        let mut duel = Duel::new(&[Weapon::rifle()]);
        let hidden = duel.target(3, Vec3::new(0.0, 0.0, -6.0));
        duel.hide(hidden);
        duel.run(40);
        // The hidden target stands in the line of fire, and the target behind it is hit.
        let result = duel.expect_one_verdict(move |knows, input, _| {
            let shot = knows.shot(input);
            let lie = StampOverride {
                target: bevy_unlag_core::NetId(3),
                from: knows.view.tick.offset(-3),
                to: Some(knows.view.tick.offset(3)),
                shift: 0,
            };
            let sight = ShooterView::new(Some(knows.view), FireInput::rounded(knows.eye)).with([lie]);
            let mut named_one = FireInput::new(&sight, knows.tick);
            named_one.aim_offset = shot.aim_offset;
            input.extension.fire = Some(if named { named_one } else { shot });
        });
        let ShotResult::Hit(hits) = result else { panic!("{result:?}") };
        assert_eq!(hits.first().map(|hit| hit.target), Some(bevy_unlag_core::NetId(2)));
        assert!(duel.damage.iter().all(|hit| hit.hits.target == bevy_unlag_core::NetId(2)));
        // Without another target behind it, the shot misses.
        duel.target_state(0).body.position.x += 5.0;
        duel.aside = Some(Vec3::NEG_X * 5.0);
        duel.run(400);
        assert_eq!(duel.tap_and_expect_verdict(), ShotResult::Miss, "named: {named}");
    }

    // The target is hit once it is sent.
    let mut duel = Duel::new(&[Weapon::rifle()]);
    duel.target(3, Vec3::new(0.0, 0.0, -6.0));
    duel.run(40);
    let ShotResult::Hit(hits) = duel.tap_and_expect_verdict() else {
        panic!("the target is in the line of fire")
    };
    assert_eq!(hits.first().map(|hit| hit.target), Some(bevy_unlag_core::NetId(3)));
}
