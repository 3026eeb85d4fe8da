//! Names that most measurements use: Bevy, the suite, the examples' match, random numbers, statistics.

pub use core::time::Duration;
pub use std::{collections::HashMap, time::Instant};

pub use bevy::{prelude::*, time::TimeUpdateStrategy};
pub use bevy_rapier3d::prelude::Collider;
pub use bevy_unlag::{
    Soldier, SoldierBody, SoldierState, core::*, link_conditioner::*, movement::*, prediction::*, prelude::*,
    rewind::*, smoothing::*, weapons::*,
};
pub use bevy_unlag_testkit::finish;
pub use rand::{Rng, SeedableRng, rngs::SmallRng};
pub use unlag_examples::{
    app::{ServerOptions, TICK},
    arena,
    scripted_player::ScriptedPlayer,
    stepped_match::{Match, MatchOptions},
};

pub use crate::{
    Options, chart::Chart, figure_table::Figures, parallel::in_parallel, pawns::*, preset, statistics::*,
};
