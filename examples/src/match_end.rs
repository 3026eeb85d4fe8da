//! End of a client's match: why it stopped, for players, scripts and reports.

use core::{fmt, net::SocketAddr};

/// Reason for which a client's match ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EndReason {
    /// The client has played for its whole time.
    #[default]
    Completed,
    /// The server has announced that it stops, and has stopped.
    ServerShutdown,
    /// The server has ended this client's connection, and said why.
    Kicked,
    /// The server has refused the client: its token, or because it is full, for instance.
    Refused,
    /// Server and client do not fit together: another protocol or tick rate.
    Mismatch,
    /// The connection was lost and did not come back.
    ConnectionLost,
    /// No server has answered, or one that has no pawn for the client, or the matchmaker had no match.
    NoAnswer,
}

impl EndReason {
    /// Returns the name in reports, such as `connection_lost`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::ServerShutdown => "server_shutdown",
            Self::Kicked => "kicked",
            Self::Refused => "refused",
            Self::Mismatch => "mismatch",
            Self::ConnectionLost => "connection_lost",
            Self::NoAnswer => "no_answer",
        }
    }

    /// Returns an end for this reason, with a line that says what happened and what to do.
    #[must_use]
    pub fn because(self, text: impl Into<String>) -> MatchEnd {
        MatchEnd { reason: self, text: text.into() }
    }
}

/// End of a client's match. Default: completed. `Display` is one line; empty if completed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MatchEnd {
    /// Reason of its end.
    pub reason: EndReason,
    /// Cause and remedy, in one line; empty if completed.
    pub text: String,
}

impl MatchEnd {
    /// Returns whether the match ended before its time.
    #[must_use]
    pub fn is_early(&self) -> bool {
        self.reason != EndReason::Completed
    }
}

impl fmt::Display for MatchEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the end of a client that no server has answered: the likely causes and what helps against them. A server
/// drops tokens of another key without an answer, so for a client with a token that is one of them.
pub(crate) fn no_answer(server: SocketAddr, has_token: bool) -> MatchEnd {
    let port = server.port();
    let is_here = server.ip().is_loopback();
    let other_family =
        if server.is_ipv6() { "; if it listens on IPv4 alone, use its IPv4 address" } else { "" };
    EndReason::NoAnswer.because(if cfg!(target_family = "wasm") {
        let other = if has_token {
            "it has another key than the link's token, or the token has expired; ask for a new link"
        } else {
            "the browser does not accept its certificate (another digest than the link's, or one that is not trusted), \
             it has a key, or a firewall blocks the port; a link for WebSocket helps where UDP is blocked"
        };
        format!("no server answers at {server}: none listens for browsers there, {other}")
    } else if has_token {
        format!(
            "no server answers this token at {server}: none runs there, it has another key than the token, or the \
             token has expired; make one with the server's key: shooter token --key FILE --connect ADDR"
        )
    } else if is_here {
        format!(
            "no server answers at {server}; start one with: shooter server --port {port}; if it has a key, \
             use --token FILE{other_family}"
        )
    } else {
        format!(
            "no server answers at {server}; check the address, that a shooter server runs there, and that its \
             firewall lets UDP port {port} through; if it has a key, use --token FILE{other_family}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(server: &str, has_token: bool) -> String {
        let end = no_answer(server.parse().expect("an address"), has_token);
        assert!(end.is_early() && end.reason == EndReason::NoAnswer && !end.text.contains('\n'), "{end:?}");
        end.text
    }

    #[test]
    fn missing_answer_names_the_likely_cause_and_what_helps() {
        let here = text("127.0.0.1:5000", false);
        assert!(here.contains("shooter server --port 5000") && here.contains("--token FILE"), "{here}");
        let elsewhere = text("203.0.113.7:5000", false);
        assert!(elsewhere.contains("firewall") && !elsewhere.contains("--port 5000"), "{elsewhere}");
        // A server listens over IPv6, too, unless its machine has none.
        for (server, same) in [("[::1]:5000", here), ("[2001:db8::1]:5000", elsewhere)] {
            let line = text(server, false);
            assert!(line.contains("IPv4 alone") && !same.contains("IPv4"), "{line}");
            assert!(line.contains("use --token FILE"), "{line}");
        }
    }

    #[test]
    fn client_with_a_token_is_told_of_its_key_and_not_to_use_a_token() {
        for server in ["127.0.0.1:5000", "203.0.113.7:5000", "[::1]:5000"] {
            let line = text(server, true);
            assert!(line.contains("another key") && !line.contains("--token FILE"), "{line}");
        }
    }

    #[test]
    fn default_end_is_completed_and_has_no_text() {
        let end = MatchEnd::default();
        assert!(!end.is_early() && end.to_string().is_empty());
        assert_eq!(end.reason.name(), "completed");
    }
}
