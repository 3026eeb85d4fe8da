//! Interpolation of a game's own replicated components.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{
    core::{DrawnViewTime, Interpolate, InterpolationSpan, Tick, Wire},
    link_conditioner::LinkConditions,
    movement::CapsuleState,
    net::{ReplicateSmoothed, ReplicatedPawn},
    prelude::*,
    weapons::WeaponState,
};
use lightyear::prelude::{AppComponentExt, ControlledBy, NetworkTarget, Replicate};
use serde::{Deserialize, Serialize};
use unlag_examples::{
    app::{self, ServerOptions, TICK},
    connection,
};

/// The direction of a turret.
#[derive(Component, Clone, Copy, PartialEq, Debug, Wire)]
struct Turret(f32);

impl Interpolate for Turret {
    fn interpolate(from: &Self, to: &Self, span: &InterpolationSpan) -> Self {
        Self(f32::interpolate(&from.0, &to.0, span))
    }
}

/// The same without interpolation, for comparison.
#[derive(Component, Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
struct PlainTurret(f32);

/// The turret's true value at a tick: it rests for two seconds, then turns for two.
fn turret_value(tick: f32) -> f32 {
    let (period, into) = ((tick / 256.0).floor(), tick % 256.0);
    period * 128.0 + (into - 128.0).max(0.0)
}

#[test]
fn interpolated_turret_turns_smoothly_and_rests_without_drift() {
    let mut server = app::server(ServerOptions::default());
    let mut client = app::scripted_client(3, ServerOptions::default());
    for app in [&mut server, &mut client] {
        app.replicate_smoothed::<Turret>();
        app.component::<PlainTurret>().replicate();
        app.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    }
    server.add_systems(
        FixedLast,
        |tick: Res<CurrentTick>, mut turrets: Query<&mut Turret>, mut plain: Query<&mut PlainTurret>| {
            let now = turret_value(tick.0.0 as f32);
            turrets.iter_mut().for_each(|mut turret| {
                turret.set_if_neq(Turret(now));
            });
            plain.iter_mut().for_each(|mut plain| {
                plain.set_if_neq(PlainTurret(now));
            });
        },
    );
    let listener = connection::listen_in_process(&mut server);
    bevy_unlag_testkit::finish(&mut server);
    let conditions = LinkConditions { latency: TICK * 3, ..LinkConditions::PERFECT };
    connection::join(&mut server, listener, &mut client, 1, NetSim::new(9).with(conditions))
        .expect("the client joins");
    bevy_unlag_testkit::finish(&mut client);
    // One turret has its own entity; another is on the client's own pawn.
    let target = Replicate::to_clients(NetworkTarget::All);
    server.world_mut().spawn((Turret(0.0), PlainTurret::default(), target));
    // Components are drawn at the view time of pawns, so there has to be one.
    let state = SoldierState { body: CapsuleState::at(Vec3::Y), extension: WeaponState::default() };
    server.world_mut().spawn((ReplicatedPawn, NetId(500), state));
    let (mut checked, mut worst, mut plain_worst, mut ahead) = (0u32, 0.0f32, 0.0f32, 0u32);
    let mut last: Option<(f32, f32)> = None;
    for frame in 0..2_000 {
        server.update();
        client.update();
        if frame == 200 {
            let world = server.world_mut();
            let mut pawns = world.query_filtered::<Entity, With<ControlledBy>>();
            let own = pawns.single(world).expect("the client has a pawn");
            world.entity_mut(own).insert(Turret(0.0));
        }
        let Some(view) = client.world().resource::<DrawnViewTime>().0 else { continue };
        let world = client.world_mut();
        let mut turrets = world.query_filtered::<(&Turret, &PlainTurret), Without<NetId>>();
        let mut own_turrets = world.query_filtered::<&Turret, With<LocalControl>>();
        let Ok((turret, plain)) = turrets.single(world) else { continue };
        if frame <= 400 {
            continue;
        }
        checked += 1;
        worst = worst.max((turret.0 - turret_value(view.ticks_since(Tick(0)))).abs());
        let (now, plain) = (turret.0, plain.0);
        if let Some((before, plain_before)) = last {
            assert!((now - before).abs() < 1.5, "a jump from {before} to {now}");
            plain_worst = plain_worst.max((plain - plain_before).abs());
        }
        last = Some((now, plain));
        let own_now = own_turrets.single(world).expect("the own pawn has a turret").0;
        ahead += u32::from(own_now == plain);
    }
    println!("{checked} frames, error {worst}; plain steps of {plain_worst}; {ahead} own");
    assert!(checked > 1_000, "{checked} frames");
    // The turn starts and ends between two updates.
    assert!(worst < 1.6, "an error of {worst} ticks' worth at the drawn view time");
    assert!(plain_worst >= 3.0, "the plain component must step: {plain_worst}");
    assert!(ahead > checked * 9 / 10, "on the own pawn it must not be delayed: {ahead} of {checked} frames");
}
