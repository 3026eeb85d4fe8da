//! Game server of the stand-in, and the requests that read and change it.

use serde_json::{Map, Value, json};

/// Record that `GET /gameserver` returns. Numbers of 64 bits are strings.
pub(super) struct Record {
    game_server: Value,
    version: u64,
    allocations: u64,
}

impl Default for Record {
    fn default() -> Self {
        let game_server = json!({
            "object_meta": {
                "name": "stand-in", "namespace": "default", "uid": "1234", "resource_version": "1",
                "generation": "1", "creation_timestamp": "1531795395", "deletion_timestamp": "0",
                "annotations": {"annotation": "true"}, "labels": {"islocal": "true"}
            },
            "spec": {"health": {
                "disabled": false, "period_seconds": 3, "failure_threshold": 5, "initial_delay_seconds": 10
            }},
            "status": {
                "state": "Scheduled", "address": "127.0.0.1",
                "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
                "ports": [{"name": "default", "port": 7777}], "players": null,
                "counters": {"players": {"count": "0", "capacity": "8"}},
                "lists": {"players": {"capacity": "8", "values": []}}
            }
        });
        Self { game_server, version: 1, allocations: 0 }
    }
}

/// Status and body of an answer.
type Answer = (u16, Option<Value>);

/// Answer of the gateway to an error; `code` is gRPC's.
fn refuse(status: u16, code: u32, message: &str) -> Answer {
    (status, Some(json!({ "code": code, "message": message, "details": [] })))
}

/// An error without a code of its own, as the sidecar returns them.
fn fail(message: &str) -> Answer {
    refuse(500, 2, message)
}

impl Record {
    pub(super) fn game_server(&self) -> &Value {
        &self.game_server
    }

    /// Number that changes with each change of the game server.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// Makes the state `Allocated`, with the time and the given labels and annotations.
    pub(super) fn allocate(&mut self, metadata: &Value) {
        self.allocations += 1;
        let time = format!("2026-01-01T00:00:{:02}Z", self.allocations);
        self.set_metadata("annotations", "agones.dev/last-allocated", &time);
        for kind in ["labels", "annotations"] {
            for (key, value) in metadata[kind].as_object().into_iter().flatten() {
                self.set_metadata(kind, key, value.as_str().unwrap_or_default());
            }
        }
        self.set_state("Allocated");
    }

    /// Answers a request to the interface.
    pub(super) fn answer(&mut self, method: &str, path: &str, body: &str) -> Answer {
        // The sidecar takes an empty body as no fields, except for a ping.
        if (path, body) == ("/health", "") {
            return (400, None);
        }
        let fields = match serde_json::from_str(if body.is_empty() { "{}" } else { body }) {
            Ok(Value::Object(fields)) => fields,
            _ => return refuse(400, 3, "syntax error: unexpected token"),
        };
        let known = [
            "/ready",
            "/health",
            "/allocate",
            "/reserve",
            "/shutdown",
            "/gameserver",
            "/metadata/label",
            "/metadata/annotation",
        ];
        match (method, path) {
            ("GET", "/gameserver") => return (200, Some(self.game_server.clone())),
            ("POST", "/health") => {}
            ("POST", "/ready") => self.set_state("Ready"),
            ("POST", "/allocate") => self.allocate(&Value::Null),
            ("POST", "/reserve") => self.set_state("Reserved"),
            ("POST", "/shutdown") => self.set_state("Shutdown"),
            ("PUT", "/metadata/label") => return self.put_metadata("labels", &fields),
            ("PUT", "/metadata/annotation") => return self.put_metadata("annotations", &fields),
            (_, path) if known.contains(&path) => return refuse(501, 12, "Method Not Allowed"),
            _ => {
                if let Some(name) = path.strip_prefix("/v1beta1/counters/") {
                    return self.counter(method, name, &fields);
                } else if let Some(name) = path.strip_prefix("/v1beta1/lists/") {
                    return self.list(method, name, &fields);
                }
                return refuse(404, 5, "Not Found");
            }
        }
        (200, Some(json!({})))
    }

    fn put_metadata(&mut self, kind: &str, fields: &Map<String, Value>) -> Answer {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        let (key, value) = (text("key"), text("value"));
        let is_name = |text: &str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            text.len() <= 63
                && text.chars().all(is_plain)
                && text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        };
        if !is_name(key) {
            return refuse(400, 3, &format!("invalid key {key:?}"));
        } else if kind == "labels" && !value.is_empty() && !is_name(value) {
            return refuse(400, 3, &format!("invalid label value {value:?} for key {key:?}"));
        }
        self.set_metadata(kind, &format!("agones.dev/sdk-{key}"), value);
        (200, Some(json!({})))
    }

    fn counter(&mut self, method: &str, name: &str, fields: &Map<String, Value>) -> Answer {
        let Some(counter) = self.game_server["status"]["counters"].get_mut(name) else {
            return fail(&format!("counter not found: {name}"));
        };
        if method == "PATCH" {
            let capacity = number(fields.get("capacity")).or(number(counter.get("capacity"))).unwrap_or(0);
            let count = number(fields.get("count")).or(number(counter.get("count"))).unwrap_or(0);
            let count = count + number(fields.get("countDiff")).unwrap_or(0);
            if !(0..=capacity).contains(&count) {
                return fail(&format!("out of range. Found Count: {count}, Capacity: {capacity}"));
            }
            *counter = json!({ "count": count.to_string(), "capacity": capacity.to_string() });
        } else if method != "GET" {
            return refuse(501, 12, "Method Not Allowed");
        }
        let mut answer = counter.clone();
        answer["name"] = json!(name);
        self.version += 1;
        (200, Some(answer))
    }

    fn list(&mut self, method: &str, name: &str, fields: &Map<String, Value>) -> Answer {
        let (name, verb) = name.split_once(':').unwrap_or((name, ""));
        let Some(list) = self.game_server["status"]["lists"].get_mut(name) else {
            return fail(&format!("not found. {name} List not found"));
        };
        let capacity = number(list.get("capacity")).unwrap_or(0);
        let mut values: Vec<String> = list["values"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let value = fields.get("value").and_then(Value::as_str).unwrap_or_default().to_owned();
        match (method, verb) {
            ("GET", "") => {}
            ("POST", "addValue") if values.len() as i64 >= capacity => {
                return fail("out of range. No available capacity.");
            }
            ("POST", "addValue") if values.contains(&value) => return fail("already exists."),
            ("POST", "addValue") => values.push(value),
            ("POST", "removeValue") if !values.contains(&value) => return fail("not found. Value not found"),
            ("POST", "removeValue") => values.retain(|known| *known != value),
            _ => return refuse(501, 12, "Method Not Allowed"),
        }
        *list = json!({ "capacity": capacity.to_string(), "values": values });
        let mut answer = list.clone();
        answer["name"] = json!(name);
        self.version += 1;
        (200, Some(answer))
    }

    fn set_state(&mut self, state: &str) {
        self.game_server["status"]["state"] = json!(state);
        self.version += 1;
    }

    fn set_metadata(&mut self, kind: &str, key: &str, value: &str) {
        self.game_server["object_meta"][kind][key] = json!(value);
        self.version += 1;
    }
}

/// Reads a number of 64 bits, which JSON has as a string or a number.
fn number(value: Option<&Value>) -> Option<i64> {
    let value = value?;
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}
