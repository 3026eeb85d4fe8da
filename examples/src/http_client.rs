//! HTTP client for short requests to a service of one's own: no redirects, no TLS, bounded in size and time.

use core::time::Duration;

use checked_ron::OneLine;
use ureq::Agent;

/// Longest response, in bytes: tokens of a party of 256 are 1.1 MB.
const MAX_RESPONSE: u64 = 2 << 20;
/// Time to connect.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Longest part of a response that an error shows.
const SHOWN: usize = 300;

/// A service, such as `http://127.0.0.1:8080`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpService {
    /// URL without a slash at its end.
    url: String,
}

impl HttpService {
    /// Parses a URL.
    ///
    /// # Errors
    /// Returns one line that says what to write.
    pub fn parse(url: &str) -> Result<Self, String> {
        let example = "write one like http://127.0.0.1:8080";
        let shown = OneLine::name(url);
        let rest = match url.split_once("://") {
            Some(("http", rest)) => rest,
            Some(("https", _)) => {
                return Err(format!(
                    "'{shown}' needs TLS, which this client lacks; {example}, or that of a local proxy"
                ));
            }
            _ => return Err(format!("'{shown}' is no HTTP address; {example}")),
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let is_text = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if host.is_empty() || !is_text(host) || !is_text(path) || host.contains('@') {
            return Err(format!("'{shown}' is no HTTP address; {example}"));
        }
        Ok(Self { url: url.trim_end_matches('/').to_owned() })
    }

    /// Posts a JSON document, and returns the body of a response with a status of success. `patience` is the time to
    /// wait for the response.
    ///
    /// # Errors
    /// Returns one line: the service cannot be reached, or what it has answered.
    pub fn post(&self, path: &str, json: &str, patience: Duration) -> Result<String, String> {
        let Self { url } = self;
        let problem = |error: ureq::Error| {
            format!("{url} does not answer: {}", OneLine::new(&error.to_string(), SHOWN))
        };
        let config = Agent::config_builder()
            // Never by a proxy of the environment, and never elsewhere.
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_TIME))
            .timeout_send_request(Some(CONNECT_TIME))
            .timeout_send_body(Some(CONNECT_TIME))
            .timeout_recv_response(Some(patience))
            .timeout_recv_body(Some(patience))
            .build();
        let request = Agent::new_with_config(config).post(format!("{url}{path}"));
        let mut response = request.content_type("application/json").send(json).map_err(problem)?;
        let body = response.body_mut().with_config().limit(MAX_RESPONSE).read_to_string().map_err(problem)?;
        let status = response.status();
        if status.is_success() {
            return Ok(body);
        }
        Err(format!("{url} answers with {}: {}", status.as_u16(), OneLine::new(body.trim(), SHOWN)))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::TcpListener,
        thread,
    };

    use super::*;

    #[test]
    fn url_is_understood_and_a_wrong_one_refused_with_an_example() {
        for url in ["http://127.0.0.1:8080", "http://example.com/a", "http://[::1]:9"] {
            let service = HttpService { url: url.to_owned() };
            assert_eq!(HttpService::parse(url), Ok(service.clone()));
            assert_eq!(HttpService::parse(&format!("{url}/")), Ok(service));
        }
        for url in [
            "",
            "127.0.0.1:8080",
            "http://",
            "ftp://a",
            "http://a b",
            "http://a@b",
            "http://a\r\nX: 1",
            "https://a",
        ] {
            let error = HttpService::parse(url).expect_err(url);
            assert!(error.contains("http://127.0.0.1:8080") && !error.contains('\n'), "{error}");
        }
    }

    /// Answers one request with these bytes. Returns the result of the client.
    fn answered(response: &'static [u8]) -> Result<String, String> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let (mut request, mut chunk) = (Vec::new(), [0; 512]);
            while !request.ends_with(b"{\"a\":1}") {
                let length = stream.read(&mut chunk).expect("a request");
                assert!(length > 0, "an incomplete request");
                request.extend_from_slice(&chunk[..length]);
            }
            assert!(request.starts_with(b"POST /base/match HTTP/1.1\r\n"));
            let _ = stream.write_all(response);
        });
        let service = HttpService::parse(&format!("http://{address}/base")).expect("a service");
        let result = service.post("/match", "{\"a\":1}", Duration::from_secs(20));
        server.join().expect("no panic");
        result
    }

    #[test]
    fn body_of_a_success_is_returned_and_other_statuses_are_errors_in_one_line() {
        assert_eq!(answered(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n{}"), Ok("{}".to_owned()));
        assert_eq!(answered(b"HTTP/1.0 201 Created\r\n\r\n"), Ok(String::new()));
        let error = answered(b"HTTP/1.1 503 Busy\r\n\r\nno\x1b[2J server\n").expect_err("503");
        assert!(error.contains("503: no\\u{1b}[2J server") && !error.contains('\n'), "{error}");
        for junk in [&b""[..], b"SSH-2.0\r\n\r\n", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 \xff\r\n\r\n"] {
            assert!(answered(junk).is_err_and(|error| error.contains("does not answer")), "{junk:?}");
        }
    }
}
