//! Command line of the teleport study.

use core::time::Duration;

use bevy_unlag::prelude::PredictionConfig;
use clap::{Parser, ValueEnum};
use unlag_examples::{
    args::number,
    teleport::{TeleportOptions, Variant, Wall, WriteMethod},
};

/// Presses a teleport key once, ten metres ahead, and reports what the player and the server saw. Exits with
/// code 1 if the teleport in the move stream was not faultless.
#[derive(Parser, Debug)]
#[command(name = "teleport", version)]
pub struct Cli {
    /// Implementation of the teleport.
    #[arg(long, value_enum, default_value_t = Which::All)]
    pub variant: Which,
    /// Round trip in milliseconds, half of it in each direction.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=2_000))]
    pub rtt: u64,
    /// Maximum jitter of a packet, in milliseconds.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=500))]
    pub jitter: u64,
    /// Packet loss in each direction, in percent.
    #[arg(long, default_value_t = 0.0, value_parser = percent)]
    pub loss: f32,
    /// Seed of the link.
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
    /// Put a wall at the destination.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "server", value_name = "WHO")]
    pub blocked: Option<Wall>,
    /// Let the server correct an earlier move right after the key press.
    #[arg(long)]
    pub force_correction: bool,
    /// Let code outside the move stream call `teleport_to` instead of writing a position.
    #[arg(long)]
    pub marked: bool,
    /// Distance up to which a correction is smoothed instead of snapped, in metres.
    #[arg(long, default_value_t = PredictionConfig::default().snap_distance, value_parser = metres)]
    pub snap_distance: f32,
}

/// Variants to run.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// All variants, one after the other.
    All,
    /// The owner's app moves its pawn.
    Client,
    /// The owner's app sends a request, and the server moves the pawn.
    Server,
    /// The owner's app moves its pawn and sends a request.
    Both,
    /// The key is part of the move, and the move step teleports.
    Stream,
}

impl Which {
    /// Returns the variants.
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

impl Cli {
    /// Returns the options of a run.
    pub fn options(&self, variant: Variant) -> TeleportOptions {
        TeleportOptions {
            variant,
            write_method: if self.marked { WriteMethod::Teleport } else { WriteMethod::Position },
            wall: self.blocked.unwrap_or_default(),
            rtt: Duration::from_millis(self.rtt),
            jitter: Duration::from_millis(self.jitter),
            loss: self.loss / 100.0,
            seed: self.seed,
            force_correction: self.force_correction,
            prediction: PredictionConfig { snap_distance: self.snap_distance, ..PredictionConfig::default() },
        }
    }

    /// Describes the options in one line.
    pub fn describe(&self) -> String {
        let mut line = format!(
            "round trip {} ms, jitter {} ms, {} % loss, seed {}",
            self.rtt, self.jitter, self.loss, self.seed
        );
        let extras = [
            (self.blocked == Some(Wall::OnServer), "; a wall on the server at the destination"),
            (self.blocked == Some(Wall::OnBoth), "; a wall at the destination"),
            (self.force_correction, "; an earlier move is corrected after the key"),
            (self.marked, "; game code calls teleport_to"),
        ];
        for (_, text) in extras.iter().filter(|(on, _)| *on) {
            line.push_str(text);
        }
        line
    }
}

fn percent(text: &str) -> Result<f32, String> {
    number(text, 0.0, 90.0)
}

fn metres(text: &str) -> Result<f32, String> {
    number(text, 0.0, 1_000.0)
}
