//! A component of the game, drawn in step with its pawn.

use bevy::prelude::*;
use bevy_unlag_core::{AngularMotion, Interpolate, InterpolationSpan, ProxySmoothing};
use bevy_unlag_smoothing::{ComponentInbox, SmoothedComponentPlugin};

use super::harness::*;

/// Heading of a turret, in radians.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default)]
struct Turret(f32);

impl Interpolate for Turret {
    fn interpolate(from: &Self, to: &Self, span: &InterpolationSpan) -> Self {
        let turning = |turret: &Self| AngularMotion { angle: turret.0, spin: None };
        Self(AngularMotion::interpolate(&turning(from), &turning(to), span).angle)
    }
}

#[test]
fn turret_component_turns_evenly_at_the_view_time_of_its_pawn() {
    let mut stage = Harness::new();
    stage.app.add_plugins(SmoothedComponentPlugin::<Turret>::default());
    let pawn = stage.pawn(Some(ProxySmoothing::Hermite), 20.0, circle, |_| 3, |_| Some(0.05));
    let entity = stage.pawns[pawn].entity;
    stage.app.world_mut().entity_mut(entity).insert(ComponentInbox::<Turret>::default());
    let turret = |seconds: f64| (seconds * 2.0) as f32;
    let (mut sent, mut angles) = (0u32, Vec::new());
    for frame in 0..600u32 {
        let now = f64::from(frame) * FRAME;
        while f64::from(sent) * TICK + 0.05 <= now {
            let mut inbox =
                stage.app.world_mut().get_mut::<ComponentInbox<Turret>>(entity).expect("an inbox");
            inbox.0.push((FIRST.offset(sent.cast_signed()), Turret(turret(f64::from(sent) * TICK))));
            sent += 6;
        }
        stage.run(FRAME * 0.5);
        let seen = stage.pawns[pawn].seen.last().copied().expect("seen");
        let angle = stage.app.world().get::<Turret>(entity).copied();
        if let Some(angle) = angle.filter(|_| now > 2.0) {
            angles.push(angle.0 - turret(seen.view));
        }
    }
    // It is sent every sixth tick and extrapolated until the next update: it holds for up to three.
    let worst = angles.iter().fold(0.0f32, |worst, off| worst.max(off.abs()));
    assert!(angles.len() > 300 && worst < 2.0 * 0.1, "{worst} of {}", angles.len());
    let exact = angles.iter().filter(|off| off.abs() < 1e-3).count();
    assert!(exact * 2 > angles.len(), "{exact} of {}", angles.len());
}

#[test]
fn component_without_any_pawn_shows_its_newest_value() {
    let mut stage = Harness::new();
    stage.app.add_plugins(SmoothedComponentPlugin::<Turret>::default());
    let door = stage.app.world_mut().spawn(ComponentInbox::<Turret>(vec![(FIRST, Turret(0.5))])).id();
    stage.run(0.1);
    assert_eq!(stage.app.world().get::<Turret>(door), Some(&Turret(0.5)));
    let mut inbox = stage.app.world_mut().get_mut::<ComponentInbox<Turret>>(door).expect("an inbox");
    // A single implausible tick changes nothing.
    inbox.0.extend([(FIRST.offset(1_000_000), Turret(9.0)), (FIRST.offset(6), Turret(0.7))]);
    stage.run(0.1);
    assert_eq!(stage.app.world().get::<Turret>(door), Some(&Turret(0.7)));
}
