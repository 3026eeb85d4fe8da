//! HTTP client for short requests to a service of one's own: no redirects, no TLS, bounded in size and time.

use core::time::Duration;
use std::{
    io::{self, ErrorKind, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    time::Instant,
};

use checked_ron::OneLine;

/// Longest response, in bytes: tokens of a party of 256 are 1.1 MB.
const MAX_RESPONSE: usize = 2 << 20;
/// Time to connect.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// Longest part of a response that an error shows.
const SHOWN: usize = 300;

/// A service, such as `http://127.0.0.1:8080`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpService {
    /// Host and port.
    host: String,
    /// Path before that of a request, without a slash at its end.
    path: String,
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
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let host = if has_port { host.to_owned() } else { format!("{host}:80") };
        Ok(Self { host, path: path.trim_end_matches('/').to_owned() })
    }

    /// Posts a JSON document, and returns the body of a response with a status of success. `patience` is the time to wait
    /// for the response.
    ///
    /// # Errors
    /// Returns one line: the service cannot be reached, or what it has answered.
    pub fn post(&self, path: &str, json: &str, patience: Duration) -> Result<String, String> {
        let Self { host, path: base } = self;
        let problem = |error: io::Error| format!("http://{host} does not answer: {error}");
        // `localhost` is an IPv6 address first on many systems, and its services often listen on IPv4 alone.
        let mut tried = Err(format!("'{}' resolves to no address", OneLine::name(host)));
        for address in host.to_socket_addrs().map_err(problem)? {
            tried = TcpStream::connect_timeout(&address, CONNECT_TIME).map_err(problem);
            if tried.is_ok() {
                break;
            }
        }
        let mut stream = tried?;
        // By version 1.0 the response ends with the connection, and comes in one piece.
        let request = format!(
            "POST {base}{path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Accept: application/json\r\n\r\n{json}",
            json.len()
        );
        let mut response = Vec::new();
        stream
            .set_write_timeout(Some(CONNECT_TIME))
            .and_then(|()| stream.write_all(request.as_bytes()))
            .and_then(|()| read_until(&stream, Instant::now() + patience, &mut response))
            .map_err(problem)?;
        let (status, body) =
            parse_response(&response).ok_or_else(|| format!("http://{host} answers, but not with HTTP"))?;
        if (200..300).contains(&status) {
            return Ok(body.to_owned());
        }
        let body = OneLine::new(body.trim(), SHOWN);
        Err(format!("http://{host} answers with {status}: {body}"))
    }
}

/// Reads until the peer closes the connection.
///
/// # Errors
/// Returns an error if the peer has not closed it by `end`, or sends more than [`MAX_RESPONSE`].
fn read_until(mut stream: &TcpStream, end: Instant, response: &mut Vec<u8>) -> io::Result<()> {
    let mut chunk = [0; 4_096];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let length = stream.read(&mut chunk)?;
        if length == 0 {
            return Ok(());
        }
        response.extend_from_slice(&chunk[..length]);
        if response.len() > MAX_RESPONSE {
            return Err(ErrorKind::FileTooLarge.into());
        }
    }
}

/// Returns the status and the body of a response.
fn parse_response(response: &[u8]) -> Option<(u16, &str)> {
    let text = str::from_utf8(response).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut words = head.lines().next()?.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/1."))?;
    Some((words.next()?.parse().ok()?, body))
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use super::*;

    #[test]
    fn url_is_understood_and_a_wrong_one_refused_with_an_example() {
        let service =
            |host: &str, path: &str| Ok(HttpService { host: host.to_owned(), path: path.to_owned() });
        assert_eq!(HttpService::parse("http://127.0.0.1:8080"), service("127.0.0.1:8080", ""));
        assert_eq!(HttpService::parse("http://example.com/a/"), service("example.com:80", "/a"));
        assert_eq!(HttpService::parse("http://[::1]:9"), service("[::1]:9", ""));
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
            assert!(request.starts_with(b"POST /base/match HTTP/1.0\r\n"));
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
            assert!(answered(junk).is_err_and(|error| error.contains("not with HTTP")), "{junk:?}");
        }
    }
}
