//! Servers that are operated by the hundred: their sockets under load, the cost of strangers, the use of one token at
//! several servers, the number of servers on a core, and a day of many cores.

mod day;
mod density;
mod half_open;
mod stall;
mod token_reuse;

use clap::{Args, ValueEnum};

use crate::{prelude::*, topic_parts::wanted};

pub use density::{FleetServerArgs, serve_fleet};
pub use stall::{StallArgs, serve_stalling};

/// Parts of the topic.
#[derive(Args, Clone, Debug)]
pub struct FleetArgs {
    /// Measure this part alone. Can be repeated
    #[arg(long, value_name = "PART")]
    part: Vec<Part>,
}

/// Part of the topic.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// A server that stands still while junk arrives.
    Stall,
    /// Memory of strangers.
    HalfOpen,
    /// One token at several servers.
    Tokens,
    /// Servers on a core, and a day of many cores.
    Density,
}

pub fn measure(options: &Options, args: &FleetArgs) -> Result<Figures, String> {
    let mut figures = Figures::default();
    for part in wanted(&args.part) {
        match part {
            Part::Stall => stall::measure(options, &mut figures)?,
            Part::HalfOpen => half_open::measure(options, &mut figures)?,
            Part::Tokens => token_reuse::measure(options, &mut figures)?,
            Part::Density => {
                let needs = density::measure(options, &mut figures)?;
                day::measure(options, needs, &mut figures)?;
            }
        }
    }
    Ok(figures)
}
