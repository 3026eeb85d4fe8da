//! The command line.

use core::time::Duration;

use bevy_unlag::prelude::PredictionConfig;
use clap::{Parser, ValueEnum};
use unlag_examples::teleport::{Options, Variant, Wall, Writes};

/// Presses a teleport key once, ten metres ahead, and says what the player and the server got of it.
/// Code 1 says that the teleport in the move stream was not faultless.
#[derive(Parser, Debug)]
#[command(name = "teleport", version)]
pub struct Cli {
    /// How the teleport is built.
    #[arg(long, value_enum, default_value_t = Which::All)]
    pub variant: Which,
    /// The round trip in milliseconds, half of it each way.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=2_000))]
    pub rtt: u64,
    /// How many milliseconds earlier or later a packet may come.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=500))]
    pub jitter: u64,
    /// How many percent of the packets are lost, each way.
    #[arg(long, default_value_t = 0.0, value_parser = percent)]
    pub loss: f32,
    /// The seed of the link.
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// A wall is where the teleport leads.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "server", value_name = "WHO")]
    pub blocked: Option<Blocked>,
    /// Right after the key, the server corrects a move from before it.
    #[arg(long)]
    pub force_correction: bool,
    /// Code beside the move stream calls `teleport_to` instead of writing a position.
    #[arg(long)]
    pub marked: bool,
    /// Metres up to which a correction slides instead of jumping.
    #[arg(long, default_value_t = PredictionConfig::default().snap_distance, value_parser = metres)]
    pub snap_distance: f32,
}

/// Which variants to run.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// One after the other.
    All,
    /// The owner's app puts its pawn ahead.
    Client,
    /// The owner's app asks, and the server puts the pawn ahead.
    Server,
    /// Both of these.
    Both,
    /// The key is part of the move, and the step does it.
    Stream,
}

impl Which {
    /// The variants.
    pub fn variants(self) -> &'static [Variant] {
        match self {
            Self::All => &Variant::ALL,
            Self::Client => &[Variant::ClientOnly],
            Self::Server => &[Variant::ServerOnly],
            Self::Both => &[Variant::ServerAndLocal],
            Self::Stream => &[Variant::Stream],
        }
    }
}

/// Who knows of the wall.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// The server only.
    Server,
    /// Both sides.
    Both,
}

impl Cli {
    /// What is to be run.
    pub fn options(&self, variant: Variant) -> Options {
        Options {
            variant,
            writes: if self.marked { Writes::Teleport } else { Writes::Position },
            wall: match self.blocked {
                None => Wall::Nowhere,
                Some(Blocked::Server) => Wall::OnServer,
                Some(Blocked::Both) => Wall::OnBoth,
            },
            rtt: Duration::from_millis(self.rtt),
            jitter: Duration::from_millis(self.jitter),
            loss: self.loss / 100.0,
            seed: self.seed,
            force_correction: self.force_correction,
            prediction: PredictionConfig { snap_distance: self.snap_distance, ..PredictionConfig::default() },
        }
    }

    /// One line that says what was run.
    pub fn describe(&self) -> String {
        let mut line = format!(
            "round trip {} ms, jitter {} ms, {} % loss, seed {}",
            self.rtt, self.jitter, self.loss, self.seed
        );
        let extras = [
            (self.blocked == Some(Blocked::Server), "; the server has a wall there"),
            (self.blocked == Some(Blocked::Both), "; a wall is there"),
            (self.force_correction, "; an earlier move is corrected after the key"),
            (self.marked, "; games call teleport_to"),
        ];
        for (_, text) in extras.iter().filter(|(on, _)| *on) {
            line.push_str(text);
        }
        line
    }
}

fn percent(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "not a number of percent".to_owned())?;
    if (0.0..=90.0).contains(&value) { Ok(value) } else { Err("must be 0 to 90 percent".to_owned()) }
}

fn metres(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| "not a number of metres".to_owned())?;
    if (0.0..=1_000.0).contains(&value) { Ok(value) } else { Err("must be 0 to 1000 metres".to_owned()) }
}
