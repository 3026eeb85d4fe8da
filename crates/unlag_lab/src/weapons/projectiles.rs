//! Agreement of projectile hits between the shooter's screen and the server.

use crate::agreement::{Cell, CellConfig, CellResult, MeasuredWeapon, Scene};
use crate::prelude::*;

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let hits = options.extent(150, 2_000);
    let rtts: &[u32] = options.extent(&[50, 150], &[50, 100, 150, 200, 250]);
    for (catch_up, key, hits, what) in [
        (CatchUp::Displayed, "projectile_agreement", hits, "targets where the screen drew them; goal 99.5"),
        (
            CatchUp::Present,
            "projectile_agreement_naive",
            hits / 4,
            "targets where they are when the server receives the shot; the control",
        ),
    ] {
        let mut played = Vec::new();
        for rtt in rtts {
            let cell = Cell { rtt: *rtt, jitter: 0, loss: 0 };
            let (weapon, scene) = (MeasuredWeapon::Bolt, Scene::Sprinters);
            played.push(cell.play(&CellConfig {
                weapon,
                scene,
                catch_up,
                ..CellConfig::new(hits, options.seed)
            })?);
        }
        let all: Vec<_> =
            played.iter().map(|one| format!("{} ms {:.2}", one.cell.rtt, one.agreement())).collect();
        let drawn: u64 = played.iter().map(|one| one.shot_stats.drawn).sum();
        let confirmed: u64 = played.iter().map(|one| one.shot_stats.confirmed).sum();
        let worst = played.iter().map(CellResult::agreement).fold(f64::INFINITY, f64::min);
        figures.add(key, worst, format!(
            "% of hits of a projectile at 160 m/s on sprinters at 16 to 25 m, lower of both ratios, worst of \
             {}; {drawn} drawn, {confirmed} confirmed; {what}",
            all.join(", ")
        ))?;
    }
    Ok(())
}
