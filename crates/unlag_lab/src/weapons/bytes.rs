//! Bytes of a shot on the wire.

use bevy::prelude::*;
use bevy_unlag::{
    core::{BitWriter, Wire},
    link_conditioner::LinkPreset,
    prelude::*,
    weapons::{SpreadCone, Tracer, TracerPath},
};

use crate::{Options, figures::Figures, prediction::measure_rounds};

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let link = LinkPreset::named("Average (UE)").ok_or("there is no preset Average (UE)")?.conditions();
    let rounds = measure_rounds(link, if options.quick { 8.0 } else { 60.0 }, options.seed)?;
    figures.add(
        "fire_bytes",
        rounds.bytes_of_one(),
        format!("B that a shot adds to a move, average of {}; goal 8", rounds.rounds),
    )?;
    let cone = SpreadCone { aim: Aim::new(1.0, 0.1), half_angle: 400 };
    let most = [TracerPath::To(Vec3::new(10.0, 2.0, -300.0)), TracerPath::Spread { cone, seed: 77 }]
        .into_iter()
        .map(|trail| {
            let mut w = BitWriter::default();
            Tracer { shooter: NetId(900), weapon: WeaponId(3), trail }.write(&mut w);
            w.finish().len()
        })
        .max()
        .unwrap_or_default();
    figures.add("tracer_bytes", most as f64, "B of a remote tracer, for a ray or twelve pellets; goal 12")
}
