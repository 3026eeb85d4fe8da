//! Game servers of an Agones fleet, allocated by the Kubernetes API.
//!
//! TLS and the right to allocate are those of `kubectl proxy`, or of another proxy beside the matchmaker.

use core::{net::SocketAddr, time::Duration};
use std::{
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use bevy_unlag_server::say_error;
use serde::Deserialize;
use serde_json::json;

use super::{AllocationEvent, Allocator, GameServer};
use crate::{
    connection,
    http_client::HttpService,
    match_rules::{RULES, SECONDS},
    matchmaker::MatchmakerArgs,
    matchmaking::MATCH_ANNOTATION,
};

/// Time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of allocations under way.
const MAX_PENDING: usize = 16;

/// Allocates game servers of one fleet.
pub struct Agones {
    fleet: Arc<Fleet>,
    pending: usize,
    events: (Sender<(String, AllocationEvent)>, Receiver<(String, AllocationEvent)>),
}

struct Fleet {
    api: HttpService,
    /// Path of the resource.
    path: String,
    name: String,
    rules: String,
    /// Length of a match, in seconds, if it is not that of the rules.
    match_seconds: Option<f64>,
}

/// The part of a `GameServerAllocation` that Kubernetes returns.
#[derive(Deserialize)]
struct Allocation {
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    state: String,
    #[serde(default)]
    game_server_name: String,
    #[serde(default)]
    address: String,
    #[serde(default)]
    ports: Vec<Port>,
}

#[derive(Deserialize)]
struct Port {
    port: u16,
}

impl Agones {
    /// Allocates from the fleet of the arguments by the API at this URL, such as that of `kubectl proxy`.
    ///
    /// # Errors
    /// Returns one line when the URL is invalid.
    pub fn new(url: &str, args: &MatchmakerArgs) -> Result<Self, String> {
        let namespace = &args.agones_namespace;
        let fleet = Fleet {
            api: HttpService::parse(url)?,
            path: format!("/apis/allocation.agones.dev/v1/namespaces/{namespace}/gameserverallocations"),
            name: args.agones_fleet.clone(),
            rules: args.agones_rules.clone(),
            match_seconds: args.match_seconds,
        };
        Ok(Self { fleet: Arc::new(fleet), pending: 0, events: channel() })
    }
}

impl Fleet {
    /// Allocates a server and waits for it.
    fn allocate(&self, match_id: &str) -> Result<GameServer, String> {
        let answer = self.api.post(&self.path, &self.request(match_id), PATIENCE)?;
        game_server(&answer)
    }

    /// Returns the request for any ready server of the fleet, which gets the id of the match and its rules.
    fn request(&self, match_id: &str) -> String {
        let mut annotations = json!({ MATCH_ANNOTATION: match_id, RULES: self.rules });
        if let Some(seconds) = self.match_seconds {
            // The server reads whole seconds, from 1 on.
            annotations[SECONDS] = format!("{:.0}", seconds.max(1.0)).into();
        }
        json!({
            "apiVersion": "allocation.agones.dev/v1",
            "kind": "GameServerAllocation",
            "spec": {
                "selectors": [{ "matchLabels": { "agones.dev/fleet": self.name }, "gameServerState": "Ready" }],
                "scheduling": "Packed",
                "metadata": { "annotations": annotations },
            },
        })
        .to_string()
    }
}

/// Reads the answer of the API.
fn game_server(answer: &str) -> Result<GameServer, String> {
    let Allocation { status } = serde_json::from_str(answer)
        .map_err(|error| format!("the answer of the Kubernetes API is not understood: {error}"))?;
    if status.state != "Allocated" {
        return Err(format!("the fleet has no server: {}", status.state));
    }
    let port = status.ports.first().map_or(0, |port| port.port);
    let address = status
        .address
        .parse()
        .map(|ip| SocketAddr::new(ip, port))
        .or_else(|_| connection::parse_address(&format!("{}:{port}", status.address)))?;
    if port == 0 || status.game_server_name.is_empty() {
        return Err("the allocated server has no name or no port".to_owned());
    }
    Ok(GameServer { server_id: status.game_server_name, address })
}

impl Allocator for Agones {
    fn allocate(&mut self, match_id: &str) -> Result<(), String> {
        if self.pending >= MAX_PENDING {
            return Err("too many matches are being prepared; try again later".to_owned());
        }
        let (fleet, events, match_id) = (self.fleet.clone(), self.events.0.clone(), match_id.to_owned());
        let allocation = thread::Builder::new().spawn(move || {
            let event = fleet.allocate(&match_id).map_or_else(
                |problem| {
                    say_error(format_args!("no server for {match_id}: {problem}"));
                    AllocationEvent::Failed("the fleet has no server; try again later".to_owned())
                },
                AllocationEvent::Ready,
            );
            let _ = events.send((match_id, event));
        });
        allocation.map_err(|error| format!("no thread for an allocation: {error}"))?;
        self.pending += 1;
        Ok(())
    }

    fn poll(&mut self) -> Vec<(String, AllocationEvent)> {
        let events: Vec<_> = self.events.1.try_iter().collect();
        self.pending = self.pending.saturating_sub(events.len());
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(match_seconds: Option<f64>) -> serde_json::Value {
        let api = HttpService::parse("http://127.0.0.1:8001").expect("a URL");
        let (name, rules) = ("shooter".to_owned(), "duel".to_owned());
        let fleet = Fleet { api, path: String::new(), name, rules, match_seconds };
        serde_json::from_str(&fleet.request("m-7")).expect("JSON")
    }

    #[test]
    fn request_selects_the_fleet_and_names_the_match_and_its_rules() {
        let whole = request(None);
        assert_eq!(whole["kind"], "GameServerAllocation");
        assert_eq!(whole["spec"]["selectors"][0]["matchLabels"]["agones.dev/fleet"], "shooter");
        for (seconds, expected) in [(None, None), (Some(90.0), Some("90")), (Some(0.1), Some("1"))] {
            let mut annotations = json!({ MATCH_ANNOTATION: "m-7", RULES: "duel" });
            if let Some(expected) = expected {
                annotations[SECONDS] = expected.into();
            }
            assert_eq!(request(seconds)["spec"]["metadata"]["annotations"], annotations);
        }
    }

    // As in Agones' documentation of GameServerAllocation.
    const ALLOCATED: &str = r#"{
        "kind": "GameServerAllocation",
        "apiVersion": "allocation.agones.dev/v1",
        "metadata": { "name": "shooter-zqppv-tt8xd", "namespace": "default" },
        "spec": { "scheduling": "Packed" },
        "status": {
            "state": "Allocated",
            "gameServerName": "shooter-zqppv-tt8xd",
            "ports": [{ "name": "default", "port": 7216 }],
            "address": "192.0.2.145",
            "nodeName": "node-1"
        }
    }"#;

    #[test]
    fn allocated_server_is_read_and_other_states_are_errors() {
        let address = "192.0.2.145:7216".parse().expect("an address");
        let server = GameServer { server_id: "shooter-zqppv-tt8xd".to_owned(), address };
        assert_eq!(game_server(ALLOCATED), Ok(server));
        let none = r#"{"status":{"state":"UnAllocated"}}"#;
        assert!(game_server(none).is_err_and(|error| error.contains("UnAllocated")));
        assert!(game_server(&ALLOCATED.replace("7216", "0")).is_err());
        assert!(game_server(&ALLOCATED.replace("gameServerName", "other")).is_err());
        assert!(game_server(&ALLOCATED.replace("7216", "70000")).is_err());
        for junk in ["", "{}", "[]", r#"{"kind":"Status","status":"Failure"}"#] {
            assert!(game_server(junk).is_err_and(|error| error.contains("not understood")), "{junk}");
        }
    }
}
