//! A game's own components are drawn between their updates.

use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_unlag::{
    core::{BitReader, BitWriter, Interpolate, Span, Wire, WireError},
    net::ReplicateSmoothed,
    prelude::*,
};
use lightyear::prelude::{AppComponentExt, NetworkTarget, Replicate};
use serde::{Deserialize, Serialize};
use unlag_examples::{
    app::{self, ServerOptions, TICK},
    link,
};

/// Where a turret points.
#[derive(Component, Clone, Copy, PartialEq, Debug)]
struct Turret(f32);

/// The same without smoothing, for comparison.
#[derive(Component, Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct Raw(f32);

impl Interpolate for Turret {
    fn interpolate(from: &Self, to: &Self, span: &Span) -> Self {
        Self(f32::interpolate(&from.0, &to.0, span))
    }
}

impl Wire for Turret {
    fn write(&self, w: &mut BitWriter) {
        w.f32(self.0);
    }

    fn read(r: &mut BitReader<'_>) -> Result<Self, WireError> {
        Ok(Self(r.f32()?))
    }
}

/// It rests for two seconds, then turns for two, by a tick's number.
fn truth(tick: f32) -> f32 {
    let (period, into) = ((tick / 256.0).floor(), tick % 256.0);
    period * 128.0 + (into - 128.0).max(0.0)
}

#[test]
fn a_turret_turns_smoothly_and_rests_without_drifting() {
    let mut server = app::server(ServerOptions::default());
    let mut client = app::scripted_client(3, Interpolation::Hermite, false);
    for app in [&mut server, &mut client] {
        app.replicate_smoothed::<Turret>();
        app.component::<Raw>().replicate();
        app.insert_resource(TimeUpdateStrategy::ManualDuration(TICK));
    }
    server.add_systems(FixedLast, |tick: Res<CurrentTick>, mut turrets: Query<(&mut Turret, &mut Raw)>| {
        for (mut turret, mut raw) in &mut turrets {
            turret.set_if_neq(Turret(truth(tick.0.0 as f32)));
            raw.set_if_neq(Raw(truth(tick.0.0 as f32)));
        }
    });
    let listener = link::listen_in_process(&mut server);
    app::finish(&mut server);
    let conditions = LinkPreset::named("Good broadband").expect("a preset of ours").conditions();
    link::join(&mut server, listener, &mut client, 1, NetSim::new(9).with(conditions)).expect("it joins");
    app::finish(&mut client);
    // By itself, and on pawns: another's and the client's own.
    server.world_mut().spawn((Turret(0.0), Raw(0.0), Replicate::to_clients(NetworkTarget::All)));
    let (mut checked, mut worst, mut raw_worst, mut own) = (0, 0.0f32, 0.0f32, 0);
    let mut last: Option<(f32, f32)> = None;
    for frame in 0..2_000 {
        server.update();
        client.update();
        if frame == 200 {
            let world = server.world_mut();
            let pawns: Vec<_> = world.query_filtered::<Entity, With<NetId>>().iter(world).collect();
            assert_eq!(pawns.len(), 1, "the client has a pawn");
            for pawn in pawns {
                world.entity_mut(pawn).insert((Turret(0.0), Raw(0.0)));
            }
        }
        let Some(view) = client.world().resource::<DrawnViewTime>().0 else { continue };
        let world = client.world_mut();
        let mut turrets = world.query::<(&Turret, &Raw, Has<LocalControl>)>();
        for (turret, raw, is_own) in turrets.iter(world) {
            if is_own {
                own += u32::from(turret.0 == raw.0);
            } else if frame > 400 {
                checked += 1;
                worst = worst.max((turret.0 - truth(view.ticks_since(Tick(0)))).abs());
                if let Some((turret_before, raw_before)) = last {
                    assert!(
                        (turret.0 - turret_before).abs() < 2.5,
                        "a step from {turret_before} to {turret:?}"
                    );
                    raw_worst = raw_worst.max((raw.0 - raw_before).abs());
                }
                last = Some((turret.0, raw.0));
            }
        }
    }
    println!("{checked} frames, {worst} beside the truth; raw steps by {raw_worst}; {own} own");
    assert!(checked > 1_000, "{checked} frames");
    // A tick's worth: it begins and ends between two looks at it.
    assert!(worst < 3.1, "{worst} ticks' worth beside the truth at the moment that is drawn");
    assert!(raw_worst >= 3.0, "the control must step: {raw_worst}");
    assert!(own > 1_000, "the own pawn's comes as it is: {own} frames");
}
