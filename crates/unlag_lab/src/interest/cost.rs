//! Time of the decision with 64 players, in a server process of its own.

use bevy_unlag::net::{InterestStats, InterestSystems};
use serde::{Deserialize, Serialize};

use super::{Level, SETTLING, Tally, Wanderer, interest_plugin, link};
use crate::{load::LoadSession, prelude::*};

/// Number of players.
const CROWD: usize = 64;
/// Their round trip in milliseconds.
const ROUND_TRIP: u64 = 100;
/// Level in which they wander.
const LEVEL: u64 = 1;

/// Cost of the decision in the ticks of a server.
#[derive(Resource, Clone, Default, Debug, Serialize, Deserialize)]
pub struct Costs {
    /// Microseconds of each tick.
    pub micros: Vec<f64>,
    /// Rays of all ticks.
    pub rays: u64,
    /// Tests, and pawns that were concealed.
    pub tally: Tally,
}

impl Costs {
    /// Adds the plugin to an app that has not run.
    pub fn add_plugin(app: &mut App) {
        app.add_plugins(interest_plugin())
            .init_resource::<Costs>()
            .add_systems(PostUpdate, note_cost.after(InterestSystems::Decide));
    }

    /// Returns the cost of all ticks since the last call.
    pub fn take(app: &mut App) -> Self {
        let tally = app.world().get_resource().copied().unwrap_or_default();
        Tally::begin(app);
        let rays = app.world().resource::<InterestStats>().rays;
        let mut costs = app.world_mut().resource_mut::<Costs>();
        let before = core::mem::replace(&mut *costs, Self { rays, ..default() });
        Self { rays: rays - before.rays, tally, ..before }
    }
}

fn note_cost(stats: Res<InterestStats>, mut costs: ResMut<Costs>) {
    costs.micros.push(stats.time.as_secs_f64() * 1e6);
}

/// Adds the cost of the decision. Returns what the server tested meanwhile.
pub(super) fn measure(options: &Options, figures: &mut Figures) -> Result<Tally, String> {
    let level = Level { number: LEVEL, seed: options.seed };
    let mut session = LoadSession::in_level(level)?;
    session.fill(CROWD, link(ROUND_TRIP))?;
    session.server.scatter()?;
    for (player, client) in (0..).zip(&mut session.clients) {
        level.set_up(client);
        Wanderer::take_over(options.seed.wrapping_mul(1_009).wrapping_add(player), client);
    }
    session.run(SETTLING + 0.5)?;
    session.server.interest()?;
    session.run(options.extent(8.0, 20.0))?;
    let Costs { mut micros, rays, tally } = session.server.interest()?;
    let ticks = micros.len() as f64;
    let (average, hidden, rays) = (mean(micros.iter().copied()), tally.hidden_percent(), rays as f64 / ticks);
    let note = format!("p99 {:.0}, {rays:.0} rays, {hidden:.0} % hidden", quantile(&mut micros, 0.99));
    figures.add_noted("interest_us_per_tick_64", average, note)?;
    let note = format!("of {:.0} a tick", tally.tested as f64 / ticks);
    figures.add_noted("interest_unanswered_percent_64", tally.unanswered_percent(), note)?;
    Ok(tally)
}
