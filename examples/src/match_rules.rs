//! Match of a server in a fleet: it begins when Agones allocates the server, and its rules are in the annotations of
//! the allocation. The server stops when it is over: one match a process.

use core::{fmt::Display, str::FromStr, time::Duration};

use bevy::prelude::*;
use bevy_unlag::guard::AssignMatch;
use bevy_unlag_agones::AgonesAllocation;
use checked_ron::OneLine;
use lightyear::prelude::server::Server;

use crate::{
    args,
    matchmaking::MATCH_ANNOTATION,
    operation::{MatchClock, SERVER},
};

/// Annotation with the name of one of [`MatchRules::PRESETS`].
pub(crate) const RULES: &str = "bevy-unlag.dev/rules";
/// Annotation with the length of the match, in seconds.
pub(crate) const SECONDS: &str = "bevy-unlag.dev/match-seconds";
/// Annotation with the frag limit.
const FRAGS: &str = "bevy-unlag.dev/frag-limit";

/// Rules of a match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchRules {
    /// Length of the match from the first join, in seconds.
    pub seconds: u32,
    /// Number of kills with which a player wins.
    pub frags: u16,
    /// Name of the match; only tokens for it are accepted. `None` accepts those for any match on this server.
    pub match_id: Option<String>,
}

impl MatchRules {
    /// Seconds and frags by name. The first ones are the default.
    pub const PRESETS: [(&'static str, u32, u16); 2] = [("deathmatch", 600, 30), ("duel", 300, 10)];

    /// Reads the annotations of an allocation: a preset, values that differ from it, and the name of the match.
    /// Invalid ones are left out, with a line in the log.
    #[must_use]
    pub fn from_allocation(allocation: &AgonesAllocation) -> Self {
        let preset = read(allocation, RULES, |name| {
            let preset = Self::PRESETS.into_iter().find(|(known, ..)| *known == name);
            preset.ok_or_else(|| "expected deathmatch or duel".to_owned())
        });
        let (_, seconds, frags) = preset.unwrap_or(Self::PRESETS[0]);
        Self {
            seconds: number(allocation, SECONDS, 1, 86_400).unwrap_or(seconds),
            frags: number(allocation, FRAGS, 1, u16::MAX).unwrap_or(frags),
            match_id: read(allocation, MATCH_ANNOTATION, args::id),
        }
    }
}

fn number<T: Copy + Display + FromStr + PartialOrd>(
    allocation: &AgonesAllocation,
    key: &str,
    least: T,
    most: T,
) -> Option<T> {
    read(allocation, key, |text| args::number(text, least, most))
}

/// Reads an annotation, if it is there and valid.
fn read<T>(
    allocation: &AgonesAllocation,
    key: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Option<T> {
    let text = allocation.annotation(key)?;
    parse(text)
        .inspect_err(
            |problem| warn!(target: SERVER, key, value = %OneLine::name(text), problem, "annotation ignored"),
        )
        .ok()
}

/// Begins the match when the server is allocated. Does nothing without Agones.
pub fn plugin(app: &mut App) {
    app.add_observer(begin_match);
}

fn begin_match(
    allocation: On<AgonesAllocation>,
    servers: Query<Entity, With<Server>>,
    mut commands: Commands,
) {
    let MatchRules { seconds, frags, match_id } = MatchRules::from_allocation(&allocation);
    info!(target: SERVER, seconds, frags, match_id, "match assigned");
    commands.insert_resource(MatchClock::new(Duration::from_secs(seconds.into()), Some(frags)));
    for entity in &servers {
        commands.trigger(AssignMatch { entity, match_id: match_id.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocation(annotations: &[(&str, &str)]) -> AgonesAllocation {
        let text = |text: &str| text.to_owned();
        AgonesAllocation {
            annotations: annotations.iter().map(|(key, value)| (text(key), text(value))).collect(),
            ..AgonesAllocation::default()
        }
    }

    fn rules(annotations: &[(&str, &str)]) -> (u32, u16) {
        let rules = MatchRules::from_allocation(&allocation(annotations));
        assert_eq!(rules.match_id, None);
        (rules.seconds, rules.frags)
    }

    #[test]
    fn rules_are_a_preset_and_what_differs_from_it() {
        assert_eq!(rules(&[]), (600, 30));
        assert_eq!(rules(&[(RULES, "duel")]), (300, 10));
        assert_eq!(rules(&[(FRAGS, "3"), (RULES, "duel")]), (300, 3));
        assert_eq!(rules(&[(SECONDS, "90"), (FRAGS, "65535")]), (90, 65_535));
    }

    #[test]
    fn annotations_that_are_not_valid_are_ignored() {
        let long = "9".repeat(1 << 20);
        for junk in ["", "-1", "1 e3", "99 999999999999999999", "\u{1b}[2J", long.as_str()] {
            assert_eq!(rules(&[(RULES, junk), (SECONDS, junk), (FRAGS, junk)]), (600, 30));
        }
        assert_eq!(rules(&[(SECONDS, "0"), (FRAGS, "0")]), (600, 30));
        assert_eq!(rules(&[(MATCH_ANNOTATION, "a b")]), (600, 30));
    }

    /// Matches that were assigned to the server.
    #[derive(Resource, Default)]
    struct Assigned(Vec<Option<String>>);

    #[test]
    fn allocation_begins_the_match_and_restricts_the_tokens() {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, plugin)).init_resource::<Assigned>().add_observer(
            |assign: On<AssignMatch>, mut assigned: ResMut<Assigned>| {
                assigned.0.push(assign.match_id.clone());
            },
        );
        app.world_mut().spawn(Server::default());
        app.update();
        assert!(!app.world().contains_resource::<MatchClock>(), "no match without an allocation");
        app.world_mut().trigger(allocation(&[(MATCH_ANNOTATION, "m-7")]));
        app.update();
        assert!(app.world().contains_resource::<MatchClock>());
        assert_eq!(app.world().resource::<Assigned>().0, [Some("m-7".to_owned())]);
    }
}
