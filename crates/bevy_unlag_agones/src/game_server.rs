//! Agones' record of the game server, as far as it is read here.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::allocation::AgonesAllocation;

/// State of a game server that has been chosen for a match.
pub(crate) const ALLOCATED: &str = "Allocated";
/// Annotation with the time of the last allocation. Agones sets it, its local server for development does not.
const LAST_ALLOCATED: &str = "agones.dev/last-allocated";

/// A game server.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct GameServer {
    pub(crate) name: String,
    /// Name of the state, such as `Ready`. Never empty.
    pub(crate) state: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) annotations: BTreeMap<String, String>,
}

/// The message `GameServer` of Agones' interface. Unset messages are `null`.
#[derive(Deserialize)]
struct Record {
    object_meta: Option<Metadata>,
    status: Option<Status>,
}

#[derive(Deserialize, Default)]
struct Metadata {
    name: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    annotations: Option<BTreeMap<String, String>>,
}

#[derive(Deserialize)]
struct Status {
    state: Option<String>,
}

/// A line of the stream of changes.
#[derive(Deserialize)]
struct Line {
    result: Option<Record>,
}

impl GameServer {
    /// Reads the answer to `GET /gameserver`. Returns `None` for anything else than a game server with a state.
    pub(crate) fn from_answer(json: &[u8]) -> Option<Self> {
        Self::from_record(serde_json::from_slice(json).ok()?)
    }

    /// Reads a line of `GET /watch/gameserver`.
    pub(crate) fn from_line(json: &[u8]) -> Option<Self> {
        Self::from_record(serde_json::from_slice::<Line>(json).ok()?.result?)
    }

    fn from_record(record: Record) -> Option<Self> {
        let state = record.status?.state.filter(|state| !state.is_empty())?;
        let Metadata { name, labels, annotations } = record.object_meta.unwrap_or_default();
        Some(Self {
            name: name.unwrap_or_default(),
            state,
            labels: labels.unwrap_or_default(),
            annotations: annotations.unwrap_or_default(),
        })
    }

    pub(crate) fn is_allocated(&self) -> bool {
        self.state == ALLOCATED
    }

    /// Returns the time of the last allocation, as Agones has written it.
    pub(crate) fn last_allocated(&self) -> Option<&str> {
        self.annotations.get(LAST_ALLOCATED).map(String::as_str)
    }
}

impl From<GameServer> for AgonesAllocation {
    fn from(seen: GameServer) -> Self {
        Self { game_server: seen.name, labels: seen.labels, annotations: seen.annotations }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Agones' documentation, and fields of other versions.
    const ANSWER: &str = r#"{
        "object_meta": {
            "name": "local", "namespace": "default", "uid": "1234", "resource_version": "v1", "generation": "1",
            "creation_timestamp": "1531795395", "annotations": {"annotation": "true"}, "labels": {"islocal": "true"}
        },
        "spec": null,
        "status": {
            "state": "Ready", "address": "127.0.0.1", "ports": [{"name": "default", "port": 7777}], "players": null,
            "counters": {"rooms": {"count": "1", "capacity": "10"}}, "later": [[[]]]
        }
    }"#;

    #[test]
    fn answer_and_line_give_the_game_server() {
        let seen = GameServer::from_answer(ANSWER.as_bytes()).expect("a game server");
        assert_eq!((seen.name.as_str(), seen.state.as_str()), ("local", "Ready"));
        assert_eq!(seen.labels["islocal"], "true");
        assert_eq!(seen.annotations["annotation"], "true");
        assert!(!seen.is_allocated() && seen.last_allocated().is_none());
        let line = format!(r#"{{"result":{ANSWER}}}"#);
        assert_eq!(GameServer::from_line(line.as_bytes()), Some(seen));
        let bare = GameServer::from_answer(br#"{"object_meta":null,"status":{"state":"Allocated"}}"#);
        assert!(bare.is_some_and(|bare| bare.is_allocated()));
    }

    #[test]
    fn anything_else_is_no_game_server() {
        let deep = "[".repeat(100_000);
        let texts = [
            "",
            "{}",
            "null",
            "junk",
            "[]",
            r#"{"status":{}}"#,
            r#"{"status":{"state":""}}"#,
            r#"{"status":{"state":7}}"#,
            r#"{"status":{"state":"Ready"},"object_meta":{"labels":{"a":1}}}"#,
            r#"{"error":{"code":14,"message":"unavailable"}}"#,
            deep.as_str(),
        ];
        for text in texts {
            assert_eq!(GameServer::from_answer(text.as_bytes()), None, "{}", &text[..text.len().min(99)]);
            assert_eq!(GameServer::from_line(text.as_bytes()), None);
            let line = format!(r#"{{"result":{text}}}"#);
            assert_eq!(GameServer::from_line(line.as_bytes()), None);
        }
        assert_eq!(GameServer::from_answer(b"\xff\xfe"), None);
    }
}
