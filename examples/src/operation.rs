//! Operation of a dedicated server: keys that are read again, the operator's commands, and the end of its match.

use core::{fmt::Display, time::Duration};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bevy::prelude::*;
use bevy_unlag::{
    guard::{KeyError, KickText, RotateKeys, ServerKeys},
    net::{SessionConfig, Shutdown, Spectator, SpectatorConfig},
    prelude::PlayerScore,
};
use bevy_unlag_server::{AdminPlugin, LifeCycleConfig, ReloadSettings};
use checked_ron::OneLine;
use lightyear::prelude::{
    Connected,
    server::{ClientOf, Server},
};

use crate::{
    operator_commands, recording, spectating,
    transport::{self, ServerListeners},
};

/// Target of log lines, the same as for the other lines about the server.
pub(crate) const SERVER: &str = "bevy_unlag::server";
/// Time within which the first player of a match must have joined.
const JOIN_TIME: Duration = Duration::from_secs(60);
/// Time without a player after which a match is over, beyond that for which players may come back.
const ABSENCE: Duration = Duration::from_secs(5);
/// Time for which players may come back where there are some in browsers: a page that is loaded again needs a while.
const RELOAD_GRACE: Duration = Duration::from_secs(20);
/// Name of standard input in errors.
const STDIN: &str = "standard input";
/// Time between the announcement of the end and the disconnection.
const GOODBYE: Duration = Duration::from_secs(1);

/// Settings of a dedicated server beside those of the game.
#[derive(Default)]
pub struct Operation {
    /// Key file that SIGHUP reads again.
    pub key_file: Option<PathBuf>,
    /// Admin command, if there is one.
    pub admin: Option<AdminPlugin>,
    /// Length of the match, after which the server stops. `None`: it runs until it is told to stop.
    pub match_time: Option<Duration>,
    /// Times of a drain, and its reason for the players.
    pub drain: LifeCycleConfig,
    /// File that the match is recorded into.
    pub record: Option<PathBuf>,
    /// Settings for spectators, if there may be any.
    pub spectators: Option<SpectatorConfig>,
    /// Listeners beside UDP, if there are any.
    pub listeners: Option<ServerListeners>,
}

impl Operation {
    /// Whether SIGHUP has something to read again. A pipe, such as `--key <(command)`, can be read once only.
    #[must_use]
    pub fn reloads(&self) -> bool {
        let has_certificate = self.listeners.as_ref().is_some_and(|listeners| listeners.reloads);
        has_certificate || self.key_file.as_deref().is_some_and(is_regular)
    }

    /// Adds it to a server app.
    pub fn add_to(self, app: &mut App) {
        if let Some(file) = self.key_file {
            app.insert_resource(KeyFile(file)).add_observer(reload_keys);
        }
        if let Some(admin) = self.admin {
            app.add_plugins((admin, operator_commands::plugin));
        }
        if let Some(length) = self.match_time {
            app.insert_resource(MatchClock::new(length, None));
        }
        app.insert_resource(self.drain);
        if let Some(file) = self.record {
            recording::record(app, file, recording::REAL_TIME);
        }
        if let Some(config) = self.spectators {
            spectating::admit(app, config);
        }
        if let Some(listeners) = self.listeners {
            app.insert_resource(listeners).add_observer(transport::reload_certificates);
            app.world_mut().resource_mut::<SessionConfig>().grace = RELOAD_GRACE;
        }
        app.add_systems(Update, end_match.run_if(resource_exists::<MatchClock>));
    }
}

/// Reads a key file; `-` is standard input.
///
/// # Errors
/// Returns one line that names the file.
pub fn read_keys(file: &Path) -> Result<ServerKeys, String> {
    if file == Path::new("-") {
        return ServerKeys::from_reader(io::stdin(), STDIN).map_err(|error| named(error, STDIN));
    }
    ServerKeys::from_file(file).map_err(|error| named(error, OneLine::path(file)))
}

/// Returns the line of an error about a source of keys with this name.
fn named(error: KeyError, source: impl Display) -> String {
    match error {
        KeyError::File(..) | KeyError::Unreadable(..) => error.to_string(),
        _ => format!("{source}: {error}"),
    }
}

fn is_regular(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| metadata.is_file())
}

#[derive(Resource)]
struct KeyFile(PathBuf);

fn reload_keys(
    _: On<ReloadSettings>,
    file: Res<KeyFile>,
    servers: Query<Entity, With<Server>>,
    mut commands: Commands,
) {
    // A pipe could keep the server waiting.
    let keys = if is_regular(&file.0) {
        read_keys(&file.0)
    } else {
        Err(format!("{} is no file that can be read again", OneLine::path(&file.0)))
    };
    match keys {
        Ok(keys) => {
            for entity in &servers {
                commands.trigger(RotateKeys { entity, keys: keys.clone() });
            }
        }
        Err(problem) => error!(target: SERVER, problem, "keys are not replaced"),
    }
}

/// End of the only match of this process.
#[derive(Resource)]
pub(crate) struct MatchClock {
    /// Time that is left. It runs once a player has joined.
    left: Duration,
    /// Time that is left without a player.
    absence: Duration,
    /// Number of kills with which a player wins, if there is one.
    frags: Option<u16>,
}

impl MatchClock {
    /// Begins to wait for the first player of a match of this length.
    pub(crate) fn new(length: Duration, frags: Option<u16>) -> Self {
        Self { left: length, absence: JOIN_TIME, frags }
    }
}

fn end_match(
    time: Res<Time<Real>>,
    players: Query<(), (With<ClientOf>, With<Connected>, Without<Spectator>)>,
    scores: Query<&PlayerScore>,
    mut clock: ResMut<MatchClock>,
    sessions: Res<SessionConfig>,
    mut has_begun: Local<bool>,
    mut commands: Commands,
) {
    if players.is_empty() {
        clock.absence = clock.absence.saturating_sub(time.delta());
    } else {
        *has_begun = true;
        clock.absence = sessions.grace + ABSENCE;
    }
    if *has_begun {
        clock.left = clock.left.saturating_sub(time.delta());
    }
    let is_won = clock.frags.is_some_and(|frags| scores.iter().any(|score| score.kills >= frags));
    if is_won || clock.left.is_zero() || clock.absence.is_zero() {
        info!(target: SERVER, "match over");
        commands.trigger(Shutdown { after: GOODBYE, reason: KickText::new("the match is over") });
        commands.remove_resource::<MatchClock>();
    }
}

#[cfg(test)]
mod tests {
    use bevy::time::TimeUpdateStrategy;
    use lightyear::prelude::{PeerId, RemoteId};

    use super::*;

    /// Announced shutdowns.
    #[derive(Resource, Default)]
    struct Ends(Vec<Shutdown>);

    fn server(match_seconds: u64) -> App {
        let mut app = App::new();
        app.add_plugins(MinimalPlugins)
            .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs(1)))
            .init_resource::<Ends>()
            .init_resource::<SessionConfig>()
            .add_observer(|shutdown: On<Shutdown>, mut ends: ResMut<Ends>| ends.0.push(*shutdown));
        Operation { match_time: Some(Duration::from_secs(match_seconds)), ..Operation::default() }
            .add_to(&mut app);
        app
    }

    fn player() -> impl Bundle {
        (ClientOf, RemoteId(PeerId::Netcode(1)), Connected)
    }

    /// Seconds until the end of the match.
    fn seconds_until_end(app: &mut App) -> usize {
        let seconds = (1..200).find(|_| {
            if app.world().contains_resource::<MatchClock>() {
                app.update();
            }
            !app.world().resource::<Ends>().0.is_empty()
        });
        app.update();
        let [Shutdown { after, reason }] = app.world().resource::<Ends>().0[..] else { panic!("not once") };
        assert_eq!((after, reason.as_str()), (GOODBYE, "the match is over"));
        seconds.expect("an end")
    }

    #[test]
    fn match_ends_its_time_after_the_first_player_has_joined() {
        let mut app = server(30);
        for _ in 0..20 {
            app.update();
        }
        app.world_mut().spawn(player());
        let seconds = seconds_until_end(&mut app);
        assert!((29..=31).contains(&seconds), "{seconds}");
    }

    #[test]
    fn match_that_nobody_joins_or_that_all_leave_ends_early() {
        let seconds = seconds_until_end(&mut server(3_600));
        assert!((59..=62).contains(&seconds), "{seconds}");
        let mut app = server(3_600);
        let link = app.world_mut().spawn(player()).id();
        for _ in 0..100 {
            app.update();
        }
        app.world_mut().despawn(link);
        let seconds = seconds_until_end(&mut app);
        assert!((14..=16).contains(&seconds), "{seconds}");
    }

    #[test]
    fn match_ends_when_a_player_has_reached_its_frags() {
        let mut app = server(3_600);
        app.insert_resource(MatchClock::new(Duration::from_secs(3_600), Some(2)));
        app.world_mut().spawn(player());
        let soldier = app.world_mut().spawn(PlayerScore { kills: 1, deaths: 9 }).id();
        for _ in 0..100 {
            app.update();
        }
        assert!(app.world().contains_resource::<MatchClock>(), "one more");
        app.world_mut().entity_mut(soldier).insert(PlayerScore { kills: 2, deaths: 9 });
        assert_eq!(seconds_until_end(&mut app), 1);
    }

    #[test]
    fn only_a_regular_key_file_can_be_read_again() {
        let file = std::env::temp_dir().join(format!("operation_key_{}", std::process::id()));
        let reloads =
            |path: &Path| Operation { key_file: Some(path.into()), ..Operation::default() }.reloads();
        assert!(!Operation::default().reloads() && !reloads(&file) && !reloads(&std::env::temp_dir()));
        fs::write(&file, "ab").expect("a file");
        assert!(reloads(&file));
        let line = read_keys(&file).err().unwrap_or_default();
        fs::remove_file(&file).expect("it goes");
        assert!(line.contains("operation_key_") && line.contains("64 hexadecimal digits"), "{line}");
    }
}
