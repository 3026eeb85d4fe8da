//! Team assignment.

use bevy_unlag_rewind::Team;

/// Returns the team with the fewest players, out of `teams` teams; of equal teams, the first. For assigning a
/// joining player.
///
/// ```
/// # use bevy_unlag_rewind::Team;
/// # use bevy_unlag_weapons::smallest_team;
/// let players = [Team(0), Team(1), Team(0)];
/// assert_eq!(smallest_team(players, 2), Team(1));
/// ```
#[must_use]
pub fn smallest_team(players: impl IntoIterator<Item = Team>, teams: u8) -> Team {
    let mut counts = [0_u32; 256];
    for player in players {
        counts[usize::from(player.0)] += 1;
    }
    Team((0..teams).min_by_key(|team| counts[usize::from(*team)]).unwrap_or(0))
}
