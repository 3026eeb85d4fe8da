//! Options of the showcase: the guided tour, and switches of techniques.

use std::path::PathBuf;

use bevy::prelude::*;
use clap::Args;
use unlag_examples::{
    hero::Hero,
    techniques::{self, Technique, Techniques, measures, parse_switch},
    tour::{self, STOPS, Tour},
};

/// Options of the tour and the switches.
#[derive(Args, Clone, Debug, Default)]
pub struct Showcase {
    /// Begin with the guided tour, at this stop.
    #[arg(
        long, value_name = "STOP", require_equals = true, num_args = 0..=1, default_missing_value = "1",
        value_parser = clap::value_parser!(u64).range(1..=STOPS.len() as u64),
    )]
    tour: Option<u64>,
    /// Switch a technique off, or to a named state: `rewind`, `interpolation=linear`, `cover=on`.
    #[arg(long, value_name = "TECHNIQUE", value_parser = parse_switch)]
    switch: Vec<(Technique, usize)>,
    /// Hide the panels and the net graph at first; F1 and F3 toggle them.
    #[arg(long)]
    pub no_panels: bool,
    /// Keep mouse sensitivity and shown panels in this file, instead of one in the user's configuration folder. With
    /// --autoplay nothing is kept.
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
}

impl Showcase {
    /// Adds the tour and the switches to a client or a listen server.
    pub fn add(&self, app: &mut App) {
        let mut techniques = Techniques::default();
        self.switch.iter().for_each(|(technique, state)| techniques.set(*technique, *state));
        let tour = self.tour.map_or_else(Tour::default, |stop| Tour::beginning_at(stop as usize));
        app.insert_resource(techniques).insert_resource(tour).add_plugins((
            techniques::plugin,
            measures::plugin::<Hero>,
            tour::plugin,
        ));
    }
}
