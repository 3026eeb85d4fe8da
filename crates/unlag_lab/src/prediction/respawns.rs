//! Deaths and respawns: changes that the server orders, and no corrections of their owners.

use crate::prelude::*;

/// Adds the corrections of players who die and respawn, and moves whose server result differs from the
/// prediction.
///
/// # Errors
/// Returns a message if a player cannot join.
pub fn measure(options: &Options, figures: &mut Figures) -> Result<(), String> {
    let seconds = options.extent(30.0, 300.0);
    // Without loss, nothing but a death or a respawn changes a pawn.
    let conditions = LinkConditions { loss: 0.0, ..preset("Good broadband")?.conditions() };
    let options = MatchOptions { players: 4, conditions, seed: options.seed, ..default() };
    let mut game = Match::start(&options)?;
    game.fight(seconds);
    let (mut corrections, mut changes) = (0, 0);
    for client in &mut game.clients {
        let world = client.world_mut();
        let mut own = world.query_filtered::<&PredictionStats, With<LocalControl>>();
        for stats in own.iter(world) {
            corrections += stats.corrections;
            changes += u64::from(stats.server_changes());
        }
    }
    let server = game.server.world_mut();
    let deaths = server.query::<&PlayerScore>().iter(server).map(|score| u64::from(score.deaths)).sum();
    let note = format!("deaths, {changes} changes by the server");
    figures.add_counted("respawn_corrections", corrections as f64, deaths, note)?;
    // As many corrections there were before these had a counter of their own.
    let note = format!("deaths, {corrections} corrections and {changes} changes by the server");
    figures.add_counted("control_respawn_corrections", (corrections + changes) as f64, deaths, note)
}
