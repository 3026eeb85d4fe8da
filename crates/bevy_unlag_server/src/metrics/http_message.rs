//! Requests and responses of HTTP/1.1, as far as a monitor needs them.

/// Longest request in bytes, with all header lines. Prometheus sends about 300, browsers 1,000.
pub(super) const MAX_REQUEST: usize = 4_096;

/// Type of plain text.
const TEXT: &str = "text/plain; charset=utf-8";
/// Type of Prometheus' text format.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Status of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    Ok,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    RequestTooLarge,
    Unavailable,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed\r\nAllow: GET",
            Self::RequestTooLarge => "431 Request Header Fields Too Large",
            Self::Unavailable => "503 Service Unavailable",
        }
    }
}

/// A response.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Response {
    pub status: Status,
    content_type: &'static str,
    body: String,
}

impl Response {
    /// Creates a response of one line.
    pub fn line(status: Status, line: &str) -> Self {
        Self { status, content_type: TEXT, body: format!("{line}\n") }
    }

    /// Creates a response with metrics.
    pub fn metrics(body: String) -> Self {
        Self { status: Status::Ok, content_type: METRICS, body }
    }

    /// Returns the bytes that are sent. The connection is closed after them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { status, content_type, body } = self;
        let (status, length) = (status.line(), body.len());
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
             Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}"
        )
        .into_bytes()
    }
}

/// Returns the path that a request asks for, without its query; `None` while the request is incomplete.
///
/// # Errors
/// Returns the response to a request that is not understood or too long.
pub(super) fn requested_path(request: &[u8]) -> Result<Option<&str>, Response> {
    if !is_complete(request) {
        return if request.len() < MAX_REQUEST {
            Ok(None)
        } else {
            Err(Response::line(Status::RequestTooLarge, "the request is too long"))
        };
    }
    let invalid = || Response::line(Status::BadRequest, "expected a request of HTTP/1.1");
    let line = request.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = core::str::from_utf8(line).map_err(|_| invalid())?;
    let mut words = line.trim_end().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(invalid());
    };
    if !version.starts_with("HTTP/1.") {
        return Err(invalid());
    }
    if method != "GET" {
        return Err(Response::line(Status::MethodNotAllowed, "only GET is served"));
    }
    Ok(target.split('?').next())
}

/// Whether the empty line after the header has arrived.
fn is_complete(request: &[u8]) -> bool {
    let has = |end: &[u8]| request.windows(end.len()).any(|part| part == end);
    has(b"\n\r\n") || has(b"\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &[u8]) -> Option<Status> {
        requested_path(request).err().map(|response| response.status)
    }

    #[test]
    fn path_of_a_get_request_is_read_once_its_header_is_complete() {
        let request = b"GET /metrics?now=1 HTTP/1.1\r\nHost: a\r\n\r\n";
        assert_eq!(requested_path(request), Ok(Some("/metrics")));
        assert_eq!(requested_path(b"GET / HTTP/1.0\n\n"), Ok(Some("/")));
        for length in 0..request.len() {
            assert_eq!(requested_path(&request[..length]), Ok(None), "{length} bytes");
        }
    }

    #[test]
    fn request_that_is_not_a_get_of_http_1_is_refused() {
        for method in ["POST", "HEAD", "DELETE", "get", ""] {
            let request = format!("{method} /metrics HTTP/1.1\r\n\r\n");
            assert_eq!(status(request.as_bytes()), Some(Status::MethodNotAllowed), "{method}");
        }
        for line in [
            &b""[..],
            b"GET",
            b"GET /metrics",
            b"GET /metrics HTTP/2",
            b"GET /a b HTTP/1.1",
            b"GET \xff HTTP/1.1",
            b"\x16\x03\x01\x02",
        ] {
            assert_eq!(status(&[line, b"\r\n\r\n"].concat()), Some(Status::BadRequest), "{line:?}");
        }
    }

    #[test]
    fn header_without_an_end_is_refused_at_the_limit() {
        let mut request = b"GET /metrics HTTP/1.1\r\n".to_vec();
        while request.len() < MAX_REQUEST {
            assert_eq!(requested_path(&request), Ok(None));
            request.extend_from_slice(b"X-Endless: 1\r\n");
        }
        assert_eq!(status(&request), Some(Status::RequestTooLarge));
    }

    #[test]
    fn response_has_its_length_and_closes_the_connection() {
        let response = Response::line(Status::MethodNotAllowed, "no");
        let text = String::from_utf8(response.to_bytes()).expect("text");
        assert!(text.starts_with("HTTP/1.1 405 Method Not Allowed\r\nAllow: GET\r\n"), "{text}");
        assert!(
            text.ends_with(
                "\r\nContent-Length: 3\r\nCache-Control: no-store\r\nConnection: close\r\n\r\nno\n"
            )
        );
        let metrics = String::from_utf8(Response::metrics("a 1\n".to_owned()).to_bytes()).expect("text");
        assert!(
            metrics.contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"),
            "{metrics}"
        );
    }
}
