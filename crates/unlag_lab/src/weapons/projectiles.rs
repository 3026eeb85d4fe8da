//! Agreement of projectile hits between the shooter's screen and the server.

use crate::agreement::{Cell, CellConfig, MeasuredWeapon, Scene};
use crate::prelude::*;

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let hits = options.extent(150, 2_000);
    let rtts: &[u32] = options.extent(&[50, 150], &[50, 100, 150, 200, 250]);
    for (catch_up, key, hits) in [
        (CatchUp::Displayed, "projectile_agreement", hits),
        (CatchUp::Present, "projectile_agreement_naive", hits / 4),
    ] {
        let config = CellConfig {
            weapon: MeasuredWeapon::Bolt,
            scene: Scene::Sprinters,
            catch_up,
            ..CellConfig::new(hits, options.seed)
        };
        let mut worst = f64::INFINITY;
        let mut note = Vec::new();
        for rtt in rtts {
            let agreement = Cell { rtt: *rtt, jitter: 0, loss: 0 }.play(&config)?.agreement();
            worst = worst.min(agreement);
            note.push(format!("{rtt} ms {agreement:.2}"));
        }
        figures.add_noted(key, worst, note.join(", "))?;
    }
    Ok(())
}
