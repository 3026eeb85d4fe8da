//! Requests to the REST interface of Agones' sidecar.
//!
//! The sidecar's answers are not trusted: each phase of a request has a limit of time, headers and bodies of size.

use core::{net::SocketAddr, time::Duration};
use std::io::Read;

use checked_ron::OneLine;
use serde_json::{Value, json};
use ureq::{Agent, Body, http::Response};

use crate::game_server::GameServer;

/// Longest time for each phase of a request: connecting, sending, the head of the answer, its body. There is no limit
/// for the whole of it, because ureq would start a thread for that with each connection.
const PHASE: Duration = Duration::from_secs(1);
/// Longest time for which a stream of changes is read. A connection that hangs is noticed after that.
const STREAM: Duration = Duration::from_secs(300);
/// Largest body of an answer, in bytes. Kubernetes' objects have at most 1.5 MiB, of which the sidecar passes a part
/// on.
pub(crate) const MAX_ANSWER: usize = 1 << 20;
/// Largest head of an answer, in bytes.
const MAX_HEAD: usize = 16 << 10;
/// Characters of a refusal that are logged.
const SHOWN: usize = 200;

/// Outcome of a request that has not succeeded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SdkError {
    /// There was no answer, or the sidecar is not able to answer yet: the request may be repeated.
    NoAnswer(String),
    /// The sidecar has refused the request, and would do so again.
    Refused(String),
}

/// Request to the sidecar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    Ready,
    Health,
    Allocate,
    /// Keeps the server from being allocated, until further notice.
    Reserve,
    Shutdown,
    SetLabel {
        key: String,
        value: String,
    },
    SetAnnotation {
        key: String,
        value: String,
    },
    SetCounter {
        name: String,
        count: usize,
    },
    AddToList {
        name: String,
        value: String,
    },
    RemoveFromList {
        name: String,
        value: String,
    },
}

impl Command {
    /// Whether the fleet depends on it: repeated even if it is refused.
    pub(crate) fn is_essential(&self) -> bool {
        matches!(self, Self::Ready | Self::Allocate | Self::Shutdown)
    }

    /// Returns method, path and body of the request. Numbers of 64 bits are strings in Agones' JSON.
    fn request(&self) -> (Method, String, Value) {
        use Method::{Patch, Post, Put};
        let post = |path: &str| (Post, path.to_owned(), json!({}));
        match self {
            Self::Ready => post("/ready"),
            Self::Health => post("/health"),
            Self::Allocate => post("/allocate"),
            Self::Reserve => (Post, "/reserve".to_owned(), json!({ "seconds": "0" })),
            Self::Shutdown => post("/shutdown"),
            Self::SetLabel { key, value } => {
                (Put, "/metadata/label".to_owned(), json!({ "key": key, "value": value }))
            }
            Self::SetAnnotation { key, value } => {
                (Put, "/metadata/annotation".to_owned(), json!({ "key": key, "value": value }))
            }
            Self::SetCounter { name, count } => {
                (Patch, format!("/v1beta1/counters/{name}"), json!({ "count": count.to_string() }))
            }
            Self::AddToList { name, value } => {
                (Post, format!("/v1beta1/lists/{name}:addValue"), json!({ "value": value }))
            }
            Self::RemoveFromList { name, value } => {
                (Post, format!("/v1beta1/lists/{name}:removeValue"), json!({ "value": value }))
            }
        }
    }
}

enum Method {
    Post,
    Put,
    Patch,
}

/// Client of the sidecar. Clones share their connections.
#[derive(Clone, Debug)]
pub(crate) struct SdkClient {
    agent: Agent,
    address: SocketAddr,
}

impl SdkClient {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let config = Agent::config_builder()
            // Never by a proxy of the environment, and never elsewhere.
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .max_response_header_size(MAX_HEAD)
            .input_buffer_size(2 * MAX_HEAD)
            .output_buffer_size(MAX_HEAD)
            .timeout_connect(Some(PHASE))
            .timeout_send_request(Some(PHASE))
            .timeout_send_body(Some(PHASE))
            .timeout_recv_response(Some(PHASE))
            .timeout_recv_body(Some(PHASE))
            .build();
        Self { agent: Agent::new_with_config(config), address }
    }

    /// Makes the request of a command.
    ///
    /// # Errors
    /// Returns why it has not succeeded.
    pub(crate) fn run(&self, command: &Command) -> Result<(), SdkError> {
        let (method, path, body) = command.request();
        let url = self.url(&path);
        let request = match method {
            Method::Post => self.agent.post(url),
            Method::Put => self.agent.put(url),
            Method::Patch => self.agent.patch(url),
        };
        let body = body.to_string();
        let answer = request.content_type("application/json").send(body.as_str());
        let mut answer = check(answer)?;
        // Nothing in it matters. The connection can be used again once it is read.
        let _ = read(&mut answer);
        Ok(())
    }

    /// Asks for the game server.
    ///
    /// # Errors
    /// Returns why there is none.
    pub(crate) fn game_server(&self) -> Result<GameServer, SdkError> {
        let mut answer = check(self.agent.get(self.url("/gameserver")).call())?;
        let body = read(&mut answer).map_err(|error| SdkError::NoAnswer(error.to_string()))?;
        GameServer::from_answer(&body)
            .ok_or_else(|| SdkError::NoAnswer("the answer is no game server".to_owned()))
    }

    /// Opens the stream of changes of the game server: lines of JSON, the first one at once.
    ///
    /// # Errors
    /// Returns why there is none.
    pub(crate) fn watch(&self) -> Result<impl Read + use<>, SdkError> {
        let request = self.agent.get(self.url("/watch/gameserver"));
        let request = request.config().timeout_recv_body(Some(STREAM)).build();
        Ok(check(request.call())?.into_body().into_reader())
    }

    /// Ends all requests that are under way, and refuses new ones.
    pub(crate) fn close(&self) {
        self.agent.clone().shutdown();
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Returns an answer that is a success.
fn check(answer: Result<Response<Body>, ureq::Error>) -> Result<Response<Body>, SdkError> {
    let mut answer = match answer {
        Ok(answer) if answer.status().is_success() => return Ok(answer),
        Ok(answer) => answer,
        Err(error) => return Err(SdkError::NoAnswer(OneLine::new(&error.to_string(), SHOWN).to_string())),
    };
    let status = answer.status().as_u16();
    let body = read(&mut answer).unwrap_or_default();
    let text = match serde_json::from_slice::<Value>(&body) {
        Ok(json) => json["message"].as_str().unwrap_or_default().to_owned(),
        Err(_) => String::new(),
    };
    let text = format!("status {status} {}", OneLine::new(&text, SHOWN)).trim_end().to_owned();
    // Too many requests, a bad gateway, no service yet, a gateway that times out.
    Err(if matches!(status, 429 | 502..=504) { SdkError::NoAnswer(text) } else { SdkError::Refused(text) })
}

fn read(answer: &mut Response<Body>) -> Result<Vec<u8>, ureq::Error> {
    answer.body_mut().with_config().limit(MAX_ANSWER as u64).read_to_vec()
}
