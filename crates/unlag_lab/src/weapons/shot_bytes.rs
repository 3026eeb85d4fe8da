//! Bytes of a shot on the wire.

use crate::prediction::measure_rounds;
use crate::prelude::*;

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let link = preset("Average (UE)")?.conditions();
    let rounds = measure_rounds(link, options.extent(8.0, 60.0), options.seed)?;
    figures.add("fire_bytes", rounds.bytes_of_one())?;
    let cone = SpreadCone { aim: Aim::new(1.0, 0.1), half_angle: 400, up: Up::Y };
    let most = [TracerPath::To(Vec3::new(10.0, 2.0, -300.0)), TracerPath::Spread { cone, seed: 77 }]
        .into_iter()
        .map(|trail| {
            let mut w = BitWriter::default();
            Tracer { shooter: NetId(900), weapon: WeaponId(3), trail }.write(&mut w);
            w.finish().len()
        })
        .max()
        .unwrap_or_default();
    figures.add("tracer_bytes", most as f64)
}
