//! Cost of rewound shots, distance between rewound and drawn poses, and cover protection.

mod cover;
mod pose;
mod query_cost;
mod test_server;

use crate::prelude::*;

pub use query_cost::add_shots;

pub fn measure(options: &Options) -> Result<Figures, String> {
    let mut figures = Figures::default();
    query_cost::measure(options, &mut figures)?;
    pose::measure(options, &mut figures)?;
    cover::measure(options, &mut figures)?;
    Ok(figures)
}
