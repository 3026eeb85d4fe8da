//! Commands of an operator, as lines of text.

use core::{fmt, str::FromStr, time::Duration};

use bevy::prelude::*;
use lightyear_guard::{BanTarget, KickText};

/// Forms of the commands, for errors.
const FORMS: &str = "players | kick ID [REASON] | ban ID_OR_ADDRESS MINUTES [REASON] | unban ID_OR_ADDRESS | \
                     map NAME | say TEXT | drain [REASON]";
/// Longest ban, in minutes: a year.
const MAX_MINUTES: u64 = 525_600;

/// Command of an operator. It is parsed from a line, such as `kick 7 camping`.
#[derive(Clone, PartialEq, Eq, Debug, Reflect)]
pub enum AdminCommand {
    /// `players`: lists the connected players.
    Players,
    /// `kick ID [REASON]`: ends the connection of a client.
    Kick {
        /// Id of the client.
        client: u64,
        /// Text for the player.
        reason: KickText,
    },
    /// `ban ID_OR_ADDRESS MINUTES [REASON]`: keeps a client or a host out, and ends its connections.
    Ban {
        /// The client or the host.
        target: BanTarget,
        /// Time from now on, a minute to a year.
        duration: Duration,
        /// Text for its players.
        reason: KickText,
    },
    /// `unban ID_OR_ADDRESS`: ends a ban.
    Unban {
        /// The client or the host.
        target: BanTarget,
    },
    /// `map NAME`: changes the map. The game answers.
    Map {
        /// Name of the map, without control characters.
        name: String,
    },
    /// `say TEXT`: shows a text to all players. The game answers.
    Say {
        /// The text: one line without control characters.
        text: String,
    },
    /// `drain [REASON]`: drains the server, as a signal does.
    Drain {
        /// Text for the players; if it is empty, they read [`LifeCycleConfig::reason`](crate::LifeCycleConfig::reason).
        reason: KickText,
    },
}

/// A line that is no [`AdminCommand`]. `Display` says what is wrong and lists the commands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidAdminCommand(&'static str);

impl fmt::Display for InvalidAdminCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; commands: {FORMS}", self.0)
    }
}

impl core::error::Error for InvalidAdminCommand {}

impl FromStr for AdminCommand {
    type Err = InvalidAdminCommand;

    fn from_str(line: &str) -> Result<Self, InvalidAdminCommand> {
        let line = line.trim().replace(char::is_control, " ");
        let (word, rest) = first_word(&line);
        let target = |text: &str| {
            text.parse::<BanTarget>().map_err(|_| {
                InvalidAdminCommand("the id of a client or an IP address is missing; see: players")
            })
        };
        let command = match word {
            "players" => Self::Players,
            "kick" => {
                let (client, reason) = first_word(rest);
                let client = client
                    .parse()
                    .map_err(|_| InvalidAdminCommand("the id of a client is missing; see: players"))?;
                return Ok(Self::Kick { client, reason: KickText::new(reason) });
            }
            "ban" => {
                let (who, rest) = first_word(rest);
                let (minutes, reason) = first_word(rest);
                let target = target(who)?;
                let minutes =
                    minutes.parse::<u64>().ok().filter(|minutes| (1..=MAX_MINUTES).contains(minutes));
                let minutes = minutes.ok_or(InvalidAdminCommand(
                    "the minutes of a ban are missing, a whole number from 1 to 525600",
                ))?;
                let duration = Duration::from_secs(minutes * 60);
                return Ok(Self::Ban { target, duration, reason: KickText::new(reason) });
            }
            "unban" => return Ok(Self::Unban { target: target(rest)? }),
            "map" if !rest.is_empty() => return Ok(Self::Map { name: rest.to_owned() }),
            "say" if !rest.is_empty() => return Ok(Self::Say { text: rest.to_owned() }),
            "map" => return Err(InvalidAdminCommand("the name of the map is missing")),
            "say" => return Err(InvalidAdminCommand("the text is missing")),
            "drain" => return Ok(Self::Drain { reason: KickText::new(rest) }),
            _ => return Err(InvalidAdminCommand("there is no such command")),
        };
        if rest.is_empty() {
            Ok(command)
        } else {
            Err(InvalidAdminCommand("there is something behind the command"))
        }
    }
}

/// Splits a line behind its first word.
fn first_word(line: &str) -> (&str, &str) {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    (word, rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_becomes_its_command() {
        let reason = KickText::new("camping in the spawn");
        let (client, minutes) = (BanTarget::Client(7), |minutes: u64| Duration::from_secs(60 * minutes));
        let host = BanTarget::Host([203, 0, 113, 7].into());
        for (line, command) in [
            (" players\r\n", AdminCommand::Players),
            ("kick 7  camping in the spawn", AdminCommand::Kick { client: 7, reason }),
            ("kick 7", AdminCommand::Kick { client: 7, reason: KickText::default() }),
            (
                "ban 7 10",
                AdminCommand::Ban { target: client, duration: minutes(10), reason: KickText::default() },
            ),
            (
                "ban 203.0.113.7 525600 camping in the spawn",
                AdminCommand::Ban { target: host, duration: minutes(525_600), reason },
            ),
            ("unban 7", AdminCommand::Unban { target: client }),
            ("map open field", AdminCommand::Map { name: "open field".to_owned() }),
            ("say a\u{1b}[2Jb", AdminCommand::Say { text: "a [2Jb".to_owned() }),
            ("drain", AdminCommand::Drain { reason: KickText::default() }),
            ("drain camping in the spawn", AdminCommand::Drain { reason }),
        ] {
            assert_eq!(line.parse(), Ok(command), "{line}");
        }
    }

    #[test]
    fn line_that_is_no_command_is_refused_with_the_list_of_commands() {
        for line in [
            "",
            "kick",
            "kick bob",
            "kick -1",
            "ban 7",
            "ban 7 0",
            "ban 7 525601",
            "ban 7 soon",
            "ban bob 5",
            "unban",
            "map",
            "say ",
            "players 7",
            "PLAYERS",
            "quit",
        ] {
            let error = line.parse::<AdminCommand>().expect_err(line).to_string();
            assert!(error.contains("kick ID [REASON]") && !error.contains('\n'), "{line}: {error}");
        }
    }
}
