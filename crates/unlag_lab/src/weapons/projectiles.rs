//! Where projectiles hit on the shooter's screen and where the server has them hit.

use bevy_unlag::weapons::CatchUp;

use crate::{
    Options,
    agreement::{Cell, Fought, Rules},
    figures::Figures,
};

pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let hits = if options.quick { 60 } else { 1_000 };
    let rtts: &[u32] = if options.quick { &[150] } else { &[50, 100, 150, 200, 250] };
    for (catch_up, key, what) in [
        (CatchUp::Seen, "projectile_agreement", "everyone where the screen showed them; goal 99.5"),
        (
            CatchUp::Present,
            "projectile_agreement_naive",
            "everyone where they are when the server hears; the control",
        ),
    ] {
        let (mut worst, mut drawn, mut at) = (f64::INFINITY, 0, 0);
        for rtt in rtts {
            let cell = Cell { rtt: *rtt, jitter: 0, loss: 0 };
            let rules = Rules { weapon: Fought::Projectile, catch_up, ..Rules::new(hits, options.seed) };
            let played = cell.play(&rules)?;
            drawn += played.ledger.drawn;
            if played.agreement() < worst {
                (worst, at) = (played.agreement(), *rtt);
            }
        }
        figures.add(
            key,
            worst,
            format!("% of hits on both sides, the lower number of the worst of {rtts:?} ms ({at}); {drawn} drawn; {what}"),
        )?;
    }
    Ok(())
}
