//! Thread that talks to Agones' sidecar: commands, health pings, players.

use core::time::Duration;
use std::{collections::BTreeSet, sync::Arc, time::Instant};

use bevy::prelude::*;
use bevy_unlag_server::ServerHealth;

use crate::{
    config::AgonesConfig,
    log_target::LOG,
    retry_delay::RetryDelay,
    sdk_client::{Command, SdkClient, SdkError},
    shared_state::Shared,
};

/// Shortest interval of health pings.
const MIN_INTERVAL: Duration = Duration::from_millis(10);

pub(crate) struct Worker {
    client: SdkClient,
    shared: Arc<Shared>,
    health: ServerHealth,
    health_interval: Duration,
    next_ping: Instant,
    delay: RetryDelay,
    /// Time before which no request but pings is made, after one without an answer.
    retry_at: Instant,
    /// Whether the last request had an answer; `None` before the first one.
    is_answered: Option<bool>,
    /// Whether the last command had no answer: it may have been executed all the same.
    is_repeated: bool,
    /// Whether Agones has answered a `Ready`.
    has_been_ready: bool,
    players: ReportedPlayers,
}

/// Players inside, and what Agones knows of them.
#[derive(Default)]
struct ReportedPlayers {
    counter: Option<String>,
    list: Option<String>,
    inside: BTreeSet<String>,
    counted: usize,
    listed: BTreeSet<String>,
    /// Whether a refusal was logged: one is enough for a fleet without that counter or list.
    is_refusal_logged: bool,
}

impl Worker {
    pub(crate) fn new(
        client: SdkClient,
        shared: Arc<Shared>,
        config: &AgonesConfig,
        health: ServerHealth,
    ) -> Self {
        let now = Instant::now();
        Self {
            client,
            shared,
            health,
            health_interval: config.health_interval.max(MIN_INTERVAL),
            next_ping: now,
            delay: RetryDelay::new(config.retry_limit),
            retry_at: now,
            is_answered: None,
            is_repeated: false,
            has_been_ready: false,
            players: ReportedPlayers {
                counter: config.player_counter.clone(),
                list: config.player_list.clone(),
                ..ReportedPlayers::default()
            },
        }
    }

    /// Works until Agones knows that the server is over, or the connection is closed.
    pub(crate) fn run(mut self) {
        let mut is_stopping = false;
        while !self.shared.queue.is_closed() {
            self.ping();
            let command = self.shared.queue.front();
            if command == Some(Command::Shutdown) && !is_stopping {
                // The end of the process does not wait for long.
                is_stopping = true;
                self.delay.reset();
                self.retry_at = Instant::now();
            }
            if self.retry_at > Instant::now() {
                self.wait_until(self.next_ping.min(self.retry_at));
            } else if let Some(command) = command {
                if self.execute(&command) && command == Command::Shutdown {
                    return;
                }
            } else if !self.report_players() {
                self.wait_until(self.next_ping);
            }
        }
    }

    /// Waits until this time, or until there is a new command.
    fn wait_until(&self, end: Instant) {
        self.shared.queue.wait(end.saturating_duration_since(Instant::now()));
    }

    /// Sends a health ping if it is time and the server does not stand still.
    fn ping(&mut self) {
        let now = Instant::now();
        if now < self.next_ping {
            return;
        }
        self.next_ping = now + self.health_interval;
        if self.health.is_healthy() {
            let answer = self.client.run(&Command::Health);
            if let Err(SdkError::Refused(error)) = &answer {
                debug!(target: LOG, %error, "Agones has refused a health ping");
            }
            self.note(&answer);
        }
    }

    /// Makes the request of a command. Returns whether the command is done with.
    fn execute(&mut self, command: &Command) -> bool {
        let answer = if self.is_repeated && *command == Command::Ready && self.is_ready_already() {
            Ok(())
        } else {
            self.client.run(command)
        };
        self.note(&answer);
        let is_done = match answer {
            Ok(()) => true,
            Err(SdkError::Refused(error)) => {
                warn!(target: LOG, ?command, %error, "Agones has refused a command");
                !command.is_essential()
            }
            Err(SdkError::NoAnswer(_)) => false,
        };
        self.is_repeated = !is_done;
        if is_done {
            self.has_been_ready |= *command == Command::Ready;
            self.delay.reset();
            self.shared.queue.pop(command);
        } else {
            self.pause();
        }
        is_done
    }

    /// Whether Agones has executed a `Ready` whose answer was lost. Repeating it would take the server from a match for
    /// which it has been allocated since.
    fn is_ready_already(&self) -> bool {
        let Ok(seen) = self.client.game_server() else { return false };
        matches!(seen.state.as_str(), "RequestReady" | "Ready")
            || (!self.has_been_ready && seen.is_allocated())
    }

    /// Makes one request if Agones does not know all players. Returns whether it has.
    fn report_players(&mut self) -> bool {
        if let Some(inside) = self.shared.queue.take_players() {
            self.players.inside = inside;
        }
        let Some(command) = self.players.next_command() else { return false };
        let answer = self.client.run(&command);
        self.note(&answer);
        match answer {
            Ok(()) => self.delay.reset(),
            Err(SdkError::Refused(error)) => {
                if !core::mem::replace(&mut self.players.is_refusal_logged, true) {
                    warn!(
                        target: LOG, %error,
                        "Agones does not keep the players; the manifest of the fleet needs the counter and the list of \
                         AgonesConfig, with room for them"
                    );
                }
            }
            Err(SdkError::NoAnswer(_)) => {
                self.pause();
                return true;
            }
        }
        self.players.mark_reported(command);
        true
    }

    fn pause(&mut self) {
        self.retry_at = Instant::now() + self.delay.after_failure();
    }

    /// Logs when the sidecar begins to answer, and when it no longer does.
    fn note(&mut self, answer: &Result<(), SdkError>) {
        let is_answered = !matches!(answer, Err(SdkError::NoAnswer(_)));
        if self.is_answered.replace(is_answered) == Some(is_answered) {
            return;
        }
        match answer {
            Err(SdkError::NoAnswer(error)) => {
                warn!(target: LOG, %error, "the Agones sidecar does not answer; requests are repeated");
            }
            _ => info!(target: LOG, "the Agones sidecar answers"),
        }
    }
}

impl ReportedPlayers {
    /// Returns the request for the next difference. Those who have left come first, because lists have a capacity.
    fn next_command(&self) -> Option<Command> {
        let count = self.inside.len();
        if let Some(name) = self.counter.clone().filter(|_| count != self.counted) {
            return Some(Command::SetCounter { name, count });
        }
        let name = self.list.clone()?;
        if let Some(value) = self.listed.difference(&self.inside).next().cloned() {
            return Some(Command::RemoveFromList { name, value });
        }
        let value = self.inside.difference(&self.listed).next().cloned()?;
        Some(Command::AddToList { name, value })
    }

    /// Notes that Agones knows, or does not want to.
    fn mark_reported(&mut self, command: Command) {
        match command {
            Command::SetCounter { count, .. } => self.counted = count,
            Command::AddToList { value, .. } => {
                self.listed.insert(value);
            }
            Command::RemoveFromList { value, .. } => {
                self.listed.remove(&value);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_are_reported_by_differences_and_leavers_first() {
        let mut players = ReportedPlayers {
            counter: Some("seats".to_owned()),
            list: Some("players".to_owned()),
            inside: ["1", "2"].map(str::to_owned).into(),
            ..ReportedPlayers::default()
        };
        let drain = |players: &mut ReportedPlayers| {
            let mut commands = Vec::new();
            while let Some(command) = players.next_command() {
                commands.push(format!("{command:?}"));
                players.mark_reported(command);
                assert!(commands.len() < 10, "{commands:?}");
            }
            commands
        };
        assert_eq!(
            drain(&mut players),
            [
                r#"SetCounter { name: "seats", count: 2 }"#,
                r#"AddToList { name: "players", value: "1" }"#,
                r#"AddToList { name: "players", value: "2" }"#,
            ]
        );
        players.inside = ["2", "3"].map(str::to_owned).into();
        assert_eq!(
            drain(&mut players),
            [
                r#"RemoveFromList { name: "players", value: "1" }"#,
                r#"AddToList { name: "players", value: "3" }"#,
            ]
        );
        players.list = None;
        players.inside.clear();
        assert_eq!(drain(&mut players), [r#"SetCounter { name: "seats", count: 0 }"#]);
    }
}
